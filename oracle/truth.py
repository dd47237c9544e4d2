"""What the oracle returns, and the certificate that anyone can check."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.oracle.decimals import common_digits, sqrt_bounds, sqrt_digits
from gammabar.problems import KernelProblem, MulticlassProblem, Problem

FORMAT, VERSION = "gammabar-certificate", 1


@dataclass(frozen=True)
class Truth:
    """The maximum margin of a problem and its dual optimum, proved.

    Margins come in two conventions. `gamma`, `gamma_lo` and `gamma_hi` are those of the papers:
    rows divided by the largest row norm, `radius`. Attributes that end in ``_raw`` and
    `gamma_squared` are in the units of the data.

    Attributes
    ----------
    problem : Problem
        What was solved.
    square_lo, square_hi : Fraction
        Rational bounds of γ̄² in the units of the data; equal when `exact`.
    radius_squared_lo, radius_squared_hi : Fraction
        Rational bounds of the largest squared row norm.
    support : array of int
        Rows with positive dual weight.
    numerators, total : list of int, int
        Dual optimum q̄: weight ``numerators[k] / total`` on row ``support[k]``. Where γ̄ is only
        enclosed it is the dual point that gives the upper bound.
    method : str
        Where the candidate came from; it has no bearing on what is proved.
    seconds : dict
        Time spent, by stage.
    rounds : int
        Exact rounds needed; 1 means the candidate was right at once.
    note : str
        What the result rests on besides the data, if anything.
    bounds : (Fraction, Fraction) or None
        The enclosure of γ̄ itself where γ̄² is not rational.
    """

    problem: Problem = field(repr=False)
    square_lo: Fraction = field(repr=False)
    square_hi: Fraction = field(repr=False)
    radius_squared_lo: Fraction = field(repr=False)
    radius_squared_hi: Fraction = field(repr=False)
    support: NDArray[np.int64] = field(repr=False)
    numerators: list[int] = field(repr=False)
    total: int = field(repr=False)
    method: str
    seconds: dict[str, float] = field(repr=False)
    rounds: int = 1
    note: str = ""
    bounds: tuple[Fraction, Fraction] | None = field(default=None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether γ̄² is known as a rational number."""
        return self.square_lo == self.square_hi

    @property
    def separable(self) -> bool | None:
        """True or False where proved; None where the enclosure contains zero and more."""
        if self.square_lo > 0:
            return True
        return False if self.square_hi == 0 else None

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
    def gamma_lo(self) -> float:
        """The largest double that is proved not to exceed γ̄ (papers' convention)."""
        return sqrt_bounds(self.unit_squares[0])[0]

    @cached_property
    def gamma_hi(self) -> float:
        """The smallest double that is proved not to be below γ̄ (papers' convention)."""
        return sqrt_bounds(self.unit_squares[1])[1]

    @cached_property
    def gamma(self) -> float:
        """γ̄ in the papers' convention, as the double in the middle of its enclosure."""
        return self.gamma_lo + (self.gamma_hi - self.gamma_lo) / 2

    @cached_property
    def gamma_raw(self) -> float:
        """γ̄ in the units of the data."""
        lo, hi = sqrt_bounds(self.square_lo)[0], sqrt_bounds(self.square_hi)[1]
        return lo + (hi - lo) / 2

    @cached_property
    def radius(self) -> float:
        """The largest row norm."""
        return sqrt_bounds(self.radius_squared_lo)[0]

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """q̄ as doubles, one weight per row."""
        dense = np.zeros(self.problem.n)
        dense[self.support] = [float(Fraction(v, self.total)) for v in self.numerators]
        return dense

    @cached_property
    def direction(self) -> NDArray[np.float64]:
        """ū = Aᵀq̄/γ̄, the maximum-margin classifier, in the representation of the problem."""
        if not self.separable:
            raise ValueError("data that are not separable have no maximum-margin classifier")
        w = self.problem.combine(self.q)
        return np.asarray(w / self.problem.norm(w))

    def digits(self, count: int = 17, *, raw: bool = False) -> str:
        """γ̄ to so many significant decimal digits, truncated: every digit shown is proved."""
        lo, hi = (self.square_lo, self.square_hi) if raw else self.unit_squares
        return sqrt_digits(lo, count) if lo == hi else common_digits(lo, hi, count)

    def radius_digits(self, count: int = 17) -> str:
        """The largest row norm in decimal digits, also where it is no double."""
        return common_digits(self.radius_squared_lo, self.radius_squared_hi, count)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate of `oracle/CERTIFICATE.md`, as a dictionary ready for JSON."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self._kind(),
            "geometry": geometry(self.problem),
            "data": data_section(self.problem),
            **weights_section(self.support, self.numerators, self.total),
        }
        if body["kind"] == "margin":
            body["gamma_squared"] = rational(self.square_lo)
            body["radius_squared"] = rational(self.radius_squared_lo)
        elif self.bounds is not None:
            body["gamma_lo"], body["gamma_hi"] = map(rational, self.bounds)
            body["primal"] = {"support": body["support"], "coefficients": body["weights"]}
        return body

    def _kind(self) -> str:
        if self.bounds is not None:
            return "enclosure"
        return "margin" if self.separable else "inseparable"

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file, whole or not at all."""
        write_certificate(self.certificate, path)


def rational(value: Fraction) -> str:
    """A rational as "numerator/denominator" in hexadecimal."""
    return f"{value.numerator:#x}/{value.denominator:#x}"


def weights_section(
    support: NDArray[np.int64], numerators: list[int], total: int
) -> dict[str, Any]:
    """Dual weights as in the certificate: integers with their sum."""
    return {
        "support": [int(i) for i in support],
        "weights": [f"{v:#x}" for v in numerators],
        "total": f"{total:#x}",
    }


def geometry(problem: Problem) -> dict[str, Any]:
    """The geometry section of a certificate."""
    if isinstance(problem, MulticlassProblem):
        return {"type": "multiclass", "classes": problem.k}
    if not isinstance(problem, KernelProblem):
        return {"type": "linear"}
    kernel: dict[str, Any] = {"name": problem.kernel.name}
    if kernel["name"] in ("poly", "rbf"):
        kernel["gamma"] = rational(Fraction(problem.kernel.gamma))
    if kernel["name"] == "poly":
        kernel["degree"] = problem.kernel.degree
        kernel["coef0"] = rational(Fraction(problem.kernel.coef0))
    return {"type": "kernel", "kernel": kernel, "normalised": problem.normalised}


def data_section(problem: Problem) -> dict[str, Any]:
    """The data section of a certificate: what the data are and how to find them again."""
    points, d = (int(v) for v in problem.X.shape)
    section: dict[str, Any] = {"sha256": problem.digest(), "n": points, "d": d}
    source = problem.source
    if source is None:
        classes = ["-1", "1"]
        if isinstance(problem, MulticlassProblem):
            classes = [str(c) for c in range(problem.k)]
        return {
            "name": "arrays",
            **section,
            "format": "npz",
            "files": ["data.npz"],
            "classes": classes,
            "arrays": ["X", "y"],
        }
    section |= {
        "name": source.name,
        "format": source.format,
        "files": list(source.files),
        "classes": list(source.classes),
    }
    optional = {"label": source.label, "arrays": source.arrays, "rows": source.rows}
    return section | {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in optional.items()
        if value is not None
    }


def write_certificate(certificate: dict[str, Any], path: str | Path) -> None:
    """Write JSON through a temporary file, so that no half certificate ever remains."""
    target = Path(path)
    temporary = target.with_name(target.name + ".part")
    try:
        temporary.write_text(json.dumps(certificate, indent=1) + "\n", encoding="utf-8")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
