"""Witnesses without a refuter: the algorithm is run again, and nothing else is believed."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gammabar.harness.certificates import Rejected as Refused, check
from gammabar.harness.falsify.parameters import Finding
from gammabar.harness.falsify.witness import _rerun, write
from gammabar.harness.registry import close_paper, everything, open_paper
from gammabar.harness.run.tasks import Registered, Run, open_solver
from gammabar.harness.verify.verdict import Verdict
from gammabar.oracle import solve
from gammabar.papers import rerun
from gammabar.papers.witness import Data, Rejected, TooCostly
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_problem

CONJECTURES = Path(__file__).resolve().parents[3] / "docs" / "examples" / "conjectures.py"
#: What refutes the conjectures: problem, solver, t.
FOUND = {
    "guess.novikoff": ("rows:1", "perceptron", 0),
    "guess.twentieth": ("rows:-1,-1;1,0;-1,-1", "dual-acceleration", 2),
    "guess.snkp": ("rows:0,-1;1,1;1/2,1*109", "snkp", 16),
    "guess.three": ("orthogonal:n=1000,p=0.145", "dual-acceleration", 164),
}
#: True, and about algorithms that can be run again.
TRUE = ("gb.sharp", "jst.thm3.1.1", "tyurin.thm5.2", "tyurin.thm5.3", "tyurin.thm3.3", "rp.thm1")


def finding(problem: str, solver: str, t: int, statement: str = "x") -> Finding:
    candidate = Run(problem, Registered(solver), max(t, 1))
    return Finding(candidate, Verdict(statement, "refuted", worst_t=t))


@pytest.fixture
def conjectures():
    open_paper(str(CONJECTURES))
    yield everything()
    close_paper(str(CONJECTURES))


@pytest.mark.parametrize(
    "statement",
    [*list(FOUND)[:3], pytest.param("guess.three", marks=pytest.mark.slow)],  # the extremal family
)
def test_what_refutes_a_conjecture_is_accepted(statement: str, conjectures, tmp_path):
    path = tmp_path / "witness.json"
    said = write(path, conjectures[statement], finding(*FOUND[statement]))
    assert said == check(path, papers=[CONJECTURES])
    assert "is false" in said
    document = json.loads(path.read_text())
    assert (document["format"], document["version"]) == ("gammabar-witness", 1)
    with pytest.raises(ProblemError):  # data are not to be had twice
        check(path, "iris:0,1", papers=[CONJECTURES])


def test_a_refutation_that_is_none_is_not_written(conjectures, tmp_path):
    path = tmp_path / "witness.json"
    with pytest.raises(ProblemError, match="no witness was written"):
        write(path, conjectures["guess.twentieth"], finding("rows:1,0", "dual-acceleration", 1))
    assert list(tmp_path.iterdir()) == []


def document(statement: str, known) -> dict:
    [data] = _rerun(known[statement], finding(*FOUND[statement]))
    return {"data": data}


ALTERATIONS = {
    "another algorithm": lambda d: d.update(algorithm="normalized-batch-perceptron"),
    "an unknown algorithm": lambda d: d.update(algorithm="magic"),
    "an unknown option": lambda d: d.update(options={"speed": 2.0}),
    "a value that no step has": lambda d: d.update(options={"step": -1.0}),
    "options that are none": lambda d: d.update(options=[1]),
    "a part that shows nothing": lambda d: d.update(more="1"),
    "weights that do not sum to one": lambda d: d["q"].update({"0": "2"}),
    "a negative weight": lambda d: d["q"].update({"0": "-1", "1": "2"}),
    "a weight of no row": lambda d: d["q"].update({"999": "0"}),
    "another optimum": lambda d: d.update(q={"1": "1"}),
    "no rows": lambda d: d.update(rows=[]),
    "rows of other lengths": lambda d: d["rows"].append(["1"]),
    "a missing column": lambda d: d.update(columns=1),
    "zero rows": lambda d: d.update(rows=[["0", "0"]], q={"0": "1"}),
    "numbers that are none": lambda d: d.update(rows=[["x", "1"]], q={"0": "1"}),
    "no t": lambda d: d.pop("t"),
    "t before the statement speaks": lambda d: d.update(t=0),
    "another t": lambda d: d.update(t=40),
    "a t that is none": lambda d: d.update(t=True),
    "t beyond all computing": lambda d: d.update(t=10**6),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_altered_witnesses_are_rejected(name: str, conjectures):
    witness = document("guess.twentieth", conjectures)
    assert "is false" in rerun.check(copy.deepcopy(witness), conjectures["guess.twentieth"])
    ALTERATIONS[name](witness["data"])
    with pytest.raises((Rejected, TooCostly)):
        rerun.check(witness, conjectures["guess.twentieth"])


@st.composite
def some_rows(draw):
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-6, 6), min_size=d, max_size=d)
    return draw(st.lists(row, min_size=n, max_size=n))


def as_text(rows):
    return "rows:" + ";".join(",".join(map(str, row)) for row in rows)


@settings(max_examples=50, suppress_health_check=list(HealthCheck), deadline=None)
@given(some_rows(), st.integers(0, 12), st.sampled_from(TRUE), st.data())
def test_no_witness_against_a_true_statement_is_accepted(rows, t, statement, data):
    """Data that are as good as a forger can make them: right margins, any rows, any t."""
    entry = everything()[statement]
    solver = data.draw(st.sampled_from([n for n in entry.solvers if n in rerun.ALGORITHMS]))
    try:
        forms = _rerun(entry, finding(as_text(rows), solver, t, statement))
    except ProblemError:  # all rows are zero
        return
    for form in forms:
        with pytest.raises((Rejected, TooCostly)):
            rerun.check({"data": form}, entry)


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(some_rows(), st.integers(0, 8))
def test_what_is_accepted_of_a_false_statement_is_false(conjectures, rows, t):
    """Novikoff minus one, against mistakes counted by hand."""
    entry = conjectures["guess.novikoff"]
    try:
        forms = _rerun(entry, finding(as_text(rows), "perceptron", t))
        accepted = [rerun.check({"data": form}, entry) for form in forms]
    except (Rejected, TooCostly, ProblemError):
        return
    if accepted:
        truth = solve(open_problem(as_text(rows)).raw())
        bound = truth.radius_squared / truth.square_lo - 1
        assert _mistakes(rows) > bound


def _mistakes(rows: list[list[int]]) -> int:
    w, count = [0] * len(rows[0]), 0
    while wrong := next((r for r in rows if sum(map(lambda a, b: a * b, r, w)) <= 0), None):
        w, count = [a + b for a, b in zip(w, wrong, strict=True)], count + 1
    return count


def test_what_never_ends_is_proved_by_a_state_that_repeats(conjectures):
    """Rows 1 and −1: the perceptron goes 0, 1, 0, 1, … and separates nothing, ever."""
    entry = conjectures["guess.novikoff"]
    rows = [{0: Fraction(1)}, {0: Fraction(-1)}]
    facts = rerun.Facts(2, Fraction(1), Fraction(0), False, None, [])
    run = rerun.ALGORITHMS["perceptron"].moments(rows, 1, facts)

    patient = replace(entry, body=lambda case: 10**9)
    said = rerun._late(patient, facts, run, 10**9)
    assert said == "the state at t = 2 was there before: the goal is never reached"


def test_a_statement_that_needs_more_is_told_to_bring_a_refuter():
    entry = everything()["jst.lem3.5"]
    [form] = _rerun(entry, finding("rows:1,0;0,1", "dual-acceleration", 2))
    with pytest.raises(Rejected):
        rerun.check({"data": form}, entry)


def test_a_forged_file_is_refused_by_the_command(gammabar, tmp_path):
    [form] = _rerun(everything()["gb.sharp"], finding("rows:1,0;0,1", "dual-acceleration", 3))
    path = tmp_path / "forged.json"
    body = {"format": "gammabar-witness", "version": 1, "statement": "gb.sharp", "data": form}
    path.write_text(json.dumps(body))
    code, out, _ = gammabar("check", path)
    assert (code, out.startswith("rejected")) == (1, True)
    with pytest.raises(Refused):
        check(path)


WITH_OPTIONS = (
    "perceptron",
    "batch-perceptron",
    "normalized-batch-perceptron",
    "lr-gd:step=0.3",
    "normalized-lr-gd:step=2",
    "dual-acceleration:loss=logistic",
    "dual-acceleration:loss=logistic,smoothness=1",
    "dual-acceleration:step=0.5",
    "gradient-descent:loss=logistic,step=0.1",
    "gradient-descent:step=0.5",
    "normalized-gradient-descent:decay=True,step=0.5",
    "snkp:epsilon=0.05",
    "nkp",
    "nvn:epsilon=0.2",
)


@pytest.mark.parametrize("solver", WITH_OPTIONS)
@pytest.mark.parametrize("unit", [True, False])
def test_an_algorithm_run_again_is_the_solver_with_its_options(solver: str, unit: bool):
    rows = "rows:2,1;1,-1/2;1,3;-1,4"
    problem = open_problem(rows).unit() if unit else open_problem(rows)
    statement = replace(everything()["gb.sharp"], unit=unit)
    [form] = _rerun(statement, finding(rows, solver, 3))
    name = form["algorithm"]
    data = Data(form)
    found, d = rerun._rows(data)
    facts = rerun._facts(found, data, rerun._options(data, name), unit)
    again = islice(rerun.ALGORITHMS[name].moments(found, d, facts), 12)
    for it, moment in zip(islice(open_solver(solver).iterates(problem), 12), again, strict=False):
        assert float(moment.norm_squared) == pytest.approx(float(problem.norm(it.w)) ** 2, 1e-9)
        assert [float(s) for s in moment.scores] == pytest.approx(problem.scores(it.w), 1e-9, 1e-12)
    assert moment.t >= 1


def test_a_refutation_that_needs_an_option_has_a_witness(tmp_path):
    paper = tmp_path / "guess.py"
    paper.write_text(
        "from gammabar.papers import Paper, at_most, per_iterate, separable\n"
        'paper = Paper(key="slow", title="T", authors="A")\n'
        '@per_iterate("slow.rate", reference="-", claim="x", since=1, unit=True,\n'
        '             solvers=("normalized-gradient-descent",), assumes=(separable,))\n'
        "def rate(it, case):\n"
        '    """The norm of w_t is at least γ̄ t."""\n'
        "    return at_most(case.gamma * it.t, it.norm)\n"
    )
    open_paper(str(paper))
    path = tmp_path / "witness.json"
    found = finding("rows:1", "normalized-gradient-descent:decay=True", 3)
    assert "is false" in write(path, everything()["slow.rate"], found)
    with pytest.raises(ProblemError):
        write(path, everything()["slow.rate"], finding("rows:1", "normalized-gradient-descent", 3))
    close_paper(str(paper))
