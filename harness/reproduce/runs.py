"""Runs for figures: a quantity along the iterates of a solver, at some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gammabar.harness.run.solver_ref import Registered
from gammabar.problems import Problem


def logarithmic(last: int, each_decade: int = 20) -> list[int]:
    """Some of 1, 2, …, last, as many in each decade."""
    count = max(2, int(each_decade * np.log10(max(last, 2))))
    return sorted({round(t) for t in np.geomspace(1, last, count)})


def along(
    problem: Problem,
    solver: str,
    times: list[int],
    measure: Callable[[Problem, Any], dict[str, float]],
    seed: int = 0,
) -> dict[str, list[float]]:
    """What `measure` says of w_t at these times, as lists with the times themselves as "t"."""
    found: dict[str, list[float]] = {"t": []}
    wanted = set(times)
    opened = Registered(solver).open()
    for iterate in opened.iterates(problem, np.random.default_rng(seed)):
        if iterate.t in wanted:
            found["t"].append(iterate.t)
            for name, value in measure(problem, iterate.w).items():
                found.setdefault(name, []).append(float(value))
        if iterate.t >= times[-1]:
            break
    return found
