"""Results of the oracle: a margin with its proof, in the same form whichever margin it is.

Margins of either sign are kept as x|x|, the square that keeps the sign. Their square roots are
shown as decimal digits that are all right, and as doubles that are rounded outwards.
"""

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
from numpy.typing import NDArray

from gammabar.oracle.certificate import (
    FORMAT,
    data_section,
    geometry,
    rational,
    version_for,
    weights_section,
    write_certificate,
)
from gammabar.problems import KernelProblem, Problem, ProblemError
from gammabar.problems.linear import LinearProblem

if TYPE_CHECKING:
    from gammabar.oracle.l1 import L1Truth
    from gammabar.oracle.proof import MinimumNorm, SupportProof
    from gammabar.oracle.signed import SignedMargin


@dataclass(frozen=True, kw_only=True)
class Margin(ABC):
    """A margin of a problem and its dual weights, proved.

    Margins come in two conventions. `gamma`, `gamma_lo` and `gamma_hi` are those of the papers:
    rows divided by the largest row norm (ℓ₁: by the largest entry). `gamma_raw` and what has
    `raw=True` are in the units of the data.

    Attributes
    ----------
    problem : Problem
        What was solved.
    support : array of int
        Rows with positive dual weight.
    numerators, total : list of int, int
        Dual weights: ``numerators[k] / total`` on row ``support[k]``.
    method : str
        Where the candidate came from; it has no bearing on what is proved.
    seconds : dict
        Time spent, by stage.
    note : str
        What the result rests on besides the data, if anything.
    """

    problem: Problem = field(repr=False)
    support: NDArray[np.int64] = field(repr=False)
    numerators: list[int] = field(repr=False)
    total: int = field(repr=False)
    method: str
    seconds: dict[str, float] = field(repr=False)
    note: str = ""

    @property
    @abstractmethod
    def squares(self) -> tuple[Fraction, Fraction]:
        """Bounds of γ|γ| in the units of the data: squares that keep the sign of the margin."""

    @property
    @abstractmethod
    def unit_squares(self) -> tuple[Fraction, Fraction]:
        """Bounds of γ|γ| in the papers' convention; all-zero data have margin zero in any."""

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

    @cached_property
    def gamma_bounds(self) -> tuple[float, float]:
        """The tightest doubles that are proved to enclose the margin (papers' convention)."""
        return signed_bounds(*self.unit_squares)

    @cached_property
    def gamma_raw_bounds(self) -> tuple[float, float]:
        """The tightest doubles that are proved to enclose it in the units of the data."""
        return signed_bounds(*self.squares)

    @property
    def gamma_lo(self) -> float:
        """The largest double that is proved not to exceed the margin (papers' convention)."""
        return self.gamma_bounds[0]

    @property
    def gamma_hi(self) -> float:
        """The smallest double that is proved not to be below it (papers' convention)."""
        return self.gamma_bounds[1]

    @cached_property
    def gamma(self) -> float:
        """The margin in the papers' convention, as the double in the middle of its enclosure."""
        low, high = self.gamma_bounds
        return low + (high - low) / 2

    @cached_property
    def gamma_raw(self) -> float:
        """The margin in the units of the data."""
        low, high = self.gamma_raw_bounds
        return low + (high - low) / 2

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """The dual weights as doubles, one per row."""
        dense = np.zeros(self.problem.n)
        dense[self.support] = [v / self.total for v in self.numerators]
        return dense

    def digits(self, count: int = 17, *, raw: bool = False) -> str:
        """The margin to so many significant digits, truncated: every digit shown is proved."""
        return signed_digits(*(self.squares if raw else self.unit_squares), count)

    def ends(self, count: int) -> bool:
        """Whether `digits` shows the whole number."""
        return self.exact and self.digits(count) == self.digits(count + 1)

    def _repr_html_(self) -> str:
        """For notebooks: a small table."""
        told = {None: "not decided", True: "yes", False: "no"}[self.separable]
        rows = {
            "separable": told,
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

    def _head(self, kind: str, weights: list[int] | None = None) -> dict[str, Any]:
        weights, total = (weights, sum(weights)) if weights else (self.numerators, self.total)
        return {
            "format": FORMAT,
            "version": version_for(kind, self.problem),
            "kind": kind,
            "geometry": geometry(self.problem),
            "data": data_section(self.problem),
            **weights_section(self.support, weights, total),
        }


class _FromProof:
    """A field that the proof supplies when it is first asked for, unless it was given."""

    def __init__(self, source: str) -> None:
        self.source, self.name = source, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, truth: Any, owner: type) -> Any:
        if truth is None:
            return self
        value = vars(truth)[self.name]
        if value is self:
            value = vars(truth)[self.name] = getattr(truth.proof, self.source)
        return value

    def __set__(self, truth: Any, value: Any) -> None:
        vars(truth)[self.name] = value


