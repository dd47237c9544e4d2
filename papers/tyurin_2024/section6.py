"""Section 6, A New Method, Normalized LR+GD, Yields a Faster Iteration Rate: Theorem 6.1.

The limits in the text before it are checked as in `gammabar.papers.tyurin_2024.section3`.
"""

from collections.abc import Callable

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.tyurin_2024.quantities import *
from gammabar.papers.tyurin_2024.reduction import UNKNOWN, NormalizedRate, Rate

GRADIENT = Method("normalized-lr-gd", "lr-gd", assumes=(has_step,))


class _Followed:
    """How fast θ_t of LR+GD or of Normalized LR+GD approaches the perceptron of its method.

    Of a solver that does not say which of them it is, the first step tells: the two differ by a
    factor of two.
    """

    def __init__(self, case: Case) -> None:
        known: dict[str, type[Rate]] = {"normalized-lr-gd": NormalizedRate, "lr-gd": Rate}
        found = known.get(method_of(case))
        self.rates: list[Rate] = [case.history(k) for k in ([found] if found else known.values())]

    def update(self, it: View) -> None:
        for rate in self.rates:
            rate.update(it)
        if it.t == 1:
            self.rates.sort(key=lambda rate: middle(rate.apart(it.here)))
            del self.rates[1:]


def _limits(it: View, case: Case, factor: Callable[[int], Number], weight: Callable[[int], Number]):
    """∇f(θ_t) → factor(|S_t|) Σ_S y_i a_i and β_t → weight(|S_t|), at the rates of the true limits.

    What is lost to rounding is no part of a bound: it must be small beside one row.
    """
    ((rate,), n, space) = case.history(_Followed).rates, it.n, it.space
    wrong = np.asarray(rate.path.wrong, dtype=np.float64)
    rows, doubt = int(wrong.sum()), rate.plain_doubt
    if rate.path.lost:
        yield fact(None, UNKNOWN)
        return
    if not rows:
        return
    if (zero := only_zeros(it)) is not None:
        yield zero
        return
    logistic, rounding = LogisticWeights(it), per_sum(space) * n
    mass, lost = logistic.sum()
    more = rate.doubt - doubt + rounding + lost
    limit = factor(rows) * combination(space, wrong)
    apart = (-(number(1) / n * logistic.pull()) - limit).norm()
    # Rows that are zero have both sides zero, but for what the ball of a norm leaves open.
    unseen = least(space) + 2 * float(apart.rad()) + space.radius * rounding * ROUNDOFF
    off, size = space.radius * more / n + unseen, space.least_radius / n
    near = {"rounding": off, "size": size, "magnitude": 2 * space.radius}
    yield nearly(apart, space.radius * doubt / n, "‖∇f(θ_t) − limit‖", **near)
    if doubt + more < rows:
        yield from _weights(it, n / ball(mass, lost), weight(rows), rows, doubt, more)
    elif doubt < rows:  # beyond that β_t may be anything
        yield fact(None, "|β_t − limit|, up to rounding")


def _weights(it: View, beta: Number, weight: Number, rows: int, doubt: float, more: float):
    """|β_t − limit| ≤ nT_t/(k(k − T_t)), of the true β_t and of the solver's."""
    n, off = it.n, doubt + more
    bound = n * doubt / (rows * (rows - doubt))
    wider = n * off / (rows * (rows - off)) - bound
    near = {"rounding": wider, "size": size_of(number(n) / rows**2), "magnitude": 2.0 * n}
    yield nearly(abs(beta - weight), bound, "|β_t − limit|", **near)
    said = it.extra.get("log_beta")
    if said is not None and (told := claimed_number(said)) is None:
        yield fact(False, "ln β_t is a number")
    elif said is not None:
        what = "|β_t − limit| for the solver's β_t"
        yield nearly(abs(exp(number(told)) - weight), bound, what, **near)


followed = tyurin.sharing(GRADIENT, _Followed, kind="limit", since=1)


@followed.bound("sec6.limits", "Section 6", Erratum("misprint", ".fixed"), problems=("loss-spike",))
def _limits_as_printed(it, c):
    r"""As γ → ∞, the gradient at θ_t tends to the mean of the misclassified rows, and β_t to their
    number.

    $\nabla f(\theta_t) \to \frac{1}{|S_t|}\sum_{i \in S_t} y_i a_i
    \text{ (see Theorem 3.2) and } \beta_t \to |S_t| \text{ when } \gamma \to \infty$"""
    return _limits(it, c, lambda rows: number(1) / rows, number)


@followed.bound("sec6.limits.fixed", "Section 6, with the right factors")
def limits(it, c):
    r"""As γ → ∞, the gradient at θ_t tends to minus the sum of the misclassified rows over n, and
    β_t to n over their number.

    $\nabla f(\theta_t) \to -\frac{1}{n}\sum_{i \in S_t} y_i a_i
    \text{ and } \beta_t \to \frac{n}{|S_t|} \text{ when } \gamma \to \infty, \text{ if } t \ge
    1, |S_t| \ne 0 \text{ and no } y_i a_i^\top\hat\theta_s \text{ with } 1 \le s \le t
    \text{ is } 0$"""
    return _limits(it, c, lambda rows: -number(1) / it.n, lambda rows: number(it.n) / rows)


@tyurin.stopping(
    "thm6.1", "Theorem 6.1", NORMALIZED, separable, slower="normalized-lr-gd/beta-frozen"
)
def _normalized_descent(c):
    r"""Normalized LR+GD separates separable data after at most R²/μ² + 2 log(2n−1)/(γμ²)
    iterations.

    $\text{Normalized LR+GD solves (1) after at most } \frac{R^2}{\mu^2}
    + \frac{2\log(2n-1)}{\gamma\mu^2} \text{ iterations if } \theta_0 = 0$

    The proof takes α = (2 log(2n−1) + R²)/(γμ); it should be α = (2 log(2n−1)/γ + R²)/μ,
    with which its last display, and so the theorem, is right."""
    return alpha_over_mu(c)
