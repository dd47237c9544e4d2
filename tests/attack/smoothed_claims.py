"""What is true of the steps of Ramdas and Peña's methods, and of what is said beside w."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flint import arb, fmpq

from .facts import Facts, Trit
from .hearing import FINE
from .methods import add, nearest_in_simplex, softmax
from .smoothed import GAMMA, temperature

#: A step is wrong for certain if it is off by this part of itself, beyond what rounding may do.
PART = arb(1) / 256

Weights = list[arb]


def said(f: Facts, k: int, name: str) -> Weights | None:
    """Weights as delivered; None where there are none."""
    found = f.extras[k].get(name)
    return None if found is None else [arb(float(v)) for v in found]


def _sum(values: Any) -> arb:
    return sum(values, arb(0))


def apart(u: Weights, v: Weights) -> arb:
    """‖u − v‖₁."""
    return _sum(abs(a - b) for a, b in zip(u, v, strict=True))


def uniform(n: int) -> Weights:
    return [arb(1) / n] * n


def unlike(f: Facts, k: int, weights: Weights) -> bool:
    """Whether w_k is certainly not Aᵀα, for rows of norm at most one."""
    gap = f.length(add(f.w[k], f.data.combine(weights, f.unit), -1))
    mass = _sum(abs(v) for v in weights)
    spread = _sum(abs(v) for v in f.w[k]) if not f.data.linear else f.norm[k]
    return bool(gap > FINE * (mass + spread))


def blur(f: Facts, k: int) -> arb:
    """What rounding makes of the scores of w_k, and far more."""
    spread = _sum(abs(v) for v in f.w[k]) if not f.data.linear else f.norm[k]
    return FINE * (1 + spread)


def square(f: Facts, weights: Weights) -> arb:
    return f.squared(f.data.combine(weights, f.unit))


def wrong_halt(f: Facts, k: int) -> bool:
    """Whether the method certainly goes on though Aw > 0, or says so where it is not so."""
    halts = f.extras[k].get("halt") == "separated"
    if halts:
        return bool(f.smallest(k) < -blur(f, k))
    return k + 1 < len(f.w) and bool(f.smallest(k) > blur(f, k))


class Smoothed:
    """The step of Algorithms 4 and 6; μ_k = hot · 2/((k+1)(k+2))."""

    def __init__(self, method: str) -> None:
        self.method = method

    def answer(self, f: Facts, at: int, k: int, q: Weights) -> Weights:
        """p_μ(α): the softmax of −Gα/μ, or the point of the simplex nearest to q − Gα/μ."""
        mu, scores = temperature(self.method, f.data.n, k), f.scores[at]
        if self.method == "smoothed_perceptron":
            return softmax(scores, mu)
        return nearest_in_simplex([a - s / mu for a, s in zip(q, scores, strict=True)])

    def loose(self, f: Facts, at: int, k: int) -> arb:
        """How far the answer may be off by rounding, and far more."""
        return FINE + 4 * f.data.n * blur(f, at) / arb(temperature(self.method, f.data.n, k))

    def wrong_p(self, f: Facts, at: int, k: int, q: Weights) -> bool:
        """Whether p_k is certainly not the average of p_{k−1} and the answer at w_k."""
        p = said(f, at, "p")
        if p is None:
            return False
        answer = self.answer(f, at, k, q)
        if k == 0:
            # There is no step to compare it with, and scores may be badly known.
            return bool(apart(p, answer) > PART**2 + self.loose(f, at, k))
        last = said(f, at - 1, "p")
        if last is None:
            return False
        share = fmpq(2, k + 2)
        right = [(1 - share) * a + share * b for a, b in zip(last, answer, strict=True)]
        return bool(apart(p, right) > PART * apart(right, last) + self.loose(f, at, k))

    def wrong_step(self, f: Facts, at: int, k: int, q: Weights) -> bool:
        """Whether α_k, p_k, μ_k or w_k are certainly not what follows from those before."""
        alpha = said(f, at, "dual")
        mu = arb(temperature(self.method, f.data.n, k))
        if alpha is None:
            return False
        told = f.extras[at].get("mu")
        if told is not None and abs(arb(float(told)) - mu) > FINE * mu:
            return True
        if unlike(f, at, alpha) or self.wrong_p(f, at, k, q):
            return True
        if k == 0:
            return bool(apart(alpha, q) > FINE)
        last, p = said(f, at - 1, "dual"), said(f, at - 1, "p")
        if last is None or p is None:
            return False
        theta = fmpq(2, k + 2)
        answer = self.answer(f, at - 1, k - 1, q)
        right = [
            (1 - theta) * (a + theta * b) + theta**2 * c
            for a, b, c in zip(last, p, answer, strict=True)
        ]
        near = PART * apart(right, last) + self.loose(f, at - 1, k - 1)
        return bool(apart(alpha, right) > near)


def smoothed_step(method: str) -> Callable[[Facts], Trit]:
    """Algorithms 4 and 6 as printed; the latter returns where ‖p_k‖_G < δ."""
    steps = Smoothed(method)

    def judge(f: Facts) -> Trit:
        q = uniform(f.data.n)
        for k in range(len(f.w)):
            if steps.wrong_step(f, k, k, q) or wrong_halt(f, k):
                return False
            if method == "smoothed_von_neumann" and _wrong_return(f, k, arb(1) / 4):
                return False
        return None

    return judge


def _wrong_return(f: Facts, k: int, delta: arb) -> bool:
    p = said(f, k, "p")
    if p is None:
        return False
    if f.extras[k].get("halt") == "certificate" or f.extras[k].get("returned"):
        return bool(square(f, p) > delta**2 + FINE)
    return k + 1 < len(f.w) and bool(square(f, p) < delta**2 - FINE)


def averages(method: str) -> Callable[[Facts], Trit]:
    """Whether p_k is what follows from the iterates: a bound on ‖p_k‖_G is about that one."""
    steps = Smoothed(method)

    def judge(f: Facts) -> Trit:
        q = uniform(f.data.n)
        wrong = any(steps.wrong_p(f, k, k, q) for k in range(len(f.w)))
        return False if wrong else None

    return judge


def simplex(f: Facts) -> Trit:
    """α_k and p_k are distributions (but for α_0 = 0), and w_k = Aᵀα_k."""
    for k in range(len(f.w)):
        alpha = said(f, k, "dual")
        started = k == 0 and alpha is not None and all(v == 0 for v in [*alpha, *f.w[0]])
        if alpha is not None and not started and unlike(f, k, alpha):
            return False
        for weights in (None if started else alpha, said(f, k, "p")):
            if weights is not None and (
                any(v < 0 for v in weights) or abs(_sum(weights) - 1) > FINE
            ):
                return False
    return None


def von_neumann_step(f: Facts) -> Trit:
    """Algorithm 5 as printed, with the weights p_k that it says."""
    for k in range(len(f.w)):
        p = said(f, k, "dual")
        if p is None:
            return None
        if unlike(f, k, p) or (k == 0 and apart(p, uniform(f.data.n)) > FINE):
            return False
        if f.extras[k].get("halt") == "certificate" and square(f, p) > arb(1) / 16 + FINE:
            return False
        if k + 1 < len(f.w) and _wrong_search(f, k, p, said(f, k + 1, "dual")):
            return False
    return None


def _wrong_search(f: Facts, k: int, p: Weights, after: Weights | None) -> bool:
    """Whether p_{k+1} is certainly not the best point between p_k and any e_j of smallest score."""
    if after is None:
        return False
    if square(f, p) < arb(1) / 16 - FINE:
        return True
    for j, s in enumerate(f.scores[k]):
        if s > f.smallest(k) + 4 * blur(f, k):
            continue
        corner = [arb(int(i == j)) for i in range(f.data.n)]
        gap = add(f.w[k], f.data.combine(corner, f.unit), -1)
        below = f.squared(gap)
        if not below > 2.0**-12:  # θ is not known to anybody
            return False
        theta = ((f.squared(f.w[k]) - s) / below).max(arb(0)).min(arb(1))
        right = [(1 - theta) * a + theta * b for a, b in zip(p, corner, strict=True)]
        near = PART * apart(right, p) + 8 * blur(f, k) / below
        if not apart(after, right) > near:
            return False
    return True


def perceptron_step(f: Facts) -> Trit:
    """Algorithm 3 as printed: (k+1) α_{k+1} − k α_k is a distribution on rows of smallest score."""
    for k in range(len(f.w)):
        alpha = said(f, k, "dual")
        if alpha is None:
            return None
        start = k == 0 and any(v != 0 for v in [*alpha, *f.w[0]])
        if start or unlike(f, k, alpha) or wrong_halt(f, k):
            return False
        after = said(f, k + 1, "dual") if k + 1 < len(f.w) else None
        if after is not None:
            step = [(k + 1) * b - k * a for a, b in zip(alpha, after, strict=True)]
            low = f.smallest(k) + 4 * blur(f, k)
            outside = _sum(
                abs(v) if s > low else (-v).max(arb(0))
                for v, s in zip(step, f.scores[k], strict=True)
            )
            if outside + abs(_sum(step) - 1) > PART:
                return False
    return None


def subgradient(f: Facts) -> Trit:
    """Equation (10): (f_k − f_{k+1})/θ_k is a subgradient of L(f) = ½‖f‖² − min_i ⟨a_i, f⟩ at f_k.

    With h = (k+1) f_{k+1} − k f_k, at the points (1 ± 2⁻¹⁰) f_k: |⟨h, f_k⟩ − min| ≤ 2⁻¹¹‖f_k‖².
    """
    for k in range(1, len(f.w) - 1):
        inner = (k + 1) * _inner(f, k + 1, k) - k * f.squared(f.w[k])
        size = blur(f, k) + blur(f, k + 1)
        near = f.squared(f.w[k]) * arb(2) ** -11 + 8 * (k + 1) * size * (1 + f.norm[k])
        if abs(inner - f.smallest(k)) > near:
            return False
    return None


def _inner(f: Facts, s: int, t: int) -> arb:
    """⟨w_s, w_t⟩."""
    other = f.w[t] if f.data.linear else f.scores[t]
    return _sum(a * b for a, b in zip(f.w[s], other, strict=True))


def winnow_step(f: Facts) -> Trit:
    """Multiplicative weights: w_{t+1} ∝ w_t^{η'/η} exp(η' a_i/‖a_i‖_∞)."""
    d = f.data.dimension
    if apart(f.w[0], uniform(d)) > FINE:
        return False
    for t in range(len(f.w) - 1):
        if any(v < 0 for v in f.w[t]):
            return False
        if any(v == 0 for v in f.w[t]):
            return None
        if wrong_halt(f, t) or all(_far_from(f, t, row) for row in _smallest_rows(f, t)):
            return False
    return None


def _smallest_rows(f: Facts, t: int) -> Iterator[Weights]:
    radius = arb(f.data.radius_squared).sqrt()
    for j, s in enumerate(f.scores[t]):
        if not s > f.smallest(t) + 4 * FINE * radius * f.norm[t]:
            yield f.data.combine([int(i == j) for i in range(f.data.n)], f.unit)


def _far_from(f: Facts, t: int, row: Weights) -> bool:
    d = f.data.dimension
    old, new = ((arb(d).log() / (s + 1)).sqrt() for s in (t, t + 1))
    most = arb(0)
    for v in row:
        most = most.max(abs(v))
    if d == 1:
        return bool(apart(f.w[t + 1], [arb(1)]) > FINE)
    share = new / old
    raw = [
        (share * w.log() + new * (v / most if most > 0 else 0)).exp()
        for w, v in zip(f.w[t], row, strict=True)
    ]
    right = [v / _sum(raw) for v in raw]
    return bool(apart(f.w[t + 1], right) > PART * apart(right, f.w[t]) + FINE)


# Algorithm 7


def loops(f: Facts) -> Iterator[tuple[int, int, Weights]]:
    """(call, step of it, q_t) at every iterate as they are claimed; ends with (−1, −1, …) where
    they are certainly false."""
    q = uniform(f.data.n)
    for at in range(len(f.w)):
        outer, inner = f.extras[at].get("outer"), f.extras[at].get("inner")
        if at:
            last, p = f.extras[at - 1], said(f, at - 1, "p")
            before = last.get("outer"), last.get("inner")
            if p is None or None in before:
                return
            follows = (outer, inner) == (before[0], before[1] + 1)
            starts = (outer, inner) == (before[0] + 1, 0)
            inside = square(f, p) - square(f, q) / GAMMA**2
            if not (follows or starts) or inside * (1 if starts else -1) > FINE:
                yield -1, -1, q
                return
            q = p if starts else q
        elif (outer, inner) != (0, 0):
            yield -1, -1, q
            return
        yield int(outer), int(inner), q


def iterated_step(f: Facts) -> Trit:
    """Algorithm 7 as printed."""
    steps = Smoothed("iterated_von_neumann")
    for at, (outer, k, q) in enumerate(loops(f)):
        told = f.extras[at]
        if outer < 0 or steps.wrong_step(f, at, k, q) or wrong_halt(f, at):
            return False
        delta = told.get("delta")
        if delta is not None and _wrong_delta(f, at, arb(float(delta)), q):
            return False
        if told.get("returned") and (
            square(f, said(f, at, "p") or q) > square(f, q) / GAMMA**2 + FINE
        ):
            return False
    return None


def _wrong_delta(f: Facts, at: int, delta: arb, q: Weights) -> bool:
    length = square(f, q)
    gap = abs((GAMMA * delta) ** 2 - length)
    return bool(delta < 0 or gap > PART * length + FINE)


def fair_loops(f: Facts) -> Trit:
    """The counts, p_k and q_t are those of the iterates; and each return is a return."""
    steps = Smoothed("iterated_von_neumann")
    for at, (outer, k, q) in enumerate(loops(f)):
        if outer < 0 or steps.wrong_p(f, at, k, q):
            return False
        if k == 0 and outer and unlike(f, at, q):
            return False
    return None


SNKP, SNKPVN = "smoothed_perceptron", "smoothed_von_neumann"
CLAIMS: dict[str, dict[str, Callable[[Facts], Trit]]] = {
    SNKP: {
        "gb.rp.snkp.step": smoothed_step(SNKP),
        "gb.rp.simplex": simplex,
        "rp.lem5": averages(SNKP),
        "gb.snkp.any": averages(SNKP),
    },
    SNKPVN: {
        "gb.rp.snkpvn.step": smoothed_step(SNKPVN),
        "gb.rp.simplex": simplex,
        "rp.lem8": averages(SNKPVN),
        "rp.lem9.chain": averages(SNKPVN),
        "rp.lem9.fixed": averages(SNKPVN),
        "rp.lem9.charitable": averages(SNKPVN),
    },
    "iterated_von_neumann": {
        "gb.rp.isnkpvn.step": iterated_step,
        "gb.rp.simplex": simplex,
        "rp.eq15": fair_loops,
        "rp.thm4.1.fixed": fair_loops,
        "rp.thm4.2.fixed": fair_loops,
    },
    "von_neumann": {"gb.rp.nvn.step": von_neumann_step, "gb.rp.simplex": simplex},
    "kernel_perceptron": {
        "gb.rp.nkp.step": perceptron_step,
        "gb.rp.simplex": simplex,
        "rp.eq10": subgradient,
    },
    "winnow": {"gb.rp.winnow.step": winnow_step},
}
