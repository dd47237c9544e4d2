"""Appendices D, Omitted Proofs from Section 4, and E, Reducing Multiclass to Binary."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from gammabar.oracle import solve
from gammabar.oracle.rational import integer_rows, whole_rows
from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *
from gammabar.papers.ji_srebro_telgarsky_2021.section4 import (
    ALG2,
    HALF,
    Run,
    horizon,
    reachable,
    run,
    tolerance,
)
from gammabar.papers.ji_srebro_telgarsky_2021.section5 import (
    ONE_POINT,
    RISK_PROBLEMS,
    Points,
    inner,
    matrix_of,
    multiclass,
)
from gammabar.problems import DenseProblem

# Appendix D: runs as Theorem 4.1 says

#: ε over γ̄ in the lemmas, whose bounds depend on ε only through t.
_LEMMAS = Fraction(4)
_lemmas = jst.sharing(
    delta=HALF / 2, runs=40, problems=("worst-case:n=5",), instances="δ = 1/2 and ε = 4γ̄"
)


def _made(case: Case, rng: np.random.Generator) -> Run:
    return run(case, rng, horizon(case, tolerance(case, _LEMMAS)))


@_lemmas.probability("lemD.1", "Lemma D.1", ALG2, reachable(_LEMMAS))
def _lemma_d1(c, rng):
    r"""Under the conditions of Theorem 4.1, with probability 1 − δ/2, the smoothed margin −ψ(Zw_t)
    is at least Σ_{j<t} θ_j ‖Zᵀq_j‖² − 2 ln n − √(8 ln(2/δ) ln n).

    $\text{with probability } 1 - \delta/2: \; -\psi(Zw_t) \ge \sum_{j=0}^{t-1} \theta_j \|Z^\top
    q_j\|_2^2 - 2\ln(n) - \sqrt{8 \ln\left(\frac{2}{\delta}\right) \ln(n)}$

    Examined for δ = 1/2 and ε = 4γ̄ (the conditions of Theorem 4.1 allow any ε > 0)."""
    made, what = _made(c, rng), "Σ θ_j ‖Zᵀq_j‖² + ψ(Zw_t) ≤ 2 ln n + √(8 ln(2/δ) ln n)"
    gained = made.theta * made.squares + made.last.psi
    lost = 2 * c.log_n + sqrt(8 * log(2 / HALF) * c.log_n)
    return at_most(gained, lost, what, where=f"t = {made.last.t}")


@_lemmas.probability("lemD.2", "Lemma D.2", ALG2, reachable(_LEMMAS))
def _lemma_d2(c, rng):
    r"""Under the conditions of Theorem 4.1, with probability 1 − δ/2, ‖w_t‖ is at most Σ_{j<t} θ_j
    ‖Zᵀq_j‖ + √(8 ln(n)/δ); and it is always at least γ̄ √(t ln n).

    $\text{with probability } 1 - \delta/2: \; \|w_t\|_2 \le \sum_{j=0}^{t-1} \theta_j \|Z^\top
    q_j\| + \sqrt{\frac{8\ln(n)}{\delta}}, \quad \text{and it always holds that } \|w_t\|_2 \ge
    \bar{\gamma} \sqrt{t \ln(n)}$

    Examined for δ = 1/2 and ε = 4γ̄ (the conditions of Theorem 4.1 allow any ε > 0). A run counts
    as a failure if either bound is violated."""
    made = _made(c, rng)
    last, t = made.last, made.last.t
    bound = made.theta * made.lengths + sqrt(8 * c.log_n / number(HALF))
    least, what, where = c.gamma * sqrt(t * c.log_n), "γ̄ √(t ln n) ≤ ‖w_t‖", f"t = {t}"
    # Rows that are all the same attain it: t rows times θ, added up in doubles.
    steps = t + c.space.dimension + 16
    return [
        at_most(last.norm, bound, "‖w_t‖ ≤ Σ θ_j ‖Zᵀq_j‖ + √(8 ln(n)/δ)", where=where),
        nearly_after(last, least, last.norm, what, beside=least, steps=steps, where=where),
    ]


# Appendix E

_reduction = jst.sharing(kind="identity", powerless="it is about the reduction, not about a solver")


def _margins(case: Case) -> Iterator[tuple[Number, Number, Number]]:
    """min −⟨z, U⟩/‖U‖ and min ⟨z, U⟩/‖U‖ over the printed rows z, and γ_m(U), for some U."""
    points, rng = Points.of(case), case.rng(53)
    if points is None:
        return
    for _ in range(2):
        U = points.draw(rng) if case.inputs is None else matrix_of(case.inputs)
        products, gaps = zip(*points.products(U), strict=True)
        length = sqrt(inner(U, U))
        yield (
            smallest([-v for v in products]) / length,
            smallest(products) / length,
            smallest(gaps) / length,
        )


@_reduction.direct(
    "appE.margin",
    "Appendix E, first claim",
    Erratum(
        severity="misprint",
        fixed_by="appE.margin.fixed",
        charitable="appE.margin.fixed",
        same_mistake="thm5.1",
        why="It is the minus of z_i = −y_i x_i again that Section 5.2 forgot.",
        survives="Everything, once the minus is there: γ̄ = γ̄_m/√2 (jst.thm5.1.margin), and "
        "Theorem 5.1, though its rate takes more than the next lines (jst.appE.rate).",
    ),
    problems=RISK_PROBLEMS,
    inputs=ONE_POINT,
)
def _margin_as_printed(c):
    r"""−max ⟨z, U⟩/‖U‖ over the printed rows z is γ_m(U)/√2, for any U.

    $\gamma(F(U)) = \gamma_{\rm m}(U)/\sqrt{2} \quad \text{for any } U, \text{ with } z_{\pi(i,j)}
    := x_i(e_{c_i}-e_j)^\top/\sqrt2$

    γ(w) = −max_i ⟨w, z_i⟩/‖w‖ (Section 2), but the proof takes min_i ⟨w, z_i⟩, and forgets the
    norm. Witness: x = 1 of the first of two classes, U = (1, 0): γ(F(U)) = −1/√2, and γ_m(U)/√2 =
    1/√2."""
    for found, _, gap in _margins(c):
        yield same_digits(found, gap / sqrt(2), "γ(F(U)) = γ_m(U)/√2")


@_reduction.direct(
    "appE.margin.fixed",
    "Appendix E, first claim, with the minus in z and the norm of U",
    problems=RISK_PROBLEMS,
    inputs=ONE_POINT,
    instances="two random U for each data set",
)
def _margin_of_reduction(c):
    r"""min ⟨−z, U⟩/‖U‖ over the rows z with their minus is γ_m(U)/√2, for any U.

    $\gamma(F(U)) = \gamma_{\rm m}(U)/\sqrt{2} \quad \text{for any } U, \text{ with } z_{\pi(i,j)}
    := -x_i(e_{c_i}-e_j)^\top/\sqrt2$

    Balls prove no equation: both sides agree in half of the digits that are carried."""
    for _, found, gap in _margins(c):
        yield same_digits(found, gap / sqrt(2), "γ(F(U)) = γ_m(U)/√2")


@_reduction.direct(
    "thm5.1.margin",
    "Theorem 5.1, first claim",
    multiclass,
    problems=("iris:0,1,2:n=30 --multiclass", "digits:0,1,2:n=30 --multiclass"),
)
def _reduced_margin(c):
    r"""γ̄_m, the maximum of γ_m(U), is √2 times the maximum margin of the reduction.

    $\text{the matrix } Z \text{ has binary margin } \bar\gamma = \bar\gamma_{\rm m}/\sqrt2$

    γ̄_m is found by itself, as the maximum margin of the rows F(x_i(e_{c_i} − e_j)ᵀ) written out,
    without the reduction and its √2; both are proved, and compared as rationals. (With the sign of
    Z that Section 5.2 forgot.)"""
    problem = c.problem.raw()
    integers, exponent = integer_rows(problem.X, np.arange(problem.N))
    rows = [
        [v * ((m == label) - (m == j)) for m in range(problem.k) for v in x]
        for x, label in zip(integers.tolist(), problem.labels.tolist(), strict=True)
        for j in range(problem.k)
        if j != label
    ]
    table = whole_rows(rows)
    if table is None:
        yield fact(None, "γ̄_m of rows that neither 64 bits nor doubles hold")
        return
    found = solve(DenseProblem(table, np.ones(len(rows), dtype=np.int64)))
    binary, square = solve(problem), found.square_lo * Fraction(4) ** exponent
    yield fact(found.exact and binary.exact, "both margins are proved")
    yield fact(square == 2 * binary.square_lo, "γ̄_m² = 2γ̄²")


#: About numbers alone: γ̄, n and t in a search.
_NUMBERS = {"gamma": rationals(0, 1, positive=True), "n": wholes(1, 10**6), "t": wholes(1, 10**6)}


def _rates(case: Case) -> Iterator[tuple[Number, Number, str]]:
    own = product((Fraction(1), Fraction(1, 10)), (1, 10, 1000), (1, 10, 1000))
    for gamma, n, t in case.instances(own):
        c = 4 * (1 + log(n)) * (1 + 2 * log(1 + t)) / (t + 1) ** 2
        yield number(gamma), c, f"n = {n}, t = {t}, γ̄ = {gamma}"


_lines = jst.sharing(
    unit=False, inputs=_NUMBERS, powerless="about numbers alone: no solver has a part in it"
)


@_lines.direct(
    "appE.rate",
    "Appendix E, last line",
    Erratum(
        severity="substance",
        fixed_by="appE.rate.fixed",
        why="γ̄ = γ̄_m/√2 turns the term into twice what is printed; the theorem itself is saved by a"
        " sharper rate (gb.sharp).",
        survives="Everything: Theorem 5.1 holds with its printed constant, though not by this "
        "line: it takes a sharper rate than Theorem 3.1 (gb.sharp).",
    ),
    kind="anytime",
)
def _last_line(case):
    r"""√2(γ̄ − c/γ̄) ≥ γ̄_m − c/γ̄_m for γ̄_m = √2γ̄ and c = 4(1 + ln n)(1 + 2 ln(1+t))/(t+1)².

    $\sqrt{2} \left[ \bar\gamma - \frac{4(1 + \ln(n))(1 + 2\ln(1 + t))}{\bar\gamma(t + 1)^2} \right]
    \ge \bar\gamma_{\rm m} - \frac{4(1 + \ln(n))(1 + 2\ln(1 + t))}{\bar\gamma_{\rm m}(t + 1)^2}$

    √2(γ̄ − c/γ̄) with γ̄ = γ̄_m/√2 is γ̄_m − 2c/γ̄_m, which is less than γ̄_m − c/γ̄_m for every c
    > 0. Witness: γ̄ = 1, n = 1, t = 1."""
    for gamma, c, where in _rates(case):
        left, best = sqrt(2) * (gamma - c / gamma), sqrt(2) * gamma
        yield at_least(left, best - c / best, "√2(γ̄ − c/γ̄) ≥ γ̄_m − c/γ̄_m", where=where)


@_lines.direct(
    "appE.rate.fixed",
    "Appendix E, last line, with a factor of two",
    kind="identity",
)
def _last_line_fixed(case):
    r"""√2(γ̄ − c/γ̄) = γ̄_m − 2c/γ̄_m for γ̄_m = √2γ̄.

    $\sqrt{2} \left[ \bar\gamma - \frac{4(1 + \ln(n))(1 + 2\ln(1 + t))}{\bar\gamma(t + 1)^2} \right]
    = \bar\gamma_{\rm m} - \frac{2 \cdot 4(1 + \ln(n))(1 + 2\ln(1 + t))}{\bar\gamma_{\rm m}(t +
    1)^2}$"""
    for gamma, c, where in _rates(case):
        left, best = sqrt(2) * (gamma - c / gamma), sqrt(2) * gamma
        yield same_digits(left, best - 2 * c / best, "√2(γ̄ − c/γ̄) = γ̄_m − 2c/γ̄_m", where=where)
