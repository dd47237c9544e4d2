"""AdaBoost's rounds, recomputed from what it delivers.

D_t, h_t and the α_t are taken as delivered; ε_t, z_{t+1}, votes and training errors are computed
from them anew. An iterate of AdaBoost is a vote, not a point of the space of w, so the statements
are direct.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count, islice, pairwise
from typing import Any

import numpy as np
import scipy.sparse
from flint import arb

from gammabar.papers.claims import *
from gammabar.papers.lecture.quantities import under_test
from gammabar.problems import DenseProblem, ProblemError, SparseProblem
from gammabar.solvers.boosting import BestStump

#: Rounds on problems that a case brings, and on the data below.
ROUNDS, FEW = 150, 60
#: Points and labels: three stumps are needed; one is enough; no stump is better than chance (XOR);
#: ties and a repeated point; and a row of alternating labels.
DATA: dict[str, tuple[list[list[int]], list[int]]] = {
    "three points": ([[1], [2], [3]], [1, -1, 1]),
    "one stump": ([[1], [2], [3]], [1, -1, -1]),
    "XOR": ([[0, 0], [0, 1], [1, 0], [1, 1]], [1, -1, -1, 1]),
    "ties": ([[1, 5], [1, 3], [2, 3], [2, 5], [2, 5]], [1, -1, 1, 1, 1]),
    "alternating": ([[i, i * i % 7] for i in range(8)], [1, -1, -1, 1, 1, -1, 1, -1]),
}
#: What the extra of a vote has, under the names of the lecture.
NAMES = ("D", "epsilon", "gamma", "alpha", "z", "product")


def _points(case):
    """The problem, if there is one, has points and two classes."""
    fits = case.given is None or isinstance(case.problem, DenseProblem | SparseProblem)
    return None if fits else "AdaBoost needs points and two classes, dense or sparse"


def stumps(case):
    """The weak learner is the one that looks for the best stump."""
    return None if _looks_for_the_best(solver_of(case)) else "the weak learner is another one"


BOOSTING = Method("adaboost")
ON_POINTS = Method("adaboost", assumes=(_points,))
BOOSTED = ("", "wine:0,1", "digits:3,8")


def _rotating(X: Any, y: Any) -> Any:
    """A weak learner that may be worse than chance: thresholds in one column after the other."""

    def hypothesis(k: int) -> Any:
        return lambda Z: np.where(Z[:, k % Z.shape[1]] > k % 3, 1, -1).astype(np.int8)

    turn = map(hypothesis, count())
    return lambda D: next(turn)


class Round:
    """One round t = 1, 2, …: the votes before and after it, h_t(x_i) y_i, asked anew, and y.

    ``epsilon`` is P_{D_t}[h_t(x) ≠ y] for the D_t that the round before left, ``right`` 1 − ε_t up
    to the rounding of D_t, ``gamma`` ½ − ε_t. A round is ``perfect`` if h_t is always right or
    always wrong: then α_t is infinite. ``slip`` is the relative error of sums of D_t in doubles, in
    any order, and of what rounding makes of it in 1 − ε_t; 0 of a perfect round, which has no sum.
    """

    def __init__(self, where: str, t: int, before: Any, after: Any, agrees: Any, y: Any) -> None:
        self.where, self.t, self.before, self.after = where, t, before, after
        self.agrees, self.y, self.n = agrees, y, len(agrees)
        D = [arb(v) for v in np.asarray(before.dual, dtype=np.float64).tolist()]
        self.epsilon, self.right = (
            total(d for d, a in zip(D, agrees, strict=True) if sign * a > 0) for sign in (-1, 1)
        )
        self.gamma = number(1) / 2 - self.epsilon
        self.perfect = abs(int(agrees.sum())) == self.n
        least = min(float(self.epsilon.mid()), float(self.right.mid()))
        self.slip = 0.0 if self.perfect else (4 * self.n + 64) * ROUNDOFF * (1 + 1 / least)


@dataclass(frozen=True)
class Session:
    """The rounds of one run, and what is wrong with it, or may be (`known` is None), if anything;
    `best` says whether the weak learner looks for the best stump."""

    where: str
    X: Any
    rounds: list[Round]
    wrong: str = ""
    known: Trit = False
    best: bool = False

    @property
    def faults(self) -> list[Relation]:
        """What is wrong with the run, if anything, as a relation."""
        return [fact(self.known, self.wrong, where=self.where)] if self.wrong else []

    @cached_property
    def stumps(self) -> Floats:
        """The values of every stump with sign +1 on the points, one row each, a constant first."""
        X = self.X.toarray() if scipy.sparse.issparse(self.X) else np.asarray(self.X)
        cuts = [(j, v) for j in range(X.shape[1]) for v in np.unique(X[:, j])[:-1]]
        rows = [np.where(X[:, j] > v, 1.0, -1.0) for j, v in cuts]
        return np.array([np.ones(X.shape[0]), *rows])

    def edge(self, r: Round) -> float:
        """The largest |Σ_i D_t(i) y_i h(x_i)| of a stump."""
        return float(np.abs(self.stumps @ (np.asarray(r.before.dual) * r.y)).max())

    def errors(self) -> Iterator[tuple[Round, int, int]]:
        """After each round, how many points have sign(H(x_i)) ≠ y_i, at least and at most.

        H(x_i) = 0 is wrong.
        """
        off = 0.0
        for r in self.rounds:
            w = np.asarray(r.after.w, dtype=np.float64)
            voters = [r] if r.perfect else self.rounds[: r.t]
            votes = w @ np.array([s.agrees for s in voters], dtype=np.float64)
            # Each α_s is rounded, and so is the sum; a vote this close to zero has no sign.
            off += r.slip
            unsure = off + 2 * (r.t + 2) * ROUNDOFF * float(np.abs(w).sum())
            yield r, int((votes <= -unsure).sum()), int((votes <= unsure).sum())


def solver_of(case: Case) -> Any:
    """AdaBoost, or the solver under test."""
    return under_test(case, "adaboost")


def _looks_for_the_best(solver: Any) -> bool:
    """BestStump is imported to recognise the learner: no verdict is computed with it."""
    return isinstance(getattr(solver, "learner", None), BestStump)


def sessions(case: Case) -> Iterator[Session]:
    """Runs of the solver on the problem of the case, or on small data with several learners."""
    solver = solver_of(case)
    if case.given is not None:
        yield session(case, solver, case.problem, case.name, ROUNDS)
        return
    for name, (X, y) in DATA.items():
        problem = DenseProblem(np.array(X), np.array(y))
        yield session(case, solver, problem, name, FEW)
        if hasattr(solver, "learner"):
            other = steered(solver, learner=_rotating)
            yield session(case, other, problem, f"{name}, other learner", FEW)


def session(case: Case, solver: Any, problem: Any, where: str, rounds: int) -> Session:
    """One run, the first; its rounds are made anew at each precision, for they have balls."""
    y = np.asarray(problem.y, dtype=np.int64)
    play = partial(_play, solver, problem, y, rounds)
    played, wrong, known = case.remember(f"session {where}", play)
    found = [
        Round(f"{where}, t = {t}", t, before, after, agrees, y)
        for t, (before, after, agrees) in enumerate(played, start=1)
    ]
    return Session(where, problem.X, found, wrong, known, _looks_for_the_best(solver))


def _play(solver: Any, problem: Any, y: Any, rounds: int) -> tuple[list[Any], str, Trit]:
    """The votes around each round and h_t(x_i) y_i, and what is wrong with the run, if anything.

    It ends after a perfect hypothesis, with which nothing changes any more, or where weights get
    below the smallest double; a run that ends before is wrong.
    """
    played: list[Any] = []
    run = map(delivered, islice(_until_refused(solver.iterates(problem, None)), rounds + 1))
    for t, (before, after) in enumerate(pairwise(run), start=1):
        h, wrong = _checkable(before, after, problem.X, y, t)
        if wrong:
            return played, wrong, False
        follows = _follows(before, [agrees for *_, agrees in played], t)
        if follows is not True:
            what = f"D_{t} is what α_1, …, α_{t - 1} and h_1, …, h_{t - 1} make of 1/n"
            return played, what, follows
        played.append((before, after, h * y))
        if abs(int((h * y).sum())) == len(y):
            return played, "", True
    if not played:
        return played, "the run ends before its first round", False
    weights = _weights(played[-1][1], [h for *_, h in played])
    if len(played) < rounds and (weights > FAINT).all():
        return played, f"the run ends after {len(played)} of {rounds} rounds", False
    return played, "", True


def _weights(vote: Any, agreed: list[Any]) -> Floats:
    """exp(−Σ_s α_s h_s(x_i) y_i), scaled so that the sum is one."""
    votes = np.asarray(vote.w, dtype=np.float64) @ np.array(agreed, dtype=np.float64)
    raw = np.exp(float(np.min(votes)) - votes)
    return np.asarray(raw / raw.sum())


#: Weights below that are near the end of the doubles, where the solver may lose them.
FAINT = 2.0**-960


def apart(values: Any, wanted: Any) -> float:
    """The largest relative difference; what may have underflowed does not count."""
    values, wanted = np.asarray(values, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    if values.shape != wanted.shape:
        return math.inf
    seen = wanted > FAINT
    return float(np.max(np.abs(values - wanted)[seen] / wanted[seen], initial=0.0))


def _follows(vote: Any, agreed: list[Any], t: int) -> Trit:
    """Whether D_t is what the votes so far say: D_t(i) ∝ exp(−Σ_s α_s h_s(x_i) y_i).

    So no D_t is believed. In each round it is multiplied and divided once per entry, and an
    exponent is rounded; entries near the end of the doubles may have underflowed.
    """
    n = len(vote.dual)
    wanted = _weights(vote, agreed) if agreed else np.full(n, 1 / n)
    alphas = float(np.abs(np.asarray(vote.w, dtype=np.float64)).sum())
    return within(apart(vote.dual, wanted), 16 * t * (n + 16 + alphas) * ROUNDOFF, 1.0)


def _until_refused(run: Iterator[Any]) -> Iterator[Any]:
    """A run, up to where weights get below the smallest double and the solver says so; whether
    that is so is looked at later."""
    yield from islice(run, 1)
    with contextlib.suppress(ProblemError):
        yield from run


def _checkable(before: Any, after: Any, X: Any, y: Any, t: int) -> tuple[Any, str]:
    """h_t on the points, and what keeps a round from being checked, if anything does."""
    lacks = [name for name in ("dual", "hypotheses", "votes") if not hasattr(after, name)]
    lacks += ["dual"] if getattr(before, "dual", None) is None else []
    lacks += [name for name in NAMES if name not in after.extra]
    if lacks or "product" not in before.extra:
        what = [*lacks, "product"][0]
        raise Unclaimed(f"an iterate of AdaBoost must carry {what}, see gammabar.solvers.AdaBoost")
    h, n, told = np.asarray(after.hypotheses[-1](X)), len(y), {**after.extra}
    if h.shape != y.shape or not (np.abs(h) == 1).all():
        return h, f"h_{t} is no function to −1 and +1"
    found = [claimed_numbers(D, y.shape) for D in (before.dual, told.pop("D"))]
    if any(isinstance(D, str) or not (D > 0).all() for D in found):
        return h, f"D_{t} is not {n} positive numbers"
    told["product before"] = before.extra["product"]
    if odd := [name for name in (*NAMES[1:], "product before") if not _real(told[name])]:
        return h, f"{odd[0]} of round {t} is no number"
    if any(isinstance(claimed_numbers(v.votes, y.shape), str) for v in (before, after)):
        return h, f"the votes of round {t} are not {n} numbers"
    w, single = np.asarray(after.w, dtype=np.float64), abs(int((h * y).sum())) == n
    if w.shape != ((1,) if single else (t,)) or not np.isfinite(w).all():
        return h, f"w_{t} is not one finite number for each voter"
    return h, ""


def _real(value: Any) -> bool:
    """Whether it is a number; infinite ones are, as α_t of a voter without mistakes is."""
    kinds = int | float | np.integer | np.floating
    return isinstance(value, kinds) and not isinstance(value, bool) and not math.isnan(value)
