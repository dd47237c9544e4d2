"""The price of a proof, by kind of data: real-valued and integer, narrow and wide, small and large.

A row of the table is a cell (`CELLS`): a kind of data, its size, and whether there is an intercept.
Times are processor times, so that a loaded machine changes them little; run it with one thread
(``OMP_NUM_THREADS=1``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from side_by_side import peers
from side_by_side.contest import Entry, Field, Score, race
from side_by_side.data import MNIST, SAMPLE, available
from side_by_side.table import Table, digits, duration, named, ratio

from gammabar.harness.screen import Stage
from gammabar.oracle import solve
from gammabar.oracle.candidate import candidate_for
from gammabar.problems import load
from gammabar.problems.conversion import from_arrays

TITLE = "The price of a proof"
OURS, SEARCH, SVC = "gammabar, with proof", "gammabar, search alone", "SVC (C = 1e6)"
#: Seconds that a contestant may take, and before each run; all cells take less than ten minutes.
LIMIT, PAUSE = 5.0, 0.02
#: Entries of the data from which on contestants run once.
LARGE = 250_000

Array = NDArray[Any]
Data = tuple[Array, Array]


class Cell(NamedTuple):
    """Data of a kind, n × d; of a kind without sizes both are zero."""

    kind: str
    n: int = 0
    d: int = 0
    intercept: bool = False


def _planted(n: int, d: int, rng: np.random.Generator, gap: float = 0.05) -> Data:
    """Rows on either side of a gap."""
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d))
    scores = X @ w
    y = np.where(scores > 0, 1, -1)
    return X + np.outer(gap * y, w), y


def _gaussian(n: int, d: int, rng: np.random.Generator) -> Data:
    """Rows and labels that have nothing to do with each other; few enough rows are separable."""
    return rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1, -1)


def _integers(n: int, d: int, rng: np.random.Generator) -> Data:
    X, y = _planted(n, d, rng, gap=0.5) if n > 2 * d else _gaussian(n, d, rng)
    return np.rint(50 * X).astype(np.int16), y


def _pixels(change: Callable[[Array], Array], n: int, d: int, rng: object) -> Data:
    problem: Any = load(available(MNIST, otherwise=(SAMPLE,))[0])
    return change(np.asarray(problem.X)), np.asarray(problem.y)


def _standardised(X: Array) -> Array:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


KINDS: dict[str, Callable[..., Data]] = {
    "planted": _planted,
    "planted, tiny margin": partial(_planted, gap=1e-6),
    "Gaussian": _gaussian,
    "integers": _integers,
    "pixels, bytes": partial(_pixels, lambda X: X),
    "pixels, divided by 255": partial(_pixels, lambda X: X / 255),
    "pixels, standardised": partial(_pixels, _standardised),
}
_SIZES: dict[str, Sequence[tuple[int, int]]] = {
    "planted": [
        (100, 2), (100, 2000), (1000, 20), (100_000, 2), (100_000, 20), (10_000, 200),
        (2000, 1000),
    ],
    "planted, tiny margin": [(100, 2), (1000, 20), (10_000, 50), (100_000, 20)],
    "Gaussian": [(120, 100), (300, 250), (600, 500), (1000, 800), (2400, 2000)],
    "integers": [(600, 500), (10_000, 50), (100_000, 20)],
}  # fmt: skip
CELLS = [
    Cell(kind, n, d, intercept)
    for kind in KINDS
    for n, d in _SIZES.get(kind, [(0, 0)])
    for intercept in (False, True)
]
QUICK = [cell for cell in CELLS if cell.n * cell.d <= 20_000 and (cell.n or "bytes" in cell.kind)]


def measure(
    quick: bool, say: Stage, *, cells: Sequence[Cell] = (), repeat: int = 3
) -> list[dict[str, Any]]:
    """One contest per cell; who is too slow without intercept is not asked with one."""
    results: list[dict[str, Any]] = []
    late: dict[str, dict[str, Any]] = {}
    for cell in cells or (QUICK if quick else CELLS):
        late = late if cell.intercept else {}
        turns = 1 if cell.n * cell.d > LARGE or not cell.n else repeat
        about, scores = race(
            field, cell, tuple(late), repeat=turns, limit=LIMIT, say=say, pause=PAUSE
        )
        rows = {score.name: _row(score) for score in scores}
        late |= {name: row for name, row in rows.items() if row["failure"].startswith("no answer")}
        results.append(about | {"rows": [rows.get(name) or late[name] for name in about["names"]]})
    return results


def _row(score: Score) -> dict[str, Any]:
    times = [facts["computing"] for facts in score.facts]
    return score.as_dict() | {"computing": min(times, default=None)}


def field(cell: Cell, without: Sequence[str] = ()) -> Field:
    """The contestants, for the data of a cell."""
    kind, n, d, intercept = cell
    X, y = KINDS[kind](n, d, np.random.default_rng(0))
    problem = from_arrays(X, y, intercept="free" if intercept else "none")
    import_module("gammabar.oracle._wolfe")  # little data would do without; here it is loaded
    truth = solve(problem)  # warms up, so that no contestant pays for it
    rows = np.asarray(X, dtype=np.float64) / problem.radius
    gamma = truth.gamma

    def missing(answer: Any) -> dict[str, Any]:
        """What the margin of (w, b) lacks of γ̄, in doubles."""
        if answer is None or not np.isfinite(answer).all():
            return {"failure": "no solution"}
        w, b = answer[:-1], answer[-1]
        margin = float((y * (rows @ w + b)).min() / (np.linalg.norm(w) or 1.0))
        facts = {"missing": 1 - margin / gamma if gamma else None}
        return facts if margin > 0 or not gamma else facts | {"failure": "does not separate"}

    constraints = y[:, None] * np.hstack([rows, np.ones((len(y), 1))[:, : int(intercept)]])

    def qp(name: str, solver: str, **options: Any) -> Entry:
        return Entry(
            name,
            lambda: with_b(peers.smallest_norm(constraints, solver, intercept, **options)),
            missing,
            needs=("qpsolvers", solver),
        )

    def machine(name: str, make: Callable[[], Any]) -> Entry:
        def run() -> Array | None:
            model = make().fit(rows, y)
            return with_b(np.append(model.coef_[0], model.intercept_ if intercept else []))

        return Entry(name, run, missing, needs=("sklearn.svm",))

    def with_b(w: Array | None) -> Array | None:
        return w if w is None or intercept else np.append(w, 0.0)

    entries = [
        Entry(OURS, lambda: solve(problem).gamma, proves="γ̄², q̄ exact"),
        Entry(SEARCH, lambda: candidate_for(problem, "exact")),
        machine(SVC, peers.svc),
        machine("LIBLINEAR", partial(peers.liblinear, fit_intercept=intercept, max_iter=10_000)),
        qp("DAQP", "daqp"),
        qp("PIQP", "piqp", eps_abs=1e-10, eps_rel=1e-10),
        qp("Clarabel", "clarabel", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10),
    ]
    shape = {"n": problem.n, "d": int(problem.plain.X.shape[1])}
    about = {"data": kind, **shape, "intercept": intercept, "support": len(truth.support)}
    about |= {"separable": truth.separable, "gamma": gamma, "names": [e.name for e in entries]}
    return Field([entry for entry in entries if entry.name not in without], about)


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One row per cell, without and with an intercept, and how often the proof wins in all."""
    if not results:
        return []
    notes = [_summary(results, SEARCH), _summary(results, SVC), *named(results[0]["rows"])]
    plain = [result for result in results if not result["intercept"]]
    free = [result for result in results if result["intercept"]]
    return [
        _table("without intercept", plain, notes),
        *([_table("with an intercept", free, [])] if free else []),
    ]


