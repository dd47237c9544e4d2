"""Results of the oracle: a margin with its proof, in the same form whichever margin it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from math import inf, isqrt, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from gammabar.oracle.certificate import head_section, rational, write_certificate
from gammabar.problems import KernelProblem, Problem, ProblemError
from gammabar.problems.linear import LinearProblem

if TYPE_CHECKING:
    from gammabar.oracle.l1 import L1Truth
    from gammabar.oracle.proof import MinimumNorm, SupportProof
    from gammabar.oracle.signed import SignedMargin

Squares = tuple[Fraction, Fraction]


@dataclass(frozen=True, kw_only=True)
class Margin(ABC):
    """A margin of a problem and its dual weights, proved.

    `gamma`, `gamma_lo` and `gamma_hi` are in the convention of the papers: rows divided by the
    largest row norm (ℓ₁: by the largest entry). `gamma_raw`, and what has `raw=True`, are in the
    units of the data. `method` says where the candidate came from, which has no bearing on what is
    proved; `seconds` the time spent, by stage; `note` what the result rests on besides the data.
    """

    problem: Problem = field(repr=False)
    method: str
    seconds: dict[str, float] = field(repr=False)
    note: str = ""

    @property
    @abstractmethod
    def dual(self) -> Any:
        """The dual weights: `numerators[k] / total` on row `support[k]`."""

    @property
    def support(self) -> NDArray[np.int64]:
        """Rows with positive dual weight."""
        return np.asarray(self.dual.support, dtype=np.int64)

    @property
    def numerators(self) -> list[int]:
        """Dual weights of the support, times `total`, their sum."""
        return list(self.dual.numerators)

    @property
    def total(self) -> int:
        return int(self.dual.total)

    @property
    @abstractmethod
    def squares(self) -> Squares:
        """Bounds of γ|γ| in the units of the data: squares that keep the sign of the margin."""

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """The square of what the papers' convention divides rows by; one, if that is zero."""

    @property
    @abstractmethod
    def w(self) -> NDArray[np.float64]:
        """The direction that has the margin, of norm one, in the representation of the problem."""

    @property
    @abstractmethod
    def proves(self) -> str:
        """What the certificate proves, in words."""

    @property
    @abstractmethod
    def certificate(self) -> dict[str, Any]:
        """The certificate of `oracle/CERTIFICATE.md`, as a dictionary ready for JSON."""

    @cached_property
    def unit_squares(self) -> Squares:
        """Bounds of γ|γ| in the papers' convention; all-zero data have margin zero in any."""
        low, high = self.squares
        return low / self.unit, high / self.unit

    @property
    def exact(self) -> bool:
        """Whether γ² is known as a rational number."""
        low, high = self.squares
        return low == high

    @property
    def separable(self) -> bool | None:
        """True or False where proved; None where the enclosure does not tell."""
        low, high = self.squares
        return True if low > 0 else False if high <= 0 else None

    def _decided(self, function: Callable[..., Any], raw: bool, bits: int = 64) -> Any:
        """function(low, high) of the bounds of γ|γ|."""
        return function(*(self.squares if raw else self.unit_squares))

    @cached_property
    def gamma_raw_bounds(self) -> tuple[float, float]:
        """The tightest doubles that are proved to enclose the margin, in the units of the data."""
        low, high = self._decided(signed_bounds, raw=True)
        return low, high

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        low, high = self._decided(signed_bounds, raw=False)
        return low, high

    @property
    def gamma_lo(self) -> float:
        """The largest double that is proved not to exceed the margin (papers' convention)."""
        return self._bounds[0]

    @property
    def gamma_hi(self) -> float:
        """The smallest double that is proved not to be below it (papers' convention)."""
        return self._bounds[1]

    @property
    def gamma(self) -> float:
        """The margin in the papers' convention, as the double in the middle of its enclosure."""
        return _middle(*self._bounds)

    @property
    def gamma_raw(self) -> float:
        """The margin in the units of the data."""
        return _middle(*self.gamma_raw_bounds)

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """The dual weights as doubles, one per row."""
        dense = np.zeros(self.problem.n)
        dense[self.support] = self.dual.weights()
        return dense

    def digits(self, count: int = 17, *, raw: bool = False) -> str:
        """The margin to so many significant digits, truncated: every digit shown is proved."""
        bits = 4 * count + 16
        return str(self._decided(lambda a, b: signed_digits(a, b, count), raw, bits))

    def ends(self, count: int) -> bool:
        """Whether `digits` shows the whole number."""
        return self.exact and self.digits(count) == self.digits(count + 1)

    def _repr_html_(self) -> str:
        """For notebooks: a small table."""
        rows = {
            "separable": {None: "not decided", True: "yes", False: "no"}[self.separable],
            "margin": self.digits(17, raw=True),
            "over the largest row": self.digits(17),
            "support": f"{len(self.support):,} of {self.problem.n:,} rows",
            "exact": "yes" if self.exact else "enclosed",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows.items())
        return f"<table>{cells}</table>"

    def save(self, path: str | Path, *, light: bool = False) -> None:
        """Write the certificate to a file, whole or not at all; `proves` says what it proves.

        With `light` it is the short one, of the support and some bits of the weights, if there is
        one: for linear data of two classes that are separable, with a dozen support rows or more.
        """
        write_certificate((self._light_certificate() if light else None) or self.certificate, path)

    def _light_certificate(self) -> dict[str, Any] | None:
        return None

    def _head(self, kind: str) -> dict[str, Any]:
        return head_section(kind, self.problem, self.support, self.numerators)


