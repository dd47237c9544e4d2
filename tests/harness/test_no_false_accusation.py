"""Right solvers and true claims are not refuted: geometry, options, precision, working folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gammabar as gb
from gammabar.harness.cli import main
from gammabar.harness.cli.command import open_papers
from gammabar.harness.falsify.parameters import solvers_of
from gammabar.harness.registry import close_paper, find_statement
from gammabar.harness.run.engine import Request, make_plan
from gammabar.harness.run.tasks import InFile, Registered

KERNEL = "iris:0,1 --kernel rbf:gamma=1"


def with_matrix(problem, step=1.0):
    """Algorithm 1 on rows that are stacked: right where they are vectors of ℝᵈ."""
    A = np.array([problem.row(i) for i in range(problem.n)])
    w = g = np.zeros(A.shape[1])
    t = 0
    while True:
        yield w
        q = np.exp((A @ w).min() - A @ w)
        pull = A.T @ (q / q.sum())
        g = t / (t + 1) * (g + pull)
        w = w + step * (g + pull)
        t += 1


def test_rows_of_a_kernel_are_not_judged_unless_that_is_declared():
    (verdict,) = gb.verify(with_matrix, KERNEL, "jst.lem3.4.primal", iterations=5)
    assert verdict.verdict == "inapplicable"
    assert "problem.row" in verdict.reason

    def declared(problem):
        return with_matrix(problem)

    declared.geometries = ("dense", "kernel")
    (verdict,) = gb.verify(declared, KERNEL, "jst.lem3.4.primal", iterations=5)
    assert verdict.verdict == "refuted"  # it says that it knows, and it does not


def test_random_problems_of_an_own_solver_are_plain():
    file = InFile("my.py:mine", "")
    asked = {"solvers": (Registered("dual-acceleration"),), "file": file, "random": 6}
    plain = make_plan(Request(**asked, geometries=("dense", "sparse")))
    assert plain
    assert not any(" --" in task.run.problem for task in plain)
    other = make_plan(Request(**asked, geometries=("kernel",)))
    assert all(" --kernel" in task.run.problem for task in other)


PAPER = """
from gammabar.papers import Paper, at_most, per_iterate

paper = Paper(key="opt", title="T", authors="A", year=2026)


def claim(name, *solvers):
    @per_iterate(name, reference="1", claim="x", kind="anytime", solvers=solvers, unit=True)
    def body(it, case):
        "w_t is no longer than t."
        return at_most(it.norm, it.t)


