"""Wu, Bartlett, Telgarsky and Yu (2024): gradient descent with large steps.

Losses are functions of the margin z in the paper and of ξ = −z here. L is the mean loss of the
rows, G the mean of |ℓ′|, F that of exp(−z); rows have norm at most one, w_0 = 0, and γ is γ̄. The
solver's options are η (``eta``), the loss, and the parameter ``a`` of the flattened losses.
"""

from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from gammabar.papers.claims import *
from gammabar.problems import load
from gammabar.solvers import Iterate

paper = Paper(
    key="wu",
    title="Large Stepsize Gradient Descent for Logistic Loss: Non-Monotonicity of the Loss"
    " Improves Optimization Efficiency",
    authors="Jingfeng Wu, Peter L. Bartlett, Matus Telgarsky and Bin Yu",
    year=2024,
    venue="COLT",
    url="https://arxiv.org/abs/2402.15926",
    text="the proceedings",
    random={"gradient_descent": {"eta": ("0.5", "2", "30"), "loss": ("log", "exp", "poly")}},
)


def _weights(xi, loss, a):
    """|ℓ′| of each row."""
    if loss == "log":
        return 1 / (1 + np.exp(-xi))
    below = np.minimum(xi, 0)
    return a * (np.exp(a * below) if loss == "exp" else (1 - below) ** (-a - 1))


def gradient_descent(problem, eta=1.0, loss="log", a=1.0):
    """(GD): w_{t+1} = w_t − η∇L(w_t), w_0 = 0."""
    w, t = problem.origin(), 0
    while True:
        yield Iterate(t, w)
        weights = _weights(-problem.scores(w), loss, a)
        w = w + eta / problem.n * problem.combine(weights)
        t += 1


def sgd(problem, rng, eta=1.0):
    """(SGD) for logistic regression: step t takes the row i, drawn uniformly."""
    w, t = problem.origin(), 0
    while True:
        i = int(rng.integers(problem.n))
        yield Iterate(t, w, extra={"i": i})
        row = problem.row(i)
        w = w + eta / (1 + np.exp(problem.inner(row, w))) * row
        t += 1


_GD = "gradient_descent:eta=*,loss=*,a=*"
FAMILY = Family("wu")
_SAYS = "η_t = η/(t + 1), and it says that they are constant"
_OFTEN = {"w + eta /": "w + eta / (t + 1) /"}
FAMILY.edit(gradient_descent, "falling-steps", _SAYS, "the loss falls as slowly as 1/ln t", _OFTEN)
_UP = {"w + eta /": "w - eta /"}
FAMILY.edit(gradient_descent, "uphill", "w_{t+1} = w_t + η∇L(w_t)", "the loss grows", _UP)


def eta_of(case):
    return number(float(getattr(case.solver, "eta", 1.0)))


def loss_of(case):
    """The loss of the solver."""
    known = {"log": FlatLogistic, "exp": FlatExponential, "poly": FlatPolynomial}
    kind = known[str(getattr(case.solver, "loss", "log"))]
    return kind(float(getattr(case.solver, "a", 1.0)))


class _Sums:
    """L, G and L(w_{t−1}) at t, and the sums of L and G over k < t.

    `since` and `calm` are the first s with L(w_s) ≤ 1/η and with eq. (15); `start` is F(w_s).
    """

    L: Any = None
    since: Any = None
    calm: Any = None

    def __init__(self, case):
        self.case, self.loss, self.eta = case, loss_of(case), eta_of(case)
        self.G = self.past = self.Ls = self.Gs = number(0)
        low = 1 / (12 * self.loss.c_beta**2 * self.eta)
        self.limit = smallest([low, self.loss.at_zero / case.n])

    def update(self, it):
        if self.L is not None:
            self.past, self.Ls, self.Gs = self.L, self.Ls + self.L, self.Gs + self.G
        xi = [-s for s in it.scores]
        self.L = total(self.loss.value(x) for x in xi) / it.n
        self.G = total(self.loss.slope(x) for x in xi) / it.n
        if self.since is None and 1 / self.eta >= self.L:
            self.since, self.start = it.t, total(exp(x) for x in xi) / it.n
        if self.calm is None and self.limit >= self.L:
            self.calm = it.t


