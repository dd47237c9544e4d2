"""Mutants of the solvers of Ramdas and Peña (2015): each loop once, then wrong lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from gammabar.harness.paper import Family, Rng
from gammabar.problems import Problem, SoftMin
from gammabar.problems.problem import Floats, soften
from gammabar.solvers.base import Iterate, scored
from gammabar.solvers.combinations import (
    Combination,
    combination,
    mix,
    nothing,
    renewed,
    single_row,
)
from gammabar.solvers.ramdas_pena import (
    ISNKPVN,
    NKP,
    NVN,
    SNKP,
    SNKPVN,
    NormalizedPerceptron,
    Winnow,
    _nearest,
    _Step,
    _towards,
)

FAMILY = Family("rp")


# Normalized Perceptron and Winnow ---------------------------------------------------------------


class Mean(NormalizedPerceptron):
    """Algorithm 2; it works on k w_k."""

    def done(self, scores: Floats) -> bool:
        return bool((scores > 0).all())

    def added(self, problem: Problem, k: int, total: Floats, j: int) -> Floats:
        """(k+1) w_{k+1}."""
        return total + problem.row(j)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = problem.origin()
        for k in count():
            scores = problem.scores(total)
            done, j = self.done(scores), int(np.argmin(scores))
            extra: dict[str, Any] = {"halt": "separated"} if done else {"i": j}
            yield scored(k, total / max(k, 1), problem, scores / max(k, 1), **extra)
            if done:
                return
            total = self.added(problem, k, total, j)


def _forgets(self: Mean, problem: Problem, k: int, total: Floats, j: int) -> Floats:
    return (k + 1) / 2 * (total / k + problem.row(j)) if k else problem.row(j)


def _sum_first(self: Mean, problem: Problem, k: int, total: Floats, j: int) -> Floats:
    return total + (problem.row(j) if k else problem.combine(np.ones(problem.n)))


mutant = partial(FAMILY.variant, Mean)
mutant(
    "exits-at-zero",
    "It halts when A w_k ≥ 0",
    "w_0 = 0 has scores 0 only, so it halts at once",
    done=lambda self, scores: bool((scores >= 0).all()),
)
mutant(
    "theta-constant",
    "θ_k = ½ in place of 1/(k+1), after the first step",
    "w_k forgets all but the last rows, and need never separate",
    added=_forgets,
)
mutant(
    "starts-with-the-sum",
    "The first step adds all rows",
    "single rows need n steps to undo it, in place of 1/ρ²",
    added=_sum_first,
)


class Multiplicative(Winnow):
    """Winnow; `total` is g_1 + … + g_t."""

    def point(self, rate: float, total: Floats) -> Floats:
        return soften(-rate * total, 1.0)[0]

    def added(self, total: Floats, row: Floats) -> Floats:
        return total + row / (np.abs(row).max() or 1.0)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = problem.origin()
        for t in count():
            w = self.point(self._rate(t, total.size), total)
            scores = problem.scores(w)
            done, i = bool((scores > 0).all()), int(np.argmin(scores))
            extra: dict[str, Any] = {"halt": "separated"} if done else {"i": i}
            yield scored(t, w, problem, scores, **extra)
            if done:
                return
            total = self.added(total, problem.row(i))


def _additive(self: Multiplicative, rate: float, total: Floats) -> Floats:
    moved = np.maximum(1 + rate * total, 0.0)
    mass = float(moved.sum())
    return moved / mass if mass else np.full(total.size, 1 / total.size)


mutant = partial(FAMILY.variant, Multiplicative)
mutant(
    "wrong-sign",
    "w_t ∝ exp(−η_t (g_1 + … + g_t))",
    "weight goes to the coordinates that the worst rows vote against",
    point=lambda self, rate, total: Multiplicative.point(self, rate, -total),
)
mutant(
    "scale-forgotten",
    "g_{t+1} = a_i, not divided by ‖a_i‖_∞",
    "the rate is meant for coordinates of at most one",
    added=lambda self, total, row: total + row,
)
mutant(
    "additive",
    "w_t is the positive part of 1/d + η_t (g_1 + … + g_t)/d, divided by its sum",
    "weight moves by η and not by a factor: d steps in place of log d",
    point=_additive,
)


# NKP --------------------------------------------------------------------------------------------


class Counts(NKP):
    """Algorithm 3; it works on k α_k."""

    def done(self, total: Combination) -> bool:
        return total.separates()

    def fresh(self, problem: Problem, total: Combination) -> Combination:
        return renewed(problem, total)

    def mass(self, k: int, total: Combination) -> float:
        return max(k, 1)

    def added(self, problem: Problem, k: int, j: int) -> Combination:
        return single_row(problem, j)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = nothing(problem)
        for k in count():
            if self.done(total):
                total = self.fresh(problem, total)
            mass = self.mass(k, total)
            alpha, w, scores = (part / mass for part in total)
            if self.done(total):
                yield scored(k, w, problem, scores, dual=alpha, halt="separated")
                return
            j = int(np.argmin(total.scores))
            yield Iterate(k, w, problem, dual=alpha, extra={"i": j, "scores": scores})
            total = mix((1.0, total), (1.0, self.added(problem, k, j)))


def _all_rows_first(self: Counts, problem: Problem, k: int, j: int) -> Combination:
    return single_row(problem, j) if k else combination(problem, np.ones(problem.n))


mutant = partial(FAMILY.variant, Counts)
mutant(
    "exits-at-zero",
    "It halts when G α_k ≥ 0",
    "α_0 = 0 has G α_0 = 0, so it halts at once",
    done=lambda self, total: bool((total.scores >= 0).all()),
)
mutant(
    "starts-with-the-sum",
    "The first step adds all rows, which count as one",
    "single rows need n steps to undo it, in place of 1/ρ_K²",
    mass=lambda self, k, total: max(float(total.weights.sum()), 1.0),
    added=_all_rows_first,
    fresh=lambda self, problem, total: total,
)
mutant(
    "carried-scores-trusted",
    "It halts by the scores that were carried along, without computing them afresh",
    "after many additions their errors may be larger than the smallest score",
    equivalent="only by rounding errors, and never where the Gram matrix has small integers only",
    fresh=lambda self, problem, total: total,
)


@FAMILY.mutant("reports-counts", "w_k is right, but what it reports is no distribution")
class ReportsCounts(NKP):
    """The dual that it reports is k α_k."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        for it in super().iterates(problem, rng):
            assert it.dual is not None
            yield replace(it, dual=it.t * it.dual)


