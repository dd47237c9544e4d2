"""Wang, Hanashiro, Guha and Abernethy (2023): accelerated perceptrons as games of two players.

The paper's w*, with ‖w*‖ = 1, is the maximum-margin direction, and its γ is γ̄. Protocol 1 has two
players: w_t is chosen by one, p_t ∈ Δⁿ by the other, both with weights α_t; S_T = Σ_{t≤T} α_t and
w̄_T = Σ α_t w_t/S_T. Where Ω(·) and O(·) hide a constant, it is that of the proof, with its page.
"""

from typing import Any

import numpy as np

from gammabar.papers.claims import *
from gammabar.solvers import Iterate

paper = Paper(
    key="wang",
    title="On Accelerated Perceptrons and Beyond",
    authors="Guanghui Wang, Rafael Hanashiro, Etash Guha and Jacob Abernethy",
    year=2023,
    venue="ICLR",
    url="https://arxiv.org/abs/2210.09371",
    text="the arXiv version",
    random={"p_norm_perceptron": {"p": ("2", "3", "6")}},
)


def _softmax(z):
    """exp(−z_i)/Σ_j exp(−z_j)."""
    weights = np.exp(z.min() - z)
    return weights / weights.sum()


def smooth_perceptron(problem):
    """Algorithm 1, first box: w_t is the paper's v_t."""
    q = np.full(problem.n, 1 / problem.n)
    v, theta, mu = problem.combine(q), 2 / 3, 4.0
    q = soft = _softmax(problem.scores(v) / mu)
    t = 0
    while True:
        yield Iterate(t, v, extra={"q": q})
        t += 1
        v = (1 - theta) * (v + theta * problem.combine(q)) + theta**2 * problem.combine(soft)
        mu *= 1 - theta
        soft = _softmax(problem.scores(v) / mu)
        q = (1 - theta) * q + theta * soft
        theta = 2 / (t + 3)


def accelerated_perceptron(problem):
    """Algorithm 2, first box: that of Ji, Srebro and Telgarsky with θ_{t−1} = t/(2(t + 1))."""
    v = g = problem.origin()
    t = 0
    while True:
        pull = problem.combine(_softmax(problem.scores(v)))
        g = t / (t + 1) * (g - pull)
        yield Iterate(t, v, momentum=-g)
        t += 1
        v = v - t / (2 * (t + 1)) * (g - pull)


def nesterov(problem):
    """Algorithm 3, first box, with η_t = t/R(u_t): w_t is the paper's s_t, and u_1 = 0."""
    v = s = problem.origin()
    t = 0
    while True:
        yield Iterate(t, s)
        t += 1
        u = s + v / (2 * (t - 1)) if t > 1 else s
        v = v + t * problem.combine(_softmax(problem.scores(u)))
        s = s + v / (2 * (t + 1))


def p_norm_perceptron(problem, p=3.0):
    """Algorithm 4: w_t is the paper's output w̄_t = Σ_{s≤t} w_s/t, and w_0 = 0."""
    eta = np.sqrt((p - 1) / (2 * np.log(problem.n)))  # q − 1 = 1/(p − 1)
    past, total = problem.origin(), problem.origin()
    pull = problem.combine(np.full(problem.n, 1 / problem.n))
    t = 0
    while True:
        yield Iterate(t, total / max(t, 1))
        t += 1
        total = total + _power_map(eta * (past + pull), p) / (p - 1)
        pull = problem.combine(_softmax(problem.scores(total) / eta))
        past = past + pull


def _power_map(theta, p):
    """∇(‖θ‖_p²/2)."""
    size = np.abs(theta).max()
    if not size:
        return theta
    scaled = np.abs(theta / size)
    return size * np.sign(theta) * scaled ** (p - 1) * np.sum(scaled**p) ** (2 / p - 1)


