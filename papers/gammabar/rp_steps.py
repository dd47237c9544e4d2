"""The project's own checks that perceptrons, Winnow and von Neumann's method do what is printed.

Their bounds count iterations, which a wrong step need not change: so each step is recomputed from
the iterate before it (see `gammabar.papers.gammabar.rp_steps` for what rounding may do). Where
several rows have the smallest score, any of them is right.

The project's own checks that the smoothed methods do what is printed (Algorithms 4, 6 and 7).

As in `gammabar.papers.gammabar.rp_steps`, each step is recomputed from the iterate before it.

What the one-step checks of Ramdas and Peña's methods share: rounding bounds, ties, exits.

A step is recomputed from the iterate before it, from delivered doubles. Two sources of rounding are
allowed for, by proved bounds. *Fresh* scores of w in doubles are off by `View.score_error`. Methods
that carry scores, w and weights along as convex combinations add at most a few roundoffs of numbers
of the size of the rows in each step, so that after k steps they are off by `carried`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    TINY,
    Case,
    Fault,
    Floats,
    Number,
    Relation,
    Trit,
    Vec,
    View,
    any_of,
    at_least,
    at_most,
    below,
    claimed_number,
    claimed_row,
    equal,
    fact,
    number,
    per_iterate,
    positive,
    size_of,
)
from gammabar.papers.gammabar import ties
from gammabar.papers.ramdas_pena_2015.quantities import (
    SOURCE,
    carried,
    carried_rows,
    centre,
    claimed_weights,
    lengths,
    near_answer,
    product_terms,
    pull,
    soft_answer,
    square,
    summands,
    tells,
    uniform,
    weights_of,
)
from gammabar.papers.ramdas_pena_2015.section6 import counts_of
from gammabar.problems import KernelProblem


class Walk:
    """Remembers the iterate before the one at hand."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.before: View | None = None
        self.now: View | None = None

    def update(self, it: View) -> None:
        """Take notice of the next iterate."""
        self.before, self.now = self.now, it

    def previous(self, it: View) -> View:
        """The iterate before, at the level of this one."""
        assert self.before is not None
        return self.before.at(it.level) if it.level else self.before


def slack(it: View, k: int) -> float:
    """How far apart two scores may seem to be that are equal, here and in the solver together."""
    return 2 * (carried(it, k) + it.score_error) * SAFETY


def slacks(it: View, k: int) -> Floats:
    """How far each score may be off, here and in the solver."""
    return np.asarray((carried_rows(it, k) + it.score_errors) * SAFETY)


def tied(it: View, k: int) -> np.ndarray:
    """The rows that may have the smallest score."""
    return ties.tied(it.score_doubles, slacks(it, k))


def told_apart(it: View, k: int) -> Relation:
    """That it can be told which rows these are."""
    what, parts = "which rows have the smallest score can be told", product_terms(it, k)
    if not it.w.any() or it.n == 1:
        return fact(True, what)
    known = ties.told_apart(it.score_doubles, slacks(it, k), parts * it.space.shares)
    return fact(known, what)


def went_on(before: View, k: int) -> Relation:
    """The method took another step, so it was not at its end: Gα_k > 0 did not hold."""
    what = "the method goes on, so Gα_k > 0 does not hold"
    if not before.w.any():
        return fact(True, what)
    size = before.space.radius * before.here.reach()
    return at_most(before.smallest, 0, what, allowance=slack(before, k), size=size)


def ended(it: View, k: int) -> list[Relation]:
    """The method says that it separates, so it does."""
    if it.extra.get("halt") != "separated":
        return []
    what = "the method halts, so Gα_k > 0"
    if not it.w.any():  # no rounding makes a score of the origin positive
        return [fact(False, what)]
    return [below(0, it.smallest, what, allowance=slack(it, k))]


