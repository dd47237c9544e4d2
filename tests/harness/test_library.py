"""Papers of one's own: found, judged and listed like those of the project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gammabar.harness.registry import (
    PLUGINS,
    load_statements,
    mutants,
    open_paper,
    papers,
    trials,
    witness,
)
from gammabar.harness.run.engine import PROBLEMS, Request, make_plan
from gammabar.harness.run.tasks import PaperRef
from gammabar.problems import ProblemError

pytestmark = pytest.mark.usefixtures("shelf_as_before")

ROOT = Path(__file__).resolve().parents[2]
NOVIKOFF = ROOT / "docs" / "examples" / "novikoff.py"

HEAD = """
from gammabar.papers import Paper, at_most, below, direct, per_iterate, separable, stopping, Trial
paper = Paper(key="mine", title="A title", authors="Somebody", year=2026)
"""
TRUE = """
@per_iterate("mine.positive", reference="Lemma 1", claim="0 \\\\le \\\\|w_t\\\\|",
             solvers=("perceptron",))
def positive(it, case):
    "Norms are not negative."
    return at_most(0, it.norm)
"""


def written(folder: Path, text: str, name: str = "mine.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def package(folder: Path) -> Path:
    """A small paper with all that a paper may bring."""
    home = folder / "small_paper"
    (home / "witnesses").mkdir(parents=True)
    (home / "__init__.py").write_text(
        'from gammabar.papers import Paper\npaper = Paper(key="small", title="Small", '
        'authors="Somebody", year=2026, random={"perceptron": {"choice": ("first",)}})\n'
    )
    (home / "sequences.py").write_text("def zero():\n    return 0\n")
    (home / "section1.py").write_text(
        "from gammabar.papers import Trial, at_least, at_most, direct, per_iterate\n"
        "from .sequences import zero\n"
        '@per_iterate("small.norm", reference="Lemma 1", claim="0", solvers=("perceptron",),\n'
        '             powerless="every solver has a norm")\n'
        'def norm(it, case):\n    "Norms are not negative."\n    return at_most(zero(), it.norm)\n'
        '@direct("small.one", reference="Lemma 2", claim="1 \\\\le 0", kind="value",\n'
        '        problems=("",),'
        '        status="refuted", fixed_by="small.one.fixed", severity="misprint")\n'
        'def one(case):\n    "1 is at most 0."\n    yield at_most(1, 0)\n'
        '@direct("small.one.fixed", reference="Lemma 2", claim="1 \\\\ge 0", kind="value",\n'
        '        problems=("",))\n'
        'def one_fixed(case):\n    "1 is at least 0."\n    yield at_least(1, 0)\n'
        'TRIALS = (Trial("perceptron", "planted:n=12,d=2,gamma=0.2,seed=3", 20),)\n'
    )
    (home / "mutants.py").write_text(
        "from gammabar.papers import Family\n"
        "from gammabar.solvers import Perceptron\n"
        'FAMILY = Family("small", __name__)\n'
        'FAMILY.edit(Perceptron, "stays", "It stays where it is", "it never moves",\n'
        '            {"(1.0, single_row(problem, j))": "(0.0, single_row(problem, j))"})\n'
    )
    (home / "matrix.json").write_text('{"perceptron/stays": {"small.norm": ["iris:0,1"]}}')
    (home / "witnesses" / "small.one.json").write_text(
        json.dumps(
            {"format": "gammabar-witness", "version": 1, "statement": "small.one", "data": {}}
        )
    )
    (home / "refuters.py").write_text(
        "from gammabar.papers.witness import refuter\n"
        '@refuter("small.one")\ndef _(data):\n    return 1, "<=", 0\n'
    )
    return home


# --- what a paper brings ---------------------------------------------------------------------


def test_a_package_brings_everything_and_no_other_file_is_touched(tmp_path: Path):
    home = package(tmp_path)
    assert open_paper(str(home)).title == "Small"
    assert "small" in papers()
    assert [s.id for s in load_statements().values() if s.source == "small"] == [
        "small.norm",
        "small.one",
        "small.one.fixed",
    ]
    assert any(trial.problem == "planted:n=12,d=2,gamma=0.2,seed=3" for trial in trials())
    assert mutants()["perceptron/stays"].family == "small"
    assert witness("small.one") == home / "witnesses" / "small.one.json"


def test_every_command_knows_a_paper_of_ones_own(tmp_path: Path, gammabar):
    home = package(tmp_path)
    code, out, _ = gammabar("list", "statements", "--paper", home, "--json")
    listed = {entry["id"]: entry for entry in json.loads(out)}
    assert code == 0
    assert set(listed) == {"small.norm", "small.one", "small.one.fixed"}
    assert listed["small.one"]["witness"].endswith("small.one.json")
    assert "small.one" in gammabar("list", "statements", "--paper", home)[1]
    assert "small" in gammabar("list", "papers", "--paper", home)[1]
    assert "perceptron/stays" in gammabar("list", "mutants", "--paper", home)[1]
    code, out, _ = gammabar("verify", "--paper", home, "--jobs", "1", "--json")
    results = json.loads(out)["results"]
    assert code == 0
    assert {r["statement"] for r in results} == set(listed)
    assert {r["verdict"] for r in results if r["statement"] == "small.one"} == {"refuted"}
    code, out, _ = gammabar("verify", "--paper", home, "--random", "3", "--jobs", "1", "--json")
    assert code == 0
    code, out, _ = gammabar("check", home / "witnesses" / "small.one.json", "--paper", home)
    assert code == 0
    assert "small.one is false as printed" in out


def test_novikoff_holds_and_its_root_is_refuted(gammabar):
    """The example of the tutorial."""
    assert len(NOVIKOFF.read_text(encoding="utf-8").splitlines()) <= 40
    wanted = ["--problem", "mnist-sample:0,1", "--problem", "degenerate:kind=simplex"]
    arguments = ["verify", "--paper", NOVIKOFF, "--jobs", "1", "--json", *wanted]
    code, out, _ = gammabar(*arguments, "--statement", "novikoff.mistakes")
    assert code == 0
    assert {r["verdict"] for r in json.loads(out)["results"]} == {"holds"}
    code, out, _ = gammabar(*arguments, "--statement", "novikoff.root")
    assert code == 1
    assert "refuted" in {r["verdict"] for r in json.loads(out)["results"]}


@pytest.mark.full
def test_an_installed_paper_is_found_by_its_entry_point(tmp_path: Path):
    package(tmp_path)
    info = tmp_path / "small_paper-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small-paper\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gammabar.papers]\nsmall = small_paper\n")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    run = [sys.executable, "-m", "gammabar", "list", "statements", "--json"]
    done = subprocess.run(
        run, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert "small.norm" in {entry["id"] for entry in json.loads(done.stdout)}
    (tmp_path / "small_paper" / "section1.py").write_text("import nowhere\n")
    done = subprocess.run(
        run, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "'small' of small-paper" in done.stderr
    assert "nowhere" in done.stderr


# --- opening and closing ---------------------------------------------------------------------


def test_opened_again_it_is_the_same_and_changed_it_is_the_new_one(tmp_path: Path):
    path = written(tmp_path, HEAD + TRUE)
    first = open_paper(path)
    assert open_paper(path) is first
    written(tmp_path, HEAD + TRUE.replace("mine.positive", "mine.other"))
    open_paper(path)
    assert [i for i in load_statements() if i.startswith("mine.")] == ["mine.other"]


def test_a_reference_travels_without_the_file(tmp_path: Path):
    path = written(tmp_path, HEAD + TRUE)
    ref = PaperRef(path, PaperRef.read(path).files)
    Path(path).unlink()
    assert open_paper(ref).key == "mine"


# --- errors of people ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no paper"),
        ("paper = 3\n", "has no paper"),
        ("x = (\n", "line 1"),
        ("import nowhere_at_all\n", "line 1: ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "line 1: SystemExit"),
        ("1/0\n", "line 1: ZeroDivisionError"),
        (HEAD + "1/0\n", "line 4: ZeroDivisionError"),
        ("from gammabar.papers import Paper\npaper = Paper()\n", "line 2: TypeError"),
        (HEAD.replace("mine", "My Paper"), "word of small letters"),
        (HEAD.replace("mine", "oracle"), "is taken"),
        (HEAD.replace("mine", "jst"), "taken by"),
        (HEAD + TRUE.replace("mine.", "yours."), "must be called mine."),
        (HEAD + TRUE.replace("mine.positive", "jst.thm3.1.1"), "jst.thm3.1.1"),
        (HEAD + TRUE + TRUE, "mine.positive"),
        ("\0", "null"),
    ],
)
def test_a_paper_that_cannot_be_opened(tmp_path: Path, text: str, sentence: str):
    path = written(tmp_path, text)
    with pytest.raises(ProblemError, match=r"^(?!.*\n)") as found:
        open_paper(path)
    assert sentence in str(found.value)
    assert "mine.py" in str(found.value)


OWN = """
import numpy as np
def perceptron(problem, step=1.0):
    "Descent along the softmax, under the name of another method."
    A = np.array([problem.row(i) for i in range(problem.n)])
    w = np.zeros(A.shape[1])
    while True:
        yield w
        scores = -(A @ w)
        q = np.exp(scores - scores.max())
        w = w + step * A.T @ (q / q.sum())

