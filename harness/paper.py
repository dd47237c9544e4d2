"""What a paper may bring besides statements: figures and tables, and wrong solvers."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gammabar.solvers.base import from_function, solver

#: Numbers, texts, lists and dictionaries of them: what JSON holds.
Numbers: TypeAlias = Any
#: What has to be computed, by names that say all it depends on.
Parts: TypeAlias = Mapping[str, Callable[[], Numbers]]


class Shown(NamedTuple):
    """Something that the source shows or says, and what was found."""

    claim: str
    agrees: bool | None  #: None where the source does not say enough to tell
    found: str
    ours: bool = False  #: whether it is a check of our own and not a comparison with the source


@dataclass(frozen=True)
class Artefact:
    """A figure or a table; the `ARTEFACTS` of a module of a paper are a tuple of these."""

    id: str  #: the paper's key and its number: "jst.fig1"
    reference: str
    title: str
    #: ``(quick)``: what has to be computed; what artefacts share has one name.
    parts: Callable[[bool], Parts]
    #: ``(figure, numbers)``: draws on a matplotlib figure; `numbers` are those of the parts.
    draw: Callable[[Any, dict[str, Numbers]], None]
    #: ``(numbers)``: what the source shows, beside what was found.
    shown: Callable[[dict[str, Numbers]], list[Shown]]
    data: tuple[str, ...] = ()  #: data sets that it needs, by name
    cost: str = ""  #: expected time and memory, where ``measured.json`` does not have it yet
    package: tuple[str, str] | None = None  #: an optional package that it needs, and its extra


Rng: TypeAlias = np.random.Generator | None


@dataclass(frozen=True)
class Mutant:
    """A solver with one wrong line."""

    name: str  #: solver and what is wrong, e.g. "dual-acceleration/momentum-index-shifted"
    family: str  #: the source of the algorithm: "jst", "tyurin", "rp" or "lec"
    solver: str  #: registry name of the right solver
    make: Callable[[], Any]  #: returns the wrong solver
    wrong: str  #: one sentence: what is wrong, and why it matters
    #: Where it is the right solver after all: why no iterate changes, or on which problems only.
    equivalent: str | None = None


class Family:
    """The mutants of one source; `module` is the one that they are defined in."""

    def __init__(self, name: str, module: str = "") -> None:
        self.name, self.module = name, module
        self.mutants: list[Mutant] = []

    def edit(
        self,
        base: Any,
        name: str,
        what: str,
        because: str,
        changes: Mapping[str, str],
        equivalent: str | None = None,
        **options: Any,
    ) -> None:
        """Register `base` with wrong lines: old text of its methods → new text.

        `name` is what is wrong in a few words joined by hyphens, `what` says it in a clause, and
        `because` why it matters; `options` are the hyper-parameters that it is made with. New lines
        may use what the module of the mutants has imported or defined. Of a generator function in
        the file of a paper, a line of its own is changed.
        """
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            raise ValueError(f"{name!r} is not a kebab-case name")
        make: Callable[[], Any]
        if isinstance(base, FunctionType):
            solver, wrong = f"{self.name}.{base.__name__}", _edited_function(base, changes)
            make = partial(from_function, wrong, **options)
        else:
            known = vars(sys.modules[self.module])
            own = "_" + base.__name__ + "".join(part.title() for part in name.split("-"))
            body = _edited(base, changes, vars(sys.modules[base.__module__]) | known)
            told = {"__doc__": f"{what}.", "__module__": self.module}
            known[own] = type(own, (base,), body | told)
            solver, make = base.card.name, partial(known[own], **options)
        text = " ".join(f"{what}: {because}.".split())
        made = Mutant(f"{solver}/{name}", self.name, solver, make, text, equivalent)
        self.mutants.append(made)

    def patches(self, text: str, **options: Any) -> None:
        """Register mutants of solvers of the library, each written as a patch (see `edit`)::

            solver/name: What is wrong: why it matters.
                old text → new text
                only: where it is the right solver after all

        Long new text stands on lines of its own that begin with the arrow, one for each statement.
        """
        for block in re.findall(r"(?:^\S.*\n)+(?:^ .*\n)+", text, re.MULTILINE):
            lines, equivalent, old = block.splitlines(), None, ""
            changes: dict[str, str] = {}
            head = " ".join(line for line in lines if line[0] != " ")
            name, what, because = head.removesuffix(".").split(": ", 2)
            for line in (line.strip() for line in lines if line[0] == " "):
                if line.startswith("only: "):
                    equivalent = line.removeprefix("only: ")
                elif line.startswith("→"):
                    changes[old] = f"{changes[old]}; {line[2:]}".removeprefix("; ")
                else:
                    old, _, changes[old] = line.partition(" → ")
            base, _, name = name.partition("/")
            self.edit(solver(base), name, what, because, changes, equivalent, **options)


def _edited_function(base: FunctionType, changes: Mapping[str, str]) -> Any:
    """A function in which some text is replaced by another one."""
    text = _source(base)
    for old, new in changes.items():
        if old not in text:
            raise ValueError(f"{base.__name__} does not have the text {old!r}")
        text = text.replace(old, new)
    return _again(base, text, vars(sys.modules[base.__module__]))


def _edited(base: type, changes: Mapping[str, str], names: dict[str, Any]) -> dict[str, Any]:
    """The methods of a class in which some text is replaced by another one.

    Text that stands in no method is replaced in the functions of the module that the class is in.
    """
    home = base.__module__
    own, helpers = (
        {
            name: f
            for name, f in inspect.getmembers(place, inspect.isfunction)
            if f.__module__ == home
        }
        for place in (base, sys.modules[home])
    )
    texts: dict[Any, str] = {}
    for old, new in changes.items():
        for group in (own, helpers):
            here = {f: texts.get(f) or _source(f) for f in group.values()}
            if having := {f: text.replace(old, new) for f, text in here.items() if old in text}:
                break
        else:
            raise ValueError(f"no method of {base.__name__} has the text {old!r}")
        texts |= having
    names |= {name: _again(f, texts.get(f), names) for name, f in helpers.items()}
    return {name: _again(f, texts.get(f), names) for name, f in own.items()}


@cache
def _source(f: Any) -> str:
    """The text of a function; "" of one that was made without a text, as dataclasses do."""
    written = f.__code__.co_filename == sys.modules[f.__module__].__file__
    return textwrap.dedent(inspect.getsource(f)) if written else ""


def _again(f: Any, text: str | None, names: dict[str, Any]) -> Any:
    """A function with other globals, and made of another text, if there is one."""
    if text is None:
        again = FunctionType(f.__code__, names, f.__name__, f.__defaults__, f.__closure__)
        again.__kwdefaults__ = f.__kwdefaults__
        return again
    found: dict[str, Any] = {}
    exec(compile(text, f"<mutant of {f.__qualname__}>", "exec"), names, found)
    return found[f.__name__]


def cost(seconds: float, cpu: float, memory: int) -> str:
    """What an artefact takes.

    Examples
    --------
    >>> cost(83.2, 41.3, 412_000_000), cost(1500, 900, 2_340_000_000)
    ('83 s (41 s of processor time), 0.41 GB', '25 min (15 min of processor time), 2.34 GB')
    """
    return f"{_time(seconds)} ({_time(cpu)} of processor time), {memory / 1e9:.2f} GB"


def _time(seconds: float) -> str:
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