def same_vector(
    it: View,
    predicted: Vec,
    what: str,
    more: float = 0.0,
    start: Vec | None = None,
    parts: float = 0.0,
) -> Relation:
    """w_k is a vector that was recomputed, up to four times the error of that, and `more`.

    If it is a step from `start`, that step is what rounding must be small beside; else it, and
    `parts`, what it is a sum of.
    """
    gap = it.vec(it.w - predicted.mid).norm()
    # TINY: products that underflow, in a view whose longest row has norm one.
    allowed = 4 * predicted.err + 8 * ROUNDOFF * predicted.size() + more + 4 * TINY
    about = predicted
    if start is not None:
        about, parts = predicted - start, parts + start.reach()
    size = size_of(about.norm(), parts + predicted.reach() + it.here.reach())
    return equal(gap, 0, what, allowance=allowed, size=size)


def represents(it: View, weights: Floats, k: int, name: str = "α") -> Relation:
    """w_k = Aᵀα_k, where both were carried along for k steps."""
    size, what = lengths(it, weights), f"w_k = Aᵀ{name}_k"
    if not size:  # of nothing, or of rows that are 0
        return fact(not it.w.any(), what)
    # Sums of so many numbers, in k steps.
    parts = (k + it.n + it.space.dimension) * size
    # A step w + θ(a − w) leaves roundoffs of the w before, however short the next one is.
    more = 16 * ROUNDOFF * ((k + 2) * size + it.carried)
    return same_vector(it, pull(it, weights), what, more, parts=parts + it.carried)


def same_weights(
    found: Floats, predicted: Floats, allowed: float, what: str, start: Floats | None = None
) -> Relation:
    """Weights that were recomputed, in the ℓ₁ norm; `start` as in `same_vector`."""
    gap = float(np.abs(found - predicted).sum())
    mass = float(np.abs(predicted).sum() + np.abs(found).sum())
    moved = float(np.abs(predicted if start is None else predicted - start).sum())
    allowed += 8 * ROUNDOFF * mass
    size = size_of(moved, mass * summands(len(found)))
    return equal(gap, 0, what, allowance=allowed, size=size)


def same_number(found: object, expected: object, relative: float, what: str) -> Relation:
    """A positive number that was recomputed exactly."""
    exact, said = number(expected), claimed_number(found)
    if said is None:
        return fact(False, f"{what} is a number")
    allowed = float(exact.abs_upper()) * relative * ROUNDOFF
    return equal(number(said), exact, what, allowance=allowed)


@per_iterate(
    "gb.rp.simplex",
    reference=f"{SOURCE}, Section 4: α_k is always a probability distribution",
    kind="identity",
    claim=r"\alpha_k, p_k \in \Delta_n",
    solvers=("nkp", "snkp", "nvn", "snkpvn", "isnkpvn"),
    unit=True,
    at_rest="weights in the simplex stay there",
)
def simplex(it: View, case: Case) -> list[Relation]:
    """α_k and p_k are probability distributions (but for α_0 = 0)."""
    it.claim("dual")
    found = []
    for name, symbol in (("dual", "α_k"), ("p", "p_k")):
        weights = weights_of(it, name)
        if weights is None or (it.t == 0 and not weights.any() and not it.w.any()):
            continue
        if name == "dual":
            found.append(represents(it, weights, it.t))
        found.append(at_least(float(weights.min()), 0, f"{symbol} ≥ 0"))
        # Each step is a convex combination in doubles, and a sum of n numbers rounds n times.
        allowed = 8 * ROUNDOFF * (case.n + 8) * (it.t + 1)
        found.append(equal(float(weights.sum()), 1, f"Σ {symbol} = 1", allowance=allowed))
    return found


# Perceptrons


