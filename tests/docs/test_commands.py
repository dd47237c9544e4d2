"""Commands of the pages that take minutes, or change files: run in a fresh clone, and made small.

Each line is called by bash as it is printed, where somebody would be who has typed the lines above
it. `SMALL` says what shortens it: variables that the command reads anyway, or options after it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from blocks import PAGES, ROOT, Block, agree, blocks

COMMIT = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m"
ASV_SUITE = "bench_papers.py"
ONE_TEST = {"PYTEST_ADDOPTS": "tests/test_architecture.py"}


@dataclass(frozen=True)
class Small:
    """How a line becomes short, what is done before it, and words that it must print."""

    says: tuple[str, ...]
    more: str = ""
    env: dict[str, str] = field(default_factory=dict)
    first: str = ""
    codes: tuple[int, ...] = (0,)


SMALL = {
    "make setup": Small(("ready: .venv/bin/gammabar",)),
    # In full by the test of the first commands, below.
    "make verify": Small(("all as expected",), env={"ARGS": "--statement lec.thm10"}),
    "make test": Small((" passed in ",), env=ONE_TEST),
    "make lock": Small(("requirements.lock: ", " packages")),
    "make lock ARGS=--upgrade": Small(("requirements.lock: ", " packages")),
    # What the newest versions of others do is no matter of this page.
    "make test-all lint verify": Small(
        (" passed in ", "no issues found", "all as expected"),
        env=ONE_TEST,
        first="git checkout -q requirements.lock",
    ),
    "gammabar bench --page docs": Small(("wrote docs/benchmarks.md",), more="--quick"),
    "make bench": Small(("bench_papers.Tightness.track_worst", "gammabar, exact with proof")),
    "make gate": Small(("same",), env={"ARGS": "HEAD~1 --bench track_digits --counts-only"}),
}


def lines(block: Block) -> list[str]:
    """The commands of a block, without what is said of them."""
    return [line.partition("#")[0].strip() for line in block.text.splitlines()]


BLOCKS = [block for page in PAGES for block in blocks(page) if block.way == "small"]


def test_every_line_is_there_and_none_that_no_page_has():
    assert sorted(line for block in BLOCKS for line in lines(block)) == sorted(SMALL)


def _index() -> bool:
    """Is there anywhere that packages can be taken from?"""
    with_pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-input", "--no-deps"]
    words = [*with_pip, "--dry-run", "--ignore-installed", "--retries", "0", "wheel"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh one with nothing beside it, on main, whose last three commits changed nothing."""
    if not _index():
        pytest.skip("make sets itself up from a package index, and there is none")
    folder = tmp_path_factory.mktemp("fresh") / "gammabar"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    nothing = f"{COMMIT} nothing"
    call(" && ".join(["git checkout -qB main", nothing, nothing, nothing]), folder)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """That of somebody who has activated .venv: nothing of ours is on the way."""
    ours = ("GAMMABAR_DATA", "PYTHONPATH", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST", "MAKEFLAGS")
    kept = {k: v for k, v in os.environ.items() if k not in ours}
    path = f"{folder / '.venv' / 'bin'}{os.pathsep}{kept['PATH']}"
    # asv keeps what it knows of the machine in the home directory.
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    return kept | {"PATH": path, "COLUMNS": "400", "HOME": str(home), "PYTHONUNBUFFERED": "1"}


@pytest.mark.slow
def test_the_first_commands_in_a_fresh_clone(clone: Path):
    """Without data beside it and with a new virtual environment, which needs a network."""
    [block] = [b for b in blocks("docs/first-ten-minutes.md") if b.way == "clone"]
    cloned, verify, expected = block.text.split("\n", 2)
    assert cloned.endswith("&& cd gammabar")
    subprocess.run(["make", "clean"], cwd=clone, check=True, capture_output=True)
    done = subprocess.run(
        shlex.split(verify.removeprefix("$ ")),
        cwd=clone,
        env=environment(clone),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # In a terminal they are one after the other: set-up and progress first.
    setup, _, results = done.stdout.partition("oracle:")
    agree(expected, "\n".join([setup, done.stderr, f"oracle:{results}"]))


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_commands_of_a_page(block: Block, clone: Path):
    call("make setup", clone)
    begun = call("git rev-parse HEAD", clone).split()[-1]
    if "make bench" in lines(block):  # else it would be an hour
        call(f"cd benchmarks && git rm -q $(ls bench_*.py | grep -v {ASV_SUITE})", clone)
        call(f"{COMMIT} 'one suite'", clone)
    for line in lines(block):
        how = SMALL[line]
        if how.first:
            call(how.first, clone)
        said = call(f"{line} {how.more}", clone, how.env, how.codes)
        for words in how.says:
            assert words in said, f"{line}: {words!r} is not in\n{said}"
    call(f"git reset -q --hard {begun}", clone)


def call(
    line: str, folder: Path, more: dict[str, str] | None = None, codes: tuple[int, ...] = (0,)
) -> str:
    """What bash prints for a line, both streams together."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment(folder) | (more or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode in codes, f"{line}: {done.returncode}\n{done.stdout}"
    return done.stdout
