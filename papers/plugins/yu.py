"""Yu, Kılınç-Karzan and Carbonell (2014): the Mirror Prox perceptron.

The paper's columns A_j are the rows a_j here, of norm at most one, so that its Ax is Aᵀx and its
Aᵀy are the scores of y = w_t. z_t = [x_t; y_t] has x_t ∈ Δ_n, which the solver reports as ``x``.
φ̄(x) = ‖Ax‖, φ̲(y) = min_j A_jᵀy, ε_sad(z) = φ̄(x) − φ̲(y), and ρ(A) is γ̄ where the data are
separable; elsewhere ρ(A) ≤ 0 and the value of the saddle point problem, Opt, is 0.

α_x and α_y are chosen in an appendix that is not at hand. With the norm √(α_x‖x‖₁² + α_y‖y‖₂²), the
largest for which ω has modulus one, Ω_x = ln n and Ω_y = 1/2: ℒ = 1/√(α_x α_y) and
Ω = α_x ln n + α_y/2. The steps γ/α_x = s and γ/α_y = 1/s depend on s = √(α_y/α_x) alone, and
Ωℒ = ln n/s + s/2. The solver's option ``s`` is that; 0 stands for the best, √(2 ln n).
"""

from fractions import Fraction

import numpy as np

from gammabar.papers.claims import *
from gammabar.solvers import Iterate

paper = Paper(
    key="yu",
    title="Saddle Points and Accelerated Perceptron Algorithms",
    authors="Adams Wei Yu, Fatma Kılınç-Karzan and Jaime G. Carbonell",
    year=2014,
    venue="ICML",
    url="https://proceedings.mlr.press/v32/yug14.html",
    text="the proceedings, without the appendix",
    random={"mirror_prox": {"s": ("0", "1", "3"), "eps": ("0", "0.1", "10")}},
)


def _softmax(z):
    weights = np.exp(z - z.max())
    return weights / weights.sum()


def _ball(problem, y):
    return y / max(1.0, problem.norm(y))


def mirror_prox(problem, s=0.0, eps=0.0):
    """Algorithm 1 for linear and kernel problems: w_t is the paper's y_t, and y_0 = 0.

    It goes on after the paper's loop ends, with φ̲(y_t) > 0 or ε_sad(z_t) ≤ ε = eps.
    """
    n = problem.n
    s = s or np.sqrt(2 * np.log(n))
    x, y, v = np.zeros(n), problem.origin(), problem.origin()
    logs, t = np.full(n, -np.log(n)), 0
    told = {"x": np.full(n, 1 / n), "vx": np.full(n, 1 / n), "vy": v}
    while True:
        yield Iterate(t, y / max(t, 1), extra=told)
        t += 1
        vx = _softmax(logs)
        wx = _softmax(logs - s * problem.scores(v))
        wy = _ball(problem, v + problem.combine(vx) / s)
        logs, v = logs - s * problem.scores(wy), _ball(problem, v + problem.combine(wx) / s)
        x, y = x + wx, y + wy
        told = {"x": x / t, "wx": wx, "wy": wy, "vx": _softmax(logs), "vy": v}


FAMILY = Family("yu")
_ONE = {
    "wx = _softmax(logs - s * problem.scores(v))": "wx = vx",
    "wy = _ball(problem, v + problem.combine(vx) / s)": "wy = v",
}
FAMILY.edit(mirror_prox, "no-extra-step", "Mirror descent: w_t = v_t", "it is one step late", _ONE)
_SMALL = {"logs - s *": "logs - s / np.sqrt(t) *", ") / s)": ") / (s * np.sqrt(t)))"}
FAMILY.edit(mirror_prox, "small-steps", "γ_t = γ/√t", "the rate is 1/√t", _SMALL)


def small_epsilon(case):
    """ε < ρ(A)."""
    eps = getattr(case.solver, "eps", 0.0)
    return None if eps < case.gamma else f"ε = {eps} is not below ρ(A)"


def step_of(case):
    """s = √(α_y/α_x)."""
    s = float(getattr(case.solver, "s", 0.0))
    return number(s) if s else sqrt(2 * case.log_n)


def omega_l(case):
    """Ωℒ = ln n/s + s/2."""
    s = step_of(case)
    return case.log_n / s + s / 2


