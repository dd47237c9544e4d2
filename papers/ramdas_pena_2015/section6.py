"""Section 6, Kernelized Primal-Dual Algorithms: Lemmas 7, 8 and 9, Theorem 4."""

from fractions import Fraction
from operator import index
from typing import Any

from gammabar.oracle.signed import signed_margin
from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.small_data import *

SNKPVN = Method("snkpvn", assumes=(has(delta=0), norm_one))


@data.direct("lem7", "Lemma 7", Erratum("edge case", ".fixed"))
def _lem7_printed(case):
    r"""For every q ∈ Δ_n the distance to the witnesses W is at most √2 and √2‖q‖_G/|ρ_K|.

    $\forall q\in\Delta_n:\ \mathrm{dist}(q,W) := \min_{w\in W}\|q-w\|_2 \le\min\left\{\sqrt2,
    \frac{\sqrt2\|q\|_G}{|\rho_K|}\right\};\quad \|p\|_G = 0\text{ iff } p\in W$"""
    (row,) = SEPARABLE["one row"]
    length = row @ row
    yield ordered(length, Fraction(0), "‖p‖²_G ≤ 0 for some p ∈ Δ_n", where="one row of norm one")


@data.direct("lem7.fixed", "Lemma 7, for data that are not separable")
def _lem7(case):
    r"""On data that are not separable, for every q ∈ Δ_n the distance to the witnesses W is at most
    √2 and √2‖q‖_G/|ρ_K| (compared are the squares).

    $W \ne\emptyset,\ q\in\Delta_n:\ \mathrm{dist}(q,W) := \min_{w\in W}\|q-w\|_2
    \le\min\left\{\sqrt2, \frac{\sqrt2\|q\|_G}{|\rho_K|}\right\};\quad \|p\|_G = 0\text{ iff }
    p\in W$

    Instances: a few small data sets, and a grid of q"""
    for name, rows in INSEPARABLE.items():
        margin = signed_margin(*integers_of(rows)).rho_squared_hi
        for q in centres(len(rows)):
            distance, w = square_distance(rows, q), q @ rows
            length = w @ w
            yield ordered(distance, Fraction(2), "dist(q, W)² ≤ 2", where=name)
            yield ordered(margin * distance, 2 * length, "ρ_K² dist(q, W)² ≤ 2‖q‖²_G", where=name)
            yield fact((length == 0) == (distance == 0), "‖q‖_G = 0 ⟺ q ∈ W", where=name)


# SNKPVN


def _steps(case: Case) -> Number:
    """2√(2n)."""
    return 2 * sqrt(2 * number(case.n))


def _excess(it: View, case: Case) -> tuple[Number, list[Relation]]:
    """L^q_μ(α_k), and −½‖p_k‖²_G ≥ L^q_μ(α_k)."""
    p, wrong = followed(it, case, NearAverages)
    mu = temperature(it.t, it.n)
    loss = it.norm_squared / 2 + prox_value(it.scores, it.numbers(centre(case)), mu)
    what = "½‖p_k‖²_G ≤ −L^q_μ(α_k)"
    return loss, [*wrong, at_most(combined_square(it, p) / 2, -loss, what)]


@unit.bound("lem8", "Lemma 8", SNKPVN, below_margin("delta"), NearAverages)
def _lem8(it, case):
    r"""On separable data with δ < ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ L(α_k) − μ_k.

    $\rho_K > 0,\ \delta < \rho_K:\quad -\tfrac12\|p_k\|_G^2 \ge L_{\mu_k}^q(\alpha_k)\ge
    L(\alpha_k) - \mu_k$"""
    loss, found = _excess(it, case)
    gap = hard_loss(it) - loss
    return [*found, at_most(gap, temperature(it.t, it.n), "L(α_k) − L^q_μ(α_k) ≤ μ_k")]


@unit.stopping(
    "lem8.separator",
    "Lemma 8, last sentence, with the constant of Theorem 4",
    SNKPVN,
    below_margin("delta"),
    slower="snkpvn/perceptron-instead",
)
def _lem8_separator(case):
    r"""On separable data with δ < ρ_K, SNKPVN separates within 2√(2n)/ρ_K iterations.

    $\text{SNKPVN finds a separator in } O(\sqrt n/\rho_K) \text{ iterations: }2\sqrt{2n}/\rho_K$
    """
    return _steps(case) / case.gamma


