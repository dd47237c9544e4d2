"""A few points of what was measured and of what was claimed, for pictures."""

from __future__ import annotations

from math import ceil, isfinite

from gammabar.harness.court.relation import Relation
from gammabar.harness.court.verdict import Point

#: Every t up to here is kept, and then one in each step of this factor: evenly on a log axis.
EVERY, FACTOR = 8, 1.15
#: A claim may compare many things at an iterate; pictures of so many of them are kept.
MOST = 4


class Curve:
    """What a statement compared at some of the iterates, in memory that hardly grows with t."""

    def __init__(self) -> None:
        #: The t that was drawn last, and the first of those that are drawn next.
        self.at, self.due = -1, 0
        self._points: dict[str, dict[int, tuple[float, Relation]]] = {}

    def note(self, relation: Relation, t: int, tightness: float) -> None:
        """Keep a comparison if t is one of those that are drawn: at each t the tightest.

        They come in the order of t.
        """
        if t != self.at:
            if t < self.due:
                return
            self.at, self.due = t, t + 1 if t < EVERY else ceil(t * FACTOR)
        kept = self._points.get(relation.what)
        if kept is None:
            if len(self._points) == MOST:
                return
            kept = self._points[relation.what] = {}
        if t not in kept or tightness > kept[t][0]:
            kept[t] = tightness, relation

    def of(self, marked: Relation, t: int | None) -> tuple[Point, ...]:
        """The points of what the marked relation compares, and the marked one itself."""
        if t is None or marked.op == "fact":
            return ()
        kept = {at: one for at, (_, one) in self._points.get(marked.what, {}).items()}
        points = (_point(at, one) for at, one in sorted((kept | {t: marked}).items()))
        return tuple(point for point in points if all(map(isfinite, point)))


def _point(t: int, relation: Relation) -> Point:
    """Six digits are enough to draw."""
    left, right = relation.left, relation.right
    if relation.op == "==":
        left, right = abs(left - right), relation.allowance
    return t, float(f"{float(left):.6g}"), float(f"{float(right):.6g}")
