"""Level-0 balls, and the bounds they are made of, are true over the whole range of doubles.

The truth is computed here in rationals, from the doubles of data and w. ``make balls`` (this file
with the argument 1000000) makes that many checks and prints how many of each geometry and type
there were, and how many missed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from flint import arb, fmpq
from hypothesis import given, settings, strategies as st

import gammabar.problems.points as points_module
from gammabar.harness.verify import certified
from gammabar.harness.verify.certified import Vec, space_of, weighted_sum
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.identities import LogisticWeights, combination
from gammabar.harness.verify.iterate import Fault, View
from gammabar.harness.verify.numbers import LEVELS, ball, working
from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    Problem,
    ProblemError,
    SparseProblem,
)
from gammabar.problems.rounding import length, rounding_of, taxicab
from gammabar.solvers import Iterate

GEOMETRIES = ("dense", "sparse", "multiclass")
KERNELS = ("linear", "poly", "rbf", "precomputed")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
#: Half of the data are doubles, which have the widest range.
DTYPES = (*["float64"] * 10, "longdouble", "float32", "float16", "bool", *INTEGERS)
SCALES = ("ordinary", "tiny", "small", "large", "huge", "mixed", "mild", "edge", "edge", "edge")
#: Powers of two at which something begins to over- or underflow.
EDGES = (-1060, -1022, -800, -540, -530, -500, -300, -60, 60, 300, 480, 500, 530, 600, 900, 945)
#: Powers of two at which products are subnormal, or no doubles.
NEAR = (-1076, -1074, -1070, -1022, 0, 1021, 1024)
#: Bits of the truth: far more than level 0 has.
BITS = 700


def doubles(rng: np.random.Generator, shape: tuple[int, ...], scale: str) -> np.ndarray:
    """Random doubles: of one scale, of mixed scales, with zeros, ties and whole numbers."""
    exponents = {
        "ordinary": (-8, 8),
        "tiny": (-1074, -900),
        "small": (-560, -300),
        "large": (300, 560),
        "huge": (900, 1023),
        "mixed": (-1074, 1023),
        "mild": (-200, 200),
        "edge": (edge := int(rng.choice(EDGES)), edge + 1),
    }[scale]
    values = rng.uniform(1, 2, shape) if rng.random() < 0.7 else rng.integers(1, 4, shape) + 0.0
    if scale == "mixed" or rng.random() < 0.5:
        powers = rng.integers(*exponents, size=shape)
    else:
        powers = np.full(shape, rng.integers(*exponents))
    with np.errstate(over="ignore"):
        values = np.ldexp(values, powers) * rng.choice([-1.0, 1.0], size=shape)
    values[~np.isfinite(values)] = np.finfo(float).max
    values[rng.random(shape) < 0.15] = 0.0
    return values


def points(rng: np.random.Generator, shape: tuple[int, ...], scale: str, dtype: str) -> np.ndarray:
    """Points of a type, over its whole range."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        X = rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
        ends = rng.choice(np.array([info.min, info.max, 0, 1], dtype=dtype), size=shape)
        return np.where(rng.random(shape) < 0.3, ends, X)
    X = doubles(rng, shape, scale)
    if dtype in ("float64", "longdouble"):
        return X.astype(dtype)
    # Of the range of the type, subnormal numbers and the largest included.
    mantissas, exponents = np.frexp(X)
    info = np.finfo(dtype)
    with np.errstate(over="ignore", under="ignore"):
        X = np.ldexp(mantissas, exponents % (info.maxexp - info.minexp + 24) + info.minexp - 24)
        X = X.astype(dtype)
    return np.clip(X, info.min, info.max)


