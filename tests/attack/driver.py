"""Asking the harness and comparing its verdicts with the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.solvers import Iterate

from .data import *

Kind = TypeVar("Kind", bound=type)
#: Statement → what is true of the delivered numbers, asked after the verdict; None: not known.
Truths = dict[str, Callable[[], Trit] | None]


@dataclass
class Tally:
    """What was tried, what the harness said, and what was wrong with it."""

    trials: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    #: What was said of claims that are false of the run, and of right runs.
    of_false: Counter[str] = field(default_factory=Counter)
    of_right: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    #: Statements of which a truth was computed.
    computed: set[str] = field(default_factory=set)

    def decided(self) -> set[str]:
        """The statements of which something was proved or refuted."""
        return {claim for claim, verdict in self.said if verdict in ("holds", "refuted")}

    def count(self, kind: str) -> None:
        self.trials += 1
        self.kinds[kind] += 1

    def text(self) -> str:
        verdicts = sum(self.said.values())
        lines = [
            f"{self.trials:,} problems, {verdicts:,} verdicts, {len(self.faults)} of them wrong",
            "right runs: " + _counts(self.of_right),
            "claims that are false of the run: " + _counts(self.of_false),
            "refused problems: " + _counts(self.refused),
            "problems: " + _counts(self.kinds),
        ]
        by_claim: dict[str, Counter[str]] = {}
        for (claim, verdict), count in self.said.items():
            by_claim.setdefault(claim, Counter())[verdict] += count
        lines += [f"  {claim:<44}{_counts(counts)}" for claim, counts in sorted(by_claim.items())]
        every, decided = set(load_statements()), self.decided()
        lines += [
            f"{len(decided)} of {len(every)} statements were decided, "
            f"{len(decided & self.computed)} of them with a truth computed here; not decided:",
            "  " + " ".join(sorted(every - decided)),
        ]
        return "\n".join(lines)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counter.most_common()) or "none"


@cache
def proved(statement: str) -> bool:
    """Whether the statement is true as it stands."""
    return bool(load_statements()[statement].status == "holds")


def as_own(kind: Kind) -> Kind:
    """Let the harness take a solver as it is.

    It wraps others in an object without fields, so that the options which statements about SGD and
    ridge regression set cannot be set.
    """
    kind.__module__ = f"gammabar.{kind.__module__}"
    return kind


class Solver:
    """Delivers what it is given, with the options that statements speak of."""

    step = 1.0
    ends = ("separated", "certificate")

    def __init__(self, run: Any, extras: list[dict[str, Any]], **settings: Any) -> None:
        self.run, self.extras = run, extras
        vars(self).update(settings)

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        for t, (w, extra) in enumerate(zip(self.run, self.extras, strict=True)):
            own = {name: extra.get(name) for name in ("dual", "momentum")}
            said = {name: value for name, value in extra.items() if name not in own}
            yield Iterate(t, w.copy(), **own, extra=said)


def ask(
    solver: Any,
    problem: Any,
    truths: Truths,
    right: bool,
    where: str,
    tally: Tally,
    uncompared: Collection[str] = (),
    **options: Any,
) -> None:
    """Ask for the verdicts of all statements; a verdict that cannot be is a fault."""
    for name, verdict in _verdicts(solver, problem, list(truths), where, tally, options):
        said, truth = str(verdict.verdict), truths[name]
        tally.said[name, said] += 1
        if right:
            tally.of_right[said] += 1
        if said != "inapplicable" and name not in uncompared:
            compare(name, said, truth() if truth else None, right, where, tally)


def _verdicts(
    solver: Any, problem: Any, names: list[str], where: str, tally: Tally, options: Any
) -> Iterator[tuple[str, Any]]:
    """The verdicts, all of one run; one by one if something is raised."""
    with attempt(tally, where if len(names) == 1 else ""):
        found = gb.verify(solver, problem, names, **options)
        yield from zip(names, found, strict=True)
        return
    if len(names) > 1:
        for name in names:
            yield from _verdicts(solver, problem, [name], where, tally, options)


@contextmanager
def attempt(tally: Tally, where: str) -> Iterator[None]:
    """Count what is refused; an error that is not about the problem is a fault."""
    try:
        yield
    except (Unfit, gb.ProblemError) as reason:
        if where and type(reason) not in (Unfit, gb.ProblemError):
            tally.faults.append(f"FAULT {where}: {reason}")
        if where:
            tally.refused[str(reason)[:60]] += 1


def compare(statement: str, said: str, true: Trit, right: bool, where: str, tally: Tally) -> None:
    """A fault if the verdict is wrong. What is false as printed may be refuted of right runs."""
    if true is not None:
        tally.computed.add(statement)
    if true is False:
        tally.of_false[said] += 1
    wrong = (said, true) in (("holds", False), ("refuted", True))
    if wrong or (right and said == "refuted" and proved(statement)):
        known = {True: "true", False: "false", None: "not known"}[true]
        tally.faults.append(f"FAULT {where}: {statement} {said}, though the claim is {known}")
