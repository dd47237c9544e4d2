"""The project's own checks that AdaBoost and its weak learner do what the lecture prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
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
    size_of,
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
                first = float(np.abs(np.asarray(r.before.dual) * r.n - 1).max())
                few, what = 4 * ROUNDOFF, "D_1(i) = 1/n"
                yield equal(first, 0, what, where=r.where, allowance=few, size=1.0)
            yield from _perfect(r) if r.perfect else _round(r)


def _round(r: Round) -> Iterator[Relation]:
    told, n = r.after.extra, r.n
    alpha, z = number(told["alpha"]), number(told["z"])
    before, after = (np.asarray(v.dual, dtype=np.float64) for v in (r.before, r.after))

    def same(left: Any, right: Any, what: str, allowance: float, size: float) -> Relation:
        # TINY: products of weights that underflow; what is compared is of the size of one.
        return equal(left, right, what, where=r.where, allowance=allowance + TINY, size=size)

    terms = 2.0 * n + 16
    sums = terms * ROUNDOFF
    yield same(_apart(told["D"], before), 0, "D_t", 4 * ROUNDOFF, 1.0)
    wrong, gamma = r.epsilon, advantage(r)
    yield same(told["epsilon"], wrong, "ε_t = P_{D_t}[h_t ≠ y]", sums, size_of(wrong, terms))
    yield same(told["gamma"], gamma, "γ_t = ½ − ε_t", 2 * sums, size_of(gamma, terms))
    wanted, what = log((1 - wrong) / wrong) / 2, "α_t = ½ log((1 − ε_t)/ε_t)"
    slip = r.slip + 8 * ROUNDOFF * upper(wanted)
    yield same(alpha, wanted, what, slip, size_of(wanted, 4 * terms))
    mass = r.right * exp(-alpha) + wrong * exp(alpha)
    scale = upper(mass)
    yield same(z, mass, "z_{t+1} = Σ D_t(i) e^{−α_t h_t y_i}", sums * scale, scale)
    fresh = before * np.exp(-float(told["alpha"]) * r.agrees) / float(mass.mid())
    # Both sides round an exponential, a product and a quotient; and the solver its z.
    what = "D_{t+1}(i) = D_t(i) e^{−α_t h_t y_i}/z_{t+1}"
    yield same(_apart(after, fresh), 0, what, 4 * sums, 1.0)
    yield same(float(math.fsum(after)), 1, "Σ D_{t+1}(i) = 1", sums, 1.0)
    product = number(r.before.extra["product"]) * z
    few = 4 * ROUNDOFF * upper(product)
    yield same(told["product"], product, "z_2 ⋯ z_{t+1}", few, upper(product) + TINY / ROUNDOFF)
    w, last = np.asarray(r.after.w), np.asarray(r.before.w)
    yield fact(np.array_equal(w, [*last, told["alpha"]]), "w = (α_1, …, α_t)", where=r.where)
    votes = np.asarray(r.before.votes) + float(told["alpha"]) * r.agrees
    size = float(np.abs(votes).max() + abs(told["alpha"]))
    gap = float(np.abs(np.asarray(r.after.votes) - votes).max())
    what, about = "y_i H(x_i) = Σ_s α_s y_i h_s(x_i)", size_of(abs(float(told["alpha"])), size)
    yield same(gap, 0, what, 8 * ROUNDOFF * size, about + TINY / ROUNDOFF)


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
    wrong = (1 - sign) // 2  # ε_t is 0, or one up to the rounding of the sum
    off = (2 * r.n + 16) * ROUNDOFF
    for name, wanted in (("epsilon", wrong), ("gamma", Fraction(1, 2) - wrong)):
        gap = abs(number(told[name]) - number(wanted))
        yield equal(gap, 0, f"{name} of round {r.t}", where=r.where, allowance=off, size=1.0)
    apart = _apart(told["D"], np.asarray(r.before.dual, dtype=np.float64))
    yield equal(apart, 0, "D_t", where=r.where, allowance=4 * ROUNDOFF, size=1.0)
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
        for r in s.rounds if s.best else ():
            signed = np.asarray(r.before.dual) * r.y
            edge = float(np.abs(s.stumps @ signed).max())
            yield equal(
                float(signed @ (r.agrees * r.y)),
                edge,
                "Σ D_t(i) y_i h_t(x_i) is largest",
                where=r.where,
                allowance=r.n * (8 * ROUNDOFF + 2.0**-59),
                size=size_of(edge, float(r.n)),
            )
