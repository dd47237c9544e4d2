"""Rounding errors: a proved bound on the error of every fast evaluation of a problem.

The harness and the oracle build on these bounds, so they are here, beside the code that they speak
about, each with its proof, and nowhere else.

Notation
--------
u = 2^-53 and eta = 2^-1074. An operation on doubles returns (a op b)(1 + e) + f with |e| <= u and
|f| <= eta / 2, where f = 0 for sums and e = 0 or f = 0 for products [1]_. A sum of k products, in
any order and with or without fused multiply-add, errs by at most

    k u sum |a_i b_i| + k eta,          (1)

up to a factor 1 + O(k u), for no summand passes through more than k roundings. Constants are
rounded up; `SAFETY` covers terms of second order as long as k < 2^46, as well as the rounding of
the bounds themselves. Every product of a bound is taken by `_times`, which adds eta: a bound never
underflows to zero. A bound is infinite where an intermediate result might have overflowed: it then
decides nothing.

d is the number of columns, n of rows; R is the largest norm of a row a_i of the view, s <= R of a
row as stored, outer and inner the factors of the view (`problem._factors`). Stored values become
doubles with one rounding (integers beyond 2^53) or none. A `unit` view divides by a computed
radius, whose relative error rho is `Problem.radius_error`; a sum of d squares errs by at most
(d + 2) u relatively, so rho <= (d + 8) u / 2, or 8 u where the longest rows could be looked at one
by one with `math.fsum`.

Linear geometries (dense, sparse, multiclass)
---------------------------------------------
scores       |err_i| <= (d + 8 + rho / u) u R |w| + (2 d outer + sqrt(D) R / inner + 1) eta.
             By (1) with |a_i| |w| >= sum |a_ij w_j|: d for the products, 1 for the values of X, 4
             for outer (1 / m, its product with y, the last product; with sqrt(2) for multiclass).
             Underflow: d products, times outer (two products for multiclass, hence 2); the
             entries of inner w, each at most eta / 2 times |x_ij|, D being the length of w; the
             last product. For multiclass |x| (|u_c| + |u_j|) / sqrt(2) <= |x| |w|.
combine      |err| <= (n + 8 + rho / u) u R |q|_1 + (2 n sqrt(D) outer + n R / inner + sqrt(D)) eta,
             in norm: (1) with k = n for each coordinate, and the triangle inequality over rows. A
             class of a multiclass problem gets sums of k - 1 weights, whose roundings and those
             over the N points are fewer than n + 1.
gram         |err_ij| <= (d + 10 + 2 rho / u) u R^2 + (d + 4 sqrt(d) R + 4 d) eta: rows are scaled
             first, with two roundings each.
norm         |err| <= (d / 2 + 3) u |w| + eta, whatever the size of w: where squares would leave
             the range, w is multiplied by a power of two first, and then squares of less than
             2^-960 of the largest are the only ones to underflow.
inner        |err| <= d u |v| |w| + d eta.

Kernels
-------
With B = gamma max |x|^2 + coef0, so that max K(x, x) = B^p, the value of a kernel errs by

linear       (d + 3) u max |x|^2 + d eta: gamma = p = 1, coef0 = 0.
poly         p B^(p-1) e + 16 u B^p + eta with e = (d + 6) u B + (d gamma + 2) eta: the error of
             gamma <x, z> + coef0, then of a power, whose derivative is at most p B^(p-1).
rbf          (3 (2 d + 6) + 8) u + 8 d gamma eta. A squared distance r is computed from norms and
             the product, with an error of at most (2 d + 4) u (|x|^2 + |z|^2), and kept only if it
             is at least 1/8 of |x|^2 + |z|^2; otherwise from x - z, with an error of (d + 4) u r.
             So its relative error is at most 8 (2 d + 6) u, and gamma r exp(-gamma r) <= 1 / e.
             The bound is 1 for integers beyond 2^53, whose differences may be lost, and where
             |x|^2 might overflow: K is between 0 and 1.
network      u ((d + 7) s + (m + 8) T + (d + 2) |w| sqrt(s T) / 2) up to underflow: m nodes,
             s = max |x|^2, T = max K(x, x) and |w| the largest norm of four times the weights of a
             node, whole numbers. The product <x, z> errs by (d + 3) u s; it is multiplied by at
             most m and divided by m. What enters a node errs by e = (d + 2) u |w| |x|, or by
             nothing if all products and sums are integers below 2^53; and as the squares of what
             leaves the nodes have a sum of at most 16 m T, the error of the second sum is
             2 e sqrt(16 m T m) / (16 m) and its own (m + 2) u T. All this if no node is active in
             doubles that is not in truth, or the other way round: the bound is infinite if
             something that enters a node and is not zero is at most e.
precomputed  2 u max |K|: a value that is an integer. (A table need not be semidefinite: max |K| and
             F^2 max |K| stand for max K(x, x) and R^2 below.)

(`exp`, `log` and powers are taken to be right within 8 units in the last place, which holds for
every library that NumPy and Numba use.) Values of a function given by a user are taken as they
are. The matrix of the problem is G_ij = f_i K_ij f_j, f_i = y_i scale / sqrt(K_ii) if normalised,
else y_i scale.

value        |err| <= F^2 E + (rel + 8) u R^2, F the largest |f_i|, E the error of K. If normalised,
             the error of K_ii relative to the smallest computed K_ii counts too.
scores       |err_i| <= |w|_1 (value + (n + 6) u R^2) + n eta F (1 + max K) + eta.
inner        |err| <= |v|_1 |w|_1 (value + (2 n + 8) u R^2) + |v|_1 (that eta) + n eta.
norm         the square root of <w, w> and that error; G is only semidefinite, so close to zero
             it is the square root of the error.

References
----------
.. [1] N. J. Higham (2002), Accuracy and Stability of Numerical Algorithms, Sections 2.2 and 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gammabar.problems.kernel import KernelProblem
from gammabar.problems.kernels import LARGEST, UNIT, Kernel, whole_weights
from gammabar.problems.multiclass import MulticlassKernelProblem
from gammabar.problems.problem import Array, Problem, ProblemError, euclidean_norm

U, ETA = 2.0**-53, 2.0**-1074
#: Covers terms of second order and the rounding of the bounds.
SAFETY = 1.02
#: Integers up to here are doubles.
EXACT = 1 << 53
# Beyond this something on the way might have been infinite.
_LARGE = 2.0**1020


def length(w: Array) -> float:
    """At least |w|, and hardly more."""
    w = np.asarray(w, dtype=np.float64)
    computed = euclidean_norm(w)
    return computed * (1 + (len(w) + 8) * U) + 2 * ETA


def taxicab(w: Array) -> float:
    """At least the sum of the |w_i|, and hardly more."""
    w = np.asarray(w, dtype=np.float64)
    return float(np.abs(w).sum()) * (1 + (len(w) + 8) * U) + ETA


def _times(*factors: float) -> float:
    """A product of bounds, rounded up; zero only if a factor is."""
    total = 1.0
    for factor in sorted(factors, key=_distance_from_one):
        if factor == 0:
            return 0.0
        total = total * factor * (1 + 4 * U) + ETA
    return total


def _distance_from_one(factor: float) -> float:
    """Sorts factors such that a product of them neither over- nor underflows early."""
    return abs(math.frexp(factor)[1]) if math.isfinite(factor) else math.inf


def _usable(*sizes: float) -> bool:
    """Whether no intermediate result of these sizes can have overflowed."""
    return all(size < _LARGE for size in sizes)


@dataclass(frozen=True)
class LinearRounding:
    """Bounds for a dense, sparse or multiclass problem (or a view of one)."""

    problem: Problem

    @cached_property
    def radius(self) -> float:
        """At least the largest norm of a row."""
        return self.radius_bounds()[1]

    def radius_bounds(self) -> tuple[float, float]:
        """Between these is the largest norm of a row."""
        return _around(self.problem, self.problem.radius_error)

    @cached_property
    def _columns(self) -> int:
        return int(self.problem.X.shape[1])

    @cached_property
    def _rho(self) -> float:
        """rho / u: what the division by the computed radius adds."""
        return self.problem.radius_error / U if self.problem._is_unit else 0.0

    @cached_property
    def _stretches(self) -> tuple[float, float]:
        """R / outer, which |w| is multiplied by on the way, and R / inner."""
        outer, inner = self.problem._outer, self.problem._inner
        return _times(self.radius, 1 / outer), _times(self.radius, 1 / inner)

    @cached_property
    def score_terms(self) -> tuple[float, float]:
        """The error of a score is the first times |w| plus the second."""
        problem, d = self.problem, self._columns
        relative = _times((d + 8 + self._rho) * SAFETY, U, self.radius)
        under = 2 * d * problem._outer + 1
        if problem._inner != 1:
            under += math.sqrt(problem.dimension) * self._stretches[1]
        return relative, _times(SAFETY * under, ETA)

    def scores(self, size: float) -> float:
        """How far a score of w with |w| <= size is from the truth, at most."""
        stored, _ = self._stretches
        inner = self.problem._inner * size
        if not _usable(size, inner, stored * size, self.radius * size):
            return math.inf
        relative, under = self.score_terms
        return _times(relative, size) + under

    def combine(self, total: float) -> float:
        """How far combine(q) with |q|_1 <= total is from the truth, in norm."""
        problem, n = self.problem, self.problem.n
        stored, _ = self._stretches
        inner = problem._inner * total
        if not _usable(total, inner, stored * total, self.radius * total):
            return math.inf
        root = math.sqrt(problem.dimension)
        under = 2 * n * root * problem._outer + root
        if problem._inner != 1:
            under += n * self._stretches[1]
        relative = _times((n + 8 + self._rho) * SAFETY, U, self.radius, total)
        return relative + _times(SAFETY * under, ETA)

    def gram(self) -> float:
        """How far an entry of gram is from the truth."""
        d, R = self._columns, self.radius
        if not _usable(R * R):
            return math.inf
        relative = _times((d + 10 + 2 * self._rho) * SAFETY, U, R, R)
        return relative + _times(SAFETY * (5 * d + 4 * math.sqrt(d) * R), ETA)

    def norm(self, size: float) -> float:
        """How far norm(w) with |w| <= size is from the truth."""
        return _times((self.problem.dimension / 2 + 3) * SAFETY, U, size) + ETA

    def inner(self, one: float, other: float) -> float:
        """How far inner(v, w) with |v| <= one and |w| <= other is from the truth."""
        if not _usable(one, other, one * other):
            return math.inf
        D = self.problem.dimension
        return _times(D * SAFETY, U, one, other) + _times(SAFETY * D, ETA)


@dataclass(frozen=True)
class KernelRounding:
    """Bounds for a problem in the space of a kernel (or a view of one)."""

    problem: KernelProblem

    @cached_property
    def radius(self) -> float:
        """At least the largest norm of a row."""
        return self.radius_bounds()[1]

    def radius_bounds(self) -> tuple[float, float]:
        """Between these is the largest norm of a row."""
        problem = self.problem
        error = 0.0 if problem.normalised else self._diagonal_error
        if error < math.inf or problem._is_unit:
            return _around(problem, error)
        # The error may be as large as the diagonal, which may be zero.
        square = float(problem.diagonal.max()) + self._largest[1]
        return 0.0, math.sqrt(square) * (1 + 8 * U) + ETA

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """At least max K(x, x), and the error of a value of K as computed."""
        problem, kernel = self.problem, self.problem.kernel
        d = problem.X.shape[1]
        if kernel.name == "rbf":
            return 1.0, self._rbf_error(d)
        if kernel.name in ("precomputed", "callable"):
            table = problem.X if kernel.name == "precomputed" else problem.diagonal
            top = max(-float(table.min()), float(table.max())) * (1 + 4 * U)
            exact = kernel.name == "callable" or not _beyond_doubles(table)
            return top, 0.0 if exact else _times(2 * U, top)
        squares = float(problem.points.squares().max()) * (1 + (d + 8) * U) + d * ETA
        if kernel.name == "network":
            return self._network(squares)
        p, gamma, coef0 = _polynomial(kernel)
        B = _times(gamma, squares) + coef0 * (1 + 2 * U)
        powers = [_times(*[B] * k) for k in (p - 1, p)]
        if not _usable(squares, *powers):
            return math.inf, math.inf
        inside = _times((d + 6) * SAFETY, U, B) + _times(d * gamma + 2, ETA)
        return powers[1], _times(p * SAFETY, powers[0], inside) + _times(16 * U, powers[1]) + ETA

    def _network(self, squares: float) -> tuple[float, float]:
        """At least max K(x, x) of the kernel of a network, and the error of a value."""
        problem, kernel, d = self.problem, self.problem.kernel, self.problem.X.shape[1]
        weights = whole_weights(kernel.width, d, kernel.seed)
        longest = math.sqrt(float(np.square(weights).sum(axis=1).max())) * (1 + d * U)
        crude = squares * (1 + longest * longest / UNIT**2) * (1 + 8 * U)
        if not _usable(squares, crude, crude * crude):
            return math.inf, math.inf
        into = _into_nodes(problem.points, weights, longest)
        if into == math.inf:
            return crude, math.inf

        def error(top: float) -> float:
            total = _times((d + 7) * SAFETY, U, squares) + _times(
                (kernel.width + 8) * SAFETY, U, top
            )
            total += _times(SAFETY / 2, into, math.sqrt(top))
            return total + _times(4 * (d + kernel.width + 8), 1 + longest * math.sqrt(squares), ETA)

        top = float(problem.diagonal.max()) * (1 + 4 * U) + error(crude)
        return top, error(top)

    def _rbf_error(self, d: int) -> float:
        problem = self.problem
        squares = float(problem.points.squares().max())
        if not _usable(squares) or _beyond_doubles(problem.X):
            return 1.0
        error = (3 * (2 * d + 6) + 8) * U * SAFETY + _times(8 * d, problem.kernel.gamma, ETA)
        return min(1.0, error)

    @cached_property
    def _diagonal_error(self) -> float:
        """The relative error of the computed K(x, x) that is divided by."""
        problem = self.problem
        if problem.kernel.name == "rbf":
            return U
        diagonal = problem.diagonal
        part = float(diagonal.min() if problem.normalised else diagonal.max())
        error = self._largest[1]
        if part <= 2 * error:
            return 0.0 if error == 0 else math.inf
        if problem.normalised and problem.kernel.name in ("linear", "poly"):
            return self._own_error(part)
        return error / (part - error) * (1 + 8 * U)

    def _own_error(self, part: float) -> float:
        """The relative error of the smallest K(x, x), from its own size instead of the largest."""
        kernel, d = self.problem.kernel, self.problem.X.shape[1]
        p, gamma, _ = _polynomial(kernel)
        # Relative to gamma |x|^2 + coef0 nothing but underflow is added to (d + 6) u.
        root = part ** (1 / p) / 2
        return p * SAFETY * ((d + 6) * U + _times(d * gamma + 2, ETA) / root) + 16 * U + ETA / part

    @cached_property
    def _stretch(self) -> float:
        """The largest factor of a row."""
        return float(np.abs(self.problem._signed_scales()).max()) * (1 + 4 * U) + ETA

    @cached_property
    def _entry(self) -> float:
        """At least every |G_ij|."""
        if self.problem.kernel.name == "precomputed":
            return _times(self._stretch, self._stretch, self._largest[0])
        return self.radius * self.radius * (1 + 4 * U) + ETA

    @cached_property
    def value(self) -> float:
        """How far a value of gram is from the truth, at most."""
        problem = self.problem
        _, error = self._largest
        F, entry = self._stretch, self._entry
        relative = 2 * self._diagonal_error if problem.normalised or problem._is_unit else 0.0
        if not (math.isfinite(error) and relative < 0.01 and _usable(F, entry)):
            return math.inf
        if problem.normalised and problem.kernel.name in ("linear", "poly"):
            # |x| |z| is the product of the two norms that are divided by: relative to one.
            main = 2 * self._diagonal_error
        else:
            main = _times(F, F, error) * SAFETY
        return main + _times(SAFETY * (relative / U + 8), U, entry)

    @cached_property
    def _under(self) -> float:
        """What underflow may add to a score."""
        return _times(SAFETY * self.problem.n * (1 + self._largest[0]), self._stretch, ETA) + ETA

    def scores(self, total: float) -> float:
        """How far a score of w with |w|_1 <= total is from the truth."""
        return self._sum(self.problem.n + 6, total) + self._under

    def inner(self, one: float, other: float) -> float:
        """How far inner(v, w) with |v|_1 <= one and |w|_1 <= other is from the truth."""
        n = self.problem.n
        error = _times(one, self._sum(2 * n + 8, other) + self._under)
        usable = _usable(one, other, one * other, one * (self._entry * other))
        return error + n * ETA if usable else math.inf

    def _sum(self, roundings: int, total: float) -> float:
        F, most, entry = self._stretch, self._largest[0], self._entry
        if not _usable(total, F * total, most * F * total, entry * total):
            return math.inf
        return _times(total, self.value + _times(SAFETY * roundings, U, entry))


def _around(problem: Problem, error: float) -> tuple[float, float]:
    """Bounds of the radius, which is exact in a unit view and has a relative error otherwise."""
    if problem._is_unit:
        return 1.0, 1.0
    error += 8 * U
    # An infinite radius is at least the largest double, up to its error.
    low = min(problem.radius, 2.0**1023) * (1 - error) - ETA
    return max(0.0, low), problem.radius * (1 + error) + ETA


def _polynomial(kernel: Kernel) -> tuple[int, float, float]:
    """Degree, gamma and coef0 of a polynomial or linear kernel."""
    return (kernel.degree, kernel.gamma, kernel.coef0) if kernel.name == "poly" else (1, 1.0, 0.0)


def _into_nodes(points: Any, weights: Array, longest: float) -> float:
    """How far what enters a node is from the truth; infinite if a sign may be wrong."""
    X, d = points.X, points.shape[1]
    values = X.data if hasattr(X, "indptr") else X
    largest = max(-float(values.min()), float(values.max())) if values.size else 0.0
    if largest * LARGEST * d < EXACT and _whole(values):
        return 0.0
    worst = 0.0
    for _, _, block in points.blocks(1 << 22):
        squares = block.multiply(block) if hasattr(block, "indptr") else np.square(block)
        norms = np.sqrt(np.asarray(squares.sum(axis=1)).ravel()) * (1 + (d + 8) * U)
        errors = (d + 2) * U * SAFETY * longest * norms + 4 * d * ETA
        entering = np.abs(np.asarray(block @ weights.T))
        # Nothing is lost of points that are zero; a square that underflows hides others.
        if np.any((entering <= errors[:, None]) & (norms > 0)[:, None]) or _lost(block, norms):
            return math.inf
        worst = max(worst, float(errors.max()))
    return worst


def _whole(values: Array) -> bool:
    """Whether all are whole numbers."""
    if values.dtype.kind in "iu":
        return True
    step = 1 << 20
    flat = values.ravel()
    parts = (flat[lo : lo + step] for lo in range(0, len(flat), step))
    return all(bool((np.rint(part) == part).all()) for part in parts)


def _lost(block: Any, norms: Array) -> bool:
    """Whether a point that is not zero has squares that all underflow."""
    nonzero = np.asarray((block != 0).sum(axis=1)).ravel() > 0
    return bool((nonzero & ~(norms > 2.0**-480)).any())


def _beyond_doubles(X: Any) -> bool:
    """Whether X has integers that are no doubles."""
    values = X.data if hasattr(X, "indptr") else X
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return int(values.max()) > EXACT or int(values.min()) < -EXACT


def rounding_of(problem: Problem) -> LinearRounding | KernelRounding:
    """The bounds for a problem."""
    if isinstance(problem, KernelProblem):
        return KernelRounding(problem)
    if isinstance(problem, MulticlassKernelProblem):
        raise ProblemError(
            "several classes with a kernel have no error bounds here: solvers run on them, but "
            "nothing is checked"
        )
    return LinearRounding(problem)
