"""Section 4: SNKP with Lemmas 4 and 5 and Theorem 1; NKP, equation (10) and the minimum of L.

In NKP, with θ_k = 1/(k+1), k w_k is the sum of the rows that were taken, so that the row (or mean
of rows) of step k is h_k = (k+1) w_{k+1} − k w_k. L(w) = ½‖w‖² − min_i ⟨a_i, w⟩, and its minimiser
is w* = ρ_K ū, or 0 for data that are not separable.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product

from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015 import algorithms
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.small_data import *


def _entropy(p: list[Number]) -> Number:
    """d(p) = Σ p_i log p_i + log n, equation (12); 0 log 0 = 0."""
    return total(v * log(v) for v in p if not known_zero(v)) + log(len(p))


def _one_norm(p: list[Number], q: list[Number]) -> Number:
    return total(abs(a - b) for a, b in zip(p, q, strict=True))


NKP, SNKP = (Method(name, assumes=(norm_one,)) for name in ("nkp", "snkp"))
prox = rp.sharing(kind="identity", powerless="it is about p_μ and d, not about a solver")
WEIGHTS = rationals(0, None, shape=("n",))
SMOOTHED = {"slopes": rationals(shape=("n",)), "alpha": WEIGHTS, "p": WEIGHTS}


@prox.direct(
    "eq11",
    "equation (11) and its closed form",
    instances="small data sets, a grid of α and p, μ = 2 and 1/6",
    inputs=SMOOTHED | {"mu": rationals(0, 100, positive=True)},
)
def _eq11(case):
    r"""The smoothed minimiser p_μ(α) is the softmax of −Gα/μ.

    $p_\mu(\alpha) := \arg\min_{p\in\Delta_n}\{\langle\alpha,p\rangle_G + \mu d(p)\}=
    \frac{e^{-G\alpha/\mu}}{\|e^{-G\alpha/\mu}\|_1}$

    Checked as F(p) ≥ F(p_μ) + (μ/2)‖p − p_μ‖₁² for F(p) = ⟨α, p⟩_G + μd(p), which is so of the
    minimiser of a μ-strongly convex function."""
    for name, rows, alpha, p, strength in _proximal(case):
        scores, mu = rows @ (rows.T @ alpha), number(strength)
        if len(set(scores)) == 1 == len(set(p)):
            continue  # then p is p_μ
        s, point = ([*map(number, v)] for v in (scores, p))
        best = algorithms.softmax(array(s), mu).tolist()
        gap = _smoothed(s, point, mu) - _smoothed(s, best, mu)
        bound = mu / 2 * _one_norm(point, best) ** 2
        yield at_least(gap, bound, "F(p) − F(p_μ) ≥ (μ/2)‖p − p_μ‖₁²", where=name)


def _proximal(case: Case) -> Iterator[tuple[str, Array, Array, Array, Fraction]]:
    """A name, rows, α, p and μ."""
    if case.inputs is not None:
        slopes, alpha, p, mu = case.inputs.values()
        yield "rows of the circle", on_circle(slopes), shares(alpha), shares(p), Fraction(mu)
        return
    for name, rows in (SEPARABLE | INSEPARABLE).items():
        points = [*centres(len(rows))]
        for alpha, mu, p in product(points, (Fraction(2), Fraction(1, 6)), points):
            yield name, rows, alpha, p, mu


def _smoothed(scores: list[Number], p: list[Number], mu: Number) -> Number:
    """F(p)."""
    return total(s * v for s, v in zip(scores, p, strict=True)) + mu * _entropy(p)


@prox.direct("eq12", "equation (12) and the line after it", inputs={"p": WEIGHTS, "q": WEIGHTS})
def _eq12(case):
    r"""d(p) − d(q) − ⟨∇d(q), p − q⟩ ≥ ½‖p − q‖₁², and 0 ≤ d ≤ log n.

    $d(p) := \sum_i p_i\log p_i + \log n \text{ is 1-strongly convex with respect to the
    }\ell_1\text{-norm}$

    With 0 ≤ d ≤ log n, which the proof of Lemma 4 uses.
    Instances: n = 2, 3, 6, and a grid of p and q"""
    own = ((p, q) for n in (2, 3, 6) for p, q in product(centres(n), centres(n)))
    for one, other in case.instances(own):
        if case.inputs is not None:
            one, other = shares(one), shares(other)
        p, q = [*map(number, one)], [*map(number, other)]
        if not any(v == 1 for v in one):  # at a corner d is log n
            yield at_most(_entropy(p), log(len(p)), "d ≤ log n")
        if all(other) and list(one) != list(other):
            slope = total((log(b) + 1) * (a - b) for a, b in zip(p, q, strict=True))
            gap = _entropy(p) - _entropy(q) - slope
            yield at_least(gap, _one_norm(p, q) ** 2 / 2, "D_d(p, q) ≥ ½‖p − q‖₁²")


@unit.bound(
    "lem4", "Lemma 4", SNKP, powerless="it is true of every α and μ > 0, whatever a solver does"
)
def _lem4(it, case):
    r"""The smoothed loss is at least the loss minus μ_k log n.

    $L_{\mu_k}(\alpha_k) \ge L(\alpha_k) - \mu_k \log n$"""
    mu = temperature(it.t)
    return at_most(entropy_gap(it, mu), mu * case.log_n, "L(α_k) − L_μ(α_k) ≤ μ_k log n")


@unit.bound("lem5", "Lemma 5", SNKP, SoftAverages)
def _lem5(it, case):
    r"""In every round of SNKP the smoothed loss is at most −½‖p_k‖²_G.

    $L_{\mu_k}(\alpha_k) \le -\tfrac12 \|p_k\|_G^2$"""
    p, wrong = followed(it, case, SoftAverages)
    loss = hard_loss(it) - entropy_gap(it, temperature(it.t))
    return [*wrong, at_most(combined_square(it, p) / 2, -loss, "½‖p_k‖²_G ≤ −L_μ(α_k)")]


def _no_other_exit(case: Case) -> str | None:
    """Algorithm 4 as printed: an exit ‖p_k‖_G ≤ ε is none if ε < ρ_K, since ρ_K ≤ ‖p_k‖_G."""
    epsilon = getattr(case.solver, "epsilon", None)
    if epsilon is None or epsilon < case.gamma:
        return None
    return "the solver may exit with ‖p_k‖_G ≤ ε before it separates, which Algorithm 4 does not"


@unit.stopping(
    "thm1",
    "Theorem 1 and the last line of its proof",
    SNKP,
    separable,
    _no_other_exit,
    slower="snkp/perceptron-instead",
)
def _thm1(case):
    r"""SNKP separates after at most 2√(2 log n)/ρ_K steps.

    $\text{SNKP finds a perfect classifier when one exists in }O\left(\tfrac{\sqrt{\log
    n}}{\rho_K}\right) \text{ iterations: after at most }k = 2\sqrt{2\log n}/\rho_K \text{ steps}$

    The constant is that of the proof. L(α_k) < 0 as soon as k + 1 ≥ 2√(2 log n)/ρ_K, since μ_k <
    4/(k+1)², so the first such k is below the bound. For n = 1 the bound is 0, and α_0 is a
    solution."""
    return 2 * sqrt(2 * case.log_n) / case.gamma


@unit.stopping(
    "nkp", "Section 4, remark on Lemma 3", NKP, separable, slower="nkp/starts-with-the-sum"
)
def _nkp(case):
    r"""NKP separates after at most 1/ρ_K² iterations.

    $\text{NKP finds a perfect classifier in } 1/\rho_K^2 \text{ iterations}$

    Iterations are updates: α_0 = 0 is never a solution, and n = 1 needs one update, which is 1/ρ_K²
    = 1. Orthonormal rows need all of the n = 1/ρ_K² updates."""
    return case.mistake_bound


# Equation (10)

LITTLE = Fraction(1, 1024)
#: Where the subgradient inequality is tried, in multiples of f_k: near it, and far away.
MULTIPLES = (Fraction(0), 1 - LITTLE, 1 + LITTLE, Fraction(2))


@unit.bound("eq10", "equation (10)", NKP, since=1)
def _subgradient(now, before, case):
    r"""Each step of NKP is −θ_k times a subgradient of L at f_k.

    $f_{k+1} = (1-\theta_k)f_k + \theta_k\langle Y\tilde\phi_X, p(f_k)\rangle = f_k -
    \theta_k\left(f_k - \langle Y\tilde\phi_X, p(f_k)\rangle\right) = f_k - \theta_k\partial L(f_k)$

    g_k = (f_k − f_{k+1})/θ_k is a subgradient of L at f_k iff L(v) ≥ L(f_k) + ⟨g_k, v − f_k⟩ for
    all v. Up to a proved bound on the rounding of g_k. Steps are counted by the iterate that they
    lead to.
    Instances: the subgradient inequality at 0, f_k ± 2⁻¹⁰ f_k, 2f_k and the minimiser of L,
    and for f_0 at ±2⁻¹⁰ f_1"""
    k, square, least = before.t, before.norm_squared, before.smallest
    exact = now.space.exact_inner
    both = exact(before.w, now.w) if now.level else before.here.inner(now.here)
    along = now.t * both - k * square  # ⟨h_k, f_k⟩
    # f_k and f_{k+1} are off by `carried`, and h_k by k + 1 times that; all have norm ≤ 1.
    slip = 4 * now.t * carried(now, now.t)
    for c in MULTIPLES if k else ():
        gap = number((c - 1) ** 2 / 2) * square + number(c - 1) * (along - least)
        yield _above(gap, slip, abs(float(c - 1)), f"v = {c} f_k")
    if not k:
        yield from _first(now, slip)
    if case.separable and case.truth.exact:
        # The same at v = w*, where ⟨a_i, w*⟩ ≥ ρ² and ‖w*‖ = ρ.
        best = case.gamma_squared
        apart = square / 2 - before.toward + best / 2
        gap = apart - best + least + now.t * now.toward - k * before.toward - along
        yield _above(gap, slip, 2.0, "v = w*")


def _first(it: View, slip: float) -> Iterator[Relation]:
    """f_0 = 0, whose multiples say nothing: v = ±2⁻¹⁰ f_1, where g_0 = −f_1 and L(0) = 0."""
    c, largest = LITTLE, ball(float(it.score_doubles.max()), it.score_error)
    for sign, least in (("", it.smallest), ("−", -largest)):
        along = it.norm_squared if not sign else -it.norm_squared
        gap = number(c**2 / 2) * it.norm_squared + number(c) * (along - least)
        yield _above(gap, slip, float(c), f"v = {sign}2⁻¹⁰ f_1")


def _above(gap: Number, slip: float, part: float, where: str) -> Relation:
    """L(v) ≥ L(f_k) + ⟨g_k, v − f_k⟩, up to the rounding of numbers of size one, times ‖v − f_k‖
    (or more)."""
    what = "L(v) ≥ L(f_k) + ⟨g_k, v − f_k⟩"
    return nearly(0, gap, what, rounding=slip * part, size=part, where=where)


# The remark on Lemma 3: NKP gets arbitrarily close to the minimiser, and to the margin


def _minimiser_known(case: Case) -> str | None:
    """w* is known: it is 0, or q̄ is exact."""
    if case.separable is False or case.truth.exact:
        return None
    return "the minimiser of L is only known approximately"


@unit.bound(
    "sec4.minimizer", "Section 4, remark on Lemma 3", NKP, _minimiser_known, kind="limit", since=1
)
def _near_the_minimiser(it, case):
    r"""The squared distance of f_k to the minimiser of L is at most (1 − ρ_K²)/k.

    $\text{NKP can get arbitrarily close to the minimizer of strongly convex } L(f)$

    No rate is printed. Checked as ‖f_k − f*‖² ≤ (1 − ρ_K²)/k, with ρ_K = 0 and f* = 0 for data that
    are not separable; the proof is in papers/gammabar/PROOFS.md. Orthonormal rows attain it at
    k = 1. As printed Algorithm 3 exits with the first separator: what is meant are its updates,
    carried on; rp.sec4.margin judges those."""
    best = case.gamma_squared
    square = it.norm_squared - (2 * it.toward - best if case.separable else 0)
    bound, what = (1 - best) / it.t, "‖f_k − f*‖² ≤ (1 − ρ_K²)/k"
    # w_k is off by `carried`, and all vectors have norm at most one.
    off, size = 4 * carried(it, it.t), size_of(bound, product_terms(it, it.t))
    return nearly(square, bound, what, rounding=off, size=size)


UPDATES = 400


@unit.direct(
    "sec4.margin",
    "Section 4, remark on Lemma 3",
    norm_one,
    small,
    separable,
    rational,
    kind="limit",
    problems=("worst-case:n=12", "degenerate:kind=square", "degenerate:kind=simplex,n=6,d=6"),
    instances=f"the updates of Algorithm 3 up to k = {UPDATES}, without its exit",
    powerless="it is about the updates after the exit, where solvers here end",
)
def _near_the_margin(case):
    r"""Carried on after its exit, NKP tends to the maximum margin.

    $\text{NKP also gets arbitrarily close to a margin maximizer: it will continue to improve to
    find an approximate max-margin classifier}$

    As printed Algorithm 3 exits with the first separator, whatever its margin: the rows (1, 0) and
    (3/5, 4/5) end it at f_1 = (1, 0), of margin 3/5 where 2/√5 is possible. Its updates, carried
    on, do what is said. Checked as ‖f_k − f*‖² ≤ d² = (1 − ρ_K²)/k, and once d ≤ ρ_K² as ρ_K −
    γ(f_k) ≤ (1 + ρ_K)d/(ρ_K + d): every score is at least ρ_K² − d, and ‖f_k‖ ≤ ρ_K + d."""
    gram, best = Gram(case), case.truth.unit_squares[0]  # ‖q̄‖²_G
    rho = sqrt(number(best))
    updates = algorithms.nkp(gram.rows, solved=lambda k, scores: k == UPDATES)
    for k, alpha in enumerate(islice(updates, 1, None), start=1):
        length, distance = gram.square(alpha), gram.square(alpha - array(case.q_bar))
        yield ordered(distance, (1 - best) / k, "‖f_k − f*‖² ≤ (1 − ρ_K²)/k", where=f"k = {k}")
        d = sqrt(number((1 - best) / k))
        if d <= number(best):
            gap = rho - number(gram.least(alpha)) / sqrt(number(length))
            what = "ρ_K − γ(f_k) ≤ (1 + ρ_K)d/(ρ_K + d)"
            yield at_most(gap, (1 + rho) * d / (rho + d), what, where=f"k = {k}")
