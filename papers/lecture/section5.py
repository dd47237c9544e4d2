"""Section 5, Kernels: A Brief Introduction: ridge regression, Example 9, Theorems 10 and 11.

Everything but what the solver delivers is exact: integers and rationals. From Example 9 on,
``case.solver``, where it is given, is a kernel (or, for Theorem 11, the operations on kernels) to
be tried in place of `gammabar.solvers.kernel_methods`.

Section 5, Kernels: gradient descent stays in the span of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat

from gammabar.papers import (
    ROUNDOFF,
    TINY,
    Case,
    Relation,
    direct,
    equal,
    fact,
    number,
    rationals,
    size_of,
    taken_run,
    taken_vector,
    upper,
)
from gammabar.papers.lecture.descent import PLAIN, QuadraticTarget, broken, step_slip
from gammabar.papers.lecture.linear_algebra import (
    column,
    factor,
    fault,
    length,
    matrix,
    nonnegative_form,
    nothing,
    product_of_features,
    rational,
    symmetric,
    vector,
)
from gammabar.papers.lecture.ridge import (
    REGRESSIONS,
    RIDGE,
    Regression,
    dual_slip,
    primal_slip,
    ridge_options,
    ridge_solver,
)
from gammabar.solvers import kernel_methods as kernel_algebra
from gammabar.solvers.descent import SmoothGradientDescent
from gammabar.solvers.kernel_methods import (
    CommonCharacters,
    Composed,
    KernelRidge,
    Linear,
    RankOne,
    Square,
)

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


def _regressions(case: Case) -> Iterator[tuple[Regression, list[fmpq_mat]]]:
    """Regressions, each with vectors α."""
    if case.inputs is None:
        for r in (Regression(*data) for data in REGRESSIONS):
            yield r, r.candidates()
        return
    features, y, alpha, strength = case.inputs.values()
    yield Regression([list(v) for v in features], list(y), strength), [vector(list(alpha))]


@direct(
    "lec.ridge",
    reference="Section 5, closed form solution",
    kind="identity",
    claim=r"\nabla_{\alpha} (\|K\alpha - y\|_2^2 + \lambda \alpha^T K \alpha) = 0 "
    r"\iff 2K^T(K\alpha - y) + 2\lambda K\alpha = 0 \iff K^T((K + \lambda I)\alpha - y) = 0 "
    r"\iff (K + \lambda I)\alpha = y \iff \alpha = (K + \lambda I)^{-1}y "
    r"\implies w^* = \Phi^T \alpha = \Phi^T (K + \lambda I)^{-1}y",
    problems=("",),
    inputs=RIDGES,
    solvers=RIDGE,
    status="refuted",
    fixed_by="lec.ridge.fixed",
    severity="substance",
    survives="Everything: w* = Φᵀ(K + λI)⁻¹y is right, as every solution α of the third "
    "line gives the same Φᵀα (lec.ridge.fixed).",
    why="K need not be invertible, and is not whenever there are more points than features.",
    note="The third ⟺ is only ⟸ if K is singular. n = 1, φ(x_1) = 0, y = 1, λ = 1: K = 0 and α = 0 "
    "has Kᵀ((K + λI)α − y) = 0, but (K + λI)α = 0 ≠ 1 = y. K is singular whenever n > m, or if a "
    "point is repeated. All solutions α of the third line give the same w* = Φᵀα.",
)
def ridge_as_printed(case: Case) -> Iterator[Relation]:
    """The gradient of the dual objective vanishes if and only if α = (K + λI)⁻¹y, by four
    equivalences."""
    for r, candidates in _regressions(case):
        for alpha in candidates:
            where = f"{r.name}, α = {[str(v) for v in alpha.entries()]}"
            for (a, b), (one, other) in zip(pairwise(LINES), pairwise(r.chain(alpha)), strict=True):
                yield fact(one == other, f"{a} ⟺ {b}", where=where)


@direct(
    "lec.ridge.fixed",
    reference="Section 5, closed form solution, with ⟸ for the third ⟺",
    kind="identity",
    claim=r"\nabla_{\alpha} = 0 \iff K^T((K + \lambda I)\alpha - y) = 0 \Longleftarrow "
    r"(K + \lambda I)\alpha = y, \text{ with} \iff \text{if } K \text{ is regular; in each case } "
    r"w^* = \Phi^T\alpha = (\Phi^T\Phi + \lambda I)^{-1}\Phi^T y",
    problems=("",),
    inputs=RIDGES,
    solvers=RIDGE,
    assumes=(ridge_options,),
    note="Kᵀu = 0 with u = (K + λI)α − y gives Φᵀu = 0, and then Φᵀα = w* by the first line. Also: "
    "what the solver delivers is w* and α, up to the rounding of a backward stable method.",
)
def ridge(case: Case) -> Iterator[Relation]:
    """Every α at which the gradient of the dual objective vanishes gives the primal solution, and
    α = (K + λI)⁻¹y is one of them, the only one if K is regular."""
    for r, candidates in _regressions(case):
        regular = r.K.rank() == r.K.nrows()
        for alpha in candidates:
            lines = r.chain(alpha)
            where = f"{r.name}, α = {[str(v) for v in alpha.entries()]}"
            yield fact(lines[0] == lines[1] == lines[2], "the first three lines", where=where)
            yield fact(lines[3] == lines[4], "the last two lines", where=where)
            yield fact(lines[2] if lines[3] else not (lines[2] and regular), "⟸", where=where)
            if lines[2]:
                yield fact(bool(r.Phi.transpose() * alpha == r.w), "w* = Φᵀα", where=where)
        if case.inputs is None:  # which are rational, and a solver takes doubles
            yield from _delivered(case, r)


def _delivered(case: Case, r: Regression) -> Iterator[Relation]:
    """w and α of the solver, and what they predict."""
    X, y = np.array(r.features, dtype=float), np.array(r.targets, dtype=float)
    at = np.array([[1.0] * X.shape[1], list(range(X.shape[1]))])
    found, by_primal, by_dual = case.remember(
        f"both of {r.name}", lambda: _both(ridge_solver(case, r.strength), X, y, at)
    )
    w, alpha = _balls(r.w), _balls(r.alpha)
    # (ΦᵀΦ + λI)⁻¹ and (K + λI)⁻¹ have norms of at most 1/λ.
    off_w = primal_slip(X, y, r.strength, length(w)) / r.strength
    off_alpha = dual_slip(X, r.strength, length(alpha), 0.0) / r.strength
    for key, what, own, off in (("w", "primal w*", w, off_w), ("α", "dual α", alpha, off_alpha)):
        gap, about = length(column(found[key]) - own), size_of(length(own))
        yield nothing(gap, what, allowance=off, size=about, where=r.name)
    size, n, m = float(np.linalg.norm(at)), *X.shape
    kernel = size * float(np.linalg.norm(X))
    wanted = arb_mat(2, m, [number(v) for v in at.ravel().tolist()]) * w
    for name, predicted, off in (
        ("primal", by_primal, size * (off_w + (m + 4) * ROUNDOFF * upper(length(w)))),
        ("dual", by_dual, kernel * (off_alpha + (n + m + 4) * ROUNDOFF * upper(length(alpha)))),
    ):
        gap, what = length(column(predicted) - wanted), f"{name} predictions are ⟨w*, φ(x)⟩"
        about = size_of(length(wanted), size * upper(length(w)))
        yield nothing(gap, what, allowance=2 * off + TINY, size=about, where=r.name)


def _both(solver: Any, X: Any, y: Any, at: Any) -> tuple[dict[str, Any], Any, Any]:
    """What a solver delivers, and what that predicts."""
    primal, dual = solver.primal(X, y), solver.dual(X, y)
    found = {"w": taken_vector(primal.w, "w"), "α": taken_vector(dual.alpha, "α")}
    by_primal, by_dual = (taken_vector(f.predict(at), "a prediction") for f in (primal, dual))
    return found, by_primal, by_dual


def _balls(M: fmpq_mat) -> arb_mat:
    return arb_mat([[number(v) for v in row] for row in M.tolist()])


# Example 9

WORDS = ("university", "california")


@direct(
    "lec.ex9.1",
    powerless="it is about a kernel, not about a solver",
    reference="Example 9.1",
    kind="identity",
    claim=r"\phi(x)^T \phi(x') = x_1^2 x_1'^2 + 2x_1x_2x_1'x_2' + x_2^2 x_2'^2 = "
    r"(x_1x_1' + x_2x_2')^2 = (x^T x')^2",
    problems=("",),
    note="All sides are polynomials of degree at most 2 in each of four variables, so their "
    "equality on {0, 1, 2}⁴ proves it everywhere.",
)
def square_kernel(case: Case) -> Iterator[Relation]:
    """The features (x₁², √2 x₁x₂, x₂²) have the products ⟨x, x'⟩²."""
    kernel = Square() if case.solver is None else case.solver
    for a, b, c, d in product(range(3), repeat=4):
        where = f"x = ({a}, {b}), x' = ({c}, {d})"
        # √2·√2 = 2
        features = (a * a) * (c * c) + 2 * (a * b) * (c * d) + (b * b) * (d * d)
        yield equal(features, (a * c + b * d) ** 2, "φ(x)ᵀφ(x') = ⟨x, x'⟩²", where=where)
        value = kernel(np.array([a, b]), np.array([c, d]))
        yield equal(int(value), features, "k(x, x')", where=where)
        delivered = float(np.dot(kernel.features([a, b]), kernel.features([c, d])))
        yield equal(
            delivered,
            features,
            "φ(x)ᵀφ(x') in doubles",
            where=where,
            allowance=8 * ROUNDOFF * features,
        )


