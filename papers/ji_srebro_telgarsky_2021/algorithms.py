"""Ji, Srebro and Telgarsky (2021), its algorithms line by line, in interval arithmetic.

Literal and slow; shares no code with the solvers. Everything is a list of `flint.arb` balls that
contain the true value. Signs are the paper's: z_i = −y_i x_i, so the rows of Z are minus the rows
of the project, and g_t is minus the solvers' momentum. A space says how Z acts on w:
`Explicit` has the rows of Z, `Feature` only their inner products, w being coefficients there.

The caller chooses the precision with ``flint.ctx.workprec``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Protocol

from flint import arb

Vector = list[arb]


def vector(values: Sequence[Any]) -> Vector:
    return [arb(v) for v in values]


def dot(a: Vector, b: Vector) -> arb:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


def axpy(factor: arb | int, x: Vector, y: Vector) -> Vector:
    """factor x + y."""
    return [factor * a + b for a, b in zip(x, y, strict=True)]


def scaled(factor: arb | int, x: Vector) -> Vector:
    return [factor * a for a in x]


class Space(Protocol):
    @property
    def n(self) -> int: ...

    def zero(self) -> Vector: ...
    def times(self, w: Vector) -> Vector: ...  # Z w
    def adjoint(self, q: Vector) -> Vector: ...  # Zᵀ q


@dataclass
class Explicit:
    """The rows of Z written out."""

    rows: list[Vector]

    @property
    def n(self) -> int:
        return len(self.rows)

    def zero(self) -> Vector:
        return [arb(0)] * len(self.rows[0])

    def times(self, w: Vector) -> Vector:
        return [dot(row, w) for row in self.rows]

    def adjoint(self, q: Vector) -> Vector:
        return [dot(list(column), q) for column in zip(*self.rows, strict=True)]


@dataclass
class Sparse:
    """The rows of Z by their entries that are not zero, and the number of columns."""

    rows: list[dict[int, arb]]
    columns: int

    @property
    def n(self) -> int:
        return len(self.rows)

    def zero(self) -> Vector:
        return [arb(0)] * self.columns

    def times(self, w: Vector) -> Vector:
        return [sum((v * w[j] for j, v in row.items()), arb(0)) for row in self.rows]

    def adjoint(self, q: Vector) -> Vector:
        found = self.zero()
        for row, weight in zip(self.rows, q, strict=True):
            for j, v in row.items():
                found[j] += v * weight
        return found


@dataclass
class Feature:
    """Z = −(y_i φ(x_i)) by its Gram matrix G; α stands for the vector Σ α_i y_i φ(x_i)."""

    gram: list[Vector]

    @property
    def n(self) -> int:
        return len(self.gram)

    def zero(self) -> Vector:
        return [arb(0)] * self.n

    def times(self, w: Vector) -> Vector:
        return [-dot(row, w) for row in self.gram]

    def adjoint(self, q: Vector) -> Vector:
        return [-v for v in q]


def binary(X: Sequence[Sequence[float]], y: Sequence[int]) -> Explicit:
    return Explicit([[-int(s) * arb(v) for v in x] for x, s in zip(X, y, strict=True)])


def multiclass(X: Sequence[Sequence[float]], labels: Sequence[int], k: int) -> Explicit:
    """Section 5.2, with the sign that its own Section 2 asks for: −x (e_c − e_j)ᵀ/√2."""
    rows = []
    for x, c in zip(X, labels, strict=True):
        for j in range(k):
            if j == c:
                continue
            matrix = [[(int(e == j) - int(e == c)) * arb(v) for e in range(k)] for v in x]
            rows.append([entry / arb(2).sqrt() for line in matrix for entry in line])
    return Explicit(rows)


def rbf(X: Sequence[Sequence[float]], y: Sequence[int], gamma: float) -> Feature:
    def kernel(a: Sequence[float], b: Sequence[float]) -> arb:
        square = sum(((arb(u) - arb(v)) ** 2 for u, v in zip(a, b, strict=True)), arb(0))
        return (-arb(gamma) * square).exp()

    pairs = list(zip(X, y, strict=True))
    return Feature([[int(s) * int(r) * kernel(a, b) for b, r in pairs] for a, s in pairs])


def radius(space: Space) -> arb:
    """The largest norm of a row; ‖z_i‖² = (Z Zᵀ e_i)_i."""
    largest = arb(0)
    for i in range(space.n):
        e = [arb(int(j == i)) for j in range(space.n)]
        largest = largest.max(space.times(space.adjoint(e))[i].sqrt())
    return largest


def unit(space: Explicit) -> Explicit:
    """Rows divided by the largest norm."""
    largest = radius(space)
    return Explicit([[v / largest for v in row] for row in space.rows])


# Section 2 -------------------------------------------------------------------------------------


def loss(name: str, z: arb) -> arb:
    return z.exp() if name == "exponential" else z.exp().log1p()


def derivative(name: str, z: arb) -> arb:
    return z.exp() if name == "exponential" else 1 / (1 + (-z).exp())


def psi(name: str, xi: Vector) -> arb:
    """Eq. (2.1)."""
    total = sum((loss(name, z) for z in xi), arb(0))
    return total.log() if name == "exponential" else total.expm1().log()


def psi_gradient(name: str, xi: Vector) -> Vector:
    """Eq. (C.1)."""
    below = derivative(name, psi(name, xi))
    return [derivative(name, z) / below for z in xi]


def risk(name: str, xi: Vector) -> arb:
    return sum((loss(name, z) for z in xi), arb(0)) / len(xi)


def risk_gradient(space: Space, name: str, w: Vector) -> Vector:
    weights = [derivative(name, z) / space.n for z in space.times(w)]
    return space.adjoint(weights)


# Algorithm 1 -----------------------------------------------------------------------------------


@dataclass
class State:
    w: Vector
    q: Vector
    g: Vector
    mu: Vector
    nu: Vector


def algorithm1(
    space: Space, steps: int, theta: arb, name: str = "exponential", rho: int = 1
) -> list[State]:
    """The momentum form, with β_t = t/(t+1) and the step θ/ρ of eq. (C.4)."""
    return list(islice(algorithm1_states(space, theta, name, rho), steps))


def algorithm1_states(
    space: Space, theta: arb, name: str = "exponential", rho: int = 1
) -> Iterator[State]:
    """The same without end."""
    w, g = space.zero(), space.zero()
    for t in count():
        q = psi_gradient(name, space.times(w))
        pull = space.adjoint(q)
        g = scaled(arb(t) / (t + 1), axpy(1, g, pull))
        yield State(w, q, g, [], [])
        w = axpy(-theta / rho, axpy(1, g, pull), w)


def dual_form(
    space: Space,
    steps: int,
    lam: Callable[[int], arb],
    theta: Callable[[int], arb],
    name: str = "exponential",
    rho: int = 1,
) -> list[State]:
    """Section 3.2 (products of weights) for the exponential loss, eq. (B.2) for the logistic."""
    states = []
    w = space.zero()
    p = [arb(0)] * space.n
    q = mu = psi_gradient(name, p)
    for t in range(steps):
        nu = axpy(1 - lam(t), mu, scaled(lam(t), q))
        states.append(State(w, q, [], mu, nu))
        pull = space.adjoint(nu)
        factor = theta(t) / (rho * lam(t))
        step = space.times(pull)  # Z Zᵀ ν
        w = axpy(-factor, pull, w)
        p = axpy(-factor, step, p)
        if name == "exponential" and rho == 1:
            products = [a * (-factor * b).exp() for a, b in zip(q, step, strict=True)]
            total = sum(products, arb(0))
            q = [v / total for v in products]
        else:
            q = psi_gradient(name, p)
        mu = axpy(1 - lam(t), mu, scaled(lam(t), q))
    return states


# Algorithm 2 -----------------------------------------------------------------------------------


def algorithm2(
    space: Space, indices: Sequence[int], theta: arb, beta: Callable[[int], arb]
) -> list[State]:
    """Algorithm 2, for the rows that were sampled."""
    states = []
    w, g = space.zero(), space.zero()
    for t, i in enumerate(indices):
        q = psi_gradient("exponential", space.times(w))
        z = space.adjoint([arb(int(j == i)) for j in range(space.n)])
        g = scaled(beta(t), axpy(1, g, z))
        states.append(State(w, q, g, [], []))
        w = axpy(-theta, axpy(1, g, z), w)
    return states


# Baselines -------------------------------------------------------------------------------------


def gradient_descent(space: Space, steps: int, eta: arb, name: str) -> list[Vector]:
    """Section 3.1: w_{t+1} = w_t − η ∇R(w_t)."""
    path = [space.zero()]
    while len(path) < steps:
        path.append(axpy(-eta, risk_gradient(space, name, path[-1]), path[-1]))
    return path


def normalised(space: Space, steps: int, theta: Callable[[int], arb]) -> list[Vector]:
    """Section 1: w_{t+1} = w_t − θ_t ∇R(w_t)/R(w_t)."""
    path = [space.zero()]
    while len(path) < steps:
        w = path[-1]
        factor = theta(len(path) - 1) / risk("exponential", space.times(w))
        path.append(axpy(-factor, risk_gradient(space, "exponential", w), w))
    return path


def batch_perceptron(space: Space, indices: Sequence[int], eta0: arb) -> list[Vector]:
    """Supergradient ascent on the hard margin over the unit ball, for the rows that were chosen.

    The norm of v = −Zᵀα is computed afresh each time, ‖v‖² = −⟨α, Z v⟩.
    """
    v, alpha = space.zero(), [arb(0)] * space.n
    path = [v]
    for t, i in enumerate(indices):
        eta = eta0 / arb(t + 1).sqrt()
        unit_vector = [arb(int(j == i)) for j in range(space.n)]
        alpha = axpy(eta, unit_vector, alpha)
        v = axpy(-eta, space.adjoint(unit_vector), v)
        square = -dot(alpha, space.times(v))
        length = square.max(arb(1)).sqrt()
        alpha, v = scaled(1 / length, alpha), scaled(1 / length, v)
        path.append(v)
    return path
