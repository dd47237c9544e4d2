"""Pages that programs write, and tables that name fields, are what the programs say."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from blocks import ROOT, script

from gammabar.harness.cli import main
from gammabar.harness.registry import (
    PLUGINS,
    artefacts,
    extremal,
    find_statement,
    load_statements,
    measured,
    plugins,
    read_extremal,
)
from gammabar.harness.run.engine import Request, make_plan
from gammabar.harness.run.tasks import TIME_LIMIT
from gammabar.harness.verify.verdict import Status
from gammabar.problems import ProblemError
from gammabar.solvers.base import SOLVERS

DOCS = ROOT / "docs"
#: A tightness is computed in doubles, which differ in their last digits from machine to machine.
SAME = 1e-6


def test_the_page_of_errata_is_what_the_registry_says():
    errata = script("docs/errata.py")
    assert errata.PAGE.read_text(encoding="utf-8") == errata.page(), "run python docs/errata.py"
    assert errata.README.read_text(encoding="utf-8") == errata.readme()
    assert errata.readme().count(f"by {errata.mistakes()} mistakes: ") == 1


def test_what_is_refuted_says_why_and_what_survives():
    refuted = [s for s in load_statements().values() if s.status is Status.REFUTED]
    assert len(refuted) >= 41
    assert [s.id for s in refuted if not (s.why and s.note and s.survives and s.fixed_by)] == []


def test_the_page_of_tightness_names_every_bound():
    tightness = script("docs/tightness.py")
    page, picture = tightness.page(), tightness.picture()
    assert [name for name in extremal() if f"`{name}`" not in page] == []
    assert picture.startswith("<svg")


def test_extremal_problems_are_of_statements_that_hold_and_in_the_plan():
    statements, known = load_statements(), extremal()
    assert len(known) > 90
    assert {statements[name].status for name in known} == {Status.HOLDS}
    tasks = make_plan(Request())
    planned = {
        (name, task.run.problem, task.run.by, task.run.seed)
        for task in tasks
        for name in task.statements
    }
    away = [
        name
        for name, one in known.items()
        if (name, one.problem, one.solver if statements[name].about_runs else "", one.seed)
        not in planned
    ]
    assert away == []


def _again(name: str) -> None:
    made, one = script("docs/extremal.py"), extremal()[name]
    # The limit of a search is short; the first pass over data of a type and size compiles for
    # seconds, of which a busy machine makes a minute.
    verdict = made.judged(load_statements()[name], one, TIME_LIMIT)
    assert verdict.verdict == "holds", verdict.reason
    assert verdict.tightness == pytest.approx(one.tightness, rel=SAME, abs=1e-9)


def _cheap(one: Any) -> bool:
    """Little data and few steps: the others are judged by the slow tests."""
    large = ("mnist", "digits", "worst-case:n=1", "orthogonal:n=1000", "iris", "gaussian")
    return one.found_by != "plan" and one.iterations <= 250 and not one.problem.startswith(large)


@pytest.mark.parametrize("name", [name for name, one in extremal().items() if _cheap(one)])
def test_a_search_found_what_the_page_says(name):
    _again(name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": "gammabar-extremal", "version": 2, "statements": {}}',
        '{"format": "gammabar-extremal", "version": 1, "statements": {"a.b": {"t": 1}}}',
        '{"format": "gammabar-extremal", "version": 1, "statements": []}',
    ],
)
def test_a_file_that_is_none_of_these_is_refused(text, tmp_path):
    (tmp_path / "extremal.json").write_text(text)
    with pytest.raises(ProblemError, match="not a file of extremal problems"):
        read_extremal(tmp_path / "extremal.json")


def test_the_gallery_is_what_was_measured_and_its_pictures_are_there():
    written = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert script("docs/gallery.py").page() == written, "run python docs/gallery.py"
    assert set(measured()) <= set(artefacts())
    pictures = {Path(name).name for name in re.findall(r"\]\(gallery/([^)]+)\)", written)}
    assert pictures == {path.name for path in (DOCS / "gallery").iterdir()}
    assert all((DOCS / "gallery" / name).stat().st_size < 300_000 for name in pictures)


def test_the_fields_of_a_result_are_those_of_the_page(capsys):
    words = ["verify", "--statement", "gb.sharp", "--problem", "planted:n=12,d=3,gamma=0.2,seed=0"]
    with pytest.raises(SystemExit):
        main([*words, "--jobs", "1", "--json"])
    found = json.loads(capsys.readouterr().out)
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    table = page.partition("Each entry of `results`")[2]
    cells = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    fields = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert fields == set(found["results"][0])
    assert [name for name in found["summary"] if f"`{name}`" not in page] == []


def test_the_table_of_papers_of_one_file_counts_their_statements():
    page = (DOCS / "bring-your-theorem.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)`\].* \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    with plugins():
        known = [(s.source, s.status) for s in load_statements().values()]
    assert {key for key, *_ in rows} == {path.stem for path in PLUGINS.glob("*.py")} - {"refuters"}
    for key, total, false in rows:
        counts = Counter(status for source, status in known if source == key)
        assert (counts.total(), counts[Status.REFUTED]) == (int(total), int(false)), key
    assert f"Each of the {sum(int(false) for *_, false in rows)} has a witness" in page


def test_every_method_is_measured_and_has_a_theorem_that_is_about_it():
    page = script("docs/which_method.py")
    names = {method: method.partition(":")[0] for method in page.METHODS}
    with plugins():
        assert {*names.values()} == {*SOLVERS} - {"adaboost", "kernel-ridge"}
        for method, identifier in page.METHODS.items():
            statement = find_statement(identifier)
            assert statement.status is Status.HOLDS
            assert names[method] in statement.solvers, (method, identifier)
    found = json.loads(page.DATA.read_text(encoding="utf-8"))
    assert list(found) == list(page.PROBLEMS)
    assert all(set(runs) == set(page.METHODS) for runs in found.values())
