"""Workflows for users: they are YAML that GitHub takes, and their steps do what they are for.

Nothing here is GitHub: keys and events are compared with those of its reference, and every step but
the installation is run in a repository made for it, by bash as there.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from blocks import blocks

from gammabar.harness.cli import cli

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "docs" / "workflows").glob("*.yml"))
GATE = (ROOT / "docs" / "in-ci.md").read_text(encoding="utf-8")


def jobs(text: str) -> dict:
    found = yaml.safe_load(text)
    assert found[True]  # what YAML makes of `on`
    assert found["jobs"]
    return found["jobs"]


def commands(text: str) -> list[list[str]]:
    """Every call of ours in the steps of a workflow."""
    found = []
    for job in jobs(text).values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            script = re.sub(r"\$\{\{.*?\}\}", "X", step.get("run", ""))
            found += [shlex.split(line) for line in script.splitlines() if line[:8] == "gammabar"]
    return found


TEXTS = {path.name: path.read_text(encoding="utf-8") for path in FILES}
TEXTS["the page on the gate"] = re.findall(r"```yaml [^\n]*\n(.*?)```", GATE, re.S)[0]


def test_there_are_three():
    assert {"checks.yml", "gate.yml", "verify.yml"} <= set(TEXTS)
    assert TEXTS["gate.yml"] == TEXTS["the page on the gate"]


@pytest.mark.parametrize("name", TEXTS)
def test_a_workflow_is_one(name):
    for _, *words in commands(TEXTS[name]):
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None
        command.make_context(words[0], words[1:], resilient_parsing=False)
    actions = re.findall(r"uses: (\S+)", TEXTS[name])
    assert actions
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in actions)


ALGORITHM_1 = """
def mine(problem):
    w = momentum = problem.origin()
    t = 0
    while True:
        yield w
        pull = problem.softmin(w).pull
        momentum = t / (t + 1) * (momentum + pull)
        w, t = w + momentum + pull, t + 1
"""
BOUND = """
from my import mine

def test_mine(check_bound):
    check_bound("jst.thm3.1.2", mine, problem="iris:0,1", iterations=60, strict=True)
"""
SUITE = "import my\n\n\ndef track_parser():\n    return len(open(my.__file__).readlines())\n"
SETUP = "from setuptools import setup\n\nsetup(name='mine', py_modules=['my'])\n"


def repository(folder: Path) -> None:
    """One of a user's: a solver, a test, an asv suite, and main here and on a remote."""
    (folder / "perf").mkdir(parents=True)
    files = {"my.py": ALGORITHM_1, "test_bounds.py": BOUND, "perf/__init__.py": ""}
    files |= {"perf/suite.py": SUITE, "asv.conf.json": '{"benchmark_dir": "perf"}'}
    files |= {"setup.py": SETUP}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    who = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    later = ["commit", "-q", "--allow-empty", "-m", "later"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "a solver"], later):
        subprocess.run([*who, *words], cwd=folder, check=True)
    subprocess.run(
        ["git", "update-ref", "refs/remotes/origin/main", "HEAD"], cwd=folder, check=True
    )


def steps(name: str, folder: Path) -> list[int]:
    """Exit codes of the steps that run something, without those that install."""
    [job] = jobs(TEXTS[name]).values()
    found = [step.get("run", "") for step in job["steps"]]
    return [by_bash(script, folder) for script in found if script and "pip install" not in script]


def by_bash(script: str, folder: Path) -> int:
    """The exit code of a script, which is called as GitHub does it."""
    ours = f'gammabar() {{ "{sys.executable}" -m gammabar "$@"; }}\n'
    ours += f'python() {{ "{sys.executable}" "$@"; }}\n'
    more = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PYTHONPATH": f"{ROOT}"}
    script = ours + script.replace("${{ github.base_ref }}", "main")
    words = ["bash", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(words, cwd=folder, env=os.environ | more, check=False).returncode


@pytest.mark.full
def test_commands_of_the_page_on_the_gate(tmp_path):
    pytest.importorskip("asv_runner")
    repository(tmp_path)
    [block] = [b for b in blocks("docs/in-ci.md") if b.way == "repository"]
    lines = block.text.splitlines()
    assert len(lines) == 4
    for line in lines:
        assert by_bash(line, tmp_path) == 0, line


@pytest.mark.full
def test_the_gate_lets_a_pull_request_pass_and_stops_another(tmp_path):
    pytest.importorskip("asv_runner")
    repository(tmp_path)
    assert steps("gate.yml", tmp_path) == [0]
    with (tmp_path / "my.py").open("a", encoding="utf-8") as file:
        file.write("# one line more\n")
    assert steps("gate.yml", tmp_path) == [1]