def upper_value(it):
    """φ̄(x_t) = ‖Ax_t‖ for the x_t that the solver reports, or what is wrong with it."""
    pull = claimed_pull(it, it.claim("x"), "x_t")
    return pull.norm() if isinstance(pull, Vec) else pull


yu = Claims("yu", unit=True)
MPLFP = Method("mirror_prox:s=*,eps=*", assumes=(several_rows,))
_SLOW, _DESCENT = "yu.mirror_prox/small-steps", "yu.mirror_prox/no-extra-step"
_EVERY, _DATA = "it holds for every z", "it is about the data"


@yu.bound("thm1", "Theorem 1, for problem (5)", MPLFP, since=1, slower=_SLOW)
def _residual(it, c):
    r"""x_t ∈ Δ_n, ‖y_t‖ ≤ 1 and ε_sad(z_t) ≤ Ωℒ/t for every t ≥ 1, with step sizes γ_t = 1/ℒ.

    $\overline\phi(x_t) - \underline\phi(y_t)=\epsilon_{sad}(z_t)\le\frac{\Omega\mathcal L}{t}$"""
    bound = omega_l(c) / it.t
    yield at_most(it.norm, 1 + 1e-12, "‖y_t‖ ≤ 1")
    yield at_most(c.gamma - it.smallest, bound, "Opt − φ̲(y_t) ≤ Ωℒ/t")
    if "x" in it.extra:
        yield in_simplex(it, it.extra["x"], "x_t")
        yield at_most(upper_value(it) - it.smallest, bound, "ε_sad(z_t) ≤ Ωℒ/t")


@yu.bound("sec3.residual", "Section 3, the saddle point residual", MPLFP, powerless=_EVERY)
def _weak_duality(it, c):
    r"""ε_sad(z) is the sum of φ̄(x) − Opt ≥ 0 and Opt − φ̲(y) ≥ 0.

    $\epsilon_{sad}(z) = \underbrace{[\overline\phi(x) - Opt(P)]}_{\ge 0} +
    \underbrace{[Opt(D) - \underline\phi(y)]}_{\ge 0}$

    Opt = ρ(A) where the data are separable (Lemma 1(b)), and 0 elsewhere."""
    size = 1 + it.here.size()
    yield at_most(c.gamma, upper_value(it), "Opt ≤ φ̄(x_t)", size=size, allowance=1e-13)
    yield at_most(it.smallest, c.gamma, "φ̲(y_t) ≤ Opt", size=size, allowance=1e-13)


@yu.bound("thm2.b", "Theorem 2(b)", MPLFP, since=1, powerless=_EVERY)
def _residual_certifies(it, c):
    r"""If φ̲(y_t) ≤ 0, then ‖Ax_t‖ ≤ ε_sad(z_t): x_t is an ε-solution as soon as ε_sad(z_t) ≤ ε.

    $\text{(a) If } \underline\phi(y_t) > 0, \text{ then } A^T y_t > 0; \text{ otherwise, (b) If }
    \epsilon_{sad}(z_t) \le \epsilon, \text{ then } \|A x_t\|_2 \le \epsilon$

    Part (a) is the definition of φ̲."""
    top = upper_value(it)
    if it.smallest <= 0:
        return at_most(top, top - it.smallest, "‖Ax_t‖ ≤ ε_sad(z_t)", size=1.0)
    return None


@yu.direct(
    "sec5.2.strict",
    "Section 5.2, after Theorem 2",
    Erratum("edge case", ".fixed"),
    kind="anytime",
    powerless="it is about one step on two rows",
)
def _strictly_below(c):
    r"""ρ(A) > φ̲(y_t) for every t.

    $\rho(A) > \underline\phi(y_t) > 0$

    Smallest witness: two rows a_1 = a_2 = 1, ρ(A) = 1, and α_x = α_y: the step from y = 0 with
    x = (½, ½) is y_1 = Ax = 1, and φ̲(y_1) = 1.

    Why: It fails only where y_t is the optimal solution itself.
    Survives: Everything: Theorem 2 does not use that it is strict."""
    y = min(Fraction(1), 2 * Fraction(1, 2))
    yield fact(y < 1, "φ̲(y_1) < ρ(A) = 1")