def _common(first: str, second: str) -> int:
    """|{all characters which appear at least once in both}|."""
    return sum(1 for c in set(first) if c in second)


@direct(
    "lec.ex9.2",
    reference="Example 9.2",
    kind="value",
    claim=r"s_1 = \text{``university''},\ s_2 = \text{``california''}: \quad k(s_1, s_2) = 2",
    problems=("",),
    status="refuted",
    fixed_by="lec.ex9.2.fixed",
    severity="misprint",
    survives="Everything: that it is a kernel, by the feature map, does not depend on the count.",
    why="A count of three letters was written as 2.",
    charitable="lec.ex9.2.fixed",
    note="The characters in both are i, n and r: the value is 3. The i, which both have twice, "
    "counts once.",
)
def string_kernel_as_printed(case: Case) -> Relation:
    """The words "university" and "california" have 2 characters in common."""
    return equal(_common(*WORDS), 2, "k(university, california) = 2")


@direct(
    "lec.ex9.2.fixed",
    powerless="it is about a kernel, not about a solver",
    reference="Example 9.2, with the right value",
    kind="value",
    claim=r"s_1 = \text{``university''},\ s_2 = \text{``california''}: \quad k(s_1, s_2) = 3",
    problems=("",),
    note="Also from the printed features, which see the letters a to z.",
)
def string_kernel(case: Case) -> Iterator[Relation]:
    """The words "university" and "california" have 3 characters in common, i, n and r."""
    kernel = CommonCharacters() if case.solver is None else case.solver
    yield equal(_common(*WORDS), 3, "k(university, california) = 3")
    yield equal(int(kernel(*WORDS)), 3, "k of the library")
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    printed = [[int(letter in word) for letter in letters] for word in WORDS]
    yield equal(sum(a * b for a, b in zip(*printed, strict=True)), 3, "φ(s₁)ᵀφ(s₂)")
    pairs = zip(*(kernel.features(word) for word in WORDS), strict=True)
    yield equal(int(sum(a * b for a, b in pairs)), 3, "φ(s₁)ᵀφ(s₂) of the library")


