"""Named data sets: where they are found, their classes, and the sums that they must have.

Embedded sets come with scikit-learn and mlxtend. The others are files that are looked for in the
folder that the environment variable GAMMABAR_DATA names, then in the user's data folder, where
``gammabar data fetch`` puts them. Whatever the route, the decoded contents are compared with the
SHA-256 sums pinned here every time (about 0.1 s for MNIST), so a set is never something else.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from gammabar.problems.binary_readers import decode_idx, read_npz
from gammabar.problems.environment import has_module, missing
from gammabar.problems.files import check_classes, read_bytes, readable
from gammabar.problems.options import check_size
from gammabar.problems.portable_rng import Draws
from gammabar.problems.problem import Array, ProblemError, frozen

VARIABLE = "GAMMABAR_DATA"


@dataclass(frozen=True)
class _Loaded:
    """All points of a data set with their class numbers, and the files they came from."""

    X: Array
    labels: Array
    format: str = "npz"
    paths: tuple[Path, ...] = ()
    arrays: tuple[str, str] | None = None


@dataclass(frozen=True)
class Dataset:
    """A named data set.

    `classes` says what the classes 0, 1, ... are; `folder` is that of its files below a data folder
    (None: embedded), and `files` those that loading needs, without ``.gz``; `sums` are the SHA-256
    of the decoded contents, by file for idx files and by array for NPZ files; `read` goes from the
    paths of the files to the points.
    """

    name: str
    what: str
    classes: tuple[str, ...]
    folder: str | None
    files: tuple[str, ...]
    sums: dict[str, str]
    read: Callable[[Dataset, tuple[Path, ...]], _Loaded]


# --- where files are -------------------------------------------------------------------------


def user_data_folder() -> Path:
    """The folder for data of this user, by the custom of the platform."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "gammabar"


def find(dataset: Dataset) -> tuple[Path, ...] | None:
    """The files of a data set on this machine, or None. Embedded sets have none and need none."""
    named = os.environ.get(VARIABLE)
    for base in ([Path(named)] if named else []) + [user_data_folder()]:
        folder = base / (dataset.folder or "")
        found = [
            next((path for path in (folder / f"{name}.gz", folder / name) if path.is_file()), None)
            for name in dataset.files
        ]
        if all(found):
            return tuple(path for path in found if path)
    return None


def is_here(dataset: Dataset) -> bool:
    """Whether a data set can be read on this machine."""
    if dataset.folder is not None:
        return find(dataset) is not None
    return has_module(_EMBEDDED[dataset.name][0])


def how_to_get(dataset: Dataset) -> str:
    """What to do about a data set that is not on this machine."""
    advice = f"set {VARIABLE} to a folder that holds {dataset.folder}/{dataset.files[0]}"
    return f"{advice}, or run `gammabar data fetch {dataset.name}`"


# --- reading ---------------------------------------------------------------------------------


def read(dataset: Dataset) -> _Loaded:
    """All points of a data set, checked against its sums."""
    return dataset.read(dataset, _found(dataset))


def held_out(dataset: Dataset) -> _Loaded:
    """The images that nothing is trained on, where the archive of a data set has them too."""
    return _read_arrays(dataset, _found(dataset), tuple(dataset.sums)[2:])


def _found(dataset: Dataset) -> tuple[Path, ...]:
    paths = find(dataset)
    if paths is None:
        raise ProblemError(f"{dataset.name} is not on this machine: {how_to_get(dataset)}")
    return paths


def check_sum(dataset: Dataset, what: str, data: Array, expected: str) -> None:
    """Refuse contents whose SHA-256 is not the pinned one."""
    if hashlib.sha256(np.ascontiguousarray(data).data).hexdigest() != expected:
        advice = "install the version of the package that the lock file names"
        if dataset.folder:
            advice = f"delete it and run `gammabar data fetch {dataset.name}`"
        raise ProblemError(
            f"{what}: the contents are not those of the original data set (their SHA-256 differs); "
            f"{advice}"
        )


def _read_idx_pair(dataset: Dataset, paths: tuple[Path, ...]) -> _Loaded:
    arrays = []
    for path, name in zip(paths, dataset.files, strict=True):
        raw = read_bytes(path)
        arrays.append(decode_idx(str(path), raw))
        check_sum(dataset, str(path), np.frombuffer(raw, np.uint8), dataset.sums[name])
    images, labels = arrays
    return _Loaded(images.reshape(len(images), -1), labels, "idx", paths)


