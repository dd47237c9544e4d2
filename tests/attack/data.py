"""Small problems over the whole range of their types, and their geometry without rounding."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse
from flint import arb, fmpq

import gammabar as gb

from .arithmetic import *

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
    if dtype != "float64":
        least = np.finfo(dtype).minexp - 20
        powers = powers % (np.finfo(dtype).maxexp - least) + least
    with np.errstate(over="ignore", under="ignore"):
        X = np.ldexp(values, powers).astype(dtype)
    X = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max)
    X[rng.random(shape) < 0.15] = 0
    return X


def two_labels(rng: np.random.Generator, n: int) -> Any:
    """Signs of n points, both of which occur."""
    y = rng.choice([-1, 1], n)
    y[:2] = 1, -1
    return y


class Data:
    """The rows a_i = y_i x_i of a problem, or their inner products, exactly.

    A vector has coordinates, or the coefficients of the rows with a kernel. In the unit convention
    every row is divided by the largest norm, which is not rational in general.
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
        y = two_labels(rng, points)
        self.normalised = False
        #: Whether vectors are coordinates.
        self.linear = self.kind in ("dense", "sparse", "multiclass")
        #: What inner products of `rows` are divided by: those of several classes have 1/√2.
        self.half = 2 if self.kind == "multiclass" else 1
        self.problem = (self._plain if self.linear else self._kernel)(rng, X, y)
        self.name = f"{self.kind}{' normalised' * self.normalised} {self.dtype} {self.scale}"

    def _plain(self, rng: np.random.Generator, X: Any, y: Any) -> Any:
        points = vec(exact_rows(X))
        if self.kind != "multiclass":
            self.rows = points * vec(int(v) for v in y)[:, None]
            return gb.from_arrays(scipy.sparse.csr_matrix(X) if self.kind == "sparse" else X, y)
        labels = rng.integers(0, 3, len(points))
        labels[:2] = 0, 1
        k = int(labels.max()) + 1
        labels[labels == 2] = k - 1
        self.rows = _reduction(points, labels.tolist(), k)
        return gb.from_arrays(X, labels, multiclass=True)

    def _kernel(self, rng: np.random.Generator, X: Any, y: Any) -> Any:
        points = vec(exact_rows(X))
        if self.kind == "precomputed":
            spec, gram = "precomputed", np.outer(points[:, 0], points[:, 0])
            with np.errstate(over="ignore", under="ignore"):
                X = np.outer(X[:, 0], X[:, 0])
            if not np.isfinite(X).all() or (vec(exact_rows(X)) != gram).any():
                raise Unfit("the products are not doubles, so this is not a matrix of products")
        elif self.kind == "rbf":
            gamma = float(rng.choice([0.5, 1.0, 0.1, 2.0**-20]))
            gaps = points[:, None, :] - points[None, :, :]
            with bits():
                gram = exp((gaps * gaps).sum(axis=2) * -exact(gamma) * arb(1))
            spec = f"rbf:gamma={gamma!r}"
        else:
            degree = int(rng.integers(2, 4)) if self.kind == "poly" else 1
            constant = int(rng.integers(0, 2)) if self.kind == "poly" else 0
            spec = f"poly:degree={degree},coef0={constant}" if self.kind == "poly" else "linear"
            gram = (points @ points.T + constant) ** degree
        self.normalised = bool(rng.random() < 0.4) and self.kind != "rbf"
        if self.normalised:
            with bits():
                roots = vec(arb(v).sqrt() for v in gram.diagonal())
                gram = gram / np.outer(roots, roots)
                np.fill_diagonal(gram, arb(1))
        signs = vec(int(v) for v in y)
        self.gram = gram * np.outer(signs, signs)
        return gb.from_arrays(X, y, kernel=spec, normalised=self.normalised)

    @cached_property
    def gram(self) -> Any:
        """⟨a_i, a_j⟩, rationals or balls."""
        return self.rows @ self.rows.T / self.half

    @property
    def whole(self) -> bool:
        """Whether doubles compute scores of small whole numbers without rounding."""
        return self.linear and self.kind != "multiclass" and self.dtype in ("bool", *INTEGERS[:4])

    @property
    def n(self) -> int:
        return len(self.gram)

    @property
    def dimension(self) -> int:
        return len(self.rows[0]) if self.linear else self.n

    @cached_property
    def rational(self) -> bool:
        return rational(self.gram) and not self.normalised

    @cached_property
    def radius_squared(self) -> Any:
        """R²; of balls, that the largest one is certain (normalised and Gaussian kernels: 1)."""
        return max(self.gram.diagonal()) if self.rational else arb(1)

    @property
    def radius(self) -> arb:
        return arb(self.radius_squared).sqrt()

    @cached_property
    def optimum(self) -> tuple[Any, Vector] | None:
        """γ̄² and q̄; None where balls do not tell."""
        return nearest_point(self.gram)

    @cached_property
    def unique(self) -> bool:
        """Whether there is one q̄ only: rows on the margin are affinely independent.

        Where there are several, the harness may have another one than this program.
        """
        if self.optimum is None:
            return False
        square, q = self.optimum
        on = [i for i, score in enumerate(self.gram @ q) if not score > square]
        return independent(self.gram[np.ix_(on, on)] + 1)

    # Vectors in balls; in the unit convention rows are divided by R.

    def factor(self, unit: bool) -> arb:
        """What rows are multiplied by."""
        root = arb(self.radius_squared) if unit else arb(1)
        return 1 / (root * self.half).sqrt() if self.linear else 1 / root.sqrt()

    def scores(self, w: Vector, unit: bool) -> Vector:
        s = self.factor(unit)
        return s * (self.rows @ w) if self.linear else s * s * (self.gram @ w)

    def square(self, w: Vector, unit: bool) -> arb:
        """‖w‖²."""
        return arb(w @ (w if self.linear else self.scores(w, unit)))

    def norm(self, w: Vector, unit: bool) -> arb:
        """‖w‖; a square that rounding makes negative is zero."""
        return self.square(w, unit).max(arb(0)).sqrt()

    def combine(self, q: Vector, unit: bool) -> Vector:
        """Aᵀq."""
        return self.factor(unit) * (q @ self.rows) if self.linear else vec(arb(v) for v in q)

    def row(self, i: int, unit: bool) -> Vector:
        return self.combine(vec(int(i == j) for j in range(self.n)), unit)

    def summed(self, q: Vector, unit: bool) -> arb:
        """Σ |q_i| ‖a_i‖: what is added up where rows are combined, also where they cancel."""
        norms = vec(arb(v).max(arb(0)).sqrt() for v in self.gram.diagonal())
        return total(q * norms) / (self.radius if unit else arb(1))

    def spread(self, w: Vector, unit: bool) -> arb:
        """‖w‖; with a kernel every coefficient is rounded, and parts may cancel."""
        if self.linear:
            return self.norm(w, unit)
        return total(w) * (arb(1) if unit else self.radius)

    def separable(self) -> Trit:
        return None if self.optimum is None else bool(self.optimum[0] > 0)


