"""Sharan, Lecture 9, Section 4: AdaBoost.

D_t, h_t and the α_t are taken as delivered; ε_t, z_{t+1}, votes and training errors are computed
from them anew. As printed the algorithm is undefined if a hypothesis makes no mistake (ε_t = 0,
α_t = ∞, D_{t+1} = 0/0); what H tends to as ε_t → 0 is then h_t alone, with z_{t+1} = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gammabar.harness.court.case import Case
from gammabar.harness.court.numbers import (
    ROUNDOFF,
    TINY,
    Number,
    between,
    exp,
    log,
    number,
    smallest,
    sqrt,
    upper,
)
from gammabar.harness.court.relation import Relation, at_most, equal, fact
from gammabar.harness.court.statement import direct
from gammabar.harness.court.trial import Trial
from gammabar.papers.lecture._votes import (
    Round,
    Session,
    constant,
    points,
    session,
    sessions,
    solver_of,
    stumps,
)
from gammabar.problems import DenseProblem

#: Everything here is direct: an iterate of AdaBoost is a vote, not a point of the space of w.
TRIALS: tuple[Trial, ...] = ()

BOOSTING = ("adaboost",)
PROBLEMS = ("", "wine:0,1", "digits:3,8")


def _heard(case: Case) -> Iterator[tuple[Session, list[Relation]]]:
    """Every run, with a relation that says what is wrong with it, if anything."""
    for s in sessions(case):
        yield s, [fact(False, s.wrong, where=s.where)] if s.wrong else []


def _advantage(r: Round) -> Number:
    """γ_t = ½ − ε_t."""
    return number(1) / 2 - r.epsilon


@direct(
    "lec.lem7",
    reference="Lemma 7",
    kind="stopping",
    claim=r"T = \frac{1}{2\gamma^2} \log(2n) \implies \text{the training error is } 0",
    problems=PROBLEMS,
    solvers=BOOSTING,
    assumes=(points,),
    note="With ε_t ≤ ½ − γ, as remark 1 assumes and the proof uses (γ_t ≥ γ); γ is the smallest "
    "γ_t of the run so far, and every T is heard that the lemma speaks about. T is no whole number "
    "(log(2n) is transcendental): rounding down suffices, since ∏ z_t ≤ e^{−2γ²(T−1)} ≤ √e/(2n) < "
    "1/n. Definition 5 (error ≤ γ) and line 4 of Algorithm 3 (ε_t ≤ 1 − γ) print other conditions, "
    "for which see lec.lem7.line4.",
)
def no_training_error(case: Case) -> Iterator[Relation]:
    """AdaBoost with weak hypotheses of advantage γ has training error 0 after log(2n)/(2γ²)
    rounds."""
    for s, wrong in _heard(case):
        yield from wrong
        gamma = number(1) / 2
        for r, least, most in s.errors():
            gamma = smallest([gamma, _advantage(r)])
            if gamma > 0 and (r.perfect or r.t > log(2 * r.n) / (2 * gamma * gamma) - 1):
                yield _mistakes(r, least, most, number(0))


def _mistakes(r: Round, least: int, most: int, bound: Number, **more: Any) -> Relation:
    """The training error is at most a bound."""
    error = number(most) / r.n
    if not error <= bound and least < most:  # so it depends on votes that may be zero
        error = between(number(least) / r.n, error)
    return at_most(error, bound, "P_{D_1}(sign(H(x)) ≠ y) ≤ bound", where=r.where, **more)


@direct(
    "lec.lem7.line4",
    reference="Lemma 7, with the condition that line 4 of Algorithm 3 prints",
    kind="stopping",
    claim=r"\epsilon_t \leq 1 - \gamma, \quad T = \frac{1}{2\gamma^2} \log(2n) \implies "
    r"\text{the training error is } 0",
    problems=("",),
    solvers=BOOSTING,
    status="refuted",
    fixed_by="lec.lem7",
    note="x = 1, 2, 3 with y = (+, +, −) and h_t = +1 always: ε_1 = 1/3, α_1 = ½ ln 2, "
    "D_2 = (¼, ¼, ½), then ε_t = ½ and α_t = 0 for ever, so H = ½ ln 2 > 0 and the training error "
    "is 1/3 after any number of rounds. With γ = 2/5 all ε_t ≤ 1 − γ, and T = (25/8) ln 6 = 5.6. "
    "With γ = ½ the same run meets Definition 5 (error ≤ γ) as well, and T = 2 ln 6 = 3.6.",
)
def no_training_error_line_4(case: Case) -> Iterator[Relation]:
    """AdaBoost with ε_t ≤ 1 − γ has training error 0 after log(2n)/(2γ²) rounds."""
    gamma = number(2) / 5
    problem = DenseProblem(np.array([[1], [2], [3]]), np.array([1, 1, -1]))
    T = log(6) / (2 * gamma * gamma)
    s = session(replace(solver_of(case), learner=constant), problem, "h = +1", math.ceil(upper(T)))
    for r, least, most in s.errors():
        if not r.epsilon <= 1 - gamma:
            return
        if r.t > T - 1:
            yield _mistakes(r, least, most, number(0))


def _root(r: Round) -> Number:
    """√(1 − 4γ_t²) = 2√(ε_t(1 − ε_t))."""
    if r.perfect or r.epsilon >= 1:  # the latter if D_t is no distribution
        return number(0)
    return 2 * sqrt(r.epsilon * (1 - r.epsilon))


def _slack(r: Round, value: Number) -> float:
    """Rounding of a number that sums of D_t are the only inexact part of."""
    return 0.0 if r.perfect else r.slip * upper(value) + TINY


@direct(
    "lec.alg3.z",
    reference="Proof of Lemma 7",
    kind="anytime",
    claim=r"\frac{1}{n} \sum_{i=1}^n \mathbb{1}(\text{sign}(H(x_i)) \neq y_i) \leq "
    r"\prod_{t=2}^{T+1} z_t, \quad z_{t+1} = \sqrt{1 - 4\gamma_t^2}",
    problems=PROBLEMS,
    solvers=BOOSTING,
    assumes=(points,),
    note="Lines of the same proof that are misprinted stand in lec.alg3.z.sum and lec.alg3.z.exp; "
    "the product in its last line starts at t = 1, but there is no z_1.",
)
def error_is_below_the_product(case: Case) -> Iterator[Relation]:
    """The training error of AdaBoost after T rounds is at most z_2 ⋯ z_{T+1}, and z_{t+1} is
    √(1 − 4γ_t²) with γ_t = ½ − ε_t."""
    for s, wrong in _heard(case):
        yield from wrong
        product, off = number(1), 0.0
        for r, least, most in s.errors():
            z, root = number(r.after.extra["z"]), _root(r)
            yield equal(z, root, "z_{t+1} = √(1 − 4γ_t²)", where=r.where, allowance=_slack(r, root))
            product *= z
            off += 0.0 if r.perfect else r.slip
            yield _mistakes(r, least, most, product, allowance=2 * off)


@direct(
    "lec.alg3.z.sum",
    reference="Proof of Lemma 7, the third line on z_{t+1}",
    kind="identity",
    claim=r"z_{t+1} = (1 - \epsilon_t) \sqrt{\frac{\epsilon_t}{1 - \epsilon_t}} + \epsilon_t "
    r"\sqrt{\frac{1 - \epsilon_t}{\epsilon_t}} - 2\sqrt{\epsilon_t(1 - \epsilon_t)}",
    problems=("",),
    solvers=BOOSTING,
    status="refuted",
    fixed_by="lec.alg3.z.sum.fixed",
    note="The last sign should be =. The right side is 0 for every ε_t; x = 1, 2, 3 with "
    "y = (+, −, +) has ε_1 = 1/3 and z_2 = 2√2/3.",
)
def normaliser_as_printed(case: Case) -> Iterator[Relation]:
    """z_{t+1} = (1 − ε)√(ε/(1 − ε)) + ε√((1 − ε)/ε) − 2√(ε(1 − ε))."""
    yield from _normaliser(case, lambda both, root: both - root, "z = … + … − 2√(ε(1 − ε))")


@direct(
    "lec.alg3.z.sum.fixed",
    reference="Proof of Lemma 7, the third line on z_{t+1}, with = for −",
    kind="identity",
    claim=r"z_{t+1} = (1 - \epsilon_t) \sqrt{\frac{\epsilon_t}{1 - \epsilon_t}} + \epsilon_t "
    r"\sqrt{\frac{1 - \epsilon_t}{\epsilon_t}} = 2\sqrt{\epsilon_t(1 - \epsilon_t)}",
    problems=PROBLEMS,
    solvers=BOOSTING,
    assumes=(points,),
)
def normaliser(case: Case) -> Iterator[Relation]:
    """z_{t+1} = (1 − ε)√(ε/(1 − ε)) + ε√((1 − ε)/ε) = 2√(ε(1 − ε))."""
    yield from _normaliser(case, lambda both, root: both, "z = … + …")
    yield from _normaliser(case, lambda both, root: root, "z = 2√(ε(1 − ε))")


def _normaliser(case: Case, side: Any, what: str) -> Iterator[Relation]:
    for s, wrong in _heard(case):
        yield from wrong
        for r in (r for r in s.rounds if not r.perfect and r.epsilon < 1):
            e, f = r.epsilon, 1 - r.epsilon
            value = side(f * sqrt(e / f) + e * sqrt(f / e), _root(r))
            yield equal(
                r.after.extra["z"], value, what, where=r.where, allowance=_slack(r, _root(r))
            )


@direct(
    "lec.alg3.z.exp",
    reference="Proof of Lemma 7, the bound on z_{t+1}",
    kind="identity",
    claim=r"\sqrt{1 - 4\gamma_t^2} \leq (e^{-4\gamma_t^2})^{\frac{1}{2}} = e^{2\gamma_t^2} "
    r"\leq e^{-2\gamma^2}",
    problems=("",),
    solvers=BOOSTING,
    status="refuted",
    fixed_by="lec.alg3.z.exp.fixed",
    note="A minus is missing in e^{2γ_t²}. x = 1, 2, 3 with y = (+, −, +) has ε_1 = 1/3, so "
    "γ_1 = 1/6: (e^{−1/9})^{1/2} = e^{−1/18} = 0.9459…, but e^{1/18} = 1.0571…",
)
def normaliser_bound_as_printed(case: Case) -> Iterator[Relation]:
    """√(1 − 4γ_t²) ≤ (e^{−4γ_t²})^{1/2} = e^{2γ_t²} ≤ e^{−2γ²}."""
    yield from _exponentials(case, +1)


@direct(
    "lec.alg3.z.exp.fixed",
    reference="Proof of Lemma 7, the bound on z_{t+1}, with its minus",
    kind="anytime",
    claim=r"\sqrt{1 - 4\gamma_t^2} \leq (e^{-4\gamma_t^2})^{\frac{1}{2}} = e^{-2\gamma_t^2} "
    r"\leq e^{-2\gamma^2}, \quad \prod_{t=2}^{T+1} z_t \leq e^{-2T\gamma^2}",
    problems=PROBLEMS,
    solvers=BOOSTING,
    assumes=(points,),
    note="γ is a lower bound on the γ_t of the run, where there is a positive one.",
)
def normaliser_bound(case: Case) -> Iterator[Relation]:
    """√(1 − 4γ_t²) ≤ (e^{−4γ_t²})^{1/2} = e^{−2γ_t²} ≤ e^{−2γ²}, and so z_2 ⋯ z_{T+1} ≤
    e^{−2Tγ²}."""
    yield from _exponentials(case, -1)
    for s in sessions(case):
        product, gamma, off = number(1), _below(s), 0.0
        for r in s.rounds if gamma > 0 else ():
            product *= number(r.after.extra["z"])
            off += 0.0 if r.perfect else r.slip
            yield at_most(
                product,
                exp(-2 * r.t * gamma * gamma),
                "z_2 ⋯ z_{T+1} ≤ e^{−2Tγ²}",
                where=r.where,
                allowance=2 * off,
            )


def _exponentials(case: Case, sign: int) -> Iterator[Relation]:
    for s, wrong in _heard(case):
        yield from wrong
        gamma = _below(s)
        for r in s.rounds:
            g = _advantage(r)
            yield at_most(
                _root(r), exp(-2 * g * g), "√(1 − 4γ_t²) ≤ (e^{−4γ_t²})^{1/2}", where=r.where
            )
            # Two powers of e are equal if their exponents are.
            yield equal(
                (-2 - 2 * sign) * g * g,
                0,
                "exponents: −4γ_t²/2 is that of the next power",
                where=r.where,
            )
            if gamma > 0:
                yield at_most(
                    exp(sign * 2 * g * g), exp(-2 * gamma * gamma), "… ≤ e^{−2γ²}", where=r.where
                )


def _below(s: Session) -> Number:
    """A γ with γ_t ≥ γ for all t: a millionth below the smallest, so that ≥ can be proved."""
    least = min((float(_advantage(r).lower()) for r in s.rounds), default=0.0)
    return number(least * (1 - 1e-6))


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
    for s, wrong in _heard(case):
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
        return equal(left, right, what, where=r.where, allowance=allowance + TINY)

    sums = (2 * n + 16) * ROUNDOFF
    yield same(_apart(told["D"], before), 0, "D_t", 4 * ROUNDOFF)
    yield same(told["epsilon"], r.epsilon, "ε_t = P_{D_t}[h_t ≠ y]", sums)
    yield same(told["gamma"], _advantage(r), "γ_t = ½ − ε_t", 2 * sums)
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
    for s, wrong in _heard(case):
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
