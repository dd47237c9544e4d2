"""The project's own checks that perceptrons, Winnow and von Neumann's method do what is printed.

Their bounds count iterations, which a wrong step need not change: so each step is recomputed from
the iterate before it (see `gammabar.papers.gammabar.rp_rounding` for what rounding may do). Where
several rows have the smallest score, any of them is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    SAFETY,
    Case,
    Floats,
    Relation,
    Trial,
    Trit,
    Vec,
    View,
    any_of,
    at_least,
    at_most,
    below,
    claimed_row,
    equal,
    fact,
    number,
    per_iterate,
    size_of,
)
from gammabar.papers.gammabar.rp_rounding import (
    Walk,
    ended,
    represents,
    same_vector,
    same_weights,
    slack,
    tied,
    told_apart,
    went_on,
)
from gammabar.papers.ramdas_pena_2015.conventions import SOURCE, tells
from gammabar.papers.ramdas_pena_2015.weights import (
    carried,
    claimed_weights,
    product_terms,
    square,
    uniform,
    weights_of,
)
from gammabar.problems import KernelProblem


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


TRIALS = (
    Trial("normalized-perceptron", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("nkp", "iris:0,1 --kernel poly:degree=2,coef0=1", 60),
    Trial("nkp", "duplicated:n=6,d=3,copies=3,gamma=0.05", 60),
    Trial("nvn:epsilon=0.001", "gaussian:n=30,d=4,seed=3", 60),
    Trial("nvn", "degenerate:kind=zero-row", 60),
)
