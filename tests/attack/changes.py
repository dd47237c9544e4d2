"""What is done to right runs: rounding, wrong iterates, and false reports beside w."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .facts import Extras

Run = np.ndarray  # row t is w_t
Rng = np.random.Generator
Change = Callable[[Run, Rng], Run]

POWERS = [-1074, -1000, -540, -300, -50, -1, 1, 50, 300, 540, 1000]


def _from(run: Run, rng: Rng) -> int:
    return int(rng.integers(0, len(run)))


def jitter(run: Run, rng: Rng) -> Run:
    """Each number is rounded up or down: faithfully, but not to the nearest."""
    moved = np.nextafter(run, rng.choice([-1, 1]) * np.inf)
    return np.where((rng.random(run.shape) < 0.5) | (run == 0), run, moved)


def scaled(run: Run, rng: Rng) -> Run:
    """By a power of two: directions stay, and their lengths do not."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(run, int(rng.choice(POWERS)))


def late(run: Run, rng: Rng) -> Run:
    """One behind: w_{t−1} for w_t."""
    return np.concatenate([run[:1], run[:-1]])


def early(run: Run, rng: Rng) -> Run:
    return np.concatenate([run[:1], run[2:], run[-1:]]) if len(run) > 2 else run


def slow(run: Run, rng: Rng) -> Run:
    """Off by a little or a tenth in one coordinate."""
    run, part = run.copy(), float(rng.choice([1e-9, 1e-5, 1e-3, 0.1]))
    run[:, int(rng.integers(run.shape[1]))] *= 1 + part
    return run


def last_scaled(run: Run, rng: Rng) -> Run:
    return np.concatenate([run[:-1], scaled(run[-1:], rng)])


def huge(run: Run, rng: Rng) -> Run:
    value = float(rng.choice([1.5e308, -1.5e308, 1e200, -1e160]))
    return _tail(lambda rest, rng: value)(run, rng)


def _tail(change: Callable[[Run, Rng], Any]) -> Change:
    """Another run from a random t on; `change` makes it of the old one from t on."""

    def changed(run: Run, rng: Rng) -> Run:
        t = _from(run, rng)
        with np.errstate(over="ignore", under="ignore"):
            new = np.broadcast_to(change(run[t:], rng), run[t:].shape)
        return np.concatenate([run[:t], new])

    return changed


def _first(change: Callable[[Any, Rng], Any]) -> Change:
    """Another w_t for one t."""
    return _tail(lambda rest, rng: np.concatenate([[change(rest[0], rng)], rest[1:]]))


def _tiny(rest: Run, rng: Rng) -> Run:
    """Nearly nothing, in a direction of its own."""
    size = float(rng.choice([5e-324, 1e-310, 1e-260, 1e-160, 1e-100]))
    return rng.choice([-1.0, 0.0, 1.0], rest.shape) * size


#: Runs that are right: what rounding may do, and no more.
RIGHT: dict[str, Change] = {"nearest": lambda run, rng: run, "jitter": jitter}
WRONG: dict[str, Change] = {
    "negated": _tail(lambda rest, rng: -rest),
    "one_negated": _first(lambda w, rng: -w),
    "scaled": scaled,
    "last_scaled": last_scaled,
    "zeroed": _tail(lambda rest, rng: 0.0),
    "stuck": _tail(lambda rest, rng: rest[0]),
    "late": late,
    "early": early,
    "slow": slow,
    "huge": huge,
    "tiny": _tail(_tiny),
    "other": _first(lambda w, rng: rng.normal(size=len(w)) * np.abs(w).max()),
    "mixed": _tail(lambda rest, rng: np.ldexp(rest, rng.integers(-1000, 1000, rest.shape[1]))),
}


# False reports

Lie = Callable[[Any, Rng], Any]


def _plus(value: Any, rng: Rng, more: float) -> Any:
    """Another number for one entry of a vector."""
    value = value.copy()
    value[int(rng.integers(len(value)))] += more
    return value


def _off(value: Any, rng: Rng) -> Any:
    """Larger by a thousandth, in the entry that is largest."""
    value = value.copy()
    value[int(np.abs(value).argmax())] *= 1 + 1e-3
    return value


ABOUT_VECTORS: dict[str, Lie] = {
    "negated": lambda value, rng: -value,
    "doubled": lambda value, rng: 2 * value,
    "scaled": lambda value, rng: value * float(rng.choice([1e-200, 1e150])),
    "off": _off,
    "outside": lambda value, rng: _plus(value, rng, -1.0),
    "turned": lambda value, rng: np.roll(value, 1),
    "zero": lambda value, rng: np.zeros_like(value),
    "short": lambda value, rng: value[:-1],
    "hole": lambda value, rng: _plus(value, rng, more=float(rng.choice([np.nan, np.inf, -np.inf]))),
}
ABOUT_ROWS: dict[str, Lie] = {
    "next": lambda i, rng: i + 1,
    "before": lambda i, rng: i - 1,
    "half": lambda i, rng: i + 0.5,
    "text": lambda i, rng: str(i),
    "far": lambda i, rng: 10**30,
}


def lie(extras: Extras, rng: Rng) -> tuple[str, Extras]:
    """One field reported wrongly, at one t or from it on; its name, and the reports."""
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
            told[t][field] = kinds[kind](extras[t][field], rng)
    when = f"at t = {first}" if last == first + 1 else f"from t = {first}"
    return f"{field} {kind} {when}", told


def lie_about_weights(extras: Extras, rng: Rng) -> tuple[str, Extras]:
    """The same for the methods of Ramdas and Peña, which report counts and exits as well."""
    k = int(rng.integers(0, len(extras)))
    names = [*extras[k], *(["halt"] if rng.random() < 0.1 else [])]
    if not names:
        return "", extras
    name = str(rng.choice(names))
    other = extras[int(rng.integers(0, len(extras)))].get(name)
    how, new = _another(name, extras[k].get(name), other, rng)
    last = len(extras) if rng.random() < 0.3 else k + 1
    changed = [{**said, name: new} if k <= j < last else said for j, said in enumerate(extras)]
    return f"{name} {how}", changed


def _another(name: str, old: Any, other: Any, rng: Rng) -> tuple[str, Any]:
    if name in ("halt", "returned"):
        options = {"halt": ["separated", "certificate", None], "returned": [False, None]}[name]
        new = options[int(rng.integers(len(options)))]
        return f"said to be {new}", new
    if name in ("outer", "inner"):
        more = int(rng.choice([-1, 1, 2]))
        return (f"{more:+d}", old + more) if rng.random() < 0.7 else ("of another k", other)
    choice = int(rng.integers(7))
    if choice == 0:
        return "negated", -old
    if choice == 1:
        return "doubled", 2 * old
    if choice == 2:
        return "of another k", old if other is None else other
    if choice == 3:
        return "scaled down", old * 2.0 ** -int(rng.choice([1, 40, 600]))
    if isinstance(old, float):
        return "a little off", old * (1 + 1e-3)
    if choice == 4:
        return "turned", old[::-1].copy()
    return "moved", _plus(old, rng, 1e-3 if choice == 5 else -0.1)