def data(rng: np.random.Generator) -> tuple[Problem, str]:
    """A small problem of a random geometry, dtype and scale."""
    n, d = int(rng.choice([1, 2, 3, 4, 10])), int(rng.choice([1, 2, 3, 4, 24]))
    scale = str(rng.choice(SCALES))
    dtype = str(rng.choice(DTYPES))
    X = points(rng, (n, d), scale, dtype)
    y = rng.choice([-1, 1], size=n)
    kind = str(rng.choice([*GEOMETRIES, *KERNELS]))
    if kind == "dense":
        return DenseProblem(X, y), f"{kind} {dtype} {scale}"
    if kind == "sparse":
        if dtype in ("float16", "longdouble"):  # scipy has none
            X = X.astype(np.float32 if dtype == "float16" else np.float64)
        return SparseProblem(scipy.sparse.csr_matrix(X), y), f"sparse {X.dtype} {scale}"
    if kind == "multiclass":
        labels = rng.integers(0, 3, size=n)
        return MulticlassProblem(X, labels, k=3), f"multiclass {dtype} {scale}"
    normalised = bool(rng.random() < 0.4)
    if kind == "precomputed":
        dtype = "int64" if not normalised and rng.random() < 0.3 else "float64"
    name = f"{kind}{' normalised' * normalised} {dtype} {scale}"
    if kind == "precomputed" and dtype == "int64":  # most are no doubles
        K = rng.integers(0, 2**62, (n, n))
        K = np.minimum(K, K.T)
        return KernelProblem(K + 2**62 * np.eye(n, dtype=int), y, Kernel("precomputed")), name
    if kind == "precomputed":
        Z = doubles(rng, (n, 1), "ordinary" if scale == "mixed" else scale)[:, 0]
        with np.errstate(over="ignore", under="ignore"):
            return KernelProblem(np.outer(Z, Z), y, Kernel("precomputed"), normalised), name
    gamma = float(np.ldexp(rng.uniform(1, 2), rng.integers(-1074, 1023)))
    if rng.random() < 0.6:
        gamma = float(rng.choice([1.0, 0.1, 3.0]))
    coef0 = float(rng.choice([0.0, 0.0, 1.0, 1e-200, 1e100]))
    kernel = Kernel(kind, int(rng.integers(1, 5)), gamma, coef0)
    if kind == "rbf":
        kernel = Kernel(kind, gamma=gamma)
    if dtype == "float64" and rng.random() < 0.5:  # near enough to see anything
        away = float(rng.choice([1e-3, 1e-6, 1e-8, 1e-12])) * rng.standard_normal(X.shape)
        X = np.clip(X[0] * (1 + away), -1.7e308, 1.7e308)
    return KernelProblem(X, y, kernel, normalised), name


def rational(value: Any) -> fmpq:
    one = Fraction(int(value)) if isinstance(value, np.integer | int) else Fraction(float(value))
    return fmpq(one.numerator, one.denominator)


