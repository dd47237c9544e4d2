"""Readers for binary files: NPZ archives of NumPy and the idx files of MNIST.

Nothing is ever unpickled: arrays of Python objects are refused by their header, before a byte of
their contents is looked at, and the size that a header claims is compared with the size of the
archive member before memory is set aside for it.
"""

from __future__ import annotations

import ast
import re
import struct
import warnings
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.files import gigabytes, memory_budget, read_bytes, readable
from gammabar.problems.labels import label_fault
from gammabar.problems.readers import Points

_NAMES = (("X", "y"), ("x", "y"))
_MAX_HEADER = 10_000  # NumPy's own bound on the text of a header
_MAX_SIDES = 32
_TYPE = re.compile(
    r"[<>|](b1|i1|u1|S[1-9][0-9]{0,5})|[<>]([iu][248]|f[248]|U[1-9][0-9]{0,5})"
).fullmatch


def read_npz(path: Path, wanted: tuple[str, str] | None = None) -> Points:
    """Read an NPZ archive with arrays X (or x) and y, as written by ``numpy.savez``.

    Other names may be wanted. X has a point in each slice along its first axis; further axes
    (images, say) are flattened.
    """
    with readable(path), archive_of(path) as archive:
        listed = archive.namelist()
        members = {name.removesuffix(".npy"): name for name in listed if name.endswith(".npy")}
        if len(set(listed)) < len(listed):
            raise ProblemError(f"{path}: holds several members of the same name")
        for names in (wanted,) if wanted else _NAMES:
            if all(name in members for name in names):
                X, y = (member_of(path, archive, members[name]) for name in names)
                called = f"{path}, array {names[0]}", f"{path}, array {names[1]}"
                return Points(*points_and_labels(called, X, y), arrays=names)
    found = ", ".join(sorted(members)) or "nothing"
    if "format" in members:
        raise ProblemError(f"{path}: a sparse matrix of SciPy; give its labels by --labels y.npy")
    needed = " and ".join(wanted or _NAMES[0])
    raise ProblemError(f"{path}: needs arrays named {needed}, but holds {found}")


def archive_of(path: Path) -> zipfile.ZipFile:
    """An NPZ archive, opened."""
    if path.is_file() and path.stat().st_size == 0:
        raise ProblemError(f"{path}: the file is empty")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise ProblemError(
            f"{path}: not an NPZ archive, or a truncated one (write it with numpy.savez)"
        ) from None


def member_of(path: Path, archive: zipfile.ZipFile, member: str, empty: bool = False) -> Array:
    """One array of the archive, after its header has been found harmless and honest."""
    what = f"{path}, array {member.removesuffix('.npy')}"
    info = archive.getinfo(member)
    try:
        with archive.open(info) as stream:
            shape, fortran, dtype = header_of(what, stream)
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


def header_of(what: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array, from its header alone."""
    plain = ProblemError(f"{what}: not a plain NumPy array")
    start = stream.read(8)
    width = {b"\x93NUMPY\1\0": 2, b"\x93NUMPY\2\0": 4}.get(start)
    if width is None:
        raise plain
    length = int.from_bytes(stream.read(width), "little")
    if length > _MAX_HEADER:
        raise ProblemError(f"{what}: a header of {length} bytes, more than {_MAX_HEADER}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes and calls in what is no literal anyway
            header = ast.literal_eval(stream.read(length).decode("latin-1").strip())
        if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
            raise plain
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise plain from None
    shape, fortran = header["shape"], header["fortran_order"]
    if not isinstance(fortran, bool) or not isinstance(shape, tuple) or len(shape) > _MAX_SIDES:
        raise plain
    if not all(type(side) is int and 0 <= side < 2**63 for side in shape):
        raise plain
    return shape, fortran, _dtype(what, header["descr"])


def _dtype(what: str, text: Any) -> np.dtype[Any]:
    """The type that a header names; only those that can be points or labels are known."""
    if not isinstance(text, str) or not _TYPE(text):
        if isinstance(text, str) and text[1:2] == "O":
            raise ProblemError(
                f"{what}: holds Python objects, which are never loaded (save plain numbers instead)"
            )
        shown = repr(text)[:40]
        raise ProblemError(f"{what}: holds {shown}, but numbers or texts of NumPy are needed")
    return np.dtype(text)


def points_and_labels(names: tuple[str, str], X: Array, y: Array) -> tuple[Array, Array]:
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


def read_idx(path: Path) -> Array:
    """The array in an idx file, optionally compressed."""
    return decode_idx(str(path), read_bytes(path))
