"""The bounds of `problems.rounding` against exact values, over the whole range of doubles."""

from __future__ import annotations

import math
import os
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

import gammabar.problems.points as points_module
from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    ProblemError,
    SparseProblem,
)
from gammabar.problems.rounding import length, rounding_of, taxicab

#: For each of the tests; the environment variable is for an hour to spare.
EXAMPLES = int(os.environ.get("GAMMABAR_EXAMPLES", "250"))
FLOATS = (np.float64, np.float32, np.float16, np.longdouble)
INTEGERS = (np.int64, np.uint64, np.int32, np.int16, np.int8, np.uint8, np.bool_)
#: Binary exponents at which something begins to over- or underflow, and the usual ones.
EXPONENTS = (-1074, -1060, -1022, -800, -540, -530, -500, -300, -60, 0, 0, 0, 60, 300, 480, 500)
EXPONENTS += (530, 600, 900, 945, 1000, 1010, 1022, 1024)

#: Sizes of products at which they are subnormal, or no doubles.
NEAR = (-1076, -1074, -1070, -1022, 0, 1021, 1024)


def doubles(rng, shape, exponent: int, spread: int):
    """Doubles of about the size 2^exponent, within a factor of 2^spread; some are zero."""
    signed = rng.uniform(-1, 1, shape) * (rng.random(shape) < 0.8)
    shifts = exponent - rng.integers(0, spread + 1, shape)
    return np.clip(np.ldexp(signed, np.maximum(shifts, -1100)), -1.7e308, 1.7e308)


def data(rng, shape, dtype, exponent: int, spread: int):
    """Points of a dtype; integers come from the ends of their range and from around 2^53."""
    if dtype is np.bool_:
        return rng.random(shape) < 0.5
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        ends = (info.min, info.min + 1, info.max, info.max - 1, 0, 1, 3)
        choice = [v for v in (*ends, 2**53 + 1, 2**62 + 1) if info.min <= v <= info.max]
        return np.array(rng.choice(np.array(choice, dtype=object), shape), dtype=dtype)
    if dtype is np.float64 or dtype is np.longdouble:
        return doubles(rng, shape, exponent, spread).astype(dtype)
    most = float(np.finfo(dtype).max)
    return np.clip(doubles(rng, shape, exponent, spread), -most, most).astype(dtype)


def exact(values) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(values).ravel().tolist()]


def rows_of(X) -> list[list[Fraction]]:
    if X.dtype == np.longdouble:
        X = X.astype(np.float64)
    return [exact(row) for row in X]


def dot(a, b) -> Fraction:
    return sum((x * z for x, z in zip(a, b, strict=True)), Fraction(0))


def root(square: Fraction) -> Fraction:
    """The square root, with a relative error of less than 2^-200."""
    if not square:
        return Fraction(0)
    shift = 2 * (300 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    scaled = square * Fraction(4) ** (shift // 2) if shift >= 0 else square / 4 ** (-shift // 2)
    return Fraction(math.isqrt(int(scaled))) / Fraction(2) ** (shift // 2)


def within(got: float, truth: Fraction, bound: float) -> bool:
    """Whether a bound that is finite holds; one that is not says nothing."""
    if not math.isfinite(bound):
        return bound == math.inf
    return math.isfinite(got) and abs(Fraction(float(got)) - truth) <= Fraction(bound)


situations = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32),
        "n": st.sampled_from((1, 2, 3, 10)),
        "d": st.sampled_from((1, 2, 3, 24)),
        "exponent": st.sampled_from(EXPONENTS),
        "spread": st.sampled_from((0, 0, 0, 3, 600, 2000)),
        "near": st.sampled_from((None, *NEAR)),
        "w_exponent": st.sampled_from(EXPONENTS),
        "w_spread": st.sampled_from((0, 0, 0, 3, 600, 2000)),
        "dtype": st.sampled_from((np.float64,) * 16 + FLOATS + INTEGERS),
    }
)


def linear_problem(geometry: str, X, rng):
    """A problem and its rows, exactly; those of a multiclass problem without 1/sqrt(2)."""
    n = len(X)
    if geometry == "multiclass":
        k = 3
        problem = MulticlassProblem(X, rng.integers(0, k, n), k)
        rows = []
        for i, x in enumerate(rows_of(X)):
            right = int(problem.labels[i])
            for wrong in (j for j in range(k) if j != right):
                entry = {right: 1, wrong: -1}
                rows.append([v * entry.get(j, 0) for v in x for j in range(k)])
        return problem, rows, Fraction(2)
    y = rng.choice([-1, 1], n)
    rows = [[int(s) * v for v in row] for s, row in zip(y, rows_of(X), strict=True)]
    if geometry == "sparse":
        return SparseProblem(scipy.sparse.csr_array(X), y), rows, Fraction(1)
    return DenseProblem(X, y), rows, Fraction(1)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", ["small", "compiled"])
