"""Results that no run has to be made for."""

from __future__ import annotations

from pathlib import Path

from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import Outcome, Result, Run, Task, reference
from gammabar.harness.verify.verdict import Verdict

CURVE = tuple((t, 1.0 / t, 4.0 / t) for t in (1, 2, 4, 8, 16))
HOSTILE = '"><script>window.pwned = 1</script><img src=x onerror="window.pwned = 1">'


def result(
    statement: str = "jst.thm3.1.1",
    verdict: str = "holds",
    *,
    problem: str = "iris:0,1",
    solver: str = "dual-acceleration",
    expected: str = "holds",
    **more: object,
) -> Result:
    """One result."""
    known = {"tightness": 0.25, "slack": 0.75, "worst_t": 4, "checked": 16, "curve": CURVE}
    known |= {"informative": 12, "vacuous_to": 4}
    found = Verdict(statement, verdict, **(known | more))
    return Result(found, Run(problem, reference(solver), 16), expected, 0.1)


def some() -> list[Result]:
    """Of each kind, something."""
    return [
        result(),
        result(problem="digits:3,8", tightness=0.5, reference=0.25),
        result("jst.sec1.quarter", "refuted", expected="refuted", tightness=2.0),
        result("tyurin.thm4.1", "refuted", expected="refuted", solver="", curve=()),
        result("tyurin.table1.fashion", "not reproducible", expected="not reproducible", curve=()),
        result("rp.thm3.part1", "inapplicable", reason="not separable", curve=(), checked=0),
    ]


def hostile() -> list[Result]:
    """What a user, a file or a solver may be called, or may say."""
    return [
        result(problem=f"{HOSTILE}.csv", solver=f"{HOSTILE}.py:Mine"),
        result(verdict="refuted", reason=HOSTILE, what=HOSTILE, where=HOSTILE, left="1", right="2"),
        result(f"my.{HOSTILE}", "undecided", reason="\u202e|`*_</td>\n# heading\x1b[31m"),
        result(problem="</style></script>--><![CDATA[", failure="crashed", verdict="undecided"),
    ]


def store(path: Path, results: list[Result]) -> Path:
    """A store that holds results."""
    with Store(path) as kept:
        kept.sign({"gammabar": "1.2.3", "machine": "a machine"})
        for place, one in enumerate(results):
            task = Task(one.run, (one.verdict.statement,), (one.expected,))
            kept.put(f"key {place}", task, Outcome((one.verdict,), one.seconds, "c0ffee"))
    return path
