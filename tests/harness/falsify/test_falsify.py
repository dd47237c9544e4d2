"""The search for a refutation: strategies, shrinking, reports, and what it finds."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import count
from math import inf

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

from gammabar.harness.falsify import search as searching
from gammabar.harness.falsify.parameters import Finding, solvers_of, strategies
from gammabar.harness.falsify.reports import as_document, read, write
from gammabar.harness.falsify.search import Report, Search, _Over as Over
from gammabar.harness.registry import find_statements
from gammabar.harness.run.tasks import Registered, Run
from gammabar.harness.verify.verdict import Verdict
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_problem, text_of_rows

PAPER = '''
from gammabar.papers import Paper, separable, stopping

paper = Paper(key="guess", title="A guess", authors="Nobody", year=2026, venue="a notebook")

@stopping("guess.less", reference="-", claim=r"t \\le R^2/\\bar\\gamma^2 - 1",
          solvers=("perceptron",), assumes=(separable,))
def less(case):
    """The perceptron separates after (R/γ̄)² − 1 updates."""
    return case.mistake_bound - 1
'''

CRASHES = (
    "class Mine:\n    def iterates(self, problem, rng):\n        raise RuntimeError('broken')\n"
)


def verdict(refuted: bool, **more) -> Verdict:
    return Verdict("x", "refuted" if refuted else "holds", **more)


def searched(judge, name="jst.thm3.1.1", monkeypatch=None, **options) -> Report:
    """A search whose candidates are judged by a function instead of processes."""
    [statement] = find_statements([name])
    found = Search(statement, solvers_of(statement), budget=20.0, **options)
    found._verdict = judge

    class Pool:
        def perform(self, task):
            return None

    return found.carry_out(Pool())


@pytest.fixture
def clock(monkeypatch):
    """A budget lasts for so many candidates, however busy the machine is."""
    ticks = count()
    monkeypatch.setattr(searching, "monotonic", lambda: next(ticks) / 20)


rows_of = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.tuples(*[st.builds(Fraction, st.integers(-99, 99), st.sampled_from((1, 2, 8)))] * d),
        min_size=1,
        max_size=5,
    ).map(tuple)
)


@given(rows_of)
def test_rows_that_are_written_are_the_rows_of_the_problem(rows):
    problem = open_problem(text_of_rows(rows))
    X, y = np.asarray(problem.points.X), np.asarray(problem.y)
    assert [[int(s) * Fraction(v) for v in r] for s, r in zip(y, X.tolist(), strict=True)] == [
        list(row) for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rows:", "is not a number"),
        ("rows:1,2;3", "row 1 has 1 numbers"),
        ("rows:1/3", "is not a double"),
        ("rows:1e400,1/2", "is not a double"),
        ("rows:1/0", "is not a number"),
        ("rows:1*0", "must be at least 1"),
        ("rows:1,1*9999", "more than 10000 numbers"),
        ("rows:" + "1" * 5000, "has 5000 characters"),
    ],
)
def test_rows_that_are_no_rows_are_refused(text: str, why: str):
    with pytest.raises(ProblemError, match=why):
        open_problem(text)


@pytest.mark.parametrize("name", ["rows", "families"])
def test_a_strategy_proposes_problems_that_can_be_opened(name: str):
    [statement] = find_statements(["jst.thm3.1.1"])
    asked: set[Run] = set()

    @settings(max_examples=150, database=None, phases=[Phase.generate])
    @given(strategies(statement, solvers_of(statement))[name])
    def collect(candidate):
        asked.add(candidate)

    collect()
    assert len(asked) > 60
    for candidate in asked:
        assert candidate.solver.name in statement.solvers
        candidate.solver.open()
        try:
            open_problem(candidate.problem)
        except ProblemError:
            assert "--" in candidate.problem or not candidate.problem.startswith("rows:")


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("jobs", [1, 3])
def test_shrinking_keeps_what_refutes_and_drops_the_rest(seed, jobs):
    """Of a claim that fails where a row has a number of 2 or more, one number remains."""

    def judge(candidate):
        try:
            points = getattr(open_problem(candidate.problem), "points", None)
        except ProblemError:
            points = None
        large = 0.0 if points is None else float(np.abs(np.asarray(points.X)).max())
        refuted = large >= 2 and candidate.iterations >= 7
        return verdict(refuted, worst_t=7, tightness=min(large, 1.9) / 2)

    best = searched(judge, seed=seed, jobs=jobs).best
    assert best.refuted
    assert best.candidate.problem in ("rows:2", "rows:-2")
    assert (best.candidate.iterations, best.candidate.seed) == (7, 0)
    assert best.candidate.solver == Registered("dual-acceleration")


def test_a_search_of_few_inputs_ends_when_all_were_tried():
    report = searched(lambda candidate: verdict(False), "lec.sec4.vc")
    assert not report.refuted
    assert report.runs["inputs"]


def test_a_report_is_read_as_it_was_written(tmp_path):
    one = Run("rows:3;-1 --kernel linear", Registered("perceptron"), 7, 2)
    found = Finding(one, verdict(True, tightness=inf, slack=-inf))
    report = Report("x", found, nearest={"families": inf})
    report.runs["families"] = 12
    path = tmp_path / "report.json"
    write(path, as_document(report))
    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert document["nearest"] == {"families": None}
    assert document["best"]["verdict"]["tightness"] is None
    assert read(path, "x", ()) == (one, 12)
    with pytest.raises(ProblemError, match="it is about x"):
        read(path, "y", ())
    for text in ("", "{}", "[1]", '{"format": "gammabar-falsify"}', "\xff", "[" * 100_000):
        path.write_text(text, encoding="latin-1")
        with pytest.raises(ProblemError, match="not a report"):
            read(path, "x", ())


@pytest.mark.usefixtures("shelf_as_before")
def test_a_false_conjecture_is_refuted_by_one_row(gammabar, tmp_path):
    paper, kept = tmp_path / "guess.py", tmp_path / "kept.json"
    paper.write_text(PAPER, encoding="utf-8")
    arguments = ["falsify", "guess.less", "--paper", paper, "--jobs", "1", "--json"]
    for _ in range(2):  # the second search goes on from the first
        code, out, _ = gammabar(*arguments, "--budget", "60", "--store", kept)
        document = json.loads(out)
        assert code == 1
        assert (document["format"], document["version"]) == ("gammabar-falsify", 1)
        assert document["best"]["problem"] == "rows:1"
        assert document["best"]["verdict"]["verdict"] == "refuted"
        assert json.loads(kept.read_text())["best"] == document["best"]


@pytest.mark.full
@pytest.mark.parametrize("ids", [["gb.selfcert"], ["gb.selfcert", "gb.sharp"]])
def test_a_run_that_failed_is_not_a_run_that_found_nothing(ids, gammabar, tmp_path, clock):
    file, store = tmp_path / "mine.py", tmp_path / "kept.json"
    file.write_text(CRASHES, encoding="utf-8")
    arguments = ["--solver-file", f"{file}:Mine", "--budget", "6", "--jobs", "1"]
    code, out, err = gammabar("falsify", *ids, *arguments, "--store", store)
    assert code == 2
    assert "not refuted" not in out
    assert "failed" in err
    kept = json.loads(store.read_text())
    for report in kept.get("reports", {"": kept}).values():
        assert sum(report["failed"].values()) > sum(report["runs"].values())


@pytest.mark.full
def test_a_statement_with_its_own_data_is_searched_over_its_inputs(gammabar):
    code, out, _ = gammabar("falsify", "rp.eq16", "--jobs", "1", "--budget", "60")
    assert code == 0  # what is refuted is known to be false
    assert "rp.eq16 refuted" in out
    assert "inputs:slopes=" in out
    code, out, _ = gammabar("falsify", "lec.ex9.2", "--jobs", "1")  # it says one thing
    assert code == 0
    assert "lec.ex9.2 refuted" in out


@pytest.mark.full
def test_many_statements_share_the_time_and_a_killed_run_goes_on(gammabar, tmp_path, clock):
    kept = tmp_path / "kept.json"
    arguments = ["falsify", "gb.sharp", "jst.prop3.7", "--jobs", "1", "--store", kept, "--json"]
    code, out, _ = gammabar(*arguments, "--budget", "6")
    first = json.loads(out)
    assert code == 0  # what is refuted is known to be false
    assert first["reports"]["jst.prop3.7"]["refuted"]
    assert not first["reports"]["gb.sharp"]["refuted"]
    code, out, err = gammabar(*arguments, "--budget", "6")  # they have had their time
    assert json.loads(out)["reports"] == first["reports"]
    # One that has had half of its time goes on, from its best.
    document = json.loads(kept.read_text())
    document["reports"]["gb.sharp"]["seconds"] = 0.5
    kept.write_text(json.dumps(document))
    code, out, err = gammabar(*arguments, "--budget", "6")
    again, before = (r["reports"]["gb.sharp"] for r in (json.loads(out), first))
    assert sum(again["runs"].values()) > sum(before["runs"].values())
    assert again["best"]["verdict"]["tightness"] >= before["best"]["verdict"]["tightness"]
    assert "gb.sharp" in err
    assert "jst.prop3.7:" not in err


def test_a_refutation_by_chance_is_not_believed():
    """Of three sets of runs, all must refute."""
    asked = []

    def luck(candidate):
        asked.append(candidate.seed)
        if len(asked) > 2:
            raise Over
        return Verdict("jst.lemD.1", "refuted" if candidate.seed < 10**6 else "undecided")

    assert not searched(luck, "jst.lemD.1").refuted
    assert asked[1] == asked[0] + searching.FRESH[0]
