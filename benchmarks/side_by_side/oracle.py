"""The exact oracle side by side with what people use for the maximum margin.

Every contestant gets the data in memory in the form it likes best, before the clock starts, and
is asked for its highest accuracy. Beside each time stands what the result is worth: how much margin
is missing, and what is proved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from side_by_side import peers
from side_by_side.contest import Entry, Field, race
from side_by_side.data import EMBEDDED, FASHION, MNIST, available, shown
from side_by_side.table import Table, duration, named, ratio

from gammabar.harness.screen import Stage
from gammabar.oracle import solve
from gammabar.problems import Problem, load

TITLE = "The maximum margin: the oracle and other programs"
#: Data that are separable, but so narrowly that doubles can hardly tell.
NARROW = "breast-cancer"
#: Seconds that a contestant may take.
PATIENCE = {NARROW: 10.0}
LIMIT = 150.0
#: CVXPY's models. On Fashion-MNIST the dual one, the slower, takes a minute and a half by itself.
MODELS = {FASHION: ("primal",)}
BOTH = ("dual", "primal")

Floats = NDArray[np.float64]


class Answer(NamedTuple):
    """What a contestant says: a classifier, the margin it claims, and its own word on success."""

    w: Floats | None
    claim: float | None = None
    status: str = ""


def measure(
    quick: bool, say: Stage, *, names: Sequence[str] = (), repeat: int = 0
) -> list[dict[str, Any]]:
    """One contest per problem: by default the full data sets, if this machine has them."""
    if not names:
        names = EMBEDDED if quick else available(MNIST, FASHION, otherwise=EMBEDDED)
        names = (*names, NARROW)
    repeat = repeat or (3 if quick else 5)
    results = []
    for name in names:
        limit = PATIENCE.get(name, LIMIT)
        about, scores = race(
            field, name, MODELS.get(name, BOTH), repeat=repeat, limit=limit, say=say
        )
        results.append(about | {"limit": limit, "rows": [score.as_dict() for score in scores]})
    return results


def field(name: str, models: Sequence[str] = BOTH) -> Field:
    """The contestants, for one linear problem, and CVXPY with some of its models."""
    problem = load(name)
    truth = solve(problem)  # compiles and warms up, so that no contestant pays for it
    unit, gamma = problem.unit(), truth.gamma
    X = np.asarray(problem.X, dtype=np.float64) / problem.radius
    y = np.asarray(problem.y)
    A = X * y[:, None]
    # An inner product of d doubles errs by at most so much of ‖a‖‖w‖ ≤ ‖w‖ (Higham 2002, §3.1).
    resolution = 1.02 * (X.shape[1] + 8) * 2.0**-53 / gamma

    def judge(answer: Answer) -> dict[str, Any]:
        return judged(answer, unit, gamma, resolution)

    def entry(name: str, run: Any, *needs: str, proves: str = "nothing") -> Entry:
        return Entry(name, run, judge, proves, needs)

    def qp(name: str, solver: str, **settings: Any) -> Entry:
        run = partial(peers.smallest_norm, A, solver, **settings)
        return entry(name, lambda: _normal(run()), "qpsolvers", solver)

    entries = [
        Entry("gammabar, exact with proof", lambda: solve(problem), _judged_exactly, "γ̄², q̄ exact"),
        # Ten times the default limit, which it would reach on almost all data.
        entry(
            "LIBLINEAR (hinge, C = 1e6)",
            lambda: _normal(peers.liblinear(max_iter=10_000).fit(X, y).coef_[0]),
            "sklearn.svm",
        ),
        entry("LIBSVM (one-class, ν = 1/n)", lambda: _libsvm(A), "sklearn.svm"),
        qp("DAQP", "daqp"),
        qp("quadprog", "quadprog"),
        qp("PIQP", "piqp", eps_abs=1e-10, eps_rel=1e-10),
        *(
            entry(
                f"CVXPY + Clarabel, {which}",
                partial(_cvxpy, A, which),
                "cvxpy",
                "clarabel",
                proves="tolerance 1e-10",
            )
            for which in models
        ),
    ]
    about = {
        "data": name,
        "n": problem.n,
        "d": X.shape[1],
        "gamma": shown(truth),
        "support": len(truth.support),
        "resolution": resolution,
        "left_out": [m for m in BOTH if m not in models],
    }
    return Field(entries, about)


def judged(answer: Answer, unit: Problem, gamma: float, resolution: float) -> dict[str, Any]:
    """What an answer is worth, and whether it is one at all."""
    claim = answer.claim if answer.claim is not None and math.isfinite(answer.claim) else None
    if answer.w is None or not np.all(np.isfinite(answer.w)) or not answer.w.any():
        status = f" (status {answer.status})" if answer.status else ""
        return {"claim": claim, "failure": f"returned no solution{status}"}
    margin = unit.margin(answer.w)
    facts: dict[str, Any] = {"margin": margin, "missing": 1 - margin / gamma}
    facts["claim"] = claim
    if margin <= -resolution * gamma:
        facts["failure"] = f"does not separate the data: margin {margin:.2g}"
    elif answer.status:
        facts["failure"] = f"status {answer.status}"
    return facts


def _judged_exactly(truth: Any) -> dict[str, Any]:
    facts = {"margin": truth.gamma, "missing": 0.0, "claim": truth.gamma}
    return facts if truth.exact else facts | {"failure": "not exact"}


def _libsvm(A: Floats) -> Answer:
    """The one-class machine on the rows y_i x_i with ν = 1/n minimises ‖Aᵀq‖² on the simplex.

    That is this problem, whereas the classifiers of LIBSVM have an intercept that cannot be
    switched off.
    """
    from sklearn.svm import OneClassSVM

    model = OneClassSVM(kernel="linear", nu=1 / len(A), tol=1e-10).fit(A)
    w = np.asarray(model.coef_[0])
    return Answer(w, float(np.linalg.norm(w)))


def _cvxpy(A: Floats, which: str) -> Answer:
    from gammabar.oracle.cvxpy_models import hard_margin_dual, hard_margin_primal

    found = (hard_margin_dual if which == "dual" else hard_margin_primal)(A)
    return Answer(found.w, found.gamma, "" if found.status == "optimal" else found.status)


def _normal(w: Any) -> Answer:
    """The answer of a program that solves min ½‖w‖² subject to A w ≥ 1: it claims 1/‖w‖."""
    if w is None:
        return Answer(None)
    w = np.asarray(w, dtype=np.float64)
    norm = float(np.linalg.norm(w))
    return Answer(w, 1 / norm if norm > 0 else None)


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One table per problem."""
    columns = ("program", "time", "ratio", "margin missing", "margin claimed", "proves")
    out = []
    for result in results:
        ours = result["rows"][0]["seconds"]
        title = (
            f"{result['data']}: {result['n']:,} × {result['d']:,}, γ̄ = {result['gamma']}, "
            f"{result['support']} support vectors"
        )
        rows = [
            (
                row["name"],
                duration(row["seconds"]),
                ratio(row["seconds"] / ours) if row["seconds"] and ours else "",
                _missing(row, result["resolution"]),
                "" if row.get("claim") is None else f"{row['claim']:.8g}",
                row["proves"] if not row["failure"] else "nothing",
            )
            for row in result["rows"]
            if not row["absent"]
        ]
        notes = [
            f"CVXPY's {model} model, the slower one here, was left out to save time."
            for model in result["left_out"]
        ]
        out.append(Table(title, columns, rows, named(result["rows"]) + notes))
    return out


def _missing(row: dict[str, Any], resolution: float) -> str:
    """The part of γ̄ that is missing, or how the contestant failed."""
    missing = row.get("missing")
    if row["failure"]:
        rest = f" ({missing:.1e} is missing)" if missing is not None and missing < 1 else ""
        return f"**fails**: {row['failure']}{rest}"
    if row["proves"].endswith("exact"):
        return "none"
    return f"< {resolution:.0e}" if abs(row["missing"]) <= resolution else f"{missing:.1e}"
