"""The project's own checks that the smoothed methods do what is printed (Algorithms 4, 6 and 7).

As in `gammabar.papers.gammabar.rp_steps`, each step is recomputed from the iterate before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.papers import (
    Case,
    Fault,
    Floats,
    Number,
    Relation,
    Trial,
    View,
    at_most,
    below,
    claimed_number,
    equal,
    fact,
    number,
    per_iterate,
    positive,
    size_of,
)
from gammabar.papers.gammabar.rp_rounding import (
    Walk,
    ended,
    represents,
    same_number,
    same_weights,
    went_on,
)
from gammabar.papers.ramdas_pena_2015.conventions import SOURCE, tells
from gammabar.papers.ramdas_pena_2015.section6 import counts_of
from gammabar.papers.ramdas_pena_2015.smoothed_weights import centre, near_answer, soft_answer
from gammabar.papers.ramdas_pena_2015.weights import (
    carried,
    claimed_weights,
    product_terms,
    square,
    uniform,
    weights_of,
)

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


TRIALS = (
    Trial("snkp", "iris:0,1", 40),
    Trial("snkp", "gaussian:n=30,d=4,seed=3", 60),
    Trial("snkp", "two-lines:r=2,n=12 --kernel poly:degree=2,coef0=1", 60),
    Trial("snkpvn:delta=1e-6", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("snkpvn:delta=1e-6,q=0.5,0.3,0.2", "inseparable:n=3,d=2,seed=0", 60),
    Trial("isnkpvn:gamma=1.5,epsilon=1e-4", "gaussian:n=30,d=4,seed=3", 60),
    Trial("isnkpvn:epsilon=1e-6", "gaussian:n=50,d=5,seed=1,separable=1", 60),
)
