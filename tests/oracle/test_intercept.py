"""With a bias: against brute force in rationals, CVXPY, and what a problem says of itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from certificates_for_tests import linear_gram
from hypothesis import given, settings, strategies as st
from reference.minimum_norm import between, shortest

import gammabar as gb
from gammabar.oracle import solve
from gammabar.problems import ProblemError, from_arrays
from gammabar.problems.conversion import with_constant

EXTREME = st.sampled_from([-(2**63), 2**63 - 1, -1, 0, 1, 2**62])
NUMBERS = {
    "int8": st.sampled_from([-128, 127]) | st.integers(-3, 3),
    "uint8": st.integers(0, 5),
    "int64": st.integers(-5, 5) | EXTREME,
    "float64": st.integers(-4, 4).map(float)
    | st.sampled_from([5e-324, -1e-310, 1e-300, 1e300, -1e300, 0.1]),
}


@st.composite
def points(draw, most=6):
    dtype = draw(st.sampled_from(list(NUMBERS)))
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 3))
    row = st.lists(NUMBERS[dtype], min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=dtype)
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[:2] = -1, 1
    return X, y


@pytest.mark.full
@settings(max_examples=250, deadline=None)
@given(points(), st.booleans())
def test_free_is_half_the_distance_of_the_hulls(data, sparse):
    X, y = data
    given_X = scipy.sparse.csr_array(X) if sparse else X
    truth = solve(given_X, y, intercept="free")
    _, square = between(linear_gram(X.tolist(), y.tolist()), y.tolist())
    assert truth.gamma_squared == square
    assert truth.separable == (square > 0)
    assert sum(truth.numerators) == truth.total
    signs = [int(y[i]) for i in truth.support]
    assert sum(v * s for v, s in zip(truth.numerators, signs, strict=True)) == 0


@settings(max_examples=60, deadline=None)
@given(points(5))
def test_augmented_is_a_constant_feature(data):
    X, y = data
    truth = solve(X, y, intercept="augmented")
    rows = [[*x, 1] for x in X.tolist()]
    assert truth.gamma_squared == shortest(linear_gram(rows, y.tolist()))[1]
    assert truth.problem.digest() == from_arrays(with_constant(X), y).digest()
    assert truth.certificate["data"]["sha256"] == from_arrays(X, y).digest()


@settings(max_examples=60, deadline=None)
@given(points(5), st.sampled_from(["linear", "poly:degree=2,coef0=1", "poly:degree=3"]))
def test_kernels_with_a_free_bias(data, kernel):
    X, y = data
    X = np.clip(X.astype(float), -9, 9)
    problem = from_arrays(X, y, kernel=kernel, intercept="free")
    gram = [
        [
            Fraction(int(a) * int(b)) * _value(problem.kernel, p, r)
            for b, r in zip(y, X, strict=True)
        ]
        for a, p in zip(y, X, strict=True)
    ]
    assert solve(problem).gamma_squared == between(gram, y.tolist())[1]


def _value(kernel, x, z):
    inner = sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), z.tolist(), strict=True)))
    if kernel.name == "linear":
        return inner
    return (Fraction(kernel.gamma) * inner + Fraction(kernel.coef0)) ** kernel.degree


def blobs(seed=0, n=60, far=4.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) + 5
    y = np.where(np.arange(n) < n // 2, 1, -1)
    X[y > 0, 0] += far
    return X, y


def is_rounded(value, over, square):
    """Whether a double is over/√square, or one of the two doubles next to that."""
    low, high = (Fraction(float(np.nextafter(value, end))) for end in (-np.inf, np.inf))
    sides = [v * abs(v) * square for v in (low, high)]
    return sides[0] <= over * abs(over) <= sides[1]


@settings(max_examples=100, deadline=None)
@given(points(), st.sampled_from(gb.problems.problem.INTERCEPTS))
def test_w_and_b_are_the_exact_ones_rounded_once(data, kind):
    """Sums of rounded weights cancel where the margin is small, and squares leave the doubles."""
    X, y = data
    truth = solve(X, y, intercept=kind)
    if not truth.separable:
        return
    rows = [[Fraction(v) for v in [*x, *[1] * (kind == "augmented")]] for x in X.tolist()]
    v = [
        sum(
            q * int(y[i]) * rows[i][j] for q, i in zip(truth.numerators, truth.support, strict=True)
        )
        for j in range(len(rows[0]))
    ]
    square = sum(c * c for c in v)
    exact = v[: X.shape[1]]
    assert all(is_rounded(w, c, square) for w, c in zip(truth.w, exact, strict=True))
    products = [sum(a * b for a, b in zip(row, v, strict=True)) for row in rows]
    sides = [min(p for p, s in zip(products, y, strict=True) if s > 0)]
    sides.append(max(p for p, s in zip(products, y, strict=True) if s < 0))
    bias = {"none": Fraction(0), "free": -sum(sides) / 2, "augmented": v[-1]}[kind]
    assert is_rounded(truth.b, bias, square)


def test_several_classes_have_a_bias_each():
    X = np.array([[3.0, 3], [3, 4], [9, 3], [9, 4], [3, 9], [4, 9]])
    labels = [0, 0, 1, 1, 2, 2]
    problem = from_arrays(X, labels, multiclass=True, intercept="augmented")
    truth = solve(problem)
    scores = X @ truth.w.reshape(2, 3) + truth.b
    assert (scores.argmax(axis=1) == labels).all()


def test_an_rbf_kernel_with_a_free_bias():
    X, y = blobs(far=0.5, n=24)
    truth = solve(from_arrays(X, y, kernel="rbf:gamma=0.5", intercept="free"))
    scores = truth.problem.scores(truth.w) + y * truth.b
    assert truth.separable
    assert scores.min() == pytest.approx(truth.gamma_raw, rel=1e-9)
    assert truth.gamma_hi - truth.gamma_lo < 1e-15


@pytest.mark.parametrize(
    ("made", "asked", "words"),
    [
        ({"multiclass": True}, "free", "pairs of classes"),
        ({"kernel": "linear", "normalised": True}, "free", "normalised"),
        ({"kernel": "linear"}, "augmented", r"K \+ 1"),
        ({}, "biased", "not one of"),
    ],
)
def test_what_has_no_such_intercept_says_so(made, asked, words):
    X, y = blobs()
    with pytest.raises(ProblemError, match=words):
        from_arrays(X, y, intercept=asked, **made)


def test_other_refusals():
    X, y = blobs()
    with pytest.raises(ProblemError, match="single class"):
        from_arrays([[1.0]], [1], intercept="free")
    for asked in ({"norm": "l1"}, {"signed": True}):
        with pytest.raises(ProblemError, match="no free intercept"):
            solve(X, y, intercept="free", **asked)
    with pytest.raises(ProblemError, match="labels"):
        solve(X)
    with pytest.raises(ProblemError, match="labels already"):
        solve(from_arrays(X, y), y)
    with pytest.raises(ProblemError, match="through the origin"):
        gb.verify("dual-acceleration", from_arrays(X, y, intercept="free"), "gb.sharp")


@pytest.mark.parametrize(
    "options", [[], ["--norm", "l1"], ["--multiclass"], ["--kernel", "linear"]]
)
def test_what_a_bias_separates_is_said_of_every_margin(tmp_path, capsys, options):
    """Through the origin nothing separates these blobs; with a bias any line between them does."""
    from gammabar.harness.cli import main

    path = tmp_path / "blobs.csv"
    for text, there in (("1,5,5\n1,6,5\n0,1,1\n0,2,1\n", True), ("1,1\n0,2\n1,3\n", False)):
        path.write_text(text)
        with pytest.raises(SystemExit):
            main(["oracle", str(path), *options])
        said = capsys.readouterr().out
        words = "but separable with a bias" if there else "nor with a bias"
        assert f"not separable through the origin, {words}" in said
