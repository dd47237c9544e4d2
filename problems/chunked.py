"""Problems whose points are in chunks: files larger than memory, and Dask clusters.

Work goes to the rows, and what comes back is small: a number for each row, a vector as long as w,
or the few rows that the oracle's working set asks for. Where the chunks are is the business of
`Chunks.each`; everything else is written once.

Chunks stay on the workers of a cluster. A worker that dies takes its chunks with it; Dask makes
them again from where they came from, on another worker, and results are the same. A chunk that
holds other numbers in another pass is refused.
"""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gammabar.problems.environment import extra_module
from gammabar.problems.exact import exact_cast, exact_matrix, frame_dtype, not_finite, refuse_value
from gammabar.problems.files import gigabytes, memory_budget
from gammabar.problems.linear import LinearProblem, dense_matrix, matrix, with_column
from gammabar.problems.points import (
    Meanwhile,
    Points,
    Soft,
    is_sparse,
    longest_rows,
    norm_of_longest,
    sum_in_order,
)
from gammabar.problems.problem import (
    Array,
    Floats,
    Problem,
    ProblemError,
    Source,
    frozen,
    soft_weights,
    soften,
)
from gammabar.problems.text_readers import Points as FilePoints

#: Work on a chunk: takes its points first, and what was sent with it.
Work = Callable[..., Any]
#: What is sent to a chunk alone, by chunk.
Own = Mapping[int, Sequence[Any]]
#: Bytes of a chunk of a file, at most.
CHUNK_BYTES = 1 << 26
#: Bytes of single rows that are kept, lest a chunk is visited again for each of them.
_KEPT_BYTES = 1 << 26
#: Which share of the rows are few: they come here, where the oracle's working set is kept.
_FEW = 8
#: Of a cluster's memory, the part that points may take for good; beyond it they are read again.
_SHARE = 0.5


# --- chunks ---------------------------------------------------------------------------------------


