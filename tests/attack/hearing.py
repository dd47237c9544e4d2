"""Putting statements that run a solver by themselves to a solver of the attack.

The lecture's statements are not about the iterates of one run: they call the solver, with options
and on data of their own. So a solver here is a small dataclass that delivers what it is told to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import gammabar as gb

from .facts import Trit

if TYPE_CHECKING:
    from .trial import Tally

#: What is said, and what is so.
WRONGLY = (("holds", False), ("refuted", True))
#: By so much of what is added doubles may be off in any computation of a few steps, and far more.
FINE = 2.0**-36

Kind = TypeVar("Kind", bound=type)


def as_own(kind: Kind) -> Kind:
    """Let the court take a solver as it is.

    What comes from elsewhere it wraps in an object that has no fields, so that the options which
    statements about SGD and ridge regression set cannot be set.
    """
    kind.__module__ = f"gammabar.{kind.__module__}"
    return kind


def hear(
    solver: Any,
    problem: Any,
    judges: dict[str, Callable[[], Trit]],
    right: bool,
    where: str,
    tally: Tally,
    iterations: int | None = None,
) -> dict[str, str]:
    """The verdicts on a solver; faults are kept in the tally.

    Each judge says what is true of what was delivered, and is asked after the court was.
    """
    heard: dict[str, str] = {}
    for name, verdict in _asked(solver, problem, list(judges), where, tally, iterations):
        said = heard[name] = str(verdict.verdict)
        tally.said[name, said] += 1
        if right:
            tally.of_right[said] += 1
        if said == "inapplicable":
            continue
        true = judges[name]()
        if true is False:
            tally.of_false[said] += 1
        if (right and said == "refuted") or (said, true) in WRONGLY:
            known = {True: "true", False: "false", None: "not known"}[true]
            tally.faults.append(f"FAULT {where}: {name} {said}, though the claim is {known}")
    return heard


def _asked(
    solver: Any, problem: Any, names: list[str], where: str, tally: Tally, iterations: int | None
) -> Iterator[tuple[str, Any]]:
    """The verdicts, all at once, so that those about a run hear it once; one by one if something
    is raised, for the sake of the others."""
    try:
        found = gb.verify(solver, problem, names, iterations=iterations)
        yield from zip(names, found, strict=True)
    except gb.ProblemError as reason:
        if len(names) > 1:
            for name in names:
                yield from _asked(solver, problem, [name], where, tally, iterations)
            return
        if type(reason) is not gb.ProblemError:  # a statement that raised something else
            tally.faults.append(f"FAULT {where}: {reason}")
        tally.refused[str(reason)[:60]] += 1


def known(truth: Trit) -> Trit:
    """What is known beforehand, as a judge."""
    return truth


@contextmanager
def counted(tally: Tally, where: str) -> Iterator[None]:
    """A trial of its own kind: data that are no problem are counted as refused."""
    try:
        yield
    except gb.ProblemError as reason:
        if type(reason) is not gb.ProblemError:
            tally.faults.append(f"FAULT {where}: {reason}")
        tally.refused[str(reason)[:60]] += 1
