"""What Ji, Srebro and Telgarsky (2021) claim of the iterates of Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import arb, fmpq

from .facts import Facts, Side, Trit, sign, size, step_sides
from .methods import add


def theorem_3_1_1(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        rate = 4 * (1 + f.log_n) * (1 + 2 * arb(t + 1).log()) / (f.gamma * (t + 1) ** 2)
        yield f.gamma - rate, f.margin(t)


def theorem_3_1_2(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        top = 4 * f.squared(f.momentum[t]) / t**2
        yield top - 8 * f.log_n / (t + 1) ** 2, f.gamma_squared
        yield arb(f.gamma_squared), top


def sharp(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma - 4 * f.log_n / (f.gamma * t * (t + 3)), f.margin(t)


def selfcert(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        if any(v != 0 for v in f.w[t]):
            yield f.gamma - f.margin(t), f.log_n / f.norm[t]


def proposition_3_7(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma / 2 - 4 * f.log_n / (f.gamma * (t + 1) ** 2), f.margin(t)


def lemma_3_2(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield (f.squared(f.mu[t]) - f.gamma_squared) / 2, 4 * f.log_n / (t + 1) ** 2


def lemma_3_5(f: Facts) -> Iterator[Side]:
    sums = arb(0)
    for t in f.updates():
        # 1/λ_{t−1} = (t+1)/2
        sums += fmpq(t + 1, 4) * f.squared(f.nu[t - 1])
        if t > 1:
            j = t - 1
            mix = fmpq(2, j + 2)
            factor = fmpq((j + 1) ** 2, 4) - (1 - mix) / mix**2
            sums += factor * f.squared(f.mu[j]) / 2
        yield fmpq((t + 1) ** 2, 8) * f.squared(f.mu[t]) + sums, f.log_n - f.psi(t)


def lemma_3_6_lower(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma * fmpq(t * (t + 3), 4), f.norm[t]


def lemma_3_6_upper(f: Facts) -> Iterator[Side]:
    path = arb(0)
    for t in f.updates():
        path += fmpq(t + 1, 2) * f.length(f.nu[t - 1])
        # Widened by rounding, so that it is false for certain only if it is so by more.
        yield (f.norm[t] - path).max(arb(0)), path + size(f, t) + t


def equation_3_8(f: Facts) -> Iterator[Side]:
    sums = arb(0)
    for t in f.updates():
        sums += fmpq(t + 1, 4) * f.squared(f.nu[t - 1])
        yield sums, f.log_n - f.psi(t)


def equation_3_10(f: Facts) -> Iterator[Side]:
    for t in f.updates():
        yield f.gamma * (t + 1) ** 2 / 4, f.norm[t]


def gap(f: Facts) -> Iterator[Side]:
    least = None
    for t in f.updates():
        length = f.length(f.mu[t])
        least = length if least is None else least.min(length)
        largest = f.q[t][0]
        for v in f.q[t][1:]:
            largest = largest.max(v)
        if any(v != 0 for v in f.w[t]):
            yield least - f.margin(t), (f.data.n * largest).log() / f.norm[t]


def primal_step(f: Facts) -> Iterator[Side]:
    """Lemma 3.4: w_{t+1} = w_t + g_t + Aᵀq_t."""
    steps = [add(g, p) for g, p in zip(f.momentum, f.pull, strict=True)]
    yield from step_sides(f, steps, [a + b for a, b in f.summed])


def descent_step(f: Facts) -> Iterator[Side]:
    yield from step_sides(f, f.pull, [size for size, _ in f.summed])


def risk_step(f: Facts) -> Iterator[Side]:
    """w_{t+1} = w_t + Σ_i exp(−s_i) a_i/n."""
    weights = [[(-s).exp() / f.data.n for s in scores] for scores in f.scores]
    sizes = [sum(q, arb(0)) for q in weights]
    if all(v < 10**6 for v in sizes):
        pulls = [f.data.combine(q, f.unit) for q in weights]
        yield from step_sides(f, pulls, [f.data.summed(q, f.unit) for q in weights])


def quarter(f: Facts) -> tuple[Any, list[Trit]]:
    limit = (4 * f.log_n.sqrt() / f.gamma).max(arb(1))
    return limit, [sign(f.margin(t) - f.gamma / 4, True) for t in range(len(f.w))]
