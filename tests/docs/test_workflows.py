"""Workflows for users: they are YAML that GitHub takes, and what they call exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from gammabar.harness.cli import cli

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "docs" / "workflows").glob("*.yml"))
GATE = (ROOT / "docs" / "gate-your-own-repository.md").read_text(encoding="utf-8")


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
TEXTS["the page on the gate"] = re.findall(r"```yaml\n(.*?)```", GATE, re.S)[0]


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


def test_the_report_that_is_kept_is_the_one_that_is_written():
    text = TEXTS["verify.yml"]
    [call] = commands(text)
    folder = call[call.index("--report") + 1]
    uploaded = [s["with"]["path"] for s in jobs(text)["verify"]["steps"] if "upload" in str(s)]
    assert uploaded == [folder]
    summary = re.search(r"cat (\S+) >>", text)
    assert summary is not None
    from gammabar.harness.report import write_report  # it names the files that it writes

    assert Path(summary[1]).name in Path(write_report.__code__.co_filename).read_text("utf-8")
