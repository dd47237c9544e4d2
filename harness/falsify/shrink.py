"""Makes a refutation smaller: rows, columns, iterates, numbers, options, as long as it is one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd

import numpy as np

from gammabar.harness.falsify.candidate import Candidate, Finding, Rows
from gammabar.harness.falsify.parameters import Given, smaller
from gammabar.harness.falsify.strategies import Over
from gammabar.harness.run.specs import Registered
from gammabar.harness.verify.parameters import Inputs
from gammabar.problems import DenseProblem, ProblemError, load

#: Problems with more numbers are not written out.
MOST = 2000


def shrink(
    found: Finding, ask: Callable[[Candidate], Finding], inputs: Inputs | None = None
) -> Finding:
    """The smallest refutation that single changes lead to; what there is when the time is up."""
    try:
        found = _written_out(found, ask)
        again = True
        while again:
            again = False
            given = isinstance(found.candidate.data, Given)
            changes = smaller(found.candidate, inputs or {}) if given else _smaller(found)
            for candidate in changes:
                if candidate.size >= found.candidate.size:
                    continue
                other = ask(candidate)
                if other.refuted:
                    found, again = replace(other, strategy=found.strategy), True
                    break
    except Over:
        pass
    return found


def _written_out(found: Finding, ask: Callable[[Candidate], Finding]) -> Finding:
    """The same with its rows as numbers, if it is a small problem without a kernel."""
    if not isinstance(found.candidate.data, str):
        return found
    text, _, more = found.candidate.data.partition(" ")
    candidate = replace(found.candidate, data=text, more=f"{more} {found.candidate.more}".strip())
    if candidate.more == "--multiclass":
        return found
    rows = _opened(text)
    if rows is None:
        return found
    other = ask(replace(candidate, data=rows, more=""))
    return replace(other, strategy=found.strategy) if other.refuted else found


def _opened(text: str) -> Rows | None:
    try:
        problem = load(text).raw()
    except ProblemError:
        return None
    if not isinstance(problem, DenseProblem) or problem.n * problem.dimension > MOST:
        return None
    X, y = np.asarray(problem.points.X), np.asarray(problem.y)
    return tuple(
        tuple(int(s) * Fraction(v) for v in row)
        for s, row in zip(y.tolist(), X.tolist(), strict=True)
    )


def _smaller(found: Finding) -> Iterator[Candidate]:
    candidate, t = found.candidate, found.verdict.worst_t
    if t is not None and 1 <= t < candidate.iterations:
        yield replace(candidate, iterations=t)
    if candidate.seed:
        yield replace(candidate, seed=0)
    if isinstance(candidate.solver, Registered) and not candidate.solver.plain:
        name, _, options = candidate.solver.text.partition(":")
        parts = options.split(",")
        for i in range(len(parts)):
            rest = ",".join(parts[:i] + parts[i + 1 :])
            yield replace(candidate, solver=Registered(f"{name}:{rest}" if rest else name))
    if candidate.more:
        yield replace(candidate, more="")
    if isinstance(candidate.data, str):
        for option in re.finditer(r"(?<==)[0-9]{1,18}(?![.0-9])", candidate.data):
            for value in (int(option[0]) // 2, int(option[0]) * 3 // 4, int(option[0]) - 1):
                text = (
                    candidate.data[: option.start()] + str(value) + candidate.data[option.end() :]
                )
                yield replace(candidate, data=text)
        return
    assert isinstance(candidate.data, tuple)
    rows = candidate.data
    for fewer in _less(rows):
        yield replace(candidate, data=fewer)
    if candidate.iterations > 1:
        yield replace(candidate, iterations=candidate.iterations // 2)
        yield replace(candidate, iterations=candidate.iterations - 1)
    for simpler in _simpler(rows):
        yield replace(candidate, data=simpler)


def _less(rows: Rows) -> Iterator[Rows]:
    """Fewer rows, many at a time first; one column less, left out or added to another."""
    n, d = len(rows), len(rows[0])
    size, seen = n // 2, {rows}
    while size:
        for i in range(0, n - size + 1, size):
            fewer = rows[:i] + rows[i + size :]
            if fewer and fewer not in seen:
                seen.add(fewer)
                yield fewer
        size //= 2
    if d > 1:
        yield from (tuple(row[:j] + row[j + 1 :] for row in rows) for j in range(d))
        for j, k in combinations(range(d), 2):
            yield tuple((*row[:j], row[j] + row[k], *row[j + 1 : k], *row[k + 1 :]) for row in rows)


def _simpler(rows: Rows) -> Iterator[Rows]:
    """Simpler numbers: all at once, then one after the other."""
    values = [value for row in rows for value in row]
    bottom = reduce(lambda a, b: a * b // gcd(a, b), (v.denominator for v in values), 1)
    common = reduce(gcd, (abs(int(v * bottom)) for v in values), 0)
    if common:
        yield tuple(tuple(v * bottom / common for v in row) for row in rows)
    for divisor in (64, 8, 2):
        yield tuple(tuple(Fraction(round(v * bottom / divisor)) for v in row) for row in rows)
    yield tuple(tuple(Fraction((v > 0) - (v < 0)) for v in row) for row in rows)
    yield tuple(tuple(abs(v) for v in row) for row in rows)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            for other in _numbers_below(value):
                changed = (*row[:j], other, *row[j + 1 :])
                yield (*rows[:i], changed, *rows[i + 1 :])


def _numbers_below(value: Fraction) -> Iterator[Fraction]:
    sign = 1 if value > 0 else -1
    others = (
        Fraction(0),
        Fraction(1),
        Fraction(sign),
        abs(value),
        Fraction(round(value)),
        Fraction(round(value / 2)),
        Fraction(round(value * 8), 8),
        value - sign,
    )
    yield from dict.fromkeys(other for other in others if other != value)
