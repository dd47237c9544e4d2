"""Proof of the maximum margin: the minimum-norm point of the rows' convex hull.

Let S be the support of an untrusted candidate, and x the solution of its linear system
(`gammabar.oracle.linear_system`), enclosed by verified arithmetic. If all weights are positive and
every other row has a product with w that is strictly above the level of its side, then the
optimality conditions hold for the *exact* solution of the system: S is the support of q̄, and γ̄² and
q̄ are rational numbers that S defines. They are written out when somebody asks for them; as many of
their digits as are wanted come from the enclosure (`SupportProof`).

    Why enclosures are enough: with w = Aᵀq̄, q̄ in the simplex, ⟨a_i, w⟩ = ‖w‖² on the support and
    ⟨a_i, w⟩ ≥ ‖w‖² elsewhere prove that w is the shortest point of the hull. The equations hold
    because x solves the system exactly; only the inequalities have to be decided, and a strict
    inequality of the enclosure is one of the truth.

Data that cannot be separated are proved by the same means if the support spans the space: if its
rows are affinely independent and one more than there are coordinates (two more, if the intercept is
free), their affine hull is everything, so that the solution of the system is a point of length zero
exactly, and positive weights are all that is left to prove (Gordan).

If weights are negative or rows are below their level, they leave or enter, and the proof is tried
again. Two equal points of opposite classes prove that nothing separates the data. Ties, dependent
rows and small supports, whose fractions are short, go to Wolfe's method in rational arithmetic: a
violated row enters, rows with negative weight leave, so that it ends with the truth whatever the
candidate was.

With a free intercept the rows have two *sides*, the classes, and q puts half of its weight on each:
the point is half the difference of a point of either hull. All that changes is that a row is
compared with the level of its own side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
from flint import fmpz_mat

from gammabar.oracle.candidate import Watch
from gammabar.oracle.linear_algebra import PRIMES, pivots
from gammabar.oracle.linear_system import Enclosure, GramSystem, RowSystem, System, enclose
from gammabar.oracle.rational import ExactRows, Rows, integers_of, spread, without
from gammabar.problems.problem import Floats

Found = TypeVar("Found")

#: Supports that are solved for in rationals at once.
_SMALL = 12
#: Bits of the enclosures that decide: of the first, and of the next where rows nearly tie.
_BITS = (24, 72, 400)
#: Share of the level that the error of an enclosure may be before rows are compared with it.
_COARSE = 1 << 12
#: Bits of those that coordinates are taken from.
_FINE = 96
#: Supports that are tried before rational arithmetic takes over.
_TRIALS = 12
#: Rows that the doubles leave in doubt, at most, for which products are computed exactly.
_DOUBTFUL = 2000
#: Share of the radius below which a candidate's point is about zero.
_NEAR = 1e-6
#: What coordinates of w may be off by, as a share of each, in bits: they are rounded once more.
_SLIGHT = 70
#: Bits of the weights of a light certificate; the least share of an eigenvalue that doubles show.
_LIGHT, _VISIBLE = 128, 1e-14


@dataclass(frozen=True)
class MinimumNorm:
    """Weights q_i = numerators_i / total on the support, and what is exactly known of w = Aᵀq.

    Rows of the support have the product `levels[side]` with w, and ‖w‖² is the mean of the levels;
    no levels are given of w = 0, or of weights that only prove a bound.
    """

    support: Rows
    numerators: list[int]
    levels: tuple[Fraction, ...] = ()
    rounds: int = 1

    @cached_property
    def total(self) -> int:
        return sum(self.numerators)

    @cached_property
    def square(self) -> Fraction:
        """‖w‖²."""
        return sum(self.levels, Fraction(0)) / max(1, len(self.levels))

    def decide(self, function: Callable[[Fraction], Found], bits: int = 64) -> Found:
        """function(γ̄²)."""
        return function(self.square)

    def weights(self) -> list[float]:
        """The doubles nearest to q̄ on the support."""
        return [v / self.total for v in self.numerators]

    def vector(self, dimension: int) -> list[int] | None:
        """A multiple of w, if there is a shorter way to it than by the numerators."""
        return None

    def half_difference(self) -> Fraction:
        """(λ₀ − λ₁)/2 of the two levels."""
        return (self.levels[0] - self.levels[1]) / 2


@dataclass(frozen=True)
class SupportProof:
    """A support that is proved to be that of q̄, and its weights and levels in an enclosure.

    It has the attributes of `MinimumNorm`: the rationals are computed when first asked for, from a
    copy of the support rows, and everything else from the enclosure as far as that decides it.
    """

    support: Rows
    system: System
    enclosure: Enclosure
    rounds: int
    zero: bool  # whether γ̄ = 0, because the support spans the space

    @cached_property
    def exact(self) -> MinimumNorm:
        """The solution of the system in rationals."""
        found = _affine_minimiser(*self.system.gram(), self.system.sides.tolist())
        assert found is not None, "a proved support is regular"
        assert min(found[0]) > 0, "the weights of a proved support are positive"
        return MinimumNorm(self.support, *found, self.rounds)

    @property
    def numerators(self) -> list[int]:
        return self.exact.numerators

    @property
    def total(self) -> int:
        return self.exact.total

    @property
    def square(self) -> Fraction:
        return Fraction(0) if self.zero else self.exact.square

    def decide(self, function: Callable[[Fraction], Found], bits: int = 64) -> Found:
        """function(γ̄²) for a monotone function with few values: equal at both ends of a bound."""
        for wanted in () if self.zero else (0, bits, 2 * bits + 64):
            low, high = self._square(wanted)
            value = function(low)
            if value == function(high):
                return value
        return function(self.square)

    def _square(self, bits: int) -> tuple[Fraction, Fraction]:
        """Bounds of γ̄² with a relative distance below 2^−bits, if the system yields them."""
        found = self.enclosure
        while True:
            value, doubt, unit = self.system.square(found)
            missing = bits + 2 - (max(0, value - doubt).bit_length() - (2 * doubt).bit_length())
            known = found.places - found.error.bit_length()
            better = enclose(self.system, known + missing, found) if missing > 0 else None
            if better is None:
                return (value - doubt) * unit, (value + doubt) * unit
            found = better

    def _level_unit(self, found: Enclosure) -> Fraction:
        """What a level is in multiples of the integers of an enclosure."""
        system = self.system
        return system.border * system.unit / Fraction(system.t * 2**found.places)

    @cached_property
    def fine(self) -> Enclosure:
        """As many bits as the coordinates of w and the weights mostly need."""
        return enclose(self.system, _FINE, self.enclosure) or self.enclosure

    def weights(self) -> list[float]:
        """The doubles nearest to q̄ on the support."""
        found, whole = self.fine, self.system.t << self.fine.places
        pairs = [
            ((v - found.error) / whole, (v + found.error) / whole)
            for v in found.z[: len(self.support)]
        ]
        if all(low == high for low, high in pairs):
            return [low for low, _ in pairs]
        return self.exact.weights()

    def vector(self, dimension: int) -> list[int] | None:
        """A multiple of w with relative errors below 2⁻⁷⁰ in every coordinate, if that is known."""
        system, found = self.system, self.fine
        if not isinstance(system, RowSystem):
            return None
        zero = system.vanishing(dimension)
        values = system.combine(found.z[: len(self.support)], dimension)
        error = found.error * len(self.support) << system.depth + _SLIGHT
        if not all(j in zero or abs(v) > error for j, v in enumerate(values)):
            return None
        return [0 if j in zero else v for j, v in enumerate(values)]

    def separating(self, dimension: int, radius_squared: Fraction) -> list[int] | None:
        """Integers w with ⟨a_i, w⟩ > 0 for all rows, near to a multiple of Aᵀq̄; one side only."""
        system, found = self.system, self.enclosure
        s = len(self.support)
        # No product is further from the level than e s R² (see `_compared`).
        level = (found.z[s] - found.error) * system.border * system.unit
        if not isinstance(system, RowSystem) or level <= found.error * s * radius_squared:
            return None
        return system.combine(found.z[:s], dimension)

    def light(self) -> tuple[list[int], Fraction] | None:
        """Weights of 128 bits, of the same sum on each side, and an eigenvalue, if doubles show it.

        It is half the least one of the Gram matrix with its largest entry added to the products of
        rows of one side: what a light certificate needs.
        """
        found = enclose(self.system, _LIGHT + 16, self.enclosure) or self.enclosure
        cut, sides = max(0, found.places - _LIGHT), self.system.sides
        weights = [max(1, v >> cut) for v in found.z[: len(sides)]]
        sums = [sum(v for v, k in zip(weights, sides, strict=True) if k == side) for side in (0, 1)]
        low = int(np.argmin(sums[: self.system.t]))
        weights[int(np.argmax(sides == low))] += max(sums) - sums[low]
        gram, _, k = self.system.doubles()
        top = float(np.diagonal(gram).max())
        least = float(np.linalg.eigvalsh(gram + top * (sides[:, None] == sides))[0])
        if not least > _VISIBLE * len(gram) * top:
            return None
        return weights, Fraction(least) / 2 * 2**k * self.system.unit

    def half_difference(self) -> Fraction:
        """(λ₀ − λ₁)/2 of the two levels, with a relative error below 2⁻⁷⁰."""
        found = self.fine
        first, second = found.z[len(self.support) :]
        if abs(first - second) > 2 * found.error << _SLIGHT:
            return (first - second) * self._level_unit(found) / 2
        return self.exact.half_difference()


def minimum_norm_point(
    rows: ExactRows, support: Rows, weights: Floats, watch: Watch | None = None
) -> MinimumNorm | SupportProof:
    """Find and prove the point of smallest norm in the convex hull of all rows.

    The candidate, distinct rows with positive weights, decides the time and not the result. The
    ``square`` is γ̄² if positive; it is zero if and only if the rows are not separable.
    """
    if len(support) > _SMALL:
        found = _opposed(rows, support, weights) or prove_support(rows, support, watch)
        if found is not None:
            return found
    return rational_point(rows, support, weights, watch)


def _opposed(rows: ExactRows, support: Rows, weights: Floats) -> MinimumNorm | None:
    """Two equal points of opposite classes, if the candidate's point is about zero."""
    problem = rows.problem
    size = problem.norm(problem.combine(spread(rows.n, support, weights)))
    twins = rows.twins() if size < _NEAR * problem.radius else None
    return None if twins is None else MinimumNorm(np.array(sorted(twins), dtype=np.int64), [1, 1])


