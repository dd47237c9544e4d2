"""Statements: what a source claims, registered once, as printed.

Four decorators, one for each way in which a claim meets a run:

`per_iterate`   about the iterates of a solver: a function ``(it, case)`` that returns relations
                (`gammabar.harness.court.relation`), or a class made with ``(case)`` that has
                ``update(it)``, called once per iterate from t = 0 on, and ``claim(it)``.
`stopping`      about how soon a goal is reached: a function ``(case)`` that returns the limit.
`direct`        about a problem, or about nothing but itself: a function ``(case)`` that yields
                relations.
`randomised`    holds with probability 1 − δ: a function ``(case, rng)``, one run, one relation.

A claim is written once. It is evaluated in balls; the judge raises the precision where it must.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from gammabar.harness.court.authors import checked_body, checked_fields, unknown_options
from gammabar.harness.court.case import Case
from gammabar.harness.court.chance import count_failures
from gammabar.harness.court.errors import StatementError, place, raised
from gammabar.harness.court.inputs import Entry
from gammabar.harness.court.judges import (
    IterateJudge,
    Judge,
    StoppingJudge,
    examine_once,
    separates as separates,  # also for authors
)
from gammabar.harness.court.numbers import Trit
from gammabar.harness.court.verdict import Ruling, Severity, Status, Verdict
from gammabar.harness.court.view import Unclaimed, View
from gammabar.problems import ProblemError

#: A predicate on the case: None if it is met, or else the reason why not.
Assumption: TypeAlias = Callable[[Case], str | None]

#: Stands for what must be given: its author is told so, by `gammabar.harness.court.authors`.
REQUIRED: Any = None

STATEMENTS: dict[str, Statement] = {}
KINDS = (
    "anytime",
    "stopping",
    "identity",
    "probability",
    "expectation",
    "limit",
    "existence",
    "value",
    "table",
)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One claim of one source.

    Attributes
    ----------
    id, reference, kind : str
        As in the list of statements: "jst.thm3.1.1", "Theorem 3.1(1)", "anytime".
    claim : str
        LaTeX, exactly as printed.
    words : str
        The same for people who read no LaTeX, with plain Unicode.
    body : callable
        The claim itself, see the module.
    solvers : tuple of str
        Registry names of the solvers it is about.
    assumes : tuple of predicates
        What its source assumes; a case that does not meet them is inapplicable.
    problems : tuple of str
        Where the default plan examines it besides (or, for direct statements, at all); "" is
        "no problem". For a refuted statement: where it is refuted.
    status : Status
        Whether it is true as printed.
    fixed_by : str or None
        Id of the closest true form.
    severity : Severity or None
        How it is false, if it is refuted.
    why : str
        Why it has that severity, in a sentence.
    charitable : str or None
        Id of the reading to which its authors would point, judged as a statement of its own.
    survives : str
        If it is refuted: what is built on it, and how much of that stands.
    note : str
        What a reader should know: a misprint, a reading, how it was settled.
    inputs : mapping of str to Entry
        For a direct statement with data of its own: what else these may be; see
        `gammabar.harness.court.inputs`.
    on_data : bool
        For one with data of its own: whether it may be asked about problems as well, though the
        plan has none.
    instances : str
        Where a claim about every f, λ_t, q, … is put to the test, if not at all of them.
    powerless : str
        Why it can refute no wrong solver, if that is so.
    at_rest : str
        Why a solver that stands still obeys it for ever, if that is so.
    slower : str
        For a statement about a rate: the mutant of the next slower rate, which it refutes.
    unit : bool
        Whether its source assumes rows of norm at most one.
    """

    #: Whether it is about one run of a solver, which others may hear as well.
    about_runs: ClassVar[bool] = False
    #: What its body takes.
    takes: ClassVar[tuple[str, ...]] = ("case",)

    id: str
    reference: str
    kind: str
    claim: str
    words: str
    body: Any = field(repr=False)
    solvers: tuple[str, ...] = ()
    assumes: tuple[Assumption, ...] = ()
    problems: tuple[str, ...] = ()
    status: Status = Status.HOLDS
    fixed_by: str | None = None
    severity: Severity | None = None
    why: str = ""
    charitable: str | None = None
    survives: str = ""
    note: str = ""
    inputs: Mapping[str, Entry] = field(default_factory=dict, repr=False, hash=False)
    on_data: bool = False
    instances: str = ""
    powerless: str = ""
    at_rest: str = ""
    slower: str = ""
    unit: bool = False

    def __post_init__(self) -> None:
        checked_fields(self, KINDS)
        checked_body(self)
        object.__setattr__(self, "status", Status(self.status))
        if self.severity is not None:
            object.__setattr__(self, "severity", Severity(self.severity))

    @property
    def source(self) -> str:
        """jst, tyurin, rp, lec or gb."""
        return self.id.partition(".")[0]

    def inapplicable(self, case: Case) -> str | None:
        """Why the case does not meet the assumptions, or None if it does."""
        return next((reason for met in self.assumes if (reason := self._met(met, case))), None)

    def _met(self, assumption: Assumption, case: Case) -> str | None:
        name = getattr(assumption, "__qualname__", repr(assumption))
        rule = "it returns None if it is met, and otherwise the reason why not"
        try:
            reason: Any = assumption(case)
        except Unclaimed as missing:
            return str(missing)
        except ProblemError:
            raise
        except Exception as error:
            raise StatementError.at(
                self.id, assumption, f"its assumption {name} raised {raised(error)}; {rule}", error
            ) from error
        if reason is None or (isinstance(reason, str) and reason):
            return reason
        what = f"its assumption {name} returned {reason!r}; {rule}"
        raise StatementError.at(self.id, assumption, what)

    def error(self, what: str, error: Exception | None = None) -> StatementError:
        """That something is wrong with it, for its author."""
        return StatementError.at(self.id, self.body, what, error)

    def judge(self, case: Case) -> Judge:
        """Who hears the iterates of a run for it."""
        raise ProblemError(f"{self.id} is not about a run of a solver")

    def examine(self, case: Case) -> Verdict:
        """The verdict on it, without a run that others hear."""
        raise ProblemError(f"{self.id} is about a run of a solver")