class Truth:
    """The rows of a problem in exact numbers, and what follows from them."""

    def __init__(self, problem: Problem) -> None:
        self.unit = problem._is_unit
        self.kernel = isinstance(problem, KernelProblem)
        if self.kernel:
            self.gram = self._kernel_gram(problem)
            square = max((row[i] for i, row in enumerate(self.gram)), key=lambda v: v.mid())
        else:
            self.rows = self._rows(problem)
            squares = [sum((v * v for v in row), fmpq(0)) for row in self.rows]
            square = arb(max(squares)) / self._halved(problem)
        self.factor = 1 / square.sqrt() if self.unit else arb(1)
        self.radius = arb(1) if self.unit else arb(square).sqrt()

    def _halved(self, problem: Problem) -> int:
        self.root = arb(2).sqrt() if isinstance(problem, MulticlassProblem) else arb(1)
        return 2 if isinstance(problem, MulticlassProblem) else 1

    def _rows(self, problem: Problem) -> list[list[fmpq]]:
        X = problem.X.toarray() if scipy.sparse.issparse(problem.X) else problem.X
        points = [[rational(v) for v in row] for row in X]
        if not isinstance(problem, MulticlassProblem):
            return [[v * int(s) for v in r] for r, s in zip(points, problem.y, strict=True)]
        rows = []
        for point, right in zip(points, problem.labels.tolist(), strict=True):
            for wrong in range(problem.k):
                if wrong != right:
                    row = [fmpq(0)] * problem.dimension
                    for j, v in enumerate(point):
                        row[j * problem.k + right], row[j * problem.k + wrong] = v, -v
                    rows.append(row)
        return rows

    def _kernel_gram(self, problem: KernelProblem) -> list[list[arb]]:
        kernel, n = problem.kernel, problem.n
        points = [[rational(v) for v in row] for row in problem.X]

        def value(i: int, j: int) -> arb:
            x, z = points[i], points[j]
            if kernel.name == "precomputed":
                return arb(x[j])
            if kernel.name == "rbf":
                distance = sum(((a - b) ** 2 for a, b in zip(x, z, strict=True)), fmpq(0))
                return (-arb(distance * rational(kernel.gamma))).exp()
            product = sum((a * b for a, b in zip(x, z, strict=True)), fmpq(0))
            if kernel.name == "linear":
                return arb(product)
            t = rational(kernel.gamma) * product + rational(kernel.coef0)
            return arb(t**kernel.degree)

        values = [[value(i, j) for j in range(n)] for i in range(n)]
        scale = [1 / values[i][i].sqrt() if problem.normalised else arb(1) for i in range(n)]
        sign = problem.y.tolist()
        return [
            [values[i][j] * scale[i] * scale[j] * (sign[i] * sign[j]) for j in range(n)]
            for i in range(n)
        ]

    def inner(self, u: list[arb], v: list[arb]) -> arb:
        if not self.kernel:
            return sum((a * b for a, b in zip(u, v, strict=True)), arb(0))
        rows = range(len(u))
        square = self.factor * self.factor
        return sum((u[i] * self.gram[i][j] * v[j] for i in rows for j in rows), arb(0)) * square

    def inner_of_rows(self, i: int, j: int) -> arb:
        square = self.factor * self.factor
        if self.kernel:
            return self.gram[i][j] * square
        products = (a * b for a, b in zip(self.rows[i], self.rows[j], strict=True))
        return sum(products, fmpq(0)) * square / (self.root * self.root)

    def norm(self, v: list[arb]) -> arb:
        square = self.inner(v, v)
        return square.sqrt() if square > 0 else arb(0)

    def scores(self, w: np.ndarray) -> list[arb]:
        point = [rational(v) for v in w]
        if self.kernel:
            n, square = len(point), self.factor * self.factor
            sums = [
                sum((g * arb(v) for g, v in zip(r, point, strict=True)), arb(0)) * square
                for r in self.gram
            ]
            return sums[:n]
        sums = [sum((a * b for a, b in zip(r, point, strict=True)), fmpq(0)) for r in self.rows]
        return [arb(v) * self.factor / self.root for v in sums]

    def combine(self, q: list[arb]) -> list[arb]:
        if self.kernel:
            return q
        columns = range(len(self.rows[0]))
        return [
            sum((q[i] * arb(r[j]) for i, r in enumerate(self.rows)), arb(0))
            * self.factor
            / self.root
            for j in columns
        ]


def meets(found: arb, truth: arb) -> bool:
    """Whether a ball can be of this number; one that is no number can be of any."""
    return not found.is_finite() or not truth.is_finite() or bool(found.overlaps(truth))


def near(vector: Vec, truth: list[arb], exact: Truth) -> bool:
    """Whether a vector is as close to the truth as it says."""
    if not (vector.err < np.inf and np.isfinite(vector.mid).all()):
        return True
    gap = exact.norm([arb(float(m)) - t for m, t in zip(vector.mid, truth, strict=True)])
    return not gap > arb(vector.err)


