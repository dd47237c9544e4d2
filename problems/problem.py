"""The protocol of problems: rows that a half-space is to contain.

The rows of a problem are a_i = y_i x_i, so the margin of w is always

    gamma(w) = min_i <a_i, w> / ||w||,        gamma(0) = 0

(Ji, Srebro and Telgarsky 2021, Section 2, with A = -Z), and positive is good.

Numbers of any size
-------------------
Data of the scales 1e-300 and 1e+300 are data like any other. Wherever a square is taken (row
norms, the radius, the norm of w) the vector is first multiplied by a power of two, which is exact,
so neither overflow nor underflow happens unless the result itself is no double. Quantities
that are quadratic in the data, such as `gram`, may leave the range of doubles when the data are
that large or small; `unit` is the same problem with rows of norm at most one, where nothing does.

How far each of these operations can be from the truth is written down, proved and computed in one
place, `gammabar.problems.rounding`.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

#: What a bias may be: none, one that does not count in the norm of w, a constant feature.
INTERCEPTS = ("none", "free", "augmented")

# Beyond these binary exponents squares (or sums over many rows) would leave the range of doubles.
_LARGE_EXPONENT = 480
_HUGE_EXPONENT = 940
# A double and a negative number above minus this cannot differ by more than the largest double.
_OVERFLOWING = 2.0**969


class ProblemError(ValueError):
    """Bad input. The message is one sentence that names the place and says what to do.

    It may quote a file name, a label or an option, which hold whatever somebody put there: so
    characters that a terminal would obey are escaped, and what is too long is shortened.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_sentence(str(message)))


# Named, so that no compiler computes with them before they are asked for.
_ONE, _ROUNDOFF, _NORMAL, _LEAST, _LARGE = 1.0, 2.0**-53, 2.0**-1022, 5e-324, 2.0**60


def require_doubles() -> None:
    """Raise `ProblemError` unless this thread computes as IEEE 754 does by default."""
    if not (_NORMAL / (_ONE + _ONE) * _LARGE and _LEAST * _LARGE):
        raise ProblemError(
            "this process flushes small numbers to zero, so that nothing can be proved in it: a"
            " library that was compiled with -ffast-math has switched that on; do not load it here"
        )
    even, up = _ONE + _ROUNDOFF, _ONE + 1.5 * _ROUNDOFF
    if not (even == _ONE < up == _ONE + 2 * _ROUNDOFF):
        raise ProblemError(
            "this process does not round to nearest, so that nothing can be proved in it: something"
            " has called fesetround"
        )


