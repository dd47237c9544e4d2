"""The kernel of a network: its closed form, its weights, its error bound."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from gammabar.problems import Kernel, KernelProblem, ProblemError, from_arrays
from gammabar.problems.kernels import UNIT, whole_weights
from gammabar.problems.points import Points
from gammabar.problems.rounding import rounding_of


def gradients(X, width: int, seed: int) -> list[list[Fraction]]:
    """∇f of every point in rationals, times the root of the width, node by node."""
    W = whole_weights(width, len(X[0]), seed)
    rows = []
    for x in X:
        x = [Fraction(float(v)) for v in x]
        row: list[Fraction] = []
        for w in W:
            entering = sum(
                (Fraction(int(v), UNIT) * a for v, a in zip(w, x, strict=True)), Fraction(0)
            )
            row += [a if entering > 0 else Fraction(0) for a in x] + [max(Fraction(0), entering)]
        rows.append(row)
    return rows


def exactly(X, width: int, seed: int) -> list[list[Fraction]]:
    F = gradients(X, width, seed)
    return [
        [sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0)) / width for z in F] for x in F
    ]


@settings(max_examples=15, deadline=None)
@given(
    arrays(np.int8, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.integers(-9, 9)),
    st.sampled_from([1, 5, 64, 70]),
    st.integers(0, 3),
)
def test_it_is_the_inner_product_of_gradients(X, width: int, seed: int):
    kernel = Kernel("network", width=width, seed=seed)
    expected = np.array([[float(v) for v in row] for row in exactly(X, width, seed)])
    for points in (X, scipy.sparse.csr_matrix(X.astype(np.float64))):
        assert kernel.matrix(points, points) == pytest.approx(expected, rel=1e-13, abs=1e-12)
        diagonal = kernel.diagonal(Points(points))
        assert diagonal == pytest.approx(np.diagonal(expected), rel=1e-13, abs=1e-12)


def test_rows_that_are_computed_one_by_one_and_those_of_a_block_agree():
    rng = np.random.default_rng(0)
    for X in (rng.integers(0, 256, (700, 800), dtype=np.uint8), rng.standard_normal((50, 3))):
        problem = from_arrays(X, np.arange(len(X)) % 2, kernel="network:width=20")
        alone = KernelProblem(X, problem.y, problem.kernel)
        everything = problem.kernel.matrix(X, X) * np.outer(problem.y, problem.y)
        one = problem.scores(problem.row(7))
        assert one == pytest.approx(everything[7], rel=1e-12)
        assert alone.gram(np.arange(9)) == pytest.approx(everything[:9, :9], rel=1e-12)
        again = pickle.loads(pickle.dumps(problem))
        assert (again.scores(again.row(7)) == one).all()


def test_weights_are_whole_normal_to_the_eye_and_do_not_depend_on_the_size():
    W = whole_weights(200, 100, 5)
    assert (whole_weights(7, 3, 5) == W[:7, :3]).all()
    assert (np.rint(W) == W).all()
    assert abs(W).max() <= 32
    assert abs(W.mean()) < 0.1
    assert W.var() == pytest.approx(16, rel=0.03)
    assert np.mean(abs(W) > 8) == pytest.approx(0.0338, abs=0.006)  # two standard deviations
    # Never to change: certificates name the seed alone.
    assert whole_weights(2, 4, 0).tolist() == FIRST


FIRST = [[-2, 2, 8, 4], [-1, 4, -3, -6]]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["floats", "bytes", "mixed"]), st.booleans())
def test_the_error_bound_holds(seed: int, kind: str, normalised: bool):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (5, 6)) if kind == "bytes" else rng.standard_normal((5, 6))
    if kind == "mixed":
        X *= 10.0 ** rng.integers(-3, 4, (5, 1))
    width = int(rng.integers(1, 12))
    exact = exactly(X, width, seed % 3)
    if normalised and not all(exact[i][i] > 0 for i in range(5)):
        return
    y = [-1, 1, 1, -1, 1]
    problem = from_arrays(
        X, y, kernel=f"network:width={width},seed={seed % 3}", normalised=normalised
    )
    bound = rounding_of(problem).value
    assert bound > 0
    if bound == math.inf:  # rows that are divided by what is hardly known
        assert kind == "mixed"
        assert normalised
        return
    G = problem.gram(np.arange(5))
    for i in range(5):
        for j in range(5):
            value = exact[i][j] * y[i] * y[j]
            if normalised:
                root = math.isqrt(int(exact[i][i] * exact[j][j] * 4**200)) / Fraction(2**200)
                value = value / root
            assert abs(Fraction(float(G[i, j])) - value) <= Fraction(bound)


def test_a_node_whose_sign_is_in_doubt_leaves_nothing_decided():
    w = whole_weights(1, 2, 0)[0]
    on_the_line = np.array([w[1], -w[0]]) / 3
    y = [-1, 1]
    bound = rounding_of(from_arrays([on_the_line, [1.0, 1.0]], y, kernel="network:width=1")).value
    assert bound == math.inf
    whole = np.array([[int(w[1]), -int(w[0])], [1, 1]])
    assert rounding_of(from_arrays(whole, y, kernel="network:width=1")).value < 1e-9
    assert rounding_of(from_arrays([[0.0, 0.0], [1.0, 1.0]], y, kernel="network")).value < 1e-9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network:width=0", "option width must be a whole number of at least 1"),
        ("network:seed=-1", "option seed must be a whole number of at least 0"),
        ("network:gamma=1", "there are width, seed"),
        ("network:width=99999999", "at most 65,536 nodes, not 99,999,999"),
        ("network:width=60000", "has 36,000,000 weights for points of 600 columns"),
    ],
)
def test_bad_options_get_a_sentence(text: str, message: str):
    with pytest.raises(ProblemError, match=message):
        from_arrays(np.eye(3, 600), [0, 1, 1], kernel=text)