@yu.bound("sec5.2.strict.fixed", "Section 5.2, with ≥", MPLFP, separable, powerless=_EVERY)
def _below(it, c):
    r"""ρ(A) ≥ φ̲(y_t) for every t.

    $\rho(A) \ge \underline\phi(y_t)$"""
    return at_most(it.smallest, c.gamma, "φ̲(y_t) ≤ ρ(A)", allowance=1e-13)


moves = yu.sharing(since=1, at_rest="it is about reports", slower=_DESCENT)


@moves.identity("sec5.3.x", "Section 5.3, the prox mapping of x", MPLFP)
def _prox_of_x(now, before, c):
    r"""Both steps multiply x by exp(−γAᵀξ_y/α_x) and divide by the sum: with ξ = v_t, and ξ = w_t.

    $[\mathrm{Prox}_x^{\omega_x}(\zeta)]_i = \frac{x_i\exp\{-\zeta_i\}}{\sum_k x_k\exp\{-\zeta_k\}}$

    The weights are compared as Ax."""
    s = float(step_of(c))
    for name, at in (("wx", before.claim("vy")), ("vx", now.claim("wy"))):
        vector = claimed_vector(now, at, "y")
        if isinstance(vector, Vec):
            right = softmax_pull(now, vector, s, before.claim("vx"))
            yield same(claimed_pull(now, now.claim(name), name), right, f"Prox_x of {name}")


@moves.identity("sec5.3.y", "Section 5.3, the prox mapping of y", MPLFP)
def _prox_of_y(now, before, c):
    r"""Both steps add γAξ_x/α_y to y and project on the unit ball: with ξ = v_t, and with ξ = w_t.

    $[\mathrm{Prox}_y^{\omega_y}(\zeta)]_j = \begin{cases} y_j - \zeta_j, & \text{if } \|y -
    \zeta\|_2 \le 1 \\ \frac{y_j-\zeta_j}{\|y-\zeta\|_2}, & \text{otherwise} \end{cases}$"""
    start = claimed_vector(now, before.claim("vy"), "v_t")
    for name, at in (("wy", before.claim("vx")), ("vy", now.claim("wx"))):
        pull = claimed_pull(now, at, "x")
        if isinstance(start, Vec) and isinstance(pull, Vec):
            step = weighted_sum(1.0, start, float(1 / step_of(c)), pull)
            length = step.norm()
            right = step * (1 / length) if length > 1 else step
            yield same(claimed_vector(now, now.claim(name), name), right, f"Prox_y of {name}")


@yu.direct(
    "sec5.4",
    "Section 5.4, the bound on Ωℒ",
    Erratum("transcription", ".fixed"),
    kind="value",
    powerless="it is about constants",
    inputs={"n": wholes(2, 10**6)},
)
def _constant_as_printed(c):
    r"""Some α_x, α_y > 0 have Ωℒ ≤ √(ln n) + √½.

    $\Omega\mathcal L \le \sqrt{\log(n)} + \sqrt{1/2}$

    Ωℒ = ln n/s + s/2 ≥ √(2 ln n) for every s = √(α_y/α_x), with equality for s = √(2 ln n). ℒ can
    not be smaller than 1/√(α_x α_y) in general: for two rows a and −a, and z, z′ that differ by
    y − y′ = a alone, ‖F(z) − F(z′)‖_* = 1/√α_x and ‖z − z′‖ = √α_y. Smallest witness: n = 19,
    where √(2 ln 19) > 2.4266 and √(ln 19) + √½ < 2.4231.

    Why: For the usual norm √(α_x‖x‖₁² + α_y‖y‖²) no choice of α_x and α_y attains it for n ≥ 19;
    the appendix, where Ω and ℒ are derived, is not at hand and may have another norm.
    Survives: The rates: with √(2 ln n) for √(ln n) + √½, at most √2 times as much, Theorem 3
    holds, and n ≤ 18 it holds as it is."""
    for (n,) in c.instances([(19,), (1000,)]):
        best = sqrt(2 * log(n))
        yield at_most(best, sqrt(log(n)) + sqrt(number(Fraction(1, 2))), "min Ωℒ ≤ √(ln n) + √½")