wu = Claims("wu", unit=True)
runs = wu.sharing(since=1, history=(_Sums,))
ANY = Method(_GD, assumes=(few_rows, separable))
GD = Method(_GD, assumes=(few_rows, separable, option("loss", "log")))
_UPHILL = "wu.gradient_descent/uphill"
_SLOW = "wu.gradient_descent/falling-steps"


def product(c, t):
    return c.gamma_squared * eta_of(c) * t


@runs.bound("thm1.average", "Theorem 1, the EoS phase; Lemma 8", GD, slower=_SLOW)
def _average(it, c):
    r"""(1/t) Σ_{k<t} L(w_k) ≤ (1 + ln²(γ²ηt) + η²/4)/(γ²ηt) for every t > 0 and every η > 0.

    $\frac1t\sum_{k=0}^{t-1} L(w_k) \le \frac{1+\ln^2(\gamma^2\eta t)+\eta^2/4}{\gamma^2\eta t}$

    Where γ²ηt < 1 the proof's u_1 does not do, but u_1 = 0 does."""
    x, eta = product(c, it.t), eta_of(c)
    bound = (1 + log(x) ** 2 + eta**2 / 4) / x
    return at_most(c.history(_Sums).Ls / it.t, bound, "(1/t) Σ L(w_k) ≤ the bound")


@runs.bound("thm1.stable", "Theorem 1, the stable phase; Lemma 11", GD, slower=_SLOW)
def _stable_rate(it, c):
    r"""L(w_t) ≤ (2F(w_s) + ln²(γ²η(t − s)))/(γ²η(t − s)) for t > s, if L(w_s) ≤ 1/η.

    $L(w_t) \le \frac{2F(w_s)+\ln^2(\gamma^2\eta(t-s))}{\gamma^2\eta(t-s)}$

    Checked with the first such s."""
    seen = c.history(_Sums)
    if seen.since is None or it.t <= seen.since:
        return None
    x = product(c, it.t - seen.since)
    return at_most(seen.L, (2 * seen.start + log(x) ** 2) / x, "L(w_t) ≤ the bound")


@runs.bound("lem10", "Lemma 10", GD, at_rest="L stays as it is", slower=_UPHILL)
def _monotone(it, c):
    r"""L(w_t) does not increase from s on, if L(w_s) ≤ 2/η.

    $L(w_s) \le \frac2\eta \implies L(w_t) \text{ is non-increasing for } t \ge s$"""
    seen = c.history(_Sums)
    if seen.past <= 2 / seen.eta:
        return nearly_after(it, seen.L, seen.past, "L(w_t) ≤ L(w_{t−1})", beside=seen.past)
    return None


def _tau(c):
    eta, n = eta_of(c), c.n
    ratio = (eta + n) / eta
    parts = [eta, number(n), exp(1), ratio * log(ratio)]
    return -60 * smallest([-p for p in parts]) / c.gamma_squared


def _stable(it, case):
    """L(w_s) ≤ 1/η and F(w_s) ≤ 1."""
    xi = [-s for s in it.scores]
    risk = total(LOGISTIC.value(x) for x in xi) / it.n
    big = total(exp(x) for x in xi) / it.n
    limit = 1 / eta_of(case)
    if risk > limit or big > 1:
        return False
    return True if risk <= limit and big <= 1 else None


@wu.stopping(
    "thm1.transition", "Theorem 1, phase transition; Lemma 12", GD, goal=_stable, slower=_UPHILL
)
def _transition(c):
    r"""Some s ≤ τ has L(w_s) ≤ 1/η and F(w_s) ≤ 1, where τ = (60/γ²) max{η, n, e, r ln r} with
    r = (η + n)/η.

    $\tau = \frac{60}{\gamma^2}\max\Big\{\eta, n, e,
    \frac{\eta+n}{\eta}\ln\frac{\eta+n}{\eta}\Big\}$"""
    return _tau(c)


