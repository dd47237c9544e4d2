"""Exact numbers and balls of thousands of bits; vectors are NumPy arrays of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial, reduce, wraps
from math import inf, nan
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

#: True, false or not known.
Trit = bool | None
Vector = Any  # a NumPy array of fmpq or arb
#: A step, or something reported, is false if it is off by this part of itself, and by `FINE` of
#: everything that was rounded on the way: more than rounding does, a hundred thousand times over.
PART, FINE = arb(2) ** -8, arb(2) ** -36
#: An equation between doubles is false if it is off by so much of what is added.
COARSE = arb(10) ** -6
#: Products of the smallest and the largest doubles differ by 2 to the 4,200.
bits = partial(ctx.workprec, 6000)

exp = np.frompyfunc(lambda x: x.exp(), 1, 1)
log = np.frompyfunc(lambda x: x.log(), 1, 1)
_ball = np.frompyfunc(arb, 1, 1)


class Unfit(Exception):
    """The data cannot be used for a trial; others are drawn."""


def false_if(found: Callable[[Any], Iterable[Any]]) -> Callable[[Any], Trit]:
    """False if something certain is found against a claim, and else not known."""
    return wraps(found)(lambda facts: False if any(map(bool, found(facts))) else None)


def vec(values: Iterable[Any]) -> Vector:
    return np.array(list(values), dtype=object)


def balls(values: Any) -> Vector:
    """Doubles or rationals as balls."""
    return _ball(np.asarray(values, dtype=object))


def exact(value: Any) -> fmpq:
    """A number of any type as the rational that it is."""
    whole = Fraction(int(value)) if isinstance(value, np.integer | np.bool_) else Fraction(value)
    return fmpq(whole.numerator, whole.denominator)


def exact_rows(X: Any) -> list[list[fmpq]]:
    """The entries of an array of any type as rationals."""
    rows = X.tolist() if X.dtype.kind != "f" else [[float(v) for v in row] for row in X]
    return [[exact(v) for v in row] for row in rows]


def zeros(n: int) -> Vector:
    return vec([arb(0)] * n)


def corner(j: int, n: int) -> Vector:
    """e_j."""
    return vec(int(i == j) for i in range(n))


def uniform(n: int) -> Vector:
    return vec([fmpq(1, n)] * n)


def largest(values: Iterable[Any]) -> arb:
    return reduce(lambda a, b: a.max(b), map(arb, values))


def smallest(values: Iterable[Any]) -> arb:
    return reduce(lambda a, b: a.min(b), map(arb, values))


def total(v: Vector) -> arb:
    """‖v‖₁."""
    return arb(0) + abs(v).sum()


def most(v: Vector) -> arb:
    """‖v‖_∞."""
    return largest([0, *abs(v)])


def length(v: Vector) -> arb:
    """The Euclidean norm of the entries, also of coefficients."""
    return arb(v @ v).max(arb(0)).sqrt()


def softmax(scores: Vector, temperature: Any = 1) -> Vector:
    """exp(−s_i/τ)/Σ_j exp(−s_j/τ)."""
    raw = exp((smallest(scores) - scores) / temperature)
    return raw / raw.sum()


def log_sum_exp(scores: Vector) -> arb:
    """ψ = ln Σ_i exp(−s_i)."""
    least = smallest(scores)
    return exp(least - scores).sum().log() - least


def nearest_in_simplex(v: Vector) -> Vector:
    """The point of the simplex nearest to v: max(v_i − τ, 0), with the τ that makes the sum one.

    Of balls, entries that cannot be told from τ are 0 up to their radius, on either side of it.
    """
    order = sorted(v, key=lambda x: x if isinstance(x, fmpq) else arb(x).mid(), reverse=True)
    summed, tau = fmpq(0), None
    for count, value in enumerate(order, 1):
        summed += value
        if value - (summed - 1) / count > 0:
            tau = (summed - 1) / count
    assert tau is not None
    return vec(g.max(arb(0)) if isinstance(g, arb) else max(g, fmpq(0)) for g in v - tau)


def sign(value: arb, equal: bool = False) -> Trit:
    """Whether a ball is positive (or not negative)."""
    if value > 0 or (equal and value >= 0):
        return True
    return False if value < 0 or (not equal and value <= 0) else None


def rational(values: Any) -> bool:
    return all(isinstance(v, fmpq | int) for v in np.ravel(values))


def solved(matrix: Any, right: Any) -> Vector | None:
    """The solution of a system; None if it is singular, or if balls cannot exclude that."""
    size = len(right)
    if rational(matrix):
        A = fmpq_mat(size, size, [fmpq(v) for v in np.ravel(matrix)])
        if A.det() == 0:
            return None
        x = A.solve(fmpq_mat(size, 1, [fmpq(v) for v in right]))
    else:
        try:
            system = arb_mat([[arb(v) for v in row] for row in matrix])
            x = system.solve(arb_mat([[arb(v)] for v in right]))
        except ZeroDivisionError:
            return None
    return vec(x[i, 0] for i in range(size))


def independent(gram: Any) -> bool:
    """Whether vectors with these inner products are independent for certain."""
    size = len(gram)
    if rational(gram):
        return bool(fmpq_mat(size, size, [fmpq(v) for v in np.ravel(gram)]).det() != 0)
    return not arb_mat([[arb(v) for v in row] for row in gram]).det().contains(0)


def to_double(value: Any) -> float:
    """The double nearest to the middle of a ball, subnormal or not; NaN where there is none."""
    value = arb(value)
    if not value.is_finite():
        return nan
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    if exponent > 4000 or (mantissa and mantissa.bit_length() + exponent > 1030):
        return inf if mantissa > 0 else -inf
    try:
        if exponent >= 0:
            return float(mantissa << exponent)
        return float(Fraction(mantissa, 1 << -exponent)) if exponent > -40000 else 0.0
    except OverflowError:
        return inf if mantissa > 0 else -inf


def doubles(values: Iterable[Any]) -> Any:
    return np.array([to_double(v) for v in values])
