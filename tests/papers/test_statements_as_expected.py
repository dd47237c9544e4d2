"""Every statement is complete, and its cheapest run of the plan gives the golden result."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from flint import arb
from golden.__main__ import FOLDER, KEY, equal, intended, read_frozen
from statement_checks import STATEMENTS, verdict

from gammabar.harness.registry import artefacts, papers, trials
from gammabar.harness.verify.numbers import known_zero
from gammabar.harness.verify.statement import DirectStatement
from gammabar.papers import Paper

ROOT = Path(__file__).resolve().parents[2]
PAPERS = {
    "jst": "ji_srebro_telgarsky_2021",
    "tyurin": "tyurin_2024",
    "rp": "ramdas_pena_2015",
    "lec": "lecture",
    "gb": "gammabar",
}
#: Iterations of each run that is planned.
PLANNED = {(t.solver, t.problem, str(t.seed)): t.iterations for t in trials()}
INTENDED = intended()
SLOW_DATA = ("mnist", "digits", "wine", "breast")
MORE_THAN_HALF_A_SECOND = """
jst.thm4.1 jst.thm4.1.fixed jst.thm4.1.delta jst.thm4.1.tenth lec.cor4
lec.thm3 gb.sampling jst.lemD.1 jst.lemD.2 gb.lec.sgd.draws
"""


def cheapest() -> list[dict[str, str]]:
    """Of each statement the shortest planned run that says something, on data of few rows."""
    found: dict[str, list[dict[str, str]]] = {}
    for results in read_frozen(FOLDER / "plan.csv").values():
        for row in results:
            planned = not row["solver"] or (row["solver"], row["problem"], row["seed"]) in PLANNED
            if int(row["checked"] or 0) and planned and row["statement"] in STATEMENTS:
                found.setdefault(row["statement"], []).append(row)

    def cost(row: dict[str, str]) -> tuple[bool, bool, bool, int]:
        other = row["verdict"] != str(STATEMENTS[row["statement"]].status)
        large = any(name in row["problem"] for name in SLOW_DATA)
        return other, not int(row["informative"] or 0), large, int(row["checked"])

    return [min(rows, key=cost) for rows in found.values()]


def test_every_statement_is_tested_by_the_plan_or_says_why_not() -> None:
    """A verdict that is not vacuous, or the sentence that says why there can be none."""
    rows = [row for found in read_frozen(FOLDER / "plan.csv").values() for row in found]
    told = {r["statement"] for r in rows if r["verdict"] == "refuted" or int(r["informative"] or 0)}
    silent = [s for s in STATEMENTS.values() if s.id not in told]
    assert [s.id for s in silent if not (s.at_rest or s.powerless)] == []


CHEAPEST = [
    pytest.param(
        row,
        id=row["statement"],
        marks=pytest.mark.full if row["statement"] in MORE_THAN_HALF_A_SECOND.split() else (),
    )
    for row in cheapest()
]


@pytest.mark.parametrize("row", CHEAPEST)
def test_the_cheapest_run_gives_the_golden_result(row: dict[str, str]) -> None:
    """Verdict, count and tightness; `make golden` compares all other runs."""
    iterations = PLANNED.get((row["solver"], row["problem"], row["seed"]), 200)
    found = verdict(
        row["statement"], row["solver"] or None, row["problem"], iterations, int(row["seed"])
    )
    now = {"verdict": str(found.verdict)}
    refuted = found.verdict == "refuted" and found.worst_t is not None
    now["refuted_at"] = str(found.worst_t) if refuted else ""
    now["checked"] = str(found.checked)
    apart = [f"{name} {row[name]} → {new}" for name, new in now.items() if row[name] != new]
    old, new = row["tightness"], "" if found.tightness is None else str(found.tightness)
    if not equal("tightness", old, new, row["statement"]):
        apart.append(f"tightness {old} → {new}")
    name = " ".join(row[part] for part in KEY[:3] if row[part])
    assert not apart or is_intended(f"{name} :: {', '.join(apart)}"), apart


def is_intended(line: str) -> bool:
    return any(fnmatchcase(line, pattern) for pattern in INTENDED)


def test_every_statement_has_a_run() -> None:
    without_data = {s.id for s in STATEMENTS.values() if s.status == "not reproducible"}
    missing = set(STATEMENTS) - without_data - {row.id for row in CHEAPEST}
    lines = [
        (f"{i} :: 0 results before, 1 now", f"{i} * :: 0 results before, 1 now") for i in missing
    ]
    assert [pair for pair in lines if not any(map(is_intended, pair))] == []


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=lambda s: s.id)
def test_entries_are_complete(statement) -> None:
    assert statement.words.endswith((".", ".)"))
    assert statement.claim
    package = f"gammabar.papers.{PAPERS[statement.source]}."
    assert statement.body.__module__.startswith(package)
    if statement.status == "refuted":
        assert statement.problems
        assert statement.note
        assert statement.why.endswith(".")
    if isinstance(statement, DirectStatement) and statement.source != "gb":
        assert statement.problems
    if statement.id.endswith(".fixed"):
        assert STATEMENTS[statement.id.removesuffix(".fixed")].fixed_by == statement.id


def test_statements_are_listed_in_the_order_of_the_paper() -> None:
    names = "sec1.quarter sec2.argmax thm3.1.1 sec3.1.mirror lem3.2 lem3.5 thm4.1 lemD.1"
    names += " thm5.1 appE.margin lemA.1.value lemB.3 thmB.12 lemC.2"
    places = [list(STATEMENTS).index(f"jst.{name}") for name in names.split()]
    assert places == sorted(places)


def test_a_paper_may_have_no_year() -> None:
    assert str(Paper(key="x", title="T", authors="A")) == "A, T"
    assert str(Paper(key="x", title="T", authors="A", year=2026)) == "A (2026), T"
    assert papers()["lec"].year is None


def test_the_page_of_coverage_names_every_statement_and_every_artefact() -> None:
    page = (ROOT / "papers" / "COVERAGE.md").read_text(encoding="utf-8")
    sources = ("jst", "tyurin", "rp", "lec")
    named = {
        name
        for name in re.findall(r"`([a-z]+[.][^`*]+)`", page)
        if name.partition(".")[0] in sources
    }
    ours = {s.id for s in STATEMENTS.values() if s.source in sources}
    shown = {a for a in artefacts() if re.match(r"(jst|tyurin|lec)[.](fig|table)", a)}
    assert (ours | shown) - named == named - ours - set(artefacts()) == set()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    assert all(len(row.strip("| ").split(" | ")) == 2 for row in rows)
    assert len(rows) > 100


# --- how papers are written ----------------------------------------------------------------------

MODULES = {str(p.relative_to(ROOT)): p for p in sorted((ROOT / "papers").glob("*/*.py"))}
#: Modules that compare rationals, whole numbers or arrays with 0.
RATIONAL = {
    "papers/lecture/section1_3.py",
    *(f"papers/ramdas_pena_2015/{name}.py" for name in ("small_data", "section2")),
    "papers/tyurin_2024/refuters.py",
}


def test_papers_take_their_words_from_gammabar_papers_and_compare_no_ball_with_zero() -> None:
    """Of balls, != is no test: it is false as long as they may be equal."""
    unequal = set()
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("gammabar.harness.verify"), name
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotEq):
                against = node.comparators[0]
                if isinstance(against, ast.Constant) and against.value == 0:
                    unequal.add(name)
    assert unequal == RATIONAL


def test_known_zero_is_certain() -> None:
    assert known_zero(arb(0))
    assert known_zero(0)
    for ball in (arb(0, 1), arb("nan"), arb(1), arb(0, 1e-300)):
        assert not known_zero(ball)
