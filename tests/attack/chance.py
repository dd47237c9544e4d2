"""What Ji, Srebro and Telgarsky (2021) claim of Algorithm 2 with some probability.

The court runs the solver by itself, as often and as long as it says. A right one draws its rows in
plain doubles; one that stays at 0, and one that goes the other way, are wrong for certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_statement
from gammabar.solvers import Iterate

from .data import Data, to_double
from .facts import Facts

#: Below this γ̄ runs are too long.
LEAST = 0.6
#: What is asked, the steps of a run in units of γ̄⁻⁴, and how many runs are made of it.
ASKED = {
    "jst.thm4.1": (180, 16),
    "jst.thm4.1.fixed": (450, 15),
    "jst.thm4.1.delta": (640, 35),
    "jst.thm4.1.tenth": (900, 95),
    "gb.sampling": (150, 15),
    "jst.lemD.1": (8, 40),
    "jst.lemD.2": (8, 40),
}
MOST = 90_000


@dataclass(frozen=True)
class Sampler:
    """Algorithm 2 without momentum, `turn` times as it should be: 1 is right."""

    rows: np.ndarray = field(repr=False)  # in the space of w
    products: np.ndarray = field(repr=False)
    turn: float = 1.0
    step: float = 1.0
    momentum: bool = False

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        w, scores, t = np.zeros(self.rows.shape[1]), np.zeros(len(self.rows)), 0
        while True:
            raw = np.exp(scores.min() - scores)
            sums = np.cumsum(raw)
            i = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
            yield Iterate(t, self.turn * w, dual=raw / sums[-1], extra={"i": i})
            w = w + self.step * self.rows[i]
            scores = scores + self.step * self.products[i]
            t += 1


def _sampler(data: Data, turn: float) -> Sampler:
    scale = arb(data.radius_squared)
    products = np.array([[to_double(arb(v) / scale) for v in row] for row in data.gram])
    units = [[int(i == j) for j in range(data.n)] for i in range(data.n)]
    rows = np.array([[to_double(v) for v in data.combine(one, True)] for one in units])
    return Sampler(rows, products, turn)


def _smoothed_margin(f: Facts) -> bool | None:
    """Lemma D.1 with δ = 1/2 and ε = 4γ̄ of w_t = 0: Σ_j θ ‖Aᵀq_0‖² + ln n ≤ …"""
    epsilon = arb(round(float(4 * f.gamma) * 256)) / 256
    entropy = (32 * f.log_n + 64 * arb(4).log()) / (f.gamma_squared * epsilon**2)
    steps = entropy.ceil().max((64 / epsilon**2).ceil())
    left = (steps * f.log_n).sqrt() * f.squared(f.pull[0]) + f.log_n
    right = 2 * f.log_n + (8 * arb(4).log() * f.log_n).sqrt()
    return True if left <= right else False if left > right else None


def truths(f: Facts, turn: float) -> dict[str, bool | None]:
    """What is certain of a solver that is wrong; of two rows or more."""
    margins = dict.fromkeys((name for name in ASKED if not name.startswith("jst.lemD")), False)
    if turn:
        return {**margins, "jst.lemD.1": None, "jst.lemD.2": None}
    return {**margins, "jst.lemD.1": _smoothed_margin(f), "jst.lemD.2": False}


def by_chance(
    data: Data, rng: np.random.Generator
) -> Iterator[tuple[str, str, bool | None, bool, str]]:
    """Statement, what is said of it, its truth, whether the solver is right, and which it is."""
    f = Facts(data, True, [[0.0] * data.dimension], [{}])
    if not f.separable or float(arb(f.gamma)) < LEAST or data.n < 2:
        return
    power = float(f.gamma) ** 4
    asked = [name for name, (steps, runs) in ASKED.items() if steps * runs / power < MOST]
    for turn in (1.0, float(rng.choice([0.0, -1.0]))):
        known = truths(f, turn) if turn <= 0 else {}
        # Not by ``gb.verify``: it wraps what it is given, and the step of that cannot be set.
        case = Case(data.problem, _sampler(data, turn), unit=True, seed=int(rng.integers(2**31)))
        for name in asked:
            said = str(check_statement(load_statements()[name], case).verdict)
            yield name, said, known.get(name), turn == 1, f"turn {turn:g}"
