"""The linear support vector machines and quadratic programs that people use for a hard margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def liblinear(**options: Any) -> Any:
    """LIBLINEAR for a hard margin, by default without an intercept."""
    from sklearn.svm import LinearSVC

    hard = {"loss": "hinge", "C": 1e6, "fit_intercept": False, "tol": 1e-8, "random_state": 0}
    return LinearSVC(**(hard | options))


def svc() -> Any:
    """LIBSVM for a hard margin; its intercept cannot be switched off."""
    from sklearn.svm import SVC

    return SVC(kernel="linear", C=1e6)


def smallest_norm(A: Floats, solver: str, intercept: bool = False, **options: Any) -> Floats | None:
    """min ½‖w‖² subject to A w ≥ 1; the last column of A may be an intercept, which is free."""
    from qpsolvers import solve_qp
    from scipy.sparse import csc_matrix

    n, m = A.shape
    P: Any = np.eye(m)
    if intercept:
        P[-1, -1] = 0.0
        options |= {"eps_prox": 1e-3} if solver == "daqp" else {}  # P is singular
    G: Any = -A
    if solver == "clarabel":
        P, G = csc_matrix(P), csc_matrix(G)
    w = solve_qp(P, np.zeros(m), G, -np.ones(n), solver=solver, **options)
    return None if w is None else np.asarray(w, dtype=np.float64)