def _from_proof(source: str) -> Any:
    return _FromProof(source)


@dataclass(frozen=True, kw_only=True)
class Truth(Margin):
    """The maximum (ℓ₂) margin γ̄ of a problem and its dual optimum q̄, proved.

    Attributes
    ----------
    square_lo, square_hi : Fraction
        Rational bounds of γ̄² in the units of the data; equal when `exact`.
    radius_squared_lo, radius_squared_hi : Fraction
        Rational bounds of the largest squared row norm.
    rounds : int
        Exact rounds needed; 1 means the candidate was right at once.
    bounds : (Fraction, Fraction) or None
        The enclosure of γ̄ itself where γ̄² is not rational; the dual weights give the upper bound.
    deficit : Fraction
        Zero, unless the Gram matrix that was given is not known to be positive semidefinite: then
        bounds are those of all such matrices at this distance of it (`oracle.semidefinite`), and
        the radius is that of the matrix given.
    levels : tuple of Fraction
        Where exact: the product of the support rows with Aᵀq̄; with a free intercept one for each
        class.
    proof : MinimumNorm or SupportProof
        Where exact: it defines γ̄² and q̄, and writes their rationals out when they are asked for.
    primal : (array of int, list of int) or None
        Rows and coefficients of the w that gives the lower of the `bounds`, if it is not Aᵀq.
    """

    radius_squared_lo: Fraction = field(repr=False)
    radius_squared_hi: Fraction = field(repr=False)
    rounds: int = 1
    bounds: tuple[Fraction, Fraction] | None = field(default=None, repr=False)
    deficit: Fraction = field(default=Fraction(0), repr=False)
    primal: tuple[NDArray[np.int64], list[int]] | None = field(default=None, repr=False)
    proof: MinimumNorm | SupportProof | None = field(default=None, repr=False)
    numerators: list[int] = field(default=_from_proof("numerators"), repr=False)
    total: int = field(default=_from_proof("total"), repr=False)
    square_lo: Fraction = field(default=_from_proof("square"), repr=False)
    square_hi: Fraction = field(default=_from_proof("square"), repr=False)
    levels: tuple[Fraction, ...] = field(default=_from_proof("levels"), repr=False)

    @property
    def exact(self) -> bool:
        return self.bounds is None and (self.proof is not None or super().exact)

    @cached_property
    def separable(self) -> bool | None:
        return super().separable if self.proof is None else self.proof.decide(lambda v: v > 0)

    @property
    def squares(self) -> tuple[Fraction, Fraction]:
        """Bounds of γ̄² in the units of the data."""
        return self.square_lo, self.square_hi

    @property
    def gamma_squared(self) -> Fraction | None:
        """γ̄² in the units of the data, where it is known as a rational."""
        return self.square_lo if self.exact else None

    @cached_property
    def unit_squares(self) -> tuple[Fraction, Fraction]:
        """Bounds of (γ̄/radius)²; an all-zero data set has margin zero in any convention."""
        if self.radius_squared_lo == 0:
            return self.square_lo, self.square_hi
        return self.square_lo / self.radius_squared_hi, self.square_hi / self.radius_squared_lo

    def _decided(
        self, function: Callable[[Fraction, Fraction], Any], raw: bool, bits: int = 64
    ) -> Any:
        """function(low, high) of the bounds of γ̄², or (γ̄/radius)²; no fraction where digits do."""
        if self.proof is None:
            return function(*(self.squares if raw else self.unit_squares))
        unit = 1 if raw else self.radius_squared_lo or 1
        return self.proof.decide(lambda v: function(v / unit, v / unit), bits)

    @cached_property
    def gamma_bounds(self) -> tuple[float, float]:
        """The doubles on both sides of γ̄ in the papers' convention."""
        low, high = self._decided(signed_bounds, False)
        return low, high

    @cached_property
    def gamma_raw_bounds(self) -> tuple[float, float]:
        """The doubles on both sides of γ̄ in the units of the data."""
        low, high = self._decided(signed_bounds, True)
        return low, high

    def digits(self, count: int = 17, *, raw: bool = False) -> str:
        """The margin to so many significant digits, truncated: every digit shown is proved."""
        bits = 4 * count + 16
        return str(self._decided(lambda a, b: signed_digits(a, b, count), raw, bits))

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """The dual weights as doubles, one per row."""
        if self.proof is None:
            return super().q
        dense = np.zeros(self.problem.n)
        dense[self.support] = self.proof.weights()
        return dense

    @cached_property
    def radius(self) -> float:
        """The largest row norm."""
        return _sqrt_bounds(self.radius_squared_lo)[0]

    def radius_digits(self, count: int = 17) -> str:
        """The largest row norm in decimal digits, also where it is no double."""
        return _common_digits(self.radius_squared_lo, self.radius_squared_hi, count)

    @cached_property
    def direction(self) -> NDArray[np.float64]:
        """ū = Aᵀq̄/γ̄, the maximum-margin classifier, in the representation of the problem.

        Each coordinate is the nearest double or the one next to it. They are still doubles: where γ̄
        is some 10⁻¹⁶ radii, the rounded vector need not separate what the exact one does.
        """
        if not self.separable:
            raise ValueError("data that are not separable have no maximum-margin classifier")
        from gammabar.oracle.rational import exact_rows

        if not isinstance(self.problem, KernelProblem):
            short = self.proof.vector(self.problem.dimension) if self.proof else None
            if short is not None:
                return _unit_vector(short)
            rows = exact_rows(self.problem)
            vector = rows.point(self.support, self.numerators).vector
            assert vector is not None
            return _unit_vector([int(v) for v in vector.entries()])
        # Rounded only here: sums of rounded q̄ cancel where γ̄ is small, or leave the doubles.
        dense = np.zeros(self.problem.n)
        dense[self.support] = [
            _root_ratio(Fraction(v, self.total), self.square_hi) for v in self.numerators
        ]
        if not np.isfinite(dense).all():
            raise ProblemError("γ̄ is so small that the coefficients of w are no doubles")
        return dense

    @cached_property
    def reciprocal(self) -> float:
        """1/γ̄ in the units of the data, rounded."""
        return float(self._decided(lambda _, high: _root_ratio(Fraction(1), high), True))

    @property
    def w(self) -> NDArray[np.float64]:
        """The same as `direction`, but without the constant feature, if there is one."""
        if self.problem.intercept != "augmented":
            return self.direction
        classes = getattr(self.problem, "k", 1)
        return self.direction[:-classes]

    @cached_property
    def b(self) -> float | NDArray[np.float64]:
        """The bias that belongs to `w`; of several classes one for each."""
        if self.problem.intercept == "augmented":
            classes = getattr(self.problem, "k", 1)
            return self.direction[-classes:] if classes > 1 else float(self.direction[-1])
        if self.problem.intercept == "none":
            return 0.0
        if not self.separable:
            raise ValueError("data that are not separable have no maximum-margin classifier")
        if self.proof is not None:
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
            "radius": self.radius_digits(digits),
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
        return self._head("support", found[0]) | {"eigenvalue": rational(found[1])}

    @cached_property
    def certificate(self) -> dict[str, Any]:
        if self.bounds is not None:
            body = self._head("enclosure")
            body["gamma_lo"], body["gamma_hi"] = map(rational, self.bounds)
            rows, coefficients = self.primal or (self.support, self.numerators)
            body["primal"] = {
                "support": [int(i) for i in rows],
                "coefficients": [f"{v:#x}" for v in coefficients],
            }
            if self.deficit:
                body["geometry"]["within"] = rational(self.deficit)
        elif self.separable:
            body = self._head("margin")
            body["gamma_squared"] = rational(self.square_lo)
            body["radius_squared"] = rational(self.radius_squared_lo)
        else:
            body = self._head("inseparable")
        return body


