"""Data sets of the papers, and random data without structure."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gammabar.problems.base import ProblemError
from gammabar.problems.draws import Draws
from gammabar.problems.known import Generated, Known, largest_square, mixed_labels, uniform
from gammabar.problems.options import check_size

_GRID = 10  # gaussian data are multiples of 2**-10


def worst_case(n: int) -> Generated:
    """One sample (0.5, -1) of class 1 and n - 1 samples (-0.5, -1) of class -1.

    Tyurin (2024), proof of Theorem 5.1: the batch perceptron needs a number of iterations
    proportional to n, although margin and radius do not depend on n.
    """
    check_size("worst-case", n, 2)
    X = np.full((n, 2), (-0.5, -1.0))
    X[0, 0] = 0.5
    y = np.full(n, -1)
    y[0] = 1
    return Generated(X, y, Known(Fraction(1, 4), Fraction(5, 4), uniform([0, 1])))


def loss_spike() -> Generated:
    """One sample (1, -1) of class 1 and one sample (-1, -4) of class -1.

    Tyurin (2024), proof of Theorem 4.1: with a large step, gradient descent on the logistic loss
    has a huge loss after one step and separates the data after two.
    """
    X = np.array([[1, -1], [-1, -4]])
    q = ((0, Fraction(4, 5)), (1, Fraction(1, 5)))
    return Generated(X, np.array([1, -1]), Known(Fraction(1), Fraction(17), q))


def two_lines(r: Fraction, n: int) -> Generated:
    """Points of class 1 on the line 6 x_2 = 8 x_1 and of class -1 on 8 x_2 = 6 x_1.

    Ramdas and Pena (2015), Section 2.2: norms lie between 1/r and r, so the margin divided by the
    radius is 1 / (sqrt(50) r^2), but 1 / sqrt(50) once the points have been normalised. Points are
    integer multiples of (3, 4) and (4, 3); the unit of length is chosen such that they are.
    """
    check_size("two-lines", n, 2)
    a, b = r.numerator**2, r.denominator**2
    # Multiples from b g to a g: enough for n // 2 different points on each line.
    g = max(1, -(-(n // 2) // (a - b)))
    if 4 * a * g >= 2**31:
        raise ProblemError(f"two-lines: r={r} is too large or has too many digits")
    X, y = np.empty((n, 2), dtype=np.int64), np.empty(n, dtype=np.int64)
    for start, line, label in ((0, (3, 4), 1), (1, (4, 3), -1)):
        size = len(X[start::2])
        multiples = b * g + (a - b) * g * np.arange(size) // (size - 1)
        X[start::2] = multiples[:, None] * np.array(line)
        y[start::2] = label
    truth = Known(Fraction((b * g) ** 2, 2), Fraction(25 * (a * g) ** 2), uniform([0, 1]))
    return Generated(X, y, truth)


def inseparable(n: int, d: int, seed: int) -> Generated:
    """Integer rows, some of which balance each other with known positive weights."""
    check_size("inseparable", n, d)
    draws = Draws(seed)
    A = draws.integers(-100, 100, (n, d))
    balanced = min(n, d + 1)
    weights = draws.integers(1, 3, balanced)
    weights[-1] = 1
    A[balanced - 1] = -(weights[:-1] @ A[: balanced - 1])
    order = draws.permutation(n)
    y = mixed_labels(draws, n)
    total = int(weights.sum())
    q = tuple(
        (place, Fraction(int(weights[i]), total))
        for place, i in enumerate(order.tolist())
        if i < balanced
    )
    truth = Known(Fraction(0), largest_square(A), q)
    return Generated(A[order] * y[:, None], y, truth)


def gaussian(n: int, d: int, seed: int, separable: bool) -> Generated:
    """Points with nearly standard normal coordinates, on a grid of 2**-10.

    Labels are random, or (separable) the side of a random hyperplane through the origin.
    """
    check_size("gaussian", n, d)
    draws = Draws(seed)
    grid = draws.bell((n, d), _GRID)
    if not separable:
        return Generated(grid / 2.0**_GRID, mixed_labels(draws, n))
    normal = draws.integers(-8, 8, d)
    normal[0] = normal[0] or 1
    tied = grid @ normal == 0
    grid[tied, 0] += normal[0]  # no point lies on the hyperplane
    y = np.sign(grid @ normal)
    if n > 1 and (y == y[0]).all():
        grid[1], y[1] = -grid[1], -y[1]
    return Generated(grid / 2.0**_GRID, y)
