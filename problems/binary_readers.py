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
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from gammabar.problems.environment import extra_module, for_arrow
from gammabar.problems.exact import Column, check_places, exact_frame, frame_dtype
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
from gammabar.problems.text_readers import Columns, FilePoints

_MAX_HEADER = 10_000  # NumPy's own bound on the text of a header
_VERSIONS = {b"\x93NUMPY\1\0": 2, b"\x93NUMPY\2\0": 4}  # first bytes, and those of the length
_TYPE = re.compile(
    r"[<>|](b1|i1|u1|S[1-9][0-9]{0,5})|[<>]([iu][248]|f[248]|U[1-9][0-9]{0,5})"
).fullmatch


# --- arrays of NumPy ------------------------------------------------------------------------------


def _header_of(what: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array, from its header alone.

    By the rules of the independent checker: NumPy's own reader takes and refuses other headers
    (``i8`` without an order of bytes, the long integers of Python 2, truth values as lengths).
    """
    width = _VERSIONS.get(stream.read(8), 0)
    length = int.from_bytes(stream.read(width), "little")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes and calls in what is no literal anyway
            text = stream.read(min(length, _MAX_HEADER)).decode("latin-1").strip()
            header = ast.literal_eval(text)
        shape, fortran, kind = header["shape"], header["fortran_order"], header["descr"]
        plain = width and length <= _MAX_HEADER and len(header) == 3 and type(fortran) is bool
        plain = plain and type(shape) is tuple and len(shape) <= 32
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


class ArrayFile:
    """An array in an ``.npy`` file that is not compressed: what its header says."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self.shape, self.fortran, self.dtype = _header_of(str(path), stream)
        self.start = stream.tell()
        size = stream.seek(0, io.SEEK_END) - self.start
        if prod(self.shape) * self.dtype.itemsize != size:
            raise ProblemError(f"{path}: truncated, or longer than its header says")
        if not size:
            raise ProblemError(f"{path}: has shape {self.shape}, there are no data")

    @classmethod
    def open(cls, path: Path) -> ArrayFile:
        """The array in a file, of which only the header is read."""
        with readable(path), path.open("rb") as stream:
            return cls(path, stream)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"path": self.path.absolute()}  # it may be read in another folder

    def chunk(self, step: int, k: int) -> Array:
        """The k-th `step` rows; of an array in C's order only these are mapped."""
        lo, hi = k * step, min(self.shape[0], (k + 1) * step)
        if self.fortran:  # its rows are all over the file
            rows = self.whole()[lo:hi]
        else:
            place = self.start + lo * prod(self.shape[1:]) * self.dtype.itemsize
            rows = np.memmap(self.path, self.dtype, "r", place, (hi - lo, *self.shape[1:]))
        _check_truth_values(str(self.path), rows)
        return rows.reshape(hi - lo, -1)

    def whole(self) -> Array:
        """All of it, mapped into memory."""
        order: Any = "F" if self.fortran else "C"
        return np.memmap(self.path, self.dtype, "r", self.start, self.shape, order)


def read_array(path: Path) -> Array:
    """The array in an ``.npy`` file: mapped into memory, or unpacked if it is compressed."""
    with readable(path):
        if path.suffix.lower() not in COMPRESSED:
            return ArrayFile.open(path).whole()
        raw = read_bytes(path)
        found = ArrayFile(path, io.BytesIO(raw))
        order: Any = "F" if found.fortran else "C"
        return np.frombuffer(raw, found.dtype, offset=found.start).reshape(found.shape, order=order)


def read_npy(path: Path, labels: Path) -> FilePoints:
    """Points in one ``.npy`` file, further axes flattened, and their labels in another."""
    return _points((str(path), str(labels)), read_array(path), read_array(labels))


