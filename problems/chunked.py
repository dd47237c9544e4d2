"""Problems whose points are in chunks: files larger than memory, and Dask clusters.

Work goes to the rows, and what comes back is small: a number for each row, a vector as long as w,
or the few rows that the oracle's working set asks for. Where the chunks are is the business of
`Chunks.each`; everything else is written once.

Chunks stay on the workers of a cluster. A worker that dies takes its chunks with it; Dask makes
them again from where they came from, on another worker, and results are the same. A chunk that
holds other numbers in another pass is refused.
"""

from __future__ import annotations

import copy
import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np

from gammabar.problems.environment import extra_module
from gammabar.problems.exact import exact_cast, exact_matrix, frame_dtype, not_finite, refuse_value
from gammabar.problems.files import gigabytes, memory_budget
from gammabar.problems.linear import LinearProblem, dense_matrix, matrix, with_column
from gammabar.problems.points import (
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
from gammabar.problems.text_readers import FilePoints

#: Work on a chunk: takes its `Points` first, and what was sent with it.
Work = Callable[..., Any]
#: What is sent to a chunk alone, by chunk.
Own = Mapping[int, Sequence[Any]]
#: Bytes of a chunk of a file, at most.
CHUNK_BYTES = 1 << 26
#: Bytes of single rows that are kept, so that a chunk is not visited again for each of them.
_KEPT_BYTES = 1 << 26
#: Which share of the rows are few: they come here, where the oracle's working set is kept.
_FEW = 8
#: Of a cluster's memory, the part that points may take for good; beyond it they are read again.
_SHARE = 0.5


# --- chunks ---------------------------------------------------------------------------------------


class Chunks(ABC):
    """Consecutive rows of one matrix, in chunks.

    Parameters
    ----------
    lengths : sequence of int
        Rows of each chunk; chunks without rows are not visited.
    width : int
        Columns.
    dtype : numpy dtype
    place : str
        Where they are, in words.
    """

    def __init__(self, lengths: Sequence[int], width: int, dtype: Any, place: str) -> None:
        self.lengths = [int(n) for n in lengths if n]
        self.width, self.place = int(width), place
        self.dtype = dense_matrix(np.zeros((1, 1), dtype)).dtype
        # Which chunk of the source each one is, what is done to its rows, and what it held before.
        self._stored = [k for k, n in enumerate(lengths) if n]
        self._steps: list[tuple[Callable[[Any], Any], ...]] = [()] * len(self.lengths)
        self._seen: dict[int, int] = {}

    @abstractmethod
    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        """work(points of the chunk, *common, *own[k]) for every chunk k in `own`, in order.

        Without `own` every chunk is visited. Each result depends on its chunk and on what it was
        sent alone.
        """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of all chunks together."""
        return sum(self.lengths), self.width

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """(first row, end) of each chunk."""
        return list(pairwise(accumulate(self.lengths, initial=0)))

    def _after(self, steps: Sequence[Callable[[Any], Any]], lengths: Sequence[int]) -> Self:
        """The same chunks after one more step for each, which is taken in every visit."""
        made, kept = copy.copy(self), [k for k, n in enumerate(lengths) if n]
        made.lengths = [lengths[k] for k in kept]
        made._stored = [self._stored[k] for k in kept]
        made._steps = [(*self._steps[k], steps[k]) for k in kept]
        return made

    def select(self, rows: Array) -> Self:
        """Some of the rows, which increase."""
        places = [rows[(lo <= rows) & (rows < hi)] - lo for lo, hi in self.bounds]
        return self._after([itemgetter(part) for part in places], [len(part) for part in places])

    def with_constant(self, dtype: np.dtype[Any]) -> Self:
        """The rows with a column of ones, in a type that holds both."""
        step = partial(with_column, value=1, dtype=dtype)
        made = self._after([step] * len(self.lengths), self.lengths)
        made.width, made.dtype = self.width + 1, dtype
        return made

    def divided(self, exponent: int) -> Self:
        """The rows divided by 2**exponent, in doubles."""
        made = self._after([partial(_divided, exponent)] * len(self.lengths), self.lengths)
        made.dtype = np.dtype(np.float64)
        return made

    def _check_same(self, stored: int, fingerprint: int) -> None:
        """Refuse a chunk that has changed: a proof is about one matrix, not another each time."""
        if self._seen.setdefault(stored, fingerprint) != fingerprint:
            raise ProblemError(
                f"chunk {stored} of X holds other numbers than in an earlier pass; persist X, make "
                "its tasks give the same each time, or leave the file alone"
            )


def _divided(exponent: int, X: Any) -> Any:
    X = X.astype(np.float64)
    if not is_sparse(X):
        return np.ldexp(X, -exponent)
    X.data = np.ldexp(X.data, -exponent)
    return X


def _stepped(points: Points, steps: tuple[Callable[[Any], Any], ...]) -> Points:
    X = points.X
    for step in steps:
        X = step(X)
    return Points(_tidy(X)) if steps else points


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


class FileChunks(Chunks):
    """Chunks of a file on this machine, read again whenever they are visited.

    The one that was visited last is kept, so that work on a single chunk is done at once.
    `load` returns the rows of a chunk by its number; it is sent to the workers of a cluster.
    """

    def __init__(
        self, load: Callable[[int], Any], lengths: Sequence[int], width: int, dtype: Any
    ) -> None:
        super().__init__(lengths, width, dtype, "read in every pass")
        self.load, self._last = load, dict[int, Points]()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": {}}

    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        asked = range(len(self.lengths)) if own is None else own
        return [work(self._points(k), *common, *(own[k] if own else ())) for k in asked]

    def _points(self, chunk: int) -> Points:
        stored = self._stored[chunk]
        if stored not in self._last:
            self._last.clear()  # before the next is read: two need not fit
            points = Points(_tidy(self.load(stored)))
            self._check_same(stored, _fingerprint(points.X))
            self._last[stored] = points
        return _stepped(self._last[stored], self._steps[chunk])


def npy_chunks(path: Path, most: int = CHUNK_BYTES) -> FileChunks:
    """Rows of an ``.npy`` file; of each chunk only its own part of the file is mapped."""
    from gammabar.problems.binary_readers import ArrayFile, check_points

    file = ArrayFile.open(path)
    check_points(str(path), file.shape, file.dtype)
    n, width = file.shape[0], prod(file.shape[1:])
    kept = dense_matrix(np.zeros((1, 1), file.dtype)).dtype
    step = max(1, most // (width * max(kept.itemsize, file.dtype.itemsize)))
    lengths = [min(step, n - lo) for lo in range(0, n, step)]
    return FileChunks(partial(file.chunk, step), lengths, width, file.dtype)


# --- problems -------------------------------------------------------------------------------------


class ScatteredProblem(LinearProblem):
    """Rows a_i = y_i x_i in chunks; w is a vector of R^d.

    Every operation is a pass over the chunks, where they are. What the oracle says is the same as
    for the same data in memory. What solvers say is the same for the same chunks, wherever they
    are; beside data in memory sums are rounded in another order. That all values are finite is
    checked in the first pass.
    """

    points: _ScatteredPoints

    def __init__(self, chunks: Chunks, y: Array, source: Source | None = None) -> None:
        super().__init__(_ScatteredPoints(chunks), y, source)

    @property
    def where(self) -> str:
        """How many chunks there are, how large all are together, and where, in words."""
        chunks = self.points.chunks
        size = gigabytes(self.points.size * chunks.dtype.itemsize)
        return f"{len(chunks.lengths)} chunks, {size} in all, {chunks.place}"


class _ScatteredPoints:
    """Points in chunks: what `points.Points` offers, chunk by chunk.

    They stand for their own matrix, of which one may look at some rows at a time.
    """

    ndim = 2

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self.shape, self.dtype = chunks.shape, chunks.dtype
        self.size = self.values = self.shape[0] * self.shape[1]  # values are at most so many
        self._ends = np.cumsum(chunks.lengths)
        self.longest = np.zeros(0, dtype=np.int64)  # set by `largest`
        self.extremes: tuple[Any, Any] = (0, 0)  # set by `largest`
        self._kept: dict[int, Array] = {}

    @property
    def X(self) -> Self:
        """The matrix."""
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self.rows(np.arange(*rows.indices(len(self))))
        return self.rows(np.array([rows]))[0] if np.ndim(rows) == 0 else self.rows(rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        size = self.size * self.dtype.itemsize
        if size > memory_budget():
            raise ProblemError(f"the points take {gigabytes(size)}, more than this machine has")
        found = self[:]
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=dtype)

    def min(self) -> Any:
        """The smallest value."""
        return self.extremes[0]

    def max(self) -> Any:
        """The largest value."""
        return self.extremes[1]

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
        return rows * self.shape[1] * self.dtype.itemsize

    def _brought(self, rows: Array) -> Any:
        """The chosen rows, whatever is kept of them."""
        wanted = np.unique(rows)
        place = np.searchsorted(self._ends, wanted, side="right")
        starts = self._ends - self.chunks.lengths
        own = {k: (wanted[place == k] - starts[k],) for k in np.unique(place).tolist()}
        found = self.chunks.each(_take, (), own)
        if not found:
            return np.empty((0, self.shape[1]), self.dtype)
        if any(is_sparse(part) for part in found):
            from scipy.sparse import vstack

            return vstack(found, format="csr")[np.searchsorted(wanted, rows)]
        return np.concatenate(found)[np.searchsorted(wanted, rows)]

    def take(self, rows: Array | slice) -> Any:
        """The chosen rows in float64."""
        return self.X[rows].astype(np.float64)

    def dot(self, w: Floats) -> Floats:
        """X w."""
        return np.concatenate(self.chunks.each(Points.dot, (w,)))

    def some(self, rows: Array, w: Floats) -> Floats:
        """The products of w with some rows, which are brought here."""
        return np.asarray(self.take(rows) @ w)

    def adjoint(self, q: Floats) -> Floats:
        """X^T q, visiting only the chunks where q is not zero; a few rows are brought here."""
        some = np.flatnonzero(q)
        if len(some) <= self.shape[0] // _FEW and self._bytes(len(some)) <= _KEPT_BYTES // 4:
            return np.asarray(self.take(some).T @ q[some])
        own = {k: (q[lo:hi],) for k, (lo, hi) in enumerate(self.chunks.bounds) if q[lo:hi].any()}
        return sum_in_order(self.chunks.each(Points.adjoint, (), own))

    def softmin(self, w: Floats, y: Array, inner: float, outer: float, temperature: float) -> Soft:
        """One pass, as for dense points: each chunk has its own softmax, which are weighed last.

        With s_k the smallest score of chunk k and t_k the sum of exp((s_k - s)/T) over it, the
        pull is that of the chunks with weights in proportion to t_k exp((min s - s_k)/T).
        """
        own = {k: (y[lo:hi],) for k, (lo, hi) in enumerate(self.chunks.bounds)}
        parts = self.chunks.each(_soft, (w, inner, outer, temperature), own)
        scores, minima, sums, pulls = zip(*parts, strict=True)
        lows = np.array(minima)
        smallest = float(lows.min())
        shares = np.array(sums) * soft_weights(lows, smallest, temperature)
        total = float(shares.sum())
        pull = sum_in_order([p * (share / total) for p, share in zip(pulls, shares, strict=True)])
        logsumexp = math.log(total) - smallest / temperature
        return np.concatenate(scores), smallest, logsumexp, pull

    def largest(self) -> tuple[float, int, float]:
        """(m, e, r), as for dense points; the first pass, which refuses what is not finite."""
        bad, lows, highs, exponents, parts = zip(*self.chunks.each(_survey), strict=True)
        for (lo, _), found in zip(self.chunks.bounds, bad, strict=True):
            if found is not None:
                refuse_value(lo, *found)
        self.extremes, exponent = (min(lows), max(highs)), max(exponents)
        # Powers of two: only squares that do not count underflow.
        shifts = (2 * max(e - exponent, -1000) for e in exponents)
        squares = np.concatenate([np.ldexp(*pair) for pair in zip(parts, shifts, strict=True)])
        self.longest, close = longest_rows(squares, self.shape[1])
        rows = self.take(close)
        rows = rows.toarray() if is_sparse(rows) else rows
        return norm_of_longest(list(rows), exponent, squares, self.shape[1])


# --- what is done on a chunk ----------------------------------------------------------------------


def _take(points: Points, rows: Array) -> Any:
    found = points.X[rows]
    return found if is_sparse(found) else np.array(found)


def _soft(
    points: Points, w: Floats, inner: float, outer: float, temperature: float, y: Array
) -> Soft:
    """Scores, the smallest, the sum of weights relative to it, and the pull."""
    scores = (outer * y) * points.dot(inner * w)
    weights, smallest, _ = soften(scores, temperature)
    pull = outer * points.adjoint(inner * y * weights)
    # The sum that the weights were divided by: the largest weight was 1 before.
    return scores, smallest, 1 / float(weights.max()), pull


def _survey(points: Points) -> tuple[tuple[int, int, float] | None, Any, Any, int, Floats]:
    """What is not finite, the extremes, their exponent, and squares of rows relative to it."""
    X = points.X
    values, zero = X.data if is_sparse(X) else X, X.dtype.type(0)
    bad = not_finite(X)
    if bad is not None or not values.any():
        return bad, zero, zero, -1074, np.zeros(X.shape[0])
    low, high = values.min(), values.max()
    if is_sparse(X):  # zeros are not stored
        low, high = min(low, zero), max(high, zero)
    exponent = math.frexp(max(-float(low), float(high)))[1]
    return None, low, high, exponent, points.scaled_squares(exponent)


# --- Dask -----------------------------------------------------------------------------------------


class _DaskChunks(Chunks):
    """Chunks that are tasks of a Dask graph.

    `blocks` are delayed matrices of rows, dense or sparse, or functions that a worker calls to
    read a chunk when it works on it (one at a time). They are computed by the client, if there is
    one, or else by Dask's scheduler as it is set.
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
        super().__init__(lengths, width, dtype, place)
        self._blocks, self._client = list(blocks), client
        ends = zip(accumulate(lengths), lengths, strict=True)
        self._about = [(end - n, int(n), self.width, self.dtype) for end, n in ends]

    def each(self, work: Work, common: Sequence[Any] = (), own: Own | None = None) -> list[Any]:
        dask = extra_module("dask", "dask", "a Dask array")
        # Named once, so that w goes to the scheduler once and not with every chunk.
        shared = [dask.delayed(value, traverse=False, pure=False) for value in common]
        call = dask.delayed(_on_block, pure=False, traverse=False)
        asked = list(range(len(self.lengths)) if own is None else own)
        tasks = []
        for k in asked:
            stored, sent = self._stored[k], own[k] if own else ()
            job = work, self._steps[k], self._about[stored]
            tasks.append(call(self._blocks[stored], *job, *shared, *sent))
        if self._client is None:
            found = list(dask.compute(*tasks))
        else:
            found = list(self._client.gather(self._client.compute(tasks)))
        for k, (seen, _) in zip(asked, found, strict=True):
            self._check_same(self._stored[k], seen)
        return [result for _, result in found]


def _on_block(
    block: Any,
    work: Work,
    steps: tuple[Callable[[Any], Any], ...],
    about: tuple[int, int, int, np.dtype[Any]],
    *sent: Any,
) -> tuple[int, Any]:
    """The fingerprint of a chunk, and what the work makes of it."""
    first, length, width, dtype = about
    X = block() if callable(block) else block
    if X.shape != (length, width):
        raise ProblemError(f"a chunk of X has shape {X.shape}, but {(length, width)} was announced")
    X = exact_matrix(X, first, finite=False)
    X = X if is_sparse(X) else exact_cast(X, dtype, first=first)
    return _fingerprint(X), work(_stepped(Points(_tidy(X)), steps), *sent)


def _read_there(load: Callable[[int], Any], chunk: int) -> Array:
    """A chunk of a file, read by a worker."""
    try:
        return np.array(load(chunk))
    except FileNotFoundError as error:
        raise ProblemError(
            f"{error.filename}: a worker of the cluster does not find it; "
            "all of them must see the file under this name"
        ) from None


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
    intercept, source
        As in `gammabar.problems.from_arrays`.

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
    assert isinstance(chunks, FileChunks)
    dask = extra_module("dask", "dask", "--dask")
    blocks: list[Any] = [partial(_read_there, chunks.load, k) for k in range(len(chunks.lengths))]
    size = prod(chunks.shape) * chunks.dtype.itemsize
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    kept = size <= _SHARE * sum(int(worker["memory_limit"]) for worker in workers)
    if kept:
        blocks = client.persist([dask.delayed(read, pure=True)() for read in blocks])
    place = f"{'kept' if kept else 'read in every pass'} by {len(workers)} workers"
    made = _DaskChunks(blocks, chunks.lengths, chunks.width, chunks.dtype, client, place)
    return replace(points, X=made)