@dataclass(frozen=True, kw_only=True)
class Truth(Margin):
    """The maximum (ℓ₂) margin γ̄ of a problem and its dual optimum q̄, proved.

    Attributes
    ----------
    radius_squared : Fraction
        The largest squared row norm.
    proof : MinimumNorm or SupportProof
        Where exact: it defines γ̄² and q̄, and writes their rationals out when they are asked for.
        Otherwise it has the weights that prove the upper bound.
    bounds : (Fraction, Fraction) or None
        The enclosure of γ̄ itself, where it is not known exactly.
    primal : (array of int, list of int) or None
        Rows and coefficients of the w that gives the lower of the `bounds`, if it is not Aᵀq.
    deficit : Fraction
        Zero unless the Gram matrix is not known to be positive semidefinite: bounds are then those
        of all such matrices at this distance of it, and the radius that of the matrix given.
    """

    radius_squared: Fraction = field(repr=False)
    proof: MinimumNorm | SupportProof = field(repr=False)
    bounds: Squares | None = field(default=None, repr=False)
    primal: tuple[NDArray[np.int64], list[int]] | None = field(default=None, repr=False)
    deficit: Fraction = field(default=Fraction(0), repr=False)

    @property
    def dual(self) -> MinimumNorm | SupportProof:
        return self.proof

    @property
    def unit(self) -> Fraction:
        return self.radius_squared or Fraction(1)

    @property
    def rounds(self) -> int:
        """Exact rounds needed; 1 means the candidate was right at once."""
        return self.proof.rounds

    @property
    def exact(self) -> bool:
        return self.bounds is None

    @cached_property
    def separable(self) -> bool | None:
        if self.bounds is not None:
            return super().separable
        return bool(self.proof.decide(lambda square: square > 0))

    @property
    def squares(self) -> Squares:
        if self.bounds is None:
            return self.proof.square, self.proof.square
        return self.bounds[0] ** 2, self.bounds[1] ** 2

    @property
    def square_lo(self) -> Fraction:
        """The lower bound of γ̄² in the units of the data; equal to the upper one when `exact`."""
        return self.squares[0]

    @property
    def square_hi(self) -> Fraction:
        return self.squares[1]

    @property
    def gamma_squared(self) -> Fraction | None:
        """γ̄² in the units of the data, where it is known as a rational."""
        return self.proof.square if self.exact else None

    def _decided(self, function: Callable[..., Any], raw: bool, bits: int = 64) -> Any:
        """function(γ̄², γ̄²), or of its bounds; no fraction is written where digits decide."""
        if self.bounds is not None:
            return super()._decided(function, raw)
        unit = 1 if raw else self.unit
        return self.proof.decide(lambda square: function(square / unit, square / unit), bits)

    @cached_property
    def radius(self) -> float:
        """The largest row norm."""
        return _sqrt_doubles(self.radius_squared)[0]

    @cached_property
    def direction(self) -> NDArray[np.float64]:
        """ū = Aᵀq̄/γ̄, the maximum-margin classifier, in the representation of the problem.

        Each coordinate is the nearest double or the one next to it. They are still doubles: where γ̄
        is some 10⁻¹⁶ radii, the rounded vector need not separate what the exact one does.
        """
        self._require_margin()
        if not isinstance(self.problem, KernelProblem):
            short = self.proof.vector(self.problem.dimension) if self.exact else None
            if short is None:
                from gammabar.oracle.rational import exact_rows

                short = exact_rows(self.problem).point(self.support, self.numerators).vector
                assert short is not None
            return _unit_vector(short)
        # Rounded only here: sums of rounded q̄ cancel where γ̄ is small, or leave the doubles.
        dense, high = np.zeros(self.problem.n), self.square_hi
        dense[self.support] = [_root_ratio(Fraction(v, self.total), high) for v in self.numerators]
        if not np.isfinite(dense).all():
            raise ProblemError("γ̄ is so small that the coefficients of w are no doubles")
        return dense

    def _require_margin(self) -> None:
        if not self.separable:
            raise ValueError("data that are not separable have no maximum-margin classifier")

    @cached_property
    def reciprocal(self) -> float:
        """1/γ̄ in the units of the data, rounded."""
        return float(self._decided(lambda _, high: _root_ratio(Fraction(1), high), raw=True))

    @property
    def w(self) -> NDArray[np.float64]:
        """The same as `direction`, but without the constant feature, if there is one."""
        if self.problem.intercept != "augmented":
            return self.direction
        return self.direction[: -getattr(self.problem, "k", 1)]

    @cached_property
    def b(self) -> float | NDArray[np.float64]:
        """The bias that belongs to `w`; of several classes one for each."""
        if self.problem.intercept == "augmented":
            classes = getattr(self.problem, "k", 1)
            return self.direction[-classes:] if classes > 1 else float(self.direction[-1])
        if self.problem.intercept == "none":
            return 0.0
        self._require_margin()
        if self.exact:
            half = self.proof.half_difference()  # class −1 is the first side
            return float(self.proof.decide(lambda square: _root_ratio(half, square)))
        scores = self.problem.scores(self.direction)
        positive = np.asarray(self.problem.y) > 0
        return float(scores[~positive].min() - scores[positive].min()) / 2

    def facts(self, digits: int = 17, written: bool = True) -> dict[str, Any]:
        """What there is to say, ready for JSON; γ̄² only if it is to be written out."""
        square = self.gamma_squared if written else None
        return {
            "n": self.problem.n,
            "d": int(self.problem.plain.X.shape[1]),
            "separable": self.separable,
            "gamma": self.digits(digits),
            "gamma_raw": self.digits(digits, raw=True),
            "gamma_lo": self.gamma_lo,
            "gamma_hi": self.gamma_hi,
            "gamma_squared": None if square is None else rational(square),
            "radius": signed_digits(self.radius_squared, self.radius_squared, digits),
            "exact": self.exact,
            "support_size": len(self.support),
            "method": self.method,
            "rounds": self.rounds,
            "note": self.note,
        }

    @property
    def proves(self) -> str:
        if self.bounds is not None:
            return "that γ̄ lies between the two bounds"
        return "γ̄² exactly" if self.separable else "that the data cannot be separated"

    def _light_certificate(self) -> dict[str, Any] | None:
        linear = isinstance(self.problem, LinearProblem)
        light = getattr(self.proof, "light", None) if linear and self.separable else None
        found = light() if light else None
        if found is None:
            return None
        head = head_section("support", self.problem, self.support, found[0])
        return head | {"eigenvalue": rational(found[1])}

    @cached_property
    def certificate(self) -> dict[str, Any]:
        if self.bounds is None:
            if not self.separable:
                return self._head("inseparable")
            squares = {"gamma_squared": self.proof.square, "radius_squared": self.radius_squared}
            return self._head("margin") | {key: rational(v) for key, v in squares.items()}
        body = self._head("enclosure")
        body["gamma_lo"], body["gamma_hi"] = map(rational, self.bounds)
        rows, coefficients = self.primal or (self.support, self.numerators)
        body["primal"] = {
            "support": [int(i) for i in rows],
            "coefficients": [f"{v:#x}" for v in coefficients],
        }
        if self.deficit:
            body["geometry"]["within"] = rational(self.deficit)
        return body


