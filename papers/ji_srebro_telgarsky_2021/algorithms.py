"""The algorithms of Ji, Srebro and Telgarsky (2021), line by line, for any type of numbers.

Literal and slow; shares no code with the solvers. Vectors are NumPy arrays of doubles, or of
`flint.arb` balls that contain the true values; the caller chooses the precision with
``flint.ctx.workprec``. Signs are the paper's: z_i = −y_i x_i, so the rows of Z are minus the rows
of the project, and g_t is minus the solvers' momentum. A space says how Z acts on w: `Explicit` has
the rows of Z, `Sparse` their entries, `Feature` only their inner products, w being coefficients
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

Vector = NDArray[Any]


def vector(values: Any) -> Vector:
    """Balls."""
    found = np.array(values, dtype=object)
    return np.vectorize(arb, otypes=[object])(found) if found.size else found


class Space(Protocol):
    @property
    def n(self) -> int: ...
    def zero(self) -> Vector: ...
    def times(self, w: Vector) -> Vector: ...  # Z w
    def adjoint(self, q: Vector) -> Vector: ...  # Zᵀ q


@dataclass
class Explicit:
    """The rows of Z written out."""

    rows: Vector

    @property
    def n(self) -> int:
        return len(self.rows)

    def zero(self) -> Vector:
        return 0 * self.rows[0]

    def times(self, w: Vector) -> Vector:
        return self.rows @ w

    def adjoint(self, q: Vector) -> Vector:
        return self.rows.T @ q


@dataclass
class Sparse:
    """The rows of Z by their entries that are not zero, and the number of columns."""

    rows: list[dict[int, arb]]
    columns: int

    @property
    def n(self) -> int:
        return len(self.rows)

    def zero(self) -> Vector:
        return vector([0] * self.columns)

    def times(self, w: Vector) -> Vector:
        return vector([sum((v * w[j] for j, v in row.items()), arb(0)) for row in self.rows])

    def adjoint(self, q: Vector) -> Vector:
        found = self.zero()
        for row, weight in zip(self.rows, q, strict=True):
            for j, v in row.items():
                found[j] += v * weight
        return found


@dataclass
class Feature:
    """Z = −(y_i φ(x_i)) by its Gram matrix G; α stands for the vector Σ α_i y_i φ(x_i)."""

    gram: Vector

    @property
    def n(self) -> int:
        return len(self.gram)

    def zero(self) -> Vector:
        return 0 * self.gram[0]

    def times(self, w: Vector) -> Vector:
        return -(self.gram @ w)

    def adjoint(self, q: Vector) -> Vector:
        return -q


def binary(X: Any, y: Any) -> Explicit:
    """z_i = −y_i x_i."""
    return Explicit(vector(X) * -np.array([int(v) for v in y], dtype=object)[:, None])


def multiclass(X: Any, labels: Sequence[int], k: int) -> Explicit:
    """Section 5.2, with the sign that its own Section 2 asks for: −x (e_c − e_j)ᵀ/√2."""
    rows = []
    for x, c in zip(vector(X), labels, strict=True):
        for j in range(k):
            if j != c:
                signs = vector([int(e == j) - int(e == c) for e in range(k)])
                rows.append(np.outer(x, signs).ravel() / arb(2).sqrt())
    return Explicit(np.array(rows, dtype=object))


def rbf(X: Any, y: Any, gamma: float) -> Feature:
    """The Gaussian kernel."""
    points, signs = vector(X), [int(v) for v in y]
    apart = [[((a - b) @ (a - b) * -arb(gamma)).exp() for b in points] for a in points]
    return Feature(np.array(apart, dtype=object) * np.outer(signs, signs).astype(object))


def basis(n: int, i: int) -> Vector:
    """e_i."""
    return vector([int(j == i) for j in range(n)])


def radius(space: Space) -> arb:
    """The largest norm of a row; ‖z_i‖² = (Z Zᵀ e_i)_i."""
    largest = arb(0)
    for i in range(space.n):
        largest = largest.max(space.times(space.adjoint(basis(space.n, i)))[i].sqrt())
    return largest


def unit(space: Explicit) -> Explicit:
    """Rows divided by the largest norm."""
    return Explicit(space.rows / radius(space))


# Section 2 -------------------------------------------------------------------------------------


def loss(name: str, z: Any) -> Any:
    return z.exp() if name == "exponential" else z.exp().log1p()


def derivative(name: str, z: Any) -> Any:
    return z.exp() if name == "exponential" else 1 / (1 + (-z).exp())


def psi(name: str, xi: Any) -> Any:
    """Eq. (2.1)."""
    total = sum((loss(name, z) for z in xi), arb(0))
    return total.log() if name == "exponential" else total.expm1().log()


def psi_gradient(name: str, xi: Any) -> Vector:
    """Eq. (C.1)."""
    below = derivative(name, psi(name, xi))
    return vector([derivative(name, z) / below for z in xi])


def risk(name: str, xi: Any) -> Any:
    return sum((loss(name, z) for z in xi), arb(0)) / len(xi)


def risk_gradient(space: Space, name: str, w: Vector) -> Vector:
    return space.adjoint(vector([derivative(name, z) / space.n for z in space.times(w)]))


# Algorithms, without end where they choose their rows themselves --------------------------------


@dataclass
class State:
    w: Vector
    q: Vector
    g: Vector = field(default_factory=lambda: vector([]))
    mu: Vector = field(default_factory=lambda: vector([]))
    nu: Vector = field(default_factory=lambda: vector([]))


def algorithm1(
    space: Space, theta: arb, name: str = "exponential", rho: int = 1
) -> Iterator[State]:
    """The momentum form, with β_t = t/(t+1) and the step θ/ρ of eq. (C.4)."""
    w = g = space.zero()
    for t in count():
        q = psi_gradient(name, space.times(w))
        pull = space.adjoint(q)
        g = arb(t) / (t + 1) * (g + pull)
        yield State(w, q, g)
        w = w - theta / rho * (g + pull)


Schedule = Callable[[int], Any]


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
        lambda p: psi_gradient(name, p),
        lam,
        lambda t: theta(t) / rho,
    )
    w = space.zero()
    for t, (_, q, mu, nu) in enumerate(run):
        yield State(w, q, mu=mu, nu=nu)
        w = w - theta(t) / (rho * lam(t)) * space.adjoint(nu)


def algorithm2(space: Space, indices: Sequence[int], theta: arb, beta: Schedule) -> Iterator[State]:
    """Algorithm 2, for the rows that were sampled."""
    w = g = space.zero()
    for t, i in enumerate(indices):
        q = psi_gradient("exponential", space.times(w))
        z = space.adjoint(basis(space.n, i))
        g = beta(t) * (g + z)
        yield State(w, q, g)
        w = w - theta * (g + z)


def gradient_descent(space: Space, eta: arb, name: str) -> Iterator[Vector]:
    """Section 3.1: w_{t+1} = w_t − η ∇R(w_t)."""
    w = space.zero()
    while True:
        yield w
        w = w - eta * risk_gradient(space, name, w)


def normalised(space: Space, theta: Schedule) -> Iterator[Vector]:
    """Section 1: w_{t+1} = w_t − θ_t ∇R(w_t)/R(w_t)."""
    w = space.zero()
    for t in count():
        yield w
        factor = theta(t) / risk("exponential", space.times(w))
        w = w - factor * risk_gradient(space, "exponential", w)


def batch_perceptron(space: Space, indices: Sequence[int], eta0: arb) -> Iterator[Vector]:
    """Supergradient ascent on the hard margin over the unit ball, for the rows that were chosen.

    The norm of v = −Zᵀα is computed afresh each time, ‖v‖² = −⟨α, Z v⟩.
    """
    v, alpha = space.zero(), vector([0] * space.n)
    yield v
    for t, i in enumerate(indices):
        eta, e = eta0 / arb(t + 1).sqrt(), basis(space.n, i)
        alpha, v = alpha + eta * e, v - eta * space.adjoint(e)
        length = (-(alpha @ space.times(v))).max(arb(1)).sqrt()
        alpha, v = alpha / length, v / length
        yield v