def budget(case):
    """T = 120η/γ² is an integer, up to rounding of η, and T ≥ 120 max{e, n}/γ²."""
    T = 120 * eta_of(case) / case.gamma_squared
    whole = abs(float(T) - round(float(T))) < 1e-6
    long = eta_of(case) >= max(case.n, 2.7182818285)
    return None if whole and long else "120η/γ² is no T ≥ 120 max{e, n}/γ²"


_LARGE = "its constant lets slower steps pass at every t within reach"


@runs.bound("cor2", "Corollary 2", GD, budget, powerless=_LARGE)
def _accelerated(it, c):
    r"""For η = γ²T/120 and T ≥ 120 max{e, n}/γ²: τ ≤ T/2 and L(w_T) ≤ 480 ln²(γ⁴T²)/(γ⁴T²).

    $L(w_T) \le 480\frac{\ln^2(\gamma^4T^2)}{\gamma^4T^2}$

    It is about t = T = 120η/γ² alone."""
    T = round(float(120 * eta_of(c) / c.gamma_squared))
    if it.t != T:
        return
    y = (c.gamma_squared * T) ** 2
    yield nearly(_tau(c), T / number(2), "τ ≤ T/2", rounding=1e-9 * T, size=float(T))
    yield at_most(c.history(_Sums).L, 480 * log(y) ** 2 / y, "L(w_T) ≤ 480 ln²(γ⁴T²)/(γ⁴T²)")


@runs.bound("lem7", "Lemma 7", GD, instances="u_1 = 0", slower=_UPHILL, at_rest="w = 0 attains it")
def _split(it, c):
    r"""‖w_t − u‖²/(2ηt) + (1/t) Σ_{k<t} L(w_k) ≤ L(u_1) + ‖w_0 − u‖²/(2ηt) for u = u_1 + ηw*/(2γ).

    $\frac{\|w_t-u\|^2}{2\eta t} + \frac1t\sum_{k=0}^{t-1} L(w_k) \le L(u_1) +
    \frac{\|w_0-u\|^2}{2\eta t}$

    With u_1 = 0 and w_0 = 0 it is ‖w_t‖² − 2⟨w_t, u⟩ ≤ 2η Σ (ln 2 − L(w_k))."""
    eta = eta_of(c)
    along = it.toward / c.gamma_squared * eta / 2  # ⟨w_t, u⟩, for ⟨w_t, w*⟩ = toward/γ
    left = it.norm_squared - 2 * along + 2 * eta * c.history(_Sums).Ls
    return at_most(left, 2 * eta * it.t * log(2), "the split optimisation bound")


def _missing(true_form, same_mistake=None):
    return Erratum(
        "substance",
        true_form,
        why="It needs γ²ηt ≥ 1: below that the logarithm is negative, and soon the bound is, too.",
        survives="Theorem 1, where Lemma 12 uses it at τ, and what is drawn from it for large t.",
        same_mistake=same_mistake,
    )


def _late(c, t):
    return bool(product(c, t) >= 1)


def _radius(c, t):
    return sqrt(2) + 2 * log(product(c, t)) + eta_of(c)


false = runs.sharing(
    problems=("degenerate:kind=simplex,n=2,d=2",),
    note="Smallest witness: one row a_1 = 1, η = 1/10, t = 1: √2 + 2 ln(1/10) + 1/10 < −3.",
)


_LATER = {
    "for every η > 0 and t ≥ 1": "wherever γ²ηt ≥ 1",
    r"\quad t \ge 1": r"\quad \gamma^2\eta t \ge 1",
}


@false.bound("lem8", "Lemma 8, the norm", GD, _missing("lem8.fixed"))
@runs.bound(
    "lem8.fixed",
    "Lemma 8, the norm, for γ²ηt ≥ 1",
    GD,
    at_rest="w = 0",
    slower=_UPHILL,
    instead=_LATER,
)
def _norm(it, c, printed):
    r"""‖w_t‖ ≤ (√2 + 2 ln(γ²ηt) + η)/γ for every η > 0 and t ≥ 1.

    $\|w_t\| \le \frac{\sqrt2+2\ln(\gamma^2\eta t)+\eta}{\gamma}, \quad t \ge 1$"""
    if not (printed or _late(c, it.t)):
        return None
    return at_most(it.norm, _radius(c, it.t) / c.gamma, "‖w_t‖ ≤ (√2 + 2 ln(γ²ηt) + η)/γ")


