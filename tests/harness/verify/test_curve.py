"""What is kept of a run for its picture."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from gammabar.harness.verify.evaluate import MOST, Curve
from gammabar.harness.verify.relation import at_most, equal, fact


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


def test_the_marked_comparison_is_there_whatever_was_kept():
    points = noted(1000).of(at_most(7, 3, "a ≤ b"), 777)
    assert (777, 7.0, 3.0) in points


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


def test_of_an_equation_the_error_and_what_is_allowed():
    assert Curve().of(equal(3, 2.5, "x", allowance=0.75), 0) == ((0, 0.5, 0.75),)


def test_memory_does_not_grow_with_the_number_of_things_compared():
    curve = Curve()
    for t in range(9):
        for j in range(50):
            curve.note(at_most(1, 2, f"thing {j}"), t, 0.5)
    assert len(curve._points) == MOST