def _table(kind: str, results: list[dict[str, Any]], notes: list[str]) -> Table:
    rivals = [row["name"] for row in results[0]["rows"][1:]] if results else []
    columns = ("data", "n × d", "support", "with proof", *(f"÷ {name}" for name in rivals))
    rows = []
    for result in results:
        times = {row["name"]: row["computing"] for row in result["rows"]}
        size = f"{result['n']:,} × {result['d']:,}"
        rows.append(
            (
                result["data"] + ("" if result["separable"] else ", inseparable"),
                size,
                f"{result['support']}",
                duration(times[OURS]),
                *(_cell(row, times[OURS]) for row in result["rows"][1:]),
            )
        )
    title = f"Processor time with proof, {kind}, and divided by that of others (below 1×: faster)"
    return Table(title, columns, rows, notes)


def _cell(row: dict[str, Any], ours: float | None) -> str:
    if row["computing"] is None or not ours:
        return f"fails: {row['failure']}" if row["failure"] else ""
    return ratio(ours / row["computing"]) + (" (fails)" if row["failure"] else "")


def _summary(results: list[dict[str, Any]], rival: str) -> str:
    """Median and worst ratio, and in how many cells the proof takes no longer."""
    ratios = []
    for result in results:
        times = {row["name"]: row["computing"] for row in result["rows"]}
        if times[OURS] and times.get(rival):
            ratios.append(times[OURS] / times[rival])
    if not ratios:
        return ""
    won = sum(value <= 1 for value in ratios)
    return (
        f"With proof ÷ {rival}: median {digits(median(ratios), 2)}, worst"
        f" {digits(max(ratios), 2)}; no longer in {won} of {len(ratios)} cells."
    )
