"""Methods of Ramdas and Peña (2015): their steps as printed, and SNKP's certificate.

Bounds count iterations, which a wrong step need not change: so each step is recomputed from the
iterate before it, up to rounding. Where several rows have the smallest score, any of them is right.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.algorithms import line_search, mixed, smoothed_alpha
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.section6 import Calls, counts_of
from gammabar.problems import KernelProblem

own = Claims("gb", unit=True)
steps = Claims("gb", source=SOURCE, unit=True)


@steps.identity(
    "rp.simplex",
    "Section 4: α_k is always a probability distribution",
    Method("nkp", "snkp", "nvn", "snkpvn", "isnkpvn"),
    at_rest="weights in the simplex stay there",
)
def _simplex(it, case):
    r"""α_k and p_k are probability distributions (but for α_0 = 0).

    $\alpha_k, p_k \in \Delta_n$"""
    it.claim("dual")
    for name, symbol in (("dual", "α_k"), ("p", "p_k")):
        weights = weights_of(it, name)
        if weights is None or (it.t == 0 and not weights.any() and not it.w.any()):
            continue
        if name == "dual":
            yield represents(it, weights, it.t)
        yield from distribution(it, weights, symbol)


def _compared(it, small, large, what, strict=False):
    """small ≤ large (or <) for squared norms, which were carried along for t steps."""
    relation = below if strict else at_most
    return relation(small, large, what, allowance=4 * carried(it, it.t))


# Perceptrons and Winnow


def _along_a_lowest_row(before, k, along, few=lambda rows: rows):
    """That the step was along one of the tied rows: the one that the solver names, if it was, or
    the best of `few` of them. What it names saves time, and is not believed."""
    rows, said = lowest(before, k), claimed_row(before.extra.get("i"), before.n)
    if said is not None and said in rows and (found := along(said)).certain():
        return found
    return any_of(along(int(j)) for j in few(rows))


def _mean(now, before, c):
    """w_{k+1} = (1 − θ_k) w_k + θ_k a_j with θ_k = 1/(k+1) and a row j of smallest score."""
    theta, what = number(1) / now.t, f"w_{now.t} is the mean of k w_k and a row of smallest score"

    def along(j):
        if not before.w.any() and not c.problem.row(j).any():
            return fact(not now.w.any(), what)  # 0 without any rounding
        mean = before.vec(before.w) * (1 - theta) + row_vector(before, j) * theta
        return same_point(now, mean, what, start=before.here)

    def closest(rows):
        """Of many rows those nearest to the one that was added."""
        if len(rows) <= 8:
            return rows
        norms = c.once(
            "‖a_i‖", lambda: np.array([c.problem.norm(c.problem.row(i)) for i in range(c.n)])
        )
        scores = c.problem.scores(now.t * now.w - before.t * before.w)
        return rows[np.argsort((norms**2 - 2 * scores)[rows], kind="stable")[:8]]

    return _along_a_lowest_row(before, before.t, along, closest)


def _exits(now, before):
    """It exits when it should, and can tell the rows of smallest score."""
    k = now.t - 1
    past = [] if before is None else [lowest_known(before, k), went_on(before, k)]
    return [*past, *ended(now, now.t)]


@steps.step(
    "rp.normalized-perceptron.step", "Algorithm 2 as printed", Method("normalized-perceptron")
)
def _normalized_perceptron_step(now, before, c):
    r"""Every iterate of Algorithm 2 is the step from the one before, and it exits when it should.

    $w_0 = 0,\ w_{k+1} = (1-\theta_k)w_k + \theta_k XYp(w_k),\ \theta_k = \tfrac{1}{k+1};\text{ exit
    iff } YX^\top w_k > 0$"""
    step = fact(not now.w.any(), "w_0 = 0") if before is None else _mean(now, before, c)
    return [step, *_exits(now, before)]


@steps.step("rp.nkp.step", "Algorithm 3 as printed", Method("nkp"))
def _nkp_step(now, before, c):
    r"""Every iterate of NKP is the step from the one before, and it exits when it should.

    $\alpha_0 = 0,\ \alpha_{k+1} = (1-\theta_k)\alpha_k + \theta_k p(\alpha_k),\ \theta_k =
    \tfrac{1}{k+1};\text{ exit iff } G\alpha_k > 0$"""
    alpha = weights_of(now, "dual")
    last = None if before is None else weights_of(before, "dual")
    if before is None:
        step = fact(not now.w.any() and (alpha is None or not alpha.any()), "α_0 = 0")
    elif alpha is None or last is None:
        step = _mean(now, before, c)
    else:
        step = _added(before, last, alpha)
    said = [] if alpha is None else [represents(now, alpha, now.t)]
    return [step, *said, *_exits(now, before)]


def _added(before, last, alpha):
    """(k+1) α_{k+1} − k α_k is a distribution on rows of smallest score."""
    k = before.t
    p = (k + 1) * alpha - k * last
    outside = np.ones(p.size, dtype=bool)
    outside[lowest(before, k)] = False
    gap = float(np.abs(p[outside]).sum() - np.minimum(p[~outside], 0).sum())
    gap += abs(float(p.sum()) - 1)
    # Entries of α are rounded, and here multiplied by k + 1; n numbers are added up.
    allowed = 32 * ROUNDOFF * (k + 2) + 4 * p.size * ROUNDOFF
    what = "p(α_k) is a distribution on rows of smallest score"
    return equal(gap, 0, what, allowance=allowed, size=1.0)


@Claims("gb").step(
    "rp.winnow.step",
    "multiplicative weights, as the solver documents them; Ramdas and Peña (2015), Section 2.2, "
    "print no update",
    Method("winnow"),
)
def _winnow_step(now, before, c):
    r"""Every iterate of Winnow is the multiplicative step from the one before.

    $w_0 = \mathbf{1}_d/d,\ w_{t+1} \propto w_t^{\eta_{t+1}/\eta_t} \odot\exp(\eta_{t+1}\,
    a_i/\|a_i\|_\infty),\ i = \arg\min_i \langle a_i, w_t\rangle$"""
    if isinstance(c.problem, KernelProblem):
        return None
    if before is None:
        start = same_weights(now.w, uniform(now.space.dimension), 0.0, "w_0 = 1/d")
        return [start, *ended(now, 0)]
    best = _along_a_lowest_row(before, 0, lambda i: _multiplied(now, before, i, c))
    return [best, lowest_known(before, 0), went_on(before, 0), *ended(now, 0)]


def _multiplied(now, before, i, c):
    t, d, fixed = now.t, now.space.dimension, getattr(c.solver, "rate", None)
    old, new = (
        math.sqrt(math.log(d) / (k + 1)) if fixed is None else float(fixed) for k in (t - 1, t)
    )
    row, predicted = c.problem.row(i), np.ones(1)
    if d > 1:
        with np.errstate(divide="ignore"):
            gain = row / (float(np.abs(row).max()) or 1.0)
            power = new / old * np.log(before.w) + new * gain
        weights = np.exp(power - power.max())
        predicted = weights / weights.sum()
    # w_t = exp(η_t G_t)/Σ with G_t a sum of t numbers of at most one, added up in doubles: its
    # exponents are at most η_t t, and off by t roundoffs of them, there and here.
    relative = ROUNDOFF * (64 + 4 * d + 8 * (new + old) * (t + 8) * (t + 8))
    what = f"w_{t} is the multiplicative step from w_{before.t}"
    return same_weights(now.w, predicted, relative, what, start=before.w)


# Von Neumann


@steps.step("rp.nvn.step", "Algorithm 5 as printed", Method("nvn"), has(epsilon=0))
def _nvn_step(now, before, c):
    r"""Every iterate of NVN is the step from the one before, and it exits when it should.

    $p_0 = \mathbf{1}_n/n,\ \theta_k = \arg\min_{\lambda\in[0,1]} \|(1-\lambda)w_k +\lambda
    y_jx_j\|_2,\ p_{k+1} = (1-\theta_k)p_k + \theta_k e_j,\ w_k = XYp_k;\text{ exit iff }
    \|XYp_k\|_2 \le \epsilon$"""
    p, limit = claimed_weights(now, "dual"), number(c.solver.epsilon) ** 2
    yield represents(now, p, now.t, "p")
    if now.extra.get("halt") == "certificate":
        yield _compared(now, combined_square(now, p), limit, "the method halts, so ‖w_k‖² ≤ ε²")
    if before is None:
        yield same_weights(p, uniform(now.n), 0.0, "p_0 = 1/n")
        return
    last, what = claimed_weights(before, "dual"), "the method goes on, so ‖w_k‖² > ε²"
    yield _compared(before, limit, combined_square(before, last), what, strict=True)
    yield lowest_known(before, before.t)
    yield from _towards_a_row(before, last, p, c)


def _towards_a_row(before, last, p, c):
    k, rows = before.t, lowest(before, before.t)
    j = int(rows[np.argmax((p - last)[rows])])
    direction = -last
    direction[j] += 1.0
    length = float(np.dot(direction, direction))
    if length == 0:  # p_k = e_j, and every λ is as good
        yield same_weights(p, last, 0.0, "p_{k+1} = e_j")
        return
    theta = float(np.dot(p - last, direction)) / length
    rounding = 16 * ROUNDOFF * (k + 8 + p.size)
    what = "p_{k+1} is between p_k and e_j, j a row of smallest score"
    yield same_weights(p, last + theta * direction, rounding, what, start=last)
    what = "θ_k minimises ‖(1 − λ) w_k + λ a_j‖"
    error = 4 * (carried(before, k) + before.score_error)
    ww, wa = float(before.norm_squared.mid()), float(before.score_doubles[j])
    aa = c.problem.norm(c.problem.row(j)) ** 2
    apart = ww - 2 * wa + aa  # ‖w_k − a_j‖²
    if apart <= 8 * error:
        yield fact(_there(before, j), f"{what}: any, for w_k = a_j up to rounding")
        return
    best, off = line_search(ww, wa, aa), 4 * error / (apart - 4 * error) * SAFETY + slack(before, 0)
    # No step at all is right where it is best: then up to the rounding of the products that it is
    # a quotient of.
    size = size_of(best, product_terms(before, k) / apart) if best > 0 else 1.0
    yield equal(theta, best, what, allowance=off + rounding / math.sqrt(length), size=size)


def _there(before, j):
    """Whether w_k is a_j itself, so that every λ is as good; None if that is not known."""
    apart = before.w - before.case.problem.row(j)
    same = bool(before.level) and before.space.exact_inner(apart, apart) == 0
    return True if same or not apart.any() else None


# Smoothed methods

_STEP = (
    r"\alpha_{k+1} = (1-\theta_k)(\alpha_k + \theta_k p_k) + \theta_k^2 p_{\mu_k}(\alpha_k),\ "
    r"\mu_{k+1} = (1-\theta_k)\mu_k,\ "
    r"p_{k+1} = (1-\theta_k)p_k + \theta_k p_{\mu_{k+1}}(\alpha_{k+1}),\ \theta_k = \tfrac{2}{k+3}"
)


class _Smoothed(NamedTuple):
    """The step that Algorithms 4, 6 and 7 share; μ_k is `hottest` · 2/((k+1)(k+2)).

    `answer` is p_μ(α) for the α of an iterate, and a bound on its error, here and there, in ℓ₁.
    """

    start: Any
    hottest: int
    answer: Any

    def _mu(self, k):
        return 2 * self.hottest / ((k + 1) * (k + 2))

    def stated(self, it, alpha, k):
        """What an iterate says of itself: w_k = Aᵀα_k, μ_k, and whether it separates."""
        found = [represents(it, alpha, it.t)]
        if "mu" in it.extra:
            exact = number(2 * self.hottest) / ((k + 1) * (k + 2))
            found.append(same_number(it.extra["mu"], exact, 4 * (k + 2), f"μ_{k}"))
        return [*found, *ended(it, it.t)]

    def started(self, it, now, name):
        """α_0 and p_0."""
        (alpha, p), (first, error) = now, self.answer(it, self._mu(0))
        return [
            same_weights(alpha, self.start, 0.0, f"α_0 = {name}"),
            same_weights(p, first, error, "p_0 = p_{μ_0}(α_0)"),
        ]

    def moved(self, it, before, now, last, k):
        """α_{k+1} and p_{k+1} from α_k and p_k; `now` and `last` are such pairs."""
        theta, (alpha, p) = 2 / (k + 3), last
        old, error = self.answer(before, self._mu(k))
        predicted = smoothed_alpha(theta, alpha, p, old)
        what = "α_{k+1} is the step from α_k"
        found = [same_weights(now[0], predicted, theta**2 * error, what, start=alpha)]
        new, error = self.answer(it, self._mu(k + 1))
        predicted, what = mixed(theta, p, new), "p_{k+1} is the step from p_k"
        return [*found, same_weights(now[1], predicted, theta * error, what, start=p)]


def _near(q):
    """Algorithms 6 and 7, with the centre q."""
    return _Smoothed(q, 2 * len(q), lambda it, mu: near_answer(it, mu, q))


def _pair(it):
    """α_k and p_k, as the solver claims them."""
    return claimed_weights(it, "dual"), claimed_weights(it, "p")


def _returned(it, p, delta):
    what = "p_k is returned, so ‖p_k‖²_G < δ²"
    return _compared(it, combined_square(it, p), number(delta) ** 2, what, strict=True)


def _not_returned(before, p, delta):
    what = "the call goes on, so ‖p_k‖²_G ≥ δ²"
    return _compared(before, number(delta) ** 2, combined_square(before, p), what)


@steps.step(
    "rp.snkp.step",
    "Algorithm 4 as printed",
    Method("snkp"),
    claim=r"\alpha_0 = \mathbf{1}_n/n,\ \mu_0 = 2,\ p_0 = p_{\mu_0}(\alpha_0);\ " + _STEP,
)
def _snkp_step(now, before, c):
    """Every iterate of SNKP is the step from the one before, and it exits when it should."""
    method, here = _Smoothed(uniform(c.n), 2, soft_answer), _pair(now)
    epsilon = positive(c, "epsilon")
    limit, found = number(epsilon or 0) ** 2, method.stated(now, here[0], now.t)
    if now.extra.get("halt") == "certificate":
        what = "the method halts, so ‖p_k‖²_G ≤ ε²"
        certified = epsilon and _compared(now, combined_square(now, here[1]), limit, what)
        found.append(certified or fact(False, "Algorithm 4 has no exit but Gα_k > 0"))
    if before is None:
        return method.started(now, here, "1/n") + found
    last = _pair(before)
    found.append(went_on(before, before.t))
    if epsilon:
        what, length = "the method goes on, so ‖p_k‖²_G > ε²", combined_square(before, last[1])
        found.append(_compared(before, limit, length, what, strict=True))
    return method.moved(now, before, here, last, before.t) + found


@steps.step(
    "rp.snkpvn.step",
    "Algorithm 6 as printed",
    Method("snkpvn"),
    has(delta=0),
    claim=r"\alpha_0 = q,\ \mu_0 = 2n,\ p_0 = p^q_{\mu_0}(\alpha_0);\ "
    + _STEP.replace("p_{\\mu", "p^q_{\\mu"),
)
def _snkpvn_step(now, before, c):
    """Every iterate of SNKPVN is the step from the one before, and it ends when it should."""
    method, here, delta = _near(centre(c)), _pair(now), float(c.solver.delta)
    found = method.stated(now, here[0], now.t)
    if now.extra.get("halt") == "certificate":
        found.append(_returned(now, here[1], delta))
    if before is None:
        return method.started(now, here, "q") + found
    last = _pair(before)
    found += [went_on(before, before.t), _not_returned(before, last[1], delta)]
    return method.moved(now, before, here, last, before.t) + found


@steps.step(
    "rp.isnkpvn.step",
    "Algorithm 7 as printed",
    Method("isnkpvn"),
    has(gamma=1, epsilon=0),
    Calls,
)
def _isnkpvn_step(now, before, c):
    r"""Every iterate of ISNKPVN is the step from the one before, or starts a new call from what the
    last one returned; and it halts when it should.

    $q_0 = \mathbf{1}_n/n,\ \delta_t = \|q_t\|_G/\gamma,\ q_{t+1} = SNKPVN(q_t, \delta_t);\text{
    halt if } \delta_t < \epsilon$"""
    calls, here, (outer, k), delta = c.history(Calls), _pair(now), counts_of(now), _delta_of(now)
    method, gamma = _near(calls.q), number(c.solver.gamma)
    yield from method.stated(now, here[0], k)
    # δ_t = ‖q_t‖_G/γ, by squares: the norm is the root of a sum that may cancel.
    expected, what = combined_square(now, calls.q), "(γ δ_t)² = ‖q_t‖²_G"
    size, off = size_of(expected, product_terms(now, now.t)), 4 * carried(now, now.t)
    yield equal((number(delta) * gamma) ** 2, expected, what, allowance=off, size=size)
    if _says_returned(now):
        yield _returned(now, here[1], delta)
    if now.extra.get("halt") == "certificate":
        yield fact(_says_returned(now), "it halts with p_k, so this call returned")
        limit, square = number(c.solver.epsilon) ** 2, expected / gamma**2
        yield _compared(now, square, limit, "it halts, so δ_t² < ε²", strict=True)
    if before is None:
        yield fact(outer == 0 and k == 0, "t = 0, k = 0")
        yield from method.started(now, here, "q_0")
    else:
        yield from _continued(now, before, c, calls, here)


def _continued(now, before, c, calls, here):
    """The call goes on, or the next one starts."""
    (outer, k), (before_outer, old), last = counts_of(now), counts_of(before), _pair(before)
    calls_more, method = outer - before_outer, _near(calls.q)
    if _says_returned(before):
        again = calls_more == 1 and k == 0
        yield fact(again, "the next call starts when p_k was returned")
        if not again:
            return
        square = combined_square(before, calls.last_q) / number(c.solver.gamma) ** 2
        yield _compared(before, number(c.solver.epsilon) ** 2, square, "it goes on, so δ_t² ≥ ε²")
        yield went_on(before, before.t)
        yield from method.started(now, here, "q_t")
        return
    yield fact(calls_more == 0 and k == old + 1, "the call goes on")
    if k == old + 1:
        yield _not_returned(before, last[1], _delta_of(before))
        yield went_on(before, before.t)
        yield from method.moved(now, before, here, last, old)


def _delta_of(it):
    """δ_t as the solver says it."""
    delta = claimed_number(it.claim("delta"))
    if delta is None or delta < 0:
        raise Fault(f"delta of iterate {it.t} is no number of at least 0")
    return delta


def _says_returned(it):
    """Whether the solver says that p_k is returned."""
    said = it.extra.get("returned")
    return isinstance(said, bool | np.bool_) and bool(said)


# SNKP certifies that data are not separable; the proof is in papers/gammabar/PROOFS.md


def _no_single_zero(case):
    """SNKP's Gram matrix is defined: a single point with K(x, x) = 0 cannot be normalised."""
    if case.n > 1 or case.truth.radius_squared > 0:
        return None
    return "a single zero row: both bounds are 0 and 0 < 0 is false"


