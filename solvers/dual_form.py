"""Ji, Srebro and Telgarsky (2021), Section 3.2: Nesterov's method on the dual, in three sequences.

    ν_t     = (1 − λ_t) μ_t + λ_t q_t                      μ_0 = q_0 = ∇ψ(0)
    p_{t+1} = p_t + θ_t/(ρ λ_t) A Aᵀ ν_t                   p_0 = 0
    q_{t+1} = ∇ψ(−p_{t+1})
    μ_{t+1} = (1 − λ_t) μ_t + λ_t q_{t+1}
    w_{t+1} = w_t + θ_t/(ρ λ_t) Aᵀ ν_t                     eq. (3.3)

The first four lines never need w: this is the form for kernels. Rows of A are y_i x_i; the signs
are those of the paper with Z = −A, and p_t is minus the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import ClassVar, TypeAlias

import numpy as np

from gammabar.problems import Problem, ProblemError
from gammabar.solvers.base import ALL_GEOMETRIES, Card, Iterate
from gammabar.solvers.potential import check_loss, check_positive, gradient, smoothness

Schedule: TypeAlias = Callable[[int], float]


def _recursive(t: int) -> float:
    """λ_0 = 1 and λ²_{t+1} = (1 − λ_{t+1}) λ²_t."""
    value = 1.0
    for _ in range(t):
        square = value * value
        value = (math.sqrt(square * square + 4 * square) - square) / 2
    return value


#: λ_t that have a name.
MIXING: dict[str, Schedule] = {
    "accelerated": lambda t: 2 / (t + 2),
    "slower": lambda t: 3 / (t + 3),
    "recursive": cache(_recursive),
    "halved": lambda t: 0.5 if t else 1.0,
}


@dataclass(frozen=True)
class DualForm:
    """Algorithm 1 of [1]_ written in its dual variables, for any λ_t and θ_t in (0, 1].

    With λ_t = 2/(t+2) its w_t are those of `DualAcceleration` (Lemma 3.4); with λ_t = 1 there is
    no acceleration, ν_t = μ_t = q_t, and it is the dual averaging of Appendix B, in the primal
    normalised gradient descent. The update of q is that of eq. (B.2) with ω = ψ*; for the
    exponential loss q_{t+1} ∝ q_t ⊙ exp(−θ_t/λ_t A Aᵀν_t). Sums p_t are kept rather than
    products, since weights that have once underflowed would never come back.

    The theory assumes rows of norm at most one: run it on ``problem.unit()``.

    Parameters
    ----------
    mixing : "accelerated", "slower", "recursive", "halved", float or function of t
        λ_t: 2/(t+2), 3/(t+3), the solution of λ²_{t+1} = (1 − λ_{t+1}) λ²_t from λ_0 = 1, 1 and
        then ½, a constant (1 is the method without acceleration), or any sequence.
    step : float or function of t
        θ_t. Theorem 3.1 takes 1.
    loss : "exponential" or "logistic"
    smoothness : float, optional
        ρ of Appendix C; by default 1 for the exponential loss and n for the logistic loss.

    Notes
    -----
    An iterate carries q_t as ``dual`` and ``extra`` has "mu" (μ_t), "nu" (ν_t) and "p" (p_t, equal
    to A w_t up to the rounding of t additions).

    References
    ----------
    .. [1] Z. Ji, N. Srebro and M. Telgarsky, Fast margin maximization via dual acceleration,
       ICML 2021, Section 3.2 and Appendices B and C.

    Examples
    --------
    >>> from itertools import islice
    >>> from gammabar.problems import from_arrays
    >>> problem = from_arrays([[0.0], [1.0], [3.0]], [-1, 1, 1], kernel="rbf:gamma=1")
    >>> last = list(islice(DualForm().iterates(problem), 100))[-1]
    >>> bool(last.extra["mu"].sum().round(12) == 1), round(last.margin, 3)
    (True, 0.493)
    """

    mixing: float | Schedule | str = "accelerated"
    step: float | Schedule = 1.0
    loss: str = "exponential"
    smoothness: float | None = None

    card: ClassVar[Card] = Card(
        name="dual-acceleration-dual",
        reference="Ji, Srebro and Telgarsky (2021), Section 3.2 and Appendices B and C",
        geometries=ALL_GEOMETRIES,
        unit_ball=True,
    )

    def __post_init__(self) -> None:
        if isinstance(self.mixing, str) and self.mixing not in MIXING:
            names = ", ".join(MIXING)
            what = f"option mixing must be {names}, a number or a function, not {self.mixing!r}"
            raise ProblemError(what)
        check_loss(self.loss)
        if self.smoothness is not None:
            check_positive("smoothness", self.smoothness)
        self.lambda_(0)
        self.theta(0)

    def lambda_(self, t: int) -> float:
        """λ_t."""
        if isinstance(self.mixing, str):
            return MIXING[self.mixing](t)
        return _unit_interval("mixing", self.mixing, t)

    def theta(self, t: int) -> float:
        """θ_t."""
        return _unit_interval("step", self.step, t)

    def rho(self, n: int) -> float:
        """ρ for n rows."""
        return smoothness(self.loss, n) if self.smoothness is None else self.smoothness

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
        """w_0 = 0, w_1, …; without end."""
        rho = self.rho(problem.n)
        w = problem.origin()
        p = np.zeros(problem.n)
        q = mu = gradient(p, self.loss)
        for t in count():
            lam, theta = self.lambda_(t), self.theta(t)
            nu = (1 - lam) * mu + lam * q
            yield Iterate(t, w, problem, dual=q, extra={"mu": mu, "nu": nu, "p": p})
            pull = problem.combine(nu)
            w = w + theta / (rho * lam) * pull
            p = p + theta / (rho * lam) * problem.scores(pull)
            q = gradient(p, self.loss)
            mu = (1 - lam) * mu + lam * q


def _unit_interval(option: str, schedule: float | Schedule, t: int) -> float:
    value = float(schedule(t) if callable(schedule) else schedule)
    if not 0 < value <= 1:
        raise ProblemError(f"option {option} must lie in (0, 1], but is {value!r} at t = {t}")
    return value
