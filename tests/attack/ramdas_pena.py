"""What Ramdas and Peña (2015) claim of the kernel perceptrons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import arb, fmpq

from .facts import (
    PART,
    ROUNDED,
    Facts,
    Side,
    Trit,
    best_side,
    separated,
    size,
    smallest_step,
    step_side,
)
from .methods import add, nearest_in_simplex, times


def _temperature(k: int) -> fmpq:
    return fmpq(4, (k + 1) * (k + 2))


def _smoothing(f: Facts, k: int) -> arb:
    """max_p −⟨α, p⟩ − μ d(p) = μ ln(Σ exp(−s_i/μ)/n)."""
    mu, least = _temperature(k), f.smallest(k)
    total = sum((((least - s) / mu).exp() for s in f.scores[k]), arb(0))
    return mu * (total.log() - f.log_n) - least


def lemma_4(f: Facts) -> Iterator[Side]:
    """L_μ ≥ L − μ log n, without the ½‖w‖² that both have."""
    for k in range(len(f.w)):
        yield -f.smallest(k) - _temperature(k) * f.log_n, _smoothing(f, k)


def lemma_5(f: Facts) -> Iterator[Side]:
    for k, extra in enumerate(f.extras):
        p = f.data.combine([arb(v) for v in extra["p"]], f.unit)
        yield f.squared(f.w[k]) / 2 + _smoothing(f, k) + f.squared(p) / 2, arb(0)


def any_data(f: Facts) -> Iterator[Side]:
    for k, extra in enumerate(f.extras):
        if separated(f)[k] is not False:
            return
        p = f.data.combine([arb(v) for v in extra["p"]], f.unit)
        yield f.length(p), (2 * _temperature(k) * f.log_n).sqrt()


def theorem_1(f: Facts) -> tuple[Any, list[Trit]]:
    return 2 * (2 * f.log_n).sqrt() / f.gamma, separated(f)


def _near_loss(f: Facts, k: int) -> Any:
    """max_p −⟨Gα, p⟩ − (μ/2)‖p − q‖², with q = 1/n and μ_k = 4n/((k+1)(k+2))."""
    n = f.data.n
    mu, q = fmpq(4 * n, (k + 1) * (k + 2)), fmpq(1, n)
    p = nearest_in_simplex([q - s / mu for s in f.scores[k]])
    inner = sum((a * s for a, s in zip(p, f.scores[k], strict=True)), arb(0))
    return -inner - mu / 2 * sum(((a - q) ** 2 for a in p), arb(0))


def lemma_8(f: Facts) -> Iterator[Side]:
    """½‖p_k‖² + L^q_μ(α_k) ≤ 0 and L(α_k) − L^q_μ(α_k) ≤ μ_k; both losses have ½‖w‖²."""
    n = f.data.n
    for k, extra in enumerate(f.extras):
        p = f.data.combine([arb(v) for v in extra["p"]], f.unit)
        loss = _near_loss(f, k)
        yield f.squared(f.w[k]) / 2 + loss + f.squared(p) / 2, arb(0)
        yield -f.smallest(k) - loss, arb(fmpq(4 * n, (k + 1) * (k + 2)))


def separator(f: Facts) -> tuple[Any, list[Trit]]:
    return 2 * (2 * arb(f.data.n)).sqrt() / f.gamma, separated(f)


def von_neumann_step(f: Facts) -> Iterator[Side]:
    """w_{k+1} is the point nearest to 0 between w_k and a row of smallest score, up to ties."""
    for k in range(len(f.w) - 1):
        sides, low = [], f.smallest(k)
        for j, s in enumerate(f.scores[k]):
            if s > low + arb(10) ** -9:
                continue
            row = f.data.combine([int(i == j) for i in range(f.data.n)], f.unit)
            gap = add(f.w[k], row, -1)
            square = f.squared(gap)
            if not square > 0:
                return
            theta = ((f.squared(f.w[k]) - s) / square).max(arb(0)).min(arb(1))
            side = step_side(f, k, times(-theta, gap))
            # Where w and the row are nearly the same, θ is not known to anybody.
            sides.append(side if square > arb(10) ** -6 else (arb(0), arb(0)))
        yield best_side(sides)


def perceptron_step(f: Facts) -> Iterator[Side]:
    """NKP: k w_k is a sum of k rows, each of smallest score where it was added."""
    for k in range(1, len(f.w) - 1):
        step = add(times(k + 1, f.w[k + 1]), times(k, f.w[k]), -1)
        sides, low = [], f.smallest(k)
        rounded = (k + 1) * (ROUNDED * (size(f, k) + size(f, k + 1)) + smallest_step(f))
        near = arb(10) ** -9 * (1 + size(f, k))
        for j, s in enumerate(f.scores[k]):
            if not s > low + near:
                row = f.data.combine([int(i == j) for i in range(f.data.n)], f.unit)
                sides.append((f.length(add(step, row, -1)), PART * f.length(row) + rounded))
        yield best_side(sides)