# Theorem 10

POINTS = ((1, 2), (0, -1), (3, 1), (-2, 2), (1, 2))


def _grams(case: Case) -> Iterator[tuple[str, fmpq_mat]]:
    """Gram matrices of kernels."""
    kernels = {
        "⟨x, x'⟩": Linear(),
        "⟨x, x'⟩²": Square(),
        "x₁x₁'": RankOne(lambda x: x[0]),
        "⟨x, x'⟩ + 2⟨x, x'⟩²": Linear() + 2 * Square(),
        "⟨g(x), g(x')⟩": Composed(Linear(), lambda x: [x[0] * x[1], 1]),
    }
    if case.solver is not None:
        kernels = {"the kernel on trial": case.solver}
    X = np.array(POINTS)
    for name, kernel in kernels.items():
        for n in (1, 3, len(X)):
            yield f"{name}, n = {n}", matrix(kernel(X[:n], X[:n]).tolist())


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
    found = factor(K) if symmetric(K) else None
    return found is not None and bool(product_of_features(*found) == K)


@direct(
    "lec.thm10",
    reference="Theorem 10 (Mercer)",
    kind="identity",
    claim=r"k \text{ is a kernel} \iff v^T K v \geq 0 \ \forall v, \text{ for } "
    r"K_{ij} = k(x_i, x_j) \text{ and any } x_1, \dots, x_n",
    problems=("",),
    inputs={"K": rationals(-9, 9, shape=("n", "n"))},
    status="refuted",
    fixed_by="lec.thm10.fixed",
    severity="substance",
    survives="Theorem 11 (lec.thm11), which follows from feature maps and not from this "
    "theorem. What does not: to show that a function is a kernel by vᵀKv ≥ 0 "
    "alone.",
    why="Symmetry is missing, and with features in ℝᵐ of finite m so is the converse.",
    note="It lacks symmetry: k(x, x') = x − x' on ℝ has vᵀKv = 0 for all v and any points, since K "
    "is antisymmetric, but k(0, 1) = −1 and k(1, 0) = 1, and φ(0)ᵀφ(1) = φ(1)ᵀφ(0). At the points "
    "0, 1: K = ((0, −1), (1, 0)). Moreover Definition 8 has features in ℝᵐ: k(x, x') = 1 if x = x' "
    "and else 0 has K = I for any distinct points, of rank n, so no finite m serves for all n.",
)
def mercer_as_printed(case: Case) -> Iterator[Relation]:
    """A function k is a kernel if and only if vᵀKv ≥ 0 for all v, for its matrix K on any
    points."""
    rows = SYMMETRIC | OTHERS
    own = [*_grams(case), *((name, matrix(rows[name])) for name in rows)]
    if case.inputs is not None:
        own = [("K", matrix([list(row) for row in case.inputs["K"]]))]
    for name, K in own:
        yield fact(_semidefinite(K) == _has_features(K), "vᵀKv ≥ 0 ∀v ⟺ K = ΦΦᵀ", where=name)