@false.bound("lem9", "Lemma 9", GD, _missing("lem9.fixed", "lem8"))
@runs.bound("lem9.fixed", "Lemma 9, for γ²ηt ≥ 1", GD, slower=_SLOW, instead=_LATER)
def _gradients(it, c, printed):
    r"""(1/t) Σ_{k<t} G(w_k) ≤ (√2 + 2 ln(γ²ηt) + η)/(γ²ηt) for every η > 0 and t ≥ 1.

    $\frac1t\sum_{k=0}^{t-1} G(w_k) \le \frac{\sqrt2+2\ln(\gamma^2\eta t)+\eta}{\gamma^2\eta t},
    \quad t \ge 1$"""
    if not (printed or _late(c, it.t)):
        return None
    bound = _radius(c, it.t) / product(c, it.t)
    return at_most(c.history(_Sums).Gs / it.t, bound, "(1/t) Σ G(w_k) ≤ the bound")


@runs.bound("lem14", "Lemma 14", GD, at_rest="L(w_1) = L(w_0) then", powerless="about w_1 alone")
def _first_step(it, c):
    r"""If a fraction q of the rows has ⟨x_i, x̄⟩ < −r and L(w_1) ≤ L(w_0), then η ≤ 2 ln 2/(rq).

    $L(w_1) \le L(w_0) \implies \eta \le \frac{2\ln(2)}{rq}$

    w_1 = ηx̄/2, so ⟨x_i, x̄⟩ are the scores of w_1 times 2/η; r is taken up to each of them."""
    if it.t != 1 or not log(2) >= c.history(_Sums).L:
        return
    negative = sorted((-s for s in it.scores if s < 0), key=float, reverse=True)
    for k, s in enumerate(negative, 1):
        yield at_most(2 * s * number(Fraction(k, c.n)), 2 * log(2), "ηrq ≤ 2 ln 2", size=1.0)


_THREE = "rows:400,19998;400,-9999"


def theorem_3(case):
    """The data of Theorem 3 for γ = 200/10001."""
    same_data = case.problem.raw().digest() == load(_THREE).digest()
    return None if same_data else f"the theorem is checked on {_THREE}"


@runs.bound("thm3", "Theorem 3", GD, theorem_3, problems=(_THREE,), powerless="a lower bound")
def _slow_while_monotone(it, c):
    r"""On x_1 = (γ, √(1 − γ²)), x_2 = (γ, −√(1 − γ²)/2) with 0 < γ < 0.1, L(w_t) ≥ c_0/t for all
    t ≥ 1, whenever L(w_t) does not increase; c_0 > 0 depends on γ alone.

    $L(w_t) \ge c_0/t, \quad t \ge 1$

    The paper does not give c_0. Checked with 1/(2 + 2h(e^h + 1)), where h = 4 ln 2/r and
    r = (1 − γ²)/8 − γ²: η ≤ h by Lemma 14, with q = ½, and the rest is wu.lem13.fixed."""
    square, seen = c.gamma_squared, c.history(_Sums)
    h = 4 * log(2) / ((1 - square) / 8 - square)
    if seen.eta > h:
        return None
    return at_most(1 / (2 + 2 * h * (exp(h) + 1)) / it.t, seen.L, "c_0/t ≤ L(w_t)")