def mirror_prox(problem):
    """Algorithm 5, first box, with the parameters of page 26: w_t is the paper's Σ_{s≤t} w_s/t."""
    n, total = problem.n, problem.origin()
    root = np.sqrt(np.log(n))  # γ/α_p, and α_w/γ
    hat_w = w = problem.origin()
    log_p, sums, t = np.full(n, -np.log(n)), np.zeros(n), 0
    p = sums
    while True:
        hat_p = _softmax(-log_p)
        told = {"p": sums / t if t else hat_p, "w_t": w, "p_t": p, "hat_w": hat_w, "hat_p": hat_p}
        yield Iterate(t, total / max(t, 1), extra=told)
        t += 1
        w = _into_ball(problem, hat_w + problem.combine(hat_p) / root)
        p = _softmax(root * problem.scores(hat_w) - log_p)
        hat_w = _into_ball(problem, hat_w + problem.combine(p) / root)
        log_p = log_p - root * problem.scores(w)
        total, sums = total + w, sums + p


def _into_ball(problem, w):
    return w / max(1.0, problem.norm(w))


FAMILY = Family("wang")
_WARM = {"mu *= 1 - theta": "mu *= 1"}
FAMILY.edit(smooth_perceptron, "mu-fixed", "μ_t = μ_0", "it smooths for ever", _WARM)
_NONE = {"t / (t + 1) * (g - pull)": "0 * pull"}
FAMILY.edit(accelerated_perceptron, "no-momentum", "β_t = 0", "the rate is 1/T", _NONE)
_LONG = {"v - t / (2": "v - 30 * t / (2"}
FAMILY.edit(accelerated_perceptron, "long-steps", "θ_t = 15t/(t + 1)", "‖v‖ is too large", _LONG)
_PLAIN = {
    "u = s + v / (2 * (t - 1)) if t > 1 else s": "u = s",
    "v + t *": "",
    "v / (2 * (t + 1))": "v",
}
FAMILY.edit(nesterov, "no-weights", "Normalised gradient descent", "the rate is 1/T", _PLAIN)
_LATE = {"(past + pull)": "past"}
FAMILY.edit(p_norm_perceptron, "no-guess", "No optimism", "the regret grows with √T", _LATE)
_ONE = {
    "w = _into_ball(problem, hat_w + problem.combine(hat_p) / root)": "w = hat_w",
    "p = _softmax(root * problem.scores(hat_w) - log_p)": "p = hat_p",
}
FAMILY.edit(mirror_prox, "no-extra-step", "Mirror descent: u_t = v_t", "it is one step late", _ONE)


class _Play:
    """w_t, p_t and the regrets of both players under Protocol 1, with α_t = t.

    S, moves and pulls are Σ α_t, Σ α_t w_t and Σ α_t Aᵀp_t; changes, steps and w_steps are
    Σ ‖p_t − p_{t−1}‖₁², Σ t²‖w_t − w_{t−1}‖² and Σ t(t − 1)‖w_t − w_{t−1}‖².
    """

    late = 0  # w̄_T is the output at t = T − late

    def __init__(self, case):
        self.case, self.S = case, 0
        p = np.full(case.n, 1 / case.n)
        self.p, self.off, self.pull = p, 1e-15, pull_of(case, p, 1e-15)
        self.move = self.moves = self.pulls = self.pull * 0.0
        self.changes = self.steps = self.w_steps = self.w_loss = self.p_loss = number(0)

    def update(self, it):
        T = it.t + self.late
        if T:
            self.S += T
            before = self.move
            self.play(it, T)
            self.moves = weighted_sum(1.0, self.moves, float(T), self.move)
            gain, far = self.pull.inner(self.move), (self.move - before).norm() ** 2
            self.w_loss += T * (self.move.norm() ** 2 / 2 - gain)
            self.p_loss += T * gain
            self.steps, self.w_steps = self.steps + T**2 * far, self.w_steps + T * (T - 1) * far

    def play(self, it, T):
        """The w-player plays OFTL, then the p-player FTRL⁺."""
        self.move = weighted_sum(1 / self.S, self.pulls, T / self.S, self.pull)
        self.answer(soft_weights(it, factor=self.scale(T)), T)

    def scale(self, T):
        """Σ α_t w_t/4 over the output."""
        return 1.0

    def answer(self, soft, T):
        p, off = soft
        apart = float(np.abs(p - self.p).sum())
        self.changes += ball(apart, 1.1 * (off + self.off) + 1e-13) ** 2
        self.p, self.off, self.pull = p, off, pull_of(self.case, p, off)
        self.pulls = weighted_sum(1.0, self.pulls, float(T), self.pull)

    def regrets(self, it):
        """Rʷ and Rᵖ: the best w is Σ α_t Aᵀp_t/S, the best p a row of least score."""
        best = 4 * self.scale(it.t + self.late) * it.smallest
        return self.w_loss + self.pulls.norm() ** 2 / (2 * self.S), self.p_loss - best