@dataclass(frozen=True, kw_only=True)
class RunStatement(Statement):
    """A claim about one run of a solver.

    Attributes
    ----------
    history : tuple of classes
        Sequences it needs from t = 0 on, see `Case.history`.
    """

    about_runs: ClassVar[bool] = True

    history: tuple[type, ...] = ()


@dataclass(frozen=True, kw_only=True)
class IterateStatement(RunStatement):
    """A claim about every iterate.

    Attributes
    ----------
    since : int
        The first t it speaks about.
    waits : callable or None
        ``(last iterate, case)``: why a run that ended there does not settle the claim, or "".
    """

    takes: ClassVar[tuple[str, ...]] = ("it", "case")

    since: int = 0
    waits: Callable[[View, Case], str] | None = field(default=None, repr=False)

    def judge(self, case: Case) -> Judge:
        return IterateJudge(self, case)


@dataclass(frozen=True, kw_only=True)
class StoppingStatement(RunStatement):
    """A claim that a goal is reached at some t ≤ limit.

    Attributes
    ----------
    goal : callable
        ``(it, case)``: whether w_t has reached it.
    """

    goal: Callable[[View, Case], Trit] = field(default=separates, repr=False)

    def judge(self, case: Case) -> Judge:
        return StoppingJudge(self, case)


@dataclass(frozen=True, kw_only=True)
class DirectStatement(Statement):
    """A claim about a problem, or about data that it brings itself.

    The body of one that is not reproducible returns a text: what was found instead.
    """

    def examine(self, case: Case) -> Verdict:
        if self.status is Status.NOT_REPRODUCIBLE:
            return Verdict(self.id, Ruling.NOT_REPRODUCIBLE, reason=str(self.body(case)))
        return examine_once(self, case)


@dataclass(frozen=True, kw_only=True)
class RandomisedStatement(Statement):
    """A claim that holds with probability 1 − δ.

    Attributes
    ----------
    delta : float
    runs : int
        How many decide, fixed in advance.
    """

    takes: ClassVar[tuple[str, ...]] = ("case", "rng")

    delta: float
    runs: int

    def examine(self, case: Case) -> Verdict:
        return count_failures(self, case)


