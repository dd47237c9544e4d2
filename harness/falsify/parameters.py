"""The search over the inputs that a statement with data of its own declares.

The same ways as for data (`gammabar.harness.falsify.strategies`): special values, local changes,
differential evolution and Hypothesis; and the ways to make what is found smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from gammabar.harness.falsify.candidate import Ask, Candidate
from gammabar.harness.verify import parameters as of
from gammabar.harness.verify.parameters import Entry, Inputs, Sizes, Value

#: Denominators of numbers that are drawn.
BELOW = (1, 1, 1, 2, 3, 4, 10)


@dataclass(frozen=True)
class Given:
    """A choice of inputs."""

    values: tuple[tuple[str, Value], ...]

    @property
    def text(self) -> str:
        return of.text_of(dict(self.values))

    @property
    def size(self) -> tuple[float, ...]:
        """What is to become small: how many numbers, their digits, their size, their signs."""
        numbers = [x for _, value in self.values for x in of.flat(value)]
        rational = [Fraction(x) for x in numbers if isinstance(x, int | Fraction)]
        digits = sum(abs(v.numerator).bit_length() + v.denominator.bit_length() for v in rational)
        large = float(sum(abs(v) for v in rational))
        return float(len(numbers)), float(digits), large, float(sum(v < 0 for v in rational))


def candidate(inputs: Inputs, sizes: Sizes, draw: Callable[[str, Entry], Any]) -> Candidate:
    """Inputs of these sizes, each number or word of which is drawn."""
    values = []
    for name, entry in inputs.items():
        count = len(list(of.places(entry, sizes)))
        values.append(
            (name, of.shaped(entry, sizes, iter([draw(name, entry) for _ in range(count)])))
        )
    return Candidate(Given(tuple(values)), iterations=0)


def special(entry: Entry) -> list[Any]:
    """Values of an input that are tried first: small ones, and the ends of its range."""
    if entry.words:
        return list(entry.words)
    plain = [Fraction(v) for v in (1, 0, -1, 2, 3, 10)] + [Fraction(1, 2), Fraction(1, 10)]
    ends = [end for end in (entry.low, entry.high) if end is not None]
    found = [v for v in dict.fromkeys([*plain, *ends]) if entry.allows(v)]
    return [int(v) for v in found] if entry.whole else found


def drawn(entry: Entry, rng: np.random.Generator) -> Any:
    """A number of the range, small ones more often."""
    if rng.random() < 0.4:
        options = special(entry)
        return options[int(rng.integers(len(options)))]
    if entry.words:
        return entry.words[int(rng.integers(len(entry.words)))]
    if entry.whole and entry.low is not None and entry.high is not None:
        top = min(int(entry.high), int(entry.low) + int(2 ** rng.uniform(1, 10)))
        return int(rng.integers(int(entry.low), top + 1))
    spread = int(2 ** rng.uniform(1, 6))
    value = Fraction(int(rng.integers(-spread, spread + 1)), int(rng.choice(BELOW)))
    return kept(entry, value)


def kept(entry: Entry, value: Any) -> Any:
    """The number, brought into the range."""
    value = Fraction(value)
    value = max(value, entry.low) if entry.low is not None else value
    value = min(value, entry.high) if entry.high is not None else value
    if entry.positive and value <= 0:
        value = min(Fraction(1), entry.high or Fraction(1))
    return round(value) if entry.whole else value


def sizes_drawn(inputs: Inputs, rng: np.random.Generator) -> Sizes:
    return {name: int(rng.integers(1, of.MOST + 1)) for name in of.names(inputs)}


def corners(ask: Ask, inputs: Inputs, rng: np.random.Generator) -> None:
    """Special values in small sizes, all of them if they are few, then at random."""
    names = of.names(inputs)
    for some in product(*(range(1, 3) for _ in names)):
        sizes = dict(zip(names, some, strict=True))
        places = [(n, e) for n, e in inputs.items() for _ in of.places(e, sizes)]
        choices = [special(entry)[:4] for _, entry in places]
        if np.prod([float(len(c)) for c in choices]) <= 300:
            for values in product(*choices):
                them = iter(values)
                ask(candidate(inputs, sizes, lambda n, e, them=them: next(them)))  # type: ignore[misc]
    while True:
        ask(candidate(inputs, sizes_drawn(inputs, rng), lambda n, e: _special(e, rng)))


def _special(entry: Entry, rng: np.random.Generator) -> Any:
    options = special(entry)
    return options[int(rng.integers(len(options)))]


def nearby(ask: Ask, inputs: Inputs, rng: np.random.Generator) -> None:
    """Numbers changed one by one as long as that brings the claim nearer to failing."""
    while True:
        best = ask(candidate(inputs, sizes_drawn(inputs, rng), lambda n, e: drawn(e, rng)))
        failures = 0
        while failures < 25:
            found = ask(_changed(best.candidate, inputs, rng))
            failures = 0 if found.score > best.score else failures + 1
            best = found if found.score >= best.score else best


def _changed(before: Candidate, inputs: Inputs, rng: np.random.Generator) -> Candidate:
    assert isinstance(before.data, Given)
    values = dict(before.data.values)
    sizes = of.sizes_of(inputs, values)
    count = sum(len(of.flat(value)) for value in values.values())
    at, place = int(rng.integers(count)), iter(range(count))

    numbers = {name: iter(of.flat(value)) for name, value in values.items()}

    def draw(name: str, entry: Entry) -> Any:
        value = next(numbers[name])
        return moved(entry, value, rng) if next(place) == at else value

    return candidate(inputs, sizes, draw)


def moved(entry: Entry, value: Any, rng: np.random.Generator) -> Any:
    """The number, changed a little, or a new one."""
    if entry.words or rng.random() < 0.2:
        return drawn(entry, rng)
    way = int(rng.integers(4))
    if way == 0:
        return kept(entry, value + int(rng.choice((-2, -1, 1, 2))))
    if way == 1:
        return kept(entry, value * Fraction(int(rng.integers(1, 7)), int(rng.integers(1, 4))))
    if way == 2:
        return kept(entry, -value)
    return kept(entry, value + Fraction(int(rng.integers(-4, 5)), int(rng.choice(BELOW))))


def evolution(ask: Ask, inputs: Inputs, rng: np.random.Generator) -> None:
    """Differential evolution on all numbers at once, of one size after the other."""
    from scipy.optimize import differential_evolution

    while True:
        sizes = sizes_drawn(inputs, rng)
        places = [entry for entry in inputs.values() for _ in of.places(entry, sizes)]
        scale = float(rng.choice((2.0, 10.0, 50.0)))

        def cost(x: Any, sizes: Sizes = sizes, scale: float = scale) -> float:
            them = iter(np.asarray(x).tolist())
            found = ask(candidate(inputs, sizes, lambda n, e: _at(e, next(them), scale)))
            return float(-np.clip(found.score, -1e6, 1e6))

        differential_evolution(
            cost,
            [(-1.0, 1.0)] * len(places),
            maxiter=10,
            popsize=6,
            polish=False,
            rng=np.random.default_rng(rng.integers(2**32)),
        )


def _at(entry: Entry, x: float, scale: float) -> Any:
    """The value of an input that a number from −1 to 1 stands for."""
    if entry.words:
        return entry.words[min(int((x + 1) / 2 * len(entry.words)), len(entry.words) - 1)]
    low, high = (None if end is None else float(end) for end in (entry.low, entry.high))
    if entry.positive:
        low = 0.0
    if low is not None:
        top = low + scale if high is None else min(high, low + scale)
        x = low + (x + 1) / 2 * (top - low)
    else:
        x *= scale
    return kept(entry, Fraction(round(x * 1024), 1024))


def hypothesis(ask: Ask, inputs: Inputs, rng: np.random.Generator) -> None:
    """Hypothesis, which is told how near each example came to failing."""
    from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st, target

    def number(entry: Entry) -> Any:
        if entry.words:
            return st.sampled_from(entry.words)
        if entry.whole and entry.low is not None and entry.high is not None:
            return st.integers(int(entry.low), int(entry.high))
        some = st.builds(Fraction, st.integers(-40, 40), st.sampled_from(BELOW))
        return some.map(lambda v: kept(entry, v))

    @st.composite
    def choice(draw: Any) -> Candidate:
        sizes = {name: draw(st.integers(1, of.MOST)) for name in of.names(inputs)}
        return candidate(inputs, sizes, lambda n, e: draw(number(e)))

    while True:

        @settings(
            max_examples=300,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.target),
            suppress_health_check=list(HealthCheck),
        )
        @seed(int(rng.integers(2**32)))
        @given(choice())
        def search(one: Candidate) -> None:
            target(float(np.clip(ask(one).score, -1e6, 1e6)))

        search()


STRATEGIES: dict[str, Callable[[Ask, Inputs, np.random.Generator], None]] = {
    "special inputs": corners,
    "nearby inputs": nearby,
    "evolution of inputs": evolution,
    "hypothesis on inputs": hypothesis,
}


def smaller(found: Candidate, inputs: Inputs) -> Iterator[Candidate]:
    """Inputs that are smaller by one step: one row or entry less, a simpler number."""
    assert isinstance(found.data, Given)
    values = dict(found.data.values)
    sizes = of.sizes_of(inputs, values)
    for name, size in sizes.items():
        for leave in range(size if size > 1 else 0):
            cut = {k: _without(inputs[k].shape, v, name, leave) for k, v in values.items()}
            yield replace(found, data=Given(tuple(cut.items())))
    for name, entry in inputs.items():
        numbers = of.flat(values[name])
        if not entry.words and len(numbers) > 1:  # all at once
            yield from _put(found, inputs, name, [kept(entry, round(v)) for v in numbers])
        for i, value in enumerate(numbers):
            for other in _below(entry, value):
                yield from _put(found, inputs, name, [*numbers[:i], other, *numbers[i + 1 :]])


def _put(found: Candidate, inputs: Inputs, name: str, numbers: list[Any]) -> Iterator[Candidate]:
    assert isinstance(found.data, Given)
    values = dict(found.data.values)
    sizes = of.sizes_of(inputs, values)
    values[name] = of.shaped(inputs[name], sizes, iter(numbers))
    yield replace(found, data=Given(tuple(values.items())))


def _without(shape: tuple[str | int, ...], value: Value, name: str, leave: int) -> Value:
    """A value without one index of a size."""
    if not shape:
        return value
    parts = [_without(shape[1:], part, name, leave) for part in value]
    return tuple(p for i, p in enumerate(parts) if shape[0] != name or i != leave)


def _below(entry: Entry, value: Any) -> Iterator[Any]:
    if entry.words:
        yield from entry.words[: entry.words.index(value)]
        return
    sign = 1 if value > 0 else -1
    exact = Fraction(value)
    others = [
        *special(entry),
        abs(exact),
        Fraction(round(exact)),
        Fraction(round(exact / 2)),
        Fraction(round(exact * 2), 2),
        Fraction(round(exact * 10), 10),
        exact.limit_denominator(max(1, exact.denominator // 2)),
        exact - sign,
    ]
    for other in dict.fromkeys(others):
        if other != value and entry.allows(other):
            yield int(other) if entry.whole else Fraction(other)
