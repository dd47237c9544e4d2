"""Readers for binary files: NPZ archives of NumPy and the idx files of MNIST.

Nothing is ever unpickled: arrays of Python objects are refused by their header, before a byte of
their contents is looked at, and the size that a header claims is compared with the size of the
archive member before memory is set aside for it.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.files import gigabytes, memory_budget, read_bytes, readable
from gammabar.problems.labels import label_text
from gammabar.problems.readers import Points, is_missing

_NAMES = (("X", "y"), ("x", "y"))
_MAX_HEADER = 10_000  # NumPy's own bound on the text of a header


def read_npz(path: Path) -> Points:
    """Read an NPZ archive with arrays X (or x) and y, as written by ``numpy.savez``.

    X has a point in each slice along its first axis; further axes (images, say) are flattened.
    """
    with readable(path), _archive(path) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.namelist()}
        for names in _NAMES:
            if all(name in members for name in names):
                X, y = (_member(path, archive, members[name]) for name in names)
                return Points(*_points_and_labels(path, names, X, y), arrays=names)
    found = ", ".join(sorted(members)) or "nothing"
    raise ProblemError(f"{path}: needs arrays named X and y, but holds {found}")


def _archive(path: Path) -> zipfile.ZipFile:
    if path.is_file() and path.stat().st_size == 0:
        raise ProblemError(f"{path}: the file is empty")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise ProblemError(
            f"{path}: not an NPZ archive, or a truncated one (write it with numpy.savez)"
        ) from None


def _member(path: Path, archive: zipfile.ZipFile, member: str) -> Array:
    """One array of the archive, after its header has been found harmless and honest."""
    what = f"{path}, array {member.removesuffix('.npy')}"
    info = archive.getinfo(member)
    try:
        with archive.open(info) as stream:
            shape, fortran, dtype = _header(what, stream)
            size = prod(shape) * dtype.itemsize
            if stream.tell() + size != info.file_size:
                raise ProblemError(f"{what}: truncated, or longer than its header says")
            if size > memory_budget():
                raise ProblemError(f"{what}: needs {gigabytes(size)}, too much for this machine")
            data = bytearray(size)
            _read_into(what, stream, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        raise ProblemError(f"{what}: the archive is damaged or truncated") from None
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


def _header(what: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array, from its header alone."""
    formats = {(1, 0): np.lib.format.read_array_header_1_0}
    formats[2, 0] = np.lib.format.read_array_header_2_0
    try:
        version = np.lib.format.read_magic(stream)
        shape, fortran, dtype = formats[version](stream, max_header_size=_MAX_HEADER)
    except (ValueError, KeyError, SyntaxError, TypeError, OverflowError, RecursionError):
        raise ProblemError(f"{what}: not a plain NumPy array") from None
    if dtype.hasobject:
        raise ProblemError(
            f"{what}: holds Python objects, which are never loaded (save plain numbers instead)"
        )
    if any(side < 0 for side in shape):
        raise ProblemError(f"{what}: not a plain NumPy array")
    return shape, fortran, dtype


def _points_and_labels(
    path: Path, names: tuple[str, str], X: Array, y: Array
) -> tuple[Array, Array]:
    if X.dtype.kind not in "biuf":
        raise ProblemError(f"{path}, array {names[0]}: holds {X.dtype}, but numbers are needed")
    if y.dtype.kind not in "biufSU":
        raise ProblemError(f"{path}, array {names[1]}: holds {y.dtype}, but labels are needed")
    if X.ndim < 2:
        raise ProblemError(
            f"{path}, array {names[0]}: has shape {X.shape}, but needs a row for each point"
        )
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != X.shape[:1]:
        raise ProblemError(
            f"{path}: {names[0]} has {len(X)} rows, but {names[1]} has shape {y.shape}"
        )
    if not X.size:
        raise ProblemError(f"{path}, array {names[0]}: has shape {X.shape}, there are no data")
    if y.dtype.kind == "f":
        missing = np.flatnonzero(~np.isfinite(y))
    elif y.dtype.kind in "SU":
        missing = np.array([i for i, text in enumerate(y) if is_missing(label_text(text))], int)
    else:
        missing = np.empty(0, int)
    if missing.size:
        raise ProblemError(f"{path}, array {names[1]}, row {missing[0]}: the label is missing")
    return X.reshape(len(X), -1), y


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
    if len(raw) - start != prod(shape):
        raise ProblemError(
            f"{name}: the idx file says {prod(shape)} values, but holds {len(raw) - start}"
        )
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


def read_idx(path: Path) -> Array:
    """The array in an idx file, optionally compressed."""
    return decode_idx(str(path), read_bytes(path))
