"""Section 2, Linear Feasibility Problems: perceptrons, normalised margins, Winnow; equation (1)."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from gammabar.oracle import solve
from gammabar.oracle.l1 import solve_l1
from gammabar.oracle.rational import integer_rows
from gammabar.oracle.result import Truth
from gammabar.oracle.signed import signed_margin
from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.small_data import *
from gammabar.problems import DenseProblem, Kernel, KernelProblem, SparseProblem

# 2.1 Perceptron


@rp.stopping(
    "perceptron",
    "Section 2.1",
    Method("perceptron", "normalized-perceptron"),
    separable,
    slower="perceptron/starts-with-the-sum",
)
def _perceptron(case):
    r"""The perceptron separates separable data after at most max_i ‖x_i‖²/ρ² mistakes.

    $YX^\top u \ge \rho > 0,\ \|u\|_2 = 1 \;\Rightarrow\; \text{a perfect separator in }\frac{\max_i
    \|x_i\|_2^2}{\rho^2}\text{ iterations/mistakes}$

    Any unit vector u with positive margin gives a bound; checked is the smallest of them, ρ = γ̄.
    Also for updates with the point that is misclassified by the largest amount, and for Algorithm
    2, which has the same guarantees (remark in Section 2.1)."""
    return case.mistake_bound


# 2.2 Normalized Margins


def linear(case: Case) -> str | None:
    """The data are points of ℝ^d, none of which is the origin."""
    if not isinstance(case.problem, DenseProblem | SparseProblem):
        return "this is about points of ℝ^d"
    seen = (case.problem.X != 0).sum(axis=1) > 0  # |−128| of a byte is −128
    return None if np.all(seen) else "a point at the origin cannot be normalised"


def _suprema(case: Case) -> Iterator[tuple[Any, Any, str]]:
    """sup_{‖w‖ = 1} and sup_{‖w‖ ≤ 1} of min_i ⟨a_i, w⟩, for rows of norm one.

    Over the ball the supremum is the distance of the origin to the hull of the rows; over the
    sphere it is the same if that is positive, and else minus the distance to the nearest facet.
    """
    if case.given is None:
        for name, rows in SEPARABLE.items():  # squares
            truth, _ = _solved(rows)
            # ‖w̄‖ for the w̄ = Aᵀq̄ of the oracle; w̄/‖w̄‖ has the value min_i ⟨a_i, w̄⟩/‖w̄‖.
            w = over(truth.numerators, truth.total) @ rows[list(truth.support)]
            yield min(rows @ w) ** 2 / (w @ w), w @ w, name
        for name, rows in INSEPARABLE.items():
            square = signed_margin(*integers_of(rows)).rho_squared_hi
            yield -sqrt(number(square)), number(0), name
        return
    found = signed_normalised(case.problem)
    if found is not None:
        yield signed_ball(found), number(0), case.name


def _solved(rows: Array) -> tuple[Truth, Fraction]:
    """The oracle's answer for rows of integers, and the unit in which these are the given ones."""
    integers, scale = integers_of(rows)
    return solve(DenseProblem(np.array(integers), np.ones(len(rows), dtype=np.int64))), scale


def _own_or_inseparable(case: Case) -> str | None:
    """Data that it brings itself, or points of ℝ^d that are not separable."""
    return None if case.given is None else linear(case) or inseparable(case)


balls = data.sharing(_own_or_inseparable)


