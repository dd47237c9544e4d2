"""The pages of errata and of tightness are what the registry and the extremal problems say."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gammabar.harness.registry import extremal, load_statements, read_extremal
from gammabar.harness.run.engine import Request, make_plan
from gammabar.harness.run.tasks import TIME_LIMIT
from gammabar.harness.verify.verdict import Status
from gammabar.problems import ProblemError

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: A tightness is computed in doubles, which differ in their last digits from machine to machine.
SAME = 1e-6


@cache
def script(name: str) -> ModuleType:
    spec = spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_of_errata_is_what_the_registry_says():
    errata = script("errata")
    assert errata.PAGE.read_text(encoding="utf-8") == errata.page(), "run python docs/errata.py"
    assert errata.README.read_text(encoding="utf-8") == errata.readme()
    assert errata.readme().count(f"{errata.mistakes()} mistakes in all") == 1


def test_what_is_refuted_says_why_and_what_survives():
    refuted = [s for s in load_statements().values() if s.status is Status.REFUTED]
    assert len(refuted) >= 41
    assert [s.id for s in refuted if not (s.why and s.note and s.survives and s.fixed_by)] == []
    page = (DOCS / "errata.md").read_text(encoding="utf-8")
    assert [s.id for s in refuted if f"**`{s.id}`**" not in page] == []


def test_the_page_of_tightness_names_every_bound():
    tightness = script("tightness")
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
    made, one = script("extremal"), extremal()[name]
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
