"""Generated problems whose margin is known by construction.

All data are integers or dyadic fractions, so they are exact in any format, and all draws are
integer arithmetic on the raw output of PCG64 (`portable_rng`): the same seed gives the same data
on every machine. A generator is a function below a declaration of its name and options.

Where the truth is known (`Known`) it is a pair (gamma^2, q) of rationals with

    w = A^T q,    gamma^2 = ||w||^2,    <a_i, w> >= gamma^2 for every row i,

which proves that gamma is the maximum margin (q bounds it from above, w / ||w|| attains it), or
A^T q = 0, which proves that nothing separates the data (Gordan).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from gammabar.problems.options import (
    SEED,
    Option,
    check_size,
    choice,
    integer,
    parse_options,
    rational,
    switch,
)
from gammabar.problems.portable_rng import Draws, Integers
from gammabar.problems.problem import Array, ProblemError

#: Dual weights that are positive, as (row, weight).
Dual = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Known:
    """What is known of a generated problem, exactly and in the units of its data.

    The squares of the maximum margin (0 if the data are not separable) and of the largest row
    norm, and dual weights that prove it: positive, with the sum one.
    """

    gamma_squared: Fraction
    radius_squared: Fraction
    q: Dual


@dataclass(frozen=True)
class Generated:
    """Points, labels of -1 and 1, and what is known of them."""

    X: Array
    y: Array
    known: Known | None = None


@dataclass(frozen=True)
class _Family:
    """A generator: what it makes, its options, and the function that makes it."""

    what: str
    options: tuple[Option, ...]
    build: Callable[..., Generated]


FAMILIES: dict[str, _Family] = {}
_Build = Callable[..., Generated]
#: Numbers that are options of several generators.
_WORDS = {
    "n": "number of points",
    "d": "dimension",
    "copies": "how many times the first point occurs",
}
_GAMMA = Option(
    "gamma", "0.1", "maximum margin divided by the radius, exactly as written", rational(0, 1)
)


def _family(name: str, sizes: str, *own: Option, **least: int) -> Callable[[_Build], _Build]:
    """Declare a generator: its sizes with their defaults and least values, and its own options."""
    options = [
        Option(option, default, _WORDS[option], integer(least.get(option, 1)))
        for option, default in (one.split("=") for one in sizes.split())
    ]

    def declare(build: _Build) -> _Build:
        what = (build.__doc__ or "").partition("\n")[0].rstrip(".")
        FAMILIES[name] = _Family(what[:1].lower() + what[1:], (*options, *own), build)
        return build

    return declare


def generate(name: str, options: str = "") -> Generated:
    """Make a problem of a family, e.g. ``generate("planted", "n=200,d=10,gamma=0.1,seed=0")``."""
    family = FAMILIES[name]
    return family.build(**parse_options(name, options, family.options))


def _mixed_labels(draws: Draws, n: int) -> Integers:
    """Random labels, both of which occur if n >= 2."""
    y = draws.signs(n)
    if n > 1:
        y[1] = -y[0]
    return y


def _uniform(rows: list[int]) -> Dual:
    """The same dual weight on each of some rows."""
    return tuple((i, Fraction(1, len(rows))) for i in sorted(rows))


def _alternating(A: Integers, gamma_squared: Fraction | int, q: Dual) -> Generated:
    y = np.where(np.arange(len(A)) % 2, -1, 1)
    known = Known(Fraction(gamma_squared), _largest_square(A), q)
    return Generated(A * y[:, None], y, known)


def _largest_square(A: Integers) -> Fraction:
    """The largest squared norm of integer rows, in Python's integers unless 64 bits will do."""
    most = max(-int(A.min()), int(A.max()))
    if most * most * A.shape[1] >= 2**63:
        return Fraction(max(sum(v * v for v in row) for row in A.tolist()))
    A = A.astype(np.int64)
    return Fraction(int((A * A).sum(axis=1).max()))


# --- a planted margin -----------------------------------------------------------------------------
# The rows are integers. Before they are hidden by a reflection, every row has a first coordinate of
# at least p m, and the rows on the margin balance each other in the other coordinates, so the best
# direction is the first axis; one row of length q m on that axis sets the radius. With
# gamma = p / q as written ("0.1" is one tenth) the margin in the convention of the papers is gamma,
# not a double near it.

