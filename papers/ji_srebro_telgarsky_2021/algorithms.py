"""The algorithms of Ji, Srebro and Telgarsky (2021), line by line, for any type of numbers.

Literal and slow; shares no code with the solvers. Vectors are NumPy arrays of `flint.arb` balls
that contain the true values, or of other numbers; the caller chooses the precision with
``flint.ctx.workprec``. Signs are the paper's: z_i = −y_i x_i, so the rows of Z are minus the rows
of the project, and g_t is minus the solvers' momentum.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

_Vector = NDArray[Any]
_Schedule = Callable[[int], Any]


def _balls(values: list[Any]) -> _Vector:
    return np.array([arb(v) for v in values], dtype=object)


class Rows:
    """Z, by the entries of its rows that are not zero; `zero` is w = 0."""

    def __init__(self, rows: list[dict[int, arb]], columns: int) -> None:
        self._rows, self.n, self.zero = rows, len(rows), _balls([0] * columns)

    def times(self, w: _Vector) -> _Vector:
        """Zw."""
        return _balls([sum((v * w[j] for j, v in row.items()), arb(0)) for row in self._rows])

    def adjoint(self, q: _Vector) -> _Vector:
        """Zᵀq."""
        found = self.zero.copy()
        for row, weight in zip(self._rows, q, strict=True):
            for j, v in row.items():
                found[j] += v * weight
        return found


# Section 2

LOSSES = ("exponential", "logistic")


def loss(name: str, z: Any) -> Any:
    """ℓ(z)."""
    return z.exp() if name == "exponential" else z.exp().log1p()


def derivative(name: str, z: Any) -> Any:
    """ℓ′(z)."""
    return z.exp() if name == "exponential" else 1 / (1 + (-z).exp())


def potential(xi: Any, name: str) -> Any:
    """ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)), eq. (2.1)."""
    if name == "logistic":  # ψ(ξ) = ln(exp(Σ ln(1 + e^ξ_i)) − 1); balls have no smallest number
        return sum((loss(name, z) for z in xi), arb(0)).expm1().log()
    top = max(xi, key=lambda z: float(z.mid()))
    return sum(((z - top).exp() for z in xi), arb(0)).log() + top


def potential_gradient(xi: Any, name: str) -> _Vector:
    """∇ψ(ξ)_i = ℓ′(ξ_i)/ℓ′(ψ(ξ)), eq. (C.1)."""
    if name == "exponential":
        value = potential(xi, name)
        return np.array([(z - value).exp() for z in xi], dtype=object)
    slope = -(-sum((loss(name, z) for z in xi), arb(0))).expm1()  # ℓ′(ψ(ξ))
    return np.array([derivative(name, z) / slope for z in xi], dtype=object)


def _risk_gradient(Z: Rows, name: str, w: _Vector) -> _Vector:
    """∇R(w), R(w) = (1/n) Σ_i ℓ((Zw)_i)."""
    return Z.adjoint(_balls([derivative(name, z) / Z.n for z in Z.times(w)]))


# Algorithms, without end


def algorithm1(Z: Rows, theta: Any, name: str) -> Iterator[_Vector]:
    """The momentum form, with β_t = t/(t+1): w_t."""
    w = g = Z.zero
    for t in count():
        yield w
        pull = Z.adjoint(potential_gradient(Z.times(w), name))
        g = arb(t) / (t + 1) * (g + pull)
        w = w - theta * (g + pull)


def mixed(weight: Any, a: Any, b: Any) -> Any:
    """(1 − weight) a + weight b."""
    return (1 - weight) * a + weight * b


def mirror_descent(
    p: _Vector,
    slope: Callable[[_Vector], _Vector],
    back: Callable[[_Vector], _Vector],
    lam: _Schedule,
    step: _Schedule,
) -> Iterator[tuple[_Vector, _Vector, _Vector, _Vector]]:
    """p_t, q_t, μ_t and ν_t of eqs. (B.1) and (B.2): `slope` is ∇f, `back` ∇ω* and `step` αθ_t."""
    q = mu = back(p)
    for t in count():
        nu = mixed(lam(t), mu, q)
        yield p, q, mu, nu
        p = p - step(t) / lam(t) * slope(nu)
        q = back(p)
        mu = mixed(lam(t), mu, q)


def gradient_descent(Z: Rows, eta: arb, name: str) -> Iterator[_Vector]:
    """Section 3.1: w_{t+1} = w_t − η ∇R(w_t)."""
    w = Z.zero
    while True:
        yield w
        w = w - eta * _risk_gradient(Z, name, w)


def normalised(Z: Rows, theta: _Schedule) -> Iterator[_Vector]:
    """Section 1: w_{t+1} = w_t − θ_t ∇R(w_t)/R(w_t)."""
    w = Z.zero
    for t in count():
        yield w
        risk = sum((z.exp() for z in Z.times(w)), arb(0)) / Z.n
        w = w - theta(t) / risk * _risk_gradient(Z, "exponential", w)
