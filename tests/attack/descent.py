"""Gradient descent, plain and accelerated, on the regularised logistic risk, in balls.

    f(w) = (1/n) Σ_i log(1 + exp(−⟨a_i, w⟩)) + (λ/2)‖w‖²,  β = R²/4 + λ,  κ = β/λ
    Theorem 1:    w_{t+1} = w_t − η∇f(w_t),  η = 2/(β + λ)
    accelerated:  w_{t+1} = v_t − ∇f(v_t)/β,
                  v_{t+1} = w_{t+1} + (√κ − 1)/(√κ + 1) (w_{t+1} − w_t)  (Nesterov 2004, 2.2.11)

In the space of a kernel w and gradients are coefficients of the rows, and so are what is compared.
"""

from __future__ import annotations

from itertools import islice

from .changes import RIGHT, WRONG
from .driver import *

#: Steps that the statements check on a problem that is given.
STEPS = 30
#: λ as a part of R², and λ itself: the statements take whatever a solver declares.
PARTS = (0.1, 1.0, 10.0, 2.0**-7, 2.0**30)
STRENGTHS = (0.1, 1000.0, 2.0**-40, 2.0**60, 2.0**400, 2.0**-300)
#: Beyond this κ the harness's search for a minimum takes seconds, and the bounds say nothing in
#: thirty steps.
WORST = 10**4


class Risk:
    """f, exactly."""

    def __init__(self, data: Data, strength: float) -> None:
        self.data, self.strength, self.lam = data, strength, arb(strength)
        self.beta = arb(data.radius_squared) / 4 + self.lam
        self.kappa, self.eta = self.beta / self.lam, 2 / (self.beta + self.lam)

    def gradient(self, w: Vector) -> Vector:
        pulls = 1 / (1 + exp(self.data.scores(w, False))) / self.data.n
        return self.lam * w - self.data.combine(pulls, False)

    def value(self, w: Vector) -> arb:
        losses = log(1 + exp(-self.data.scores(w, False)))
        return losses.sum() / self.data.n + self.lam / 2 * self.data.square(w, False)

    def mass(self, w: Vector) -> arb:
        """The size of what is added to get ∇f(w)."""
        return self.lam * length(w) + (self.data.radius if self.data.linear else arb(1))

    @cached_property
    def optimum(self) -> tuple[arb, arb, arb] | None:
        """Bounds of f(w*) from below and above, and ‖w*‖; None if Newton's method does not arrive.

        w* = Σ_i α_i a_i with λα_i = pull_i. From a point with a small gradient g:
        f(w*) ≥ f − ‖g‖²/2λ, and ‖w − w*‖ ≤ ‖g‖/λ.
        """
        alpha = self._newton()
        if alpha is None:
            return None
        w = self.data.combine(alpha, False)
        square = self.data.square(self.gradient(w), False).max(arb(0))
        value, off = self.value(w), (square.sqrt() / self.lam).upper()
        return value - square / (2 * self.lam), value, self.data.norm(w, False) + arb(0, off)

    def _newton(self) -> Vector | None:
        n, gram = self.data.n, balls(self.data.gram)
        alpha = zeros(n)
        for _ in range(60):
            pulls = 1 / (1 + exp(gram @ alpha)) / n
            # d pull_i/ds_i = −pull_i (1 − n pull_i)
            system = (pulls * (1 - n * pulls))[:, None] * gram + self.lam * np.eye(n, dtype=int)
            move = solved(system, self.lam * alpha - pulls)
            if move is None:
                return None
            moved = vec((a - b).mid() for a, b in zip(alpha, move, strict=True))
            if not all(v.is_finite() for v in moved):
                return None
            still = all(abs(alpha - moved) <= abs(moved) * arb(2) ** -500)
            alpha = moved
            if still:
                return alpha
        return None


Report = tuple[Vector, dict[str, Vector]]


def plain(f: Risk) -> Iterator[Report]:
    w = zeros(f.data.dimension)
    while True:
        gradient = f.gradient(w)
        yield w, {"gradient": gradient}
        w = w - f.eta * gradient


def accelerated(f: Risk) -> Iterator[Report]:
    w = v = zeros(f.data.dimension)
    while True:
        gradient = f.gradient(v)
        yield w, {"gradient": gradient, "v": v, "momentum": v - w}
        new = v - gradient / f.beta
        v = new + share(f) * (new - w)
        w = new


def share(f: Risk) -> arb:
    root = f.kappa.sqrt()
    return (root - 1) / (root + 1)


@as_own
class Delivering(Solver):
    """Delivers what it is given."""


class Delivered:
    """A run as delivered."""

    def __init__(self, f: Risk, ws: Any, extras: list[dict[str, Any]]) -> None:
        self.f, self.w = f, [balls(w) for w in ws]
        self.extras = [{name: balls(v) for name, v in one.items()} for one in extras]

    def wrong_step(self, t: int, at: Vector, eta: arb, size: Any) -> bool:
        """Whether the gradient step from `at` certainly ends elsewhere; it starts at w_t."""
        w, right = self.w[t], at - eta * self.f.gradient(at)
        rounded = length(w) + length(at) + size + eta * self.f.mass(at)
        gap = length(self.w[t + 1] - right)
        return bool(gap > PART * length(right - w) + FINE * rounded)

    def false_report(self, t: int, said: dict[str, tuple[Vector, arb]]) -> bool:
        return any(
            bool(length(self.extras[t][name] - right) > FINE * (size + length(right)))
            for name, (right, size) in said.items()
            if name in self.extras[t]
        )


@false_if
def plain_step(d: Delivered) -> Iterator[Any]:
    yield (d.w[0] != 0).any()
    for t, w in enumerate(d.w[:-1]):
        said = {"gradient": (d.f.gradient(w), d.f.mass(w))}
        yield d.wrong_step(t, w, d.f.eta, 0) or d.false_report(t, said)


