"""Supports proved by enclosures: compared with rational arithmetic, bound by bound."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from enumeration import assert_encloses, trial
from flint import fmpz_mat
from scipy.sparse import csr_array

import gammabar as gb
from gammabar.oracle import candidate, linear_system, narrow, proof
from gammabar.oracle._pairs import inverse_bound
from gammabar.oracle.linear_system import (
    GramSystem,
    RowSystem,
    _balls,
    _refined,
    eigenvalue_bound,
    enclose,
)
from gammabar.oracle.proof import (
    MinimumNorm,
    SupportProof,
    prove_support,
    rational_point,
)
from gammabar.oracle.rational import _may_be_longest, exact_rows
from gammabar.problems import Kernel, KernelProblem


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, 140, 35))
def test_no_wrong_support_and_no_wrong_digit(first):
    seen = Counter(trial(seed) for seed in range(first, first + 35))
    assert seen["proved"] > seen["rationals"]


@pytest.mark.parametrize("wrong", ["missing", "more", "other"])
def test_a_wrong_candidate_is_repaired_or_refused(wrong):
    rng = np.random.default_rng(3)
    for _ in range(40):
        X = rng.standard_normal((12, 6))
        y = np.where(X[:, 0] > 0, 1, -1)
        rows = exact_rows(gb.from_arrays(X, y))
        right = rational_point(rows, np.array([0]), np.ones(1))
        outside = np.setdiff1d(np.arange(12), right.support)
        chosen = {
            "missing": right.support[1:],
            "more": np.append(right.support, outside[:1]),
            "other": outside[: len(right.support)],
        }[wrong]
        found = prove_support(rows, chosen) if len(chosen) else None
        if found is not None:
            assert found.support.tolist() == right.support.tolist()
            assert found.square == right.square
            assert found.rounds > 1


def test_rows_of_very_different_length_come_into_the_corral_in_a_good_order():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30)) * 10.0 ** rng.uniform(80, 100, (50, 1))
    truth = gb.solve(X, np.where(np.arange(50) % 2, 1, -1))
    assert truth.separable
    assert truth.rounds < 2 * len(truth.support)  # 26; 136 rounds if the longest rows come first


def test_ties_are_left_to_rationals_unless_a_row_is_there_twice():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]])
    rows = exact_rows(gb.from_arrays(np.vstack([X, -X]), [1, 1, 1, -1, -1, -1]))
    assert prove_support(rows, np.array([0, 1])) is None  # the third row lies on the margin
    twice = exact_rows(gb.from_arrays(np.vstack([X[:2], X[:2], -X[:2]]), [1] * 4 + [-1] * 2))
    found = prove_support(twice, np.array([0, 1]))
    assert found is not None
    assert found.square == 1


def test_large_supports_are_proved_without_fractions():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((150, 120)), np.where(np.arange(150) % 2, 1, -1)
    for intercept in (False, True):
        truth = gb.solve(X, y, intercept=intercept)
        assert isinstance(truth.proof, SupportProof)
        assert (truth.exact, truth.separable, truth.rounds) == (True, True, 1)
        values = truth.gamma, truth.q, truth.direction, truth.b, truth.digits(40)
        assert "exact" not in vars(truth.proof), "no fraction was asked for"
        exact = rational_point(
            exact_rows(truth.problem), truth.support, np.ones(len(truth.support))
        )
        plain = replace(truth, proof=exact)
        assert truth.gamma_squared == exact.square
        assert (values[0], values[4]) == (plain.gamma, plain.digits(40))
        assert (values[1] == plain.q).all()
        assert (np.abs(values[2] - plain.direction) <= np.spacing(np.abs(plain.direction))).all()
        assert abs(values[3] - plain.b) <= np.spacing(abs(plain.b))
        assert_encloses(truth.proof.system, truth.proof.enclosure, exact)
        assert pickle.loads(pickle.dumps(truth)).gamma_squared == exact.square


def test_proofs_do_not_depend_on_what_becomes_of_the_data():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((120, 100)), np.where(np.arange(120) % 2, 1, -1)
    truth, twin = gb.solve(X, y), gb.solve(X.copy(), y)
    X[:] = 0.0
    assert truth.gamma_squared == twin.gamma_squared
    assert truth.numerators == twin.numerators


@pytest.mark.parametrize("kind", ["rows", "gram"])
@pytest.mark.parametrize("near", [0.0, 2.0**-30, 2.0**-60])
def test_enclosures_contain_the_solution(kind, near):
    """Also where rows are nearly dependent, so that doubles give up and Arb goes on."""
    rng = np.random.default_rng(7)
    for seed in range(25):
        s, t = int(rng.integers(3, 9)), 1 + seed % 2
        X = rng.standard_normal((s, s + 2)) * 2.0 ** rng.integers(-4, 4, (s, 1))
        if near:
            X[1], X[1, 0], X[0, 0] = X[0], near, 0.0
        sides = np.arange(s) % t
        system = RowSystem(X, sides)
        if kind == "gram":
            system = GramSystem(*system.gram(), sides)
        gram, unit = system.gram()
        exact = MinimumNorm(np.arange(s), *proof._affine_minimiser(gram, unit, sides.tolist()))
        for road in (enclose, _refined, _balls):
            for bits in (20, 100, 500):
                found = road(system, bits)
                assert found is not None or (near and road is _refined)
                if found is not None:
                    assert found.places - found.error.bit_length() >= bits
                    assert_encloses(system, found, exact)
                    for known in (found, replace(found, residual=[])):
                        value, doubt, unit = system.square(known)
                        assert abs(exact.square / unit - value) <= doubt


def test_a_row_of_the_gram_matrix_that_underflows_is_not_exact():
    system = GramSystem(fmpz_mat([[1 << 2200, 0], [0, 1]]), Fraction(1), np.ones(2, np.int64))
    values, off, k = system.doubles()
    assert values[1, 1] == 0 < Fraction(1, 1 << k) <= Fraction(float(off[1]))


def test_dependent_rows_are_never_enclosed():
    X = np.array([[1.0, 2.0, 0.5], [3.0, 1.0, 0.25], [2.0, 1.5, 0.375]])  # the mean of the two
    assert enclose(RowSystem(X, np.zeros(3, np.int64)), 50) is None


def test_slices_and_limbs_multiply_exactly():
    rng = np.random.default_rng(11)
    for spread in (1, 40, 200):
        X = rng.standard_normal((6, 5)) * 2.0 ** rng.integers(-spread, spread + 1, (6, 5))
        system = RowSystem(X, np.zeros(6, np.int64))
        if not system.slices:
            assert spread == 200
            continue
        z = [int(v) * 3**40 for v in rng.integers(-99, 99, 6)]
        unit = Fraction(2) ** (system.exponent - system.depth)
        exact = [sum(a * Fraction(v) for a, v in zip(z, column, strict=True)) for column in X.T]
        assert [v * unit for v in system.combine(z, 5)] == exact
        scores = [sum(Fraction(v) * w for v, w in zip(row, exact, strict=True)) for row in X]
        assert [v * system.unit for v in system.gram_times(z)] == scores


# --- bounds: none is exceeded, and none could be much smaller ----------------------------------


def exactly(A):
    return [[Fraction(v) for v in row] for row in A.tolist()]


def residual_norm(R, B):
    """‖I − R B‖ in the maximum norm, exactly."""
    columns = list(zip(*B, strict=True))
    return max(
        sum(
            abs((i == j) - sum(r * b for r, b in zip(row, column, strict=True)))
            for j, column in enumerate(columns)
        )
        for i, row in enumerate(exactly(R))
    )


def test_the_bound_of_a_residual():
    rng, tightest = np.random.default_rng(5), 0.0
    for m in (1, 2, 5):
        for _ in range(60):
            A = rng.standard_normal((m, m)) + 4 * np.eye(m)
            R = np.linalg.inv(A) * (1 + rng.choice([0.0, 2.0**-40, 2.0**-10]))
            alpha, norm = inverse_bound(A, R)
            true = residual_norm(R, exactly(A))
            assert true <= Fraction(alpha)
            tightest = max(tightest, float(true) / alpha)
            assert norm >= np.abs(R).sum(axis=1).max()
    assert tightest > 0.5  # so that half of it would be too small


def least_eigenvalue_exceeds(B, value):
    """Whether B − value I is positive definite, by the leading minors of rationals."""
    rows = [[v - value * (i == j) for j, v in enumerate(row)] for i, row in enumerate(B)]
    for k, pivot in enumerate(rows):
        if pivot[k] <= 0:
            return False
        for row in rows[k + 1 :]:
            share = row[k] / pivot[k]
            row[:] = [v - share * p for v, p in zip(row, pivot, strict=True)]
    return True


def test_the_bound_of_the_least_eigenvalue():
    rng, tightest = np.random.default_rng(5), 0.0
    for m in (1, 2, 5):
        for _ in range(60):
            X = rng.standard_normal((m, m)) * 2.0 ** rng.integers(-8, 1, (m, 1))
            H = X @ X.T
            least = float(np.linalg.eigvalsh(H)[0])
            error = np.full(m, least * rng.choice([0.0, 2.0**-40, 0.25]))
            B = exactly(H)
            for i in range(m):  # the farthest matrix
                B[i][i] -= Fraction(float(error[i]))
            for shift in (least / 2, least * (1 - 2.0**-20)):
                L = np.linalg.cholesky(H - shift * np.eye(m))
                bound = eigenvalue_bound(H, error, shift, L)
                assert bound <= 0 or least_eigenvalue_exceeds(B, Fraction(bound))
                tightest = max(tightest, float(error[0]) / (least - bound) if bound > 0 else 0.0)
            for wrong in (np.nan, np.inf):
                L[-1, 0] = wrong
                assert not eigenvalue_bound(H, error, shift, L) > 0
    assert tightest > 0.5  # so that half of it would be too small


def test_the_rounding_of_a_factor_counts():
    shift, counted = 2.0**-40, 0
    for x in 1 + np.random.default_rng(2).random(50):
        L = np.array([[1.0, 0.0], [x, 0.0]])
        H = L @ L.T + shift * np.eye(2)  # exactly, but for the rounding of x²
        bound = eigenvalue_bound(H, np.zeros(2), shift, L)
        assert least_eigenvalue_exceeds(exactly(H), Fraction(bound))
        counted += not least_eigenvalue_exceeds(exactly(H), Fraction(shift))
        assert bound > shift / 2
    assert counted > 9
    # A sum that was rounded to one and that the shift leaves nothing of.
    bound = eigenvalue_bound(np.eye(1), np.zeros(1), 1.0, np.zeros((1, 1)))
    assert 0.5 < bound <= 1 - 2.0**-53


@pytest.mark.parametrize("free", [False, True])
def test_the_bound_of_a_system_by_its_factor(free, monkeypatch):
    """It is above the norm of the inverse, and not much above it; what it solves is right.

    So it is with the eigenvalue itself in the place of its bound; NaN proves nothing.
    """

    def exact_least(H, *_):
        return np.linalg.eigvalsh(H)[0]

    rng = np.random.default_rng(6)
    for s in (2, 5, 30):
        for _ in range(10):
            sides = np.arange(s) % (2 if free else 1)
            system = RowSystem(rng.standard_normal((s, s + 1)) * 2.0**-3, sides)
            times, bound, k = system.inverse
            gram, c = system.doubles()[0], float(Fraction(system.border, 2**k))
            A = np.zeros((s + system.t, s + system.t))
            A[:s, :s] = gram
            A[np.arange(s), s + sides], A[s + sides, np.arange(s)] = -c, c
            inverse = np.linalg.inv(A)
            true = np.abs(inverse).sum(axis=1).max()
            assert true <= bound < 8 * s * true
            for least in (exact_least, lambda *_: np.nan):
                monkeypatch.setattr(linear_system, "eigenvalue_bound", least)
                found = system._factored(*system.doubles())
                assert true <= found.bound < bound if least is exact_least else found is None
            monkeypatch.undo()
            r = rng.standard_normal(len(A))
            assert np.abs(times(r) - inverse @ r).max() < 1e-9 * true


def test_the_rounding_of_a_product_counts():
    counted = 0
    for x in 1 + np.random.default_rng(2).random(50):
        A = np.array([[1.0, x], [x, x * x + 2.0**-20]])  # R is large, and R A rounds
        R = np.linalg.inv(A)
        alpha, _ = inverse_bound(A, R)
        true = residual_norm(R, exactly(A))
        assert true <= Fraction(alpha) < Fraction(2) ** -26
        counted += true > 1.1 * np.abs(R @ A - np.eye(2)).sum(axis=1).max() + 2.0**-50
    assert counted > 9


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_an_inverse_that_is_no_number_anywhere_proves_nothing(value):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4, 4)) + 5 * np.eye(4)
    for place in np.ndindex(4, 4):
        R = np.linalg.inv(A)
        R[place] = value
        with np.errstate(all="ignore"):
            assert inverse_bound(A, R) == (np.inf, np.inf)
            assert inverse_bound(R, np.linalg.inv(A)) == (np.inf, np.inf)


def test_the_bound_of_a_gram_matrix():
    rng, tightest = np.random.default_rng(8), 0.0
    for d in (1, 2, 3, 30):
        for _ in range(40):
            X = rng.standard_normal((3, d)) * 2.0 ** rng.integers(-3, 3, (3, 1))
            for system in (
                RowSystem(X, np.zeros(3, np.int64)),
                GramSystem(*RowSystem(X, np.zeros(3, np.int64)).gram(), np.zeros(3, np.int64)),
            ):
                doubles, error, k = system.doubles()
                gram, _ = system.gram()
                scale = (system.gram()[1] / system.unit) / 2**k
                for i in range(3):
                    off = sum(
                        abs(int(gram[i, j]) * scale - Fraction(float(doubles[i, j])))
                        for j in range(3)
                    )
                    assert off <= Fraction(float(error[i]))
                    tightest = max(tightest, float(off / Fraction(float(error[i]))))
    assert tightest > 0.1


@pytest.mark.parametrize("what", ["error", "slack"])
def test_a_bound_made_too_small_is_noticed(what, monkeypatch):
    """With enclosures narrower than they are, some trial of the comparison above fails."""
    real = linear_system._off
    monkeypatch.setattr(linear_system, "_off", lambda *args: real(*args) >> 12)
    if what == "slack":
        monkeypatch.setattr(proof, "_BITS", (4, 400))
    with pytest.raises(AssertionError):
        for seed in range(200):
            trial(seed)


# --- the way through the oracle ---------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Kernel("poly", 2, 1.0, 1.0), Kernel("linear")])
def test_kernels_take_the_same_road(kernel, monkeypatch):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 50)), np.where(np.arange(40) % 2, 1, -1)
    problem = KernelProblem(X, y, kernel)
    truth = gb.solve(problem)
    assert isinstance(truth.proof, SupportProof)
    monkeypatch.setattr(proof, "_SMALL", 1000)
    assert truth.gamma_squared == gb.solve(problem).gamma_squared


def test_large_data_of_ordinary_margin_need_no_second_way(monkeypatch):
    """Where rounding ends the search next to the answer, the proof goes on by itself."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3_000, 40)).astype(np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    truth = gb.solve(X, y)
    unsettled, real = [], candidate.working_set

    def search(*args):
        found = real(*args)
        k = int(np.argmin(found.weights))  # a row of the support is missing
        keep = np.arange(len(found.support)) != k
        weights = found.weights[keep] / found.weights[keep].sum()
        unsettled.append(found.support[k])
        return replace(found, support=found.support[keep], weights=weights, settled=False)

    def refused(*args):
        raise AssertionError("the second way needs memory for a dense copy")

    monkeypatch.setattr(candidate, "LARGE", 0)
    monkeypatch.setattr(candidate, "working_set", search)
    monkeypatch.setattr(narrow, "narrow_candidate", refused)
    again = gb.solve(X, y)
    assert len(unsettled) == 1
    assert again.gamma_squared == truth.gamma_squared
    assert again.support.tolist() == truth.support.tolist()
    assert again.rounds > 1


