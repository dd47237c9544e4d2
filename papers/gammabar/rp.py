"""Methods of Ramdas and Peña (2015): their steps as printed, and SNKP's certificate.

Bounds count iterations, which a wrong step need not change: so each step is recomputed from the
iterate before it, up to rounding. Where several rows have the smallest score, any of them is right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.algorithms import line_search, mixed, smoothed_alpha
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.section4 import temperature
from gammabar.papers.ramdas_pena_2015.section6 import counts_of
from gammabar.problems import KernelProblem

own = Claims("gb", unit=True)
steps = Claims("gb", source=SOURCE, unit=True)


@steps.identity(
    "rp.simplex",
    "Section 4: α_k is always a probability distribution",
    Method("nkp", "snkp", "nvn", "snkpvn", "isnkpvn"),
    at_rest="weights in the simplex stay there",
)
def simplex(it, case):
    r"""α_k and p_k are probability distributions (but for α_0 = 0).

    $\alpha_k, p_k \in \Delta_n$"""
    it.claim("dual")
    for name, symbol in (("dual", "α_k"), ("p", "p_k")):
        weights = weights_of(it, name)
        if weights is None or (it.t == 0 and not weights.any() and not it.w.any()):
            continue
        if name == "dual":
            yield represents(it, weights, it.t)
        yield at_least(float(weights.min()), 0, f"{symbol} ≥ 0")
        # Each step is a convex combination in doubles, and a sum of n numbers rounds n times.
        allowed = 8 * ROUNDOFF * (case.n + 8) * (it.t + 1)
        yield equal(float(weights.sum()), 1, f"Σ {symbol} = 1", allowance=allowed)


class Walk:
    """The iterate before the one at hand."""

    def __init__(self, case):
        self.case: Case = case
        self.before: Any = None
        self.now: Any = None

    def update(self, it):
        self.before, self.now = self.now, it

    def previous(self, it):
        """The iterate before, at the level of this one."""
        return self.before.at(it.level) if it.level else self.before


def compared(it, small, large, what, strict=False):
    """small ≤ large (or <) for squared norms, which were carried along for t steps."""
    relation = below if strict else at_most
    return relation(small, large, what, allowance=4 * carried(it, it.t))


# Perceptrons and Winnow


def best_of(before, rows, along, others):
    """That the step was along one of the tied rows: the one that the solver names, if it was, or
    the best of the others. What it names saves time, and is not believed."""
    said = claimed_row(before.extra.get("i"), before.n)
    if said is not None and said in rows:
        found = along(said)
        if found.certain():
            return found
    return any_of(along(j) for j in others())


class _Mean(Walk):
    """w_{k+1} = (1 − θ_k) w_k + θ_k a_j with θ_k = 1/(k+1) and a row j of smallest score."""

    _squares = None

    def moved(self, it, before):
        k, rows = before.t, lowest(before, before.t)
        what = f"w_{it.t} is the mean of k w_k and a row of smallest score"

        def along(j):
            if not before.w.any() and not self.case.problem.row(j).any():
                return fact(not it.w.any(), what)  # 0 without any rounding
            theta = number(1) / (k + 1)
            mean = before.vec(before.w) * (1 - theta) + row_vector(before, j) * theta
            return same_point(it, mean, what, start=before.here)

        return best_of(before, rows, along, lambda: self._closest(it, before, rows))

    def _closest(self, it, before, rows):
        """Of many rows with the smallest score, those nearest to the one that was added."""
        if len(rows) > 8:
            problem = self.case.problem
            if self._squares is None:
                self._squares = np.array([problem.norm(problem.row(i)) for i in range(it.n)]) ** 2
            added = it.t * it.w - before.t * before.w
            distances = self._squares[rows] - 2 * problem.scores(added)[rows]
            rows = rows[np.argsort(distances, kind="stable")[:8]]
        return [int(i) for i in rows]


@steps.identity(
    "rp.normalized-perceptron.step", "Algorithm 2 as printed", Method("normalized-perceptron")
)
class NormalizedPerceptronStep(_Mean):
    r"""Every iterate of Algorithm 2 is the step from the one before, and it exits when it should.

    $w_0 = 0,\ w_{k+1} = (1-\theta_k)w_k + \theta_k XYp(w_k),\ \theta_k = \tfrac{1}{k+1};\text{ exit
    iff } YX^\top w_k > 0$"""

    def claim(self, it):
        if it.t == 0:
            return [fact(not it.w.any(), "w_0 = 0"), *ended(it, 0)]
        before = self.previous(it)
        k = before.t
        found = [self.moved(it, before), lowest_known(before, k), went_on(before, k)]
        return [*found, *ended(it, it.t)]


@steps.identity("rp.nkp.step", "Algorithm 3 as printed", Method("nkp"))
class NKPStep(_Mean):
    r"""Every iterate of NKP is the step from the one before, and it exits when it should.

    $\alpha_0 = 0,\ \alpha_{k+1} = (1-\theta_k)\alpha_k + \theta_k p(\alpha_k),\ \theta_k =
    \tfrac{1}{k+1};\text{ exit iff } G\alpha_k > 0$"""

    def claim(self, it):
        alpha = weights_of(it, "dual")
        found = [] if alpha is None else [represents(it, alpha, it.t)]
        if it.t == 0:
            start = not it.w.any() and (alpha is None or not alpha.any())
            return [fact(start, "α_0 = 0"), *found, *ended(it, 0)]
        before = self.previous(it)
        found += [lowest_known(before, before.t), went_on(before, before.t), *ended(it, it.t)]
        last = weights_of(before, "dual")
        if alpha is None or last is None:
            return [self.moved(it, before), *found]
        return [self._added(before, last, alpha), *found]

    def _added(self, before, last, alpha):
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


@Claims("gb").identity(
    "rp.winnow.step",
    "multiplicative weights, as the solver documents them; Ramdas and Peña (2015), Section 2.2, "
    "print no update",
    Method("winnow"),
)
class WinnowStep(Walk):
    r"""Every iterate of Winnow is the multiplicative step from the one before.

    $w_0 = \mathbf{1}_d/d,\ w_{t+1} \propto w_t^{\eta_{t+1}/\eta_t} \odot\exp(\eta_{t+1}\,
    a_i/\|a_i\|_\infty),\ i = \arg\min_i \langle a_i, w_t\rangle$"""

    def claim(self, it):
        if isinstance(self.case.problem, KernelProblem):
            return None
        if it.t == 0:
            start = same_weights(it.w, uniform(it.space.dimension), 0.0, "w_0 = 1/d")
            return [start, *ended(it, 0)]
        before = self.previous(it)
        rows = lowest(before, 0)
        best = best_of(before, rows, lambda i: self._moved(it, before, i), rows.tolist)
        return [best, lowest_known(before, 0), went_on(before, 0), *ended(it, 0)]

    def _rate(self, t, d):
        rate = getattr(self.case.solver, "rate", None)
        return math.sqrt(math.log(d) / (t + 1)) if rate is None else float(rate)

    def _moved(self, it, before, i):
        t, d = it.t, it.space.dimension
        old, new = self._rate(before.t, d), self._rate(t, d)
        row = self.case.problem.row(i)
        gain = row / (float(np.abs(row).max()) or 1.0)
        if d == 1:
            predicted = np.ones(1)
        else:
            with np.errstate(divide="ignore"):
                power = new / old * np.log(before.w) + new * gain
            weights = np.exp(power - power.max())
            predicted = weights / weights.sum()
        # w_t = exp(η_t G_t)/Σ with G_t a sum of t numbers of at most one, added up in doubles: its
        # exponents are at most η_t t, and off by t roundoffs of them, there and here.
        relative = ROUNDOFF * (64 + 4 * d + 8 * (new + old) * (t + 8) * (t + 8))
        what = f"w_{t} is the multiplicative step from w_{before.t}"
        return same_weights(it.w, predicted, relative, what, start=before.w)


# Von Neumann


@steps.identity("rp.nvn.step", "Algorithm 5 as printed", Method("nvn"), tells("epsilon"))
class NVNStep(Walk):
    r"""Every iterate of NVN is the step from the one before, and it exits when it should.

    $p_0 = \mathbf{1}_n/n,\ \theta_k = \arg\min_{\lambda\in[0,1]} \|(1-\lambda)w_k +\lambda
    y_jx_j\|_2,\ p_{k+1} = (1-\theta_k)p_k + \theta_k e_j,\ w_k = XYp_k;\text{ exit iff }
    \|XYp_k\|_2 \le \epsilon$"""

    def claim(self, it):
        p, limit = claimed_weights(it, "dual"), number(self.case.solver.epsilon) ** 2
        yield represents(it, p, it.t, "p")
        if it.extra.get("halt") == "certificate":
            what = "the method halts, so ‖w_k‖² ≤ ε²"
            yield compared(it, combined_square(it, p), limit, what)
        if it.t == 0:
            yield same_weights(p, uniform(it.n), 0.0, "p_0 = 1/n")
            return
        before = self.previous(it)
        last = claimed_weights(before, "dual")
        what = "the method goes on, so ‖w_k‖² > ε²"
        yield compared(before, limit, combined_square(before, last), what, strict=True)
        yield lowest_known(before, before.t)
        yield from self._moved(before, last, p)

    def _moved(self, before, last, p):
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
        best, what = self._line_search(before, j), "θ_k minimises ‖(1 − λ) w_k + λ a_j‖"
        if best is None:
            yield fact(self._there(before, j), f"{what}: any, for w_k = a_j up to rounding")
            return
        middle, radius, apart = best
        # No step at all is right where it is best: then up to the rounding of the products that
        # it is a quotient of.
        size = size_of(middle, product_terms(before, k) / apart) if middle > 0 else 1.0
        allowed = radius + rounding / math.sqrt(length)
        yield equal(theta, middle, what, allowance=allowed, size=size)

    def _there(self, before, j):
        """Whether w_k is a_j itself, so that every λ is as good."""
        apart = before.w - self.case.problem.row(j)
        same = bool(before.level) and before.space.exact_inner(apart, apart) == 0
        return True if same or not apart.any() else None

    def _line_search(self, before, j):
        """The best λ, how far rounding may move it, and ‖w_k − a_j‖²; None if w_k and a_j cannot be
        told apart."""
        error = 4 * (carried(before, before.t) + before.score_error)
        ww, wa = float(before.norm_squared.mid()), float(before.score_doubles[j])
        aa = self.case.problem.norm(self.case.problem.row(j)) ** 2
        length = ww - 2 * wa + aa
        if length <= 8 * error:
            return None
        moved = 4 * error / (length - 4 * error) * SAFETY
        return line_search(ww, wa, aa), moved + slack(before, 0), length


# Smoothed methods

STEP = (
    r"\alpha_{k+1} = (1-\theta_k)(\alpha_k + \theta_k p_k) + \theta_k^2 p_{\mu_k}(\alpha_k),\ "
    r"\mu_{k+1} = (1-\theta_k)\mu_k,\ "
    r"p_{k+1} = (1-\theta_k)p_k + \theta_k p_{\mu_{k+1}}(\alpha_{k+1}),\ \theta_k = \tfrac{2}{k+3}"
)


class _Smoothed(Walk):
    """The step that Algorithms 4, 6 and 7 share; μ_k is `hottest` · 2/((k+1)(k+2))."""

    def __init__(self, case):
        super().__init__(case)
        self.q, self.hottest = uniform(case.n), 2 * case.n

    def answer(self, it, mu):
        """p_μ(α) for the α of an iterate, and a bound on its error, here and there, in ℓ₁."""
        return near_answer(it, mu, self.q)

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
            same_weights(alpha, self.q, 0.0, f"α_0 = {name}"),
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

    def pair(self, it):
        """α_k and p_k, as the solver claims them."""
        return claimed_weights(it, "dual"), claimed_weights(it, "p")

    def returned(self, it, p, delta):
        what = "p_k is returned, so ‖p_k‖²_G < δ²"
        return compared(it, combined_square(it, p), number(delta) ** 2, what, strict=True)

    def not_returned(self, before, p, delta):
        what = "the call goes on, so ‖p_k‖²_G ≥ δ²"
        return compared(before, number(delta) ** 2, combined_square(before, p), what)


@steps.identity(
    "rp.snkp.step",
    "Algorithm 4 as printed",
    Method("snkp"),
    claim=r"\alpha_0 = \mathbf{1}_n/n,\ \mu_0 = 2,\ p_0 = p_{\mu_0}(\alpha_0);\ " + STEP,
)
class SNKPStep(_Smoothed):
    """Every iterate of SNKP is the step from the one before, and it exits when it should."""

    def __init__(self, case):
        super().__init__(case)
        self.hottest = 2

    def answer(self, it, mu):
        return soft_answer(it, mu)

    def claim(self, it):
        now = self.pair(it)
        found = [*self.stated(it, now[0], it.t), *self._certified(it, now[1])]
        if it.t == 0:
            return self.started(it, now, "1/n") + found
        before = self.previous(it)
        last = self.pair(before)
        found += [went_on(before, before.t), *self._uncertified(before, last[1])]
        return self.moved(it, before, now, last, before.t) + found

    def _certified(self, it, p):
        if it.extra.get("halt") != "certificate":
            return []
        epsilon = positive(self.case, "epsilon")
        if epsilon is None:
            return [fact(False, "Algorithm 4 has no exit but Gα_k > 0")]
        what = "the method halts, so ‖p_k‖²_G ≤ ε²"
        return [compared(it, combined_square(it, p), number(epsilon) ** 2, what)]

    def _uncertified(self, before, p):
        epsilon = positive(self.case, "epsilon")
        if epsilon is None:
            return []
        what, length = "the method goes on, so ‖p_k‖²_G > ε²", combined_square(before, p)
        return [compared(before, number(epsilon) ** 2, length, what, strict=True)]


@steps.identity(
    "rp.snkpvn.step",
    "Algorithm 6 as printed",
    Method("snkpvn"),
    tells("delta"),
    claim=r"\alpha_0 = q,\ \mu_0 = 2n,\ p_0 = p^q_{\mu_0}(\alpha_0);\ "
    + STEP.replace("p_{\\mu", "p^q_{\\mu"),
)
class SNKPVNStep(_Smoothed):
    """Every iterate of SNKPVN is the step from the one before, and it ends when it should."""

    def __init__(self, case):
        super().__init__(case)
        self.q = centre(case)

    def claim(self, it):
        now, delta = self.pair(it), float(self.case.solver.delta)
        found = self.stated(it, now[0], it.t)
        if it.extra.get("halt") == "certificate":
            found.append(self.returned(it, now[1], delta))
        if it.t == 0:
            return self.started(it, now, "q") + found
        before = self.previous(it)
        last = self.pair(before)
        found += [went_on(before, before.t), self.not_returned(before, last[1], delta)]
        return self.moved(it, before, now, last, before.t) + found


@steps.identity(
    "rp.isnkpvn.step", "Algorithm 7 as printed", Method("isnkpvn"), tells("gamma", "epsilon")
)
class ISNKPVNStep(_Smoothed):
    r"""Every iterate of ISNKPVN is the step from the one before, or starts a new call from what the
    last one returned; and it halts when it should.

    $q_0 = \mathbf{1}_n/n,\ \delta_t = \|q_t\|_G/\gamma,\ q_{t+1} = SNKPVN(q_t, \delta_t);\text{
    halt if } \delta_t < \epsilon$"""

    def __init__(self, case):
        super().__init__(case)
        #: q of the call before.
        self.last_q = self.q

    def update(self, it):
        super().update(it)
        if self.before is not None and claimed_number(it.extra.get("inner")) == 0:
            returned = weights_of(self.before, "p")
            if returned is not None:
                self.last_q, self.q = self.q, returned

    def claim(self, it):
        now = self.pair(it)
        (outer, k), delta = counts_of(it), _delta_of(it)
        found = [*self.stated(it, now[0], k), self._delta(it, delta)]
        if _returned(it):
            found.append(self.returned(it, now[1], delta))
        if it.extra.get("halt") == "certificate":
            found.append(fact(_returned(it), "it halts with p_k, so this call returned"))
            limit, square = self._limits(it, self.q)
            found.append(compared(it, square, limit, "it halts, so δ_t² < ε²", strict=True))
        if it.t == 0:
            first = outer == 0 and k == 0
            return [fact(first, "t = 0, k = 0"), *self.started(it, now, "q_0"), *found]
        return found + self._continued(it, now, outer, k)

    def _continued(self, it, now, outer, k):
        before = self.previous(it)
        last = self.pair(before)
        (calls, old), delta = counts_of(before), _delta_of(before)
        outer -= calls
        going = went_on(before, before.t)
        if _returned(before):
            next_call = fact(outer == 1 and k == 0, "the next call starts when p_k was returned")
            limit, square = self._limits(before, self.last_q)
            wide = compared(before, limit, square, "it goes on, so δ_t² ≥ ε²")
            return [next_call, wide, going, *self.started(it, now, "q_t")]
        same_call = fact(outer == 0 and k == old + 1, "the call goes on")
        if k != old + 1:
            return [same_call]
        stays = self.not_returned(before, last[1], delta)
        return [same_call, stays, going, *self.moved(it, before, now, last, old)]

    def _limits(self, it, q):
        """ε² and δ_t² = ‖q_t‖²_G/γ²."""
        gamma, epsilon = number(self.case.solver.gamma), number(self.case.solver.epsilon)
        return epsilon**2, combined_square(it, q) / gamma**2

    def _delta(self, it, delta):
        """δ_t = ‖q_t‖_G/γ, by squares: the norm is the root of a sum that may cancel."""
        expected = combined_square(it, self.q)
        found = (number(delta) * number(self.case.solver.gamma)) ** 2
        size = size_of(expected, product_terms(it, it.t))
        off, what = 4 * carried(it, it.t), "(γ δ_t)² = ‖q_t‖²_G"
        return equal(found, expected, what, allowance=off, size=size)


def _delta_of(it):
    """δ_t as the solver says it."""
    delta = claimed_number(it.claim("delta"))
    if delta is None or delta < 0:
        raise Fault(f"delta of iterate {it.t} is no number of at least 0")
    return delta


def _returned(it):
    """Whether the solver says that p_k is returned."""
    said = it.extra.get("returned")
    return isinstance(said, bool | np.bool_) and bool(said)


# SNKP certifies that data are not separable; the proof is in papers/gammabar/PROOFS.md


def no_single_zero(case):
    """SNKP's Gram matrix is defined: a single point with K(x, x) = 0 cannot be normalised."""
    if case.n > 1 or case.truth.radius_squared_hi > 0:
        return None
    return "a single zero row: both bounds are 0 and 0 < 0 is false"


@own.bound(
    "snkp.any",
    "this project: Lemmas 1, 4 and 5 of Ramdas and Peña (2015) together",
    Method("snkp"),
    no_single_zero,
    SoftAverages,
    slower="snkp/perceptron-instead",
)
def snkp_any(it, case):
    r"""Until SNKP separates, ‖p_k‖_G ≤ √(2 μ_k log n) < 2√(2 log n)/(k+1), whatever the data.

    $\|p_k\|_G \le \sqrt{2\mu_k\log n} < \frac{2\sqrt{2\log n}}{k+1}\quad\text{until }
    G\alpha_k > 0$

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
    tells("epsilon"),
    SoftAverages,
    goal=_separates_or_certifies,
    slower="snkp/perceptron-instead",
)
def snkp_exit(case):
    r"""SNKP with the exit ‖p_k‖_G ≤ ε separates or certifies within 2√(2 log n)/ε iterations.

    $G\alpha_k > 0 \text{ or } \|p_k\|_G \le \epsilon \text{ for some }k \le 2\sqrt{2\log
    n}/\epsilon$"""
    return 2 * sqrt(2 * case.log_n) / number(case.solver.epsilon)