def nearest_point(gram: Any) -> tuple[Any, Vector] | None:
    """γ̄² and q̄ of rows with these inner products, by trying every support; None if balls fail.

    The point of conv{a_i} nearest to 0 is that of the affine hull of some affinely independent
    rows, with weights that are not negative, and (Gq)_i ≥ qᵀGq for every row proves it.
    """
    n = len(gram)
    for size in range(1, n + 1):
        for support in map(list, combinations(range(n), size)):
            system = [[*gram[i, support], 1] for i in support]
            solution = solved([*system, [1] * size + [0]], [0] * size + [1])
            if solution is None or not all(v >= 0 for v in solution[:-1]):
                continue
            q, square = vec([fmpq(0)] * n), -solution[-1]
            q[support] = solution[:-1]
            scores = gram[:, support] @ q[support]
            if all(scores[i] >= square for i in range(n) if i not in support):
                return square, q
    return None


def _reduction(points: Any, labels: list[int], k: int) -> Any:
    """√2 times the rows of Section 5.2 of Ji, Srebro and Telgarsky: x_i (e_c − e_j), j ≠ c."""
    rows = []
    for x, c in zip(points, labels, strict=True):
        for j in range(k):
            if j != c:
                row = np.full((len(x), k), fmpq(0), dtype=object)
                row[:, c], row[:, j] = x, -x
                rows.append(row.ravel())
    return np.array(rows, dtype=object)
