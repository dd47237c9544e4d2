"""The space that a problem lives in, and its vectors: doubles with proved error bounds.

Each quantity comes in two ways. *Fast*: one evaluation in doubles and a bound on its error. The
bounds of scores, products and radii are those of `gammabar.problems.rounding`, which proves them
beside the code that they speak about; here are only those of vectors that are added up here
(`tiny`, `lost`), by the same analysis [1]_. Where something may overflow a bound is infinite.
*Exact*: the doubles taken for the exact numbers they are, in balls of the current precision. A
`unit` view divides the rows by the exact largest norm, a square root of a rational.

.. [1] N. J. Higham (2002), Accuracy and Stability of Numerical Algorithms, §3.1.
"""

from __future__ import annotations

import math
import sys
from functools import cache, cached_property
from math import inf
from typing import Any, TypeAlias

import numpy as np
from flint import arb, arb_mat
from numpy import empty
from numpy.typing import NDArray

from gammabar.harness.verify.numbers import (
    ETA,
    ROUNDOFF,
    SAFETY,
    TINY,
    Number,
    ball,
    middle,
    number,
    precision,
    sqrt,
    total,
    upper,
)
from gammabar.oracle.enclosure import kernel_balls
from gammabar.oracle.rational import (
    exact_rows,
    has_exact_kernel,
    integer_rows,
    largest,
    largest_norm,
    squared_norms,
)
from gammabar.problems import (
    DenseProblem,
    KernelProblem,
    MulticlassProblem,
    Problem,
    ProblemError,
    SparseProblem,
)
from gammabar.problems.points import is_sparse
from gammabar.problems.rounding import length, rounding_of, taxicab

Floats = NDArray[np.float64]

#: What covers the rounding of a bound itself.
_GROWN = 1 + 8 * ROUNDOFF
#: What is below this does not overflow when a few such numbers are added, or a million.
_HUGE = 2.0**1000
#: Rows with at most so many entries are kept as one matrix of balls.
_MATRIX = 1 << 18
#: So many rows of balls are kept.
_KEPT = 50_000


class TooLarge(ProblemError):
    """A problem has too many rows for what was asked."""


class _Space:
    """What linear and kernel problems have in common.

    Two bounds are for vectors that are added up here: `tiny`, on the norm of what underflow may
    take from the entries of one product of a vector, and `lost`, the same for Aᵀq, a combination of
    the rows with weights of at most one in sum.
    """

    tiny: float
    lost: float

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n, self.dimension = problem.n, problem.dimension
        self._bounds: Any = rounding_of(problem)
        #: Not below the largest norm of a row, even where that is no normal double; not above it.
        self.radius: float = self._bounds.radius
        self.least_radius: float = self._bounds.radius_bounds()[0]
        #: The size of sums of n + d numbers: of what is left of them rounding must be a small part.
        self.long_sum = (self.n + self.dimension) * self.least_radius
        self._cache: dict[Any, Any] = {}

    @property
    def unit_factor(self) -> Number:
        """What the exact rows are multiplied by: 1, or one over the exact largest norm."""
        if not self.problem._is_unit:
            return number(1)
        return self._at_precision("factor", lambda: 1 / sqrt(number(self._radius_squared)))

    def gram(self) -> Any:
        """All ⟨a_i, a_j⟩ as an arb_mat: for small problems."""
        square = self.unit_factor * self.unit_factor
        return self._at_precision("gram", lambda: self._gram() * square)

    def _gram(self) -> Any:
        """The same for the rows in the units of the data."""
        raise NotImplementedError

    @cached_property
    def _radius_squared(self) -> Any:
        return largest_norm(self.problem.points)  # type: ignore[attr-defined]

    def _at_precision(self, name: str | int, make: Any) -> Any:
        key = name, precision()
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


