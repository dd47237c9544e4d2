"""Ji, Srebro and Telgarsky (2021): Algorithm 2, which draws rows, and the batch perceptron."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from flint import arb, fmpq

from .data import Data, to_double
from .facts import PART, ROUNDED, Facts, Side, size, smallest_step, step_side
from .methods import Step, add, softmax, times, zero
from .said import BAD, row_said, said

#: θ of the variants: that of Theorem 4.1 is small, that of the figures one; and one by which w
#: gets so large that rounding decides the weights.
SMALL, GIANT = 0.5, 2.0**45


def adaptive_sampling(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 2 without momentum, as Theorem 4.1 has it."""
    yield from _sampled(data, SMALL, False, _drawn(rng))


def momentum_sampling(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 2 with β_t = t/(t+1) and θ = 1, as the figures have it."""
    yield from _sampled(data, 1.0, True, _drawn(rng))


def giant_sampling(data: Data, rng: Any) -> Iterator[Step]:
    yield from _sampled(data, GIANT, False, _drawn(rng))


def unlikely_sampling(data: Data, rng: Any) -> Iterator[Step]:
    """Not from q_t: the row of least weight, every time."""
    yield from _sampled(data, SMALL, False, lambda q: min(range(len(q)), key=lambda i: q[i].mid()))


def _drawn(rng: Any) -> Callable[[list[arb]], int]:
    def draw(q: list[arb]) -> int:
        weights = np.array([to_double(v) for v in q])
        return int(rng.choice(len(q), p=weights / weights.sum()))

    return draw


def _sampled(
    data: Data, theta: float, momentum: bool, draw: Callable[[list[arb]], int]
) -> Iterator[Step]:
    """i_t ∼ q_t; g_t = β_t (g_{t−1} + a_i); w_{t+1} = w_t + θ (g_t + a_i); rows of A are −z_i."""
    w = g = zero(data)
    t = 0
    while True:
        q = softmax(data.scores(w, True))
        i = draw(q)
        yield Step(w, {"i": i, "dual": q})
        row = data.combine([int(i == j) for j in range(data.n)], True)
        g = times(fmpq(t, t + 1) if momentum else fmpq(0), add(g, row))
        w = add(w, times(arb(theta), add(g, row)))
        t += 1


def _moves(f: Facts, theta: float, momentum: bool) -> Iterator[Side]:
    """Each step is that of the row which is said to be drawn."""
    g = zero(f.data)
    for t in range(len(f.w)):
        row = row_said(f, t)
        if row is None:
            yield arb(1), arb(0)
            return
        g = times(fmpq(t, t + 1) if momentum else fmpq(0), add(g, row))
        if t + 1 < len(f.w):
            yield step_side(f, t, times(arb(theta), add(g, row)))


def _largest(values: list[arb]) -> arb:
    most = arb(0)
    for v in values:
        most = most.max(abs(v))
    return most


def sampling_step(theta: float, momentum: bool) -> Callable[[Facts], Iterator[Side]]:
    """The steps, and that the weights which are said are the softmax of −A w_t.

    Weights are at most one, so that a court may be wrong about none of them by 1/256; and by less
    where the scores, as they are added up, are known better.
    """

    def sides(f: Facts) -> Iterator[Side]:
        yield from _moves(f, theta, momentum)
        for t, q in enumerate(f.q):
            claimed = said(f, t, "dual")
            if claimed is None or claimed is BAD:
                yield arb(1), arb(0)
                return
            known = 1 + _largest(f.scores[t]) + (t + 1) ** 2 * arb(theta)
            yield _largest(add(claimed, q, -1)), PART.min(ROUNDED * (t + 1) * known)

    return sides


#: With this probability the claim about the draws is false of a right run.
CHANCE = arb(10) ** -9


def draws(theta: float) -> Callable[[Facts], Iterator[Side]]:
    """ln Σ_k Π_{s<t} r_s^k[i_s]/q_s[i_s] ≤ ln(10/δ), where the steps are those of i_s."""

    def sides(f: Facts) -> Iterator[Side]:
        yield from _moves(f, theta, False)
        ratios = [arb(1)] * 10
        last, row = [arb(1) / f.data.n] * f.data.n, -1
        for t in f.updates():
            q, i = f.q[t - 1], f.extras[t - 1]["i"]
            ratios = [r * v / q[i] for r, v in zip(ratios, _others(q, last, row, i), strict=True)]
            last, row = q, i
            yield sum(ratios, arb(0)).log(), (10 / CHANCE).log()

    return sides


def _others(q: list[arb], last: list[arb], row: int, i: int) -> Iterator[arb]:
    """The weight of row i in ten other distributions."""
    for numerator in (0, 5, 9, 11, 15, 20):
        powers = [(v.log() * numerator / 10).exp() for v in q]
        yield powers[i] / sum(powers, arb(0))
    yield q[i] * 9 / 10 + arb(1) / (10 * len(q))
    yield last[i]
    best = max(range(len(q)), key=lambda j: q[j].mid())
    yield (q[i] + int(i == best)) / 2
    yield (q[i] + int(i == row)) / 2


# The batch perceptron of Cotter, Shalev-Shwartz and Srebro, one of the paper's baselines


def cotter(data: Data, rng: Any) -> Iterator[Step]:
    """v_{t+1} = Π(v_t + a_i/√(t+1)), i a row of smallest score; the averages of v_1, …, v_t."""
    yield from _ascent(data, rng, averaged=True)


def cotter_last(data: Data, rng: Any) -> Iterator[Step]:
    """The same with v_t for the average."""
    yield from _ascent(data, rng, averaged=False)


def _ascent(data: Data, rng: Any, averaged: bool) -> Iterator[Step]:
    v = total = zero(data)
    t = 0
    while True:
        scores = data.scores(v, True)
        lowest = [i for i, s in enumerate(scores) if not any(s > other for other in scores)]
        i = int(rng.choice(lowest))
        yield Step(times(fmpq(1, max(t, 1)), total) if averaged else v, {"v": v, "i": i})
        row = data.combine([int(i == j) for j in range(data.n)], True)
        v = _projected(data, add(v, row, 1 / arb(t + 1).sqrt()))
        total = add(total, v)
        t += 1


def _projected(data: Data, u: list[arb]) -> list[arb]:
    return times(1 / data.norm(u, True).max(arb(1)), u)


def _reach(f: Facts, v: list[arb]) -> arb:
    """What of a vector is rounded: its norm, or that of every coefficient."""
    return f.length(v) if f.data.linear else sum((abs(x) for x in v), arb(0))


def ascent_step(averaged: bool) -> Callable[[Facts], Iterator[Side]]:
    """v_t, i and w_t as they are said: the projected step, the row, the mean."""

    def sides(f: Facts) -> Iterator[Side]:
        total, due = zero(f.data), None
        for t in range(len(f.w)):
            v, row = said(f, t, "v"), row_said(f, t)
            if v is None and not t:  # judged by w_t alone
                yield arb(0, 1), arb(0)
                return
            if v is None or v is BAD or row is None:
                yield arb(1), arb(0)
                return
            if due is not None:
                # All of v is rounded: of the step it may be off by a part, of v by rounding.
                start, step = due
                most = PART * f.length(add(step, start, -1)) + (t + 1) * (
                    ROUNDED * (_reach(f, start) + _reach(f, v)) + smallest_step(f)
                )
                yield f.length(add(v, step, -1)), most
                total = add(total, v)
                mean = times(fmpq(1, t), total) if averaged else v
                most = PART * f.length(times(fmpq(1, t), v)) if averaged else arb(0)
                most += (t + 1) * (ROUNDED * (size(f, t) + _reach(f, mean)) + smallest_step(f))
                yield f.length(add(f.w[t], mean, -1)), most
            yield from _lowest(f, t, v)
            due = v, _projected(f.data, add(v, row, 1 / arb(t + 1).sqrt()))

    return sides


def _lowest(f: Facts, t: int, v: list[arb]) -> Iterator[Side]:
    """No row has a smaller score than that of i, by more than what adding up may do to both."""
    scores, i = f.data.scores(v, True), f.extras[t]["i"]
    norms = [arb(f.data.gram[j][j] / f.data.radius_squared).sqrt() for j in range(f.data.n)]
    for j, s in enumerate(scores):
        yield scores[i] - s, ROUNDED * (t + 1) * (norms[i] + norms[j]) + smallest_step(f)