def best_of(
    before: View,
    rows: Floats,
    along: Callable[[int], Relation],
    others: Callable[[], list[int]],
) -> Relation:
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

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self._squares: Floats | None = None

    def moved(self, it: View, before: View) -> Relation:
        k = before.t
        rows = tied(before, k)
        what = f"w_{it.t} is the mean of k w_k and a row of smallest score"

        def along(j: int) -> Relation:
            if not before.w.any() and not self.case.problem.row(j).any():
                return fact(not it.w.any(), what)  # 0 without any rounding
            return same_vector(it, self._mean(before, j), what, start=before.here)

        return best_of(before, rows, along, lambda: self._closest(it, before, rows))

    def _mean(self, before: View, j: int) -> Vec:
        k, space = before.t, before.space
        values = self.case.problem.row(j)
        row = before.vec(values, 8 * ROUNDOFF * space.size(values) + space.lost)
        theta = number(1) / (k + 1)
        return before.vec(before.w) * (1 - theta) + row * theta

    def _closest(self, it: View, before: View, rows: Floats) -> list[int]:
        """Of many rows with the smallest score, those nearest to the one that was added."""
        if len(rows) > 8:
            problem = self.case.problem
            if self._squares is None:
                self._squares = np.array([problem.norm(problem.row(i)) for i in range(it.n)]) ** 2
            added = it.t * it.w - before.t * before.w
            distances = self._squares[rows] - 2 * problem.scores(added)[rows]
            rows = rows[np.argsort(distances, kind="stable")[:8]]
        return [int(i) for i in rows]


@per_iterate(
    "gb.rp.normalized-perceptron.step",
    reference=f"{SOURCE}, Algorithm 2 as printed",
    kind="identity",
    claim=r"w_0 = 0,\ w_{k+1} = (1-\theta_k)w_k + \theta_k XYp(w_k),\ \theta_k = \tfrac{1}{k+1};"
    r"\text{ exit iff } YX^\top w_k > 0",
    solvers=("normalized-perceptron",),
    unit=True,
)
class NormalizedPerceptronStep(_Mean):
    """Every iterate of Algorithm 2 is the step from the one before, and it exits when it should."""

    def claim(self, it: View) -> list[Relation]:
        if it.t == 0:
            return [fact(not it.w.any(), "w_0 = 0"), *ended(it, 0)]
        before = self.previous(it)
        k = before.t
        return [
            self.moved(it, before),
            told_apart(before, k),
            went_on(before, k),
            *ended(it, it.t),
        ]


@per_iterate(
    "gb.rp.nkp.step",
    reference=f"{SOURCE}, Algorithm 3 as printed",
    kind="identity",
    claim=r"\alpha_0 = 0,\ \alpha_{k+1} = (1-\theta_k)\alpha_k + \theta_k p(\alpha_k),\ "
    r"\theta_k = \tfrac{1}{k+1};\text{ exit iff } G\alpha_k > 0",
    solvers=("nkp",),
    unit=True,
)
class NKPStep(_Mean):
    """Every iterate of NKP is the step from the one before, and it exits when it should."""

    def claim(self, it: View) -> list[Relation]:
        alpha = weights_of(it, "dual")
        found = [] if alpha is None else [represents(it, alpha, it.t)]
        if it.t == 0:
            start = not it.w.any() and (alpha is None or not alpha.any())
            return [fact(start, "α_0 = 0"), *found, *ended(it, 0)]
        before = self.previous(it)
        found += [told_apart(before, before.t), went_on(before, before.t), *ended(it, it.t)]
        last = weights_of(before, "dual")
        if alpha is None or last is None:
            return [self.moved(it, before), *found]
        return [self._added(before, last, alpha), *found]

    def _added(self, before: View, last: Floats, alpha: Floats) -> Relation:
        """(k+1) α_{k+1} − k α_k is a distribution on rows of smallest score."""
        k = before.t
        p = (k + 1) * alpha - k * last
        outside = np.ones(p.size, dtype=bool)
        outside[tied(before, k)] = False
        gap = float(np.abs(p[outside]).sum() - np.minimum(p[~outside], 0).sum())
        gap += abs(float(p.sum()) - 1)
        # Entries of α are rounded, and here multiplied by k + 1; n numbers are added up.
        allowed = 32 * ROUNDOFF * (k + 2) + 4 * p.size * ROUNDOFF
        what = "p(α_k) is a distribution on rows of smallest score"
        return equal(gap, 0, what, allowance=allowed, size=1.0)


# Winnow