def prove_support(
    rows: ExactRows, support: Rows, watch: Watch | None = None
) -> SupportProof | None:
    """The proof that a candidate's support, or one next to it, is that of q̄; None if it fails."""
    support = np.sort(np.asarray(support, dtype=np.int64))
    for trial in range(1, _TRIALS + 1):
        if watch is not None:
            watch.check()
        system = _system_of(rows, support)
        if system is None:
            return None
        found = better = None
        spans = isinstance(system, RowSystem) and system.spans
        for bits in _BITS:
            found = enclose(system, bits, found)
            if found is None:
                return None
            clear, better = _compared(rows, support, system, found, spans)
            if clear:
                return SupportProof(support, system, found, trial, spans)
            if better is not None:
                break
        if better is None:
            return None
        support = better
    return None


def _system_of(rows: ExactRows, support: Rows) -> System | None:
    """The linear system of some rows; None if a side is missing among them."""
    sides = rows.side[support]
    if len(set(sides.tolist())) < rows.sides:
        return None
    doubles = rows.doubles(support)
    if doubles is not None:
        system = RowSystem(doubles, sides)
        if system.slices:
            return system
    return GramSystem(*rows.gram(support), sides)


def _compared(
    rows: ExactRows, support: Rows, system: System, found: Enclosure, spans: bool
) -> tuple[bool, Rows | None]:
    """Whether the support is proved; if not, and if it is known how, a better one.

    With P = Σ z_k a_k the true point (in the same unit) is P + Σ (x_k − z_k) a_k, where no
    |x_k − z_k| exceeds e. So a row is above its level if ⟨a_i, P⟩ exceeds the level by
    e (s R² + unit of a level), R being the largest norm; by as much it may seem to be below and be
    above.
    """
    s, z, e = len(support), found.z, found.error
    last = found.places >= _BITS[-1]
    if min(z[:s]) <= e:
        if not last and min(map(abs, z[:s])) <= e:
            return False, None
        left = support[np.array([v > e for v in z[:s]])]
        # A weight that may be zero is that of a tie; without its row the others may span less.
        return False, left if len(left) and (spans or min(z[:s]) < -e) else None
    if spans or sum(z[s:]) <= system.t * e:
        return spans, None
    unit = system.border * system.unit
    slack = e * (s * rows.radius_squared() + unit)
    levels = [level * unit for level in z[s:]]
    if not last and slack * _COARSE > sum(levels):
        return False, None  # more bits first: they cost less than another look at all rows
    point = rows.point(support, z[:s], system.coordinates(z[:s], rows.problem.dimension))
    left = without(rows.n, rows.doubtful(point, *(level + slack for level in levels)), support)
    if len(left) > _DOUBTFUL:
        return False, None
    left = left[~rows.repeated(left, support)] if len(left) else left
    above = [(rows.score(i, point) - levels[rows.side[i]], i) for i in left.tolist()]
    worst = min(above, default=(slack + 1, -1))
    if worst[0] > slack:
        return True, None
    if worst[0] < -slack:
        return False, np.sort(np.append(support, worst[1]))
    return False, None