@wu.direct("lem13", "Lemma 13", Erratum("substance", ".fixed"), kind="anytime")
def _lower_bound(c):
    r"""If the x_i − ⟨x_i, w*⟩w* are not separable, L(w_t) ≥ 1/(c_0 η exp(c_0 η) t) for every η > 0
    and t ≥ 1, where c_0 > 0 does not depend on η and t.

    $L(w_t) \ge \frac{1}{c_0\eta\exp(c_0\eta)t}, \quad t \ge 1$

    Smallest witness: the rows (3/5, ±4/5) and t = 1. Whatever c_0 is, η = min{1, 1/(2c_0)} makes
    the bound at least 2/√e > 1, and L(w_1) = ln(1 + exp(−9η/50)) < ln 2.

    Why: As η → 0 the bound grows without limit, and L(w_1) does not: no c_0 does for all η.
    Survives: Theorem 3, where η is bounded and wu.lem13.fixed takes the place of the lemma.
    Powerless: it is about one step on two rows"""
    for constant_c in map(Fraction, (1, 100)):
        eta = min(Fraction(1), 1 / (2 * constant_c))
        x, loss = number(constant_c * eta), log(1 + exp(-number(9 * eta / 50)))
        yield at_most(1 / (x * exp(x)), loss, "1/(c_0η exp(c_0η)) ≤ L(w_1)")


@runs.bound("lem13.fixed", "Lemma 13, with another bound", GD, powerless="a lower bound")
def _least_loss(it, c):
    r"""L(w_t) ≥ 1/(2 + 2η(e^η + t)) for every η > 0 and t, on all data.

    $L(w_t) \ge \frac{1}{2+2\eta(e^\eta+t)}$

    By convexity L(w_{t+1}) ≥ L(w_t) − η‖∇L(w_t)‖² ≥ L(w_t) − ηL(w_t)², so that 1/L grows by at
    most 2η in a step from the first s with ηL(w_s) ≤ ½ on (Lemma 10). L(w_0) = ln 2; if s > 0, then
    L(w_{s−1}) > 1/(2η), and as scores grow by at most η in a step, L(w_s) ≥ e^{−η}/(2η)."""
    seen = c.history(_Sums)
    bound = 1 / (2 + 2 * seen.eta * (exp(seen.eta) + it.t))
    return at_most(bound, seen.L, "1/(2 + 2η(e^η + t)) ≤ L(w_t)")


def _compared(c, rng, t, delta):
    """Both bounds for one run of t steps with η = 1; what is measured is rounded up."""
    from gammabar.solvers.base import solver

    method = solver("wu.sgd")() if c.solver is None else c.solver
    risks, errors, x, chance = number(0), 0, c.gamma_squared * t, -log(number(delta))
    for it in islice(c.views(method, rng), t):
        risks += total(LOGISTIC.value(-s) for s in it.scores) / it.n
        errors += sum(1 for s in it.scores if not s > 0)
    risk = (2 + 2 * log(x) ** 2 + number(1) / 2) / x
    risk += (4 + 2 * log(x)) / c.gamma * 18 * chance / t
    error = 4 * (sqrt(2) + 2 * log(x) + 1) / x + 36 * chance / t
    yield at_most(risks / t, risk, "the mean risk")
    yield at_most(number(errors) / (t * c.n), error, "the mean error")


SGD = Method("sgd:eta=*", assumes=(few_rows, separable))
_TENTH = Fraction(1, 10)
_THEOREM_4 = (
    r"\frac1t\sum_{k=0}^{t-1} L(w_k) \le \frac{2+2\ln^2(\gamma^2\eta t)+\eta^2/2}{\gamma^2\eta t} +"
    r" \frac{3+2\ln(\gamma^2\eta t)+\eta}{\gamma}\cdot\frac{18\ln(1/\delta)}{t}, \quad"
    r" \frac1t\sum_{k=0}^{t-1} \Pr(yx^\top w_k \le 0) \le \frac{4(\sqrt2+2\ln(\gamma^2\eta"
    r" t)+\eta)}{\gamma^2\eta t} + \frac{36\ln(1/\delta)}{t}"
)
_WORDS = "With probability 1 − δ the mean risk and the mean error of SGD are at most those bounds"


@wu.probability(
    "thm4",
    "Theorem 4",
    SGD,
    _missing("thm4.fixed", "lem8"),
    delta=_TENTH,
    runs=95,
    problems=("planted:n=10,d=3,gamma=0.1,seed=0",),
    claim=_THEOREM_4,
    words=f"{_WORDS}, for every η > 0 and t.",
    note="Examined for η = 1 and t = 1, where Pr(y⟨x, w_0⟩ ≤ 0) = 1, and the bound is negative for"
    " γ ≤ 1/10 and δ = 1/10: 4(√2 + 2 ln(γ²) + 1)/γ² < −2700, and 36 ln 10 < 83.",
)
def _theorem_4(c, rng, delta):
    return _compared(c, rng, 1, delta)


