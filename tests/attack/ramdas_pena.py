"""Ramdas and Peña (2015): Algorithms 2 to 7 and Winnow, and every claim about w and beside it.

Rows have norm at most one (but for Winnow), as everywhere in the paper. α_k, p_k, μ_k, δ_t and the
counts of the loops are judged by what follows from the delivered numbers.
"""

from __future__ import annotations

from itertools import count

from .facts import *
from .tyurin import mistakes

#: ε and δ of Algorithms 5 to 7, and γ of Algorithm 7.
EPSILON, GAMMA = fmpq(1, 4), 2


def _halt(word: str) -> dict[str, str]:
    return {"halt": word} if word else {}


def _least(scores: Any, rng: Any) -> int:
    """A row of smallest score, any of them."""
    return int(rng.choice([i for i, s in enumerate(scores) if not any(s > v for v in scores)]))


def _mixed(p: Vector, answer: Vector, share: fmpq) -> Vector:
    return (1 - share) * p + share * answer


def _next(alpha: Vector, p: Vector, answer: Vector, theta: fmpq) -> Vector:
    """The next α of Algorithms 4 and 6."""
    return (1 - theta) * (alpha + theta * p) + theta**2 * answer


def temperature(k: int, hot: int = 1) -> fmpq:
    """μ_k: 4/((k+1)(k+2)), in Algorithm 6 times n."""
    return fmpq(4 * hot, (k + 1) * (k + 2))


def kernel_perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithms 2 and 3 (NKP): k α_k counts the rows of smallest score."""
    counts = vec([0] * data.n)
    for k in count():
        scores = data.gram @ counts
        over = "separated" if all(s > 0 for s in scores) else ""
        dual = counts * fmpq(1, max(k, 1))
        yield Step(data.combine(dual, True), {"dual": dual, **_halt(over)})
        if over:
            return
        counts[_least(scores, rng)] += 1


def von_neumann(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 5 (NVN); weights p_k, exact where the products of the rows are.

    θ_k minimises ‖(1 − λ) w + λ a_j‖² over [0, 1]: ⟨w, w − a_j⟩/‖w − a_j‖².
    """
    gram = data.gram / data.radius_squared
    p = uniform(data.n)
    while True:
        scores = gram @ p
        square = p @ scores
        over = "certificate" if square <= EPSILON**2 else ""
        yield Step(data.combine(p, True), {"dual": p, **_halt(over)})
        j = _least(scores, rng) if not over else -1
        below = square - 2 * scores[j] + gram[j, j]
        if over or not below > 0:  # w is the row itself
            return
        theta = (square - scores[j]) / below
        if not 0 <= theta <= 1:
            return
        p = (1 - theta) * p + theta * corner(j, data.n)
        # Fractions have three times the digits after every step: the run is as long as they allow.
        if isinstance(p[0], fmpq) and max(int(v.q).bit_length() for v in p) > 50_000:
            return


def smoothed_perceptron(data: Data, rng: Any, epsilon: fmpq | None = None) -> Iterator[Step]:
    """Algorithm 4 (SNKP); with ε, and the exit ‖p_k‖ ≤ ε."""
    alpha, p = uniform(data.n), vec([])
    for k in count():
        mu = temperature(k)
        w = data.combine(alpha, True)
        scores = data.scores(w, True)
        answer = softmax(scores, mu)
        p = _mixed(p, answer, fmpq(2, k + 2)) if k else answer
        over = "separated" if all(s > 0 for s in scores) else ""
        if epsilon and not over and data.square(data.combine(p, True), True) <= epsilon**2:
            over = "certificate"
        yield Step(w, {"p": p, "dual": alpha, **_halt(over), "mu": mu})
        if over:
            return
        alpha = _next(alpha, p, answer, fmpq(2, k + 3))


def _call(data: Data, q: Vector, small: Any) -> Iterator[tuple[Vector, Vector, int, fmpq, bool]]:
    """Algorithm 6 from q: α_k, p_k, k, μ_k, and whether Gα > 0; ends where ‖p_k‖² < small."""
    gram = data.gram / data.radius_squared
    alpha, p = q, vec([])
    for k in count():
        mu, scores = temperature(k, data.n), gram @ alpha
        answer = nearest_in_simplex(q - scores / mu)
        p = _mixed(p, answer, fmpq(2, k + 2)) if k else answer
        over = all(s > 0 for s in scores)
        yield alpha, p, k, mu, over
        if over or p @ gram @ p < small:
            return
        alpha = _next(alpha, p, answer, fmpq(2, k + 3))


