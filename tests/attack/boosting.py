"""AdaBoost as the lecture prints it (Algorithm 3), in balls, and what is claimed of its rounds.

    D_1(i) = 1/n,  h_t from D_t,  ε_t = P_{D_t}[h_t ≠ y],  α_t = ½ log((1 − ε_t)/ε_t),
    D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i)/z_{t+1},  H = Σ_t α_t h_t

A hypothesis without mistakes has α_t = ∞; H tends to h_t alone then, with z_{t+1} = 0. A claim is
false where it is so by far more than rounding, and else not known: all of them contain equations,
or speak of a D_t that doubles hold up to rounding only.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf

import scipy.sparse
from flint import ctx

from gammabar.solvers.boosting import BestStump, Vote

from .driver import *

#: Bits of a ball: the scale of the data does not enter, for stumps compare and do not compute.
BITS = 1000
#: Rounds that the statements check on a problem that is given.
ROUNDS = 150
#: By how much α_t is moved where the exponential loss is claimed to be least at it.
MOVES = (-2.0, -0.5, -0.01, 0.01, 0.5, 2.0)
Rng = np.random.Generator


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis on the points that it was found on."""

    values: Any

    def __call__(self, X: Any) -> Any:
        return self.values.copy()


@dataclass
class Points:
    """A few points with labels, exactly, and every stump on them."""

    X: Any
    y: Any
    name: str

    @cached_property
    def stumps(self) -> Any:
        """y_i h(x_i) of h(x) = ±1 if x_j > threshold, else ∓1; a row for each."""
        points = exact_rows(self.X.toarray() if scipy.sparse.issparse(self.X) else self.X)
        above = [[True] * len(points)]
        for column in zip(*points, strict=True):
            above += [[x > v for x in column] for v in sorted(set(column))[:-1]]
        signs = 2 * np.array(above, dtype=int) - 1
        return np.stack([signs, -signs], axis=1).reshape(-1, len(points)) * self.y

    @cached_property
    def agreements(self) -> Any:
        """Of every stump, and then of hypotheses that err on one point each, as other learners may
        find them."""
        return np.concatenate([self.stumps, 1 - 2 * np.eye(len(self.y), dtype=int)])

    @cached_property
    def hypotheses(self) -> list[Hypothesis]:
        return [Hypothesis((agrees * self.y).astype(np.int8)) for agrees in self.agreements]


def drawn(rng: Rng) -> Points:
    """Points of any scale and type; comparing them is all that stumps do."""
    scale = str(rng.choice([*SCALES]))
    dtype = str(rng.choice(("float64",) * 6 + ("float32", "bool", *INTEGERS)))
    n = int(rng.integers(2, 7))
    X = entries(rng, (n, int(rng.integers(1, 4))), scale, dtype)
    y = two_labels(rng, n)
    sparse = bool(rng.random() < 0.3)
    name = f"{'sparse' if sparse else 'dense'} {dtype} {scale}, n = {n}"
    return Points(scipy.sparse.csr_matrix(X) if sparse else X, y, name)


@dataclass
class Told:
    """What AdaBoost reports after a round; `w` has α_1, …, α_t, `dual` is D_{t+1}."""

    w: Any
    dual: Any
    votes: Any
    chosen: list[int]
    extra: dict[str, Any] = field(default_factory=dict)


def best(points: Points, D: Vector, t: int, rng: Rng) -> int:
    """A stump of least weighted error, any of them."""
    edges = points.stumps.astype(object) @ D
    top = largest(edges)
    return int(rng.choice([k for k, edge in enumerate(edges) if not edge < top]))


def lopsided(points: Points, D: Vector, t: int, rng: Rng) -> int:
    """Errs on all points but the first in turn, which loses its weight so, and at last on it."""
    n = len(points.y)
    return len(points.stumps) + (t % (n - 1) + 1 if t < ROUNDS - 1 else 0)


def any_stump(points: Points, D: Vector, t: int, rng: Rng) -> int:
    """A stump that is worth something, or less than nothing."""
    useful = [k for k, a in enumerate(points.stumps) if len(set(a)) > 1]
    return int(rng.choice(useful)) if useful else 0


