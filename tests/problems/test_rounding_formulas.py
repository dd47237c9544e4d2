"""Error bounds are as large as their proofs ask, and hardly larger.

The formulas are those of the docstring of `problems.rounding`, written again. A bound that a slip
has made smaller fails the first comparison, one that excuses more than rounding the second.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

from gammabar.problems import Kernel, from_arrays
from gammabar.problems.rounding import ETA, SAFETY, U, length, rounding_of, taxicab

#: Factors of safety of a bound and of its parts.
HARDLY = 1.05
POINTS = np.array([[3.0, 1.0], [1.0, 2.0], [-4.0, -1.0]])
SIGNS = [1, 1, -1]


def is_proved(bound: float, wanted: float, eta: int = 0) -> None:
    assert wanted <= bound <= wanted * HARDLY + eta * ETA


def linear(kind: str, scale: float, unit: bool):
    points = POINTS * scale
    if kind == "multiclass":
        problem = from_arrays(points, [0, 1, 2], multiclass=True)
    else:
        problem = from_arrays(scipy.sparse.csr_array(points) if kind == "sparse" else points, SIGNS)
    return problem.unit() if unit else problem


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.0**-600, 2.0**400])
@pytest.mark.parametrize("kind", ["dense", "sparse", "multiclass"])
def test_linear_problems(kind: str, scale: float, unit: bool):
    problem = linear(kind, scale, unit)
    bounds, n, d, D = rounding_of(problem), problem.n, 2, problem.dimension
    rho = problem.radius_error / U if unit else 0.0
    outer, inner, R = problem._outer, problem._inner, bounds.radius
    R_inner = R / inner if inner != 1 else 0.0
    is_proved(R, 1.0 if unit else math.sqrt(17) * scale, eta=2)
    low, high = bounds.radius_bounds()
    assert high == R
    assert low * (1 + 14 * U * (not unit)) <= R <= low * (1 + 40 * U) + 2 * ETA
    for size in (1.0, 2.0**-450):
        small = (2 * d * outer + math.sqrt(D) * R_inner + 1) * ETA
        is_proved(bounds.scores(size), (d + 8 + rho) * U * R * size + small, eta=5)
        small = (2 * n * math.sqrt(D) * outer + n * R_inner + math.sqrt(D)) * ETA
        is_proved(bounds.combine(size), (n + 8 + rho) * U * R * size + small, eta=8)
        is_proved(bounds.norm(size), (D / 2 + 3) * U * size + ETA, eta=3)
        is_proved(bounds.inner(size, size), D * U * size * size + D * ETA, eta=5)
    small = (5 * d + 4 * math.sqrt(d) * R) * ETA
    is_proved(bounds.gram(), (d + 10 + 2 * rho) * U * R * R + small, eta=6)


@pytest.mark.parametrize("kind", ["dense", "sparse", "multiclass"])
def test_numbers_that_underflow_before_they_are_divided_by_the_radius(kind: str):
    """Rows as long as 2⁶⁰⁰: w is multiplied by 2⁻³⁰¹ first, and what is lost then grows again."""
    problem, size = linear(kind, 2.0**600, unit=True), 2.0**-900
    bounds, lost = rounding_of(problem), ETA / problem._inner
    rho, n, D = problem.radius_error / U, problem.n, problem.dimension
    assert lost > 2.0**290 * ETA
    is_proved(bounds.scores(size), (10 + rho) * U * size + math.sqrt(D) * lost, eta=9)
    is_proved(bounds.combine(size), (n + 8 + rho) * U * size + n * lost, eta=9)


@pytest.mark.parametrize("size", [2.0**900, math.inf])
def test_what_may_overflow_has_no_bound(size: float):
    bounds = rounding_of(linear("dense", 2.0**400, unit=False))
    assert bounds.scores(size) == bounds.combine(size) == bounds.inner(size, size) == math.inf
    assert rounding_of(linear("dense", 2.0**600, unit=False)).gram() == math.inf
    assert rounding_of(linear("dense", 2.0**400, unit=True)).combine(size) == math.inf


def test_products_that_underflow():
    bounds = rounding_of(from_arrays(np.ones((2, 40)), [1, -1]))
    is_proved(bounds.inner(2.0**-600, 2.0**-600), 40 * ETA, eta=6)


def test_norms_of_vectors_are_rounded_up():
    for w in ([3.0, 4.0], [1.0] * 7, [5e-324, 0.0]):
        exact = sum(v * v for v in w) ** 0.5
        assert exact <= length(np.array(w)) <= exact * (1 + 40 * U) + 3 * ETA
        assert sum(w) <= taxicab(np.array(w)) <= sum(w) * (1 + 40 * U) + 3 * ETA
    ones = np.ones(7)
    assert length(ones) >= math.sqrt(7) * (1 + 14 * U)
    assert taxicab(ones) >= 7 * (1 + 14 * U)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("points", [POINTS * 2.0**520, (POINTS * 2.0**60).astype(np.int64)])
def test_of_an_rbf_kernel_whose_distances_may_be_lost_nothing_is_known(points):
    problem = from_arrays(points, SIGNS, kernel="rbf:gamma=1")
    assert rounding_of(problem).value >= 1.0


def test_sums_of_a_kernel_that_may_overflow_have_no_bound():
    bounds = rounding_of(from_arrays(POINTS * 2.0**500, SIGNS, kernel="linear"))
    assert bounds.scores(1.0) < math.inf
    assert bounds.scores(2.0**30) == bounds.inner(1.0, 2.0**30) == math.inf
    assert rounding_of(from_arrays(POINTS * 2.0**508, SIGNS, kernel="linear")).value == math.inf


# n rows of d columns, s = max |x|², largest and smallest |x|²
N, D, S = 3, 2, 17.0


def value_error(kernel: Kernel) -> tuple[float, float]:
    """max K(x, x), and the error E of a value of K."""
    if kernel.name == "rbf":
        return 1.0, (3 * (2 * D + 6) + 8) * U + 8 * D * kernel.gamma * ETA
    p, gamma, coef0 = (
        (kernel.degree, kernel.gamma, kernel.coef0) if kernel.name == "poly" else (1, 1.0, 0.0)
    )
    B = gamma * S + coef0
    e = (D + 6) * U * B + (D * gamma + 2) * ETA
    return B**p, p * B ** (p - 1) * e + 16 * U * B**p + ETA


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(
    "text", ["linear", "poly:degree=3,gamma=0.5,coef0=2", "poly:degree=2", "rbf:gamma=0.25"]
)
def test_kernels(text: str, normalised: bool):
    kernel = Kernel.parse(text)
    problem = from_arrays(POINTS, SIGNS, kernel=kernel, normalised=normalised)
    bounds = rounding_of(problem)
    most, E = value_error(kernel)
    least = float(problem.diagonal.min())
    F, R = (1 / math.sqrt(least), 1.0) if normalised else (1.0, math.sqrt(most))
    is_proved(bounds.radius, R)
    value = F * F * E + 8 * U * R * R
    if normalised and text.startswith("rbf"):
        value = E + (2 + 8) * U
    elif normalised:  # relative to the product of the two norms that are divided by
        p = kernel.degree if kernel.name == "poly" else 1
        relative = p * SAFETY * (D + 6) * U + 16 * U
        value = 2 * relative + (2 * relative / U + 8) * U
    assert value <= bounds.value <= value * 1.06
    for one, other in ((1.0, 1.0), (3.0, 0.25)):
        rest = value + (N + 6) * U * R * R
        assert other * rest <= bounds.scores(other) <= other * rest * 1.06
        rest = value + (2 * N + 8) * U * R * R
        assert one * other * rest <= bounds.inner(one, other) <= one * other * rest * 1.06
    tiny = (N * F * (1 + most) + 1) * ETA  # of weights that vanish
    assert tiny <= bounds.scores(0.0) <= tiny * 1.1 + 3 * ETA
    assert (N - 1) * ETA <= bounds.inner(0.0, 0.0) <= (N + 2) * ETA


@pytest.mark.parametrize("text", ["linear", "poly:degree=3,gamma=0.5,coef0=2"])
def test_unit_views_of_kernels(text: str):
    """What is divided by the largest K(x, x) is off by the relative error of that, twice."""
    kernel = Kernel.parse(text)
    bounds = rounding_of(from_arrays(POINTS, SIGNS, kernel=kernel).unit())
    most, E = value_error(kernel)
    value = E / most + (2 * E / (most - E) / U + 8) * U
    assert value <= bounds.value <= value * 1.06


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.int32])
def test_tables(dtype: type):
    """Integers that are no doubles are rounded; all other values are what they are."""
    for top, rounded in ((2**53, False), (2**60 + 1, dtype in (np.int64, np.uint64))):
        if dtype is np.int32:
            top = 2**31 - 1
        table = np.eye(3, dtype=dtype) * dtype(top)
        bounds = rounding_of(from_arrays(table, SIGNS, kernel="precomputed"))
        expected = (8 + 2 * (rounded and dtype is not np.int32)) * U * top
        assert expected <= bounds.value <= expected * 1.06


@pytest.mark.parametrize("whole", [True, False])
def test_kernels_of_networks(whole: bool):
    """The second part of the error is that of what enters the nodes: none for whole numbers."""
    from gammabar.problems.kernels import whole_weights

    points = POINTS if whole else POINTS + 0.0137
    s = float(np.square(points).sum(axis=1).max())
    kernel = Kernel.parse("network:width=5,seed=2")
    problem = from_arrays(points, SIGNS, kernel=kernel)
    bounds, m, top = rounding_of(problem), 5, float(problem.diagonal.max())
    longest = math.sqrt(float(np.square(whole_weights(m, D, 2)).sum(axis=1).max()))
    error = (D + 7) * s + (m + 8) * top
    if not whole:
        error += (D + 2) * longest * math.sqrt(s * top) / 2
    value = error * U + 8 * U * top
    assert value * (1 - 1e-9) <= bounds.value <= value * 1.06
