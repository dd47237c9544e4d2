"""SGD as the lecture prints it (Algorithms 1 and 2), and what is claimed of its steps and draws.

    w_{t+1} = w_t − η∇ℓ_i(w_t),  i uniform,  η = B/(ρ√T),  w̄ = (1/T) Σ_t w_t

The harness sets horizon, loss and B itself and brings its generator of random numbers; so the
method is run when it asks, and what was delivered is kept for the truth.
"""

from __future__ import annotations

from itertools import chain, islice, pairwise, product

from flint import ctx

from .driver import *

#: T and B of `gb.lec.sgd.step`.
HORIZON, DISTANCE = 25, 1.5


def slope(loss: str, score: arb) -> arb:
    """ℓ′; the hinge has the subgradient 0 at its kink."""
    if loss == "logistic" and abs(score) > 10**6:  # no double tells it from these
        return arb(0) if score > 0 else arb(-1)
    if loss == "logistic":
        return -1 / (1 + score.exp())
    return arb(-1) if score < 1 else arb(0)


@dataclass
class Wrong:
    """What somebody gets wrong of Algorithm 1; nothing, as it stands."""

    step: float = 1.0
    sign: int = -1
    stale: bool = False
    #: Probabilities of the terms; None: uniform.
    weights: tuple[float, ...] | None = None
    #: The next term is the one after the last, whatever is drawn.
    turns: bool = False
    index: int = 0
    average: float = 1.0
    stuck: bool = False


@as_own
@dataclass(frozen=True)
class Solver:
    """SGD with the options that the harness sets: in balls, or on `rows` in doubles, by somebody
    who knows no error bounds."""

    data: Any
    wrong: Wrong
    kept: dict[str, list[Any]]
    horizon: int = 100
    distance: float = 1.0
    lipschitz: float | None = None
    loss: str = "logistic"
    indices: tuple[int, ...] | None = None
    precision: int = 6000
    rows: Any = field(default=None, compare=False)

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        """As doubles; the first run of each loss is kept."""
        first = self.loss not in self.kept
        mine = self.kept.setdefault(self.loss, [])
        for t, (w, average, index) in enumerate(self.run(rng)):
            said = None if index is None else (index + self.wrong.index) % self._terms
            if first:
                mine.append((w, average, said))
            yield Iterate(t, w.copy(), extra={"average": average.copy(), "index": said})

    @property
    def _terms(self) -> int:
        return len(self.rows) if self.rows is not None else self.data.n

    def _draws(self, rng: Any) -> Iterator[int]:
        if self.indices is not None:
            yield from self.indices
            return
        n, last = self._terms, 0
        while True:
            last = (last + 1) % n if self.wrong.turns else int(rng.choice(n, p=self.wrong.weights))
            yield last

    def run(self, rng: Any) -> Iterator[tuple[Any, Any, int | None]]:
        """Algorithm 2: w_t and w̄, each rounded once, and the term of the step to w_t."""
        wrong, data, rows = self.wrong, self.data, self.rows
        number = arb if rows is None else float
        rho = data.radius if rows is None else max(float(np.linalg.norm(row)) for row in rows)
        w = zeros(data.dimension) if rows is None else np.zeros(len(rows[0]))
        before, total = w, w
        for t, index in enumerate(chain([None], self._draws(rng))):
            with ctx.workprec(self.precision):
                if index is not None:
                    at, before = before if wrong.stale else w, w
                    row = data.row(index, False) if rows is None else rows[index]
                    score = data.scores(at, False)[index] if rows is None else arb(float(row @ at))
                    eta = number(self.distance) / (rho * number(arb(self.horizon).sqrt()))
                    pull = number(slope(self.loss, score)) * number(wrong.step) * eta
                    w = w if wrong.stuck else w + wrong.sign * pull * row
                total = total + w
                mean = number(wrong.average) / (t + 1) * total
                delivered = (doubles(w), doubles(mean)) if rows is None else (w, mean)
            yield *delivered, index


def wrong_run(data: Data, loss: str, run: list[Any]) -> bool:
    """Whether some w_{t+1} is certainly not the step from w_t along the term that is reported, or
    w̄ not the average."""
    eta = arb(DISTANCE) / (data.radius * arb(HORIZON).sqrt())
    ws = [balls(w) for w, *_ in run]
    if (ws[0] != 0).any():
        return True
    total, sizes = ws[0], arb(0)
    for t, (w, after) in enumerate(pairwise(ws)):
        _, average, index = run[t + 1]
        row, score = data.row(index, False), data.scores(w, False)[index]
        # What doubles make of the score may be on either side of it, and of a kink.
        blur = FINE * (1 + data.radius * data.spread(w, False))
        pulls = [slope(loss, s) for s in (score - blur, score, score + blur)]
        known = loss == "hinge" or not pulls[2] - pulls[0] > PART
        missed = known and all(_off(w, after, -eta * pull * row, eta * row) for pull in pulls)
        total, sizes = total + after, sizes + length(after)
        gap = length(balls(average) - total / (t + 2))
        if missed or gap > FINE * sizes / (t + 2):
            return True
    return False


def _off(w: Vector, after: Vector, move: Vector, reach: Vector) -> bool:
    gap = length(after - w - move)
    return bool(gap > PART * length(move) + FINE * (length(w) + length(reach)))


