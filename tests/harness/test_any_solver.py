"""Solvers in any form: functions that yield, loops that record, iterates from elsewhere."""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
import threading
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.harness.cli import main
from gammabar.harness.run.in_process import check_bounds
from gammabar.harness.run.tasks import Recorded, reference
from gammabar.harness.run.user_files import read_trajectory
from gammabar.problems import ProblemError
from gammabar.solvers import SGD, AdaptiveSampling, DualAcceleration
from gammabar.solvers.base import from_function

PROBLEM = "iris:0,1"
STATEMENTS = ["jst.lem3.4.primal", "jst.thm3.1.2"]
AWK = Path(__file__).parents[2] / "docs" / "examples" / "algorithm1.awk"


def algorithm_1(problem, step=1.0):
    """Algorithm 1, written anew."""
    w, g, t = problem.origin(), problem.origin(), 0
    while True:
        yield w
        pull = problem.softmin(w).pull
        g = t / (t + 1) * (g + pull)
        w, t = w + step * (g + pull), t + 1


def a_loop(problem, record, epochs=40):
    for w in islice(algorithm_1(problem), epochs + 1):
        record(w)


def ruling(solver, statements=STATEMENTS, iterations=30, problem=PROBLEM):
    return [str(v.verdict) for v in gb.verify(solver, problem, statements, iterations=iterations)]


def kept(length: int, problem: str = PROBLEM) -> np.ndarray:
    return np.stack(
        [it.w for it in islice(DualAcceleration().iterates(gb.load(problem).unit()), length)]
    )


# --- functions and loops ---------------------------------------------------------------------


@pytest.mark.parametrize("form", [algorithm_1, a_loop, from_function(algorithm_1, step=1.0)])
def test_functions_are_judged_as_classes_are(form):
    assert ruling(form) == ruling(DualAcceleration()) == ["holds", "holds"]


class InPlace:
    """Yields vectors, and always the same one."""

    def __init__(self, beta: float = 1.0) -> None:
        self.beta, self.steps = beta, 0

    def iterates(self, problem, rng):
        w = np.zeros(problem.dimension)
        g = np.zeros(problem.dimension)
        for t in count():
            yield w
            pull = problem.softmin(w).pull
            g = self.beta * t / (t + 1) * (g + pull)
            w += g + pull
            self.steps += 1


@pytest.mark.parametrize("form", [InPlace, DualAcceleration])
def test_a_class_may_yield_mere_vectors_here_too(form, check_bound):
    assert ruling(form()) == ruling(form) == ["holds", "holds"]
    assert (
        check_bound("jst.thm3.1.2", form(), PROBLEM, iterations=60, strict=True).verdict == "holds"
    )
    recorder = gb.Recorder(getattr(w, "w", w) for w in islice(run_of(form()), 31))
    assert ruling(recorder) == ["holds", "holds"]


def run_of(solver):
    return solver.iterates(gb.load(PROBLEM).unit(), np.random.default_rng(0))


@pytest.mark.full
def test_a_class_that_yields_vectors_keeps_its_name_and_what_it_knows(gammabar, tmp_path):
    mine = InPlace(beta=0.0)
    with pytest.raises(AssertionError, match=r"\(solver InPlace\)") as wrong:
        check_bounds("jst.lem3.4.primal", mine, PROBLEM, iterations=30)
    assert "there is no momentum" in str(wrong.value)
    assert mine.steps  # of its own run, not of a copy
    slow = InPlace()
    slow.step = 0.5
    [verdict] = gb.verify(slow, PROBLEM, "jst.thm3.1.1", iterations=5)
    assert "step is 0.5" in verdict.reason
    # The same class by its file, in a process of its own.
    source = "from itertools import count\nimport numpy as np\n" + inspect.getsource(InPlace)
    (tmp_path / "my.py").write_text(source, encoding="utf-8")
    words = ("--solver-file", f"{tmp_path / 'my.py'}:InPlace", "--problem", PROBLEM)
    code, out, _ = gammabar("verify", *words, "--statement", "jst.thm3.1.2", "--strict")
    assert (code, "1 holds" in out) == (0, True)