class Chunks(ABC):
    """Consecutive rows of one matrix, in chunks.

    Attributes
    ----------
    lengths : list of int
        Rows of each chunk, all positive.
    width : int
        Columns.
    dtype : numpy dtype
    place : str
        Where they are, in words.
    """

    lengths: list[int]
    place: str
    width: int
    dtype: np.dtype[Any]

    @abstractmethod
    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        """work(points of the chunk, *common, *own[k]) for every chunk k in `own`, in order.

        Without `own` every chunk is visited. Results are deterministic: each depends on its chunk
        and what it was sent, and on nothing else.
        """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of all chunks together."""
        return sum(self.lengths), self.width

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """(first row, end) of each chunk."""
        return list(pairwise(accumulate(self.lengths, initial=0)))

    def select(self, rows: Array) -> Chunks:
        """Some of the rows, which increase."""
        ends = [np.searchsorted(rows, bound) for bound in self.bounds]
        places = [rows[a:b] - lo for (a, b), (lo, _) in zip(ends, self.bounds, strict=True)]
        return _Changed(self, partial(_selected, places), [len(part) for part in places])

    def with_constant(self, dtype: np.dtype[Any]) -> Chunks:
        """The rows with a column of ones, in a type that holds both."""
        made = _Changed(self, partial(_with_one, dtype), self.lengths)
        made.width, made.dtype = self.width + 1, dtype
        return made

    def divided(self, exponent: int) -> Chunks:
        """The rows divided by 2**exponent, in doubles."""
        made = _Changed(self, partial(_divided, exponent), self.lengths)
        made.dtype = np.dtype(np.float64)
        return made


def _selected(places: list[Array], X: Any, chunk: int) -> Any:
    return X[places[chunk]]


def _with_one(dtype: np.dtype[Any], X: Any, chunk: int) -> Any:
    return with_column(X, 1, dtype)


def _divided(exponent: int, X: Any, chunk: int) -> Any:
    X = X.astype(np.float64)
    if not is_sparse(X):
        return np.ldexp(X, -exponent)
    X.data = np.ldexp(X.data, -exponent)
    return X


class _Changed(Chunks):
    """Chunks of another after a step, which is taken whenever they are visited.

    Those that have no rows left are not visited.
    """

    def __init__(self, base: Chunks, step: Callable[[Any, int], Any], lengths: list[int]) -> None:
        self._base, self._step, self.place = base, step, base.place
        self._kept = [k for k, length in enumerate(lengths) if length]
        self.lengths = [lengths[k] for k in self._kept]
        self.width, self.dtype = base.width, base.dtype

    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        asked = range(len(self.lengths)) if own is None else own
        sent = {self._kept[k]: (self._kept[k], *(own[k] if own else ())) for k in asked}
        return self._base.each(_AfterStep(self._step, work, len(common)), common, sent)


@dataclass(frozen=True)
class _AfterStep:
    """Work on a chunk that is changed first."""

    step: Callable[[Any, int], Any]
    work: Work
    common: int

    def __call__(self, points: Any, *sent: Any) -> Any:
        common, (chunk, *own) = sent[: self.common], sent[self.common :]
        return self.work(Points(_tidy(self.step(points.X, chunk))), *common, *own)


def _tidy(X: Any) -> Any:
    """The rows of a chunk as the loops take them.

    What came over a network may begin at any byte. NumPy multiplies such arrays in another order
    than others, and a chunk that was sent elsewhere would give other last bits.
    """
    X = matrix(X)
    return X if is_sparse(X) or X.flags.aligned else frozen(X.copy())


def _fingerprint(X: Any) -> int:
    """A number that changes when a chunk does: by sums over rows and columns of its words."""
    found = 0
    for part in (X.data, X.indices, X.indptr) if is_sparse(X) else (X,):
        raw = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
        words = raw[: len(raw) // 4096 * 4096].view(np.uint64).reshape(-1, 512)
        for piece in (words.sum(axis=0), words.sum(axis=1), raw[words.nbytes :]):
            found = zlib.crc32(piece.tobytes(), found)
    return found


def _check_same(seen: dict[int, int], chunk: int, fingerprint: int) -> None:
    """Refuse a chunk that has changed: a proof is about one matrix, not another in each pass."""
    if seen.setdefault(chunk, fingerprint) != fingerprint:
        raise ProblemError(
            f"chunk {chunk} of X holds other numbers than in an earlier pass; persist X, make "
            "its tasks give the same each time, or leave the file alone"
        )


# --- files ----------------------------------------------------------------------------------------


class _FileChunks(Chunks):
    """Chunks of a file on this machine, read again whenever they are visited.

    The one that was visited last is kept, so that work on a single chunk is done at once.
    """

    place = "read in every pass"

    def __init__(self) -> None:
        self._last: tuple[int, Any] | None = None
        self._seen: dict[int, int] = {}

    @abstractmethod
    def load(self, chunk: int) -> Any:
        """The rows of a chunk."""

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": None}

    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        asked = range(len(self.lengths)) if own is None else own
        return [work(self._points(k), *common, *(own[k] if own else ())) for k in asked]

    def _points(self, chunk: int) -> Any:
        if self._last is None or self._last[0] != chunk:
            self._last = None  # before the next is read: two need not fit
            points = Points(_tidy(self.load(chunk)))
            _check_same(self._seen, chunk, _fingerprint(points.X))
            self._last = chunk, points
        return self._last[1]


class NpyChunks(_FileChunks):
    """Rows of an ``.npy`` file; of each chunk only its own part of the file is mapped."""

    def __init__(self, path: Path, most: int = CHUNK_BYTES) -> None:
        super().__init__()
        from gammabar.problems.binary_readers import ArrayFile, check_points

        self._file = ArrayFile.open(path)
        check_points(str(path), self._file.shape, self._file.dtype)
        n, self.width = self._file.shape[0], prod(self._file.shape[1:])
        self.dtype = dense_matrix(np.zeros((1, 1), self._file.dtype)).dtype
        item = max(self.dtype.itemsize, self._file.dtype.itemsize)
        step = max(1, most // (self.width * item))
        self.lengths = [min(step, n - lo) for lo in range(0, n, step)]

    def load(self, chunk: int) -> Any:
        return self._file.points(*self.bounds[chunk])


class TableChunks(_FileChunks):
    """Groups of rows of a Parquet or Arrow file."""

    def __init__(
        self, path: Path, label: str | int | None = None, drop: Sequence[str | int] = ()
    ) -> None:
        super().__init__()
        from gammabar.problems.binary_readers import Table

        self.table = Table(path, label, drop)
        self.lengths, self.width = self.table.lengths, len(self.table.columns.kept)
        self.dtype = self.table.dtype

    def load(self, chunk: int) -> Any:
        return self.table.points(chunk)


# --- problems -------------------------------------------------------------------------------------


class ScatteredProblem(LinearProblem):
    """Rows a_i = y_i x_i in chunks; w is a vector of R^d.

    Every operation is a pass over the chunks, where they are. What the oracle says is the same as
    for the same data in memory. What solvers say is the same for the same chunks, wherever they
    are; beside data in memory sums are rounded in another order.

    Parameters
    ----------
    chunks : Chunks
        All values finite: that is checked in the first pass.
    y : array of n labels -1 and +1
    source : Source, optional
        Where the data come from.
    """

    points: ScatteredPoints

    def __init__(self, chunks: Chunks, y: Array, source: Source | None = None) -> None:
        super().__init__(ScatteredPoints(chunks), y, source)

    @property
    def where(self) -> str:
        """How many chunks there are, how large all are together, and where, in words."""
        chunks = self.points.chunks
        size = gigabytes(self.points.values * chunks.dtype.itemsize)
        return f"{len(chunks.lengths)} chunks, {size} in all, {chunks.place}"


class _Rows:
    """The matrix, as far as one may look at it: some rows at a time."""

    ndim = 2

    def __init__(self, points: ScatteredPoints) -> None:
        self._points = points
        self.shape, self.dtype = points.shape, points.chunks.dtype
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self._points.rows(np.arange(*rows.indices(len(self))))
        if np.ndim(rows) == 0:
            return self._points.rows(np.array([rows]))[0]
        return self._points.rows(np.asarray(rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        size = self.size * self.dtype.itemsize
        if size > memory_budget():
            raise ProblemError(f"the points take {gigabytes(size)}, more than this machine has")
        found = self[:]
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=dtype)

    def min(self) -> Any:
        """The smallest value."""
        return self._points.extremes[0]

    def max(self) -> Any:
        """The largest value."""
        return self._points.extremes[1]


class ScatteredPoints:
    """Points in chunks: what `points.Points` offers, chunk by chunk."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self.shape = chunks.shape
        self.values = self.shape[0] * self.shape[1]  # at most
        self._ends = np.cumsum(chunks.lengths)
        self.longest = np.zeros(0, dtype=np.int64)  # set by `largest`
        self.extremes: tuple[Any, Any] = (0, 0)  # set by `largest`
        self._kept: dict[int, Array] = {}
        self.X = _Rows(self)

    def floats(self) -> None:
        """The whole matrix is never in memory."""

    def rows(self, rows: Array) -> Any:
        """The chosen rows as they are stored, from the chunks that have them."""
        rows = np.asarray(rows, dtype=np.int64)
        rows = np.where(rows < 0, rows + self.shape[0], rows)
        if not 0 < self._bytes(len(rows)) <= _KEPT_BYTES // 4:
            return self._brought(rows)
        fresh = np.unique([i for i in rows.tolist() if i not in self._kept]).astype(np.int64)
        if len(fresh):
            block = self._brought(fresh)
            if is_sparse(block):  # is not kept
                return self._brought(rows) if self._kept else block[np.searchsorted(fresh, rows)]
            if self._bytes(len(self._kept) + len(fresh)) > _KEPT_BYTES:
                self._kept = {i: self._kept[i] for i in rows.tolist() if i in self._kept}
            self._kept |= {i: row.copy() for i, row in zip(fresh.tolist(), block, strict=True)}
        return np.stack([self._kept[i] for i in rows.tolist()])

    def _bytes(self, rows: int) -> int:
        """What so many rows take, if they are dense."""
        return rows * self.shape[1] * self.chunks.dtype.itemsize

    def _brought(self, rows: Array) -> Any:
        """The chosen rows, whatever is kept of them."""
        wanted = np.unique(rows)
        place = np.searchsorted(self._ends, wanted, side="right")
        starts = self._ends - self.chunks.lengths
        own = {k: (wanted[place == k] - starts[k],) for k in np.unique(place).tolist()}
        found = self.chunks.each(_take, (), own)
        if not found:
            return np.empty((0, self.shape[1]), self.chunks.dtype)
        if any(is_sparse(part) for part in found):
            from scipy.sparse import vstack

            return vstack(found, format="csr")[np.searchsorted(wanted, rows)]
        return np.concatenate(found)[np.searchsorted(wanted, rows)]

    def take(self, rows: Array | slice) -> Any:
        """The chosen rows in float64."""
        return self.X[rows].astype(np.float64)

    def blocks(self, size: int = 0) -> Iterator[tuple[int, int, Any]]:
        """(lo, hi, rows lo to hi in float64), chunk by chunk."""
        for lo, hi in self.chunks.bounds:
            yield lo, hi, self.take(slice(lo, hi))

    def dot(self, w: Floats) -> Floats:
        """X w."""
        return np.concatenate(self.chunks.each(_dot, (w,)))

    def some(self, rows: Array, w: Floats) -> Floats:
        """The products of w with some rows, which are brought here."""
        return np.asarray(self.take(rows) @ w)

    def adjoint(self, q: Floats) -> Floats:
        """X^T q, visiting only the chunks where q is not zero; a few rows are brought here."""
        some = np.flatnonzero(q)
        if len(some) <= self.shape[0] // _FEW and self._bytes(len(some)) <= _KEPT_BYTES // 4:
            return np.asarray(self.take(some).T @ q[some])
        own = {k: (q[lo:hi],) for k, (lo, hi) in enumerate(self.chunks.bounds) if q[lo:hi].any()}
        return sum_in_order(self.chunks.each(_adjoint, (), own))

    def softmin(
        self,
        w: Floats,
        y: Array,
        inner: float,
        outer: float,
        temperature: float,
        meanwhile: Meanwhile = None,
    ) -> Soft:
        """One pass, as for dense points: each chunk has its own softmax, which are weighed last.

        With s_k the smallest score of chunk k and t_k the sum of exp((s_k - s)/T) over it, the
        pull is that of the chunks with weights in proportion to t_k exp((min s - s_k)/T).
        """
        if meanwhile is not None:
            meanwhile()
        own = {k: (y[lo:hi],) for k, (lo, hi) in enumerate(self.chunks.bounds)}
        parts = self.chunks.each(_soft, (w, inner, outer, temperature), own)
        lows = np.array([part[1] for part in parts])
        smallest = float(lows.min())
        shares = np.array([part[2] for part in parts])
        shares = shares * soft_weights(lows, smallest, temperature)
        total = float(shares.sum())
        pulls = [part[3] * (share / total) for part, share in zip(parts, shares, strict=True)]
        scores = np.concatenate([part[0] for part in parts])
        return scores, smallest, math.log(total) - smallest / temperature, sum_in_order(pulls)

    def largest(self) -> tuple[float, int, float]:
        """(m, e, r), as for dense points; the first pass, which refuses what is not finite."""
        parts = self.chunks.each(_survey)
        for (lo, _), part in zip(self.chunks.bounds, parts, strict=True):
            if part.bad is not None:
                refuse_value(lo, *part.bad)
        self.extremes = min(p.low for p in parts), max(p.high for p in parts)
        exponent = max(part.exponent for part in parts)
        # Powers of two: only squares that do not count underflow.
        squares = np.concatenate(
            [np.ldexp(p.squares, 2 * max(p.exponent - exponent, -1000)) for p in parts]
        )
        self.longest, close = longest_rows(squares, self.shape[1])
        rows = self.take(close)
        rows = rows.toarray() if is_sparse(rows) else rows
        return norm_of_longest(list(rows), exponent, squares, self.shape[1])

    def squares(self) -> Floats:
        """||x_i||^2 of every row."""
        return np.concatenate(self.chunks.each(_squares))


