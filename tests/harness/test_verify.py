"""``gammabar verify`` and ``gammabar list``: answers, exit codes, and what is said to people."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.run import engine, random_runs
from gammabar.harness.run.engine import Request, make_plan
from gammabar.harness.verify.numbers import at_least, fact
from gammabar.harness.verify.statement import direct, per_iterate

PROBLEM = "planted:n=30,d=4,gamma=0.1,seed=0"
ONE = ("--statement", "gb.sharp", "--solver", "dual-acceleration", "--problem", PROBLEM)

MINE = """
class Breaks:
    def iterates(self, problem, rng):
        yield problem.origin()
        raise OverflowError("too much")
"""


@pytest.fixture
def verify(gammabar):
    """Verify something, and get the exit code and the JSON document."""

    def run(*arguments):
        code, out, err = gammabar("verify", "--jobs", "1", "--json", *arguments)
        assert code in (0, 1), err
        return code, json.loads(out)

    return run


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "my.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def registered(registered, monkeypatch):
    """Statements that a test registers are alone in the plan."""
    registered.clear()
    monkeypatch.setattr(engine, "trials", lambda: ())


# answers


def test_the_oracle_is_verified(verify):
    code, document = verify("--source", "oracle", "--problem", "iris:0,1", "--problem", "iris:1,2")
    assert code == 0
    assert [(r["statement"], r["problem"], r["verdict"]) for r in document["results"]] == [
        ("oracle.certificate", "iris:0,1", "holds"),
        ("oracle.cvxpy", "iris:0,1", "holds"),
        ("oracle.certificate", "iris:1,2", "holds"),
        ("oracle.cvxpy", "iris:1,2", "holds"),
    ]


def test_an_oracle_that_errs_is_found_out(verify, monkeypatch):
    from gammabar.oracle import Truth, cvxpy_models

    model, save = cvxpy_models.hard_margin_dual, Truth.save

    def other(rows):
        answer = model(rows)
        return dataclasses.replace(answer, gamma=answer.gamma * (1 + 1e-6))

    def corrupted(self, path):
        save(self, path)
        body = json.loads(path.read_text())
        body["weights"][0] += "0"
        path.write_text(json.dumps(body))

    monkeypatch.setattr(cvxpy_models, "hard_margin_dual", other)
    monkeypatch.setattr(Truth, "save", corrupted)
    code, document = verify("--source", "oracle", "--problem", "iris:0,1")
    assert code == 1
    certificate, cvxpy = document["results"]
    assert (certificate["verdict"], cvxpy["verdict"]) == ("refuted", "refuted")
    assert "rejected" in certificate["what"]


def test_a_solver_that_breaks(gammabar, mine):
    asked = ("--statement", "gb.sharp", "--problem", PROBLEM, "--jobs", "1")
    code, out, _ = gammabar("verify", f"{mine}:Breaks", *asked)
    assert code == 1
    assert "undecided, 1 failed" in out
    assert "crashed" in out
    line = MINE.splitlines().index('        raise OverflowError("too much")') + 1
    assert re.search(rf"OverflowError: too much \({mine}, line {line}, in iterates\)", out)


# exit codes and tables


@pytest.mark.parametrize(
    ("found", "status", "code", "said"),
    [
        (True, "holds", 0, "holds"),
        (True, "refuted", 1, "expected  refuted: It is false."),
        (False, "refuted", 0, "refuted (known to be false)"),
        (False, "holds", 1, "refuted (FAILED)"),
        (None, "holds", 1, "undecided"),
        ("never", "holds", 0, "inapplicable"),
    ],
)
def test_exit_codes(gammabar, registered, found, status, code, said):
    assumes = (lambda case: "it never is",) if found == "never" else ()
    more = {"severity": "misprint", "note": "It is false."} if status == "refuted" else {}
    more |= {"reference": "here", "claim": "", "kind": "value", "words": "1 = 1"}
    declared = direct("test.claim", problems=("",), status=status, assumes=assumes, **more)
    declared(lambda case: fact(found))
    left, out, _ = gammabar("verify", "--jobs", "1", "--source", "test")
    assert (left, "its own data" in out) == (code, True)
    assert said in out


def claims(status="holds", **more):
    """A false claim of our own: every margin is at least one."""
    more |= {"reference": "here", "claim": "", "solvers": ("perceptron",), "since": 1}
    declared = per_iterate("test.wide", status=status, words="γ(w_t) ≥ 1 for all t.", **more)
    declared(lambda it, case: at_least(it.margin, 1, "γ(w_t) ≥ 1"))


def test_an_unexpected_refutation_is_shown_in_full(gammabar, registered):
    claims()
    problem = "iris:0,1 --kernel linear"
    asked = ("--statement", "test.wide", "--problem", problem, "--iterations", "20", "--seed", "3")
    code, out, _ = gammabar("verify", "--jobs", "1", *asked)
    assert code == 1
    assert "refuted (FAILED)" in out
    assert "✗" in out
    assert "test.wide refuted at t = 1 on iris:0,1 --kernel linear (solver perceptron)" in out
    assert "claimed   γ(w_t) ≥ 1 for all t." in out
    assert "1 FAILED" in out
    command = re.search(r"reproduce gammabar (.*)", out)[1]
    assert command.endswith("'iris:0,1 --kernel linear' --iterations 1 --seed 3")
    code, again, _ = gammabar(*shlex.split(command), "--jobs", "1")
    assert code == 1
    assert "test.wide refuted at t = 1 on iris:0,1 --kernel linear (solver perceptron)" in again


def test_the_first_line_comes_before_the_imports():
    code = (
        "import sys, gammabar.harness.cli.verify as v\n"
        "def echo(*a, **k):\n"
        "    print([m for m in ('numpy', 'flint', 'rich', 'joblib') if m in sys.modules])\n"
        "    sys.exit()\n"
        "v.say = echo\n"
        "from gammabar.harness.cli import main; main(['verify'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


@pytest.mark.slow
def test_the_default_plan(gammabar):
    """Each verdict is the expected one, and every statement is decided somewhere."""
    code, out, err = gammabar("verify", "--json")
    document = json.loads(out)
    wrong = [r for r in document["results"] if not r["as_expected"]]
    assert not wrong
    assert code == 0, err
    open_ones = ("undecided", "inapplicable")
    decided = {r["statement"] for r in document["results"] if r["verdict"] not in open_ones}
    here = {r["statement"] for r in document["results"] if "not on this machine" not in r["reason"]}
    assert decided >= here & load_statements().keys()


# bad requests


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["--source", "xyz"], "is not a source"),
        (["--problem", "none.csv"], "none.csv"),
        (["--problem", "iris:0,1 --colour red"], "--colour"),
        (["--problem", "iris:0,1", "--kernel", "sinc"], "sinc"),
        (["--kernel", "linear"], "--problem"),
        (
            ["--statement", "gb.sharp", "--solver-file", "none.py:Mine"],
            "none.py: there is no such file",
        ),
        (["--statement", "gb.sharp", "--solver-file", "none.py"], "my.py:MySolver"),
        (["--resume"], "--store"),
        (["--iterations", "-1"], "--iterations"),
        (["--jobs", "0"], "--jobs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_requests(refused, arguments, place):
    assert place in refused("verify", *arguments)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is a Linux device")
def test_a_full_disk_for_what_is_written_at_the_end(gammabar):
    code, out, err = gammabar("verify", "--jobs", "1", *ONE, "--junit", "/dev/full")
    assert code == 2
    assert "1 verdict: 1 holds" in out  # the answer is not lost with the file
    assert err.splitlines()[-1] == "gammabar: /dev/full: No space left on device"
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "gammabar", "verify", *ONE, "--jobs", "1", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    assert "No space left" in run.stderr
    assert "Traceback" not in run.stderr


# JUnit


def test_junit(gammabar, registered, tmp_path):
    path = tmp_path / "j.xml"
    claims()
    more = {"reference": "here", "claim": "", "kind": "value", "problems": ("",)}
    direct("test.true", **more)(lambda case: fact(True))
    direct("test.never", assumes=(lambda case: "\x07 <&> never",), **more)(lambda case: fact(True))
    direct("other.broken", **more)(lambda case: [1 / 0])
    asked = ("verify", "--jobs", "1", "--source", "test", "--junit", path)
    assert gammabar(*asked, "--source", "other")[0] == 1
    names = ("name", "tests", "failures", "errors", "skipped")
    suites = [[suite.get(name) for name in names] for suite in ElementTree.parse(path).getroot()]
    assert suites == [["other", "1", "1", "0", "0"], ["test", "2", "0", "0", "1"]]
    gammabar(*asked, "--problem", "iris:0,1")
    (case,) = ElementTree.parse(path).getroot().iter("testcase")
    assert case.get("classname") == "test.wide"
    assert case.get("name") == "test.wide on iris:0,1 by perceptron seed 0"
    assert float(case.get("time")) > 0
    (failure,) = case
    assert (failure.tag, failure.get("message")) == ("failure", "refuted (expected: holds)")
    assert "reproduce gammabar verify" in failure.text


# lists


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        (("--source", "lec", "--source", "rp"), lambda s: s["source"] in ("lec", "rp")),
        (("--status", "refuted"), lambda s: s["status"] == "refuted"),
        (
            ("--severity", "misprint", "--source", "jst"),
            lambda s: (s["severity"], s["source"]) == ("misprint", "jst"),
        ),
        (("WINNOW",), lambda s: "winnow" in " ".join(map(str, s.values())).lower()),
    ],
)
def test_list_statements_that_are_chosen(gammabar, options, fits):
    everything = json.loads(gammabar("list", "statements", "--json")[1])
    chosen = json.loads(gammabar("list", "statements", *options, "--json")[1])
    assert chosen == [s for s in everything if fits(s)]
    assert 0 < len(chosen) < len(everything)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("statements --source nobody", "'nobody' is not a source"),
        ("solvers --status holds", "go with statements"),
        ("statements --severity dreadful", "'dreadful' is not one of"),
    ],
)
def test_lists_that_cannot_be_had(refused, words, said):
    assert said in refused("list", *words.split())


def test_random_runs_begin_while_others_are_planned(monkeypatch, verify):
    request, drawn, draws = Request(random=12), [], random_runs.random_trials
    whole = make_plan(request)
    monkeypatch.setattr(engine, "PART", 3)
    monkeypatch.setattr(
        random_runs, "random_trials", lambda *a: (drawn.append(t) or t for t in draws(*a))
    )
    parts = engine.plan_in_parts(request)
    first = next(parts)
    assert len(first) == 3
    assert len(drawn) < 12
    assert [*first, *(task for part in parts for task in part)] == whole
    code, document = verify("--random", "12")
    assert code == 0
    results = document["results"]
    ran = {(r["problem"], r["solver"], r["iterations"], r["seed"]) for r in results}
    assert ran == {(t.run.problem, t.run.by, t.run.iterations, t.run.seed) for t in whole}
