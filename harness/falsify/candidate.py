"""A run that may refute a statement, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from gammabar.harness.run.tasks import Run, SolverRef
from gammabar.harness.verify.verdict import Ruling, Verdict


@dataclass(frozen=True)
class Candidate:
    """A problem, a solver with options, and how many iterates are checked.

    Attributes
    ----------
    problem : str
        As `gammabar verify --problem` takes it; "" for a claim that says one thing.
    solver : SolverRef or None
    iterations, seed : int
    """

    problem: str
    solver: SolverRef | None = None
    iterations: int = 50
    seed: int = 0

    def run(self, unit: bool) -> Run:
        return Run(self.problem, self.solver, self.iterations, self.seed, unit)


@dataclass(frozen=True)
class Finding:
    """The verdict on a candidate, and the name of the strategy that proposed it."""

    candidate: Candidate
    verdict: Verdict
    strategy: str = ""

    @property
    def refuted(self) -> bool:
        return self.verdict.verdict is Ruling.REFUTED

    @property
    def score(self) -> float:
        """How near it came to failing: infinite if it failed; measured over bound if that is known.

        Where there is no such ratio, less slack is better, and any of these is below every ratio;
        a run without a verdict is worst.
        """
        verdict = self.verdict
        if self.refuted:
            return inf
        if verdict.verdict is not Ruling.HOLDS:
            return -inf
        if verdict.tightness is not None and isfinite(verdict.tightness):
            return verdict.tightness
        slack = verdict.slack
        return -1e6 if slack is None or not isfinite(slack) else -1.0 - min(max(slack, 0.0), 1e5)
