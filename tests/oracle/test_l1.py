"""The exact ℓ₁ margin: hand-checked games, duality, invariances, degenerate and hostile data."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from unittest import mock

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given, settings, strategies as st

from gammabar.oracle import l1
from gammabar.oracle.l1 import L1Truth, _Suggestion, solve_l1
from gammabar.problems.problem import ProblemError

SIGNED = pytest.mark.parametrize("signed", [True, False])


def audit(rows, truth: L1Truth, scale=Fraction(1)) -> None:
    """Everything that the certificate claims, in plain Python."""
    n, d = len(rows), len(rows[0])
    w, q = [Fraction(0)] * d, [Fraction(0)] * n
    for j, v in zip(truth.w.columns, truth.w.numerators, strict=True):
        w[j] = Fraction(v, truth.w.denominator)
    for i, v in zip(truth.q.support, truth.q.numerators, strict=True):
        assert v > 0
        q[i] = Fraction(v, truth.q.total)
    assert list(truth.w.columns) == sorted(set(truth.w.columns))
    assert list(truth.q.support) == sorted(set(truth.q.support))
    assert 0 not in truth.w.numerators
    assert sum(q) == 1
    if truth.w.columns:
        assert sum(map(abs, truth.w.numerators)) == truth.w.denominator
    else:
        assert truth.signed
        assert truth.w.denominator == 1
    if truth.signed:
        assert truth.value_lo >= 0
    else:
        assert min(w) >= 0
    scores = [scale * sum(int(a) * b for a, b in zip(row, w, strict=True)) for row in rows]
    pull = [scale * sum(int(rows[i][j]) * q[i] for i in range(n)) for j in range(d)]
    assert truth.value_lo == min(scores)
    assert truth.value_hi == (max(map(abs, pull)) if truth.signed else max(pull))
    assert truth.value_lo <= truth.value_hi
    assert truth.exact == (truth.value_lo == truth.value_hi)
    assert truth.radius == scale * max(abs(int(v)) for row in rows for v in row)


BY_HAND = [
    # rows, signed value, value in the simplex
    ([[5]], 5, 5),
    ([[-5]], 5, -5),
    ([[0]], 0, 0),
    ([[1, 0], [0, 1]], Fraction(1, 2), Fraction(1, 2)),
    ([[3, -4]], 4, 3),
    ([[1, -1], [-1, 1]], 0, 0),
    ([[1, -3], [-3, 1]], 1, -1),  # signed: w = (−1, −1)/2
    # Rock, paper, scissors; and matching pennies with one stake doubled (value 1/5, w = (2, 3)/5).
    ([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], 0, 0),
    ([[2, -1], [-1, 1]], Fraction(1, 5), Fraction(1, 5)),
    ([[1, 2], [-1, -2], [7, 7]], 0, -1),
    ([[0, 0], [3, 4]], 0, 0),
]


@pytest.mark.parametrize(("rows", "signed", "simplex"), BY_HAND)
def test_by_hand(rows, signed, simplex):
    for flag, value in ((True, signed), (False, simplex)):
        truth = solve_l1(rows, signed=flag)
        assert truth.exact
        assert truth.value_lo == value
        assert truth.separable == (value > 0)
        audit(rows, truth)


matrices = st.tuples(
    st.integers(1, 7), st.integers(1, 5), st.sampled_from([1, 2, 9, 10**6])
).flatmap(
    lambda t: st.lists(
        st.lists(st.integers(-t[2], t[2]), min_size=t[1], max_size=t[1]),
        min_size=t[0],
        max_size=t[0],
    )
)


@SIGNED
@settings(max_examples=60, deadline=None)
@given(rows=matrices, data=st.data())
def test_duality_and_bounds(rows, signed, data):
    truth = solve_l1(rows, signed=signed)
    assert truth.exact
    audit(rows, truth)
    # No w does better and no q guarantees less.
    n, d = len(rows), len(rows[0])
    low = -9 if signed else 0
    w = data.draw(st.lists(st.integers(low, 9), min_size=d, max_size=d).filter(any))
    q = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any))
    score = min(sum(a * b for a, b in zip(row, w, strict=True)) for row in rows)
    pull = [sum(rows[i][j] * q[i] for i in range(n)) for j in range(d)]
    assert Fraction(score, sum(map(abs, w))) <= truth.value_lo
    assert truth.value_lo <= Fraction(max(map(abs, pull)) if signed else max(pull), sum(q))


@SIGNED
@pytest.mark.parametrize("seed", range(8))
def test_what_doubles_cannot_tell_apart(signed, seed):
    """Duplicates up to the last unit, and entries over hundreds of orders of magnitude."""
    rng = np.random.default_rng(seed)
    base = rng.integers(-2, 3, size=(4, 5))
    rows = [[int(v) for v in base[i]] for i in rng.integers(0, 4, size=12)]
    if seed % 2:
        rows = [[v * 10**25 + int(rng.integers(-1, 2)) for v in row] for row in rows]
    else:
        rows = [[v << int(rng.integers(0, 600)) for v in row] for row in rows]
    truth = solve_l1(rows, signed=signed)
    assert truth.exact
    audit(rows, truth)


@SIGNED
def test_more_rows_than_the_first_working_set(signed):
    rng = np.random.default_rng(5)
    rows = rng.integers(-9, 10, size=(1500, 6))
    rows[:, 0] += 12
    rows[-3:] = rows[-3:] * [1, 1, 1, 1, 1, 1] - [9, 0, 0, 0, 0, 0]  # the hard ones come last
    truth = solve_l1(rows, signed=signed)
    assert truth.exact
    audit(rows.tolist(), truth)


@SIGNED
@settings(max_examples=25, deadline=None)
@given(rows=matrices)
def test_bounds_without_a_budget(rows, signed):
    exact, bounds = solve_l1(rows, signed=signed), solve_l1(rows, signed=signed, budget=0)
    audit(rows, bounds)
    assert bounds.value_lo <= exact.value_lo <= bounds.value_hi
    assert bounds.value_hi - bounds.value_lo <= exact.radius * Fraction(1, 10**6)
    assert bounds.separable in (None, exact.separable)


@SIGNED
def test_forms_of_input(signed):
    rows = [[3, -1], [1, 2], [2, 2]]
    expected = solve_l1(rows, signed=signed)
    forms = (fmpz_mat(rows), np.array(rows, np.int8), np.array(rows, dtype=object), tuple(rows))
    for form in forms:
        assert solve_l1(form, signed=signed) == expected
    unsigned = np.array([[2**63 + 5, 1]], dtype=np.uint64)
    assert solve_l1(unsigned, signed=signed).value_lo == 2**63 + 5
    big = [[2**70, 0], [-5, 2**200]]
    audit(big, solve_l1(big, signed=signed))


@pytest.mark.parametrize(
    ("rows", "scale", "message"),
    [
        ([], 1, "at least one row"),
        ([[]], 1, "at least one row"),
        ([[1], [1, 2]], 1, "same length"),
        ([[0.5]], 1, "integers"),
        ([[1]], 0, "scale"),
        ([[1]], -1, "scale"),
    ],
)
def test_bad_input(rows, scale, message):
    with pytest.raises(ProblemError, match=message):
        solve_l1(rows, Fraction(scale), signed=True)


@SIGNED
@pytest.mark.parametrize("seed", range(12))
def test_criss_cross_mends_any_basis(signed, seed):
    """From every pair of rows and columns, and from scratch."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1 - seed % 3, 2 + seed % 3, size=(4, 3)).tolist()
    value = solve_l1(rows, signed=signed).value_lo
    bases = product(combinations(range(4), 2), combinations(range(6 if signed else 3), 2))
    for basis in [(None, None), *bases]:
        with mock.patch.object(l1, "_suggest", return_value=_Suggestion({}, {}, *basis)):
            truth = solve_l1(rows, signed=signed)
        assert truth.exact
        assert truth.value_lo == value