# SNKP -------------------------------------------------------------------------------------------


class Smooth(SNKP):
    """Algorithm 4; `soft` and `p_mu` are at α_k and temperature μ_k."""

    def separated(self, soft: SoftMin) -> bool:
        return soft.smallest > 0

    def moved(self, theta: float, alpha: Floats, p: Floats, p_mu: Floats) -> Floats:
        """α_{k+1}, and likewise w_{k+1}."""
        return (1 - theta) * (alpha + theta * p) + theta**2 * p_mu

    def cooled(self, theta: float, mu: float) -> float:
        return (1 - theta) * mu

    def target(self, problem: Problem, w: Floats, hot: float, soft: SoftMin, mu: float) -> Any:
        """What p_{k+1} moves to, and its combination; `hot` is μ_k."""
        return soften(soft.scores, mu)[0], soft.pull

    def exit(self, problem: Problem, soft: SoftMin, v: Floats) -> dict[str, Any]:
        if self.separated(soft):
            return {"halt": "separated"}
        small = self.epsilon is not None and problem.norm(v) <= self.epsilon
        return {"halt": "certificate"} if small else {}

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        alpha, mu = np.full(problem.n, 1 / problem.n), 2.0
        w = problem.combine(alpha)
        soft = problem.softmin(w, mu)
        p_mu = soften(soft.scores, mu)[0]
        p, v = p_mu, soft.pull
        for k in count():
            extra = {"p": p, "v": v, "mu": mu} | self.exit(problem, soft, v)
            yield Iterate(k, w, problem, soft, dual=alpha, extra=extra)
            if "halt" in extra:
                return
            theta = 2 / (k + 3)
            alpha = self.moved(theta, alpha, p, p_mu)
            w = self.moved(theta, w, v, soft.pull)
            hot, mu = mu, self.cooled(theta, mu)
            soft = problem.softmin(w, mu)
            p_mu = soften(soft.scores, mu)[0]
            target, pull = self.target(problem, w, hot, soft, mu)
            p = (1 - theta) * p + theta * target
            v = (1 - theta) * v + theta * pull


