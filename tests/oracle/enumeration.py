"""Supports, digits and enclosures against enumeration in rationals, on small problems.

    python -m tests.oracle.enumeration --trials 20000 [--first SEED]

Problems of all scale classes; in every other one a row nearly ties with another, 2⁻⁴⁰ to 2⁻²⁰⁰ of
the data apart. Prints how many supports enclosures proved, and how many needed rationals.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np

import gammabar as gb
from gammabar.oracle.proof import prove_support, rational_point
from gammabar.oracle.rational import exact_rows
from gammabar.oracle.result import Truth, signed_bounds, signed_digits

if __package__:
    from ..reference.minimum_norm import between, shortest
else:  # imported by a test of this folder
    from reference.minimum_norm import between, shortest

SCALES = ("unit", "small integers", "tiny", "huge", "mixed rows", "mixed columns", "decimals")


def drawn(seed):
    """A small problem of some scale class, with a near tie planted in every other one."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(2, 7))
    scale = SCALES[seed % len(SCALES)]
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    if scale == "small integers":
        X = rng.integers(-9, 10, (n, d)).astype(float)
    X += np.outer(y, rng.integers(0, 4) * np.ones(d))
    factor = {"tiny": 2.0**-400, "huge": 2.0**400, "decimals": 0.1}.get(scale, 1.0)
    X *= factor
    if scale == "mixed rows":
        X *= 2.0 ** rng.integers(-30, 30, (n, 1))
    if scale == "mixed columns":
        X *= 2.0 ** rng.integers(-30, 30, (1, d))
    if seed % 2:  # a row that differs from another in one coordinate, by very little
        tie = X[0].copy()
        X[0, 0] = tie[0] = 0.0
        step = 2.0 ** -float(rng.choice([40, 80, 120, 200])) * float(np.abs(X).max())
        tie[0] = step * rng.choice([-1, 1])
        X, y = np.vstack([X, tie]), np.append(y, y[0])
    return X, y, bool(rng.integers(2))


def by_enumeration(X, y, free):
    """q̄ and γ̄² by trying every support."""
    rows = [[Fraction(v) * int(s) for v in row] for row, s in zip(X.tolist(), y, strict=True)]
    gram = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    return between(gram, y.tolist()) if free else shortest(gram)


def assert_encloses(system, found, exact):
    """The enclosure contains t q̄ and the levels."""
    t = system.t
    levels = [level / (system.border * system.unit) for level in exact.levels]
    truth = [Fraction(v, exact.total) for v in exact.numerators] + levels
    for value, z in zip(truth, found.z, strict=True):
        assert abs(value * t * 2**found.places - z) <= found.error


def assert_digits(truth, square, radius_squared):
    """Digits and doubles are those of the rationals."""
    for count in (1, 17, 60):
        assert truth.digits(count, raw=True) == signed_digits(square, square, count)
    unit = square / radius_squared
    assert (truth.gamma_lo, truth.gamma_hi) == signed_bounds(unit, unit)


def trial(seed):
    """One problem: the support that is proved, if any, is the right one, and so are its digits."""
    X, y, free = drawn(seed)
    problem = gb.from_arrays(X, y, intercept=free)
    rows = exact_rows(problem)
    q, square = by_enumeration(X, y, free)
    exact = rational_point(rows, np.array(sorted(q)), np.ones(len(q)))
    assert exact.square == square
    solved = gb.solve(problem)
    assert (solved.gamma_squared, solved.separable) == (square, square > 0)
    found = prove_support(rows, exact.support)
    if found is None:
        return "rationals" if square else "inseparable"
    assert_encloses(found.system, found.enclosure, found.exact)
    assert found.zero == (square == 0)
    assert found.square == found.exact.square == square
    weights = dict(zip(found.support.tolist(), found.numerators, strict=True))
    numbers = [np.array([Fraction(v) * int(s) for v in row]) for row, s in zip(X, y, strict=True)]
    point = sum(numbers[i] * v for i, v in weights.items())
    other = sum(numbers[i] * v for i, v in q.items())
    assert (point == other * found.total).all()  # the weights may differ where γ̄ = 0
    radius = rows.radius_squared()
    truth = Truth(
        problem=problem,
        radius_squared=radius,
        method="any",
        seconds={},
        proof=replace(found),
    )
    assert truth.exact
    assert truth.separable == (square > 0)
    assert_digits(truth, square, radius)
    assert truth.q[found.support].tolist() == [v / found.total for v in found.numerators]
    return "proved"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    seen = Counter()
    for seed in range(options.first, options.first + options.trials):
        try:
            seen[trial(seed)] += 1
        except AssertionError:
            print(f"wrong: seed {seed}", flush=True)
            raise
        if sum(seen.values()) % 1000 == 0:
            print(dict(seen), flush=True)
    share = 100 * (1 - seen["proved"] / sum(seen.values()))
    print(f"{options.trials} problems, none wrong: {dict(seen)}; {share:.2f} % needed rationals")


if __name__ == "__main__":
    main()
