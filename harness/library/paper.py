"""What is said about a paper as a whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Option → values to draw from, for each solver.
Options = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Paper:
    """A source of statements: a paper, a lecture, a conjecture of one's own.

    Attributes
    ----------
    key : str
        What the ids of its statements begin with: "jst" for "jst.thm3.1.1".
    title, authors, venue, url : str
    year : int or None
        None where it is not known.
    text : str
        Which text was transcribed, where there is more than one.
    random : mapping
        The solvers of ``gammabar verify --random``: name → option → values to draw from.
    often : mapping
        How much more often than once a solver is drawn.
    gated : tuple of str
        Ids of statements whose tightness on Algorithm 1 the gate watches.
    """

    key: str
    title: str
    authors: str
    year: int | None = None
    venue: str = ""
    url: str = ""
    text: str = ""
    random: Options = field(default_factory=dict, repr=False)
    often: Mapping[str, int] = field(default_factory=dict, repr=False)
    gated: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.key):
            raise ValueError(
                f"a paper's key is a word of small letters, digits and hyphens, not {self.key!r}"
            )
        if self.key == "oracle":
            raise ValueError("the key 'oracle' is taken: it stands for the checks of the oracle")

    def __str__(self) -> str:
        when = "" if self.year is None else f" ({self.year})"
        return f"{self.authors}{when}, {self.title}"
