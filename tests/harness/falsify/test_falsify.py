"""The search for a refutation: strategies, shrinking, reports, and what it finds."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness.falsify.candidate import Candidate, Finding
from gammabar.harness.falsify.record import read, write
from gammabar.harness.falsify.search import Hunt, Report, space_of
from gammabar.harness.falsify.shrink import shrink
from gammabar.harness.falsify.strategies import STRATEGIES, Over
from gammabar.harness.registry import find_statements
from gammabar.harness.run.specs import Registered, open_problem
from gammabar.harness.verify.verdict import Verdict
from gammabar.problems import ProblemError
from gammabar.problems.specs import text_of_rows

NOVIKOFF = '''
from gammabar.papers import Paper, separable, stopping

paper = Paper(key="guess", title="A guess", authors="Nobody", year=2026, venue="a notebook")

@stopping("guess.less", reference="-", claim=r"t \\le R^2/\\bar\\gamma^2 - 1",
          solvers=("perceptron",), assumes=(separable,))
def less(case):
    """The perceptron separates after (R/γ̄)² − 1 updates."""
    return case.mistake_bound - 1
'''

LOST_SIGN = """
from gammabar.solvers import Iterate
from gammabar.solvers.base import solver

class Mine:
    def iterates(self, problem, rng):
        for it in solver("dual-acceleration")().iterates(problem, rng):
            yield Iterate(it.t, -it.w)
