"""Draws docs/margins.svg: distance to the exact maximum margin, against the printed bounds.

python docs/figure_margins.py
"""

from __future__ import annotations

from itertools import islice
from math import log
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gammabar.oracle import solve
from gammabar.problems import load
from gammabar.solvers import (
    DualAcceleration,
    GradientDescent,
    HardMarginAscent,
    NormalizedGradientDescent,
)

DATA, STEPS = "mnist-sample:0,1", 3000
METHODS = {
    "Algorithm 1 (dual acceleration)": DualAcceleration(),
    "normalised gradient descent": NormalizedGradientDescent(),
    "batch perceptron (Cotter et al.)": HardMarginAscent(),
    "gradient descent": GradientDescent(),
}


def main() -> None:
    """Run every method and draw γ̄ − γ(w_t) on logarithmic axes."""
    problem = load(DATA)
    truth = solve(problem)
    unit, gamma, n = problem.unit(), truth.gamma, problem.n
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "gammabar", "svg.fonttype": "path"})
    figure, axes = plt.subplots(figsize=(8, 4.2))
    for name, method in METHODS.items():
        run = islice(method.iterates(unit), 1, STEPS + 1)
        gaps = np.array([gamma - it.margin for it in run])
        axes.loglog(np.arange(1, STEPS + 1), gaps, label=name, lw=1.6)
    t = np.arange(1.0, STEPS + 1)
    printed = 4 * (1 + log(n)) * (1 + 2 * np.log(t + 1)) / (gamma * (t + 1) ** 2)
    axes.loglog(t, printed, "k--", lw=1, label="Theorem 3.1(1), as printed")
    axes.loglog(
        t,
        4 * log(n) / (gamma * t * (t + 3)),
        "k:",
        lw=1.2,
        label="gb.sharp, our own bound",
    )
    axes.set(xlabel="iterations t", ylabel="γ̄ − γ(w_t)", xlim=(1, STEPS), ylim=(1e-5, 10))
    axes.set_title(
        f"MNIST 0/1 (embedded sample), γ̄ = {truth.digits(12)}… exactly known", fontsize=11
    )
    axes.grid(alpha=0.3, which="major")
    axes.legend(fontsize=8.5, frameon=False, ncols=2, loc="lower left")
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("margins.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
