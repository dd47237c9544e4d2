"""The algorithms of Ji, Srebro and Telgarsky (2021), line by line, for any type of numbers.

Literal and slow; shares no code with the solvers. Vectors are NumPy arrays of `flint.arb` balls
that contain the true values, or of other numbers; the caller chooses the precision with
``flint.ctx.workprec``. Signs are the paper's: z_i = −y_i x_i, so the rows of Z are minus the rows
of the project, and g_t is minus the solvers' momentum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

Vector = NDArray[Any]
Schedule = Callable[[int], Any]


def vector(values: Any) -> Vector:
    """Balls."""
    found = np.array(values, dtype=object)
    return np.vectorize(arb, otypes=[object])(found) if found.size else found


class Space(NamedTuple):
    """How Z acts: the number of its rows, w = 0, w ↦ Zw and q ↦ Zᵀq."""

    n: int
    zero: Vector
    times: Callable[[Vector], Vector]
    adjoint: Callable[[Vector], Vector]


def explicit(rows: Vector) -> Space:
    """The rows of Z written out."""
    return Space(len(rows), 0 * rows[0], lambda w: rows @ w, lambda q: rows.T @ q)


def sparse(rows: list[dict[int, arb]], columns: int) -> Space:
    """The rows of Z by their entries that are not zero."""

    def times(w: Vector) -> Vector:
        return vector([sum((v * w[j] for j, v in row.items()), arb(0)) for row in rows])

    def adjoint(q: Vector) -> Vector:
        found = vector([0] * columns)
        for row, weight in zip(rows, q, strict=True):
            for j, v in row.items():
                found[j] += v * weight
        return found

    return Space(len(rows), vector([0] * columns), times, adjoint)


def feature(gram: Vector) -> Space:
    """Z = −(y_i φ(x_i)) by its Gram matrix G; α stands for the vector Σ α_i y_i φ(x_i)."""
    return Space(len(gram), 0 * gram[0], lambda alpha: -(gram @ alpha), lambda q: -q)


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


def potential_gradient(xi: Any, name: str) -> Vector:
    """∇ψ(ξ)_i = ℓ′(ξ_i)/ℓ′(ψ(ξ)), eq. (C.1)."""
    if name == "exponential":
        value = potential(xi, name)
        return np.array([(z - value).exp() for z in xi], dtype=object)
    slope = -(-sum((loss(name, z) for z in xi), arb(0))).expm1()  # ℓ′(ψ(ξ))
    return np.array([derivative(name, z) / slope for z in xi], dtype=object)


def _risk_gradient(space: Space, name: str, w: Vector) -> Vector:
    """∇R(w), R(w) = (1/n) Σ_i ℓ((Zw)_i)."""
    return space.adjoint(vector([derivative(name, z) / space.n for z in space.times(w)]))


# Algorithms, without end where they choose their rows themselves


class State(NamedTuple):
    """The sequences at one t."""

    w: Vector
    q: Vector
    g: Any = None
    mu: Any = None
    nu: Any = None


def algorithm1(
    space: Space, theta: Any, name: str = "exponential", rho: int = 1
) -> Iterator[State]:
    """The momentum form, with β_t = t/(t+1) and the step θ/ρ of eq. (C.4)."""
    w = g = space.zero
    for t in count():
        q = potential_gradient(space.times(w), name)
        pull = space.adjoint(q)
        g = arb(t) / (t + 1) * (g + pull)
        yield State(w, q, g)
        w = w - theta / rho * (g + pull)


def mixed(weight: Any, a: Any, b: Any) -> Any:
    """(1 − weight) a + weight b."""
    return (1 - weight) * a + weight * b


def mirror_descent(
    p: Vector,
    slope: Callable[[Vector], Vector],
    back: Callable[[Vector], Vector],
    lam: Schedule,
    step: Schedule,
) -> Iterator[tuple[Vector, Vector, Vector, Vector]]:
    """p_t, q_t, μ_t and ν_t of eqs. (B.1) and (B.2): `slope` is ∇f, `back` ∇ω* and `step` αθ_t."""
    q = mu = back(p)
    for t in count():
        nu = mixed(lam(t), mu, q)
        yield p, q, mu, nu
        p = p - step(t) / lam(t) * slope(nu)
        q = back(p)
        mu = mixed(lam(t), mu, q)


def dual_form(
    space: Space, lam: Schedule, theta: Schedule, name: str = "exponential", rho: int = 1
) -> Iterator[State]:
    """Section 3.2: f = φ and ω = ψ*, with w_{t+1} = w_t − θ_t/(ρλ_t) Zᵀν_t, eq. (3.3)."""
    run = mirror_descent(
        vector([0] * space.n),
        lambda nu: space.times(space.adjoint(nu)),
        lambda p: potential_gradient(p, name),
        lam,
        lambda t: theta(t) / rho,
    )
    w = space.zero
    for t, (_, q, mu, nu) in enumerate(run):
        yield State(w, q, mu=mu, nu=nu)
        w = w - theta(t) / (rho * lam(t)) * space.adjoint(nu)


def basis(n: int, i: int) -> Vector:
    """e_i."""
    return vector([int(j == i) for j in range(n)])


def algorithm2(space: Space, indices: Sequence[int], theta: arb, beta: Schedule) -> Iterator[State]:
    """Algorithm 2, for the rows that were sampled."""
    w = g = space.zero
    for t, i in enumerate(indices):
        z = space.adjoint(basis(space.n, i))
        g = beta(t) * (g + z)
        yield State(w, potential_gradient(space.times(w), "exponential"), g)
        w = w - theta * (g + z)


def gradient_descent(space: Space, eta: arb, name: str) -> Iterator[Vector]:
    """Section 3.1: w_{t+1} = w_t − η ∇R(w_t)."""
    w = space.zero
    while True:
        yield w
        w = w - eta * _risk_gradient(space, name, w)


def normalised(space: Space, theta: Schedule) -> Iterator[Vector]:
    """Section 1: w_{t+1} = w_t − θ_t ∇R(w_t)/R(w_t)."""
    w = space.zero
    for t in count():
        yield w
        risk = sum((z.exp() for z in space.times(w)), arb(0)) / space.n
        w = w - theta(t) / risk * _risk_gradient(space, "exponential", w)


def batch_perceptron(space: Space, indices: Sequence[int], eta0: arb) -> Iterator[Vector]:
    """Supergradient ascent on the hard margin over the unit ball, for the rows that were chosen.

    The norm of v = −Zᵀα is computed afresh each time, ‖v‖² = −⟨α, Z v⟩.
    """
    v, alpha = space.zero, vector([0] * space.n)
    yield v
    for t, i in enumerate(indices):
        eta, e = eta0 / arb(t + 1).sqrt(), basis(space.n, i)
        alpha, v = alpha + eta * e, v - eta * space.adjoint(e)
        length = (-(alpha @ space.times(v))).max(arb(1)).sqrt()
        alpha, v = alpha / length, v / length
        yield v
