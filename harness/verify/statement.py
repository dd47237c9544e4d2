"""Statements: what a source claims, registered once, as printed.

Four kinds, one for each way in which a claim meets a run:

=====================  ============================================================================
`IterateStatement`     about the iterates of a solver: a function ``(it, case)`` that returns
                       relations (`gammabar.harness.verify.numbers`), or ``(now, before, case)``
                       for w_t and w_{t−1}, or a class made with ``(case)`` that has ``update(it)``,
                       called once per iterate from t = 0 on, and ``claim(it)``
`StoppingStatement`    about how soon a goal is reached: ``(case)`` returns the limit
`DirectStatement`      about a problem, or about nothing but itself: ``(case)`` yields relations
`RandomisedStatement`  holds with probability 1 − δ: ``(case, rng)`` or ``(case, rng, delta)``, one
                       run, one relation
=====================  ============================================================================

`declare` registers a function as one of them. A claim is written once. It is evaluated in balls,
with more digits where they are needed.
"""

from __future__ import annotations

import dis
import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property, partial, wraps
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, TypeAlias

from gammabar.harness.verify.context import Case, positive
from gammabar.harness.verify.evaluate import (
    Check,
    IterateCheck,
    StoppingCheck,
    separates as separates,  # also for authors
)
from gammabar.harness.verify.iterate import Unclaimed, View
from gammabar.harness.verify.numbers import Trit
from gammabar.harness.verify.parameters import Entry
from gammabar.harness.verify.verdict import Severity, StatementError, Status, place, raised
from gammabar.problems import ProblemError
from gammabar.problems.suggest import did_you_mean

#: A predicate on the case: None if it is met, or else the reason why not.
Assumption: TypeAlias = Callable[[Case], str | None]

#: What a decorator with its arguments is.
Declared: TypeAlias = Callable[[Any], Any]
#: Rows that may be treated one by one in balls at every iterate.
FEW = 400
#: Stands for what must be given: its author is told so.
_REQUIRED: Any = None

