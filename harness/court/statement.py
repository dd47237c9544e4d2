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

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import Trit
from gammabar.harness.court.relation import Relation
from gammabar.harness.court.view import View

#: A predicate on the case: None if it is met, or else the reason why not.
Assumption: TypeAlias = Callable[[Case], str | None]
Claimed: TypeAlias = Relation | Iterable[Relation] | None

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


@dataclass(frozen=True)
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
    way : "iterates", "stopping", "direct" or "randomised"
        How it is examined.
    body : callable
        The claim itself, see the module.
    solvers : tuple of str
        Registry names of the solvers it is about.
    assumes : tuple of predicates
        What its source assumes; a case that does not meet them is inapplicable.
    since : int
        The first t it speaks about.
    problems : tuple of str
        Where the default plan examines it besides (or, for direct statements, at all); "" is
        "no problem". For a refuted statement: where it is refuted.
    status : "holds" or "refuted"
        What is expected of it.
    fixed_by : str or None
        Id of the closest true form.
    note : str
        What a reader should know: a misprint, a reading, how it was settled.
    powerless : str
        Why it can refute no wrong solver, if that is so.
    goal, delta, runs
        For stopping and randomised statements.
    unit : bool
        Whether its source assumes rows of norm at most one.
    history : tuple of classes
        Sequences it needs from t = 0 on, see `Case.history`.
    waits : callable or None
        ``(last iterate, case)``: why a run that ended there does not settle the claim, or "".
    """

    id: str
    reference: str
    kind: str
    claim: str
    words: str
    way: str
    body: Any = field(repr=False)
    solvers: tuple[str, ...] = ()
    assumes: tuple[Assumption, ...] = ()
    since: int = 0
    problems: tuple[str, ...] = ()
    status: str = "holds"
    fixed_by: str | None = None
    note: str = ""
    powerless: str = ""
    goal: Callable[[View, Case], Trit] | None = field(default=None, repr=False)
    delta: float | None = None
    runs: int = 0
    unit: bool = False
    history: tuple[type, ...] = ()
    waits: Callable[[View, Case], str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.id}: there is no kind {self.kind!r}")
        if self.status not in ("holds", "refuted"):
            raise ValueError(f"{self.id}: there is no status {self.status!r}")

    @property
    def source(self) -> str:
        """jst, tyurin, rp, lec or gb."""
        return self.id.partition(".")[0]

    def inapplicable(self, case: Case) -> str | None:
        """Why the case does not meet the assumptions, or None if it does."""
        return next((reason for met in self.assumes if (reason := met(case)) is not None), None)


def _register(statement: Statement) -> None:
    if statement.id in STATEMENTS:
        raise ValueError(f"{statement.id} is registered twice")
    STATEMENTS[statement.id] = statement


def _decorator(way: str, identifier: str, **more: Any) -> Callable[[Any], Any]:
    def register(body: Any) -> Any:
        words = more.pop("words", None) or (body.__doc__ or "").strip().split("\n\n")[0]
        _register(
            Statement(id=identifier, way=way, body=body, words=" ".join(words.split()), **more)
        )
        return body

    return register


def per_iterate(
    identifier: str,
    *,
    reference: str,
    claim: str,
    solvers: tuple[str, ...],
    kind: str = "anytime",
    since: int = 0,
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim about every iterate of a solver from t = `since` on."""
    return _decorator(
        "iterates",
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
    identifier: str,
    *,
    reference: str,
    claim: str,
    solvers: tuple[str, ...],
    goal: Callable[[View, Case], Trit] | None = None,
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim that a goal is reached at some t ≤ limit; the body returns the limit.

    The default goal is that w_t separates the data. None as limit: nothing is claimed of the case.
    """
    return _decorator(
        "stopping",
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
    identifier: str,
    *,
    reference: str,
    claim: str,
    kind: str,
    problems: tuple[str, ...],
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim about a problem, or about data that it brings itself (problems = ("",))."""
    return _decorator(
        "direct",
        identifier,
        reference=reference,
        claim=claim,
        kind=kind,
        problems=problems,
        unit=unit,
        **more,
    )


def randomised(
    identifier: str,
    *,
    reference: str,
    claim: str,
    delta: float,
    runs: int,
    problems: tuple[str, ...],
    unit: bool = False,
    **more: Any,
) -> Callable[[Any], Any]:
    """Register a claim that fails with probability at most `delta`; `runs` are fixed in advance."""
    return _decorator(
        "randomised",
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


def separates(it: View, case: Case) -> Trit:
    """The usual goal: every score of w_t is positive."""
    return it.separates


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

    return met


def option(name: str, *values: Any) -> Assumption:
    """The solver has an option with one of these values (a solver without it is taken to)."""

    def met(case: Case) -> str | None:
        value = getattr(case.solver, name, values[0])
        return None if value in values else f"the solver's {name} is {value!r}"

    return met
