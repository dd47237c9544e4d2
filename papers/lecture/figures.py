"""Figures 1 to 3 of the lecture: AdaBoost with decision stumps on two digits.

Errors, losses and margins round by round, and the exact ℓ₁ margin of all stumps.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from gammabar.harness.paper import Artefact, Numbers, Parts, Shown
from gammabar.harness.reproduce import held_out_images, logarithmic
from gammabar.oracle.l1 import solve_l1
from gammabar.problems import DenseProblem, load
from gammabar.solvers import AdaBoost
from gammabar.solvers.boosting import Stump

FULL, QUICK = "mnist:3,8:n=1000,seed=0", "mnist-sample:3,8, every fifth point"
#: Margins are shown after these rounds, and after the last.
ROUNDS = (5, 100)


def _parts(margin: bool, quick: bool) -> Parts:
    """AdaBoost's run, and the largest margin, if it is needed."""
    data, rounds, first = (QUICK, 150, 150) if quick else (FULL, 1000, 500)
    run = {f"AdaBoost with stumps, {data}, {rounds} rounds": partial(_boosting, data, rounds)}
    best = {f"ℓ₁ margin of all stumps, {data}": partial(_largest_margin, data, first)}
    return run | best if margin else run


def _points(data: str) -> tuple[DenseProblem, Any, Any]:
    """What is learned from, and points and labels for the test."""
    if data == QUICK:
        problem: Any = load("mnist-sample:3,8")
        X, y = np.asarray(problem.X), np.asarray(problem.y)
        kept = np.arange(len(y)) % 5 == 0
        return DenseProblem(X[kept], y[kept]), X[~kept], y[~kept]
    train: Any = load(data)
    return train, *held_out_images("mnist-test", (3, 8))


def _boosting(data: str, rounds: int) -> Numbers:
    """Errors, mean of exp(−y H(x)) and smallest margin at some rounds; margins at a few."""
    problem, X, y = _points(data)
    H, wanted = np.zeros(len(y)), set(logarithmic(rounds, 40))
    names = ("t", "train", "test", "exponential", "margin")
    found: Numbers = {name: [] for name in names}
    margins: dict[str, list[float]] = {}
    above, perfect = True, None
    vote: Any
    for vote in islice(AdaBoost().iterates(problem), 1, rounds + 1):
        H += vote.w[-1] * vote.hypotheses[-1](X)
        loss = float(np.exp(-vote.scores).mean())
        above = above and vote.error <= loss * (1 + 1e-9)
        if perfect is None and vote.error == 0:
            perfect = vote.t
        if vote.t in wanted or vote.t == perfect:
            row = vote.t, vote.error, float(np.mean(y * H <= 0)), loss, float(vote.l1_margin)
            for name, value in zip(names, row, strict=True):
                found[name].append(value)
        if vote.t in (*ROUNDS, rounds):
            margins[str(vote.t)] = np.sort(vote.scores / np.abs(vote.w).sum()).tolist()
    about = {"n": problem.n, "tested": len(y), "perfect": perfect, "above": bool(above)}
    return {**about, "margins": margins, **found}


def _largest_margin(data: str, rounds: int) -> Numbers:
    """The exact ℓ₁ margin of all stumps, from those of AdaBoost on."""
    problem, _, _ = _points(data)
    vote: Any = next(islice(AdaBoost().iterates(problem), rounds, None))
    found = stump_margin(np.asarray(problem.X), problem.y, vote.hypotheses)
    margin = {"value": float(found.value), "bound": float(found.bound)}
    about = {"exact": found.value == found.bound, "stumps": found.stumps}
    return {**margin, **about, "fraction": str(found.value)}


def _course(numbers: Numbers) -> Any:
    """The run of AdaBoost; the largest margin comes after it, if it was computed."""
    return next(iter(numbers.values()))


# Figure 1: the exponential loss above the 0/1 loss