def smoothed_von_neumann(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 6 (SNKPVN) with q = 1/n and δ = ε."""
    gram = data.gram / data.radius_squared
    for alpha, p, _, mu, over in _call(data, uniform(data.n), EPSILON**2):
        word = "separated" if over else "certificate" if p @ gram @ p < EPSILON**2 else ""
        yield Step(data.combine(alpha, True), {"p": p, "dual": alpha, **_halt(word), "mu": mu})


def iterated_von_neumann(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 7 (ISNKPVN); every step of every call of Algorithm 6."""
    gram = data.gram / data.radius_squared
    q, outer, word = uniform(data.n), 0, ""
    while not word:
        small = q @ gram @ q / GAMMA**2
        for alpha, p, k, mu, over in _call(data, q, small):
            returned = not over and bool(p @ gram @ p < small)
            halts = returned and bool(small < EPSILON**2)
            word = "separated" if over else "certificate" if halts else ""
            extra = {"p": p, "dual": alpha, "mu": mu, "outer": outer, "inner": k}
            extra["delta"] = arb(small).max(arb(0)).sqrt()
            extra |= {"returned": True} if returned else {}
            yield Step(data.combine(alpha, True), extra | _halt(word))
        q, outer = p, outer + 1


def winnow(data: Data, rng: Any) -> Iterator[Step]:
    """w_t ∝ exp(η_t (g_1 + … + g_t)), η_t = √(ln d/(t+1)), g = a_i/‖a_i‖_∞ of a smallest score.

    The paper prints no update: this is the one that the project's solver documents.
    """
    if not data.linear:
        raise Unfit("multiplicative weights need coordinates")
    d = data.dimension
    summed = zeros(d)
    for t in count():
        raw = exp((arb(d).log() / (t + 1)).sqrt() * summed)
        w = raw / raw.sum()
        scores = data.scores(w, False)
        over = "separated" if all(s > 0 for s in scores) else ""
        yield Step(w, _halt(over))
        if over:
            return
        row = data.row(_least_ball(scores, rng), False)
        if most(row) > 0:
            summed = summed + row / most(row)


def _least_ball(scores: Vector, rng: Any) -> int:
    low = smallest(scores)
    return int(rng.choice([i for i, s in enumerate(scores) if not s > low]))


# Bounds


def _smoothing(f: Facts, k: int) -> arb:
    """max_p −⟨α, p⟩ − μ d(p) = μ ln(Σ exp(−s_i/μ)/n)."""
    mu, least = temperature(k), f.smallest(k)
    return mu * (exp((least - f.scores[k]) / mu).sum().log() - f.log_n) - least


def square(f: Facts, weights: Vector) -> arb:
    """‖weights‖²_G."""
    return f.squared(f.combine(weights))


def _p_square(f: Facts, k: int) -> arb:
    return square(f, f.said(k, "p"))


def lemma_4(f: Facts) -> Iterator[Side]:
    """L_μ ≥ L − μ log n, without the ½‖w‖² that both have."""
    for k in range(len(f.w)):
        yield -f.smallest(k) - temperature(k) * f.log_n, _smoothing(f, k)


def lemma_5(f: Facts) -> Iterator[Side]:
    for k in range(len(f.w)):
        yield f.squared(f.w[k]) / 2 + _smoothing(f, k) + _p_square(f, k) / 2, arb(0)


def any_data(f: Facts) -> Iterator[Side]:
    for k, over in enumerate(separated(f)):
        if over is not False:
            return
        yield _p_square(f, k).max(arb(0)).sqrt(), (2 * temperature(k) * f.log_n).sqrt()


def lemma_9(f: Facts) -> Iterator[Side]:
    """‖p_k‖_G ≤ (2√n/(k+1)) min{√2, ‖q‖_G/ρ_K}, as printed, where ρ_K > 0."""
    start = square(f, uniform(f.data.n)).max(arb(0)).sqrt()
    for k in range(len(f.w)) if f.separable else ():
        least = arb(2).sqrt().min(start / f.gamma)
        yield _p_square(f, k).max(arb(0)).sqrt(), 2 * arb(f.data.n).sqrt() / (k + 1) * least


def lemma_8(f: Facts) -> Iterator[Side]:
    """½‖p_k‖² + L^q_μ(α_k) ≤ 0 and L(α_k) − L^q_μ(α_k) ≤ μ_k; both losses have ½‖w‖².

    L^q_μ(α) = max_p −⟨Gα, p⟩ − (μ/2)‖p − q‖², with q = 1/n.
    """
    q = uniform(f.data.n)
    for k, scores in enumerate(f.scores):
        mu = temperature(k, f.data.n)
        p = nearest_in_simplex(q - scores / mu)
        loss = -(p @ scores) - mu / 2 * ((p - q) @ (p - q))
        yield f.squared(f.w[k]) / 2 + loss + _p_square(f, k) / 2, arb(0)
        yield -f.smallest(k) - loss, arb(mu)


# Steps, with what is reported beside w


def unlike(f: Facts, k: int, weights: Vector) -> bool:
    """Whether w_k is certainly not Aᵀα, for rows of norm at most one."""
    gap = f.length(f.w[k] - f.combine(weights))
    return bool(gap > FINE * (total(weights) + f.size(k)))


def blur(f: Facts, k: int) -> arb:
    """What rounding makes of the scores of w_k, and far more."""
    return FINE * (1 + f.size(k))


def wrong_halt(f: Facts, k: int) -> bool:
    """Whether the method certainly goes on though Aw > 0, or says so where it is not so."""
    if f.extras[k].get("halt") == "separated":
        return bool(f.smallest(k) < -blur(f, k))
    return k + 1 < len(f.w) and bool(f.smallest(k) > blur(f, k))


class Smoothed:
    """The step of Algorithms 4 and 6; μ_k = hot · 4/((k+1)(k+2))."""

    def __init__(self, entropy: bool) -> None:
        self.entropy = entropy

    def mu(self, f: Facts, k: int) -> fmpq:
        return temperature(k, 1 if self.entropy else f.data.n)

    def answer(self, f: Facts, at: int, k: int, q: Vector) -> Vector:
        """p_μ(α): the softmax of −Gα/μ, or the point of the simplex nearest to q − Gα/μ."""
        if self.entropy:
            return softmax(f.scores[at], self.mu(f, k))
        return nearest_in_simplex(q - f.scores[at] / self.mu(f, k))

    def loose(self, f: Facts, at: int, k: int) -> arb:
        """How far the answer may be off by rounding, and far more."""
        return FINE + 4 * f.data.n * blur(f, at) / arb(self.mu(f, k))

    def wrong_p(self, f: Facts, at: int, k: int, q: Vector) -> bool:
        """Whether p_k is certainly not the average of p_{k−1} and the answer at w_k."""
        p = f.said(at, "p")
        if p is None:
            return False
        answer = self.answer(f, at, k, q)
        if k == 0:
            # There is no step to compare it with, and scores may be badly known.
            return bool(total(p - answer) > PART**2 + self.loose(f, at, k))
        last = f.said(at - 1, "p")
        if last is None:
            return False
        right = _mixed(last, answer, fmpq(2, k + 2))
        return bool(total(p - right) > PART * total(right - last) + self.loose(f, at, k))

    def wrong_step(self, f: Facts, at: int, k: int, q: Vector) -> bool:
        """Whether α_k, p_k, μ_k or w_k are certainly not what follows from those before."""
        alpha, mu = f.said(at, "dual"), arb(self.mu(f, k))
        if alpha is None:
            return False
        told = f.extras[at].get("mu")
        if told is not None and abs(arb(float(told)) - mu) > FINE * mu:
            return True
        if unlike(f, at, alpha) or self.wrong_p(f, at, k, q):
            return True
        if k == 0:
            return bool(total(alpha - q) > FINE)
        last, p = f.said(at - 1, "dual"), f.said(at - 1, "p")
        if last is None or p is None:
            return False
        right = _next(last, p, self.answer(f, at - 1, k - 1, q), fmpq(2, k + 2))
        near = PART * total(right - last) + self.loose(f, at - 1, k - 1)
        return bool(total(alpha - right) > near)


ENTROPY, NEAREST = Smoothed(True), Smoothed(False)


def smoothed_step(steps: Smoothed) -> Truth:
    """Algorithms 4 and 6 as printed; the latter returns where ‖p_k‖_G < δ."""

    def wrong(f: Facts) -> Iterator[bool]:
        q = uniform(f.data.n)
        for k in range(len(f.w)):
            yield steps.wrong_step(f, k, k, q) or wrong_halt(f, k)
            yield steps is NEAREST and _wrong_return(f, k)

    return false_if(wrong)


def _wrong_return(f: Facts, k: int) -> bool:
    p = f.said(k, "p")
    if p is None:
        return False
    if f.extras[k].get("halt") == "certificate" or f.extras[k].get("returned"):
        return bool(square(f, p) > EPSILON**2 + FINE)
    return k + 1 < len(f.w) and bool(square(f, p) < EPSILON**2 - FINE)


def averages(steps: Smoothed) -> Truth:
    """Whether p_k is what follows from the iterates: a bound on ‖p_k‖_G is about that one."""

    return false_if(lambda f: (steps.wrong_p(f, k, k, uniform(f.data.n)) for k in range(len(f.w))))


def exits(f: Facts) -> Trit:
    """Gα_k > 0 or ‖p_k‖_G ≤ ε for some k ≤ 2√(2 ln n)/ε; not known where p_k does not follow."""
    goals, q = separated(f), uniform(f.data.n)
    for k, over in enumerate(goals):
        if over is not True:
            known = f.said(k, "p") is not None and not ENTROPY.wrong_p(f, k, k, q)
            small = sign(EPSILON**2 - _p_square(f, k), True) if known else None
            goals[k] = True if small else None if over is None else small
    return reached(2 * (2 * f.log_n).sqrt() / EPSILON, goals)


@false_if
def simplex(f: Facts) -> Iterator[Any]:
    """α_k and p_k are distributions (but for α_0 = 0), and w_k = Aᵀα_k."""
    for k in range(len(f.w)):
        alpha, p = f.said(k, "dual"), f.said(k, "p")
        if k == 0 and alpha is not None and all(v == 0 for v in [*alpha, *f.w[0]]):
            alpha = None
        yield alpha is not None and unlike(f, k, alpha)
        for v in (v for v in (alpha, p) if v is not None):
            yield (v < 0).any() or abs(v.sum() - 1) > FINE


@false_if
def von_neumann_step(f: Facts) -> Iterator[Any]:
    """Algorithm 5 as printed, with the weights p_k that it reports."""
    for k in range(len(f.w)):
        p = f.said(k, "dual")
        if p is None:
            return
        yield unlike(f, k, p) or (k == 0 and total(p - uniform(f.data.n)) > FINE)
        yield f.extras[k].get("halt") == "certificate" and square(f, p) > EPSILON**2 + FINE
        yield k + 1 < len(f.w) and _wrong_search(f, k, p, f.said(k + 1, "dual"))


def _wrong_search(f: Facts, k: int, p: Vector, after: Vector | None) -> bool:
    """Whether p_{k+1} is certainly not the best point between p_k and any e_j of smallest score."""
    if after is None:
        return False
    if square(f, p) < EPSILON**2 - FINE:
        return True
    for j, s in enumerate(f.scores[k]):
        if s > f.smallest(k) + 4 * blur(f, k):
            continue
        below = f.squared(f.w[k] - f.row(j))
        if not below > 2.0**-12:  # θ cannot be known
            return False
        theta = ((f.squared(f.w[k]) - s) / below).max(arb(0)).min(arb(1))
        right = (1 - theta) * p + theta * corner(j, f.data.n)
        if not total(after - right) > PART * total(right - p) + 8 * blur(f, k) / below:
            return False
    return True


@false_if
def perceptron_step(f: Facts) -> Iterator[Any]:
    """Algorithm 3 as printed: (k+1) α_{k+1} − k α_k is a distribution on rows of smallest score."""
    for k in range(len(f.w)):
        alpha = f.said(k, "dual")
        if alpha is None:
            return
        yield k == 0 and any(v != 0 for v in [*alpha, *f.w[0]])
        yield unlike(f, k, alpha) or wrong_halt(f, k)
        after = f.said(k + 1, "dual") if k + 1 < len(f.w) else None
        if after is not None:
            move, low = (k + 1) * after - k * alpha, f.smallest(k) + 4 * blur(f, k)
            pairs = zip(move, f.scores[k], strict=True)
            outside = sum((abs(v) if s > low else (-v).max(arb(0)) for v, s in pairs), arb(0))
            yield outside + abs(move.sum() - 1) > PART


def coordinate_step(f: Facts) -> Iterator[Side]:
    """Algorithm 2: k w_k is a sum of k rows, each of smallest score where it was added."""
    for k in range(1, len(f.w) - 1):
        move, near = (k + 1) * f.w[k + 1] - k * f.w[k], arb(10) ** -9 * (1 + f.size(k))
        rounded = (k + 1) * (FINE * (f.size(k) + f.size(k + 1)) + smallest_step(f))
        rows = (f.row(j) for j, s in enumerate(f.scores[k]) if not s > f.smallest(k) + near)
        yield best_side([(f.length(move - row), PART * f.length(row) + rounded) for row in rows])


@false_if
def subgradient(f: Facts) -> Iterator[Any]:
    """Equation (10): (f_k − f_{k+1})/θ_k is a subgradient of L(f) = ½‖f‖² − min_i ⟨a_i, f⟩ at f_k.

    With h = (k+1) f_{k+1} − k f_k, at the points (1 ± 2⁻¹⁰) f_k: |⟨h, f_k⟩ − min| ≤ 2⁻¹¹‖f_k‖².
    """
    for k in range(1, len(f.w) - 1):
        inner = f.w[k + 1] @ (f.w[k] if f.data.linear else f.scores[k])
        gap = (k + 1) * inner - k * f.squared(f.w[k]) - f.smallest(k)
        size = blur(f, k) + blur(f, k + 1)
        near = f.squared(f.w[k]) * arb(2) ** -11 + 8 * (k + 1) * size * (1 + f.norm[k])
        yield abs(gap) > near


@false_if
def winnow_step(f: Facts) -> Iterator[Any]:
    """Multiplicative weights: w_{t+1} ∝ w_t^{η'/η} exp(η' a_i/‖a_i‖_∞)."""
    yield total(f.w[0] - uniform(f.data.dimension)) > FINE
    for t in range(len(f.w) - 1):
        yield (f.w[t] < 0).any()
        if (f.w[t] == 0).any():
            return
        near = f.smallest(t) + 4 * FINE * f.data.radius * f.norm[t]
        rows = (f.row(j) for j, s in enumerate(f.scores[t]) if not s > near)
        yield wrong_halt(f, t) or all(_far_from(f, t, row) for row in rows)


def _far_from(f: Facts, t: int, row: Vector) -> bool:
    d = f.data.dimension
    if d == 1:
        return bool(total(f.w[t + 1] - 1) > FINE)
    old, new = ((arb(d).log() / (s + 1)).sqrt() for s in (t, t + 1))
    part = row / most(row) if most(row) > 0 else 0 * row
    raw = exp(new / old * log(f.w[t]) + new * part)
    right = raw / raw.sum()
    return bool(total(f.w[t + 1] - right) > PART * total(right - f.w[t]) + FINE)


# Algorithm 7


def loops(f: Facts) -> Iterator[tuple[int, int, Vector]]:
    """(call, step of it, q_t) at every iterate as they are reported; ends with (−1, −1, …) where
    they are certainly false."""
    q = uniform(f.data.n)
    for at in range(len(f.w)):
        outer, inner = f.extras[at].get("outer"), f.extras[at].get("inner")
        if at:
            last, p = f.extras[at - 1], f.said(at - 1, "p")
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


@false_if
def iterated_step(f: Facts) -> Iterator[Any]:
    """Algorithm 7 as printed."""
    for at, (outer, k, q) in enumerate(loops(f)):
        told = f.extras[at]
        yield outer < 0 or NEAREST.wrong_step(f, at, k, q) or wrong_halt(f, at)
        small, p = square(f, q), f.said(at, "p")
        if told.get("delta") is not None:
            delta = arb(float(told["delta"]))
            yield delta < 0 or abs((GAMMA * delta) ** 2 - small) > PART * small + FINE
        if told.get("returned"):
            yield square(f, q if p is None else p) > small / GAMMA**2 + FINE


@false_if
def fair_loops(f: Facts) -> Iterator[Any]:
    """The counts, p_k and q_t are those of the iterates; and each return is a return."""
    for at, (outer, k, q) in enumerate(loops(f)):
        yield outer < 0 or NEAREST.wrong_p(f, at, k, q)
        yield k == 0 and outer and unlike(f, at, q)


# Statement → truth

_SMALL = int(EPSILON.p) / int(EPSILON.q)
_SNKP: dict[str, Truth] = {
    "gb.rp.snkp.step": smoothed_step(ENTROPY),
    "gb.rp.simplex": simplex,
    "rp.lem4": bound(lemma_4),
    "rp.lem5": either(reported(lemma_5), averages(ENTROPY)),
    "gb.snkp.any": either(reported(any_data), averages(ENTROPY)),
    "rp.thm1": stop(lambda f: (2 * (2 * f.log_n).sqrt() / f.gamma, separated(f))),
}
_NKP: dict[str, Truth] = {"gb.rp.simplex": simplex, "rp.eq10": subgradient}
METHODS: dict[str, Method] = {
    "kernel_perceptron": Method(
        "nkp",
        kernel_perceptron,
        {"rp.nkp": stop(mistakes), "gb.rp.nkp.step": perceptron_step, **_NKP},
    ),
    "normalized_perceptron": Method(
        "normalized-perceptron",
        kernel_perceptron,
        {
            "rp.normalized": stop(mistakes),
            "gb.rp.normalized-perceptron.step": step(coordinate_step),
        },
    ),
    "von_neumann": Method(
        "nvn",
        von_neumann,
        {"gb.rp.nvn.step": von_neumann_step, "gb.rp.simplex": simplex},
        settings={"epsilon": _SMALL},
    ),
    "smoothed_von_neumann": Method(
        "snkpvn",
        smoothed_von_neumann,
        {
            "gb.rp.snkpvn.step": smoothed_step(NEAREST),
            "gb.rp.simplex": simplex,
            "rp.lem8": either(reported(lemma_8), averages(NEAREST)),
            "rp.lem8.separator": stop(
                lambda f: (2 * (2 * arb(f.data.n)).sqrt() / f.gamma, separated(f))
            ),
            **dict.fromkeys(
                ("rp.lem9.chain", "rp.lem9.fixed", "rp.lem9.charitable"), averages(NEAREST)
            ),
            "rp.lem9": either(reported(lemma_9), averages(NEAREST)),
        },
        settings={"delta": _SMALL},
    ),
    "smoothed_perceptron": Method("snkp", smoothed_perceptron, _SNKP, settings={"epsilon": None}),
    "exiting_perceptron": Method(
        "snkp",
        partial(smoothed_perceptron, epsilon=EPSILON),
        {"gb.snkp.any.exit": not_true(exits)},
        settings={"epsilon": _SMALL},
    ),
    "iterated_von_neumann": Method(
        "isnkpvn",
        iterated_von_neumann,
        {
            "gb.rp.isnkpvn.step": iterated_step,
            "gb.rp.simplex": simplex,
            **dict.fromkeys(("rp.eq15", "rp.thm4.1", "rp.thm4.2"), fair_loops),
            **dict.fromkeys(("rp.thm4.1.fixed", "rp.thm4.2.fixed"), fair_loops),
        },
        settings={"epsilon": _SMALL, "gamma": float(GAMMA)},
    ),
    "winnow": Method(
        "winnow", winnow, {"gb.rp.winnow.step": winnow_step}, unit=False, settings={"rate": None}
    ),
}
#: Methods whose reports beside w are falsified.
REPORTING = (
    "smoothed_perceptron",
    "smoothed_von_neumann",
    "iterated_von_neumann",
    "von_neumann",
    "kernel_perceptron",
    "winnow",
)
