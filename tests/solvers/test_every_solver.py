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
    Kernel,
    KernelProblem,
    MulticlassProblem,
    ProblemError,
    from_arrays,
)
from gammabar.solvers import (
    DualAcceleration,
    GradientDescent,
    NormalizedGradientDescent,
)
from gammabar.solvers.base import SOLVERS, solver
from gammabar.solvers.boosting import AdaBoost
from gammabar.solvers.descent import SGD, Quadratic, SmoothGradientDescent
from gammabar.solvers.ji_srebro_telgarsky import AdaptiveSampling, DualForm, HardMarginAscent
from gammabar.solvers.kernel_methods import KernelRidge
from gammabar.solvers.ramdas_pena import ISNKPVN, NVN, SNKP, SNKPVN, Winnow
from gammabar.solvers.tyurin import (
    LogisticRegressionGD,
    NormalizedLogisticRegressionGD,
    Perceptron,
)

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


@pytest.mark.parametrize(
    "name", [n for n in STEPPING if {"kernel", "multiclass"} <= set(solver(n).card.geometries)]
)
def test_a_linear_kernel_and_two_classes_are_the_linear_problem(name):
    rng = np.random.default_rng(5)
    for _ in range(15):
        X = rng.integers(-4, 5, (5, 3))
        y = np.where(X @ [3, -2, 1] + rng.integers(-3, 4, 5) > 0, 1, -1)
        if not X.any():
            continue
        plain = DenseProblem(X, y)
        others = KernelProblem(X, y, Kernel("linear")), MulticlassProblem(X, (y > 0).astype(int), 2)
        space = plain.unit() if solver(name).card.unit_ball else plain
        for a, b, c in zip(*(run(name, p) for p in (plain, *others)), strict=False):
            if len({it.extra.get("i") for it in (a, b, c)}) > 1:
                break  # u fell within rounding of a border between two rows
            size = 1e-9 * (1 + np.linalg.norm(a.w))
            assert space.combine(b.w) == pytest.approx(a.w, abs=size)
            # w becomes (−w, w)/√2, of the same norm.
            U = c.w.reshape(3, 2)
            assert np.outer(a.w, [-1, 1]) / math.sqrt(2) == pytest.approx(U, abs=size)
            if np.abs(space.scores(a.w)).min() < 1e-9:
                break  # the geometries may round a tie in different ways
            assert a.extra.get("halt") == b.extra.get("halt") == c.extra.get("halt")


KERNEL = from_arrays([[1.0], [2.0]], [1, -1], kernel="rbf:gamma=1")
ONE = DenseProblem(np.array([[1.0]]), np.array([1]))
POSITIVE = "option step must be a positive number"


def first(method, problem=ONE):
    return lambda: next(method.iterates(problem))


WRONG = [
    (lambda: DualAcceleration(step=0.0), f"{POSITIVE}, not 0.0"),
    (lambda: DualAcceleration(loss="hinge"), "loss must be one of exponential, logistic"),
    (lambda: DualAcceleration(smoothness=-1), "option smoothness"),
    (lambda: DualForm(mixing="nesterov"), "option mixing must be accelerated, slower"),
    (lambda: DualForm(mixing=1.5), r"option mixing must lie in \(0, 1\], but is 1.5 at t = 0"),
    (lambda: DualForm(step=2.0), r"option step must lie in \(0, 1\]"),
    (lambda: DualForm(smoothness=0), "option smoothness"),
    (lambda: DualForm(loss=""), "loss must be one of"),
    (lambda: AdaptiveSampling(step=-1.0), "option step must be zero or a positive number"),
    (lambda: AdaptiveSampling(step=math.inf), "option step"),
    (lambda: AdaptiveSampling.horizon(0, 0.1, 0.1, 0.1), "option n must be at least 1"),
    (lambda: AdaptiveSampling.for_theorem(9, 0.0, 0.1, 0.1), "positive margin gamma"),
    (lambda: AdaptiveSampling.for_theorem(9, 0.1, 0.0, 0.1), "positive epsilon"),
    (lambda: AdaptiveSampling.for_theorem(9, 0.1, 0.1, 1.0), "delta between 0 and 1"),
    (lambda: GradientDescent(math.nan), "option step"),
    (lambda: GradientDescent(loss="0-1"), "loss must be one of"),
    (lambda: NormalizedGradientDescent(-2), "option step"),
    (lambda: HardMarginAscent(0), "option step"),
    (lambda: Perceptron("last"), "choice must be one of first, cyclic, random, worst"),
    *(
        (lambda cls=cls, step=step: cls(step), "step must be a positive number")
        for cls in (LogisticRegressionGD, NormalizedLogisticRegressionGD)
        for step in (0.0, -1.0, math.nan, math.inf)
    ),
    (lambda: Winnow(0.0), "must be"),
    (lambda: SNKP(-1.0), "must be"),
    (lambda: NVN(math.nan), "must be"),
    (lambda: SNKPVN(0.0), "must be"),
    (lambda: ISNKPVN(epsilon=0.0), "must be"),
    (lambda: ISNKPVN(gamma=1.0), "must be"),
    (first(Winnow(), KERNEL), "winnow multiplies the coordinates"),
    (first(SNKPVN(q=(1.0,)), KERNEL), "one weight for each of the 2 rows"),
    (first(SNKPVN(q=(1.0, 0.5)), KERNEL), "lie in the simplex"),
    (first(AdaBoost(), KERNEL), "dense or sparse"),
    (first(SmoothGradientDescent(regularisation=0.0)), "regularisation"),
    (
        first(SmoothGradientDescent(), Quadratic([[1.0, 0.0], [0.0, 0.0]], [0.0, 0.0])),
        "strongly convex",
    ),
    (lambda: Quadratic([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0]), "semidefinite"),
    (lambda: Quadratic([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0]), "symmetric"),
    (lambda: Quadratic([[1.0, 2.0]], [0.0, 0.0]), "square"),
    (lambda: Quadratic([[math.nan]], [0.0]), "finite"),
    (first(SGD(horizon=0)), "horizon"),
    (first(SGD(distance=-1.0)), "distance"),
    (first(SGD(lipschitz=0.0)), "Lipschitz"),
    (first(SGD(loss="square")), "loss"),
    (first(SGD(indices=(0, 1))), "indices"),
    (lambda: SGD.within(0.0, 1.0, 1.0), "epsilon"),
    (lambda: KernelRidge(0.0), "regularisation"),
    (lambda: KernelRidge(1.0, "cubic"), "unknown kernel"),
    (lambda: KernelRidge().primal([[1.0]], [1.0, 2.0]), "y must be 1"),
    (lambda: KernelRidge().dual([[math.inf]], [1.0]), "finite matrix"),
    (
        lambda: KernelRidge(1.0, lambda x, z: -2.0 * float(x @ z)).dual([[1.0]], [1.0]),
        "positive definite",
    ),
    (lambda: KernelRidge(1.0, "poly:degree=3").dual([[1e200]], [1.0]), "not finite"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_wrong_options_are_refused(wrong, words):
    with pytest.raises(ProblemError, match=words):
        wrong()


def test_a_sequence_that_leaves_its_range_is_refused_when_it_does():
    iterates = DualForm(mixing=lambda t: 1 - t / 3).iterates(ONE)
    assert len(list(islice(iterates, 3))) == 3
    with pytest.raises(ProblemError, match=r"option mixing .* at t = 3"):
        next(iterates)
