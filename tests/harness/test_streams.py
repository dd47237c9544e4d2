"""Standard streams that are closed, full or unread: the exit code still says what was found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gammabar.harness.cli import command as cli

pytestmark = pytest.mark.skipif(not Path("/bin/sh").exists(), reason="a shell closes the streams")

LINES = {
    "--version": 0,
    "oracle t.csv": 0,
    "oracle t.csv --json": 0,
    "oracle none.csv": 2,
    "check c.json wrong.csv": 1,
    "verify --statement jst.thm3.1.2 --solver dual-acceleration --problem t.csv --iterations 4": 0,
}
#: What a shell does to the streams; {} stands for the command.
CLOSED = [
    "{} >&-",
    "{} 2>&-",
    "{} <&-",
    "{} >&- 2>&- <&-",
    "{} 2>/dev/full",
    "{} 2>&1 >/dev/null | :",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("streams")
    (place / "t.csv").write_text("1,3,1\n1,1,3\n-1,-4,-1\n-1,-2,-3\n")
    (place / "wrong.csv").write_text("1,3,1\n-1,1,3\n")
    run(f"{sys.executable} -m gammabar oracle t.csv --certificate c.json", place)
    return place


def run(line: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", "-c", line],
        cwd=place,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )


@pytest.mark.full
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("how", CLOSED)
def test_exit_codes_do_not_depend_on_the_streams(folder, line, how):
    if "/dev/full" in how and not Path("/dev/full").is_char_device():
        pytest.skip("no /dev/full")
    command = f"{sys.executable} -m gammabar {line}"
    first = how.format(f"({command}; echo code $? >&9)") if "|" in how else how.format(command)
    done = run(f"exec 9>codes; {first}; echo last $?", folder)
    code = int(
        (folder / "codes").read_text().split()[-1] if "|" in how else done.stdout.split()[-1]
    )
    assert code == LINES[line], done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line", ["--help", "list statements", "oracle t.csv", "list statements --json"]
)
def test_nobody_reads_the_output(folder, line):
    """As if by SIGPIPE; 1 would say that something was refuted."""
    command = f"{sys.executable} -m gammabar {line}"
    run(f"exec 9>codes; (sleep 0.1; {command}; echo code $? >&9) | exec 0<&-", folder)
    assert int((folder / "codes").read_text().split()[-1]) == cli.UNREAD


def test_a_fault_of_ours_is_no_refutation(monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("never meant to happen")

    monkeypatch.setattr("gammabar.problems.load", broken)
    with pytest.raises(SystemExit) as left:
        cli.main(["oracle", "iris:0,1"])
    assert left.value.code == cli.FAULT
    said = capsys.readouterr().err
    assert "never meant to happen" in said
    assert "fault of gammabar's own" in said


def test_the_answer_comes_before_what_may_find_no_room(folder, monkeypatch, capsys):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "j.xml")

    monkeypatch.chdir(folder)
    monkeypatch.setattr("gammabar.harness.run.tasks.write_junit", full)
    line = next(word for word in LINES if word.startswith("verify")).split()
    with pytest.raises(SystemExit) as left:
        cli.main([*line, "--jobs", "1", "--junit", "j.xml", "--json"])
    out, err = capsys.readouterr()
    assert left.value.code == 2
    assert '"verdict": "holds"' in out
    assert "j.xml" in err


@pytest.mark.parametrize(("level", "code"), [("1", 0), ("2", 2)])
def test_python_without_docstrings_says_so(folder, level, code):
    """Statements say in their docstrings what they claim; assertions are no part of any proof."""
    done = subprocess.run(
        [sys.executable, "-m", "gammabar", "oracle", "t.csv"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONOPTIMIZE": level},
        check=False,
    )
    assert (done.returncode, "docstrings" in done.stderr) == (code, code == 2)