@direct(
    "lec.thm10.fixed",
    instances="small matrices",
    powerless="it is about kernels, not about a solver",
    reference="Theorem 10 (Mercer), for symmetric k and features in a Hilbert space",
    kind="identity",
    claim=r"k \text{ symmetric: } k(x, x') = \langle\phi(x), \phi(x')\rangle \iff K \succcurlyeq 0 "
    r"\text{ for any } x_1, \dots, x_n",
    problems=("",),
    inputs={"K": rationals(-9, 9, shape=("n", "n"))},
    note="For n points a φ of length n is made (K = L diag(d) Lᵀ); for all points at once the "
    "Hilbert space of k may be needed. That vᵀKv ≥ 0 is decided by the characteristic polynomial.",
)
def mercer(case: Case) -> Iterator[Relation]:
    """A symmetric function is a product of features, in some Hilbert space, if and only if all its
    matrices are positive semidefinite."""
    own = SYMMETRIC
    if case.inputs is None:
        for name, K in _grams(case):
            yield fact(symmetric(K) and _semidefinite(K), "a kernel has K ≽ 0", where=name)
            yield fact(_has_features(K), "K = ΦΦᵀ", where=name)
    else:  # what is above the diagonal is what is below it
        given = case.inputs["K"]
        own = {
            "K": [
                [given[max(i, j)][min(i, j)] for j in range(len(given))] for i in range(len(given))
            ]
        }
    for name, rows in own.items():
        K = matrix(rows)
        yield fact(_semidefinite(K) == _has_features(K), "K ≽ 0 ⟺ K = ΦΦᵀ", where=name)
        yield fact(_semidefinite(K) == nonnegative_form(K), "K ≽ 0, in two ways", where=name)


