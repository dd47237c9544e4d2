"""Kernel ridge regression (Section 5 of the lecture) in rationals and balls.

w* = (ΦᵀΦ + λI)⁻¹ Φᵀy,   α = (K + λI)⁻¹ y,   f(w) = ‖Φw − y‖² + λ‖w‖²
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

import gammabar as gb

from .data import SCALES, bits, entries, exact, to_double
from .facts import Trit
from .hearing import as_own, counted, hear
from .spans import span

#: A solution is wrong for certain if it and what it leaves of the right side are off by more.
PART = arb(1) / 256


def _exactly(X: Any) -> list[list[fmpq]]:
    return [[exact(float(v)) for v in row] for row in np.asarray(X, dtype=float)]


def gram(X: Any, kernel: str) -> list[list[arb]]:
    """k(x_i, x_j): linear, poly:degree=2,coef0=1 or rbf:gamma=0.5, as the court sets them."""
    points = _exactly(X)

    def value(a: list[fmpq], b: list[fmpq]) -> arb:
        inner = sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))
        if kernel == "linear":
            return arb(inner)
        if kernel.startswith("poly"):
            return arb((inner + 1) ** 2)
        apart = sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), fmpq(0))
        return arb(-apart / 2).exp()

    return [[value(a, b) for b in points] for a in points]


def normal(X: Any, y: Any) -> tuple[list[list[arb]], list[arb]]:
    """ΦᵀΦ and Φᵀy."""
    Phi = _exactly(X)
    columns = list(zip(*Phi, strict=True))
    right = [exact(float(v)) for v in y]

    def dot(a: Any, b: Any) -> arb:
        return arb(sum((u * v for u, v in zip(a, b, strict=True)), fmpq(0)))

    return [[dot(a, b) for b in columns] for a in columns], [dot(a, right) for a in columns]


def solved(matrix: list[list[arb]], strength: float, right: list[arb]) -> list[arb]:
    """(M + λI)⁻¹ b."""
    n = len(right)
    system = [[matrix[i][j] + (arb(strength) if i == j else 0) for j in range(n)] for i in range(n)]
    x = arb_mat(system).solve(arb_mat([[v] for v in right]))
    return [x[i, 0] for i in range(n)]


Spoil = Callable[[Any, np.random.Generator], Any]


def _one_off(v: Any, rng: np.random.Generator) -> Any:
    v = v.copy()
    v[int(rng.integers(len(v)))] *= 1 + 1e-3
    return v


#: What is done to w* and α, or to one of them.
SPOILS: dict[str, Spoil] = {
    "negated": lambda v, rng: -v,
    "doubled": lambda v, rng: 2 * v,
    "a little off": _one_off,
    "zero": lambda v, rng: 0 * v,
    "turned": lambda v, rng: v[::-1].copy(),
    "half": lambda v, rng: v / 2,
}


@dataclass
class Primal:
    """w, and what it predicts."""

    w: Any
    off: float = 1.0

    def predict(self, features: Any) -> Any:
        return self.off * (np.asarray(features, dtype=float) @ self.w)


@dataclass
class Dual:
    """α, and what it predicts (with the linear kernel)."""

    alpha: Any
    X: Any
    off: float = 1.0

    def predict(self, X: Any) -> Any:
        kernel = np.asarray(X, dtype=float) @ np.asarray(self.X, dtype=float).T
        return self.off * (kernel @ self.alpha)


class Objective:
    """‖Φw − y‖² + λ‖w‖² − ‖y‖², exactly, and rounded once."""

    def __init__(self, X: Any, y: Any, strength: float, slope: float, value: float) -> None:
        self.matrix, self.right = normal(X, y)
        self.lam, self.off = arb(strength), (slope, value)

    def _sides(self, w: Any) -> tuple[list[arb], list[arb]]:
        at = [arb(float(v)) for v in w]
        left = [
            sum((m * v for m, v in zip(row, at, strict=True)), arb(0)) + self.lam * at[i]
            for i, row in enumerate(self.matrix)
        ]
        return at, left

    def gradient(self, w: Any) -> Any:
        _, left = self._sides(w)
        found = [2 * (a - b) for a, b in zip(left, self.right, strict=True)]
        return self.off[0] * np.array([to_double(v) for v in found])

    def value(self, w: Any) -> float:
        at, left = self._sides(w)
        parts = zip(at, left, self.right, strict=True)
        return self.off[1] * to_double(sum((v * (a - 2 * b) for v, a, b in parts), arb(0)))


@as_own
@dataclass(frozen=True)
class Solver:
    """Exact solutions, rounded once, or what is made of them; keeps what it delivers."""

    spoils: dict[str, Spoil]
    offs: dict[str, float]
    kept: list[Any]
    rng: Any
    regularisation: float = 1.0
    kernel: str = "linear"

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Any]:
        """A solver has this; what is asked of ridge regression is not about it."""
        yield from ()

    def _delivered(self, name: str, right: list[arb]) -> Any:
        v = np.array([to_double(x) for x in right])
        return self.spoils[name](v, self.rng) if name in self.spoils else v

    def _spoilt(self) -> str:
        """The spoils of α are of one kernel: the others are right, and do not give it away."""
        return f"alpha, {self.kernel.partition(':')[0]}"

    def primal(self, X: Any, y: Any) -> Primal:
        with bits():
            matrix, right = normal(X, y)
            best = solved(matrix, self.regularisation, right)
            w = self._delivered("w", best)
            self.kept.append((matrix, self.regularisation, right, best, w))
        return Primal(w, self.offs.get("primal", 1.0))

    def dual(self, X: Any, y: Any) -> Dual:
        with bits():
            matrix, right = gram(X, self.kernel), [arb(float(v)) for v in y]
            best = solved(matrix, self.regularisation, right)
            alpha = self._delivered(self._spoilt(), best)
            self.kept.append((matrix, self.regularisation, right, best, alpha))
        return Dual(alpha, X, self.offs.get("dual", 1.0))

    def objective(self, X: Any, y: Any) -> Objective:
        with bits():
            slope, value = self.offs.get("slope", 1.0), self.offs.get("value", 1.0)
            return Objective(X, y, self.regularisation, slope, value)


def _norm(v: list[arb]) -> arb:
    return sum((x * x for x in v), arb(0)).sqrt()


def system(kept: list[Any]) -> Trit:
    """(K + λI)α = y and (ΦᵀΦ + λI)w = Φᵀy, of all that was delivered.

    False for certain: what is delivered is far from the solution, and so is the right side that it
    has. (Where the matrix is nearly singular, rounding alone may do the latter.)
    """
    for matrix, strength, right, best, found in kept:
        given = [arb(float(v)) for v in found]
        sides = [
            sum((m * v for m, v in zip(row, given, strict=True)), strength * given[i] - right[i])
            for i, row in enumerate(matrix)
        ]
        away = [a - b for a, b in zip(given, best, strict=True)]
        if _norm(sides) > PART * _norm(right) and _norm(away) > PART * _norm(best):
            return False
    return None


def one(seed: int, number: int, tally: Any) -> None:
    """Ridge regression on a few points of any scale, and on the data of the statements."""
    rng = np.random.default_rng([seed, number, 6])
    scale = str(rng.choice([*SCALES, "ordinary", "mild"]))
    X = entries(rng, (int(rng.integers(2, 5)), int(rng.integers(1, 4))), scale, "float64")
    if scale == "ordinary":
        X = X * 2.0 ** int(rng.integers(-60, 100))
    y = rng.choice([-1, 1], len(X))
    y[:2] = 1, -1
    where = f"{seed}.{number} {scale}: ridge"
    with bits(), counted(tally, where):
        problem = gb.from_arrays(X, y)
        tally.trials += 1
        tally.kinds["ridge"] += 1
        _hear({}, {}, problem, True, f"{where}, right", rng, tally)
        for how in rng.choice([*SPOILS], 2, replace=False):
            name = str(rng.choice(["w", "alpha, linear", "alpha, poly", "alpha, rbf"]))
            spoilt = {name: SPOILS[how]}
            _hear(spoilt, {}, problem, False, f"{where}, {name} {how}", rng, tally)
        part = str(rng.choice(["primal", "dual", "slope", "value"]))
        _hear({}, {part: 1 + 1e-3}, problem, False, f"{where}, {part} off", rng, tally)
    if number % 10 == 0:
        span(f"{seed}.{number}", tally)


def _hear(
    spoils: dict[str, Spoil],
    offs: dict[str, float],
    problem: Any,
    right: bool,
    where: str,
    rng: Any,
    tally: Any,
) -> None:
    kept: list[Any] = []

    def off(*names: str) -> Trit:
        return False if any(name in offs for name in names) else None

    judges: dict[str, Callable[[], Trit]] = {
        "gb.lec.ridge.system": lambda: system(kept),
        # This also hears what w* and α predict.
        "lec.ridge.fixed": lambda: system(kept) if spoils else off("primal", "dual"),
        "gb.lec.ridge.objective": lambda: off("slope", "value"),
    }
    for name, judge in judges.items():
        kept.clear()
        hear(Solver(spoils, offs, kept, rng), problem, {name: judge}, right, where, tally)
