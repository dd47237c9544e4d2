"""Section 1, Introduction: equation (1)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from gammabar.papers import (
    Case,
    Relation,
    Unclaimed,
    direct,
    fact,
    rationals,
)
from gammabar.papers.ramdas_pena_2015.conventions import SOURCE
from gammabar.papers.ramdas_pena_2015.small_data import dot

#: In a search: w and x, both of norm one.
UNIT_VECTORS = {"w": rationals(-1, 1, shape=("d",)), "x": rationals(-1, 1, shape=("d",))}


def _grid() -> Iterator[tuple[Any, Any]]:
    """Every w and x of a small grid, w of norm one."""
    units = [(1, 0), (0, 1), (-1, 0), (Fraction(3, 5), Fraction(-4, 5))]
    grid = [(a, b) for a in (-1, 0, 2) for b in (-3, 0, 1)]
    return product(units, grid)


def _orientations(case: Case) -> Iterator[tuple[int, Fraction, str]]:
    """Labels and scores."""
    for w, x in case.instances(_grid()):
        if dot(w, w) != 1 or (case.inputs is not None and dot(x, x) != 1):
            raise Unclaimed("w or x is not of norm one")
        for y in (1, -1):
            yield y, Fraction(dot(w, x)), f"w = {_shown(w)}, x = {_shown(x)}, y = {y}"


def _shown(v: Any) -> str:
    return "(" + ", ".join(map(str, v)) + ")"


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


@direct(
    "rp.eq1",
    reference=f"{SOURCE}, equation (1)",
    kind="identity",
    claim=r"y_i(w^\top x_i) \ge 0 \quad\text{i.e.}\quad \operatorname{sign}(w^\top x_i) = y_i",
    problems=("",),
    inputs=UNIT_VECTORS,
    status="refuted",
    fixed_by="rp.eq1.fixed",
    severity="edge case",
    survives="Everything: problem (3), Lemma 1 and all algorithms ask for strict inequalities.",
    why="Only a point on the hyperplane itself tells ≥ from >.",
    charitable="rp.eq1.fixed",
    note="A point on the hyperplane: w = (1, 0), x = (0, 1) has wᵀx = 0, so y wᵀx ≥ 0 for both "
    "labels, but sign(0) is at most one of them, whatever sign(0) is taken to be (here 0).",
    powerless="it is about signs, not about a solver",
)
def eq1(case: Case) -> Iterator[Relation]:
    """For a unit vector w, y_i wᵀx_i ≥ 0 is the same as sign(wᵀx_i) = y_i."""
    for y, score, where in _orientations(case):
        same = (y * score >= 0) == (_sign(score) == y)
        yield fact(same, "y wᵀx ≥ 0 ⟺ sign(wᵀx) = y", where=where)


@direct(
    "rp.eq1.fixed",
    reference=f"{SOURCE}, equation (1), with > in place of ≥",
    kind="identity",
    claim=r"y_i(w^\top x_i) > 0 \quad\text{i.e.}\quad \operatorname{sign}(w^\top x_i) = y_i",
    problems=("",),
    inputs=UNIT_VECTORS,
    powerless="it is about signs, not about a solver",
)
def eq1_fixed(case: Case) -> Iterator[Relation]:
    """For a unit vector w, y_i wᵀx_i > 0 is the same as sign(wᵀx_i) = y_i, with sign(0) = 0."""
    for y, score, where in _orientations(case):
        same = (y * score > 0) == (_sign(score) == y)
        yield fact(same, "y wᵀx > 0 ⟺ sign(wᵀx) = y", where=where)
