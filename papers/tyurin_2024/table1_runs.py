"""The runs behind Table 1: every n for the first part, twenty subsamples for the other two."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from gammabar.papers.tyurin_2024.lockstep import Method, counts, rows_of
from gammabar.problems import load


def sizes_that_fit(table: dict[tuple[str, float], int], largest: int) -> dict[str, Any]:
    """Every n ≤ `largest` for which all methods need the printed numbers of iterations.

    On the data of Theorem 5.1 there are two rows that differ, (½, −1) once and (½, 1) n − 1 times,
    so that all n are run side by side with two scores each.
    """
    n = np.arange(2, largest + 1, dtype=np.float64)
    fits = np.ones(len(n), dtype=bool)
    found: dict[str, list[int]] = {}
    for (kind, step), printed in table.items():
        first = _first(kind, step, n, printed + 1)
        found[f"{kind}:step={step:g}"] = [int(v) for v in n[first == printed]]
        fits &= first == printed
    every = {name: [values[0], values[-1]] for name, values in found.items() if values}
    return {"largest": largest, "n": [int(v) for v in n[fits]], "each": every}


def _first(kind: str, step: float, n: Any, most: int) -> Any:
    """The first t ≤ most with both scores positive, for each n; most + 1 if there is none."""
    gram = np.array([[1.25, -0.75], [-0.75, 1.25]])
    times = np.stack([np.ones(len(n)), n - 1])
    scores = np.zeros((2, len(n)))
    first = np.full(len(n), most + 1)
    for t in range(most + 1):
        solved = (scores.min(axis=0) > 0) & (first > most)
        first[solved] = t
        sigma = times * expit(-scores)
        scores = scores + gram @ (step * sigma / (n if kind == "lr-gd" else sigma.sum(axis=0)))
    return first


def subsample(spec: str, table: dict[tuple[str, float], int], most: int) -> list[int]:
    """Iterations that the methods of a part of the table need on a subsample, in its order."""
    methods = [Method(kind, step) for kind, step in table]  # type: ignore[arg-type]
    return counts(rows_of(load(spec)), methods, most)
