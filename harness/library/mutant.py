"""What a mutant is, and how the modules of this package register theirs."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

Rng: TypeAlias = np.random.Generator | None
_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class Mutant:
    """A solver with one wrong line.

    Attributes
    ----------
    name : str
        Name of the solver and what is wrong, e.g. "dual-acceleration/momentum-index-shifted".
    family : str
        The source of the algorithm: "jst", "tyurin", "rp" or "lec".
    solver : str
        Registry name of the solver that it is a mutant of.
    make : callable
        Takes nothing and returns the wrong solver.
    wrong : str
        One sentence: what is wrong, and why it matters.
    equivalent : str or None
        Where it is the right solver after all: the reason why no iterate changes, or on which
        problems only. None if it goes wrong on ordinary data.
    """

    name: str
    family: str
    solver: str
    make: Callable[[], Any]
    wrong: str
    equivalent: str | None = None


class Family:
    """The mutants of one source; `mutant` registers a class."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.mutants: list[Mutant] = []

    def mutant(
        self, name: str, because: str, equivalent: str | None = None, **options: Any
    ) -> Callable[[_Class], _Class]:
        """Register a class whose docstring says what is wrong.

        Parameters
        ----------
        name : str
            What is wrong, in a few words joined by hyphens.
        because : str
            Why it matters: the sentence of the docstring goes on with it.
        equivalent : str, optional
            See `Mutant`.
        **options
            Hyper-parameters with which it is made.
        """
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            raise ValueError(f"{name!r} is no kebab-case name")

        def register(cls: _Class) -> _Class:
            what = " ".join((inspect.getdoc(cls) or "").split()).removesuffix(".")
            solver = cls.card.name  # type: ignore[attr-defined]
            mutant = Mutant(
                f"{solver}/{name}",
                self.name,
                solver,
                partial(cls, **options),
                f"{what}: {because}.",
                equivalent,
            )
            self.mutants.append(mutant)
            return cls

        return register

    def variant(
        self,
        base: type,
        name: str,
        what: str,
        because: str,
        equivalent: str | None = None,
        options: Mapping[str, Any] | None = None,
        **methods: Any,
    ) -> None:
        """Register `base` with some of its methods replaced by wrong ones.

        The other arguments are those of `mutant`; `what` is the docstring of the class.
        """
        known = vars(sys.modules[base.__module__])
        own = base.__name__ + "".join(part.title() for part in name.split("-"))
        body = methods | {"__doc__": f"{what}.", "__module__": base.__module__}
        known[own] = type(own, (base,), body)  # found there when it is unpickled
        self.mutant(name, because, equivalent, **options or {})(known[own])
