"""AdaBoost as the lecture prints it (Algorithm 3), in balls, and what is claimed of its rounds.

    D_1(i) = 1/n,  h_t from D_t,  ε_t = P_{D_t}[h_t ≠ y],  α_t = ½ log((1 − ε_t)/ε_t),
    D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i)/z_{t+1},  H = Σ_t α_t h_t

A hypothesis without mistakes has α_t = ∞; what H tends to is then h_t alone, with z_{t+1} = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse
from flint import arb, ctx, fmpq

import gammabar as gb
from gammabar.solvers.boosting import BestStump, Vote

from .data import INTEGERS, SCALES, entries, exact, to_double
from .facts import Trit
from .hearing import as_own, counted, hear

#: Bits of a ball: no scale of the data enters, for stumps compare and do not compute.
BITS = 1000
#: Rounds that the statements hear on a problem that is given.
ROUNDS = 150


@dataclass(frozen=True)
class Cut:
    """h(x) = sign if x_j > threshold, else −sign; in exact comparisons."""

    column: int
    threshold: fmpq | None
    sign: int

    def on(self, points: list[list[fmpq]]) -> list[int]:
        above = (self.threshold is None or x[self.column] > self.threshold for x in points)
        return [self.sign if up else -self.sign for up in above]


@dataclass(frozen=True)
class Asked:
    """A hypothesis on the points that it was found on."""

    values: Any

    def __call__(self, X: Any) -> Any:
        return self.values.copy()


@dataclass
class Points:
    """A few points with labels, exactly, and every stump there is on them."""

    X: Any
    y: Any
    name: str

    @cached_property
    def exactly(self) -> list[list[fmpq]]:
        X = self.X.toarray() if scipy.sparse.issparse(self.X) else self.X
        rows = X.tolist() if X.dtype.kind != "f" else [[float(v) for v in row] for row in X]
        return [[exact(v) for v in row] for row in rows]

    @cached_property
    def cuts(self) -> list[Cut]:
        found = [Cut(0, None, s) for s in (1, -1)]
        for j in range(len(self.exactly[0])):
            values = sorted({x[j] for x in self.exactly})
            found += [Cut(j, v, s) for v in values[:-1] for s in (1, -1)]
        return found

    @cached_property
    def agreements(self) -> list[list[int]]:
        """y_i h(x_i): of every stump, and then of hypotheses that err on one point each, as other
        learners may find them."""
        labels = [int(v) for v in self.y]
        stumps = [
            [a * b for a, b in zip(h.on(self.exactly), labels, strict=True)] for h in self.cuts
        ]
        return stumps + [[-1 if i == j else 1 for j in self.indices] for i in self.indices]

    @property
    def indices(self) -> range:
        return range(len(self.y))

    @cached_property
    def asked(self) -> list[Asked]:
        """The hypotheses, as the court asks them."""
        return [Asked((np.array(agrees) * self.y).astype(np.int8)) for agrees in self.agreements]


def drawn(rng: np.random.Generator) -> Points:
    """Points of any scale and type; comparing them is all that stumps do."""
    scale = str(rng.choice([*SCALES]))
    dtype = str(rng.choice(("float64",) * 6 + ("float32", "bool", *INTEGERS)))
    n = int(rng.integers(2, 7))
    X = entries(rng, (n, int(rng.integers(1, 4))), scale, dtype)
    y = rng.choice([-1, 1], n)
    y[:2] = 1, -1
    sparse = bool(rng.random() < 0.3)
    name = f"{'sparse' if sparse else 'dense'} {dtype} {scale}, n = {n}"
    return Points(scipy.sparse.csr_matrix(X) if sparse else X, y, name)


@dataclass
class Told:
    """What AdaBoost says after a round; `w` has α_1, …, α_t, `dual` is D_{t+1}."""

    w: list[Any]
    dual: list[Any]
    votes: list[Any]
    chosen: list[int]
    extra: dict[str, Any] = field(default_factory=dict)


Learner = Callable[[Points, list[arb], int, np.random.Generator], int]


def best(points: Points, D: list[arb], t: int, rng: np.random.Generator) -> int:
    """A stump of least weighted error, any of them."""
    edges = [_edge(D, agrees) for agrees in points.agreements[: len(points.cuts)]]
    most = edges[0]
    for edge in edges[1:]:
        most = most.max(edge)
    return int(rng.choice([k for k, edge in enumerate(edges) if not edge < most]))


def lopsided(points: Points, D: list[arb], t: int, rng: np.random.Generator) -> int:
    """Errs on all points but the first in turn, which loses its weight so, and at last on it."""
    n = len(points.y)
    return len(points.cuts) + (t % (n - 1) + 1 if t < ROUNDS - 1 else 0)


def any_stump(points: Points, D: list[arb], t: int, rng: np.random.Generator) -> int:
    """A stump that is worth something, or less than nothing."""
    useful = [k for k, a in enumerate(points.agreements[: len(points.cuts)]) if len(set(a)) > 1]
    return int(rng.choice(useful)) if useful else 0


def _edge(D: list[arb], agrees: list[int]) -> arb:
    """Σ_i D(i) y_i h(x_i)."""
    return sum((d * a for d, a in zip(D, agrees, strict=True)), arb(0))


def _mass(D: list[arb], agrees: list[int], sign: int) -> arb:
    return sum((d for d, a in zip(D, agrees, strict=True) if a == sign), arb(0))


#: A line of Algorithm 3 that somebody got wrong: from α_t as it should be and ε_t.
Alpha = Callable[[arb, arb], arb]


def adaboost(
    points: Points,
    learner: Learner,
    rng: np.random.Generator,
    alpha_of: Alpha = lambda alpha, epsilon: alpha,
    normalise: bool = True,
) -> Iterator[Told]:
    """Algorithm 3, line by line; `alpha_of` and `normalise` are for those who get it wrong."""
    n = len(points.y)
    D = [arb(1) / n] * n
    now = Told([], D, [arb(0)] * n, [], {"product": arb(1)})
    while True:
        yield now
        k = learner(points, D, len(now.w), rng)
        agrees = points.agreements[k]
        if len(set(agrees)) == 1:
            break
        wrong, right = _mass(D, agrees, -1), _mass(D, agrees, 1)
        alpha = alpha_of((right / wrong).log() / 2, wrong)
        raw = [d * (-alpha * a).exp() for d, a in zip(D, agrees, strict=True)]
        z = sum(raw, arb(0))
        extra = _said(D, wrong, alpha, z, now)
        D = [v / z for v in raw] if normalise else raw
        votes = [v + alpha * a for v, a in zip(now.votes, agrees, strict=True)]
        now = Told([*now.w, alpha], D, votes, [*now.chosen, k], extra)
    sign = agrees[0]
    extra = _said(D, arb((1 - sign) // 2), arb(sign) * arb("inf"), arb(0), now)
    while True:
        yield Told([arb(sign)], D, [arb(1)] * n, [k], extra)


def _said(D: list[arb], wrong: arb, alpha: arb, z: arb, before: Told) -> dict[str, Any]:
    product = before.extra["product"] * z
    half = arb(1) / 2
    names = ("D", "epsilon", "gamma", "alpha", "z", "product")
    return dict(zip(names, (D, wrong, half - wrong, alpha, z, product), strict=True))


def rounded(told: Told) -> Told:
    """As doubles."""
    vectors = ([_double(v) for v in side] for side in (told.w, told.dual, told.votes))
    extra = {
        name: [_double(v) for v in value] if isinstance(value, list) else _double(value)
        for name, value in told.extra.items()
    }
    return Told(*vectors, list(told.chosen), extra)


def _double(value: arb) -> float:
    return float(value) if not value.is_finite() else to_double(value)


def played(run: Iterator[Told]) -> list[Told]:
    """The empty vote and the votes of all rounds, up to one that changes nothing any more or whose
    weights leave the doubles."""
    found: list[Told] = []
    for told in run:
        now = rounded(told)
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
        for t, told in enumerate(self.run):
            asked = self.points.asked
            hypotheses = tuple(asked[k % len(asked)] for k in told.chosen)
            extra = {k: np.array(v) if isinstance(v, list) else v for k, v in told.extra.items()}
            w, dual, votes = (np.array(v, dtype=float) for v in (told.w, told.dual, told.votes))
            yield Vote(t, w, problem, None, dual, None, extra, votes, hypotheses)
        if self.run[-1].extra.get("z") != 0:
            raise gb.ProblemError("weights are below the smallest double: stop here")


# What is done to a run that was right


def _later(run: list[Told], rng: np.random.Generator) -> int:
    return int(rng.integers(1, len(run)))


def _claim(name: str, factor: float, add: float = 0.0) -> Any:
    def spoil(run: list[Told], rng: np.random.Generator) -> list[Told]:
        t = _later(run, rng)
        value = run[t].extra[name]
        new = [factor * v + add for v in value] if isinstance(value, list) else factor * value + add
        return _with(run, t, extra={**run[t].extra, name: new})

    return spoil


def _vector(name: str, factor: float, whole: bool = True) -> Any:
    def spoil(run: list[Told], rng: np.random.Generator) -> list[Told]:
        t = _later(run, rng)
        value = list(getattr(run[t], name))
        where = range(len(value)) if whole else [int(rng.integers(len(value)))]
        new = [v * factor if i in where else v for i, v in enumerate(value)]
        return _with(run, t, **{name: new})

    return spoil


def _with(run: list[Told], t: int, **changes: Any) -> list[Told]:
    return [replace(told, **changes) if s == t else told for s, told in enumerate(run)]


def stale(run: list[Told], rng: np.random.Generator) -> list[Told]:
    """D_{t+1} is that of the round before."""
    t = _later(run, rng)
    return _with(run, t, dual=run[t - 1].dual)


def stuck(run: list[Told], rng: np.random.Generator) -> list[Told]:
    t = _later(run, rng)
    return [told if s < t else run[t] for s, told in enumerate(run)]


def ended(run: list[Told], rng: np.random.Generator) -> list[Told]:
    return run[: _later(run, rng)]


def _another(k: int, rng: np.random.Generator) -> int:
    """Some other of the stumps, of which there are at least two."""
    return k ^ 1 if rng.random() < 0.5 else max(k - 1 - int(rng.integers(3)), 0)


def other_stump(run: list[Told], rng: np.random.Generator) -> list[Told]:
    """Another hypothesis is said to be the last one than the round was made with."""
    t = _later(run, rng)
    chosen = run[t].chosen
    return _with(run, t, chosen=[*chosen[:-1], _another(chosen[-1], rng)])


SPOILS: dict[str, Callable[[list[Told], np.random.Generator], list[Told]]] = {
    "stale": stale,
    "stuck": stuck,
    "ended": ended,
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


def _seldom(alpha: arb, epsilon: arb) -> arb:
    """Wrong only where the hypothesis errs on next to nothing."""
    return 2 * alpha if epsilon < 2.0**-40 else alpha


#: A wrong line, which the rest of the run goes along with.
MISTAKES: dict[str, dict[str, Any]] = {
    "without the half": {"alpha_of": lambda alpha, _: 2 * alpha},
    "without the half at last": {"alpha_of": _seldom},
    "a hundredth": {"alpha_of": lambda alpha, _: alpha / 100},
    "negated": {"alpha_of": lambda alpha, _: -alpha},
    "a little more": {"alpha_of": lambda alpha, _: alpha * (1 + arb(1) / 1000)},
    "one more": {"alpha_of": lambda alpha, _: alpha + 1},
    "not normalised": {"normalise": False},
}


def one(seed: int, number: int, tally: Any) -> None:
    """AdaBoost on a few points: a right run, wrong lines, and claims that are spoilt."""
    rng = np.random.default_rng([seed, number, 3])
    with ctx.workprec(BITS):
        points = drawn(rng)
        where = f"{seed}.{number} {points.name}: AdaBoost"
        with counted(tally, where):
            problem = gb.from_arrays(points.X, points.y)
            learner = (best, lopsided, any_stump)[int(rng.integers(3))]
            name, finds_best = learner.__name__, learner is best
            # The court looks for the best stump where the learner says that it does so, too.
            marker = BestStump() if finds_best else learner
            right = played(adaboost(points, learner, rng))
            tally.trials += 1
            tally.kinds["boosting"] += 1
            runs = {"": right}
            for mistake in rng.choice([*MISTAKES], 1):
                runs[mistake] = played(adaboost(points, learner, rng, **MISTAKES[mistake]))
            for spoil in rng.choice([*SPOILS], 3, replace=False):
                runs[spoil] = SPOILS[spoil](right, rng)
            for how, run in runs.items():
                if len(run) > 1:
                    judges = judges_of(points, run, finds_best)
                    label = f"{where} ({name}), {how or 'right'}"
                    hear(Solver(points, run, marker), problem, judges, not how, label, tally)


def judges_of(points: Points, run: list[Told], finds_best: bool) -> dict[str, Callable[[], Trit]]:
    """The statements, each with what is true of these numbers."""
    from .boosting_claims import CLAIMS, Rounds

    rounds = Rounds(points, run, finds_best)
    return {name: partial(claim, rounds) for name, claim in CLAIMS.items()}