class _Averages(_Play):
    """Algorithm 1, whose output is w̄_T itself."""

    late = 1

    def scale(self, T):
        return self.S / 4


class _Nesterov(_Play):
    """Algorithm 3, in which the p-player goes first."""

    last: Any = None
    before: Any = None

    def update(self, it):
        super().update(it)
        self.before, self.last = self.last, it.here

    def play(self, it, T):
        # u_T = s_{T−1} + T/4 w_{T−1}, and (T − 1)/4 w_{T−1} is the last step.
        ratio = T / (T - 1) if T > 1 else 0.0
        u = weighted_sum(1 + ratio, self.last, -ratio, self.before or self.last)
        self.answer(soft_weights(it, u), T)
        self.move = self.pulls * (1 / number(self.S))


wang = Claims("wang", unit=True)
games = wang.sharing(since=1)
SMOOTH = Method("smooth_perceptron", assumes=(several_rows,))
FAST = Method("accelerated_perceptron", assumes=(several_rows,))
NAG = Method("nesterov", assumes=(several_rows,))
PROX = Method("mirror_prox", assumes=(several_rows,))
P_NORM = Method("p_norm_perceptron:p=*", assumes=(several_rows,))
_ANY = "regrets are compared with each other, whatever the players do"
_DESCENT, _FIXED = "wang.mirror_prox/no-extra-step", "wang.smooth_perceptron/mu-fixed"
_SLOW, _PLAIN_STEPS = "wang.accelerated_perceptron/no-momentum", "wang.nesterov/no-weights"
_LENGTHY, _NO_GUESS = "wang.accelerated_perceptron/long-steps", "wang.p_norm_perceptron/no-guess"


@wang.bound(
    "thm2", "Theorem 2, for the game (6)", SMOOTH, separable, _Averages, at_rest=_ANY, slower=_FIXED
)
def _players(it, c):
    r"""m(w) − m(w̄_T) ≤ (Rᵖ + Rʷ)/Σ α_t for every w; checked at w = γw*, where m is largest.

    $m(w) - m(\bar w_T) \le \Big(\sum_{t=1}^T \alpha_t\Big)^{-1} (R^p + R^w)$"""
    play = c.history(_Averages)
    total = sum(play.regrets(it), number(0))
    gap = (c.gamma_squared + it.norm_squared) / 2 - it.smallest  # m(w) is min_i (Aw)_i − ‖w‖²/2
    return at_most(gap, total / play.S, "m(γw*) − m(w̄_T) ≤")


@wang.identity("prop1", "Proposition 1", SMOOTH, _Averages)
def _two_boxes(it, c):
    r"""Both boxes of Algorithm 1 agree for α_t = t: v_{T−1} = w̄_T, q_{T−1} = Σ α_t p_t/Σ α_t.

    $v_{T-1} = \bar w_T, \quad q_{T-1} = \frac{\sum_{t=1}^T \alpha_t p_t}{\sum_{t=1}^T \alpha_t}$

    The first box has A where it means Aᵀ. q is compared as Aᵀq."""
    play = c.history(_Averages)
    yield same(it.here, play.moves, "v_{T−1} = w̄_T", factor=1 / play.S)
    q = claimed_pull(it, it.claim("q"), "q_{T−1}")
    yield in_simplex(it, it.claim("q"), "q_{T−1}")
    yield same(q, play.pulls, "Aᵀq_{T−1} = Σ α_t Aᵀp_t/S_T", factor=1 / play.S)