def _draw_1(figure: Any, numbers: Numbers) -> None:
    figure.set_size_inches(8.0, 3.4)
    left, right = figure.subplots(1, 2)
    x = np.linspace(-2, 3, 201)
    left.step([-2, 0, 3], [1, 1, 0], where="pre", label="0/1 loss")
    left.plot(x, np.exp(-x), label="exp(−x)")
    left.set(xlabel="x = y H(x)", ylabel="loss", ylim=(0, 4))
    course = _course(numbers)
    seen = [(t, e) for t, e in zip(course["t"], course["train"], strict=True) if e > 0]
    right.loglog(*zip(*seen, strict=True), label="training error")
    right.loglog(course["t"], course["exponential"], label="mean of exp(−y H(x))")
    right.set(xlabel="rounds of AdaBoost", ylim=(1e-4, 1.5))
    for axes in (left, right):
        axes.legend()


def _shown_1(numbers: Numbers) -> list[Shown]:
    course = _course(numbers)
    falls, rounds = course["exponential"], f"{course['t'][-1]:,} rounds, n = {course['n']:,}"
    above = "exp(−x) is a surrogate for the 0/1 loss: it is above it"
    where = f"mean of exp(−y H(x)) at least the training error at every one of {rounds}"
    fallen = all(b <= a for a, b in pairwise(falls))
    words = f"it falls from {falls[0]:.3g} to {falls[-1]:.3g}, never rising"
    return [
        Shown(above, course["above"], where),
        Shown("AdaBoost minimises Σ exp(−y_i H(x_i)) greedily", fallen, words),
    ]


# Figure 2: training and test error


def _draw_2(figure: Any, numbers: Numbers) -> None:
    axes, course = figure.subplots(), _course(numbers)
    axes.semilogx(course["t"], course["train"], label="training error")
    axes.semilogx(course["t"], course["test"], label="test error")
    if course["perfect"]:
        words = f"first without training error: {course['perfect']}"
        axes.axvline(course["perfect"], color="0.5", lw=1, ls=":", label=words)
    axes.set(xlabel="rounds", ylabel="error", ylim=(0, None))
    axes.legend()


NEVER = [Shown("AdaBoost reaches training error zero", False, "not in these rounds")]


def _shown_2(numbers: Numbers) -> list[Shown]:
    course = _course(numbers)
    if course["perfect"] is None:
        return NEVER
    then, end = course["test"][course["t"].index(course["perfect"])], course["test"][-1]
    words = (
        f"training error 0 first at round {course['perfect']}; test error on {course['tested']:,}"
        f" images {then:.4f} then, {end:.4f} after {course['t'][-1]:,} rounds"
    )
    claim = "test error can go down even after training error is already zero"
    return [Shown(claim, end < then, words)]


# Figure 3: margins


def _draw_3(figure: Any, numbers: Numbers) -> None:
    figure.set_size_inches(8.0, 3.6)
    left, right = figure.subplots(1, 2)
    course, margin = numbers.values()
    best = margin["value"]
    for rounds, margins in course["margins"].items():
        share = [(i + 1) / len(margins) for i in range(len(margins))]
        left.step(margins, share, where="post", label=f"{int(rounds):,} rounds")
    left.set(xlabel="margin y H(x)/Σ|α|", ylabel="share of the points", xlim=(-1, 1))
    right.semilogx(course["t"], course["margin"], label="smallest margin of AdaBoost")
    right.set(xlabel="rounds", ylim=(-1, 1.6 * best))
    for line in (left.axvline, right.axhline):
        line(best, color="0.4", lw=1, ls="--", label=f"ℓ₁ margin {best:.5f}, exact")
    left.legend(fontsize=7, loc="upper left")
    right.legend(fontsize=7, loc="lower right")


def _shown_3(numbers: Numbers) -> list[Shown]:
    course, best = numbers.values()
    if course["perfect"] is None:
        return NEVER
    then, end = course["margin"][course["t"].index(course["perfect"])], course["margin"][-1]
    return [
        Shown(
            "AdaBoost maximises some notion of margin after getting perfect accuracy",
            end > then,
            f"smallest margin {then:.5f} at round {course['perfect']}, {end:.5f} at the end:"
            f" {end / best['value']:.3f} of the largest",
        ),
        Shown(
            "no vote of stumps has a larger margin than the exact one (beyond the lecture)",
            best["exact"] and end <= best["value"],
            f"{best['value']:.9f}, proved over all stumps (a fraction of"
            f" {len(best['fraction'])} characters)",
        ),
    ]


