"""Named data sets: right numbers, right classes, right rows, and nothing else in disguise."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from gammabar.problems import ProblemError, load
from gammabar.problems.datasets import DATASETS, find, read


@pytest.mark.parametrize(
    ("spec", "n", "d", "negatives", "dtype"),
    [
        ("mnist-sample:0,1", 1000, 784, 500, np.uint8),
        ("digits:3,8", 357, 64, 183, np.uint8),
        ("iris:0,1", 100, 4, 50, np.float64),
        ("wine:0,2", 107, 13, 59, np.float64),
        ("breast-cancer", 569, 30, 212, np.float64),
    ],
)
def test_embedded(spec, n, d, negatives, dtype):
    problem = load(spec)
    assert problem.X.shape == (n, d)
    assert problem.X.dtype == dtype
    assert int((problem.y == -1).sum()) == negatives
    source = problem.source
    name = spec.partition(":")[0]
    assert (source.name, source.format, source.files) == (spec, "npz", (f"{name}.npz",))
    assert (source.classes, source.arrays, source.rows) == (("-1", "1"), ("X", "y"), None)


def test_classes_in_the_order_written():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = (y == 3) | (y == 8)
    for spec, sign in (("digits:3,8", 1), ("digits:8,3", -1)):
        problem = load(spec)
        assert np.array_equal(problem.X, X[chosen])
        assert np.array_equal(problem.y, sign * np.where(y[chosen] == 8, 1, -1))


def test_multiclass_takes_all_classes_or_those_named():
    for spec, n in (("iris", 150 * 2), ("digits:7,1,4", 542 * 2), ("breast-cancer", 569)):
        assert load(spec, multiclass=True).n == n
    with pytest.raises(ProblemError, match="1 classes are given"):
        load("iris:1", multiclass=True)


def test_sample_is_sorted_reproducible_and_without_replacement():
    whole = load("iris:0,1")
    part = load("iris:0,1:n=40,seed=3")
    again = load("iris:0,1:seed=3,n=40")
    assert part.n == 40
    assert part.digest() == again.digest() != load("iris:0,1:n=40,seed=4").digest()
    # A subsequence of the whole: every point is found behind the one before.
    position = -1
    for point in part.X.tolist():
        position = whole.X.tolist().index(point, position + 1)
    assert load("iris:0,1:n=100").digest() == whole.digest()


def test_imbalanced_construction():
    """Tyurin (2024), Appendix E: keep a tenth, then repeat each sample of one class ten times."""
    kept = load("mnist-sample:0,1:seed=1,keep=0.1")
    repeated = load("mnist-sample:0,1:seed=1,keep=0.1,repeat=10")
    assert kept.n == 100
    positive = int((kept.y == 1).sum())
    assert repeated.n == 100 + 9 * positive
    times = np.where(kept.y == 1, 10, 1)
    assert np.array_equal(repeated.X, np.repeat(kept.X, times, axis=0))
    assert np.array_equal(repeated.y, np.repeat(kept.y, times))


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("iris", "iris: 0 classes are given, but two are needed, as in iris:0,1"),
        ("iris:0,1,2", "iris: 3 classes are given, but two are needed, .* there are 0 .setosa., 1"),
        ("iris:1,1", "iris: the classes 1,1 are not different"),
        ("iris:0,3", "iris: there is no class '3'; there are 0 .setosa., 1 .versicolor., 2"),
        ("iris:0,", "iris: there is no class ''"),
        ("breast-cancer:0", "breast-cancer: 1 classes are given"),
        ("iris:0,1:n=101", "iris: n=101 is more than the 100 points there are"),
        ("iris:0,1:n=0", "iris: n=0 must be at least 1"),
        ("iris:0,1:keep=1.5", "iris: keep=1.5 must be at most 1"),
        ("iris:0,1:keep=0.001", "iris: keep=0.001 leaves none of the points"),
        ("mnist-sample:0,1:repeat=1000000", "mnist-sample: n=500000500 and d=784 would need"),
        ("iris:0,1:m=5", "iris: there is no option 'm'"),
        ("iris:0,1:n=1", "iris:0,1:n=1: no point of class [01] is among those taken"),
    ],
)
def test_complaints(spec, sentence):
    with pytest.raises(ProblemError, match=f"^{sentence}"):
        load(spec)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without data sets."""
    monkeypatch.delenv("GAMMABAR_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", [d.name for d in DATASETS.values() if d.folder])
def test_what_is_missing_has_a_command_that_gets_it(nowhere, name):
    with pytest.raises(
        ProblemError, match=f"^{name} is not on this machine: set GAMMABAR_DATA"
    ) as e:
        load(f"{name}:0,1")
    assert str(e.value).endswith(f"or run `gammabar data fetch {name}`")


def test_other_data_under_the_right_name_are_refused(nowhere, monkeypatch):
    folder = nowhere / "elsewhere" / "mnist"
    folder.mkdir(parents=True)
    images = b"\0\0\x08\x03" + b"\0\0\0\x02" * 3 + bytes(8)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(b"")
    monkeypatch.setenv("GAMMABAR_DATA", str(folder.parent))
    with pytest.raises(ProblemError, match=r"train-images.*SHA-256 differs.*data fetch mnist"):
        load("mnist:0,1")


# --- with the full data sets -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "n", "d", "files"),
    [
        ("mnist:0,1", 12665, 784, ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")),
        ("fashion:0,4", 12000, 784, ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")),
        ("cifar:0,1", 10000, 3072, ("cifar10_train_class01.npz",)),
        ("eurosat:0,1", 6000, 12288, ("eurosat_rgb_annualcrop_forest.npz",)),
    ],
)
def test_full(shared_data, spec, n, d, files):
    problem = load(spec)
    assert problem.X.shape == (n, d)
    assert problem.X.dtype == np.uint8
    source, idx = problem.source, len(files) == 2
    classes = tuple(spec.partition(":")[2].split(","))
    assert (source.files, source.classes, source.rows) == (files, classes, None)
    assert (source.format, source.arrays) == (("idx", None) if idx else ("npz", ("x", "y")))


def test_rows_point_into_the_file(shared_data):
    problem = load("fashion:4,0:n=500,seed=7,keep=0.1,repeat=3")
    rows = np.array(problem.source.rows)
    data = read(DATASETS["fashion"])
    assert (np.diff(rows) >= 0).all()
    assert np.array_equal(problem.X, data.X[rows])
    assert np.array_equal(problem.y, np.where(data.labels[rows] == 0, 1, -1))
    assert len(set(rows.tolist())) == 50
    assert problem.n == 50 + 2 * len(set(rows[problem.y == 1].tolist()))


def test_files_may_be_uncompressed(shared_data, nowhere, monkeypatch):
    folder = nowhere / "gammabar" / "mnist"
    folder.mkdir(parents=True)
    for name in DATASETS["mnist"].files:
        packed = (shared_data / "mnist" / f"{name}.gz").read_bytes()
        (folder / name).write_bytes(gzip.decompress(packed))
    assert find(DATASETS["mnist"]) == tuple(folder / name for name in DATASETS["mnist"].files)
    assert load("mnist:0,1").source.files == DATASETS["mnist"].files
