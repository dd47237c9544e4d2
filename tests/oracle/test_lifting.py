"""p-adic lifting of our own: the solutions that FLINT finds, or none."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpz, fmpz_mat
from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.oracle import (
    _lifting,
    candidate,
    candidate as narrow,
    lifting,
    maximum_margin as answer,
    proof as exact,
)
from gammabar.oracle.rational import exact_rows
from gammabar.oracle.result import unit_vector


def _by_flint(A, b):
    n = len(A)
    solution = fmpz_mat(A.tolist()).solve(fmpz_mat(n, 1, b.tolist()))
    values, denominator = solution.numer_denom()
    return [int(v) for v in values.entries()], int(denominator)


def _minors(A):
    return all(fmpz_mat(A[:k, :k].tolist()).det() for k in range(1, len(A) + 1))


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1, 3, 100, 2**20, 2**31 - 1])
)
def test_it_finds_what_flint_finds(seed, n, top):
    rng = np.random.default_rng(seed)
    A = rng.integers(-top, top + 1, (n, n)).astype(np.int32)
    if rng.random() < 0.3:  # with common divisors, so that denominators are small or differ
        A = (A % 7 * np.diag(rng.integers(1, 50, n))).astype(np.int32) + np.triu(A % 5, 1).astype(
            np.int32
        )
    b = rng.integers(-top, top + 1, n)
    found = lifting.solve(A, b)
    if found is None:
        assert not _minors(A) or not b.any()
    else:
        assert found == _by_flint(A, b)


def test_numbers_at_the_limits_of_their_words():
    """The largest entries that are accepted for a prime: no sum overflows."""
    n = 300
    rng = np.random.default_rng(1)
    for p in lifting.PRIMES[:3]:
        top = min((2**63 - 2**40) // (n * p), 2**31 - 1)
        A = np.where(rng.random((n, n)) < 0.9, top, -top).astype(np.int32)
        A[np.arange(n), np.arange(n)] = rng.integers(1, top, n)
        b = np.full(n, 2**39)
        chosen = lifting.prime_for(A, 2**39)
        assert chosen is not None
        assert chosen >= p
        N, D = lifting.solve(A, b)
        left = fmpz_mat(A.tolist()) * fmpz_mat(n, 1, N)
        assert left.entries() == [fmpz(D) * int(v) for v in b]


def test_too_many_or_too_large():
    A = np.full((2, 2), 2**31 - 1, np.int32)
    assert lifting.prime_for(A, 0) == lifting.PRIMES[0]
    assert lifting.prime_for(A, 2**63) is None
    assert lifting.solve(A, np.array([2**63 - 1, 0])) is None
    assert lifting.solve(A, np.array([1, 0])) is None  # singular


def test_the_numbers_are_primes_that_fit():
    for p in lifting.PRIMES:
        assert fmpz(p).is_prime()
        assert p < 2**27  # two digits in a word


def test_too_few_digits_are_noticed(monkeypatch):
    """Nothing is believed that the size of the modulus does not prove; more digits are lifted."""
    rng = np.random.default_rng(2)
    A = rng.integers(-(2**20), 2**20, (60, 60)).astype(np.int32)
    b, counts = rng.integers(-9, 9, 60), []
    reconstructed = lifting._reconstructed

    def counting(A, b, digits, p):
        found = reconstructed(A, b, digits, p)
        counts.append((digits.shape[1], found is not None))
        return found

    monkeypatch.setattr(_lifting, "log_determinant", lambda A: 10.0)
    monkeypatch.setattr(lifting, "_reconstructed", counting)
    assert lifting.solve(A, b) == _by_flint(A, b)
    assert [done for _, done in counts] == [False] * (len(counts) - 1) + [True]
    assert len(counts) > 3
    assert all(one < other for (one, _), (other, _) in itertools.pairwise(counts))


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("dependent", [False, True])
def test_affine_minimisers(sides, dependent):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 256, (60, 80)).astype(np.uint8)
    if dependent:  # linearly dependent, and not affinely: the Gram matrix alone is singular
        X[:, 50:] = 0
        X = np.vstack([X[:50], X[:50][::-1] // 2])[:51]
    y = np.where(np.arange(len(X)) % 3, 1, -1)
    problem = gb.from_arrays(X, y, intercept="free" if sides == 2 else "none")
    rows = exact_rows(problem)
    chosen = np.arange(len(X))
    of = [rows.side(i) for i in chosen.tolist()]
    gram, unit = rows.gram(chosen)
    here, there = exact._lifted(rows, chosen, of), exact._affine_minimiser(gram, unit, of)
    assert here is not None
    assert here == there


def _numbers(rng, count, bits):
    return [int.from_bytes(rng.bytes(bits // 8), "little") + 1 for _ in range(count)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([256, 264, 320, 1000]), st.booleans())
def test_short_numerators_give_the_same_direction(seed, bits, cancel):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    X = rng.integers(-9, 9, (m + 1, d))
    X[:, 0], X[m, 0] = 0, 5
    y = np.ones(m + 1, int)
    y[m] = -1
    rows = exact_rows(gb.from_arrays(X, y))
    chosen, numerators = np.arange(m), _numbers(rng, m, bits)
    if cancel and m > 1:  # a coordinate that is tiny beside its terms
        X[1], numerators[1] = -X[0], numerators[0] + 1
        rows = exact_rows(gb.from_arrays(X, y))
    whole = [int(v) for v in rows.point(chosen, numerators).vector.entries()]
    short = rows.short_vector(chosen, numerators)
    if short is None:
        assert max(v.bit_length() for v in numerators) <= 256 or min(
            map(abs, whole[1:]), default=0
        ) < (max(numerators) >> 150)
        return
    spare = max(v.bit_length() for v in numerators) - 256
    for one, other in zip(short, whole, strict=True):
        assert abs((one << spare) - other) << 70 <= abs(other)
    if any(whole):
        assert unit_vector(short) == pytest.approx(unit_vector(whole), rel=2.3e-16, abs=0)


def test_large_data_of_ordinary_margin_need_no_second_way(monkeypatch):
    """Where rounding ends the search next to the answer, the proof goes on by itself."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3_000, 40)).astype(np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    truth = gb.solve(X, y)
    unsettled = []

    def search(*args):
        found = candidate.working_set(*args)
        k = int(np.argmin(found.weights))  # a row of the support is missing
        keep = np.arange(len(found.support)) != k
        weights = found.weights[keep] / found.weights[keep].sum()
        unsettled.append(found.support[k])
        return replace(found, support=found.support[keep], weights=weights, settled=False)

    def refused(*args):
        raise AssertionError("the second way needs memory for a dense copy")

    monkeypatch.setattr(answer, "LARGE", 0)
    monkeypatch.setattr(answer, "working_set", search)
    monkeypatch.setattr(narrow, "narrow_candidate", refused)
    again = gb.solve(X, y)
    assert len(unsettled) == 1
    assert again.gamma_squared == truth.gamma_squared
    assert again.support.tolist() == truth.support.tolist()
    assert again.rounds > 1