def test_a_run_that_has_begun_is_no_solver():
    """It could be heard only once, and nobody knows on which problem it was begun."""
    problem = gb.load(PROBLEM)
    with pytest.raises(ProblemError, match="give the function itself: algorithm_1"):
        gb.verify(algorithm_1(problem), problem, "jst.thm3.1.2")


def test_a_loop_is_ended_when_nobody_listens():
    ended = threading.Event()

    def endless(problem, record):
        try:
            while True:
                record(problem.origin())
        finally:
            ended.set()

    iterates = from_function(endless).iterates(gb.load(PROBLEM))
    assert [it.t for it in islice(iterates, 5)] == [0, 1, 2, 3, 4]
    iterates.close()
    assert ended.wait(10)


def test_a_stopping_claim_hears_no_more_of_a_loop_than_was_asked_for():
    def idle(problem, record):
        for _ in range(4):
            record(problem.origin())

    [verdict] = gb.verify(idle, PROBLEM, "rp.perceptron", iterations=3)
    assert (verdict.verdict, verdict.failure) == ("undecided", "")
    assert "the run ended at t = 3, the bound allows" in verdict.reason


def nothing(problem):
    return None


def needs(problem, rate):
    yield problem.origin()


def none():
    yield 1


@pytest.mark.parametrize(
    ("function", "what"),
    [(nothing, "yield w_0"), (needs, "value of rate"), (none, "take a problem")],
)
def test_functions_that_are_no_solvers(function, what):
    with pytest.raises(ProblemError, match=what):
        gb.verify(function, PROBLEM, "jst.thm3.1.1", iterations=3)


# --- what was recorded -----------------------------------------------------------------------


def test_a_recorder_takes_tensors_and_weights_of_a_layer():
    class Tensor:  # as PyTorch's, which wants to be detached before NumPy may have it
        def __init__(self, values, grad=True):
            self.values, self.grad = values, grad

        def detach(self):
            return Tensor(self.values, grad=False)

        def cpu(self):
            return self

        def __array__(self, dtype=None, copy=None):
            assert not self.grad, "call detach first"
            return np.array(self.values, dtype=dtype)

    recorder = gb.Recorder()
    recorder.record(Tensor(np.zeros((1, 3), np.float32)))
    assert recorder.array.shape == (1, 3)


def test_recorders_and_arrays_are_judged_to_their_end():
    rows = kept(31)
    for form in (gb.Recorder(rows), rows):
        found = gb.verify(form, PROBLEM, STATEMENTS)
        assert [v.verdict for v in found] == ["holds", "holds"]
        assert found[1].checked == 2 * 30  # both sides of the claim, at t = 1, …, 30


def test_a_recorder_says_what_is_wrong():
    with pytest.raises(ProblemError, match="nothing was recorded"):
        gb.verify(gb.Recorder(), PROBLEM, "jst.thm3.1.1")
    with pytest.raises(ProblemError, match="w_1 has 3 entries, and w_0 has 2"):
        gb.Recorder([np.zeros(2), np.zeros(3)])
    with pytest.raises(ProblemError, match="ends at w_4"):
        gb.verify(kept(5), PROBLEM, "jst.thm3.1.1", iterations=10)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_recorded_run_that_diverges_is_undecided(bad):
    rows = kept(6)
    rows[4, 1] = bad
    (found,) = gb.verify(rows, PROBLEM, "jst.lem3.4.primal")
    assert (found.verdict, found.failure) == ("undecided", "not finite")
    assert "w_4 has entries that are not finite numbers" in found.reason


# --- trajectories ----------------------------------------------------------------------------


def written(folder: Path, rows: np.ndarray, kind: str) -> Path:
    path = folder / f"w{kind}"
    if kind == ".npy":
        gb.Recorder(rows).save(path)
    elif kind == ".csv":
        path.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = {f"w{j}": rows[:, j] for j in range(rows.shape[1])}
        parquet.write_table(arrow.table(columns), path)
    return path


@pytest.mark.parametrize("kind", [".npy", ".csv", ".parquet"])
def test_files_hold_the_very_same_doubles(kind, tmp_path):
    rows = kept(31)
    path = written(tmp_path, rows, kind)
    assert (read_trajectory(str(path)).array == rows).all()


