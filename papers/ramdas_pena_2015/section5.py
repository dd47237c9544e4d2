"""Section 5, Infeasible Problems: Lemma 6, NVN, Theorems 2 and 3."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from gammabar.oracle.rational import exact_rows, has_exact_kernel
from gammabar.oracle.signed import signed_margin
from gammabar.papers.claims import *
from gammabar.papers.ramdas_pena_2015.quantities import *
from gammabar.papers.ramdas_pena_2015.small_data import *
from gammabar.problems import KernelProblem


def _gordan(case: Case, what: str) -> Iterator[Relation]:
    """Exactly one: q̄ is the point of the simplex with the smallest ‖Aᵀp‖, so it tells which."""
    gram = Gram(case)
    second = _balanced(case)
    least = gram.least(case.q_bar)
    # Σ_i p_i ⟨a_i, w⟩ = 0 leaves no w with only positive scores; balls cannot see the zeros.
    first = True if least > 0 else False if second or least <= 0 else None
    known = first is not None and second is not None
    yield fact(first != second if known else None, what)
    yield fact(sum(case.q_bar) == 1 and min(case.q_bar) >= 0, "p ∈ Δ_n")


def _balanced(case: Case) -> Trit:
    """Whether Σ_i q̄_i y_i φ(x_i) = 0, exactly; normalising rows only rescales the weights."""
    problem, q = case.problem.raw(), case.q_bar
    used = np.array([i for i, v in enumerate(q) if v])
    if isinstance(problem, KernelProblem):
        if problem.normalised:
            problem = KernelProblem(problem.X, problem.y, problem.kernel)
        if not has_exact_kernel(problem):  # an RBF kernel: one point with both labels
            X, y = problem.X[used], problem.y[used]
            # Compared, not subtracted: 1 − (−127) is −128 in a byte, and so is its absolute value.
            points = [(x.toarray() if hasattr(x, "toarray") else x) for x in (X[0], X[-1])]
            twins = len(used) == 2 and y[0] != y[1] and np.array_equal(*points)
            return bool(twins and q[int(used[0])] == Fraction(1, 2))
    gram = exact_rows(problem).gram(used)[0].tolist()
    weights = [q[int(i)] for i in used]
    return dot(weights, [dot([int(v) for v in row], weights) for row in gram]) == 0


def _euclidean_space(case: Case) -> str | None:
    """Euclidean space: inner products are rational numbers."""
    return None if Gram(case).rational else "this is about points of ℝ^d"


GORDAN = (
    "iris:0,1:n=30,seed=0",
    "inseparable:n=20,d=3,seed=0",
    "degenerate:kind=opposite",
    "degenerate:kind=zero-row",
    "degenerate:kind=collinear,n=1,d=2",
    "gaussian:n=20,d=3,seed=1",
    "planted:n=20,d=3,gamma=0.001,seed=0",
)


@data.direct("lem6", "Lemma 6 (Gordan's theorem)", small, _euclidean_space, problems=GORDAN)
def _lem6(case):
    r"""Exactly one of: some w has only positive scores; some p ∈ Δ_n has Σ_i p_i y_i x_i = 0.

    $\text{Exactly one: } \exists w\ \forall i\ y_i(w^\top x_i) > 0;\quad\exists p\in\Delta_n\
    \|XYp\|_2 = 0$"""
    yield from _gordan(case, "exactly one of: Gα > 0 for α = q̄; ‖XYq̄‖ = 0")


def _epsilon_solution(it: View, case: Case) -> Trit:
    """‖w_k‖ ≤ ε, for w_k = Aᵀp_k with the p_k that the solver says, if it says one."""
    p = weights_of(it, "dual")
    if p is not None and (same := stands_for(it, p)) is not True:
        return same
    return certifies(it, number(case.solver.epsilon), p)


@unit.stopping(
    "nvn",
    "Section 5, guarantee of Algorithm 5",
    Method("nvn"),
    has(epsilon=0),
    norm_one,
    inseparable,
    goal=_epsilon_solution,
    slower="nvn/steps-shrink",
)
def _nvn(case):
    r"""On data that are not separable NVN finds an ε-solution within 1/ε² iterations.

    $\text{If (3) is infeasible, NVN terminates with an } \epsilon\text{-approximate solution to
    (13) in } 1/\epsilon^2 \text{ iterations}$

    For rows of norm one, as Algorithm 5 is called normalized, and the next sentence of the paper is
    about ρ₂; rows of norm R need R²/ε². Some row has ⟨a_j, w_k⟩ ≤ 0, so ‖w_{k+1}‖² ≤ ‖w_k‖²/(1 +
    ‖w_k‖²), hence ‖w_k‖² ≤ 1/(k+1), and ‖w_k‖ ≤ ε for the first k ≥ 1/ε² − 1."""
    return 1 / Fraction(case.solver.epsilon) ** 2


# 5.1 A Separation Theorem for RKHSs


def _any_rows(case: Case) -> str | None:
    """The margin is decided."""
    return None if case.separable is not None else "separability is not known"


ALTERNATIVES = (
    "gaussian:n=16,d=3,seed=0 --kernel rbf:gamma=1",
    "degenerate:kind=opposite --kernel rbf:gamma=1",
    "planted:n=10,d=3,gamma=0.2,seed=0 --kernel poly:degree=2,coef0=1 --normalised",
    "worst-case:n=12",
    "degenerate:kind=opposite,n=6,d=1",
    "degenerate:kind=collinear,n=1,d=2",
)


@data.direct("thm2", "Theorem 2", norm_one, small, _any_rows, problems=ALTERNATIVES, unit=True)
def _thm2(case):
    r"""Exactly one of: some f has only positive scores; some p ∈ Δ_n has ‖p‖_G = 0.

    $\text{Exactly one: } \exists f\in\mathcal{F}_K\ \forall i\ \langle f,
    y_i\tilde\phi_{x_i}\rangle_K > 0 \text{ i.e. } G\alpha > 0;\quad\exists p\in\Delta_n\ \|p\|_G =
    0$"""
    yield from _gordan(case, "exactly one of: Gα > 0 for α = q̄; ‖q̄‖_G = 0")


# 5.2 The infeasible margin ρ_K


def _sup_min(rows: Array) -> Fraction | None:
    """−ρ² for ρ = sup_{‖w‖ = 1} min_i ⟨a_i, w⟩ by brute force, given that ρ is negative.

    At a maximiser w the active rows span the space: if some unit v were orthogonal to them, and
    hence to w, which is a multiple of a convex combination of them, then their scores at
    cos φ w + sin φ v would be ρ cos φ > ρ. So d independent rows B have equal scores: w is ±B⁻¹1.
    """
    d, values = rows.shape[1], []
    for chosen in combinations(rows, d):
        w = solution(array(chosen), over([1] * d, 1))
        for v in () if w is None else (w, -w):
            least = min(rows @ v)
            values.append(least * abs(least) / (v @ v))
    return max(values) if values and max(values) < 0 else None


@data.direct("thm3", "Theorem 3")
def _thm3(case):
    r"""For data that are not separable |ρ_K| is the radius of the largest ball around the origin
    inside the hull of the rows.

    $\text{When the primal is infeasible, } |\rho_K| = \delta_{\max} := \sup\{\delta \mid\|f\|_K \le
    \delta \Rightarrow f \in \mathrm{conv}(Y\tilde\phi_X)\}$

    ρ_K from its definition, by brute force; δ_max as the distance of the origin to the nearest
    facet of the hull, 0 where the hull is flat or the origin is on its boundary."""
    for name, rows in INSEPARABLE.items():
        facets = signed_margin(*integers_of(rows))
        w, square = array(facets.witness), -facets.rho_squared_hi
        least = min(rows @ w)
        reached = least * abs(least) / (w @ w)
        if square:
            yield fact(_sup_min(rows) == square, "ρ_K² = δ_max²", where=name)
            yield fact(reached == square, "the nearest facet attains it", where=name)
        else:
            # w has no negative score, so ρ_K ≥ 0, and −δw is outside the hull for every δ > 0; and
            # ρ_K ≤ 0, for the origin is in the hull.
            yield fact(reached == 0, "ρ_K = 0 = δ_max", where=name)


# Lines of the proofs of Theorems 2 and 3

proof = rp.sharing(
    kind="identity",
    powerless="a line of a proof, about numbers or data alone: no solver has a part in it",
)
#: t < 0 and ⟨f, y_i φ̃(x_i)⟩.
SHIFTS = tuple((Fraction(t), Fraction(s, 2)) for t in (-1, -2) for s in (-3, -1, 0, 1, 2, 3, 4, 5))
#: The same in a search.
SHIFTED = {"shift": rationals(None, Fraction(-1, 1000)), "s": rationals()}


@proof.direct(
    "thm2.proof",
    "proof of Theorem 2, the last equivalence",
    Erratum("misprint", ".fixed"),
    inputs=SHIFTED,
)
@proof.direct(
    "thm2.proof.fixed",
    "proof of Theorem 2, the last equivalence, with ⇒",
    inputs=SHIFTED,
    instances="a few t and s",
    instead={
        "s + t ≥ 0 if and only if s > 0": "s + t ≥ 0 implies s > 0",
        r"\Leftrightarrow": r"\Rightarrow",
    },
)
def _shift(case, printed):
    r"""For t < 0, s + t ≥ 0 if and only if s > 0, where s = ⟨f, y_i φ̃(x_i)⟩.

    $t < 0:\quad \langle f, y_i\tilde\phi_{x_i}\rangle_K + t \ge 0 \Leftrightarrow \frac{y_i
    f(x_i)}{\sqrt{K(x_i, x_i)}} > 0$"""
    for t, s in case.instances(SHIFTS):
        left, right, where = s + t >= 0, s > 0, f"t = {t}, s = {s}"
        if printed:
            yield fact(left == right, "s + t ≥ 0 ⟺ s > 0", where=where)
        else:
            yield fact(right or not left, "s + t ≥ 0 ⇒ s > 0", where=where)


#: Rows of norm one of ℝ¹ and ℝ², not separable, a point f outside their hull, and the g of norm
#: one with the largest min_i ⟨g, a_i⟩ − ⟨g, f⟩.
OUTSIDE = (([[1], [-1]], [2], [-1]), ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 3], [0, -1]))


@proof.direct(
    "thm3.part2",
    "proof of Theorem 3, part (2), the separating g",
    Erratum("misprint", ".fixed"),
    inputs={"rows": choices(1, -1, shape=("n", 1)), "f": rationals(shape=(1,))},
)
def _separated_at_zero(case):
    r"""For f outside the hull some g of norm one has ⟨g, f⟩ < 0 and ⟨g, a_i⟩ ≥ 0 for all rows.

    $f \notin \mathrm{conv}(Y\tilde\phi_X) \Rightarrow \exists g,\ \|g\|_K = 1: \langle g,
    f\rangle_K < 0 \text{ and } \langle g, \langle Y\tilde\phi_X, p\rangle\rangle_K \ge 0 \text{ for
    all } p \in \Delta_n$"""
    what = "some g of norm one is negative at f and not negative on the hull"
    for rows, f in case.instances((rows, f) for rows, f, _ in OUTSIDE):
        if case.inputs is not None:  # on a line, where g is 1 or −1
            least, most = min(a for (a,) in rows), max(a for (a,) in rows)
            if least <= f[0] <= most or least == most:
                raise Unclaimed("f is in the hull, or the rows are separable")
            there = any(g * f[0] < 0 and min(g * least, g * most) >= 0 for g in (1, -1))
        else:
            # Rows come with their negatives, so that only g = 0 is non-negative on all of them.
            there = not all([-v for v in row] in rows for row in rows)
        yield fact(there, what, where=f"{rows}, f = {f}")


@proof.direct("thm3.part2.fixed", "proof of Theorem 3, part (2), the line after it")
def _separated_below(case):
    r"""For f outside the hull some g of norm one has ⟨g, f⟩ < min_i ⟨g, a_i⟩ ≤ ρ_K.

    $f \notin \mathrm{conv}(Y\tilde\phi_X) \Rightarrow \exists g,\ \|g\|_K = 1: \langle g,
    f\rangle_K < \inf_{p\in\Delta_n} \langle g, \langle Y\tilde\phi_X, p\rangle\rangle_K \le \rho_K$

    Instances: two data sets, each with a point f"""
    for rows, f, g in OUTSIDE:
        least, there = min(dot(g, row) for row in rows), dot(g, f)
        margin = signed_margin(rows).rho_squared_lo  # ρ = −√, as these are not separable
        yield fact(there < least, "⟨g, f⟩ < min_i ⟨g, a_i⟩", where=f"{rows}")
        yield fact(least < 0 and least**2 >= margin, "min_i ⟨g, a_i⟩ ≤ ρ_K", where=f"{rows}")
