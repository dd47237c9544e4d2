"""An iterate as a statement sees it: its facts as balls, whatever the solver says about itself.

Of what a solver yields, only t and w are taken on trust as *the iterate*; scores, norms and dual
weights are recomputed here, or taken from what the problem itself computed for that very w
(`gammabar.harness.court.observed`). What the solver claims besides (``momentum``, ``dual``, and in
``extra`` further sequences) is there to be judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from operator import index
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from flint import arb

from gammabar.harness.court.numbers import (
    LEVELS,
    ROUNDOFF,
    SAFETY,
    Number,
    Trit,
    ball,
    exp,
    known_zero,
    log,
    number,
    smallest,
    sqrt,
    total,
    working,
)
from gammabar.harness.court.space import Floats, Space, TooLarge
from gammabar.harness.court.taken import (
    Fault as Fault,
    NotFinite as NotFinite,
    claimed as taken,
    finite_square,
    taken_vector,
)
from gammabar.harness.court.vectors import Vec
from gammabar.problems import SoftMin

if TYPE_CHECKING:
    from gammabar.harness.court.case import Case
    from gammabar.solvers import Iterate


T = TypeVar("T")


class lazy(Generic[T]):
    """A property that is computed once, without the lock that makes `cached_property` slow."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        value = instance.__dict__[self.name] = self.make(instance)
        return value


#: What a view is made with; all else is computed from it.
_GIVEN = frozenset(
    ("claimed", "case", "level", "t", "space", "n", "dual", "momentum", "extra", "_base")
)


class Unclaimed(Exception):
    """A statement needs what the solver does not say."""