def verify_json(capsys, *words: str) -> tuple[int, dict]:
    code = left("verify", "--json", "--jobs", "1", *words)
    return code, json.loads(capsys.readouterr().out)


def left(*words: str) -> int:
    with pytest.raises(SystemExit) as exit_:
        main(list(words))
    return exit_.value.code


def test_a_trajectory_gets_the_verdicts_of_its_solver(tmp_path, capsys):
    """The same proofs: verdict, tightness, slack and both sides."""
    path = written(tmp_path, kept(41), ".npy")
    words = [word for s in (*STATEMENTS, "jst.thm4.1") for word in ("--statement", s)]
    code, found = verify_json(capsys, "--trajectory", str(path), "--problem", PROBLEM, *words)
    assert code == 0
    *heard, unheard = sorted(found["results"], key=lambda r: r["verdict"])
    # The solver of the project claims momentum and weights too, which are then checked as well.
    due = {v.statement: v for v in gb.verify(algorithm_1, PROBLEM, STATEMENTS, iterations=40)}
    for one in heard:
        right = due[one["statement"]]
        assert one["verdict"] == right.verdict == "holds"
        assert (one["tightness"], one["slack"], one["checked"], one["informative"]) == (
            right.tightness,
            right.slack,
            right.checked,
            right.informative,
        )
        assert one["solver"] == f"trajectory:{path}"
    assert unheard["verdict"] == "inapplicable"
    assert "one run that is over" in unheard["reason"]


def test_one_wrong_digit_in_a_trajectory_is_found(tmp_path, capsys):
    rows = kept(41)
    rows[17, 2] *= 1 + 1e-9
    path = written(tmp_path, rows, ".npy")
    words = ("--trajectory", str(path), "--problem", PROBLEM, "--statement", STATEMENTS[0])
    code, found = verify_json(capsys, *words)
    assert code == 1
    assert (found["results"][0]["verdict"], found["results"][0]["worst_t"]) == ("refuted", 17)


def test_options_of_the_solver_may_follow_the_file(tmp_path):
    path = written(tmp_path, kept(5), ".npy")
    found = reference(f"trajectory:{path}:step=0.5,loss=logistic")
    assert isinstance(found, Recorded)
    assert (found.file, found.option[1]) == (str(path), f"{path}:step=0.5,loss=logistic")
    made = found.open()
    assert (made.step, made.loss) == (0.5, "logistic")
    with pytest.raises(ProblemError, match="record is no option"):
        reference(f"trajectory:{path}:record=1").open()


BAD = {
    "no.npy": None,
    "text.npy": b"hello",
    "w.xyz": b"1,2\n",
    "flat.npy": np.zeros(4),
    "one.npy": np.zeros((1, 4)),
    "nan.npy": np.array([[0.0] * 4, [1, np.nan, 1, 1]]),
    "objects.npy": np.array([[None, {}]] * 3),
    "wide.npy": np.zeros((3, 5)),
    "complex.npy": np.zeros((3, 4), complex),
    "ragged.csv": b"0,0,0,0\n1,2,3\n",
    "word.csv": b"0,0,0,0\n1,2,x,4\n",
    "head.csv": b"a,b,c,d\n",
    "w.parquet": b"PAR1",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence(name, tmp_path, capsys):
    path, holds = tmp_path / name, BAD[name]
    if isinstance(holds, bytes):
        path.write_bytes(holds)
    elif holds is not None:
        np.save(path, holds)
    words = ["--trajectory", str(path), "--problem", PROBLEM, "--statement", STATEMENTS[0]]
    assert left("verify", *words) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("gammabar: ")
    assert name in told
    assert "Traceback" not in told


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([".npy", ".csv", ".tsv", ".parquet"]), st.booleans())
def test_no_bytes_make_a_traceback(tmp_path_factory, data, kind, header):
    path = tmp_path_factory.mktemp("w") / f"w{kind}"
    path.write_bytes((b"\x93NUMPY\1\0" if header else b"") + data)
    try:
        rows = read_trajectory(str(path)).array
    except ProblemError as error:
        assert path.name in str(error)
    else:
        assert rows.ndim == 2
        assert np.isfinite(rows).all()


