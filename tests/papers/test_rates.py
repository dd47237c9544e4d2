"""Every statement about a rate refutes the method of the next slower rate."""

from __future__ import annotations

import pytest

from gammabar.harness import registry
from gammabar.harness.power import kills
from gammabar.harness.registry import load_statements, mutants
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.verdict import Ruling, Status
from gammabar.problems import load

MATRIX = registry.matrix()
STATEMENTS = load_statements()
RATES = [s for s in STATEMENTS.values() if s.slower]

#: Bounds of iterates that say nothing about how fast they are, and why.
NO_RATES = {
    "jst.lem3.6.upper": "how long w_t is, from above",
    "jst.sec5.1.smooth": "a property of ψ",
    "jst.sec5.1.gradnorm": "a property of ψ",
    "jst.eqB.7": "one step of the proof",
    "jst.eqB.9": "one step of the proof",
    "jst.eqB.11.fixed": "about λ_t alone",
    "jst.lemC.12.sum.fixed": "a step of the proof",
    "jst.eq3.8": "a step of the proof",
    "jst.eq3.9": "a step of the proof",
    "jst.eqC.8": "a step of the proof",
    "jst.eqC.10": "a step of the proof",
    "jst.eqC.13.fixed": "a step of the proof",
    "jst.lemD.1": "a step of the proof",
    "jst.lemD.2": "a step of the proof",
    "jst.thm4.1.delta": "jst.thm4.1.fixed at another δ",
    "jst.thm4.1.tenth": "jst.thm4.1.fixed at another δ",
    "gb.sampling.twentieth": "gb.sampling at another δ",
    "gb.sampling.hundredth": "gb.sampling at another δ",
    "rp.lem4": "true of every α",
    "rp.lem5": "the invariant of the method, not its rate",
    "rp.lem8": "the invariant of the method, not its rate",
    "rp.lem9.chain": "the invariant of the method, not its rate",
    "lec.alg3.z": "what z_t is",
    "gb.selfcert": "a certificate in ‖w_t‖, which slower methods may meet as well",
    "gb.gap": "a certificate in ‖w_t‖, which slower methods may meet as well",
    "gb.floor": "true of every w",
    "jst.appC.length.fixed": "how long w_t is, from above",
    "jst.appC.half": "a step of the proof",
    **{f"tyurin.eq{number}": "a step of the proof" for number in (6, 8, 9, 10)},
    "tyurin.appC.descent": "a step of the proof",
    "rp.eq10": "what a step is",
    "rp.eq15": "a step of the proof",
    "lec.sec4.greedy": "what a round minimises",
    "gb.tyurin.lr-gd.rate": "how near two methods are, not how fast",
    "gb.tyurin.normalized-lr-gd.rate": "how near two methods are, not how fast",
    "gb.jst.sampling.draws": "about the rows drawn",
    "gb.lec.sgd.draws": "about the indices drawn",
}


def test_every_rate_names_the_next_slower_method() -> None:
    bounds = {
        s.id
        for s in STATEMENTS.values()
        if s.solvers
        and s.status is Status.HOLDS
        and s.kind in ("anytime", "stopping", "probability", "expectation")
    }
    assert bounds - {s.id for s in RATES} == set(NO_RATES)
    assert all(s.slower in mutants() for s in RATES)


@pytest.mark.parametrize("name", [s.id for s in RATES])
def test_a_rate_refutes_the_next_slower_method(name: str) -> None:
    """As the matrix says; the cheapest of the problems that it names is tried again."""
    statement = STATEMENTS[name]
    problems = MATRIX[statement.slower][name]
    cheap = next((p for p in problems if not p.startswith(("mnist", "digits"))), problems[0])
    if statement.about_runs:
        assert kills(mutants()[statement.slower], name, cheap)


def test_theorem_3_1_tells_the_squared_rate_from_the_plain_one() -> None:
    """Normalised gradient descent obeys it up to t = 149 on these data, and not at t = 150."""
    wrong = mutants()["dual-acceleration/no-momentum"].make()
    case = Case(load("orthogonal:n=10,p=0.3"), wrong, unit=True)
    (verdict,) = check_run(case, [STATEMENTS["jst.thm3.1.1"]], 200)
    assert (verdict.verdict, verdict.worst_t) == (Ruling.REFUTED, 150)