@pytest.mark.parametrize("geometry", ["dense", "sparse", "multiclass"])
def test_linear_bounds_hold_at_every_scale(geometry, way, monkeypatch):
    if way == "compiled":
        monkeypatch.setattr(points_module, "SMALL", 0)
    dtypes = FLOATS + INTEGERS if way == "small" else (np.float64, np.int64)

    @settings(max_examples=EXAMPLES)
    @given(situations, st.booleans())
    def check(case, unit):
        rng = np.random.default_rng(case["seed"])
        dtype = case["dtype"] if case["dtype"] in dtypes else dtypes[case["seed"] % len(dtypes)]
        if geometry == "sparse" and dtype in (np.float16, np.longdouble):
            dtype = np.float64
        X = data(rng, (case["n"], case["d"]), dtype, case["exponent"], case["spread"])
        problem, rows, half = linear_problem(geometry, X, rng)
        # A row is multiplied by `scale`, which the radius and sqrt(2) may have made irrational.
        largest = max(dot(row, row) for row in rows) / half
        low, high = rounding_of(problem).radius_bounds()
        assert Fraction(low) ** 2 <= largest
        assert high == math.inf or largest <= Fraction(high) ** 2
        if unit:
            problem = problem.unit()
        divided = unit and largest > 0
        scale = root((1 / largest if divided else 1) / half)
        bounds = rounding_of(problem)
        w = doubles(rng, problem.dimension, size_of_w(case, unit), case["w_spread"])
        v, q = rng.permutation(w), np.resize(w, problem.n)
        check_linear(problem, bounds, rows, scale, w, v, q)

    check()