def _chain(it: View, case: Case) -> list[Relation]:
    """−½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)²."""
    loss, found = _excess(it, case)
    if case.separable is False:  # otherwise W is empty, and the distance infinite
        q = centre(case)
        witness = bool(combined_square(it, q) == 0)  # q itself is one, and the distance is 0
        half = number(0) if witness else to_witnesses(case, q)
        bound = temperature(it.t, it.n) * half
        found.append(at_most(-loss, bound, "−L^q_μ(α_k) ≤ ½ μ_k dist(q, W)²"))
    return found


def _rate(it: View, case: Case, factor: Number) -> list[Relation]:
    """‖p_k‖_G ≤ (2√n/(k+1)) · factor."""
    p, wrong = followed(it, case, NearAverages)
    if it.misses is not True:
        return wrong if it.misses is False else [*wrong, fact(None, "whether Gα_k > 0")]
    bound = 2 * sqrt(number(case.n)) / (it.t + 1) * factor
    return [*wrong, at_most(combined_norm(it, p), bound, "‖p_k‖_G ≤ (2√n/(k+1)) min{…}")]


def _ratio(it: View, case: Case) -> Number | None:
    """‖q‖_G/ρ_K, or None for ρ_K = 0."""
    margin = rho(case)
    return None if margin is None or margin == 0 else combined_norm(it, centre(case)) / margin


infeasible = unit.sharing(SNKPVN, small, above_margin("delta"), NearAverages)


@infeasible.bound(
    "lem9",
    "Lemma 9 and the last display of its proof",
    signed_margin_known,
    Erratum("substance", ".fixed", charitable=".charitable"),
    problems=("degenerate:kind=opposite,n=3,d=1",),
)
def _lem9(it, case):
    r"""If ρ_K < 0 or δ > ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)², and ‖p_k‖_G ≤
    (2√n/(k+1)) min{√2, ‖q‖_G/ρ_K}.

    $\rho_K < 0 \text{ or } \delta > \rho_K:\quad -\tfrac12\|p_k\|_G^2 \ge L_{\mu_k}^q(\alpha_k) \ge
    -\tfrac12\mu_k\,\mathrm{dist}(q,W)^2;\quad \|p_k\|_G \le \frac{2\sqrt
    n}{k+1}\min\left\{\sqrt2,\frac{\|q\|_G}{\rho_K}\right\}$"""
    root, ratio = sqrt(number(2)), _ratio(it, case)
    return _chain(it, case) + _rate(it, case, root if ratio is None else root.min(ratio))


@infeasible.bound("lem9.chain", "Lemma 9")
def _lem9_chain(it, case):
    r"""If ρ_K < 0 or δ > ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)².

    $\rho_K < 0 \text{ or } \delta > \rho_K:\quad -\tfrac12\|p_k\|_G^2 \ge L_{\mu_k}^q(\alpha_k) \ge
    -\tfrac12\mu_k\,\mathrm{dist}(q,W)^2$"""
    return _chain(it, case)


@infeasible.bound(
    "lem9.fixed",
    "Lemma 9, with |ρ_K| and √2 in the last display of its proof",
    signed_margin_known,
    slower="snkpvn/perceptron-instead",
)
def _lem9_fixed(it, case):
    r"""If ρ_K < 0 or δ > ρ_K, −½‖p_k‖²_G ≥ L^q_μ(α_k) ≥ −½ μ_k dist(q, W)², and until it separates
    ‖p_k‖_G ≤ (2√(2n)/(k+1)) min{1, ‖q‖_G/|ρ_K|}.

    $\rho_K < 0 \text{ or } \delta > \rho_K:\quad -\tfrac12\|p_k\|_G^2 \ge L_{\mu_k}^q(\alpha_k) \ge
    -\tfrac12\mu_k\,\mathrm{dist}(q,W)^2;\quad \|p_k\|_G \le \frac{2\sqrt{2n}}{k+1}
    \min\left\{1,\frac{\|q\|_G}{|\rho_K|}\right\} \text{ until } G\alpha_k > 0$

    ½‖p_k‖²_G ≤ ½ μ_k dist(q, W)² ≤ μ_k min{1, ‖q‖²_G/ρ_K²} by Lemma 7. If ρ_K > 0 then ‖q‖_G ≥ ρ_K
    (Lemma 3), and 1 is what Lemma 8 gives while Gα_k > 0 fails."""
    ratio = number(1) if (found := _ratio(it, case)) is None else number(1).min(abs(found))
    return _chain(it, case) + _rate(it, case, sqrt(number(2)) * ratio)