class LinearSpace(_Space):
    """Dense, sparse and multiclass problems: w has coordinates."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        #: Relative error of a norm, and of ⟨u, v⟩ beside ‖u‖‖v‖.
        self._dot = (self.dimension + 8) * ROUNDOFF * SAFETY
        inner, outer = problem._inner, problem._outer
        root = math.sqrt(self.dimension)
        # What a score is off by is the first times ‖w‖ and the second; the rounding of the sum and
        # what underflows in it is the last ETA's.
        relative, under = self._bounds.score_terms
        self._relative, self._under = relative * SAFETY + ETA, under * SAFETY + 2 * ETA
        # Per entry n products that the outer factor multiplies, and weights times the inner factor,
        # that the rows multiply.
        self.lost = (4 * self.n * (root * outer + self.radius / inner) + 4) * ETA + TINY
        # Not as small as √d η: errors are products of such bounds with roundoffs and then with
        # coefficients as large as 2¹⁰⁰⁰, and a factor that vanishes takes the others with it.
        self.tiny = TINY
        #: ‖w‖ up to which nothing overflows.
        self._most = _HUGE / max(1.0, inner, self.radius / outer, self.radius)

    def size(self, v: Floats, square: float | None = None) -> float:
        """A bound on ‖v‖ that is monotone in the |v_j|: rounding v moves it by at most u·size.

        `square` is the sum of the squares of v in doubles, if that is known already.
        """
        return self._length(v, square) * (1 + self._dot) + TINY

    def norm(self, v: Floats, error: float = 0.0, square: float | None = None) -> Number:
        """‖v‖ as a ball, from one evaluation in doubles; for v known up to an error, if given."""
        if square is not None and 1e-200 < square < 1e200:
            length = math.sqrt(square)
        else:
            length = self._length(v, square)
        return ball(length, length * self._dot + TINY + error * _GROWN)

    def _length(self, v: Floats, square: float | None = None) -> float:
        if square is None:
            square = float(v.dot(v))
        # Far from over- and underflow there is no need for the care that `Problem.norm` takes.
        if 1e-200 < square < 1e200:
            return math.sqrt(square)
        return self.problem.norm(v) if v.any() else 0.0

    def inner(self, u: Floats, v: Floats) -> Number:
        """⟨u, v⟩ as a ball, from one evaluation in doubles."""
        # Both sizes are at least TINY, so the product with _dot is a number before the other joins.
        error = self._dot * self.size(u) * self.size(v) + TINY
        return ball(float(np.dot(u, v)), error * SAFETY)

    def score_error(self, w: Floats, square: float | None = None) -> float:
        """How far the doubles of ``problem.scores(w)`` are from the truth, at most."""
        size = self.size(w, square)
        if not size < self._most:
            return math.inf
        return self._relative * size + self._under

    def score_errors(self, w: Floats) -> Floats:
        """The same row by row: where rows differ in length, so do these."""
        # Higham's bound for a sum of products is that of the row which they are made of.
        size = self.size(w)
        if not size < self._most:
            return np.full(self.n, math.inf)
        return self._relative * size * self.shares * SAFETY + self._under

    @cached_property
    def shares(self) -> Floats:
        """At least ‖a_i‖/R, row by row, with R = `radius`: sums over rows err by such parts."""
        problem = self.problem
        squares, power, error = squared_norms(problem.X)
        largest = max(float(squares.max()), TINY)
        shares = np.sqrt(squares / largest)
        # Squares of far shorter rows may have underflowed: those rows are measured one by one.
        for i in np.flatnonzero(squares < 2.0**-600 * largest).tolist():
            row = problem.X[i].toarray() if hasattr(problem.X, "toarray") else problem.X[i]
            row = np.asarray(row, dtype=np.float64).ravel()
            shares[i] = 0.0
            if row.any():
                short = math.ldexp(length(row), -power) / math.sqrt(largest)
                shares[i] = max(short, 2.0**-1000)
        if isinstance(problem, MulticlassProblem):  # a row has the norm of its point
            shares = shares[problem._unpack(np.arange(self.n))[0]]
        return np.minimum(shares * (1 + 4 * error), 1.0)

    def exact_scores(self, w: Floats, rows: NDArray[np.int64]) -> list[Number]:
        """⟨a_i, w⟩ for some rows."""
        factor = self.unit_factor
        if self._bits > 7 and np.isfinite(w).all():
            return [score * factor for score in self._whole_scores(w, rows)]
        values = [arb(v) for v in w.tolist()]
        if len(rows) == self.n and self.n * self.dimension <= _MATRIX:
            matrix = self._at_precision("matrix", self._matrix)
            scores = (matrix * arb_mat(self.dimension, 1, values)).entries()
            return [score * factor for score in scores]
        return [total(x * values[j] for j, x in self._row(int(i))) * factor for i in rows]

    @cached_property
    def _bits(self) -> int:
        """Doubles do not round sums of products of a row with integers of at most so many bits.

        0 unless the entries of rows are integers, and too many to be kept as a matrix.
        """
        problem = self.problem
        known = isinstance(problem, DenseProblem | SparseProblem)
        if not known or self.n * self.dimension <= _MATRIX:
            return 0
        values = problem.X.data if is_sparse(problem.X) else problem.X
        if values.dtype.kind not in "iu":
            return 0
        return 53 - int(largest(values) * self.dimension).bit_length()

    def _whole_scores(self, w: Floats, rows: NDArray[np.int64]) -> list[Number]:
        """The same for rows of integers, in the units of the data: w is cut into `_bits` each."""
        data, scores = self.problem.raw(), [arb(0)] * len(rows)
        exponent = int(np.frexp(np.abs(w).max())[1])
        while w.any():
            exponent -= self._bits
            part = np.rint(np.ldexp(w, -exponent))
            # Exact: a multiple of the unit in the last place of w, and no larger than w.
            w = w - np.ldexp(part, exponent)
            unit = arb(2) ** exponent
            products = data.some_scores(rows, part).tolist()
            scores = [s + unit * v for s, v in zip(scores, products, strict=True)]
        return scores

    def exact_inner(self, u: Floats, v: Floats) -> Number:
        """⟨u, v⟩."""
        pairs = zip(u.tolist(), v.tolist(), strict=True)
        return total(arb(a) * arb(b) for a, b in pairs if a and b)

    def exact_square(self, q: Floats) -> Number:
        """‖Aᵀq‖² for doubles q."""
        column = self.exact_combination([arb(v) for v in q.tolist()])
        return total(v * v for v in column.entries())

    def exact_combination(self, q: list[Number]) -> Any:
        """Aᵀq for balls q: a column of balls (an arb_mat) in the representation of w."""
        out = [arb(0)] * self.dimension
        for i, weight in enumerate(q):
            for j, x in self._row(i):
                out[j] += weight * x
        return arb_mat(self.dimension, 1, [v * self.unit_factor for v in out])

    def _matrix(self) -> Any:
        """All rows, in the units of the data."""
        matrix = arb_mat(self.n, self.dimension)
        for i in range(self.n):
            for j, x in self._row(i):
                matrix[i, j] = x
        return matrix

    def _gram(self) -> Any:
        matrix = self._at_precision("matrix", self._matrix)
        return matrix * matrix.transpose()

    def _row(self, i: int) -> list[tuple[int, Number]]:
        """The entries of a_i that are not zero, in the units of the data."""
        if len(self._cache) >= _KEPT and (i, precision()) not in self._cache:
            return self._entries(i)
        return self._at_precision(i, lambda: self._entries(i))

    def _entries(self, i: int) -> list[tuple[int, Number]]:
        problem = self.problem
        if not isinstance(problem, MulticlassProblem):
            return _entries(problem.X, i, int(problem.y[i]))
        (point,), (right,), (wrong,) = problem._unpack(np.array([i]))
        entries, root = _entries(problem.X, point, 1), arb(2).sqrt()
        signed = ((int(right), 1), (int(wrong), -1))
        return [(j * problem.k + c, sign * x / root) for j, x in entries for c, sign in signed]


def _entries(X: Any, i: int, sign: int) -> list[tuple[int, Number]]:
    integers, exponent = integer_rows(X, np.array([i]))
    unit = arb(2) ** exponent * sign
    return [(j, arb(v) * unit) for j, v in enumerate(integers[0].tolist()) if v]


class _KernelSpace(_Space):
    """The same for kernel problems: w is a vector of coefficients of the rows."""

    def __init__(self, problem: KernelProblem) -> None:
        super().__init__(problem)
        if problem.kernel.name == "callable":
            raise ProblemError("a kernel that is a Python function has no error bound")
        # A vector whose entries are all η has at most this norm.
        self.tiny = self.lost = 4 * self.n * self.radius * ETA + TINY

    def size(self, v: Floats, square: float | None = None) -> float:
        sums = float(np.abs(v).sum())
        return self.radius * sums * (1 + self.n * ROUNDOFF) * SAFETY + self.tiny

    def norm(self, v: Floats, error: float = 0.0, square: float | None = None) -> Number:
        if not v.any():
            return ball(0.0, error)
        return sqrt(self.inner(v, v)) + ball(0.0, error)

    def inner(self, u: Floats, v: Floats) -> Number:
        return ball(self.problem.inner(u, v), self._bounds.inner(taxicab(u), taxicab(v)) * SAFETY)

    def score_error(self, w: Floats, square: float | None = None) -> float:
        return float(self._bounds.scores(taxicab(w))) * SAFETY

    def score_errors(self, w: Floats) -> Floats:
        return np.full(self.n, self.score_error(w))

    @cached_property
    def shares(self) -> Floats:
        return np.ones(self.n)

    def exact_scores(self, w: Floats, rows: NDArray[np.int64]) -> list[Number]:
        gram, support = self.gram(), np.flatnonzero(w).tolist()
        values = {j: arb(float(w[j])) for j in support}
        return [total(gram[int(i), j] * values[j] for j in support) for i in rows]

    def exact_inner(self, u: Floats, v: Floats) -> Number:
        rows = np.flatnonzero(u)
        scores = self.exact_scores(v, rows)
        return total(arb(float(u[i])) * s for i, s in zip(rows, scores, strict=True))

    def exact_square(self, q: Floats) -> Number:
        return self.exact_inner(q, q)

    def exact_combination(self, q: list[Number]) -> Any:
        return arb_mat(self.n, 1, list(q))

    def _gram(self) -> Any:
        problem = self.problem
        assert isinstance(problem, KernelProblem)
        if self.n > 2000:
            raise TooLarge(f"{self.n:,} rows are too many for an exact Gram matrix")
        rows = np.arange(self.n)
        if has_exact_kernel(problem):
            integers, unit = exact_rows(problem.raw()).gram(rows)
            return arb_mat(integers) * number(unit)
        everything = rows.tolist()
        return arb_mat(kernel_balls(problem.raw(), everything, everything))

    @cached_property
    def _radius_squared(self) -> Any:
        problem = self.problem
        assert isinstance(problem, KernelProblem)
        if not has_exact_kernel(problem):
            return 1  # RBF and normalised kernels have K(x, x) = 1
        return exact_rows(problem.raw()).radius_squared()


Space: TypeAlias = LinearSpace | _KernelSpace


def space_of(problem: Problem) -> Space:
    """The space of a problem."""
    return _KernelSpace(problem) if isinstance(problem, KernelProblem) else LinearSpace(problem)


class Vec:
    """A vector of the space of w: the doubles `mid`, and a bound `err` on ‖truth − mid‖.

    Sums and multiples propagate the bound, their own rounding included. A vector with err = 0 is
    exactly its doubles, and its norm can be had to any precision: ``norm(exact=True)``.

    `terms` is what was added up for it: a bound on the sum of the norms of all summands, which does
    not become smaller where they cancel. Whoever adds the same numbers in doubles is off by a few
    units of roundoff of that (`gammabar.harness.verify.identities.zero`).
    """

    __slots__ = ("_norm", "_reach", "_terms", "err", "mid", "space", "square")

    def __init__(
        self,
        space: Space,
        mid: Floats,
        err: float = 0.0,
        reach: float | None = None,
        square: float | None = None,
        terms: float | None = None,
    ) -> None:
        self.space, self.mid, self.err = space, mid, err
        #: None: not computed yet; and that `terms` are no more than `reach`.
        self._reach, self._terms = reach, terms
        self._norm: Number | None = None
        #: The sum of the squares of `mid` in doubles, where it is known already.
        self.square = square

    def __add__(self, other: Vec) -> Vec:
        # The triangle inequality saves a norm, for a bound that is hardly larger.
        reach = (self.reach() + other.reach()) * (1 + 4 * ROUNDOFF)
        return self._sum(self.mid + other.mid, other, reach)

    def __sub__(self, other: Vec) -> Vec:
        mid = self.mid - other.mid
        return self._sum(mid, other, self.space.size(mid))

    def _sum(self, mid: Floats, other: Vec, reach: float) -> Vec:
        error = self._grown(self.err + other.err, reach)
        return Vec(self.space, mid, error, reach, terms=self.terms() + other.terms())

    def __mul__(self, factor: Any) -> Vec:
        if type(factor) is float:
            rounded, largest, lost = factor, abs(factor), 0.0
        else:
            exact = number(factor)
            rounded, largest = middle(exact), upper(exact)
            lost = upper(exact - rounded)
        reach = largest * self.reach() * (1 + 4 * ROUNDOFF) + self.space.tiny
        error = largest * self.err + lost * self.reach()
        terms = None if self._terms is None else largest * self._terms + self.space.tiny
        return Vec(self.space, rounded * self.mid, self._grown(error, reach), reach, terms=terms)

    __rmul__ = __mul__

    def __neg__(self) -> Vec:
        return Vec(self.space, -self.mid, self.err, self._reach, self.square, self._terms)

    def _grown(self, error: float, size: float) -> float:
        """An error after one rounding of entries of this size: underflow has its own term."""
        return (error + ROUNDOFF * size) * (1 + 8 * ROUNDOFF) + self.space.tiny

    def norm(self, exact: bool = False) -> Number:
        """‖v‖."""
        if not exact:
            if self._norm is None:
                self._norm = self.space.norm(self.mid, self.err, self.square)
            return self._norm
        length = sqrt(self.space.exact_inner(self.mid, self.mid))
        return length if not self.err else length + ball(0.0, self.err)

    def inner(self, other: Vec) -> Number:
        """⟨v, w⟩."""
        value = self.space.inner(self.mid, other.mid)
        error = self.err * other.size() + other.err * self.reach()
        return value + ball(0.0, error * (1 + 8 * ROUNDOFF))

    def size(self) -> float:
        """A bound on the norm of the truth."""
        return self.reach() + self.err

    def reach(self) -> float:
        """A bound on the norm of the doubles, and on what it is for their absolute values."""
        if self._reach is None:
            self._reach = self.space.size(self.mid, self.square)
        return self._reach

    def terms(self) -> float:
        """A bound on the sum of the norms of what was added up."""
        return self.reach() if self._terms is None else self._terms


def weighted_sum(
    a: float,
    x: Vec,
    b: float,
    y: Vec,
    c: float = 0.0,
    z: Vec | None = None,
    e: float = 0.0,
    u: Vec | None = None,
) -> Vec:
    """a x + b y + …, for coefficients that are at most four roundoffs from what is meant.

    ``weighted_sum(a, x, b, y)`` is ``a * x + b * y`` for doubles, with one bound for the whole.
    There are a dozen of them at every iterate, so there is no loop over two to four terms.
    """
    p, q = abs(a), abs(b)
    error = p * x.err + q * y.err
    reach = p * (x._reach or x.reach()) + q * (y._reach or y.reach())
    small, count = p < TINY or q < TINY, 2
    if z is not None:
        p, count = abs(c), 3
        error += p * z.err
        reach += p * (z._reach or z.reach())
        small = small or p < TINY
        if u is not None:
            p, count = abs(e), 4
            error += p * u.err
            reach += p * (u._reach or u.reach())
            small = small or p < TINY
    if small and any(0 < abs(factor) < TINY for factor in (a, b, c, e)):
        error = inf  # a coefficient that underflow may have taken roundoffs from
    # Per entry: four roundoffs in a coefficient, one in its product, one in every sum.
    error += (6 + count) * ROUNDOFF * reach
    space = x.space
    tiny = 2 * count * space.tiny
    compiled = _compiled() if "numba" in sys.modules else None
    if compiled is None:
        mid, square = _summed(a, x, b, y, c, z, e, u), None
    else:
        mid = empty(space.dimension)
        if z is None:
            square = compiled[0](mid, float(a), x.mid, float(b), y.mid)
        elif u is None:
            square = compiled[1](mid, float(a), x.mid, float(b), y.mid, float(c), z.mid)
        else:
            pairs = float(a), x.mid, float(b), y.mid, float(c), z.mid, float(e), u.mid
            square = compiled[2](mid, *pairs)
    terms = None  # no more than `reach`, as a rule
    if x._terms or y._terms or (z is not None and z._terms) or (u is not None and u._terms):
        terms = tiny + abs(a) * x.terms() + abs(b) * y.terms()
        if z is not None:
            terms += abs(c) * z.terms()
        if u is not None:
            terms += abs(e) * u.terms()
    return Vec(space, mid, error * _GROWN + tiny, reach * _GROWN + tiny, square, terms)


def _summed(
    a: float, x: Vec, b: float, y: Vec, c: float, z: Vec | None, e: float, u: Vec | None
) -> Floats:
    """a x + b y + … in doubles. A factor of one costs a product less, and no rounding."""
    mid = b * y.mid
    mid += x.mid if a == 1 else a * x.mid
    if z is not None:
        mid += z.mid if c == 1 else c * z.mid
    if u is not None:
        mid += u.mid if e == 1 else e * u.mid
    return mid


@cache
def _compiled() -> tuple[Any, Any, Any] | None:
    """The compiled sums of two, three and four vectors."""
    from gammabar.problems.compiled import sum_of_four, sum_of_three, sum_of_two

    return sum_of_two, sum_of_three, sum_of_four