@balls.direct(
    "sec2.2.ball", "Section 2.2, first remark", Erratum("edge case", ".fixed"), on_data=True
)
@balls.direct(
    "sec2.2.ball.fixed",
    "Section 2.2, first remark, with ≥ in place of >",
    problems=("", "gaussian:n=20,d=3,seed=0", "degenerate:kind=opposite"),
    instead={"ρ₂ > 0": "ρ₂ ≥ 0", r"\rho_2 > 0": r"\rho_2 \ge 0"},
)
def _ball(case, printed):
    r"""The supremum over the unit sphere that defines ρ₂ equals that over the ball iff ρ₂ > 0.

    $\sup_{\|w\|_2=1} \text{ is equivalent to } \sup_{\|w\|_2\le 1}\text{ iff } \rho_2 > 0$"""
    yes, no, symbol = (gt, le, ">") if printed else (ge, lt, "≥")
    for sphere, ball_, where in _suprema(case):
        sign = True if yes(sphere, 0) else False if no(sphere, 0) else None
        same = True if sphere is ball_ or sphere == ball_ else False if sphere != ball_ else None
        known = None if same is None or sign is None else same == sign
        yield fact(known, f"the suprema are equal ⟺ ρ₂ {symbol} 0", where=where)


@unit.stopping(
    "normalized",
    "Section 2.2",
    Method("normalized-perceptron"),
    norm_one,
    separable,
    slower="normalized-perceptron/starts-with-the-sum",
)
def _normalized(case):
    r"""On rows of norm one the Normalized Perceptron separates after at most 1/ρ₂² iterations.

    $\rho_2 > 0 \;\Rightarrow\; \text{a perfect separator in } \frac{1}{\rho_2^2}\text{ iterations,
    on } X_2$"""
    return case.mistake_bound


@data.direct(
    "sec2.2.order",
    "Section 2.2, second remark",
    lambda case: None if case.given is not None else "no data",
    linear,
    separable,
    problems=(
        "iris:0,1",
        "two-lines:r=3,n=20",
        "planted:n=40,d=4,gamma=0.1,seed=0",
        "gaussian:n=20,d=3,seed=1,separable=1",
        "loss-spike",
    ),
)
def _order(case):
    r"""For separable data ρ/max_i ‖x_i‖ ≤ ρ₂: normalising never makes the bound worse.

    $\frac{\rho}{\max_i\|x_i\|_2} = \min_i\frac{y_i x_i^\top u^*}{\max_i\|x_i\|_2}\le
    \min_i\frac{y_i x_i^\top u^*}{\|x_i\|_2} \le\sup_{\|u\|_2=1}\min_i\frac{y_i x_i^\top
    u}{\|x_i\|_2} = \rho_2$"""
    truth = case.truth
    signed, exponent = signed_rows(case.problem)
    rows = array(signed) * Fraction(2) ** exponent
    scores = rows @ (array(case.q_bar) @ rows)  # ⟨a_i, Aᵀq̄⟩ = γ̄ ⟨a_i, u*⟩
    yield fact(min(scores) == truth.square_lo, "ρ = min_i y_i x_iᵀu*")
    # The square of min_i y_i x_iᵀu*/‖x_i‖: all scores are positive.
    middle = min(scores**2 / (rows**2).sum(axis=1)) / truth.square_lo
    left = truth.square_lo / truth.radius_squared
    yield at_most(left / middle, 1, "(ρ/max‖x‖)² ≤ (min_i y_i x_iᵀu*/‖x_i‖)², as a ratio")
    problem = case.problem
    normal = solve(KernelProblem(problem.X, problem.y, Kernel("linear"), normalised=True))
    if normal.square_hi < middle:
        yield at_most(middle, normal.square_hi, "(min_i y_i x_iᵀu*/‖x_i‖)² ≤ ρ₂²")
    elif normal.square_lo >= middle:  # or else u* is as good as the enclosure of ρ₂ can tell
        yield at_most(middle, normal.square_lo, "(min_i y_i x_iᵀu*/‖x_i‖)² ≤ ρ₂²")


def _on_two_lines(case: Case) -> str | None:
    """Positive points on 6x₂ = 8x₁, negative ones on 8x₂ = 6x₁, in ℝ²₊, with several norms."""
    why = "the points are not on the two lines of the example"
    if linear(case) is not None or case.problem.dimension != 2:
        return why
    X, _ = integer_rows(case.problem.X, np.arange(case.n))
    first, second = (X[:, j].astype(object) for j in (0, 1))
    plus = np.asarray(case.problem.y) > 0
    sides = np.where(plus, 6 * second - 8 * first, 8 * second - 6 * first)
    return None if not sides.any() and (X > 0).all() and plus.any() and not plus.all() else why