@own.bound(
    "snkp.any",
    "this project: Lemmas 1, 4 and 5 of Ramdas and Peña (2015) together",
    Method("snkp"),
    _no_single_zero,
    SoftAverages,
    slower="snkp/perceptron-instead",
)
def _snkp_any(it, case):
    r"""Until SNKP separates, ‖p_k‖_G ≤ √(2 μ_k log n) < 2√(2 log n)/(k+1), whatever the data.

    $\|p_k\|_G \le \sqrt{2\mu_k\log n} < \frac{2\sqrt{2\log n}}{k+1}\quad\text{until } G\alpha_k >
    0$

    Any data with rows of norm at most one. If Gα_k > 0 fails, L(α_k) ≥ 0 (Lemma 1), so −½‖p_k‖²_G ≥
    L_μ(α_k) ≥ L(α_k) − μ_k log n ≥ −μ_k log n (Lemmas 5 and 4). A single row that is zero is
    excluded: there the strict inequality says 0 < 0."""
    p, wrong = followed(it, case, SoftAverages)
    if it.misses is not True:
        return wrong if it.misses is False else [*wrong, fact(None, "whether Gα_k > 0")]
    bound = sqrt(2 * temperature(it.t) * case.log_n)
    last = 2 * sqrt(2 * case.log_n) / (it.t + 1)
    strict = True if bound < last else False if bound >= last else None
    return [
        *wrong,
        at_most(combined_norm(it, p), bound, "‖p_k‖_G ≤ √(2 μ_k log n)"),
        fact(strict, "√(2 μ_k log n) < 2√(2 log n)/(k+1)"),
    ]


def _separates_or_certifies(it, case):
    return reached(it, case, SoftAverages, number(case.solver.epsilon), strict=False)


@own.stopping(
    "snkp.any.exit",
    "this project: the consequence of gb.snkp.any",
    Method("snkp"),
    has(epsilon=0),
    SoftAverages,
    goal=_separates_or_certifies,
    slower="snkp/perceptron-instead",
)
def _snkp_exit(case):
    r"""SNKP with the exit ‖p_k‖_G ≤ ε separates or certifies within 2√(2 log n)/ε iterations.

    $G\alpha_k > 0 \text{ or } \|p_k\|_G \le \epsilon \text{ for some }k \le 2\sqrt{2\log
    n}/\epsilon$"""
    return 2 * sqrt(2 * case.log_n) / number(case.solver.epsilon)
