"""Inputs that statements with data of their own declare: texts, draws, and the search over them."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gammabar.harness.falsify.candidate import Candidate, Finding
from gammabar.harness.falsify.parameters import STRATEGIES, Given, candidate, drawn, smaller
from gammabar.harness.falsify.shrink import shrink
from gammabar.harness.falsify.strategies import Over
from gammabar.harness.registry import everything
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.parameters import choices, flat, rationals, read, sizes_of, wholes
from gammabar.harness.verify.run_checks import examine
from gammabar.harness.verify.verdict import Status, Verdict
from gammabar.problems import ProblemError

DECLARED = {s.id: s for s in everything().values() if s.inputs}
MIXED = {
    "A": rationals(-5, 5, shape=("n", "d")),
    "b": rationals(0, None, positive=True, shape=("d",)),
    "T": wholes(1, 50),
    "y": choices(1, -1, shape=("n",)),
}


def draws(inputs, seed: int, count: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        sizes = {"n": int(rng.integers(1, 4)), "d": int(rng.integers(1, 4)), "m": 2}
        yield candidate(inputs, sizes, lambda n, e: drawn(e, rng)).data


@given(st.integers(0, 10**6))
def test_a_text_names_the_inputs_that_it_was_written_from(seed: int):
    for data in draws(MIXED, seed, 3):
        values = dict(data.values)
        assert read(MIXED, data.text) == values
        assert all(MIXED[name].allows(x) for name, v in values.items() for x in flat(v))
        assert sizes_of(MIXED, values)["d"] == len(values["b"])


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


@pytest.mark.parametrize("statement", sorted(DECLARED))
def test_no_true_statement_is_refuted_by_any_inputs_and_all_can_be_judged(statement: str):
    """Random inputs: a verdict for each, and for a true statement never "refuted"."""
    entry = DECLARED[statement]
    spoken = 0
    for data in draws(entry.inputs, 7, 30):
        case = Case(name=data.text)
        case.inputs = read(entry.inputs, data.text)
        found = examine(entry, case)
        spoken += found.verdict in ("holds", "refuted")
        if entry.status is Status.HOLDS:
            assert found.verdict != "refuted", data.text
    assert spoken, "of none of 30 inputs it speaks"


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_over_inputs_keeps_to_their_ranges(name: str):
    asked: list[Candidate] = []

    def ask(one: Candidate) -> Finding:
        if len(asked) == 200:
            raise Over
        asked.append(one)
        return Finding(one, Verdict("x", "holds", tightness=len(one.problem) / 1000))

    with pytest.raises(Over):
        STRATEGIES[name](ask, MIXED, np.random.default_rng(5))
    assert len({one.problem for one in asked}) > 50
    for one in asked:
        assert read(MIXED, one.problem) == dict(one.data.values)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_shrinking_inputs_keeps_what_refutes_and_drops_the_rest(seed: int, least: int):
    """Of a claim that fails where T is at least `least` and some A is negative."""

    def ask(one: Candidate) -> Finding:
        values = dict(one.data.values)
        fails = values["T"] >= least and min(flat(values["A"])) < 0
        return Finding(one, Verdict("x", "refuted" if fails else "holds"))

    for data in islice(draws(MIXED, seed, 5), 5):
        found = ask(Candidate(data, iterations=0))
        if found.refuted:
            small = dict(shrink(found, ask, MIXED).candidate.data.values)
            assert small == {"A": ((Fraction(-1),),), "b": (Fraction(1),), "T": least, "y": (1,)}
    first = Given((("A", ((Fraction(2),),)), ("b", (Fraction(1),)), ("T", 3), ("y", (1,))))
    assert all(read(MIXED, c.problem) for c in smaller(Candidate(first), MIXED))