@wu.probability(
    "thm4.fixed",
    "Theorem 4, for γ²ηt ≥ 1",
    SGD,
    delta=_TENTH,
    runs=95,
    problems=("planted:n=10,d=3,gamma=0.5,seed=0", "iris:0,1:n=12", "opposed:r=2,copies=4"),
    powerless="at these t both bounds are larger than what any solver does on small data",
    claim=r"\gamma^2\eta t \ge 1:\ " + _THEOREM_4,
    words=f"{_WORDS}, wherever γ²ηt ≥ 1.",
    note="Examined for η = 1, δ = 1/10 and the first t from 200 on with γ²t ≥ 1.",
)
def _late_theorem_4(c, rng, delta):
    t = max(200, int(float(1 / c.gamma_squared)) + 1)
    return _compared(c, rng, t, delta)


_GRID = tuple(Fraction(k, 4) for k in range(-12, 25))
_ABOUT = {"kind": "anytime", "powerless": "it is about a loss", "instances": "z = −3, …, 6"}


def _assumption_3(loss):
    """C_g, C_β and C_e, and the bound on ρ(λ); losses are functions of x = −z here."""
    for z in map(number, _GRID):
        g, value = loss.slope(-z), loss.value(-z)
        yield nearly(g, loss.c_g, f"{loss.name}: g ≤ C_g", rounding=1e-15, size=1.0)
        yield nearly(g, loss.c_beta * value, f"{loss.name}: g ≤ C_βℓ", rounding=1e-15, size=1.0)
        if loss.tail and z >= 0:
            yield nearly(value, loss.c_e * g, f"{loss.name}: ℓ ≤ C_e g", rounding=1e-15, size=1.0)
            most = loss.at_zero * exp(-z / loss.c_e)
            yield nearly(value, most, f"{loss.name}: the tail", rounding=1e-15, size=1.0)
        for step in (Fraction(-15, 16), Fraction(-1, 2), Fraction(1, 8), Fraction(15, 16)):
            h = number(step)
            bound = value - g * h + loss.c_beta * g * h * h
            there = loss.value(-z - h)
            yield nearly(there, bound, f"{loss.name}: self-bounded", rounding=1e-15, size=1.0)
    for lam in map(number, (1, 2, 10, 1000)):
        yield at_most(loss.path_length(lam), loss.path_bound(lam), f"{loss.name}: ρ(λ)")


@wu.direct("prop5.log", "Proposition 5(1)", **_ABOUT)
def _of_logistic(c):
    r"""The logistic loss has C_g = 1, C_β = e/2, C_e = 2, and ρ(λ) ≤ 1 + ln²(λ).

    $C_g = 1,\ C_\beta = e/2,\ C_e = 2, \quad \rho(\lambda) \le 1 + \ln^2(\lambda)$"""
    yield from _assumption_3(FlatLogistic())


@wu.direct("prop5.exp", "Proposition 5(2)", **_ABOUT)
def _of_exponential(c):
    r"""The flattened exponential loss has C_g = a, C_β = max{a, aeᵃ/2, 1}, C_e = 1/a, and
    ρ(λ) ≤ 1 + ln²(λ)/a²; checked for a = 1/2, 1 and 2.

    $C_g = a,\ C_\beta = \max\{a, ae^a/2, 1\},\ C_e = 1/a, \quad \rho(\lambda) \le 1 +
    \ln^2(\lambda)/a^2$"""
    for a in (0.5, 1, 2):
        yield from _assumption_3(FlatExponential(a))


@wu.direct("prop5.poly", "Proposition 5(3)", **_ABOUT)
def _of_polynomial(c):
    r"""The flattened polynomial loss has C_g = a, C_β = max{a, (a + 1)2ᵃ}, and ρ(λ) ≤ 2λ^{2/(a+2)};
    checked for a = 1/2, 1 and 2.

    $C_g = a,\ C_\beta = \max\{a, (a+1)2^a\}, \quad \rho(\lambda) \le 2\lambda^{2/(a+2)}$"""
    for a in (0.5, 1, 2):
        yield from _assumption_3(FlatPolynomial(a))


