"""A problem is the arrays that it was made of: neither checks nor callers change it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import gammabar as gb
from gammabar.solvers import DualAcceleration

ASKED = ["gb.sharp", "jst.lem3.6.lower", "jst.lem3.4.primal", "jst.lem3.2"]
KERNELS = ["linear", "poly:degree=2", "poly:degree=3,coef0=1", "rbf:gamma=1", "precomputed"]
OPTIONS = [{}, {"multiclass": True}, {"intercept": "augmented"}]
OPTIONS += [{"kernel": k, "normalised": flag} for k in KERNELS for flag in (False, True)]


@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "bool", "sparse"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_problem_is_the_same_after_it_was_checked(options: dict, kind: str) -> None:
    X = np.array([[1, 1], [0, 1], [1, 0], [0, 1]], dtype="float64" if kind == "sparse" else kind)
    given = scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    if options.get("kernel") == "precomputed":
        given = np.eye(4) * 2
    try:
        problem = gb.from_arrays(given, [1, 1, -1, -1], **options)
    except gb.ProblemError as reason:
        pytest.skip(str(reason))
    before = problem.raw()._digest()
    found = [gb.verify(DualAcceleration(), problem, ASKED, iterations=5) for _ in range(3)]
    gb.solve(problem)
    assert problem.raw()._digest() == before
    for verdicts in found:
        assert [v.verdict for v in verdicts] == [v.verdict for v in found[0]]
        assert not any("changed" in (v.reason or "") for v in verdicts)


@pytest.mark.parametrize("options", [*OPTIONS[:5], OPTIONS[9]], ids=str)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("when", ["at once", "solved", "checked"])
def test_arrays_that_their_owner_changes_refute_nobody(options, sparse, when):
    """Another answer, or a sentence, but no verdict on a mixture."""
    X = np.array([[1.0, 0.2], [0.5, 1.0], [-1.0, -0.3], [-0.6, -1.0]])
    given = scipy.sparse.csr_matrix(X) if sparse else X
    problem = gb.from_arrays(given, [1, 1, -1, -1], **options)
    if when == "solved":
        gb.solve(problem)
    if when == "checked":
        gb.verify(DualAcceleration(), problem, ASKED[:3], iterations=20)
    values = given.data if sparse else given
    values *= np.linspace(0.01, 7, values.size).reshape(values.shape)
    try:
        verdicts = gb.verify(DualAcceleration(), problem, ASKED[:3], iterations=20)
    except gb.ProblemError as reason:
        assert "have changed since" in str(reason)
        return
    assert {str(v.verdict) for v in verdicts} <= {"holds", "undecided", "inapplicable"}