@rp.direct(
    "sec2.2.example",
    "Section 2.2, example",
    lambda case: None if case.given is not None else "no data",
    _on_two_lines,
    kind="value",
    problems=("two-lines:r=3", "two-lines:r=1.5,n=12", "two-lines:r=20,n=30"),
    powerless="it is about the data alone",
)
def _example(case):
    r"""Points of norms from 1/r to r on two lines: the separator is x₁ = x₂, ρ₂ ≈ 0.14, ρ ≈ 0.14/r,
    max ‖x‖ = r, and the two bounds differ by a factor of r⁴.

    $\rho_2 \approx 0.14,\quad \rho \approx 0.14/r,\quad \max_i\|x_i\|_2 = r,\quad\text{a
    discrepancy of } r^4$

    The unit of length is that in which the norms lie between 1/r and r; 0.14 is 1/√50 = 0.1414… to
    two decimals."""
    truth = case.truth
    signed, exponent = signed_rows(case.problem)
    rows, labels = array(signed) * Fraction(2) ** exponent, case.problem.y.tolist()
    squares, norms = rows**2, (rows**2).sum(axis=1)
    # In a unit of length l the norms lie between 1/r and r if l⁴ is the product of the extreme
    # squared norms; here are l² and r².
    product_ = min(norms) * max(norms)
    unit = Fraction(math.isqrt(product_.numerator), math.isqrt(product_.denominator))
    r = max(norms) / unit
    yield fact(unit**2 == product_ and r > 1, "norms from 1/r to r, with r > 1")
    across = min(rows[:, 1] - rows[:, 0]) ** 2 / 2
    yield fact(across == truth.square_lo, "the maximum-margin separator is x₁ = x₂")
    made = {(*row, s) for row, s in zip(squares / norms[:, None], labels, strict=True)}
    expected = {(*over((9, 16), 25), 1), (*over((16, 9), 25), -1)}
    yield fact(made == expected, "normalised points are (0.6, 0.8) and (0.8, 0.6)")
    normalised, scale = _solved(array([over((3, 4), 5), over((-4, -3), 5)]))
    second, first = sqrt(number(normalised.square_lo * scale**2)), sqrt(truth.square_lo / unit)
    printed, half = number(Fraction(14, 100)), number(Fraction(5, 1000))  # of the last digit
    yield at_most(abs(second - printed), half, "ρ₂ ≈ 0.14")
    yield at_most(abs(first * sqrt(number(r)) - printed), half, "r ρ ≈ 0.14")
    factor = r * Fraction(1, 50) / (truth.square_lo / unit)
    yield fact(factor == r**2, "(max‖x‖²/ρ²)/(1/ρ₂²) = r⁴")


# 2.2, Winnow