"""


def finding(candidate: Candidate, refuted: bool, **more) -> Finding:
    return Finding(candidate, Verdict("x", "refuted" if refuted else "holds", **more))


def small(*values: int) -> tuple[tuple[Fraction, ...], ...]:
    return tuple((Fraction(v),) for v in values)


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
        ("rows:1/2,1152921504606846977", "is not a double"),
        ("rows:1e400,1/2", "is not a double"),
        ("rows:nan", "is not a number"),
        ("rows:1/0", "is not a number"),
        ("rows:1*0", "must be at least 1"),
        ("rows:1*9999999", "must be at most"),
        ("rows:1,1*9999", "more than 10000 numbers"),
        ("rows:1**2", "is not an integer"),
        ("rows:" + "1" * 5000, "has 5000 characters"),
        ("rows:" + ",".join(["1"] * 10_001), "more than 10000 numbers"),
    ],
)
def test_rows_that_are_no_rows_are_refused(text: str, why: str):
    with pytest.raises(ProblemError, match=why):
        open_problem(text)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_proposes_problems_that_can_be_opened(name: str):
    """Hundreds of them, also where nothing is learnt from any."""
    [statement] = find_statements(["jst.thm3.1.1"])
    asked: list[Candidate] = []

    def ask(candidate: Candidate) -> Finding:
        if len(asked) == 150:
            raise Over
        asked.append(candidate)
        return finding(candidate, False, tightness=len(candidate.problem) / 1000)

    with pytest.raises(Over):
        STRATEGIES[name](ask, space_of(statement), np.random.default_rng(3))
    assert len({(c.problem, c.solver, c.iterations, c.seed) for c in asked}) > 60
    for candidate in asked:
        assert candidate.solver is not None
        assert candidate.solver.name in statement.solvers
        candidate.solver.open()
        try:
            open_problem(candidate.problem)
        except ProblemError:
            assert candidate.more or not candidate.problem.startswith("rows:")


@settings(max_examples=60)
@given(rows_of, st.integers(1, 5), st.integers(1, 40))
def test_shrinking_keeps_what_refutes_and_drops_the_rest(rows, least, t):
    """Of a claim that fails where some number is at least `least`, one number remains."""

    def ask(candidate: Candidate) -> Finding:
        large = max(abs(v) for row in candidate.data for v in row)
        return finding(candidate, large >= least and candidate.iterations >= t, worst_t=t)

    first = Candidate(rows, "", Registered("perceptron:choice=first"), 50, 3)
    found = ask(first)
    if not found.refuted:
        return
    smallest = shrink(found, ask)
    assert smallest.refuted
    assert smallest.candidate.data == ((Fraction(least),),)
    assert smallest.candidate.iterations == t
    assert smallest.candidate.solver == Registered("perceptron")
    assert smallest.candidate.seed == 0


def test_shrinking_adds_a_column_to_another_where_neither_can_go():
    """Of a claim that fails where no row is zero and two rows differ, one column remains."""

    def ask(candidate: Candidate) -> Finding:
        rows = candidate.data
        return finding(candidate, all(map(any, rows)) and len(set(rows)) == 2)

    rows = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(1)))
    smallest = shrink(ask(Candidate(rows)), ask)
    assert sorted(smallest.candidate.data) == [(Fraction(1),), (Fraction(2),)]


def test_shrinking_ends_with_the_time():
    first = finding(Candidate(small(9, 9, 9)), True, worst_t=1)

    def ask(candidate: Candidate) -> Finding:
        raise Over

    assert shrink(first, ask) == first


def test_scores_are_ordered_as_they_should():
    one = Candidate(small(1))
    order = [
        finding(one, False, tightness=0.5, slack=1.0),
        finding(one, False, tightness=0.1),
        finding(one, False, slack=0.5),
        finding(one, False, slack=2.0),
        finding(one, False),
        Finding(one, Verdict("x", "undecided", tightness=5.0)),
    ]
    scores = [f.score for f in order]
    assert scores == sorted(scores, reverse=True)
    assert finding(one, True).score == inf


def test_a_report_is_read_as_it_was_written(tmp_path):
    found = finding(
        Candidate(small(3, -1), "--kernel linear", Registered("perceptron"), 7, 2), True
    )
    report = Report("x", found)
    report.runs["families"] = 12
    path = tmp_path / "report.json"
    write(path, report)
    assert read(path, "x", ()) == (found.candidate, 12)
    with pytest.raises(ProblemError, match="it is about x"):
        read(path, "y", ())
    for text in ("", "{}", "[1]", '{"format": "gammabar-falsify"}', "\xff", "[" * 100_000):
        path.write_text(text, encoding="latin-1")
        with pytest.raises(ProblemError, match="not a report"):
            read(path, "x", ())


def test_what_is_infinite_is_null_in_a_report(tmp_path):
    one = Candidate(small(3, -1), "", Registered("perceptron"), 7, 2)
    report = Report("x", finding(one, True, tightness=inf, slack=-inf), nearest={"families": inf})
    path = tmp_path / "report.json"
    write(path, report)
    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert found["nearest"] == {"families": None}
    assert found["best"]["verdict"]["tightness"] is None
    assert read(path, "x", ()) == (one, 0)


@pytest.mark.usefixtures("shelf_as_before")
def test_a_false_conjecture_is_refuted_by_one_row(gammabar, tmp_path):
    paper, kept = tmp_path / "guess.py", tmp_path / "kept.json"
    paper.write_text(NOVIKOFF, encoding="utf-8")
    arguments = ["falsify", "guess.less", "--paper", paper, "--jobs", "1", "--json"]
    code, out, _ = gammabar(*arguments, "--budget", "60", "--store", kept)
    document = json.loads(out)
    assert code == 1
    assert (document["format"], document["version"]) == ("gammabar-falsify", 1)
    assert document["best"]["problem"] == "rows:1"
    assert document["best"]["verdict"]["verdict"] == "refuted"
    assert json.loads(kept.read_text())["best"] == document["best"]
    code, out, _ = gammabar(*arguments, "--budget", "60", "--store", kept)  # goes on from there
    assert code == 1
    assert json.loads(out)["best"]["problem"] == "rows:1"


def test_a_wrong_solver_is_refuted_on_the_smallest_problem(gammabar, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(LOST_SIGN, encoding="utf-8")
    arguments = ["--solver-file", f"{file}:Mine", "--budget", "60", "--jobs", "1"]
    code, out, _ = gammabar("falsify", "gb.selfcert", *arguments)
    assert code == 1
    assert "gb.selfcert refuted" in out
    assert "rows:" in out


def test_what_is_true_is_not_refuted():
    [statement] = find_statements(["gb.sharp"])
    report = Hunt(statement, space_of(statement), budget=4.0, seed=1).carry_out()
    assert not report.refuted


def test_a_statement_with_its_own_data_is_searched_over_its_inputs(gammabar):
    code, out, _ = gammabar("falsify", "rp.eq16", "--jobs", "1", "--budget", "60")
    assert code == 0  # what is refuted is known to be false
    assert "rp.eq16 refuted" in out
    assert "inputs:slopes=" in out
    code, out, _ = gammabar("falsify", "lec.ex9.2", "--jobs", "1")  # it says one thing
    assert code == 0
    assert "lec.ex9.2 refuted" in out


def test_trouble_in_a_strategy_is_not_swallowed(monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(STRATEGIES, "families", broken)
    [statement] = find_statements(["gb.sharp"])
    with pytest.raises(ZeroDivisionError):
        Hunt(statement, replace(space_of(statement)), budget=2.0).carry_out()


def test_many_statements_share_the_time_and_a_killed_run_goes_on(gammabar, tmp_path):
    kept = tmp_path / "kept.json"
    arguments = ["falsify", "gb.sharp", "jst.prop3.7", "--jobs", "1", "--store", kept, "--json"]
    code, out, _ = gammabar(*arguments, "--budget", "2")
    first = json.loads(out)
    assert code == 0  # what is refuted is known to be false
    assert first["reports"]["jst.prop3.7"]["refuted"]
    assert not first["reports"]["gb.sharp"]["refuted"]
    code, out, err = gammabar(*arguments, "--budget", "2")  # they have had their time
    assert json.loads(out)["reports"] == first["reports"]
    # One that has had half of its time goes on, from its best.
    document = json.loads(kept.read_text())
    document["reports"]["gb.sharp"]["seconds"] = 0.5
    kept.write_text(json.dumps(document))
    code, out, err = gammabar(*arguments, "--budget", "2")
    again = json.loads(out)["reports"]["gb.sharp"]
    before = first["reports"]["gb.sharp"]
    assert sum(again["runs"].values()) > sum(before["runs"].values())
    # A busy machine may have had time for no more than a run that has no tightness.
    far = before["best"]["verdict"]["tightness"]
    assert far is None or again["best"]["verdict"]["tightness"] >= far
    assert "gb.sharp" in err
    assert "jst.prop3.7:" not in err


def test_files_that_are_no_store_of_many_are_refused(gammabar, tmp_path):
    kept = tmp_path / "kept.json"
    for text in ("", "{}", "[1]", '{"format": "gammabar-falsify-many"}', "[" * 100_000):
        kept.write_text(text)
        code, _, err = gammabar("falsify", "--all", "--store", kept, "--budget", "1")
        assert code == 2
        assert "not reports of" in err
    for wrong in (["--all", "gb.sharp"], [], ["gb.sharp", "--status", "refuted"]):
        code, _, err = gammabar("falsify", *wrong)
        assert code == 2


def test_a_refutation_by_chance_is_not_believed(monkeypatch):
    """Of three sets of runs, all must refute."""
    [statement] = find_statements(["jst.lemD.1"])
    hunt = Hunt(statement, space_of(statement), budget=60.0)
    heard = []

    def luck(candidate: Candidate) -> Verdict:
        heard.append(candidate.seed)
        return Verdict("jst.lemD.1", "refuted" if candidate.seed < 10**6 else "undecided")

    monkeypatch.setattr(hunt, "_heard", luck)
    hunt._deadline = float("inf")
    assert not hunt._judged(Candidate(small(1)), "families").refuted
    assert heard == [0, 10**6]