@pytest.mark.parametrize("free", [False, True])
def test_inseparable_data_are_proved_without_fractions(free):
    """The support spans the space, so that its point is zero exactly; rationals agree."""
    rng = np.random.default_rng(9)
    X, y = rng.standard_normal((400, 30)), np.where(rng.random(400) < 0.5, 1, -1)
    truth = gb.solve(X, y, intercept=free)
    assert isinstance(truth.proof, SupportProof)
    assert (truth.separable, truth.exact, truth.gamma, truth.digits(5)) == (False, True, 0, "0")
    assert "exact" not in vars(truth.proof)
    rows = exact_rows(truth.problem)
    signs = [v * int(y[i]) for i, v in zip(truth.support.tolist(), truth.numerators, strict=True)]
    assert truth.gamma_squared == 0
    assert not any(rows.point(truth.support, truth.numerators).vector)
    assert sum(signs) == 0 or not free


def test_points_with_both_labels_are_found_by_hashing():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 200)) * (rng.random((300, 200)) < 0.2)
    y = np.where(np.arange(300) % 2, 1, -1)
    X[7], X[20] = X[4], -0.0 * X[20]
    for store in (np.asarray, csr_array):
        truth = gb.solve(store(X[:, :]), y)
        assert truth.separable is False
        twins = exact_rows(gb.from_arrays(store(X), y)).twins()
        assert twins == (4, 7)


