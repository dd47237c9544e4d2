"""Results: a verdict, where it was found, and whether it was to be expected."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gammabar.harness.court.judge import Verdict
from gammabar.harness.run.task import Outcome, Task

VERDICTS = ("holds", "refuted", "undecided", "inapplicable")


@dataclass(frozen=True)
class Result:
    """One verdict of a run.

    Attributes
    ----------
    verdict : Verdict
    problem, solver : str
        As the plan names them.
    expected : str
        "holds", "refuted", "either", "unrefuted" or "inapplicable".
    seed, iterations : int
    seconds : float
        Of the whole trajectory, which other statements heard as well.
    """

    verdict: Verdict
    problem: str
    solver: str
    expected: str
    seed: int
    iterations: int
    seconds: float

    @property
    def source(self) -> str:
        """jst, tyurin, rp, lec, gb or oracle."""
        return self.verdict.statement.partition(".")[0]

    @property
    def as_expected(self) -> bool:
        """Whether nobody needs to look at it.

        A statement that is to hold may be inapplicable; it may not be undecided, and a solver that
        fails is never expected.
        """
        if self.verdict.failure:
            return False
        if self.expected == "holds":
            return self.verdict.verdict in ("holds", "inapplicable")
        if self.expected == "unrefuted":
            return self.verdict.verdict != "refuted"
        return self.expected in ("either", self.verdict.verdict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        verdict = {name: _finite(value) for name, value in self.verdict.as_dict().items()}
        first = ("statement", "problem", "solver", "verdict", "expected", "as_expected")
        document = verdict | {
            "problem": self.problem,
            "solver": self.solver,
            "expected": self.expected,
            "as_expected": self.as_expected,
            "seed": self.seed,
            "iterations": self.iterations,
            "seconds": self.seconds,
        }
        return {name: document[name] for name in first} | document


def _finite(value: Any) -> Any:
    """JSON has no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def results_of(task: Task, outcome: Outcome) -> list[Result]:
    """The results of a task."""
    return [
        Result(
            verdict,
            task.problem,
            task.solver,
            expected,
            task.seed,
            task.iterations,
            outcome.seconds,
        )
        for verdict, expected in zip(outcome.verdicts, task.expected, strict=True)
    ]


def settle(results: list[Result]) -> list[Result]:
    """What is expected of claims that are false, now that all runs are known.

    Such a claim is to be refuted on each of its problems, but not by every solver and with all
    options: where one run has refuted it, the others may end either way.
    """
    refuted = {
        (result.verdict.statement, result.problem)
        for result in results
        if result.expected == "refuted" == result.verdict.verdict
    }
    return [
        replace(result, expected="either")
        if result.expected == "refuted" != result.verdict.verdict
        and (result.verdict.statement, result.problem) in refuted
        else result
        for result in results
    ]


def summarise(results: Iterable[Result]) -> dict[str, int]:
    """How many there are of each verdict, how many were not expected, and how many failed."""
    results = list(results)
    counts = Counter(result.verdict.verdict for result in results)
    return {name: counts[name] for name in VERDICTS} | {
        "results": len(results),
        "unexpected": sum(not result.as_expected for result in results),
        "failures": sum(bool(result.verdict.failure) for result in results),
    }
