"""Points on a Dask cluster: the chunks stay on the workers, and work goes to them.

What travels is w, one number for each row, and the few rows that the oracle's working set asks for.
A worker that dies takes its chunks with it; Dask makes them again from where they came from, on
another worker, and results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gammabar.problems.base import Array, Problem, ProblemError, Source
from gammabar.problems.chunks import Chunks, FileChunks, Work, tidy
from gammabar.problems.extras import extra_module
from gammabar.problems.points import points_of
from gammabar.problems.readers import Points

#: Of a cluster's memory, the part that points may take for good; beyond it they are read again.
_SHARE = 0.5


class DaskChunks(Chunks):
    """Chunks that are tasks of a Dask graph.

    Parameters
    ----------
    blocks : sequence of delayed objects, or of `Recipe`
        Each is a matrix of rows, dense or sparse.
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
        self.place = place
        self._blocks, self._client = list(blocks), client
        self.lengths, self.width = [int(length) for length in lengths], int(width)
        self.dtype = tidy(np.zeros((1, 1), dtype)).dtype

    def each(
        self, work: Work, common: Sequence[Any] = (), own: Mapping[int, Sequence[Any]] | None = None
    ) -> list[Any]:
        dask = extra_module("dask", "dask", "a Dask array")
        # Named once, so that w goes to the scheduler once and not with every chunk.
        shared = [dask.delayed(value, traverse=False, pure=False) for value in common]
        call = dask.delayed(_on_block, pure=False, traverse=False)
        asked = range(len(self.lengths)) if own is None else own
        tasks = [
            call(work, self._blocks[k], self.lengths[k], *shared, *(own[k] if own else ()))
            for k in asked
        ]
        if self._client is None:
            return list(dask.compute(*tasks))
        return list(self._client.gather(self._client.compute(tasks)))


@dataclass(frozen=True)
class Recipe:
    """A chunk that a worker reads when it works on it, and forgets: one at a time."""

    chunks: FileChunks
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


def _on_block(work: Work, block: Any, length: int, *sent: Any) -> Any:
    if isinstance(block, Recipe):
        block = block.load()
    if block.shape[0] != length:
        raise ProblemError(f"a chunk of X has {block.shape[0]} rows, but {length} were announced")
    return work(points_of(tidy(block)), *sent)


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
    >>> import dask.array as da
    >>> X = da.from_array([[3, 1], [1, 3], [-4, -1]], chunks=(2, 2))
    >>> from_dask(X, ["yes", "yes", "no"])
    ScatteredProblem(n=3, dimension=2)
    """
    from gammabar.problems.validate import from_arrays

    extra_module("dask", "dask", "a Dask array")
    return from_arrays(chunks_of(X), _brought(y), intercept=intercept, source=source)


def chunks_of(X: Any) -> DaskChunks:
    """The chunks of rows of a Dask array or data frame."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if not hasattr(X, "to_delayed") or not hasattr(X, "chunks"):
        raise ProblemError(f"from_dask takes a Dask array, not {type(X).__name__}")
    if X.ndim != 2:
        raise ProblemError(f"X must be two-dimensional, not of shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ProblemError(f"X must hold numbers, not dtype {X.dtype}")
    if any(np.isnan(length) for side in X.chunks for length in side):
        X = X.compute_chunk_sizes()
    if 0 in X.shape:
        raise ProblemError(f"X must be a matrix with rows and columns, not of shape {X.shape}")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    lengths = X.chunks[0]
    blocks = [block for block, length in zip(X.to_delayed()[:, 0], lengths, strict=True) if length]
    return DaskChunks(blocks, [length for length in lengths if length], X.shape[1], X.dtype)


def _brought(y: Any) -> Any:
    if hasattr(y, "dask"):
        y = y.compute()
    return y.to_numpy() if hasattr(y, "to_numpy") else y


def spreader(client: Any) -> Callable[[Points], Points]:
    """What sends the chunks of a file to the workers of a cluster; they read it themselves."""

    def spread(points: Points) -> Points:
        assert isinstance(points.X, FileChunks)
        return replace(points, X=on_cluster(points.X, client))

    return spread


def on_cluster(chunks: FileChunks, client: Any) -> DaskChunks:
    """The chunks of a file as tasks of a cluster, kept in its memory if it has enough."""
    dask = extra_module("dask", "dask", "--dask")
    blocks: list[Any] = [Recipe(chunks, k) for k in range(len(chunks.lengths))]
    size = sum(chunks.lengths) * chunks.width * chunks.dtype.itemsize
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    memory = sum(int(worker["memory_limit"]) for worker in workers)
    kept = size <= _SHARE * memory
    if kept:
        load = dask.delayed(Recipe.load, pure=True, traverse=False)
        blocks = client.persist([load(recipe) for recipe in blocks])
    how = "kept by" if kept else "read in every pass by"
    place = f"{how} {len(workers)} workers"
    return DaskChunks(blocks, chunks.lengths, chunks.width, chunks.dtype, client, place)
