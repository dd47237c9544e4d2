"""Ramdas and Peña (2015): normalised and smoothed perceptrons, the von Neumann algorithm, Winnow.

Rows are a_i = y_i x_i (in the space of a kernel y_i φ(x_i), divided by its norm where the problem
is normalised), G is their Gram matrix, and α ∈ Δ_n stands for w = Σ_i α_i a_i, so G α = A w. That
holds in every geometry, so every method but Winnow runs in every geometry; ``dual`` is α. The
theory is about rows of norm one: give the methods ``problem.unit()``, or a normalised kernel.

p(α) = argmin_{p ∈ Δ_n} ⟨G α, p⟩ is any distribution on the rows of smallest score. Here it is
the first such row; at α = 0, where all scores are equal, row 0.

A method that exits in the paper ends here: its last iterate has ``extra["halt"]``, "separated"
(G α > 0) or "certificate" (‖p‖_G ≤ ε). Where its condition is never met, it never ends.

References
----------
.. [1] A. Ramdas and J. Peña, Margins, kernels and non-linear smoothed perceptrons (2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from gammabar.problems import KernelProblem, Problem, ProblemError
from gammabar.problems.problem import Floats, soften
from gammabar.solvers.base import COORDINATES, Iterate, Rng, declare, scored
from gammabar.solvers.combinations import (
    Combination,
    combination,
    mix,
    nothing,
    renewed,
    single_row,
)

RP = "Ramdas & Peña 2015"
BOTH = ("separated", "certificate")


@declare("normalized-perceptron", f"{RP}, Algorithm 2", unit_ball=True, ends=("separated",))
class NormalizedPerceptron:
    """Algorithm 2 of the paper: the mean of the rows that were misclassified most.

        w_0 = 0
        w_{k+1} = (1 − θ_k) w_k + θ_k a_j     θ_k = 1/(k+1),  j = argmin_i ⟨a_i, w_k⟩

    (the first j at ties, ``extra["i"]``) while A w_k > 0 does not hold. Separates rows of norm one
    after at most 1/ρ₂² iterations (Section 2.2). The loop works on k w_k, exact for integer data.
    """

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = problem.origin()
        for k in count():
            scores = problem.scores(total)
            done, j = bool((scores > 0).all()), int(np.argmin(scores))
            extra = {"halt": "separated"} if done else {"i": j}
            yield scored(k, total / max(k, 1), problem, scores / max(k, 1), **extra)
            if done:
                return
            total = total + problem.row(j)


@declare("nkp", f"{RP}, Algorithm 3", unit_ball=True, ends=("separated",))
class NKP:
    """Normalized Kernel Perceptron, Algorithm 3 of the paper.

        α_0 = 0
        α_{k+1} = (1 − θ_k) α_k + θ_k p(α_k)     θ_k = 1/(k+1)

    while G α_k > 0 does not hold. Separates rows of norm one after at most 1/ρ_K² iterations.
    ``extra`` has "i", the row on which p(α_k) sits, and "scores" G α_k. One row of the Gram matrix
    per step: the loop carries k α_k and G (k α_k) along, without rounding if G is integer.

    Examples
    --------
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0], [1], [2]], [1, -1, 1], kernel="poly:degree=2,coef0=1")
    >>> *_, last = NKP().iterates(problem.unit())
    >>> last.t, last.extra["halt"], [round(23 * float(v)) for v in last.dual]
    (23, 'separated', [8, 11, 4])
    """

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        total = nothing(problem)
        for k in count():
            if total.separates():
                total = renewed(problem, total)
            alpha, w, scores = (part / max(k, 1) for part in total)
            if total.separates():
                yield scored(k, w, problem, scores, dual=alpha, halt="separated")
                return
            j = int(np.argmin(total.scores))
            yield Iterate(k, w, problem, dual=alpha, extra={"i": j, "scores": scores})
            total = mix((1.0, total), (1.0, single_row(problem, j)))


@declare("snkp", f"{RP}, Algorithm 4", unit_ball=True, ends=BOTH, positive=("epsilon",))
class SNKP:
    """Smoothed Normalized Kernel Perceptron, Algorithm 4 of the paper.

        α_0 = 1/n,  μ_0 = 2,  p_0 = p_{μ_0}(α_0)
        α_{k+1} = (1 − θ_k)(α_k + θ_k p_k) + θ_k² p_{μ_k}(α_k)     θ_k = 2/(k+3)
        μ_{k+1} = (1 − θ_k) μ_k
        p_{k+1} = (1 − θ_k) p_k + θ_k p_{μ_{k+1}}(α_{k+1})

    with p_μ(α) = softmax(−G α/μ), while G α_k > 0 does not hold; it is tested before the first
    step. Separates after at most 2 √(2 log n)/ρ_K steps (Theorem 1). One pass over the data per
    step. ``extra`` has "p" p_k, "v" its combination Aᵀ p_k and "mu" μ_k.

    With an ``epsilon`` it also exits when ‖p_k‖_G ≤ ε. Then the margin is at most ε, and this
    happens, or the data are separated, within 2 √(2 log n)/ε iterations, whatever the data
    (statement gb.snkp.any). The norm costs a kernel problem a second pass per step.
    """

    epsilon: float | None = None

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        alpha, mu = np.full(problem.n, 1 / problem.n), 2.0
        w = problem.combine(alpha)
        soft = problem.softmin(w, mu)
        p_mu = soften(soft.scores, mu)[0]  # p_{μ_k}(α_k)
        p, v = p_mu, soft.pull
        for k in count():
            extra = {"p": p, "v": v, "mu": mu}
            if soft.smallest > 0:
                extra["halt"] = "separated"
            elif self.epsilon is not None and problem.norm(v) <= self.epsilon:
                extra["halt"] = "certificate"
            yield Iterate(k, w, problem, soft, dual=alpha, extra=extra)
            if "halt" in extra:
                return
            theta = 2 / (k + 3)
            alpha = (1 - theta) * (alpha + theta * p) + theta**2 * p_mu
            w = (1 - theta) * (w + theta * v) + theta**2 * soft.pull
            mu = (1 - theta) * mu
            soft = problem.softmin(w, mu)
            p_mu = soften(soft.scores, mu)[0]
            p = (1 - theta) * p + theta * p_mu
            v = (1 - theta) * v + theta * soft.pull


@declare("nvn", f"{RP}, Algorithm 5", unit_ball=True, ends=("certificate",), positive=("epsilon",))
class NVN:
    """Normalized von Neumann algorithm, Algorithm 5: towards a proof of inseparability.

        p_0 = 1/n,  w_0 = Aᵀ p_0
        j = argmin_i ⟨a_i, w_k⟩ (first at ties)
        θ_k = argmin_{λ ∈ [0, 1]} ‖(1 − λ) w_k + λ a_j‖
        p_{k+1} = (1 − θ_k) p_k + θ_k e_j

    until ‖w_k‖ ≤ ε, which happens within 1/ε² iterations if rows of norm one are not separable;
    on data of margin above ε the method goes on for ever. One row of the Gram matrix per step:
    ‖w_k‖² = p_kᵀ G p_k is carried along, so an ε much below 1e-7 means nothing. ``extra`` has "i"
    j, "theta" θ_k, "norm" ‖w_k‖ and "scores" G p_k.
    """

    epsilon: float = 0.01

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        p = combination(problem, np.full(problem.n, 1 / problem.n))
        for k in count():
            if p.norm() <= self.epsilon:
                p = renewed(problem, p)
            norm = p.norm()
            if norm <= self.epsilon:
                halt = {"halt": "certificate", "norm": norm}
                yield scored(k, p.w, problem, p.scores, dual=p.weights, **halt)
                return
            j = int(np.argmin(p.scores))
            row = single_row(problem, j)
            theta = _nearest(p.square(), float(p.scores[j]), float(row.scores[j]))
            extra = {"i": j, "theta": theta, "norm": norm, "scores": p.scores}
            yield Iterate(k, p.w, problem, dual=p.weights, extra=extra)
            p = mix((1 - theta, p), (theta, row))


def _nearest(ww: float, wa: float, aa: float) -> float:
    """λ ∈ [0, 1] for which (1 − λ) w + λ a is shortest, from ⟨w, w⟩, ⟨w, a⟩ and ⟨a, a⟩."""
    gain, length = ww - wa, ww - 2 * wa + aa
    if gain <= 0 or length <= 0:  # w is nearest, or w = a
        return 0.0
    return min(1.0, gain / length)


@declare("snkpvn", f"{RP}, Algorithm 6", unit_ball=True, ends=BOTH, positive=("delta",))
class SNKPVN:
    """Smoothed Normalized Kernel Perceptron-VonNeumann, Algorithm 6 of the paper: SNKPVN(q, δ).

        α_0 = q,  μ_0 = 2n,  p_0 = p^q_{μ_0}(α_0)
        if G α_k > 0: halt with α_k;  else if ‖p_k‖_G < δ: return p_k;  else
        α_{k+1} = (1 − θ_k)(α_k + θ_k p_k) + θ_k² p^q_{μ_k}(α_k)     θ_k = 2/(k+3)
        μ_{k+1} = (1 − θ_k) μ_k
        p_{k+1} = (1 − θ_k) p_k + θ_k p^q_{μ_{k+1}}(α_{k+1})

    with p^q_μ(α) = argmin_{p ∈ Δ_n} ⟨G α, p⟩ + (μ/2) ‖p − q‖², the projection of q − G α/μ onto the
    simplex. The centre q ∈ Δ_n is 1/n by default. One pass over the Gram matrix per step, since
    G α_k and G p_k are carried along. ``extra`` has "p" p_k, "mu" μ_k, "norm_p" ‖p_k‖_G and
    "scores" G α_k.
    """

    delta: float = 0.01
    q: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.q is not None:
            object.__setattr__(self, "q", tuple(float(v) for v in self.q))

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        centre = combination(problem, self._centre(problem.n))
        for step in _smoothed(problem, centre, self.delta):
            extra = step.extra()
            if step.outcome:
                extra["halt"] = step.outcome
            yield Iterate(step.k, step.alpha.w, problem, dual=step.alpha.weights, extra=extra)

    def _centre(self, n: int) -> Floats:
        q = np.full(n, 1 / n) if self.q is None else np.array(self.q)
        if q.shape != (n,):
            raise ProblemError(f"q must have one weight for each of the {n} rows, not {q.size}")
        if not ((q >= 0).all() and abs(q.sum() - 1) <= 1e-12 * n):
            raise ProblemError("q must lie in the simplex: weights of at least 0 with sum 1")
        return q


@declare("isnkpvn", f"{RP}, Algorithm 7", unit_ball=True, ends=BOTH, positive=("epsilon",))
class ISNKPVN:
    """Iterated SNKPVN, Algorithm 7 of the paper, ISNKPVN(γ, ε)::

        q_0 = 1/n
        for t = 0, 1, 2, …:  δ_t = ‖q_t‖_G / γ
                             q_{t+1} = SNKPVN(q_t, δ_t)
                             if δ_t < ε: halt with q_{t+1}

    It also halts when SNKPVN does, with a separator. Every step of every call is yielded, and ``t``
    counts iterates, over all calls. ``extra`` has what that of `SNKPVN` has, "outer" t, "inner" k
    and "delta" δ_t, and "returned" where p_k becomes q_{t+1}. γ > 1 is not a margin.

    As printed, a call with δ_t = 0 never returns, since its test ‖p_k‖_G < δ_t is strict: where
    q_t is itself a witness of inseparability the method goes on for ever.
    """

    gamma: float = 2.0
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        if not 1 < self.gamma < math.inf:
            raise ProblemError(f"option gamma must be above 1 and finite, not {self.gamma!r}")

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        q = combination(problem, np.full(problem.n, 1 / problem.n))
        iterations = count()
        for t in count():
            delta = q.norm() / self.gamma
            for step in _smoothed(problem, q, delta):
                extra = step.extra() | {"outer": t, "inner": step.k, "delta": delta}
                if step.outcome == "certificate":
                    extra["returned"] = True
                if step.outcome == "separated" or (step.outcome and delta < self.epsilon):
                    extra["halt"] = step.outcome
                alpha = step.alpha
                yield Iterate(next(iterations), alpha.w, problem, dual=alpha.weights, extra=extra)
                if "halt" in extra:
                    return
            q = step.p


class _Step(NamedTuple):
    """The state of SNKPVN before its step k, and how it ends there, if it does."""

    k: int
    alpha: Combination
    p: Combination
    mu: float
    outcome: str | None

    def extra(self) -> dict[str, Any]:
        found = {"p": self.p.weights, "mu": self.mu, "norm_p": self.p.norm()}
        return found | {"scores": self.alpha.scores}


def _smoothed(problem: Problem, q: Combination, delta: float) -> Iterator[_Step]:
    """SNKPVN(q, δ)."""
    alpha, mu = q, 2.0 * problem.n
    p_mu = combination(problem, _towards(q.weights, alpha.scores, mu))  # p^q_{μ_k}(α_k)
    p = p_mu
    for k in count():
        if alpha.separates():
            alpha = renewed(problem, alpha)
        if p.norm() < delta:
            p = renewed(problem, p)
        outcome = None
        if alpha.separates():
            outcome = "separated"
        elif p.norm() < delta:
            outcome = "certificate"
        yield _Step(k, alpha, p, mu, outcome)
        if outcome:
            return
        theta = 2 / (k + 3)
        alpha = mix((1 - theta, alpha), ((1 - theta) * theta, p), (theta**2, p_mu))
        mu = (1 - theta) * mu
        p_mu = combination(problem, _towards(q.weights, alpha.scores, mu))
        p = mix((1 - theta, p), (theta, p_mu))


def _towards(q: Floats, scores: Floats, mu: float) -> Floats:
    """p^q_μ: the point of the simplex nearest to q − scores/μ, by sorting."""
    # Adding a constant to the scores changes nothing; this one keeps what matters near one.
    target = q - (scores - scores.min()) / mu
    ordered = np.sort(target)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, q.size + 1)
    shift = excess[np.flatnonzero(ordered > excess)[-1]]
    p: Floats = np.maximum(target - shift, 0.0)
    return p


@declare("winnow", f"{RP}, Section 2.2", COORDINATES, ends=("separated",), positive=("rate",))
class Winnow:
    """Winnow: w ∈ Δ_d with A w > 0, by multiplicative weights, Section 2.2.

        w_0 = 1/d
        w_t ∝ exp(η_t (g_1 + … + g_t))     g_{t+1} = a_i / ‖a_i‖_∞,  i = argmin_i ⟨a_i, w_t⟩

    (the first i at ties, ``extra["i"]``, and g = 0 for a zero row), while A w_t > 0 does not hold.
    Only non-negative w are searched; give the columns twice, the second time negated, to search all
    of ℝ^d. Without a constant ``rate`` η, η_t = √(log d / (t+1)).

    The paper gives neither the update nor its rate. With the margin ρ₁ = max_{w ∈ Δ_d} min_i
    ⟨a_i, w⟩/‖a_i‖_∞ > 0 the number T of updates is at most

        log d / (η ρ₁ − η²/2)     for constant η < 2 ρ₁, so 2 log d / ρ₁² for η = ρ₁,
        4 log d / ρ₁²             for the default rate.

    *Proof.* Let Φ_t(η) = (1/η) log((1/d) Σ_j exp(η G_t,j)), G_t = g_1 + … + g_t, which does not
    decrease with η. Hoeffding's lemma, ``|g_j| ≤ 1`` and ⟨g_{t+1}, w_t⟩ ≤ 0 give Φ_{t+1}(η_t) ≤
    Φ_t(η_t) + η_t/2. For rates that do not increase, Φ_T(η_{T−1}) ≤ Σ_{t<T} η_t/2. For u ∈ Δ_d
    that attains ρ₁, Φ_T(η) ≥ ⟨u, G_T⟩ − (log d)/η ≥ T ρ₁ − (log d)/η. Together
    T ρ₁ ≤ Σ_{t<T} η_t/2 + (log d)/η_{T−1}; insert the rates. (The text prints log n for log d.)
    """

    rate: float | None = None

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]:
        if isinstance(problem, KernelProblem):
            raise ProblemError(
                "winnow multiplies the coordinates of w, and the space of a kernel has none; "
                "use nkp or perceptron, or leave out the kernel"
            )
        total = problem.origin()
        for t in count():
            w = soften(-self._rate(t, total.size) * total, 1.0)[0]
            scores = problem.scores(w)
            done, i = bool((scores > 0).all()), int(np.argmin(scores))
            extra = {"halt": "separated"} if done else {"i": i}
            yield scored(t, w, problem, scores, **extra)
            if done:
                return
            row = problem.row(i)
            total = total + row / (np.abs(row).max() or 1.0)

    def _rate(self, t: int, d: int) -> float:
        return math.sqrt(math.log(d) / (t + 1)) if self.rate is None else self.rate
