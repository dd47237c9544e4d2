"""Every geometry does what the matrix A of its rows does, at every scale and in every dtype."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import gammabar.problems.points as points_module
from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassKernelProblem,
    MulticlassProblem,
    ScatteredProblem,
    SparseProblem,
)
from gammabar.problems.chunked import FileChunks
from gammabar.problems.linear import LinearProblem

#: Few of the types, since the loops are compiled for each; tests/problems/test_compiled.py has all.
DTYPES = (np.uint8, np.int64, np.float32, np.float64)
KERNELS = ("linear", "poly:degree=2,coef0=1", "poly:degree=3,gamma=0.5", "rbf:gamma=0.25")


@dataclass
class Geometry:
    """A problem, the matrix of its rows, and the vector that a representation stands for."""

    problem: Any
    A: np.ndarray
    of_kernel: bool = False

    def vector(self, w: np.ndarray) -> np.ndarray:
        return self.A.T @ w if self.of_kernel else np.asarray(w, dtype=float)

    def unit(self) -> Geometry:
        radius = math.sqrt(np.square(self.A).sum(axis=1).max())
        return Geometry(self.problem.unit(), self.A / (radius or 1.0), self.of_kernel)


def features(X: np.ndarray, kernel: str, normalised: bool) -> np.ndarray:
    """Points whose inner products are the kernel's values."""
    inner = X @ X.T
    options = dict(part.split("=") for part in kernel.partition(":")[2].split(",") if part)
    gamma, coef0 = float(options.get("gamma", 1)), float(options.get("coef0", 0))
    square = np.diagonal(inner)
    K = {
        "linear": inner,
        "poly": (gamma * inner + coef0) ** int(options.get("degree", 3)),
        "rbf": np.exp(-gamma * (square[:, None] + square - 2 * inner)),
    }[kernel.partition(":")[0]]
    if normalised:
        K = K / np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def reduced(X: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Every row x_i (e_c − e_j)ᵀ/√2, flattened, by points and then wrong classes."""
    e = np.eye(k)
    pairs = [(i, c, j) for i, c in enumerate(labels) for j in range(k) if j != c]
    return np.array([np.outer(X[i], e[c] - e[j]).ravel() for i, c, j in pairs]) / math.sqrt(2)


@st.composite
def geometries(draw, kind: str, dtypes=DTYPES) -> Geometry:
    n, d = draw(st.integers(1, 30 if kind == "chunks" else 7)), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from(dtypes))
    low, high = (0, 9) if dtype == np.uint8 else (-9, 9)
    X = draw(hnp.arrays(dtype, (n, d), elements=st.just(0) | st.integers(low, high)))
    y = draw(hnp.arrays(np.int8, n, elements=st.sampled_from((-1, 1))))
    store = scipy.sparse.csr_array if draw(st.booleans()) else np.asarray
    floats = X.astype(float)
    if kind == "dense":
        return Geometry(DenseProblem(X, y), y[:, None] * floats)
    if kind == "sparse":
        return Geometry(SparseProblem(scipy.sparse.csr_array(X), y), y[:, None] * floats)
    if kind == "chunks":
        size = draw(st.integers(1, n))
        lengths = [min(size, n - lo) for lo in range(0, n, size)]
        chunks = FileChunks(lambda k: store(X[k * size : (k + 1) * size]), lengths, d, dtype)
        return Geometry(ScatteredProblem(chunks, y), y[:, None] * floats)
    kernel, normalised = draw(st.sampled_from(KERNELS)), draw(st.booleans())
    normalised &= "coef0" in kernel or "rbf" in kernel or bool(floats.any(axis=1).all())
    if kind == "kernel":
        F = features(floats, kernel, normalised)
        problem = KernelProblem(store(X), y, Kernel.parse(kernel), normalised=normalised)
        return Geometry(problem, y[:, None] * F, True)
    k = draw(st.integers(2, 4))
    labels = draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1)))
    if kind == "multiclass":
        return Geometry(MulticlassProblem(store(X), labels, k), reduced(floats, labels, k))
    labels[: min(n, 2)] = range(min(n, 2))
    k = int(labels.max()) + 1 if labels.max() else 2
    F = features(floats, kernel, normalised)
    problem = MulticlassKernelProblem(X, labels, Kernel.parse(kernel), k=k, normalised=normalised)
    return Geometry(problem, reduced(F, labels, k), True)


KINDS = ["dense", "sparse", "chunks", "kernel", "multiclass", "multiclass kernel"]


@pytest.fixture(params=["small", pytest.param("compiled", marks=pytest.mark.full)])
def path(request, monkeypatch):
    """The ways through the products: a small float64 copy, and the compiled loops."""
    if request.param != "small":
        monkeypatch.setattr(points_module, "SMALL", 0)
        monkeypatch.setattr(points_module, "BLOCK_BYTES", 64)
        monkeypatch.setattr(points_module.Points.blocks, "__defaults__", (1,))
    return request.param


def agrees(made: Geometry, w: np.ndarray, q: np.ndarray, temperature: float) -> None:
    """Every operation is that of the matrix."""
    problem, A, v = made.problem, made.A, made.vector(w)
    size = 1 + np.abs(A).max() * (1 + np.abs(v).sum() + np.abs(q).sum())
    slack = {"rtol": 0, "atol": 1e-9 * size * size * (1 + np.abs(w).sum()) / min(1, temperature)}
    rows, scores = np.arange(problem.n), A @ v
    assert problem.n == len(A)
    assert problem.radius == pytest.approx(math.sqrt(np.square(A).sum(axis=1).max()), abs=1e-7)
    z = -scores / temperature
    e = np.exp(z - z.max())
    soft = problem.softmin(w, temperature)
    assert soft.smallest == soft.scores.min()
    for found, wanted in (
        (problem.scores(w), scores),
        (made.vector(problem.combine(q)), A.T @ q),
        ([made.vector(problem.row(i)) for i in rows], A),
        (problem.gram(rows), A @ A.T),
        (problem.gram(rows[::-2], rows[:3]), A[::-2] @ A[:3].T),
        (problem.some_scores(rows[::-3], w), scores[::-3]),
        (made.vector(problem.combine(1.0 * (rows == 0))), A[0]),
        (problem.inner(w, problem.combine(q)), v @ (A.T @ q)),
        (problem.norm(w) ** 2, v @ v),
        (soft.scores, scores),
        (soft.logsumexp, z.max() + math.log(e.sum())),
        (made.vector(soft.pull), A.T @ (e / e.sum())),
    ):
        np.testing.assert_allclose(found, wanted, **slack)
    if isinstance(problem, LinearProblem):
        np.testing.assert_allclose(problem.part(rows[::-3]).scores(w), scores[::-3], **slack)
    if v @ v > 1e-6:
        margin = scores.min() / math.sqrt(v @ v)
        np.testing.assert_allclose(problem.margin(w), margin, rtol=0, atol=1e-5 * size)
    assert problem.margin(problem.origin()) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_operations_are_those_of_the_matrix(path, kind):
    @settings(max_examples=40, deadline=None)
    @given(geometries(kind), st.sampled_from((0.5, 1.0, 20.0)), st.booleans(), st.data())
    def check(made, temperature, unit, data):
        made = made.unit() if unit and made.A.any() else made
        dimension = len(made.problem.origin())
        w = data.draw(hnp.arrays(float, dimension, elements=st.floats(-3, 3, width=16)))
        weights = st.just(0.0) | st.floats(0, 1)
        q = data.draw(hnp.arrays(float, made.problem.n, elements=weights))
        agrees(made, w, q, temperature)

    check()


@pytest.mark.parametrize("exponent", [-1060, -1000, -500, 500, 1000, 1020])
@pytest.mark.parametrize("kind", ["dense", "sparse", "multiclass"])
def test_unit_views_do_not_notice_the_scale(path, kind, exponent):
    """A power of two in the data leaves no trace after division by the radius."""
    X = np.array([[3.0, 4.0, 0.0], [1.0, -2.0, 2.0], [0.5, 0.0, 0.25], [0.0, 0.0, 0.0]])

    def build(X):
        if kind == "multiclass":
            return MulticlassProblem(X, [0, 1, 2, 1])
        return (
            SparseProblem(scipy.sparse.csr_array(X), Y) if kind == "sparse" else DenseProblem(X, Y)
        )

    Y = [1, -1, 1, 1]
    usual, problem = build(X).unit(), build(np.ldexp(X, exponent))
    view = problem.unit()
    assert problem.radius == math.ldexp(5.0, exponent)
    assert view.radius == 1.0
    assert view.unit() is view
    w, q = np.linspace(-1, 1, len(usual.origin())), np.linspace(0, 1, usual.n)
    for ask in (
        lambda p: p.scores(w),
        lambda p: p.combine(q),
        lambda p: p.gram([0, 1, 2]),
        lambda p: p.row(1),
        lambda p: p.softmin(w).pull,
        lambda p: p.margin(w),
    ):
        np.testing.assert_array_equal(ask(view), ask(usual))
    # Without division as well, as long as the numbers are doubles.
    assert problem.margin(np.ldexp(w, 900)) == problem.margin(w)


@pytest.mark.parametrize("temperature", [1e-300, 1e-9, 1e9, 1e300])
@pytest.mark.parametrize("size", [1e-6, 1e6, 1e150])
def test_softmin_of_several_classes_never_overflows(path, temperature, size):
    """That of two classes is in test_compiled.py."""
    rng = np.random.default_rng(5)
    X, labels = rng.integers(-9, 10, (40, 3)), rng.integers(0, 3, 40)
    A = reduced(X, labels, 3)
    soft = MulticlassProblem(X, labels, 3).softmin(size * 2.0 ** -np.arange(9), temperature)
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp((soft.scores.min() - soft.scores) / temperature)
    np.testing.assert_allclose(soft.pull, A.T @ (e / e.sum()), atol=1e-9)
    assert soft.smallest == soft.scores.min()
    assert not np.isnan(soft.logsumexp)
    if abs(soft.smallest) < 1e300 * min(temperature, 1e8):
        wanted = -soft.smallest / temperature + math.log(e.sum())
        assert soft.logsumexp == pytest.approx(wanted, rel=1e-12)


def test_the_margin_of_several_classes_is_that_of_the_paper():
    """min_i min_{c ≠ c_i} (x_iᵀU e_{c_i} − x_iᵀU e_c)/‖U‖_F is √2 γ(w)."""
    rng = np.random.default_rng(4)
    X, labels, U = rng.integers(0, 9, (8, 3)), rng.integers(0, 4, 8), rng.standard_normal((3, 4))
    S = X @ U
    gaps = [S[i, c] - S[i, j] for i, c in enumerate(labels) for j in range(4) if j != c]
    found = math.sqrt(2) * MulticlassProblem(X, labels, 4).margin(U.ravel())
    assert found == pytest.approx(min(gaps) / np.linalg.norm(U), rel=1e-12)


def test_the_gram_matrix_of_integers_is_exact():
    X = np.array([[3, 200], [255, 1]], dtype=np.uint8)
    # Rows: x0(e0-e1), x0(e0-e2), x1(e2-e0), x1(e2-e1); <x0,x0> = 40009, <x0,x1> = 965.
    wanted = [[40009, 20004.5, -482.5, 482.5], [20004.5, 40009, -965, -482.5]]
    found = MulticlassProblem(X, [0, 2], 3).gram([0, 1, 2, 3])[:2]
    np.testing.assert_array_equal(found, wanted)
