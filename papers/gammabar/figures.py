"""How much of the bound of gb.sharp Algorithm 1 uses on orthogonal rows.

The run is that of `orthogonal_rows`, two numbers whatever n is, in doubles here: the largest n
needs half a million steps. The statement gb.four proves two of the points in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise, takewhile
from typing import Any

from gammabar.harness.library import Artefact, Shown
from gammabar.papers.gammabar.orthogonal_run import two_numbers

SIZES = (10, 10**2, 10**3, 10**4, 10**5, 10**6, 10**8)
DRAWN = (10**2, 10**3, 10**5)


def shares(n: int) -> list[float]:
    """(γ̄ − γ(w_t))·γ̄ t (t+3)/(4 ln n) for t = 1, 2, …, 15√n, with p = 1/ln n."""
    p = 1 / math.log(n)
    gamma = math.sqrt((1 - p) / (n - 1))
    steps = takewhile(
        lambda one: one[0] < 15 * math.sqrt(n) + 1, two_numbers(n, gamma / math.sqrt(p))
    )
    return [(gamma - margin) * gamma * t * (t + 3) / (4 * math.log(n)) for t, margin, _, _ in steps]


def limit(n: int) -> float:
    """(H(q̄) − H_∞(q̄))/ln n: what the proof gives for the limit superior over t."""
    p = 1 / math.log(n)
    entropy = -p * math.log(p) - (1 - p) * math.log((1 - p) / (n - 1))
    return (entropy - math.log(1 / max(p, (1 - p) / (n - 1)))) / math.log(n)


def _measured(n: int) -> dict[str, Any]:
    found = shares(n)
    best = max(found)
    curve = found if n in DRAWN else []
    return {"n": n, "best": best, "at": 1 + found.index(best), "limit": limit(n), "curve": curve}


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    sizes = SIZES[:3] if quick else SIZES
    return {f"share of gb.sharp, orthogonal, n = {n}": partial(_measured, n) for n in sizes}


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
    found = list(numbers.values())
    left, right = figure.subplots(1, 2)
    for one in found:
        if one["curve"]:
            x = [t / math.sqrt(one["n"]) for t in range(1, len(one["curve"]) + 1)]
            left.plot(x, one["curve"], lw=1, label=f"n = {one['n']:,}")
    left.set(xlabel="t/√n", ylabel="measured/bound of gb.sharp", ylim=(0, 1.05))
    left.legend(loc="lower right", fontsize=8)
    sizes = [one["n"] for one in found]
    right.semilogx(
        sizes, [one["best"] for one in found], marker="o", ms=4, label="largest, t ≤ 15√n"
    )
    right.semilogx(sizes, [one["limit"] for one in found], label="limit superior ≥ (proved)")
    right.set(xlabel="n", ylim=(0, 1.05))
    right.legend(loc="lower right", fontsize=8)
    for axes in (left, right):
        axes.axhline(1, color="black", lw=0.8, ls="-")


def _shown(numbers: dict[str, Any]) -> list[Shown]:
    found = list(numbers.values())
    words = ", ".join(f"{one['best']:.4f} at n = {one['n']:,}, t = {one['at']:,}" for one in found)
    rising = all(a["best"] < b["best"] < 1 for a, b in pairwise(found))
    return [Shown("the constant 4 cannot be improved: the share tends to one", rising, words)]


ARTEFACTS = (
    Artefact(
        id="gb.constant-four",
        reference="docs/own-results.md, gb.four",
        title="Share of the bound of gb.sharp that Algorithm 1 uses on orthogonal rows",
        parts=_parts,
        draw=_draw,
        shown=_shown,
    ),
)
