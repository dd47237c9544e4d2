"""Rigorous bounds of the margin where it is not rational: RBF and normalised kernels.

The same for a Gram matrix that is positive semidefinite up to rounding only: there the bounds are
those of all positive semidefinite matrices near it (`oracle.semidefinite`).

Weak duality needs no optimality: any coefficients α give γ̄ ≥ min_i (Gα)_i / ‖α‖_G and any q ∈ Δ
gives γ̄ ≤ ‖q‖_G (Ji, Srebro and Telgarsky 2021, Lemma A.1, in the RKHS of Ramdas and Peña 2015,
§3). Both are evaluated in ball arithmetic (Arb) at α = q, where the two bounds meet at the optimum.

With a free intercept q has half its weight on either class, and the smallest score is replaced by
the mean of those of the two classes, which the best bias gives to all rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz
from numpy.typing import NDArray

from gammabar.oracle.integers import (
    ROUNDOFF,
    SAFETY,
    exponent_of,
    integer_rows,
    product,
    squared_norms,
)
from gammabar.problems import KernelProblem

#: Supports up to this size are polished in high precision; beyond, the doubles are kept.
POLISH = 800
#: Bits to try when the first precision cannot tell the margin from zero.
PRECISIONS = (512, 1024, 2048, 4096, 8192)
#: Numbers below 2^-LEAST are bounded by it: no margin of doubles at these precisions is as small.
LEAST = 1 << 17
#: Rows may enter this often after a polish; the bounds are valid whenever we stop.
REPAIRS = 20


@dataclass(frozen=True)
class Enclosure:
    """lower ≤ γ̄ ≤ upper, and the weights numerators/total on the support that prove both."""

    support: NDArray[np.int64]
    numerators: list[int]
    total: int
    lower: Fraction
    upper: Fraction
    rounds: int


def enclose(
    problem: KernelProblem,
    support: NDArray[np.int64],
    weights: NDArray[np.float64],
    digits: int,
    within: Fraction = Fraction(0),
) -> Enclosure:
    """Bounds of γ̄ with about so many digits in common.

    Parameters
    ----------
    problem : KernelProblem
        With an RBF kernel, a Gram matrix, or any kernel with normalised Gram matrix.
    support, weights : arrays
        A candidate for the dual optimum.
    digits : int
        Decimal digits wanted.
    within : Fraction
        The bounds hold for all positive semidefinite Gram matrices at this distance at most.
    """
    claim = ceil(digits * 3.33) + 8  # bits of the bounds that are reported
    found = _enclose(problem, support, weights, claim, 2 * claim + 96, within)
    for precision in PRECISIONS:
        # Points that nearly coincide need more bits: K(x, z) = 1 up to their squared distance.
        wide = found.upper - found.lower > found.upper / 2**claim
        if not wide or within or len(found.support) > POLISH or precision < 2 * claim + 96:
            continue
        before = found
        found = _enclose(problem, support, weights, precision // 2, precision, within)
        if found.lower > 0 and 2**20 * (found.upper - found.lower) > before.upper - before.lower:
            # The weights are not optimal, as where symmetric points share the margin: more bits
            # do not help.
            break
    unit = Fraction(2) ** _half_exponent(problem)
    return Enclosure(
        found.support,
        found.numerators,
        found.total,
        _round(found.lower * unit, claim, up=False),
        _round(found.upper * unit, claim, up=True),
        found.rounds,
    )


def _enclose(
    problem: KernelProblem,
    support: NDArray[np.int64],
    weights: NDArray[np.float64],
    bits: int,
    precision: int,
    within: Fraction,
) -> Enclosure:
    """Bounds from weights with so many bits, evaluated with the given precision.

    They are in units of 2^h, h the half exponent of a Gram matrix that is not normalised.
    """
    within /= Fraction(4) ** _half_exponent(problem)
    with ctx.workprec(precision):
        corral, numerators = list(map(int, support)), _integers(weights, bits)
        corral, numerators = _complete(problem, corral, numerators)
        for rounds in range(1, REPAIRS + 2):
            # Where the matrix itself is in doubt by more than the candidate's rounding, there is
            # nothing to polish.
            polish = not within and len(corral) <= POLISH
            if polish:
                corral, numerators = _polish(problem, corral, numerators, bits)
            numerators = _balanced(problem, corral, numerators)
            lower, upper, lowest = _bounds(problem, corral, numerators, within)
            fresh = [i for i in lowest if i not in corral]
            if not fresh or rounds > REPAIRS or not polish:
                break
            corral, numerators = [*corral, *fresh], [*numerators, *(0 for _ in fresh)]
        order = [k for k in np.argsort(corral).tolist() if numerators[k] > 0]
        chosen = np.array([corral[k] for k in order], dtype=np.int64)
        kept = [numerators[k] for k in order]
        return Enclosure(chosen, kept, sum(kept), lower, upper, rounds)


def opposite_twins(problem: KernelProblem) -> tuple[int, int] | None:
    """Two identical points with opposite labels: no kernel whatsoever separates them."""
    seen: dict[bytes, dict[int, int]] = defaultdict(dict)
    for i in range(problem.X.shape[0]):
        row = problem.X[i]
        row = row.toarray() if hasattr(row, "toarray") else np.asarray(row)
        key = (row + 0).tobytes()  # + 0 turns −0.0 into 0.0
        label = int(problem.y[i])
        if -label in seen[key]:
            return seen[key][-label], i
        seen[key].setdefault(label, i)
    return None


def _integers(weights: NDArray[np.float64], bits: int) -> list[int]:
    return [max(1, round(Fraction(float(v)) * 2**bits)) for v in weights]


def _sides(problem: KernelProblem, rows: Sequence[int]) -> list[list[int]]:
    """Positions of the rows, all together or, if the intercept is free, by class."""
    if problem.intercept != "free":
        return [list(range(len(rows)))]
    return [[k for k, i in enumerate(rows) if problem.y[i] == sign] for sign in (-1, 1)]


def _complete(
    problem: KernelProblem, corral: list[int], numerators: list[int]
) -> tuple[list[int], list[int]]:
    """A candidate with a row of every side."""
    for side, sign in zip(_sides(problem, corral), (-1, 1), strict=False):
        if not side:
            corral = [*corral, int(np.argmax(problem.y == sign))]
            numerators = [*numerators, max(numerators)]
    return corral, numerators


def _balanced(problem: KernelProblem, corral: list[int], numerators: list[int]) -> list[int]:
    """Weights with the same sum on every side."""
    sides = _sides(problem, corral)
    if len(sides) == 1:
        return numerators
    sums = [sum(numerators[k] for k in side) for side in sides]
    shared = gcd(*sums)
    scaled = list(numerators)
    for side, factor in zip(sides, reversed(sums), strict=True):
        for k in side:
            scaled[k] = numerators[k] * (factor // shared)
    return scaled


def _polish(
    problem: KernelProblem, corral: list[int], numerators: list[int], bits: int
) -> tuple[list[int], list[int]]:
    """The affine minimiser of the support in high precision, dropping negative weights.

    It is the solution of G q = λ on each side, with the sum of q on each side given.
    """
    while True:
        sides, s = _sides(problem, corral), len(corral)
        size = s + len(sides)
        bordered = arb_mat(size, size)
        for i, row in enumerate(kernel_balls(problem, corral, corral)):
            for j, value in enumerate(row):
                bordered[i, j] = value
        for number, side in enumerate(sides, s):
            for k in side:
                bordered[number, k], bordered[k, number] = arb(1), arb(-1)
        right = arb_mat(size, 1, [0] * s + [1] * len(sides))
        try:
            solution = bordered.solve(right, nonstop=False).entries()[:s]
        except ZeroDivisionError:  # too close to singular for this precision: keep what there is
            return corral, numerators
        exact = [_fraction((v / len(sides)).mid()) for v in solution]
        if min(exact) > 0:
            return corral, [max(1, round(v * 2 ** (2 * bits))) for v in exact]
        keep = [k for k, v in enumerate(exact) if v > 0]
        if not all(set(side).intersection(keep) for side in sides):
            return corral, numerators
        corral, numerators = [corral[k] for k in keep], [numerators[k] for k in keep]


def _bounds(
    problem: KernelProblem, corral: list[int], numerators: list[int], within: Fraction
) -> tuple[Fraction, Fraction, list[int]]:
    """(lower bound, upper bound, a row of smallest score for each side)."""
    slack = arb(_fmpq(within))
    total = sum(numerators)
    q = [arb(fmpq(v, total)) for v in numerators]
    rows = sorted({*_lowest_rows(problem, corral, numerators), *corral})
    scores = {
        i: sum((a * b for a, b in zip(q, line, strict=True)), arb(0))
        for i, line in zip(rows, kernel_balls(problem, rows, corral), strict=True)
    }
    square = sum((a * scores[i] for a, i in zip(q, corral, strict=True)), arb(0))
    # An upper bound is needed on either side.
    norm = arb((square + slack).upper()).max(arb(0)).sqrt()
    upper = _fraction(norm.upper())
    sides = [[rows[k] for k in side] for side in _sides(problem, rows)]
    lowest = [min(side, key=lambda i: scores[i].lower()) for side in sides]
    # The mean of lower bounds: the best bias gives it to the lowest row of either side.
    least = sum((arb(scores[i].lower()) for i in lowest), arb(0)) / len(sides)
    smallest = (least - slack).lower()
    if not smallest > 0 or not norm > 0:
        return Fraction(0), upper, lowest
    return _fraction((smallest / norm).lower(), down=True), upper, lowest


def _lowest_rows(problem: KernelProblem, corral: list[int], numerators: list[int]) -> list[int]:
    """Rows with the one of smallest score (of each side) among them: doubles clear the others."""
    if problem.kernel.name != "rbf":
        return list(range(problem.n))
    total = sum(numerators)
    spread = np.zeros(problem.n)
    spread[corral] = [float(Fraction(v, total)) for v in numerators]
    scores = problem.scores(spread)
    squares, k, _ = squared_norms(problem.X)
    d = problem.X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        reach = problem.kernel.gamma * 4.0 * float(np.ldexp(squares.max(), 2 * k))
        # ‖x−x'‖² through inner products, the exponential of it (values at most 1), the sum; and
        # what underflow takes from at most 4 d + 8 products, before they are multiplied by γ.
        lost = problem.kernel.gamma * 2.0**-1022 * ((4 * d + 8) * 2.0**-52)
        bound = ((reach * (d + 8) + len(corral) + 16) * ROUNDOFF + lost) * SAFETY
    if not bound < 0.01:  # the first-order bound of the exponential needs a small argument
        return list(range(problem.n))
    if problem.intercept != "free":
        return np.flatnonzero(scores <= scores.min() + 3 * bound).tolist()
    least = np.where(problem.y > 0, scores[problem.y > 0].min(), scores[problem.y < 0].min())
    return np.flatnonzero(scores <= least + 3 * bound).tolist()


def kernel_balls(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    """Balls that contain the (normalised, signed) Gram entries G_ij.

    Those of a matrix that was given, and not to be normalised, are in units of 4^h.
    """
    values = _rbf if problem.kernel.name == "rbf" else _normalised if problem.normalised else _given
    y = problem.y
    return [
        [value if y[i] == y[j] else -value for j, value in zip(cols, line, strict=True)]
        for i, line in zip(rows, values(problem, rows, cols), strict=True)
    ]


def _inner(problem: KernelProblem, rows: list[int], cols: list[int]) -> tuple[Any, fmpq]:
    """Exact ⟨x_i, x_j⟩ as integers and their unit."""
    integers, exponent = integer_rows(problem.X, np.array([*rows, *cols]))
    left, right = integers[: len(rows)], integers[len(rows) :]
    return (left, right, product(left, right)), _fmpq(Fraction(4) ** exponent)


def _rbf(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    (left, right, inner), unit = _inner(problem, rows, cols)
    slope = arb(-_fmpq(Fraction(problem.kernel.gamma)) * unit)
    a = [sum(int(v) ** 2 for v in row) for row in left]
    b = [sum(int(v) ** 2 for v in row) for row in right]
    return [
        [(slope * (a[i] + b[j] - 2 * inner[i, j])).exp() for j in range(len(cols))]
        for i in range(len(rows))
    ]


def _normalised(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    """K_ij / √(K_ii K_jj) for rational kernels."""
    from gammabar.oracle.rational import KernelRows

    plain = KernelRows(KernelProblem(problem.X, problem.y, problem.kernel))
    roots = {}
    for i in {*rows, *cols}:
        (square,), unit = plain.entries([i], [i])
        roots[i] = arb(_fmpq(square * unit)).sqrt()
    out = []
    for i in rows:
        values, unit = plain.entries([i], cols)
        factor = arb(_fmpq(unit)) / roots[i]
        signs = (int(problem.y[i]) * problem.y[cols]).tolist()  # `kernel_balls` puts them back
        out.append([v * s * factor / roots[j] for v, s, j in zip(values, signs, cols, strict=True)])
    return out


def _given(problem: KernelProblem, rows: list[int], cols: list[int]) -> list[list[arb]]:
    """Entries of a Gram matrix that was given, in units of 4^h."""
    integers, exponent = integer_rows(np.asarray(problem.X), np.array(rows))
    factor = _fmpq(Fraction(2) ** exponent / Fraction(4) ** _half_exponent(problem))
    return [[arb(fmpq(int(row[j])) * factor) for j in cols] for row in integers]


def _half_exponent(problem: KernelProblem) -> int:
    """h with entries of about 4^h in a Gram matrix that was given; 0 where they are about one."""
    if problem.kernel.name != "precomputed" or problem.normalised:
        return 0
    return exponent_of(problem.X) // 2


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: arb, down: bool = False) -> Fraction:
    """An exact ball (radius zero) as a rational; what is below 2^-LEAST in size becomes that.

    exp(−10²⁰⁰) is a ball like any other, and no rational that a memory could hold. With `down` what
    is positive and so small becomes zero, so that the result is not above the value.
    """
    mantissa, exponent = value.mid().man_exp()
    whole, shift = int(fmpz(mantissa)), int(exponent)
    if whole and whole.bit_length() + shift < -LEAST:
        sign = 1 if whole > 0 else -1
        return Fraction(0) if down and whole > 0 else Fraction(sign, 1 << LEAST)
    return whole * Fraction(2) ** shift


def _round(value: Fraction, bits: int, *, up: bool) -> Fraction:
    """Outward rounding to so many significant bits, so that a coarser evaluation can confirm it."""
    if value == 0:
        return value
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    whole = -((-scaled.numerator) // scaled.denominator) if up else int(scaled)
    return Fraction(whole + (1 if up else -1)) / Fraction(2) ** shift
