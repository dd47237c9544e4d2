"""Ji, Srebro and Telgarsky (2021): printed numbers, and what their statements are made of."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import cycle, product
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings, strategies as st
from statement_checks import STATEMENTS, relations, verdict

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import number, working
from gammabar.papers.gammabar import jst_rates
from gammabar.papers.ji_srebro_telgarsky_2021.algorithms import potential, potential_gradient
from gammabar.papers.ji_srebro_telgarsky_2021.appendix_ab import _WORLDS
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import ONE_ROW, Logistic
from gammabar.papers.ji_srebro_telgarsky_2021.section4 import horizon
from gammabar.problems import MulticlassProblem, from_arrays
from gammabar.problems.specs import open_problem
from gammabar.solvers import DualAcceleration, DualForm

TWO_ROWS = "planted:n=2,d=1,gamma=0.5"  # in the unit ball: 1/2 and 1, up to the sign
DUAL, LOGISTIC = "dual-acceleration-dual", "dual-acceleration-dual:loss=logistic"


# --- printed numbers -----------------------------------------------------------------------------


def test_printed_constants() -> None:
    """n = 3, γ̄ = 1/2, t = 4: every bound by hand."""
    text, t, n, gamma = "planted:n=3,d=2,gamma=0.5,seed=0", 4, 3, 0.5
    problem = open_problem(text)
    run = zip(DualAcceleration().iterates(problem.unit()), range(t + 1), strict=False)
    w = [it.w for it, _ in run][t]
    margin, length, log = problem.unit().margin(w), problem.norm(w), math.log(n)
    rate = 4 * (1 + log) * (1 + 2 * math.log(5)) / (gamma * 25)
    for identifier, left, right in (
        ("jst.thm3.1.1", gamma - margin, rate),
        ("jst.prop3.7", gamma / 2 - margin, 4 * log / (gamma * 25)),
        ("jst.prop3.7.fixed", gamma / 2 - margin, 4 * log / (gamma * 25)),
        ("gb.sharp", gamma - margin, 4 * log / (gamma * 4 * 7)),
        ("gb.selfcert", gamma - margin, log / length),
        ("jst.lem3.6.lower", gamma * 7, length),  # Σ_{j<4} 1/λ_j = 1 + 3/2 + 2 + 5/2
    ):
        found = relations(identifier, DualAcceleration(), text, t)[0]
        sides = float(found.left), float(found.right)
        assert sides == pytest.approx((left, right), rel=1e-12, abs=1e-12), identifier


def test_bounds_from_the_sequences_written_out() -> None:
    """Lemmas 3.2, 3.5 and 3.6 and Theorem 3.1(2) against sums over the weights themselves."""
    text, t = "planted:n=6,d=3,gamma=0.3,seed=2", 5
    problem = open_problem(text).unit()
    log, lam = math.log(problem.n), [2 / (j + 2) for j in range(t + 1)]
    run = [it for it, _ in zip(DualForm().iterates(problem), range(t + 1), strict=False)]
    mu = [problem.norm(problem.combine(it.extra["mu"])) ** 2 for it in run]
    nu = [problem.norm(problem.combine(it.extra["nu"])) for it in run]
    bound = mu[t] / (2 * lam[t - 1] ** 2) + sum(nu[j] ** 2 / (2 * lam[j]) for j in range(t))
    for j in range(1, t):
        bound += (1 / lam[j - 1] ** 2 - (1 - lam[j]) / lam[j] ** 2) / 2 * mu[j]
    psi = problem.softmin(run[t].w).logsumexp
    long = sum(nu[j] / lam[j] for j in range(t))
    wanted = [
        ("jst.lem3.5", 0, bound, log - psi),
        ("jst.lem3.6.upper", 0, problem.norm(run[t].w), long),
        ("jst.lem3.2", 0, (mu[t] - 0.09) / 2, 4 * log / 36),
        ("jst.thm3.1.2", -2, mu[t] - 0.09, 8 * log / 36),
        ("jst.thm3.1.2", -1, 0.09, mu[t]),
    ]
    for solver in (DualAcceleration(), DualForm()):
        for identifier, place, left, right in wanted:
            found = relations(identifier, solver, text, t)[place]
            assert (float(found.left), float(found.right)) == pytest.approx((left, right), rel=1e-9)


def test_appendix_c_with_the_logistic_loss() -> None:
    """Eq. (C.13) and both bounds of ‖w_t‖ after it, with ρ = n, from the sequences."""
    text, t, solver = "planted:n=6,d=3,gamma=0.3,seed=2", 4, DualForm(loss="logistic")
    problem = open_problem(text).unit()
    run = [it for it, _ in zip(solver.iterates(problem), range(t + 1), strict=False)]
    lam = [2 / (j + 2) for j in range(t)]
    mu, nu = (
        [problem.norm(problem.combine(it.extra[name])) for it in run] for name in ("mu", "nu")
    )
    ends = sum(problem.norm(problem.combine(run[j].dual)) for j in (0, t))
    squares = sum((mu[j + 1] ** 2 + nu[j] ** 2) / lam[j] for j in range(t))
    gained = squares / (2 * problem.n) - problem.scores(run[t].w).min()
    rest, length = sum(mu[j + 1] / lam[j] for j in range(t)), problem.norm(run[t].w)
    for identifier, place, left, right in (
        ("jst.eqC.13", 0, gained, math.log(problem.n) * (1 + 2 * math.log(t + 1))),
        ("jst.appC.length", 0, length, (ends + rest) / problem.n),
        ("jst.appC.length", 1, ends, 2),
        ("jst.appC.length", 2, length, (2 + rest) / problem.n),
    ):
        found = relations(identifier, solver, text, t)[place]
        sides = float(found.left), float(found.right)
        assert sides == pytest.approx((left, right), rel=1e-9), (identifier, place)


COPIES = "duplicated:n=2,d=1,copies=500,gamma=1"
ONE_POINT = MulticlassProblem(np.array([[1.0]]), np.array([0]), k=2)
LN2, LN3 = math.log(2), math.log(3)
#: Statement, solver, problem, iterations; t of the refutation, if there is one, and both sides.
BY_HAND = [
    ("sec1.quarter", "dual-acceleration", ONE_ROW, 5, 0, None, None),
    ("prop3.7", "dual-acceleration", ONE_ROW, 5, 0, 0.5, 0.0),
    ("lem3.4.mu", "dual-acceleration", ONE_ROW, 5, 1, 3.0, 0.0),  # Zᵀμ_1 = −1 and 2q_1 = 2
    ("eqB.6", DUAL, TWO_ROWS, 1, 1, 3 / 16, 0.0),
    ("eqB.11", None, None, 0, None, 2.5, 3.0),  # λ_t = 2/(t+2), t = 1
    # The note has both sides times 2ρ.
    ("lemC.12.sum", "dual-acceleration:loss=logistic", COPIES, 2, 2, 20.4656425, 15.1778895),
    # γ̄_m − γ_m(U_1) for N = 1, k = 2, d = 1.
    ("thm5.1", "dual-acceleration", ONE_POINT, 3, 1, math.sqrt(8), (1 + math.log(4)) / 2**0.5),
    # With D = ln 2 at t = 1; for the logistic loss ρ = 2 and D(q̄, q_0) = ψ(0) = ln 3.
    *(
        (f"lemC.12.sum{fixed}", DUAL, TWO_ROWS, 1, None, None, 2 * LN2**2)
        for fixed in ("", ".fixed")
    ),
    ("lemC.12.sum", LOGISTIC, TWO_ROWS, 1, None, None, 2 * LN2**2),
    ("lemC.12.sum.fixed", LOGISTIC, TWO_ROWS, 1, None, None, 2 * LN3 * LN2),
    ("lemC.2", DUAL, TWO_ROWS, 1, None, None, LN2),
    ("lemC.2", LOGISTIC, TWO_ROWS, 1, None, None, 2 * LN3),
]


@pytest.mark.parametrize(("name", "solver", "problem", "last", "t", "left", "right"), BY_HAND)
def test_both_sides_by_hand(name, solver, problem, last, t, left, right) -> None:
    found = verdict(f"jst.{name}", solver, problem, last)
    if t is not None:
        assert (found.verdict, found.worst_t) == ("refuted", t)
    for shown, wanted in ((found.left, left), (found.right, right)):
        if wanted is not None:  # the middle of the ball that a verdict shows
            assert float(arb(shown)) == pytest.approx(wanted, rel=1e-7, abs=1e-12)


def test_the_smoothness_of_the_potential_is_nearly_attained() -> None:
    assert 0.999999 < verdict("jst.sec5.1.smooth").tightness < 1


@pytest.mark.parametrize(
    ("text", "limit", "after_a_step"),
    [("planted:n=3,d=2,gamma=0.5,seed=0", *[8 * math.sqrt(LN3)] * 2), (ONE_ROW, 0, 1)],
)
def test_limits_of_a_quarter_of_the_margin(text, limit, after_a_step) -> None:
    case = Case(open_problem(text), DualAcceleration(), unit=True)
    found = [float(STATEMENTS[f"jst.sec1.quarter{fixed}"].body(case)) for fixed in ("", ".fixed")]
    assert found == pytest.approx([limit, after_a_step])


# --- quantities ----------------------------------------------------------------------------------


def test_clipping_is_the_gradient_of_the_conjugate() -> None:
    """⟨p, q⟩ − ω(q) is largest at ∇ω*(p), among the corners and points on the way to them."""
    p = np.array([Fraction(1, 3), -Fraction(5, 7)])
    for world, part in product(_WORLDS.values(), (Fraction(1, 100), Fraction(1))):
        for corner in world.points():
            q = (1 - part) * world.back(p) + part * corner.q
            assert p @ q - world.metric @ (q * q) / 2 <= world.conjugate(p)


@settings(max_examples=60)
@given(st.lists(st.floats(-900, 900), min_size=1, max_size=12), st.sampled_from([0.0, 1e-12, 1e-6]))
def test_logistic_potential_in_doubles(scores: list[float], error: float) -> None:
    off = [s + e for s, e in zip(scores, cycle([error, -error]))]
    with working(320):
        xi = [-number(s) for s in off]
        true, weights = potential(xi, "logistic"), potential_gradient(xi, "logistic")
        found = Logistic(np.array(scores), error * 1.001)
        assert found.psi.overlaps(true)
        pairs = zip(found.weights.tolist(), weights, strict=True)
        wrong = sum(abs(number(a) - b) for a, b in pairs)
        assert wrong <= found.relative * number(float(found.weights.sum()))
        assert sum(weights) >= 1 or len(scores) == 1 or abs(sum(weights) - 1) < 1e-80


# --- Theorem 4.1 and its lemmas, exactly ---------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", "1/2"), ("3", "1/5"), ("1/10", "1/100")])
def test_horizon_of_theorem_4_1(epsilon: str, delta: str) -> None:
    eps, chance = Fraction(epsilon), Fraction(delta)
    first = (32 * math.log(5) + 64 * math.log(2 / chance)) * 5 / eps**2  # γ̄² = 1/5
    printed = max(math.ceil(first), math.ceil(32 / (chance * eps**2)))
    assert horizon(Case(open_problem("worst-case:n=5"), unit=True), eps, chance) == printed


@pytest.mark.parametrize(
    ("n", "gamma", "shares"), [(12_665, "0.1", (0.49, 0.44)), (100, "0.3", (0.45, 0.39))]
)
def test_how_many_of_the_steps_of_theorem_4_1_are_enough(n, gamma, shares) -> None:
    case = SimpleNamespace(log_n=arb(n).log(), gamma_squared=number(Fraction(gamma) ** 2))
    epsilon = Fraction(gamma) / 100
    for delta, share in zip((Fraction(1, 2), Fraction(1, 10)), shares, strict=True):
        steps = jst_rates._enough(case, epsilon, delta)
        assert round(steps / horizon(case, epsilon, delta), 2) == share


SAMPLED = ("jst.thm4.1", "jst.thm4.1.fixed", "jst.thm4.1.delta", "jst.lemD.1", "jst.lemD.2")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 5),
    st.sampled_from([0, 2, 5, 8, 16, 150, 300]),
    st.sampled_from([0, -300, 300]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([{}, {"kernel": "rbf:gamma=1"}]),
)
def test_a_small_margin_asks_for_no_endless_run(n, narrow, scale, seed, kernel) -> None:
    """The t of Theorem 4.1 grows like 1/γ̄⁴: beyond what can be run, the statement is not put."""
    X = np.random.default_rng(seed).integers(-3, 4, (n, 2)).astype(float)
    y = np.where(np.arange(n) % 2, 1, -1)
    X[:, 0] = 10.0**-narrow * y
    X[:, 1] += np.sign(X[:, 1] - 0.5)
    case = Case(from_arrays(X * 10.0**scale, y, **kernel), unit=True)
    for identifier in (*SAMPLED, "gb.sampling", "jst.thm4.1.tenth") if case.separable else ():
        *_, few_steps = STATEMENTS[identifier].assumes
        with working(128):
            said = few_steps(case)
        # ε is about 4γ̄ at most, so that t is at least 18 ln(2)/(16 γ̄⁴).
        assert said is not None or case.truth.gamma_hi**4 > 0.7 / 100_000
