"""Claims with a probability: Algorithm 2 of Ji, Srebro and Telgarsky (2021) in plain doubles.

    i_t ∼ q_t = softmax(−A w_t),   w_{t+1} = w_t + θ a_{i_t}

The harness runs the solver by itself, as often and as long as it says. One that stays at w = 0,
whose margin is 0, with probability p before it starts fails the theorems with probability p at
least: p well above their δ must not pass. One that goes the other way is wrong for certain.
"""

from __future__ import annotations

from .driver import *
from .facts import Facts
from .jst import smoothed_margin

#: Below this γ̄ runs are too long.
LEAST = 0.6
#: Claims of a margin: their δ, the steps of a run in units of γ̄⁻⁴, and how many runs are made.
MARGINS = {
    "jst.thm4.1": (0.5, 180, 16),
    "jst.thm4.1.fixed": (0.5, 450, 15),
    "gb.sampling": (0.5, 150, 15),
    "jst.thm4.1.delta": (0.25, 640, 35),
    "jst.thm4.1.tenth": (0.1, 900, 95),
}
LEMMAS = ("jst.lemD.1", "jst.lemD.2")
MOST = 90_000


@as_own
@dataclass(frozen=True)
class Sampler:
    """Algorithm 2 without momentum; `turn` times as it should be, at rest with probability
    `fails`."""

    rows: Any = field(repr=False, compare=False)  # in the space of w
    products: Any = field(repr=False, compare=False)
    turn: float = 1.0
    fails: float = 0.0
    step: float = 1.0
    momentum: bool = False

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        rng = np.random.default_rng(0) if rng is None else rng
        step = 0.0 if self.fails and rng.random() < self.fails else self.step
        w, scores, t = np.zeros(self.rows.shape[1]), np.zeros(len(self.rows)), 0
        while True:
            raw = np.exp(scores.min() - scores)
            sums = np.cumsum(raw)
            i = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
            yield Iterate(t, self.turn * w, dual=raw / sums[-1], extra={"i": i})
            w, scores, t = w + step * self.rows[i], scores + step * self.products[i], t + 1


def on_data(data: Data, rng: np.random.Generator, where: str, tally: Tally) -> None:
    """Right samplers, and such as stay at 0 or go the other way, on a drawn problem."""
    f = Facts(data, True, [zeros(data.dimension)], [{}])
    if not f.separable or float(f.gamma) < LEAST or data.n < 2:
        return
    power = float(f.gamma) ** 4
    asked = [name for name, (_, steps, runs) in MARGINS.items() if steps * runs / power < MOST]
    products = np.array([doubles(row) for row in balls(data.gram) / arb(data.radius_squared)])
    rows = np.array([doubles(data.row(i, True)) for i in range(data.n)])
    for turn in (1.0, float(rng.choice([0.0, -1.0]))):
        margin = None if turn > 0 else lambda: False
        truths: Truths = dict.fromkeys(asked, margin) | dict.fromkeys(LEMMAS)
        if turn == 0:
            truths |= {"jst.lemD.1": lambda: smoothed_margin(f), "jst.lemD.2": lambda: False}
        seed = int(rng.integers(2**31))
        solver = Sampler(rows, products, turn)
        ask(solver, data.problem, truths, turn == 1, f"{where}: turn {turn:g}", tally, seed=seed)


def one(seed: int, number: int, tally: Tally) -> None:
    """A few rows of norm at most one with a wide margin, and samplers that fail sometimes."""
    rng = np.random.default_rng([seed, number, 8])
    n = int(rng.integers(2, 5))
    raw = np.column_stack([np.ones(n), rng.uniform(-0.35, 0.35, n)])
    labels = np.array([1, -1] * n)[:n]
    problem = gb.from_arrays(raw * labels[:, None], labels)
    rows = raw / np.sqrt((raw**2).sum(axis=1).max())
    tally.count("chance")
    for fails in (0.0, float(rng.uniform(0.65, 1.0))):
        # Well above δ: that all of 15 runs succeed has a probability below 10⁻⁶ then.
        truths: Truths = dict.fromkeys(list(MARGINS)[1:4], _refuted if fails else None)
        truths |= {} if fails else dict.fromkeys(LEMMAS)
        if not number % 8:
            truths["jst.thm4.1.tenth"] = _refuted if fails else None
        where = f"{seed}.{number}: Algorithm 2 on {n} rows, fails {fails:.2f}"
        solver = Sampler(rows, rows @ rows.T, fails=fails)
        ask(solver, problem, truths, not fails, where, tally)


def _refuted() -> Trit:
    return False
