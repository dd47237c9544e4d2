"""Small problems over the whole range of their types, and their geometry without rounding."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import inf, nan
from typing import Any

import numpy as np
import scipy.sparse
from flint import arb, ctx, fmpq, fmpq_mat

import gammabar as gb

#: Bits of a ball: products of the smallest and the largest doubles differ by 2 to the 4,200.
BITS = 6000

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
#: Exponents of two that the entries of a problem are drawn from.
SCALES = {
    "ordinary": (-3, 3),
    "tiny": (-1074, -1000),
    "small": (-600, -400),
    "1e-300": (-1000, -990),
    "large": (400, 600),
    "huge": (1000, 1023),
    "mild": (-30, 30),
    "mixed": (-1074, 1023),
}
KINDS = ("dense", "sparse", "multiclass", "linear", "poly", "rbf", "precomputed")


class Unfit(Exception):
    """These data are no problem; others are drawn."""


def exact(value: Any) -> fmpq:
    """A number of any type as the rational that it is."""
    whole = Fraction(int(value)) if isinstance(value, np.integer | np.bool_) else Fraction(value)
    return fmpq(whole.numerator, whole.denominator)


def entries(rng: np.random.Generator, shape: tuple[int, int], scale: str, dtype: str) -> Any:
    """Random entries of a type: of one magnitude or several, with zeros, ties and the ends."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1], dtype=dtype)
        small = rng.integers(max(info.min, -4), 5, size=shape, dtype=dtype)
        return np.where(rng.random(shape) < rng.choice([0.1, 0.6]), rng.choice(ends, shape), small)
    low, high = SCALES[scale]
    whole = rng.random() < 0.5
    values = rng.integers(1, 5, shape) + 0.0 if whole else rng.uniform(1, 2, shape)
    one = np.full(shape, rng.integers(low, high))
    powers = rng.integers(low, high, shape) if scale in ("mixed", "mild") else one
    values = values * rng.choice([-1.0, 1.0], shape)
    if dtype == "float64":
        with np.errstate(over="ignore", under="ignore"):
            X = np.ldexp(values, powers)
    else:
        info = np.finfo(dtype)
        span = info.maxexp - info.minexp + 20
        with np.errstate(over="ignore", under="ignore"):
            X = np.ldexp(values, powers % span + info.minexp - 20).astype(dtype)
    X = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max)
    X[rng.random(shape) < 0.15] = 0
    return X