def rational_point(
    rows: ExactRows, support: Rows, weights: Floats, watch: Watch | None = None
) -> MinimumNorm:
    """The same by Wolfe's method in rational arithmetic, whatever the rows are.

    Notes
    -----
    Optimality: w = Aᵀq with q ∈ Δ is the minimum-norm point if and only if ⟨a_i, w⟩ ≥ ‖w‖² for
    every row (with two sides: ⟨a_i, w⟩ ≥ the level of its side, where the levels have the mean
    ‖w‖²). Support rows satisfy it with equality, because (G q)_i is the level there.
    Termination: a row below its level is independent of the corral, and gets a positive weight in
    the affine minimiser with it; so the norm falls strictly from one corral to the next, and there
    are finitely many.
    """
    corral, given = [int(i) for i in support], [float(v) for v in weights]
    for side in set(range(rows.sides)).difference(rows.side[corral].tolist()):
        corral.append(rows.first(side))  # a candidate that lacks a side gets its first row
        given.append(1.0)
    begin: Callable[[], list[Fraction]] = partial(_shared, rows, list(corral), given)
    for rounds in count(1):
        corral, numerators, levels = _settle(rows, corral, begin, watch)
        found = MinimumNorm(np.array(corral, dtype=np.int64), numerators, levels, rounds)
        if found.square == 0:
            break
        point = rows.point(found.support, numerators)
        below = rows.violated(point, *(level * found.total for level in levels))
        if not below:
            break
        corral.append(below[0])
        begin = partial(_joined, found)
    order = np.argsort(found.support)
    numerators = [found.numerators[k] for k in order.tolist()]
    return replace(found, support=found.support[order], numerators=numerators)


