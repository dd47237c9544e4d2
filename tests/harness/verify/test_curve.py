"""What is kept of a run for its picture."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from gammabar.harness.verify.evaluate import _Curve as Curve
from gammabar.harness.verify.numbers import at_most, fact


def noted(steps: int, what: str = "a ≤ b") -> Curve:
    curve = Curve()
    for t in range(steps):
        relation = at_most(1, t + 2, what)
        curve.note(relation, t, relation.tightness())
    return curve


@given(st.integers(1, 20_000))
def test_few_points_evenly_on_a_log_axis(steps: int):
    points = noted(steps).of(at_most(1, steps + 1, "a ≤ b"), steps - 1)
    times = [t for t, _, _ in points]
    assert times == sorted(set(times))
    assert len(times) <= 80
    assert (times[0], times[-1]) == (0, steps - 1)
    assert all(later <= 1.15 * t + 1 for t, later in itertools.pairwise(times))
    assert all((left, right) == (1, t + 2) for t, left, right in points)


def test_at_each_iterate_the_tightest_of_many():
    curve = Curve()
    for size in (1, 3, 2):
        curve.note(at_most(size, 4, "row"), 5, size / 4)
    curve.note(at_most(4, 4, "something else"), 5, 1.0)
    assert curve.of(at_most(1, 2, "row"), 6) == ((5, 3.0, 4.0), (6, 1.0, 2.0))


def test_what_cannot_be_drawn_is_left_out():
    curve = Curve()
    curve.note(at_most(1, float("inf"), "x"), 0, 0.0)
    assert curve.of(at_most(1, 2, "x"), 1) == ((1, 1.0, 2.0),)
    assert curve.of(fact(True, "x"), 1) == ()
    assert curve.of(at_most(1, 2, "x"), None) == ()