@per_iterate(
    "gb.rp.winnow.step",
    reference="multiplicative weights, as the solver documents them; Ramdas and Peña (2015), "
    "Section 2.2, print no update",
    kind="identity",
    claim=r"w_0 = \mathbf{1}_d/d,\ w_{t+1} \propto w_t^{\eta_{t+1}/\eta_t} \odot"
    r"\exp(\eta_{t+1}\, a_i/\|a_i\|_\infty),\ i = \arg\min_i \langle a_i, w_t\rangle",
    solvers=("winnow",),
)
class WinnowStep(Walk):
    """Every iterate of Winnow is the multiplicative step from the one before."""

    def claim(self, it: View) -> list[Relation] | None:
        if isinstance(self.case.problem, KernelProblem):
            return None
        d = it.space.dimension
        if it.t == 0:
            start = same_weights(it.w, uniform(d), 0.0, "w_0 = 1/d")
            return [start, *ended(it, 0)]
        before = self.previous(it)
        rows = tied(before, 0)
        best = best_of(before, rows, lambda i: self._moved(it, before, i), lambda: rows.tolist())
        return [best, told_apart(before, 0), went_on(before, 0), *ended(it, 0)]

    def _rate(self, t: int, d: int) -> float:
        rate = getattr(self.case.solver, "rate", None)
        return math.sqrt(math.log(d) / (t + 1)) if rate is None else float(rate)

    def _moved(self, it: View, before: View, i: int) -> Relation:
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


@per_iterate(
    "gb.rp.nvn.step",
    reference=f"{SOURCE}, Algorithm 5 as printed",
    kind="identity",
    claim=r"p_0 = \mathbf{1}_n/n,\ \theta_k = \arg\min_{\lambda\in[0,1]} \|(1-\lambda)w_k +"
    r"\lambda y_jx_j\|_2,\ p_{k+1} = (1-\theta_k)p_k + \theta_k e_j,\ w_k = XYp_k;"
    r"\text{ exit iff } \|XYp_k\|_2 \le \epsilon",
    solvers=("nvn",),
    assumes=(tells("epsilon"),),
    unit=True,
)
class NVNStep(Walk):
    """Every iterate of NVN is the step from the one before, and it exits when it should."""

    def claim(self, it: View) -> list[Relation]:
        p = claimed_weights(it, "dual")
        found = [represents(it, p, it.t, "p")]
        epsilon = number(self.case.solver.epsilon)
        if it.extra.get("halt") == "certificate":
            found.append(
                at_most(
                    square(it, p),
                    epsilon**2,
                    "the method halts, so ‖w_k‖² ≤ ε²",
                    allowance=4 * carried(it, it.t),
                )
            )
        if it.t == 0:
            return [same_weights(p, uniform(it.n), 0.0, "p_0 = 1/n"), *found]
        before = self.previous(it)
        last = claimed_weights(before, "dual")
        what, length = "the method goes on, so ‖w_k‖² > ε²", square(before, last)
        found.append(below(epsilon**2, length, what, allowance=4 * carried(before, before.t)))
        return [*found, told_apart(before, before.t), *self._moved(before, last, p)]

    def _moved(self, before: View, last: Floats, p: Floats) -> list[Relation]:
        k, rows = before.t, tied(before, before.t)
        j = int(rows[np.argmax((p - last)[rows])])
        direction = -last
        direction[j] += 1.0
        length = float(np.dot(direction, direction))
        if length == 0:  # p_k = e_j, and every λ is as good
            return [same_weights(p, last, 0.0, "p_{k+1} = e_j")]
        theta = float(np.dot(p - last, direction)) / length
        rounding = 16 * ROUNDOFF * (k + 8 + p.size)
        found = [
            same_weights(
                p,
                last + theta * direction,
                rounding,
                "p_{k+1} is between p_k and e_j, j a row of smallest score",
                start=last,
            )
        ]
        best, what = self._line_search(before, j), "θ_k minimises ‖(1 − λ) w_k + λ a_j‖"
        if best is None:
            same = self._there(before, j)
            return [*found, fact(same, f"{what}: any, for w_k = a_j up to rounding")]
        middle, radius, apart = best
        allowed = radius + rounding / math.sqrt(length)
        # No step at all is right where it is best: then up to the rounding of the products that
        # it is a quotient of.
        terms = product_terms(before, k) / apart
        size = size_of(middle, terms) if middle > 0 else 1.0
        return [*found, equal(theta, middle, what, allowance=allowed, size=size)]

    def _there(self, before: View, j: int) -> Trit:
        """Whether w_k is a_j itself, so that every λ is as good."""
        apart = before.w - self.case.problem.row(j)
        if not apart.any():
            return True
        same = bool(before.level) and before.space.exact_inner(apart, apart) == 0
        return True if same else None

    def _line_search(self, before: View, j: int) -> tuple[float, float, float] | None:
        """The best λ, how far rounding may move it, and ‖w_k − a_j‖²; None if w_k and a_j cannot be
        told apart."""
        row = self.case.problem.row(j)
        error = 4 * (carried(before, before.t) + before.score_error)
        ww = float(before.norm_squared.mid())
        wa = float(before.score_doubles[j])
        aa = self.case.problem.norm(row) ** 2
        gain, length = ww - wa, ww - 2 * wa + aa
        if length <= 8 * error:
            return None
        best = min(1.0, max(0.0, gain / length))
        moved = 4 * error / (length - 4 * error) * SAFETY
        return best, moved + slack(before, 0), length


