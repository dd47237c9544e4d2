"""What is found about a statement, and what was expected of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

#: (t, measured, bound).
Point: TypeAlias = tuple[int, float, float]


class Ruling(StrEnum):
    """What a verdict says; see ``docs/verdicts.md``."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    INAPPLICABLE = "inapplicable"
    NOT_REPRODUCIBLE = "not reproducible"


class Expectation(StrEnum):
    """What a plan expects of a statement in a run."""

    HOLDS = "holds"
    REFUTED = "refuted"
    #: A false claim, in a run that need not refute it.
    EITHER = "either"
    #: A true claim in a random trial, which may be too short to settle it.
    UNREFUTED = "unrefuted"
    #: The data are not on this machine.
    INAPPLICABLE = "inapplicable"
    #: The source does not say enough to have its numbers again.
    NOT_REPRODUCIBLE = "not reproducible"


class Status(StrEnum):
    """Whether a statement is true as printed."""

    HOLDS = "holds"
    REFUTED = "refuted"
    #: Printed numbers that nobody can have again: their data or settings are not known.
    NOT_REPRODUCIBLE = "not reproducible"


class Severity(StrEnum):
    """How a statement that is false as printed is false; see ``docs/verdicts.md``."""

    #: It means what it says, and that is not so: it needs another constant, a further assumption
    #: or another conclusion.
    SUBSTANCE = "substance"
    #: A sign, an index or a value is wrong; what is meant is plain from the source itself.
    MISPRINT = "misprint"
    #: It fails in a degenerate case only, which the source did not have in mind.
    EDGE_CASE = "edge case"
    #: The text at hand may not be what was printed.
    TRANSCRIPTION = "transcription"


def by_severity(found: Iterable[Severity | None]) -> str:
    """How many there are of each: "8 substance, 9 misprint"."""
    counts = Counter(found)
    return ", ".join(f"{counts[kind]} {kind}" for kind in Severity if counts[kind])


@dataclass(frozen=True)
class Verdict:
    """What was found about one statement in one case.

    Attributes
    ----------
    statement : str
    verdict : Ruling
        Given as text, it becomes one.
    tightness : float or None
        Measured over bound, at the worst iterate: 1 is an exhausted bound.
    slack : float or None
        Bound minus measured, there.
    worst_t : int or None
        That iterate; for a refutation, the first one that violates the claim.
    checked, escalated : int
        Comparisons made, and those that needed more than doubles.
    reason : str
        Why it is undecided, inapplicable or refuted.
    left, right, what, where : str
        The two sides there, as decimal digits with their error; what was compared and where.
    failure : str
        "crashed", "timeout" or "not finite" where the solver did not do its part.
    hint : str
        Of a refutation: where the solver leaves the method that is spoken of, if that was found.
    reference : float or None
        The tightness of that method in the same run, beside a solver of the user's.
    informative : int or None
        Of a claim that holds: iterates by which a solver that stands still would have failed, see
        `gammabar.harness.court.rest`. 0: the pass says nothing. None where that was not asked.
    vacuous_to : int or None
        The last t up to which a solver that stands still is known not to fail.
    curve : tuple of (t, measured, bound)
        A few points of what was compared there, for pictures.
    """

    statement: str
    verdict: Ruling | str
    tightness: float | None = None
    slack: float | None = None
    worst_t: int | None = None
    checked: int = 0
    escalated: int = 0
    reason: str = ""
    left: str = ""
    right: str = ""
    what: str = ""
    where: str = ""
    failure: str = ""
    hint: str = ""
    reference: float | None = None
    informative: int | None = None
    vacuous_to: int | None = None
    curve: tuple[Point, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", Ruling(self.verdict))
        object.__setattr__(self, "curve", tuple(map(tuple, self.curve)))

    @property
    def says_nothing(self) -> bool:
        """Whether it is a pass that a solver which stands still would have got, too."""
        return self.verdict is Ruling.HOLDS and not self.informative

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
