"""One pass of `softmin` after another over the same large data, in compiled code."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gammabar.problems import compiled
from gammabar.problems.base import Array, Floats
from gammabar.problems.stripes import run

if TYPE_CHECKING:
    from gammabar.problems.compiled.dense import DenseRows
    from gammabar.problems.compiled.sparse import SparseRows
    from gammabar.problems.compiled.team import Team

Meanwhile: TypeAlias = Callable[[], None] | None
# Scores, smallest score, log-sum-exp and pull.
Soft: TypeAlias = tuple[Floats, float, float, Floats]


class SoftPass:
    """What one pass of `softmin` leaves to the next: its threads and its buffers.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The points and their labels, as the compiled loops take them.
    shape : (n, d)
    parts : list of (lo, hi)
        Stripes of rows.
    """

    def __init__(
        self, rows: DenseRows | SparseRows, shape: tuple[int, int], parts: list[tuple[int, int]]
    ) -> None:
        self._rows, self._shape, self._parts = rows, shape, parts
        self._process = os.getpid()  # threads do not survive a fork
        self._lock = threading.Lock()
        self._absent = 0  # the thread that does something else while its helpers are at work
        self._team: Team | None = None
        self._plainly = compiled.plain_way()

    def _whole_team(self) -> Team:
        """The team; a new one after a pass that was interrupted.

        A helper may still write into the buffers of the old one.
        """
        if self._team is None or not self._team.whole:
            from gammabar.problems.compiled.team import Team

            self._team = Team(self._rows, self._shape, self._parts)
        return self._team

    def fits(self, y: Array) -> bool:
        """Is this for these labels, of this process, and not waiting for this very thread?"""
        return (
            self._rows.y is y
            and self._process == os.getpid()
            and self._absent != threading.get_ident()
        )

    def __call__(
        self,
        w: Floats,
        inner: float,
        outer: float,
        temperature: float,
        meanwhile: Meanwhile = None,
    ) -> Soft:
        """Scores, smallest score, log-sum-exp and pull."""
        from gammabar.problems.compiled.softmax import Answer, Asked

        if not w.flags.carray:  # Numba would compile everything again for another kind of array
            w = w.copy()
        asked = Asked(w, inner, outer, temperature)
        with self._lock:
            answer = Answer(np.empty(self._shape[0]), np.empty(self._shape[1]))
            if self._plainly is not None:
                smallest, logsumexp = self._run_plainly(asked, answer, meanwhile)
            else:
                smallest, logsumexp = self._run_team(asked, answer, meanwhile)
        return answer.scores, smallest, logsumexp, answer.pull

    def _run_team(self, asked: Any, answer: Any, meanwhile: Meanwhile) -> tuple[float, float]:
        team = self._whole_team()
        if meanwhile is None:
            return team.run(asked, answer)
        self._absent = threading.get_ident()
        try:
            return team.run(asked, answer, meanwhile)
        finally:
            self._absent = 0

    def _run_plainly(self, asked: Any, answer: Any, meanwhile: Meanwhile) -> tuple[float, float]:
        """The same stripes, by threads that Python starts and joins."""
        from gammabar.problems.compiled import dense, softmax, sparse

        if meanwhile is not None:
            self._absent = threading.get_ident()
            try:
                meanwhile()
            finally:
                self._absent = 0
        is_dense = isinstance(self._rows, dense.DenseRows)
        stripe: Any = dense.softmin if is_dense else sparse.softmin
        scaled = asked._replace(w=asked.inner * asked.w)
        found, d = softmax.found_for(*self._shape, len(self._parts)), self._shape[1]
        places = {lo: s for s, (lo, _) in enumerate(self._parts)}

        def work(lo: int, hi: int) -> None:
            s = places[lo]
            found.sums[s] = stripe(
                self._rows, scaled, found.scores, found.pulls[s, :d], lo, hi, True
            )

        run(work, self._parts)
        smallest, logsumexp = softmax.put_together(found, asked, answer)
        return smallest, logsumexp
