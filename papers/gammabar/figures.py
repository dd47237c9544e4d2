"""How much of the bound of gb.sharp Algorithm 1 uses on orthogonal rows.

The run is that of `orthogonal_run`, two numbers whatever n is, in doubles here: the largest n
needs half a million steps. The statement gb.four proves two of the points in balls.

The gap of Algorithm 1 beside Theorem 3.1, the rate without a logarithm, and the lower bound.

On the extremal family of gb.four (the run of `orthogonal_run`, in doubles) and on MNIST. Wang,
Hanashiro, Guha and Abernethy (2023), Theorem 4, were the first to remove the logarithm of t, for
other steps and with the constant 8; gb.sharp has 4 for the steps as printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise, takewhile
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Shown
from gammabar.harness.reproduce import along, logarithmic
from gammabar.papers.gammabar.jst_rates import orthogonal_run
from gammabar.problems import Problem, load

_SIZES = (10, 10**2, 10**3, 10**4, 10**5, 10**6, 10**8)
_DRAWN = (10**2, 10**3, 10**5)


def shares(n: int) -> list[float]:
    """(γ̄ − γ(w_t))·γ̄ t (t+3)/(4 ln n) for t = 1, 2, …, 15√n, with p = 1/ln n."""
    p = 1 / math.log(n)
    gamma = math.sqrt((1 - p) / (n - 1))
    steps = takewhile(
        lambda one: one[0] < 15 * math.sqrt(n) + 1, orthogonal_run(n, gamma / math.sqrt(p))
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
    curve = found if n in _DRAWN else []
    return {"n": n, "best": best, "at": 1 + found.index(best), "limit": limit(n), "curve": curve}


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    sizes = _SIZES[:3] if quick else _SIZES
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


ARTEFACTS: tuple[Artefact, ...] = (
    Artefact(
        id="gb.constant-four",
        reference="papers/gammabar/PROOFS.md, gb.four",
        title="Share of the bound of gb.sharp that Algorithm 1 uses on orthogonal rows",
        parts=_parts,
        draw=_draw,
        shown=_shown,
    ),
)


#: Curves by what they are: measured, bounds from above, and from below.
LABELS = {
    "gap": "γ̄ − γ(w_t), measured",
    "printed": "Theorem 3.1(1): 4(1 + ln n)(1 + 2 ln(t+1))/(γ̄(t+1)²)",
    "wang": "Wang et al. 2023, Theorem 4 (other steps): 8 ln n/(γ̄t(t+1))",
    "sharp": "gb.sharp: 4 ln n/(γ̄t(t+3))",
    "floor": "gb.floor: (H(q̄) − H_∞(q_t))/‖w_t‖",
}


def _rates(n: int, gamma: float, t: int) -> dict[str, float]:
    """The bounds from above."""
    log_n = math.log(n)
    return {
        "printed": 4 * (1 + log_n) * (1 + 2 * math.log(t + 1)) / (gamma * (t + 1) ** 2),
        "wang": 8 * log_n / (gamma * t * (t + 1)),
        "sharp": 4 * log_n / (gamma * t * (t + 3)),
    }


def _orthogonal(n: int, last: int) -> dict[str, Any]:
    """Algorithm 1 on r e_1, e_2, …, e_n with p = 1/ln n, for which q̄ = (p, (1−p)/(n−1), …)."""
    p = 1 / math.log(n)
    gamma = math.sqrt((1 - p) / (n - 1))
    entropy = -p * math.log(p) - (1 - p) * math.log((1 - p) / (n - 1))
    wanted = set(logarithmic(last, 60))
    found: dict[str, list[float]] = {name: [] for name in ("t", *LABELS)}
    for t, margin, norm, largest in orthogonal_run(n, gamma / math.sqrt(p)):
        if t in wanted:
            bounds = _rates(n, gamma, t) | {
                "gap": gamma - margin,
                "floor": (entropy + math.log(largest)) / norm,
            }
            for name, value in (bounds | {"t": t}).items():
                found[name].append(value)
        if t >= last:
            break
    return {"data": f"orthogonal rows, n = {n:,}", "gamma": gamma, **found}


def _on_data(data: str, last: int) -> dict[str, Any]:
    """The same on real data; H(q̄) is that of the exact dual optimum."""
    from gammabar.oracle import solve

    problem = load(data).unit()
    truth = solve(problem)
    weights = np.array([float(v) for v in truth.q])
    weights = weights[weights > 0]
    entropy = float(-(weights * np.log(weights)).sum())

    def measure(space: Problem, w: Any) -> dict[str, float]:
        scores = space.scores(w)
        low, norm = float(scores.min()), space.norm(w)
        least = math.log(float(np.exp(low - scores).sum()))  # H_∞ of the softmax
        return {"gap": truth.gamma - low / norm, "floor": (entropy - least) / norm}

    found = along(problem, "dual-acceleration", logarithmic(last, 30), measure)
    every = [_rates(problem.n, truth.gamma, int(t)) for t in found["t"]]
    bounds = {name: [one[name] for one in every] for name in every[0]}
    return {"data": data, "gamma": truth.gamma, **found, **bounds}


def _parts_rates(quick: bool) -> Mapping[str, Callable[[], Any]]:
    n, data, last = (100, "mnist-sample:0,1", 60) if quick else (10_000, "mnist:0,1", 2000)
    steps = int(30 * math.sqrt(n))
    return {
        f"gap on orthogonal rows, n = {n}, t ≤ {steps}": partial(_orthogonal, n, steps),
        f"gap on {data}, t ≤ {last}": partial(_on_data, data, last),
    }


def _draw_rates(figure: Any, numbers: dict[str, Any]) -> None:
    figure.set_size_inches(8.4, 4.6)
    styles = (
        {"color": "#000000", "ls": "-", "lw": 1.6},
        {"color": "#d55e00", "ls": "--", "lw": 1},
        {"color": "#0072b2", "ls": "-.", "lw": 1},
        {"color": "#009e73", "ls": "-", "lw": 1, "marker": "s", "ms": 3, "markevery": 0.1},
        {"color": "#cc79a7", "ls": ":", "lw": 1.6},
    )
    for axes, found in zip(figure.subplots(1, 2), numbers.values(), strict=True):
        for (name, label), style in zip(LABELS.items(), styles, strict=True):
            seen = [(t, v) for t, v in zip(found["t"], found[name], strict=True) if v > 0]
            if seen:
                axes.loglog(*zip(*seen, strict=True), label=label, **style)
        axes.set(xlabel="t", title=f"{found['data']}; γ̄ = {found['gamma']:.6g}")
    handles = [axes.plot([], [], **style)[0] for style in styles]
    figure.legend(handles, LABELS.values(), loc="outside lower center", ncols=2, fontsize=7)


def _shown_rates(numbers: dict[str, Any]) -> list[Shown]:
    shown = []
    for found in numbers.values():
        pairs = list(
            zip(found["gap"], found["printed"], found["sharp"], found["floor"], strict=True)
        )
        above = all(gap <= sharp <= printed for gap, printed, sharp, _ in pairs)
        room = 1e-9 * found["gamma"]
        below = all(floor <= gap + room for gap, _, _, floor in pairs)
        last = pairs[-1]
        best = max(gap / sharp for gap, _, sharp, _ in pairs)
        shown += [
            Shown(
                f"{found['data']}: gap ≤ gb.sharp ≤ Theorem 3.1(1)",
                above,
                f"the gap is {best:.3g} of gb.sharp at most; at t = {found['t'][-1]:,}"
                f" Theorem 3.1(1) is {last[1] / last[2]:.1f} times gb.sharp",
            ),
            Shown(
                f"{found['data']}: gap ≥ gb.floor",
                below,
                f"at most {max(f / g for g, _, _, f in pairs if g > 0):.3g} of the gap",
            ),
        ]
    return shown


ARTEFACTS += (
    Artefact(
        id="gb.rates",
        reference="papers/gammabar/PROOFS.md, gb.sharp and gb.floor",
        title="Gap of Algorithm 1 beside Theorem 3.1, the rate without a logarithm, and its floor",
        parts=_parts_rates,
        draw=_draw_rates,
        shown=_shown_rates,
        data=("mnist",),
    ),
)
