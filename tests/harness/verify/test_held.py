"""What is asked of nearly every relation at once is what the two careful questions answer."""

from __future__ import annotations

from math import inf, nan

from flint import arb
from hypothesis import example, given, strategies as st

from gammabar.harness.verify.numbers import Relation

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
    found = relation.held()
    assert found == expected or (found != found and expected != expected)
