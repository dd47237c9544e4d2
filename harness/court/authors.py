"""What is checked of a statement when it is registered, so that its author hears of it at once."""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import fields
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gammabar.harness.court.errors import StatementError
from gammabar.harness.court.verdict import Severity, Status
from gammabar.problems.spelling import did_you_mean

if TYPE_CHECKING:
    from gammabar.harness.court.statement import Statement


def unknown_options(
    identifier: str, kind: type[Statement], body: Any, options: Iterable[str]
) -> None:
    """Refuse options that this type of statement does not have."""
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known)
            raise StatementError.at(identifier, body, f"there is no option {name}; {hint}")


def checked_fields(statement: Statement, kinds: tuple[str, ...]) -> None:
    """Refuse a statement whose fields are not what they must be."""
    for name, (fits, rule) in _RULES.items():
        if hasattr(statement, name) and not fits(getattr(statement, name)):
            value = getattr(statement, name)
            given = f"not {value!r}" if value is not None else "and is missing"
            raise statement.error(f"{name} must be {rule}, {given}")
    if statement.kind not in kinds:
        raise statement.error(f"there is no kind {statement.kind!r}; it is one of {_list(kinds)}")
    if statement.status not in tuple(Status):
        what = f"there is no status {statement.status!r}; it is one of {_list(Status)}"
        raise statement.error(what)
    _checked_severity(statement)
    if statement.status == Status.NOT_REPRODUCIBLE and statement.takes != ("case",):
        raise statement.error("only a statement made with direct can be not reproducible")


def _checked_severity(statement: Statement) -> None:
    """A statement that is refuted says how it is false, and no other one does."""
    if statement.status != Status.REFUTED:
        for name in ("severity", "why", "charitable", "survives"):
            if getattr(statement, name):
                what = f"{name} is for statements that are refuted; this one is {statement.status}"
                raise statement.error(what)
    elif statement.severity not in tuple(Severity):
        given = "missing" if statement.severity is None else f"{statement.severity!r}"
        what = f"it is refuted, so its severity must be one of {_list(Severity)}; it is {given}"
        raise statement.error(what)


def checked_body(statement: Statement) -> None:
    """Refuse a body that cannot be called as it must be, or that never returns anything."""
    body, takes = statement.body, list(statement.takes)
    if isinstance(body, type):
        if "it" not in takes:
            raise statement.error(f"the body must be a function of ({', '.join(takes)})")
        body, takes = getattr(body, "claim", None), ["self", "it"]
        if not callable(body):
            raise statement.error("the class must have a method claim(self, it)")
    if not callable(body):
        raise statement.error(f"the body must be a function of ({', '.join(takes)})")
    try:
        inspect.signature(body).bind(*takes)
    except TypeError:
        raise statement.error(f"the body must take ({', '.join(takes)})") from None
    except ValueError:  # a compiled function has no signature
        return
    rounding = _rounds(body)
    if rounding:
        raise statement.error(
            f"the body uses math.{rounding}, which turns a ball into a double and forgets its"
            " error; use log, sqrt and exp of gammabar.papers"
        )
    if _returns_nothing(body):
        raise statement.error(f"the body returns nothing; end it with return {_example(takes)}")


def _example(takes: list[str]) -> str:
    return "at_most(left, right)" if takes != ["case"] else "what is claimed"


#: They take a ball for its midpoint, without a word.
_ROUNDING = "cbrt cos cosh exp exp2 expm1 fsum hypot log log10 log1p log2 pow sin sinh sqrt tan"


def _rounds(body: Any) -> str:
    """A function of `math` in a body that computes with doubles; "" if there is none."""
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


def _returns_nothing(body: Any) -> bool:
    """Whether a plain function has no way to return anything but None."""
    if not isinstance(body, FunctionType) or inspect.isgeneratorfunction(body):
        return False
    if body.__name__ == "<lambda>":  # it says what it returns
        return False
    before = None
    for step in dis.get_instructions(body):
        if step.opname == "RETURN_VALUE":
            nothing = before is not None and (before.opname, before.argval) == ("LOAD_CONST", None)
            if not nothing:
                return False
        elif step.opname == "RETURN_CONST" and step.argval is not None:
            return False
        before = step
    # A body that only raises has no return at all, and says what it wants to say.
    return any(step.opname.startswith("RETURN_") for step in dis.get_instructions(body))


def _list(values: Iterable[str]) -> str:
    return ", ".join(str(value) for value in values)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


#: What a field must be, as a test and in words.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (
        lambda v: _text(v) and bool(v) and not any(c.isspace() for c in v),
        'a text such as "paper.thm1", without spaces',
    ),
    "reference": (lambda v: _text(v) and bool(v.strip()), 'a text such as "Theorem 3.1"'),
    "kind": (_text, "a text"),
    "claim": (_text, "a text, the LaTeX of the claim"),
    "words": (_text, "a text"),
    "note": (_text, "a text"),
    "why": (_text, "a text"),
    "charitable": (lambda v: v is None or _text(v), "the id of a statement"),
    "survives": (_text, "a text"),
    "instances": (_text, "a text"),
    "powerless": (_text, "a text"),
    "at_rest": (_text, "a text"),
    "solvers": (_texts, 'a tuple of names of solvers, such as ("dual-acceleration",)'),
    "problems": (_texts, 'a tuple of problems, such as ("iris:0,1",), or ("",) for none'),
    "assumes": (
        lambda v: isinstance(v, tuple) and all(callable(one) for one in v),
        "a tuple of functions of the case, such as (separable,)",
    ),
    "history": (
        lambda v: isinstance(v, tuple) and all(callable(getattr(o, "update", None)) for o in v),
        "a tuple of classes with a method update(self, it)",
    ),
    "unit": (lambda v: isinstance(v, bool), "True or False"),
    "since": (_whole(0), "a whole number, the first t it speaks about"),
    "goal": (callable, "a function of (it, case)"),
    "waits": (lambda v: v is None or callable(v), "a function of (it, case)"),
    "delta": (
        lambda v: isinstance(v, int | float) and 0 < v < 1,
        "a probability between 0 and 1",
    ),
    "runs": (_whole(1), "a whole number of runs, at least 1"),
}