@yu.direct(
    "sec5.4.fixed",
    "Section 5.4, with √(2 ln n)",
    kind="value",
    powerless="it is about constants",
    inputs={"n": wholes(2, 10**6), "s": rationals(Fraction(1, 10), 10)},
    instances="n = 2, 18, 19 and 10⁶, with five s each",
)
def _best_constant(c):
    r"""min Ωℒ = √(2 ln n) over all α_x, α_y > 0, which is at most √(ln n) + √½ for n ≤ 18.

    $\min_{\alpha_x,\alpha_y} \Omega\mathcal L = \sqrt{2\log n}$"""
    own = [(n, s) for n in (2, 18, 19, 10**6) for s in (Fraction(1, 3), 1, 2, 3, 7)]
    for n, s in c.instances(own):
        best = sqrt(2 * log(n))
        yield at_most(best, log(n) / number(s) + number(s) / 2, "√(2 ln n) ≤ ln n/s + s/2")
        if n <= 18:
            yield at_most(best, sqrt(log(n)) + sqrt(number(Fraction(1, 2))), "√(2 ln n) ≤")


class _Loop:
    """Whether the loop of Algorithm 1 has ended before w_t."""

    def __init__(self, case):
        self.over, self._next, self.eps = False, False, float(getattr(case.solver, "eps", 0.0))

    def update(self, it):
        self.over = self._next
        if it.t and not self.over:
            small = bool(self.eps) and bool(upper_value(it) - it.smallest <= self.eps)
            self._next = bool(it.smallest > 0) or small


loops = yu.sharing(MPLFP, separable, since=1, history=(_Loop,))
_BELOW = {"MPFP ends": "For ε < ρ(A), MPFP ends", r"\text{When ": r"\epsilon<\rho(A):\ \text{When "}
_FIXED = "Theorem 3(a), for ε < ρ(A)"


@loops.bound("thm3.a", "Theorem 3(a)", Erratum("substance", ".fixed"))
@loops.bound("thm3.a.fixed", _FIXED, small_epsilon, slower=_SLOW, instead=_BELOW)
def _separates_in_time(it, c):
    r"""MPFP ends after at most Ωℒ/ρ(A) + 1 iterations with a y_N that separates.

    $\text{When } \rho(A) > 0, \text{ MPFP terminates in at most } N = \frac{\Omega\mathcal
    L}{\rho(A)} + 1 \text{ iterations with a feasible solution to LDFP given by } y_N$

    Smallest witness: any data whose first y_1 does not separate them, and ε = 10: ε_sad(z_1) is at
    most Ωℒ, and the loop ends at t = 1.

    Why: It needs ε < ρ(A): otherwise the loop may end with ε_sad(z_t) ≤ ε before that.
    Survives: Everything, for ε < ρ(A): then ε_sad(z_t) ≤ ε implies φ̲(y_t) ≥ ρ(A) − ε > 0."""
    loop = c.history(_Loop)
    if loop.over:
        return fact(True, "the loop has ended")
    if loop._next:
        return fact(it.separates, "y_N separates the data where the loop ends")
    return at_most(it.t, omega_l(c) / c.gamma, "the loop goes on after t ≤ Ωℒ/ρ(A)")


@yu.bound("thm3.b", "Theorem 3(b)", MPLFP, inseparable, since=1, slower=_DESCENT)
def _certificate_in_time(it, c):
    r"""On data that are not separable, ‖Ax_t‖ ≤ Ωℒ/t: x_N is an ε-solution for N ≥ Ωℒ/ε.

    $\text{When } \rho(A) < 0, \text{ MPFP terminates in at most } N = \frac{\Omega\mathcal
    L}{\epsilon} + 1 \text{ iterations with an } \epsilon\text{-solution for LAP given by } x_N$

    It holds for ρ(A) = 0 as well. With the solver's own Ωℒ."""
    yield in_simplex(it, it.claim("x"), "x_t")
    yield at_most(upper_value(it), omega_l(c) / it.t, "‖Ax_t‖ ≤ Ωℒ/t")


@yu.direct(
    "sec6.1.certificate",
    "Section 6.1, the remark",
    Erratum("misprint", ".fixed"),
    kind="value",
    powerless=_DATA,
)
def _signed_certificate(c):
    r"""Qx* is an ε-solution of Ψx = 0, 1ᵀx = 1, x ≥ 0 wherever x* ∈ Δ_n has ‖Ψx*‖ ≤ ε.

    $\text{Otherwise, the } \epsilon\text{-inseparability certificate, i.e., an }
    \epsilon\text{-solution for KAP, is given by } Qx^*$

    Smallest witness: the point 1 with the labels 1 and −1: Ψ = (1, −1), x* = (½, ½), Ψx* = 0, but
    Qx* = (½, −½) has a negative entry, sums to 0, and ΨQx* = 1.

    Why: Qx* are the coefficients of Φ, and the problem is about those of Ψ = ΦQ.
    Survives: Everything: x* itself is the certificate, and nothing else uses Qx*."""
    yield from _kernel_certificate((Fraction(1, 2), Fraction(-1, 2)))