@dataclass(frozen=True, kw_only=True)
class L1Margin(Margin):
    """The ℓ₁ margin of a problem: w in the ℓ₁ ball, or in the simplex.

    `found` has its value, or bounds of it, as rationals in the units of the data, with w and q.
    """

    norm: str
    found: L1Truth = field(repr=False)

    @property
    def dual(self) -> Any:
        return self.found.q

    @property
    def value(self) -> Fraction | None:
        """The margin in the units of the data, where it is known as a rational."""
        return self.found.value_lo if self.found.exact else None

    @property
    def squares(self) -> Squares:
        lo, hi = self.found.value_lo, self.found.value_hi
        return lo * abs(lo), hi * abs(hi)

    @property
    def unit(self) -> Fraction:
        return self.found.radius**2 or Fraction(1)

    @cached_property
    def w(self) -> NDArray[np.float64]:
        """The direction with ‖w‖₁ = 1; zero where no direction is better."""
        dense = np.zeros(self.problem.dimension)
        point = self.found.w
        dense[list(point.columns)] = [v / point.denominator for v in point.numerators]
        return dense

    @property
    def proves(self) -> str:
        if self.found.exact:
            return f"the {self.norm} margin exactly"
        return f"that the {self.norm} margin lies between the two bounds"

    @cached_property
    def certificate(self) -> dict[str, Any]:
        return self._head("l1-margin") | self.found.certificate_fields()