def _one_behind(
    self: Smooth, problem: Problem, w: Floats, hot: float, soft: SoftMin, mu: float
) -> Any:
    soft = problem.softmin(w, hot)
    return soften(soft.scores, hot)[0], soft.pull


mutant = partial(FAMILY.variant, Smooth)
mutant(
    "temperature-one-behind",
    "p_{k+1} = (1 − θ_k) p_k + θ_k p_{μ_k}(α_{k+1}), with μ_k in place of μ_{k+1}",
    "the excessive gap ½‖p_k‖² ≤ −L_μ(α_k) needs μ_{k+1} here",
    target=_one_behind,
)
mutant(
    "never-cools",
    "μ_{k+1} = μ_k",
    "the smoothed function stays 2 log n away from the true one",
    cooled=lambda self, theta, mu: mu,
)
mutant(
    "cools-too-fast",
    "μ_{k+1} = (1 − θ_k)² μ_k",
    "L_μ(α_k) ≤ −½‖p_k‖² needs a μ_k that falls no faster than θ_k²",
    cooled=lambda self, theta, mu: (1 - theta) ** 2 * mu,
)
mutant(
    "momentum-dropped",
    "α_{k+1} = (1 − θ_k) α_k + θ_k p_{μ_k}(α_k), with p_{μ_k}(α_k) in place of p_k",
    "α_k chases the newest answer, and L_μ(α_k) ≤ −½‖p_k‖² breaks",
    moved=lambda self, theta, alpha, p, p_mu: Smooth.moved(self, theta, alpha, p_mu, p_mu),
)
mutant(
    "exits-at-zero",
    "It halts when G α_k ≥ 0",
    "a row on the hyperplane is not classified, and inseparable data are called separated",
    equivalent="only where the smallest score of some α_k is exactly 0",
    separated=lambda self, soft: soft.smallest >= 0,
)


def _towards_worst(problem: Problem, alpha: Combination, k: int) -> Combination:
    worst = single_row(problem, int(np.argmin(alpha.scores)))
    return mix((1 - 1 / (k + 2), alpha), (1 / (k + 2), worst))


@FAMILY.mutant("perceptron-instead", "without smoothing the rate is 1/ρ², not √(log n)/ρ")
class PerceptronInstead(Smooth):
    """p_k = α_k, which moves to the row of the smallest score by 1/(k+2)."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        alpha, mu = combination(problem, np.full(problem.n, 1 / problem.n)), 2.0
        for k in count():
            soft = problem.softmin(alpha.w, mu)
            extra = {"p": alpha.weights, "v": alpha.w, "mu": mu}
            extra |= self.exit(problem, soft, alpha.w)
            yield Iterate(k, alpha.w, problem, soft, dual=alpha.weights, extra=extra)
            if "halt" in extra:
                return
            alpha = _towards_worst(problem, alpha, k)
            mu = self.cooled(2 / (k + 3), mu)


@FAMILY.mutant("reports-next-mu", "every iterate is right, but L_μ is taken at a wrong μ")
class ReportsNextMu(SNKP):
    """The μ_k that it reports is μ_{k+1}."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        for it in super().iterates(problem, rng):
            mu = (1 - 2 / (it.t + 3)) * it.extra["mu"]
            yield replace(it, extra=it.extra | {"mu": mu})


