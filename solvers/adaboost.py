"""AdaBoost: Freund and Schapire's reduction of learning to weak learning.

    D_1(i)     = 1/n
    h_t        = WL(D_t)
    ε_t        = P_{D_t}[h_t(x) ≠ y]
    α_t        = ½ log((1 − ε_t)/ε_t)
    D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i) / z_{t+1}
    H          = Σ_t α_t h_t

(Sharan, Lecture 9, Algorithm 3.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Protocol

import numpy as np

from gammabar.problems import DenseProblem, Problem, ProblemError, SparseProblem
from gammabar.solvers.base import Array, Card, Iterate
from gammabar.solvers.stumps import BestStump

Hypothesis = Callable[[Any], Array]


class WeakLearner(Protocol):
    """Anything that, for points X and labels y, gives a function from distributions to hypotheses.

    A hypothesis takes a matrix of points to an array of −1 and +1. What a learner computes from X
    and y alone it computes once:

    >>> def constants(X, y):
    ...     return lambda D: (lambda X: np.full(X.shape[0], 1 if D @ y >= 0 else -1))
    """

    def __call__(self, X: Any, y: Array) -> Callable[[Array], Hypothesis]: ...


@dataclass(frozen=True)
class Vote(Iterate):
    """An iterate of `AdaBoost`: ``w`` has α_1, …, α_t, and the margin is that of the vote.

    Attributes
    ----------
    votes : array of length n
        y_i H(x_i); these are its `scores`. `norm` is Σ_s |α_s|, so `margin` is the smallest
        y_i H(x_i) / Σ_s |α_s|, and `weights` (the dual weights) are D_{t+1}.
    hypotheses : tuple
        h_1, …, h_t.
    """

    votes: Array = field(default_factory=lambda: np.empty(0), repr=False)
    hypotheses: tuple[Hypothesis, ...] = field(default=(), repr=False)

    @cached_property
    def scores(self) -> Array:
        """y_i H(x_i)."""
        return self.votes

    @cached_property
    def norm(self) -> float:
        """Σ_s |α_s|."""
        return float(np.abs(self.w).sum())

    @cached_property
    def error(self) -> float:
        """Training error: the part of the points with sign(H(x_i)) ≠ y_i; H(x_i) = 0 is wrong."""
        return int(np.count_nonzero(self.votes <= 0)) / len(self.votes)

    def value(self, X: Any) -> Array:
        """H(x) for the rows of X."""
        H = np.zeros(X.shape[0])
        for alpha, h in zip(self.w, self.hypotheses, strict=True):
            H += alpha * h(X)
        return H

    def predict(self, X: Any) -> Array:
        """sign(H(x)) for the rows of X: −1, 0 or +1."""
        return np.sign(self.value(X)).astype(np.int8)


@dataclass(frozen=True)
class AdaBoost:
    """AdaBoost [1]_ with decision stumps or any other weak learner.

    The iterate t is the vote after t rounds, a `Vote`. From t = 1 on its ``extra`` has, under the
    names of the lecture, ``D`` (D_t), ``epsilon`` (ε_t), ``gamma`` (γ_t = ½ − ε_t), ``alpha``
    (α_t) and ``z`` (z_{t+1}), and always ``product``, which is z_2 ⋯ z_{t+1}.

    As printed, the algorithm is undefined if a hypothesis makes no mistake: ε_t = 0, α_t = ∞ and
    D_{t+1} = 0/0. The vote is then what H / Σ|α_s| tends to as ε_t → 0, h_t alone with weight 1;
    α_t = ∞ and z_{t+1} = 0 are reported, D_{t+1} is D_t, and all later iterates are the same.
    Likewise −h_t alone if h_t is always wrong, ε_t = 1.

    Parameters
    ----------
    learner : callable
        The weak learner; see `WeakLearner`.

    References
    ----------
    .. [1] V. Sharan, Lecture 9: SGD, boosting, kernels, Algorithm 3; after Y. Freund and R. E.
       Schapire, A decision-theoretic generalization of on-line learning and an application to
       boosting (1997).

    Examples
    --------
    >>> problem = DenseProblem(np.array([[1], [2], [3]]), np.array([1, -1, 1]))
    >>> votes = AdaBoost().iterates(problem)
    >>> [next(votes).error for _ in range(4)]
    [1.0, 0.3333333333333333, 0.3333333333333333, 0.0]
    """

    card: ClassVar[Card] = Card(
        name="adaboost",
        reference="Sharan, Lecture 9: SGD, boosting, kernels, Algorithm 3",
        geometries=("dense", "sparse", "stumps"),
    )

    learner: WeakLearner = field(default_factory=BestStump)

    def iterates(
        self, problem: Problem, rng: np.random.Generator | None = None
    ) -> Iterator[Iterate]:
        """Yield the empty vote, the vote of h_1, … without end; `rng` is not used."""
        if not isinstance(problem, DenseProblem | SparseProblem):
            raise ProblemError(
                f"AdaBoost needs points and two classes, dense or sparse, not a "
                f"{type(problem).__name__}"
            )
        X, y = problem.X, problem.y
        learn = self.learner(X, y)
        D = np.full(problem.n, 1 / problem.n)
        vote = Vote(0, np.empty(0), problem, dual=D, extra={"product": 1.0}, votes=np.zeros(len(y)))
        for t in count(1):
            yield vote
            h = self._learn(learn, D)
            agrees = _checked(h(X), y)  # h_t(x_i) y_i
            if abs(int(agrees.sum())) == problem.n:
                break
            epsilon = float(D[agrees < 0].sum())
            alpha = self._alpha(_positive(float(D[agrees > 0].sum())), _positive(epsilon))
            new, z = self._reweighed(D, alpha, agrees)
            extra = _extra(D, epsilon, alpha, z, vote)
            D, say = new, self._say(alpha)
            w, hypotheses = np.append(vote.w, say), (*vote.hypotheses, h)
            votes = vote.votes + say * agrees
            vote = Vote(t, w, problem, None, D, None, extra, votes, hypotheses)
        sign = float(agrees[0])
        extra = _extra(D, (1 - sign) / 2, sign * math.inf, 0.0, vote)
        for s in count(t):
            yield Vote(s, np.array([sign]), problem, None, D, None, extra, np.ones(problem.n), (h,))

    def _learn(self, learn: Callable[[Array], Hypothesis], D: Array) -> Hypothesis:
        return learn(D)

    def _alpha(self, right: float, wrong: float) -> float:
        """α_t from 1 − ε_t and ε_t."""
        return 0.5 * math.log(right / wrong)

    def _say(self, alpha: float) -> float:
        """The weight of h_t in the vote."""
        return alpha

    def _reweighed(self, D: Array, alpha: float, agrees: Array) -> tuple[Array, float]:
        """D_{t+1} and z_{t+1}."""
        unnormalised = D * np.exp(-alpha * agrees)
        z = float(unnormalised.sum())
        return unnormalised / z, z


def _extra(D: Array, epsilon: float, alpha: float, z: float, before: Vote) -> dict[str, Any]:
    product = before.extra["product"] * z
    gamma = 0.5 - epsilon
    return {
        "D": D,
        "epsilon": epsilon,
        "gamma": gamma,
        "alpha": alpha,
        "z": z,
        "product": product,
    }


def _checked(values: Any, y: Array) -> Array:
    """h(x_i) y_i for a hypothesis that is one."""
    values = np.asarray(values)
    if values.shape != y.shape or not (np.abs(values) == 1).all():
        raise ProblemError(
            f"a hypothesis of the weak learner must return −1 or +1 for each of the {len(y)} "
            f"points; its result has shape {values.shape}"
        )
    return np.asarray(values * y, dtype=np.int64)


def _positive(weight: float) -> float:
    """A weight that is positive in mathematics, and must be so in doubles."""
    if not weight > 0:
        raise ProblemError(
            "the points on which a hypothesis differs from the rest have a total weight below the "
            "smallest double, so AdaBoost cannot go on; stop at this iterate"
        )
    return weight
