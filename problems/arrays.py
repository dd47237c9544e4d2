"""Readers for points and labels in two files: ``.npy`` arrays, and sparse matrices of SciPy.

An ``.npy`` file is mapped into memory and not read before it is used. What the files mean is laid
down in oracle/CERTIFICATE.md, under "Files".
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.containers import (
    archive_of,
    check_truth_values,
    header_of,
    labels_for,
    member_of,
    points_and_labels,
)
from gammabar.problems.dense import exact_dtype
from gammabar.problems.files import COMPRESSED, read_bytes, readable
from gammabar.problems.readers import Points

#: Members of the archives that `scipy.sparse.save_npz` writes.
_MEMBERS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
}
_MOST_COLUMNS = 2**32 - 1


def read_npy(path: Path, labels: Path) -> Points:
    """Points in one ``.npy`` file and their labels in another; neither is ever unpickled.

    The points have a row for each in the first axis; further axes are flattened.
    """
    called = str(path), str(labels)
    return Points(*points_and_labels(called, read_array(path), read_array(labels)))


@dataclass(frozen=True)
class ArrayFile:
    """An array in an ``.npy`` file that is not compressed: what its header says."""

    path: Path
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    def rows(self, lo: int, hi: int) -> Array:
        """Some rows, mapped into memory: of an array in C's order, no more than these."""
        if self.fortran:  # its rows are all over the file
            return self.whole()[lo:hi]
        place = self.start + lo * prod(self.shape[1:]) * self.dtype.itemsize
        return np.memmap(self.path, self.dtype, "r", place, (hi - lo, *self.shape[1:]))

    def whole(self) -> Array:
        """All of it, mapped into memory."""
        order: Any = "F" if self.fortran else "C"
        return np.memmap(self.path, self.dtype, "r", self.start, self.shape, order)


def array_in(path: Path) -> ArrayFile:
    """The array in an ``.npy`` file, of which only the header is read."""
    with readable(path), path.open("rb") as stream:
        return ArrayFile(path, *_described(path, stream))


def _described(path: Path, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order and type by the header, and where the entries begin."""
    shape, fortran, dtype = header_of(str(path), stream)
    start = stream.tell()
    size = stream.seek(0, io.SEEK_END) - start
    if prod(shape) * dtype.itemsize != size:
        raise ProblemError(f"{path}: truncated, or longer than its header says")
    if not size:
        raise ProblemError(f"{path}: has shape {shape}, there are no data")
    return shape, fortran, dtype, start


def read_array(path: Path) -> Array:
    """The array in an ``.npy`` file: mapped into memory, or unpacked if it is compressed."""
    with readable(path):
        if path.suffix.lower() not in COMPRESSED:
            return array_in(path).whole()
        raw = read_bytes(path)
        shape, fortran, dtype, start = _described(path, io.BytesIO(raw))
        return np.frombuffer(raw, dtype, offset=start).reshape(shape, order="F" if fortran else "C")


def read_scipy(path: Path, labels: Path) -> Points:
    """A sparse matrix as ``scipy.sparse.save_npz`` writes it, and labels in an ``.npy`` file."""
    from scipy.sparse import coo_array, csc_array, csr_array

    with readable(path), archive_of(path) as archive:
        listed = archive.namelist()
        if len(set(listed)) < len(listed):
            raise ProblemError(f"{path}: holds several members of the same name")
        kind = _kind(path, archive, listed)
        for name in ("shape", *_MEMBERS[kind]):
            if f"{name}.npy" not in listed:
                raise ProblemError(f"{path}: a sparse matrix in format {kind} has an array {name}")
        first, second, data = (_entries(path, archive, name) for name in _MEMBERS[kind])
        sides = member_of(path, archive, "shape.npy")
    if sides.dtype.kind not in "iu" or sides.shape != (2,) or min(sides.tolist()) < 1:
        raise ProblemError(f"{path}: the array shape is not that of a matrix with rows and columns")
    shape = tuple(int(side) for side in sides.tolist())
    if data.dtype.kind not in "biuf":
        raise ProblemError(f"{path}, array data: holds {data.dtype}, but numbers are needed")
    check_truth_values(f"{path}, array data", data)
    data = data.astype(exact_dtype(data), copy=False)  # SciPy knows no half precision
    rows, columns = _places(path, kind, first, second, len(data), shape)
    y = labels_for((str(path), str(labels)), read_array(labels), shape[0])
    if kind == "coo":
        made: Any = coo_array((data, (rows, columns)), shape=shape)
    else:
        made = (csr_array if kind == "csr" else csc_array)((data, second, first), shape=shape)
    return Points(csr_array(made), y)


def _kind(path: Path, archive: Any, listed: list[str]) -> str:
    if "format.npy" not in listed:
        raise ProblemError(
            f"{path}: not a sparse matrix of SciPy (write it with scipy.sparse.save_npz); an NPZ "
            "with arrays X and y needs no --labels"
        )
    found = _text_of(path, archive)
    if found not in _MEMBERS:
        raise ProblemError(
            f"{path}: a sparse matrix in format {found[:20]!r}; save it in one of "
            f"{', '.join(_MEMBERS)}"
        )
    return found


def _text_of(path: Path, archive: Any) -> str:
    """The format, which is a single text, of bytes mostly."""
    array = member_of(path, archive, "format.npy")
    text = array.ravel()[0]
    return text.decode("latin-1") if isinstance(text, bytes) else str(text)


def _entries(path: Path, archive: Any, name: str) -> Array:
    """One array of numbers; a matrix without entries has arrays without any."""
    array = member_of(path, archive, f"{name}.npy", empty=True)
    if array.ndim != 1:
        raise ProblemError(f"{path}, array {name}: has shape {array.shape}, but needs one axis")
    return array


def _places(
    path: Path, kind: str, first: Array, second: Array, count: int, shape: tuple[int, ...]
) -> tuple[Array, Array]:
    """Row and column of each entry, after it has been shown that they are some."""
    names = _MEMBERS[kind]
    for name, array in zip(names, (first, second), strict=False):
        if array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**63):
            raise ProblemError(f"{path}, array {name}: holds no places of entries")
    if shape[1] > _MOST_COLUMNS:
        raise ProblemError(f"{path}: {shape[1]:,} columns are too many")
    if kind != "coo":
        lines = shape[0] if kind == "csr" else shape[1]
        pointers = first.astype(np.int64)
        if len(first) != lines + 1 or pointers[0] != 0 or int(pointers[-1]) != count:
            raise ProblemError(f"{path}, array indptr: does not fit the shape and the entries")
        steps = np.diff(pointers)
        if (steps < 0).any():
            raise ProblemError(f"{path}, array indptr: does not increase")
        first = np.repeat(np.arange(lines), steps)
    rows, columns = (second, first) if kind == "csc" else (first, second)
    if not len(rows) == len(columns) == count:
        raise ProblemError(f"{path}: the arrays {', '.join(names)} differ in length")
    for places, side in zip((rows, columns), shape, strict=True):
        if count and not 0 <= int(places.min()) <= int(places.max()) < side:
            raise ProblemError(f"{path}: an entry is outside of the {shape[0]} × {shape[1]} matrix")
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    if same.any():
        where = int(order[int(np.argmax(same))])
        raise ProblemError(
            f"{path}: row {int(rows[where])} has column {int(columns[where])} twice; "
            "call sum_duplicates() before it is saved"
        )
    return rows, columns
