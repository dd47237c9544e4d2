"""Gram matrices that rounding made indefinite: always answered, and the answer is true."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import minimum_norm_squared

from gammabar.oracle import check, enclosure, solve
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
    residual, bounds = Counted(enclosure._residual), Counted(enclosure._bounds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enclosure, "_residual", residual)
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


def test_a_singular_gram_matrix_of_integers_beyond_the_budget_is_proved(monkeypatch):
    X = np.random.default_rng(1).integers(-5, 6, (60, 4))
    y = np.where(np.arange(60) % 2, 1, -1)
    monkeypatch.setattr(enclosure, "_BUDGET", 10**6)
    assert enclosure.judge(given_gram(X @ X.T, y)).semidefinite
    spoilt = (X @ X.T).astype(float)
    spoilt[0, 0] = np.nextafter(spoilt[0, 0], 0)
    assert enclosure.judge(given_gram(spoilt, y)).semidefinite is None


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
    deficit = enclosure.judge(given_gram(K, y)).deficit
    n = len(K)
    shifted = [
        [Fraction(float(K[i, j])) + (deficit if i == j else 0) for j in range(n)] for i in range(n)
    ]
    common = max(v.denominator for row in shifted for v in row)
    whole = np.array([[int(v * common) for v in row] for row in shifted], dtype=object)
    assert enclosure._alternates(enclosure.to_fmpz_mat(whole))


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


# --- error bounds: as large as their proofs ask, and hardly larger ------------------------------

U = 2.0**-53


def frobenius(M: np.ndarray) -> float:
    return math.sqrt(float((M * M).sum()))


@pytest.mark.parametrize("roundings", [0, 8])
@pytest.mark.parametrize("shift", [0.0, 0.25, 1000.0, -50.0])
def test_the_residual_of_a_factor(roundings: int, shift: float):
    """‖E‖ and (n + 8 + roundings) roundoffs of ‖R‖² + (1 + roundings) ‖M‖ + n |shift|."""
    A = np.random.default_rng(3).standard_normal((4, 6))
    M, n = A @ A.T + 100 * np.eye(4), 4
    R = np.linalg.cholesky(M + shift * np.eye(n))
    sizes = float((R * R).sum()) + (1 + roundings) * frobenius(M) + abs(shift) * n
    seen = frobenius(M + shift * np.eye(n) - R @ R.T)
    wanted = seen + (n + 8 + roundings) * U * sizes
    assert wanted <= enclosure._residual(M, shift, roundings) <= 1.1 * wanted


def test_what_underflows_in_a_residual():
    found = enclosure._residual(np.full((1, 1), 2.0**-1030), 0.0, 0)
    assert found >= 2.0**-1060
    assert enclosure._residual(np.full((1, 1), -1.0), 0.0, 0) is None


@pytest.mark.parametrize("k", [45, 48, 50])
def test_a_deficit_is_a_shift_with_its_error(k: int):
    M = np.array([[1.0, 1.0 + 2.0**-k], [1.0 + 2.0**-k, 1.0]])  # λ_min = −2^-k
    found = enclosure._deficit(M, 1)
    assert Fraction(2) ** -k <= found <= 8 * max(Fraction(2) ** -k, Fraction(7 * U * 2) * 2)


def test_rows_that_may_have_the_lowest_score():
    """Doubles clear a row whose score is above the least by three times the bound, and no other."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    problem = KernelProblem(X, np.ones(3, np.int8), Kernel("rbf", gamma=1.0))
    bound = ((4 * (2 + 8) + 3 + 16) * U) * 1.02
    scores = problem.scores(np.array([1.0, 0.0, 0.0]))
    for steps, kept in ((2.97, True), (3.03, False)):
        lowest = scores.min() * np.ones(3)
        lowest[0] += steps * bound
        shifted = type("Shifted", (KernelProblem,), {"scores": lambda self, w, s=lowest: s})
        other = shifted(X, np.ones(3, np.int8), Kernel("rbf", gamma=1.0))
        assert (0 in enclosure._lowest_rows(other, [0, 1, 2], [1, 1, 1])) is kept
