"""The constant of gb.sharp, and the gap of Algorithm 1 beside Theorem 3.1, gb.sharp and gb.floor.

On the extremal family of gb.four (the run of `orthogonal_run`, two numbers whatever n is, in
doubles: the largest n needs half a million steps) and on MNIST. gb.four proves two of the points in
balls.
"""

import math
from collections.abc import Iterator
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Numbers, Parts, Shown
from gammabar.harness.reproduce import along, logarithmic
from gammabar.oracle import solve
from gammabar.papers.gammabar.jst_rates import orthogonal_run
from gammabar.problems import Problem, load

_SIZES = (10, 10**2, 10**3, 10**4, 10**5, 10**6, 10**8)
_DRAWN = (10**2, 10**3, 10**5)


class _Orthogonal:
    """Algorithm 1 on r e_1, e_2, …, e_n with p = 1/ln n, for which q̄ = (p, (1−p)/(n−1), …)."""

    def __init__(self, n: int) -> None:
        self.n, p = n, 1 / math.log(n)
        rest = (1 - p) / (n - 1)
        self.gamma, self.ratio, self.largest = math.sqrt(rest), math.sqrt(rest / p), max(p, rest)
        self.entropy = -p * math.log(p) - (1 - p) * math.log(rest)

    def run(self, last: float) -> Iterator[tuple[int, float, float, float]]:
        """t, γ(w_t), ‖w_t‖ and the largest weight, for t = 1, …, last."""
        return islice(orthogonal_run(self.n, self.ratio), int(last))


# --- gb.constant-four ------------------------------------------------------------------------


def _measured(n: int) -> Numbers:
    """(γ̄ − γ(w_t))·γ̄ t (t+3)/(4 ln n) for t ≤ 15√n, and what is proved for its limit superior."""
    rows, log_n = _Orthogonal(n), math.log(n)
    gamma, steps = rows.gamma, rows.run(15 * math.sqrt(n))
    shares = [(gamma - m) * gamma * t * (t + 3) / (4 * log_n) for t, m, _, _ in steps]
    best, limit = max(shares), (rows.entropy + math.log(rows.largest)) / log_n
    curve = shares if n in _DRAWN else []
    return {"n": n, "best": best, "at": 1 + shares.index(best), "limit": limit, "curve": curve}


def _parts(quick: bool) -> Parts:
    sizes = _SIZES[:3] if quick else _SIZES
    return {f"share of gb.sharp, orthogonal, n = {n}": partial(_measured, n) for n in sizes}


def _draw(figure: Any, numbers: Numbers) -> None:
    found = list(numbers.values())
    left, right = figure.subplots(1, 2)
    for one in found:
        if one["curve"]:
            x = [t / math.sqrt(one["n"]) for t in range(1, len(one["curve"]) + 1)]
            left.plot(x, one["curve"], lw=1, label=f"n = {one['n']:,}")
    left.set(xlabel="t/√n", ylabel="measured/bound of gb.sharp")
    for name, label, style in (
        ("best", "largest, t ≤ 15√n", {"marker": "o", "ms": 4}),
        ("limit", "limit superior ≥ (proved)", {}),
    ):
        values = [one[name] for one in found]
        right.semilogx([one["n"] for one in found], values, label=label, **style)
    right.set(xlabel="n")
    for axes in (left, right):
        axes.set_ylim(0, 1.05)
        axes.legend(loc="lower right", fontsize=8)
        axes.axhline(1, color="black", lw=0.8, ls="-")


def _shown(numbers: Numbers) -> list[Shown]:
    found = list(numbers.values())
    words = ", ".join(f"{one['best']:.4f} at n = {one['n']:,}, t = {one['at']:,}" for one in found)
    rising = all(a["best"] < b["best"] < 1 for a, b in pairwise(found))
    return [Shown("the constant 4 cannot be improved: the share tends to one", rising, words)]


# --- gb.rates --------------------------------------------------------------------------------

#: Curves by what they are: measured, bounds from above, and from below; and how they are drawn.
_CURVES = {
    "gap": ("γ̄ − γ(w_t), measured", {"color": "#000000", "ls": "-", "lw": 1.6}),
    "printed": (
        "Theorem 3.1(1): 4(1 + ln n)(1 + 2 ln(t+1))/(γ̄(t+1)²)",
        {"color": "#d55e00", "ls": "--", "lw": 1},
    ),
    "wang": (
        "Wang et al. 2023, Theorem 4 (other steps): 8 ln n/(γ̄t(t+1))",
        {"color": "#0072b2", "ls": "-.", "lw": 1},
    ),
    "sharp": (
        "gb.sharp: 4 ln n/(γ̄t(t+3))",
        {"color": "#009e73", "ls": "-", "lw": 1, "marker": "s", "ms": 3, "markevery": 0.1},
    ),
    "floor": ("gb.floor: (H(q̄) − H_∞(q_t))/‖w_t‖", {"color": "#cc79a7", "ls": ":", "lw": 1.6}),
}


