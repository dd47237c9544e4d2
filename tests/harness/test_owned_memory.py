"""Arrays that the caller of from_arrays still owns, and changes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import gammabar as gb
from gammabar.solvers import DualAcceleration


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multiclass": True},
        {"kernel": "rbf:gamma=1"},
        {"kernel": "linear", "normalised": True},
        {"intercept": "augmented"},
    ],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("when", ["at once", "solved", "heard"])
def test_arrays_that_their_owner_changes_refute_nobody(options, sparse, when):
    """A problem is its arrays: another answer, or a sentence, but no verdict on a mixture."""
    X = np.array([[1.0, 0.2], [0.5, 1.0], [-1.0, -0.3], [-0.6, -1.0]])
    given = scipy.sparse.csr_matrix(X) if sparse else X
    problem = gb.from_arrays(given, [1, 1, -1, -1], **options)
    solver, asked = DualAcceleration(), ["gb.sharp", "jst.lem3.6.lower", "jst.lem3.4.primal"]
    if when == "solved":
        gb.solve(problem)
    if when == "heard":
        gb.verify(solver, problem, asked, iterations=20)
    values = given.data if sparse else given
    values *= np.linspace(0.01, 7, values.size).reshape(values.shape)
    try:
        verdicts = gb.verify(solver, problem, asked, iterations=20)
    except gb.ProblemError as reason:
        assert "have changed since" in str(reason)
        return
    assert {str(v.verdict) for v in verdicts} <= {"holds", "undecided", "inapplicable"}
