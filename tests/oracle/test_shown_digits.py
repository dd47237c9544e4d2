"""Digits that are shown are known, roots are enclosed at any scale, and every Gram matrix ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, nextafter, prod
from typing import Any

import certificates_for_tests as make
import numpy as np
import pytest
from hypothesis import given, strategies as st

import gammabar as gb
from gammabar.oracle.result import root_bounds, signed_bounds, signed_digits
from gammabar.problems import ProblemError, from_arrays

fractions = st.builds(
    lambda a, b, k: Fraction(a, b) * Fraction(10) ** k,
    st.integers(1, 10**25),
    st.integers(1, 10**25),
    st.integers(-350, 350),
)


def last_place(text: str) -> Fraction:
    """The unit of the last digit that is shown."""
    digits, _, power = text.partition("e")
    return Fraction(10) ** (int(power or 0) - len(digits.partition(".")[2]))


@given(fractions | st.integers(1, 10**45).map(Fraction), st.integers(1, 30))
def test_every_digit_that_is_shown_is_right(square: Fraction, digits: int) -> None:
    text = signed_digits(square, square, digits)
    shown = Fraction(text)
    assert shown**2 <= square < (shown + last_place(text)) ** 2


@given(fractions, st.fractions(0, 1), st.integers(1, 20))
def test_shared_digits_are_those_of_all(low: Fraction, more: Fraction, digits: int) -> None:
    high = low * (1 + more / 1000)
    text = signed_digits(low, high, digits)
    if text != "0":
        shown = Fraction(text)
        assert shown**2 <= low
        assert high < (shown + last_place(text)) ** 2


@given(fractions)
def test_roots_are_enclosed_at_any_scale(square: Fraction) -> None:
    low, high = root_bounds(square)
    assert low**2 <= square <= high**2
    assert high - low <= high / 2**60


@pytest.mark.parametrize("size", [1.7e308, 1e-300, 1.0, 5e-324])
@pytest.mark.parametrize("limit", [0, 1e-9, 5.0])
def test_a_search_that_ends_early_at_any_scale(size, limit):
    problem = from_arrays([[size, size], [-size, -size]], [0, 1])
    found = gb.solve(problem, time_limit=limit)
    truth = Fraction(size) ** 2 * 2
    low, high = found.squares
    assert low <= truth <= high


@pytest.mark.parametrize("limit", [0, 1e-9, 5.0])
@pytest.mark.parametrize("kernel", ["precomputed", lambda x, z: x @ z.T])
def test_a_time_limit_with_a_given_matrix(kernel, limit):
    found = gb.solve(from_arrays(np.eye(3) * 2, [0, 1, 1], kernel=kernel), time_limit=limit)
    low, high = found.squares
    assert low <= (Fraction(2, 3) if kernel == "precomputed" else Fraction(4, 3)) <= high


entries = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 2.0, 5e-324, -5e-324, 1e-300, 1e300, 2.0**-60])


@st.composite
def symmetric(draw: Any) -> list[list[float]]:
    n = draw(st.integers(1, 3))
    half = {(i, j): draw(entries) for i in range(n) for j in range(i + 1)}
    return [[half[max(i, j), min(i, j)] for j in range(n)] for i in range(n)]


def determinant(rows: list[list[Fraction]]) -> Fraction:
    if not rows:
        return Fraction(1)
    return sum(
        ((-1) ** j * v * determinant([r[:j] + r[j + 1 :] for r in rows[1:]]))
        for j, v in enumerate(rows[0])
    )


def semidefinite(rows: list[list[float]]) -> bool:
    """All principal minors, in fractions."""
    exact = [[Fraction(v) for v in row] for row in rows]
    n = len(rows)
    return all(
        determinant([[exact[i][j] for j in some] for i in some]) >= 0
        for size in range(1, n + 1)
        for some in combinations(range(n), size)
    )


@given(symmetric(), st.booleans())
def test_every_matrix_is_answered_or_refused(table: list[list[float]], intercept: bool) -> None:
    """Diagonals of zeros and of subnormal numbers, too: none keeps the search busy for ever."""
    n = len(table)
    y = [1, -1, 1][:n] if n > 1 else [1]
    try:
        found = gb.solve(from_arrays(table, y, kernel="precomputed", intercept=intercept and n > 1))
    except ProblemError as refused:
        assert len(str(refused).splitlines()) == 1
        assert not semidefinite(table) or intercept or prod(table[i][i] for i in range(n)) == 0
        return
    low, high = found.squares
    assert 0 <= low <= high
    if semidefinite(table) and not intercept:
        gram = [[Fraction(v) * y[i] * y[j] for j, v in enumerate(r)] for i, r in enumerate(table)]
        assert low <= make.shortest(gram)[1] <= high


# --- digits and doubles of square roots: every digit right, every bound outward


huge = st.integers(-1000, 1000).map(lambda e: Fraction(10) ** e)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0, 0, "0"),
        ("1/4", "1/4", "0.5"),
        (100, 100, "10"),
        ("1/100", "1/100", "0.1"),
        ("1e40", "1e40", "100000000000000000000"),
        ("1e60", "1e60", "1e+30"),
        ("1e-20", "1e-20", "1e-10"),
        (2, 2, "1.4142"),
        ("20e-41", "21e-41", "1.4e-20"),
        (1, "1.21", "1"),
        (81, 101, "0"),
        (0, 1, "0"),
        ("-1/16", "-1/16", "-0.25"),
        (-1, 1, "0"),
    ],
)
def test_how_people_write_them(low, high, text):
    assert signed_digits(Fraction(low), Fraction(high), 5) == text


@given(st.floats(1e-150, 1e150).map(Fraction) | st.fractions(), huge | st.just(Fraction(1)))
def test_signed_bounds_are_outward_and_tight(value, factor):
    x = value * factor
    lo, hi = signed_bounds(x * abs(x), x * abs(x))
    assert lo == -inf or Fraction(lo) <= x
    assert hi == inf or Fraction(hi) >= x
    assert hi in (lo, nextafter(lo, inf))
    assert factor != 1 or lo == hi or Fraction(float(x)) != x