class View:
    """The facts about one iterate, at one level of precision.

    Level 0 evaluates vectors in doubles with error bounds; levels 1 and 2 take the doubles of w
    for exact and compute in balls of more bits. Scalars are balls at every level.
    """

    w: Floats
    #: What the solver claims besides w: dual weights, momentum, further sequences.
    dual: Any
    momentum: Any
    extra: dict[str, Any]

    def __init__(self, claimed: Iterate, case: Case, level: int = 0, base: View | None = None):
        self.claimed, self.case, self.level = claimed, case, level
        try:
            self.t = index(claimed.t)
        except TypeError:
            raise Fault(f"t must be a whole number, not {claimed.t!r}") from None
        self.space: Space = case.space
        self.n = self.space.n
        self._base = base
        self._made: dict[Any, Any] = {}
        if base is not None:
            self.t = base.t
            self.w, self.dual, self.momentum = base.w, base.dual, base.momentum
            self.extra = base.extra
            return
        t = self.t
        self.w = taken_vector(claimed.w, f"w_{t}")
        if self.w.shape != (self.space.dimension,):
            raise Fault(f"w_{t} has shape {self.w.shape}, not ({self.space.dimension},)")
        square = finite_square(self.w)
        if square is None:
            raise NotFinite(f"w_{t} has entries that are not finite numbers")
        self.here = Vec(self.space, self.w, square=square)
        given = claimed.dual, claimed.momentum
        self.dual = None if given[0] is None else taken(given[0], f"dual of t = {t}")
        self.momentum = None if given[1] is None else taken(given[1], f"momentum of t = {t}")
        self.extra = {}
        extra = claimed.extra
        if extra is not None and not isinstance(extra, dict):
            raise Fault(f"extra of t = {t} is no dictionary")
        if extra:
            self.extra = taken(extra, f"extra of t = {t}")
            halt = self.extra.get("halt")
            if not (halt is None or isinstance(halt, str | int)):
                raise Fault(f'extra["halt"] of t = {t} is {type(halt).__name__}, and not a text')

    def claim(self, name: str) -> Any:
        """What the solver says of itself, where a statement needs it.

        Raises
        ------
        Unclaimed
            If it does not: then the statement is inapplicable to this run.
        """
        value = getattr(self, name) if name in ("dual", "momentum") else self.extra.get(name)
        if value is None:
            raise Unclaimed(f"the solver does not say its {name} of t = {self.t}")
        return value

    def at(self, level: int) -> View:
        """The same iterate at another level."""
        return View(self.claimed, self.case, level, base=self._base or self)

    def again(self, t: int, case: Case) -> View:
        """The same point and claims at another t, in another case; what is known of w is kept."""
        view = View.__new__(View)
        vars(view).update(vars(self))
        view.t, view.case, view._made = t, case, {}
        return view

    def at_zero(self) -> View:
        """The point w = 0 with the claims of this iterate; scores are 0 there, without rounding."""
        view = View.__new__(View)
        vars(view).update((name, value) for name, value in vars(self).items() if name in _GIVEN)
        view.w, view._made, view.score_error = np.zeros_like(self.w), {}, 0.0
        return view

    def keep(self) -> None:
        """Be ready to be judged later, when the ledger has forgotten this iterate."""
        if self._soft is None:
            self._noted  # noqa: B018

    def once(self, make: Callable[[View, Case], Any]) -> Any:
        """make(it, case), computed once: what several statements say about an iterate."""
        found = self._made.get(make)
        if found is None:
            found = self._made[make] = make(self, self.case)
        return found

    # scores

    @lazy
    def score_doubles(self) -> Floats:
        """A w in doubles; each within `score_error` of the truth."""
        if self._base is not None:
            return self._base.score_doubles
        soft = self._soft
        if soft is not None:
            scores, least = soft.scores, soft.smallest
        else:
            noted = self._noted
            scores = self.case.problem.scores(self.w) if noted is None else noted
            least = float(scores.min())
        if not math.isfinite(least):
            raise NotFinite(f"the scores of w_{self.t} leave the range of doubles")
        return scores

    @lazy
    def score_error(self) -> float:
        """How far `score_doubles` may be off."""
        return self.space.score_error(self.w, self.here.square)

    @lazy
    def score_errors(self) -> Floats:
        """The same row by row."""
        return self.space.score_errors(self.w) if self.w.any() else np.zeros(self.n)

    @lazy
    def scores(self) -> list[Number]:
        """A w, row by row: for small problems."""
        if self.level:
            return self.space.exact_scores(self.w, np.arange(self.n))
        return [ball(v, self.score_error) for v in self.score_doubles.tolist()]

    @lazy
    def smallest(self) -> Number:
        """min_i (A w)_i."""
        doubles, error = self.score_doubles, self.score_error
        soft = self._soft
        least = float(doubles.min()) if soft is None else soft.smallest
        if not self.level:
            return ball(least, error)
        # Every row that could be the smallest, exactly.
        rows = np.flatnonzero(~(doubles > least + 2 * error * SAFETY))
        return smallest(self.space.exact_scores(self.w, rows))

    @lazy
    def separates(self) -> Trit:
        """Whether every score is positive."""
        least = self.smallest
        return True if least > 0 else False if least <= 0 else None

    @lazy
    def misses(self) -> Trit:
        """Whether w does not separate the data: decided exactly; None where that is too much.

        For claims that are about such iterates only: what may separate is not one of them.
        """
        known, level = self.separates, self.level
        while known is None and level + 1 < len(LEVELS):
            level += 1
            with working(LEVELS[level]), suppress(TooLarge):
                known = self.at(level).separates
        return None if known is None else not known

    # norms and margins

    @lazy
    def norm(self) -> Number:
        """‖w‖."""
        return self.here.norm(exact=self.level > 0)

    @lazy
    def norm_squared(self) -> Number:
        """‖w‖²."""
        return self.space.exact_inner(self.w, self.w) if self.level else self.norm * self.norm

    @lazy
    def at_origin(self) -> bool:
        """Whether w is known to be 0: nothing is said there of what is divided by ‖w‖.

        Where it is not known (coefficients of a kernel that may cancel), it is not so, and what is
        divided by the ball of ‖w‖ is in doubt, at this level.
        """
        return not self.norm > 0 and (not self.w.any() or bool(self.norm <= 0))

    @lazy
    def margin(self) -> Number:
        """γ(w) = min_i (A w)_i / ‖w‖, and 0 for w = 0."""
        norm = self.norm
        if not norm > 0 and not self.w.any():
            return number(0)
        return self.smallest / norm

    @lazy
    def toward(self) -> Number:
        """⟨Aᵀq̄, w⟩ = γ̄ ⟨ū, w⟩, with the oracle's q̄: from the scores of the rows in its support."""
        truth = self.case.truth
        if self.level:
            scores = self.space.exact_scores(self.w, truth.support)
        else:
            doubles = self.score_doubles[truth.support].tolist()
            scores = [ball(v, self.score_error) for v in doubles]
        pairs = zip(truth.numerators, scores, strict=True)
        return total(number(v) * s for v, s in pairs) / number(truth.total)

    # the exponential loss

    @lazy
    def psi(self) -> Number:
        """ψ(−A w) = ln Σ_i exp(−(A w)_i): minus a smoothed smallest score."""
        if self.level:
            least = self.smallest
            return log(total(exp(least - s) for s in self.scores)) - least
        soft = self.soft
        # Scores off by e move it by e; summing n exponentials and the logarithm add the rest.
        size = abs(soft.logsumexp) + abs(soft.smallest)
        error = self.score_error + ROUNDOFF * SAFETY * (2 * self.n + 64 + 8 * size)
        return ball(soft.logsumexp, error * SAFETY)

    @lazy
    def pull(self) -> Vec:
        """Aᵀq for q = softmax(−A w), with its error bound; in doubles at every level."""
        if self._base is not None:
            return self._base.pull
        # Scores off by e change each weight by a factor of at most exp(2e).
        growth = 2 * self.score_error * (1 + 2 * self.score_error) if self.score_error < 0.1 else 2
        error = self.space.radius * (growth + ROUNDOFF * (4 * self.n + 128 + self.space.dimension))
        return self.vec(self.soft.pull, error * SAFETY + self.space.lost)

    @lazy
    def weights(self) -> list[Number]:
        """q = softmax(−A w), row by row: for small problems."""
        least = self.smallest
        raw = [exp(least - s) for s in self.scores]
        mass = total(raw)
        return [v / mass for v in raw]

    @lazy
    def _soft(self) -> SoftMin | None:
        return self._base._soft if self._base is not None else self.case.ledger.soft(self.w)

    @lazy
    def _noted(self) -> Floats | None:
        """Scores that the solver asked for."""
        return self.case.ledger.scores(self.w)

    @lazy
    def soft(self) -> SoftMin:
        """What one pass over the data says about w."""
        if self._base is not None:
            return self._base.soft
        return self.case.problem.softmin(self.w) if self._soft is None else self._soft

    # vectors

    @lazy
    def here(self) -> Vec:
        """w as a vector, exactly its doubles."""
        return self.vec(self.w) if self._base is None else self._base.here

    def vec(self, values: Any, err: float = 0.0) -> Vec:
        """Doubles in the representation of w, as a vector with an error bound."""
        return Vec(self.space, np.asarray(values, dtype=np.float64), float(err))

    def norm_of(self, values: Any) -> Number:
        """‖v‖ of doubles in the representation of w."""
        return self.vec(values).norm(exact=self.level > 0)

    def numbers(self, values: Any) -> list[Number]:
        """Doubles, taken for exact, as balls."""
        return [arb(v) for v in np.asarray(values, dtype=np.float64).tolist()]

    def gram_norm(self, weights: list[Number]) -> Number:
        """‖Aᵀq‖ for balls q, through the exact Gram matrix: for small problems."""
        gram = self.space.gram()
        rows = range(self.n)
        square = total(
            weights[i] * total(gram[i, j] * weights[j] for j in rows if not known_zero(weights[j]))
            for i in rows
            if not known_zero(weights[i])
        )
        return sqrt(square)
