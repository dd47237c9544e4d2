"""Results: a verdict, where it was found, and whether it was to be expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from gammabar.harness.run.task import Outcome, Run, Task
from gammabar.harness.verify.verdict import Expectation, Ruling, Verdict
from gammabar.problems.output import finite

VERDICTS = tuple(Ruling)


@dataclass(frozen=True)
class Result:
    """One verdict of a run.

    Attributes
    ----------
    verdict : Verdict
    run : Run
        Where it was found.
    expected : Expectation
        Or its text.
    seconds : float
        Of the whole run, which other statements heard as well.
    worthless : bool
        Whether it is a pass that says nothing, where the user wants to hear something; see
        `strictly`.
    """

    verdict: Verdict
    run: Run
    expected: str
    seconds: float
    worthless: bool = False

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
        if self.verdict.failure or self.worthless:
            return False
        if self.expected == Expectation.HOLDS:
            return self.verdict.verdict in (Ruling.HOLDS, Ruling.INAPPLICABLE)
        if self.expected == Expectation.UNREFUTED:
            return self.verdict.verdict != Ruling.REFUTED
        return self.expected in (Expectation.EITHER, self.verdict.verdict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what is only drawn is in the store and in the report."""
        verdict: dict[str, Any] = finite(self.verdict.as_dict())
        del verdict["curve"]
        first = ("statement", "problem", "solver", "verdict", "expected", "as_expected")
        document = verdict | {
            "problem": self.run.problem,
            "solver": self.run.by,
            "expected": self.expected,
            "as_expected": self.as_expected,
            "seed": self.run.seed,
            "iterations": self.run.iterations,
            "seconds": self.seconds,
        }
        return {name: document[name] for name in first} | document


def results_of(task: Task, outcome: Outcome) -> list[Result]:
    """The results of a task."""
    pairs = zip(outcome.verdicts, task.expected, strict=True)
    return [Result(verdict, task.run, expected, outcome.seconds) for verdict, expected in pairs]


def settle(results: list[Result]) -> list[Result]:
    """What is expected of claims that are false, now that all runs are known.

    Such a claim is to be refuted on each of its problems, but not by every solver and with all
    options: where one run has refuted it, the others may end either way.
    """
    refuted = {
        (result.verdict.statement, result.run.problem)
        for result in results
        if result.expected == Expectation.REFUTED == result.verdict.verdict
    }
    return [
        replace(result, expected=Expectation.EITHER)
        if result.expected == Expectation.REFUTED != result.verdict.verdict
        and (result.verdict.statement, result.run.problem) in refuted
        else result
        for result in results
    ]


def strictly(results: list[Result], excused: Callable[[Result], bool]) -> list[Result]:
    """The results, where a pass that says nothing is a failure.

    A statement may say nothing on some problems, if it does on others. `excused` are those of which
    it is known that a solver which stands still obeys them for ever.
    """

    def place(result: Result) -> tuple[str, str]:
        foreign = result.run.solver is not None and result.run.solver.foreign
        return result.verdict.statement, result.run.by if foreign else ""

    told = {
        place(r) for r in results if r.verdict.verdict is Ruling.HOLDS and r.verdict.informative
    }
    return [
        replace(result, worthless=True)
        if result.expected == Expectation.HOLDS
        and result.verdict.says_nothing
        and place(result) not in told
        and not excused(result)
        else result
        for result in results
    ]


def telling(
    results: list[Result], *, asked: Callable[[Result], bool], each_problem: bool
) -> list[Result]:
    """The results without those that say nothing: inapplicable here, but not everywhere.

    Parameters
    ----------
    results : list of Result
    asked : callable
        Whether the user has asked for it by name: then it is kept.
    each_problem : bool
        Whether a statement that is nowhere applicable is so on each problem for itself. In any
        case such a statement is kept, and so is what is inapplicable because data are missing.
    """

    def place(result: Result) -> tuple[str, str]:
        return result.verdict.statement, result.run.problem if each_problem else ""

    heard = {
        place(result) for result in results if result.verdict.verdict is not Ruling.INAPPLICABLE
    }
    return [
        result
        for result in results
        if result.verdict.verdict is not Ruling.INAPPLICABLE
        or result.expected == Expectation.INAPPLICABLE
        or place(result) not in heard
        or asked(result)
    ]


def summarise(results: Iterable[Result]) -> dict[str, int]:
    """How many there are of each verdict, how many were not expected, and how many failed."""
    results = list(results)
    counts = Counter(result.verdict.verdict for result in results)
    return {name: counts[name] for name in VERDICTS} | {
        "results": len(results),
        "unexpected": sum(not result.as_expected for result in results),
        "failures": sum(bool(result.verdict.failure) for result in results),
        "says_nothing": sum(result.verdict.says_nothing for result in results),
    }
