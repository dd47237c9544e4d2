"""What commands write: pipes and devices stay, links lead where they did, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import click
import pytest

from gammabar.harness.cli.command import KEPT, WRITTEN
from tests.every_command import every_command
from tests.fuzz.fuzz_store import store_seeds

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes of POSIX")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.json"

#: Every option that names a file to be written: a line that writes it, and what the file is called.
LINES = {
    "bench --out": ("bench --from bench.json", "out.json"),
    "data export FILE": ("data export a.csv", "out.npz"),
    "falsify --out": ("falsify rp.eq1 --budget 60 --jobs 1", "out.json"),
    "falsify --store": ("falsify gb.sharp --budget 0.1 --jobs 1", "out.json"),
    "list --matrix": ("list mutants", "out.json"),
    "oracle --certificate": ("oracle a.csv", "out.json"),
    "oracle --page": ("oracle three.csv --pairs --jobs 1", "out.md"),
    "oracle --picture": ("oracle three.csv --pairs --jobs 1", "out.svg"),
    "report --csv": ("report s.db", "out.csv"),
    "report --parquet": ("report s.db", "out.parquet"),
    "oracle --export": ("oracle a.csv --explain", "out.npz"),
    "report --out": ("report s.db", "out.html"),
    "verify --junit": ("verify --problem a.csv --statement gb.sharp --iterations 2", "out.xml"),
    "verify --store": ("verify --problem a.csv --statement gb.sharp --iterations 2", "out.db"),
}
#: Those that are read again by the next run.
READ_AGAIN = ("falsify --store", "verify --store")


def options_that_write() -> list[str]:
    written = [
        (name, param)
        for name, command in every_command().items()
        for param in command.params
        if param.type in (WRITTEN, KEPT)
    ]
    return [
        f"{name} {p.opts[0] if isinstance(p, click.Option) else p.human_readable_name.upper()}"
        for name, p in written
    ]


def test_every_option_that_writes_is_here():
    assert sorted(options_that_write()) == sorted(LINES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("1,2,1\n1,3,1\n-1,-1,-2\n")
    (tmp_path / "three.csv").write_text("a,0,0\nb,1,0\nc,0,1\nb,2,0\nc,0,3\n")
    (tmp_path / "s.db").write_bytes(store_seeds()[0])
    shutil.copy(PAGE, tmp_path / "bench.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gammabar.harness.power.matrix", lambda **_: {"wrong": {}})
    return tmp_path


def line(option: str, name: str) -> list[str]:
    """The command that writes into `name`."""
    flag = option.split()[-1]
    return [*LINES[option][0].split(), *([flag] if flag.startswith("-") else []), name]


@pytest.mark.full
@pytest.mark.parametrize("option", LINES)
def test_a_link_leads_where_it_did(gammabar, folder, option):
    called = LINES[option][1]
    (folder / "far").mkdir()
    (folder / called).symlink_to(Path("far", called))
    code, _, err = gammabar(*line(option, called))
    assert code in (0, 1), err
    assert (folder / called).is_symlink()
    assert (folder / "far" / called).stat().st_size > 0
    assert not list(folder.rglob("*.part"))


@pytest.mark.full
@pytest.mark.parametrize("option", [name for name in LINES if name not in READ_AGAIN])
def test_a_pipe_is_written_into(gammabar, folder, option):
    called = LINES[option][1]
    code, _, err = gammabar(*line(option, called))  # what a file has
    assert code in (0, 1), err
    size = (folder / called).stat().st_size
    (folder / called).unlink()
    os.mkfifo(folder / called)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((folder / called).read_bytes()))
    reader.start()
    code, _, err = gammabar(*line(option, called))
    assert code in (0, 1), err
    reader.join(20)
    assert len(got[0]) > size / 2


@pytest.mark.parametrize("option", READ_AGAIN)
def test_what_is_read_again_must_be_a_file(gammabar, folder, option):
    os.mkfifo(folder / "pipe")
    code, _, err = gammabar(*line(option, "pipe"))
    assert code == 2
    assert "pipe: not a regular file, so nothing can be kept in it" in err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the device is Linux's")
@pytest.mark.parametrize("option", LINES)
def test_a_device_stays_one_and_is_full(gammabar, folder, option):
    called = LINES[option][1]
    (folder / called).symlink_to("/dev/full")
    code, _, err = gammabar(*line(option, called))
    assert (code, called in err) == (2, True), err
    assert (folder / called).is_char_device()
    assert not list(folder.rglob("*.part"))


@pytest.mark.parametrize("option", LINES)
def test_what_is_read_is_not_overwritten(gammabar, folder, option):
    """Another option, or the argument, names the same file: by its name, by a link, from above."""
    asked = line(option, "")[:-1]
    read = [word for word in asked if (folder / word).is_file()]
    for word in read:
        before = (folder / word).read_bytes()
        (folder / f"link-{word}").symlink_to(word)
        for name in (word, f"link-{word}", f"./{word}", str(folder / word)):
            code, _, err = gammabar(*asked, name)
            assert (code, len(err.splitlines())) == (2, 1), err
        assert (folder / word).read_bytes() == before
    assert read or option in ("falsify --out", "falsify --store", "list --matrix")


def test_two_results_in_one_file(gammabar, folder):
    code, _, err = gammabar("export", "s.db", "--csv", "x", "--parquet", "./x")
    assert code == 2
    assert "--csv and --parquet" in err
    assert not (folder / "x").exists()


def test_data_with_classes_after_a_colon_and_solvers_in_files(gammabar, folder):
    before = (folder / "three.csv").read_bytes()
    assert gammabar("oracle", "three.csv:b,c", "--certificate", "three.csv")[0] == 2
    assert (folder / "three.csv").read_bytes() == before
    (folder / "my.py").write_text("class Mine:\n    def iterates(self, problem, rng): ...\n")
    asked = "verify --problem a.csv --solver-file my.py:Mine --junit my.py"
    code, _, err = gammabar(*asked.split())
    assert code == 2
    assert "--junit and --solver-file" in err
    assert "class Mine" in (folder / "my.py").read_text()