@dataclass(frozen=True, kw_only=True)
class NegativeMargin(Margin):
    """The signed margin ρ ≤ 0 of data that cannot be separated (Ramdas and Peña 2015, §5.2).

    The q̄ of `truth` proves that they cannot; `found` has ρ², or bounds of it, and a direction that
    has the lower bound as its margin.
    """

    truth: Truth = field(repr=False)
    found: SignedMargin = field(repr=False)

    @property
    def dual(self) -> Any:
        return self.truth.proof

    @property
    def rho_squared(self) -> Fraction | None:
        """ρ² in the units of the data, where it is known as a rational."""
        return self.found.rho_squared_lo if self.found.exact else None

    @property
    def squares(self) -> Squares:
        return -self.found.rho_squared_hi, -self.found.rho_squared_lo

    @property
    def unit(self) -> Fraction:
        return self.truth.unit

    @property
    def separable(self) -> bool:
        """False: that is what ρ ≤ 0 says."""
        return False

    @cached_property
    def w(self) -> NDArray[np.float64]:
        """The direction of largest margin found; where `exact`, there is no better one."""
        top = max(map(abs, self.found.witness)) or Fraction(1)
        w = np.array([float(v / top) for v in self.found.witness])
        return np.asarray(w / (np.linalg.norm(w) or 1.0))

    @property
    def proves(self) -> str:
        return "that the data cannot be separated, so that ρ ≤ 0; not the value of ρ"

    @property
    def certificate(self) -> dict[str, Any]:
        """The certificate of `truth` (Gordan)."""
        return self.truth.certificate


# --- square roots of rationals: digits that are all right, and doubles rounded outwards ------
#
# Margins of either sign are kept as x|x|, the square that keeps the sign.


