"""The families of generated problems: names, options, and what is known of them.

All data are integers or dyadic fractions, so they are exact in any format, and all draws are
integer arithmetic on the raw output of PCG64 (`problems.draws`): the same seed gives the same data
on every machine.

Where the truth is known (`Known`) it is a pair (gamma^2, q) of rationals with

    w = A^T q,    gamma^2 = ||w||^2,    <a_i, w> >= gamma^2 for every row i,

which proves that gamma is the maximum margin (q bounds it from above, w / ||w|| attains it), or
A^T q = 0, which proves that nothing separates the data (Gordan).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gammabar.problems.base import Problem
from gammabar.problems.classic import gaussian, inseparable, loss_spike, two_lines, worst_case
from gammabar.problems.degenerate import KINDS, degenerate
from gammabar.problems.extremal import centred, crossed, opposed, orthogonal, staggered
from gammabar.problems.known import Generated, Known
from gammabar.problems.options import (
    SEED,
    Option,
    choice,
    integer,
    parse_options,
    rational,
    switch,
)
from gammabar.problems.planted import duplicated, imbalanced, planted

__all__ = ["FAMILIES", "Family", "Generated", "Known", "generate", "known"]


@dataclass(frozen=True)
class Family:
    """A generator: its name, what it makes, its options, and the function that makes it."""

    name: str
    what: str
    options: tuple[Option, ...]
    build: Callable[..., Generated]


def _size(default: int, what: str = "number of points", low: int = 1) -> Option:
    return Option("n", str(default), what, integer(low))


def _dimension(default: int, low: int = 1) -> Option:
    return Option("d", str(default), "dimension", integer(low))


_GAMMA = Option(
    "gamma", "0.1", "maximum margin divided by the radius, exactly as written", rational(0, 1)
)

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "planted",
            "integer data whose maximum margin is gamma exactly",
            (
                _size(200),
                _dimension(10),
                _GAMMA,
                SEED,
                Option("support", None, "points on the margin (as many as fit)", integer(1)),
                Option("rotate", "1", "hide the best direction by a reflection", switch),
            ),
            planted,
        ),
        Family(
            "worst-case",
            "one point against n - 1 copies of another (Tyurin 2024, Theorem 5.1)",
            (_size(1000, low=2),),
            worst_case,
        ),
        Family(
            "loss-spike",
            "two points on which the loss explodes before it vanishes (Tyurin 2024, Theorem 4.1)",
            (),
            loss_spike,
        ),
        Family(
            "two-lines",
            "points on two lines, norms from 1/r to r (Ramdas and Pena 2015, Section 2.2)",
            (Option("r", "3", "largest norm", rational(1, 10_000)), _size(100, low=4)),
            two_lines,
        ),
        Family(
            "imbalanced",
            "a planted margin, one class ratio times as large by repetition (Tyurin 2024, App. E)",
            (
                _size(200),
                _dimension(10, low=2),
                Option("ratio", "10", "points of class -1 for each of class 1", integer(1)),
                _GAMMA,
                SEED,
            ),
            imbalanced,
        ),
        Family(
            "inseparable",
            "integer data that no hyperplane through the origin separates",
            (_size(200, low=2), _dimension(10), SEED),
            inseparable,
        ),
        Family(
            "gaussian",
            "nearly normal coordinates on a grid of 2^-10, labels random or by a hyperplane",
            (
                _size(200),
                _dimension(10),
                SEED,
                Option("separable", "0", "label by a random hyperplane", switch),
            ),
            gaussian,
        ),
        Family(
            "duplicated",
            "a planted margin, every point several times",
            (
                _size(50, "number of different points", low=2),
                _dimension(10),
                Option("copies", "4", "how many times each occurs", integer(1)),
                _GAMMA,
                SEED,
            ),
            duplicated,
        ),
        Family(
            "degenerate",
            "points in special position",
            (
                Option("kind", "ties", f"one of {', '.join(KINDS)}", choice(*KINDS)),
                _size(8),
                _dimension(8),
                SEED,
            ),
            degenerate,
        ),
        Family(
            "orthogonal",
            "orthogonal rows r e_1, e_2, ..., e_n, the first with the dual weight p",
            (
                _size(10, "number of points, and dimension", low=2),
                Option("p", "0.3", "dual weight of the first row", rational(0, 1)),
            ),
            orthogonal,
        ),
        Family(
            "opposed",
            "copies of (1, r) against one (1, -r): perceptrons cross the axis to and fro",
            (
                Option("r", "10", "distance from the axis", integer(1, 2**20)),
                Option("copies", "3", "how many times (1, r) occurs", integer(1)),
            ),
            opposed,
        ),
        Family(
            "crossed",
            "copies of e_1, and e_2 and -e_2, which alone prove that nothing separates them",
            (Option("copies", "98", "how many times e_1 occurs", integer(1)),),
            crossed,
        ),
        Family(
            "centred",
            "the corners of a regular simplex around the origin, the first several times",
            (
                _size(60, "number of corners, and dimension", low=2),
                Option("copies", "60", "how many times the first occurs", integer(1)),
            ),
            centred,
        ),
        Family(
            "staggered",
            "nearly orthogonal rows, each misclassified by the sum of those before it",
            (
                Option("d", "4", "number of different rows, and dimension", integer(1)),
                Option("r", "16", "their length, nearly", integer(1, 2**20)),
                Option("copies", "32", "how many times the first occurs", integer(1)),
            ),
            staggered,
        ),
    )
}


def generate(name: str, options: str = "") -> Generated:
    """Make a problem of a family, e.g. ``generate("planted", "n=200,d=10,gamma=0.1,seed=0")``."""
    family = FAMILIES[name]
    return family.build(**parse_options(name, options, family.options))


def known(problem: Problem) -> Known | None:
    """What is known of a problem that `gammabar.problems.load` generated; None for any other."""
    found = getattr(problem, "known", None)
    return found if isinstance(found, Known) else None