def _sentence(text: str) -> str:
    """A text on one line that is safe to print and not longer than about a thousand characters."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    if len(text) <= 1000:
        return text
    words = (w if len(w) <= 120 else f"{w[:60]}[...]{w[-30:]}" for w in text.split(" "))
    text = " ".join(words)
    return text if len(text) <= 1000 else f"{text[:700]}[...]{text[-250:]}"


@dataclass(frozen=True)
class SoftMin:
    """What one pass over the data tells about w.

    The scores A w (read-only, as several may look at them), the smallest of them, the `logsumexp`
    log sum_i exp(-(A w)_i / temperature), and the `pull` A^T softmax(-A w / temperature), in the
    same representation as w.
    """

    smallest: float
    logsumexp: float
    pull: Array
    scores: Array

    def __post_init__(self) -> None:
        self.scores.flags.writeable = False


@dataclass(frozen=True)
class Source:
    """Where the data come from; it becomes the "data" section of a certificate.

    `name` is what the user called the data, and `classes` are label texts in the order of the
    classes: negative and positive, if there are two. `paths` and `lines` are about this machine
    and are never written into a certificate.
    """

    name: str
    format: str  # "csv", "svmlight", "npz", "npy", "scipy" or "idx"
    files: tuple[str, ...]  # base names
    classes: tuple[str, ...]
    label: str | int | None = None  # CSV: the column, by name or by index from 0 (-1: the last)
    arrays: tuple[str, str] | None = None  # NPZ: names of the arrays of points and labels
    rows: tuple[int, ...] | None = None  # of the files; None: all whose label is one of `classes`
    paths: tuple[str, ...] = ()
    lines: Array | None = field(default=None, compare=False, repr=False)  # of each point, from 1
    drop: tuple[str | int, ...] = ()  # CSV: columns that are left out


class Problem(ABC):
    """Rows a_1, ..., a_n of a Euclidean or Hilbert space that one half-space is to contain.

    A geometry decides how w is represented (a vector, a flattened matrix, coefficients in a
    reproducing-kernel space) and implements `scores`, `combine`, `row` and `gram`; solvers use
    nothing else. Problems do not change; arrays given to them are not copied and must not be
    changed either.

    Attributes
    ----------
    n, dimension : int
        Number of rows (constraints), and length of the array that represents w.
    X, y : arrays
        The points as stored (in their own dtype, never scaled) and their labels.
    source : Source or None
        Where the data come from.
    intercept : {"none", "free", "augmented"}
        Whether the hyperplane may have a bias, see `gammabar.problems.conversion`. All operations
        here are those of the rows as they are; a free bias concerns the oracle alone.
    notes : tuple of str
        What was done to a table: levels that became columns, rows that were dropped.
    known : generators.Known or None
        What is known of generated data by construction.
    """

    n: int
    dimension: int
    source: Source | None
    X: Any
    y: Any
    intercept: str = "none"
    notes: tuple[str, ...] = ()
    known: Any = None
    _plain: Problem | None = None

    # The largest row norm is _mantissa * 2**_exponent: a pair, because it may be no double.
    _mantissa: float
    _exponent: int
    #: Relative error of the radius, at most.
    radius_error: float
    # Rows are multiplied by _outer * _inner; see _factors.
    _outer: float = 1.0
    _inner: float = 1.0
    _is_unit: bool = False
    # What does not depend on the scale and is computed once for a problem and its views.
    _memo: dict[str, str]

    def _set_radius(self, mantissa: float, exponent: int, error: float) -> None:
        self._mantissa, self._exponent, self.radius_error = mantissa, exponent, error
        self._outer, self._inner = _factors(1.0, 0, exponent)
        self._memo = {}

    @property
    def radius(self) -> float:
        """Largest norm of a row, up to a relative error of `radius_error`."""
        if self._is_unit:
            return 1.0
        return ldexp(self._mantissa, self._exponent)

    @property
    def scale(self) -> float:
        """The factor that every row is multiplied by."""
        return self._outer * self._inner

    @property
    def plain(self) -> Problem:
        """The problem of the data as they were given, without an intercept."""
        return self if self._plain is None else self._plain

    def origin(self) -> Floats:
        """The zero vector in the representation of w."""
        return np.zeros(self.dimension)

    @abstractmethod
    def scores(self, w: Array) -> Floats:
        """A w: the inner product of w with every row."""

    def some_scores(self, rows: Array, w: Array) -> Floats:
        """The scores of some rows."""
        return self.scores(w)[rows]

    def rough_scores(self, w: Array) -> tuple[Floats, float] | None:
        """All scores up to a bound, and the bound, where that is faster than `scores`."""
        return None

    @abstractmethod
    def combine(self, q: Array) -> Floats:
        """A^T q: the combination of the rows with weights q, in the representation of w."""

    @abstractmethod
    def row(self, i: int) -> Floats:
        """The row a_i in the representation of w."""

    @abstractmethod
    def gram(self, rows: Array, cols: Array | None = None) -> Floats:
        """Inner products <a_i, a_j> for i in `rows` and j in `cols` (default: `rows` again)."""

    @abstractmethod
    def _digest(self) -> str: ...

    def norm(self, w: Array) -> float:
        """||w||."""
        return euclidean_norm(np.asarray(w, dtype=np.float64))

    def inner(self, v: Array, w: Array) -> float:
        """<v, w>."""
        return float(np.dot(v, w))

    def softmin(self, w: Array, temperature: float = 1.0) -> SoftMin:
        """Smallest score, log-sum-exp and A^T softmax(-A w / temperature).

        Parameters
        ----------
        w : array
        temperature : float
            Positive, of any size, as are the scores: they are compared before they are divided.
        """
        check_temperature(temperature)
        scores = self.scores(w)
        weights, smallest, logsumexp = soften(scores, temperature)
        return SoftMin(smallest, logsumexp, self.combine(weights), scores)

    def margin(self, w: Array) -> float:
        """min_i <a_i, w> / ||w||, and 0 for w = 0."""
        # The margin does not depend on the length of w: bring it near one, lest scores overflow.
        w = np.asarray(w, dtype=np.float64)
        w = np.ldexp(w, -largest_exponent(w))
        length = self.norm(w)
        return float(self.scores(w).min()) / length if length > 0 else 0.0

    def unit(self) -> Self:
        """The same problem with every row divided by the radius: a view, the data are shared.

        Rows that are all zero stay as they are.
        """
        if self._is_unit or self._mantissa == 0:
            return self
        view = copy.copy(self)
        view._outer, view._inner = _factors(1 / self._mantissa, -self._exponent, self._exponent)
        view._is_unit = True
        return view

    def raw(self) -> Self:
        """The same problem in the units of its data: undoes `unit`."""
        if not self._is_unit:
            return self
        view = copy.copy(self)
        view._outer, view._inner = _factors(1.0, 0, self._exponent)
        view._is_unit = False
        return view

    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the canonical form of the data, whatever dtype or scale."""
        if "digest" not in self._memo:
            self._memo["digest"] = self._digest()
        return self._memo["digest"]

    def __repr__(self) -> str:
        unit = ".unit()" if self._is_unit else ""
        bias = "" if self.intercept == "none" else f", intercept={self.intercept!r}"
        return f"{type(self).__name__}(n={self.n}, dimension={self.dimension}{bias}){unit}"


