"""Digits and doubles of square roots: every digit right, every bound outward."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import inf, nextafter

import pytest
from hypothesis import given, strategies as st

from gammabar.oracle.result import (
    _common_digits,
    _sqrt_bounds,
    _sqrt_digits,
    signed_bounds,
    signed_digits,
)

positive = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)
huge = st.integers(-1000, 1000).map(lambda e: Fraction(10) ** e)


@given(positive, st.integers(1, 60), huge)
def test_digits_are_the_truncated_root(value, digits, factor):
    text = _sqrt_digits(value * factor, digits)
    shown = Fraction(Decimal(text))
    exponent = Decimal(text).adjusted()
    last = Fraction(10) ** (exponent - digits + 1)
    assert shown**2 <= value * factor < (shown + last) ** 2


def test_digits_agree_with_decimal():
    root = Context(prec=60).sqrt(Decimal(2))
    assert _sqrt_digits(Fraction(2), 50) == str(root)[:51]


@pytest.mark.parametrize(
    ("square", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 4), "0.5"),
        (Fraction(100), "10"),
        (Fraction(1, 100), "0.1"),
        (Fraction(10) ** 40, "100000000000000000000"),
        (Fraction(10) ** 60, "1e+30"),
        (Fraction(1, 10**20), "1e-10"),
        (Fraction(2), "1.4142"),
    ],
)
def test_how_people_write_them(square, text):
    assert _sqrt_digits(square, 5) == text


def test_many_digits():
    text = _sqrt_digits(Fraction(2), 20_000)
    assert len(text) == 20_001
    shown = Fraction(int(text[:4001].replace(".", "")), 10**3999)
    assert shown**2 < 2 < (shown + Fraction(1, 10**3999)) ** 2


@given(positive, huge)
def test_bounds_are_neighbouring_doubles(value, factor):
    square = value * factor
    lo, hi = _sqrt_bounds(square)
    assert Fraction(lo) ** 2 <= square
    assert hi == inf or square <= Fraction(hi) ** 2
    assert hi in (lo, nextafter(lo, inf))


@given(st.floats(1e-150, 1e150))
def test_bounds_of_a_perfect_square_are_equal(value):
    assert _sqrt_bounds(Fraction(value) ** 2) == (value, value)


@given(positive, positive)
def test_common_digits_hold_for_both_ends(a, b):
    lo, hi = min(a, b), max(a, b)
    text = _common_digits(lo, hi, 17)
    if text != "0":
        for end in (lo, hi):
            assert _sqrt_digits(end, 40).ljust(45, "0").startswith(text)


def test_common_digits_of_tiny_and_huge_numbers():
    assert _common_digits(Fraction(4) / 10**40, Fraction(4) / 10**40, 5) == "2e-20"
    assert _common_digits(Fraction(20) / 10**41, Fraction(21) / 10**41, 5) == "1.4e-20"
    assert _common_digits(Fraction(1), Fraction(121, 100), 5) == "1"
    assert _common_digits(Fraction(81), Fraction(101), 5) == "0"
    assert _common_digits(Fraction(0), Fraction(1), 5) == "0"


def test_signed_digits():
    assert signed_digits(Fraction(-1, 16), Fraction(-1, 16), 5) == "-0.25"
    assert signed_digits(Fraction(-1), Fraction(1), 5) == "0"
    assert signed_digits(Fraction(1, 9), Fraction(1, 9), 5) == "0.33333"


@given(st.fractions(), huge)
def test_signed_bounds_are_outward_and_tight(value, factor):
    x = value * factor
    lo, hi = signed_bounds(x * abs(x), x * abs(x))
    assert lo == -inf or Fraction(lo) <= x
    assert hi == inf or Fraction(hi) >= x
    assert hi in (lo, nextafter(lo, inf))