def _infeasible_margin(case: Case) -> str | None:
    """ρ_K < 0."""
    margin = rho(case)
    known = case.separable is False and margin is not None and margin < 0
    return None if known else "ρ_K is not known to be negative"


def _settled(it: View, case: Case, margin: Number) -> bool:
    """|ρ_K| ≤ √(2/3) or ‖q‖_G ≥ (√2 − 1)|ρ_K|: then dist(q, W) ≤ ‖q‖_G/|ρ_K|."""
    if margin * margin <= number(Fraction(2, 3)):
        return True
    return bool(combined_norm(it, centre(case)) >= (sqrt(number(2)) - 1) * abs(margin))


@infeasible.bound(
    "lem9.charitable",
    "Lemma 9, with |ρ_K| in the last display of its proof",
    _infeasible_margin,
    slower="snkpvn/never-cools",
)
def _lem9_charitable(it, case):
    r"""If ρ_K < 0, ‖p_k‖_G ≤ (2√n/(k+1)) min{√2, ‖q‖_G/|ρ_K|} (where that is proved).

    $\rho_K < 0 \text{ and } (|\rho_K| \le \sqrt{2/3} \text{ or } \|q\|_G \ge
    (\sqrt2-1)|\rho_K|):\quad \|p_k\|_G \le \frac{2\sqrt n}{k+1}\min\left\{\sqrt2,
    \frac{\|q\|_G}{|\rho_K|}\right\}$

    Proved, and judged, for |ρ_K| ≤ √(2/3) and for ‖q‖_G ≥ (√2 − 1)|ρ_K|, by a sharper Lemma 7:
    dist(q, W) ≤ ‖q‖_G/|ρ_K| (papers/gammabar/PROOFS.md has the proof). Beyond that it is open: the
    sharper Lemma 7 fails there (rows at 0°, ±51.68°, ±90°, ±128.32° and 180°, |ρ_K| = 0.9, q = (½,
    ½) on two rows just behind ±90°: dist(q, W) ≈ 1.14 ‖q‖_G > ‖q‖_G/0.9), but no run is known that
    violates the display."""
    margin = rho(case)
    if margin is None or not _settled(it, case, margin):
        return None
    return _rate(it, case, sqrt(number(2)).min(combined_norm(it, centre(case)) / abs(margin)))


def _delta_solution(it: View, case: Case) -> Trit:
    """It separates, or certifies with its average p_k that ‖p_k‖_G < δ."""
    return reached(it, case, NearAverages, number(case.solver.delta), strict=True)


@infeasible.stopping(
    "lem9.solution",
    "Lemma 9, last sentence, with the constant of rp.lem9.fixed",
    signed_margin_known,
    goal=_delta_solution,
    slower="snkpvn/never-cools",
)
def _lem9_solution(case):
    r"""If ρ_K < 0 or δ > ρ_K, SNKPVN separates or finds a δ-solution within (2√(2n)/δ) min{1,
    ‖q‖_G/|ρ_K|} iterations.

    $\text{SNKPVN finds a } \delta\text{-solution in at most }O\left(\min\left\{\tfrac{\sqrt
    n}{\delta}, \tfrac{\sqrt n\|q\|_G}{\delta|\rho_K|}\right\}\right) \text{ iterations: } 2\sqrt2
    \text{ times}$"""
    bound, margin = _steps(case) / number(case.solver.delta), rho(case)
    if margin is None or margin == 0:
        return bound
    space = case.space
    column = space.exact_combination([number(v) for v in centre(case).tolist()])
    kernel = space.dimension == case.n and hasattr(case.problem, "kernel")
    square = (column.transpose() * (space.gram() * column if kernel else column))[0, 0]
    return bound * number(1).min(sqrt(square) / abs(margin))


