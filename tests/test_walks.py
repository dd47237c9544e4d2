"""The walks of docs/architecture.md are those that a run takes, call by call."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: Writes the functions of this project that are under way, outermost first.
TRACE = f"""
import os, sys

def trace():
    frame, calls = sys._getframe(1), []
    while frame is not None:
        path = os.path.realpath(frame.f_code.co_filename)
        if path.startswith({str(ROOT) + os.sep!r}) and frame.f_code.co_name != "<module>":
            name = path[{len(str(ROOT)) + 1}:] + ": " + frame.f_code.co_qualname
            if not name.startswith(".venv"):
                calls.append(name)
        frame = frame.f_back
    if not os.path.exists("calls.txt"):  # the first call counts
        with open("calls.txt", "w") as file:
            file.write("\\n".join(reversed(calls)))
"""

PAPER = (
    TRACE
    + '''
from gammabar.papers import Paper, at_least, per_iterate

paper = Paper(key="walk", title="A walk", authors="Nobody", year=2026, venue="here")

@per_iterate("walk.step", reference="-", claim="0 \\\\ge 0", solvers=("dual-acceleration",))
def step(it, case):
    """Nothing is less than nothing."""
    trace()
    return at_least(0, 0)
'''
)

SOLVER = (
    TRACE
    + """
class Mine:
    def iterates(self, problem, rng):
        trace()
        raise ValueError("that was it")
        yield
"""
)

ORACLE = (
    TRACE
    + """
import gammabar.oracle.proof as exact
from gammabar.harness.cli import main

proof = exact.minimum_norm_point

def traced(*arguments):
    trace()
    return proof(*arguments)

exact.minimum_norm_point = traced
main(["oracle", "iris:0,1"])
"""
)

ON = ["--problem", "iris:0,1", "--iterations", "1"]
WALKS = {
    "verify": (
        "paper.py",
        PAPER,
        ["-m", "gammabar", "verify", "--paper", "paper.py", "--jobs", "1", *ON],
    ),
    "oracle": ("walk.py", ORACLE, ["walk.py"]),
    "solver file": (
        "mine.py",
        SOLVER,
        [
            "-m",
            "gammabar",
            "verify",
            "--solver-file",
            "mine.py:Mine",
            "--statement",
            "jst.thm3.1.1",
            *ON,
        ],
    ),
}


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_as_the_page_says(walk: str, tmp_path: Path):
    name, text, arguments = WALKS[walk]
    (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.search(rf"```text walk={walk}\n(.*?)\n```", page, re.S)
    assert found is not None
    assert (tmp_path / "calls.txt").read_text() == found[1]
