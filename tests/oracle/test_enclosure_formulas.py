"""Error bounds of the oracle's enclosures are as large as their proofs ask, and hardly larger."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gammabar.oracle import enclosure
from gammabar.problems import Kernel, KernelProblem

U = 2.0**-53


def frobenius(M: np.ndarray) -> float:
    return math.sqrt(float((M * M).sum()))


@pytest.mark.parametrize("roundings", [0, 8])
@pytest.mark.parametrize("shift", [0.0, 0.25])
def test_the_residual_of_a_factor(roundings: int, shift: float):
    """‖E‖ and (n + 8 + roundings) roundoffs of ‖R‖² + (1 + roundings) ‖M‖ + n |shift|."""
    A = np.random.default_rng(3).standard_normal((4, 6))
    M, n = A @ A.T, 4
    R = np.linalg.cholesky(M + shift * np.eye(n))
    sizes = float((R * R).sum()) + (1 + roundings) * frobenius(M) + shift * n
    seen = frobenius(M + shift * np.eye(n) - R @ R.T)
    wanted = seen + (n + 8 + roundings) * U * sizes
    assert wanted <= enclosure._residual(M, shift, roundings) <= 1.1 * wanted


def test_what_underflows_in_a_residual():
    found = enclosure._residual(np.full((1, 1), 2.0**-1030), 0.0, 0)
    assert found >= 2.0**-1060
    assert enclosure._residual(np.full((1, 1), -1.0), 0.0, 0) is None


@pytest.mark.parametrize("k", [45, 48, 50])
def test_a_deficit_is_a_shift_with_its_error(k: int):
    M = np.array([[1.0, 1.0 + 2.0**-k], [1.0 + 2.0**-k, 1.0]])  # λ_min = −2^-k
    found = enclosure._deficit(M, 1)
    assert Fraction(2) ** -k <= found <= 8 * max(Fraction(2) ** -k, Fraction(7 * U * 2) * 2)


def test_rows_that_may_have_the_lowest_score():
    """Doubles clear a row whose score is above the least by three times the bound, and no other."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    problem = KernelProblem(X, np.ones(3, np.int8), Kernel("rbf", gamma=1.0))
    bound = ((4 * (2 + 8) + 3 + 16) * U) * 1.02
    scores = problem.scores(np.array([1.0, 0.0, 0.0]))
    for steps, kept in ((2.97, True), (3.03, False)):
        lowest = scores.min() * np.ones(3)
        lowest[0] += steps * bound
        shifted = type("Shifted", (KernelProblem,), {"scores": lambda self, w, s=lowest: s})
        other = shifted(X, np.ones(3, np.int8), Kernel("rbf", gamma=1.0))
        assert (0 in enclosure._lowest_rows(other, [0, 1, 2], [1, 1, 1])) is kept