@dataclass(frozen=True, kw_only=True)
class L1Margin(Margin):
    """The ℓ₁ margin of a problem: w in the ℓ₁ ball, or in the simplex.

    Attributes
    ----------
    norm : str
        "l1" or "l1-simplex".
    found : L1Truth
        Its value, or bounds of it, as rationals in the units of the data, with w and q.
    """

    norm: str
    found: L1Truth = field(repr=False)

    @property
    def value(self) -> Fraction | None:
        """The margin in the units of the data, where it is known as a rational."""
        return self.found.value_lo if self.found.exact else None

    @cached_property
    def squares(self) -> tuple[Fraction, Fraction]:
        lo, hi = self.found.value_lo, self.found.value_hi
        return lo * abs(lo), hi * abs(hi)

    @cached_property
    def unit_squares(self) -> tuple[Fraction, Fraction]:
        low, high = self.squares
        square = self.found.radius**2 or Fraction(1)
        return low / square, high / square

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

    Attributes
    ----------
    truth : Truth
        The proof that they cannot: its q̄ is the one here.
    found : SignedMargin
        ρ², or bounds of it, and a direction that has the lower bound as its margin.
    """

    truth: Truth = field(repr=False)
    found: SignedMargin = field(repr=False)

    @property
    def rho_squared(self) -> Fraction | None:
        """ρ² in the units of the data, where it is known as a rational."""
        return self.found.rho_squared_lo if self.found.exact else None

    @property
    def squares(self) -> tuple[Fraction, Fraction]:
        return -self.found.rho_squared_hi, -self.found.rho_squared_lo

    @property
    def unit_squares(self) -> tuple[Fraction, Fraction]:
        low, high = self.squares
        square = self.truth.radius_squared_lo or Fraction(1)
        return low / square, high / square

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


def _sqrt_digits(square: Fraction, digits: int) -> str:
    """√square to so many significant digits, truncated, so that every digit shown is right.

    Fewer digits are shown only where the root ends earlier, as √(1/4) = 0.5 does.
    """
    if square < 0:
        raise ValueError("the square of a margin cannot be negative")
    if square == 0:
        return "0"
    # 10^(2·places)·square is large enough that its root has `digits` digits or a few more.
    magnitude = _decimal_exponent(square) // 2
    places = digits - magnitude + 1
    scaled = square * Fraction(100) ** places
    root = isqrt(scaled.numerator // scaled.denominator)
    exact = root * root == scaled
    text = _to_text(root)
    exponent = len(text) - 1 - places
    ends = exact and not text[digits:].strip("0")
    text = text[:digits].rstrip("0") if ends else text[:digits]
    return _place_point(text or "0", exponent, ends)


def _to_text(number: int) -> str:
    """Decimal digits of a non-negative integer of any length (str() refuses beyond 4,300)."""
    if number < 10**4000:
        return str(number)
    half = int(number.bit_length() * 0.30103) // 2
    high, low = divmod(number, 10**half)
    return _to_text(high) + _to_text(low).rjust(half, "0")


def _decimal_exponent(value: Fraction) -> int:
    """⌊log10 value⌋, up to one."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return int(bits * 0.30102999566398120)


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


