"""What a problem works out for itself while it is judged is no change of its data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import gammabar as gb
from gammabar.solvers import DualAcceleration

KERNELS = ["linear", "poly:degree=2", "poly:degree=3,coef0=1", "rbf:gamma=1", "precomputed"]
OPTIONS = [{}, {"multiclass": True}, {"intercept": "augmented"}]
OPTIONS += [{"kernel": k, "normalised": flag} for k in KERNELS for flag in (False, True)]
KINDS = ["float64", "float32", "int8", "bool", "sparse"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_problem_is_the_same_after_it_was_judged(options: dict, kind: str) -> None:
    X = np.array([[1, 1], [0, 1], [1, 0], [0, 1]], dtype="float64" if kind == "sparse" else kind)
    given = scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    y = [1, 1, -1, -1]
    if options.get("kernel") == "precomputed":
        given = np.eye(4) * 2
    try:
        problem = gb.from_arrays(given, y, **options)
    except gb.ProblemError as reason:
        pytest.skip(str(reason))
    before = problem.raw()._digest()
    asked = ["gb.sharp", "jst.lem3.6.lower", "jst.lem3.4.primal", "jst.lem3.2"]
    heard = [gb.verify(DualAcceleration(), problem, asked, iterations=5) for _ in range(3)]
    gb.solve(problem)
    assert problem.raw()._digest() == before
    for verdicts in heard:
        assert [v.verdict for v in verdicts] == [v.verdict for v in heard[0]]
        assert not any("changed" in (v.reason or "") for v in verdicts)