claim("opt.default", "normalized-gradient-descent")
claim("opt.written", "normalized-gradient-descent:decay=False,step=1")
claim("opt.any", "dual-acceleration:loss=*")
"""


@pytest.fixture
def paper(tmp_path):
    path = tmp_path / "opt.py"
    path.write_text(PAPER, encoding="utf-8")
    refs, _ = open_papers((str(path),))
    yield refs
    close_paper(str(path))


def planned(identifier, papers) -> set[str]:
    tasks = make_plan(Request(statements=(identifier,), papers=papers))
    return {task.run.solver.text for task in tasks}


def test_options_are_those_that_the_claim_names(paper):
    name = "normalized-gradient-descent"
    assert planned("opt.default", paper) == {name}
    assert planned("opt.written", paper) <= {name, f"{name}:decay=False,step=1"}
    losses = planned("opt.any", paper)
    assert "dual-acceleration:loss=logistic" in losses
    assert not any("step" in text or "smoothness" in text for text in losses)


def test_falsify_tries_the_same(paper):
    found = {i: solvers_of(find_statement(f"opt.{i}")) for i in ("default", "written", "any")}
    name = "normalized-gradient-descent"
    assert found["default"] == ((Registered(name), {}),)
    assert found["written"] == ((Registered(f"{name}:decay=False,step=1"), {}),)
    ((solver, options),) = found["any"]
    assert (solver.text, set(options)) == ("dual-acceleration", {"loss"})


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("normalised-gradient-descent", "normalized-gradient-descent"), ("lr-gd:stepp=*", "step")],
)
def test_a_misspelt_solver_of_a_claim_gets_a_suggestion(tmp_path, wrong, hint):
    path = tmp_path / "opt.py"
    path.write_text(PAPER.replace("dual-acceleration:loss=*", wrong), encoding="utf-8")
    with pytest.raises(gb.ProblemError, match=rf"opt\.any: .*did you mean .*{hint}"):
        open_papers((str(path),))


def rounded(text):
    """Numbers as a file with this format has them."""
    return np.vectorize(lambda v: float(text % v))


PRECISIONS = {
    "float32": lambda w: w.astype(np.float32),
    "float16": lambda w: w.astype(np.float16),
    "float32 saved as float64": lambda w: w.astype(np.float32).astype(np.float64),
    "%.6f": rounded("%.6f"),
    "%.6g": rounded("%.6g"),
    "%.10e": rounded("%.10e"),
}
NOTICED = ("jst.lem3.4.primal", "gb.gap", "jst.lem3.6.upper", "jst.thm3.1.1")


def delivered(precision, scale=1.0):
    problem = gb.load("iris:0,1").unit()
    run = with_matrix(problem)
    kept = [scale * next(run) for _ in range(61)]
    recorder = gb.Recorder([PRECISIONS[precision](w) for w in kept])
    return gb.verify(recorder, problem, list(NOTICED))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_rounding_of_what_is_recorded_is_not_held_against_a_right_run(precision):
    found = delivered(precision)
    assert "refuted" not in {verdict.verdict for verdict in found}
    assert found[-1].verdict == "holds"
    for verdict in found:
        assert verdict.verdict == "holds" or "the iterates are" in verdict.reason


@pytest.mark.parametrize("precision", ["float32", "float32 saved as float64", "%.10e"])
def test_what_is_off_by_more_than_that_is_refuted(precision):
    found = delivered(precision, scale=-1.0)
    assert found[0].verdict == "refuted"


def test_sums_of_rows_are_not_rounded():
    """Whole numbers are float32 numbers, too: that does not excuse a wrong perceptron."""
    problem = gb.load("degenerate:kind=square,n=4,d=3")

    def wrong(problem):
        w = problem.origin()
        while True:
            yield w
            w = w + 2 * problem.row(0)

    (verdict,) = gb.verify(wrong, problem, "gb.tyurin.perceptron.step", iterations=3)
    assert verdict.verdict in ("refuted", "inapplicable")


def cotter(problem, scale=1.0):
    """The batch perceptron of Cotter et al., as nothing but the averages."""
    A = np.array([problem.row(i) for i in range(problem.n)])
    v = w = np.zeros(A.shape[1])
    t = 0
    while True:
        yield w
        u = v + scale * A[np.argmin(A @ v)] / np.sqrt(t + 1)
        v, t = u / max(1, np.linalg.norm(u)), t + 1
        w = w + (v - w) / t


@pytest.mark.parametrize("data", ["iris:0,1", "two-lines:r=3,n=30", "degenerate:kind=ties"])
def test_points_of_averages_are_recovered(data):
    method = {"like": "batch-perceptron-cotter", "iterations": 60}
    (right,) = gb.verify(cotter, data, "gb.jst.cotter.step", **method)
    assert right.verdict == "holds"
    (wrong,) = gb.verify(lambda p: cotter(p, 1.02), data, "gb.jst.cotter.step", **method)
    assert wrong.verdict == "refuted"


ELSEWHERE = """
import os
os.chdir("/")


def mine(problem):
    w = g = problem.origin()
    t = 0
    while True:
        yield w
        pull = problem.softmin(w).pull
        g = t / (t + 1) * (g + pull)
        w = w + g + pull
        t += 1
"""


@pytest.mark.full
def test_a_solver_may_change_its_working_folder(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(ELSEWHERE, encoding="utf-8")
    Path("data.csv").write_text("1,2.0,1.5\n1,1.0,3.0\n-1,-1.5,-2.0\n", encoding="utf-8")
    asked = ["--as", "dual-acceleration", "--problem", "data.csv", "--iterations", "5"]
    with pytest.raises(SystemExit) as ended:
        main(["verify", "my.py:mine", *asked])
    assert ended.value.code == 0
    assert "FAILED" not in capsys.readouterr().out
    assert gb.verify("my.py:mine", "data.csv", "gb.gap", iterations=5)[0].verdict == "holds"


@pytest.mark.full
def test_without_a_method_the_similar_ones_are_named(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(ELSEWHERE.replace("t / (t + 1)", "t / (t + 2)"), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["verify", "my.py:mine"])
    said = capsys.readouterr().err
    assert "its first iterates resemble those of dual-acceleration" in said
    with pytest.raises(gb.ProblemError, match="resemble those of dual-acceleration"):
        gb.verify(with_matrix, "iris:0,1")