def _sqrt_bounds(square: Fraction) -> tuple[float, float]:
    """Doubles lo ≤ √square ≤ hi, equal exactly where the root is a double."""
    nearest = _to_float(root_bounds(square)[0])
    return _largest_below(nearest, square), _smallest_above(nearest, square)


def root_bounds(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals of about 64 bits lo ≤ √square ≤ hi, of any size; equal where the root is short."""
    if square == 0:
        return Fraction(0), Fraction(0)
    # An even shift brings the radicand to at least 126 bits, so that the root has 63 or more.
    shift = 126 - (square.numerator.bit_length() - square.denominator.bit_length())
    shift += shift % 2
    scaled = square * Fraction(2) ** shift
    root, unit = isqrt(scaled.numerator // scaled.denominator), Fraction(2) ** (shift // 2)
    return Fraction(root) / unit, Fraction(root + (root * root != scaled)) / unit


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _largest_below(guess: float, square: Fraction) -> float:
    while guess == inf or Fraction(guess) ** 2 > square:
        guess = nextafter(guess, 0.0)
    return guess


def _smallest_above(guess: float, square: Fraction) -> float:
    while guess != inf and Fraction(guess) ** 2 < square:
        guess = nextafter(guess, inf)
    return guess


def _common_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """Leading digits shared by every √x with low ≤ x ≤ high; "0" where not even one is certain."""
    a, b = _sqrt_digits(low, digits), _sqrt_digits(high, digits)
    if a == b:
        return a
    (a, _, power), (b, _, other) = a.partition("e"), b.partition("e")
    if power != other or len(a.partition(".")[0]) != len(b.partition(".")[0]):
        return "0"
    width = max(len(a), len(b))
    a, b = (
        text.ljust(width, "0") if "." in text else f"{text}.".ljust(width, "0") for text in (a, b)
    )
    same = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=True))
    shared = "".join(digit for digit, _ in same)
    if "." not in shared or not shared.strip("0."):
        return "0"
    return shared.rstrip(".") + (f"e{power}" if power else "")


def signed_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """Leading digits, with their sign, shared by every x with low ≤ x|x| ≤ high."""
    if low < 0 < high or low == high == 0:
        return "0"
    if high <= 0:
        text = signed_digits(-high, -low, digits)
        return text if text == "0" else f"-{text}"
    return _sqrt_digits(low, digits) if low == high else _common_digits(low, high, digits)


def signed_bounds(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The tightest doubles around every x with low ≤ x|x| ≤ high."""
    below = _sqrt_bounds(low)[0] if low >= 0 else -_sqrt_bounds(-low)[1]
    above = _sqrt_bounds(high)[1] if high >= 0 else -_sqrt_bounds(-high)[0]
    return below, above


def _root_ratio(value: Fraction, square: Fraction) -> float:
    """value/√square to the nearest double or the one next to it; infinite beyond the doubles."""
    scaled = value * abs(value) / square
    low, high = signed_bounds(scaled, scaled)
    return low + (high - low) / 2


def _unit_vector(whole: list[int]) -> NDArray[np.float64]:
    """Integers of any size, divided by the root of the sum of their squares."""
    square = sum(v * v for v in whole)
    # The root has at least 64 bits, so that what isqrt leaves out is far below a rounding.
    shift = max(0, 128 - square.bit_length())
    shift += shift % 2
    root = isqrt(square << shift)
    # A quotient of Python's integers is rounded once, whatever their size.
    return np.array([(v << shift // 2) / root for v in whole])
