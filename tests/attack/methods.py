"""Methods of the papers, line by line, in balls: what is delivered is each w_t, rounded once.

Each is a generator of `Step`: w_t as balls, and what the method says beside it. Data are seen
through `data.Data` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb, fmpq

from .data import Data, to_double

Vector = list[arb]


@dataclass
class Step:
    """w_t, and what is said beside it."""

    w: Vector
    extra: dict[str, Any] = field(default_factory=dict)


def add(u: Vector, v: Vector, scale: Any = 1) -> Vector:
    """u + scale · v."""
    return [a + scale * b for a, b in zip(u, v, strict=True)]


def times(scale: Any, v: Vector) -> Vector:
    return [scale * b for b in v]


def softmax(scores: list[arb], temperature: Any = 1) -> list[arb]:
    """exp(−s_i/τ)/Σ_j exp(−s_j/τ)."""
    least = scores[0]
    for s in scores[1:]:
        least = least.min(s)
    raw = [((least - s) / temperature).exp() for s in scores]
    total = sum(raw, arb(0))
    return [v / total for v in raw]


def zero(data: Data) -> Vector:
    return [arb(0)] * data.dimension


def done(scores: list[arb]) -> bool:
    """Whether all are positive; balls that contain 0 are of scores that are 0."""
    return all(s > 0 for s in scores)


def dual_acceleration(data: Data, rng: Any) -> Iterator[Step]:
    """Ji, Srebro, Telgarsky 2021, Algorithm 1 with θ_t = 1, β_t = t/(t+1); rows of A are −z_i."""
    w = g = zero(data)
    t = 0
    while True:
        yield Step(w)
        pull = data.combine(softmax(data.scores(w, True)), True)
        g = times(fmpq(t, t + 1), add(g, pull))
        w = add(w, add(g, pull))
        t += 1


def normalized_descent(data: Data, rng: Any) -> Iterator[Step]:
    """w_{t+1} = w_t − ∇R(w_t)/R(w_t) for the exponential loss."""
    w = zero(data)
    while True:
        yield Step(w)
        w = add(w, data.combine(softmax(data.scores(w, True)), True))


def perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Tyurin 2024, (Perceptron): θ_{t+1} = θ_t + y_j a_j for some j ∈ S_t = {score ≤ 0}."""
    counts = [0] * data.n
    while True:
        w = data.combine(counts, False)
        scores = _signs(data, counts)
        wrong = [i for i, s in enumerate(scores) if not s > 0]
        yield Step(w, {} if wrong else {"halt": "separated"})
        if not wrong:
            return
        counts[int(rng.choice(wrong))] += 1


def _signs(data: Data, counts: list[Any]) -> list[Any]:
    """G · counts: exact wherever the products of the rows are."""
    return [sum((g * c for g, c in zip(row, counts, strict=True)), fmpq(0)) for row in data.gram]


def batch_perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Tyurin 2024, (Batch Perceptron): half of every row first, then those of S_t, over n."""
    yield from _batch(data, first=fmpq(1, 2 * data.n), normalised=False)


def normalized_batch_perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Tyurin 2024, (Normalized Batch Perceptron): the mean of the rows of S_t."""
    yield from _batch(data, first=None, normalised=True)


def _batch(data: Data, first: Any, normalised: bool) -> Iterator[Step]:
    counts: list[Any] = [fmpq(0)] * data.n
    t = 0
    while True:
        wrong = [i for i, s in enumerate(_signs(data, counts)) if not s > 0]
        yield Step(data.combine(counts, False), {} if wrong else {"halt": "separated"})
        if not wrong:
            return
        if t == 0 and first is not None:
            counts = [first] * data.n
        else:
            share = fmpq(1, len(wrong) if normalised else data.n)
            counts = [c + share if i in wrong else c for i, c in enumerate(counts)]
        t += 1


def logistic_descent(data: Data, rng: Any) -> Iterator[Step]:
    """Tyurin 2024, (LR+GD) with γ = 1: the mean of (1 + exp(score))⁻¹ a_i."""
    yield from _logistic(data, normalised=False)