# ISNKPVN


class Calls:
    """The loops of ISNKPVN: `q` and `last_q` are the q_t of this call and of the one before, and
    `wrong` says what is wrong at this iterate with the counts that the solver claims.

    Counts go 0, 1, 2, … in a call. The next call starts where p_k was returned, so ‖p_k‖_G < δ_t =
    ‖q_t‖_G/γ, and it starts there: q_{t+1} = p_k, so w = Aᵀp_k. Where a call goes on, p_k was not
    to be returned. And p_k is the average that follows from the iterates of the call.
    """

    def __init__(self, case: Case) -> None:
        self.q: Floats | None = uniform(case.n)
        self.last_q: Floats | None = None
        self.wrong: list[Relation] = []
        self._last: View | None = None
        self._seen = (0, -1)
        self._p: Floats | None = None

    def update(self, it: View) -> None:
        last, (t, k) = self._last, self._seen
        self.wrong, self._last = [], it
        try:
            counts = self._seen = counts_of(it)
        except Unclaimed:
            return
        goes_on = counts == (t, k + 1)
        if goes_on and last is not None:
            self._compare(last, -1, "the call goes on, so ‖p_k‖_G ≥ δ_t")
        elif last is not None and counts == (t + 1, 0):
            self._compare(last, 1, "p_k is returned, so ‖p_k‖_G < δ_t")
            self._next(it, weights_of(last, "p"))
        elif not goes_on:
            what = f"the loops count (t, k) = ({counts[0]}, {counts[1]}) after ({t}, {k})"
            self.wrong.append(fact(False, what))
        self._follow(it, counts[1])

    def _follow(self, it: View, k: int) -> None:
        """p_k from the p_{k−1} of this call, and from w_k."""
        p, before = weights_of(it, "p"), self._p if k else None
        self._p = p
        if self.wrong or p is None or self.q is None or (k and before is None):
            return
        answer = near_answer(it, 4 * it.n / ((k + 1) * (k + 2)), self.q)
        self.wrong += not_average(p, before, answer, k)

    def _next(self, it: View, p: Floats | None) -> None:
        """The next call starts from what the last one returned."""
        self.last_q, self.q = self.q, p
        known = True if p is None else stands_for(it, p)
        if known is not True:
            self.wrong.append(fact(known, "a call starts at q_t = p_k"))

    def _compare(self, last: View, sign: int, what: str) -> None:
        """That ‖p_k‖²_G − δ_t² does not have this sign, by more than rounding.

        By squares: a norm is the root of a sum that may cancel.
        """
        p, gamma = weights_of(last, "p"), number(last.case.solver.gamma)
        if p is None or self.q is None:
            return
        length, limit = combined_square(last, p), combined_square(last, self.q) / gamma**2
        excess, rounding = sign * (length - limit), 4 * carried(last, last.t)
        # Where both are 0 (rows that cancel) up to the rounding of the products that they sum.
        size = size_of(limit, product_terms(last, last.t))
        known = True if excess <= 0 else within(excess, rounding, size)
        if known is not True:
            self.wrong.append(fact(known, what))


def counts_of(it: View) -> tuple[int, int]:
    """The outer t and the inner k, both from 0, as the solver says them; raises `Unclaimed`."""
    outer, inner = it.claim("outer"), it.claim("inner")
    try:
        return index(outer), index(inner)
    except TypeError:
        raise Fault(f"outer and inner of iterate {it.t} are no whole numbers") from None


def _counts(it: View, case: Case) -> tuple[int, int, list[Relation]]:
    """The same, and what is wrong with them."""
    it.claim("p")
    return *counts_of(it), case.history(Calls).wrong


loops = unit.sharing(
    Method("isnkpvn", assumes=(has(gamma=1, epsilon=0), norm_one)),
    Calls,
    kind="stopping",
    waits=lambda it, case: "" if it.extra.get("halt") else "the method has not halted yet",
)


