"""Section 5 of the lecture: kernel ridge regression in rationals and balls, and quadratics.

w* = (ΦᵀΦ + λI)⁻¹ Φᵀy,   α = (K + λI)⁻¹ y,   f(w) = ‖Φw − y‖² + λ‖w‖²
"""

from __future__ import annotations

from types import SimpleNamespace

from .driver import *

Change = Callable[[Any, np.random.Generator], Any]


def _exact(X: Any) -> Any:
    return vec(exact_rows(np.asarray(X, dtype=float)))


def kernel_matrix(X: Any, kernel: str) -> Any:
    """k(x_i, x_j): linear, poly:degree=2,coef0=1 or rbf:gamma=0.5, as the harness sets them."""
    points = _exact(X)
    inner = points @ points.T
    if kernel == "linear":
        return balls(inner)
    if kernel.startswith("poly"):
        return balls((inner + 1) ** 2)
    gaps = points[:, None, :] - points[None, :, :]
    return exp(balls((gaps * gaps).sum(axis=2)) / -2)


def normal(X: Any, y: Any) -> tuple[Any, Vector]:
    """ΦᵀΦ and Φᵀy."""
    Phi = _exact(X)
    right = _exact(np.asarray(y)[:, None])[:, 0]
    return balls(Phi.T @ Phi), balls(Phi.T @ right)


def regularised(matrix: Any, strength: float) -> Any:
    return matrix + arb(strength) * np.eye(len(matrix), dtype=int)


def _one_off(v: Any, rng: np.random.Generator) -> Any:
    v = v.copy()
    v[int(rng.integers(len(v)))] *= 1 + 1e-3
    return v


#: What is done to w* and α, or to one of them.
CHANGES: dict[str, Change] = {
    "negated": lambda v, rng: -v,
    "doubled": lambda v, rng: 2 * v,
    "a little off": _one_off,
    "zero": lambda v, rng: 0 * v,
    "turned": lambda v, rng: v[::-1].copy(),
    "half": lambda v, rng: v / 2,
}


@as_own
@dataclass(frozen=True)
class Solver:
    """Exact solutions, rounded once, or what is made of them; keeps what it delivers."""

    changes: dict[str, Change]
    offs: dict[str, float]
    kept: list[Any]
    rng: Any
    regularisation: float = 1.0
    kernel: str = "linear"

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Any]:
        """A solver has this; the claims about ridge regression are not about it."""
        yield from ()

    def _delivered(self, name: str, matrix: Any, right: Vector) -> Any:
        system = regularised(matrix, self.regularisation)
        best = solved(system, right)
        found = self.changes.get(name, lambda v, rng: v)(doubles(best), self.rng)
        self.kept.append((system, right, best, found))
        return found

    def _predicts(self, part: str, values: Callable[[Any], Any]) -> Callable[[Any], Any]:
        off = self.offs.get(part, 1.0)
        return lambda X: off * values(np.asarray(X, dtype=float))

    def primal(self, X: Any, y: Any) -> Any:
        with bits():
            w = self._delivered("w", *normal(X, y))
        return SimpleNamespace(w=w, predict=self._predicts("primal", lambda Phi: Phi @ w))

    def dual(self, X: Any, y: Any) -> Any:
        """A change of α is of one kernel: the others are right, and do not give it away. Predicts
        with the linear kernel."""
        name, points = f"alpha, {self.kernel.partition(':')[0]}", np.asarray(X, dtype=float)
        with bits():
            alpha = self._delivered(name, kernel_matrix(X, self.kernel), balls(np.asarray(y)))
        predict = self._predicts("dual", lambda others: others @ points.T @ alpha)
        return SimpleNamespace(alpha=alpha, predict=predict)

    def objective(self, X: Any, y: Any) -> Any:
        """‖Φw − y‖² + λ‖w‖² − ‖y‖², exactly, and rounded once."""
        slope, value = self.offs.get("slope", 1.0), self.offs.get("value", 1.0)
        with bits():
            matrix, right = normal(X, y)
            matrix = regularised(matrix, self.regularisation)

        def value_at(w: Any) -> float:
            at = balls(w)
            return value * to_double(at @ (matrix @ at - 2 * right))

        gradient = lambda w: slope * doubles(2 * (matrix @ balls(w) - right))  # noqa: E731
        return SimpleNamespace(gradient=gradient, value=value_at)


