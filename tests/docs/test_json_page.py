"""docs/reference.md names the fields that documents have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gammabar.harness.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
PROBLEM = "planted:n=12,d=3,gamma=0.2,seed=0"


def document(capsys, *arguments: str) -> dict:
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def named(part: str) -> set[str]:
    """The fields in the first column of a table."""
    rows = re.findall(r"^\| (`[^|]*`) \|", part, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_fields_of_a_result_are_those_of_the_page(capsys):
    found = document(
        capsys, "verify", "--statement", "gb.sharp", "--problem", PROBLEM, "--jobs", "1"
    )
    fields = named(PAGE.partition("Each entry of `results`")[2])
    assert fields == set(found["results"][0])
    for name in found["summary"]:
        assert f"`{name}`" in PAGE