def _points(
    names: tuple[str, str], X: Array, y: Array, arrays: tuple[str, str] | None = None
) -> FilePoints:
    """Points and labels that are called so, refused if they cannot be any."""
    check_points(names[0], X.shape, X.dtype)
    _check_truth_values(names[0], X)
    return FilePoints(X.reshape(len(X), -1), labels_for(names, y, len(X)), arrays=arrays)


def check_points(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an array that cannot be points."""
    if dtype.kind not in "biuf":
        raise ProblemError(f"{name}: holds {dtype}, but numbers are needed")
    if len(shape) < 2 or not prod(shape):
        raise ProblemError(f"{name}: has shape {shape}, but needs a row for each point")


def _check_truth_values(name: str, array: Array) -> None:
    """Refuse bytes that are no truth values where the type says that they are."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ProblemError(f"{name}: holds a truth value that is not 0 or 1")


def labels_for(names: tuple[str, str], y: Array, n: int) -> Array:
    """One label for each of n points."""
    _check_truth_values(names[1], y)
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


def _label_texts(what: str, y: Array) -> Array:
    """Labels that are texts: UTF-8 if they are bytes."""
    try:
        texts = np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y
        # NumPy stores any four bytes as a character.
        np.ascontiguousarray(texts, texts.dtype.newbyteorder("<")).tobytes().decode("utf-32-le")
    except UnicodeDecodeError:
        raise ProblemError(f"{what}: holds a label that is no Unicode text") from None
    for row, text in enumerate(texts.tolist()):
        if fault := label_fault(text.strip(" \t")):
            raise ProblemError(f"{what}, row {row}: the label {fault}")
    return np.asarray(texts)


# --- archives of arrays, and idx ------------------------------------------------------------------


@contextmanager
def _archive_of(path: Path) -> Iterator[zipfile.ZipFile]:
    """An NPZ archive, opened."""
    with readable(path):
        if path.is_file() and path.stat().st_size == 0:
            raise ProblemError(f"{path}: the file is empty")
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise ProblemError(
                f"{path}: not an NPZ archive, or a truncated one (write it with numpy.savez)"
            ) from None
        with archive:
            listed = archive.namelist()
            if len(set(listed)) < len(listed):
                raise ProblemError(f"{path}: holds several members of the same name")
            yield archive


def _member_of(path: Path, archive: zipfile.ZipFile, name: str, empty: bool = False) -> Array:
    """One array of the archive, after its header has been found harmless and honest."""
    what = f"{path}, array {name}"
    info = archive.getinfo(f"{name}.npy")
    try:
        with archive.open(info) as stream:
            shape, fortran, dtype = _header_of(what, stream)
            size = prod(shape) * dtype.itemsize
            if stream.tell() + size != info.file_size:
                raise ProblemError(f"{what}: truncated, or longer than its header says")
            if size > memory_budget():
                raise ProblemError(f"{what}: needs {gigabytes(size)}, too much for this machine")
            data = stream.read(size)
            if len(data) != size or stream.read(1):  # at the end the checksum is compared
                raise EOFError
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        raise ProblemError(f"{what}: the archive is damaged or truncated") from None
    if not size and not empty:
        raise ProblemError(f"{what}: has shape {shape}, there are no data")
    array = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return array.astype(dtype.newbyteorder("="), copy=False)


def read_npz(path: Path, wanted: tuple[str, str] | None = None) -> FilePoints:
    """Read an NPZ archive with arrays X (or x) and y, as written by ``numpy.savez``.

    Other names may be wanted. X has a point in each slice along its first axis; further axes
    (images, say) are flattened.
    """
    with _archive_of(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        for pair in (wanted,) if wanted else (("X", "y"), ("x", "y")):
            if set(pair) <= set(names):
                X, y = (_member_of(path, archive, name) for name in pair)
                return _points((f"{path}, array {pair[0]}", f"{path}, array {pair[1]}"), X, y, pair)
    if "format" in names:
        raise ProblemError(f"{path}: a sparse matrix of SciPy; give its labels by --labels y.npy")
    needed, there = " and ".join(wanted or ("X", "y")), ", ".join(sorted(names)) or "nothing"
    raise ProblemError(f"{path}: needs arrays named {needed}, but holds {there}")


#: Members of the archives that `scipy.sparse.save_npz` writes.
_MEMBERS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}


def read_scipy(path: Path, labels: Path) -> FilePoints:
    """A sparse matrix as ``scipy.sparse.save_npz`` writes it, and labels in an ``.npy`` file."""
    from scipy import sparse

    with _archive_of(path) as archive:
        kind, shape, (data, *places) = _sparse_members(path, archive)
    _check_truth_values(f"{path}, array data", data)
    _check_entries(path, kind, data, places, shape)
    # Before the matrix is made: its row pointers take memory for every row that the shape claims.
    y = labels_for((str(path), str(labels)), read_array(labels), shape[0])
    data = data.astype(exact_dtype(data), copy=False)  # SciPy knows no half precision
    try:
        made: Any = getattr(sparse, f"{kind}_array")(
            (data, tuple(places)) if kind == "coo" else (data, *places), shape=shape
        )
        check_places(made)
    except (ValueError, IndexError) as error:
        raise ProblemError(f"{path}: a broken sparse matrix: {error}") from None
    X = sparse.csr_array(made, copy=True)  # what was read cannot be written to
    X.sum_duplicates()
    if X.nnz < len(data):
        raise ProblemError(f"{path}: an entry is there twice; call sum_duplicates() before saving")
    return FilePoints(X, y)


def _sparse_members(
    path: Path, archive: zipfile.ZipFile
) -> tuple[str, tuple[int, int], list[Array]]:
    """Format, shape and arrays of a sparse matrix."""
    listed = archive.namelist()
    if "format.npy" not in listed:
        raise ProblemError(
            f"{path}: not a sparse matrix of SciPy (write it with scipy.sparse.save_npz); an "
            "NPZ with arrays X and y needs no --labels"
        )
    text = _member_of(path, archive, "format").ravel()[0]
    kind = text.decode("latin-1") if isinstance(text, bytes) else str(text)
    if kind not in _MEMBERS:
        formats = ", ".join(_MEMBERS)
        raise ProblemError(f"{path}: a sparse matrix in format {kind[:20]!r}; save as {formats}")
    for name in ("shape", *_MEMBERS[kind]):
        if f"{name}.npy" not in listed:
            raise ProblemError(f"{path}: a sparse matrix in format {kind} has an array {name}")
    # A matrix without entries has arrays without any.
    members = [_member_of(path, archive, name, True) for name in _MEMBERS[kind]]
    sides = _member_of(path, archive, "shape")
    if sides.dtype.kind not in "iu" or sides.shape != (2,) or min(sides.tolist()) < 1:
        raise ProblemError(f"{path}: the array shape is not that of a matrix with rows and columns")
    if members[0].dtype.kind not in "biuf":
        raise ProblemError(f"{path}, array data: holds {members[0].dtype}, but numbers are needed")
    return kind, (int(sides[0]), int(sides[1])), members


def _check_entries(
    path: Path, kind: str, data: Array, places: list[Array], shape: tuple[int, int]
) -> None:
    """Refuse arrays that cannot be entries and their places: SciPy would cast them."""
    if shape[1] > 2**32 - 1:
        raise ProblemError(f"{path}: {shape[1]:,} columns are too many")
    most = max(len(data.ravel()), *shape)
    for name, array in zip(_MEMBERS[kind], (data, *places), strict=True):
        if array.ndim != 1 or (name != "indptr" and len(array) != len(data)):
            raise ProblemError(f"{path}, array {name}: has shape {array.shape}, which does not fit")
        if name == "data":
            continue
        whole = array.dtype.kind in "iu"
        if not whole or (array.size and not 0 <= int(array.min()) <= int(array.max()) <= most):
            raise ProblemError(f"{path}, array {name}: holds no places of entries")
    if kind != "coo":
        lines, pointers = (shape[0] if kind == "csr" else shape[1]), places[1].astype(np.int64)
        fits = len(pointers) == lines + 1 and pointers[0] == 0 and pointers[-1] == len(data)
        if not fits or (np.diff(pointers) < 0).any():
            raise ProblemError(f"{path}, array indptr: does not fit the shape and the entries")


def decode_idx(name: str, raw: bytes) -> Array:
    """The array in the decompressed bytes of an idx file of this name.

    Unsigned bytes only, as in MNIST: two zero bytes, the type 0x08, the number of axes, the length
    of each as a big-endian 32-bit integer, then the values.
    """
    if len(raw) < 4 or raw[:3] != b"\0\0\x08" or not 1 <= raw[3] <= 4:
        raise ProblemError(f"{name}: not an idx file of unsigned bytes (wrong magic number)")
    start = 4 + 4 * raw[3]
    if len(raw) < start:
        raise ProblemError(f"{name}: the idx file is truncated")
    shape = struct.unpack(f">{raw[3]}I", raw[4:start])
    held = len(raw) - start
    if held != prod(shape) or not held:
        raise ProblemError(f"{name}: the idx file says {prod(shape)} values, but holds {held}")
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


# --- Parquet and Arrow ----------------------------------------------------------------------------

#: Of the types of Arrow, those of numbers that NumPy has too.
_NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool")


class Table:
    """A Parquet or Arrow file, opened: which column is what, and its groups of rows.

    Attributes
    ----------
    columns : Columns
        Which column is what; the label is the first one unless it is named.
    lengths : list of int
        Rows of each group (row groups of Parquet, record batches of Arrow) that has any.
    dtype : numpy dtype
        That of the points: one that holds the values of all columns.
    """

    def __init__(
        self,
        path: Path,
        label: str | int | None = None,
        drop: Sequence[str | int] = (),
        texts: bool = False,
    ) -> None:
        self.path, self._file = path, None
        with _arrow_readable(path):
            fields = list(self._opened().schema_arrow if self._parquet else self._opened().schema)
            names = [str(one.name) for one in fields]
            lengths = self._all_lengths()
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ProblemError(f"{path}: more than one column is named {twice!r}")
        if not names or not sum(lengths):
            raise ProblemError(f"{path}: there are no {'rows' if names else 'columns'}")
        self.columns = Columns.find(path, names, label, drop)
        self._label = names[self.columns.label]
        self._features = [names[k] for k in self.columns.kept]
        self._places = [k for k, size in enumerate(lengths) if size]
        self.lengths = [lengths[k] for k in self._places]
        if texts:  # for `all_columns`
            return
        for k in self.columns.kept:
            if not _is_number(fields[k].type):
                raise ProblemError(
                    f"{path}: column {names[k]!r} holds {fields[k].type}, not numbers (leave it "
                    "out with --drop NAME, make indicators of it with --encode, or name the label "
                    "with --label NAME)"
                )
        kinds = [np.dtype(fields[k].type.to_pandas_dtype()) for k in self.columns.kept]
        self.dtype = frame_dtype(zip(self._features, kinds, strict=True))

    def __getstate__(self) -> dict[str, Any]:
        # An open file does not travel, and whoever opens it again may be in another folder.
        return vars(self) | {"_file": None, "path": self.path.absolute()}

    @property
    def _parquet(self) -> bool:
        return self.path.suffix.lower() == ".parquet"

    def _opened(self) -> Any:
        """The file of pyarrow, opened when it is first asked for in this process."""
        if self._file is None:
            self._file = _open_arrow(self.path)
        return self._file

    def _all_lengths(self) -> list[int]:
        file = self._opened()
        if self._parquet:
            about = file.metadata
            return [int(about.row_group(k).num_rows) for k in range(about.num_row_groups)]
        return [int(file.get_batch(k).num_rows) for k in range(file.num_record_batches)]

    def _read(self, group: int, names: list[str]) -> Any:
        """Some columns of a group, as an Arrow table."""
        if self._file is None:
            about = self.path.stat()  # raises FileNotFoundError where a machine does not have it
            self._file = _opened_again(self.path, about.st_mtime_ns, about.st_size)
        with _arrow_readable(self.path):
            file, place = self._opened(), self._places[group]
            if self._parquet:
                table = file.read_row_group(place, columns=names, use_threads=False)
            else:
                batch = file.get_batch(place).select(names)
                batch.validate(full=True)  # Arrow believes the lengths and offsets otherwise
                table = extra_module("pyarrow", "parquet", "a table").Table.from_batches([batch])
            if table.num_rows != self.lengths[group]:
                raise IndexError
        return table

    def points(self, group: int) -> Array:
        """The points of a group."""
        found = self._read(group, self._features).columns
        columns = [Column.of(*pair) for pair in zip(self._features, found, strict=True)]
        try:
            return exact_frame(columns, sum(self.lengths[:group]), self.dtype)
        except ProblemError as error:
            raise ProblemError(f"{self.path}: {error}") from None

    def labels(self) -> Array:
        """The labels of all rows."""
        found: list[Array] = []
        for group in range(len(self.lengths)):
            column, first = self._read(group, [self._label]).column(0), sum(self.lengths[:group])
            with _arrow_readable(self.path):
                if str(column.type).startswith("dictionary"):
                    column = column.cast(column.type.value_type)
                number = _is_number(column.type) and not column.null_count
                values = column.to_numpy() if number else column.to_pylist()
            for k, value in enumerate(() if number else values):
                text = (
                    value.strip(" \t") if isinstance(value, str) else "" if value is None else "1"
                )
                if fault := label_fault(text):
                    raise ProblemError(f"{self.path}, row {first + k}: the label {fault}")
            found.append(np.asarray(values, dtype=None if number else object))
        return np.concatenate(found)

    def all_columns(self) -> list[Column]:
        """The label and the features, of numbers or texts, in memory."""
        names, arrow = [self._label, *self._features], extra_module("pyarrow", "parquet", "a table")
        groups = [self._read(group, names) for group in range(len(self.lengths))]
        with _arrow_readable(self.path):
            whole = arrow.concat_tables(groups)
            return [Column.of(name, whole.column(name)) for name in names]

    def in_memory(self) -> FilePoints:
        """All points and labels."""
        X = np.empty((sum(self.lengths), len(self._features)), self.dtype)
        for group, length in enumerate(self.lengths):
            start = sum(self.lengths[:group])
            X[start : start + length] = self.points(group)
        return self.with_labels(X)

    def with_labels(self, X: Any) -> FilePoints:
        """The points, in memory or in chunks, with their labels."""
        return FilePoints(X, self.labels(), self.columns.chosen, drop=self.columns.dropped)


def _open_arrow(path: Path) -> Any:
    parquet = path.suffix.lower() == ".parquet"
    what = f"{path}: {'a Parquet' if parquet else 'an Arrow'} file"
    source = for_arrow(path)
    if parquet:
        module = extra_module("pyarrow.parquet", "parquet", what)
        return module.ParquetFile(source, memory_map=False)
    arrow = extra_module("pyarrow", "parquet", what)
    mapped = arrow.memory_map(source) if isinstance(source, str) else source
    return extra_module("pyarrow.ipc", "parquet", what).open_file(mapped)


@lru_cache(maxsize=2)
def _opened_again(path: Path, time: int, size: int) -> Any:
    """A file, opened once for all chunks that come to a worker one by one: each open file stays."""
    return _open_arrow(path)


def _is_number(kind: Any) -> bool:
    return str(kind).rstrip("0123456789") in _NUMBERS


@contextmanager
def _arrow_readable(path: Path) -> Iterator[None]:
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