def checks(seed: int) -> Iterator[tuple[str, bool]]:
    """Every ball of one random problem at a few points, and whether the truth is in it."""
    rng = np.random.default_rng(seed)
    try:
        raw, name = data(rng)
        problem = raw.unit() if rng.random() < 0.5 else raw
        with working(BITS):
            exact = Truth(problem)
        case = Case(raw, unit=problem is not raw)
        space = space_of(problem)
    except (ProblemError, ZeroDivisionError):
        return
    size = problem.dimension
    for _ in range(3):
        w, v = (doubles(rng, (size,), str(rng.choice(SCALES))) for _ in range(2))
        if rng.random() < 0.5:
            w = near_a_limit(rng, w, raw.radius, problem is not raw)
        with np.errstate(all="ignore"):
            for found in (of_bounds(space, exact, w, v), of_point(case, space, exact, w, v, rng)):
                for what, fine in found:
                    yield f"{name}{' unit' * (problem is not raw)}: {what}", fine


def near_a_limit(rng: np.random.Generator, w: np.ndarray, radius: float, unit: bool) -> np.ndarray:
    """w of a size at which products begin to underflow, or to overflow."""
    mantissas, powers = np.frexp(w)
    power = int(np.frexp(np.clip(radius, 5e-324, 1e308))[1])
    power = int(rng.choice(NEAR)) + (power // 2 if unit else -power)
    with np.errstate(over="ignore"):
        w = np.ldexp(mantissas, powers - int(powers.max()) + power)
    return np.clip(w, -1.7e308, 1.7e308)


def of_bounds(space: Any, exact: Truth, w: np.ndarray, v: np.ndarray) -> Iterator[tuple[str, bool]]:
    """What products in doubles are off by, and the bounds that problems.rounding says."""
    problem, bounds = space.problem, rounding_of(space.problem)
    gram = problem.gram(np.arange(problem.n))
    scores = [*problem.scores(w), *problem.softmin(w).scores]
    size = taxicab if exact.kernel else length
    with working(BITS):
        at, also = ([arb(rational(e)) for e in x] for x in (w, v))
        low, high = (arb(bound) for bound in bounds.radius_bounds())
        yield "radius", not (low > exact.radius or high < exact.radius)
        pairs, allowed = zip(scores, exact.scores(w) * 2, strict=True), bounds.scores(size(w))
        yield "scores", all(within(s, t, allowed) for s, t in pairs)
        allowed = bounds.value if exact.kernel else bounds.gram()
        places = np.ndindex(gram.shape)
        yield "Gram matrix", all(within(gram[k], exact.inner_of_rows(*k), allowed) for k in places)
        allowed = bounds.inner(size(v), size(w))
        yield "⟨v, w⟩", within(problem.inner(v, w), exact.inner(also, at), allowed)
        yield "‖w‖₁", not sum(map(abs, at), arb(0)) > arb(taxicab(w))
        if exact.kernel:
            return
        norm = sum((e * e for e in at), arb(0)).sqrt()
        yield "length", not norm > arb(length(w))
        yield "‖w‖₂", within(problem.norm(w), norm, bounds.norm(length(w)))
        q = np.resize(w, problem.n)
        combined = Vec(space, problem.combine(q), bounds.combine(taxicab(q)))
        yield "Aᵀq", near(combined, exact.combine([arb(rational(e)) for e in q]), exact)


def within(found: float, truth: arb, allowed: float) -> bool:
    """Whether a bound holds, as far as is known; one that is infinite says nothing."""
    if not np.isfinite(allowed):
        return allowed == np.inf
    return bool(np.isfinite(found)) and not abs(arb(float(found)) - truth) > arb(float(allowed))


def of_point(
    case: Case, space: Any, exact: Truth, w: np.ndarray, v: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, bool]]:
    try:
        it = View(Iterate(0, w), case)
        found = {"scores": it.scores, "psi": it.psi, "smallest": it.smallest, "pull": it.pull}
        each = [
            ball(s, e)
            for s, e in zip(it.score_doubles.tolist(), it.score_errors.tolist(), strict=True)
        ]
        logistic = LogisticWeights(it)
        rows = {"Σ σ_i a_i": logistic.pull(), "mean": logistic.mean()}
        sigmas = ball(*logistic.sum())
        share = doubles(rng, (it.n,), str(rng.choice(["ordinary", "mild"])))
        rows["Σ v_i a_i"] = combination(space, share)
        norms = {"norm": it.norm, "margin": it.margin, "norm²": it.norm_squared}
        sign = it.separates
        with working(LEVELS[1]):
            higher = it.at(1)
            again = {"norm": higher.norm, "smallest": higher.smallest, "psi": higher.psi}
            again |= {f"score {i}": score for i, score in enumerate(higher.scores)}
    except ValueError:  # a matrix that is not semidefinite: some ‖w‖² is negative
        again = {}
    except Fault:
        found, norms, sign = {}, {}, None
    inner = space.inner(w, v)
    factor = float(doubles(rng, (1,), str(rng.choice(SCALES)))[0])
    x, z = Vec(space, w), Vec(space, v)
    sums = {
        "x + z": x + z,
        "x - z": x - z,
        "a x": x * factor,
        "a (x - z)": (x - z) * factor,
        "a (a x)": (x * factor) * factor,
        "a x + z": weighted_sum(factor, x, 1, z),
    }
    inner_sum = sums["a x + z"].inner(z)
    with working(BITS):
        a = arb(factor)
        at, also = [arb(float(e)) for e in w], [arb(float(e)) for e in v]
        truths = {
            "x + z": [p + q for p, q in zip(at, also, strict=True)],
            "x - z": [p - q for p, q in zip(at, also, strict=True)],
            "a x": [a * p for p in at],
            "a (x - z)": [a * (p - q) for p, q in zip(at, also, strict=True)],
            "a (a x)": [a * a * p for p in at],
            "a x + z": [a * p + q for p, q in zip(at, also, strict=True)],
        }
        length = exact.norm(at)
        yield "size", not (np.isfinite(space.size(w)) and length > arb(space.size(w)))
        yield "inner", meets(inner, exact.inner(at, also))
        yield "inner of a sum", meets(inner_sum, exact.inner(truths["a x + z"], also))
        for name, vector in sums.items():
            yield name, near(vector, truths[name], exact)
            yield f"‖{name}‖", meets(vector.norm(), exact.norm(truths[name]))
        if not found:
            return
        yield "norm", meets(norms["norm"], length)
        yield "norm²", meets(norms["norm²"], length * length)
        scores = exact.scores(w)
        for one, own, score in zip(found["scores"], each, scores, strict=True):
            yield "score", meets(one, score)
            yield "score, row by row", meets(own, score)
        sigma = [1 / (1 + score.exp()) for score in scores]
        total = sum(sigma, arb(0))
        yield "Σ σ_i", meets(sigmas, total)
        yield "Σ σ_i a_i", near(rows["Σ σ_i a_i"], exact.combine(sigma), exact)
        yield "mean", near(rows["mean"], exact.combine([s / total for s in sigma]), exact)
        taken = [arb(float(s)) for s in share]
        yield "Σ v_i a_i", near(rows["Σ v_i a_i"], exact.combine(taken), exact)
        least = scores[0]
        for score in scores:
            least = least.min(score)
        yield "smallest", meets(found["smallest"], least)
        yield "separates", sign is None or sign is bool(least > 0)
        if length > 0:
            yield "margin", meets(norms["margin"], least / length)
        weights = [(least - score).exp() for score in scores]
        mass = sum(weights, arb(0))
        yield "psi", meets(found["psi"], mass.log() - least)
        yield "pull", near(found["pull"], exact.combine([q / mass for q in weights]), exact)
        truly = {"norm": length, "smallest": least, "psi": mass.log() - least}
        truly |= {f"score {i}": score for i, score in enumerate(scores)}
        rough = {**norms, **found, **{f"score {i}": s for i, s in enumerate(found["scores"])}}
        for name, value in again.items():  # with more bits, and narrower by far
            yield f"{name} at level 1", meets(value, truly[name])
            wide = rough[name].rad()
            narrow = not wide.is_finite() or value.rad() <= wide * arb(2) ** -60 + arb(2) ** -1900
            yield f"{name} at level 1 is narrow", narrow or name == "psi"