# --- what is done on a chunk -----------------------------------------------------------------


def _take(points: Any, rows: Array) -> Any:
    found = points.X[rows]
    return found if is_sparse(found) else np.array(found)


def _dot(points: Any, w: Floats) -> Floats:
    return np.asarray(points.dot(w))


def _adjoint(points: Any, q: Floats) -> Floats:
    return np.asarray(points.adjoint(q))


def _squares(points: Any) -> Floats:
    return np.asarray(points.squares())


def _soft(
    points: Any, w: Floats, inner: float, outer: float, temperature: float, y: Array
) -> tuple[Floats, float, float, Floats]:
    scores = (outer * y) * points.dot(inner * w)
    weights, smallest, _ = soften(scores, temperature)
    pull = outer * points.adjoint(inner * y * weights)
    # The sum that the weights were divided by: the largest weight was 1 before.
    return scores, smallest, 1 / float(weights.max()), pull


class _Survey(NamedTuple):
    """What the first pass learns of a chunk."""

    bad: tuple[int, int, float] | None
    low: Any
    high: Any
    exponent: int
    squares: Floats


def _survey(points: Any) -> _Survey:
    X = points.X
    values, zero = X.data if is_sparse(X) else X, X.dtype.type(0)
    bad = not_finite(X)
    if bad is not None or not values.any():
        return _Survey(bad, zero, zero, -1074, np.zeros(X.shape[0]))
    low, high = values.min(), values.max()
    if is_sparse(X):  # zeros are not stored
        low, high = min(low, zero), max(high, zero)
    exponent = math.frexp(max(-float(low), float(high)))[1]
    return _Survey(None, low, high, exponent, points.scaled_squares(exponent))


