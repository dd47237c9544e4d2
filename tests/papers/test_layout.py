"""Where things stand: statements in the package of their source, in words that papers share."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gammabar.papers
from gammabar.harness.registry import load_statements, papers
from gammabar.papers import Paper

FOLDERS = {
    "jst": "ji_srebro_telgarsky_2021",
    "tyurin": "tyurin_2024",
    "rp": "ramdas_pena_2015",
    "lec": "lecture",
    "gb": "gammabar",
}
MODULES = sorted(Path(gammabar.papers.__path__[0]).glob("*/*.py"))


@pytest.mark.parametrize("key", FOLDERS)
def test_a_statement_stands_in_the_package_of_its_source(key):
    package = f"gammabar.papers.{FOLDERS[key]}."
    strays = {
        s.id: s.body.__module__
        for s in load_statements().values()
        if (s.source == key) != s.body.__module__.startswith(package)
    }
    assert not strays


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_paper_takes_its_words_from_gammabar_papers(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    taken = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert not [name for name in taken if name.startswith("gammabar.harness.verify")]


def test_a_paper_may_have_no_year():
    assert str(Paper(key="x", title="T", authors="A")) == "A, T"
    assert str(Paper(key="x", title="T", authors="A", year=2026)) == "A (2026), T"
    assert papers()["lec"].year is None