#: Mistakes in a step, or in what is reported beside it.
STEPS: dict[str, Wrong] = {
    "step doubled": Wrong(step=2.0),
    "step a little more": Wrong(step=1 + 2.0**-7),
    "uphill": Wrong(sign=1),
    "stale": Wrong(stale=True),
    "another index": Wrong(index=1),
    "average doubled": Wrong(average=2.0),
    "average a little more": Wrong(average=1 + 1e-3),
    "stuck": Wrong(stuck=True),
}
#: Draws that are not uniform and independent: 24,000 of them show the mildest but once in 10⁹ runs.
DRAWS: dict[str, Wrong] = {
    "one row more often": Wrong(weights=(0.3, 0.7 / 3, 0.7 / 3, 0.7 / 3)),
    "one row never": Wrong(weights=(0.5, 0.5, 0.0, 0.0)),
    "in turn": Wrong(turns=True),
    "another index": Wrong(index=1),
}
#: Mistakes that may cost more than the bound.
LOSSES: dict[str, Wrong] = {
    "stuck": Wrong(stuck=True),
    "uphill": Wrong(sign=1),
    "one row only": Wrong(weights=(1.0, 0.0)),
    "one row mostly": Wrong(weights=(0.95, 0.05)),
    "steps of a tenth": Wrong(step=0.1),
    "steps of ten": Wrong(step=10.0),
}


def one(seed: int, number: int, tally: Tally) -> None:
    """Steps of SGD on a drawn problem, and every few numbers its draws and expectations."""
    rng = np.random.default_rng([seed, number, 5])
    with bits(), attempt(tally, f"{seed}.{number}"):
        data = Data(rng)
        if not data.radius_squared > 0:
            raise Unfit("all rows are zero")
        _steps(data, rng, f"{seed}.{number} {data.name}: SGD", tally)
    if number % 9 == 0:
        draws(rng, f"{seed}.{number}: draws of SGD", tally)
    if number % 3 == 0:
        expectations(rng, f"{seed}.{number}: expectation of SGD", tally)


def _steps(data: Data, rng: np.random.Generator, where: str, tally: Tally) -> None:
    probe = Solver(data, Wrong(), {}, HORIZON, DISTANCE, loss="hinge")
    if not np.isfinite([w for w, *_ in islice(probe.run(np.random.default_rng(0)), 3)]).all():
        raise Unfit("the right iterates are not doubles")
    tally.count("SGD")
    changed = [str(k) for k in rng.choice([*STEPS], 3, replace=False)]
    for how, wrong in {"right": Wrong(), **{k: STEPS[k] for k in changed}}.items():
        kept: dict[str, list[Any]] = {}

        def truth(kept: dict[str, list[Any]] = kept) -> Trit:
            return False if any(wrong_run(data, *item) for item in kept.items()) else None

        solver = Solver(data, wrong, kept)
        truths = {"gb.lec.sgd.step": truth}
        ask(solver, data.problem, truths, how == "right", f"{where}, {how}", tally)


def draws(rng: np.random.Generator, where: str, tally: Tally) -> None:
    """The harness has rows of its own for this, so the solver gets them: e_1, …, e_4."""
    problem = gb.from_arrays(np.eye(2), [1, -1])
    how = str(rng.choice(["right", *DRAWS]))
    solver = Solver(None, DRAWS.get(how, Wrong()), {}, rows=list(np.eye(4)))
    truths = {"gb.lec.sgd.draws": lambda: None if how == "right" else False}
    ask(solver, problem, truths, how == "right", f"{where}, {how}", tally)


def expected(rows: Any, wrong: Wrong, T: int, B: float) -> float:
    """E f(w̄) of the hinge loss, over all n^(T−1) paths with their probabilities."""
    n = len(rows)
    chances = wrong.weights or (1 / n,) * n
    total = 0.0
    for path in product(range(n), repeat=T - 1):
        solver = Solver(None, wrong, {}, T, B, loss="hinge", indices=path, rows=rows)
        *_, (_, average, _) = solver.run(None)
        value = float(np.mean([max(0.0, 1 - float(row @ average)) for row in rows]))
        total += value * float(np.prod([chances[i] for i in path]))
    return total


def expectations(rng: np.random.Generator, where: str, tally: Tally) -> None:
    """Theorem 3 and Corollary 4 with the hinge loss on two rows: E f(w̄) ≤ ½, all paths tried."""
    a, b = float(rng.uniform(0.4, 1)), float(rng.uniform(0.5, 2))
    rows = [np.array([b, b * a]), np.array([b, -b * a])]  # γ̄ = b, ρ² = b²(1 + a²)
    problem = gb.from_arrays(np.array([rows[0], -rows[1]]), [1, -1])
    gamma, rho_squared = b, b * b * (1 + a * a)
    # T = 4ρ²/γ̄² and B = 1/γ̄, so that the bound is ½.
    T = int(np.ceil(4 * rho_squared / gamma**2 - 1e-9))
    how = str(rng.choice(["right", *LOSSES]))
    wrong = LOSSES.get(how, Wrong())
    mean = expected(rows, wrong, T, 1 / gamma)
    # Beyond the bound by far more than T may be off here.
    false = mean > (rho_squared / gamma**2 / T) ** 0.5 * 1.05 and mean > 0.53
    truths = {name: lambda: False if false else None for name in ("lec.thm3", "lec.cor4")}
    where = f"{where}, {how}, E = {mean:.3f}"
    ask(Solver(None, wrong, {}, rows=rows), problem, truths, how == "right", where, tally)