def _joined(found: MinimumNorm) -> list[Fraction]:
    """The weights, and that of a row that has just come."""
    return [*(Fraction(v, found.total) for v in found.numerators), Fraction(0)]


def _shared(rows: ExactRows, corral: list[int], weights: Sequence[Any]) -> list[Fraction]:
    """The weights scaled so that those of each side have the same sum, and all the sum one."""
    pairs = list(zip(rows.side[corral].tolist(), map(Fraction, weights), strict=True))
    totals = [sum(v for side, v in pairs if side == k) for k in range(rows.sides)]
    return [v / (totals[side] * rows.sides) for side, v in pairs]


def _settle(
    rows: ExactRows, corral: list[int], begin: Callable[[], list[Fraction]], watch: Watch | None
) -> tuple[list[int], list[int], tuple[Fraction, ...]]:
    """Minor cycles: from the convex combination `begin()`, to a corral with positive weights.

    Returns the corral, its numerators and its levels. The combination is asked for only if it is
    needed: a right candidate needs none.
    """
    current: list[Fraction] = []
    while True:
        if watch is not None:
            watch.check()
        sides = rows.side[corral].tolist()
        gram, unit = rows.gram(np.array(corral, dtype=np.int64))
        affine = _affine_minimiser(gram, unit, sides)
        if affine is not None and min(affine[0]) >= 0:
            keep = [k for k, v in enumerate(affine[0]) if v > 0]
            return [corral[k] for k in keep], [affine[0][k] for k in keep], affine[1]
        current = current or begin()
        if affine is None:
            keep = _independent(gram, current, sides)
            corral = [corral[k] for k in keep]
            current = _shared(rows, corral, [current[k] for k in keep])
            continue
        # Move towards the affine minimiser until a weight vanishes, and drop what vanished.
        goal = [Fraction(v, sum(affine[0])) for v in affine[0]]
        step = min(c / (c - g) for c, g in zip(current, goal, strict=True) if g < 0)
        moved = [c + step * (g - c) for c, g in zip(current, goal, strict=True)]
        corral = [i for i, v in zip(corral, moved, strict=True) if v > 0]
        current = [v for v in moved if v > 0]


