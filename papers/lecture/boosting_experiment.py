"""AdaBoost with decision stumps on two digits: errors, losses and margins, round by round."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from gammabar.harness.reproduce.held_out import held_out_images
from gammabar.harness.reproduce.runs import logarithmic
from gammabar.papers.lecture.stump_margin import stump_margin
from gammabar.problems import DenseProblem, load
from gammabar.solvers import AdaBoost

FULL, QUICK = "mnist:3,8:n=1000,seed=0", "mnist-sample:3,8, every fifth point"
#: Margins are shown after these rounds, and after the last.
ROUNDS = (5, 100)


def points(data: str) -> tuple[DenseProblem, Any, Any]:
    """What is learned from, and points and labels for the test."""
    if data == QUICK:
        problem: Any = load("mnist-sample:3,8")
        X, y = np.asarray(problem.X), np.asarray(problem.y)
        kept = np.arange(len(y)) % 5 == 0
        return DenseProblem(X[kept], y[kept]), X[~kept], y[~kept]
    train: Any = load(data)
    return train, *held_out_images("mnist-test", (3, 8))


def boosting(data: str, rounds: int) -> dict[str, Any]:
    """Errors, mean of exp(−y H(x)) and smallest margin at some rounds; margins at a few."""
    problem, X, y = points(data)
    value = np.zeros(len(y))
    wanted = set(logarithmic(rounds, 40))
    found: dict[str, Any] = {"t": [], "train": [], "test": [], "exponential": [], "margin": []}
    margins: dict[str, list[float]] = {}
    above, perfect = True, None
    for vote in islice(AdaBoost().iterates(problem), 1, rounds + 1):
        vote_now: Any = vote
        value += vote_now.w[-1] * vote_now.hypotheses[-1](X)
        losses = np.exp(-vote_now.scores)
        above = above and vote_now.error <= losses.mean() * (1 + 1e-9)
        if perfect is None and vote_now.error == 0:
            perfect = vote_now.t
        if vote_now.t in wanted or vote_now.t == perfect:
            found["t"].append(vote_now.t)
            found["train"].append(vote_now.error)
            found["test"].append(float(np.mean(y * value <= 0)))
            found["exponential"].append(float(losses.mean()))
            found["margin"].append(float(vote_now.margin))
        if vote_now.t in (*ROUNDS, rounds):
            ordered = np.sort(vote_now.scores / vote_now.norm)
            margins[str(vote_now.t)] = ordered.tolist()
    return {
        "n": problem.n,
        "tested": len(y),
        "perfect": perfect,
        "above": bool(above),
        "margins": margins,
        **found,
    }


def largest_margin(data: str, rounds: int) -> dict[str, Any]:
    """The exact ℓ₁ margin of all stumps, from those of AdaBoost on."""
    problem, _, _ = points(data)
    vote: Any = next(islice(AdaBoost().iterates(problem), rounds, None))
    found = stump_margin(np.asarray(problem.X), problem.y, vote.hypotheses)
    return {
        "value": float(found.value),
        "bound": float(found.bound),
        "exact": found.value == found.bound,
        "fraction": str(found.value),
        "stumps": found.stumps,
    }