@pytest.mark.skipif(shutil.which("awk") is None, reason="there is no awk here")
def test_a_program_without_a_line_of_ours_is_judged(tmp_path, capsys):
    """Algorithm 1 in awk: it reads the CSV itself, and writes its iterates."""
    problem = gb.load(PROBLEM)
    rows = [
        [int(y), *x] for x, y in zip(problem.points.X.tolist(), problem.y.tolist(), strict=True)
    ]
    data, out = tmp_path / "data.csv", tmp_path / "w.csv"
    data.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows))
    with out.open("w") as stream:
        subprocess.run(["awk", "-v", "T=60", "-f", AWK, data], stdout=stream, check=True)
    words = ("--trajectory", str(out), "--problem", str(data))
    right = verify_json(capsys, *words, *(w for s in STATEMENTS for w in ("--statement", s)))
    assert right[0] == 0
    assert [r["verdict"] for r in right[1]["results"]] == ["holds", "holds"]
    assert all(r["informative"] for r in right[1]["results"])
    wrong = AWK.read_text().replace("t / (t + 1) * (g[j]", "t / (t + 2) * (g[j]")
    with out.open("w") as stream:
        subprocess.run(["awk", "-v", "T=60", wrong, data], stdout=stream, check=True)
    code, found = verify_json(capsys, *words, "--statement", STATEMENTS[0])
    assert (code, found["results"][0]["verdict"]) == (1, "refuted")


# --- the command -----------------------------------------------------------------------------


@pytest.mark.full
def test_several_solvers_of_ones_own_and_random_trials(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(
        "def mine(problem, step=1.0):\n"
        "    w, g, t = problem.origin(), problem.origin(), 0\n"
        "    while True:\n"
        "        yield w\n"
        "        pull = problem.softmin(w).pull\n"
        "        g = t / (t + 1) * (g + pull)\n"
        "        w, t = w + step * (g + pull), t + 1\n"
        "def loop(problem, record):\n"
        "    w = problem.origin()\n"
        "    while True:\n"
        "        record(w)\n"
        "        w = w + problem.softmin(w).pull\n"
    )
    both = ("--solver-file", "my.py:mine", "--solver-file", "my.py:loop")
    words = (*both, "--statement", STATEMENTS[0], "--problem", PROBLEM, "--iterations", "10")
    code, found = verify_json(capsys, *words)
    assert code == 1
    assert {r["solver"]: r["verdict"] for r in found["results"]} == {
        "my.py:mine": "holds",
        "my.py:loop": "refuted",
    }
    drawn = ("--random", "2", "--seed", "3", "--solver-file", "my.py:loop")
    code, found = verify_json(capsys, *drawn, "--statement", STATEMENTS[0])
    assert code == 1
    assert {r["solver"] for r in found["results"]} == {"my.py:loop"}
    assert {r["verdict"] for r in found["results"]} <= {"refuted", "inapplicable"}


@dataclass(frozen=True)
class OwnSGD(SGD):
    """Somebody's own, in a module of their own: statements set its options."""


@dataclass(frozen=True)
class OwnSampling(AdaptiveSampling):
    """The same of Algorithm 2."""


def test_statements_set_the_options_of_a_dataclass_of_ones_own():
    problem = gb.load("iris:1,2")
    (step,) = gb.verify(OwnSGD(), problem, "gb.lec.sgd.step")
    assert step.verdict == "holds", step.reason
    easy = gb.from_arrays([[1.0, 0.0], [-0.9, -0.1]], [1, -1])
    (sampled,) = gb.verify(OwnSampling(), easy, "gb.sampling")
    assert sampled.verdict == "holds", sampled.reason


def test_what_cannot_be_set_makes_it_inapplicable():
    class Bare:
        horizon, distance, lipschitz, loss, indices = 100, 1.0, None, "logistic", None

        def iterates(self, problem, rng=None):
            return SGD().iterates(problem, rng)

    (found,) = gb.verify(Bare(), gb.load("iris:1,2"), "gb.lec.sgd.step")
    assert found.verdict == "inapplicable"
    assert "no dataclass with such options" in found.reason