STEP = (
    r"\alpha_{k+1} = (1-\theta_k)(\alpha_k + \theta_k p_k) + \theta_k^2 p_{\mu_k}(\alpha_k),\ "
    r"\mu_{k+1} = (1-\theta_k)\mu_k,\ "
    r"p_{k+1} = (1-\theta_k)p_k + \theta_k p_{\mu_{k+1}}(\alpha_{k+1}),\ \theta_k = \tfrac{2}{k+3}"
)


class _Smoothed(Walk):
    """The step that Algorithms 4 and 6 share; μ_k is `hottest` · 2/((k+1)(k+2))."""

    def hottest(self) -> int:
        """μ_0."""
        raise NotImplementedError

    def answer(self, it: View, mu: float) -> tuple[Floats, float]:
        """p_μ(α) for the α of an iterate, and a bound on its error, here and there, in ℓ₁."""
        raise NotImplementedError

    def temperature(self, k: int) -> Any:
        """μ_k, exactly."""
        return number(2 * self.hottest()) / ((k + 1) * (k + 2))

    def _mu(self, k: int) -> float:
        return 2 * self.hottest() / ((k + 1) * (k + 2))

    def stated(self, it: View, alpha: Floats, k: int) -> list[Relation]:
        """What an iterate says of itself: w_k = Aᵀα_k, and μ_k."""
        found = [represents(it, alpha, it.t)]
        if "mu" in it.extra:
            exact = self.temperature(k)
            found.append(same_number(it.extra["mu"], exact, 4 * (k + 2), f"μ_{k}"))
        return found

    def started(
        self, it: View, alpha: Floats, p: Floats, centre: Floats, name: str
    ) -> list[Relation]:
        """α_0 and p_0."""
        first, error = self.answer(it, self._mu(0))
        return [
            same_weights(alpha, centre, 0.0, f"α_0 = {name}"),
            same_weights(p, first, error, "p_0 = p_{μ_0}(α_0)"),
        ]

    def moved(
        self,
        it: View,
        before: View,
        now: tuple[Floats, Floats],
        last: tuple[Floats, Floats],
        k: int,
    ) -> list[Relation]:
        """α_{k+1} and p_{k+1} from α_k and p_k; `now` and `last` are such pairs."""
        theta = 2 / (k + 3)
        alpha, p = last
        old, error = self.answer(before, self._mu(k))
        predicted = (1 - theta) * (alpha + theta * p) + theta**2 * old
        what = "α_{k+1} is the step from α_k"
        found = [same_weights(now[0], predicted, theta**2 * error, what, start=alpha)]
        new, error = self.answer(it, self._mu(k + 1))
        predicted = (1 - theta) * p + theta * new
        what = "p_{k+1} is the step from p_k"
        found.append(same_weights(now[1], predicted, theta * error, what, start=p))
        return found

    def pair(self, it: View) -> tuple[Floats, Floats]:
        """α_k and p_k, as the solver claims them."""
        return claimed_weights(it, "dual"), claimed_weights(it, "p")


