"""Loops over the rows of a dense matrix of integers or floats.

`softmin` reads the data once and is bound by memory. While a few rows are added to the pull from
the cache, memory would be idle: the next rows are asked for meanwhile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gammabar.problems.compiled import plain
from gammabar.problems.compiled.jit import in_order, reordered
from gammabar.problems.compiled.softmax import Asked, weigh
from gammabar.problems.problem import Array, Floats

instructions: Any
try:
    from gammabar.problems.compiled import instructions
except ImportError:
    instructions = None  # `plain_way` says so, and no branch with it is compiled


class DenseRows(NamedTuple):
    """A C-contiguous matrix and the labels -1 and +1 of its rows."""

    X: Array
    y: Array


@reordered
def dot(X: Array, w: Floats, out: Floats, lo: int, hi: int) -> None:
    """out[i] = <x_i, w>, four rows at a time to load w once for them and to overlap their sums."""
    full = lo + (hi - lo) // 4 * 4
    for i in range(lo, full, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(len(w)):
            s0 += x0[j] * w[j]
            s1 += x1[j] * w[j]
            s2 += x2[j] * w[j]
            s3 += x3[j] * w[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(full, hi):
        x0, s0 = X[i], 0.0
        for j in range(len(w)):
            s0 += x0[j] * w[j]
        out[i] = s0


@reordered
def add(X: Array, rows: Array, q: Floats, out: Floats) -> None:
    """out += sum of q[r] x_rows[r], four rows at a time to spare passes over out."""
    full = len(rows) - len(rows) % 4
    for r in range(0, full, 4):
        a, b, c, e = X[rows[r]], X[rows[r + 1]], X[rows[r + 2]], X[rows[r + 3]]
        qa, qb, qc, qe = q[r], q[r + 1], q[r + 2], q[r + 3]
        for j in range(len(out)):
            out[j] += (qa * a[j] + qb * b[j]) + (qc * c[j] + qe * e[j])
    for r in range(full, len(rows)):
        a, qa = X[rows[r]], q[r]
        for j in range(len(out)):
            out[j] += qa * a[j]


@in_order
def _eight_dots(X: Array, w: Floats, i: int, last: int, out: Floats, plainly: bool | None) -> None:
    """out[r] = <x_(i + r), w> for r < 8; the row `last` stands for those after it."""
    whole = len(w) - len(w) % 16
    if plainly is None:
        instructions.eight_sums(X, w, i, last, whole, out)
    else:
        plain.eight_sums(X, w, i, last, whole, out)
    for r in range(8):
        x, total = X[min(i + r, last)], out[r]
        for j in range(whole, len(w)):
            total += x[j] * w[j]
        out[r] = total


@in_order
def _eight_add(X: Array, q: Floats, i: int, last: int, out: Floats, plainly: bool | None) -> None:
    """out += sum of q[r] x_(i + r) over r < 8, where q is zero for rows after `last`.

    Two chains of products, each added to what is there: however a compiler fuses a product and a
    sum, there is one way to do it. The 0.0 begins the second chain.
    """
    x0, x1, x2, x3 = X[i], X[min(i + 1, last)], X[min(i + 2, last)], X[min(i + 3, last)]
    x4, x5 = X[min(i + 4, last)], X[min(i + 5, last)]
    x6, x7 = X[min(i + 6, last)], X[min(i + 7, last)]
    q0, q1, q2, q3, q4, q5, q6, q7 = q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
    d = len(out)
    whole, ahead = d - d % 16, (i + 12) * d
    for start in range(0, whole, 16):
        if plainly is None:
            for r in range(4):
                instructions.fetch(X, ahead + r * d + start)
        for j in range(start, start + 16):
            one = q3 * x3[j] + (q2 * x2[j] + (q1 * x1[j] + (q0 * x0[j] + out[j])))
            other = q7 * x7[j] + (q6 * x6[j] + (q5 * x5[j] + (q4 * x4[j] + 0.0)))
            out[j] = one + other
    for j in range(whole, d):
        one = q3 * x3[j] + (q2 * x2[j] + (q1 * x1[j] + (q0 * x0[j] + out[j])))
        other = q7 * x7[j] + (q6 * x6[j] + (q5 * x5[j] + (q4 * x4[j] + 0.0)))
        out[j] = one + other


@in_order
def softmin(
    rows: DenseRows,
    asked: Asked,
    scores: Floats,
    pull: Floats,
    lo: int,
    hi: int,
    plainly: bool | None,
) -> tuple[float, float]:
    """One stripe: the smallest score and the sum of weights relative to it.

    Fills its part of the scores, and pull = sum of exp((smallest - score_i) / temperature) y_i
    inner x_i over its rows, by eight of them.
    """
    X, y = rows.X, rows.y
    for j in range(len(pull)):
        pull[j] = 0.0
    running = (np.inf, 0.0)
    dots, weights = np.empty(8), np.empty(8)
    for i in range(lo, hi, 8):
        stop = min(i + 8, hi)
        _eight_dots(X, asked.w, i, hi - 1, dots, plainly)
        for r in range(8):
            weights[r] = 0.0
        for r in range(stop - i):
            scores[i + r] = dots[r] * (asked.outer * y[i + r])
        running, some = weigh(asked, y, scores, i, stop, running, pull, weights)
        if some:
            _eight_add(X, weights, i, hi - 1, pull, plainly)
    return running
