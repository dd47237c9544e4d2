"""Every solver: its name, its geometries, arrays that stay as they were, options that are none."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
import scipy.sparse

from gammabar import solvers
from gammabar.problems import (
    DenseProblem,
    ProblemError,
    from_arrays,
)
from gammabar.solvers.base import SOLVERS, solver
from gammabar.solvers.descent import Quadratic

STEPPING = [name for name in SOLVERS if name != "kernel-ridge"]


def made(name: str):
    return solver(name)(**({"horizon": 30, "distance": 1.0} if name == "sgd" else {}))


def run(name: str, problem, steps: int = 12) -> list:
    method = made(name)
    problem = problem.unit() if method.card.unit_ball else problem
    return list(islice(method.iterates(problem, np.random.default_rng(1)), steps + 1))


@pytest.mark.parametrize("name", SOLVERS)
def test_names_and_cards_agree(name):
    card = solver(name).card
    assert card.name == name
    assert card.reference
    assert getattr(solvers, solver(name).__name__) is solver(name)


def test_unknown_names_are_met_with_a_suggestion():
    with pytest.raises(ProblemError, match="did you mean dual-acceleration"):
        solver("dual-aceleration")


@pytest.mark.parametrize("name", STEPPING)
def test_they_run_on_every_geometry_they_name(name):
    """Two steps on dense, sparse, kernel and multiclass data, as far as the card promises."""
    X, y = [[2, 1], [1, 2], [3, 1], [1, 3]], [1, -1, 1, -1]
    offered = {
        "dense": from_arrays(X, y),
        "sparse": from_arrays(scipy.sparse.csr_matrix(X), y),
        "kernel": from_arrays(X, y, kernel="rbf:gamma=0.5"),
        "multiclass": from_arrays(X, [0, 1, 2, 1], multiclass=True),
    }
    for geometry, problem in offered.items():
        if geometry in solver(name).card.geometries:
            assert run(name, problem, 1)[0].t == 0
        else:
            with pytest.raises(ProblemError):
                run(name, problem, 1)


@pytest.mark.parametrize("name", STEPPING)
def test_what_was_yielded_does_not_change(name):
    rng = np.random.default_rng(3)
    problem = from_arrays(rng.standard_normal((8, 3)), np.arange(8) % 2)
    method, kept = made(name), []
    problem = problem.unit() if method.card.unit_ball else problem
    for it in islice(method.iterates(problem, np.random.default_rng(1)), 16):
        arrays = [it.w, it.dual, it.momentum, *it.extra.values()]
        arrays = [a for a in arrays if isinstance(a, np.ndarray)]
        kept.append((it, arrays, [a.copy() for a in arrays]))
    for it, arrays, copies in kept:
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)
        if it.computed is not None and isinstance(it.extra.get("scores"), np.ndarray):
            assert it.scores == pytest.approx(problem.scores(it.w), abs=1e-9)


KERNEL = from_arrays([[1.0], [2.0]], [1, -1], kernel="rbf:gamma=1")
ONE = DenseProblem(np.array([[1.0]]), np.array([1]))
FLAT = Quadratic([[1.0, 0.0], [0.0, 0.0]], [0.0, 0.0])


@pytest.mark.parametrize(
    ("name", "option", "values", "words"),
    [
        ("dual-acceleration", "step", (0.0, -1.0, math.nan, math.inf), "must be a positive number"),
        ("dual-acceleration", "loss", ("hinge", ""), "loss must be one of exponential, logistic"),
        ("dual-acceleration", "smoothness", (-1,), "option smoothness"),
        ("dual-acceleration-dual", "mixing", ("nesterov",), "must be accelerated, slower"),
        ("dual-acceleration-dual", "mixing", (1.5,), r"lie in \(0, 1\], but is 1.5 at t = 0"),
        ("dual-acceleration-dual", "step", (2.0,), r"option step must lie in \(0, 1\]"),
        ("dual-acceleration-dual", "smoothness", (0,), "option smoothness"),
        ("dual-acceleration-dual", "loss", ("",), "loss must be one of"),
        ("adaptive-sampling", "step", (-1.0, math.inf), "must be zero or a positive number"),
        ("gradient-descent", "step", (math.nan,), "option step"),
        ("gradient-descent", "loss", ("0-1",), "loss must be one of"),
        ("normalized-gradient-descent", "step", (-2,), "option step"),
        ("batch-perceptron-cotter", "step", (0,), "option step"),
        ("perceptron", "choice", ("last",), "choice must be one of first, cyclic, random, worst"),
        ("lr-gd", "step", (0.0,), "option step"),
        ("normalized-lr-gd", "step", (0.0,), "option step"),
        ("winnow", "rate", (0.0,), "option rate"),
        ("snkp", "epsilon", (-1.0,), "option epsilon"),
        ("nvn", "epsilon", (math.nan, None), "option epsilon"),
        ("snkpvn", "delta", (0.0,), "option delta"),
        ("isnkpvn", "epsilon", (0.0,), "option epsilon"),
        ("isnkpvn", "gamma", (1.0,), "option gamma"),
        ("kernel-ridge", "regularisation", (0.0,), "option regularisation"),
        ("kernel-ridge", "kernel", ("cubic",), "unknown kernel"),
    ],
)
def test_wrong_options_are_refused(name, option, values, words):
    for value in values:
        with pytest.raises(ProblemError, match=words):
            solver(name)(**{option: value})


@pytest.mark.parametrize(
    ("name", "options", "problem", "words"),
    [
        ("winnow", {}, KERNEL, "winnow multiplies the coordinates"),
        ("snkpvn", {"q": (1.0,)}, KERNEL, "one weight for each of the 2 rows"),
        ("snkpvn", {"q": (1.0, 0.5)}, KERNEL, "lie in the simplex"),
        ("adaboost", {}, KERNEL, "dense or sparse"),
        ("smooth-gradient-descent", {"regularisation": 0.0}, ONE, "regularisation"),
        ("smooth-gradient-descent", {}, FLAT, "strongly convex"),
        ("sgd", {"horizon": 0}, ONE, "horizon"),
        ("sgd", {"distance": -1.0}, ONE, "distance"),
        ("sgd", {"lipschitz": 0.0}, ONE, "Lipschitz"),
        ("sgd", {"loss": "square"}, ONE, "loss"),
        ("sgd", {"indices": (0, 1)}, ONE, "indices"),
    ],
)
def test_options_that_do_not_fit_the_problem_are_refused(name, options, problem, words):
    with pytest.raises(ProblemError, match=words):
        next(solver(name)(**options).iterates(problem))


RIDGE = solver("kernel-ridge")
THEOREM = solver("adaptive-sampling").for_theorem


@pytest.mark.parametrize(
    ("call", "words"),
    [
        *(
            (lambda g=given: THEOREM(*g), "Theorem 4.1 needs")
            for given in ((0, 1, 1, 0.1), (9, 0, 1, 0.1), (9, 1, 0, 0.1), (9, 1, 1, 1))
        ),
        (lambda: Quadratic([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0]), "semidefinite"),
        (lambda: Quadratic([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0]), "symmetric"),
        (lambda: Quadratic([[1.0, 2.0]], [0.0, 0.0]), "of its length"),
        (lambda: Quadratic([[math.inf]], [0.0]), "finite"),
        (lambda: solver("sgd").within(0.0, 1.0, 1.0), "epsilon"),
        (lambda: RIDGE().primal([[1.0]], [1.0, 2.0]), "y must be 1"),
        (lambda: RIDGE().dual([[math.inf]], [1.0]), "finite matrix"),
        (lambda: RIDGE(1.0, lambda x, z: -2.0 * float(x @ z)).dual([[1.0]], [1.0]), "definite"),
        (lambda: RIDGE(1.0, "poly:degree=3").dual([[1e200]], [1.0]), "not finite"),
    ],
)
def test_wrong_arguments_are_refused(call, words):
    with pytest.raises(ProblemError, match=words):
        call()


def test_a_sequence_that_leaves_its_range_is_refused_when_it_does():
    method = solver("dual-acceleration-dual")(mixing=lambda t: 1 - t / 3)
    iterates = method.iterates(ONE)
    assert len(list(islice(iterates, 3))) == 3
    with pytest.raises(ProblemError, match=r"option mixing .* at t = 3"):
        next(iterates)
