"""What an allowance is measured by: never more than is known, and never something infinite."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

from flint import arb
from hypothesis import given, strategies as st

from gammabar.harness.verify.numbers import (
    COARSE,
    HOLDS,
    LEVELS,
    VIOLATED,
    equal,
    nearly,
    same_digits,
    size_of,
    within,
    working,
)

SIZES = st.floats(min_value=0, allow_nan=False) | st.sampled_from([0.0, 5e-324, 1e-300, inf])


@given(gap=SIZES, allowed=SIZES, size=SIZES | st.just(nan))
def test_nothing_holds_by_an_allowance_that_is_not_small(gap: float, allowed: float, size: float):
    """However large, small, infinite or unknown the numbers are."""
    small = 0 < allowed <= COARSE * size < inf
    if within(gap, allowed, size) is True:
        assert small or not allowed
        assert gap <= allowed
    if gap < inf and allowed < inf:
        relation = equal(
            gap, 0, allowance=allowed, size=size if size == size else size_of(arb(nan))
        )
        assert relation.decide(0.0) is not HOLDS or gap <= allowed
        assert relation.decide(0.0) is not HOLDS or small or not allowed
        assert relation.held() is None or relation.certain()
        assert (relation.decide(0.0) is VIOLATED) == (gap > allowed)


@given(left=SIZES, rounding=SIZES, size=SIZES)
def test_a_bound_is_not_widened_by_more(left: float, rounding: float, size: float):
    if not left < inf:
        return
    with working(2200):
        relation = nearly(left, 1, rounding=rounding, size=size)
        holds = relation.decide(0.0) is HOLDS
    if holds and left > 1:
        assert rounding <= COARSE * size < inf
        assert Fraction(left) <= 1 + Fraction(rounding)


@given(middle=st.floats(-1e300, 1e300), radius=st.floats(0, 1e300), parts=SIZES)
def test_a_size_is_not_more_than_is_known(middle: float, radius: float, parts: float):
    ball = arb(middle, radius)
    size = size_of(ball)
    assert size <= abs(middle)
    assert size == 0 or not ball.contains(0)
    assert size_of(ball, parts) < inf
    assert size_of(arb("nan"), 1.0) == size_of(0.0, 1.0)


def test_equal_digits() -> None:
    for bits in LEVELS:
        with working(bits):
            third = arb(1) / 3
            assert same_digits(third, arb(1) / 3).certain()
            assert not same_digits(third, third * (1 + arb(2) ** -40)).certain()
            assert not same_digits(third * arb(10) ** -200, arb(0)).certain()
            assert not same_digits(arb(inf), arb(inf)).certain()
