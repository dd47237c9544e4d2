"""The problem as a solver gets it: it answers as ever, and its answers are noted.

A pass over the data is most of what an iteration costs, and the court needs the same pass to judge
its iterate. So what the problem answered for w is kept, and used if exactly that w is yielded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from gammabar.problems import Problem, SoftMin
from gammabar.problems.base import Array, Floats


class Ledger:
    """The last answers of a problem, each with the point it was given for."""

    def __init__(self, keep: int = 4) -> None:
        self._soft: deque[tuple[Floats, SoftMin]] = deque(maxlen=keep)
        self._scores: deque[tuple[Floats, Floats]] = deque(maxlen=keep)

    def note_soft(self, w: Array, soft: SoftMin) -> None:
        """Note what `softmin` answered for w at temperature 1."""
        # Copies: a solver may go on with its arrays, or change what it was given (not scores).
        kept = SoftMin(soft.smallest, soft.logsumexp, soft.pull.copy(), soft.scores)
        self._soft.appendleft((np.array(w, dtype=np.float64), kept))

    def note_scores(self, w: Array, scores: Floats) -> None:
        """Note the scores of w."""
        self._scores.appendleft((np.array(w, dtype=np.float64), scores.copy()))

    def soft(self, w: Floats) -> SoftMin | None:
        """What `softmin` answered for w at temperature 1."""
        return next((soft for point, soft in self._soft if (point == w).all()), None)

    def scores(self, w: Floats) -> Floats | None:
        """The scores of w, if they were computed."""
        soft = self.soft(w)
        if soft is not None:
            return soft.scores
        return next((s for point, s in self._scores if np.array_equal(point, w)), None)


class ObservedProblem:
    """A problem whose `softmin` and `scores` are noted in a ledger; the rest is the problem itself.

    Attributes
    ----------
    meanwhile : callable or None
        Done during each pass of `softmin` over large data, see `gammabar.problems.Problem`.
    """

    meanwhile: Callable[[], None] | None = None

    def __init__(self, problem: Problem, ledger: Ledger) -> None:
        self._problem, self._ledger = problem, ledger

    def softmin(
        self, w: Array, temperature: float = 1.0, meanwhile: Callable[[], None] | None = None
    ) -> SoftMin:
        soft = self._problem.softmin(w, temperature, meanwhile or self.meanwhile)
        if temperature == 1:
            self._ledger.note_soft(w, soft)
        return soft

    def scores(self, w: Array) -> Floats:
        scores = self._problem.scores(w)
        self._ledger.note_scores(w, scores)
        return scores

    # A view of another scale is not observed: its answers are no answers for this one.

    def unit(self) -> Problem:
        return self._other(self._problem.unit())

    def raw(self) -> Problem:
        return self._other(self._problem.raw())

    def _other(self, view: Problem) -> Problem:
        return self.as_problem() if view is self._problem else view

    def as_problem(self) -> Problem:
        """Itself, as what it stands for."""
        return cast(Problem, self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_problem", "_ledger"):
            raise AttributeError(name)  # of an object that is not made yet, as `copy` asks
        return getattr(self._problem, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """That of the problem: solvers ask ``isinstance(problem, KernelProblem)``."""
        return type(self._problem)

    def __repr__(self) -> str:
        return repr(self._problem)
