"""What Tyurin (2024) claims of perceptrons and of logistic regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import arb, fmpq

from .facts import (
    Facts,
    Side,
    Trit,
    best_side,
    known_steps,
    radius,
    ratio,
    separated,
    sign,
    size,
    step_side,
)

#: A score of this part of what it is a sum of may be seen on either side of 0.
NEAR = arb(10) ** -12


def mistakes(f: Facts) -> tuple[Any, list[Trit]]:
    return ratio(f), separated(f)


def batch_bound(f: Facts) -> tuple[Any, list[Trit]]:
    return f.data.n * ratio(f), separated(f)


def our_batch_bound(f: Facts) -> tuple[Any, list[Trit]]:
    n = f.data.n
    return ratio(f) * fmpq((n + 1) ** 2, 4 * n), separated(f)


def theorem_6_1(f: Facts) -> tuple[Any, list[Trit]]:
    extra = 2 * arb(2 * f.data.n - 1).log() / arb(f.gamma_squared)
    return ratio(f) + extra, separated(f)


def _sides(f: Facts, t: int) -> list[Trit]:
    """Whether scores are positive; None where rounding may show a solver either side.

    Doubles compute small whole numbers without rounding, and anything at w = 0.
    """
    exact = f.data.whole and all(v.is_integer() and abs(v) < 2**20 for v in f.w[t])
    if exact or all(v == 0 for v in f.w[t]):
        return [sign(s) for s in f.scores[t]]
    near = NEAR * radius(f) * size(f, t)
    return [sign(s) if abs(s) > near else None for s in f.scores[t]]


def _rows(f: Facts, t: int, first: Any, normalised: bool) -> list[Any] | None:
    """Weights of the step of a batch perceptron; None if the side of a row is not known."""
    signs = _sides(f, t)
    if None in signs:
        return None
    wrong = [i for i, s in enumerate(signs) if not s]
    if t == 0 and first is not None:
        q: list[Any] = [first] * f.data.n
    elif not wrong:
        return None
    else:
        q = [fmpq(int(i in wrong), len(wrong) if normalised else f.data.n) for i in range(f.data.n)]
    return q


def batch_step(f: Facts) -> Iterator[Side]:
    yield from known_steps(f, lambda t: _rows(f, t, fmpq(1, 2 * f.data.n), False))


def normalized_batch_step(f: Facts) -> Iterator[Side]:
    yield from known_steps(f, lambda t: _rows(f, t, None, True))


def row_step(f: Facts) -> Iterator[Side]:
    """The step is one of the rows whose score is not positive."""
    for t in range(len(f.w) - 1):
        signs = _sides(f, t)
        if all(s is not False for s in signs):  # it may have ended
            continue
        sides = []
        for i in (i for i, s in enumerate(signs) if not s):
            row = f.data.combine([int(i == j) for j in range(f.data.n)], False)
            sides.append(step_side(f, t, row))
        yield best_side(sides)


def logistic_step(f: Facts) -> Iterator[Side]:
    yield from known_steps(f, lambda t: _weights(f, t, False))


def normalized_logistic_step(f: Facts) -> Iterator[Side]:
    yield from known_steps(f, lambda t: _weights(f, t, True))


def _weights(f: Facts, t: int, normalised: bool) -> list[arb]:
    raw = [1 / (1 + s.exp()) for s in f.scores[t]]
    total = sum(raw, arb(0)) if normalised else f.data.n
    return [v / total for v in raw]
