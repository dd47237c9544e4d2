"""What searches found is written in the form of each statement's refuter, and accepted."""

from __future__ import annotations

import pytest

from gammabar.harness.certificates import check
from gammabar.harness.falsify.parameters import Finding, solvers_of
from gammabar.harness.falsify.reports import _candidate_from as candidate_from
from gammabar.harness.falsify.search import Search
from gammabar.harness.falsify.witness import confirming, write
from gammabar.harness.registry import everything, find_statements
from gammabar.harness.verify.verdict import Status, Verdict
from gammabar.problems import ProblemError

#: What `docs/table_rediscovery.py` found: problem or inputs, solver, t.
FOUND: dict[str, tuple[str, str, int | None]] = {
    "jst.thm5.1": ("rows:1*2 --multiclass", "dual-acceleration", 1),
    "jst.appC.length": ("rows:1*2", "dual-acceleration:loss=logistic", 1),
    "jst.appE.margin": ("inputs:x=1&u1=1&u2=0", "", None),
    "jst.appE.rate": ("inputs:gamma=1&n=1&t=1", "", None),
    "jst.eqB.11": ("inputs:t=1", "", None),
    "jst.eqB.6": ("rows:2;1", "dual-acceleration-dual", 1),
    "jst.eqC.13": ("orthogonal:n=75,p=0.2", "dual-acceleration:loss=logistic", 26),
    "jst.lem3.4.mu": ("rows:1", "dual-acceleration", 1),
    "jst.lemA.1.vector": ("rows:1", "", None),
    "jst.lemC.12.sum": ("orthogonal:n=100,p=0.2", "dual-acceleration:loss=logistic", 82),
    "jst.prop3.7": ("rows:1", "dual-acceleration", 0),
    "jst.sec1.quarter": ("rows:1", "dual-acceleration", 0),
    "jst.sec2.argmax": ("rows:1", "", None),
    "jst.sec3.1.align": ("rows:1", "", None),
    "jst.sec5.2.risk": ("inputs:x=1&u1=1&u2=0", "", None),
    "jst.thm4.1": ("rows:1", "adaptive-sampling", None),
    "lec.alg3.z.exp": ("inputs:gamma=1/10", "", None),
    "lec.alg3.z.sum": ("inputs:epsilon=1/10", "", None),
    "lec.def5": ("inputs:y=1,1,-1&gamma=1/2", "", None),
    "lec.ex9.2": ("", "", None),
    "lec.lem7.line4": ("inputs:y=1,1,-1&gamma=1/2", "", None),
    "lec.ridge": ("inputs:features=0&y=0&alpha=1&lambda=1", "", None),
    "lec.sec4.vc": ("inputs:H=intervals&T=1", "", None),
    "lec.thm1": ("inputs:diagonal=1,9&b=0,1&T=2", "", None),
    "lec.thm10": ("inputs:K=1,1;0,1", "", None),
    "rp.eq1": ("inputs:w=1,0&x=0,1", "", None),
    "rp.eq16": ("inputs:slopes=0,1&alpha=1,0&q=0,1&mu=1", "", None),
    "rp.eq17": ("inputs:centre=1,-1", "", None),
    "rp.lem9": ("rows:1*2;-1", "snkpvn", 0),
    "rp.sec2.2.ball": ("rows:1,0;-1,0", "", None),
    "rp.thm2.proof": ("inputs:shift=-1&s=1/2", "", None),
    "rp.thm3.part2": ("inputs:rows=1;-1&f=2", "", None),
    "rp.thm4.1": ("rows:1", "isnkpvn", 0),
    "rp.winnow": ("rows:1,-2", "winnow", 0),
    "tyurin.appC.alpha": ("inputs:n=1&step=1/2&R=1&mu=1", "", None),
    "tyurin.fn3": ("inputs:rows=1&theta_0=1", "", None),
    "tyurin.sec6.limits": ("rows:-1,0;4,1", "lr-gd", 1),
    "tyurin.sec8.bias": ("rows:1", "lr-gd", 3),
    "tyurin.sec8.step": ("inputs:a=1&y=-1&step=1", "", None),
    "tyurin.thm4.1": ("rows:1", "", None),
}


def finding(statement: str, problem: str, solver: str, t: int | None) -> Finding:
    entry = everything()[statement]
    best = {"problem": problem, "solver": solver, "iterations": max(t or 0, 1), "seed": 0}
    candidate = candidate_from(best, (), entry.inputs)
    return Finding(candidate, Verdict(statement, "refuted", worst_t=t))


#: One instance without inputs, and a call of thousands of steps on rows that no search proposes.
BY_HAND = {"rp.lem7", "rp.thm4.2"}


def test_every_refuted_statement_is_among_what_was_found():
    assert set(FOUND) | BY_HAND == {
        s.id for s in everything().values() if s.status is Status.REFUTED
    }


@pytest.mark.parametrize("statement", FOUND)
def test_what_was_found_is_written_and_accepted(statement: str, tmp_path):
    path = tmp_path / "witness.json"
    found = finding(statement, *FOUND[statement])
    said = write(path, everything()[statement], found)
    assert said == check(path)
    assert said.startswith(f"{statement} is false as printed")
    assert confirming(everything()[statement], written=True)(found)
    assert not list(tmp_path.glob("*.part"))


def test_what_refutes_nothing_is_not_written(tmp_path):
    [entry] = find_statements(["rp.thm2.proof"])
    with pytest.raises(ProblemError, match="no witness was written"):
        path = tmp_path / "witness.json"
        write(path, entry, finding(entry.id, "inputs:shift=-1&s=2", "", None))
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_a_search_goes_on_until_its_refuter_accepts():
    """A refutation that the refuter does not accept does not end it."""
    [entry] = find_statements(["rp.eq17"])
    seen = []

    def fussy(found: Finding) -> bool:
        seen.append(found)
        return len(seen) > 3

    report = Search(entry, solvers_of(entry), budget=60.0, confirm=fussy).carry_out()
    assert report.refuted
    assert len(seen) > 3
    never = Search(entry, solvers_of(entry), budget=3.0, confirm=lambda found: False).carry_out()
    assert never.refuted  # the verdict stands


def test_the_command_writes_a_witness(gammabar, tmp_path):
    path = tmp_path / "w.json"
    arguments = ["falsify", "rp.eq17", "--jobs", "1", "--budget", "60", "--out", path]
    code, _, err = gammabar(*arguments)
    assert code == 0  # it is known to be false
    assert "is false as printed" in err
    code, out, _ = gammabar("check", path)
    assert (code, out.startswith("accepted")) == (0, True)
