"""Readers for binary files: NPZ and NPY of NumPy, SciPy's sparse NPZ, idx, Parquet, Arrow, Feather.

Nothing is ever unpickled: arrays of Python objects are refused by their header, before a byte of
their contents is looked at, and the size that a header claims is compared with the size of the
file before memory is set aside for it. An ``.npy`` file is mapped into memory and not read before
it is used. What the files mean is laid down in oracle/CERTIFICATE.md, under "Files".

A Parquet or Arrow file (through pyarrow, the extra ``parquet``) has a column for each feature and
one for the label, as a CSV file has. The independent checker does not read these; a certificate is
about the same numbers as an NPZ file (`gammabar data export`), bound to them by their digest.
"""

from __future__ import annotations

import ast
import io
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from gammabar.problems.environment import extra_module, for_arrow
from gammabar.problems.files import (
    COMPRESSED,
    gigabytes,
    label_fault,
    memory_budget,
    read_bytes,
    readable,
)
from gammabar.problems.linear import exact_dtype
from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.text_readers import Points, find_column

_NAMES = (("X", "y"), ("x", "y"))
_MAX_HEADER = 10_000  # NumPy's own bound on the text of a header
_MAX_SIDES = 32
_VERSIONS = {b"\x93NUMPY\1\0": 2, b"\x93NUMPY\2\0": 4}  # first bytes, and those of the length
_TYPE = re.compile(
    r"[<>|](b1|i1|u1|S[1-9][0-9]{0,5})|[<>]([iu][248]|f[248]|U[1-9][0-9]{0,5})"
).fullmatch


def read_npz(path: Path, wanted: tuple[str, str] | None = None) -> Points:
    """Read an NPZ archive with arrays X (or x) and y, as written by ``numpy.savez``.

    Other names may be wanted. X has a point in each slice along its first axis; further axes
    (images, say) are flattened.
    """
    with readable(path), _archive_of(path) as archive:
        listed = archive.namelist()
        members = {name.removesuffix(".npy"): name for name in listed if name.endswith(".npy")}
        if len(set(listed)) < len(listed):
            raise ProblemError(f"{path}: holds several members of the same name")
        for names in (wanted,) if wanted else _NAMES:
            if all(name in members for name in names):
                X, y = (_member_of(path, archive, members[name]) for name in names)
                called = f"{path}, array {names[0]}", f"{path}, array {names[1]}"
                return Points(*_points_and_labels(called, X, y), arrays=names)
    found = ", ".join(sorted(members)) or "nothing"
    if "format" in members:
        raise ProblemError(f"{path}: a sparse matrix of SciPy; give its labels by --labels y.npy")
    needed = " and ".join(wanted or _NAMES[0])
    raise ProblemError(f"{path}: needs arrays named {needed}, but holds {found}")


def _archive_of(path: Path) -> zipfile.ZipFile:
    """An NPZ archive, opened."""
    if path.is_file() and path.stat().st_size == 0:
        raise ProblemError(f"{path}: the file is empty")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise ProblemError(
            f"{path}: not an NPZ archive, or a truncated one (write it with numpy.savez)"
        ) from None


