"""Threads that do one pass after another over the same stripes, in compiled code.

Between passes the helpers stay in the compiled loop for a moment and look for stripes, so a pass
that follows soon neither wakes a thread nor waits for the interpreter lock. The leader, who wants
the answer, posts a pass, takes stripes like everybody else, waits for those that others have
taken, and puts the parts together. It needs no helper: with none it takes all stripes itself.

Why nobody reads what is not there yet
--------------------------------------
Shared are a control block, the question (inner w and three numbers), and what the stripes find.
Three entries of the control block are changed by several threads and touched by atomic,
sequentially consistent operations alone; each is on a cache line of its own:

    NEXT     the number of stripes taken in this pass (or more, see 2)
    DONE     the number of stripes finished in this pass
    HELPERS  how many helpers look for stripes, or are about to

Everything else is written plainly. Passes of one team follow one another (`SoftPass` holds a lock).

1. *A stripe is done with the right question.* The leader writes the question, then DONE = 0, then
   NEXT = 0. Whoever takes a stripe does so by an addition to NEXT that returned less than the
   number of stripes. Since the last pass ended with NEXT at least that number, such an addition
   comes after the store of 0, as one of an unbroken sequence of additions to it, and a store that
   is read through such a sequence is seen with all that preceded it: question and DONE = 0.
2. *Nobody does a stripe of a past pass.* The addition both asks and takes. If it comes too late it
   returns the number of stripes or more, takes nothing, and is forgotten at the next NEXT = 0. If
   a thread sleeps between looking at NEXT and adding to it, it may wake in a later pass; then it
   takes a stripe of that pass, and reads the question only afterwards.
3. *The answer is complete.* A thread adds one to DONE after all that it wrote for a stripe. The
   leader reads DONE until it is the number of stripes; each addition is part of the sequence that
   it reads through, so it sees what was written before every one of them.
4. *The question is not overwritten too early.* A thread reads it only between taking a stripe and
   adding to DONE. The next pass is posted after the leader has seen all of those additions.
5. *A helper that leaves is noticed.* It subtracts itself from HELPERS and then looks at NEXT once
   more; the leader stores NEXT = 0 and then reads HELPERS. In the one order in which all of these
   happen, either the subtraction comes before the leader's reading, who then calls another helper,
   or the store comes before the helper's last look, who then stays. (If both, there is one helper
   more, which does no harm.) This is the one place where less than sequential consistency would
   not do; elsewhere acquire and release would.
6. *What is interrupted is thrown away.* If an exception leaves the leader before the pass is
   whole, helpers may still write: `SoftPass` then makes a new team with buffers of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import sleep
from typing import Any, NamedTuple

import numpy as np

from gammabar.problems import points as cutting
from gammabar.problems.compiled import dense, sparse
from gammabar.problems.compiled.instructions import atomic_add, atomic_load, atomic_store
from gammabar.problems.compiled.jit import in_order
from gammabar.problems.compiled.softmax import Answer, Asked, Found, found_for, put_together
from gammabar.problems.problem import Array, Floats

# Places in the control block. STRIPES is constant; BACK belongs to the question.
_STRIPES, _NEXT, _DONE, _HELPERS, _BACK = 0, 8, 16, 24, 32
# What a thread of a team does: post a pass and lead it, post it only, lead what is posted, or help.
_POST, _OPEN, _GO_ON, _HELP = 0, 1, 2, 3
# How often a leader looks whether the last stripes are done before it gives its processor away.
_LEADER_LOOKS = 1 << 21
# A helper looks for work about a millisecond long before it goes to sleep: iterations follow one
# another faster than that, and to wake a thread takes a good part of an iteration.
_HELPER_LOOKS = 1 << 21


class Shared(NamedTuple):
    """What the threads of a team share.

    Attributes
    ----------
    control : array
        The control block.
    scaled, factors : arrays
        The question: inner w; inner, outer and temperature.
    cuts : array
        Stripe s has the rows cuts[s], ..., cuts[s + 1] - 1.
    """

    control: Array
    scaled: Floats
    factors: Floats
    cuts: Array


def shared_for(parts: list[tuple[int, int]], d: int) -> Shared:
    """What a team for these stripes shares, before its first pass."""
    control = np.zeros(40, dtype=np.int64)
    control[_STRIPES] = control[_NEXT] = len(parts)
    cuts = np.array([0] + [hi for _, hi in parts], dtype=np.int64)
    return Shared(control, np.empty(d), np.empty(3), cuts)


@in_order
def _post(shared: Shared, helpers: int, asked: Asked) -> int:
    """Open a pass: its stripes may be taken. How many helpers are missing?"""
    control = shared.control
    for j in range(len(asked.w)):
        shared.scaled[j] = asked.inner * asked.w[j]
    shared.factors[0], shared.factors[1] = asked.inner, asked.outer
    shared.factors[2] = asked.temperature
    control[_BACK] = 1 - control[_BACK]
    atomic_store(control, _DONE, 0)
    atomic_store(control, _NEXT, 0)
    return max(0, helpers - atomic_load(control, _HELPERS))


@in_order
def _join(control: Array) -> None:
    """Count a helper that is about to come."""
    atomic_add(control, _HELPERS, 1)


@in_order
def _next_stripe(control: Array) -> int:
    """The next stripe that nobody has taken, or -1.

    Every other pass goes from last to first: what was read last is still in the cache when the
    next pass begins with it.
    """
    count = control[_STRIPES]
    if atomic_load(control, _NEXT) >= count:
        return -1
    stripe = atomic_add(control, _NEXT, 1)
    if stripe >= count:
        return -1
    return count - 1 - stripe if control[_BACK] else stripe


@in_order
def _take(control: Array, looks: int) -> int:
    """The next stripe, or -1 if there was none for so many looks.

    With `looks` > 0 it is a helper that asks, and -1 means that it has left.
    """
    for _ in range(looks + 1):
        stripe = _next_stripe(control)
        if stripe >= 0:
            return stripe
    if looks > 0:
        atomic_add(control, _HELPERS, -1)
        if atomic_load(control, _NEXT) < control[_STRIPES]:
            atomic_add(control, _HELPERS, 1)
            stripe = _next_stripe(control)
            if stripe >= 0:
                return stripe
            atomic_add(control, _HELPERS, -1)
    return -1


@in_order
def _question(shared: Shared) -> Asked:
    """The question, for who has taken a stripe."""
    factors = shared.factors
    return Asked(shared.scaled, factors[0], factors[1], factors[2])


@in_order
def _all_done(control: Array) -> bool:
    """Whether every stripe is done, after waiting for a while."""
    looks = 0
    while atomic_load(control, _DONE) < control[_STRIPES] and looks < _LEADER_LOOKS:
        looks += 1
    return looks < _LEADER_LOOKS


@in_order
def _dense_pass(
    shared: Shared,
    found: Found,
    rows: dense.DenseRows,
    role: int,
    number: int,
    asked: Asked,
    answer: Answer,
) -> tuple[int, float, float]:
    """A whole pass, or the part of a helper in it.

    Returns (0, smallest score, log of the sum of weights) and fills the answer. Where helpers are
    missing, (how many, 0, 0); (-1, 0, 0) if those there are not done yet.

    Parameters
    ----------
    role : _POST, _OPEN, _GO_ON or _HELP
    number : int
        How many helpers a leader has; how often a helper looks for work.
    """
    control = shared.control
    if role <= _OPEN:
        missing = _post(shared, number, asked)
        if missing or role == _OPEN:
            return missing, 0.0, 0.0
    looks = number if role == _HELP else 0
    s = _take(control, looks)
    while s >= 0:
        lo, hi = shared.cuts[s], shared.cuts[s + 1]
        pull = found.pulls[s, : len(asked.w)]
        found.sums[s, 0], found.sums[s, 1] = dense.softmin(
            rows, _question(shared), found.scores, pull, lo, hi, None
        )
        atomic_add(control, _DONE, 1)
        s = _take(control, looks)
    if role == _HELP:
        return 0, 0.0, 0.0
    if not _all_done(control):
        return -1, 0.0, 0.0
    smallest, logsumexp = put_together(found, asked, answer)
    return 0, smallest, logsumexp


@in_order
def _sparse_pass(
    shared: Shared,
    found: Found,
    rows: sparse.SparseRows,
    role: int,
    number: int,
    asked: Asked,
    answer: Answer,
) -> tuple[int, float, float]:
    """As `_dense_pass`."""
    control = shared.control
    if role <= _OPEN:
        missing = _post(shared, number, asked)
        if missing or role == _OPEN:
            return missing, 0.0, 0.0
    looks = number if role == _HELP else 0
    s = _take(control, looks)
    while s >= 0:
        lo, hi = shared.cuts[s], shared.cuts[s + 1]
        pull = found.pulls[s, : len(asked.w)]
        found.sums[s, 0], found.sums[s, 1] = sparse.softmin(
            rows, _question(shared), found.scores, pull, lo, hi, None
        )
        atomic_add(control, _DONE, 1)
        s = _take(control, looks)
    if role == _HELP:
        return 0, 0.0, 0.0
    if not _all_done(control):
        return -1, 0.0, 0.0
    smallest, logsumexp = put_together(found, asked, answer)
    return 0, smallest, logsumexp


class Team:
    """A leader and its helpers for passes over some rows. One pass at a time.

    Attributes
    ----------
    whole : bool
        False after a pass that was interrupted: a helper may still be at work, so no other pass
        may follow.
    """

    def __init__(
        self,
        rows: dense.DenseRows | sparse.SparseRows,
        shape: tuple[int, int],
        parts: list[tuple[int, int]],
    ) -> None:
        self.whole = True
        self._shared = shared_for(parts, shape[1])
        found = found_for(*shape, len(parts))
        work: Any = _dense_pass if isinstance(rows, dense.DenseRows) else _sparse_pass
        self._part = partial(work, self._shared, found, rows)
        self._helpers = min(cutting.threads(), len(parts)) - 1
        # A helper is asked nothing when it is called: it finds the question where it is shared.
        self._nothing = (
            Asked(self._shared.scaled, 0.0, 0.0, 0.0),
            Answer(found.scores, found.scores),
        )

    def run(
        self, asked: Asked, answer: Answer, meanwhile: Callable[[], None] | None = None
    ) -> tuple[float, float]:
        """Do every stripe once: the smallest score and the log of the sum of weights.

        With `meanwhile` the helpers begin alone, while this thread does that.
        """
        self.whole = False
        role = _POST if meanwhile is None else _OPEN
        missing, smallest, logsumexp = self._part(role, self._helpers, asked, answer)
        while missing or meanwhile is not None:
            for _ in range(missing):
                _join(self._shared.control)
                cutting.pool().submit(self._part, _HELP, _HELPER_LOOKS, *self._nothing)
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
            elif missing < 0:
                sleep(1e-4)  # the processor may be needed by the helper
            missing, smallest, logsumexp = self._part(_GO_ON, self._helpers, asked, answer)
        self.whole = True
        return smallest, logsumexp