@runs.bound("thm35.average", "Theorem 35, the EoS phase", ANY, slower=_SLOW)
def _general_average(it, c):
    r"""(1/t) Σ_{k<t} L(w_k) ≤ 9(ρ(γ²ηt) + η²C_g²)/(γ²ηt), for losses of Assumption 3A and 3B.

    $\frac1t\sum_{k=0}^{t-1} L(w_k) \le 9\frac{\rho(\gamma^2\eta t)+(\eta C_g)^2}{\gamma^2\eta t}$

    ρ is defined on [1, ∞): for γ²ηt ≥ 1."""
    if not _late(c, it.t):
        return None
    seen, x = c.history(_Sums), product(c, it.t)
    bound = 9 * (seen.loss.path_length(x) + (seen.eta * seen.loss.c_g) ** 2) / x
    return at_most(seen.Ls / it.t, bound, "(1/t) Σ L(w_k) ≤ 9(ρ(γ²ηt) + η²C_g²)/(γ²ηt)")


@runs.bound("thm35.stable", "Theorem 35, the stable phase", ANY, powerless=_LARGE)
def _general_stable(it, c):
    r"""If L(w_s) ≤ min{1/(12C_β²η), ℓ(0)/n}, then L(w_t) decreases from s on and
    L(w_t) ≤ 15ρ(γ²η(t − s))/(γ²η(t − s)).

    $L(w_t) \le 15\frac{\rho(\gamma^2\eta(t-s))}{\gamma^2\eta(t-s)}$

    Checked with the first such s, for γ²η(t − s) ≥ 1. The constants of both transition times are
    not given."""
    seen = c.history(_Sums)
    if seen.calm is None or it.t <= seen.calm:
        return
    yield nearly_after(it, seen.L, seen.past, "L(w_t) ≤ L(w_{t−1})", beside=seen.past)
    if _late(c, it.t - seen.calm):
        x = product(c, it.t - seen.calm)
        yield at_most(seen.L, 15 * seen.loss.path_length(x) / x, "L(w_t) ≤ 15ρ/(γ²η(t − s))")


@wu.direct(
    "thm6", "Theorem 6", kind="probability", status="not reproducible", powerless="about networks"
)
def _networks(c):
    r"""For a two-layer network of width m ≥ ((30R^{1/3} + 10 ln^{1/4}(n/δ))/γ)⁶, gradient descent
    has the phases of Theorem 1 with probability 1 − 3δ.

    $m \ge \Big(\frac{30R^{1/3}+10\ln^{1/4}(n/\delta)}{\gamma}\Big)^6, \quad R =
    6\frac{\sqrt{\rho(\gamma^2\eta T)}+C_a+\sqrt{2\ln(2n/\delta)}+\eta C_g}{\gamma}$"""
    least = (30 * float(6 * sqrt(2 * log(2))) ** (1 / 3)) ** 6
    return f"the width is at least {least:.1e}, for γ = n = 1: no such network fits in memory"


TRIALS = (
    *(
        Trial(f"gradient_descent:eta={eta}", problem, iterations)
        for eta in ("0.1", "1", "30")
        for problem, iterations in (
            ("planted:n=20,d=4,gamma=0.2,seed=0", 150),
            ("orthogonal:n=10,p=0.95", 100),
            ("iris:0,1:n=30", 150),
            (_THREE, 60),
        )
    ),
    Trial("gradient_descent:eta=3.266666666666667", "rows:7,24*2;7,-24", 5000),
    Trial("gradient_descent:loss=exp,eta=4", "rows:4,3;4,-3;5,0", 1500),
    Trial("gradient_descent:loss=exp,a=0.5", "planted:n=10,d=4,gamma=0.5,seed=0", 300),
    Trial("gradient_descent:loss=poly,a=2,eta=4", "rows:4,3;4,-3;5,0", 300),
    Trial("gradient_descent:eta=0.1", "degenerate:kind=simplex,n=2,d=2", 10),
)
