"""Rows in chunks that are not in memory together, and how work is taken to them.

Work goes to the rows, and what comes back is small: a number for each row, or a vector as long as
w. Where the chunks are, in files or on the workers of a Dask cluster, is the business of
`Chunks.each`; everything else is written once, here and in `scattered`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gammabar.problems.base import Array, frozen
from gammabar.problems.dense import dense_matrix
from gammabar.problems.points import points_of
from gammabar.problems.sparse import csr_matrix
from gammabar.problems.sparsity import is_sparse

if TYPE_CHECKING:
    from gammabar.problems.tables import Table

#: Work on a chunk: takes its `Points` first, and what was sent with it.
Work = Callable[..., Any]
#: Bytes of a chunk of a file, at most.
CHUNK_BYTES = 1 << 26


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
    def each(
        self, work: Work, common: Sequence[Any] = (), own: Mapping[int, Sequence[Any]] | None = None
    ) -> list[Any]:
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

    def changed(self, step: Step) -> Chunks:
        """The same chunks after a step that is taken whenever they are visited."""
        return Changed(self, step)


def selection(chunks: Chunks, rows: Array) -> Select:
    """The step that keeps these rows, which increase, of all chunks."""
    places = []
    for lo, hi in chunks.bounds:
        first, end = np.searchsorted(rows, (lo, hi))
        places.append(rows[first:end] - lo)
    return Select(tuple(places))


class Step(ABC):
    """Something that is done to the rows of a chunk before any work."""

    @abstractmethod
    def __call__(self, X: Any, chunk: int) -> Any:
        """The rows of this chunk as they are to be."""

    def length(self, length: int, chunk: int) -> int:
        """How many rows are left."""
        return length

    def outcome(self, width: int, dtype: np.dtype[Any]) -> tuple[int, np.dtype[Any]]:
        """Columns and type afterwards."""
        return width, dtype


@dataclass(frozen=True)
class Select(Step):
    """Keep some of the rows of every chunk: those at these places, which increase."""

    places: tuple[Array, ...]

    def __call__(self, X: Any, chunk: int) -> Any:
        return X[self.places[chunk]]

    def length(self, length: int, chunk: int) -> int:
        return len(self.places[chunk])


@dataclass(frozen=True)
class Constant(Step):
    """Append a column of ones, in a type that holds it."""

    dtype: np.dtype[Any]

    def __call__(self, X: Any, chunk: int) -> Any:
        ones = np.ones((X.shape[0], 1), self.dtype)
        if is_sparse(X):
            from scipy.sparse import hstack

            return hstack([X.astype(self.dtype), ones], format="csr")
        return np.hstack([X.astype(self.dtype, copy=False), ones])

    def outcome(self, width: int, dtype: np.dtype[Any]) -> tuple[int, np.dtype[Any]]:
        return width + 1, self.dtype


@dataclass(frozen=True)
class Divide(Step):
    """Divide by 2**exponent, in doubles."""

    exponent: int

    def __call__(self, X: Any, chunk: int) -> Any:
        if not is_sparse(X):
            return np.ldexp(X.astype(np.float64), -self.exponent)
        X = X.astype(np.float64)
        X.data = np.ldexp(X.data, -self.exponent)
        return X

    def outcome(self, width: int, dtype: np.dtype[Any]) -> tuple[int, np.dtype[Any]]:
        return width, np.dtype(np.float64)


class Changed(Chunks):
    """Chunks of another after a step; those without rows left are not visited."""

    def __init__(self, base: Chunks, step: Step) -> None:
        self._base, self._step, self.place = base, step, base.place
        lengths = [step.length(length, k) for k, length in enumerate(base.lengths)]
        self._kept = [k for k, length in enumerate(lengths) if length]
        self.lengths = [lengths[k] for k in self._kept]
        self.width, self.dtype = step.outcome(base.width, base.dtype)

    def each(
        self, work: Work, common: Sequence[Any] = (), own: Mapping[int, Sequence[Any]] | None = None
    ) -> list[Any]:
        asked = range(len(self.lengths)) if own is None else own
        sent = {self._kept[k]: (self._kept[k], *(own[k] if own else ())) for k in asked}
        return self._base.each(_AfterStep(self._step, work, len(common)), common, sent)


@dataclass(frozen=True)
class _AfterStep:
    """Work on a chunk that is changed first."""

    step: Step
    work: Work
    common: int

    def __call__(self, points: Any, *sent: Any) -> Any:
        common, (chunk, *own) = sent[: self.common], sent[self.common :]
        return self.work(points_of(tidy(self.step(points.X, chunk))), *common, *own)


def tidy(X: Any) -> Any:
    """The rows of a chunk as the loops take them.

    What came over a network may begin at any byte. NumPy multiplies such arrays in another order
    than others, and a chunk that was sent elsewhere would give other last bits.
    """
    if is_sparse(X):
        return csr_matrix(X)
    matrix = dense_matrix(X)
    return matrix if matrix.flags.aligned else frozen(matrix.copy())


class FileChunks(Chunks):
    """Chunks of a file on this machine, read again whenever they are visited.

    The one that was visited last is kept, so that work on a single chunk is done at once.
    """

    place = "read in every pass"

    def __init__(self) -> None:
        self._last: tuple[int, Any] | None = None

    @abstractmethod
    def load(self, chunk: int) -> Any:
        """The rows of a chunk."""

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": None}

    def each(
        self, work: Work, common: Sequence[Any] = (), own: Mapping[int, Sequence[Any]] | None = None
    ) -> list[Any]:
        asked = range(len(self.lengths)) if own is None else own
        return [work(self._points(k), *common, *(own[k] if own else ())) for k in asked]

    def _points(self, chunk: int) -> Any:
        if self._last is None or self._last[0] != chunk:
            self._last = None  # before the next is read: two need not fit
            self._last = chunk, points_of(tidy(self.load(chunk)))
        return self._last[1]


class NpyChunks(FileChunks):
    """Rows of an ``.npy`` file; of each chunk only its own part of the file is mapped."""

    def __init__(self, path: Path, most: int = CHUNK_BYTES) -> None:
        super().__init__()
        from gammabar.problems.arrays import array_in
        from gammabar.problems.containers import check_points

        self._file = array_in(path)
        check_points(str(path), self._file.shape, self._file.dtype)
        n, self.width = self._file.shape[0], prod(self._file.shape[1:])
        self.dtype = dense_matrix(np.zeros((1, 1), self._file.dtype)).dtype
        item = max(self.dtype.itemsize, self._file.dtype.itemsize)
        self._step = step = max(1, most // (self.width * item))
        self.lengths = [min(step, n - lo) for lo in range(0, n, step)]

    def __getstate__(self) -> dict[str, Any]:
        # Whoever reads it there may be in another folder.
        return super().__getstate__() | {
            "_file": replace(self._file, path=self._file.path.absolute())
        }

    def load(self, chunk: int) -> Any:
        from gammabar.problems.containers import check_truth_values

        lo, count = chunk * self._step, self.lengths[chunk]
        found = self._file.rows(lo, lo + count).reshape(count, -1)
        check_truth_values(str(self._file.path), found)
        return found


class TableChunks(FileChunks):
    """Groups of rows of a Parquet or Arrow file."""

    def __init__(
        self, path: Path, label: str | int | None = None, drop: Sequence[str | int] = ()
    ) -> None:
        super().__init__()
        from gammabar.problems.tables import Table

        self._asked = (path, label, tuple(drop))
        self.table: Table | None = Table(*self._asked)
        self.lengths, self.width = self.table.lengths, len(self.table.names)
        self.dtype = self.table.dtype

    def __getstate__(self) -> dict[str, Any]:
        # An open file does not travel, and whoever opens it again may be in another folder.
        path, *rest = self._asked
        return super().__getstate__() | {"table": None, "_asked": (path.absolute(), *rest)}

    def load(self, chunk: int) -> Any:
        if self.table is None:
            about = self._asked[0].stat()
            self.table = _opened(*self._asked, about.st_mtime_ns, about.st_size)
        return self.table.points(chunk)


@lru_cache(maxsize=2)
def _opened(
    path: Path, label: str | int | None, drop: tuple[str | int, ...], time: int, size: int
) -> Table:
    """A table, opened once for all chunks that come to this process one by one."""
    from gammabar.problems.tables import Table

    return Table(path, label, drop)