def _read_arrays(dataset: Dataset, paths: tuple[Path, ...], names: tuple[str, ...] = ()) -> _Loaded:
    """Two arrays of an archive: by default those that come first."""
    first, second = (names or tuple(dataset.sums))[:2]
    points = read_npz(paths[0], (first, second))
    labels = np.asarray(points.labels)
    for name, array in ((first, points.X), (second, labels)):
        check_sum(dataset, f"{paths[0]}, array {name}", array, dataset.sums[name])
    return _Loaded(points.X, labels, "npz", paths, points.arrays)


#: Package, file and lines of the header of the embedded sets. The files are read directly:
#: importing the packages takes longer than most answers.
_EMBEDDED = {
    "mnist-sample": ("mlxtend", "data/data/mnist_5k.csv.gz", 0),
    "digits": ("sklearn", "datasets/data/digits.csv.gz", 0),
    "iris": ("sklearn", "datasets/data/iris.csv", 1),
    "wine": ("sklearn", "datasets/data/wine_data.csv", 1),
    "breast-cancer": ("sklearn", "datasets/data/breast_cancer.csv", 1),
}


def _read_embedded(dataset: Dataset, paths: tuple[Path, ...]) -> _Loaded:
    module, place, header = _EMBEDDED[dataset.name]
    package = find_spec(module)
    if package is None or not package.submodule_search_locations:
        raise missing(dataset.name, module.replace("sklearn", "scikit-learn"), "data")
    path = Path(package.submodule_search_locations[0], place)
    with readable(path):
        X, labels = _table(path, header, path.stat().st_mtime_ns)
    for name, expected in dataset.sums.items():
        check_sum(dataset, dataset.name, X if name == "X" else labels, expected)
    return _Loaded(X, labels)


@lru_cache(maxsize=len(_EMBEDDED))
def _table(path: Path, header: int, changed: int) -> tuple[Array, Array]:
    """Points, in bytes if they are pixels, and labels: many ask for them again and again."""
    table = np.loadtxt(path, delimiter=",", skiprows=header)
    X, labels = np.array(table[:, :-1], "<f8" if header else "u1", order="C"), table[:, -1]
    return frozen(X), frozen(labels.astype(np.uint8))


# --- choosing classes and rows ---------------------------------------------------------------


@dataclass(frozen=True)
class Sampling:
    """Which of the points of the chosen classes to take (Tyurin 2024, Appendix E).

    First `n` points at random (None: all), of these the fraction `keep`, and of these each point
    of the last class `repeat` times. What is taken stays in the order of the file.
    """

    n: int | None = None
    seed: int = 0
    keep: Fraction | None = None
    repeat: int = 1

    @property
    def everything(self) -> bool:
        return self.n is None and self.keep is None and self.repeat == 1

    def rows(self, name: str, candidates: Array, last: Array, width: int) -> Array:
        """The chosen ones of `candidates`; `last` says which of them are of the last class."""
        if self.everything:
            check_size(name, len(candidates), width)
            return candidates
        draws, chosen = Draws(self.seed), np.arange(len(candidates))
        if self.n is not None:
            if self.n > len(chosen):
                raise ProblemError(
                    f"{name}: n={self.n} is more than the {len(chosen)} points there are"
                )
            chosen = draws.sample(len(chosen), self.n)
        if self.keep is not None:
            size = round(self.keep * len(chosen))
            if size < 1:
                raise ProblemError(f"{name}: keep={float(self.keep)} leaves none of the points")
            chosen = chosen[draws.sample(len(chosen), size)]
        times = np.where(last[chosen], self.repeat, 1)
        check_size(name, int(times.sum()), width)
        return candidates[np.repeat(chosen, times)]


def classes_of(dataset: Dataset, asked: Sequence[str], multiclass: bool) -> tuple[str, ...]:
    """The classes asked for, or all, or an error that lists those that exist."""
    there = tuple(str(i) for i in range(len(dataset.classes)))
    if not asked and (multiclass or len(there) == 2):
        return there
    named = zip(there, dataset.classes, strict=True)
    shown = [text if text == name else f"{text} ({name})" for text, name in named]
    check_classes(dataset.name, there, asked, multiclass, shown)
    return tuple(asked)


# --- the catalogue ---------------------------------------------------------------------------

