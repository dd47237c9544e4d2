"""What ``gammabar verify`` runs: problems whose truth is established in three independent ways."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from problems import Problem

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


def verify_problem(name: str) -> dict[str, Any]:
    """Solve exactly, check the certificate independently, and compare with CVXPY.

    Returns
    -------
    dict
        ``verdict`` is "holds" if the certificate is accepted and CVXPY agrees, else "refuted".
    """
    from harness.commands.oracle import describe
    from oracle import solve
    from oracle.check import Rejected, check
    from oracle.models import hard_margin_dual
    from problems import load

    problem = load(name)
    truth = solve(problem)
    with tempfile.TemporaryDirectory(prefix="gammabar-") as folder:
        try:
            check(*map(str, _files(truth, Path(folder))))
            certificate = "accepted"
        except Rejected as reason:
            certificate = f"rejected: {reason}"
    model = hard_margin_dual(signed_rows(problem))
    gamma_cvxpy = model.gamma / truth.radius if truth.radius else 0.0
    difference = abs(gamma_cvxpy**2 - truth.gamma**2)
    agrees = difference <= AGREEMENT * model.settings["tol_gap_abs"]
    holds = certificate == "accepted" and agrees
    answer = describe(truth)
    return {
        "problem": name,
        "verdict": "holds" if holds else "refuted",
        "expected": "holds",
        **{key: answer[key] for key in ("n", "separable", "gamma", "exact", "support_size")},
        "gamma_cvxpy": gamma_cvxpy,
        "cvxpy_status": model.status,
        "difference": difference,
        "certificate": certificate,
    }


def signed_rows(problem: Problem) -> Any:
    """The rows y_i x_i in double precision, dense or sparse, for the models."""
    signs = np.asarray(problem.y, dtype=np.float64)[:, None]
    if hasattr(problem.X, "toarray"):
        return problem.X.astype(np.float64).multiply(signs).tocsr()
    return problem.X * signs


def _files(truth: Any, folder: Path) -> tuple[Path, Path]:
    from harness.export import write_npz

    truth.save(folder / "certificate.json")
    return folder / "certificate.json", write_npz(truth.problem, folder / "data.npz")