def test_the_longest_of_many_rows_of_about_one_length():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((500, 7))
    X /= np.linalg.norm(X, axis=1)[:, None]
    exact = max(sum(Fraction(v) ** 2 for v in row) for row in X.tolist())
    for made in (X, csr_array(X), X * 2.0**-400):
        scale = 2 ** (-800 if made is not X and not hasattr(made, "tocsr") else 0)
        problem = gb.from_arrays(made, np.arange(500) % 2)
        assert exact_rows(problem).radius_squared() == exact * Fraction(scale)


def test_rows_of_one_length_are_all_kept():
    """Sums of the same squares in another order, which round otherwise."""
    rng = np.random.default_rng(4)
    row = rng.standard_normal(50)
    assert _may_be_longest(np.array([rng.permutation(row) for _ in range(300)])).all()


def test_a_constant_feature_has_no_coordinate_with_a_free_intercept():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((90, 70)), np.where(np.arange(90) % 2, 1, -1)
    X[:, 7] = 0.1
    truth = gb.solve(X, y, intercept=True)
    assert truth.direction[7] == 0
    assert "exact" not in vars(truth.proof)
    exact = truth.proof.exact
    rows = exact_rows(truth.problem).point(exact.support, exact.numerators).vector
    assert rows[7] == 0
    through = gb.solve(X, y)
    assert through.direction[7] != 0
