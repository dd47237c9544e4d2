"""Losses of a margin, and the generalised sum ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)), in balls.

A loss is a function of ξ = −⟨a, w⟩ and increases. Besides the exponential and the logistic loss
there is the polynomial one of Ji and Telgarsky (2021), with a tail of degree k.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gammabar.harness.verify.certified import Vec
from gammabar.harness.verify.identities import pull_of
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import (
    Number,
    ball,
    between,
    exp,
    log,
    middle,
    number,
    smallest,
    total,
    upper,
)


class Loss:
    """The exponential loss ℓ(x) = eˣ, and what every loss has."""

    name = "exponential"

    def value(self, x: Number) -> Number:
        """ℓ(x)."""
        return exp(x)

    def slope(self, x: Number) -> Number:
        """ℓ′(x)."""
        return exp(x)

    def curvature(self, x: Number) -> Number:
        """ℓ″(x)."""
        return exp(x)

    def inverse(self, s: Number) -> Number:
        """ℓ⁻¹(s) for s > 0."""
        return log(s)


class _Logistic(Loss):
    """ℓ(x) = ln(1 + eˣ)."""

    name = "logistic"

    def value(self, x: Number) -> Number:
        return x + (-x).exp().log1p() if x > 0 else x.exp().log1p()

    def slope(self, x: Number) -> Number:
        return 1 / (1 + (-x).exp())

    def curvature(self, x: Number) -> Number:
        return self.slope(x) * self.slope(-x)

    def inverse(self, s: Number) -> Number:
        return log(s.expm1())


class Polynomial(Loss):
    """ℓ(x) = (1 − x)⁻ᵏ for x ≤ 0, and 2kx + (1 + x)⁻ᵏ for x > 0."""

    name = "polynomial"

    def __init__(self, k: float) -> None:
        self.k = number(k)

    def value(self, x: Number) -> Number:
        left = self._power(1 - x, 0)
        return self._chosen(x, left, 2 * self.k * x + self._power(1 + x, 0))

    def slope(self, x: Number) -> Number:
        left = self.k * self._power(1 - x, 1)
        return self._chosen(x, left, 2 * self.k - self.k * self._power(1 + x, 1))

    def curvature(self, x: Number) -> Number:
        both = self.k * (self.k + 1)
        return self._chosen(x, both * self._power(1 - x, 2), both * self._power(1 + x, 2))

    def inverse(self, s: Number) -> Number:
        if s <= 1:
            return 1 - s ** (-1 / self.k)
        guess = number(max(0.0, (middle(s) - 1) / (2 * middle(self.k))))
        for _ in range(60):
            guess = (guess - (self.value(guess) - s) / self.slope(guess)).mid()
        # ℓ′ ≥ k for x ≥ 0, and s may be a little below 1, where ℓ′ ≥ k/2.
        return guess + ball(0.0, 2 * upper(self.value(guess) - s) / middle(self.k))

    def _power(self, base: Number, more: int) -> Number:
        return base ** (-self.k - more)

    def _chosen(self, x: Number, left: Number, right: Number) -> Number:
        """The branch of x; where its sign is not known, a ball that contains both."""
        return left if x <= 0 else right if x > 0 else left.union(right)


EXPONENTIAL, LOGISTIC = Loss(), _Logistic()


class FlatExponential(Loss):
    """ℓ(x) = e^{ax} for x < 0, and 1 + ax for x ≥ 0, with the constants of Wu et al. (2024).

    `at_zero` is ℓ(0); C_g, C_β and C_e are those of their Assumption 3. `tail` says whether it has
    an exponential tail.
    """

    name, tail = "flat exponential", True

    def __init__(self, a: float = 1.0) -> None:
        self.a = number(a)
        self.at_zero, self.c_g, self.c_e = number(1), self.a, 1 / self.a
        self.c_beta = -smallest([-self.a, -self.a * exp(self.a) / 2, number(-1)])

    def value(self, x: Number) -> Number:
        return exp(self.a * x) if x < 0 else 1 + self.a * x

    def slope(self, x: Number) -> Number:
        return self.a * exp(self.a * x) if x < 0 else self.a

    def path_bound(self, lam: Number) -> Number:
        """A bound on `path_length`."""
        return 1 + log(lam) ** 2 / self.a**2

    def path_length(self, lam: Number) -> Number:
        """ρ(λ) = min_z λℓ(−z) + z², enclosed: f is 2-strongly convex, so min f ≥ f − f′²/4."""
        low, high = 0.0, 100.0
        for _ in range(80):
            z = (low + high) / 2
            uphill = 2 * z - lam * self.slope(number(-z)) > 0
            low, high = (low, z) if uphill else (z, high)
        best = number(high)
        top, slope = lam * self.value(-best) + best * best, 2 * best - lam * self.slope(-best)
        return between(top - slope**2 / 4, top)


class FlatPolynomial(FlatExponential):
    """ℓ(x) = (1 − x)^{−a} for x < 0, and 1 + ax for x ≥ 0."""

    name, tail = "flat polynomial", False

    def __init__(self, a: float = 1.0) -> None:
        super().__init__(a)
        self.c_beta = -smallest([-self.a, -(self.a + 1) * number(2) ** self.a])

    def value(self, x: Number) -> Number:
        return (1 - x) ** -self.a if x < 0 else 1 + self.a * x

    def slope(self, x: Number) -> Number:
        return self.a * (1 - x) ** (-self.a - 1) if x < 0 else self.a

    def path_bound(self, lam: Number) -> Number:
        return 2 * lam ** (2 / (self.a + 2))


class FlatLogistic(FlatExponential):
    """The logistic loss, which is flat by itself, with the same constants."""

    name = "logistic"

    def __init__(self, a: float = 1.0) -> None:
        super().__init__(1)
        self.at_zero, self.c_e, self.c_beta = log(2), number(2), exp(1) / 2

    def value(self, x: Number) -> Number:
        return LOGISTIC.value(x)

    def slope(self, x: Number) -> Number:
        return LOGISTIC.slope(x)


class GeneralisedSum:
    """ψ(ξ), ∇ψ(ξ) and what bounds ∇²ψ(ξ), for a list of balls ξ_i.

    `mass` is Σ_i ℓ(ξ_i), and `slope` is ℓ′(ψ(ξ)).
    """

    def __init__(self, loss: Loss, xi: list[Number]) -> None:
        self.loss, self.xi = loss, xi
        self.mass = total(loss.value(x) for x in xi)
        self.psi = loss.inverse(self.mass)
        self.slope = loss.slope(self.psi)

    @classmethod
    def at(cls, it: View, loss: Loss) -> GeneralisedSum:
        """At ξ = −A w_t."""
        return cls(loss, [-s for s in it.scores])

    @cached_property
    def weights(self) -> list[Number]:
        """∇ψ(ξ)_i = ℓ′(ξ_i)/ℓ′(ψ(ξ))."""
        return [self.loss.slope(x) / self.slope for x in self.xi]

    @cached_property
    def curvature(self) -> Number:
        """Σ_i ℓ″(ξ_i)/ℓ′(ψ(ξ)), which bounds vᵀ∇²ψ(ξ)v for |v_i| ≤ 1."""
        return total(self.loss.curvature(x) for x in self.xi) / self.slope

    def pull(self, it: View) -> Vec:
        """Aᵀ∇ψ(ξ)."""
        mids = np.array([middle(q) for q in self.weights])
        off = max(upper(q - m) / m for q, m in zip(self.weights, mids.tolist(), strict=True) if m)
        return pull_of(it.case, mids, off + 1e-290)  # with what underflows