def normalized_logistic_descent(data: Data, rng: Any) -> Iterator[Step]:
    """Tyurin 2024, (Normalized LR+GD) with γ = 1: the weights divided by their sum."""
    yield from _logistic(data, normalised=True)


def _logistic(data: Data, normalised: bool) -> Iterator[Step]:
    w = zero(data)
    while True:
        yield Step(w)
        weights = [1 / (1 + s.exp()) for s in data.scores(w, False)]
        total = sum(weights, arb(0)) if normalised else data.n
        w = add(w, data.combine([v / total for v in weights], False))


def smoothed_perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Ramdas, Peña 2015, Algorithm 4 (SNKP); says p_k."""
    n = data.n
    alpha: list[Any] = [fmpq(1, n)] * n
    p: list[Any] | None = None
    k = 0
    while True:
        mu = fmpq(4, (k + 1) * (k + 2))
        w = data.combine(alpha, True)
        scores = data.scores(w, True)
        answer = softmax(scores, mu)
        p = answer if p is None else _mixed(p, answer, fmpq(2, k + 2))
        over = done(scores)
        yield Step(w, {"p": p, "dual": alpha, **({"halt": "separated"} if over else {})})
        if over:
            return
        alpha, k = _smoothed(alpha, p, answer, fmpq(2, k + 3)), k + 1


def kernel_perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Ramdas, Peña 2015, Algorithm 3 (NKP): k α_k counts the rows of smallest score."""
    counts = [0] * data.n
    k = 0
    while True:
        scores = _signs(data, counts)
        over = all(s > 0 for s in scores)
        w = times(fmpq(1, max(k, 1)), data.combine(counts, True))
        dual = [fmpq(c, max(k, 1)) for c in counts]
        yield Step(w, {"dual": dual, **({"halt": "separated"} if over else {})})
        if over:
            return
        counts[_least(scores, rng)] += 1
        k += 1


def _least(scores: list[Any], rng: Any) -> int:
    """A row of smallest score, any of them."""
    candidates = [
        i for i, s in enumerate(scores) if all(s <= other or not s > other for other in scores)
    ]
    return int(rng.choice(candidates))


def in_doubles(data: Data, rng: np.random.Generator, length: int) -> np.ndarray:
    """Algorithm 1 by somebody who knows nothing of error bounds: naive sums, in any order."""
    chosen = [[int(i == j) for j in range(data.n)] for i in range(data.n)]
    rows = [[to_double(v) for v in data.combine(one, True)] for one in chosen]
    order = [int(i) for i in rng.permutation(data.dimension)]
    w = g = [0.0] * data.dimension
    run = [w]
    for t in range(length):
        scores = [sum(row[j] * w[j] for j in order) for row in rows]
        raw = [float(np.exp(min(scores) - s)) for s in scores]
        q = [v / sum(raw) for v in raw]
        pull = [sum(a * row[j] for a, row in zip(q, rows, strict=True)) for j in range(len(w))]
        g = [t / (t + 1) * (a + b) for a, b in zip(g, pull, strict=True)]
        w = [a + (b + c) for a, b, c in zip(w, g, pull, strict=True)]
        run.append(w)
    return np.array(run)


def gradient_descent(data: Data, rng: Any) -> Iterator[Step]:
    """Ji, Srebro, Telgarsky 2021, Section 3.1: w_{t+1} = w_t − ∇R(w_t), of the exponential loss."""
    w = zero(data)
    while True:
        yield Step(w)
        weights = [(-s).exp() / data.n for s in data.scores(w, True)]
        if not all(v < 10**6 for v in weights):
            return
        w = add(w, data.combine(weights, True))


