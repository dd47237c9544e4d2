"""Gram matrices that rounding made indefinite: always answered, and the answer is true."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import minimum_norm_squared

from gammabar.oracle import check, enclosure, enclosure as semidefinite, solve
from gammabar.problems import Kernel, KernelProblem, ProblemError


def given_gram(K, y, normalised=False):
    return KernelProblem(K, np.asarray(y), Kernel("precomputed"), normalised=normalised)


@st.composite
def products(draw, max_n=40):
    """X @ X.T in doubles: ranks from 1 to n, any scale, labels that X separates or any."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, max_n))
    d = draw(st.sampled_from([1, 2, 3, max(1, n // 2), n, 2 * n]))
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-140, 140))
    if draw(st.booleans()):
        X = X * np.exp(rng.normal(0, 2, (n, 1)))
    y = np.where(X[:, 0] > 0, 1, -1) if draw(st.booleans()) else rng.choice([-1, 1], n)
    y[0], y[-1] = -1, 1
    K = X @ X.T
    return X, y, (K + K.T) / 2


class Counted:
    """Counts the calls of a function; the work of the oracle is a bounded number of these."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


@settings(max_examples=120, deadline=None)
@given(products(), st.booleans())
def test_products_in_doubles_are_answered_in_bounded_work(data, normalised):
    _, y, K = data
    residual, bounds = Counted(semidefinite._residual), Counted(enclosure._bounds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(semidefinite, "_residual", residual)
        patch.setattr(enclosure, "_bounds", bounds)
        truth = solve(given_gram(K, y, normalised))
    assert residual.calls <= 20
    if truth.deficit:
        assert bounds.calls == 1
        assert "not positive semidefinite" in truth.note
        assert truth.deficit <= Fraction(1e-9) * Fraction(np.abs(K).max() if not normalised else 1)
        assert truth.unit_squares[1] - truth.unit_squares[0] < 1e-8
    else:
        assert truth.separable is not None
        assert "positive semidefinite" in truth.note


@settings(max_examples=60, deadline=None)
@given(products(max_n=5))
def test_the_enclosure_contains_the_margin_of_the_points(data):
    """X Xᵀ, exactly, is one of the matrices meant if the deficit covers the rounding of K."""
    X, y, K = data
    truth = solve(given_gram(K, y))
    exact = [[Fraction(v) * int(s) for v in row] for row, s in zip(X.tolist(), y, strict=True)]
    square = sum(
        (
            Fraction(float(K[i, j])) * int(y[i] * y[j])
            - sum(a * b for a, b in zip(r, s, strict=True))
        )
        ** 2
        for i, r in enumerate(exact)
        for j, s in enumerate(exact)
    )
    if truth.deficit and square <= truth.deficit**2:
        assert truth.square_lo <= minimum_norm_squared(exact) <= truth.square_hi


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32), st.integers(-3, 0))
def test_exact_decisions(n, d, seed, shift):
    """Integer Gram matrices are semidefinite; less a unit on the diagonal, mostly they are not."""
    X = np.random.default_rng(seed).integers(-9, 10, (n, d))
    K = X @ X.T + shift * np.eye(n, dtype=int)
    matrix = semidefinite._integer_gram(given_gram(np.abs(K) * 0 + X @ X.T, [1] * n))[0]
    assert semidefinite._alternates(matrix)
    if K.diagonal().min() < 0:
        return
    verdict = semidefinite._alternates(semidefinite.to_fmpz_mat(K))
    least = np.linalg.eigvalsh(K)[0]
    if abs(least) > 1e-6:
        assert verdict == (least > 0)


def test_a_singular_gram_matrix_of_integers_beyond_the_budget_is_proved(monkeypatch):
    X = np.random.default_rng(1).integers(-5, 6, (60, 4))
    y = np.where(np.arange(60) % 2, 1, -1)
    monkeypatch.setattr(semidefinite, "_BUDGET", 10**6)
    assert semidefinite.judge(given_gram(X @ X.T, y)).semidefinite
    spoilt = (X @ X.T).astype(float)
    spoilt[0, 0] = np.nextafter(spoilt[0, 0], 0)
    assert semidefinite.judge(given_gram(spoilt, y)).semidefinite is None


@given(st.floats(5e-324, 1e300))
def test_the_number_in_the_sentence_is_rounded_up(deficit):
    words = semidefinite.Verdict(False, Fraction(deficit)).words()
    shown = Fraction(words.partition("−")[2].partition(",")[0])
    assert Fraction(deficit) <= shown <= Fraction(deficit) * Fraction(101, 100)


@pytest.mark.parametrize("shift", [1e-3, 0.5])
def test_gross_indefiniteness_is_refused(shift):
    X = np.random.default_rng(1).standard_normal((20, 3))
    K = X @ X.T - shift * np.eye(20)
    K[np.diag_indices(20)] = np.maximum(K.diagonal(), 0)
    with pytest.raises(ProblemError, match="not positive semidefinite"):
        solve(given_gram(K, [1, -1] * 10))


@settings(max_examples=60, deadline=None)
@given(products(max_n=20))
def test_the_deficit_is_a_bound(data):
    """λ_min ≥ −δ: K + δI is positive semidefinite, exactly."""
    _, y, K = data
    deficit = semidefinite.judge(given_gram(K, y)).deficit
    n = len(K)
    shifted = [
        [Fraction(float(K[i, j])) + (deficit if i == j else 0) for j in range(n)] for i in range(n)
    ]
    common = max(v.denominator for row in shifted for v in row)
    whole = np.array([[int(v * common) for v in row] for row in shifted], dtype=object)
    assert semidefinite._alternates(semidefinite.to_fmpz_mat(whole))


@settings(max_examples=60, deadline=None)
@given(products(max_n=12), st.booleans(), st.integers(0, 3))
def test_the_checker_accepts_it_and_says_its_premise(tmp_path_factory, data, normalised, forge):
    _, y, K = data
    truth = solve(given_gram(K, y, normalised))
    folder = tmp_path_factory.mktemp("gram")
    np.savez(folder / "data.npz", X=K, y=y)
    truth.save(folder / "c.json")
    words = check.check(str(folder / "c.json"), str(folder / "data.npz"))
    assert ("for every positive semidefinite matrix" in words) == (truth.deficit > 0)
    if truth.deficit and truth.separable and forge:
        body = (folder / "c.json").read_text()
        low, high = truth.bounds
        forged = low + (high - low) * Fraction(forge, 2)  # γ̄ may lie below each of these
        (folder / "f.json").write_text(
            body.replace(
                truth.certificate["gamma_lo"], f"{forged.numerator:#x}/{forged.denominator:#x}"
            )
        )
        with pytest.raises(check.Rejected):
            check.check(str(folder / "f.json"), str(folder / "data.npz"))


def frobenius_squared(M, R, shift):
    """‖M + shift I − RRᵀ‖² exactly."""
    n, rows = len(M), [[Fraction(v) for v in row] for row in R.tolist()]
    return sum(
        (
            Fraction(M[i, j])
            + (i == j) * Fraction(shift)
            - sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
        )
        ** 2
        for i in range(n)
        for j in range(n)
    )


def test_the_residual_of_a_factor_is_bounded():
    """With all roundings: of R Rᵀ, of the difference, and of the shift that is added."""
    rng, lost = np.random.default_rng(2), 0
    for n in (1, 1, 1, 2, 5):
        for _ in range(40):
            A = rng.standard_normal((n, n + 1))
            M, shift = A @ A.T, float(rng.choice([0.0, 2.0**-30, 0.1]))
            bound = enclosure._residual(M, shift, 0)
            R = np.linalg.cholesky(M + shift * np.eye(n))
            exact = frobenius_squared(M, R, shift)
            assert exact <= Fraction(bound) ** 2
            seen = M + shift * np.eye(n) - R @ R.T
            lost += exact > Fraction(float(np.sqrt((seen * seen).sum()))) ** 2
    assert lost > 20  # so often what doubles see of it is too little


def test_rows_that_doubles_cannot_tell_apart_are_compared_in_balls():
    """Squared distances through inner products: (d + 8) roundings of four times the largest square.

    The kernel may be more accurate than that; the proof does not rest on it.
    """
    rng, n, d = np.random.default_rng(1), 60, 60
    X = 2.0**15 + rng.standard_normal((n, d)) * 2.0**-10
    X[4:] += 0.1
    problem = KernelProblem(X, np.ones(n, np.int8), Kernel("rbf", gamma=1.0))
    q = np.zeros(n)
    q[:4] = np.array([3, 5, 2, 7]) / 17
    scores, reach = problem.scores(q), 4.0 * float((X * X).sum(axis=1).max())
    close = np.flatnonzero(scores <= scores.min() + 2 * reach * (d + 8) * 2.0**-53)
    assert len(close) > 1
    assert set(close.tolist()) <= set(enclosure._lowest_rows(problem, [0, 1, 2, 3], [3, 5, 2, 7]))
