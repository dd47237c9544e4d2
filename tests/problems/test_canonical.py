"""The digest, against a slow and literal implementation in the standard library."""

from __future__ import annotations

import hashlib
import struct
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import gammabar.problems.points as canonical
from gammabar.problems import Kernel, KernelProblem, MulticlassProblem
from gammabar.problems.points import digest


def literal_digest(rows: list[list[int | float]], labels: list[int]) -> str:
    """The format, byte by byte, from Python's own numbers."""
    text = b"gammabar-data-1\n" + struct.pack(">qq", len(rows), len(rows[0]))
    for row, label in zip(rows, labels, strict=True):
        nonzero = [(j, v) for j, v in enumerate(row) if v != 0]
        text += struct.pack(">iI", label, len(nonzero))
        text += b"".join(struct.pack(">I", j) for j, _ in nonzero)
        # Division of integers, and with it float(Fraction), rounds to nearest, ties to even.
        doubles = [float(Fraction(v)) for _, v in nonzero]
        text += b"".join(struct.pack(">d", v) for v in doubles)
        rest = [Fraction(v) - Fraction(x) for (_, v), x in zip(nonzero, doubles, strict=True)]
        if any(rest):
            text += b"r" + b"".join(struct.pack(">q", int(r)) for r in rest)
    return hashlib.sha256(text).hexdigest()


INTEGERS = {
    dtype: st.one_of(
        st.just(0),
        st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)),
        st.integers(max(int(np.iinfo(dtype).min), -5), 5),
        st.integers(0, 40).map(lambda i, dtype=dtype: clip(2**64 - i, dtype)),
        st.integers(-9, 9).map(lambda i, dtype=dtype: clip(2**53 + i, dtype)),
        st.integers(-9, 9).map(lambda i, dtype=dtype: clip(-(2**54) - i, dtype)),
    )
    for dtype in (np.uint8, np.int32, np.int64, np.uint64)
}
FLOATS = st.one_of(st.just(0.0), st.just(-0.0), st.floats(allow_nan=False, allow_infinity=False))


def clip(value: int, dtype) -> int:
    return max(int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), value))


@st.composite
def matrices(draw):
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([*INTEGERS, np.float32, np.float64]))
    if dtype in INTEGERS:
        return draw(hnp.arrays(dtype, shape, elements=INTEGERS[dtype]))
    small = st.floats(allow_nan=False, allow_infinity=False, width=32)
    return draw(hnp.arrays(dtype, shape, elements=FLOATS if dtype == np.float64 else small))


@given(matrices(), st.data())
def test_digest_is_the_literal_one(X, data):
    n = len(X)
    labels = data.draw(st.lists(st.integers(-1, 9), min_size=n, max_size=n))
    assert digest(X, np.array(labels)) == literal_digest(X.tolist(), labels)


def test_multiclass_and_precomputed_kernels_hash_what_they_store():
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    kernel = KernelProblem(K, [1, -1], Kernel("precomputed"))
    assert kernel.digest() == literal_digest(K.tolist(), [1, -1])
    problem = MulticlassProblem(scipy.sparse.csr_array(K), [2, 0], k=3)
    assert problem.digest() == literal_digest(K.tolist(), [2, 0])


@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_array])
def test_blocks_do_not_show(store, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, (50, 7)) * rng.integers(0, 2**62, (50, 7))
    labels = rng.integers(0, 9, 50)
    wanted = literal_digest(X.tolist(), labels.tolist())
    for size in (1, 20, 100, 10**6):
        monkeypatch.setattr(canonical, "_BLOCK_VALUES", size)
        assert digest(store(X), labels) == wanted


def test_the_format_is_pinned():
    """Certificates written today must be checkable tomorrow."""
    X = np.array([[1, 0, -3], [0, 0, 0], [2**53 + 1, 7, 0]])
    assert digest(X, np.array([1, -1, 1])) == literal_digest(X.tolist(), [1, -1, 1])
    assert literal_digest(X.tolist(), [1, -1, 1]) == PINNED


PINNED = "434bf96522c77250bfce415731fff3ccb9f25924e717b9460611f2bd28f4b42e"