def _member_of(path: Path, archive: zipfile.ZipFile, member: str, empty: bool = False) -> Array:
    """One array of the archive, after its header has been found harmless and honest."""
    what = f"{path}, array {member.removesuffix('.npy')}"
    info = archive.getinfo(member)
    try:
        with archive.open(info) as stream:
            shape, fortran, dtype = _header_of(what, stream)
            size = prod(shape) * dtype.itemsize
            if stream.tell() + size != info.file_size:
                raise ProblemError(f"{what}: truncated, or longer than its header says")
            if size > memory_budget():
                raise ProblemError(f"{what}: needs {gigabytes(size)}, too much for this machine")
            data = bytearray(size)
            _read_into(what, stream, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        raise ProblemError(f"{what}: the archive is damaged or truncated") from None
    if not size and not empty:
        raise ProblemError(f"{what}: has shape {shape}, there are no data")
    flat = np.frombuffer(data, dtype=dtype)
    array = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _read_into(what: str, stream: IO[bytes], data: bytearray) -> None:
    view, done = memoryview(data), 0
    while done < len(view):
        chunk = stream.read(min(1 << 24, len(view) - done))
        if not chunk:
            raise ProblemError(f"{what}: the archive is truncated")
        view[done : done + len(chunk)] = chunk
        done += len(chunk)


def _header_of(what: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array, from its header alone.

    By the rules of the independent checker: NumPy's own reader takes and refuses other headers.
    """
    width = _VERSIONS.get(stream.read(8), 0)
    length = int.from_bytes(stream.read(width), "little")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes and calls in what is no literal anyway
            header = ast.literal_eval(
                stream.read(min(length, _MAX_HEADER)).decode("latin-1").strip()
            )
        shape, fortran, kind = header["shape"], header["fortran_order"], header["descr"]
        plain = width and length <= _MAX_HEADER and len(header) == 3 and type(fortran) is bool
        plain = plain and type(shape) is tuple and len(shape) <= _MAX_SIDES
        plain = plain and all(type(side) is int and 0 <= side < 2**63 for side in shape)
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        plain = False
    if not plain:
        raise ProblemError(f"{what}: not a plain NumPy array")
    if isinstance(kind, str) and kind[1:2] == "O":
        raise ProblemError(
            f"{what}: holds Python objects, which are never loaded (save plain numbers instead)"
        )
    if not isinstance(kind, str) or not _TYPE(kind):
        shown = repr(kind)[:40]
        raise ProblemError(f"{what}: holds {shown}, but numbers or texts of NumPy are needed")
    return shape, fortran, np.dtype(kind)


def _points_and_labels(names: tuple[str, str], X: Array, y: Array) -> tuple[Array, Array]:
    """Points and labels that were called so, refused if they cannot be any."""
    check_truth_values(names[0], X)
    check_points(names[0], X.shape, X.dtype)
    return X.reshape(len(X), -1), labels_for(names, y, len(X))


def check_points(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an array that cannot be points."""
    if dtype.kind not in "biuf":
        raise ProblemError(f"{name}: holds {dtype}, but numbers are needed")
    if len(shape) < 2:
        raise ProblemError(f"{name}: has shape {shape}, but needs a row for each point")
    if not prod(shape):
        raise ProblemError(f"{name}: has shape {shape}, there are no data")


def labels_for(names: tuple[str, str], y: Array, n: int) -> Array:
    """One label for each of n points."""
    check_truth_values(names[1], y)
    if y.dtype.kind not in "biufSU":
        raise ProblemError(f"{names[1]}: holds {y.dtype}, but labels are needed")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (n,):
        raise ProblemError(f"{names[0]} has {n} rows, but {names[1]} has shape {y.shape}")
    if y.dtype.kind in "SU":
        return _label_texts(names[1], y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise ProblemError(f"{names[1]}, row {row}: the label is missing")
    return y


def check_truth_values(name: str, array: Array) -> None:
    """Refuse bytes that are no truth values where the type says that they are."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ProblemError(f"{name}: holds a truth value that is not 0 or 1")


def _label_texts(what: str, y: Array) -> Array:
    """Labels that are texts: UTF-8 if they are bytes."""
    try:
        texts = np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y
        if texts.size:  # NumPy stores any four bytes as a character
            np.ascontiguousarray(texts, texts.dtype.newbyteorder("<")).tobytes().decode("utf-32-le")
    except UnicodeDecodeError:
        raise ProblemError(f"{what}: holds a label that is no Unicode text") from None
    for row, text in enumerate(texts.tolist()):
        if fault := label_fault(text.strip(" \t")):
            raise ProblemError(f"{what}, row {row}: the label {fault}")
    return np.asarray(texts)


def decode_idx(name: str, raw: bytes) -> Array:
    """The array in the bytes of an idx file (unsigned bytes only, as in MNIST).

    Parameters
    ----------
    name : str
        What to call the file in an error.
    raw : bytes
        Decompressed contents: two zero bytes, the type 0x08, the number of axes, the length of
        each as a big-endian 32-bit integer, then the values.
    """
    if len(raw) < 4 or raw[:3] != b"\0\0\x08" or not 1 <= raw[3] <= 4:
        raise ProblemError(f"{name}: not an idx file of unsigned bytes (wrong magic number)")
    axes = raw[3]
    start = 4 + 4 * axes
    if len(raw) < start:
        raise ProblemError(f"{name}: the idx file is truncated")
    shape = struct.unpack(f">{axes}I", raw[4:start])
    if not prod(shape):
        raise ProblemError(f"{name}: the idx file says shape {shape}, there are no data")
    if len(raw) - start != prod(shape):
        raise ProblemError(
            f"{name}: the idx file says {prod(shape)} values, but holds {len(raw) - start}"
        )
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


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
    return Points(*_points_and_labels(called, read_array(path), read_array(labels)))


@dataclass(frozen=True)
class _ArrayFile:
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


def array_in(path: Path) -> _ArrayFile:
    """The array in an ``.npy`` file, of which only the header is read."""
    with readable(path), path.open("rb") as stream:
        return _ArrayFile(path, *_described(path, stream))


def _described(path: Path, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order and type by the header, and where the entries begin."""
    shape, fortran, dtype = _header_of(str(path), stream)
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

    with readable(path), _archive_of(path) as archive:
        listed = archive.namelist()
        if len(set(listed)) < len(listed):
            raise ProblemError(f"{path}: holds several members of the same name")
        kind = _kind(path, archive, listed)
        for name in ("shape", *_MEMBERS[kind]):
            if f"{name}.npy" not in listed:
                raise ProblemError(f"{path}: a sparse matrix in format {kind} has an array {name}")
        first, second, data = (_entries(path, archive, name) for name in _MEMBERS[kind])
        sides = _member_of(path, archive, "shape.npy")
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
    array = _member_of(path, archive, "format.npy")
    text = array.ravel()[0]
    return text.decode("latin-1") if isinstance(text, bytes) else str(text)


def _entries(path: Path, archive: Any, name: str) -> Array:
    """One array of numbers; a matrix without entries has arrays without any."""
    array = _member_of(path, archive, f"{name}.npy", empty=True)
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


#: Of the types of Arrow, those of numbers that NumPy has too.
_NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool")


class Table:
    """A Parquet or Arrow file, opened: which column is what, and its groups of rows.

    Parameters
    ----------
    path : Path
    label : str or int, optional
        The column of the label, by name or by index; the first by default.
    drop : sequence of str or int
        Columns that are no features.

    Attributes
    ----------
    lengths : list of int
        Rows of each group (row groups of Parquet, record batches of Arrow).
    names : list of str
        Columns of the features.
    dtype : numpy dtype
        That of the points: one that holds the values of all columns.
    """

    def __init__(
        self, path: Path, label: str | int | None = None, drop: Sequence[str | int] = ()
    ) -> None:
        self.path = path
        with _readable(path):
            self._groups: _Groups = (
                _Parquet(path) if path.suffix.lower() == ".parquet" else _Batches(path)
            )
            columns = [str(field.name) for field in self._groups.schema]
        if len(set(columns)) < len(columns):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise ProblemError(f"{path}: more than one column is named {twice!r}")
        if not columns:
            raise ProblemError(f"{path}: there are no columns")
        place, self.label = find_column(path, columns, 0 if label is None else label)
        dropped = [find_column(path, columns, name) for name in drop]
        self.drop = tuple(name for _, name in dropped)
        gone = {place, *(at for at, _ in dropped)}
        if place in {at for at, _ in dropped}:
            raise ProblemError(f"{path}: the column {self.label!r} is that of the label")
        self._of_label = columns[place]
        self.names = [name for k, name in enumerate(columns) if k not in gone]
        if not self.names:
            raise ProblemError(f"{path}: no column is left for the features")
        self.lengths = [size for size in self._groups.lengths() if size]
        self._places = [k for k, size in enumerate(self._groups.lengths()) if size]
        if not self.lengths:
            raise ProblemError(f"{path}: there are no rows")
        self.dtype = self._common_dtype()

    def points(self, group: int) -> Array:
        """The points of a group."""
        from gammabar.problems.exact import exact_frame

        columns = zip(self.names, self._read(group, self.names).columns, strict=True)
        try:
            return exact_frame(columns, self._row(group, 0), self.dtype)
        except ProblemError as error:
            raise ProblemError(f"{self.path}: {error}") from None

    def labels(self) -> Array:
        """The labels of all rows."""
        found: list[Array] = []
        for group in range(len(self.lengths)):
            column = self._read(group, [self._of_label]).column(0)
            with _readable(self.path):
                if str(column.type).startswith("dictionary"):
                    column = column.cast(column.type.value_type)
            if column.null_count:
                self._missing(column, group, "the label is missing")
            if _is_number(column.type):
                found.append(np.asarray(column.to_numpy()))
                continue
            with _readable(self.path):
                values = column.to_pylist()
            for k, value in enumerate(values):
                fault = label_fault(value.strip(" \t")) if isinstance(value, str) else None
                if fault:
                    raise ProblemError(f"{self.path}, row {self._row(group, k)}: the label {fault}")
            found.append(np.array(values, dtype=object))
        return np.concatenate(found)

    def _read(self, group: int, names: list[str]) -> Any:
        with _readable(self.path):
            table = self._groups.read(self._places[group], names)
            if table.num_rows != self.lengths[group]:
                raise IndexError
        return table

    def _row(self, group: int, k: int) -> int:
        return sum(self.lengths[:group]) + k

    def _missing(self, column: Any, group: int, words: str) -> None:
        k = next(k for k, value in enumerate(column) if not value.is_valid)
        raise ProblemError(f"{self.path}, row {self._row(group, k)}: {words}")

    def blocks(self) -> Iterator[Array]:
        """The points, group by group."""
        return (self.points(group) for group in range(len(self.lengths)))

    def _common_dtype(self) -> np.dtype[Any]:
        types = []
        for name in self.names:
            kind = self._groups.schema.field(name).type
            if not _is_number(kind):
                raise ProblemError(
                    f"{self.path}: column {name!r} holds {kind}, not numbers (leave it out with "
                    "--drop NAME, or name the label with --label NAME)"
                )
            types.append(exact_dtype(np.empty(0, kind.to_pandas_dtype())))
        return np.result_type(*types)


def _is_number(kind: Any) -> bool:
    return str(kind).rstrip("0123456789") in _NUMBERS


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """As `readable`, for what pyarrow says of a file that is not what its name says."""
    try:
        with readable(path):
            yield
    except ProblemError as error:
        if "cannot be" not in str(error):
            raise
        raise ProblemError(f"{path}: not a file that pyarrow can read, or damaged") from None
    except (NotImplementedError, KeyError, IndexError, RuntimeError, TypeError):
        raise ProblemError(f"{path}: not a file that pyarrow can read, or damaged") from None


class _Groups:
    """The groups of rows of a file, whatever its format calls them."""

    schema: Any

    def lengths(self) -> list[int]:
        raise NotImplementedError

    def read(self, group: int, names: list[str]) -> Any:
        raise NotImplementedError


class _Parquet(_Groups):
    def __init__(self, path: Path) -> None:
        parquet = extra_module("pyarrow.parquet", "parquet", f"{path}: a Parquet file")
        self._file = parquet.ParquetFile(for_arrow(path), memory_map=False)
        self.schema = self._file.schema_arrow

    def lengths(self) -> list[int]:
        data = self._file.metadata
        return [int(data.row_group(k).num_rows) for k in range(data.num_row_groups)]

    def read(self, group: int, names: list[str]) -> Any:
        return self._file.read_row_group(group, columns=names, use_threads=False)


class _Batches(_Groups):
    """Arrow's own files, Feather among them: mapped into memory, batch by batch."""

    def __init__(self, path: Path) -> None:
        arrow = extra_module("pyarrow", "parquet", f"{path}: an Arrow file")
        self._arrow = arrow
        ipc = extra_module("pyarrow.ipc", "parquet", f"{path}: an Arrow file")
        source = for_arrow(path)
        mapped = arrow.memory_map(source) if isinstance(source, str) else source
        self._file = ipc.open_file(mapped)
        self.schema = self._file.schema
        self._lengths = [
            int(self._file.get_batch(k).num_rows) for k in range(self._file.num_record_batches)
        ]

    def lengths(self) -> list[int]:
        return self._lengths

    def read(self, group: int, names: list[str]) -> Any:
        batch = self._file.get_batch(group).select(names)
        batch.validate(full=True)  # Arrow believes the lengths and offsets in a file otherwise
        return self._arrow.Table.from_batches([batch])


def read_table(path: Path, label: str | int | None, drop: Sequence[str | int]) -> Points:
    """Read a Parquet or Arrow file into memory."""
    table = Table(path, label, drop)
    labels = table.labels()
    X = np.empty((len(labels), len(table.names)), table.dtype)
    start = 0
    for block in table.blocks():
        X[start : start + len(block)] = block
        start += len(block)
    return Points(X, labels, label=table.label, drop=table.drop)