def _with_rates(data: str, n: int, gamma: float, found: Numbers) -> Numbers:
    """What was found along a run, with the bounds from above."""
    t, log_n = np.array(found["t"], dtype=float), math.log(n)
    bounds = {
        "printed": 4 * (1 + log_n) * (1 + 2 * np.log(t + 1)) / (gamma * (t + 1) ** 2),
        "wang": 8 * log_n / (gamma * t * (t + 1)),
        "sharp": 4 * log_n / (gamma * t * (t + 3)),
    }
    every = {name: values.tolist() for name, values in bounds.items()}
    return {"data": data, "gamma": gamma, **found, **every}


def _orthogonal(n: int, last: int) -> Numbers:
    rows, wanted = _Orthogonal(n), set(logarithmic(last, 60))
    found: dict[str, list[float]] = {"t": [], "gap": [], "floor": []}
    for t, margin, norm, largest in rows.run(last):
        if t in wanted:
            found["t"].append(t)
            found["gap"].append(rows.gamma - margin)
            found["floor"].append((rows.entropy + math.log(largest)) / norm)
    return _with_rates(f"orthogonal rows, n = {n:,}", n, rows.gamma, found)


def _on_data(data: str, last: int) -> Numbers:
    """The same on real data; H(q̄) is that of the exact dual optimum."""
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
    return _with_rates(data, problem.n, truth.gamma, found)


def _parts_rates(quick: bool) -> Parts:
    n, data, last = (100, "mnist-sample:0,1", 60) if quick else (10_000, "mnist:0,1", 2000)
    steps = int(30 * math.sqrt(n))
    return {
        f"gap on orthogonal rows, n = {n}, t ≤ {steps}": partial(_orthogonal, n, steps),
        f"gap on {data}, t ≤ {last}": partial(_on_data, data, last),
    }


def _draw_rates(figure: Any, numbers: Numbers) -> None:
    figure.set_size_inches(8.4, 4.6)
    for axes, found in zip(figure.subplots(1, 2), numbers.values(), strict=True):
        for name, (_, style) in _CURVES.items():
            seen = [(t, v) for t, v in zip(found["t"], found[name], strict=True) if v > 0]
            if seen:
                axes.loglog(*zip(*seen, strict=True), **style)
        axes.set(xlabel="t", title=f"{found['data']}; γ̄ = {found['gamma']:.6g}")
    handles = [axes.plot([], [], label=label, **style)[0] for label, style in _CURVES.values()]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=7)


def _shown_rates(numbers: Numbers) -> list[Shown]:
    shown = []
    for found in numbers.values():
        names = ("gap", "printed", "sharp", "floor")
        gap, printed, sharp, floor = (np.array(found[name]) for name in names)
        positive = gap > 0
        shown += [
            Shown(
                f"{found['data']}: gap ≤ gb.sharp ≤ Theorem 3.1(1)",
                bool((gap <= sharp).all() and (sharp <= printed).all()),
                f"the gap is {max(gap / sharp):.3g} of gb.sharp at most; at t = {found['t'][-1]:,}"
                f" Theorem 3.1(1) is {printed[-1] / sharp[-1]:.1f} times gb.sharp",
            ),
            Shown(
                f"{found['data']}: gap ≥ gb.floor",
                bool((floor <= gap + 1e-9 * found["gamma"]).all()),
                f"at most {max(floor[positive] / gap[positive]):.3g} of the gap",
            ),
        ]
    return shown


ARTEFACTS = (
    Artefact(
        "gb.constant-four",
        "papers/gammabar/PROOFS.md, gb.four",
        "Share of the bound of gb.sharp that Algorithm 1 uses on orthogonal rows",
        _parts,
        _draw,
        _shown,
    ),
    Artefact(
        "gb.rates",
        "papers/gammabar/PROOFS.md, gb.sharp and gb.floor",
        "Gap of Algorithm 1 beside Theorem 3.1, the rate without a logarithm, and its floor",
        _parts_rates,
        _draw_rates,
        _shown_rates,
        data=("mnist",),
    ),
)
