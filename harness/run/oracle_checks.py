"""The yardstick itself: two checks of the oracle that stand in the plan beside the statements."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import Relation, at_most, fact, number
from gammabar.harness.verify.statement import DirectStatement, Statement
from gammabar.problems import DenseProblem, Problem, SparseProblem

#: Embedded data and generators only: a fresh machine without network has them all.
DEFAULT_PLAN = (
    "mnist-sample:0,1",
    "mnist-sample:3,5",
    "mnist-sample:7,8",
    "digits:0,1",
    "digits:3,8",
    "digits:8,9",
    "iris:0,1",
    "iris:1,2",
    "wine:0,1",
    "wine:1,2",
    "breast-cancer",
    "planted:n=200,d=10,gamma=0.1,seed=0",
    "planted:n=2000,d=50,gamma=0.01,seed=1",
    "worst-case:n=1000",
    "loss-spike",
    "two-lines:r=3",
    "imbalanced",
    "inseparable",
    "gaussian",
    "duplicated",
    "degenerate",
)

#: CVXPY minimises γ², so its tolerance is one of γ²; ten times that much counts as agreement.
AGREEMENT = 10


def _accepted(case: Case) -> Iterator[Relation]:
    """The independent checker accepts the certificate that the oracle writes."""
    from gammabar.harness.certificates import write_npz
    from gammabar.oracle.check import Rejected, check

    with tempfile.TemporaryDirectory(prefix="gammabar-") as folder:
        certificate, data = Path(folder) / "certificate.json", Path(folder) / "data.npz"
        case.truth.save(certificate)
        write_npz(case.truth.problem, data)
        try:
            check(str(certificate), str(data))
        except Rejected as reason:
            yield fact(False, f"rejected: {reason}")
        else:
            yield fact(True, "accepted")


def _agrees(case: Case) -> Iterator[Relation]:
    """γ̄² is what CVXPY and Clarabel find, up to ten times their own tolerance."""
    from gammabar.oracle.cvxpy_models import hard_margin_dual

    model = hard_margin_dual(_signed_rows(case.problem))
    if not math.isfinite(model.gamma):
        yield fact(False, f"CVXPY's answer is {model.status}")
        return
    found = Fraction(model.gamma) / Fraction(case.truth.radius or 1.0)
    yield at_most(
        abs(number(found**2) - case.gamma_squared),
        AGREEMENT * model.settings["tol_gap_abs"],
        "|γ̄² − CVXPY's| ≤ tolerance",
    )


def _signed_rows(problem: Problem) -> Any:
    """The rows y_i x_i in double precision, dense or sparse, for the models."""
    signs = np.asarray(problem.y, dtype=np.float64)[:, None]
    if hasattr(problem.X, "toarray"):
        return problem.X.astype(np.float64).multiply(signs).tocsr()
    return problem.X * signs


def _linear(case: Case) -> str | None:
    if isinstance(case.problem, DenseProblem | SparseProblem):
        return None
    return "CVXPY's model is for linear problems of two classes"


def _check(name: str, claim: str, body: Any, **more: Any) -> Statement:
    return DirectStatement(
        id=f"oracle.{name}",
        reference="oracle/CERTIFICATE.md",
        kind="value",
        claim=claim,
        words=body.__doc__,
        body=body,
        problems=DEFAULT_PLAN,
        unit=True,
        **more,
    )


#: They judge no solver and stand in no paper, so they are not among the registered statements.
ORACLE_CHECKS = {
    check.id: check
    for check in (
        _check("certificate", r"\text{the certificate is accepted}", _accepted),
        _check(
            "cvxpy",
            r"\bar\gamma^2 = \min_{q \in \Delta} \|A^\top q\|^2",
            _agrees,
            assumes=(_linear,),
        ),
    )
}
