"""The project's own checks that AdaBoost and its weak learner do what the lecture prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    TINY,
    Case,
    Relation,
    direct,
    equal,
    exp,
    fact,
    log,
    number,
    upper,
)
from gammabar.papers.lecture.boosting_rounds import (
    BOOSTING,
    PROBLEMS,
    Round,
    advantage,
    heard,
    points,
    stumps,
)


@direct(
    "gb.lec.adaboost.step",
    reference="Algorithm 3 as printed",
    kind="identity",
    claim=r"D_1(i) = \frac1n, \quad \epsilon_t = \mathbb{P}_{x \sim D_t}[h_t(x) \neq y], \quad "
    r"\alpha_t = \frac12 \log\left(\frac{1-\epsilon_t}{\epsilon_t}\right), \quad "
    r"D_{t+1}(i) = \frac{D_t(i)}{z_{t+1}} e^{-\alpha_t h_t(x_i) y_i}, \quad "
    r"H = \sum_t \alpha_t h_t",
    problems=PROBLEMS,
    solvers=BOOSTING,
    assumes=(points,),
    note="One round from the delivered D_t and h_t. The middle of line 6 lacks a factor: "
    "D_t(i)/z_{t+1} stands there as equal to e^{∓α_t}, and is multiplied by it.",
)
def adaboost_step(case: Case) -> Iterator[Relation]:
    """Each round of AdaBoost computes ε_t, α_t, z_{t+1}, D_{t+1} and the vote from D_t and h_t."""
    for s, wrong in heard(case):
        yield from wrong
        for r in s.rounds:
            if r.t == 1:
                first = np.abs(np.asarray(r.before.dual) * r.n - 1).max()
                yield equal(float(first), 0, "D_1(i) = 1/n", where=r.where, allowance=4 * ROUNDOFF)
            yield from _perfect(r) if r.perfect else _round(r)


def _round(r: Round) -> Iterator[Relation]:
    told, n = r.after.extra, r.n
    alpha, z = number(told["alpha"]), number(told["z"])
    before, after = (np.asarray(v.dual, dtype=np.float64) for v in (r.before, r.after))

    def same(left: Any, right: Any, what: str, allowance: float) -> Relation:
        # TINY: products of weights that underflow; what is compared is of the size of one.
        return equal(left, right, what, where=r.where, allowance=allowance + TINY)

    sums = (2 * n + 16) * ROUNDOFF
    yield same(_apart(told["D"], before), 0, "D_t", 4 * ROUNDOFF)
    yield same(told["epsilon"], r.epsilon, "ε_t = P_{D_t}[h_t ≠ y]", sums)
    yield same(told["gamma"], advantage(r), "γ_t = ½ − ε_t", 2 * sums)
    wanted = log((1 - r.epsilon) / r.epsilon) / 2
    yield same(alpha, wanted, "α_t = ½ log((1 − ε_t)/ε_t)", r.slip + 8 * ROUNDOFF * upper(wanted))
    mass = r.right * exp(-alpha) + r.epsilon * exp(alpha)
    yield same(z, mass, "z_{t+1} = Σ D_t(i) e^{−α_t h_t y_i}", sums * upper(mass))
    fresh = before * np.exp(-float(told["alpha"]) * r.agrees) / float(mass.mid())
    # Both sides round an exponential, a product and a quotient; and the solver its z.
    yield same(_apart(after, fresh), 0, "D_{t+1}(i) = D_t(i) e^{−α_t h_t y_i}/z_{t+1}", 4 * sums)
    yield same(float(math.fsum(after)), 1, "Σ D_{t+1}(i) = 1", sums)
    yield same(
        told["product"],
        number(r.before.extra["product"]) * z,
        "z_2 ⋯ z_{t+1}",
        4 * ROUNDOFF * upper(z) * abs(r.before.extra["product"]),
    )
    w, last = np.asarray(r.after.w), np.asarray(r.before.w)
    yield fact(np.array_equal(w, [*last, told["alpha"]]), "w = (α_1, …, α_t)", where=r.where)
    votes = np.asarray(r.before.votes) + float(told["alpha"]) * r.agrees
    size = float(np.abs(votes).max() + abs(told["alpha"]))
    gap = float(np.abs(np.asarray(r.after.votes) - votes).max())
    yield same(gap, 0, "y_i H(x_i) = Σ_s α_s y_i h_s(x_i)", 8 * ROUNDOFF * size)


def _apart(values: Any, wanted: Any) -> float:
    """The largest relative difference; what may have underflowed does not count."""
    values, wanted = np.asarray(values, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    if values.shape != wanted.shape:
        return math.inf
    seen = wanted > 2.0**-960
    return float(np.max(np.abs(values - wanted)[seen] / wanted[seen], initial=0.0))


def _perfect(r: Round) -> Iterator[Relation]:
    """h_t makes no mistake, or nothing but mistakes: H is what it tends to."""
    told, sign = r.after.extra, int(r.agrees[0])
    yield fact(
        told["alpha"] == sign * math.inf and told["z"] == 0, "α_t = ±∞, z_{t+1} = 0", where=r.where
    )
    yield fact(np.array_equal(r.after.votes, np.ones(r.n)), "sign(H) = y", where=r.where)


@direct(
    "gb.lec.stumps.best",
    reference="Algorithm 3, line 3: the weak learner",
    kind="identity",
    claim=r"h_t \in \arg\max_h \sum_i D_t(i)\, y_i\, h(x_i) \quad \text{over all stumps}",
    problems=("", "wine:0,1"),
    solvers=BOOSTING,
    assumes=(points, stumps),
    note="Every stump of every column is tried. Weights are rounded to multiples of 2⁻⁶¹ before "
    "they are summed.",
)
def best_stump(case: Case) -> Iterator[Relation]:
    """h_t is a decision stump of least weighted error for D_t."""
    for s, wrong in heard(case):
        yield from wrong
        if "other learner" in s.where:
            continue
        for r in s.rounds:
            signed = np.asarray(r.before.dual) * r.y
            edges = s.stumps @ signed
            allowance = r.n * (8 * ROUNDOFF + 2.0**-59)
            yield equal(
                float(signed @ (r.agrees * r.y)),
                float(np.abs(edges).max()),
                "Σ D_t(i) y_i h_t(x_i) is largest",
                where=r.where,
                allowance=allowance,
            )