STATEMENTS: dict[str, Statement] = {}
KINDS: tuple[str, ...] = ("anytime", "stopping", "identity", "probability", "expectation")
KINDS += ("limit", "existence", "value", "table")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One claim of one source."""

    #: Whether it is about one run of a solver, which others may check as well.
    about_runs: ClassVar[bool] = False
    #: What its body may take.
    takes: ClassVar[tuple[str, ...]] = ("case",)
    takes_more: ClassVar[tuple[str, ...]] = ()

    #: As in the list of statements: "jst.thm3.1.1", "Theorem 3.1(1)", "anytime".
    id: str = _REQUIRED
    reference: str = _REQUIRED
    kind: str = _REQUIRED
    #: LaTeX, as printed; where its source has O(·), with the constant that is checked.
    claim: str = _REQUIRED
    #: The same for people who read no LaTeX, with plain Unicode.
    words: str = ""
    #: The claim itself, see the module.
    body: Any = field(default=_REQUIRED, repr=False)
    #: Names of the solvers that it is about, and in a user's paper their texts with options, where
    #: a name means the default ones: "dual-acceleration:loss=logistic", or any, "…:loss=*".
    solvers: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    #: What its source assumes; a case that does not meet them is inapplicable.
    assumes: tuple[Assumption, ...] = ()
    #: Where the default plan examines it besides (or, for direct statements, at all); "" is "no
    #: problem". For a refuted statement: where it is refuted.
    problems: tuple[str, ...] = ()
    #: Whether it is true as printed.
    status: Status = Status.HOLDS
    #: Id of the closest true form.
    fixed_by: str | None = None
    #: If it is refuted: how it is false, and why it has that severity.
    severity: Severity | None = None
    why: str = ""
    #: Id of the reading to which its authors would point, a statement of its own.
    charitable: str | None = None
    #: Id of another refuted statement that is false because of the same mistake in the source.
    same_mistake: str | None = None
    #: What is built on it, and how much of that stands.
    survives: str = ""
    #: What a reader should know: a misprint, a reading, how it was settled.
    note: str = ""
    #: For a direct statement with data of its own: what else these may be, and whether it may be
    #: asked about problems as well; see `gammabar.harness.verify.parameters`.
    inputs: Mapping[str, Entry] = field(default_factory=dict, repr=False, hash=False)
    on_data: bool = False
    #: Where a claim about every f, λ_t, q, … is put to the test, if not at all of them.
    instances: str = ""
    #: Why it can refute no wrong solver, or why a solver that never moves obeys it for ever.
    powerless: str = ""
    at_rest: str = ""
    #: For a statement about a rate: the mutant of the next slower rate, which it refutes.
    slower: str = ""
    #: Whether its source assumes rows of norm at most one.
    unit: bool = False

    def __post_init__(self) -> None:
        _check_fields(self)
        _check_body(self)
        object.__setattr__(self, "status", Status(self.status))
        if self.severity is not None:
            object.__setattr__(self, "severity", Severity(self.severity))

    @cached_property
    def takes_all(self) -> bool:
        """Whether its body takes `takes_more`, and not `takes`."""
        return bool(self.takes_more) and not _binds(self.body, self.takes)

    @property
    def source(self) -> str:
        """jst, tyurin, rp, lec or gb."""
        return self.id.partition(".")[0]

    def inapplicable(self, case: Case) -> str | None:
        """Why the case does not meet the assumptions, or None if it does."""
        return next((reason for met in self.assumes if (reason := self._met(met, case))), None)

    def _met(self, assumption: Assumption, case: Case) -> str | None:
        cause: Exception | None = None
        try:
            reason: Any = assumption(case)
            if reason is None or (isinstance(reason, str) and reason):
                return reason
            did = f"returned {reason!r}"
        except Unclaimed as missing:
            return str(missing)
        except ProblemError:
            raise
        except Exception as error:
            did, cause = f"raised {raised(error)}", error
        name = getattr(assumption, "__qualname__", repr(assumption))
        rule = "it returns None if it is met, and otherwise the reason why not"
        what = f"its assumption {name} {did}; {rule}"
        raise StatementError.at(self.id, assumption, what, cause) from cause

    def error(self, what: str, error: Exception | None = None) -> StatementError:
        """That something is wrong with it, for its author."""
        return StatementError.at(self.id, self.body, what, error)

    def check(self, case: Case) -> Check:
        """What sees the iterates of a run for it."""
        raise ProblemError(f"{self.id} is not about a run of a solver")


@dataclass(frozen=True, kw_only=True)
class RunStatement(Statement):
    """A claim about one run of a solver."""

    about_runs: ClassVar[bool] = True

    #: Sequences that it needs from t = 0 on, see `Case.history`.
    history: tuple[type, ...] = ()
    solvers: tuple[str, ...] = _REQUIRED


_Parts: TypeAlias = tuple[Callable[[View], Any] | None, Callable[[View, Any], Any]]


class _Pairs:
    """A claim about w_t and w_{t−1}: one iterate is kept. If it `starts`, it is about w_0 too."""

    def __init__(self, body: Callable[..., Any], starts: bool) -> None:
        self._body, self._starts = body, starts
        self._now: View | None = None
        self._before: View | None = None

    def update(self, it: View) -> None:
        it.keep()
        self._before, self._now = self._now, it

    def claim(self, it: View, case: Case) -> Any:
        before = None if self._before is None else self._before.at(it.level)
        return self._body(it, before, case) if before is not None or self._starts else None


@dataclass(frozen=True, kw_only=True)
class IterateStatement(RunStatement):
    """A claim about every iterate from t = `since` on.

    ``waits(last iterate, case)`` says why a run that ended there does not settle the claim, or "".
    A body ``(now, before, case)`` that `starts` is about w_0 as well, with None before it.
    """

    takes: ClassVar[tuple[str, ...]] = ("it", "case")
    takes_more: ClassVar[tuple[str, ...]] = ("now", "before", "case")

    kind: str = "anytime"
    since: int = 0
    starts: bool = field(default=False, repr=False)
    waits: Callable[[View, Case], str] | None = field(default=None, repr=False)

    @property
    def remembers(self) -> bool:
        """Whether what is claimed of an iterate depends on those before it."""
        return bool(self.history) or isinstance(self.body, type) or self.takes_all

    def parts(self, case: Case) -> _Parts:
        """What it does with every iterate, if anything, and what it claims of one."""
        body: Any = self.body
        if isinstance(body, type):
            checker: Any = body(case)
            return getattr(checker, "update", None), lambda it, case: checker.claim(it)
        if self.takes_all:
            pairs = _Pairs(body, self.starts)
            return pairs.update, pairs.claim
        return None, body

    def check(self, case: Case) -> Check:
        return IterateCheck(self, case)


@dataclass(frozen=True, kw_only=True)
class StoppingStatement(RunStatement):
    """A claim that a goal is reached at some t ≤ limit: ``goal(it, case)`` says whether w_t has."""

    kind: str = "stopping"
    goal: Callable[[View, Case], Trit] = field(default=separates, repr=False)

    def check(self, case: Case) -> Check:
        return StoppingCheck(self, case)


@dataclass(frozen=True, kw_only=True)
class DirectStatement(Statement):
    """A claim about a problem, or about data that it brings itself.

    The body of one that is not reproducible returns a text: what was found instead.
    """

    problems: tuple[str, ...] = _REQUIRED


@dataclass(frozen=True, kw_only=True)
class RandomisedStatement(Statement):
    """A claim that holds with probability 1 − `delta`; `runs` are fixed in advance."""

    takes: ClassVar[tuple[str, ...]] = ("case", "rng")
    takes_more: ClassVar[tuple[str, ...]] = ("case", "rng", "delta")

    kind: str = "probability"
    problems: tuple[str, ...] = _REQUIRED
    delta: Any = _REQUIRED
    runs: int = _REQUIRED

    def run(self, case: Case, rng: Any) -> Any:
        """What is claimed of one run."""
        return self.body(case, rng, self.delta) if self.takes_all else self.body(case, rng)


def declare(
    cls: type[Statement],
    identifier: str = _REQUIRED,
    /,
    *,
    instead: Mapping[str, str] = {},
    **given: Any,
) -> Declared:
    """A decorator that registers a function as the body of a statement.

    The docstring of the function says what is not given: its first paragraph is the claim in words,
    a paragraph in ``$…$`` the LaTeX, and the paragraphs after that one are the note. Paragraphs
    that begin with "Why: ", "Survives: ", "Instances: ", "Powerless: " and "At rest: " are the
    fields of these names. Note, why and survives of a refuted claim may also stand in its witness,
    ``witnesses/ID.json`` beside the module. `instead` makes the words and the LaTeX of a corrected
    form, old text → new text, without the note. A body whose last parameter is `printed` is told
    whether it is that of the refuted statement.
    """
    if callable(identifier):  # the decorator without parentheses
        what = 'the decorator needs an id: write @decorator("paper.thm1", reference=…)'
        raise StatementError.at(getattr(identifier, "__name__", "?"), identifier, what)

    def register(body: Any) -> Any:
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                what = f"there is no option {name}; {did_you_mean(name, known)}"
                raise StatementError.at(identifier, body, what)
        refuted = given.get("status") == "refuted"
        documented = {name: text for name, text in _documented(body).items() if text}
        if refuted:
            documented = _witnessed(identifier, body) | documented
        else:
            documented = {k: v for k, v in documented.items() if k not in ("why", "survives")}
        for old, new in instead.items():
            if not any(old in documented.get(name, "") for name in ("words", "claim")):
                raise StatementError.at(identifier, body, f"its docstring does not say {old!r}")
            documented = {k: v.replace(old, new) for k, v in documented.items() if k != "note"}
        statement = cls(id=identifier, body=_as_printed(body, refuted), **(documented | given))
        if statement.id in STATEMENTS:
            first = place(STATEMENTS[statement.id].body).strip(" ()") or "another module"
            raise statement.error(f"the id exists already, see {first}; choose another one")
        STATEMENTS[statement.id] = statement
        return body

    return register


def _as_printed(body: Any, printed: bool) -> Any:
    """The body with its last parameter bound, if that is `printed`."""
    own = [*inspect.signature(body).parameters.values()] if isinstance(body, FunctionType) else []
    if not own or own[-1].name != "printed":
        return body

    @wraps(body)
    def bound(*arguments: Any) -> Any:
        return body(*arguments, printed)

    vars(bound)["__signature__"] = inspect.Signature(own[:-1])
    return bound


def _witnessed(identifier: str, body: Any) -> dict[str, str]:
    """What the witness of a refuted claim says of it."""
    module = getattr(sys.modules.get(body.__module__), "__file__", None) or ""
    try:
        path = Path(module).parent / "witnesses" / f"{identifier}.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: str(found[name]) for name in ("note", "why", "survives") if name in found}
    except (OSError, ValueError, TypeError):
        return {}


#: How paragraphs of a docstring begin, and the fields that they are.
_LABELS = {"Why": "why", "Survives": "survives", "Instances": "instances"}
_LABELS |= {"Powerless": "powerless", "At rest": "at_rest"}


def _documented(body: Any) -> dict[str, str]:
    """Words, LaTeX and note of a claim, from its docstring."""
    parts = re.split(rf"\n\s*(?:\n|(?=(?:{'|'.join(_LABELS)}): ))", body.__doc__ or "")
    paragraphs = [" ".join(part.split()) for part in parts]
    found = {"words": paragraphs[0]}
    for k, text in enumerate(paragraphs):
        if len(text) > 1 and text[0] == text[-1] == "$":
            told = {"claim": text[1:-1].strip(), "note": ""}
            for more in paragraphs[k + 1 :]:
                name, _, said = more.partition(": ")
                field = _LABELS.get(name, "note")
                told[field] = f"{told.get(field, '')} {more if field == 'note' else said}".strip()
            return found | told
    return found


#: Decorators, each with an id and the fields of its class by name. `reference` and `claim` must be
#: given; for claims about every iterate from t = `since` on, and about a goal that is reached at
#: some t ≤ limit (default: w_t separates the data), `solvers` as well; for claims about a problem,
#: or data of their own (problems = ("",)), `kind` and `problems`; for claims that fail with
#: probability at most `delta`, `problems`, `delta` and `runs`.
per_iterate = partial(declare, IterateStatement)
stopping = partial(declare, StoppingStatement)
direct = partial(declare, DirectStatement)
randomised = partial(declare, RandomisedStatement)


# Assumptions that several sources make.


def separable(case: Case) -> str | None:
    """Some w has only positive scores."""
    if case.separable:
        return None
    return "the data are not separable" if case.separable is False else "separability is not known"


def inseparable(case: Case) -> str | None:
    """No w has only positive scores."""
    return None if case.separable is False else "the data are separable"


def several_rows(case: Case) -> str | None:
    """n ≥ 2, so that ln n is not zero."""
    return None if case.n > 1 else "there is only one row"


def few_rows(case: Case) -> str | None:
    """Few enough rows to treat them one by one."""
    return None if case.n <= FEW else f"more than {FEW} rows are too many to treat one by one"


def has(*names: str, **above: float) -> Assumption:
    """The solver has these options, which a solver of one's own may lack: ``has("q", step=0)``
    asks for q, and for a step that is a number above 0."""

    def met(case: Case) -> str | None:
        missing = [name for name in names if not hasattr(case.solver, name)]
        try:
            missing += [name for name, low in above.items() if positive(case, name, low) is None]
        except Unclaimed as odd:
            return str(odd)
        return f"the solver does not say its {' and '.join(missing)}" if missing else None

    met.__doc__ = f"The solver says its {' and '.join((*names, *above))}."
    return met


def option(name: str, *values: Any) -> Assumption:
    """The solver has an option with one of these values (a solver without it is taken to)."""

    def met(case: Case) -> str | None:
        value = getattr(case.solver, name, values[0])
        try:
            return None if value in values else f"the solver's {name} is {value!r}"
        except ValueError:  # an array, say
            return f"the solver's {name} is {value!r}"

    shown = " or ".join(str(value) for value in values if value is not None)
    met.__doc__ = f"The solver's {name} is {shown}, or not specified."
    return met


# What is checked of a statement when it is registered, so that its author hears of it at once.


def _check_fields(statement: Statement) -> None:
    """Refuse a statement whose fields are not what they must be."""
    for names, fits, rule in _RULES:
        for name in names.split():
            value = getattr(statement, name, None)
            if hasattr(statement, name) and not fits(value):
                given = f"not {value!r}" if value is not None else "and is missing"
                raise statement.error(f"{name} must be {rule}, {given}")
    errata = ("severity", "why", "charitable", "same_mistake", "survives")
    name = next((name for name in errata if getattr(statement, name)), "")
    if statement.status != Status.REFUTED and name:
        what = f"{name} is for statements that are refuted; this one is {statement.status}"
        raise statement.error(what)
    if statement.status == Status.REFUTED and statement.severity not in tuple(Severity):
        given, known = statement.severity or "missing", ", ".join(Severity)
        what = f"it is refuted, so its severity must be one of {known}; it is {given}"
        raise statement.error(what)
    if statement.status == Status.NOT_REPRODUCIBLE and statement.takes != ("case",):
        raise statement.error("only a statement made with direct can be not reproducible")


def _check_body(statement: Statement) -> None:
    """Refuse a body that cannot be called as it must be, or that computes in doubles."""
    body, takes = statement.body, statement.takes
    if isinstance(body, type) and "it" in takes:
        body, takes = getattr(body, "claim", None), ("self", "it")
        if not callable(body):
            raise statement.error("the class must have a method claim(self, it)")
    needed = f"({', '.join(takes)})"
    if not callable(body) or isinstance(body, type):
        raise statement.error(f"the body must be a function of {needed}")
    if not (_binds(body, takes) or (statement.takes_more and _binds(body, statement.takes_more))):
        raise statement.error(f"the body must take {needed}")
    if rounding := _rounds(body):
        what = f"the body uses math.{rounding}, which turns a ball into a double and forgets its"
        raise statement.error(f"{what} error; use log, sqrt and exp of gammabar.papers")


def _binds(body: Any, takes: tuple[str, ...]) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        inspect.signature(body).bind(*takes)
    except TypeError:
        return False
    except ValueError:  # a compiled function has no signature
        pass
    return True


#: They take a ball for its midpoint, without a word.
_ROUNDING = "cbrt cos cosh exp exp2 expm1 fsum hypot log log10 log1p log2 pow sin sinh sqrt tan"


def _rounds(body: Any) -> str:
    """A function of `math` in a body that computes with doubles; "" if there is none."""
    body = inspect.unwrap(body)
    if not isinstance(body, FunctionType):
        return ""
    before = None
    for step in dis.get_instructions(body):
        value = body.__globals__.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
        name = getattr(value, "__name__", "")
        if getattr(value, "__module__", "") == "math" and name in _ROUNDING.split():
            return str(name)
        if before is math and step.argval in _ROUNDING.split():
            return str(step.argval)
        before = value
    return ""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _all(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(fits, value))


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


def _one_of(known: Iterable[str]) -> tuple[Callable[[Any], bool], str]:
    values = tuple(known)
    return lambda value: value in values, f"one of {', '.join(values)}"


#: Names of fields, what each must be, and that in words.
_RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    (
        "id",
        lambda v: _text(v) and bool(v) and not any(c.isspace() for c in v),
        'a text such as "paper.thm1", without spaces',
    ),
    ("reference", lambda v: _text(v) and bool(v.strip()), 'a text such as "Theorem 3.1"'),
    ("claim", _text, "a text, the LaTeX of the claim"),
    ("kind", *_one_of(KINDS)),
    ("status", *_one_of(Status)),
    ("words note why survives instances powerless at_rest", _text, "a text"),
    ("charitable same_mistake", lambda v: v is None or _text(v), "the id of a statement"),
    ("solvers", _all(_text), 'a tuple of names of solvers, such as ("dual-acceleration",)'),
    ("problems", _all(_text), 'a tuple of problems, such as ("iris:0,1",), or ("",) for none'),
    ("assumes", _all(callable), "a tuple of functions of the case, such as (separable,)"),
    (
        "history",
        _all(lambda one: callable(getattr(one, "update", None))),
        "a tuple of classes with a method update(self, it)",
    ),
    ("unit", lambda v: isinstance(v, bool), "True or False"),
    ("since", _whole(0), "a whole number, the first t it speaks about"),
    ("goal", callable, "a function of (it, case)"),
    ("waits", lambda v: v is None or callable(v), "a function of (it, case)"),
    (
        "delta",
        lambda v: isinstance(v, int | float | Fraction) and 0 < v < 1,
        "a probability between 0 and 1",
    ),
    ("runs", _whole(1), "a whole number of runs, at least 1"),
)


# --- how a paper declares its statements -----------------------------------------------------


class Method:
    """The solvers that a claim is about, by their names in the registry, and what it assumes."""

    def __init__(self, *solvers: str, assumes: tuple[Assumption, ...] = ()) -> None:
        self.solvers, self.assumes = solvers, assumes


@dataclass(frozen=True)
class Erratum:
    """That a claim is false as printed; see `Statement` for the fields.

    Attributes
    ----------
    severity : str
        "substance", "misprint", "edge case" or "transcription".
    fixed_by, charitable, same_mistake : str or None
        Ids in the same paper, without its key; ".fixed" is that of the claim with this ending.
        Unless it is of substance, the charitable reading is the fixed form by default.
    why, survives : str
        Here, or paragraphs "Why: …" and "Survives: …" of the docstring.
    """

    severity: str
    fixed_by: str | None = None
    charitable: str | None = None
    same_mistake: str | None = None
    why: str = ""
    survives: str = ""


class Claims:
    """The statements of one paper.

    Parameters
    ----------
    key : str
        That of the paper: what its ids begin with.
    source : str
        The paper, as references begin.
    **shared
        Fields that all statements have which do not say otherwise.

    Notes
    -----
    Decorators take the id (without the key), the reference, and then in any order what the claim is
    about: a `Method`, assumptions, an `Erratum`, and classes of sequences that it needs from t = 0
    on (``history``). Other fields of `Statement` are given by name; words, LaTeX and note are those
    of the docstring. One body may have several decorators.
    """

    def __init__(self, key: str, *, source: str = "", **shared: Any) -> None:
        self.key, self.source, self._shared = key, source, shared
        self._about: tuple[Any, ...] = ()

    def sharing(self, *about: Any, **more: Any) -> Claims:
        """The same paper, with a method, assumptions or other fields that statements share."""
        shared = Claims(self.key, source=self.source, **(self._shared | more))
        shared._about = self._about + about
        return shared

    def bound(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """About every iterate: a body ``(it, case)``, or ``(now, before, case)`` from t = 1 on."""
        return self._declare(IterateStatement, identifier, reference, about, given)

    def identity(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """An equation about every iterate."""
        return self.bound(identifier, reference, *about, **({"kind": "identity"} | given))

    def step(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """An equation about every step: a body ``(now, before, case)``, None before w_0."""
        return self.identity(identifier, reference, *about, starts=True, **given)

    def stopping(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """A goal is reached at some t ≤ limit: a body ``(case)`` that returns the limit."""
        return self._declare(StoppingStatement, identifier, reference, about, given)

    def direct(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """About a problem, or about data that it brings itself, the default: ``(case)``."""
        given = {"problems": self._shared.get("problems", ("",))} | given
        return self._declare(DirectStatement, identifier, reference, about, given)

    def probability(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """Holds with probability 1 − δ: ``(case, rng)`` or ``(case, rng, delta)``, one run."""
        return self._declare(RandomisedStatement, identifier, reference, about, given)

    def _declare(
        self,
        kind: type[Statement],
        identifier: str,
        reference: str,
        about: tuple[Any, ...],
        given: dict[str, Any],
    ) -> Declared:
        reference = f"{self.source}, {reference}" if self.source else reference
        fields: dict[str, Any] = {"solvers": (), "assumes": (), "reference": reference}
        for one in self._about + about:
            if isinstance(one, Method):
                fields["solvers"] += one.solvers
                fields["assumes"] += one.assumes
            elif isinstance(one, Erratum):
                fields |= self._false(one, identifier)
            elif isinstance(one, type):
                fields["history"] = (*fields.get("history", ()), one)
            else:
                fields["assumes"] += (one,)
        return declare(kind, self._id(identifier), **(self._shared | fields | given))

    def _false(self, erratum: Erratum, identifier: str) -> dict[str, Any]:
        said = {"status": "refuted"} | {name: text for name, text in vars(erratum).items() if text}
        if erratum.severity != "substance" and erratum.fixed_by is not None:
            said.setdefault("charitable", erratum.fixed_by)
        ids = {"fixed_by", "charitable", "same_mistake"} & said.keys()
        own = {name: identifier if said[name].startswith(".") else "" for name in ids}
        return said | {name: self._id(first + said[name]) for name, first in own.items()}

    def _id(self, identifier: str) -> str:
        return identifier if identifier.startswith(self.key + ".") else f"{self.key}.{identifier}"