def _regret_bounds(play, it, c):
    w, p = play.regrets(it)
    yield at_most(w, 2 * play.changes, "Rʷ ≤ 2 Σ ‖p_t − p_{t−1}‖₁²")
    yield at_most(p + 2 * play.changes, 4 * c.log_n, "Rᵖ + 2 Σ ‖p_t − p_{t−1}‖₁² ≤ 4 ln n")


@wang.bound(
    "thm3.regret", "Theorem 3, first sentence", SMOOTH, _Averages, at_rest=_ANY, slower=_FIXED
)
def _smooth_regret(it, c):
    r"""Rʷ ≤ 2 Σ_{t≤T} ‖p_t − p_{t−1}‖₁² and Rᵖ ≤ 4 ln n − 2 Σ_{t≤T} ‖p_t − p_{t−1}‖₁² for α_t = t.

    $R^w \le 2\sum_{t=1}^T\|p_t-p_{t-1}\|_1^2,\ R^p \le 4\log n-2\sum_{t=1}^T\|p_t-p_{t-1}\|_1^2$"""
    return _regret_bounds(c.history(_Averages), it, c)


def _positive(it, c, T):
    """A margin that is not negative, for T ≥ 4√(ln n)/γ."""
    if 4 * sqrt(c.log_n) / c.gamma <= T:
        yield at_least(it.smallest, 0, "γ(w̄_T) ≥ 0 for T ≥ 4√(ln n)/γ", size=it.here.size())


@wang.bound(
    "thm3.gap", "Theorem 3, second sentence, and Eq. (23)", SMOOTH, separable, slower=_FIXED
)
def _smooth_gap(it, c):
    r"""γ²/2 − m(w̄_T) ≤ 8 ln n/(T(T + 1)), and γ(w̄_T) ≥ 0 for T ≥ 4√(ln n)/γ.

    $m(\hat w^*) - m(\bar w_T) \le \frac{8\log n}{T(T+1)}; \quad \bar w_T \text{ has non-negative
    margin when } T = \Omega(\sqrt{\log n}/\gamma)$

    The constant 4 is that of the proof, page 21."""
    T = it.t + 1
    gap = (c.gamma_squared + it.norm_squared) / 2 - it.smallest
    yield at_most(gap, 8 * c.log_n / (T * (T + 1)), "m(ŵ*) − m(w̄_T) ≤ 8 ln n/(T(T+1))")
    yield from _positive(it, c, T)


@games.bound(
    "sec4.2.gap",
    "Section 4.2, the excessive gap condition",
    SMOOTH,
    Erratum("misprint", ".fixed"),
    problems=("duplicated:n=20,d=4,copies=3",),
)
def _excessive_gap_as_printed(it, c):
    r"""γ²/2 ≤ ‖Av_t‖²/2 ≤ ψ_{μ_t}(v_t) for all t ≥ 1.

    $\forall t \ge 1:\ \gamma^2/2 \le \|A v_t\|^2/2 \le \psi_{\mu_t}(v_t)$

    ‖Av_t‖² is a sum over all rows. Smallest witness: A = (1, 1)ᵀ, v_t = 1 for all t, so that
    ‖Av_t‖²/2 = 1 and ψ_μ(v_t) = −1/2 + 1 = 1/2.

    Why: It has Av_t where Soheili and Peña have Aᵀq_t, and nothing is built on it.
    Survives: Everything: the paper's own proofs do not use the condition."""
    square = sum((s * s for s in it.scores), number(0))
    yield at_most(c.gamma_squared, square, "γ² ≤ ‖Av_t‖²")
    yield at_most(square / 2, _smoothed(it), "‖Av_t‖²/2 ≤ ψ_μ(v_t)")