class Data:
    """The rows a_i = y_i x_i of a problem, or their inner products, exactly.

    A vector is a list of balls: coordinates, or the coefficients of the rows with a kernel. In the
    unit convention every row is divided by the largest norm, which is no rational in general.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.kind = str(rng.choice(KINDS, p=[0.3, 0.12, 0.14, 0.1, 0.12, 0.12, 0.1]))
        self.scale = str(rng.choice([*SCALES]))
        types = ("float64",) * 12 + ("float32", "float16", "bool", *INTEGERS)
        self.dtype = str(rng.choice(types))
        if self.kind == "precomputed" or (self.kind == "sparse" and self.dtype == "float16"):
            self.dtype = "float64"
        if self.kind == "rbf":
            self.scale = "ordinary" if rng.random() < 0.7 else "mild"
            self.dtype = str(rng.choice(["float64", "float32", "int8", "uint8"]))
        points, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        X = entries(rng, (points, d), self.scale, self.dtype)
        y = rng.choice([-1, 1], points)
        y[:2] = 1, -1
        self.normalised = False
        self.problem = self._problem(rng, X, y)
        self.name = f"{self.kind}{' normalised' * self.normalised} {self.dtype} {self.scale}"

    def _problem(self, rng: np.random.Generator, X: Any, y: Any) -> Any:
        points = (
            [[exact(v) for v in row] for row in X.tolist()]
            if X.dtype.kind != "f"
            else [[exact(float(v)) for v in row] for row in X]
        )
        signs = [int(v) for v in y]
        if self.kind in ("dense", "sparse"):
            self.rows = [[v * s for v in row] for row, s in zip(points, signs, strict=True)]
            given = scipy.sparse.csr_matrix(X) if self.kind == "sparse" else X
            return gb.from_arrays(given, y)
        if self.kind == "multiclass":
            labels = rng.integers(0, 3, len(points))
            labels[:2] = 0, 1
            k = int(labels.max()) + 1
            labels[labels == 2] = k - 1
            self.rows = _reduction(points, labels.tolist(), k)
            return gb.from_arrays(X, labels, multiclass=True)
        if self.kind == "precomputed":
            spec, gram = "precomputed", [[a[0] * b[0] for b in points] for a in points]
            with np.errstate(over="ignore", under="ignore"):
                X = np.outer(X[:, 0], X[:, 0])
            if not np.isfinite(X).all() or [[exact(float(v)) for v in row] for row in X] != gram:
                raise Unfit("the products are no doubles, so this is no matrix of products")
        elif self.kind == "rbf":
            gamma = float(rng.choice([0.5, 1.0, 0.1, 2.0**-20]))
            spec, gram = f"rbf:gamma={gamma!r}", _gaussian(points, exact(gamma))
        else:
            degree = int(rng.integers(2, 4)) if self.kind == "poly" else 1
            constant = int(rng.integers(0, 2)) if self.kind == "poly" else 0
            spec = f"poly:degree={degree},coef0={constant}" if self.kind == "poly" else "linear"
            inner = [[_dot(a, b) + constant for b in points] for a in points]
            gram = [[v**degree for v in row] for row in inner]
        self.normalised = bool(rng.random() < 0.4) and self.kind != "rbf"
        if self.normalised:
            with bits():
                roots = [arb(gram[i][i]).sqrt() for i in range(len(gram))]
                gram = [
                    [
                        arb(v) / (roots[i] * roots[j]) if i != j else arb(1)
                        for j, v in enumerate(row)
                    ]
                    for i, row in enumerate(gram)
                ]
        self.signed = [
            [v * (signs[i] * signs[j]) for j, v in enumerate(row)] for i, row in enumerate(gram)
        ]
        return gb.from_arrays(X, y, kernel=spec, normalised=self.normalised)

    @property
    def linear(self) -> bool:
        """Whether vectors are coordinates."""
        return self.kind in ("dense", "sparse", "multiclass")

    @property
    def whole(self) -> bool:
        """Whether doubles compute scores of small whole numbers without rounding."""
        return self.linear and self.kind != "multiclass" and self.dtype in ("bool", *INTEGERS[:4])

    @cached_property
    def half(self) -> int:
        """What inner products of `rows` are divided by: the rows of several classes have 1/√2."""
        return 2 if self.kind == "multiclass" else 1

    @cached_property
    def gram(self) -> list[list[Any]]:
        """⟨a_i, a_j⟩, rationals or balls."""
        if not self.linear:
            return self.signed
        return [[_dot(a, b) / self.half for b in self.rows] for a in self.rows]

    @property
    def n(self) -> int:
        return len(self.gram)

    @property
    def dimension(self) -> int:
        return len(self.rows[0]) if self.linear else self.n

    @cached_property
    def rational(self) -> bool:
        return isinstance(self.gram[0][0], fmpq) and not self.normalised

    @cached_property
    def radius_squared(self) -> Any:
        """R²; of balls, that the largest one is certain (normalised and Gaussian kernels: 1)."""
        if not self.rational:
            return arb(1)
        return max(self.gram[i][i] for i in range(self.n))

    @cached_property
    def optimum(self) -> tuple[Any, list[Any]] | None:
        """γ̄² and q̄; None where balls do not tell."""
        return nearest_point(self.gram)

    @cached_property
    def unique(self) -> bool:
        """Whether there is one q̄ only: rows on the margin are affinely independent.

        Where there are several, a court may have another one than this program.
        """
        if self.optimum is None:
            return False
        square, q = self.optimum
        on = [i for i, row in enumerate(self.gram) if not _dot(row, q) > square]
        return independent([[self.gram[i][j] + 1 for j in on] for i in on])

    # vectors, in balls

    def factor(self, unit: bool) -> arb:
        """What rows are multiplied by."""
        root = arb(self.radius_squared) if unit else arb(1)
        return 1 / (root * self.half).sqrt() if self.linear else 1 / root.sqrt()

    def scores(self, w: list[arb], unit: bool) -> list[arb]:
        s = self.factor(unit)
        if self.linear:
            return [
                s * sum((v * b for v, b in zip(row, w, strict=True)), arb(0)) for row in self.rows
            ]
        return [
            s * s * sum((v * b for v, b in zip(row, w, strict=True)), arb(0)) for row in self.gram
        ]

    def square(self, w: list[arb], unit: bool) -> arb:
        """‖w‖²."""
        if self.linear:
            return sum((v * v for v in w), arb(0))
        return sum((v * s for v, s in zip(w, self.scores(w, unit), strict=True)), arb(0))

    def norm(self, w: list[arb], unit: bool) -> arb:
        """‖w‖; what rounding makes of a square of zero is no negative number."""
        return self.square(w, unit).max(arb(0)).sqrt()

    def combine(self, q: list[Any], unit: bool) -> list[arb]:
        if not self.linear:
            return [arb(v) for v in q]
        s = self.factor(unit)
        columns = zip(*self.rows, strict=True)
        return [
            s * sum((v * c for v, c in zip(q, column, strict=True)), arb(0)) for column in columns
        ]

    def summed(self, q: list[Any], unit: bool) -> arb:
        """Σ |q_i| ‖a_i‖: what is added up where rows are combined, also where they cancel."""
        root = arb(self.radius_squared).sqrt() if unit else arb(1)
        norms = [arb(self.gram[i][i]).max(arb(0)).sqrt() / root for i in range(self.n)]
        return sum((abs(arb(v)) * r for v, r in zip(q, norms, strict=True)), arb(0))


def nearest_point(gram: list[list[Any]]) -> tuple[Any, list[Any]] | None:
    """γ̄² and q̄ of rows with these inner products, by trying every support; None if balls fail.

    The point of conv{a_i} nearest to 0 is that of the affine hull of some affinely independent
    rows, with weights that are not negative, and (Gq)_i ≥ qᵀGq for every row proves it.
    """
    for size in range(1, len(gram) + 1):
        for support in combinations(range(len(gram)), size):
            found = _nearest(gram, support)
            if found is not None:
                return found
    return None


def _nearest(gram: list[list[Any]], support: tuple[int, ...]) -> tuple[Any, list[Any]] | None:
    size, n = len(support), len(gram)
    system = [[gram[i][j] for j in support] + [1] for i in support]
    solution = _solved([*system, [1] * size + [0]], [0] * size + [1])
    if solution is None:
        return None
    q: list[Any] = [fmpq(0)] * n
    for i, v in zip(support, solution[:-1], strict=True):
        q[i] = v
    square = -solution[-1]
    if not all(solution[k] >= 0 for k in range(size)):
        return None
    scores = [sum((gram[i][j] * q[j] for j in support), fmpq(0)) for i in range(n)]
    outside = [i for i in range(n) if i not in support]
    return (square, q) if all(scores[i] >= square for i in outside) else None


def inner(rows: list[list[fmpq]]) -> list[list[fmpq]]:
    """The inner products of rows."""
    return [[_dot(a, b) for b in rows] for a in rows]


def _dot(a: list[fmpq], b: list[fmpq]) -> fmpq:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def _reduction(points: list[list[fmpq]], labels: list[int], k: int) -> list[list[fmpq]]:
    """√2 times the rows of Section 5.2 of Ji, Srebro and Telgarsky: x_i (e_c − e_j), j ≠ c."""
    rows = []
    for x, c in zip(points, labels, strict=True):
        for j in range(k):
            if j != c:
                row = [fmpq(0)] * (len(x) * k)
                for m, v in enumerate(x):
                    row[m * k + c], row[m * k + j] = v, -v
                rows.append(row)
    return rows


def _gaussian(points: list[list[fmpq]], gamma: fmpq) -> list[list[arb]]:
    with bits():
        return [
            [(arb(-gamma * _dot(d, d))).exp() for b in points for d in [_minus(a, b)]]
            for a in points
        ]


def _minus(a: list[fmpq], b: list[fmpq]) -> list[fmpq]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _solved(matrix: list[list[Any]], right: list[Any]) -> list[Any] | None:
    """The solution of a system; None if it is singular, or if balls cannot exclude that."""
    size = len(right)
    if all(isinstance(v, fmpq | int) for row in matrix for v in row):
        A = fmpq_mat(size, size, [fmpq(v) for row in matrix for v in row])
        if A.det() == 0:
            return None
        x = A.solve(fmpq_mat(size, 1, [fmpq(v) for v in right]))
        return [x[i, 0] for i in range(size)]
    from flint import arb_mat

    try:
        x = arb_mat([[arb(v) for v in row] for row in matrix]).solve(
            arb_mat([[arb(v)] for v in right])
        )
    except ZeroDivisionError:
        return None
    return [x[i, 0] for i in range(size)]


def independent(gram: list[list[Any]]) -> bool:
    """Whether vectors with these inner products are independent for certain."""
    size = len(gram)
    if all(isinstance(v, fmpq) for row in gram for v in row):
        return bool(fmpq_mat(size, size, [v for row in gram for v in row]).det() != 0)
    from flint import arb_mat

    return not arb_mat([[arb(v) for v in row] for row in gram]).det().contains(0)


class bits:
    """Balls of thousands of bits inside of this, and what was before after it."""

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, BITS

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before


def to_double(value: arb) -> float:
    """The double nearest to the middle of a ball, subnormal or not; no number where none is."""
    if not value.is_finite():
        return nan
    mantissa, exponent = value.mid().man_exp()
    mantissa, exponent = int(mantissa), int(exponent)
    if exponent > 4000 or (mantissa and mantissa.bit_length() + exponent > 1030):
        return inf if mantissa > 0 else -inf
    try:
        if exponent >= 0:
            return float(mantissa << exponent)
        return float(Fraction(mantissa, 1 << -exponent)) if exponent > -40000 else 0.0
    except OverflowError:
        return inf if mantissa > 0 else -inf
