"""How much of the bound of gb.sharp Algorithm 1 uses on orthogonal rows: docs/constant-four.svg.

    python docs/figure_constant_four.py

The run is that of papers/gammabar/orthogonal_rows.py, two numbers whatever n is, in doubles here:
the largest n needs half a million steps. The statement gb.four proves two of the points in balls.
"""

from __future__ import annotations

import math
from itertools import count
from pathlib import Path

import matplotlib.pyplot as plt

SIZES = (10, 10**2, 10**3, 10**4, 10**5, 10**6, 10**8)


def shares(n: int) -> list[float]:
    """(γ̄ − γ(w_t))·γ̄ t (t+3)/(4 ln n) for t = 1, 2, …, 15√n, with p = 1/ln n."""
    p = 1 / math.log(n)
    gamma = math.sqrt((1 - p) / (n - 1))
    r = gamma / math.sqrt(p)
    first = other = g_first = g_other = 0.0
    found: list[float] = []
    for t in count():
        ratio = math.exp(-abs(other - r * first))
        one = 1 / (ratio + n - 1) if r * first > other else 1 / (1 + (n - 1) * ratio)
        pull, pulls = (r * ratio * one, one) if r * first > other else (r * one, ratio * one)
        beta = t / (t + 1)
        g_first, g_other = beta * (g_first + pull), beta * (g_other + pulls)
        first, other = first + g_first + pull, other + g_other + pulls
        margin = min(r * first, other) / math.hypot(first, math.sqrt(n - 1) * other)
        t += 1
        found.append((gamma - margin) * gamma * t * (t + 3) / (4 * math.log(n)))
        if t >= 15 * math.sqrt(n):
            return found


def limit(n: int) -> float:
    """(H(q̄) − H_∞(q̄))/ln n: what the proof gives for the limit superior over t."""
    p = 1 / math.log(n)
    entropy = -p * math.log(p) - (1 - p) * math.log((1 - p) / (n - 1))
    return (entropy - math.log(1 / max(p, (1 - p) / (n - 1)))) / math.log(n)


def main() -> None:
    """Draw it."""
    plt.rcParams.update({"svg.hashsalt": "gammabar", "font.size": 9})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    best = []
    for n in SIZES:
        found = shares(n)
        best.append(max(found))
        print(f"n = {n}: {max(found):.4f} at t = {1 + found.index(max(found))}")
        if n in (10**2, 10**3, 10**5):
            x = [t / math.sqrt(n) for t in range(1, len(found) + 1)]
            left.plot(x, found, lw=1, label=f"n = {n:,}")
    left.axhline(1, color="black", lw=0.8)
    left.set(xlabel="t/√n", ylabel="measured/bound of gb.sharp", ylim=(0, 1.05))
    left.legend(loc="lower right")
    right.semilogx(SIZES, best, "o-", ms=4, lw=1, label="largest over t ≤ 15√n")
    right.semilogx(SIZES, [limit(n) for n in SIZES], "--", lw=1, label="limit superior ≥ (proved)")
    right.axhline(1, color="black", lw=0.8)
    right.set(xlabel="n", ylim=(0, 1.05))
    right.legend(loc="lower right")
    place = Path(__file__).with_name("constant-four.svg")
    figure.savefig(place, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