# NVN --------------------------------------------------------------------------------------------


class VonNeumann(NVN):
    """Algorithm 5."""

    def done(self, p: Combination) -> bool:
        return p.norm() <= self.epsilon

    def theta(self, k: int, ww: float, wa: float, aa: float) -> float:
        return _nearest(ww, wa, aa)

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        p = combination(problem, np.full(problem.n, 1 / problem.n))
        for k in count():
            if self.done(p):
                p = renewed(problem, p)
            extra: dict[str, Any] = {"norm": p.norm()}
            if self.done(p):
                extra["halt"] = "certificate"
                yield scored(k, p.w, problem, p.scores, dual=p.weights, **extra)
                return
            j = int(np.argmin(p.scores))
            row = single_row(problem, j)
            theta = self.theta(k, p.square(), float(p.scores[j]), float(row.scores[j]))
            extra |= {"i": j, "theta": theta, "scores": p.scores}
            yield Iterate(k, p.w, problem, dual=p.weights, extra=extra)
            p = mix((1 - theta, p), (theta, row))


mutant = partial(FAMILY.variant, VonNeumann)
mutant(
    "square-tested",
    "It halts when ‖w_k‖² ≤ ε",
    "its ε-solution is a √ε-solution",
    done=lambda self, p: p.square() <= self.epsilon,
)
mutant(
    "steps-shrink",
    "θ_k is what the line search finds, divided by k + 1",
    "‖w_k‖ falls as a power of 1/log k, not as 1/√k",
    theta=lambda self, k, ww, wa, aa: _nearest(ww, wa, aa) / (k + 1),
)
mutant(
    "overshoots",
    "θ_k is twice what the line search finds, cut to [0, 1]",
    "unless it is cut, w_{k+1} is as long as w_k",
    theta=lambda self, k, ww, wa, aa: min(1.0, 2 * _nearest(ww, wa, aa)),
)


# SNKPVN and ISNKPVN -----------------------------------------------------------------------------


class Inner:
    """SNKPVN(q, δ), for both methods."""

    def hottest(self, n: int) -> float:
        """μ_0."""
        return 2.0 * n

    def towards(self, q: Floats, scores: Floats, mu: float) -> Floats:
        return _towards(q, scores, mu)

    def small(self, p: Combination, delta: float) -> bool:
        return p.norm() < delta

    def cooled(self, mu: float, theta: float) -> float:
        return (1 - theta) * mu

    def outcome(self, alpha: Combination, p: Combination, delta: float) -> str | None:
        if alpha.separates():
            return "separated"
        return "certificate" if self.small(p, delta) else None

    def smoothed(self, problem: Problem, q: Combination, delta: float) -> Iterator[_Step]:
        alpha, mu = q, self.hottest(problem.n)
        p = p_mu = combination(problem, self.towards(q.weights, alpha.scores, mu))
        for k in count():
            if alpha.separates():
                alpha = renewed(problem, alpha)
            if self.small(p, delta):
                p = renewed(problem, p)
            outcome = self.outcome(alpha, p, delta)
            yield _Step(k, alpha, p, mu, outcome)
            if outcome:
                return
            theta = 2 / (k + 3)
            alpha = mix((1 - theta, alpha), ((1 - theta) * theta, p), (theta**2, p_mu))
            mu = self.cooled(mu, theta)
            p_mu = combination(problem, self.towards(q.weights, alpha.scores, mu))
            p = mix((1 - theta, p), (theta, p_mu))


class Unsmoothed(Inner):
    """SNKPVN(q, δ) without smoothing: p_k = α_k moves to the row of smallest score by 1/(k+2)."""

    def smoothed(self, problem: Problem, q: Combination, delta: float) -> Iterator[_Step]:
        alpha, mu = q, self.hottest(problem.n)
        for k in count():
            outcome = self.outcome(alpha, alpha, delta)
            yield _Step(k, alpha, alpha, mu, outcome)
            if outcome:
                return
            alpha = _towards_worst(problem, alpha, k)
            mu = self.cooled(mu, 2 / (k + 3))