def size_of_w(case, unit: bool) -> int:
    """Any exponent, or one that brings products near a limit (in a unit view: before outer)."""
    if case["near"] is None:
        return case["w_exponent"]
    return case["near"] + (case["exponent"] // 2 if unit else -case["exponent"])


def check_linear(problem, bounds, rows, scale, w, v, q):
    exact_w, exact_v, exact_q = exact(w), exact(v), exact(q)
    size = length(w)
    assert size == math.inf or dot(exact_w, exact_w) <= Fraction(size) ** 2
    assert taxicab(w) == math.inf or sum(map(abs, exact_w)) <= Fraction(taxicab(w))
    truth = [scale * dot(row, exact_w) for row in rows]
    allowed = bounds.scores(size)
    computed = [problem.scores(w), problem.softmin(w).scores]
    for scores in computed:
        assert all(within(s, t, allowed) for s, t in zip(scores, truth, strict=True))
    assert within(problem.softmin(w).smallest, min(truth), allowed)
    # combine, in norm
    allowed = bounds.combine(taxicab(q))
    columns = [scale * dot(exact_q, column) for column in zip(*rows, strict=True)]
    combined = problem.combine(q)
    if math.isfinite(allowed):
        missed = [Fraction(float(c)) - t for c, t in zip(combined, columns, strict=True)]
        assert dot(missed, missed) <= Fraction(allowed) ** 2
    # gram, norm, inner
    gram, allowed = problem.gram(np.arange(problem.n)), bounds.gram()
    for i, a in enumerate(rows):
        assert all(
            within(gram[i, j], scale * scale * dot(a, b), allowed) for j, b in enumerate(rows)
        )
    assert within(problem.norm(w), root(dot(exact_w, exact_w)), bounds.norm(size))
    assert within(problem.inner(v, w), dot(exact_v, exact_w), bounds.inner(length(v), size))


def kernel_truth(kernel: Kernel, X, y, normalised: bool):
    """The signed Gram matrix in balls."""
    points = [[arb(v.numerator) / v.denominator for v in row] for row in rows_of(X)]

    def value(x, z):
        if kernel.name == "rbf":
            square = sum(((a - b) ** 2 for a, b in zip(x, z, strict=True)), arb(0))
            return (-arb(kernel.gamma) * square).exp()
        product = sum((a * b for a, b in zip(x, z, strict=True)), arb(0))
        if kernel.name == "linear":
            return product
        return (arb(kernel.gamma) * product + arb(kernel.coef0)) ** kernel.degree

    own = [value(x, x) for x in points]
    lengths = [v.sqrt() if normalised else arb(1) for v in own]
    return [
        [
            int(y[i]) * int(y[j]) * value(x, z) / (lengths[i] * lengths[j])
            for j, z in enumerate(points)
        ]
        for i, x in enumerate(points)
    ], own


def certain(got: float, truth, bound: float) -> bool:
    """No proof that the bound fails (the balls are far smaller than any bound)."""
    if not math.isfinite(bound):
        return bound == math.inf
    return math.isfinite(got) and not bool(abs(arb(float(got)) - truth) > arb(bound))


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_kernel_bounds_hold_at_every_scale(name, normalised):
    @settings(max_examples=EXAMPLES)
    @given(
        situations,
        st.booleans(),
        st.integers(1, 5),
        st.sampled_from((5e-324, 1e-300, 1e-9, 0.1, 1.0, 7.0, 1e9, 1e300)),
        st.sampled_from((0.0, 5e-324, 1e-160, 1.0, 1e6, 1e300)),
        st.sampled_from((None, 1e-3, 1e-6, 1e-8, 1e-12)),
    )
    def check(case, unit, degree, gamma, coef0, close):
        rng = np.random.default_rng(case["seed"])
        n = min(case["n"], 4) + 1
        X = data(rng, (n, case["d"]), case["dtype"], case["exponent"], case["spread"])
        if close and X.dtype == np.float64:  # points that lie close to each other
            X = X[0] * (1 + close * rng.standard_normal(X.shape))
            X = np.clip(X, -1.7e308, 1.7e308)
        y = rng.choice([-1, 1], n)
        kernel = Kernel(name, degree=degree, gamma=gamma, coef0=coef0)
        try:
            problem = KernelProblem(X, y, kernel, normalised)
            problem.gram(np.arange(n))
        except ValueError:
            return  # refused in one sentence: a value is no double, or zero cannot be divided by
        w = doubles(rng, n, size_of_w(case, False), case["w_spread"])
        before, ctx.prec = ctx.prec, 12_000
        try:
            G, own = kernel_truth(kernel, X, y, normalised)
            low, high = rounding_of(problem).radius_bounds()
            largest = max((v for v in own), key=lambda v: float(v.log()) if v > 0 else -math.inf)
            radius = arb(1) if normalised else largest.sqrt()
            assert not bool(arb(low) > radius)
            assert high == math.inf or not bool(arb(high) < radius)
            if unit and largest > 0:
                try:
                    problem = problem.unit()
                except ProblemError:  # rows whose K(x, x) has vanished cannot be divided by it
                    assert problem.diagonal.max() == 0
                    return
                if problem._is_unit and not normalised:
                    G = [[v / largest for v in row] for row in G]
            check_kernel(problem, G, w, rng.permutation(w))
        finally:
            ctx.prec = before

    check()


def check_kernel(problem, G, w, v):
    n, bounds = problem.n, rounding_of(problem)
    gram = problem.gram(np.arange(n))
    for i in range(n):
        assert all(certain(gram[i, j], G[i][j], bounds.value) for j in range(n))
    truth = [sum((G[i][j] * arb(float(w[j])) for j in range(n)), arb(0)) for i in range(n)]
    allowed = bounds.scores(taxicab(w))
    assert all(certain(s, t, allowed) for s, t in zip(problem.scores(w), truth, strict=True))
    inner = sum((arb(float(a)) * t for a, t in zip(v, truth, strict=True)), arb(0))
    allowed = bounds.inner(taxicab(v), taxicab(w))
    assert certain(problem.inner(v, w), inner, allowed)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64])
def test_values_of_a_table(dtype):
    rng = np.random.default_rng(4)
    for _ in range(50):
        half = rng.integers(0, 2**62, (3, 3)).astype(dtype)
        K = np.minimum(half, half.T)
        K[np.arange(3), np.arange(3)] = K.max()
        problem, y = KernelProblem(K, [1, -1, 1], Kernel("precomputed")), [1, -1, 1]
        G = [[y[i] * y[j] * arb(int(K[i, j])) for j in range(3)] for i in range(3)]
        check_kernel(problem, G, rng.standard_normal(3), rng.standard_normal(3))
