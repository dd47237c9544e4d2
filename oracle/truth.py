"""What the oracle returns: a margin with its proof, in the same manners whichever margin it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
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
from gammabar.oracle.decimals import (
    common_digits,
    root_ratio,
    signed_bounds,
    signed_digits,
    sqrt_bounds,
    unit_vector,
)
from gammabar.problems import KernelProblem, Problem, ProblemError

if TYPE_CHECKING:
    from gammabar.oracle.l1 import L1Truth
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
    def gamma_lo(self) -> float:
        """The largest double that is proved not to exceed the margin (papers' convention)."""
        return signed_bounds(*self.unit_squares)[0]

    @cached_property
    def gamma_hi(self) -> float:
        """The smallest double that is proved not to be below it (papers' convention)."""
        return signed_bounds(*self.unit_squares)[1]

    @cached_property
    def gamma(self) -> float:
        """The margin in the papers' convention, as the double in the middle of its enclosure."""
        return self.gamma_lo + (self.gamma_hi - self.gamma_lo) / 2

    @cached_property
    def gamma_raw(self) -> float:
        """The margin in the units of the data."""
        low, high = signed_bounds(*self.squares)
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

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file, whole or not at all; `proves` says what it proves."""
        write_certificate(self.certificate, path)

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": version_for(kind, self.problem),
            "kind": kind,
            "geometry": geometry(self.problem),
            "data": data_section(self.problem),
            **weights_section(self.support, self.numerators, self.total),
        }


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
    primal : (array of int, list of int) or None
        Rows and coefficients of the w that gives the lower of the `bounds`, if it is not Aᵀq.
    """

    square_lo: Fraction = field(repr=False)
    square_hi: Fraction = field(repr=False)
    radius_squared_lo: Fraction = field(repr=False)
    radius_squared_hi: Fraction = field(repr=False)
    rounds: int = 1
    bounds: tuple[Fraction, Fraction] | None = field(default=None, repr=False)
    deficit: Fraction = field(default=Fraction(0), repr=False)
    levels: tuple[Fraction, ...] = field(default=(), repr=False)
    primal: tuple[NDArray[np.int64], list[int]] | None = field(default=None, repr=False)

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

    @cached_property
    def radius(self) -> float:
        """The largest row norm."""
        return sqrt_bounds(self.radius_squared_lo)[0]

    def radius_digits(self, count: int = 17) -> str:
        """The largest row norm in decimal digits, also where it is no double."""
        return common_digits(self.radius_squared_lo, self.radius_squared_hi, count)

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
            rows = exact_rows(self.problem)
            short = rows.short_vector(self.support, self.numerators)
            if short is not None:
                return unit_vector(short)
            vector = rows.point(self.support, self.numerators).vector
            assert vector is not None
            return unit_vector([int(v) for v in vector.entries()])
        # Rounded only here: sums of rounded q̄ cancel where γ̄ is small, or leave the doubles.
        dense = np.zeros(self.problem.n)
        dense[self.support] = [
            root_ratio(Fraction(v, self.total), self.square_hi) for v in self.numerators
        ]
        if not np.isfinite(dense).all():
            raise ProblemError("γ̄ is so small that the coefficients of w are no doubles")
        return dense

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
        if self.levels:
            half = (self.levels[0] - self.levels[1]) / 2  # class −1 is the first side
            return root_ratio(half, self.square_lo)
        scores = self.problem.scores(self.direction)
        positive = np.asarray(self.problem.y) > 0
        return float(scores[~positive].min() - scores[positive].min()) / 2

    def facts(self, digits: int = 17) -> dict[str, Any]:
        """What there is to say, ready for JSON."""
        square = self.gamma_squared
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
