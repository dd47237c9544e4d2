"""Iterations against the margin: what Ramdas and Peña (2015) state and do not plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Shown
from gammabar.harness.run.specs import Registered
from gammabar.problems import Problem, from_arrays

METHODS = {
    "Perceptron (Section 2.1)": "perceptron",
    "Normalized Kernel Perceptron (Section 4)": "nkp",
    "Smoothed Normalized Kernel Perceptron (Theorem 1)": "snkp",
}


def hard(r: int) -> tuple[Problem, float]:
    """Unit rows that are hard for both methods, and 1/ρ.

    In a plane, (1, r) three times and (1, −r), divided by their norms: a margin of 1/√(1 + r²),
    for which smoothed steps take long. Orthogonal to it and to each other, 1 + r² further rows:
    a perceptron has to visit each of them. In orthogonal subspaces the 1/ρ² add up.
    """
    n = 1 + r * r
    A = np.zeros((4 + n, 2 + n))
    A[:4, 0], A[:4, 1] = 1 / np.sqrt(n), r / np.sqrt(n)
    A[3, 1] *= -1
    A[4:, 2:] = np.eye(n)
    y = np.where(np.arange(len(A)) % 2, -1, 1)
    return from_arrays(A * y[:, None], y), float(np.sqrt(2 * n))


def _iterations(solver: str, radii: tuple[int, ...]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"n": [], "1/rho": [], "iterations": []}
    for r in radii:
        problem, inverse = hard(r)
        for iterate in Registered(solver).open().iterates(problem, np.random.default_rng(0)):
            if problem.scores(iterate.w).min() > 0:
                found["n"].append(problem.n)
                found["1/rho"].append(inverse)
                found["iterations"].append(float(max(iterate.t, 1)))
                break
    return found


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    radii = (4, 8, 16) if quick else (8, 12, 16, 24, 32, 40)
    return {
        f"iterations of {solver} on two blocks, r = {radii}": partial(_iterations, solver, radii)
        for solver in METHODS.values()
    }


def _curves(numbers: dict[str, Any]) -> dict[str, Any]:
    return {
        label: next(value for name, value in numbers.items() if f" of {solver} " in name)
        for label, solver in METHODS.items()
    }


def _slope(curve: dict[str, list[float]], logarithm: bool) -> float:
    """Of the line through the points on logarithmic axes, against 1/ρ or √(log n)/ρ."""
    x = np.log(curve["1/rho"]) + 0.5 * np.log(np.log(curve["n"])) * logarithm
    return float(np.polyfit(x, np.log(curve["iterations"]), 1)[0])


def _slopes(numbers: dict[str, Any]) -> tuple[float, float, float]:
    classic, slow, fast = _curves(numbers).values()
    return _slope(classic, False), _slope(slow, False), _slope(fast, True)  # as Theorem 1 has it


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
    axes = figure.subplots()
    against = ("1/ρ", "1/ρ", "√(log n)/ρ")
    every = zip(_curves(numbers).items(), _slopes(numbers), against, strict=True)
    for (label, curve), slope, what in every:
        shown = f"{label}: slope {slope:.2f} in {what}"
        axes.loglog(curve["1/rho"], curve["iterations"], marker="o", ms=4, label=shown)
    axes.set(xlabel="1/ρ", ylabel="iterations until the data are separated")
    axes.legend(loc="upper left", fontsize=7)


def _shown(numbers: dict[str, Any]) -> list[Shown]:
    classic, slow, fast = _slopes(numbers)
    last = {label: curve["iterations"][-1] for label, curve in _curves(numbers).items()}
    ends = list(last.values())
    return [
        Shown(
            "the perceptron takes of the order of 1/ρ²", 1.8 < classic < 2.2, f"slope {classic:.2f}"
        ),
        Shown("NKP takes of the order of 1/ρ² iterations", 1.8 < slow < 2.2, f"slope {slow:.2f}"),
        Shown("SNKP takes of the order of √(log n)/ρ", 0.8 < fast < 1.2, f"slope {fast:.2f}"),
        Shown(
            "SNKP is the fastest where the margin is small",
            ends[2] < min(ends[:2]),
            "at the smallest margin: " + ", ".join(f"{v:.0f}" for v in ends),
        ),
    ]


ARTEFACTS = (
    Artefact(
        id="rp.rates",
        reference="Theorem 1 and Section 4",
        title="Iterations of the perceptron, NKP and SNKP against 1/ρ",
        parts=_parts,
        draw=_draw,
        shown=_shown,
    ),
)