@unit.bound("eq15", "equation (15)", Method("isnkpvn"), has(gamma=1), Calls)
def _eq15(it, case):
    r"""Each call of ISNKPVN returns a q_{t+1} with ‖q_{t+1}‖_G ≤ δ_t ≤ ‖q_0‖_G/γ^{t+1}.

    $\|q_{t+1}\|_G \le \delta_t \le \frac{\|q_0\|_G}{\gamma^{t+1}}$

    Squares are compared, where a call starts. ‖p_k‖_G < δ_t was tested in doubles, so an excess up
    to the rounding of that is no refutation."""
    outer, inner, wrong = _counts(it, case)
    yield from wrong
    calls: Calls = case.history(Calls)
    if inner or not outer or calls.q is None or calls.last_q is None:
        return
    shrunk, rounding = number(case.solver.gamma) ** 2, 4 * carried(it, it.t)
    squares = (combined_square(it, q) for q in (calls.q, calls.last_q, uniform(case.n)))
    now, last, first = squares
    yield at_most(now, last / shrunk, "‖q_{t+1}‖²_G ≤ δ_t²", allowance=rounding)
    if outer > 1:  # δ_0 is ‖q_0‖_G/γ
        bound, what = first / shrunk**outer, "δ_t² ≤ ‖q_0‖²_G/γ^{2(t+1)}"
        yield at_most(last / shrunk, bound, what, allowance=rounding)


def _loops(case: Case, target: Any) -> Number:
    """log(1/target)/log γ."""
    return log(1 / number(target)) / log(number(case.solver.gamma))


def _each_call(case: Case, inner: int) -> Relation:
    return at_most(inner, _steps(case) / case.gamma, "iterations of this call ≤ 2√(2n)/ρ_K")


def _ends(it: View, epsilon: Any = None) -> list[Relation]:
    """What it halts with is a separator, or, with an ε, an ε-solution.

    A score that rounding of α has made negative is no false halt.
    """
    what, halt = "ISNKPVN halts with a solution of the primal", it.extra.get("halt")
    if halt is None:
        return []
    if halt != "separated" and epsilon is not None:
        found = certifies(it, number(epsilon), weights_of(it, "p"))
        return [fact(found, "ISNKPVN halts with an ε-solution")]
    if halt != "separated" or not it.w.any():
        return [fact(False, what)]
    return [below(0, it.smallest, what, allowance=slack(it, it.t))]


@loops.bound(
    "thm4.1",
    "Theorem 4(1)",
    below_margin("epsilon"),
    Erratum("edge case", ".fixed"),
    problems=("degenerate:kind=collinear,n=1,d=2", "degenerate:kind=square"),
)
def _thm4_1(it, case):
    r"""If ε < ρ_K, each call halts within 2√(2n)/ρ_K iterations, and a solution is found in at most
    log(1/ρ_K)/log γ outer loops.

    $\epsilon < \rho_K:\ \text{each call to SNKPVN halts in at most }\frac{2\sqrt{2n}}{\rho_K}\text{
    iterations; ISNKPVN finds a solution in at most }\frac{\log(1/\rho_K)}{\log(\gamma)} \text{
    outer loops}$"""
    outer, inner, wrong = _counts(it, case)
    loops = at_most(outer + 1, _loops(case, case.gamma), "outer loops ≤ log(1/ρ_K)/log γ")
    return [*wrong, _each_call(case, inner), loops, *_ends(it)]


@loops.bound(
    "thm4.1.fixed",
    "Theorem 4(1), rounded up to a whole number of at least 1",
    below_margin("epsilon"),
    slower="isnkpvn/perceptron-instead",
)
def _thm4_1_fixed(it, case):
    r"""If ε < ρ_K, each call halts within 2√(2n)/ρ_K iterations, and a solution is found in at most
    ⌈log(1/ρ_K)/log γ⌉ outer loops, or in one.

    $\epsilon < \rho_K:\ \text{each call to SNKPVN halts in at most }\frac{2\sqrt{2n}}{\rho_K}\text{
    iterations; ISNKPVN finds a solution in at most }\max\left\{1,
    \left\lceil\frac{\log(1/\rho_K)}{\log(\gamma)}\right\rceil\right\}\text{ outer loops}$

    If call t returns, ρ_K ≤ ‖q_{t+1}‖_G < δ_t ≤ ‖q_0‖_G/γ^{t+1}, and then t + 1 < log(1/ρ_K)/log γ.
    """
    outer, inner, wrong = _counts(it, case)
    yield from [*wrong, _each_call(case, inner), *_ends(it)]
    if outer:
        what = "outer loops before this one < log(1/ρ_K)/log γ"
        yield below(outer, _loops(case, case.gamma), what)


