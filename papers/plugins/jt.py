"""Ji and Telgarsky (2021): the implicit bias of gradient descent by a primal-dual analysis.

The paper's Z is −A, p_t = Zw_t are minus the scores, ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)), q_t = ∇ψ(p_t),
f(q) = ‖Zᵀq‖²/2, and a step is w_{t+1} = w_t − η̂_t Zᵀq_t with η̂_t = η_t ℓ′(ψ(p_t))/n. The solver's
options are the loss, and either ``hat``, a constant η̂_t (0 stands for 1/β), or ``eta``, a constant
η_t. β is 1 for the exponential loss, n for the logistic one and (k + 1)n for ℓ_poly,k (Lemma 13).
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat

from gammabar.oracle.rational import exact_rows
from gammabar.papers.claims import *
from gammabar.problems import load
from gammabar.solvers import Iterate

paper = Paper(
    key="jt",
    title="Characterizing the implicit bias via a primal-dual analysis",
    authors="Ziwei Ji and Matus Telgarsky",
    year=2021,
    venue="ALT",
    url="https://arxiv.org/abs/1906.04540",
    text="the proceedings",
    random={
        "gradient_descent": {"loss": ("exp", "log", "poly"), "eta": ("0", "1")},
        "two_phases": {"t0": ("0", "1000000")},
    },
)


def _slopes(xi, loss, k):
    """∇ψ(ξ) and ℓ′(ψ(ξ)) in doubles."""
    if loss == "exp":
        top = xi.max()
        weights = np.exp(xi - top)
        return weights / weights.sum(), np.exp(top) * weights.sum()
    if loss == "log":
        mass = np.logaddexp(0, xi).sum()
        return 1 / (1 + np.exp(-xi)) / -np.expm1(-mass), -np.expm1(-mass)
    low, high = np.minimum(xi, 0), np.maximum(xi, 0)
    mass = np.where(xi <= 0, (1 - low) ** -k, 2 * k * high + (1 + high) ** -k).sum()
    slopes = np.where(xi <= 0, k * (1 - low) ** (-k - 1), 2 * k - k * (1 + high) ** (-k - 1))
    if mass <= 1:
        slope = k * mass ** ((k + 1) / k)
    else:
        z = (mass - 1) / (2 * k)
        for _ in range(60):
            z -= (2 * k * z + (1 + z) ** -k - mass) / (2 * k - k * (1 + z) ** (-k - 1))
        slope = 2 * k - k * (1 + z) ** (-k - 1)
    return slopes / slope, slope


def _beta(n, loss, k):
    return {"exp": 1.0, "log": float(n), "poly": (k + 1) * n}[loss]


def gradient_descent(problem, loss="exp", k=1.0, hat=0.0, eta=0.0):
    """w_{t+1} = w_t − η_t ∇R(w_t), w_0 = 0."""
    w, t = problem.origin(), 0
    while True:
        yield Iterate(t, w)
        q, slope = _slopes(-problem.scores(w), loss, k)
        step = eta * slope / problem.n if eta else hat or 1 / _beta(problem.n, loss, k)
        w = w + step * problem.combine(q)
        t += 1


_GD = "gradient_descent:loss=*,k=*,hat=*,eta=*"
FAMILY = Family("jt")


def _mutant(name, what, because, factor):
    FAMILY.edit(gradient_descent, name, what, because, {"w + step *": f"w + {factor} * step *"})
    return f"jt.gradient_descent/{name}"


_SAYS = ", and it says that they are constant"
_SLOW = _mutant("falling-steps", "η̂_t = η̂_0/√(t + 1)" + _SAYS, "Σ η̂_j is 2√t", "(t + 1) ** -0.5")
_SLOWER = _mutant("vanishing-steps", "η̂_t = η̂_0/(t + 1)" + _SAYS, "Σ η̂_j is ln t", "1 / (t + 1)")
_UPHILL = _mutant("uphill", "w_{t+1} = w_t + η_t ∇R(w_t)", "the risk grows", "-1.0")


def chosen(case, name, default):
    """An option of the solver."""
    return type(default)(getattr(case.solver, name, default))


def loss_of(case) -> Loss:
    """The loss that the solver says it has."""
    known = {"exp": EXPONENTIAL, "log": LOGISTIC}
    return known.get(chosen(case, "loss", "exp")) or Polynomial(chosen(case, "k", 1.0))


def beta(case):
    return _beta(case.n, chosen(case, "loss", "exp"), chosen(case, "k", 1.0))


def proper(case):
    """η̂_t ≤ 1/β: at t = 0 for a constant η, where ℓ′(ψ) is largest."""
    most = chosen(case, "hat", 0.0) * beta(case)
    if eta := chosen(case, "eta", 0.0):
        start = GeneralisedSum(loss_of(case), [number(0)] * case.n)
        most = eta * start.slope / case.n * beta(case) - 1e-12
    return None if most <= 1 else "some η̂_t is above 1/β"


constant_hat = option("eta", 0, 0.0)
exponential = option("loss", "exp")
logistic = option("loss", "log")


def convex_tail(case):
    """The exponential or the logistic loss."""
    return None if loss_of(case).name != "polynomial" else "the loss is ℓ_poly,k"


_BENT = "rows:1,1;2,-4"


def known_optimum(case):
    """q̄ = argmin f where ψ* ≤ 0 is known: for ℓ_exp and ℓ_log it is the minimiser on Δ_n.

    For ℓ_poly,1 it is q̄ = (4/9, 1/9) on the rows (1, 1), (2, −4): with m = (1, 2) it is ∇ψ(1 − λm)
    for large λ, ψ*(q̄) = Σ q̄_i − 1 < 0, and ZZᵀq̄ is a multiple of m, the normal of {ψ* < ∞} at q̄.
    """
    bent = chosen(case, "k", 1.0) == 1 and case.problem.raw().digest() == load(_BENT).digest()
    if convex_tail(case) is None or bent:
        return None
    return f"q̄ of ℓ_poly,k is known on {_BENT} alone, for k = 1"


def optimum(case):
    """ψ*(q̄), ‖Zᵀq̄‖² and q̄; for ℓ_exp and ℓ_log, ψ*(q̄) = Σ q̄_i ln q̄_i."""
    if convex_tail(case) is None:
        entropy = total(number(q) * log(number(q)) for q in case.q_bar if q)
        return entropy, case.gamma_squared, case.q_bar
    ninth = Fraction(1, 9)
    return number(-4 * ninth), number(Fraction(1, 45)), (4 * ninth, ninth)


def plain_gd(case):
    """η_t = η ≤ 1."""
    return None if 0 < chosen(case, "eta", 0.0) <= 1 else "the solver's η is not in (0, 1]"


class _At:
    """ψ(p_t), q_t, Zᵀq_t = −pull, η̂_t and ⟨p_t, q_0⟩ at one t."""

    def __init__(self, it, first):
        case, self.it = it.case, it
        self.sum = GeneralisedSum.at(it, loss_of(case))
        self.psi, self.q = self.sum.psi, self.sum.weights
        self.pull = self.sum.pull(it)
        self.square = self.pull.norm() ** 2
        eta, hat = chosen(case, "eta", 0.0), chosen(case, "hat", 0.0)
        self.hat = eta * self.sum.slope / case.n if eta else number(hat or 1 / beta(case))
        start = self.q if first is None else first.q
        self.along = total(x * q for x, q in zip(self.sum.xi, start, strict=True))

    @property
    def conjugate(self):
        """ψ*(q_t) = ⟨p_t, q_t⟩ − ψ(p_t)."""
        return total(x * q for x, q in zip(self.sum.xi, self.q, strict=True)) - self.psi


class _Descent:
    """Gradient descent, followed: what it is at t, at t − 1 and at 0.

    `hats` and `gains` are Σ_{j<t} η̂_j and Σ_{j<t} η̂_j ‖Zᵀq_j‖².
    """

    now: Any = None
    before: Any = None
    first: Any = None

    def __init__(self, case):
        self.case, self.hats, self.gains = case, number(0), number(0)

    def update(self, it):
        self.before, self.now = self.now, _At(it, self.first)
        if self.before is None:
            self.first = self.now
        else:
            self.hats += self.before.hat
            self.gains += self.before.hat * self.before.square


def along_best(case, it):
    """⟨w_t, −Zᵀq̄⟩."""
    if convex_tail(case) is None:
        return it.toward
    return total(number(q) * s for q, s in zip(optimum(case)[2], it.scores, strict=True))


def from_best(case, at):
    """D(q̄, q_t) = ψ*(q̄) + ψ(p_t) − ⟨p_t, q̄⟩."""
    return optimum(case)[0] + at.psi + along_best(case, at.it)


jt = Claims("jt", unit=True)
steps = jt.sharing(since=1, history=(_Descent,))
ANY, GD = Method(_GD, assumes=(few_rows,)), Method(_GD, assumes=(few_rows, proper))
_STILL = "all terms are those of a step of length 0, and w = 0 has no direction"


def _seen(c):
    found = c.history(_Descent)
    return found.before, found.now, found


@steps.identity("sec2.step", "Section 2 and Eq. (1)", GD)
def _mirror_step(it, c):
    r"""Gradient descent on R is w_{t+1} = w_t − η̂_t Zᵀq_t with q_t = ∇ψ(Zw_t) and
    η̂_t = η_t ℓ′(ψ(Zw_t))/n.

    $w_{t+1} = w_t - \eta_t\nabla\mathcal R(w_t) = w_t - \hat\eta_t Z^\top q_t, \quad p_{t+1} =
    p_t - \hat\eta_t\nabla f(q_t), \quad q_{t+1} = \nabla\psi(p_{t+1})$"""
    past, now, _ = _seen(c)
    return moved(now.it.here, past.it.here, past.pull * past.hat, "w_t − w_{t−1} = −η̂ Zᵀq_{t−1}")


@steps.bound("thm1.dual", "Theorem 1(1), first line", GD, at_rest=_STILL, slower=_UPHILL)
def _dual_step(it, c):
    r"""f(q_{t+1}) ≤ f(q_t), and η̂_t (f(q_{t+1}) − f(q)) ≤ D(q, q_t) − D(q, q_{t+1}) for all q.

    $f(q_{t+1}) \le f(q_t),\ \hat\eta_t(f(q_{t+1})-f(q))\le D_{\psi^*}(q,q_t)-D_{\psi^*}(q,q_{t+1})$

    Checked with q = q_0, and with q = q̄ where it is known."""
    past, now, seen = _seen(c)
    yield at_most(now.square, past.square, "f(q_t) ≤ f(q_{t−1})", allowance=1e-13)
    for what, best, of in _comparisons(c, seen):
        left = past.hat * (now.square - best) / 2
        yield at_most(left + of(now), of(past), f"the step for q = {what}", allowance=1e-13)


def _comparisons(c, seen):
    """q, 2f(q) and D(q, ·) for the q with which the theorem is compared; q_0 from t = 2 on."""
    first = seen.first
    if seen.before is not first:
        yield "q_0", first.square, lambda at: first.conjugate + at.psi - at.along
    if known_optimum(c) is None and c.truth.exact:
        yield "q̄", optimum(c)[1], lambda at: from_best(c, at)


@steps.bound("thm1.rate", "Theorem 1(1), last line", GD, known_optimum, slower=_SLOW)
def _dual_rate(it, c):
    r"""f(q_t) − f(q̄) ≤ (D(q̄, q_0) − D(q̄, q_t))/Σ_{j<t} η̂_j ≤ D(q̄, q_0)/Σ_{j<t} η̂_j for t > 0.

    $f(q_t) - f(q) \le \frac{D_{\psi^*}(q, q_0) - D_{\psi^*}(q, q_t)}{\sum_{j<t}\hat\eta_j} \le
    \frac{D_{\psi^*}(q, q_0)}{\sum_{j<t}\hat\eta_j}$

    Checked with q = q̄, on any data."""
    _, now, seen = _seen(c)
    gap, start = (now.square - optimum(c)[1]) / 2, from_best(c, seen.first)
    yield at_most(gap * seen.hats, start - from_best(c, now), "(f(q_t) − f(q̄)) Σ η̂ ≤ D₀ − D_t")
    yield at_most(0, from_best(c, now), "D(q̄, q_t) ≥ 0", allowance=1e-13)


@steps.bound("thm1.primal", "Theorem 1(2), first line", GD, slower=_SLOW)
def _primal_step(it, c):
    r"""ψ(p_t) − ψ(p_{t+1}) ≥ η̂_t (f(q_t) + f(q_{t+1})).

    $\psi(p_t) - \psi(p_{t+1}) \ge \hat\eta_t(f(q_t) + f(q_{t+1})) = \frac{\hat\eta_t}{2}\|Z^\top
    q_t\|^2 + \frac{\hat\eta_t}{2}\|Z^\top q_{t+1}\|^2$"""
    past, now, _ = _seen(c)
    gain = past.hat * (past.square + now.square) / 2
    return at_most(gain, past.psi - now.psi, "η̂ (f(q_{t−1}) + f(q_t)) ≤ ψ(p_{t−1}) − ψ(p_t)")


@steps.bound("thm1.sum", "Theorem 1(2), last lines", GD, slower=_SLOW)
def _primal_sum(it, c):
    r"""Σ_{j<t} η̂_j‖Zᵀq_j‖² − η̂_0‖Zᵀq_0‖²/2 + η̂_t‖Zᵀq_t‖²/2 ≤ ψ(p_0) − ψ(p_t) ≤ Σ_{j<t} η̂_j‖Zᵀq_j‖²
    for η̂_t that do not increase.

    $\psi(p_0) - \psi(p_t) \ge \sum_{j<t}\hat\eta_j\|Z^\top q_j\|^2 - \frac{\hat\eta_0}{2}\|Z^\top
    q_0\|^2 + \frac{\hat\eta_t}{2}\|Z^\top q_t\|^2, \quad \psi(p_0) - \psi(p_t) \le
    \sum_{j<t}\hat\eta_j\|Z^\top q_j\|^2$"""
    _, now, seen = _seen(c)
    fall, start = seen.first.psi - now.psi, seen.first.hat * seen.first.square / 2
    least = seen.gains - start + now.hat * now.square / 2
    yield at_most(least, fall, "the sums ≤ ψ(p_0) − ψ(p_t)")
    yield at_most(fall, seen.gains, "ψ(p_0) − ψ(p_t) ≤ Σ η̂_j‖Zᵀq_j‖²")


@jt.direct(
    "lem2",
    "Lemma 2",
    kind="anytime",
    problems=("planted:n=20,d=4,gamma=0.1,seed=0", "inseparable:n=20,d=3,seed=0"),
    instances="random integers θ − θ′",
    powerless="it is about the data, not about a solver",
)
def _smooth_dual(c):
    r"""f(θ) = ‖Zᵀθ‖²/2 is 1-smooth in ℓ₁: |ZZᵀ(θ − θ′)|_i ≤ ‖θ − θ′‖₁.

    $\|\nabla f(\theta) - \nabla f(\theta')\|_\infty \le \|\theta - \theta'\|_1$"""
    gram = c.space.gram()
    for apart in c.rng(2).integers(-9, 10, (5, c.n)).tolist():
        for i in range(c.n):
            entry = total(gram[i, j] * v for j, v in enumerate(apart))
            yield at_most(abs(entry), sum(map(abs, apart)), "|ZZᵀ(θ − θ′)|_i ≤ ‖θ − θ′‖₁")


def _bregman(past, now):
    """D(q_{t+1}, q_t) = ψ(p_t) − ψ(p_{t+1}) − ⟨q_{t+1}, p_t − p_{t+1}⟩, and ‖q_{t+1} − q_t‖₁."""
    rows = range(len(now.q))
    move = total(now.q[i] * (past.sum.xi[i] - now.sum.xi[i]) for i in rows)
    return past.psi - now.psi - move, total(abs(now.q[i] - past.q[i]) for i in rows)


@steps.bound("lem3", "Lemma 3", GD, at_rest=_STILL, slower=_UPHILL)
def _smooth_primal(it, c):
    r"""ψ(p_{t+1}) − ψ(p_t) ≤ −η̂_t‖Zᵀq_t‖² + βη̂_t²‖Zᵀq_t‖²/2 and D(q_{t+1}, q_t) ≥
    ‖q_{t+1} − q_t‖₁²/(2β).

    $\psi(p_{t+1}) - \psi(p_t) \le -\hat\eta_t\|Z^\top q_t\|^2 + \frac{\beta\hat\eta_t^2}{2}\|Z^\top
    q_t\|^2, \quad D_{\psi^*}(q_{t+1}, q_t) \ge \frac{1}{2\beta}\|q_{t+1} - q_t\|_1^2$"""
    past, now, _ = _seen(c)
    bound = past.hat * past.square * (1 - beta(c) * past.hat / 2)
    yield at_most(bound, past.psi - now.psi, "η̂‖Zᵀq‖² (1 − βη̂/2) ≤ ψ(p_{t−1}) − ψ(p_t)")
    distance, apart = _bregman(past, now)
    yield at_most(apart**2 / (2 * beta(c)), distance, "‖q_t − q_{t−1}‖₁²/(2β) ≤ D", allowance=1e-13)


@steps.bound("lem4", "Lemma 4", GD, at_rest=_STILL, slower=_UPHILL)
def _mirror_lemma(it, c):
    r"""η̂_t (f(q_t) − f(q)) ≤ ⟨η̂_t ∇f(q_t), q_t − q_{t+1}⟩ − D(q_{t+1}, q_t) + D(q, q_t) −
    D(q, q_{t+1}) for every q, and h(q_{t+1}) ≤ h(q_t).

    $\hat\eta_t(f(q_t) - f(q)) \le \langle\hat\eta_t\nabla f(q_t), q_t - q_{t+1}\rangle -
    D_{\psi^*}(q_{t+1}, q_t) + D_{\psi^*}(q, q_t) - D_{\psi^*}(q, q_{t+1})$

    Checked with q = q_0 and q = q̄, as in Theorem 1."""
    past, now, seen = _seen(c)
    distance, _ = _bregman(past, now)
    along = past.hat * (past.square - past.pull.inner(now.pull))
    for what, best, of in _comparisons(c, seen):
        left = past.hat * (past.square - best) / 2 + distance + of(now)
        yield at_most(left, along + of(past), f"the lemma for q = {what}", allowance=1e-13)
    yield at_most(distance, along, "h(q_t) ≤ h(q_{t−1})", allowance=1e-13)


@steps.bound("lem6", "Lemma 6", GD, powerless="it is about every ξ")
def _conjugate_sign(it, c):
    r"""ψ*(∇ψ(ξ)) ≤ 0 wherever ψ(ξ) ≤ 0; checked at ξ = p_t.

    $\psi(\xi) \le 0 \implies \psi^*(\nabla\psi(\xi)) \le 0$"""
    _, now, _ = _seen(c)
    return at_most(now.conjugate, 0, "ψ*(q_t) ≤ 0") if now.psi <= 0 else None


@steps.bound("thm5.set", "Theorem 5(1)", GD, separable, powerless="it is about every q of the set")
def _dual_set(it, c):
    r"""{q: ψ*(q) ≤ 0} is not empty, it is bounded, and f is positive on it: wherever ψ(p_t) ≤ 0,
    q_t is in it, ‖q_t‖₁ ≤ n and ‖Zᵀq_t‖ ≥ γ‖q_t‖₁ > 0; and f(q_t) ≥ f(q̄).

    $\{q\mid\psi^*(q)\le 0\} \text{ is nonempty, compact and convex}, \quad
    \min_{\psi^*(q)\le 0} f(q) > 0$

    f(q̄) is compared where q̄ is known. As the set is convex and f is strictly convex in Zᵀq, Zᵀq̄ is
    the same for all q̄."""
    _, now, _ = _seen(c)
    if not now.psi <= 0:
        return
    mass = total(now.q)
    yield at_most(now.conjugate, 0, "ψ*(q_t) ≤ 0")
    yield at_most(mass, c.n, "‖q_t‖₁ ≤ n", allowance=1e-13)
    yield at_most(c.gamma * mass, now.pull.norm(), "γ‖q_t‖₁ ≤ ‖Zᵀq_t‖", allowance=1e-13)
    if known_optimum(c) is None:
        yield at_most(optimum(c)[1], now.square, "2f(q̄) ≤ 2f(q_t)", allowance=1e-13)


@steps.bound("thm5.dual", "Theorem 5(2), first bound", GD, known_optimum, separable, slower=_SLOWER)
def _dual_direction(it, c):
    r"""‖Zᵀq_t − Zᵀq̄‖² ≤ 2D(q̄, q_0)/Σ_{j<t} η̂_j for all t with ψ(Zw_t) ≤ 0.

    $\|Z^\top q_t - Z^\top\bar q\|^2 \le \frac{2D_{\psi^*}(\bar q, q_0)}{\sum_{j<t}\hat\eta_j}$

    Checked where q̄ is known."""
    _, now, seen = _seen(c)
    if not now.psi <= 0:
        return None
    best = pull_of(c, np.array([float(q) for q in optimum(c)[2]]), 1e-15)
    apart = (now.pull - best).norm() ** 2
    return at_most(apart, 2 * from_best(c, seen.first) / seen.hats, "‖Zᵀ(q_t − q̄)‖² ≤ 2D₀/Σ η̂")


@steps.bound("thm5.bias", "Theorem 5(2), second bound", GD, known_optimum, separable, slower=_SLOW)
def _direction(it, c):
    r"""⟨w_t/‖w_t‖, −Zᵀq̄/‖Zᵀq̄‖⟩ ≥ 1 − δ/Σ_{j<t} η̂_j with δ = (ψ(p_0) + η̂_0 f(q_0))/(2f(q̄)), for
    w_0 = 0 and all t with ψ(Zw_t) ≤ 0.

    $\Big\langle\frac{w_t}{\|w_t\|}, \frac{-Z^\top\bar q}{\|Z^\top\bar q\|}\Big\rangle \ge 1 -
    \frac{\delta(w_0, \bar q)}{\sum_{j<t}\hat\eta_j}, \quad \delta(w_0, \bar q) = \frac{\psi(p_0) +
    \hat\eta_0 f(q_0) + \|w_0\|\|Z^\top\bar q\|}{2f(\bar q)}$

    The limit of w_t/‖w_t‖ that follows is this bound for Σ η̂_j → ∞."""
    _, now, seen = _seen(c)
    if not now.psi <= 0:
        return None
    start, square = seen.first, optimum(c)[1]
    delta = (start.psi + start.hat * start.square / 2) / square
    cosine = along_best(c, it) / (sqrt(square) * it.norm)
    return at_most(1 - cosine, delta / seen.hats, "1 − ⟨w_t/‖w_t‖, ū⟩ ≤ δ/Σ η̂_j")


def two_phases(problem, t0=0):
    """Theorem 7, logistic loss: η_t R(w_t) = 1/2 for t < t_0, and then η̂_t = 1/2."""
    w, t = problem.origin(), 0
    while True:
        yield Iterate(t, w)
        xi = -problem.scores(w)
        slopes, mass = 1 / (1 + np.exp(-xi)), np.logaddexp(0, xi).sum()
        w = w + problem.combine(slopes) / (2 * (mass if t < t0 else -np.expm1(-mass)))
        t += 1


_FAR = "its constants let slower steps pass at every t within reach"


def _two_phases(case):
    """t_0 is the first integer from (256 ln n)²/γ² on."""
    limit = (256 * case.log_n / case.gamma) ** 2
    t0 = getattr(case.solver, "t0", 0)
    return None if limit <= t0 < limit + 1 else "t_0 is not (256 ln n)²/γ²"


PHASES = Method("two_phases:t0=*", assumes=(separable, _two_phases))


@jt.bound("thm7.log", "Theorem 7, logistic loss", PHASES, since=1, powerless=_FAR)
def _logistic_rate(it, c):
    r"""For the logistic loss, t_0 = (256 ln n)²/γ², η_t R(w_t) = 1/2 for t < t_0 and η̂_t = 1/2 from
    there on: γ(w_t) ≥ −ψ(Zw_t)/‖w_t‖ ≥ γ − (1 + 512 ln n)/(γt − (256 ln n)²/γ) for t > t_0.

    $\frac{\min_i y_i\langle w_t, x_i\rangle}{\|w_t\|} \ge \frac{-\psi(Zw_t)}{\|w_t\|} \ge \gamma -
    \frac{1+512\ln n}{\gamma t - (256\ln n)^2/\gamma} \quad \text{for any } t > t_0$

    t_0 is at least 31,487, for n = 2: one run of 35,000 iterations on two rows."""
    t0 = (256 * c.log_n / c.gamma) ** 2
    if not it.t > t0:
        return
    bound = (1 + 512 * c.log_n) / (c.gamma * (it.t - t0))
    psi = GeneralisedSum.at(it, LOGISTIC).psi
    yield at_most(-psi, it.smallest, "−ψ(Zw_t) ≤ min_i (A w_t)_i", allowance=1e-9)
    yield at_most(c.gamma + psi / it.norm, bound, "γ + ψ(Zw_t)/‖w_t‖ ≤ (1 + 512 ln n)/(γ(t − t_0))")


@steps.bound("thm7.exp", "Theorem 7, exponential loss", GD, exponential, separable, slower=_SLOW)
def _margin_rate(it, c):
    r"""γ(w_t) ≥ −ψ(Zw_t)/‖w_t‖ ≥ γ − (ln n + 1)/(γ Σ_{j<t} η̂_j) for η̂_t ≤ 1 that do not increase.

    $\frac{\min_i y_i\langle w_t, x_i\rangle}{\|w_t\|} \ge \frac{-\psi(Zw_t)}{\|w_t\|} \ge \gamma -
    \frac{\ln(n)+1}{\gamma\sum_{j<t}\hat\eta_j}$"""
    _, now, seen = _seen(c)
    bound = (c.log_n + 1) / (c.gamma * seen.hats)
    yield at_most(-now.psi, it.smallest, "−ψ(Zw_t) ≤ min_i (A w_t)_i", allowance=1e-13)
    yield at_most(c.gamma + now.psi / it.norm, bound, "γ + ψ(Zw_t)/‖w_t‖ ≤ (ln n + 1)/(γ Σ η̂)")


@steps.bound("lem18", "Lemma 18", GD, convex_tail, separable, slower=_SLOW)
def _norms(it, c):
    r"""γ Σ_{j<t} η̂_j ≤ ‖w_t‖, and ‖w_t‖ ≤ Σ_{j<t} η̂_j for ℓ_exp; ‖q_t‖₁ ≥ 1 for ℓ_log.

    $\gamma\sum_{j<t}\hat\eta_j \le \|w_t\| \le \sum_{j<t}\hat\eta_j$"""
    _, now, seen = _seen(c)
    least = c.gamma * seen.hats
    yield nearly_after(it, least, it.norm, "γ Σ η̂_j ≤ ‖w_t‖", beside=least, steps=it.t * it.n)
    if loss_of(c) is EXPONENTIAL:
        most = seen.hats
        yield nearly_after(it, it.norm, most, "‖w_t‖ ≤ Σ η̂_j", beside=most, steps=it.t * it.n)
    else:
        yield at_most(1, total(now.q), "‖q_t‖₁ ≥ 1")


_TEN = "rows:-1,0;-2,-2*{}"


def theorem_10(case):
    """The data of Theorem 10: z_1 = (0.1, 0), and the others (0.2, 0.2); ten times as long here."""
    other = load(_TEN.format(case.n - 1))
    same_data = case.problem.raw().digest() == other.digest()
    return None if same_data else "the theorem is about the data sets rows:-1,0;-2,-2*N"


tens = Method(_GD, assumes=(exponential, theorem_10))
_EVERYONE = "an upper bound that w_t obeys by far, whatever the steps are"


@steps.bound("thm10", "Theorem 10", tens, problems=(_TEN.format(9),), powerless="a lower bound")
def _bias_is_slow(it, c):
    r"""On z_1 = (0.1, 0), z_2 = … = z_n = (0.2, 0.2): γ = 0.1, and ‖v_t‖ ≥ ln n − ln 2 as soon as
    R(w_t) < 2/n, where v_t is the second coordinate of w_t.

    $\|v_t - \bar v\| = \|v_t\| \ge \ln(n) - \ln(2) \quad \text{for large enough } t$

    The proof has t ≥ τ, the first t with R(w_t) < 2/n. Rows are divided by 0.2√2 here, so that w is
    multiplied by it, and a step η̂ here is one of η̂/0.08 there."""
    _, now, _ = _seen(c)
    scale = sqrt(number(Fraction(2, 25)))
    if it.t == 1:
        yield same_digits(c.gamma * scale, number(Fraction(1, 10)), "γ = 0.1")
    if now.psi < log(2):
        least = log(c.n) - log(2)
        second = it.vec(np.array([0.0, float(it.w[1])])).norm() / scale
        yield at_most(least, second, "ln n − ln 2 ≤ ‖v_t‖")


@steps.bound(
    "thm8.equal",
    "Theorem 8, last display",
    tens,
    constant_hat,
    Erratum("misprint", "thm8.lower"),
    problems=(_TEN.format(9),),
    powerless="a lower bound",
)
def _length_as_printed(it, c):
    r"""(ln n − ln 2)/‖w_t‖ = (ln n − ln 2)/t for η̂_j = 1, that is, ‖w_t‖ = t.

    $\Big\|\frac{w_t}{\|w_t\|} - \bar u\Big\| \ge \frac{\ln n-\ln 2}{\|w_t\|} = \frac{\ln n-\ln
    2}{t} \quad \text{when } \hat\eta_j = 1$

    Smallest witness: the data of Theorem 10 with n = 3, where ‖w_t‖ ≤ 0.2√2 t. On any other data it
    needs z_1 = … = z_n of norm one, and then w_t/‖w_t‖ = ū. Checked as ‖w_t‖ = Σ_{j<t} η̂_j.

    Why: The proof says that ‖w_t‖ ≤ t, so the sign is ≥ and not =.
    Survives: Everything: the lower bound (ln n − ln 2)/t holds."""
    steps_taken, scale = c.history(_Descent).hats, sqrt(number(Fraction(2, 25)))
    return equal(it.norm / scale, steps_taken / scale**2, "‖w_t‖ = t", allowance=1e-9, size=1.0)


@steps.bound("thm8.lower", "Theorem 8, last display, with ≥", tens, powerless="a lower bound")
def _length(it, c):
    r"""‖w_t/‖w_t‖ − ū‖ ≥ (ln n − ln 2)/‖w_t‖ ≥ (ln n − ln 2)/t for η̂_j = 1 and all large t.

    $\Big\|\frac{w_t}{\|w_t\|} - \bar u\Big\| \ge \frac{\ln n-\ln 2}{\|w_t\|} \ge \frac{\ln n-\ln
    2}{t} \quad \text{when } \hat\eta_j = 1$

    From R(w_t) < 2/n on, as in Theorem 10; the first inequality for η_j = 1 as well, where
    ‖w_t‖ = Θ(ln t) is recalled from other work."""
    _, now, seen = _seen(c)
    if now.psi < log(2):
        apart = sqrt(2 - 2 * it.toward / (c.gamma * it.norm))
        bound, scale = log(c.n) - log(2), sqrt(number(Fraction(2, 25)))
        yield at_most(bound * scale / it.norm, apart, "(ln n − ln 2)/‖w_t‖ ≤ ‖w_t/‖w_t‖ − ū‖")
        # A step η̂ here is one of η̂/0.08 in the paper: t is Σ η̂_j/0.08.
        yield at_most(bound * scale**2 / seen.hats, apart, "(ln n − ln 2)/t ≤ ‖w_t/‖w_t‖ − ū‖")


def offset(case):
    """c, r, ‖Π_⊥Aᵀc‖ and γ′/γ (0 for γ′ = ∞), where v̄ is proved to be within r of Π_⊥Aᵀc; or None.

    M = A_⊥A_⊥ᵀ/γ² on S is rational, and v̄ minimises F(v) = Σ exp(−⟨v, a_i⊥⟩). If K holds rank(M)
    independent rows and columns of M, the eigenvalues of M are 0 or at least those of K
    (interlacing), so at least 1/tr K⁻¹. Hence F is λ-convex at v on span(S_⊥) with
    λ = γ² min_i exp(−⟨v, a_i⊥⟩)/tr K⁻¹, and e^{−r}λ-convex up to a distance r, as ‖a_i‖ ≤ 1: if
    r = 2‖∇F(v)‖/λ < ½, F grows from there on, and v̄ is nearer.
    """
    gram = exact_rows(case.problem.raw()).gram(np.arange(case.n))[0].tolist()
    products = [sum(int(g) * q for g, q in zip(row, case.q_bar, strict=True)) for row in gram]
    low, size = min(products), case.n  # γ², and γ² + γγ′ is the next
    on = [i for i in range(size) if products[i] == low]
    flat = [[Fraction(int(gram[i][j])) / low - 1 for j in on] for i in on]
    exact = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in flat])
    reduced, rank = exact.rref()
    kept = [next(j for j in range(len(on)) if reduced[i, j]) for i in range(rank)]
    c, square = np.zeros(len(on)), case.gamma_squared
    doubles = float(square) * np.array(flat, dtype=float)
    for _ in range(60 if kept else 0):  # Newton's method
        slopes = np.exp(-doubles @ c)
        bend = doubles[kept] * slopes @ doubles[:, kept]
        step = np.linalg.lstsq(bend, doubles[kept] @ slopes, rcond=None)[0]
        c[kept] += step / max(1.0, float(np.abs(doubles[:, kept] @ step).max()))
    matrix, column = arb_mat(exact), arb_mat([[number(v)] for v in c.tolist()])
    masses = [(-square * height).exp() for height in (matrix * column).entries()]
    slope, length = (
        sqrt(number(0).max(square * (v.transpose() * matrix * v)[0, 0]))
        for v in (arb_mat([[mass] for mass in masses]), column)
    )
    inverse = fmpq_mat(rank, rank, [exact[i, j] for i in kept for j in kept]).inv()
    trace = number(sum((inverse[i, i] for i in range(rank)), fmpq(0)))
    radius = upper(2 * slope * trace / (square * smallest(masses)))
    spread = np.zeros(size)
    spread[on] = c
    ratio = min((p for p in products if p != low), default=low) / low - 1
    return (spread, radius, length, ratio) if radius < 0.5 else None


def _offset(case):
    return case.remember("v̄", lambda: offset(case))


def smooth_offset(case):
    """v̄ is known."""
    known = case.truth.exact and _offset(case) is not None
    return None if known else "v̄ is not known: some row on the margin has no weight in q̄"


EXP = Method(_GD, assumes=(few_rows, proper, exponential, separable, smooth_offset))


def _off_axis(c):
    """max{‖v_0 − v̄‖, 2} + 2 ln n/(γγ′) + 2 for v_0 = 0, and ‖v̄‖."""
    _, radius, size, ratio = _offset(c)
    length = size + ball(0.0, radius)
    more = 2 * c.log_n / (c.gamma_squared * number(ratio)) if ratio else 0
    return length.max(number(2)) + more + 2, length


@steps.bound("thm9", "Theorem 9", EXP, powerless=_EVERYONE)
def _orthogonal(it, c):
    r"""‖v_t − v̄‖ ≤ max{‖v_0 − v̄‖, 2} + 2 ln n/(γγ′) + 2, where v_t is orthogonal to ū.

    $\|v_t - \bar v\| \le \max\{\|v_0 - \bar v\|, 2\} + \frac{2\ln(n)}{\gamma\gamma'} + 2$"""
    weights, radius, *_ = _offset(c)
    apart = weighted_sum(1.0, it.here, -1.0, pull_of(c, weights)).norm()
    along = it.toward / c.gamma - c.gamma * number(float(weights.sum()))
    square = number(0).max(apart**2 - along**2)
    return at_most(sqrt(square), _off_axis(c)[0] + radius, "‖v_t − v̄‖ ≤ the bound")


@steps.bound("thm8.upper", "Theorem 8, first display", EXP, at_rest=_STILL, slower=_SLOW)
def _bias_is_fast_enough(it, c):
    r"""‖w_t/‖w_t‖ − ū‖ = O(ln n)/Σ_{j<t} η̂_j: at most √2(B + ‖v̄‖)/(γ Σ_{j<t} η̂_j) with the bound B
    of Theorem 9, where ⟨w_t, ū⟩ > ‖v_t‖.

    $\Big\|\frac{w_t}{\|w_t\|} - \bar u\Big\| = \frac{O(\ln n)}{\sum_{j<t}\hat\eta_j}$

    The constant is that of page 27: √2‖v_t‖/‖w_t‖, with Theorem 9 and Lemma 18. 1/Σ η̂_j is O(1/t)
    for η̂_j = 1, and O(1/ln t) for η_j = 1 by Lemma 20."""
    cosine = it.toward / (c.gamma * it.norm)
    if not 2 * cosine**2 > 1:
        return None
    bound = sqrt(2) * sum(_off_axis(c)) / (c.gamma * c.history(_Descent).hats)
    return at_most(sqrt(2 - 2 * cosine), bound, "‖w_t/‖w_t‖ − ū‖ ≤ the bound")


_KINDS = {"powerless": "it is about a loss, not about a solver", "kind": "anytime"}
_POINTS = (Fraction(-20), Fraction(-3), Fraction(-1, 2), Fraction(-1, 100))
_ALL = (*_POINTS, Fraction(0), Fraction(1, 3), Fraction(2), Fraction(30))


def _losses():
    return EXPONENTIAL, LOGISTIC, *map(Polynomial, (0.5, 1, 2, 5))


@jt.direct("thm11.tail", "Theorem 11, Assumption 1(1, 2)", instances="8 points", **_KINDS)
def _tails(c):
    r"""ℓ, ℓ′, ℓ″ > 0, and zℓ′(z)/ℓ(z) increases on (−∞, 0) for ℓ_exp, ℓ_log and ℓ_poly,k.

    $\ell, \ell', \ell'' > 0, \quad z\ell'(z)/\ell(z) \text{ is increasing on } (-\infty, 0)$"""
    for loss in _losses():
        for z in map(number, _ALL):
            for part in (loss.value, loss.slope, loss.curvature):
                yield below(0, part(z), f"{loss.name}: positive")
        ratios = [z * loss.slope(z) / loss.value(z) for z in map(number, _POINTS)]
        for low, high in pairwise(ratios):
            yield below(low, high, f"{loss.name}: zℓ′/ℓ increases")


@jt.direct("thm11.ratio", "Theorem 11, Assumption 1(3)", instances="b = 1, 2, 10", **_KINDS)
def _ratios(c):
    r"""ℓ′(ℓ⁻¹(a))/ℓ′(ℓ⁻¹(ab)) ≥ c for all a > 0: c = 1/b for ℓ_exp and ℓ_log, and the smaller of
    ℓ′(ℓ⁻¹(1/b))/(2k) and b^{−(k+1)/k} for ℓ_poly,k.

    $\ell'(\ell^{-1}(a))/\ell'(\ell^{-1}(ab)) \ge c$

    The constants are those of page 29."""
    for loss in _losses():
        for b in (1, 2, 10):
            least = number(Fraction(1, b))
            if isinstance(loss, Polynomial):
                power = number(b) ** (-(loss.k + 1) / loss.k)
                first = loss.slope(loss.inverse(least)) / (2 * loss.k)
                least = smallest([power, first])
            for a in map(number, (Fraction(1, 1000), Fraction(1, 7), 1, 3, 100)):
                ratio = loss.slope(loss.inverse(a)) / loss.slope(loss.inverse(a * b))
                yield at_most(least, ratio * (1 + number(2) ** -60), f"{loss.name}: c ≤ ratio")


@jt.direct("lem12", "Lemma 12 and Theorem 11, Assumption 1(4)", instances="random ξ", **_KINDS)
def _convexity(c):
    r"""ℓ′²/(ℓℓ″) increases for the three losses, and ψ is convex: ψ((ξ+ξ′)/2) ≤ (ψ(ξ) + ψ(ξ′))/2.

    $\ell'^2/(\ell\ell'') \text{ is increasing on } (-\infty,\infty) \implies \psi\text{ is convex}$

    For ℓ_exp, and for ℓ_poly,k below 0, it is constant: "increasing" is not strict."""
    for loss in _losses():
        ratios = [
            loss.slope(z) ** 2 / (loss.value(z) * loss.curvature(z)) for z in map(number, _ALL)
        ]
        for low, high in pairwise(ratios):
            yield nearly(low, high, f"{loss.name}: ℓ′²/(ℓℓ″)", rounding=1e-15, size=1.0)
        for pair in c.rng(12).integers(-40, 41, (20, 2, 4)).tolist():
            one, other = ([number(Fraction(v, 8)) for v in row] for row in pair)
            half = [(x + y) / 2 for x, y in zip(one, other, strict=True)]
            ends = GeneralisedSum(loss, one).psi + GeneralisedSum(loss, other).psi
            middle_one = GeneralisedSum(loss, half).psi
            yield nearly(2 * middle_one, ends, f"{loss.name}: ψ convex", rounding=1e-14, size=1.0)


def _sums(c, loss, more=0):
    for row in c.rng(13).integers(-60, 30, (40, 5)).tolist():
        yield GeneralisedSum(loss, [number(Fraction(v - more, 8)) for v in row])


@jt.direct("lem13", "Lemma 13", instances="random ξ", **_KINDS)
def _smoothness(c):
    r"""ψ is β-smooth in ℓ_∞ with β = 1 for ℓ_exp, and β ≤ cn if ℓ″ ≤ cℓ′ (c = 1 and k + 1).

    $\beta = 1 \text{ for } \ell_{exp}; \text{ if } \ell'' \le c\ell', \text{ then } \beta \le cn$

    Checked as Σ_i ℓ″(ξ_i)/ℓ′(ψ(ξ)) ≤ β, which bounds vᵀ∇²ψ(ξ)v for |v_i| ≤ 1 (eq. 27)."""
    for loss in _losses():
        constant_c = loss.k + 1 if isinstance(loss, Polynomial) else number(1)
        for found in _sums(c, loss):
            for x in found.xi:
                top = constant_c * loss.slope(x)
                yield nearly(loss.curvature(x), top, "ℓ″ ≤ cℓ′", rounding=1e-15, size=1.0)
            bound = number(1) if loss is EXPONENTIAL else constant_c * len(found.xi)
            yield nearly(found.curvature, bound, f"{loss.name}: ≤ β", rounding=1e-15, size=1.0)


@jt.direct("lem14.set", "Lemma 14, first sentence", instances="random ξ", **_KINDS)
def _sublevel(c):
    r"""For ℓ_log and ψ(ξ) ≤ 0: 1 ≤ ‖∇ψ(ξ)‖₁ ≤ 2, and ψ is 2-smooth in ℓ_∞.

    $\psi(\xi) \le 0 \implies 1 \le \|\nabla\psi(\xi)\|_1 \le 2$"""
    for found in _sums(c, LOGISTIC, more=40):
        if found.psi <= 0:
            mass = total(found.weights)
            yield at_most(1, mass, "1 ≤ ‖∇ψ(ξ)‖₁")
            yield at_most(mass, 2, "‖∇ψ(ξ)‖₁ ≤ 2")
            yield at_most(found.curvature, 2, "Σ ℓ″(ξ_i)/ℓ′(ψ(ξ)) ≤ 2")


LOG = Method(_GD, assumes=(few_rows, logistic, constant_hat, separable))


@steps.bound("lem14.step", "Lemma 14, second sentence", LOG, at_rest=_STILL, slower=_SLOW)
def _small_steps(it, c):
    r"""For ℓ_log, wherever L(Zw_t) ≤ ℓ(0)/(2e²) and η̂_t ≤ 1/2: ψ(p_{t+1}) − ψ(p_t) ≤
    (−η̂_t + η̂_t²)‖Zᵀq_t‖² and D(q_{t+1}, q_t) ≥ ‖q_{t+1} − q_t‖₁²/4.

    $\psi(Zw_{t+1}) - \psi(Zw_t) \le (-\hat\eta_t + \hat\eta_t^2)\|Z^\top q_t\|^2, \quad
    D_{\psi^*}(q_{t+1}, q_t) \ge \frac14\|q_{t+1} - q_t\|_1^2$"""
    past, now, _ = _seen(c)
    if past.sum.mass <= log(2) / (2 * exp(2)) and past.hat <= number(0.5):
        distance, apart = _bregman(past, now)
        gain = past.hat * (1 - past.hat) * past.square
        yield at_most(gain, past.psi - now.psi, "(η̂ − η̂²)‖Zᵀq‖² ≤ ψ(p_{t−1}) − ψ(p_t)")
        yield at_most(apart**2 / 4, distance, "‖q_t − q_{t−1}‖₁²/4 ≤ D", allowance=1e-13)


@steps.bound("lem19", "Lemma 19", ANY, convex_tail, plain_gd, at_rest=_STILL, slower=_UPHILL)
def _risk_falls(it, c):
    r"""R(w_{t+1}) ≤ R(w_t) − η_t (1 − η_t R(w_t)/2)‖∇R(w_t)‖² if η_t R(w_t) ≤ 1.

    $\mathcal R(w_{t+1}) \le \mathcal R(w_t) - \eta_t\Big(1 - \frac{\eta_t\mathcal
    R(w_t)}{2}\Big)\|\nabla\mathcal R(w_t)\|^2$"""
    past, now, _ = _seen(c)
    eta, risk, n = number(chosen(c, "eta", 1.0)), past.sum.mass / c.n, c.n
    slope = past.sum.slope**2 * past.square / n**2
    if eta * risk <= 1:
        fall = eta * (1 - eta * risk / 2) * slope
        yield at_most(now.sum.mass / n + fall, risk, "R(w_t) + η(1 − ηR/2)‖∇R‖² ≤ R(w_{t−1})")


@steps.bound("lem20", "Lemma 20", ANY, exponential, plain_gd, separable, powerless="lower bound")
def _log_growth(it, c):
    r"""Σ_{j<t} η̂_j ≥ ln(1 + ηγ²t/2) for η_t = η ≤ 1 and w_0 = 0.

    $\sum_{j<t}\hat\eta_j \ge \ln\Big(1 + \frac{\eta\gamma^2}{2}t\Big)$"""
    eta, seen = number(chosen(c, "eta", 1.0)), c.history(_Descent)
    return at_most(log(1 + eta * c.gamma_squared * it.t / 2), seen.hats, "ln(1 + ηγ²t/2) ≤ Σ η̂_j")


def first_phase(case):
    """η_t = 1/(2R(w_t)) for t < t_0, and t_0 is beyond what is claimed."""
    enough = getattr(case.solver, "t0", 0) >= 10**6
    return None if enough else "the first phase ends before the claim does"


def _reached(it, case):
    """L(Zw_t) ≤ ℓ(0)/(2e²), and ‖w_t‖ ≤ 256 ln n/γ."""
    mass = GeneralisedSum.at(it, LOGISTIC).mass
    limit = log(2) / (2 * exp(2))
    if mass > limit:
        return False
    return bool(mass <= limit and it.norm <= 256 * case.log_n / case.gamma) or None


WARM = Method("two_phases:t0=*", assumes=(few_rows, first_phase))
_TWO = {"With η": "For n ≥ 2 and η", r"\psi(Zw_t) \le 0": r"n \ge 2:\ \psi(Zw_t) \le 0"}
warm = jt.sharing(WARM, separable, goal=_reached)


@warm.stopping("lem21", "Lemma 21", Erratum("edge case", ".fixed"))
@warm.stopping("lem21.fixed", "Lemma 21, for n ≥ 2", several_rows, powerless=_FAR, instead=_TWO)
def _warm_start(c):
    r"""With η_j = 1/(2R(w_j)), the first t with L(Zw_t) ≤ ℓ(0)/(2e²) has ψ(Zw_t) ≤ 0,
    t ≤ (256 ln n/γ)² and ‖w_t‖ ≤ 256 ln n/γ.

    $\psi(Zw_t) \le 0 \quad \text{and} \quad t \le \Big(\frac{256\ln n}{\gamma}\Big)^2 \quad
    \text{and} \quad \|w_t\| \le \frac{256\ln n}{\gamma}$

    Smallest witness: n = 1, a_1 = 1: L(Zw_0) = ln 2 is above ln 2/(2e²), but t ≤ 0.

    Why: It fails for a single row alone, where ln n = 0.
    Survives: Everything: the proof needs n^{−128} ≤ 1/(128n), which holds for n ≥ 2."""
    return (256 * c.log_n / c.gamma) ** 2


TRIALS = (
    *(
        Trial(f"gradient_descent:{options}", problem, iterations)
        for options in ("loss=exp", "loss=log", "loss=poly", "loss=poly,k=2", "loss=exp,eta=1")
        for problem, iterations in (
            ("planted:n=20,d=4,gamma=0.2,seed=0", 60),
            ("orthogonal:n=10,p=0.95", 60),
            ("iris:0,1:n=30", 40),
            ("inseparable:n=20,d=4,seed=0", 40),
        )
    ),
    Trial("gradient_descent", "opposed:r=8,copies=20", 4),
    Trial("gradient_descent:loss=log,eta=1", "planted:n=20,d=4,gamma=0.2,seed=0", 60),
    Trial("gradient_descent:loss=log,hat=0.5", "rows:1,0;1,1;1,-1", 60),
    Trial("gradient_descent:loss=poly", _BENT, 200),
    Trial("gradient_descent:eta=1", _TEN.format(9), 200),
    Trial("gradient_descent:hat=0.08", _TEN.format(9), 200),
    Trial("gradient_descent:hat=0.08", _TEN.format(99), 400),
    Trial("two_phases:t0=33455", "rows:4,1;4,-1", 35000),
    Trial("two_phases:t0=1000000", "planted:n=20,d=4,gamma=0.2,seed=0", 400),
    Trial("two_phases:t0=1000000", "iris:0,1:n=30", 400),
    Trial("two_phases:t0=1000000", "degenerate:kind=simplex,n=1,d=1", 20),
)