_CIFAR = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
_DIGITS = tuple(str(i) for i in range(10))
TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def _images(
    name: str, what: str, classes: Sequence[str], files: Sequence[str], *sums: str
) -> Dataset:
    """A pair of idx files, images and labels, below a folder."""
    folder, pair = {"fashion": "fashion-mnist"}.get(name, "mnist"), tuple(files)
    contents = dict(zip(pair, sums, strict=True))
    return Dataset(name, what, tuple(classes), folder, pair, contents, _read_idx_pair)


def _archive(name: str, what: str, classes: Sequence[str], path: str, **sums: str) -> Dataset:
    """An NPZ file, points and labels first."""
    folder, _, file = path.partition("/")
    return Dataset(name, what, tuple(classes), folder, (file,), sums, _read_arrays)


def _embedded(name: str, what: str, classes: Sequence[str], **sums: str) -> Dataset:
    """Data inside another package."""
    return Dataset(name, what, tuple(classes), None, (), sums, _read_embedded)


_ARTICLES = ["T-shirt", "trouser", "pullover", "dress", "coat"]
_ARTICLES += ["sandal", "shirt", "sneaker", "bag", "boot"]
DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        _images(
            "mnist",
            "handwritten digits, 60,000 of 28 x 28 pixels (LeCun, Cortes and Burges)",
            _DIGITS,
            TRAIN,
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        _images(
            "mnist-test",
            "the 10,000 test images of MNIST, on which no method is trained",
            _DIGITS,
            TEST,
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
        _embedded(
            "mnist-sample",
            "5,000 of the MNIST digits, 500 of each, embedded in mlxtend",
            _DIGITS,
            X="2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f",
            y="41b7b0a9d94690a3a2f54a1d01a9f1cc1b9512e3954fb737ad5ed9f66972403d",
        ),
        _images(
            "fashion",
            "Fashion-MNIST, 60,000 articles of 28 x 28 pixels (Xiao, Rasul and Vollgraf 2017)",
            _ARTICLES,
            TRAIN,
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        ),
        _archive(
            "cifar",
            "CIFAR-10, the first two classes, 10,000 of 32 x 32 x 3 pixels (Krizhevsky 2009)",
            _CIFAR[:2],
            "cifar-10/cifar10_train_class01.npz",
            x="9ac752eea46118ad53502f9fc3b408e9ab0e2d9bd9a05ef600e2da3b8d0813a3",
            y="f45c20446a5506aa133f5bb7399bce8931aa3226b812bd6ec0c816cefef34578",
        ),
        _archive(
            "cifar-128",
            "CIFAR-10, 128 training images of ten classes, 32 x 32 x 3 pixels (Krizhevsky 2009)",
            _CIFAR,
            "cifar-10/cifar10_train128_test10k.npz",
            x_train128="362a10a26161d646ab2e5d25a96a08ee942e0a0b547118c5b93c2db1e69df674",
            y_train128="97035dac27a9d2a9dc25f047b3f5cb297b12110d794b162acefba24bc9a79efe",
            x_test="f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
            y_test="cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5",
        ),
        _archive(
            "eurosat",
            "EuroSAT, two classes, 6,000 of 64 x 64 x 3 pixels (Helber et al. 2019)",
            ("AnnualCrop", "Forest"),
            "eurosat/eurosat_rgb_annualcrop_forest.npz",
            x="8b4b977acf1adeb5faabcc54ed59958039463cd3af1c4f72fdc0e2a259ed6df5",
            y="416df9905b5d097c19dbf9268c63bc64f45c8abfdfc1949b2a5d1c4f62ba9bd6",
        ),
        _embedded(
            "digits",
            "1,797 handwritten digits of 8 x 8 pixels, from scikit-learn",
            _DIGITS,
            X="8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3",
        ),
        _embedded(
            "iris",
            "150 flowers, 4 measurements (Fisher 1936), from scikit-learn",
            ("setosa", "versicolor", "virginica"),
            X="012f498fe9c8b3b34212c3c5d98e1f03f2f79931cd49349beb1bad64dcf164a7",
        ),
        _embedded(
            "wine",
            "178 wines, 13 measurements, from scikit-learn",
            ("class_0", "class_1", "class_2"),
            X="8edcf3903afd97c64d51e0212eb10b213f7943da650574d1c055b836c5c35d37",
        ),
        _embedded(
            "breast-cancer",
            "569 tumours, 30 measurements, from scikit-learn",
            ("malignant", "benign"),
            X="6b202a2072f9a0385f405a8f8605b1b06f6f36ae6d23d9cd6cbbc0974a416bc7",
        ),
    )
}
