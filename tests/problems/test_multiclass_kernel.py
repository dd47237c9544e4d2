"""Several classes with a kernel: the same as several classes of explicit features."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from gammabar.harness.verify.certified import space_of
from gammabar.oracle import solve
from gammabar.problems import Kernel, MulticlassKernelProblem, ProblemError, from_arrays
from gammabar.problems.kernels import UNIT, whole_weights
from gammabar.problems.rounding import rounding_of
from gammabar.solvers.ji_srebro_telgarsky import AdaptiveSampling, HardMarginAscent

LABELS = np.array([0, 1, 2, 0, 1, 2, 2, 3])


def both(normalised: bool = False):
    """The kernel of a network, and its features written down."""
    rng = np.random.default_rng(2)
    X, width = rng.integers(-5, 6, (8, 4)), 30
    hidden = X @ whole_weights(width, 4, 1).T / UNIT
    first = ((hidden > 0)[:, :, None] * X[:, None, :]).reshape(8, -1)
    features = np.hstack([first, np.maximum(hidden, 0)]) / np.sqrt(width)
    if normalised:
        features = features / np.linalg.norm(features, axis=1)[:, None]
    kernel = f"network:width={width},seed=1"
    ours = from_arrays(X, LABELS, kernel=kernel, normalised=normalised, multiclass=True)
    return ours, from_arrays(features, LABELS, multiclass=True)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_every_operation_is_that_of_explicit_features(normalised: bool, unit: bool):
    ours, explicit = both(normalised)
    if unit:
        ours, explicit = ours.unit(), explicit.unit()
    assert isinstance(ours, MulticlassKernelProblem)
    assert ours.n == explicit.n == 24
    assert ours.radius == pytest.approx(explicit.radius)
    A = np.array([explicit.row(i) for i in range(ours.n)])
    rng = np.random.default_rng(3)
    some = np.array([3, 0, 17])
    assert ours.gram(np.arange(24)) == pytest.approx(A @ A.T, abs=1e-12)
    assert ours.gram(some, some + 2) == pytest.approx(A[some] @ A[some + 2].T, abs=1e-12)
    sparse = np.zeros(24)
    sparse[[9, 10]] = 1.5, -2  # two rows of one point
    for alpha in (rng.standard_normal(24), ours.row(5), sparse, np.zeros(24)):
        w = A.T @ alpha
        assert ours.scores(alpha) == pytest.approx(A @ w, abs=1e-12)
        assert ours.norm(alpha) == pytest.approx(np.linalg.norm(w))
        assert ours.margin(alpha) == pytest.approx(explicit.margin(w))
        assert ours.inner(alpha, ours.row(5)) == pytest.approx(w @ A[5], abs=1e-12)
    soft = ours.softmin(ours.row(5))
    assert A.T @ soft.pull == pytest.approx(explicit.softmin(A[5]).pull)


@pytest.mark.parametrize("solver", [AdaptiveSampling(), HardMarginAscent()])
def test_solvers_make_the_same_steps(solver):
    ours, explicit = (problem.unit() for problem in both())
    A = np.array([explicit.row(i) for i in range(ours.n)])
    pairs = zip(solver.iterates(ours), solver.iterates(explicit), strict=False)
    for mine, other in islice(pairs, 200):
        assert mine.extra["i"] == other.extra["i"]
        assert A.T @ mine.w == pytest.approx(other.w, abs=1e-10)
    assert mine.margin > 0


def test_many_points_are_taken_in_parts(monkeypatch):
    ours, _ = both()
    alpha = np.arange(24.0)
    expected = ours.scores(alpha)
    monkeypatch.setattr("gammabar.problems.multiclass._ROWS", 3)
    assert ours.scores(alpha) == pytest.approx(expected)


def test_nothing_is_judged_and_nothing_proved():
    ours, _ = both()
    with pytest.raises(ProblemError, match="is not proved here"):
        solve(ours)
    for refuse in (rounding_of, space_of):
        with pytest.raises(ProblemError, match="no error bounds"):
            refuse(ours)
    for kind in ("free", "augmented"):
        with pytest.raises(ProblemError, match="kernel"):
            from_arrays(np.eye(3), [0, 1, 2], kernel="rbf", multiclass=True, intercept=kind)
    with pytest.raises(ProblemError, match="no Gram matrix"):
        MulticlassKernelProblem(np.eye(3), np.arange(3), Kernel("precomputed"))
