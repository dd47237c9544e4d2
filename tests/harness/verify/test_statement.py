"""Errors of people who write a statement: one sentence with id, file, line and what to do."""

from __future__ import annotations

import math
from math import exp
from pathlib import Path

import numpy as np
import pytest

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import at_most, fact, number
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import (
    STATEMENTS,
    DirectStatement,
    IterateStatement,
    RandomisedStatement,
    StoppingStatement,
    direct,
    per_iterate,
    randomised,
    stopping,
)
from gammabar.harness.verify.verdict import StatementError
from gammabar.problems import ProblemError, from_arrays
from gammabar.solvers import DualAcceleration

SQUARE = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])
HERE = Path(__file__).name
pytestmark = pytest.mark.usefixtures("registered")


def told(what: str, make, identifier: str = "test.mine") -> str:
    """The sentence of a StatementError, which says who, where and `what`."""
    with pytest.raises(StatementError) as caught:
        make()
    sentence = str(caught.value)
    assert sentence.startswith(identifier)
    assert f"{HERE}, line " in sentence
    assert what in sentence, sentence
    assert "\n" not in sentence
    assert isinstance(caught.value, ProblemError)  # the command line ends with code 2
    return sentence


def about_iterates(body, **more):
    options = {"reference": "here", "claim": "", "solvers": ("dual-acceleration",)} | more
    per_iterate("test.mine", **options)(body)
    return check_run(Case(SQUARE, DualAcceleration(), unit=True), [STATEMENTS["test.mine"]], 2)[0]


def about_nothing(body, **more):
    direct("test.mine", reference="here", claim="", kind="value", problems=("",), **more)(body)
    return check_statement(STATEMENTS["test.mine"], Case(SQUARE))


# what a body returns


class Forgets:
    def __init__(self, case):
        pass

    def claim(self, it):
        at_most(it.norm, 1)


class Remembers:
    def __init__(self, case):
        self.was = None

    def claim(self, it):
        was, self.was = self.was, it.norm
        return at_most(was, 9) if was else None


def test_a_body_may_have_nothing_to_say_of_iterates():
    assert about_iterates(lambda it, c: at_most(0, 1) if it.t % 2 else None).checked == 1
    STATEMENTS.pop("test.mine")
    assert about_iterates(Remembers).checked == 2
    STATEMENTS.pop("test.mine")
    verdict = about_iterates(Forgets)
    assert verdict.verdict == "inapplicable"
    assert "nothing is claimed of any iterate" in verdict.reason
    STATEMENTS.pop("test.mine")
    told("returns nothing", lambda: about_nothing(lambda case: None))


@pytest.mark.parametrize(
    "value",
    [1.5, True, np.True_, np.float64(1.5), np.ones(2), "text", number(1), 3, {"a": 1}],
    ids=repr,
)
def test_a_bare_value_instead_of_a_relation(value):
    told("return", lambda: about_iterates(lambda it, case: value))
    STATEMENTS.pop("test.mine")
    told("return", lambda: about_iterates(lambda it, case: [fact(True), value]))
    STATEMENTS.pop("test.mine")
    told("return", lambda: about_nothing(lambda case: value))


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("instead of NumPy", lambda it, case: at_most(np.float64(1.5), 2)),
        ("instead of NumPy", lambda it, case: at_most(np.sqrt(2), it.norm)),
        ("instead of NumPy", lambda it, case: at_most(it.norm, np.ones(2))),
        ("instead of NumPy", lambda it, case: at_most(it.norm, True)),
        ("instead of NumPy", lambda it, case: at_most(it.norm, "1")),
        ("instead of NumPy", lambda it, case: at_most(it.norm, 1j)),
        ("instead of NumPy", lambda it, case: at_most(np.arctan(it.norm), 2)),
        ("instead of NumPy", lambda it, case: fact(bool(np.isfinite(it.norm)))),
        ("forgets its error", lambda it, case: at_most(math.sqrt(it.norm), 1)),
        ("forgets its error", lambda it, case: at_most(exp(it.norm), 1)),
        ("KeyError: 'missing'", lambda it, case: at_most(it.extra["missing"], 1)),
    ],
)
def test_a_body_that_computes_otherwise_or_raises(what, body):
    line = f"{HERE}, line {body.__code__.co_firstlineno})"
    assert line in told(what, lambda: about_iterates(body))


def test_what_is_no_rounding_of_doubles_is_let_in():
    assert about_iterates(lambda it, case: at_most(math.prod([0, it.norm]), 1)).verdict == "holds"


def test_a_limit_that_is_no_number():
    stopping("test.mine", reference="here", claim="", solvers=())(lambda case: fact(True))
    case = Case(SQUARE, DualAcceleration(), unit=True)
    told("limit of t", lambda: check_run(case, [STATEMENTS["test.mine"]], 2))