@games.bound(
    "sec4.2.gap.fixed", "Section 4.2, with Aᵀq_t for Av_t", SMOOTH, _Averages, slower=_FIXED
)
def _excessive_gap(it, c):
    r"""γ²/2 ≤ ‖Aᵀq_t‖²/2 ≤ ψ_{μ_t}(v_t) for all t ≥ 1, with μ_t = 8/((t+1)(t+2)).

    $\forall t \ge 1:\ \gamma^2/2 \le \|A^\top q_t\|^2/2 \le \psi_{\mu_t}(v_t)$"""
    play = c.history(_Averages)
    square = (play.pulls.norm() / play.S) ** 2
    yield at_most(c.gamma_squared, square, "γ² ≤ ‖Aᵀq_t‖²")
    yield at_most(square / 2, _smoothed(it), "‖Aᵀq_t‖²/2 ≤ ψ_μ(v_t)")


def _smoothed(it):
    """ψ_μ(v_t) for μ = μ_t, where min_q qᵀAv + μ D(q, 1/n) = −μ ln Σ_i exp(−(Av)_i/μ)/n."""
    scores, low = it.score_doubles, float(it.score_doubles.min())
    mu = 8 / ((it.t + 1) * (it.t + 2))
    mean = float(np.exp((low - scores) / mu).mean())
    error = 2 * it.score_error + 8 * mu * softmax_rounding(scores / mu)
    return ball(low - mu * np.log(mean), 1.01 * error) - it.norm_squared / 2


@wang.identity("prop2", "Proposition 2", FAST, _Play, since=1)
def _two_boxes_of_sums(it, c):
    r"""The two boxes of Algorithm 2 are the same for α_t = t: v_T = ¼ Σ_{t≤T} α_t w_t.

    $q_T = p_T, \quad v_T = \frac14 \sum_{t=1}^T \alpha_t w_t = \frac14 \Big(\sum_{t=1}^T
    \alpha_t\Big) \cdot \bar w_T$

    q_T = p_T is what p_T is computed from here."""
    return same(it.here, c.history(_Play).moves, "v_T = ¼ Σ α_t w_t", factor=0.25)


@games.bound("thm4.regret", "Theorem 4, first sentence", FAST, _Play, at_rest=_ANY, slower=_SLOW)
def _fast_regret(it, c):
    r"""Rʷ ≤ 2 Σ_{t≤T} ‖p_t − p_{t−1}‖₁² and Rᵖ ≤ 4 ln n − 2 Σ_{t≤T} ‖p_t − p_{t−1}‖₁² for α_t = t.

    $R^w \le 2\sum_{t=1}^T\|p_t-p_{t-1}\|_1^2,\ R^p \le 4\log n-2\sum_{t=1}^T\|p_t-p_{t-1}\|_1^2$"""
    return _regret_bounds(c.history(_Play), it, c)


@games.bound("thm4.rate", "Theorem 4, second sentence", FAST, separable, slower=_SLOW)
def _fast_rate(it, c):
    r"""γ̄(v_T) ≥ γ − 8 ln n/(γT(T + 1)) for all T ≥ 1, and γ(w̄_T) ≥ 0 for T ≥ 4√(ln n)/γ.

    $\bar w_T \text{ has a non-negative margin when } T = \Omega(\sqrt{\log n}/\gamma) \text{ and }
    \bar\gamma(v_T) = \Omega\Big(\gamma - \frac{8\log n}{\gamma T(T+1)}\Big)$

    The proof has no constant before γ (page 24): it is checked without Ω. 4 is that of page 21."""
    bound = 8 * c.log_n / (c.gamma * it.t * (it.t + 1))
    yield at_most(c.gamma - it.margin, bound, "γ − γ̄(v_T) ≤ 8 ln n/(γT(T+1))")
    yield from _positive(it, c, it.t)


@games.bound(
    "thm4.norm", "Proof of Theorem 4, page 24", FAST, separable, at_rest="v = 0", slower=_LENGTHY
)
def _norm_certificate(it, c):
    r"""γ̄(v_T) ≥ γ − ln n/‖v_T‖.

    $\frac{\min_p p^\top A v_T}{\|v_T\|_2} \ge \gamma - \frac{\log n}{\|v_T\|_2}$"""
    return at_most(c.gamma * it.norm - it.smallest, c.log_n, "γ‖v_T‖ − min_i (A v_T)_i ≤ ln n")


