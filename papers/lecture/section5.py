"""Section 5, Kernels: A Brief Introduction: ridge regression, Example 9, Theorems 10 and 11.

Everything but what the solver delivers is exact: integers and rationals.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
from flint import arb_mat, fmpq_mat

from gammabar.papers.claims import *
from gammabar.papers.lecture.descent import QuadraticTarget
from gammabar.papers.lecture.quantities import *
from gammabar.papers.lecture.ridge import *

IDENTITY = lec.sharing(kind="identity")

# Closed form solution

LINES = (
    "∇_α = 0",
    "2Kᵀ(Kα − y) + 2λKα = 0",
    "Kᵀ((K + λI)α − y) = 0",
    "(K + λI)α = y",
    "α = (K + λI)⁻¹y",
)
#: Φ, y, α and λ in a search.
RIDGES = {
    "features": rationals(-9, 9, shape=("n", "m")),
    "y": rationals(-9, 9, shape=("n",)),
    "alpha": rationals(-9, 9, shape=("n",)),
    "lambda": rationals(positive=True),
}


def _regressions(case: Case) -> Iterator[tuple[Regression, str, fmpq_mat]]:
    """Regressions, each with vectors α."""
    if case.inputs is None:
        pairs = [(r, r.candidates()) for r in every_regression()]
    else:
        features, y, alpha, strength = case.inputs.values()
        r = Regression([list(v) for v in features], list(y), strength)
        pairs = [(r, [vector(alpha)])]
    for r, candidates in pairs:
        for a in candidates:
            yield r, f"{r.name}, α = {[str(v) for v in a.entries()]}", a


CLOSED = "Section 5, closed form solution"
CLOSED_FORM = IDENTITY.sharing(inputs=RIDGES)


@CLOSED_FORM.direct("ridge", CLOSED, Method("kernel-ridge"), Erratum("substance", ".fixed"))
def _ridge_as_printed(c):
    r"""The gradient of the dual objective vanishes if and only if α = (K + λI)⁻¹y, by four
    equivalences.

    $\nabla_{\alpha} (\|K\alpha - y\|_2^2 + \lambda \alpha^T K \alpha) = 0
    \iff 2K^T(K\alpha - y) + 2\lambda K\alpha = 0 \iff K^T((K + \lambda I)\alpha - y) = 0
    \iff (K + \lambda I)\alpha = y \iff \alpha = (K + \lambda I)^{-1}y
    \implies w^* = \Phi^T \alpha = \Phi^T (K + \lambda I)^{-1}y$"""
    for r, where, alpha in _regressions(c):
        for (a, b), (one, other) in zip(pairwise(LINES), pairwise(r.chain(alpha)), strict=True):
            yield fact(one == other, f"{a} ⟺ {b}", where=where)


@CLOSED_FORM.direct("ridge.fixed", f"{CLOSED}, with ⟸ for the third ⟺", RIDGE)
def _ridge(c):
    r"""Every α at which the gradient of the dual objective vanishes gives the primal solution, and
    α = (K + λI)⁻¹y is one of them, the only one if K is regular.

    $\nabla_{\alpha} = 0 \iff K^T((K + \lambda I)\alpha - y) = 0 \Longleftarrow
    (K + \lambda I)\alpha = y, \text{ with} \iff \text{if } K \text{ is regular; in each case }
    w^* = \Phi^T\alpha = (\Phi^T\Phi + \lambda I)^{-1}\Phi^T y$

    Kᵀu = 0 with u = (K + λI)α − y gives Φᵀu = 0, and then Φᵀα = w* by the first line. Also:
    what the solver delivers is w* and α, up to the rounding of a backward stable method."""
    for r, where, alpha in _regressions(c):
        lines, regular = r.chain(alpha), r.K.rank() == r.K.nrows()
        yield fact(lines[0] == lines[1] == lines[2], "the first three lines", where=where)
        yield fact(lines[3] == lines[4], "the last two lines", where=where)
        yield fact(lines[2] if lines[3] else not (lines[2] and regular), "⟸", where=where)
        if lines[2]:
            yield fact(bool(r.Phi.transpose() * alpha == r.w), "w* = Φᵀα", where=where)
    for r in every_regression() if c.inputs is None else ():  # a solver takes doubles
        yield from _delivered(c, r)


def _delivered(case: Case, r: Regression) -> Iterator[Relation]:
    """w and α of the solver, and what they predict."""
    X, (n, m) = r.X, r.X.shape
    at = np.array([[1.0] * m, list(range(m))])

    def both() -> list[Any]:
        solver = ridge_solver(case, r.strength)
        primal, dual = solver.primal(X, r.targets), solver.dual(X, r.targets)
        predictions = [taken_vector(f.predict(at), "a prediction") for f in (primal, dual)]
        return [taken_vector(primal.w, "w"), taken_vector(dual.alpha, "α"), *predictions]

    found = case.remember(f"both of {r.name}", both)
    w, alpha = balls(r.w), balls(r.alpha)
    wanted, size = balls(at) * w, float(np.linalg.norm(at))
    # (ΦᵀΦ + λI)⁻¹ and (K + λI)⁻¹ have norms of at most 1/λ.
    off_w = primal_slip(X, r.targets, r.strength, length(w)) / r.strength
    off_alpha = dual_slip(X, r.strength, length(alpha)) / r.strength
    by_w = size * (off_w + (m + 4) * ROUNDOFF * upper(length(w)))
    by_alpha = off_alpha + (n + m + 4) * ROUNDOFF * upper(length(alpha))
    by_alpha *= size * float(np.linalg.norm(X))
    predicted, words = size * upper(length(w)), "predictions are ⟨w*, φ(x)⟩"
    expected = (
        ("primal w*", w, off_w, 0.0),
        ("dual α", alpha, off_alpha, 0.0),
        (f"primal {words}", wanted, 2 * by_w + TINY, predicted),
        (f"dual {words}", wanted, 2 * by_alpha + TINY, predicted),
    )
    for own, (what, true, off, parts) in zip(found, expected, strict=True):
        gap, about = length(column(own) - true), size_of(length(true), parts)
        yield nothing(gap, what, allowance=off, size=about, where=r.name)


# Gradient descent stays in the span of the data

STEPS = 30


@IDENTITY.direct("sec5.span", "Section 5, gradient descent", Method("smooth-gradient-descent"))
def _stays_in_the_span(c):
    r"""From w_1 = 0, every iterate of gradient descent on regularised least squares is a
    combination of the features of the points, with coefficients that depend on their inner
    products alone.

    $w_1 = 0 \implies w_t = \sum_{i=1}^n \alpha_i \phi(x_i), \quad
    \langle w_t, \phi(x)\rangle = \sum_{i=1}^n \alpha_i \langle\phi(x_i), \phi(x)\rangle$

    α is had from inner products alone: w_{t+1} = w_t − η(2Φᵀ(Φw_t − y) + 2λw_t) is Φᵀα_{t+1}
    with α_{t+1} = α_t − 2η(Kα_t − y + λα_t). Up to the rounding of the steps, which adds up.
    Instances: five small regressions, 30 steps"""
    solver = under_test(c, "smooth-gradient-descent")
    for r in every_regression():
        # ‖Φw − y‖² + λ‖w‖², less ‖y‖².
        A = 2 * (r.X.T @ r.X + r.strength * np.eye(r.X.shape[1]))
        target = QuadraticTarget(A.tolist(), (2 * r.X.T @ r.targets).tolist())
        run = run_of(c, f"descent on {r.name}", solver, target.function, c.rng(), STEPS)
        if wrong := broken(run, STEPS, target.dimension):
            yield fact(False, wrong, where=target.name)
        else:
            yield from _combined(r, target, run)


def _combined(r: Regression, target: QuadraticTarget, run: list[Any]) -> Iterator[Relation]:
    """w_t against Φᵀα_t."""
    Phi, K, y = (balls(M) for M in (r.Phi, r.K, r.y))
    lam, eta = number(r.strength), 2 / (target.beta + target.lam)
    alpha, slip = arb_mat(r.n, 1), 0.0
    for it in run:
        w = column(it.w)
        gap, where = length(w - Phi.transpose() * alpha), f"{r.name}, t = {it.t + 1}"
        # Gradient descent contracts (β and λ are off by a few units), so errors of steps add up.
        off = slip * (1 + 64 * STEPS * ROUNDOFF)
        yield nothing(gap, "w_t = Φᵀα_t", allowance=off, size=size_of(length(w)), where=where)
        alpha -= 2 * eta * (K * alpha - y + lam * alpha)
        slip += target.step_slip(w)


# Example 9

WORDS = ("university", "california")
NO_RUN = "it is about a kernel, not about a solver"
K_INPUT = {"K": rationals(-9, 9, shape=("n", "n"))}


@IDENTITY.direct("ex9.1", "Example 9.1", powerless=NO_RUN)
def _square_kernel(c):
    r"""The features (x₁², √2 x₁x₂, x₂²) have the products ⟨x, x'⟩².

    $\phi(x)^T \phi(x') = x_1^2 x_1'^2 + 2x_1x_2x_1'x_2' + x_2^2 x_2'^2 =
    (x_1x_1' + x_2x_2')^2 = (x^T x')^2$

    All sides are polynomials of degree at most 2 in each of four variables, so their
    equality on {0, 1, 2}⁴ proves it everywhere."""
    for x1, x2, z1, z2 in product(range(3), repeat=4):
        x, z, where = [x1, x2], [z1, z2], f"x = ({x1}, {x2}), x' = ({z1}, {z2})"
        # √2·√2 = 2
        features = (x1 * x1) * (z1 * z1) + 2 * (x1 * x2) * (z1 * z2) + (x2 * x2) * (z2 * z2)
        yield equal(features, _dot(x, z) ** 2, "φ(x)ᵀφ(x') = ⟨x, x'⟩²", where=where)


def _dot(x: Any, z: Any) -> Any:
    return x[0] * z[0] + x[1] * z[1]


def _common(first: str, second: str) -> int:
    """|{all characters which appear at least once in both}|."""
    return sum(1 for c in set(first) if c in second)


@lec.direct("ex9.2", "Example 9.2", Erratum("misprint", ".fixed"), kind="value")
def _string_kernel_as_printed(c):
    r"""The words "university" and "california" have 2 characters in common.

    $s_1 = \text{``university''},\ s_2 = \text{``california''}: \quad k(s_1, s_2) = 2$"""
    return equal(_common(*WORDS), 2, "k(university, california) = 2")


@lec.direct("ex9.2.fixed", "Example 9.2, with the right value", kind="value", powerless=NO_RUN)
def _string_kernel(c):
    r"""The words "university" and "california" have 3 characters in common, i, n and r.

    $s_1 = \text{``university''},\ s_2 = \text{``california''}: \quad k(s_1, s_2) = 3$

    Also from the printed features, which see the letters a to z."""
    yield equal(_common(*WORDS), 3, "k(university, california) = 3")
    printed = [[int(chr(c) in word) for c in range(ord("a"), ord("z") + 1)] for word in WORDS]
    yield equal(sum(a * b for a, b in zip(*printed, strict=True)), 3, "φ(s₁)ᵀφ(s₂)")


# Theorem 10

POINTS = ((1, 2), (0, -1), (3, 1), (-2, 2), (1, 2))
KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "⟨x, x'⟩": _dot,
    "⟨x, x'⟩²": lambda x, z: _dot(x, z) ** 2,
    "x₁x₁'": lambda x, z: x[0] * z[0],
    "⟨x, x'⟩ + 2⟨x, x'⟩²": lambda x, z: _dot(x, z) + 2 * _dot(x, z) ** 2,
    "⟨g(x), g(x')⟩": lambda x, z: x[0] * x[1] * z[0] * z[1] + 1,  # g(x) = (x₁x₂, 1)
}


def _values(kernel: Callable[[Any, Any], Any], n: int = len(POINTS)) -> fmpq_mat:
    return matrix([[kernel(x, z) for z in POINTS[:n]] for x in POINTS[:n]])


def _grams() -> Iterator[tuple[str, fmpq_mat]]:
    """Gram matrices of the kernels above."""
    for n, (name, k) in product((1, 3, len(POINTS)), KERNELS.items()):
        yield f"{name}, n = {n}", _values(k, n)


#: Symmetric matrices, semidefinite or not.
SYMMETRIC: dict[str, list[list[int]]] = {
    "0": [[0]],
    "−1": [[-1]],
    "ones": [[1, 1], [1, 1]],
    "1, 2, 1": [[1, 2], [2, 1]],
    "exchange": [[0, 1], [1, 0]],
    "2, −1": [[2, -1, 0], [-1, 2, -1], [0, -1, 2]],
    "cycle": [[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]],
}
#: x − x' at 0, 1, 3, whose form is 0; and v₁² + v₁v₂ + v₂².
OTHERS: dict[str, list[list[int]]] = {
    "k(x, x') = x − x' at 0, 1": [[0, -1], [1, 0]],
    "k(x, x') = x − x' at 0, 1, 3": [[0, -1, -3], [1, 0, -2], [3, 2, 0]],
    "triangle": [[1, 1], [0, 1]],
}


def _semidefinite(K: fmpq_mat) -> bool:
    """Whether vᵀKv ≥ 0 for all v: whether all roots of det(λI − S), S the symmetric part, are ≥ 0.

    They are real, so this is so if and only if the coefficients alternate in sign.
    """
    coefficients = list(((K + K.transpose()) / 2).charpoly())
    top = len(coefficients) - 1
    return all((-1) ** (top - k) * c >= 0 for k, c in enumerate(coefficients))


def _has_features(K: fmpq_mat) -> bool:
    """Whether K_ij = φ(x_i)ᵀφ(x_j) for some φ on the n points; it is made and multiplied out."""
    found = features(K) if K.transpose() == K else None
    return found is not None and bool(products(found, K.nrows()) == K)


MERCER = "Theorem 10 (Mercer)"


@IDENTITY.direct("thm10", MERCER, Erratum("misprint", ".fixed"), inputs=K_INPUT)
def _mercer_as_printed(c):
    r"""A function k is a kernel if and only if vᵀKv ≥ 0 for all v, for its matrix K on any
    points.

    $k \text{ is a kernel} \iff v^T K v \geq 0 \ \forall v, \text{ for }
    K_{ij} = k(x_i, x_j) \text{ and any } x_1, \dots, x_n$"""
    own = [*_grams(), *((name, matrix(rows)) for name, rows in (SYMMETRIC | OTHERS).items())]
    if c.inputs is not None:
        own = [("K", matrix(c.inputs["K"]))]
    for name, K in own:
        yield fact(_semidefinite(K) == _has_features(K), "vᵀKv ≥ 0 ∀v ⟺ K = ΦΦᵀ", where=name)


NO_SOLVER = "it is about kernels, not about a solver"
ALGEBRA = IDENTITY.sharing(instances="small matrices", powerless=NO_SOLVER)


@ALGEBRA.direct(
    "thm10.fixed", f"{MERCER}, for symmetric k and features in a Hilbert space", inputs=K_INPUT
)
def _mercer(c):
    r"""A symmetric function is a product of features, in some Hilbert space, if and only if all its
    matrices are positive semidefinite.

    $k \text{ symmetric: } k(x, x') = \langle\phi(x), \phi(x')\rangle \iff K \succcurlyeq 0
    \text{ for any } x_1, \dots, x_n$

    For n points a φ of length n is made (K = L diag(d) Lᵀ); for all points at once the
    Hilbert space of k may be needed. That vᵀKv ≥ 0 is decided by the characteristic polynomial."""
    own = SYMMETRIC
    if c.inputs is None:
        for name, K in _grams():
            yield fact(_semidefinite(K), "a kernel has K ≽ 0", where=name)
            yield fact(_has_features(K), "K = ΦΦᵀ", where=name)
    else:  # what is above the diagonal is what is below it
        given, n = c.inputs["K"], range(len(c.inputs["K"]))
        own = {"K": [[given[max(i, j)][min(i, j)] for j in n] for i in n]}
    for name, rows in own.items():
        K = matrix(rows)
        yield fact(_semidefinite(K) == _has_features(K), "K ≽ 0 ⟺ K = ΦΦᵀ", where=name)
        yield fact(_semidefinite(K) == nonnegative_form(K), "K ≽ 0, in two ways", where=name)


# Theorem 11

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "3x₁ − x₂": lambda x: 3 * x[0] - x[1],
    "|x₁| − 1": lambda x: abs(x[0]) - 1,
    "0": lambda x: 0,
}
WEIGHTS = ((2, 3), (0, 1), (Fraction(1, 3), Fraction(5, 2)))


@ALGEBRA.direct("thm11", "Theorem 11")
def _kernel_algebra_is_closed(c):
    r"""f(x)f(x') is a kernel, and sums with weights that are not negative and products of kernels
    are kernels.

    $f(x)f(x'), \quad \alpha k_1 + \beta k_2 \ (\alpha, \beta \geq 0), \quad k_1 \cdot k_2
    \quad \text{are kernels}$

    By the feature mappings (√α φ₁, √β φ₂) and φ₁ ⊗ φ₂, multiplied out exactly."""
    for where, K, phi in _combined_kernels():
        yield fact(_semidefinite(K) and _has_features(K), "K = ΦΦᵀ", where=where)
        yield fact(bool(products(phi, K.nrows()) == K), "by the feature mapping", where=where)


def _combined_kernels() -> Iterator[tuple[str, fmpq_mat, Features]]:
    """Values of the kernels that the theorem makes, and their features."""
    for name, f in FUNCTIONS.items():
        yield f"f(x) = {name}", _rank_one(f), [(rational(1), vector(map(f, POINTS)))]
    for (name1, k1), (name2, k2) in combinations_with_replacement(KERNELS.items(), 2):
        K1, K2, where = _values(k1), _values(k2), f"{name1} and {name2}"
        phi1, phi2 = features(K1) or [], features(K2) or []
        for a, b in ((rational(v) for v in pair) for pair in WEIGHTS):
            joined = [(a * d, v) for d, v in phi1] + [(b * d, v) for d, v in phi2]
            yield f"αk₁ + βk₂: {where}, α = {a}, β = {b}", a * K1 + b * K2, joined
        joined = [(d * e, _entrywise(u, v)) for (d, u), (e, v) in product(phi1, phi2)]
        yield f"k₁k₂: {where}", _entrywise(K1, K2), joined


def _rank_one(f: Callable[[Any], Any]) -> fmpq_mat:
    return _values(lambda x, z: f(x) * f(z))


def _entrywise(A: fmpq_mat, B: fmpq_mat) -> fmpq_mat:
    """A ∘ B."""
    entries = [u * v for u, v in zip(A.entries(), B.entries(), strict=True)]
    return fmpq_mat(A.nrows(), A.ncols(), entries)
