"""A run that may refute a statement, and what the court says of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Protocol, TypeAlias

from gammabar.harness.run.results import Run
from gammabar.harness.run.specs import Registered, SolverRef
from gammabar.harness.verify.verdict import Ruling, Verdict
from gammabar.problems.specs import text_of_rows

Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]


class Written(Protocol):
    """Other data: a choice of inputs, see `gammabar.harness.falsify.parameters`."""

    @property
    def text(self) -> str: ...
    @property
    def size(self) -> tuple[float, ...]: ...


@dataclass(frozen=True)
class Candidate:
    """Data, a solver with options, and how long it is heard.

    Attributes
    ----------
    data : str, tuple of tuples of Fraction, or Given
        A DATA string, the rows y_i x_i themselves, or inputs of a statement.
    more : str
        What follows DATA: "--kernel rbf:gamma=1", …
    solver : SolverRef or None
    iterations, seed : int
    """

    data: str | Rows | Written
    more: str = ""
    solver: SolverRef | None = None
    iterations: int = 50
    seed: int = 0

    @property
    def problem(self) -> str:
        """As `gammabar verify --problem` takes it."""
        if isinstance(self.data, tuple):
            text = text_of_rows(self.data)
        else:
            text = self.data if isinstance(self.data, str) else self.data.text
        return f"{text} {self.more}".strip()

    def run(self, unit: bool) -> Run:
        return Run(self.problem, self.solver, self.iterations, self.seed, unit)

    @property
    def size(self) -> tuple[float, ...]:
        """What is to become small: rows, columns, iterates, options, digits."""
        options = len(self.solver.text) if isinstance(self.solver, Registered) else 0
        options += len(self.more)
        rest = float(self.iterations), float(options), float(self.seed)
        if isinstance(self.data, str):
            numbers = sum(float(n) for n in re.findall(r"[0-9]+(?:\.[0-9]+)?", self.data))
            return (inf, inf, inf, *rest, numbers)
        if not isinstance(self.data, tuple):
            return self.data.size
        values = [value for row in self.data for value in row]
        digits = sum(abs(v.numerator).bit_length() + v.denominator.bit_length() for v in values)
        large = float(sum(abs(v) for v in values))
        # A row of zeros is no simpler than one of ones: hardly a paper has it in mind.
        zeros = float(sum(not any(row) for row in self.data))
        shape = float(len(self.data)), float(len(self.data[0])), zeros
        return (*shape, *rest, float(digits), large, float(sum(v < 0 for v in values)))


@dataclass(frozen=True)
class Finding:
    """What the court says of a candidate.

    Attributes
    ----------
    candidate : Candidate
    verdict : Verdict
    strategy : str
        Which one proposed it.
    """

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
        what says nothing of the statement is worst.
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


Ask: TypeAlias = Callable[[Candidate], Finding]
