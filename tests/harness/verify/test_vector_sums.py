"""Sums of multiples of vectors, compiled or not, are within their bounds of the exact ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, isfinite
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gammabar.harness.verify import certified
from gammabar.harness.verify.certified import space_of
from gammabar.harness.verify.identities import moved
from gammabar.harness.verify.numbers import number, working
from gammabar.problems import (
    compiled as _loops,  # noqa: F401  (from now on Numba is there)
    from_arrays,
)

DIMENSION = 9
SPACE = space_of(from_arrays(np.eye(2, DIMENSION), [1, -1]))

doubles = st.floats(allow_nan=False, allow_infinity=False)
factors = st.one_of(st.sampled_from([1.0, -1.0, 0.0]), doubles)
entries = st.lists(doubles, min_size=DIMENSION, max_size=DIMENSION).map(np.array)


@pytest.mark.parametrize("compiled", [True, False])
@given(terms=st.lists(st.tuples(factors, entries), min_size=2, max_size=4))
def test_a_sum_is_within_its_bound(compiled: bool, terms: list[tuple[float, Any]]) -> None:
    flat = [part for a, x in terms for part in (a, certified.Vec(SPACE, x))]
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        if not compiled:
            patch.setattr(certified, "_compiled", lambda: None)
        found = certified.weighted_sum(*flat)
        length = found.norm()
    if not (isfinite(found.err) and np.isfinite(found.mid).all()):
        return  # such a bound decides nothing
    exact = [sum(Fraction(a) * Fraction(float(x[j])) for a, x in terms) for j in range(DIMENSION)]
    off = sum((v - Fraction(float(m))) ** 2 for v, m in zip(exact, found.mid, strict=True))
    assert off <= Fraction(found.err) ** 2
    square = sum(v * v for v in exact)
    if length.is_finite():
        with working(2048):
            assert not length * length > number(square)
            assert not length * length < number(square)


def test_a_coefficient_that_underflow_may_have_spoilt_decides_nothing() -> None:
    x = certified.Vec(SPACE, np.ones(DIMENSION))
    for beside in (0.0, 1.0):
        assert certified.weighted_sum(beside, x, 2.0**-1001, x).err == inf
        assert certified.weighted_sum(1.0, x, beside, x, 2.0**-1001, x).err == inf
        assert certified.weighted_sum(1.0, x, 1.0, x, beside, x, 2.0**-1001, x).err == inf
    assert certified.weighted_sum(0.0, x, 1.0, x).err < 1e-10


@pytest.mark.parametrize("compiled", [True, False])
def test_small_whole_numbers_are_added_exactly(compiled: bool, monkeypatch) -> None:
    if not compiled:
        monkeypatch.setattr(certified, "_compiled", lambda: None)
    vectors = [certified.Vec(SPACE, 3.0**k * np.ones(DIMENSION)) for k in range(4)]
    for count in (2, 3, 4):
        for chosen in product((1.0, 2.0, -1.0), repeat=count):
            flat = [part for pair in zip(chosen, vectors, strict=False) for part in pair]
            wanted = sum(factor * 3**k for k, factor in enumerate(chosen))
            assert (certified.weighted_sum(*flat).mid == wanted).all()


def test_the_compiled_way_is_taken() -> None:
    x = certified.Vec(SPACE, np.ones(DIMENSION))
    for count in (2, 3, 4):
        assert certified.weighted_sum(*[2.0, x] * count).square == 4 * count**2 * DIMENSION


#: A step from w towards a, as solvers write it.
WRITTEN = (
    lambda w, a, c: w + c * (a - w),
    lambda w, a, c: (1 - c) * w + c * a,
    lambda w, a, c: w - c * (w - a),
    lambda w, a, c: (w / c - w + a) * c,
    lambda w, a, c: c * a + w - c * w,
)


@given(
    st.integers(0, 2**32),
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.floats(-12, 0),
    st.sampled_from(WRITTEN),
)
def test_what_rounding_hides_is_allowed_for(seed, long, short, power, written):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=DIMENSION) * 10.0**long
    a = rng.normal(size=DIMENSION) * 10.0**short
    theta = 10.0**power
    before, row = certified.Vec(SPACE, w), certified.Vec(SPACE, a)
    step = (row - before) * theta
    after = certified.Vec(SPACE, written(w, a, theta))
    assert moved(after, before, step, "right").decide(0.0) != "violated"
    wrong = certified.Vec(SPACE, written(w, a, 1.001 * theta))
    # 0.1 % of the step is more than 10⁻¹¹ of what was added up: that is seen.
    if theta > 1e-7 and float(step.norm()) > 1e-7 * before.reach():
        assert moved(wrong, before, step, "wrong").decide(0.0) == "violated"