class Still:
    def iterates(self, problem, rng):
        while True:
            yield problem.origin()

TRIALS = (Trial("perceptron:step=0.5", "iris:0,1", 5), Trial("Still", "iris:0,1", 5))

@per_iterate("mine.grows", reference="Lemma 2", claim="0 < t", since=1,
             solvers=("perceptron", "Still"))
def grows(it, case):
    "w_t is not zero."
    return at_most(0.001, it.norm)
"""


@pytest.mark.full
def test_a_paper_brings_its_solvers(tmp_path, capsys):
    """A name means the function or class of the paper's own, and the registry's if it has none."""
    from gammabar.harness.cli import main

    path = written(tmp_path, HEAD + OWN)
    open_paper(path)
    assert load_statements()["mine.grows"].solvers == ("mine.perceptron", "mine.Still")
    assert {t.solver for t in trials() if t.problem == "iris:0,1" and "mine" in t.solver} == {
        "mine.perceptron:step=0.5",
        "mine.Still",
    }

    def asked(*arguments):
        with pytest.raises(SystemExit) as left:
            main([*arguments, "--paper", path, "--json"])
        return left.value.code, json.loads(capsys.readouterr().out)

    for jobs in ("1", "2"):
        code, found = asked("verify", "--source", "mine", "--jobs", jobs)
        verdicts = {r["solver"]: (r["verdict"], r["failure"]) for r in found["results"]}
        assert verdicts == {
            "mine.perceptron": ("holds", ""),  # a claim about it is about its default options
            "mine.Still": ("refuted", ""),
        }
        assert code == 1
    _, cards = asked("list", "solvers")
    assert next(c for c in cards if c["name"] == "mine.Still")["statements"] == ["mine.grows"]
    _, facts = asked("show", "mine.perceptron")
    assert facts["options"] == {"step": "1.0"}
    assert asked("verify", "--solver-file", f"{path}:Still", "--statement", "mine.grows")[0] == 1
    assert load_statements()["mine.grows"].body  # the solver's process has not taken it away


def test_a_paper_may_have_the_key_of_a_plug_in(tmp_path):
    """Plug-ins are opened when they are named: until then their keys are free."""
    assert (PLUGINS / "wang.py").is_file()
    path = written(tmp_path, (HEAD + OWN).replace("mine", "wang"))
    assert open_paper(path).key == "wang"
    assert load_statements()["wang.grows"].solvers == ("wang.perceptron", "wang.Still")


def test_a_claim_that_names_no_problems_is_checked_on_a_few(tmp_path):
    path = written(tmp_path, HEAD + OWN.replace("TRIALS", "RUNS"))
    open_paper(path)
    tasks = make_plan(Request(statements=("mine.grows",)))
    assert {t.run.problem for t in tasks} == set(PROBLEMS)
    assert {t.run.by for t in tasks} == {"mine.perceptron", "mine.Still"}
