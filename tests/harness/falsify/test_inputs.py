"""Inputs that statements with data of their own declare: texts, draws, and the search over them."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from gammabar.harness.falsify.parameters import _inputs as inputs
from gammabar.harness.registry import everything
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.parameters import (
    choices,
    rationals,
    read,
    text_of,
    wholes,
)
from gammabar.harness.verify.run_checks import check_statement
from gammabar.harness.verify.verdict import Status
from gammabar.problems import ProblemError

DECLARED = {s.id: s for s in everything().values() if s.inputs}
MIXED = {
    "A": rationals(-5, 5, shape=("n", "d")),
    "b": rationals(0, None, positive=True, shape=("d",)),
    "T": wholes(1, 50),
    "y": choices(1, -1, shape=("n",)),
}


@given(inputs(MIXED))
def test_a_text_names_the_inputs_that_it_was_written_from(candidate):
    values = read(MIXED, candidate.problem)
    assert text_of(values) == candidate.problem


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("inputs:", "write inputs:A="),
        ("inputs:A=1&b=1&T=1", "write inputs:A="),
        ("inputs:A=1&b=1&T=1&y=1&z=2", "write inputs:A="),
        ("inputs:A=1&A=1&b=1&T=1&y=1", "write inputs:A="),
        ("inputs:A=6&b=1&T=1&y=1", "A: '6' is not a rational number, at least -5, at most 5"),
        ("inputs:A=x&b=1&T=1&y=1", "A: 'x' is not"),
        ("inputs:A=1/0&b=1&T=1&y=1", "A: '1/0' is not"),
        ("inputs:A=1&b=0&T=1&y=1", "b: '0' is not"),
        ("inputs:A=1&b=1&T=1.5&y=1", "T: '1.5' is not a whole number"),
        ("inputs:A=1&b=1&T=1&y=2", "y: '2' is not one of 1, -1"),
        ("inputs:A=1,2;3&b=1,1&T=1&y=1,1", "different lengths"),
        ("inputs:A=1,2&b=1&T=1&y=1", "has 1 where 2 are needed"),
        ("inputs:A=" + "1" * 5000 + "&b=1&T=1&y=1", "A: '1111"),
    ],
)
def test_inputs_that_are_none_are_refused_in_a_sentence(text: str, why: str):
    with pytest.raises(ProblemError, match=why.replace("(", r"\(")) as caught:
        read(MIXED, text)
    assert len(str(caught.value)) < 200


def test_the_command_takes_inputs_and_refuses_others(gammabar):
    arguments = ["verify", "--statement", "rp.thm2.proof", "--json", "--problem"]
    code, out, _ = gammabar(*arguments, "inputs:shift=-1&s=1/2")
    [result] = json.loads(out)["results"]
    assert (code, result["verdict"]) == (0, "refuted")
    code, out, _ = gammabar(*arguments, "inputs:shift=-1&s=2")
    assert json.loads(out)["results"][0]["verdict"] == "holds"
    code, _, err = gammabar(*arguments, "inputs:shift=1&s=2")
    assert code == 2
    assert "shift: '1' is not" in err


@pytest.mark.full
@pytest.mark.parametrize("statement", sorted(DECLARED))
def test_no_true_statement_is_refuted_by_any_inputs_and_all_can_be_judged(statement: str):
    """Random inputs: a verdict for each, and for a true statement never "refuted"."""
    entry, spoken = DECLARED[statement], []

    @settings(
        max_examples=30,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(entry.inputs))
    def judge(candidate):
        case = Case(name=candidate.problem)
        case.inputs = read(entry.inputs, candidate.problem)
        found = check_statement(entry, case)
        spoken.append(found.verdict in ("holds", "refuted"))
        if entry.status is Status.HOLDS:
            assert found.verdict != "refuted"

    judge()
    assert any(spoken), "of none of 30 inputs it speaks"
