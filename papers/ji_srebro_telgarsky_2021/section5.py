"""Section 5, Other Exponentially-Tailed Losses, and Appendix E, Reducing Multiclass to Binary.

The rows of a multiclass problem are a_{π(i,j)} = x_i (e_{c_i} − e_j)ᵀ/√2, which is what Section 5.2
prints for z_{π(i,j)}. Its Algorithm 1 takes Z, and solvers here take A = −Z: on these rows they run
Algorithm 1 on −x_i (e_{c_i} − e_j)ᵀ/√2, and Algorithm 1 on the printed Z gives the same iterates
with the opposite sign, since w ↦ −w and Z ↦ −Z change nothing else.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
from flint import arb

from gammabar.oracle import solve
from gammabar.oracle.rational import integer_rows, whole_rows
from gammabar.papers.claims import *
from gammabar.papers.ji_srebro_telgarsky_2021.algorithms import LOSSES, loss
from gammabar.papers.ji_srebro_telgarsky_2021.quantities import *
from gammabar.papers.ji_srebro_telgarsky_2021.section3 import rate
from gammabar.problems import DenseProblem, MulticlassProblem

# Section 5.1, Binary Classification

#: About ψ alone.
_potentials = jst.sharing(
    kind="anytime", unit=False, powerless="a property of ψ alone: no solver has a part in it"
)


_POSITIVE = rationals(0, None, positive=True, shape=("n",))


def _points() -> Iterator[tuple[Floats, Floats]]:
    """Pairs ξ, ξ′: random ones of many sizes, and steps that spread the coordinates most."""
    rng = np.random.default_rng(51)
    for n in (1, 2, 3, 10, 40):
        for size in (1e-3, 1.0, 30.0, 800.0):
            xi = size * rng.standard_normal(n)
            for length in (1e-3, 1.0, 40.0):
                yield xi, xi + length * rng.standard_normal(n)
                yield xi, xi + length * np.resize([1.0, -1.0], n)
        for shift in (-800.0, -5.0, 0.0, 5.0):
            yield np.full(n, shift), shift + 1e-3 * np.resize([1.0, -1.0], n)
            yield np.full(n, shift), np.full(n, shift - 1.0)


@_potentials.direct("sec5.1.smooth", "Section 5.1", BOTH)
def _smooth_potential(c):
    r"""The potential ψ is ρ-smooth in the ℓ∞ norm: ρ = 1 for the exponential loss and ρ = n for the
    logistic loss.

    $\psi \text{ is } \rho\text{-smooth with respect to the } \ell_\infty \text{ norm, with } \rho =
    1 \text{ for the exponential loss, and with } \rho = n \text{ for the logistic loss}$

    ψ(ξ′) ≤ ψ(ξ) + ⟨∇ψ(ξ), ξ′ − ξ⟩ + ρ/2 ‖ξ′ − ξ‖∞² and ‖∇ψ(ξ′) − ∇ψ(ξ)‖₁ ≤ ρ ‖ξ′ − ξ‖∞, at pairs of
    points. For the logistic loss the second derivative of ψ along v is at most Σ_i v_i²
    ℓ″(ξ_i)/ℓ′(ψ(ξ)) ≤ n ‖v‖∞², since ℓ″ ≤ ℓ′ and ℓ′(ξ_i) ≤ ℓ′(ψ(ξ)); ρ = 1 is best possible for the
    exponential loss (n = 2, ξ = 0, ξ′ = (h, −h), h → 0), ρ = n is not for the logistic one. The
    sentence before calls the losses strictly decreasing; they increase.
    Instances: pairs of points of many sizes, n up to 40"""
    for name, (start, end) in product(LOSSES, _points()):
        xi, other = ([number(v) for v in point.tolist()] for point in (start, end))
        here, there = potential_gradient(xi, name), potential_gradient(other, name)
        smooth, where = len(xi) if name == "logistic" else 1, f"{name} loss, n = {len(xi)}"
        ends = zip(start.tolist(), end.tolist(), strict=True)
        far = number(max(abs(Fraction(b) - Fraction(a)) for a, b in ends))
        slope = total(g * (b - a) for g, a, b in zip(here, xi, other, strict=True))
        gap = potential(other, name) - potential(xi, name) - slope
        what = "ψ(ξ′) − ψ(ξ) − ⟨∇ψ(ξ), ξ′ − ξ⟩ ≤ ρ/2 ‖ξ′ − ξ‖∞²"
        yield at_most(gap, smooth * far**2 / 2, what, where=where)
        turned = total(abs(b - a) for a, b in zip(here, there, strict=True))
        yield at_most(turned, smooth * far, "‖∇ψ(ξ′) − ∇ψ(ξ)‖₁ ≤ ρ ‖ξ′ − ξ‖∞", where=where)


@_potentials.direct("sec5.1.gradnorm", "Section 5.1", BOTH, inputs={"k": _POSITIVE})
def _gradient_norm(c):
    r"""The gradient of ψ has ℓ₁ norm at least 1, for the exponential and the logistic loss.

    $\|\nabla\psi\|_1 \geq 1$

    Exactly, at points ξ with rational e^ξ_i, some of them as large as 2^2000 and as small as
    2^−2000. Equality for the exponential loss, and for n = 1. For the logistic loss it is the union
    bound: with σ_i = ℓ′(ξ_i), ‖∇ψ‖₁ = Σ σ_i/(1 − Π(1 − σ_i)) ≥ 1.
    Instances: points with rational e^ξ, n up to 40"""
    for (k,) in c.instances(_exponentials()):
        for name in LOSSES:
            slopes = k if name == "exponential" else [v / (1 + v) for v in k]
            # ℓ′(ℓ⁻¹(S)): S itself, and 1 − e^{−S} with e^S = Π (1 + e^ξ_i).
            whole = sum(k) if name == "exponential" else 1 - 1 / prod(1 + v for v in k)
            where = f"{name} loss, n = {len(k)}"
            yield at_least(sum(slopes) / whole - 1, 0, "‖∇ψ(ξ)‖₁ − 1 ≥ 0", where=where)


def _exponentials() -> Iterator[tuple[list[Fraction]]]:
    """e^ξ_1, …, e^ξ_n."""
    rng = np.random.default_rng(52)
    for n, bits in product((1, 2, 3, 10, 40), (0, 1, 10, 60, 2000)):
        exponents = rng.integers(-bits, bits, n, endpoint=True).tolist()
        odd = rng.integers(1, 100, n).tolist()
        yield ([Fraction(m) * Fraction(2) ** e for m, e in zip(odd, exponents, strict=True)],)


@_potentials.direct("sec5.1.normaliser", "Section 5.1, on the initial step")
def _normaliser(c):
    r"""For the logistic loss the gradient is divided by ℓ′(ψ(Zw))/n, which is at most 1/n.

    $\ell'\left(\psi(Zw)\right)/n \text{ is at most } 1/n \text{ for the logistic loss, even at
    initialization}$

    ℓ′(ψ(ξ)) = 1 − Π_i 1/(1 + e^{ξ_i}) < 1. At w = 0 it is 1 − 2⁻ⁿ: no smaller than half of the
    bound, for any n.
    Instances: points of many sizes with Σ ℓ(ξ_i) up to 1000, n up to 40, and ξ = 0"""
    for start, _ in (*_points(), *((np.zeros(n), None) for n in (1, 2, 10, 40))):
        n = len(start)
        mass = total(number(v).exp().log1p() for v in start.tolist())
        if mass > 1000:
            continue  # 1 − e^{−1000} and 1 are not told apart by 1,400 bits
        slope = -(-mass).expm1()  # ℓ′(ψ(ξ)), where ℓ(ψ(ξ)) = Σ ℓ(ξ_i)
        yield at_most(slope / n, number(1) / n, "ℓ′(ψ(ξ))/n ≤ 1/n", where=f"n = {n}")


@_potentials.direct("eqC.1", "Eq. (C.1)", inputs={"xi": rationals(shape=("n",))})
def _gradient_is_positive(c):
    r"""Every entry of ∇ψ is positive, for the exponential and the logistic loss.

    $\nabla\psi(\xi)_i = \frac{\ell'(\xi_i)}{\ell'\left(\ell^{-1}\left(\sum_{j=1}^n
    \ell(\xi_j)\right)\right)} > 0$

    The equation is eq. (2.2) for Z = I, and checked there.
    Instances: points of many sizes, n up to 40, for both losses"""
    for name in LOSSES:
        for (start,) in c.instances((start.tolist(),) for start, _ in _points()):
            xi = [number(v) for v in start]
            for slope in potential_gradient(xi, name):
                yield below(0, slope, "0 < ∇ψ(ξ)_i", where=f"{name} loss, n = {len(xi)}")


@jst.bound(
    "sec5.1.rate",
    "Section 5.1, with the constant of this project's proof",
    FAST,
    unit_ball,
    separable,
    logistic,
    since=1,
    slower=NO_MOMENTUM,
)
def _logistic_rate(it, c):
    r"""For the logistic loss γ̄ − γ(w_t) ≤ 4ρψ(0)/(γ̄ t(t+3)) for all t ≥ 1, on separable data.

    $\text{a } \widetilde{\mathcal{O}}(1/t^2) \text{ margin maximization rate for the logistic loss:
    } \bar\gamma - \gamma(w_t) \le \frac{4\rho\psi(0)}{\bar\gamma t(t+3)}$

    The paper gives no constant, and its proof one that fails (jst.eqC.13). Lemma C.7 with ‖Zᵀμ_j‖ ≥
    γ̄ gives ψ(0) − ψ(Zw_t) ≥ (γ̄²S + Y)/(2ρ), S = t(t+3)/4, and Lemma C.11 γ̄S/ρ ≤ ‖w_t‖ ≤ √(SY)/ρ;
    so ψ(0) − ψ(Zw_t) ≥ γ̄‖w_t‖, and γ̄ − γ(w_t) ≤ ψ(0)/‖w_t‖. Here ρ = n and ψ(0) = ln(2ⁿ − 1) ≤ n
    ln 2: the bad dependency on n that the section speaks of."""
    bound = 4 * rho(c) * start_potential(c) / (c.gamma * it.t * (it.t + 3))
    return at_most(c.gamma - it.margin, bound, "γ̄ − γ(w_t) ≤ 4ρψ(0)/(γ̄ t(t+3))")


# Section 5.2, Multiclass Classification


def _multiclass(case: Case) -> str | None:
    """The problem is a multiclass problem."""
    fits = isinstance(case.problem, MulticlassProblem)
    return None if fits else "the problem is no multiclass problem"


#: About the reduction; in a search, of a point of the first of two classes, and the columns of U.
reduction = jst.sharing(
    kind="identity",
    problems=("iris:0,1,2 --multiclass", "digits:0,1,2:n=30 --multiclass", ""),
    inputs={name: rationals(-1, 1, shape=("d",)) for name in ("x", "u1", "u2")},
    powerless="it is about the data and a matrix U, not about a solver",
)


_DIGITS = "Balls prove no equation: both sides agree in half of the digits that are carried."


@reduction.direct("sec5.2.risk", "Section 5.2", Erratum("misprint", ".fixed"))
@reduction.direct(
    "sec5.2.risk.fixed",
    "Section 5.2, with the sign and the factor",
    instances="one random U for each loss and data set",
    instead={
        "ℓ(F(U)": "ℓ(−√2 F(U)",
        r"\sum_{i=1}^n \ell\left(": r"\sum_{i=1}^N \sum_{j \ne c_i} \ell\left(-\sqrt2\,",
    },
    note=_DIGITS,
)
def _risk(c, printed):
    r"""R_m(U)/(k−1) = (1/n) Σ ℓ(F(U)ᵀF(z)) over the n rows z = x_i (e_{c_i} − e_j)ᵀ/√2.

    $\frac{1}{k-1}\mathcal{R}_m(U) = \frac1n \sum_{i=1}^n \ell\left(F(U)^\top
    F(z_{\pi(i,j)})\right), \quad z_{\pi(i,j)} := x_i(e_{c_i}-e_j)^\top/\sqrt2$"""
    factor = number(1) if printed else -sqrt(2)
    # U = (1, 0) for the smallest witness.
    for name, (_, pairs) in zip(LOSSES, _reduced(c, 52, balls([[1, 0]])), strict=False):
        risk = total(loss(name, -gap) for _, gap in pairs) / len(pairs)
        mean = total(loss(name, factor * value) for value, _ in pairs) / len(pairs)
        yield same_digits(risk, mean, "R_m(U)/(k−1) = (1/n) Σ ℓ(…)", where=f"{name} loss")


def _products(X: Any, labels: list[int], U: Any) -> list[tuple[Number, Number]]:
    """⟨U, z⟩ for the printed row z = x (e_c − e_j)ᵀ/√2 written out, and xᵀU(e_c − e_j)."""
    found, k = [], U.shape[1]
    for x, scores, c in zip(X, X @ U, labels, strict=True):
        for j in range(k):
            if j != c:
                z = np.outer(x, [(m == c) - (m == j) for m in range(k)]) / sqrt(2)
                found.append(((U * z).sum(), scores[c] - scores[j]))
    return found


def _reduced(case: Case, seed: int, own: Any = None) -> Iterator[tuple[Any, list[Any]]]:
    """Matrices U and their `_products` with the points of the problem: two with multiples of ⅛
    between −1 and 1, and x_i (e_{c_i} − e_j)ᵀ of the first points, as a random U may miss a row
    that has no mirror image among the others. Or U of a search; without a problem `own`, if given,
    and one point, 1, of the first of two classes.
    """
    rng, labels, k = case.rng(seed), [0], 2
    if case.inputs is not None:
        X, own = balls([case.inputs["x"]]), _matrix_of(case.inputs)
    elif case.given is None:
        X = balls([[1]])
    elif isinstance(case.problem, MulticlassProblem):
        integers, exponent = integer_rows(case.problem.X, np.arange(case.problem.N))
        X = balls(integers.tolist()) * (arb(2) ** exponent * case.space.unit_factor)
        labels, k, own = case.problem.labels.tolist(), case.problem.k, None
    else:
        return
    for _ in range(2):
        draws = rng.integers(-8, 9, (X.shape[1], k)).tolist()
        U = balls(draws) / 8 if own is None else own
        yield U, _products(X, labels, U)
    if case.inputs is not None or case.given is None:
        return
    for x, label in islice(zip(X, labels, strict=True), 8):
        if not all(value == 0 for value in x):
            for j in set(range(k)) - {label}:
                U = np.array([[v * ((c == label) - (c == j)) for c in range(k)] for v in x])
                yield U, _products(X, labels, U)


def _matrix_of(inputs: Mapping[str, Any]) -> Any:
    """U of a search."""
    if not any((*inputs["u1"], *inputs["u2"])):
        raise Unclaimed("U is zero")
    if sum(v * v for v in inputs["x"]) > 1:
        raise Unclaimed("the point has a norm above one")
    return balls([inputs["u1"], inputs["u2"]]).T


#: The unit vectors of ℝ², one of each class.
_classes = jst.sharing(THEOREM_3_1, _multiclass, separable, since=1)
_TWO_CLASSES = "degenerate:kind=simplex,n=2,d=2 --multiclass"


@_classes.bound(
    "thm5.1",
    "Theorem 5.1",
    Erratum("misprint", ".fixed"),
    problems=(_TWO_CLASSES, "planted:n=30,d=4,gamma=0.2,seed=0 --multiclass"),
)
@_classes.bound(
    "thm5.1.fixed",
    "Theorem 5.1, with a minus in the definition of z",
    slower=NO_MOMENTUM,
    instead={"z = x_i": "z = −x_i", ", without a minus": "", ":= x_i": ":= -x_i"},
)
def _multiclass_rate(it, c, printed):
    r"""γ_m(U_t) ≥ γ̄_m − 4(1 + ln n)(1 + 2 ln(t+1))/(γ̄_m (t+1)²) for every t ≥ 1, for Algorithm 1
    on rows z = x_i (e_{c_i} − e_j)ᵀ/√2, without a minus.

    $\gamma_m(U_t) \ge \bar\gamma_m - \frac{4(1+\ln(n))(1+2\ln(t+1))}{\bar\gamma_m(t+1)^2} \quad
    \text{for every } t \ge 1, \text{ with } z_{\pi(i,j)} := x_i(e_{c_i}-e_j)^\top/\sqrt2$"""
    # γ_m = √2 γ, and with the printed z U_t = −F⁻¹(w_t).
    best, margin = sqrt(2) * c.gamma, -it.largest / it.norm if printed else it.margin
    what = "γ̄_m − γ_m(U_t) ≤ the rate"
    return at_most(best - sqrt(2) * margin, rate(c, it.t, best), what)


# Appendix E


@reduction.direct(
    "appE.margin", "Appendix E, first claim", Erratum("misprint", ".fixed", same_mistake="thm5.1")
)
@reduction.direct(
    "appE.margin.fixed",
    "Appendix E, first claim, with the minus in z and the norm of U",
    instances="two random U for each data set, and those of its first rows",
    words="min ⟨−z, U⟩/‖U‖ over the rows z with their minus is γ_m(U)/√2, for any U.",
    instead={":= x_i": ":= -x_i"},
    note=_DIGITS,
)
def _margin(c, printed):
    r"""−max ⟨z, U⟩/‖U‖ over the printed rows z is γ_m(U)/√2, for any U.

    $\gamma(F(U)) = \gamma_{\rm m}(U)/\sqrt{2} \quad \text{for any } U, \text{ with } z_{\pi(i,j)}
    := x_i(e_{c_i}-e_j)^\top/\sqrt2$"""
    for U, pairs in _reduced(c, 53):
        length, (values, gaps) = sqrt((U * U).sum()), zip(*pairs, strict=True)
        left = smallest([-v if printed else v for v in values]) / length
        right = smallest(gaps) / length / sqrt(2)
        yield same_digits(left, right, "γ(F(U)) = γ_m(U)/√2")


@reduction.direct(
    "thm5.1.margin",
    "Theorem 5.1, first claim",
    _multiclass,
    problems=("iris:0,1,2:n=30 --multiclass", "digits:0,1,2:n=30 --multiclass"),
    inputs={},
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
_lines = jst.sharing(
    unit=False,
    inputs={"gamma": rationals(0, 1, positive=True), "n": wholes(1, 10**6), "t": wholes(1, 10**6)},
    powerless="about numbers alone: no solver has a part in it",
)


@_lines.direct("appE.rate", "Appendix E, last line", Erratum("substance", ".fixed"), kind="anytime")
@_lines.direct(
    "appE.rate.fixed",
    "Appendix E, last line, with a factor of two",
    kind="identity",
    instead={
        "≥ γ̄_m − c": "= γ̄_m − 2c",
        r"\ge \bar\gamma_{\rm m} - \frac{4": r"= \bar\gamma_{\rm m} - \frac{2 \cdot 4",
    },
)
def _last_line(case, printed):
    r"""√2(γ̄ − c/γ̄) ≥ γ̄_m − c/γ̄_m for γ̄_m = √2γ̄ and c = 4(1 + ln n)(1 + 2 ln(1+t))/(t+1)².

    $\sqrt{2} \left[ \bar\gamma - \frac{4(1 + \ln(n))(1 + 2\ln(1 + t))}{\bar\gamma(t + 1)^2} \right]
    \ge \bar\gamma_{\rm m} - \frac{4(1 + \ln(n))(1 + 2\ln(1 + t))}{\bar\gamma_{\rm m}(t + 1)^2}$"""
    own = product((Fraction(1), Fraction(1, 10)), (1, 10, 1000), (1, 10, 1000))
    for gamma, n, t in case.instances(own):
        c = 4 * (1 + log(n)) * (1 + 2 * log(1 + t)) / (t + 1) ** 2
        where, gamma = f"n = {n}, t = {t}, γ̄ = {gamma}", number(gamma)
        left, best = sqrt(2) * (gamma - c / gamma), sqrt(2) * gamma
        if printed:
            yield at_least(left, best - c / best, "√2(γ̄ − c/γ̄) ≥ γ̄_m − c/γ̄_m", where=where)
        else:
            what = "√2(γ̄ − c/γ̄) = γ̄_m − 2c/γ̄_m"
            yield same_digits(left, best - 2 * c / best, what, where=where)