# Theorem 11


@direct(
    "lec.thm11",
    instances="small matrices",
    powerless="it is about kernels, not about a solver",
    reference="Theorem 11",
    kind="identity",
    claim=r"f(x)f(x'), \quad \alpha k_1 + \beta k_2 \ (\alpha, \beta \geq 0), \quad k_1 \cdot k_2 "
    r"\quad \text{are kernels}",
    problems=("",),
    note="By the feature mappings (√α φ₁, √β φ₂) and φ₁ ⊗ φ₂, multiplied out exactly.",
)
def kernel_algebra_is_closed(case: Case) -> Iterator[Relation]:
    """f(x)f(x') is a kernel, and sums with weights that are not negative and products of kernels
    are kernels."""
    algebra = kernel_algebra if case.solver is None else case.solver
    X = np.array(POINTS)
    for name, f in {
        "3x₁ − x₂": lambda x: 3 * x[0] - x[1],
        "|x₁| − 1": lambda x: abs(x[0]) - 1,
        "0": lambda x: 0,
    }.items():
        wanted = matrix([[f(x) * f(z) for z in POINTS] for x in POINTS])
        yield from _is_kernel(algebra.RankOne(f)(X, X), wanted, f"f(x) = {name}")
    pairs = [(Linear(), Square()), (Square(), RankOne(lambda x: x[1])), (Linear(), Linear())]
    for (k1, k2), (a, b) in product(pairs, [(2, 3), (0, 1), (Fraction(1, 3), Fraction(5, 2))]):
        K1, K2 = (matrix(k(X, X).tolist()) for k in (k1, k2))
        where = f"{type(k1).__name__}, {type(k2).__name__}, α = {a}, β = {b}"
        total = algebra.Sum(algebra.Scaled(a, k1), algebra.Scaled(b, k2))(X, X)
        yield from _is_kernel(total, rational(a) * K1 + rational(b) * K2, f"αk₁ + βk₂: {where}")
        yield from _sum_of_features(K1, K2, rational(a), rational(b), where)
        entries = [u * v for u, v in zip(K1.entries(), K2.entries(), strict=True)]
        both = fmpq_mat(K1.nrows(), K1.ncols(), entries)
        yield from _is_kernel(algebra.Product(k1, k2)(X, X), both, f"k₁k₂: {where}")
        yield from _product_of_features(K1, K2, both, where)


def _is_kernel(values: Any, wanted: fmpq_mat, where: str) -> Iterator[Relation]:
    K = matrix(np.asarray(values).tolist())
    yield fact(bool(wanted == K), "its values are those stated", where=where)
    yield fact(symmetric(K) and _semidefinite(K) and _has_features(K), "K = ΦΦᵀ", where=where)


def _sum_of_features(
    K1: fmpq_mat, K2: fmpq_mat, a: fmpq, b: fmpq, where: str
) -> Iterator[Relation]:
    (L1, d1), (L2, d2) = _factors(K1, K2)
    n = K1.nrows()
    joined = fmpq_mat(
        n,
        len(d1) + len(d2),
        [
            v
            for i in range(n)
            for v in (*(L1[i, j] for j in range(len(d1))), *(L2[i, j] for j in range(len(d2))))
        ],
    )
    K = product_of_features(joined, [a * d for d in d1] + [b * d for d in d2])
    yield fact(bool(a * K1 + b * K2 == K), "(√α φ₁, √β φ₂)", where=where)