class _L1Margin:
    """Bounds of ρ₁ = max_{w ∈ Δ_d} min_i ⟨a_i, w⟩/‖a_i‖_∞, made once for a case."""

    def __init__(self, case: Case) -> None:
        rows, _ = signed_rows(case.problem)
        largest = [max(map(abs, row)) or 1 for row in rows]
        common, error = math.lcm(*largest), Fraction(0)
        if common.bit_length() > BITS:  # rounded: w sums to one, so ρ₁ moves by 2⁻ᵇ at most
            common, error = 2**BITS, Fraction(1, 2**BITS)
        scaled = [[v * common // m for v in row] for row, m in zip(rows, largest, strict=True)]
        found = solve_l1(scaled, Fraction(1, common), signed=False)
        self.low, self.high = found.value_lo - error, found.value_hi + error

    def ball(self) -> Number:
        return between(number(self.low), number(self.high))


def _searched(case: Case) -> str | None:
    """Some u with non-negative coordinates separates the points."""
    if not isinstance(case.problem, DenseProblem | SparseProblem):
        return "this is about points of ℝ^d"
    found = case.history(_L1Margin).low > 0
    return None if found else "no u with non-negative coordinates separates the data"


WINNOW = Method("winnow", assumes=(_searched,))


@rp.stopping(
    "winnow",
    "Section 2.2, Winnow",
    WINNOW,
    Erratum("substance", ".fixed"),
    problems=("degenerate:kind=collinear,n=1,d=2,seed=25",),
)
def _winnow(case):
    r"""Winnow separates within log n/ρ₁² iterations.

    $u \in \mathbb{R}_+^d,\ YX^\top u \ge \rho > 0 \;\Rightarrow\; \text{feasibility in }\|u\|_1^2
    \max_i\|a_i\|_\infty^2 \log n/\rho^2 \text{ iterations};\quad\text{normalised: } \log
    n/\rho_1^2$"""
    return log(case.n) / case.history(_L1Margin).ball() ** 2


def _slow_enough(case: Case) -> str | None:
    """A constant rate is below 2ρ₁."""
    rate = getattr(case.solver, "rate", None)
    good = rate is None or Fraction(rate) < 2 * case.history(_L1Margin).low
    return None if good else "the rate is not below 2ρ₁"


@rp.stopping(
    "winnow.fixed",
    "Section 2.2, Winnow, with log d and constants",
    WINNOW,
    _slow_enough,
    slower="winnow/additive",
)
def _winnow_fixed(case):
    r"""Winnow separates within 4 log d/ρ₁² iterations, or log d/(η ρ₁ − η²/2) for a constant η.

    $\frac{4\log d}{\rho_1^2} \text{ iterations for } \eta_t = \sqrt{\log d/(t+1)},\quad\frac{\log
    d}{\eta\rho_1 - \eta^2/2} \text{ for a constant } \eta < 2\rho_1$

    Proved in the docstring of the solver; the paper prints neither the update nor its rate.
    """
    d, rho_1 = case.problem.dimension, case.history(_L1Margin).ball()
    rate = getattr(case.solver, "rate", None)
    if rate is None:
        return 4 * log(d) / rho_1**2
    eta = number(rate)
    return log(d) / (eta * rho_1 - eta**2 / 2)


UNITS = ((1, 0), (0, 1), (-1, 0), (Fraction(3, 5), Fraction(-4, 5)))
#: In a search w and x are both of norm one.
signs = rp.sharing(
    kind="identity",
    inputs={name: rationals(-1, 1, shape=("d",)) for name in ("w", "x")},
    powerless="it is about signs, not about a solver",
)


@signs.direct("eq1", "equation (1)", Erratum("edge case", ".fixed"))
@signs.direct(
    "eq1.fixed",
    "equation (1), with > in place of ≥",
    words="For a unit vector w, y_i wᵀx_i > 0 is the same as sign(wᵀx_i) = y_i, with sign(0) = 0.",
    instead={r"\ge 0": "> 0"},
)
def _eq1(case, printed):
    r"""For a unit vector w, y_i wᵀx_i ≥ 0 is the same as sign(wᵀx_i) = y_i.

    $y_i(w^\top x_i) \ge 0 \quad\text{i.e.}\quad \operatorname{sign}(w^\top x_i) = y_i$"""
    agrees, symbol = (ge, "≥") if printed else (gt, ">")
    for w, x in case.instances(product(UNITS, product((-1, 0, 2), (-3, 0, 1)))):
        if dot(w, w) != 1 or (case.inputs is not None and dot(x, x) != 1):
            raise Unclaimed("w or x is not of norm one")
        shown, score = (f"({', '.join(map(str, v))})" for v in (w, x)), Fraction(dot(w, x))
        where = "w = {}, x = {}, y = ".format(*shown)
        for y in (1, -1):
            same = agrees(y * score, 0) == ((score > 0) - (score < 0) == y)
            yield fact(same, f"y wᵀx {symbol} 0 ⟺ sign(wᵀx) = y", where=f"{where}{y}")