@games.bound("lem5", "Lemma 5", FAST, separable, slower=_SLOW)
@games.bound("eq39", "Eq. (39), where v_T is w̃_T", NAG, separable, slower=_PLAIN_STEPS)
def _norm_grows(it, c):
    r"""‖v_T‖ ≥ T(T + 1)γ/8.

    $\|v_T\|_2 \ge \frac{T(T+1)\gamma}{8}$

    The proof of the lemma has p_t for p_{t−1} in its second line, which changes nothing."""
    return at_most(it.t * (it.t + 1) * c.gamma / 8, it.norm, "T(T+1)γ/8 ≤ ‖v_T‖")


_PLUS = {"− ∇R(v_t)/R(v_t))": "+ ∇R(v_t)/R(v_t)) = β_t (g_{t−1} − Aᵀq_t)"}
_PLUS |= {r"g_t - \frac": r"g_{t-1} + \frac"}


@games.identity("eq8", "Eq. (8), first line", FAST, Erratum("misprint", ".fixed"))
@games.identity("eq8.fixed", "Eq. (8), first line, with g_{t−1} + ∇R/R", FAST, instead=_PLUS)
def _momentum(now, before, c, printed):
    r"""g_t = β_t (g_{t−1} − ∇R(v_t)/R(v_t)).

    $g_t = \beta_t \Big(g_t - \frac{\nabla R(v_t)}{R(v_t)}\Big)$

    It is read with g_{t−1} on the right, for with g_t it is no update. ∇R(v)/R(v) = −Aᵀq, so it has
    the opposite sign of the first box, g_t = β_t (g_{t−1} − Aᵀq_t). Smallest witness: A = (1),
    t = 1, g_0 = 0: the box has g_1 = −1/2, equation (8) has 1/2, with which v_2 = v_1 + 1/6 and not
    v_1 + 1/2.

    Why: The first box of Algorithm 2 has the sign that Ji, Srebro and Telgarsky print.
    Survives: Everything: all proofs start from the first box of Algorithm 2."""
    beta = now.t / (now.t + 1)
    ours = claimed_vector(now, now.claim("momentum"), "g_t")
    last = claimed_vector(before, before.claim("momentum"), "g_{t−1}")
    if not (isinstance(ours, Vec) and isinstance(last, Vec)):
        return ours
    step = weighted_sum(beta, last, -beta if printed else beta, now.pull)
    return same(ours, step, "g_t = β_t (g_{t−1} ± ∇R(v_t)/R(v_t))")


@games.identity("thm6.equal", "Theorem 6, first sentence", NAG, _Nesterov)
def _nesterov_boxes(it, c):
    r"""The two boxes of Algorithm 3 are the same for η_t = t/R(u_t) and α_t = t: s_T = w̃_T.

    $s_T = \widetilde w_T = \frac14 \Big(\sum_{t=1}^T \alpha_t\Big) \bar w_T$

    The first box divides by t − 1 = 0 at t = 1, where v_0 = 0: u_1 = s_0."""
    return same(it.here, c.history(_Nesterov).moves, "s_T = ¼ Σ α_t w_t", factor=0.25)


@games.bound("thm6.rate", "Theorem 6", NAG, separable, slower=_PLAIN_STEPS)
def _nesterov_rate(it, c):
    r"""γ(s_T) ≥ γ − (8 ln n + 2)/(T(T + 1)γ) for all T ≥ 1, where γ(s) = min_i (As)_i/‖s‖.

    $\frac{\min_{p\in\Delta^n} p^\top As_T}{\|s_T\|_2} \ge \gamma-\frac{8\log n+2}{T(T+1)\gamma}$"""
    bound = (8 * c.log_n + 2) / (c.gamma * it.t * (it.t + 1))
    return at_most(c.gamma - it.margin, bound, "γ − γ(s_T) ≤ (8 ln n + 2)/(T(T+1)γ)")


