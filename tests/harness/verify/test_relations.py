"""Relations: what is held is certain, and allowances are small beside what is known."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nan

from flint import arb
from hypothesis import example, given, strategies as st

from gammabar.harness.verify.numbers import (
    COARSE,
    HOLDS,
    LEVELS,
    VIOLATED,
    Relation,
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


#: Midpoints and radii of every kind: infinite ones, none, and beyond the range of doubles.
sizes = st.sampled_from([0.0, 1.0, -1.0, 1.5, 2.0, 5e-324, -5e-324, 1e308, -1e308, inf, -inf, nan])
radii = st.sampled_from([0.0, 5e-324, 1e-17, 0.25, 1.0, 1e308, inf])
scales = st.sampled_from([0, 0, 0, 2000, -2000])
balls = st.builds(lambda middle, radius, e: arb(middle, radius) * arb(2) ** e, sizes, radii, scales)
allowances = st.sampled_from([0.0, 5e-324, 1e-10, 0.5, 1.0, 1e308, inf, nan])
relations = st.builds(
    Relation,
    balls,
    balls,
    st.sampled_from(["<=", "<", "==", "fact"]),
    allowance=allowances,
    size=st.sampled_from([-1.0, 0.0, 1.0, 1e4, inf]),
    fact=st.sampled_from([True, False, None]),
)


@given(relations)
@example(Relation(arb(1), arb(inf), "<="))
@example(Relation(arb(-inf), arb(1), "<="))
@example(Relation(arb(0, inf), arb(inf), "<="))
@example(Relation(arb(1) * arb(2) ** 2000, arb(3) * arb(2) ** 2000, "<="))
@example(Relation(arb(1), arb(1), "==", 0.0))
def test_held_is_certain_and_as_tight(relation: Relation) -> None:
    tightness = relation.tightness() if relation.certain() else None
    expected = None if not relation.certain() else -inf if tightness is None else tightness
    sides = relation.left.is_finite() and relation.right.is_finite()
    if relation.op != "fact" and not (
        sides and (relation.op != "==" or isfinite(relation.allowance))
    ):
        assert not relation.certain()
        assert relation.decide(1e-15) in ("doubt", "rounding")
    elif relation.op in ("<", "<=") and not isfinite(relation.allowance):
        assert relation.decide(1e-15) != "violated"
    found = relation.held()
    assert found == expected or (found != found and expected != expected)