@per_iterate(
    "gb.rp.snkp.step",
    reference=f"{SOURCE}, Algorithm 4 as printed",
    kind="identity",
    claim=r"\alpha_0 = \mathbf{1}_n/n,\ \mu_0 = 2,\ p_0 = p_{\mu_0}(\alpha_0);\ " + STEP,
    solvers=("snkp",),
    unit=True,
)
class SNKPStep(_Smoothed):
    """Every iterate of SNKP is the step from the one before, and it exits when it should."""

    def hottest(self) -> int:
        return 2

    def answer(self, it: View, mu: float) -> tuple[Floats, float]:
        return soft_answer(it, mu)

    def claim(self, it: View) -> list[Relation]:
        now = self.pair(it)
        found = [*self.stated(it, now[0], it.t), *ended(it, it.t), *self._certified(it, now[1])]
        if it.t == 0:
            return self.started(it, *now, uniform(it.n), "1/n") + found
        before = self.previous(it)
        last = self.pair(before)
        found += [went_on(before, before.t), *self._uncertified(before, last[1])]
        return self.moved(it, before, now, last, before.t) + found

    def _certified(self, it: View, p: Floats) -> list[Relation]:
        if it.extra.get("halt") != "certificate":
            return []
        epsilon = positive(self.case, "epsilon")
        if epsilon is None:
            return [fact(False, "Algorithm 4 has no exit but Gα_k > 0")]
        what = "the method halts, so ‖p_k‖²_G ≤ ε²"
        return [at_most(square(it, p), number(epsilon) ** 2, what, allowance=4 * carried(it, it.t))]

    def _uncertified(self, before: View, p: Floats) -> list[Relation]:
        epsilon = positive(self.case, "epsilon")
        if epsilon is None:
            return []
        what, off = "the method goes on, so ‖p_k‖²_G > ε²", 4 * carried(before, before.t)
        return [below(number(epsilon) ** 2, square(before, p), what, allowance=off)]


class _Centred(_Smoothed):
    """Algorithm 6: p^q_μ(α) is the point of the simplex nearest to q − Gα/μ."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.q = uniform(case.n)

    def hottest(self) -> int:
        return 2 * self.case.n

    def answer(self, it: View, mu: float) -> tuple[Floats, float]:
        return near_answer(it, mu, self.q)

    def returned(self, it: View, p: Floats, delta: float) -> Relation:
        """p_k is returned, so its norm is below δ."""
        what = "p_k is returned, so ‖p_k‖²_G < δ²"
        return below(square(it, p), number(delta) ** 2, what, allowance=4 * carried(it, it.t))

    def not_returned(self, before: View, p: Floats, delta: float) -> Relation:
        """The call goes on, so the norm of p_k is not below δ."""
        what, off = "the call goes on, so ‖p_k‖²_G ≥ δ²", 4 * carried(before, before.t)
        return at_most(number(delta) ** 2, square(before, p), what, allowance=off)


@per_iterate(
    "gb.rp.snkpvn.step",
    reference=f"{SOURCE}, Algorithm 6 as printed",
    kind="identity",
    claim=r"\alpha_0 = q,\ \mu_0 = 2n,\ p_0 = p^q_{\mu_0}(\alpha_0);\ "
    + STEP.replace("p_{\\mu", "p^q_{\\mu"),
    solvers=("snkpvn",),
    assumes=(tells("delta"),),
    unit=True,
)
class SNKPVNStep(_Centred):
    """Every iterate of SNKPVN is the step from the one before, and it ends when it should."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.q = centre(case)

    def claim(self, it: View) -> list[Relation]:
        now = self.pair(it)
        delta = float(self.case.solver.delta)
        found = [*self.stated(it, now[0], it.t), *ended(it, it.t)]
        if it.extra.get("halt") == "certificate":
            found.append(self.returned(it, now[1], delta))
        if it.t == 0:
            return self.started(it, *now, self.q, "q") + found
        before = self.previous(it)
        last = self.pair(before)
        found += [went_on(before, before.t), self.not_returned(before, last[1], delta)]
        return self.moved(it, before, now, last, before.t) + found