# --- Dask -----------------------------------------------------------------------------------------


class _DaskChunks(Chunks):
    """Chunks that are tasks of a Dask graph.

    Parameters
    ----------
    blocks : sequence of delayed objects, or of `_Recipe`
        Each is a matrix of rows, dense or sparse; those without rows are left out.
    lengths : sequence of int
    width : int
    dtype : numpy dtype
    client : distributed.Client, optional
        Where they are computed; otherwise by Dask's scheduler as it is set.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        lengths: Sequence[int],
        width: int,
        dtype: Any,
        client: Any = None,
        place: str = "of a Dask array",
    ) -> None:
        self.place, self._client, self._seen = place, client, dict[int, int]()
        self._blocks = [block for block, n in zip(blocks, lengths, strict=True) if n]
        self.lengths, self.width = [int(n) for n in lengths if n], int(width)
        self.dtype = _tidy(np.zeros((1, 1), dtype)).dtype

    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        dask = extra_module("dask", "dask", "a Dask array")
        # Named once, so that w goes to the scheduler once and not with every chunk.
        shared = [dask.delayed(value, traverse=False, pure=False) for value in common]
        call = dask.delayed(_on_block, pure=False, traverse=False)
        asked = range(len(self.lengths)) if own is None else own
        tasks = []
        for k in asked:
            about = sum(self.lengths[:k]), self.lengths[k], self.width, self.dtype
            tasks.append(call(work, self._blocks[k], about, *shared, *(own[k] if own else ())))
        if self._client is None:
            found = list(dask.compute(*tasks))
        else:
            found = list(self._client.gather(self._client.compute(tasks)))
        for k, (seen, _) in zip(asked, found, strict=True):
            _check_same(self._seen, k, seen)
        return [result for _, result in found]


@dataclass(frozen=True)
class _Recipe:
    """A chunk that a worker reads when it works on it, and forgets: one at a time."""

    chunks: _FileChunks
    chunk: int

    def load(self) -> Array:
        """The rows, read."""
        try:
            return np.array(self.chunks.load(self.chunk))
        except FileNotFoundError as error:
            raise ProblemError(
                f"{error.filename}: a worker of the cluster does not find it; "
                "all of them must see the file under this name"
            ) from None


def _on_block(
    work: Work, block: Any, about: tuple[int, int, int, np.dtype[Any]], *sent: Any
) -> tuple[int, Any]:
    """The fingerprint of a chunk, and what the work makes of it."""
    first, length, width, dtype = about
    if isinstance(block, _Recipe):
        block = block.load()
    if block.shape != (length, width):
        raise ProblemError(
            f"a chunk of X has shape {block.shape}, but {(length, width)} was announced"
        )
    X = exact_matrix(block, first, finite=False)
    X = X if is_sparse(X) else exact_cast(X, dtype, first=first)
    return _fingerprint(X), work(Points(_tidy(X)), *sent)


def from_dask(
    X: Any, y: Any, *, intercept: str | bool = "none", source: Source | None = None
) -> Problem:
    """The problem of separating the rows of a Dask array, where they are.

    Solvers and the oracle take it like any other problem: Algorithm 1, the perceptrons and the
    scans of the oracle run on the chunks, and only w, numbers for each row, and some rows travel.
    The oracle's answer is that of the same data in memory, to the last digit.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
        Chunks of rows; several chunks of columns are put together. What is not persisted is
        computed anew in every pass: call ``X.persist()`` first if the cluster has the memory.
    y : Dask or NumPy array, Series or list of n labels
        Two distinct values; it is brought here.
    intercept : {"none", "free", "augmented"} or bool
        As in `gammabar.problems.from_arrays`.
    source : Source, optional
        Where the data come from.

    Examples
    --------
    >>> import gammabar
    >>> import dask.array as da
    >>> X = da.from_array([[3, 1], [1, 3], [-4, -1]], chunks=(2, 2))
    >>> gammabar.from_dask(X, ["yes", "yes", "no"])
    ScatteredProblem(n=3, dimension=2)
    """
    from gammabar.problems.conversion import from_arrays

    extra_module("dask", "dask", "a Dask array")
    labels = y.compute() if hasattr(y, "dask") else y
    return from_arrays(_chunks_of(X), labels, intercept=intercept, source=source)


def _chunks_of(X: Any) -> _DaskChunks:
    """The chunks of rows of a Dask array, or the partitions of a Dask data frame."""
    frame = hasattr(X, "to_dask_array")
    if not frame and not (hasattr(X, "to_delayed") and hasattr(X, "chunks")):
        raise ProblemError(f"from_dask takes a Dask array, not {type(X).__name__}")
    if X.ndim != 2:
        raise ProblemError("X must be two-dimensional; give a matrix or a data frame")
    if frame:
        dtype, width = frame_dtype(zip(X.columns, X.dtypes, strict=True)), len(X.columns)
        blocks, lengths = X.to_delayed(), X.map_partitions(len).compute().tolist()
    else:
        if X.dtype.kind not in "biuf":
            raise ProblemError(f"X must hold numbers, not dtype {X.dtype}")
        if any(np.isnan(length) for side in X.chunks for length in side):
            X = X.compute_chunk_sizes()
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        dtype, width = X.dtype, X.shape[1]
        blocks, lengths = X.to_delayed().ravel(), X.chunks[0]
    if not sum(lengths) or not width:
        raise ProblemError("X must be a matrix with rows and columns; it is empty")
    return _DaskChunks(blocks, lengths, width, dtype)


def spread(points: FilePoints, client: Any) -> FilePoints:
    """The chunks of a file as tasks of a cluster, kept in its memory if it has enough."""
    chunks = points.X
    assert isinstance(chunks, _FileChunks)
    dask = extra_module("dask", "dask", "--dask")
    blocks: list[Any] = [_Recipe(chunks, k) for k in range(len(chunks.lengths))]
    size = sum(chunks.lengths) * chunks.width * chunks.dtype.itemsize
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    kept = size <= _SHARE * sum(int(worker["memory_limit"]) for worker in workers)
    if kept:
        load = dask.delayed(_Recipe.load, pure=True, traverse=False)
        blocks = client.persist([load(recipe) for recipe in blocks])
    place = f"{'kept' if kept else 'read in every pass'} by {len(workers)} workers"
    made = _DaskChunks(blocks, chunks.lengths, chunks.width, chunks.dtype, client, place)
    return replace(points, X=made)