@games.bound("eq34", "Eqs. (34) and (35)", NAG, _Nesterov, slower=_PLAIN_STEPS)
def _nesterov_regret(it, c):
    r"""Rᵖ ≤ 4 ln n + Σ t²‖w_t − w_{t−1}‖²/8 and Rʷ ≤ −Σ t(t − 1)‖w_t − w_{t−1}‖²/4, with w_0 = 0.

    $R^p \le 4\log n + \sum_{t=1}^T \frac{t^2\|w_t - w_{t-1}\|_2^2}{8}, \quad R^w \le
    -\sum_{t=1}^T \frac{t(t-1)}{4}\|w_t - w_{t-1}\|_2^2$"""
    play = c.history(_Nesterov)
    w, p = play.regrets(it)
    yield at_most(p, 4 * c.log_n + play.steps / 8, "Rᵖ ≤ 4 ln n + Σ t²‖w_t − w_{t−1}‖²/8")
    # With equality: the sums are compared up to the errors with which they are known.
    bound = -play.w_steps / 4
    off, what = 4 * float(w.rad() + bound.rad()), "Rʷ ≤ −Σ t(t−1)‖w_t − w_{t−1}‖²/4"
    yield nearly(w, bound, what, rounding=off, size=float(4 * c.log_n))


@games.bound(
    "thm9.rate", "Proof of Theorem 9, page 29; Theorem 5", PROX, separable, slower=_DESCENT
)
def _prox_rate(it, c):
    r"""min_i (A w̄_T)_i ≥ γ − 3√(ln n)/(2T) for w̄_T = Σ w_t/T: ≥ 0 for T ≥ 3√(ln n)/(2γ).

    $\gamma\Big(\frac1T\sum_{t=1}^T w_t\Big) \ge \gamma - \frac{3\sqrt{\log n}}{2T}$

    γ(w) is not divided by ‖w‖. The theorem hides the constant in Ω; it is that of the proof."""
    bound = 3 * sqrt(c.log_n) / (2 * it.t)
    return at_most(c.gamma - it.smallest, bound, "γ − min_i (A w̄_T)_i ≤ 3√(ln n)/(2T)")


@games.bound("thm9.certificate", "Theorem 9, second sentence", PROX, inseparable, slower=_DESCENT)
def _prox_certificate(it, c):
    r"""On data that are not separable, p̄_T = Σ p_t/T is in Δⁿ and ‖p̄_Tᵀ A‖ ≤ 3√(ln n)/(2T).

    $\text{if } \max_{w\in\mathcal B_d} \gamma(w) < 0, \text{ then } \frac1T\sum_{t=1}^T p_t
    \text{ is an } \epsilon\text{-certificate of infeasibility when } T =
    \Omega\Big(\frac{\sqrt{\log n}}{\epsilon}\Big)$

    As printed it is about nothing: γ(0) = 0, so that the maximum over the ball is never below 0. It
    is read with "= 0", which is what "not separable" means, and with the constant of page 30."""
    yield in_simplex(it, it.claim("p"), "p̄_T")
    pull = claimed_pull(it, it.claim("p"), "p̄_T")
    if isinstance(pull, Vec):
        yield at_most(pull.norm(), 3 * sqrt(c.log_n) / (2 * it.t), "‖Aᵀp̄_T‖ ≤ 3√(ln n)/(2T)")


@games.bound("prop3", "Proposition 3", PROX, slower=_DESCENT)
def _prox_regret(it, c):
    r"""Rᵖ + Rʷ ≤ 3√(ln n)/2 for α_t = 1.

    $R^p + R^w = O(\sqrt{\log n})$

    The constant is that of page 29. For the bilinear game, Σ_t g(w_t, p_t) cancels:
    Rᵖ + Rʷ = T‖Aᵀp̄_T‖ − T min_i (A w̄_T)_i, the gap of the two averages."""
    bound = 3 * sqrt(c.log_n) / 2
    yield at_most(it.t * (c.gamma - it.smallest), bound, "T(γ − min_i (A w̄_T)_i) ≤ 3√(ln n)/2")
    if "p" in it.extra:
        pull = claimed_pull(it, it.extra["p"], "p̄_T")
        yield in_simplex(it, it.extra["p"], "p̄_T")
        if isinstance(pull, Vec):
            yield at_most(it.t * (pull.norm() - it.smallest), bound, "Rᵖ + Rʷ ≤ 3√(ln n)/2")