def _affine_minimiser(
    gram: fmpz_mat, unit: Fraction, sides: list[int]
) -> tuple[list[int], tuple[Fraction, ...]] | None:
    """Point of smallest norm in the affine hull, or None if the rows are affinely dependent.

    With E_ij = 1 where row i is of side j, and t the number of sides,

        | G   −E | | t q |   | 0 |
        | Eᵀ   0 | | t λ | = | 1 |

    is regular exactly if the rows are affinely independent side by side (G is positive
    semidefinite); then q is the minimiser and λ are its levels. Returns integers in the proportions
    of q, whose sum is positive, and the levels.
    """
    s, t = gram.nrows(), max(sides) + 1
    entries: list[Any] = []
    given = gram.entries()
    for i, side in enumerate(sides):
        entries += given[s * i : s * (i + 1)]
        entries += [-int(side == k) for k in range(t)]
    for k in range(t):
        entries += [int(side == k) for side in sides] + [0] * t
    try:
        solution: Any = fmpz_mat(s + t, s + t, entries).solve(fmpz_mat(s + t, 1, [0] * s + [1] * t))
    except ZeroDivisionError:
        return None
    values, denominator = solution.numer_denom()
    numbers, total = integers_of(values), int(denominator) * t
    return numbers[:s], tuple(Fraction(v, total) * unit for v in numbers[s:])


def _independent(gram: fmpz_mat, current: list[Fraction], sides: list[int]) -> list[int]:
    """Positions of an affinely independent subset, preferring large weights."""
    s = gram.nrows()
    order = sorted(range(s), key=lambda k: -current[k])
    c = int(max(gram[k, k] for k in range(s))) or 1
    lifted = [[int(gram[i, j]) + c * (sides[i] == sides[j]) for j in order] for i in order]
    # Some prime does not divide every entry; if all do, one row of each side is left.
    found = (pivots(np.array(lifted, dtype=object), prime) for prime in PRIMES)
    kept = [order[k] for k in next(filter(None, found), [])]
    lost = set(sides) - {sides[k] for k in kept}  # alone a row depends on no other side
    return sorted([*kept, *(next(k for k in order if sides[k] == side) for side in lost)])