@false_if
def system(kept: list[Any]) -> Iterator[bool]:
    """(K + λI)α = y and (ΦᵀΦ + λI)w = Φᵀy, of all that was delivered.

    False for certain: what is delivered is far from the solution, and so is the right side that it
    has. (Where the matrix is nearly singular, rounding alone may do the latter.)
    """
    for matrix, right, best, found in kept:
        given = balls(found)
        residual = length(matrix @ given - right)
        yield residual > PART * length(right) and length(given - best) > PART * length(best)


def one(seed: int, number: int, tally: Tally) -> None:
    """Ridge regression on a few points of any scale, and on the data of the statements."""
    rng = np.random.default_rng([seed, number, 6])
    scale = str(rng.choice([*SCALES, "ordinary", "mild"]))
    X = entries(rng, (int(rng.integers(2, 5)), int(rng.integers(1, 4))), scale, "float64")
    if scale == "ordinary":
        X = X * 2.0 ** int(rng.integers(-60, 100))
    y = two_labels(rng, len(X))
    where = f"{seed}.{number} {scale}: ridge"
    with bits(), attempt(tally, where):
        problem = gb.from_arrays(X, y)
        tally.count("ridge")
        _ask({}, {}, problem, f"{where}, right", rng, tally)
        for how in rng.choice([*CHANGES], 2, replace=False):
            name = str(rng.choice(["w", "alpha, linear", "alpha, poly", "alpha, rbf"]))
            _ask({name: CHANGES[how]}, {}, problem, f"{where}, {name} {how}", rng, tally)
        part = str(rng.choice(["primal", "dual", "slope", "value"]))
        _ask({}, {part: 1 + 1e-3}, problem, f"{where}, {part} off", rng, tally)
    if number % 6 == 0:
        span(f"{seed}.{number}", tally)


def _ask(
    changes: dict[str, Change],
    offs: dict[str, float],
    problem: Any,
    where: str,
    rng: Any,
    tally: Tally,
) -> None:
    kept: list[Any] = []

    def off(*names: str) -> Trit:
        return False if any(name in offs for name in names) else None

    truths: Truths = {
        "gb.lec.ridge.system": lambda: system(kept),
        # This also checks what w* and α predict.
        "lec.ridge.fixed": lambda: system(kept) if changes else off("primal", "dual"),
        "gb.lec.ridge.objective": lambda: off("slope", "value"),
    }
    for name, truth in truths.items():
        kept.clear()
        solver = Solver(changes, offs, kept, rng)
        ask(solver, problem, {name: truth}, not changes and not offs, where, tally)


@as_own
@dataclass(frozen=True)
class OnQuadratics:
    """Gradient descent on ½wᵀAw − bᵀw, as the harness brings it; `away` is added to every w_t."""

    away: float = 0.0

    def iterates(self, f: Any, rng: Any = None) -> Iterator[Iterate]:
        with bits():
            A, b = balls(np.asarray(f.A, dtype=float)), balls(np.asarray(f.b, dtype=float))
            eta = 2 / (arb(float(f.smoothness)) + arb(float(f.strong_convexity)))
            w, t = zeros(len(b)), 0
        while True:
            now = doubles(w)
            now[0] += self.away * (t > 0)
            yield Iterate(t, now)
            with bits():
                w, t = w - eta * (A @ w - b), t + 1


def span(number: str, tally: Tally) -> None:
    """Gradient descent on a quadratic stays in the span of the data.

    One of the harness's regressions has one point with three features: a w with more in the first
    of them is not a multiple of it.
    """
    problem = gb.from_arrays(np.eye(2), [1, -1])
    for away in (0.0, 1e-3, -1e-6):
        truths: Truths = {"lec.sec5.span": (lambda: False) if away else None}
        where = f"{number}: in the span, {away:g} away"
        ask(OnQuadratics(away), problem, truths, not away, where, tally)