class Once(Inner, SNKPVN):
    """Algorithm 6."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        centre = combination(problem, self._centre(problem.n))
        for step in self.smoothed(problem, centre, self.delta):
            extra = step.extra() | ({"halt": step.outcome} if step.outcome else {})
            yield Iterate(step.k, step.alpha.w, problem, dual=step.alpha.weights, extra=extra)


def _without_centre(self: Any, q: Floats, scores: Floats, mu: float) -> Floats:
    return _towards(np.zeros_like(q), scores, mu)


mutant = partial(FAMILY.variant, Once)
mutant(
    "starts-cold",
    "μ_0 = 2 in place of 2n",
    "the smoothing is weaker than the norm of the space asks for",
    hottest=lambda self, n: 2.0,
)
mutant(
    "never-cools",
    "μ_{k+1} = μ_k",
    "p_μ stays near the centre, whatever the scores are",
    cooled=lambda self, mu, theta: mu,
)
mutant(
    "perceptron-instead",
    "p_k = α_k, which moves to the row of the smallest score by 1/(k+2)",
    "without smoothing the rate is 1/ρ², not √n/ρ",
    smoothed=Unsmoothed.smoothed,
)
mutant(
    "square-tested",
    "It returns p_k when ‖p_k‖²_G < δ",
    "what it certifies is ‖p_k‖_G < √δ",
    small=lambda self, p, delta: p.square() < delta,
)
mutant(
    "centre-forgotten",
    "p^q_μ(α) is the projection of −G α/μ onto the simplex, without q",
    "the lemmas are about a projection from q − G α/μ",
    equivalent="only with a centre q of its own: the default 1/n does not move the projection",
    towards=_without_centre,
)


class Iterated(Inner, ISNKPVN):
    """Algorithm 7."""

    def halts(self, delta: float) -> bool:
        return delta < self.epsilon

    def following(self, q: Combination, p: Combination) -> Combination:
        """q_{t+1}."""
        return p

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        q = combination(problem, np.full(problem.n, 1 / problem.n))
        iterations = count()
        for t in count():
            delta = q.norm() / self.gamma
            for step in self.smoothed(problem, q, delta):
                extra = step.extra() | {"outer": t, "inner": step.k, "delta": delta}
                if step.outcome == "certificate":
                    extra["returned"] = True
                if step.outcome == "separated" or (step.outcome and self.halts(delta)):
                    extra["halt"] = step.outcome
                alpha = step.alpha
                yield Iterate(next(iterations), alpha.w, problem, dual=alpha.weights, extra=extra)
                if "halt" in extra:
                    return
            q = self.following(q, step.p)


mutant = partial(FAMILY.variant, Iterated)
mutant(
    "restarts-from-the-start",
    "q_{t+1} = q_0",
    "δ_t never gets smaller, so inseparable data are never certified",
    following=lambda self, q, p: q,
)
mutant(
    "perceptron-instead",
    "In every call p_k = α_k, which moves to the row of the smallest score by 1/(k+2)",
    "without smoothing a call needs 1/ρ² iterations, not √n/ρ",
    smoothed=Unsmoothed.smoothed,
)
mutant(
    "halts-at-first-return",
    "It halts after the first call, whatever δ_0 is",
    "its certificate is any q_1, not an ε-solution",
    halts=lambda self, delta: True,
)
mutant(
    "centre-forgotten",
    "p^q_μ(α) is the projection of −G α/μ onto the simplex, without q",
    "later calls start at q_t but are smoothed around 1/n",
    towards=_without_centre,
)

LOOPS = (
    Mean(),
    Multiplicative(),
    Multiplicative(0.3),
    Counts(),
    Smooth(),
    Smooth(0.2),
    VonNeumann(),
    Once(),
    Iterated(),
    Iterated(3.0, 0.1),
)
