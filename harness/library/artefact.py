"""Artefacts: figures and tables of a paper, as something that can be made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

#: Numbers, texts, lists and dictionaries of them: what JSON holds.
Numbers: TypeAlias = Any


class Shown(NamedTuple):
    """Something that the source shows or says, and what was found.

    Attributes
    ----------
    claim : str
    agrees : bool or None
        None where the source does not say enough to tell.
    found : str
    """

    claim: str
    agrees: bool | None
    found: str


@dataclass(frozen=True)
class Artefact:
    """A figure or a table; the `ARTEFACTS` of a module of a paper are a tuple of these.

    Attributes
    ----------
    id : str
        The paper's key and its number: "jst.fig1".
    reference, title : str
    parts : callable
        ``(quick)``: what has to be computed, by names that say all it depends on. Each part is a
        function without arguments that returns numbers; what artefacts share has one name.
    draw : callable
        ``(figure, numbers)``: draws on a matplotlib figure; `numbers` are those of the parts.
    shown : callable
        ``(numbers)``: what the source shows, beside what was found.
    data : tuple of str
        Data sets that it needs, by name.
    cost : str
        Time and memory that it is expected to take, where ``measured.json`` does not say it yet.
    package : (str, str), optional
        A package that it needs beside those that are always there, and the extra that has it.
    """

    id: str
    reference: str
    title: str
    parts: Callable[[bool], Mapping[str, Callable[[], Numbers]]]
    draw: Callable[[Any, dict[str, Numbers]], None]
    shown: Callable[[dict[str, Numbers]], list[Shown]]
    data: tuple[str, ...] = ()
    cost: str = ""
    package: tuple[str, str] | None = None