@games.identity("thm8", "Theorem 8", PROX, at_rest="it is about reports", slower=_DESCENT)
def _same_moves(now, before, c):
    r"""MPLFP is the game of Algorithm 5: from ŵ_{t−1} and p̂_{t−1} both players move twice, by
    Aᵀp/√(ln n) on the unit ball and by −√(ln n) A w in entropy; first against the other's
    last position, then against its move.

    $u_t = [w_t; p_t], \quad v_{t+1} = [\hat w_t; \hat p_t]$

    Weights are compared as Aᵀp."""
    root = float(sqrt(c.log_n))
    start = claimed_vector(now, before.claim("hat_w"), "ŵ_{t−1}")
    for name, weights in (("w_t", before.claim("hat_p")), ("hat_w", now.claim("p_t"))):
        pull = claimed_pull(now, weights, "p")
        if isinstance(start, Vec) and isinstance(pull, Vec):
            step = weighted_sum(1.0, start, 1 / root, pull)
            right = step * (1 / step.norm()) if step.norm() > 1 else step
            yield same(claimed_vector(now, now.claim(name), name), right, name)
    for name, move in (("p_t", start), ("hat_p", claimed_vector(now, now.claim("w_t"), "w_t"))):
        if isinstance(move, Vec):
            right = softmax_pull(now, move, root, before.claim("hat_p"))
            yield same(claimed_pull(now, now.claim(name), name), right, name)


@games.bound("thm7", "Theorem 7 and Eq. (42)", P_NORM, separable, slower=_NO_GUESS)
def _p_norm_rate(it, c):
    r"""min_i (A w̄_T)_i ≥ γ − √(2(p − 1) ln n)/T, where γ is the margin in ℓ_q, 1/p + 1/q = 1: it is
    not negative for T ≥ √(2(p − 1) ln n)/γ.

    $m(\bar w_T) \ge \gamma - \frac{\sqrt{2(p-1)\log n}}{T}$

    The constant is that of page 33. Algorithm 4 lacks the bracket of OFTRL (page 5): η^w multiplies
    both sums. ‖x‖_p ≤ ‖x‖₂ ≤ 1 for p ≥ 2."""
    p = float(getattr(c.solver, "p", 3.0))
    bound = sqrt(2 * (number(p) - 1) * c.log_n) / it.t
    return at_most(c.margin_in(p / (p - 1)) - it.smallest, bound, "γ − min_i (A w̄_T)_i ≤ the rate")


_DATA = (
    ("planted:n=60,d=6,gamma=0.1,seed=0", 150),
    ("planted:n=40,d=5,gamma=0.01,seed=1", 200),
    ("imbalanced:n=60,d=6,ratio=10,gamma=0.1,seed=0", 100),
    ("orthogonal:n=10,p=0.95", 60),
    ("orthogonal:n=30,p=0.35", 60),
    ("opposed:r=8,copies=20", 8),
    ("worst-case:n=50", 15),
    ("inseparable:n=40,d=5,seed=0", 80),
    ("inseparable:n=6,d=2,seed=0", 160),
    ("iris:0,1", 80),
)
TRIALS = tuple(
    Trial(solver, problem, iterations)
    for solver in ("smooth_perceptron", "accelerated_perceptron", "nesterov", "mirror_prox")
    for problem, iterations in _DATA
) + tuple(
    Trial(f"p_norm_perceptron:p={p}", problem, 100)
    for p in (2, 3, 6)
    for problem in ("orthogonal:n=10,p=0.95", "opposed:r=8,copies=5", "planted:n=20,d=6,gamma=0.1")
)