_SPREAD = 16  # entries of the integer vectors that rows are made of
_MAX_RADIUS = 2**31 - 1  # squares of rows stay within int64


@dataclass(frozen=True)
class _Rows:
    """Integer rows: first those on the margin, with weights, then a longest one, then others."""

    A: Integers
    weights: list[int]
    gamma: int
    radius: int


def _margin_rows(draws: Draws, d: int, support: int) -> tuple[Integers, list[int]]:
    """Vectors v_1, ..., v_s of d integers and positive weights c with sum c_i v_i = 0."""
    if support == 1 or d == 0:
        return np.zeros((support, d), dtype=np.int64), [1] * support
    v = draws.integers(-_SPREAD, _SPREAD, (support - 1, d))
    v[v[:, 0] == 0, 0] = 1  # no vector is zero
    weights = draws.integers(1, 3, support - 1)
    return np.vstack([v, -weights @ v]), [*weights.tolist(), 1]


def _planted_rows(owner: str, draws: Draws, n: int, d: int, gamma: Fraction, support: int) -> _Rows:
    """Rows with first coordinate >= p m, margin p m and radius q m, where gamma = p / q.

    On the margin the other coordinates are vectors that 0 is a convex combination of, so
    (p m, 0, ..., 0) is a convex combination of rows, and no direction can do better than e_1.
    """
    if n == 1 and gamma != 1:
        raise ProblemError(f"{owner}: n=1 has the margin 1 only (choose gamma=1 or a larger n)")
    p, q = gamma.numerator, gamma.denominator
    if gamma == 1:  # every row is as long as the margin: all rows are the same
        A = np.zeros((n, d), dtype=np.int64)
        A[:, 0] = _SPREAD
        return _Rows(A, [1], _SPREAD, _SPREAD)
    v, weights = _margin_rows(draws, d - 1, support)
    longest = int((v * v).sum(axis=1).max(initial=0))
    m = isqrt(max(longest - 1, 0) // (q * q - p * p)) + 1  # (q m)^2 - (p m)^2 >= longest
    radius = q * m
    if radius > _MAX_RADIUS:
        raise ProblemError(f"{owner}: gamma={gamma} has too many digits (at most nine)")
    room = radius**2 - (p * m) ** 2
    A = np.zeros((n, d), dtype=np.int64)
    A[:support, 0] = p * m
    A[:support, 1:] = v * (isqrt(room // longest) if longest else 1)
    A[support, 0] = radius
    _fill_behind(draws, A[support + 1 :], p * m, radius)
    return _Rows(A, weights, p * m, radius)


def _fill_behind(draws: Draws, rows: Integers, gamma: int, radius: int) -> None:
    """Rows in the ball of the radius whose first coordinate is larger than gamma."""
    n, d = rows.shape
    first = draws.integers(gamma + 1, radius, n)
    rest = draws.integers(-_SPREAD, _SPREAD, (n, d - 1))
    length = np.maximum((rest * rest).sum(axis=1), 1)
    room = radius**2 - first * first
    # The square root of a double is the same everywhere; one step back where it was rounded up.
    stretch = np.sqrt(room / length).astype(np.int64)
    stretch -= stretch * stretch * length > room
    stretch = stretch * draws.integers(0, _SPREAD, n) // _SPREAD
    rows[:, 0] = first
    rows[:, 1:] = rest * stretch[:, None]


def _reflect(owner: str, draws: Draws, A: Integers, radius: int) -> tuple[Integers, int]:
    """A times the integer matrix |v|^2 I - 2 v v^T: a reflection that stretches all by |v|^2."""
    d = A.shape[1]
    v = draws.signs(d)
    v[0] *= isqrt(d - 1) + 1  # so that the image of e_1 has no large coordinate
    stretch = int(v @ v)
    if 3 * stretch * radius >= 2**53:
        raise ProblemError(f"{owner}: gamma has too many digits for d={d} (or choose rotate=0)")
    return stretch * A - 2 * (A @ v)[:, None] * v, stretch


def _finish(
    owner: str, draws: Draws, rows: _Rows, y: Integers, rotate: bool, copies: Array | None = None
) -> Generated:
    """Hide the construction: reflect, repeat and shuffle the rows; keep track of the truth."""
    A, stretch = _reflect(owner, draws, rows.A, rows.radius) if rotate else (rows.A, 1)
    original = np.arange(len(A)) if copies is None else copies
    original = original[draws.permutation(len(original))]
    total = sum(rows.weights)
    places = (int(np.flatnonzero(original == i)[0]) for i in range(len(rows.weights)))
    q = ((i, Fraction(weight, total)) for i, weight in zip(places, rows.weights, strict=True))
    y = y[original]
    gamma, radius = (Fraction(size * stretch) for size in (rows.gamma, rows.radius))
    truth = Known(gamma**2, radius**2, tuple(sorted(q)))
    return Generated(A[original] * y[:, None], y, truth)


@_family(
    "planted",
    "n=200 d=10",
    _GAMMA,
    SEED,
    Option("support", None, "points on the margin (as many as fit)", integer(1)),
    Option("rotate", "1", "hide the best direction by a reflection", switch),
)
def _planted(
    n: int, d: int, gamma: Fraction, seed: int, support: int | None, rotate: bool
) -> Generated:
    """Integer data whose maximum margin is gamma exactly."""
    check_size("planted", n, d)
    draws = Draws(seed)
    most = max(1, min(d, n - 1))
    if support is not None and support > most:
        raise ProblemError(f"planted: support={support} must be at most {most} for n={n}, d={d}")
    rows = _planted_rows("planted", draws, n, d, gamma, support or most)
    return _finish("planted", draws, rows, _mixed_labels(draws, n), rotate)


@_family("duplicated", "n=50 d=10 copies=4", _GAMMA, SEED, n=2)
def _duplicated(n: int, d: int, copies: int, gamma: Fraction, seed: int) -> Generated:
    """A planted margin, every point several times."""
    check_size("duplicated", n * copies, d)
    draws = Draws(seed)
    rows = _planted_rows("duplicated", draws, n, d, gamma, max(1, min(d, n - 1)))
    y = _mixed_labels(draws, n)
    return _finish("duplicated", draws, rows, y, True, np.repeat(np.arange(n), copies))


@_family(
    "imbalanced",
    "n=200 d=10",
    _GAMMA,
    SEED,
    Option("ratio", "10", "points of class -1 for each of class 1", integer(1)),
    d=2,
)
def _imbalanced(n: int, d: int, ratio: int, gamma: Fraction, seed: int) -> Generated:
    """A planted margin, one class ratio times as large by repetition (Tyurin 2024, App. E).

    Rows of class -1 have a positive second coordinate (before the reflection) and are repeated
    `ratio` times; the few of class 1 have a negative one, so that the classes pull apart.
    """
    check_size("imbalanced", n, d)
    few = n // (ratio + 1)
    if few < 2:
        raise ProblemError(f"imbalanced: n={n} must be at least 2 (ratio + 1) = {2 * (ratio + 1)}")
    many = -(-(n - few) // ratio)
    draws = Draws(seed)
    rows = _planted_rows("imbalanced", draws, few + many, d, gamma, 2)
    A = rows.A
    y = np.ones(len(A), dtype=np.int64)
    y[0 if A[0, 1] > 0 else 1] = -1  # the two rows on the margin lie opposite each other
    y[2 : 1 + many] = -1  # the longest row and others
    A[3:, 1:] *= np.where(A[3:, 1] * y[3:] > 0, -1, 1)[:, None]
    copies = np.concatenate([np.flatnonzero(y > 0), np.resize(np.flatnonzero(y < 0), n - few)])
    return _finish("imbalanced", draws, rows, y, True, copies)


# --- data of the papers, and random data without structure ----------------------------------------

_GRID = 10  # gaussian data are multiples of 2**-10


@_family("worst-case", "n=1000", n=2)
def _worst_case(n: int) -> Generated:
    """One point against n - 1 copies of another (Tyurin 2024, Theorem 5.1).

    The batch perceptron needs a number of iterations proportional to n, although margin and radius
    do not depend on n.
    """
    check_size("worst-case", n, 2)
    X = np.full((n, 2), (-0.5, -1.0))
    X[0, 0] = 0.5
    y = np.where(np.arange(n), -1, 1)
    return Generated(X, y, Known(Fraction(1, 4), Fraction(5, 4), _uniform([0, 1])))


@_family("loss-spike", "")
def _loss_spike() -> Generated:
    """Two points on which the loss explodes before it vanishes (Tyurin 2024, Theorem 4.1).

    With a large step, gradient descent on the logistic loss has a huge loss after one step and
    separates the data after two.
    """
    X = np.array([[1, -1], [-1, -4]])
    q = ((0, Fraction(4, 5)), (1, Fraction(1, 5)))
    return Generated(X, np.array([1, -1]), Known(Fraction(1), Fraction(17), q))


@_family("two-lines", "n=100", Option("r", "3", "largest norm", rational(1, 10_000)), n=4)
def _two_lines(r: Fraction, n: int) -> Generated:
    """Points on two lines, norms from 1/r to r (Ramdas and Pena 2015, Section 2.2).

    Points of class 1 on the line 6 x_2 = 8 x_1 and of class -1 on 8 x_2 = 6 x_1. The margin divided
    by the radius is 1 / (sqrt(50) r^2), but 1 / sqrt(50) once the points have been normalised. The
    unit of length is such that points are integer multiples of (3, 4) and (4, 3).
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
    truth = Known(Fraction((b * g) ** 2, 2), Fraction(25 * (a * g) ** 2), _uniform([0, 1]))
    return Generated(X, y, truth)


@_family("inseparable", "n=200 d=10", SEED, n=2)
def _inseparable(n: int, d: int, seed: int) -> Generated:
    """Integer data that no hyperplane through the origin separates."""
    check_size("inseparable", n, d)
    draws = Draws(seed)
    A = draws.integers(-100, 100, (n, d))
    balanced = min(n, d + 1)
    weights = draws.integers(1, 3, balanced)
    weights[-1] = 1
    A[balanced - 1] = -(weights[:-1] @ A[: balanced - 1])
    order = draws.permutation(n)
    y = _mixed_labels(draws, n)
    total = int(weights.sum())
    kept = [(place, i) for place, i in enumerate(order.tolist()) if i < balanced]
    q = tuple((place, Fraction(int(weights[i]), total)) for place, i in kept)
    return Generated(A[order] * y[:, None], y, Known(Fraction(0), _largest_square(A), q))


@_family(
    "gaussian", "n=200 d=10", SEED, Option("separable", "0", "label by a random hyperplane", switch)
)
def _gaussian(n: int, d: int, seed: int, separable: bool) -> Generated:
    """Nearly normal coordinates on a grid of 2^-10, labels random or by a hyperplane."""
    check_size("gaussian", n, d)
    draws = Draws(seed)
    grid = draws.bell((n, d), _GRID)
    if not separable:
        return Generated(grid / 2.0**_GRID, _mixed_labels(draws, n))
    normal = draws.integers(-8, 8, d)
    normal[0] = normal[0] or 1
    tied = grid @ normal == 0
    grid[tied, 0] += normal[0]  # no point lies on the hyperplane
    y = np.sign(grid @ normal)
    if n > 1 and (y == y[0]).all():
        grid[1], y[1] = -grid[1], -y[1]
    return Generated(grid / 2.0**_GRID, y)


# --- special positions, where careless code goes wrong --------------------------------------------

_Made = tuple[Integers, Fraction, Dual]  # rows, gamma^2 and the dual weights


def _ties(draws: Draws, n: int, d: int) -> _Made:
    """Every row is on the margin; the first two balance each other."""
    A = draws.integers(-4, 4, (n, d))
    A[:, 0] = 3
    A[1, 1:] = -A[0, 1:]
    return A, Fraction(9), _uniform([0, 1])


def _dependent(draws: Draws, n: int, d: int) -> _Made:
    """Rows on the margin that all lie in one plane, so their Gram matrix has rank two."""
    along = draws.integers(-4, 4, d - 1)
    along[0] = 1
    steps = np.arange(n) - (n - 1) // 2
    A = np.hstack([np.full((n, 1), 5), steps[:, None] * along])
    balanced = n if n % 2 else n - 1
    return A, Fraction(25), _uniform(list(range(balanced)))


def _collinear(draws: Draws, n: int, d: int) -> _Made:
    """Multiples 1, 2, ..., n of one vector."""
    line = draws.integers(-4, 4, d)
    line[0] = 3
    A = np.arange(1, n + 1)[:, None] * line
    return A, Fraction(int(line @ line)), _uniform([0])


def _square(draws: Draws, n: int, d: int) -> _Made:
    """The corners (1, +-1, +-1, 0, ...) of a square face, over and over: many dual optima."""
    corners = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]])
    A = np.zeros((n, d), dtype=np.int64)
    A[:, :3] = np.resize(corners, (n, 3))
    return A, Fraction(1), _uniform([0, 1, 2, 3])


def _simplex(draws: Draws, n: int, d: int) -> _Made:
    """The unit vectors e_1, ..., e_n: every row is needed, and gamma^2 = 1 / n."""
    return np.eye(n, d, dtype=np.int64), Fraction(1, n), _uniform(list(range(n)))


def _opposite(draws: Draws, n: int, d: int) -> _Made:
    """The same point with both labels, among points that could be separated."""
    A = draws.integers(-4, 4, (n, d))
    A[:, 0] = 5
    A[-1] = -A[0]
    return A, Fraction(0), _uniform([0, n - 1])


def _zero_row(draws: Draws, n: int, d: int) -> _Made:
    """A point at the origin, which no hyperplane through the origin can separate."""
    A = draws.integers(-4, 4, (n, d))
    A[:, 0] = 5
    A[-1] = 0
    return A, Fraction(0), _uniform([n - 1])


KINDS: dict[str, Callable[[Draws, int, int], _Made]] = {
    "ties": _ties,
    "dependent": _dependent,
    "collinear": _collinear,
    "square": _square,
    "simplex": _simplex,
    "opposite": _opposite,
    "zero-row": _zero_row,
}
#: The least n and d of a kind, where they are not 1.
_LEAST = {"ties": (2, 1), "dependent": (1, 2), "square": (4, 3), "opposite": (2, 1)}


@_family(
    "degenerate",
    "n=8 d=8",
    SEED,
    Option("kind", "ties", f"one of {', '.join(KINDS)}", choice(*KINDS)),
)
def _degenerate(kind: str, n: int, d: int, seed: int) -> Generated:
    """Points in special position."""
    check_size("degenerate", n, d)
    least_n, least_d = {**_LEAST, "simplex": (1, n)}.get(kind, (1, 1))
    if n < least_n or d < least_d:
        raise ProblemError(
            f"degenerate: n={n}, d={d} must be at least {least_n} and {least_d} for kind={kind}"
        )
    draws = Draws(seed)
    A, gamma_squared, q = KINDS[kind](draws, n, d)
    y = _mixed_labels(draws, n)
    if kind == "opposite":
        y[-1] = -y[0]
    return Generated(A * y[:, None], y, Known(gamma_squared, _largest_square(A), q))


# --- data on which the bounds of the papers are nearly attained -----------------------------------
# All are so symmetric that their truth is known in closed form, and is exact for the data as they
# are made: where a number of the definition is irrational, it is rounded before the truth is taken.

_SCALE = 2**20  # the lengths of orthogonal rows are multiples of this part of the unit


@_family(
    "orthogonal", "n=10", Option("p", "0.3", "dual weight of the first row", rational(0, 1)), n=2
)
def _orthogonal(n: int, p: Fraction) -> Generated:
    """Orthogonal rows r e_1, e_2, ..., e_n, the first with the dual weight p.

    The optimality of q = (p, c, ..., c) is r^2 p = c, so r^2 = (1 - p) / (p (n - 1)) and
    gamma^2 = r^2 p = (1 - p) / (n - 1). Where r is irrational it is rounded to a multiple of
    2^-20, and the weights are those that follow from it.
    """
    check_size("orthogonal", n, n)
    first, unit = _ratio((1 - p) / (p * (n - 1)))
    if not first:
        raise ProblemError(f"orthogonal: p={p} is too near 1 for n={n} (choose a smaller one)")
    lengths = np.full(n, unit)
    lengths[0] = first
    inverse = [Fraction(1, int(length) ** 2) for length in lengths]
    gamma_squared = 1 / sum(inverse, Fraction(0))
    q = tuple((i, gamma_squared * weight) for i, weight in enumerate(inverse))
    return _alternating(np.diag(lengths), gamma_squared, q)


def _ratio(square: Fraction) -> tuple[int, int]:
    """Integers whose ratio is the square root, exactly if it is a simple rational number."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if Fraction(top, bottom) ** 2 == square and max(top, bottom) <= _SCALE:
        return top, bottom
    if square * _SCALE**2 >= 2**60:
        raise ProblemError("orthogonal: p is too small (the first row would be too long)")
    return (isqrt(4 * _SCALE**2 * square.numerator // square.denominator) + 1) // 2, _SCALE


@_family("opposed", "copies=3", Option("r", "10", "distance from the axis", integer(1, 2**20)))
def _opposed(r: int, copies: int) -> Generated:
    """Copies of (1, r) against one (1, -r): perceptrons cross the axis to and fro.

    Mean steps from the origin start beside the axis and cross it to and fro: Normalized Batch
    Perceptron needs about half of the R^2 / gamma^2 = 1 + r^2 iterations that it is allowed.
    """
    check_size("opposed", copies + 1, 2)
    A = np.full((copies + 1, 2), (1, r))
    A[-1, 1] = -r
    return _alternating(A, 1, _uniform([0, copies]))


@_family("crossed", "copies=98")
def _crossed(copies: int) -> Generated:
    """Copies of e_1, and e_2 and -e_2, which alone prove that nothing separates them.

    The dual weights of SNKP start with nearly all of their mass on e_1, far from those of q.
    """
    check_size("crossed", copies + 2, 2)
    A = np.zeros((copies + 2, 2), dtype=np.int64)
    A[:copies, 0] = 1
    A[copies:, 1] = 1, -1
    return _alternating(A, 0, _uniform([copies, copies + 1]))


@_family("centred", "n=60 copies=60", n=2)
def _centred(n: int, copies: int) -> Generated:
    """The corners of a regular simplex around the origin, the first several times.

    The corners are n e_i - (1, ..., 1). From any mean of corners the nearest point of the hull is
    approached as slowly as the bound of the von Neumann algorithm allows, as long as few corners
    were seen.
    """
    check_size("centred", n + copies - 1, n)
    corners = n * np.eye(n, dtype=np.int64) - 1
    A = np.vstack([np.repeat(corners[:1], copies, axis=0), corners[1:]])
    return _alternating(A, 0, _uniform([0, *range(copies, n + copies - 1)]))


@_family("staggered", "d=4 copies=32", Option("r", "16", "their length, nearly", integer(1, 2**20)))
def _staggered(d: int, r: int, copies: int) -> Generated:
    """Nearly orthogonal rows, each misclassified by the sum of those before it.

    Rows r e_1 (copies), r e_2 - e_1, and r e_j + e_1 - 2 e_(j-1) for j = 3, ..., d.
    Nearly orthogonal, and tilted so that each row is misclassified by the sum of those before it,
    and by no shorter sum: a method that takes all misclassified rows at once gets one at a time.
    All rows have the same score at the best w. That is found from the first coordinate on, and the
    weights from the last one back.
    """
    check_size("staggered", copies + d - 1, d)
    A = r * np.eye(d, dtype=np.int64)
    for j in range(1, d):
        A[j, 0] += -1 if j == 1 else 1
        A[j, j - 1] -= 2 if j > 1 else 0
    w = [Fraction(1, r)]
    for j in range(1, d):
        w.append((1 + w[0]) / r if j == 1 else (1 - w[0] + 2 * w[-1]) / r)
    q = [Fraction(0)] * (d + 1)
    for j in range(d - 1, 0, -1):
        q[j] = (w[j] + 2 * q[j + 1]) / r
    q[0] = (w[0] + (q[1] if d > 1 else 0) - sum(q[2:], Fraction(0))) / r
    if min(q) < 0:
        raise ProblemError(f"staggered: r={r} is too small for d={d} (choose r={4 * d} or more)")
    total = sum(q, Fraction(0))
    weights = ((0 if j == 0 else copies + j - 1, q[j] / total) for j in range(d) if q[j])
    A = np.vstack([np.repeat(A[:1], copies, axis=0), A[1:]])
    return _alternating(A, 1 / total, tuple(weights))