ARTEFACTS = tuple(
    Artefact(
        id=f"lec.fig{number}",
        reference=f"Figure {number}",
        title=f"{title}MNIST digits 3 and 8",
        parts=partial(_parts, number == 3),
        draw=draw,
        shown=shown,
        data=("mnist", "mnist-test"),
    )
    for number, title, draw, shown in (
        (1, "exp(−x) above the 0/1 loss, and on ", _draw_1, _shown_1),
        (2, "Training and test error of AdaBoost, ", _draw_2, _shown_2),
        (3, "Margins of AdaBoost beside the exact ℓ₁ margin, ", _draw_3, _shown_3),
    )
)

# The exact ℓ₁ margin of all stumps: max over convex combinations H of stumps of the smallest
# y_i H(x_i). There are as many stumps as pixels times grey levels, but few of them matter: those
# are added that the dual weights q of those at hand find better than the value so far (column
# generation, in doubles). Then the value over those at hand is computed exactly, and from its
# rational q the largest Σ_i q_i y_i h(x_i) over *all* stumps h, exactly too. By duality no
# combination of stumps has a larger margin than that, so the value is proved if both are equal.

#: Stumps that are added at a time, and times.
_EACH, _ROUNDS = 40, 200
_NEAR = 1e-9


class _StumpMargin(NamedTuple):
    """The margin of the best combination found, and a bound of that of all combinations."""

    value: Fraction
    bound: Fraction
    stumps: int


def stump_margin(X: Any, y: Any, start: Iterable[Stump]) -> _StumpMargin:
    """The ℓ₁ margin of all stumps on the points X with labels y, from some that are good on."""
    y = np.asarray(y, dtype=np.int64)
    stumps = dict.fromkeys([*start, Stump(0, -np.inf, 1), Stump(0, -np.inf, -1)])
    votes = [h(X) * y for h in stumps]
    for _ in range(_ROUNDS):
        value, q = _in_doubles(np.stack(votes, axis=1))
        rows = np.flatnonzero(q > 1e-13)
        best = _edges(X[rows], (q[rows] * y[rows]).tolist())
        better = sorted(best, key=lambda one: -one[0])[:_EACH]
        new = [h for edge, h in better if edge > value + _NEAR and h not in stumps]
        if not new:
            break
        stumps |= dict.fromkeys(new)
        votes += [h(X) * y for h in new]
    truth = solve_l1(np.stack(votes, axis=1).astype(np.int64), signed=False)
    rows = np.array(truth.q.support)
    numerators = [int(v) for v in truth.q.numerators]
    signed = [v * int(label) for v, label in zip(numerators, y[rows], strict=True)]
    largest = max(abs(sum(signed)), *(edge for edge, _ in _edges(X[rows], signed)), 0)
    bound = Fraction(largest, sum(numerators))
    return _StumpMargin(truth.value_lo, bound, len(stumps))


def _in_doubles(votes: Any) -> tuple[float, Any]:
    """The value of the game, about, and dual weights."""
    from scipy.optimize import linprog

    n, m = votes.shape
    above, mean = np.hstack([-votes, np.ones((n, 1))]), [np.append(np.ones(m), 0)]
    bounds = [(0, None)] * m + [(None, None)]
    found = linprog(-np.eye(m + 1)[m], above, np.zeros(n), mean, [1], bounds, method="highs")
    return -float(found.fun), np.maximum(-found.ineqlin.marginals, 0)


def _edges(X: Any, signed: list[Any]) -> Iterator[tuple[Any, Stump]]:
    """For each column the largest |Σ_i q_i y_i h(x_i)| over its stumps, given all q_i y_i.

    In the arithmetic of the weights: exact if they are integers.
    """
    total = sum(signed)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable").tolist()
        values = X[order, j].tolist()
        below, best = 0, None
        for place, i in enumerate(order[:-1]):
            below += signed[i]
            if values[place] != values[place + 1]:
                edge = total - 2 * below  # of +1 above this value
                if best is None or abs(edge) > abs(best[0]):
                    best = edge, values[place]
        if best is not None:
            yield abs(best[0]), Stump(j, best[1], 1 if best[0] >= 0 else -1)
