"""Every solver is registered under its own name, and runs where it says that it does."""

from __future__ import annotations

from itertools import islice

import pytest

from gammabar import solvers
from gammabar.problems import ProblemError, from_arrays
from gammabar.solvers.base import SOLVERS, solver


@pytest.mark.parametrize("name", SOLVERS)
def test_names_and_cards_agree(name):
    card = solver(name).card
    assert card.name == name
    assert card.reference
    assert getattr(solvers, solver(name).__name__) is solver(name)


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "kernel-ridge"])
def test_they_run_on_every_geometry_they_name(name):
    """Two steps on dense, sparse, kernel and multiclass data, as far as the card promises."""
    X, y = [[2, 1], [1, 2], [3, 1], [1, 3]], [1, -1, 1, -1]
    import scipy.sparse

    offered = {
        "dense": from_arrays(X, y),
        "sparse": from_arrays(scipy.sparse.csr_matrix(X), y),
        "kernel": from_arrays(X, y, kernel="rbf:gamma=0.5"),
        "multiclass": from_arrays(X, [0, 1, 2, 1], multiclass=True),
    }
    cls = solver(name)
    for geometry, problem in offered.items():
        options = {"horizon": 3, "distance": 1.0} if name == "sgd" else {}
        run = cls(**options).iterates(problem.unit() if cls.card.unit_ball else problem)
        if geometry in cls.card.geometries:
            first = list(islice(run, 2))
            assert first[0].t == 0
        else:
            with pytest.raises(ProblemError):
                next(run)


def test_unknown_names_are_met_with_a_suggestion():
    with pytest.raises(ProblemError, match="did you mean dual-acceleration"):
        solver("dual-aceleration")
