"""Why data cannot be separated, and how many rows would have to go.

The support of the oracle's proof is a smallest conflict already: its rows are affinely independent
(side by side, with a free intercept), so zero is in their hull with one set of weights only, all
positive. Without any one of them the others are separable. They are at most rank + 1 rows, or
rank + 2 with a free intercept.

Rows whose removal makes the data separable have to meet every conflict. Conflicts are gathered one
by one, and a smallest set that meets all of them is a lower bound on what has to go; once the
rows without it are separable, it is the answer [1]_. Where that takes too long, rows are removed
greedily instead, and put back where that does no harm: an upper bound.

References
----------
.. [1] E. Moreno-Centeno and R. M. Karp (2013), The implicit hitting set approach to solve
   combinatorial optimization problems. Operations Research 61(2).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gammabar.oracle.candidate import Progress, silent
from gammabar.oracle.maximum_margin import solve
from gammabar.problems import DenseProblem, Problem, ProblemError, SparseProblem

if TYPE_CHECKING:
    from gammabar.oracle.result import Truth

#: Times that the oracle is asked, at most; and nodes of a search for a smallest hitting set.
_ASKED, _NODES = 200, 20_000


@dataclass(frozen=True)
class Removal:
    """A set of rows without which the data are separable; None if none was found among few rows.

    With fewer than `least` rows removed the data stay inseparable, which is proved.
    """

    rows: list[int] | None
    least: int

    @property
    def smallest(self) -> bool:
        """Whether no smaller set will do."""
        return self.rows is not None and len(self.rows) == self.least


def smallest_removal(truth: Truth, *, asked: int = _ASKED, progress: Progress = silent) -> Removal:
    """A small set of rows whose removal makes the inseparable data of `truth` separable.

    They are linear and of two classes; the oracle is asked so often, at most.
    """
    return _Search(truth.problem, [frozenset(map(int, truth.support))], asked, progress).run()


class _Search:
    def __init__(
        self, problem: Problem, conflicts: list[frozenset[int]], asked: int, progress: Progress
    ) -> None:
        if not isinstance(problem, DenseProblem | SparseProblem):
            raise ProblemError("rows to remove are looked for in linear problems of two classes")
        self.problem, self.conflicts = problem, conflicts
        self.left, self.progress = asked, progress

    def run(self) -> Removal:
        least, reserve = 1, self.left // 2  # half of the questions are for the greedy search
        while True:
            found = _smallest_hitting_set(self.conflicts, least)
            if found is None:
                break
            least = len(found)
            self.progress(f"at least {least} rows have to go")
            if self.left <= reserve:
                break
            conflict = self.ask(found)
            if conflict is None:
                return Removal(sorted(found), least)
            self.conflicts.append(conflict)
        return Removal(self.greedy(), least)

    def ask(self, without: set[int]) -> frozenset[int] | None:
        """A conflict among the other rows, or None if they are separable."""
        self.left -= 1
        keep = np.setdiff1d(np.arange(self.problem.n), sorted(without))
        y = self.problem.y[keep]
        if len(np.unique(y)) < (1 if self.problem.intercept == "none" else 2):
            return None  # nothing is left, or one class, which is separable with any bias
        part: Any = type(self.problem)(self.problem.X[keep], y)
        part.intercept = self.problem.intercept
        truth = solve(part)
        return None if truth.separable else frozenset(int(keep[i]) for i in truth.support)

    def greedy(self) -> list[int] | None:
        """Remove the row that most conflicts share until none is left; put back what may stay."""
        gone: set[int] = set()
        while self.left > 0:
            open_ = [c for c in self.conflicts if not c & gone]
            if not open_:
                conflict = self.ask(gone)
                if conflict is None:
                    break
                self.conflicts.append(conflict)
                continue
            counts = Counter(i for conflict in open_ for i in conflict)
            gone.add(max(counts, key=lambda i: (counts[i], -i)))
        else:
            return None
        for row in sorted(gone):
            if self.left > 0 and self.ask(gone - {row}) is None:
                gone.remove(row)
        return sorted(gone)


def _smallest_hitting_set(sets: list[frozenset[int]], least: int) -> set[int] | None:
    """A smallest set that meets all sets, known to have `least` elements; None if too costly."""
    nodes = _NODES

    def extended(chosen: set[int], room: int) -> set[int] | None:
        nonlocal nodes
        nodes -= 1
        missed = next((one for one in sets if not one & chosen), None)
        if missed is None:
            return chosen
        if room == 0 or nodes < 0:
            return None
        for element in sorted(missed):
            found = extended(chosen | {element}, room - 1)
            if found is not None:
                return found
        return None

    size = least
    while nodes > 0:
        found = extended(set(), size)
        if found is not None:
            return found
        if nodes < 0:
            return None
        size += 1
    return None
