"""Claims with a probability: a solver that fails with a probability that is known.

Algorithm 2 of Ji, Srebro and Telgarsky (2021) without momentum, written anew:

    i_t ∼ q_t = softmax(−A w_t),   w_{t+1} = w_t + θ a_{i_t}

One that stays at w = 0, whose margin is 0, with probability p before it starts fails the theorems
with probability p at least: p well above their δ must not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import gammabar as gb
from gammabar.solvers import Iterate

from .facts import Trit
from .hearing import as_own, hear, known

#: Claims of a margin after so many steps, and their δ.
MARGINS = {"jst.thm4.1.fixed": 0.5, "gb.sampling": 0.5, "jst.thm4.1.delta": 0.25}
#: What else is proved of a right run.
LEMMAS = ("jst.lemD.1", "jst.lemD.2")


@as_own
@dataclass(frozen=True)
class Solver:
    """Algorithm 2 on a few rows, in doubles."""

    rows: Any = field(compare=False)
    fails: float = 0.0
    step: float = 1.0
    momentum: bool = False

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        rests = rng.random() < self.fails
        w, t = np.zeros(self.rows.shape[1]), 0
        while True:
            scores = self.rows @ w
            q = np.exp(scores.min() - scores)
            sums = np.cumsum(q)
            i = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
            yield Iterate(t, w.copy(), dual=q / sums[-1], extra={"i": i})
            w, t = (w if rests else w + self.step * self.rows[i]), t + 1


def one(seed: int, number: int, tally: Any) -> None:
    """A few rows of norm at most one with a wide margin, and solvers that fail sometimes."""
    rng = np.random.default_rng([seed, number, 8])
    n = int(rng.integers(2, 5))
    raw = np.column_stack([np.ones(n), rng.uniform(-0.35, 0.35, n)])
    labels = np.array([1, -1] * n)[:n]
    problem = gb.from_arrays(raw * labels[:, None], labels)
    rows = raw / np.sqrt((raw**2).sum(axis=1).max())
    tally.trials += 1
    tally.kinds["chance"] += 1
    for fails in (0.0, float(rng.uniform(0.65, 1.0))):
        # Well above δ: that all of 15 runs succeed has a probability below 10⁻⁶ then.
        judges: dict[str, Callable[[], Trit]] = {
            name: partial(known, False if fails > delta + 0.1 else None)
            for name, delta in MARGINS.items()
        }
        if not fails:
            judges |= {name: partial(known, None) for name in LEMMAS}
        where = f"{seed}.{number}: Algorithm 2 on {n} rows, fails {fails:.2f}"
        hear(Solver(rows, fails), problem, judges, not fails, where, tally)