@per_iterate(
    "gb.rp.isnkpvn.step",
    reference=f"{SOURCE}, Algorithm 7 as printed",
    kind="identity",
    claim=r"q_0 = \mathbf{1}_n/n,\ \delta_t = \|q_t\|_G/\gamma,\ q_{t+1} = SNKPVN(q_t, \delta_t);"
    r"\text{ halt if } \delta_t < \epsilon",
    solvers=("isnkpvn",),
    assumes=(tells("gamma", "epsilon"),),
    unit=True,
)
class ISNKPVNStep(_Centred):
    """Every iterate of ISNKPVN is the step from the one before, or starts a new call from what the
    last one returned; and it halts when it should."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        #: q of the call before.
        self.last_q = self.q

    def update(self, it: View) -> None:
        super().update(it)
        if self.before is not None and claimed_number(it.extra.get("inner")) == 0:
            returned = weights_of(self.before, "p")
            if returned is not None:
                self.last_q, self.q = self.q, returned

    def claim(self, it: View) -> list[Relation]:
        now = self.pair(it)
        (outer, k), delta = counts_of(it), _delta_of(it)
        found = [*self.stated(it, now[0], k), *ended(it, it.t), self._delta(it, delta)]
        if _returned(it):
            found.append(self.returned(it, now[1], delta))
        if it.extra.get("halt") == "certificate":
            found.append(fact(_returned(it), "it halts with p_k, so this call returned"))
            limit, square_ = self._limits(it, self.q)
            what, off = "it halts, so δ_t² < ε²", 4 * carried(it, it.t)
            found.append(below(square_, limit, what, allowance=off))
        if it.t == 0:
            first = outer == 0 and k == 0
            return [fact(first, "t = 0, k = 0"), *self.started(it, *now, self.q, "q_0"), *found]
        return found + self._continued(it, now, outer, k)

    def _continued(
        self, it: View, now: tuple[Floats, Floats], outer: int, k: int
    ) -> list[Relation]:
        before = self.previous(it)
        last = self.pair(before)
        (calls, old), delta = counts_of(before), _delta_of(before)
        outer -= calls
        going = went_on(before, before.t)
        if _returned(before):
            next_call = fact(outer == 1 and k == 0, "the next call starts when p_k was returned")
            limit, square_ = self._limits(before, self.last_q)
            what, off = "it goes on, so δ_t² ≥ ε²", 4 * carried(before, before.t)
            wide = at_most(limit, square_, what, allowance=off)
            return [next_call, wide, going, *self.started(it, *now, self.q, "q_t")]
        same_call = fact(outer == 0 and k == old + 1, "the call goes on")
        if k != old + 1:
            return [same_call]
        stays = self.not_returned(before, last[1], delta)
        return [same_call, stays, going, *self.moved(it, before, now, last, old)]

    def _limits(self, it: View, q: Floats) -> tuple[Number, Number]:
        """ε² and δ_t² = ‖q_t‖²_G/γ²."""
        gamma, epsilon = number(self.case.solver.gamma), number(self.case.solver.epsilon)
        return epsilon**2, square(it, q) / gamma**2

    def _delta(self, it: View, delta: float) -> Relation:
        """δ_t = ‖q_t‖_G/γ, by squares: the norm is the root of a sum that may cancel."""
        expected = square(it, self.q)
        found = (number(delta) * number(self.case.solver.gamma)) ** 2
        size = size_of(expected, product_terms(it, it.t))
        off, what = 4 * carried(it, it.t), "(γ δ_t)² = ‖q_t‖²_G"
        return equal(found, expected, what, allowance=off, size=size)


def _delta_of(it: View) -> float:
    """δ_t as the solver says it."""
    delta = claimed_number(it.claim("delta"))
    if delta is None or delta < 0:
        raise Fault(f"delta of iterate {it.t} is no number of at least 0")
    return delta


def _returned(it: View) -> bool:
    """Whether the solver says that p_k is returned."""
    said = it.extra.get("returned")
    return isinstance(said, bool | np.bool_) and bool(said)
