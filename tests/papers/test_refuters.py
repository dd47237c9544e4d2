"""Every refuter tests every assumption of its statement: each is spoilt in turn, in many ways.

A witness that violates an assumption of the source refutes nothing. What is assumed was read in the
sources; that nothing which a refuter demands goes untested is counted in its own text.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Callable
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gammabar.papers import witness
from gammabar.papers.witness import REFUTERS, Rejected, check, load_refuters

FILES = {
    path.stem: path
    for path in (Path(__file__).resolve().parents[2] / "papers").glob("*/witnesses/*.json")
}
load_refuters()
Spoil = Callable[[Any, Q], None]


def to(name: str, make: Callable[[Q], Any]) -> Spoil:
    def spoil(data: Any, x: Q) -> None:
        data[name] = make(x)

    return spoil


def texts(*values: Any) -> list[str]:
    return [str(v) for v in values]


# x is at least 1/1000 and at most 1000.
LONG_ROW = to("rows", lambda x: [texts(1 + x)])
SHORT_ROW = to("rows", lambda x: [texts(Q(1) / (1 + x))])
TWO_ROWS = to("rows", lambda x: [["1"], ["1"]])
ZERO_ROW = to("rows", lambda x: [["0"]])
ONE_ROW = [LONG_ROW, SHORT_ROW, TWO_ROWS, ZERO_ROW]
OPPOSITE = [
    to("rows", lambda x: [["1", "0"], texts(-1 - x, 0)]),
    to("rows", lambda x: [texts(1 + x, 0), texts(-1 - x, 0)]),
    to("rows", lambda x: [["1", "0"]]),
    to("rows", lambda x: [["1", "0"], ["1", "0"]]),
]
#: The first call of ISNKPVN ends after a few steps.
EARLY = [["4/5", "3/5"], ["-4/5", "3/5"], ["4/5", "-3/5"], ["-12/13", "-5/13"]]
#: Statement → ways to violate an assumption of it.
SPOILS: dict[str, list[Spoil]] = {
    "jst.prop3.7": [*ONE_ROW, to("t", lambda x: 1 + int(x))],
    "jst.sec1.quarter": ONE_ROW,
    "jst.sec2.argmax": [
        *ONE_ROW,
        to("w", lambda x: texts(1 + x)),  # outside the ball
        to("w", lambda x: ["0"]),
        to("w", lambda x: texts(-Q(1) / (1 + x))),  # of another margin
    ],
    "jst.sec3.1.align": ONE_ROW,
    "jst.lemA.1.vector": ONE_ROW,
    "jst.lem3.4.mu": [
        *ONE_ROW,
        to("rows", lambda x: [["3/5", "4/5"]]),  # d = 2
        to("rows", lambda x: [["-1"]]),
        to("t", lambda x: -int(x)),
    ],
    "jst.eqB.6": [
        to("rows", lambda x: [texts(1 + x), ["1"]]),
        to("rows", lambda x: [["1/2"], ["-1"]]),  # not separable
        to("q", lambda x: texts(1 + x, -x)),
        to("q", lambda x: texts(1 + x, 0)),
        to("q", lambda x: ["1"]),
    ],
    "jst.eqB.11": [to("t", lambda x: -int(x))],
    "jst.lemC.12.sum": [to("copies", lambda x: 1 - int(x))],
    "jst.eqC.13": [to("copies", lambda x: 1 - int(x))],
    "jst.appC.length": [to("copies", lambda x: 1 - int(x))],
    "jst.appE.rate": [
        to("gamma", lambda x: str(1 + x)),
        to("gamma", lambda x: str(-x)),
        to("t", lambda x: -int(x)),
    ],
    "jst.appE.margin": [
        to("x", lambda x: texts(1 + x)),
        to("u2", lambda x: texts(1 + x)),  # the other class is preferred
    ],
    "jst.thm5.1": ONE_ROW,
    "jst.sec5.2.risk": [to("x", lambda x: texts(1 + x)), to("u2", lambda x: texts(1 + x))],
    "jst.thm4.1": [
        *ONE_ROW,
        to("epsilon", lambda x: str(-x)),
        to("delta", lambda x: str(1 + x)),
        to("delta", lambda x: str(-x)),
    ],
    "lec.thm1": [
        to("diagonal", lambda x: texts(9, -x)),
        to("diagonal", lambda x: ["9", "0"]),
        to("diagonal", lambda x: ["9"]),
        to("T", lambda x: -int(x)),
    ],
    "lec.lem7.line4": [
        to("gamma", lambda x: str(Q(1, 2) + x)),
        to("gamma", lambda x: str(-x)),
        to("y", lambda x: ["1", "1"]),  # one label only
        to("y", lambda x: ["1", "-1", "-1"]),  # ε_1 above ½
        to("y", lambda x: texts(1, 1 + x, -1)),
    ],
    "lec.def5": [
        to("gamma", lambda x: str(1 + x)),
        to("gamma", lambda x: str(Q(1, 2) - x)),
        to("y", lambda x: ["1", "1"]),  # one label only
        to("y", lambda x: ["1", "-1", "-1"]),  # ε_1 = 2/3, above γ
        to("y", lambda x: texts(1, 1 + x, -1)),
    ],
    "lec.sec4.vc": [
        to("points", lambda x: texts(0, x)),  # no threshold tells the larger one off alone
        to("thresholds", lambda x: texts(-x)),
        to("thresholds", lambda x: texts(x, 1 + x)),
    ],
    "lec.alg3.z.sum": [to("epsilon", lambda x: str(Q(1, 2) + x)), to("epsilon", lambda x: str(-x))],
    "lec.alg3.z.exp": [to("gamma", lambda x: str(Q(1, 2) + x)), to("gamma", lambda x: str(-x))],
    "lec.ex9.2": [to("words", lambda x: ["university", "californa"])],
    "lec.thm10": [
        to("K", lambda x: [["0", "-1"], texts(1 + x, 0)]),
        to("K", lambda x: [texts(-x, -1), ["1", "0"]]),
        to("K", lambda x: [["0", "-1"]]),
    ],
    "lec.ridge": [
        to("lambda", lambda x: str(-x)),
        to("alpha", lambda x: texts(0, x)),
        to("features", lambda x: [texts(x)]),  # the equation for α does not hold
    ],
    "rp.eq1": [
        to("w", lambda x: texts(1 + x, 0)),
        to("x", lambda x: texts(0, 1 + x)),
        to("x", lambda x: ["3/5", "4/5"]),  # not on the hyperplane
    ],
    "rp.sec2.2.ball": [
        *OPPOSITE,
        to("w", lambda x: texts(0, 1 + x)),
        to("w", lambda x: ["3/5", "4/5"]),
    ],
    "rp.winnow": [
        to("copies", lambda x: [1, 6666, 6666]),
        to("copies", lambda x: [1, 6666, 6666, -int(x)]),
        to("copies", lambda x: [1, 0, 6666, 6666]),
        to("rows", lambda x: [texts(1, -1 - x, -1, 0)] * 3),  # entries beyond 1
        to("rows", lambda x: [texts(Q(1) / (1 + x), -1, -1, 0)] * 3),  # ρ₁ below 1
        to("rows", lambda x: [["1", "-1", "-1", "0"]] * 8),  # log n above 2
        to("rows", lambda x: [["1", "-1", "-1", "0"], ["1", "0", "-1", "-1"]] * 2),  # large η
        to("copies", lambda x: [10**6, 1, 1, 1]),  # the start separates
        to("copies", lambda x: [5, 4, 4, 4]),  # w_1 separates, for large η
        to("rows", lambda x: [texts(-x, -1, 0, -1)]),  # one row, which nothing separates
        to("rows", lambda x: [texts(10**6, -1, 0, 0)]),  # one row, which the start separates
    ],
    "rp.lem9": [
        to("rows", lambda x: [texts(1 + x), ["-1"]]),
        to("rows", lambda x: [["1", "0"], ["-1", "0"]]),
        to("q", lambda x: texts(1 + x, -x)),
        to("q", lambda x: ["1/2", "1/2"]),  # ‖q‖_G = 0
        to("q", lambda x: ["1"]),
    ],
    "rp.eq16": [
        to("G", lambda x: [texts(1, 1 + x), texts(1 + x, 1)]),  # indefinite
        to("G", lambda x: [texts(1, Q(1) / (1 + x)), ["0", "1"]]),
        to("G", lambda x: [texts(1 + x, 0), ["0", "1"]]),
        to("G", lambda x: [["1", "0"]]),
        to("mu", lambda x: str(-x)),
        *(to(name, lambda x: texts(1 + x, -x)) for name in ("alpha", "q", "p")),
        to("p", lambda x: ["0", "1"]),  # no minimiser
    ],
    "rp.eq17": [
        to("p", lambda x: texts(1 + x, -x)),
        to("p", lambda x: ["1/2", "1/2"]),  # no minimiser
        to("p", lambda x: ["1"]),
    ],
    "rp.thm4.1": [*ONE_ROW, to("gamma", lambda x: str(Q(1) / (1 + x)))],
    "rp.lem7": ONE_ROW,
    "rp.thm4.2": [
        to("rows", lambda x: [texts(1 + x, 0)] * 4),
        to("gamma", lambda x: str(Q(1) / (1 + x))),
        to("epsilon", lambda x: str(-x)),
        to("epsilon", lambda x: "1/10000"),  # below δ_0
        to("constant", lambda x: str(-x)),
        to("witness", lambda x: texts(1, 0, 0, 0)),  # no witness
        to("witness", lambda x: texts(0, 1, 1, 0)),  # not in the simplex
        to("witness", lambda x: texts(1)),
        to("steps", lambda x: 0),
        to("rows", lambda x: EARLY),  # the call ends before
    ],
    "rp.thm2.proof": [to("shift", str), to("s", lambda x: str(-x))],
    "rp.thm3.part2": [
        to("rows", lambda x: [texts(1 + x), ["-1"]]),
        to("rows", lambda x: [texts(1, x), texts(-1, x)]),  # of the plane
        to("rows", lambda x: [["1"], ["-1"], ["1"]]),
        to("f", lambda x: texts(Q(1) / (1 + x))),  # in the hull
        to("f", lambda x: ["2", "2"]),
    ],
    "tyurin.thm4.1": [
        to("theta_1", lambda x: texts(x, 0)),
        to("theta_1", lambda x: ["0"]),
        to("rows", lambda x: [texts(x, 1), texts(-x, -1)]),  # not separable
    ],
    "tyurin.sec6.limits": [
        to("rows", lambda x: [texts(x, 1), texts(-x, -1)]),
        to("rows", lambda x: [["1", "0"], ["0", "1"]]),  # no mistakes
        to("rows", lambda x: [["1", "0"], ["-1", "1"]]),  # a score of zero
    ],
    "tyurin.appC.alpha": [
        to("step", lambda x: str(-x)),
        to("mu", lambda x: str(1 + x)),
        to("mu", lambda x: str(-x)),
    ],
    "tyurin.fn3": [to("row", lambda x: "0"), to("theta_0", lambda x: "0")],
    "tyurin.sec8.step": [
        to("y", lambda x: str(-1 - x)),
        to("y", lambda x: "0"),
        to("step", lambda x: str(-x)),
        to("step", lambda x: "0"),
    ],
    "tyurin.sec8.bias": [
        to("step", lambda x: str(8 + x)),
        to("step", lambda x: str(-x)),
        to("t", lambda x: -int(x)),
    ],
}


#: Demands that follow from those before them, and are there for the reader.
IMPLIED = {"every ε_t ≤ 1 − γ"}


def test_every_refuter_is_here():
    assert set(SPOILS) == set(REFUTERS) == set(FILES)


def spoilt(statement: str, spoil: Spoil, x: Q) -> dict[str, Any]:
    body = copy.deepcopy(json.loads(FILES[statement].read_text()))
    spoil(body["data"], x)
    return body


@pytest.mark.full
@pytest.mark.parametrize("statement", sorted(SPOILS))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(x=st.fractions(Q(1, 1000), 1000, max_denominator=1000))
def test_a_violated_assumption_is_noticed(tmp_path: Path, statement: str, x: Q):
    path = tmp_path / "witness.json"
    for spoil in SPOILS[statement]:
        path.write_text(json.dumps(spoilt(statement, spoil, x)))
        with pytest.raises(Rejected):
            check(str(path))


@pytest.mark.parametrize("statement", sorted(SPOILS))
def test_every_demand_is_what_some_spoilt_witness_fails(tmp_path: Path, statement: str):
    """So the list above is complete with regard to the refuter."""
    source = inspect.getsource(REFUTERS[statement])
    demands = set(re.findall(r'demand\([^"]*"([^"]+)"\s*\)', source, re.DOTALL))
    path, reasons = tmp_path / "witness.json", set()
    for spoil in SPOILS[statement]:
        path.write_text(json.dumps(spoilt(statement, spoil, Q(7, 5))))
        with pytest.raises(Rejected) as reason:
            check(str(path))
        reasons.add(str(reason.value))
    assert demands - IMPLIED <= reasons


@pytest.mark.parametrize("exponent", [10**5, 10**6])
def test_a_limit_that_is_raised_allows_a_large_exponential(tmp_path: Path, exponent: int):
    body = spoilt("jst.sec5.2.risk", to("u1", lambda x: [str(exponent)]), Q(1))
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(body))
    with pytest.raises(witness.TooCostly, match="raise it with --limit"):
        check(str(path), limit=0.02)
    assert "is false as printed" in check(str(path), limit=60)
    body["data"]["u1"] = [str(10**400)]
    path.write_text(json.dumps(body))
    with pytest.raises(witness.TooCostly, match="whatever the limit"):
        check(str(path), limit=1e9)
