"""The primal-dual methods of Ramdas and Peña (2015), Algorithms 6 and 7.

They end with a separator or with a certificate that the margin is small. Rows, G, α and the
convention for halting are those of `solvers.ramdas_pena`; the theory is about rows of norm one.

References
----------
.. [1] A. Ramdas and J. Peña, Margins, kernels and non-linear smoothed perceptrons (2015),
   Section 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gammabar.problems import Problem, ProblemError
from gammabar.problems.base import Floats
from gammabar.solvers._combinations import Combination, combination, mix, renewed
from gammabar.solvers.base import ALL_GEOMETRIES, Card, Iterate
from gammabar.solvers.potential import check_positive


@dataclass(frozen=True)
class SNKPVN:
    """Smoothed Normalized Kernel Perceptron-VonNeumann, Algorithm 6 of [1]_: SNKPVN(q, δ).

        α_0 = q,  μ_0 = 2n,  p_0 = p^q_{μ_0}(α_0)
        if G α_k > 0: halt with α_k;  else if ‖p_k‖_G < δ: return p_k;  else
        α_{k+1} = (1 − θ_k)(α_k + θ_k p_k) + θ_k² p^q_{μ_k}(α_k)     θ_k = 2/(k+3)
        μ_{k+1} = (1 − θ_k) μ_k
        p_{k+1} = (1 − θ_k) p_k + θ_k p^q_{μ_{k+1}}(α_{k+1})

    with p^q_μ(α) = argmin_{p ∈ Δ_n} ⟨G α, p⟩ + (μ/2) ‖p − q‖², the projection of q − G α/μ onto the
    simplex. One pass over the Gram matrix per step, since G α_k and G p_k are carried along.

    Parameters
    ----------
    delta : float
        δ > 0. The test is strict.
    q : sequence of n floats, optional
        The centre, a point of the simplex; by default 1/n.

    Notes
    -----
    Iterates carry ``dual`` α_k and in ``extra`` "p" p_k, "mu" μ_k, "norm_p" ‖p_k‖_G (the root of
    p_kᵀ G p_k, not below 0) and "scores" G α_k. The last one has "halt": "separated" (w is the
    separator), or "certificate" (‖p_k‖_G < δ).

    References
    ----------
    .. [1] A. Ramdas and J. Peña, Margins, kernels and non-linear smoothed perceptrons (2015).

    Examples
    --------
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[1, 0], [1, 0], [1, 0]], [1, 1, -1])
    >>> *_, last = SNKPVN(delta=0.01).iterates(problem)
    >>> last.extra["halt"], [round(float(v), 2) for v in last.extra["p"]]
    ('certificate', [0.25, 0.25, 0.5])
    """

    delta: float = 0.01
    q: tuple[float, ...] | None = None

    #: How it ends in the paper.
    ends: ClassVar[tuple[str, ...]] = ("separated", "certificate")
    card: ClassVar[Card] = Card(
        "snkpvn",
        "Ramdas & Peña 2015, Algorithm 6",
        ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        check_positive("delta", self.delta)
        if self.q is not None:
            object.__setattr__(self, "q", tuple(float(v) for v in self.q))

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
        centre = combination(problem, self._centre(problem.n))
        for step in _smoothed(problem, centre, self.delta):
            extra = step.extra()
            if step.outcome:
                extra["halt"] = step.outcome
            yield Iterate(step.k, step.alpha.w, problem, dual=step.alpha.weights, extra=extra)

    def _centre(self, n: int) -> Floats:
        if self.q is None:
            return np.full(n, 1 / n)
        q = np.array(self.q)
        if q.shape != (n,):
            raise ProblemError(f"q must have one weight for each of the {n} rows, not {q.size}")
        if not ((q >= 0).all() and abs(q.sum() - 1) <= 1e-12 * n):
            raise ProblemError("q must lie in the simplex: weights of at least 0 with sum 1")
        return q


@dataclass(frozen=True)
class ISNKPVN:
    """Iterated SNKPVN, Algorithm 7 of [1]_, ISNKPVN(γ, ε)::

        q_0 = 1/n
        for t = 0, 1, 2, …:  δ_t = ‖q_t‖_G / γ
                             q_{t+1} = SNKPVN(q_t, δ_t)
                             if δ_t < ε: halt with q_{t+1}

    It also halts when SNKPVN does, with a separator. Every step of every call is yielded, so there
    is no loop that the caller cannot stop; ``t`` counts iterates, over all calls.

    As printed, a call with δ_t = 0 never returns, since its test ‖p_k‖_G < δ_t is strict: if q_t
    is itself a witness of inseparability, as q_0 = (½, ½) is of the rows a and −a, the method goes
    on for ever.

    Parameters
    ----------
    gamma : float
        γ > 1, the factor between ‖q_t‖_G and δ_t. Not a margin.
    epsilon : float
        ε > 0.

    Notes
    -----
    Iterates carry what those of `SNKPVN` do and in ``extra`` "outer" t, "inner" k and "delta" δ_t,
    and "returned" where p_k becomes q_{t+1}. The last one has "halt": "separated", or
    "certificate" (p_k = q_{t+1} is the ε-solution).

    References
    ----------
    .. [1] A. Ramdas and J. Peña, Margins, kernels and non-linear smoothed perceptrons (2015).

    Examples
    --------
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[1, 0], [1, 0], [1, 0]], [1, 1, -1])
    >>> *_, last = ISNKPVN(gamma=2.0, epsilon=0.01).iterates(problem)
    >>> last.extra["halt"], last.extra["outer"], last.extra["inner"]
    ('certificate', 2, 1)
    """

    gamma: float = 2.0
    epsilon: float = 0.01

    #: How it ends in the paper.
    ends: ClassVar[tuple[str, ...]] = ("separated", "certificate")
    card: ClassVar[Card] = Card(
        "isnkpvn",
        "Ramdas & Peña 2015, Algorithm 7",
        ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        if not 1 < self.gamma < math.inf:
            raise ProblemError(f"option gamma must be above 1 and finite, not {self.gamma!r}")

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
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
                yield Iterate(
                    next(iterations), step.alpha.w, problem, dual=step.alpha.weights, extra=extra
                )
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
        return {
            "p": self.p.weights,
            "mu": self.mu,
            "norm_p": self.p.norm(),
            "scores": self.alpha.scores,
        }


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