@pytest.mark.parametrize("answer", [True, False, "", 1, np.True_, KeyError("mine")])
def test_an_assumption_that_raises_or_returns_no_reason(answer):
    def predicate(case):
        if isinstance(answer, Exception):
            raise answer
        return answer

    for check, body in (
        (about_iterates, lambda it, case: fact(True)),
        (about_nothing, lambda case: fact(True)),
    ):
        sentence = told("None if it is met", lambda c=check, b=body: c(b, assumes=(predicate,)))
        assert "its assumption" in sentence
        STATEMENTS.pop("test.mine")


# registration


def fine(it, case):
    return fact(True)


def test_an_id_that_exists():
    per_iterate("test.mine", reference="here", claim="", solvers=())(fine)
    first = f"line {fine.__code__.co_firstlineno}"
    again = per_iterate("test.mine", reference="here", claim="", solvers=())
    sentence = told("exists already", lambda: again(lambda it, case: fact(True)))
    assert first in sentence.partition("exists already")[2]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"kind": "sometimes"}, "kind must be one of anytime, stopping"),
        ({"reference": None}, "reference must be"),
        ({"reference": " "}, "reference must be"),
        ({"claim": None}, "claim must be"),
        ({"claim": 3}, "claim must be"),
        ({"solvers": "dual-acceleration"}, "solvers must be"),
        ({"solvers": ["dual-acceleration"]}, "solvers must be"),
        ({"problems": "iris:0,1"}, "problems must be"),
        ({"assumes": fine}, "assumes must be"),
        ({"status": "perhaps"}, "status must be one of holds"),
        ({"since": -1}, "since must be"),
        ({"since": 0.5}, "since must be"),
        ({"unit": "yes"}, "unit must be"),
        ({"history": (int,)}, "history must be"),
        ({"solver": ("sgd",)}, "did you mean solvers?"),
        ({"delta": 0.1}, "there is no option delta"),
    ],
)
def test_a_decorator_that_is_used_wrongly(options, what):
    options = {"reference": "here", "claim": "", "solvers": ()} | options
    told(what, lambda: per_iterate("test.mine", **options)(fine))
    assert "test.mine" not in STATEMENTS


def test_what_must_be_given():
    told("reference must be", lambda: per_iterate("test.mine", claim="", solvers=())(fine))
    told("solvers must be", lambda: per_iterate("test.mine", claim="", reference="here")(fine))
    told("kind must be", lambda: direct("test.mine", claim="", reference="h", problems=())(fine))
    told("an id", lambda: per_iterate(fine), identifier="fine")
    with pytest.raises(StatementError, match="id must be"):
        per_iterate("with space", reference="here", claim="", solvers=())(fine)
    for delta, runs in [(0.0, 10), (1.5, 10), (0.5, 0), (0.5, 2.5)]:
        options = {"reference": "h", "claim": "", "problems": ("",), "delta": delta, "runs": runs}
        told(
            "delta must be" if runs == 10 else "runs must be",
            lambda options=options: randomised("test.mine", **options)(lambda case, rng: None),
        )


@pytest.mark.parametrize(
    "body", [lambda: fact(True), lambda it: fact(True), lambda a, b, c, d: fact(True), 3, int, None]
)
def test_a_body_that_cannot_be_called(body):
    with pytest.raises(StatementError, match=r"test\.mine"):
        per_iterate("test.mine", reference="here", claim="", solvers=())(body)


def test_each_decorator_makes_its_own_type():
    more = {"reference": "here", "claim": ""}
    per_iterate("test.1", solvers=(), **more)(fine)
    stopping("test.2", solvers=(), **more)(lambda case: 3)
    direct("test.3", kind="value", problems=("",), **more)(lambda case: fact(True))
    randomised("test.4", delta=0.5, runs=1, problems=("",), **more)(lambda case, rng: fact(True))
    kinds = [IterateStatement, StoppingStatement, DirectStatement, RandomisedStatement]
    assert [type(STATEMENTS[f"test.{k}"]) for k in (1, 2, 3, 4)] == kinds
    assert [STATEMENTS[f"test.{k}"].about_runs for k in (1, 2, 3, 4)] == [True, True, False, False]
    with pytest.raises(ProblemError, match="not about a run"):
        check_run(Case(SQUARE, DualAcceleration()), [STATEMENTS["test.3"]], 1)
    with pytest.raises(ProblemError, match="about a run"):
        check_statement(STATEMENTS["test.1"], Case(SQUARE))


def about_data(**more):
    options = {"reference": "here", "claim": "", "kind": "value", "problems": ("",)} | more
    direct("test.mine", **options)(lambda case: fact(True))


@pytest.mark.parametrize("severity", [None, "dreadful", 3])
def test_what_is_refuted_says_how_it_is_false(severity):
    told(
        "its severity must be one of substance, misprint, edge case, transcription",
        lambda: about_data(status="refuted", severity=severity),
    )


@pytest.mark.parametrize("more", [{"severity": "misprint"}, {"why": "x"}, {"charitable": "a.b"}])
def test_what_holds_has_no_severity(more):
    told("is for statements that are refuted", lambda: about_data(**more))
