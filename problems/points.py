"""Data points in memory, dense or CSR, in whatever dtype they came, and products with them.

Geometries are written against these two classes; labels and scales are no concern of theirs
except in `softmin`, which must do everything in one pass.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from gammabar.problems import compiled, quiet
from gammabar.problems.base import Array, Floats, soften
from gammabar.problems.soft_pass import Meanwhile, Soft, SoftPass
from gammabar.problems.sparsity import is_sparse
from gammabar.problems.stripes import run, stripes

# Up to so many values a float64 copy costs little and BLAS is fastest.
SMALL = 1 << 19
# Rows of one block fit into the second-level cache of a core.
BLOCK_BYTES = 1 << 18
# Rows that are compared by accurate norms, to find the largest.
_FEW = 64
# Sparse rows that are added to the pull while they are in the first-level cache.
SPARSE_BLOCK_BYTES = 1 << 15


class DensePoints:
    """The rows of a C-contiguous matrix of integers or floats."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._floats: Floats | None = X if X.dtype == np.float64 else None
        self.longest = np.zeros(0, dtype=np.int64)  # set by `largest`
        self._pass: SoftPass | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "longest": self.longest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["X"])  # type: ignore[misc]
        self.longest = state["longest"]

    @property
    def values(self) -> int:
        """How many numbers are stored."""
        return self.X.size

    def floats(self) -> Floats | None:
        """The whole matrix in float64, where that costs nothing or little."""
        if self._floats is None and self.X.size <= SMALL:
            self._floats = self.X.astype(np.float64)
        return self._floats

    def take(self, rows: Array | slice) -> Floats:
        """The chosen rows in float64; a slice of rows that are float64 is no copy."""
        return np.asarray(self.X[rows], dtype=np.float64)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[int, int, Floats]]:
        """(lo, hi, rows lo to hi in float64), in blocks of about so many bytes."""
        n, d = self.shape
        step = max(1, size // (8 * d))
        for lo in range(0, n, step):
            hi = min(n, lo + step)
            yield lo, hi, np.asarray(self.X[lo:hi], dtype=np.float64)

    def dot(self, w: Floats) -> Floats:
        """X w."""
        floats = self.floats()
        if floats is not None:
            return np.asarray(floats @ w)
        from gammabar.problems.compiled import dense

        out, w = np.empty(self.shape[0]), np.array(w)
        run(lambda lo, hi: dense.dot(self.X, w, out, lo, hi), self._stripes())
        return out

    def adjoint(self, q: Floats) -> Floats:
        """X^T q, touching only the rows where q is not zero."""
        rows = np.flatnonzero(q)
        floats = self.floats()
        if floats is not None:
            return floats.T @ q if 2 * len(rows) > len(q) else floats[rows].T @ q[rows]
        from gammabar.problems.compiled import dense

        weights = q[rows]

        def add(lo: int, hi: int) -> Floats:
            out = np.zeros(self.shape[1])
            dense.add(self.X, rows[lo:hi], weights[lo:hi], out)
            return out

        return sum_in_order(run(add, stripes(len(rows), len(rows) * self.shape[1], self.shape[1])))

    def some(self, rows: Array, w: Floats) -> Floats:
        """The products of w with some rows."""
        if not self._octets():
            return np.asarray(self.take(rows) @ w)
        from gammabar.problems.compiled import dense

        out = np.empty(len(rows))
        dense.dot(self.X[rows], w, out, 0, len(rows))
        return out

    def rough(self, w: Floats) -> tuple[Floats, float] | None:
        """X w up to a bound, and the bound divided by the largest row norm; for octets only.

        w is rounded to multiples of a unit, so that sums of integers do; |<x, v>| is at most
        sqrt(d) ||x|| unit/2 for what v it loses. (A thousandth more covers the roundings of the
        quotient, the product and the bound.)
        """
        top = float(np.abs(w).max())
        if not self._octets() or not 1e-290 < top < 1e290:
            return None
        from gammabar.problems.compiled import octets

        most = min(octets.room(self.shape[1], self.X.dtype), 2**15 - 1)
        unit, out = top / most, np.empty(self.shape[0])
        octets.dot(self.X, np.rint(w / unit).astype(np.int16), out, 0, self.shape[0])
        out *= unit
        return out, 0.5005 * unit * math.sqrt(self.shape[1])

    def gram(self, rows: Array, cols: Array) -> Floats | None:
        """The products of some rows with others, exactly; for octets only."""
        if not self._octets():
            return None
        from gammabar.problems.compiled import octets

        out = np.empty((len(rows), len(cols)))
        octets.products(self.X[rows], self.X[cols], out)
        return out

    def _octets(self) -> bool:
        """Whether sums of products of integers of 8 bits have 32, and enough data to compile for.

        The width is such that a vector for `rough` keeps ten bits at least.
        """
        return (
            self.X.dtype in (np.uint8, np.int8)
            and self.shape[1] <= 1 << 13
            and (self.X.size > SMALL or "gammabar.problems.compiled.octets" in sys.modules)
        )

    def softmin(
        self,
        w: Floats,
        y: Array,
        inner: float,
        outer: float,
        temperature: float,
        meanwhile: Meanwhile = None,
    ) -> Soft:
        """One pass: scores s = outer y (X inner w), and the pull of softmax(-s / temperature).

        `meanwhile` is called while other threads are at work.
        """
        if self._pass is not None and self._pass.fits(y):
            return self._pass(w, inner, outer, temperature, meanwhile)
        if meanwhile is not None:
            meanwhile()
        floats = self.floats()
        if floats is not None and floats.size <= SMALL:
            scores = (outer * y) * (floats @ (inner * w))
            weights, smallest, logsumexp = soften(scores, temperature)
            return scores, smallest, logsumexp, outer * ((inner * y * weights) @ floats)
        from gammabar.problems.compiled.dense import DenseRows

        self._pass = SoftPass(DenseRows(self.X, y), self.shape, self._stripes())
        return self._pass(w, inner, outer, temperature)

    def largest(self) -> tuple[float, int, float]:
        """(m, e, r): the largest row norm is m 2^e up to a relative error of r.

        Rows that may have it are kept in `longest`.
        """
        exponent = _exponent(self.X)
        if self.X.dtype in (np.uint8, np.int8) and self.shape[1] <= 1 << 13:
            squares = np.ldexp(self._whole_squares(), -2 * exponent)
        else:
            parts = [np.square(np.ldexp(b, -exponent)).sum(axis=1) for _, _, b in self.blocks()]
            squares = np.concatenate(parts)
        self.longest = longest_rows(squares, self.shape[1])
        close = rows_to_compare(squares, self.longest, self.shape[1])
        return norm_of_longest(list(self.take(close)), exponent, squares, self.shape[1])

    def _whole_squares(self) -> Floats:
        """||x_i||^2 of every row of octets, exactly."""
        step, squares = max(1, BLOCK_BYTES // (4 * self.shape[1])), np.empty(self.shape[0])
        for lo in range(0, self.shape[0], step):
            block = self.X[lo : lo + step].astype(np.int32)
            squares[lo : lo + step] = np.einsum("ij,ij->i", block, block)
        return squares

    def squares(self) -> Floats:
        """||x_i||^2 of every row."""
        return np.concatenate([np.square(block).sum(axis=1) for _, _, block in self.blocks()])

    def _stripes(self) -> list[tuple[int, int]]:
        return stripes(self.shape[0], self.X.size, self.shape[1])


class SparsePoints:
    """The rows of a canonical CSR matrix of integers or floats."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._floats: Any = X if X.dtype == np.float64 else None
        self.longest = np.zeros(0, dtype=np.int64)  # set by `largest`
        self._pass: SoftPass | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "longest": self.longest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["X"])  # type: ignore[misc]
        self.longest = state["longest"]

    @property
    def values(self) -> int:
        """How many numbers are stored."""
        return int(self.X.nnz)

    def floats(self) -> Any:
        """The whole matrix in float64, where that costs nothing or little."""
        if self._floats is None and self.X.nnz <= SMALL:
            self._floats = self.X.astype(np.float64)
        return self._floats

    def take(self, rows: Array | slice) -> Any:
        """The chosen rows in float64, as CSR."""
        return self.X[rows].astype(np.float64)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[int, int, Any]]:
        """(lo, hi, rows lo to hi in float64 CSR), in blocks of about so many bytes."""
        n = self.shape[0]
        step = max(1, n * size // (12 * self.X.nnz + n))
        for lo in range(0, n, step):
            hi = min(n, lo + step)
            yield lo, hi, self.X[lo:hi].astype(np.float64)

    def dot(self, w: Floats) -> Floats:
        """X w."""
        floats = self.floats()
        if floats is not None:
            return np.asarray(floats @ w)
        from gammabar.problems.compiled import sparse

        out, w = np.empty(self.shape[0]), np.array(w)
        csr, plainly = self._csr(), compiled.plain_way()
        run(lambda lo, hi: sparse.dot(csr, w, out, lo, hi, plainly), self._stripes())
        return out

    def adjoint(self, q: Floats) -> Floats:
        """X^T q, touching only the rows where q is not zero."""
        rows = np.flatnonzero(q)
        floats = self.floats()
        if floats is not None:
            if 2 * len(rows) > len(q):
                return np.asarray(floats.T @ q)
            return np.asarray(floats[rows].T @ q[rows])
        from gammabar.problems.compiled import sparse

        out = np.zeros(self.shape[1])
        sparse.add(self._csr(), rows, q[rows], out)
        return out

    def some(self, rows: Array, w: Floats) -> Floats:
        """The products of w with some rows."""
        return np.asarray(self.take(rows) @ w)

    def softmin(
        self,
        w: Floats,
        y: Array,
        inner: float,
        outer: float,
        temperature: float,
        meanwhile: Meanwhile = None,
    ) -> Soft:
        """One pass, as for dense points."""
        if self._pass is not None and self._pass.fits(y):
            return self._pass(w, inner, outer, temperature, meanwhile)
        if meanwhile is not None:
            meanwhile()
        if self.X.nnz <= SMALL:
            floats = self.floats()
            scores = (outer * y) * (floats @ (inner * w))
            weights, smallest, logsumexp = soften(scores, temperature)
            return scores, smallest, logsumexp, outer * (floats.T @ (inner * y * weights))
        block = self.shape[0] * SPARSE_BLOCK_BYTES // (self.X.nnz * (self.X.data.itemsize + 4))
        from gammabar.problems.compiled.sparse import SparseRows

        rows = SparseRows(*self._csr(), y, max(1, block))
        self._pass = SoftPass(rows, self.shape, self._stripes())
        return self._pass(w, inner, outer, temperature)

    def largest(self) -> tuple[float, int, float]:
        """(m, e, r), as for dense points."""
        if not self.X.nnz:
            self.longest = np.zeros(1, dtype=np.int64)
            return 0.0, 0, 0.0
        exponent = _exponent(self.X.data)
        parts = []
        for _, _, block in self.blocks():
            block.data = np.square(np.ldexp(block.data, -exponent))
            parts.append(np.asarray(block.sum(axis=1)).ravel())
        squares = np.concatenate(parts)
        self.longest = longest_rows(squares, self.shape[1])
        close = self.take(rows_to_compare(squares, self.longest, self.shape[1]))
        rows = np.split(close.data, close.indptr[1:-1])
        return norm_of_longest(rows, exponent, squares, self.shape[1])

    def squares(self) -> Floats:
        """||x_i||^2 of every row."""
        parts = [np.asarray(b.multiply(b).sum(axis=1)).ravel() for _, _, b in self.blocks()]
        return np.concatenate(parts)

    def _csr(self) -> tuple[Array, Array, Array]:
        return self.X.indptr, self.X.indices, self.X.data

    def _stripes(self) -> list[tuple[int, int]]:
        return stripes(self.shape[0], int(self.X.nnz), self.shape[1])


Points: TypeAlias = DensePoints | SparsePoints


def points_of(X: Any) -> Points:
    """The class that fits the matrix."""
    return SparsePoints(X) if is_sparse(X) else DensePoints(X)


def product(a: Any, b: Any) -> Floats:
    """a b^T as a dense array, for float64 blocks of either kind."""
    if not is_sparse(a) and not is_sparse(b):
        return quiet.product(a, b)
    result = a @ b.T
    return np.asarray(result.toarray() if is_sparse(result) else result)


def sum_in_order(parts: list[Floats]) -> Floats:
    """The sum of arrays, always in the same order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _exponent(values: Array) -> int:
    """e with max |values| <= 2**e, and not much smaller.

    In doubles, where the smallest int64 has a negative.
    """
    return math.frexp(max(-float(values.min()), float(values.max())))[1]


def _slack(width: int) -> float:
    """Twice the relative error of a sum of so many squares in doubles, at most."""
    return (width + 8) * 2.0**-51


def longest_rows(squares: Floats, width: int) -> Array:
    """Rows that have the largest norm up to rounding, the largest first.

    The slack is above the rounding error of a sum of squares, so that the row of largest norm is
    among them whatever the summation did.
    """
    rows = np.flatnonzero(squares >= squares.max() * (1 - max(1e-9, _slack(width))))
    return rows[np.argsort(-squares[rows], kind="stable")]


def rows_to_compare(squares: Floats, longest: Array, width: int) -> Array:
    """The rows whose accurate norms are to be compared; none if they are too many."""
    close = longest[squares[longest] >= squares.max() * (1 - _slack(width))]
    return close if len(close) <= _FEW else close[:0]


def norm_of_longest(
    rows: list[Floats], exponent: int, squares: Floats, width: int
) -> tuple[float, int, float]:
    """The largest norm m 2^e and its relative error.

    Of a few rows every square is rounded once and their sum once; otherwise the sums of squares
    in doubles have to do. (Half an error of a square is that of its root. Squares underflow only
    if they are less than 2^-1000 times the largest.)
    """
    total, error = float(squares.max()), _slack(width) / 2
    if rows:
        total, error = max(math.fsum(np.square(np.ldexp(r, -exponent))) for r in rows), 2.0**-50
    mantissa, shift = math.frexp(math.sqrt(total))
    return mantissa, exponent + shift, error