@yu.direct("sec6.1.certificate.fixed", "Section 6.1, with x*", kind="value", powerless=_DATA)
def _plain_certificate(c):
    r"""x* is an ε-solution of Ψx = 0, 1ᵀx = 1, x ≥ 0: for the point 1 with both labels exactly.

    $\Psi x^* = 0, \quad 1^T x^* = 1, \quad x^* \ge 0$"""
    yield from _kernel_certificate((Fraction(1, 2), Fraction(1, 2)))


def _kernel_certificate(x):
    yield fact(min(x) >= 0, "x ≥ 0")
    yield fact(sum(x) == 1, "1ᵀx = 1")
    yield fact(x[0] - x[1] == 0, "Ψx = 0")


cones = yu.sharing(kind="identity", powerless="it is about a formula", instances="two pairs")
_CONE = "Section 6.2, the second order cone"
_ROOT = {"/Σ_j (x_j − ξ_j)² where that": "/√(Σ_j (x_j − ξ_j)²) where the"}
_ROOT |= {r"{\sum_{i=1}^{n-1}(x_i-\xi_i)^2}": r"{\sqrt{\sum_i(x_i-\xi_i)^2}}"}


@cones.direct("sec6.2.prox", _CONE, Erratum("misprint", ".fixed"))
@cones.direct("sec6.2.prox.fixed", f"{_CONE}, with a root", instead=_ROOT)
def _cone_prox(c, printed):
    r"""[Prox_x(ξ)]_i = (x_i − ξ_i)/Σ_j (x_j − ξ_j)² where that sum is above 1.

    $[\mathrm{Prox}_x(\xi)]_i = \frac{x_i-\xi_i}{\sum_{i=1}^{n-1}(x_i-\xi_i)^2}\ \text{otherwise}$

    Smallest witness: n = 2, x_1 = 0, ξ_1 = −2: 1/2, where ⟨ξ, w⟩ + ½(w − x)² = −7/8; −3/2 at 1.

    Why: The root is missing; Section 5.3 has it for the same ball.
    Survives: Everything: the projection costs O(n) with the root as well."""
    # No point of the ball is better than x − ξ over the divisor.
    for x, xi in (((0.0,), (-2.0,)), ((0.5, 0.0), (3.0, -1.0))):  # exact as doubles
        target = [a - b for a, b in zip(x, xi, strict=True)]
        square = number(sum(v * v for v in target))
        over = number(1) if square <= 1 else square if printed else sqrt(square)
        # ⟨ξ, w⟩ + ½‖w − x‖² is ½‖w − (x − ξ)‖² and a constant: the distance to x − ξ counts.
        apart = sqrt(sum(((v / over - v) ** 2 for v in map(number, target)), number(0)))
        best = sqrt(square) - 1 if square > 1 else number(0)
        yield nearly(apart, best, "it is the nearest point", rounding=1e-12, size=1.0)


TRIALS = (
    *(
        Trial(solver, problem, iterations)
        for solver in ("mirror_prox", "mirror_prox:s=1")
        for problem, iterations in (
            ("planted:n=60,d=6,gamma=0.1,seed=0", 150),
            ("planted:n=40,d=5,gamma=0.01,seed=1", 300),
            ("orthogonal:n=10,p=0.95", 60),
            ("opposed:r=8,copies=20", 60),
            ("worst-case:n=50", 30),
            ("inseparable:n=40,d=5,seed=0", 100),
            ("inseparable:n=6,d=2,seed=0", 100),
            ("iris:0,1", 80),
            ("iris:0,1:n=40 --kernel rbf:gamma=1", 40),
            ("inseparable:n=20,d=3,seed=0 --kernel poly:degree=1,coef0=0", 40),
        )
    ),
    Trial("mirror_prox:eps=10", "worst-case:n=50", 30),
    Trial("mirror_prox:eps=0.01", "iris:0,1", 60),
)