def signed_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """Leading digits, with their sign, shared by every x with low ≤ x|x| ≤ high.

    They are truncated, so that every digit shown is right; "0" where not even one is certain. Fewer
    than asked for are shown of a number that ends earlier, as √(1/4) = 0.5 does.
    """
    if low < 0 < high or low == high == 0:
        return "0"
    if high <= 0:
        text = signed_digits(-high, -low, digits)
        return text if text == "0" else f"-{text}"
    if low == 0:
        return "0"
    first, power, ends = _root_digits(low, digits)
    if low == high:
        return _place_point(first.rstrip("0") if ends else first, power, ends)
    other, size, _ = _root_digits(high, digits)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=True))
    shared = "".join(digit for digit, _ in same)
    return _place_point(shared, power, ends=False) if shared and power == size else "0"


def _root_digits(square: Fraction, digits: int) -> tuple[str, int, bool]:
    """The first digits of √square, the power of ten of the first, and whether others are zero."""
    bits = square.numerator.bit_length() - square.denominator.bit_length()
    # 100^places · square is so large that its root has as many digits, or a few more.
    places = digits + 1 - int(bits * 0.30102999566398120) // 2
    scaled = square * Fraction(100) ** places
    root = isqrt(scaled.numerator // scaled.denominator)
    text = str(fmpz(root))  # Python's own integers refuse more than 4,300 digits
    ends = root * root == scaled and not text[digits:].strip("0")
    return text[:digits], len(text) - 1 - places, ends


def _place_point(text: str, exponent: int, ends: bool) -> str:
    """Digits d₁d₂… times 10^exponent (exponent of d₁), as people write it.

    Zeros in the place of digits that are not shown would be digits that are not known: they stand
    there only if the number ends with the digits.
    """
    if -7 < exponent < 0:
        return "0." + "0" * (-exponent - 1) + text
    if 0 <= exponent < 21 and (ends or exponent < len(text)):
        whole = text[: exponent + 1].ljust(exponent + 1, "0")
        rest = text[exponent + 1 :]
        return f"{whole}.{rest}" if rest else whole
    head = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{head}e{exponent:+d}"


def root_bounds(square: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Rationals of about so many bits lo ≤ √square ≤ hi, equal where the root is short."""
    if square == 0:
        return Fraction(0), Fraction(0)
    # An even shift brings the radicand to twice as many bits, or one or two less.
    shift = 2 * (bits - 1) - (square.numerator.bit_length() - square.denominator.bit_length())
    shift += shift % 2
    scaled = square * Fraction(2) ** shift
    root, unit = isqrt(scaled.numerator // scaled.denominator), Fraction(2) ** (shift // 2)
    return Fraction(root) / unit, Fraction(root + (root * root != scaled)) / unit


def _sqrt_doubles(square: Fraction) -> tuple[float, float]:
    """The tightest doubles lo ≤ √square ≤ hi, equal exactly where the root is a double."""
    try:
        low = high = float(root_bounds(square)[0])
    except OverflowError:
        low = high = inf
    while low == inf or Fraction(low) ** 2 > square:
        low = nextafter(low, 0.0)
    while high != inf and Fraction(high) ** 2 < square:
        high = nextafter(high, inf)
    return low, high


def signed_bounds(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The tightest doubles around every x with low ≤ x|x| ≤ high."""
    if low == high >= 0:
        return _sqrt_doubles(low)
    below = _sqrt_doubles(low)[0] if low >= 0 else -_sqrt_doubles(-low)[1]
    above = _sqrt_doubles(high)[1] if high >= 0 else -_sqrt_doubles(-high)[0]
    return below, above


def _middle(low: float, high: float) -> float:
    return low + (high - low) / 2


def _root_ratio(value: Fraction, square: Fraction) -> float:
    """value/√square to the nearest double or the one next to it; infinite beyond the doubles."""
    scaled = value * abs(value) / square
    return _middle(*signed_bounds(scaled, scaled))


def _unit_vector(whole: list[int]) -> NDArray[np.float64]:
    """Integers of any size, divided by the root of the sum of their squares."""
    square = sum(v * v for v in whole)
    # The root has at least 64 bits, so that what isqrt leaves out is far below a rounding.
    shift = max(0, 128 - square.bit_length())
    shift += shift % 2
    root = isqrt(square << shift)
    # A quotient of Python's integers is rounded once, whatever their size.
    return np.array([(v << shift // 2) / root for v in whole])
