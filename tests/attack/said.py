"""What a method says beside w, rightly and not: claims that follow from w, and lies about them.

A field of `extras[t]` is a claim about t. What is no list of numbers of the right length is `BAD`,
which is a claim that is false of everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from .data import Data, to_double
from .facts import Facts

Extras = list[dict[str, Any]]
BAD: list[arb] = []
#: Claims that are vectors of numbers.
VECTORS = ("p", "dual", "momentum", "mu", "nu", "v")


def said(f: Facts, t: int, name: str) -> list[arb] | None:
    """The numbers that are claimed at t; None where nothing is said, `BAD` if they are none."""
    value = f.extras[t].get(name)
    if value is None:
        return None
    length = f.data.n if name in ("p", "dual", "mu", "nu") else f.data.dimension
    if not isinstance(value, np.ndarray) or value.shape != (length,) or value.dtype.kind != "f":
        return BAD
    return [arb(float(v)) for v in value] if np.isfinite(value).all() else BAD


def row_said(f: Facts, t: int) -> list[arb] | None:
    """The row that is claimed to be taken at t; None if it is none."""
    i = f.extras[t].get("i")
    if type(i) is not int or not 0 <= i < f.data.n:
        return None
    return f.data.combine([int(i == j) for j in range(f.data.n)], f.unit)


def doubles(values: list[Any]) -> np.ndarray:
    return np.array([to_double(arb(v)) for v in values])


def _lists(f: Facts) -> tuple[list[list[arb]], list[list[arb]]]:
    """μ_t and ν_t of eq. (B.1) with λ_t = 2/(t+2), row by row."""
    mu, nu = [f.q[0]], []
    for t, q in enumerate(f.q):
        if t:
            share = arb(2) / (t + 1)
            mu.append([(1 - share) * a + share * b for a, b in zip(mu[-1], q, strict=True)])
        share = arb(2) / (t + 2)
        nu.append([(1 - share) * a + share * b for a, b in zip(mu[-1], q, strict=True)])
    return mu, nu


def momentum_of(f: Facts) -> Extras:
    """Algorithm 1: g_t."""
    return [{"momentum": doubles(g)} for g in f.momentum]


def sequences_of(f: Facts) -> Extras:
    """The dual form: A w_t, q_t, μ_t and ν_t."""
    mu, nu = _lists(f)
    return [
        {"p": doubles(s), "dual": doubles(q), "mu": doubles(m), "nu": doubles(v)}
        for s, q, m, v in zip(f.scores, f.q, mu, nu, strict=True)
    ]


def weights_of(f: Facts) -> Extras:
    """Algorithm 2: q_t, beside the rows that were drawn."""
    return [{**extra, "dual": doubles(q)} for extra, q in zip(f.extras, f.q, strict=True)]


def points_of(f: Facts) -> Extras:
    """The batch perceptron that delivers its points: v_t = w_t."""
    return [{**extra, "v": doubles(w)} for extra, w in zip(f.extras, f.w, strict=True)]


def means_of(f: Facts) -> Extras:
    """The points whose averages are delivered: v_t = t w_t − (t − 1) w_{t−1}."""
    said = [f.extras[0]]
    for t in f.updates():
        point = [t * a - (t - 1) * b for a, b in zip(f.w[t], f.w[t - 1], strict=True)]
        said.append({**f.extras[t], "v": doubles(point)})
    return said


#: What a method says of the w that it delivers, where it is more than what its run says.
SAYS: dict[str, Callable[[Facts], Extras]] = {
    "momentum_said": momentum_of,
    "dual_form": sequences_of,
    "logistic_acceleration": momentum_of,
    "adaptive_sampling": weights_of,
    "momentum_sampling": weights_of,
    "giant_sampling": weights_of,
    "cotter_last": points_of,
}
#: The same for wrong runs only: of right ones the run itself says it with fewer roundings.
OF_WRONG: dict[str, Callable[[Facts], Extras]] = {"cotter": means_of}


Lie = Callable[[Any, Extras, int, np.random.Generator], Any]


def _entry(rng: np.random.Generator, value: Any) -> int:
    return int(rng.integers(len(value)))


def _off(value: Any, extras: Extras, t: int, rng: np.random.Generator) -> Any:
    """Larger by a thousandth, in the entry that is largest."""
    value = value.copy()
    value[int(np.abs(value).argmax())] *= 1 + 1e-3
    return value


def _outside(value: Any, extras: Extras, t: int, rng: np.random.Generator) -> Any:
    """Outside of the simplex, in one entry."""
    value = value.copy()
    value[_entry(rng, value)] -= 1
    return value


def _hole(value: Any, extras: Extras, t: int, rng: np.random.Generator) -> Any:
    value = value.copy()
    value[_entry(rng, value)] = float(rng.choice([np.nan, np.inf, -np.inf]))
    return value


def _turned(value: Any, extras: Extras, t: int, rng: np.random.Generator) -> Any:
    return np.roll(value, 1)


#: About a vector; of another t is what is said of any t but this one.
ABOUT_VECTORS: dict[str, Lie] = {
    "negated": lambda value, extras, t, rng: -value,
    "doubled": lambda value, extras, t, rng: 2 * value,
    "scaled": lambda value, extras, t, rng: value * float(rng.choice([1e-200, 1e150])),
    "off": _off,
    "outside": _outside,
    "turned": _turned,
    "zero": lambda value, extras, t, rng: np.zeros_like(value),
    "short": lambda value, extras, t, rng: value[:-1],
    "hole": _hole,
}
ABOUT_ROWS: dict[str, Lie] = {
    "next": lambda i, extras, t, rng: i + 1,
    "before": lambda i, extras, t, rng: i - 1,
    "half": lambda i, extras, t, rng: i + 0.5,
    "text": lambda i, extras, t, rng: str(i),
    "far": lambda i, extras, t, rng: 10**30,
}


def lie(data: Data, extras: Extras, rng: np.random.Generator) -> tuple[str, Extras]:
    """One field told wrongly, at one t or from it on; its name and what is said instead."""
    told = [dict(extra) for extra in extras]
    field = str(rng.choice(sorted({name for extra in extras for name in extra} - {"halt"})))
    first = int(rng.integers(len(extras)))
    last = first + 1 if rng.random() < 0.5 else len(extras)
    kinds = ABOUT_ROWS if field == "i" else ABOUT_VECTORS
    kind = str(rng.choice([*kinds, "silent", "of another t"]))
    for t in range(first, last):
        if kind == "silent":
            told[t].pop(field, None)
        elif kind == "of another t":
            told[t][field] = extras[t - 1 if t else -1].get(field)
        elif told[t].get(field) is not None:
            told[t][field] = kinds[kind](extras[t][field], extras, t, rng)
    when = f"at t = {first}" if last == first + 1 else f"from t = {first}"
    return f"{field} {kind} {when}", told