def mass(D: Vector, agrees: Any, sign: int) -> arb:
    return sum(D[agrees == sign], arb(0))


def adaboost(
    points: Points,
    learner: Callable[[Points, Vector, int, Rng], int],
    rng: Rng,
    alpha_of: Callable[[arb, arb], arb] = lambda alpha, epsilon: alpha,
    normalise: bool = True,
) -> Iterator[Told]:
    """Algorithm 3, line by line; `alpha_of` and `normalise` are for those who get it wrong."""
    n = len(points.y)
    D = vec([arb(1) / n] * n)
    now = Told([], D, zeros(n), [], {"product": arb(1)})
    while True:
        yield now
        k = learner(points, D, len(now.w), rng)
        agrees = points.agreements[k]
        if len(set(agrees)) == 1:
            break
        wrong, right = mass(D, agrees, -1), mass(D, agrees, 1)
        alpha = alpha_of((right / wrong).log() / 2, wrong)
        raw = D * exp(-alpha * agrees.astype(object))
        extra = _said(D, wrong, alpha, raw.sum(), now)
        D = raw / raw.sum() if normalise else raw
        votes = now.votes + alpha * agrees.astype(object)
        now = Told([*now.w, alpha], D, votes, [*now.chosen, k], extra)
    sign = int(agrees[0])
    extra = _said(D, arb((1 - sign) // 2), arb(sign) * arb("inf"), arb(0), now)
    while True:
        yield Told([arb(sign)], D, vec([arb(1)] * n), [k], extra)


def _said(D: Vector, wrong: arb, alpha: arb, z: arb, before: Told) -> dict[str, Any]:
    product, gamma = before.extra["product"] * z, arb(1) / 2 - wrong
    return {"D": D, "epsilon": wrong, "gamma": gamma, "alpha": alpha, "z": z, "product": product}


def _double(value: Any) -> Any:
    if isinstance(value, np.ndarray | list):
        return doubles(value)
    return float(value) if not value.is_finite() else to_double(value)


def played(run: Iterator[Told]) -> list[Told]:
    """The empty vote and the votes of all rounds as doubles, up to one that changes nothing any
    more or whose weights leave the doubles."""
    found: list[Told] = []
    for told in run:
        extra = {name: _double(value) for name, value in told.extra.items()}
        sides = (_double(v) for v in (told.w, told.dual, told.votes))
        now = Told(*sides, list(told.chosen), extra)
        if not all(2.0**-900 < v < 2.0**900 for v in now.dual):
            break
        found.append(now)
        if len(found) == ROUNDS + 1 or (found[1:] and now.extra["z"] == 0):
            break
    return found


@as_own
@dataclass(frozen=True)
class Solver:
    """Delivers the votes that it is given, as `gammabar.solvers.AdaBoost` does."""

    points: Points
    run: list[Told]
    learner: Any

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Vote]:
        asked = self.points.hypotheses
        for t, told in enumerate(self.run):
            chosen = tuple(asked[k % len(asked)] for k in told.chosen)
            w, dual, votes = (np.array(v, dtype=float) for v in (told.w, told.dual, told.votes))
            yield Vote(t, w, problem, None, dual, None, dict(told.extra), votes, chosen)
        if self.run[-1].extra.get("z") != 0:
            raise gb.ProblemError("weights are below the smallest double: stop here")


# What is done to a right run

Change = Callable[[list[Told], Rng], list[Told]]


def _later(run: list[Told], rng: Rng) -> int:
    return int(rng.integers(1, len(run)))


def _with(run: list[Told], t: int, **changes: Any) -> list[Told]:
    return [replace(told, **changes) if s == t else told for s, told in enumerate(run)]


def _claim(name: str, factor: float, add: float = 0.0) -> Change:
    def change(run: list[Told], rng: Rng) -> list[Told]:
        t = _later(run, rng)
        return _with(run, t, extra={**run[t].extra, name: factor * run[t].extra[name] + add})

    return change


def _vector(name: str, factor: float, whole: bool = True) -> Change:
    def change(run: list[Told], rng: Rng) -> list[Told]:
        t = _later(run, rng)
        value = getattr(run[t], name).copy()
        value[slice(None) if whole else int(rng.integers(len(value)))] *= factor
        return _with(run, t, **{name: value})

    return change


def stale(run: list[Told], rng: Rng) -> list[Told]:
    """D_{t+1} is that of the round before."""
    t = _later(run, rng)
    return _with(run, t, dual=run[t - 1].dual)


def stuck(run: list[Told], rng: Rng) -> list[Told]:
    t = _later(run, rng)
    return [*run[:t], *[run[t]] * (len(run) - t)]


def other_stump(run: list[Told], rng: Rng) -> list[Told]:
    """Another hypothesis is reported as the last one than the round was made with."""
    t = _later(run, rng)
    *before, k = run[t].chosen
    other = k ^ 1 if rng.random() < 0.5 else max(k - 1 - int(rng.integers(3)), 0)
    return _with(run, t, chosen=[*before, other])


CHANGES: dict[str, Change] = {
    "stale": stale,
    "stuck": stuck,
    "ended": lambda run, rng: run[: _later(run, rng)],
    "other stump": other_stump,
    "dual scaled": _vector("dual", 2.0),
    "dual off": _vector("dual", 1 + 1e-3, whole=False),
    "dual negated": _vector("dual", -1.0),
    "votes off": _vector("votes", 1 + 1e-3, whole=False),
    "votes negated": _vector("votes", -1.0),
    "w off": _vector("w", 1 + 1e-3, whole=False),
    "w negated": _vector("w", -1.0),
    "z negated": _claim("z", -1.0),
    "z zero": _claim("z", 0.0),
} | {
    f"{name} {how}": _claim(name, factor, add)
    for name in ("D", "epsilon", "gamma", "alpha", "z", "product")
    for how, factor, add in (("off", 1 + 1e-3, 0.0), ("doubled", 2.0, 0.0), ("more", 1.0, 1e-3))
}
#: A wrong line, which the rest of the run goes along with; one is wrong only where the hypothesis
#: errs on next to nothing.
MISTAKES: dict[str, Callable[[arb, arb], arb]] = {
    "without the half": lambda alpha, _: 2 * alpha,
    "without the half at last": lambda alpha, epsilon: alpha * (2 if epsilon < 2.0**-40 else 1),
    "a hundredth": lambda alpha, _: alpha / 100,
    "negated": lambda alpha, _: -alpha,
    "a little more": lambda alpha, _: alpha * (1 + arb(1) / 1000),
    "one more": lambda alpha, _: alpha + 1,
    "not normalised": lambda alpha, _: alpha,
}


# What is true of the delivered rounds


@dataclass
class Round:
    """A round as delivered: D_t, y_i h_t(x_i), and what is reported after it."""

    t: int
    D: Vector
    agrees: Any
    before: Told
    after: Told

    def __post_init__(self) -> None:
        self.epsilon, self.right = (mass(self.D, self.agrees, sign) for sign in (-1, 1))
        self.gamma = arb(1) / 2 - self.epsilon
        self.perfect = len(set(self.agrees)) == 1
        inside = self.epsilon * (1 - self.epsilon)
        #: √(1 − 4γ_t²) = 2√(ε_t(1 − ε_t)).
        self.root = arb(0) if self.perfect or not inside > 0 else 2 * inside.sqrt()

    def loss(self, alpha: arb) -> arb:
        """Σ_i D_t(i) exp(−α y_i h_t(x_i))."""
        return self.right * (-alpha).exp() + self.epsilon * alpha.exp()


class Rounds:
    """A run: a round for each vote but the empty one, until one is perfect."""

    def __init__(self, points: Points, run: list[Told], finds_best: bool) -> None:
        self.points, self.run, self.finds_best = points, run, finds_best
        self.rounds: list[Round] = []
        for t, (before, after) in enumerate(pairwise(run), start=1):
            # `other_stump` may count past the last, and `Solver` begins again then.
            agrees = points.agreements[after.chosen[-1] % len(points.agreements)]
            self.rounds.append(Round(t, balls(before.dual), agrees, before, after))
            if self.rounds[-1].perfect:
                break

    def mistakes(self, r: Round) -> int:
        """How many points sign(H) certainly errs on, for the H = Σ_s α_s h_s that is delivered."""
        voters = [r] if r.perfect else self.rounds[: r.t]
        if len(r.after.w) != len(voters):
            return 0
        parts = np.array([s.agrees for s in voters]).astype(object) * balls(r.after.w)[:, None]
        return sum(bool(v) for v in parts.sum(axis=0) < -FINE * abs(parts).sum(axis=0))

    def largest_edge(self, r: Round) -> arb:
        """The largest Σ_i D_t(i) y_i h(x_i) of a stump."""
        return largest([0, *(self.points.stumps.astype(object) @ r.D)])


def _far(found: float, wanted: arb, size: arb) -> bool:
    """Whether a number that is reported is certainly another one."""
    if not arb(found).is_finite() or not wanted.is_finite():
        return False
    return bool(abs(arb(found) - wanted) > FINE * abs(size))


@false_if
def step(rounds: Rounds) -> Iterator[bool]:
    """Algorithm 3, one round from the delivered D_t and h_t."""
    yield any(_far(v * len(rounds.points.y), arb(1), arb(1)) for v in rounds.run[0].dual)
    for r in rounds.rounds:
        yield _wrong_end(r) if r.perfect else _wrong_round(r)


def _wrong_end(r: Round) -> bool:
    """A hypothesis without mistakes, or with nothing else: it is all of H, and z_{t+1} is 0."""
    told = r.after.extra
    if told["z"] != 0 or told["alpha"] != r.agrees[0] * inf or min(r.after.votes) <= 0:
        return True
    numbers = [(told["epsilon"], r.epsilon, arb(1)), (told["gamma"], r.gamma, arb(1))]
    numbers += [(v, d, d) for v, d in zip(told["D"], r.D, strict=True)]
    return any(_far(*one) for one in numbers)


def _wrong_round(r: Round) -> bool:
    told, w, last = r.after.extra, list(r.after.w), list(r.before.w)
    if len(w) != r.t or w[:-1] != last or w[-1] != told["alpha"]:
        return True
    alpha, z = arb(told["alpha"]), arb(told["z"])
    wanted, agrees = (r.right / r.epsilon).log() / 2, r.agrees.astype(object)
    product = arb(r.before.extra["product"]) * z
    # ε_t and 1 − ε_t are sums of positive numbers, each of a relative error of a few roundoffs.
    numbers = [
        (told["epsilon"], r.epsilon, r.epsilon),
        (told["gamma"], r.gamma, arb(1)),
        (told["alpha"], wanted, 1 + abs(wanted)),
        (told["z"], r.loss(alpha), r.loss(alpha)),
        (told["product"], product, product),
    ]
    fresh = r.D * exp(-alpha * agrees) / r.loss(alpha)
    votes = balls(r.before.votes) + alpha * agrees
    numbers += [(v, d, d) for v, d in zip(told["D"], r.D, strict=True)]
    numbers += [(v, d, d) for v, d in zip(r.after.dual, fresh, strict=True)]
    size = abs(alpha) + max(abs(v) for v in r.before.votes)
    numbers += [(v, vote, size) for v, vote in zip(r.after.votes, votes, strict=True)]
    return any(_far(*one) for one in numbers)


@false_if
def product_bound(rounds: Rounds) -> Iterator[bool]:
    """z_{t+1} = √(1 − 4γ_t²), and the training error is at most z_2 ⋯ z_{T+1}."""
    yield normaliser(rounds) is False
    product = arb(1)
    for r in rounds.rounds:
        product *= arb(r.after.extra["z"])
        yield rounds.mistakes(r) > product * len(r.D)


@false_if
def normaliser(rounds: Rounds) -> Iterator[bool]:
    """z_{t+1} = 2√(ε_t(1 − ε_t))."""
    usual = (r for r in rounds.rounds if not r.perfect and r.epsilon < 1)
    return (_far(r.after.extra["z"], r.root, r.root) for r in usual)


@false_if
def printed_sum(rounds: Rounds) -> Iterator[bool]:
    """z_{t+1} = (1 − ε)√(ε/(1 − ε)) + ε√((1 − ε)/ε) − 2√(ε(1 − ε)), which is 0."""
    return (_far(r.after.extra["z"], arb(0), r.root) for r in rounds.rounds if not r.perfect)


@false_if
def exponentials(rounds: Rounds) -> Iterator[bool]:
    """z_2 ⋯ z_{T+1} ≤ e^{−2Tγ²} for a γ below all γ_t, of the whole run."""
    gammas = [arb(1) / 2, *(r.gamma for r in rounds.rounds)]
    gamma, product = smallest(gammas) * (1 - arb(10) ** -5), arb(1)
    for r in rounds.rounds if gamma > 0 else ():
        product *= arb(r.after.extra["z"])
        yield product > (-2 * r.t * gamma**2).exp() * (1 + FINE)


@false_if
def no_error(rounds: Rounds) -> Iterator[bool]:
    """Lemma 7: no training error from T = log(2n)/(2γ²) on, γ the least γ_t so far."""
    gamma = arb(1) / 2
    for r in rounds.rounds:
        gamma = gamma.min(r.gamma)
        late = gamma > 0 and r.t >= arb(2 * len(r.D)).log() / (2 * gamma**2)
        yield late and rounds.mistakes(r) > 0


@false_if
def greedy(rounds: Rounds) -> Iterator[bool]:
    """α_t makes the exponential loss least, on a grid; and no stump makes it smaller, if the
    learner looks for the best."""
    for r in (r for r in rounds.rounds if not r.perfect and len(r.after.w)):
        alpha = arb(r.after.w[-1])
        found = r.loss(alpha)
        yield any(found > r.loss(alpha + arb(m)) * (1 + FINE) for m in MOVES)
        if rounds.finds_best:
            whole, edge = r.right + r.epsilon, rounds.largest_edge(r)
            # √(M² − e²) is not smooth at e = M: what rounding makes of it is added below the root.
            least = ((whole - edge).max(arb(0)) * (whole + edge) + FINE * whole**2).sqrt()
            yield found > least * (1 + FINE) + FINE * whole


@false_if
def best_stump(rounds: Rounds) -> Iterator[bool]:
    """h_t is a stump of least weighted error."""
    for r in rounds.rounds if rounds.finds_best else ():
        yield rounds.largest_edge(r) - (r.right - r.epsilon) > FINE * (r.right + r.epsilon)


CLAIMS: dict[str, Callable[[Rounds], Trit]] = {
    "gb.lec.adaboost.step": step,
    "gb.lec.stumps.best": best_stump,
    "lec.lem7": no_error,
    "lec.alg3.z": product_bound,
    "lec.alg3.z.sum": printed_sum,
    "lec.alg3.z.sum.fixed": normaliser,
    "lec.alg3.z.exp.fixed": exponentials,
    "lec.sec4.greedy": greedy,
}


def one(seed: int, number: int, tally: Tally) -> None:
    """AdaBoost on a few points: a right run, wrong lines, and false reports."""
    rng = np.random.default_rng([seed, number, 3])
    with ctx.workprec(BITS):
        points = drawn(rng)
        where = f"{seed}.{number} {points.name}: AdaBoost"
        with attempt(tally, where):
            problem = gb.from_arrays(points.X, points.y)
            learner = (best, lopsided, any_stump)[int(rng.integers(3))]
            # The harness looks for the best stump where the learner says that it does so, too.
            marker = BestStump() if learner is best else learner
            right = played(adaboost(points, learner, rng))
            tally.count("boosting")
            runs = {"right": right}
            for how in rng.choice([*MISTAKES], 1):
                wrong = adaboost(points, learner, rng, MISTAKES[how], how != "not normalised")
                runs[how] = played(wrong)
            for change in rng.choice([*CHANGES], 3, replace=False):
                runs[change] = CHANGES[change](right, rng)
            for how, run in runs.items():
                if len(run) > 1:
                    rounds = Rounds(points, run, learner is best)
                    truths: Truths = {name: partial(c, rounds) for name, c in CLAIMS.items()}
                    label = f"{where} ({learner.__name__}), {how}"
                    solver = Solver(points, run, marker)
                    ask(solver, problem, truths, how == "right", label, tally)