def _register(statement: Statement) -> None:
    known = STATEMENTS.get(statement.id)
    if known is not None:
        first = place(known.body).strip(" ()") or "another module"
        raise statement.error(f"the id exists already, see {first}; choose another one")
    STATEMENTS[statement.id] = statement


def _decorator(cls: type[Statement], identifier: str, **more: Any) -> Callable[[Any], Any]:
    if callable(identifier):  # the decorator without parentheses
        what = 'the decorator needs an id: write @decorator("paper.thm1", reference=…)'
        raise StatementError.at(getattr(identifier, "__name__", "?"), identifier, what)

    def register(body: Any) -> Any:
        unknown_options(identifier, cls, body, more)
        words = more.pop("words", None) or (body.__doc__ or "").strip().split("\n\n")[0]
        _register(cls(id=identifier, body=body, words=" ".join(words.split()), **more))
        return body

    return register


def per_iterate(
    identifier: str = REQUIRED,
    *,
    reference: str = REQUIRED,
    claim: str = REQUIRED,
    solvers: tuple[str, ...] = REQUIRED,
    kind: str = "anytime",
    since: int = 0,
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim about every iterate of a solver from t = `since` on."""
    return _decorator(
        IterateStatement,
        identifier,
        reference=reference,
        claim=claim,
        solvers=solvers,
        kind=kind,
        since=since,
        unit=unit,
        **more,
    )


def stopping(
    identifier: str = REQUIRED,
    *,
    reference: str = REQUIRED,
    claim: str = REQUIRED,
    solvers: tuple[str, ...] = REQUIRED,
    goal: Callable[[View, Case], Trit] | None = None,
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim that a goal is reached at some t ≤ limit; the body returns the limit.

    The default goal is that w_t separates the data. None as limit: nothing is claimed of the case.
    """
    return _decorator(
        StoppingStatement,
        identifier,
        reference=reference,
        claim=claim,
        solvers=solvers,
        kind="stopping",
        goal=goal or separates,
        unit=unit,
        **more,
    )


def direct(
    identifier: str = REQUIRED,
    *,
    reference: str = REQUIRED,
    claim: str = REQUIRED,
    kind: str = REQUIRED,
    problems: tuple[str, ...] = REQUIRED,
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim about a problem, or about data that it brings itself (problems = ("",))."""
    return _decorator(
        DirectStatement,
        identifier,
        reference=reference,
        claim=claim,
        kind=kind,
        problems=problems,
        unit=unit,
        **more,
    )


def randomised(
    identifier: str = REQUIRED,
    *,
    reference: str = REQUIRED,
    claim: str = REQUIRED,
    delta: float = REQUIRED,
    runs: int = REQUIRED,
    problems: tuple[str, ...] = REQUIRED,
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim that fails with probability at most `delta`; `runs` are fixed in advance."""
    return _decorator(
        RandomisedStatement,
        identifier,
        reference=reference,
        claim=claim,
        kind="probability",
        delta=delta,
        runs=runs,
        problems=problems,
        unit=unit,
        **more,
    )


# Assumptions that several sources make.


def separable(case: Case) -> str | None:
    """Some w has only positive scores."""
    if case.separable:
        return None
    return "the data are not separable" if case.separable is False else "separability is not known"


def inseparable(case: Case) -> str | None:
    """No w has only positive scores."""
    return None if case.separable is False else "the data are separable"


def has(*names: str) -> Assumption:
    """The solver has these options: a solver of one's own may lack them."""

    def met(case: Case) -> str | None:
        missing = [name for name in names if not hasattr(case.solver, name)]
        return f"the solver does not say its {' and '.join(missing)}" if missing else None

    met.__doc__ = f"The solver says its {' and '.join(names)}."
    return met


def option(name: str, *values: Any) -> Assumption:
    """The solver has an option with one of these values (a solver without it is taken to)."""

    def met(case: Case) -> str | None:
        value = getattr(case.solver, name, values[0])
        try:
            return None if value in values else f"the solver's {name} is {value!r}"
        except ValueError:  # an array, say
            return f"the solver's {name} is {value!r}"

    shown = " or ".join(str(value) for value in values)
    met.__doc__ = f"The solver's {name} is {shown}, or it does not say."
    return met