def missed(count: int, seed: int = 0) -> tuple[Counter[str], Counter[str]]:
    """Make so many checks; how many by geometry and type, and what missed, by kind."""
    made: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    while made.total() < count:
        for what, fine in checks(seed):
            made[_kind(what)] += 1
            if not fine:
                wrong[what] += 1
        seed += 1
    return made, wrong


def _kind(what: str) -> str:
    """Geometry and type, without scale and view."""
    words = what.partition(":")[0].split()
    return " ".join(word for word in words if word not in (*SCALES, "unit"))


@pytest.mark.parametrize("way", ["small", pytest.param("compiled", marks=pytest.mark.full)])
def test_level_zero_balls_contain_the_truth(way, monkeypatch):
    if way == "compiled":
        monkeypatch.setattr(points_module, "SMALL", 0)

    @settings(max_examples=120 if way == "small" else 600, deadline=None)
    @given(st.integers(0, 2**63))
    def check(seed):
        assert [what for what, fine in checks(seed) if not fine] == []

    check()


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
@pytest.mark.parametrize("scale", ["ordinary", "mixed", "tiny", "huge"])
def test_exact_scores_of_integers(dtype, scale, monkeypatch):
    """Products in doubles that round nothing say what sums of balls over the entries say."""
    monkeypatch.setattr(certified, "_MATRIX", 0)
    rng = np.random.default_rng(len(dtype))
    for n, d in [(1, 1), (3, 4), (10, 24)]:
        X, w = points(rng, (n, d), scale, dtype), doubles(rng, (d,), scale)
        problem = DenseProblem(X, rng.choice([-1, 1], size=n))
        sparse = SparseProblem(scipy.sparse.csr_matrix(X), problem.y)
        for view in (problem, problem.unit(), sparse):
            space, slow = space_of(view), space_of(view)
            slow._bits = 0
            assert (space._bits > 7) == ("64" not in dtype)
            with working(BITS):
                truth = Truth(view).scores(w)
                size = space.radius * sum((abs(arb(v)) for v in w.tolist()), arb(0))
            for rows in (np.arange(n), np.array([n - 1])):
                with working(LEVELS[1]):
                    both = space.exact_scores(w, rows), slow.exact_scores(w, rows)
                for i, found, wanted in zip(rows, *both, strict=True):
                    assert found.overlaps(wanted)
                    assert found.overlaps(truth[i])
                    assert found.rad() <= wanted.rad() + size * arb(2) ** -300


def test_a_mean_whose_weights_all_underflow():
    """Rows (1, 0), (1, ½), (1, −½) and w = (900, 0): σ_i < e^−800, and the mean is (1, 0)."""
    case = Case(DenseProblem(np.array([[1.0, 0.0], [1.0, 0.5], [1.0, -0.5]]), np.ones(3, int)))
    mean = LogisticWeights(View(Iterate(0, np.array([900.0, 0.0])), case)).mean()
    apart = (mean - Vec(case.space, np.array([1.0, 0.0]))).norm()
    assert apart < 1e-9


@pytest.mark.slow
def test_level_zero_balls_contain_the_truth_many_times():
    made, wrong = missed(100_000)
    assert (made.total() >= 100_000, wrong) == (True, Counter())
    assert {kind.split()[0] for kind in made} == {*GEOMETRIES, *KERNELS}
    assert {dtype for kind in made for dtype in kind.split()} >= {*DTYPES}


if __name__ == "__main__":
    total, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    made, wrong = missed(total, seed)
    for kind, times in sorted(made.items()):
        print(f"{times:9,} {kind}")
    for what, times in wrong.most_common(40):
        print(f"{times:9,} MISSED: {what}")
    print(f"{made.total():,} balls, {wrong.total():,} missed the truth")
