"""What the lecture claims of the rounds of AdaBoost, in balls, of the numbers that are delivered.

A claim is False where it is so by far more than rounding, and else not known: all of them contain
equations, or speak of a D_t that doubles hold up to rounding only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf

from flint import arb

from .boosting import Points, Told
from .facts import Trit
from .hearing import FINE

#: By how much α_t is moved where the exponential loss is claimed to be least at it.
MOVES = (-2.0, -0.5, -0.01, 0.01, 0.5, 2.0)


@dataclass
class Round:
    """A round as delivered: D_t, y_i h_t(x_i), and what is said after it."""

    t: int
    D: list[arb]
    agrees: list[int]
    before: Told
    after: Told

    @property
    def n(self) -> int:
        return len(self.D)

    @cached_property
    def epsilon(self) -> arb:
        return _mass(self.D, self.agrees, -1)

    @cached_property
    def right(self) -> arb:
        return _mass(self.D, self.agrees, 1)

    @property
    def gamma(self) -> arb:
        return arb(1) / 2 - self.epsilon

    @property
    def perfect(self) -> bool:
        return len(set(self.agrees)) == 1

    @cached_property
    def root(self) -> arb:
        """√(1 − 4γ_t²) = 2√(ε_t(1 − ε_t))."""
        inside = self.epsilon * (1 - self.epsilon)
        return arb(0) if self.perfect or not inside > 0 else 2 * inside.sqrt()

    def loss(self, alpha: arb) -> arb:
        """Σ_i D_t(i) exp(−α y_i h_t(x_i))."""
        return self.right * (-alpha).exp() + self.epsilon * alpha.exp()


def _mass(D: list[arb], agrees: list[int], sign: int) -> arb:
    return sum((d for d, a in zip(D, agrees, strict=True) if a == sign), arb(0))


@dataclass
class Rounds:
    """A run: a round for each vote but the empty one, until one is perfect."""

    points: Points
    run: list[Told]
    finds_best: bool

    @cached_property
    def rounds(self) -> list[Round]:
        found: list[Round] = []
        for t, (before, after) in enumerate(pairwise(self.run), start=1):
            agrees = self.points.agreements[after.chosen[-1]]
            found.append(Round(t, [arb(v) for v in before.dual], agrees, before, after))
            if found[-1].perfect:
                break
        return found

    def mistakes(self, r: Round) -> int:
        """How many points sign(H) certainly errs on, for the H = Σ_s α_s h_s that is delivered."""
        voters = [r] if r.perfect else self.rounds[: r.t]
        if len(r.after.w) != len(voters):
            return 0
        count = 0
        for i in range(r.n):
            parts = [arb(a) * s.agrees[i] for a, s in zip(r.after.w, voters, strict=True)]
            size = sum((abs(p) for p in parts), arb(0))
            count += bool(sum(parts, arb(0)) < -FINE * size)
        return count


def _far(found: float, wanted: arb, size: arb) -> bool:
    """Whether a number that is said is certainly another one."""
    if not arb(found).is_finite() or not wanted.is_finite():
        return False
    return bool(abs(arb(found) - wanted) > FINE * size)


def step(rounds: Rounds) -> Trit:
    """Algorithm 3, one round from the delivered D_t and h_t."""
    n = len(rounds.points.y)
    if any(_far(v * n, arb(1), arb(1)) for v in rounds.run[0].dual):
        return False
    wrong = (_wrong_end(r) if r.perfect else _wrong_round(r) for r in rounds.rounds)
    return False if any(wrong) else None


def _wrong_end(r: Round) -> bool:
    """A hypothesis without mistakes, or with nothing else: it is all of H, and z_{t+1} is 0."""
    told = r.after.extra
    if told["z"] != 0 or told["alpha"] != r.agrees[0] * inf or min(r.after.votes) <= 0:
        return True
    numbers = [(told["epsilon"], r.epsilon, arb(1)), (told["gamma"], r.gamma, arb(1))]
    numbers += [(v, d, d) for v, d in zip(told["D"], r.D, strict=True)]
    return any(_far(*one) for one in numbers)


def _wrong_round(r: Round) -> bool:
    told = r.after.extra
    if len(r.after.w) != r.t or r.after.w[:-1] != r.before.w or r.after.w[-1] != told["alpha"]:
        return True
    alpha, z = arb(told["alpha"]), arb(told["z"])
    wanted = (r.right / r.epsilon).log() / 2
    # ε_t and 1 − ε_t are sums of positive numbers, each of a relative error of a few roundoffs.
    numbers = [
        (told["epsilon"], r.epsilon, r.epsilon),
        (told["gamma"], r.gamma, arb(1)),
        (told["alpha"], wanted, 1 + abs(wanted)),
        (told["z"], r.loss(alpha), r.loss(alpha)),
        (told["product"], arb(r.before.extra["product"]) * z, arb(r.before.extra["product"]) * z),
    ]
    numbers += [(v, d, d) for v, d in zip(told["D"], r.D, strict=True)]
    for v, d, a in zip(r.after.dual, r.D, r.agrees, strict=True):
        fresh = d * (-alpha * a).exp() / r.loss(alpha)
        numbers.append((v, fresh, fresh))
    sizes = abs(alpha) + max(abs(v) for v in r.before.votes)
    for v, last, a in zip(r.after.votes, r.before.votes, r.agrees, strict=True):
        numbers.append((v, arb(last) + alpha * a, sizes))
    return any(_far(found, right, abs(size)) for found, right, size in numbers)


def product_bound(rounds: Rounds) -> Trit:
    """z_{t+1} = √(1 − 4γ_t²), and the training error is at most z_2 ⋯ z_{T+1}."""
    if normaliser(rounds) is False:
        return False
    product = arb(1)
    for r in rounds.rounds:
        product *= arb(r.after.extra["z"])
        if rounds.mistakes(r) > product * r.n:
            return False
    return None


def normaliser(rounds: Rounds) -> Trit:
    """z_{t+1} = 2√(ε_t(1 − ε_t))."""
    for r in rounds.rounds:
        if not r.perfect and r.epsilon < 1 and _far(r.after.extra["z"], r.root, r.root):
            return False
    return None


def exponentials(rounds: Rounds) -> Trit:
    """z_2 ⋯ z_{T+1} ≤ e^{−2Tγ²} for a γ below all γ_t, of the whole run."""
    gamma = _least(rounds.rounds) * (1 - arb(10) ** -5)
    product = arb(1)
    for r in rounds.rounds if gamma > 0 else ():
        product *= arb(r.after.extra["z"])
        if product > (-2 * r.t * gamma**2).exp() * (1 + FINE):
            return False
    return None


def _least(rounds: list[Round]) -> arb:
    least = arb(1) / 2
    for r in rounds:
        least = least.min(r.gamma)
    return least


def no_error(rounds: Rounds) -> Trit:
    """Lemma 7: no training error from T = log(2n)/(2γ²) on, γ the least γ_t so far."""
    gamma = arb(1) / 2
    for r in rounds.rounds:
        gamma = gamma.min(r.gamma)
        late = gamma > 0 and r.t >= arb(2 * r.n).log() / (2 * gamma**2)
        if late and rounds.mistakes(r):
            return False
    return None


def greedy(rounds: Rounds) -> Trit:
    """α_t makes the exponential loss least, on a grid; and no stump makes it smaller, if the
    learner looks for the best."""
    for r in (r for r in rounds.rounds if not r.perfect):
        if not r.after.w:
            continue
        alpha = arb(r.after.w[-1])
        found = r.loss(alpha)
        if any(found > r.loss(alpha + arb(m)) * (1 + FINE) for m in MOVES):
            return False
        if rounds.finds_best:
            mass, edge = r.right + r.epsilon, _largest(rounds, r)
            # √(M² − e²) is not smooth at e = M: what rounding makes of it is added below the root.
            least = ((mass - edge).max(arb(0)) * (mass + edge) + FINE * mass**2).sqrt()
            if found > least * (1 + FINE) + FINE * mass:
                return False
    return None


def _largest(rounds: Rounds, r: Round) -> arb:
    """The largest Σ_i D_t(i) y_i h(x_i) of a stump."""
    most = arb(0)
    for agrees in rounds.points.agreements[: len(rounds.points.cuts)]:
        most = most.max(_mass(r.D, agrees, 1) - _mass(r.D, agrees, -1))
    return most


def best_stump(rounds: Rounds) -> Trit:
    """h_t is a stump of least weighted error."""
    if not rounds.finds_best:
        return None
    for r in rounds.rounds:
        edge, mass = r.right - r.epsilon, r.right + r.epsilon
        if _largest(rounds, r) - edge > FINE * mass:
            return False
    return None


CLAIMS: dict[str, Callable[[Rounds], Trit]] = {
    "gb.lec.adaboost.step": step,
    "gb.lec.stumps.best": best_stump,
    "lec.lem7": no_error,
    "lec.alg3.z": product_bound,
    "lec.alg3.z.sum.fixed": normaliser,
    "lec.alg3.z.exp.fixed": exponentials,
    "lec.sec4.greedy": greedy,
}
