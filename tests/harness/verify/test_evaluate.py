"""Verdicts: what is decided, at which level, and what is left undecided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
import pytest
from flint import arb

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import (
    Relation,
    any_of,
    at_least,
    at_most,
    below,
    equal,
    fact,
    nearly,
    number,
    size_of,
    sqrt,
)
from gammabar.harness.verify.run_checks import (
    CHANCE,
    _clopper_pearson as clopper_pearson,
    check_run,
    expected_value,
)
from gammabar.harness.verify.statement import Statement, per_iterate, stopping
from gammabar.problems import from_arrays
from gammabar.solvers import DualAcceleration, Iterate

SQUARE = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])


@dataclass(frozen=True)
class Scripted:
    """A solver that yields given points."""

    points: tuple[tuple[float, ...], ...]
    endless: bool = True

    def iterates(self, problem, rng=None):
        for t in count():
            if t >= len(self.points) and not self.endless:
                return
            point = np.array(self.points[min(t, len(self.points) - 1)])
            halt = {"halt": "separated"} if t == len(self.points) - 1 and not self.endless else {}
            yield Iterate(t, point, extra=halt)


def claim(registered, body, **more) -> Statement:
    per_iterate("test.claim", reference="here", claim="", solvers=(), **more)(body)
    return registered["test.claim"]


def verdict(statement: Statement, points, iterations: int = 3, problem=SQUARE, **more):
    (found,) = check_run(Case(problem, Scripted(points, **more)), [statement], iterations)
    return found


# relations


@pytest.mark.parametrize(
    ("relation", "decision"),
    [
        (at_most(1, 2), "holds"),
        (at_most(1, 1), "holds"),
        (at_most(2, 1), "violated"),
        (at_most(1 + 2**-60, 1), "holds"),  # the sum is 1: the doubles are what they are
        (at_most(number(1) + number(2) ** -50, 1), "rounding"),
        (at_most(arb(1, 1e-9), 1), "doubt"),
        (below(1, 1), "rounding"),
        (below(0.5, 1), "holds"),
        (at_least(3, 2), "holds"),
        (at_least(2, 3), "violated"),
        (equal(1, 1), "holds"),
        (equal(1, 1.25), "violated"),
        (equal(1, 1.25, allowance=0.25), "doubt"),  # allowed, and no more than a quarter is known
        (equal(1, 1.25, allowance=0.25, size=256), "holds"),
        (equal(1, 1 + 2**-11, allowance=2**-11), "holds"),
        (equal(1, 1 + 2**-11, allowance=2**-11, size=0.25), "doubt"),
        (equal(2**-11, 0, allowance=2**-11, size=1), "holds"),
        (equal(0, 0, allowance=1e-300, size=size_of(0.0)), "doubt"),
        (equal(0, 0, allowance=1e-16, size=size_of(0.0, 1.0)), "holds"),
        (equal(2**-11, 0, allowance=2**-11, size=math.inf), "doubt"),
        (equal(2**-11, 0, allowance=2**-11, size=size_of(0.0, math.inf)), "doubt"),
        (equal(2**-11, 0, allowance=2**-11, size=size_of(arb("nan"))), "doubt"),
        (nearly(1 + 2**-11, 1, rounding=2**-11, size=math.inf), "rounding"),
        (nearly(1 + 2**-11, 1, rounding=2**-11, size=1), "holds"),
        (nearly(1 + 2**-11, 1, rounding=2**-11, size=0.25), "rounding"),
        (nearly(1 + 2**-10, 1, rounding=2**-11, size=1), "violated"),
        (equal(1, arb(1, 0.1), allowance=0.05), "doubt"),
        (fact(True), "holds"),
        (fact(False), "violated"),
        (fact(None), "doubt"),
    ],
)
def test_decisions(relation: Relation, decision: str):
    assert relation.decide(rounding=1e-15) == decision


def test_one_of_several_equations_is_enough():
    """The one with the smallest gap may be violated, for its allowance is smaller still."""
    zero = partial(equal, right=0, size=1.0)
    near, far = zero(1e-9, allowance=1e-10), zero(1e-7, allowance=1e-6)
    doubtful, worse = zero(arb(1e-9, 1e-8), allowance=1e-10), zero(2e-9, allowance=1e-10)
    for several in ([near, far, doubtful], [far, doubtful], [doubtful, far]):
        assert any_of(several) is far
    assert any_of([near, doubtful]) is doubtful
    assert any_of([worse, near]) is near


def test_rounding_excuses_no_more_than_rounding():
    """A violation is excused up to the rounding of the run, relative to the size of the numbers."""
    excess = 1e-13
    relation = at_most(1 + excess, 1)
    assert relation.decide(rounding=excess) == "rounding"
    assert relation.decide(rounding=excess / 10) == "violated"
    assert at_most(1 + excess, 1, size=1e3).decide(excess / 10) == "rounding"


def test_tightness_is_measured_over_bound():
    assert at_most(1, 4).tightness() == 0.25
    assert at_most(1, -4).tightness() is None
    assert equal(1, 2, allowance=4.0).tightness() == 0.25


# claims about iterates


def test_holds_refuted_and_the_worst_iterate(registered):
    s = claim(registered, lambda it, case: at_most(it.norm, 5))
    found = verdict(s, [(0, 0), (3, 0), (1, 0), (2, 0)])
    assert (found.verdict, found.worst_t, found.tightness) == ("holds", 1, pytest.approx(0.6))
    assert (found.checked, found.escalated) == (4, 0)
    found = verdict(s, [(0, 0), (3, 0), (6, 0), (9, 0)])
    assert (found.verdict, found.worst_t, found.slack) == ("refuted", 2, pytest.approx(-1))


def test_since_and_the_length_of_the_run(registered):
    s = claim(registered, lambda it, case: at_most(it.t, 3), since=2)
    assert verdict(s, [(1, 1)], iterations=3).checked == 2
    assert verdict(s, [(1, 1)], iterations=4).verdict == "refuted"
    assert verdict(s, [(1, 1)], iterations=1).verdict == "inapplicable"


def test_ties_are_decided_by_escalation(registered):
    """√2·√2 = 2 up to rounding: doubles cannot tell, exact doubles can."""
    s = claim(registered, lambda it, case: at_most(it.norm, sqrt(2)))
    found = verdict(s, [(1.0, 1.0)], iterations=1)
    assert found.verdict == "undecided"  # equality of irrationals: no precision decides
    assert found.escalated == 2
    s = registered.pop("test.claim")
    s = claim(registered, lambda it, case: at_most(it.norm_squared, 2))
    found = verdict(s, [(1.0, 1.0)], iterations=1)
    assert (found.verdict, found.escalated) == ("holds", 2)


def test_a_violation_within_rounding_is_undecided(registered):
    s = claim(registered, lambda it, case: at_most(it.norm_squared, 2))
    above = math.nextafter(1.0, 2)
    assert verdict(s, [(1.0, above)], iterations=1).verdict == "undecided"
    assert verdict(s, [(1.0, 1 + 2.0**-30)], iterations=1).verdict == "refuted"


def test_claims_of_the_solver_are_not_believed(registered):
    """A solver that reports wrong scores is checked by the right ones, in one run."""
    runs = []

    class Liar(DualAcceleration):
        def iterates(self, problem, rng=None):
            runs.append(self)
            for it in super().iterates(problem, rng):
                yield Iterate(it.t, -it.w, problem, soft=it.soft)

    s = claim(registered, lambda it, case: at_least(it.smallest, 0))
    found = check_run(Case(SQUARE, Liar(), unit=True), [s, s, s], 3)
    assert [v.verdict for v in found] == ["refuted"] * 3
    assert len(runs) == 1
    assert check_run(Case(SQUARE, DualAcceleration(), unit=True), [s], 3)[0].verdict == "holds"


def test_answers_cannot_be_changed_afterwards(registered):
    class Cheat(DualAcceleration):
        def iterates(self, problem, rng=None):
            for it in super().iterates(problem, rng):
                with pytest.raises(ValueError, match="read-only"):
                    it.soft.scores[:] = 7
                it.soft.pull[:] = 7
                yield it

    s = claim(registered, lambda it, case: at_most(it.pull.norm(), 1.5))
    assert check_run(Case(SQUARE, Cheat(), unit=True), [s], 3)[0].verdict == "holds"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_iterates_that_are_not_finite_are_reported(registered, bad):
    s = claim(registered, lambda it, case: at_most(0, 1))
    found = verdict(s, [(0, 0), (1, bad)])
    assert (found.verdict, found.failure) == ("undecided", "not finite")
    assert "w_1" in found.reason


def test_iterates_must_count(registered):
    class Skips:
        def iterates(self, problem, rng=None):
            for t in (0, 2):
                yield Iterate(t, np.zeros(2))

    s = claim(registered, lambda it, case: at_most(0, 1))
    (found,) = check_run(Case(SQUARE, Skips()), [s], 5)
    assert (found.verdict, found.failure) == ("undecided", "crashed")
    assert "2 came for 1" in found.reason


# stopping


def stop_within(registered, limit) -> Statement:
    stopping("test.stop", reference="here", claim="", solvers=())(lambda case: limit)
    return registered.pop("test.stop")


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(2, "holds"), (2.5, "holds"), (3, "holds"), (1.99, "refuted"), (0, "refuted")],
)
def test_stopping(registered, limit, expected):
    found = verdict(stop_within(registered, number(limit)), [(0, 0), (1, -1), (1, 1)], iterations=1)
    assert found.verdict == expected
    if expected == "holds":
        assert (found.worst_t, found.tightness) == (2, pytest.approx(2 / limit))


def test_stopping_runs_on_until_it_is_settled(registered):
    points, s = [(1, -1)] * 40 + [(1, 1)], stop_within(registered, 50)
    assert verdict(s, points, iterations=5).verdict == "holds"
    (found,) = check_run(Case(SQUARE, Scripted(tuple(points))), [s], 5, most=20)
    assert found.verdict == "undecided"
    found = verdict(s, [(0, 0), (1, -1)], endless=False)  # it stops too early
    assert found.verdict == "refuted"
    assert "stops" in found.what


def test_a_score_of_exactly_zero_does_not_separate(registered):
    s = stop_within(registered, 0)
    third = from_arrays([[1.0, 1.0], [-3.0, 1.0]], [1, -1])  # 3·(1/3) − 1 in doubles is zero
    found = verdict(s, [(1 / 3, 1.0)], problem=third)
    # Rounding in the run may have moved it there; a little further down it may not.
    assert (found.verdict, found.escalated) == ("undecided", 1)
    assert verdict(s, [(1 / 3 - 2.0**-12, 1.0)], problem=third).verdict == "refuted"
    # The origin does not separate, and no rounding excuses it.
    assert verdict(s, [(0.0, 0.0)]).verdict == "refuted"


# the rest


def test_clopper_pearson_against_the_binomial_sum():
    low, high = clopper_pearson(3, 50, 0.01)

    def tail(p, ks):
        return sum(math.comb(50, k) * p**k * (1 - p) ** (50 - k) for k in ks)

    assert tail(high, range(4)) == pytest.approx(0.005)
    assert tail(low, range(3, 51)) == pytest.approx(0.005)
    assert clopper_pearson(0, 50, 0.01) == (0.0, pytest.approx(1 - 0.005 ** (1 / 50)))
    assert clopper_pearson(50, 50, 0.01)[1] == 1.0


def test_expected_value_against_the_empirical_bernstein_bound_and_binomial_samples():
    values = [0, 1, 1, 3]  # mean 5/4, variance 19/12, and ln(2/δ) for δ/2 = CHANCE/2 on each side
    half = math.sqrt(2 * 19 / 12 * math.log(4 / CHANCE) / 4) + 7 * 3 * math.log(4 / CHANCE) / 9
    found = expected_value([number(v) for v in values], 3)
    assert (float(found.mid()), float(found.rad())) == (1.25, pytest.approx(half))
    rng = np.random.default_rng(5)
    for p in (0.0, 0.01, 0.5, 1.0):
        for size in (2, 30, 1000):
            found = expected_value([number(int(v)) for v in rng.random(size) < p], 1)
            assert found.contains(number(p))
    for wrong in ([1.0], [0.5, 1.5], [-0.5, 0.5]):
        with pytest.raises(ValueError, match=r"two or more values in \[0, 1\]"):
            expected_value([number(v) for v in wrong], 1)


# what a solver may try


def test_other_views_of_the_problem_are_consistent():
    """A solver that asks for ``problem.unit()`` gets scores of that scale."""
    raw = from_arrays([[3.0, 4.0], [0.0, -2.0]], [1, -1])
    given = Case(raw).observed
    w = np.array([1.0, 2.0])
    np.testing.assert_array_equal(given.unit().scores(w), raw.unit().scores(w))
    np.testing.assert_array_equal(given.scores(w), raw.scores(w))
    unit = Case(raw, unit=True).observed
    assert unit.unit() is unit
    np.testing.assert_array_equal(unit.raw().scores(w), raw.scores(w))


def test_a_claim_may_wait_for_a_longer_run(registered):
    s = claim(
        registered,
        lambda it, case: at_most(0, 1),
        waits=lambda it, case: "" if it.t >= 3 else "too short",
    )
    assert verdict(s, [(1, 1)], iterations=3).verdict == "holds"
    assert verdict(s, [(1, 1)], iterations=2).reason == "too short"


def test_a_violation_stays_one_where_no_exact_arithmetic_is_possible(registered, monkeypatch):
    """Kernels with many rows have no exact Gram matrix: what level 0 proves is still proved."""
    from gammabar.harness.verify.certified import TooLarge, _KernelSpace as KernelSpace

    def refuse(self):
        raise TooLarge("too many rows")

    monkeypatch.setattr(KernelSpace, "_gram", refuse)
    kernel = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1], kernel="linear")
    s = claim(registered, lambda it, case: at_least(it.smallest, 0))
    assert verdict(s, [(1.0, -1.0)], iterations=1, problem=kernel).verdict == "refuted"
    assert verdict(s, [(1.0, 0.0)], iterations=1, problem=kernel).verdict == "undecided"
