"""Section 5 of the lecture: gradient descent on a quadratic stays in the span of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb

import gammabar as gb
from gammabar.solvers import Iterate

from .data import bits, to_double
from .facts import Trit
from .hearing import as_own, hear, known
from .methods import add


@as_own
@dataclass(frozen=True)
class OnQuadratics:
    """Gradient descent on ½wᵀAw − bᵀw, as the court brings it; `away` is added to every w_t."""

    away: float = 0.0

    def iterates(self, f: Any, rng: Any = None) -> Iterator[Iterate]:
        with bits():
            A = [[arb(float(v)) for v in row] for row in f.A]
            b = [arb(float(v)) for v in f.b]
            eta = 2 / (arb(float(f.smoothness)) + arb(float(f.strong_convexity)))
            w = [arb(0)] * len(b)
        t = 0
        while True:
            with bits():
                now = np.array([to_double(v) for v in w])
                now[0] += self.away * (t > 0)
            yield Iterate(t, now)
            with bits():
                gradient = [
                    sum((a * v for a, v in zip(row, w, strict=True)), -b[i])
                    for i, row in enumerate(A)
                ]
                w = add(w, gradient, -eta)
            t += 1


def span(number: str, tally: Any) -> None:
    """One of the court's regressions has one point with three features: a w with more in the
    first of them is no multiple of it."""
    problem = gb.from_arrays(np.eye(2), [1, -1])
    for away in (0.0, 1e-3, -1e-6):
        truth: Trit = False if away else None
        judges: dict[str, Callable[[], Trit]] = {"lec.sec5.span": partial(known, truth)}
        where = f"{number}: in the span, {away:g} away"
        hear(OnQuadratics(away), problem, judges, not away, where, tally)
