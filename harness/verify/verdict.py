"""Verdicts on statements, their explanation, and errors of statements that are written wrongly."""

from __future__ import annotations

import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from html import escape
from math import log1p
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from gammabar.harness.screen import visible
from gammabar.harness.verify.numbers import BALLS
from gammabar.problems import ProblemError

if TYPE_CHECKING:
    from gammabar.harness.verify.statement import Statement

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
    """What was found about one statement in one case."""

    statement: str
    #: Given as text, it becomes a `Ruling`.
    verdict: Ruling | str
    #: Measured over bound, at the worst iterate (1 is an exhausted bound); bound minus measured
    #: there; and that iterate: for a refutation, the first one that violates the claim.
    tightness: float | None = None
    slack: float | None = None
    worst_t: int | None = None
    #: Comparisons made, and those that needed more than doubles.
    checked: int = 0
    escalated: int = 0
    #: Why it is undecided, inapplicable or refuted.
    reason: str = ""
    #: The two sides there, as decimal digits with their error; what was compared and where.
    left: str = ""
    right: str = ""
    what: str = ""
    where: str = ""
    #: "crashed", "timeout" or "not finite" where the solver did not do its part.
    failure: str = ""
    #: Of a refutation: where the solver leaves the method that is spoken of, if that was found.
    hint: str = ""
    #: The tightness of that method in the same run, beside a solver of the user's.
    reference: float | None = None
    #: Of a claim that holds: iterates by which a solver that never moves would have failed. 0: the
    #: pass is vacuous. None where that was not asked.
    informative: int | None = None
    #: The last t at which a solver that stays at 0, w_0 or w_1 is known to obey it.
    vacuous_to: int | None = None
    #: A few points of what was compared, for pictures.
    curve: tuple[Point, ...] = field(default=(), repr=False)
    #: Makes what `explain` says, where statement, problem and solver are known.
    _explain: ClassVar[Any] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", Ruling(self.verdict))
        object.__setattr__(self, "curve", tuple(map(tuple, self.curve)))

    @property
    def says_nothing(self) -> bool:
        """Whether it is a vacuous pass: a solver that never moves would have passed, too."""
        return self.verdict is Ruling.HOLDS and not self.informative

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """One line: the verdict, where, and why."""
        why = (
            self.hint or worth(self) or (self.reason if self.verdict is not Ruling.REFUTED else "")
        )
        return visible(f"{self.statement} {self.verdict}{_at(self)}{why and f': {why}'}")

    def explain(self) -> str:
        """What was claimed and measured, and the cause: what a failing test prints."""
        return str(self) if self._explain is None else str(self._explain())

    def explained(self, explain: Callable[[], str]) -> Self:
        """The same verdict, whose `explain` says what this returns."""
        object.__setattr__(self, "_explain", explain)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The explanation travels as a text: not every statement can be pickled."""
        return vars(self) | {"_explain": partial(str, self.explain())}

    def _repr_html_(self) -> str:
        """For notebooks: the explanation as a table, and the curve."""
        head, *lines = self.explain().split("\n")
        rows = "".join(
            f"<tr><th>{escape(line[4:13].strip())}</th><td>{escape(line[14:])}</td></tr>"
            for line in lines
        )
        return f"<b>{escape(head)}</b><table>{rows}</table>{_drawn(self.curve)}"


def _drawn(curve: tuple[Point, ...]) -> str:
    """Measured and bound over log t, as a small SVG."""
    if len(curve) < 2:
        return ""
    low, high = (f(v for _, *both in curve for v in both) for f in (min, max))
    last, span = log1p(curve[-1][0]) or 1.0, high - low or 1.0
    lines = ""
    for side, colour in ((1, "#1f6fb2"), (2, "#c2252b")):
        spots = ((360 * log1p(p[0]) / last, 120 - 110 * (p[side] - low) / span) for p in curve)
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        lines += f'<polyline fill="none" stroke="{colour}" points="{places}"/>'
    return f'<svg viewBox="0 0 360 125" width="360">{lines}</svg> measured (blue), bound (red)'


def _at(verdict: Verdict) -> str:
    return f" at t = {verdict.worst_t}" if verdict.worst_t is not None else ""


class StatementError(ProblemError):
    """A statement that is not written as it must be: its author's fault, not a solver's."""

    @classmethod
    def at(cls, identifier: Any, body: Any, what: str, error: Exception | None = None) -> Self:
        """``jst.thm3.1.1 (paper.py, line 12): what``, with the line that raised `error`, if any."""
        return cls(f"{identifier}{place(body, error)}: {what}")


def place(body: Any, error: Exception | None = None) -> str:
    """Where a body is written: " (paper.py, line 12)"."""
    function = getattr(body, "claim", None) if isinstance(body, type) else body
    code = getattr(function, "__code__", None)
    module = sys.modules.get(getattr(body, "__module__", None) or "")
    file, line = getattr(module, "__file__", None) or "", None
    if isinstance(code, CodeType):
        file, line = code.co_filename, code.co_firstlineno
    if not file:
        return ""
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == file), line)
    inside = os.path.relpath(file)  # as a person would write it who stands in this folder
    shown = file if inside.startswith(os.pardir) else inside
    return f" ({shown}, line {line})" if line else f" ({shown})"


def raised(error: Exception) -> str:
    """What a body raised, and what to do where NumPy met a ball."""
    last = traceback.format_exception_only(error)[-1].strip()
    if BALLS not in last and ("flint" in last or "ufunc" in last):
        return f"{last}; {BALLS}"
    return last


def worth(verdict: Verdict, at_rest: str = "") -> str:
    """What is to be said of a vacuous pass, in a few words; "" for any other verdict.

    `at_rest` says why a solver that never moves obeys the statement for ever, if it does.
    """
    if not verdict.says_nothing:
        return ""
    if at_rest:
        return f"vacuous: a solver that never moves passes as well ({at_rest})"
    if verdict.vacuous_to is not None:
        return f"vacuous up to t = {verdict.vacuous_to}"
    return "vacuous: a solver that never moves passes as well"


def explain(
    statement: Statement, verdict: Verdict, *, problem: str, solver: str, reproduce: str = ""
) -> str:
    """What was claimed and measured, by how much it fails, and how to see it again.

    `problem` and `solver` are what the user calls them, `reproduce` is a command line.
    """
    on = f" on {problem}" if problem else ""
    by = f" (solver {solver})" if solver else ""
    where = f" ({verdict.where})" if verdict.where else ""
    refuted = verdict.verdict is Ruling.REFUTED
    gap = f"{-verdict.slack:.6g} (proved)" if refuted and verdict.slack is not None else ""
    unequal = any(sign in verdict.what for sign in "≤≥<>") or "=" not in verdict.what
    lines = {
        "cause": verdict.hint,
        "claimed": statement.words or statement.claim,
        "compared": verdict.what and verdict.what + where,
        "sides": verdict.left and f"{verdict.left}   and   {verdict.right}",
        "short by" if unequal else "off by": gap,
        "solver": verdict.failure,
        "because": "" if refuted else verdict.reason,
        "at rest": (statement.at_rest or statement.powerless) if verdict.says_nothing else "",
        "source": statement.reference,
        "reproduce": reproduce,
    }
    found = worth(verdict) or f"{verdict.verdict}{_at(verdict)}"
    head = f"{statement.id} {found}{on}{by}"
    shown = [head, *(f"    {name:9} {text}" for name, text in lines.items() if text)]
    return "\n".join(visible(line) for line in shown)