@false_if
def accelerated_step(d: Delivered) -> Iterator[Any]:
    yield (d.w[0] != 0).any()
    for t, w in enumerate(d.w[:-1]):
        back = d.w[max(t - 1, 0)]
        v, size = w + share(d.f) * (w - back), length(w) + length(back)
        gradient = (d.f.gradient(v), d.f.mass(v) + d.f.beta * size)
        said = {"gradient": gradient, "v": (v, size), "momentum": (v - w, size)}
        yield d.wrong_step(t, v, 1 / d.f.beta, size) or d.false_report(t, said)


def rate(bound: Callable[[Risk, int, arb], arb]) -> Callable[[Delivered], Trit]:
    """f(w_T) − f(w*) ≤ bound(T, B²) for T = 1, 2, …"""

    def truth(d: Delivered) -> Trit:
        if d.f.optimum is None:
            return None
        low, high, norm = d.f.optimum
        known: Trit = True
        for T in range(1, len(d.w)):
            value, right = d.f.value(d.w[T]), bound(d.f, T, norm**2)
            if value - high > right:
                return False
            if not value - low <= right:
                known = None
        return known

    return truth


@false_if
def enough_steps(d: Delivered) -> Iterator[bool]:
    """T ≥ κ log(B²β/2ε) steps leave ε, for four ε, each at the first such T."""
    if d.f.optimum is None:
        return
    _, high, norm = d.f.optimum
    for part in (arb("0.9"), arb("0.5"), arb("0.1"), arb("0.001")):
        needed = -d.f.kappa * part.log()
        for T in (T for T in range(1, len(d.w)) if T - 1 < needed <= T):
            left = d.f.value(d.w[T]) - high
            yield left > part * norm**2 * d.f.beta / 2 * (1 + FINE)


CLAIMS: dict[str, dict[str, Callable[[Delivered], Trit]]] = {
    "plain": {
        "gb.lec.gd.step": plain_step,
        # Theorem 1 as printed, and without the 1/T.
        "lec.thm1": rate(lambda f, T, square: (-T / f.kappa).exp() * square * f.beta / (2 * T)),
        "lec.thm1.fixed": rate(lambda f, T, square: (-T / f.kappa).exp() * square * f.beta / 2),
        "lec.sec1.steps": enough_steps,
    },
    "accelerated": {
        "gb.lec.agd.step": accelerated_step,
        # Bubeck 2015, Theorem 3.18.
        "gb.lec.agd.rate": rate(
            lambda f, T, square: (f.beta + f.lam) / 2 * square * (-T / f.kappa.sqrt()).exp()
        ),
    },
}


def _strength(data: Data, rng: np.random.Generator) -> float:
    part, plain_one = float(rng.choice(PARTS)), float(rng.choice(STRENGTHS))
    found = to_double(arb(data.radius_squared) * part)
    if rng.random() < 0.1:  # so that steps are near the end of the doubles
        found = to_double(data.radius * arb(2) ** 1005)
    return found if rng.random() < 0.7 and 2.0**-1000 < found < 2.0**1020 else plain_one


def one(seed: int, number: int, tally: Tally) -> None:
    """One of the methods on a drawn problem: right, with wrong iterates, with false reports."""
    rng = np.random.default_rng([seed, number, 4])
    with bits(), attempt(tally, f"{seed}.{number}"):
        data = Data(rng)
        if not data.radius_squared > 0:
            raise Unfit("all rows are zero")
        f = Risk(data, _strength(data, rng))
        name = str(rng.choice([*CLAIMS]))
        # No more than 25√κ steps are checked.
        steps = int(float((25 * f.kappa.sqrt()).upper())) if f.kappa < 100 else STEPS
        method = plain if name == "plain" else accelerated
        told = list(islice(method(f), min(STEPS, steps) + 1))
        run = np.array([doubles(w) for w, _ in told])
        extras = [{key: doubles(v) for key, v in said.items()} for _, said in told]
        if not np.isfinite(run).all():
            raise Unfit("the right iterates are not doubles")
        tally.count("descent")
        where = f"{seed}.{number} {data.name}, λ = {f.strength:g}: {name} descent"
        for how, (ws, said) in _runs(run, extras, rng).items():
            if np.isfinite(ws).all():
                delivered = Delivered(f, ws, said)
                # Jitter moves w_t off the step that w_{t+1} was made by.
                truths: Truths = {
                    key: partial(claim, delivered)
                    for key, claim in CLAIMS[name].items()
                    if (how != "jitter" if key.endswith(".step") else f.kappa < WORST)
                }
                solver = Delivering(ws, said, regularisation=f.strength)
                # Of a kernel's coefficients, which may cancel, jitter is more than rounding.
                right = how == "nearest" or (how == "jitter" and data.linear)
                ask(solver, data.problem, truths, right, f"{where}, {how}", tally)


def _runs(run: Any, extras: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
    """Right runs, wrong ones, and a report that is negated, scaled, off, or that of another t."""
    silent: list[dict[str, Any]] = [{}] * len(run)
    runs = {"nearest": (run, extras), "jitter": (RIGHT["jitter"](run, rng), silent)}
    for change in rng.choice([*WRONG], 3, replace=False):
        runs[change] = (WRONG[change](run, rng), silent if rng.random() < 0.5 else extras)
    name, t = str(rng.choice([*extras[0]])), int(rng.integers(1, len(extras)))
    said = extras[t][name]
    other = (-said, 2 * said, said * (1 + 1e-3), extras[t - 1][name])[int(rng.integers(4))]
    false = [{**one, name: other} if s == t else one for s, one in enumerate(extras)]
    return {**runs, f"{name} false": (run, false)}