def normalized_perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Ramdas, Peña 2015, Algorithm 2: that of NKP, in coordinates."""
    yield from kernel_perceptron(data, rng)


def von_neumann(data: Data, rng: Any) -> Iterator[Step]:
    """Ramdas, Peña 2015, Algorithm 5 (NVN); weights p_k, exact where the products of the rows are.

    θ_k minimises ‖(1 − λ) w + λ a_j‖² over [0, 1]: ⟨w, w − a_j⟩/‖w − a_j‖².
    """
    gram = _unit_gram(data)
    p: list[Any] = [fmpq(1, data.n)] * data.n
    while True:
        scores = _products(gram, p)
        square = sum((a * b for a, b in zip(p, scores, strict=True)), fmpq(0))
        over = bool(square <= EPSILON**2)
        yield Step(data.combine(p, True), {"dual": p, **({"halt": "certificate"} if over else {})})
        if over:
            return
        j = _least(scores, rng)
        below = square - 2 * scores[j] + gram[j][j]
        if not below > 0:  # w is the row itself
            return
        theta = (square - scores[j]) / below
        if not 0 <= theta <= 1:
            return
        p = [(1 - theta) * v + (theta if i == j else 0) for i, v in enumerate(p)]
        # Fractions have three times the digits after every step: the run is as long as they allow.
        if isinstance(p[0], fmpq) and max(int(v.q).bit_length() for v in p) > 50_000:
            return


#: What NVN and SNKPVN are asked for: ε and δ.
EPSILON = fmpq(1, 4)


def smoothed_von_neumann(data: Data, rng: Any) -> Iterator[Step]:
    """Ramdas, Peña 2015, Algorithm 6 (SNKPVN) with q = 1/n and δ = ε; says p_k."""
    n, gram = data.n, _unit_gram(data)
    q: list[Any] = [fmpq(1, n)] * n
    alpha, p, k = q, [], 0
    while True:
        mu = fmpq(4 * n, (k + 1) * (k + 2))
        scores = _products(gram, alpha)
        answer = nearest_in_simplex([a - s / mu for a, s in zip(q, scores, strict=True)])
        p = answer if not k else _mixed(p, answer, fmpq(2, k + 2))
        square = sum((a * b for a, b in zip(p, _products(gram, p), strict=True)), fmpq(0))
        over = "separated" if all(s > 0 for s in scores) else ""
        over = over or ("certificate" if square < EPSILON**2 else "")
        extra = {"p": p, "dual": alpha, **({"halt": over} if over else {})}
        yield Step(data.combine(alpha, True), extra)
        if over:
            return
        alpha, k = _smoothed(alpha, p, answer, fmpq(2, k + 3)), k + 1


def _mixed(p: list[Any], answer: list[Any], share: fmpq) -> list[Any]:
    return [(1 - share) * a + share * b for a, b in zip(p, answer, strict=True)]


def _smoothed(alpha: list[Any], p: list[Any], answer: list[Any], theta: fmpq) -> list[Any]:
    """The next α of Algorithms 4 and 6."""
    return [
        (1 - theta) * (a + theta * b) + theta**2 * c
        for a, b, c in zip(alpha, p, answer, strict=True)
    ]


def _unit_gram(data: Data) -> list[list[Any]]:
    """Inner products of the rows divided by the largest norm: rationals if those are."""
    return [[v / data.radius_squared for v in row] for row in data.gram]


def _products(gram: list[list[Any]], p: list[Any]) -> list[Any]:
    return [sum((g * v for g, v in zip(row, p, strict=True)), fmpq(0)) for row in gram]


def nearest_in_simplex(v: list[Any]) -> list[Any]:
    """The point of the simplex nearest to v: max(v_i − τ, 0), with the τ that makes the sum one.

    Of balls, entries that cannot be told from τ are 0 up to their radius, on either side of it.
    """
    order = sorted(v, key=lambda x: x if isinstance(x, fmpq) else arb(x).mid(), reverse=True)
    total, tau = fmpq(0), None
    for count, value in enumerate(order, 1):
        total += value
        if value - (total - 1) / count > 0:
            tau = (total - 1) / count
    assert tau is not None
    gaps = [x - tau for x in v]
    return [g.max(arb(0)) if isinstance(g, arb) else max(g, fmpq(0)) for g in gaps]