def frozen(array: Array) -> Array:
    """A view of an array that cannot be written to: nobody may change the data of a problem."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_temperature(temperature: float) -> None:
    """Refuse a temperature that is not positive."""
    if not temperature > 0:
        raise ProblemError(f"temperature must be positive, not {temperature!r}")


def soften(scores: Floats, temperature: float) -> tuple[Floats, float, float]:
    """softmax(-scores / temperature), the smallest score, and the log-sum-exp."""
    smallest = float(scores.min())
    weights = soft_weights(scores, smallest, temperature)
    total = float(weights.sum())
    return weights / total, smallest, math.log(total) - smallest / temperature


def soft_weights(scores: Floats, smallest: float, temperature: float) -> Floats:
    """exp((smallest - scores) / temperature), also where the difference is no double."""
    with np.errstate(over="ignore"):  # a quotient of -inf is a weight of zero
        if smallest > -_OVERFLOWING:
            return np.asarray(np.exp((smallest - scores) / temperature))
        return np.asarray(np.exp(2 * ((0.5 * smallest - 0.5 * scores) / temperature)))


def euclidean_norm(v: Floats) -> float:
    """||v||, without overflow or underflow on the way."""
    exponent = largest_exponent(v)
    if abs(exponent) <= _LARGE_EXPONENT:
        return math.sqrt(float(np.dot(v, v)))
    v = np.ldexp(v, -exponent)
    return ldexp(math.sqrt(float(np.dot(v, v))), exponent)


def largest_exponent(v: Floats) -> int:
    """e with max |v| < 2**e <= 2 max |v|; 0 for zero and for what is not finite."""
    largest = float(np.max(np.abs(v), initial=0.0))
    return math.frexp(largest)[1] if math.isfinite(largest) else 0


def ldexp(mantissa: float, exponent: int) -> float:
    """mantissa * 2**exponent, infinite where that is no double."""
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.inf


def _factors(mantissa: float, exponent: int, data_exponent: int) -> tuple[float, float]:
    """Split the scale mantissa * 2**exponent in two, for rows of norm about 2**data_exponent.

    Vectors are multiplied by the second factor, a power of two, before they meet the data, and
    the result by the first. For data in the usual range the second is 1. Otherwise it keeps
    products and sums inside the range of doubles, although the scale itself may lie outside.
    """
    shift = 0
    if exponent:
        shift = -(data_exponent // 2) if abs(data_exponent) > _LARGE_EXPONENT else 0
    elif data_exponent > _HUGE_EXPONENT:
        shift = -64  # a sum over fewer than 2**64 rows cannot overflow
    return ldexp(mantissa, exponent - shift), math.ldexp(1.0, shift)