def _product_of_features(
    K1: fmpq_mat, K2: fmpq_mat, both: fmpq_mat, where: str
) -> Iterator[Relation]:
    (L1, d1), (L2, d2) = _factors(K1, K2)
    pairs = list(product(range(len(d1)), range(len(d2))))
    n = K1.nrows()
    tensor = fmpq_mat(n, len(pairs), [L1[i, j] * L2[i, k] for i in range(n) for j, k in pairs])
    K = product_of_features(tensor, [d1[j] * d2[k] for j, k in pairs])
    yield fact(bool(both == K), "φ₁ ⊗ φ₂", where=where)


def _factors(*matrices: fmpq_mat) -> list[tuple[fmpq_mat, list[fmpq]]]:
    found = [factor(K) for K in matrices]
    return [f for f in found if f is not None]


STEPS = 30


@direct(
    "lec.sec5.span",
    reference="Section 5, gradient descent",
    kind="identity",
    claim=r"w_1 = 0 \implies w_t = \sum_{i=1}^n \alpha_i \phi(x_i), \quad"
    r" \langle w_t, \phi(x)\rangle = \sum_{i=1}^n \alpha_i \langle\phi(x_i), \phi(x)\rangle",
    problems=("",),
    solvers=PLAIN,
    instances="five small regressions, 30 steps",
    note="α is had from inner products alone: w_{t+1} = w_t − η(2Φᵀ(Φw_t − y) + 2λw_t) is Φᵀα_{t+1}"
    " with α_{t+1} = α_t − 2η(Kα_t − y + λα_t). Up to the rounding of the steps, which adds up.",
)
def stays_in_the_span(case: Case) -> Iterator[Relation]:
    """From w_1 = 0, every iterate of gradient descent on regularised least squares is a combination
    of the features of the points, with coefficients that depend on their inner products alone."""
    solver = SmoothGradientDescent() if case.solver is None else case.solver
    for r in (Regression(*data) for data in REGRESSIONS):
        features = np.array(r.features, dtype=float)
        f = KernelRidge(r.strength).objective(features, np.array(r.targets, dtype=float))
        target = QuadraticTarget(f.A.tolist(), f.b.tolist())
        run = _run(case, solver, f, r.name)
        faults = [bad for t, it in enumerate(run) if (bad := fault(it, t, target.dimension))]
        if faults or len(run) != STEPS:
            yield broken(target, faults[0] if faults else f"it ends after {len(run)} iterates")
            continue
        yield from _compared(r, target, run)


def _run(case: Case, solver: Any, f: Any, name: str) -> list[Any]:
    """The first run on this function, at every level."""
    return case.remember(
        f"descent on {name}", lambda: taken_run(solver.iterates(f, case.rng()), STEPS)
    )


def _compared(r: Regression, target: QuadraticTarget, run: list[Any]) -> Iterator[Relation]:
    """w_t against Φᵀα_t."""
    n = len(r.targets)
    Phi, K, y = (_balls(M) for M in (r.Phi, r.K, r.y))
    lam, eta = number(r.strength), 2 / (target.beta + target.lam)
    alpha, slip = arb_mat(n, 1), 0.0
    for it in run:
        w = column(it.w)
        gap = length(w - Phi.transpose() * alpha)
        where = f"{r.name}, t = {it.t + 1}"
        # Gradient descent contracts (β and λ are off by a few units), so errors of steps add up.
        off = slip * (1 + 64 * STEPS * ROUNDOFF)
        yield nothing(gap, "w_t = Φᵀα_t", allowance=off, size=size_of(length(w)), where=where)
        alpha -= 2 * eta * (K * alpha - y + lam * alpha)
        slip += step_slip(target, w)
