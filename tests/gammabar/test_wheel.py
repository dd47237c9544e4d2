"""What is installed from a wheel is whole, also in a folder that is full of our generic names.

The wheel is built and installed into a virtual environment of its own, which borrows the
dependencies of this one but not this clone: a link to their folder does not run their .pth files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

#: One process builds and compiles once: CI runs this file by itself (`make test-wheel`).
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("problems", "oracle", "solvers", "harness", "papers", "tests", "benchmarks")

PIPES = {"capture_output": True, "text": True, "check": False}
SOLVER = """
from itertools import count
import solvers, problems, harness, oracle  # the user's own
from gammabar.solvers import Iterate

class Mine:
    def iterates(self, problem, rng):
        assert solvers.MINE and problems.MINE and harness.MINE and oracle.MINE
        w = problem.origin()
        for t in count():
            yield Iterate(t=t, w=w)
            w = w + problem.combine(problem.scores(w) <= 0)
"""
TEST = """
from solvers import MINE
def test_the_folder_is_mine():
    assert MINE
"""
BOUND = """
from itertools import islice
import gammabar as gb
from solvers import MINE
def test_a_bound(check_bound):
    found = check_bound(
        "gb.sharp", gb.solvers.DualAcceleration(), problem="planted:n=40,d=5,gamma=0.1,seed=0",
        iterations=400,
    )
    assert found.verdict == "holds"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of a copy of this clone."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = folder / "clone"
    # From a copy, so that nothing is left in this folder; links stay links.
    shutil.copytree(
        ROOT,
        clone,
        symlinks=True,
        ignore=shutil.ignore_patterns(
            ".git", ".venv", ".asv", "__pycache__", ".*_cache", "build", "*.egg-info", "results"
        ),
    )
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(clone)], check=True)
    (found,) = folder.glob("gammabar-*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory) -> Path:
    """An interpreter that has the wheel installed."""
    home = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)}))
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python"]
    command += [str(home / "bin" / "python"), "install", "--no-deps", str(wheel)]
    subprocess.run(command, check=True)
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory) -> Path:
    """A project of somebody else, with folders that are called as ours are."""
    folder = tmp_path_factory.mktemp("foreign")
    for name in NAMES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("MINE = True\n")
    (folder / "solvers" / "smooth.py").write_text("raise ImportError('not yours')\n")
    (folder / "my.py").write_text(SOLVER)
    (folder / "tests" / "test_mine.py").write_text(TEST)
    (folder / "data.csv").write_text("label,x,y\n1,2,1\n1,1,2\n0,-1,-2\n")
    return folder


@pytest.fixture
def gammabar(python: Path, foreign: Path):
    """Run the installed command in the foreign folder; (exit code, stdout, stderr)."""

    def run(*arguments: str, command: tuple[str, ...] = ()) -> tuple[int, str, str]:
        start = command or (str(python.with_name("gammabar")),)
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GAMMABAR"))}
        done = subprocess.run([*start, *arguments], cwd=foreign, env=keep, **PIPES)
        return done.returncode, done.stdout, done.stderr

    return run


def test_the_wheel_has_every_file_that_git_has(wheel: Path):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("gammabar/")}
    ours = ("problems", "oracle", "solvers", "harness", "papers")
    files = {
        f"gammabar/{path.relative_to(ROOT)}"
        for package in ours
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".json", ".typed") or path.name == "CERTIFICATE.md"
    }
    assert files <= inside
    assert sum(name.endswith(".json") for name in inside) > 30
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gammabar"}


def test_the_front_door(gammabar, python: Path, foreign: Path):
    code = (
        "import gammabar as gb, solvers, problems; assert solvers.MINE and problems.MINE\n"
        "problem = gb.load('data.csv'); print(gb.solve(problem).separable, gb.__version__)\n"
        "print([getattr(gb, name) is not None for name in gb.__all__].count(False))\n"
        "print(gb.__file__)"
    )
    status, out, err = gammabar("-c", code, command=(str(python),))
    assert status == 0, err
    first, missing, file = out.splitlines()
    assert first.startswith("True ")
    assert missing == "0"
    assert Path(file).is_relative_to(python.parents[1])


def test_oracle_and_check(gammabar):
    status, out, err = gammabar("oracle", "data.csv", "--json", "--certificate", "c.json")
    assert status == 0, err
    assert json.loads(out)["separable"] is True
    status, out, err = gammabar("check", "c.json", "data.csv")
    assert status == 0, err
    assert out.startswith("accepted: ")


def test_every_witness_is_checked(gammabar, python: Path):
    status, out, err = gammabar("list", "statements", "--json")
    assert status == 0, err
    witnesses = [entry["witness"] for entry in json.loads(out) if entry["status"] == "refuted"]
    assert len(witnesses) >= 29
    for witness in witnesses[::7]:
        status, out, err = gammabar("check", witness)
        assert status == 0, out + err
    # All of them in one process.
    code = "import sys; from gammabar.papers.witness import main; sys.exit(main(sys.argv[1:]))"
    status, out, err = gammabar("-c", code, *witnesses, command=(str(python),))
    assert status == 0, out + err
    assert out.count("accepted: ") == len(witnesses)


def test_verify_in_worker_processes_and_a_solver_of_ones_own(gammabar):
    wanted = ("--problem", "planted:n=30,d=4,gamma=0.1,seed=0", "--json", "--jobs", "2")
    status, out, err = gammabar("verify", "--statement", "gb.sharp", *wanted)
    assert status == 0, err
    status, out, err = gammabar(
        "verify", "--solver-file", "my.py:Mine", "--statement", "rp.perceptron", *wanted
    )
    assert status == 0, out + err
    assert {r["verdict"] for r in json.loads(out)["results"]} == {"holds"}


def test_data_and_bench_and_gate(gammabar):
    status, _, err = gammabar("data", "list")
    assert status == 0, err
    for command in (("bench", "--only", "oracle", "--quick", "--json"), ("gate",)):
        status, _, err = gammabar(*command)
        assert status == 2  # it needs a clone, and says so
        assert err.count("\n") == 1
        assert "clone" in err


def test_pytest_with_and_without_the_fixture(gammabar, python: Path, foreign: Path):
    start = (str(python), "-m", "pytest")
    status, out, _ = gammabar("-q", "tests/test_mine.py", command=start)
    assert status == 0, out
    (foreign / "tests" / "test_bound.py").write_text(BOUND)
    status, out, _ = gammabar("-q", "tests", command=start)
    assert status == 0, out
    assert "2 passed" in out
