"""Gradient descent, plain and accelerated, on the regularised logistic risk, in balls.

    f(w) = (1/n) Σ_i log(1 + exp(−⟨a_i, w⟩)) + (λ/2)‖w‖²,  β = R²/4 + λ,  κ = β/λ
    Theorem 1:    w_{t+1} = w_t − η∇f(w_t),  η = 2/(β + λ)
    accelerated:  w_{t+1} = v_t − ∇f(v_t)/β,
                  v_{t+1} = w_{t+1} + (√κ − 1)/(√κ + 1) (w_{t+1} − w_t)  (Nesterov 2004, 2.2.11)

In the space of a kernel w and gradients are coefficients of the rows, and so are what is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb, arb_mat

from gammabar.solvers import Iterate

from .data import Data, Unfit, bits, to_double
from .facts import Trit
from .hearing import FINE, as_own, counted, hear
from .methods import Vector, add, times, zero
from .spoils import RIGHT, WRONG

#: Steps that the statements hear on a problem that is given.
STEPS = 30
#: λ as a part of R², and λ itself: the statements take whatever a solver declares.
PARTS = (0.1, 1.0, 10.0, 2.0**-7, 2.0**30)
STRENGTHS = (0.1, 1000.0, 2.0**-40, 2.0**60, 2.0**400, 2.0**-300)
#: Beyond this κ the court's search for a minimum takes seconds, and the bounds say nothing in
#: thirty steps.
WORST = 10**4
#: A step is wrong for certain if it is off by this part of itself, beyond what rounding may do.
PART = arb(1) / 256


@dataclass
class Risk:
    """f, exactly."""

    data: Data
    strength: float

    @cached_property
    def lam(self) -> arb:
        return arb(self.strength)

    @cached_property
    def beta(self) -> arb:
        return arb(self.data.radius_squared) / 4 + self.lam

    @property
    def kappa(self) -> arb:
        return self.beta / self.lam

    @property
    def eta(self) -> arb:
        return 2 / (self.beta + self.lam)

    def pulls(self, w: Vector) -> list[arb]:
        """The weights of the rows in −∇f, without λw."""
        return [1 / (1 + s.exp()) / self.data.n for s in self.data.scores(w, False)]

    def gradient(self, w: Vector) -> Vector:
        return add(times(self.lam, w), self.data.combine(self.pulls(w), False), -1)

    def value(self, w: Vector) -> arb:
        losses = [(1 + (-s).exp()).log() for s in self.data.scores(w, False)]
        return sum(losses, arb(0)) / self.data.n + self.lam / 2 * self.data.square(w, False)

    def mass(self, w: Vector) -> arb:
        """The size of what is added to get ∇f(w)."""
        radius = arb(self.data.radius_squared).sqrt() if self.data.linear else arb(1)
        return self.lam * length(w) + radius

    @cached_property
    def optimum(self) -> tuple[arb, arb, arb] | None:
        """Bounds f(w*) from below and above, and ‖w*‖; None if Newton's method does not arrive.

        w* = Σ_i α_i a_i with λα_i = pull_i. From a point with a small gradient g:
        f(w*) ≥ f − ‖g‖²/2λ, and ‖w − w*‖ ≤ ‖g‖/λ.
        """
        alpha = self._newton()
        if alpha is None:
            return None
        w = self.data.combine(alpha, False)
        square = self.data.square(self.gradient(w), False).max(arb(0))
        value = self.value(w)
        off = (square.sqrt() / self.lam).upper()
        norm = self.data.norm(w, False)
        return value - square / (2 * self.lam), value, norm + arb(0, off)

    def _newton(self) -> list[arb] | None:
        n, data = self.data.n, self.data
        gram = [data.scores(data.combine(_unit(j, n), False), False) for j in range(n)]
        alpha = [arb(0)] * n
        for _ in range(60):
            scores = [sum((g * a for g, a in zip(row, alpha, strict=True)), arb(0)) for row in gram]
            pulls = [1 / (1 + s.exp()) / n for s in scores]
            rest = [self.lam * a - p for a, p in zip(alpha, pulls, strict=True)]
            # d pull_i/ds_i = −pull_i (1 − n pull_i)
            slopes = [p * (1 - n * p) for p in pulls]
            system = [
                [slopes[i] * gram[i][j] + (self.lam if i == j else 0) for j in range(n)]
                for i in range(n)
            ]
            try:
                step = arb_mat(system).solve(arb_mat([[v] for v in rest]))
            except ZeroDivisionError:
                return None
            moved = [(a - step[i, 0]).mid() for i, a in enumerate(alpha)]
            if not all(v.is_finite() for v in moved):
                return None
            still = all(
                abs(a - b) <= abs(b) * arb(2) ** -500 for a, b in zip(alpha, moved, strict=True)
            )
            alpha = moved
            if still:
                return alpha
        return None


def _unit(j: int, n: int) -> list[int]:
    return [int(i == j) for i in range(n)]


def length(v: Vector) -> arb:
    """The Euclidean norm of the entries, also of coefficients."""
    return sum((x * x for x in v), arb(0)).sqrt()


Told = tuple[Vector, dict[str, Vector]]


def plain(f: Risk) -> Iterator[Told]:
    w = zero(f.data)
    while True:
        gradient = f.gradient(w)
        yield w, {"gradient": gradient}
        w = add(w, gradient, -f.eta)


def accelerated(f: Risk) -> Iterator[Told]:
    w = v = zero(f.data)
    root = f.kappa.sqrt()
    while True:
        gradient = f.gradient(v)
        yield w, {"gradient": gradient, "v": v, "momentum": add(v, w, -1)}
        new = add(v, gradient, -1 / f.beta)
        v = add(new, add(new, w, -1), (root - 1) / (root + 1))
        w = new


@as_own
@dataclass(frozen=True)
class Solver:
    """Delivers what it is given."""

    regularisation: float
    run: Any
    extras: list[dict[str, Any]]

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        for t, (w, said) in enumerate(zip(self.run, self.extras, strict=True)):
            extra = {name: value for name, value in said.items() if name != "momentum"}
            yield Iterate(t, w.copy(), momentum=said.get("momentum"), extra=extra)


# What is true of what was delivered


@dataclass
class Delivered:
    """A run as delivered."""

    f: Risk
    w: list[Vector]
    extras: list[dict[str, Vector]]


def plain_step(d: Delivered) -> Trit:
    if any(v != 0 for v in d.w[0]):
        return False
    for t, (w, after) in enumerate(pairwise(d.w)):
        if _off(d.f, w, after, w, d.f.eta) or _lies(
            d, t, {"gradient": (d.f.gradient(w), d.f.mass(w))}
        ):
            return False
    return None


def accelerated_step(d: Delivered) -> Trit:
    if any(v != 0 for v in d.w[0]):
        return False
    f = d.f
    root = f.kappa.sqrt()
    share = (root - 1) / (root + 1)
    for t, (w, after) in enumerate(pairwise(d.w)):
        back = d.w[t - 1] if t else w
        v = add(w, add(w, back, -1), share)
        size = length(w) + length(back)
        said = {
            "gradient": (f.gradient(v), f.mass(v) + f.beta * size),
            "v": (v, size),
            "momentum": (add(v, w, -1), size),
        }
        if _off(f, v, after, w, 1 / f.beta, size) or _lies(d, t, said):
            return False
    return None


def _off(f: Risk, at: Vector, after: Vector, w: Vector, eta: arb, more: Any = 0) -> bool:
    """Whether a gradient step from `at` certainly ends elsewhere; it starts at w."""
    right = add(at, f.gradient(at), -eta)
    size = length(w) + length(at) + more + eta * f.mass(at)
    return bool(length(add(after, right, -1)) > PART * length(add(right, w, -1)) + FINE * size)


def _lies(d: Delivered, t: int, said: dict[str, tuple[Vector, arb]]) -> bool:
    """Whether something that is said beside w is certainly something else."""
    return any(
        bool(length(add(d.extras[t][name], right, -1)) > FINE * (size + length(right)))
        for name, (right, size) in said.items()
        if name in d.extras[t]
    )


def _gap(d: Delivered, bound: Callable[[int, arb], arb]) -> Trit:
    """f(w_T) − f(w*) ≤ bound(T, B²) for T = 1, 2, …"""
    if d.f.optimum is None:
        return None
    low, high, norm = d.f.optimum
    known: Trit = True
    for T in range(1, len(d.w)):
        value, right = d.f.value(d.w[T]), bound(T, norm**2)
        if value - high > right:
            return False
        if not value - low <= right:
            known = None
    return known


def rate(d: Delivered) -> Trit:
    """Theorem 1 without the 1/T."""
    return _gap(d, lambda T, square: (-T / d.f.kappa).exp() * square * d.f.beta / 2)


def accelerated_rate(d: Delivered) -> Trit:
    """Bubeck 2015, Theorem 3.18."""
    return _gap(
        d, lambda T, square: (d.f.beta + d.f.lam) / 2 * square * (-T / d.f.kappa.sqrt()).exp()
    )


def enough_steps(d: Delivered) -> Trit:
    """T ≥ κ log(B²β/2ε) steps leave ε, for four ε, each at the first such T."""
    needed = {T for share in ("0.9", "0.5", "0.1", "0.001") for T in _first(d.f, arb(share))}
    if d.f.optimum is None:
        return None
    _, high, norm = d.f.optimum
    for T in sorted(needed & {*range(1, len(d.w))}):
        for share in (arb("0.9"), arb("0.5"), arb("0.1"), arb("0.001")):
            if -d.f.kappa * share.log() <= T:
                left = d.f.value(d.w[T]) - high
                if left > share * norm**2 * d.f.beta / 2 * (1 + FINE):
                    return False
    return None


def _first(f: Risk, share: arb) -> list[int]:
    """The first T with T ≥ −κ log(share), if it is heard."""
    return [T for T in range(1, STEPS + 1) if T - 1 < -f.kappa * share.log() <= T]


CLAIMS: dict[str, dict[str, Callable[[Delivered], Trit]]] = {
    "plain": {
        "gb.lec.gd.step": plain_step,
        "lec.thm1.fixed": rate,
        "lec.sec1.steps": enough_steps,
    },
    "accelerated": {"gb.lec.agd.step": accelerated_step, "gb.lec.agd.rate": accelerated_rate},
}


# Trials


def _strength(data: Data, rng: np.random.Generator) -> float:
    part, plain_one = float(rng.choice(PARTS)), float(rng.choice(STRENGTHS))
    found = to_double(arb(data.radius_squared) * part)
    if rng.random() < 0.1:  # so that steps are near the end of the doubles
        found = to_double(arb(data.radius_squared).sqrt() * arb(2) ** 1005)
    return found if rng.random() < 0.7 and 2.0**-1000 < found < 2.0**1020 else plain_one


def _lengths(f: Risk) -> int:
    """How many steps are heard: no more than 25√κ."""
    most = float((25 * f.kappa.sqrt()).upper()) if f.kappa < 100 else STEPS
    return min(STEPS, int(most))


def _doubles(v: Vector) -> Any:
    return np.array([to_double(x) for x in v])


def one(seed: int, number: int, tally: Any) -> None:
    """Both methods on a drawn problem: right, with wrong iterates, and with wrong claims."""
    rng = np.random.default_rng([seed, number, 4])
    with bits():
        try:
            with counted(tally, f"{seed}.{number}"):
                data = Data(rng)
                if not data.radius_squared > 0:
                    return
                _both(data, rng, f"{seed}.{number}", tally)
        except Unfit as reason:
            tally.refused[str(reason)[:60]] += 1


def _both(data: Data, rng: np.random.Generator, number: str, tally: Any) -> None:
    f = Risk(data, _strength(data, rng))
    name = str(rng.choice([*CLAIMS]))
    method = plain if name == "plain" else accelerated
    steps = [told for told, _ in zip(method(f), range(_lengths(f) + 1), strict=False)]
    run = np.array([_doubles(w) for w, _ in steps])
    extras = [{key: _doubles(v) for key, v in said.items()} for _, said in steps]
    if not np.isfinite(run).all():
        raise Unfit("the right iterates are no doubles")
    tally.trials += 1
    tally.kinds["descent"] += 1
    where = f"{number} {data.name}, λ = {f.strength:g}: {name} descent"
    silent: list[dict[str, Any]] = [{}] * len(run)
    spoilt = {"nearest": (run, extras), "jitter": (RIGHT["jitter"](run, rng), silent)}
    for spoil in rng.choice([*WRONG], 3, replace=False):
        spoilt[spoil] = (WRONG[spoil](run, rng), silent if rng.random() < 0.5 else extras)
    lie = str(rng.choice([*extras[0]]))
    spoilt[f"{lie} spoilt"] = (run, _lie(extras, lie, rng))
    for how, (ws, said) in spoilt.items():
        if np.isfinite(ws).all():
            w = [[arb(v) for v in row] for row in ws.tolist()]
            told = [{k: [arb(v) for v in x.tolist()] for k, x in one.items()} for one in said]
            delivered = Delivered(f, w, told)
            judges = {key: partial(claim, delivered) for key, claim in CLAIMS[name].items()}
            # Jitter moves w_t off the step that w_{t+1} was made by.
            judges = {
                key: judge
                for key, judge in judges.items()
                if (how != "jitter" if key.endswith(".step") else f.kappa < WORST)
            }
            solver = Solver(f.strength, ws, said)
            hear(solver, data.problem, judges, how in RIGHT, f"{where}, {how}", tally)


def _lie(extras: list[dict[str, Any]], name: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Another vector for one that is said: negated, scaled, a little off, or that of another t."""
    t = int(rng.integers(1, len(extras)))
    said = extras[t][name]
    other = (-said, 2 * said, said * (1 + 1e-3), extras[t - 1][name])[int(rng.integers(4))]
    return [{**one, name: other} if s == t else one for s, one in enumerate(extras)]