@loops.bound(
    "thm4.2",
    "Theorem 4(2)",
    above_margin("epsilon"),
    Erratum("substance", ".fixed"),
    problems=("degenerate:kind=opposite,n=2,d=1",),
)
def _thm4_2(it, case):
    r"""If the dual is feasible or ε > ρ_K, each call halts, and an ε-solution is found in at most
    log(1/ε)/log γ outer loops.

    $\text{(14) feasible or } \epsilon > \rho_K:\ \text{each call to SNKPVN halts in at most
    }O\left(\min\left\{\tfrac{\sqrt n}{\epsilon}, \tfrac{\sqrt n}{|\rho_K|}\right\}\right)\text{
    steps; ISNKPVN finds an } \epsilon\text{-solution in at most
    }\frac{\log(1/\epsilon)}{\log(\gamma)} \text{ outer loops}$"""
    outer, inner, wrong = _counts(it, case)
    epsilon, q = case.solver.epsilon, case.history(Calls).q
    yield from wrong
    what = "iterations of this call ≤ 2√2 · √n/ε"
    yield at_most(inner, _steps(case) / number(epsilon), what)
    yield at_most(outer + 1, _loops(case, epsilon), "outer loops ≤ log(1/ε)/log γ")
    yield from _ends(it, epsilon)
    if inner == 0 and q is not None and case.separable is False:
        left = combined_square(it, q)
        can: Trit = True if left > 0 else False if left == 0 else None
        yield fact(can, "the call can end: δ_t = ‖q_t‖_G/γ > 0", where=f"t = {outer}")


@loops.bound(
    "thm4.2.fixed",
    "Theorem 4(2), for calls with δ_t > 0, with constants",
    above_margin("epsilon"),
    slower="isnkpvn/perceptron-instead",
)
def _thm4_2_fixed(it, case):
    r"""If the dual is feasible or ε > ρ_K, a call with δ_t > 0 halts within min{2√(2n)/δ_t, 2√(2n)
    γ/|ρ_K|} steps, and there are at most ⌊log(1/ε)/log γ⌋ + 1 outer loops, or one.

    $\text{(14) feasible or } \epsilon > \rho_K:\ \text{a call to SNKPVN with } \delta_t > 0\text{
    halts in at most }
    \min\left\{\tfrac{2\sqrt{2n}}{\delta_t},\tfrac{2\sqrt{2n}\,\gamma}{|\rho_K|}\right\} \text{
    steps; and there are at most }\max\left\{1,
    \left\lfloor\tfrac{\log(1/\epsilon)}{\log\gamma}\right\rfloor + 1\right\}\text{ outer loops}$

    The steps of a call by rp.lem9.fixed with ‖q_t‖_G = γ δ_t (and Lemma 8 if ρ_K > 0). If call t
    returns without halting, ε ≤ δ_t ≤ ‖q_0‖_G/γ^{t+1}, so t + 1 ≤ log(1/ε)/log γ."""
    outer, inner, wrong = _counts(it, case)
    yield from [*wrong, *_ends(it, case.solver.epsilon)]
    if outer:
        loops = _loops(case, case.solver.epsilon)
        yield at_most(outer, loops, "outer loops before this one ≤ log(1/ε)/log γ")
    q, gamma = case.history(Calls).q, number(case.solver.gamma)
    if q is None:
        return
    length, root, margin = combined_norm(it, q), _steps(case), rho(case)
    if length > 0:
        bound = root * gamma / length
        if margin is not None and (margin > 0 or margin < 0):
            bound = bound.min(root * (gamma if margin < 0 else number(1)) / abs(margin))
        yield at_most(inner, bound, "iterations of this call ≤ min{2√(2n)/δ_t, …}")
    elif not it.level:
        yield fact(None, "whether δ_t > 0")
