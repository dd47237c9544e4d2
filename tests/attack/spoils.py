"""What is done to the iterates of a right run: some are rounding, most are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Run = np.ndarray  # row t is w_t
Spoil = Callable[[Run, np.random.Generator], Run]


def _from(run: Run, rng: np.random.Generator) -> int:
    return int(rng.integers(0, len(run)))


def jitter(run: Run, rng: np.random.Generator) -> Run:
    """Each number is rounded up or down: faithfully, but not to the nearest."""
    moved = np.nextafter(run, rng.choice([-1, 1]) * np.inf)
    return np.where((rng.random(run.shape) < 0.5) | (run == 0), run, moved)


def negated(run: Run, rng: np.random.Generator) -> Run:
    run = run.copy()
    run[_from(run, rng) :] *= -1
    return run


def one_negated(run: Run, rng: np.random.Generator) -> Run:
    run = run.copy()
    run[_from(run, rng)] *= -1
    return run


def scaled(run: Run, rng: np.random.Generator) -> Run:
    """By a power of two: directions stay, and their lengths do not."""
    power = int(rng.choice([-1074, -1000, -540, -300, -50, -1, 1, 50, 300, 540, 1000]))
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(run, power)


def last_scaled(run: Run, rng: np.random.Generator) -> Run:
    run = run.copy()
    run[-1] = scaled(run[-1:], rng)[0]
    return run


def zeroed(run: Run, rng: np.random.Generator) -> Run:
    run = run.copy()
    run[_from(run, rng) :] = 0
    return run


def stuck(run: Run, rng: np.random.Generator) -> Run:
    run, t = run.copy(), _from(run, rng)
    run[t:] = run[t]
    return run


def late(run: Run, rng: np.random.Generator) -> Run:
    """One behind: w_{t−1} for w_t."""
    return np.concatenate([run[:1], run[:-1]])


def early(run: Run, rng: np.random.Generator) -> Run:
    return np.concatenate([run[:1], run[2:], run[-1:]]) if len(run) > 2 else run


def slow(run: Run, rng: np.random.Generator) -> Run:
    """Off by a millionth, a thousandth or a tenth in one coordinate."""
    run, part = run.copy(), float(rng.choice([1e-9, 1e-5, 1e-3, 0.1]))
    run[:, int(rng.integers(run.shape[1]))] *= 1 + part
    return run


def huge(run: Run, rng: np.random.Generator) -> Run:
    run = run.copy()
    run[_from(run, rng) :] = float(rng.choice([1.5e308, -1.5e308, 1e200, -1e160]))
    return run


def tiny(run: Run, rng: np.random.Generator) -> Run:
    """Nearly nothing, in a direction of its own."""
    run, t = run.copy(), _from(run, rng)
    size = float(rng.choice([5e-324, 1e-310, 1e-260, 1e-160, 1e-100]))
    run[t:] = rng.choice([-1.0, 0.0, 1.0], run[t:].shape) * size
    return run


def other(run: Run, rng: np.random.Generator) -> Run:
    """Another direction of the same length."""
    run, t = run.copy(), _from(run, rng)
    with np.errstate(over="ignore", under="ignore"):
        run[t] = rng.normal(size=run.shape[1]) * np.abs(run[t]).max()
    return run


def mixed(run: Run, rng: np.random.Generator) -> Run:
    """Coordinates of very different size."""
    run, t = run.copy(), _from(run, rng)
    with np.errstate(over="ignore", under="ignore"):
        run[t:] = np.ldexp(run[t:], rng.integers(-1000, 1000, run.shape[1]))
    return run


#: Runs that are right: what rounding may do, and no more.
RIGHT: dict[str, Spoil] = {"nearest": lambda run, rng: run, "jitter": jitter}
WRONG: dict[str, Spoil] = {
    f.__name__: f
    for f in (
        negated,
        one_negated,
        scaled,
        last_scaled,
        zeroed,
        stuck,
        late,
        early,
        slow,
        huge,
        tiny,
        other,
        mixed,
    )
}
