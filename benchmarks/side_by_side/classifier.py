"""`MaxMarginClassifier` and the linear support vector machines that people use, on real data.

Fitted to four fifths of the rows, tested on the others: time to fit, margin on what was fitted
(two classes), errors on both parts. All have an intercept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from side_by_side import peers
from side_by_side.contest import Entry, Field, race
from side_by_side.data import MNIST, SAMPLE, available
from side_by_side.table import Table, digits, duration, named, percent, ratio

from gammabar.harness.screen import Stage
from gammabar.problems import load

TITLE = "The classifier"
#: Pairs of classes, and data sets with all their ten.
PAIRS = (MNIST, "mnist:6,7", "mnist:2,7")
EMBEDDED = (SAMPLE, "digits:3,8")
TEN = ("digits", "mnist-sample")
#: Seconds that a fit may take.
LIMIT = 120.0

Array = NDArray[Any]


def measure(
    quick: bool, say: Stage, *, names: tuple[str, ...] = (), repeat: int = 3
) -> list[dict[str, Any]]:
    """One contest per data set."""
    pairs = EMBEDDED if quick else available(*PAIRS, otherwise=EMBEDDED)
    results = []
    for name in names or (*pairs, *TEN[: 1 if quick else 2]):
        about, scores = race(contestants, name, repeat=repeat, limit=LIMIT, say=say)
        results.append(about | {"rows": [score.as_dict() for score in scores]})
    return results


def contestants(name: str) -> Field:
    """The field, for one data set: a pair of classes, or all classes of it."""
    several = ":" not in name
    problem: Any = load(name, multiclass=several)
    X, y = problem.X, np.asarray(problem.labels if several else problem.y)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    tested = np.arange(len(y)) % 5 == 4
    floats = np.asarray(X, dtype=np.float64) / problem.radius
    own, theirs = _Split(X, y, tested), _Split(floats, y, tested)

    def judged(split: _Split) -> Callable[[Any], dict[str, Any]]:
        return lambda model: split.facts(model, several, problem.radius if split is own else 1.0)

    def ours(label: str, proves: str, **options: Any) -> Entry:
        return Entry(label, lambda: _ours(own, **options), judged(own), proves)

    def written() -> Any:
        model = _ours(own)
        model.certificate()
        return model

    def peer(label: str, make: Callable[[], Any]) -> Entry:
        fit = lambda: make().fit(theirs.X, theirs.y)  # noqa: E731
        return Entry(label, fit, judged(theirs), needs=("sklearn.svm",))

    fractions = Entry("MaxMarginClassifier, certificate()", written, judged(own), "γ̄², q̄ exact")
    entries = [
        ours("MaxMarginClassifier", "support; γ̄, q̄ to the last bit"),
        fractions,
        ours("MaxMarginClassifier(proof=False)", "nothing", proof=False),
        peer("SVC(kernel='linear', C=1e6)", peers.svc),
        peer("LinearSVC (LIBLINEAR, hinge, C=1e6)", _hinge),
        peer("LinearSVC (its defaults)", _default),
    ]
    if several:
        entries.insert(2, ours("MaxMarginClassifier(several='ovr')", "as above", several="ovr"))
    # What is compiled on first use is compiled before the clock starts: a run of ours that takes
    # seconds for that would not be run again.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for proof in (True, False):
            _ours(own, proof=proof)
    about = {"data": name, "n": len(own.y), "d": X.shape[1], "tested": int(tested.sum())}
    return Field(entries, about | {"classes": len(np.unique(y))})


class _Split:
    """Rows to fit and rows to test."""

    def __init__(self, X: Array, y: Array, tested: Array) -> None:
        self.X, self.y = X[~tested], y[~tested]
        self._others = X[tested], y[tested]

    def facts(self, model: Any, several: bool, radius: float) -> dict[str, Any]:
        found: dict[str, Any] = {
            "train_error": 1 - float(model.score(self.X, self.y)),
            "test_error": 1 - float(model.score(*self._others)),
        }
        if several:
            return found
        w, b = np.asarray(model.coef_).ravel(), float(np.ravel(model.intercept_)[0])
        sign = 1.0 if model.classes_[1] > 0 else -1.0
        scores = sign * self.y * (np.asarray(self.X, dtype=np.float64) @ w + b)
        margin = float(scores.min() / np.linalg.norm(w)) / radius
        found["margin"] = margin
        if margin <= 0:
            found["failure"] = "does not separate the data"
        return found


def _ours(split: _Split, **options: Any) -> Any:
    from gammabar.harness.classifier import MaxMarginClassifier

    return MaxMarginClassifier(**options).fit(split.X, split.y)


def _hinge() -> Any:
    return peers.liblinear(fit_intercept=True, tol=1e-4)


def _default() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=0)


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One table per data set."""
    columns = ("classifier", "time", "ratio", "margin", "missing", "training error", "test error")
    out = []
    for result in results:
        title = (
            f"{result['data']}: {result['n']:,} × {result['d']:,}, {result['classes']} classes,"
            f" tested on {result['tested']:,}"
        )
        best = result["rows"][0]
        rows = [_line(row, best) for row in result["rows"] if not row["absent"]]
        out.append(Table(title, (*columns, "proves"), rows, named(result["rows"])))
    return out


def _line(row: dict[str, Any], best: dict[str, Any]) -> tuple[str, ...]:
    if row["seconds"] is None:
        return (row["name"], *[""] * 6, f"**fails**: {row['failure']}")
    margin, most = row.get("margin"), best.get("margin")
    return (
        row["name"],
        duration(row["seconds"]),
        ratio(row["seconds"] / best["seconds"]) if best["seconds"] else "",
        "" if margin is None else digits(margin, 8),
        "" if margin is None or not most else _missing(1 - margin / most),
        percent(row["train_error"]),
        percent(row["test_error"]),
        f"{row['proves']}{', **fails**: ' if row['failure'] else ''}{row['failure']}",
    )


def _missing(part: float) -> str:
    """What is lacking of the exact margin; both are measured in doubles."""
    return "< 1e-12" if part < 1e-12 else f"{part:.2g}"
