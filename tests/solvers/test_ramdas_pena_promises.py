"""What Ramdas and Peña promise of Algorithms 2 to 7 and Winnow, with exact margins; the corners."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from perceptron_cases import cases
from reference.minimum_norm import minimum_norm_squared

from gammabar.problems import (
    DenseProblem,
    KernelProblem,
    MulticlassProblem,
    ProblemError,
    from_arrays,
    load,
)
from gammabar.problems.kernels import Kernel
from gammabar.solvers.ramdas_pena import (
    ISNKPVN,
    NKP,
    NVN,
    SNKP,
    SNKPVN,
    NormalizedPerceptron,
    Winnow,
)
from gammabar.solvers.tyurin import Perceptron

STEPS = 8
EVERY = [NormalizedPerceptron(), NKP(), SNKP(), NVN(), SNKPVN(), ISNKPVN()]


def run(solver, problem, steps=STEPS):
    return list(islice(solver.iterates(problem), steps + 1))


def halt(iterates):
    """How it ended, if it did; only the last iterate may say so."""
    assert not any("halt" in it.extra for it in iterates[:-1])
    return iterates[-1].extra.get("halt")


@settings(max_examples=200)
@given(cases(("dense",), max_n=5, max_d=2, entry=3))
def test_bounds_with_the_exact_margin(case):
    """1/ρ² for Algorithms 2 and 3, Theorem 1 for Algorithm 4; no end where there is no margin."""
    margin = minimum_norm_squared(case.rows)
    unit = case.problem.unit()
    if margin == 0:
        for solver in (NormalizedPerceptron(), NKP(), SNKP()):
            assert halt(run(solver, case.problem, 60)) is None
        return
    square = float(case.radius_squared / margin)
    n = len(case.rows)
    for solver in (NormalizedPerceptron(), NKP()):
        assert halt(run(solver, case.problem, math.floor(square))) == "separated"
    smoothed = run(SNKP(), unit, math.ceil(2 * math.sqrt(2 * math.log(n) * square)))
    assert halt(smoothed) == "separated"
    assert case.problem.margin(smoothed[-1].w) > 0
    primal_dual = run(
        SNKPVN(0.5 / math.sqrt(square)), unit, math.ceil(2 * math.sqrt(2 * n * square))
    )
    assert halt(primal_dual) == "separated"
    iterated = run(ISNKPVN(2.0, 0.5 / math.sqrt(square)), unit, 10**5)
    assert halt(iterated) == "separated"


@settings(max_examples=200)
@given(cases(("dense",), max_n=6, max_d=2, entry=3), st.sampled_from((0.3, 0.1)))
def test_certificates_come_in_time(case, epsilon):
    """NVN within 1/ε² and SNKP with the extra exit within 2 √(2 log n)/ε iterations."""
    unit, n = case.problem.unit(), case.problem.n
    radius = math.sqrt(case.radius_squared)
    steps = math.ceil(2 * math.sqrt(2 * math.log(n)) / epsilon)
    smoothed = run(SNKP(epsilon), unit, steps)
    assert halt(smoothed) in ("separated", "certificate")
    if halt(smoothed) == "certificate":
        p = smoothed[-1].extra["p"]
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert case.problem.norm(case.problem.combine(p)) <= epsilon * radius * (1 + 1e-12)
    if minimum_norm_squared(case.rows) == 0:
        last = run(NVN(epsilon), unit, math.ceil(1 / epsilon**2))[-1]
        assert last.extra["halt"] == "certificate"
        assert case.problem.norm(last.w) <= epsilon * max(radius, 1) * (1 + 1e-12)


def test_isnkpvn_certifies_inseparable_data():
    problem = load("inseparable:n=20,d=3,seed=1").unit()
    for gamma in (1.5, 4.0):
        *_, last = ISNKPVN(gamma, 1e-3).iterates(problem)
        assert last.extra["halt"] == "certificate"
        p = last.extra["p"]
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert problem.norm(problem.combine(p)) < 1e-3
        assert problem.norm(problem.combine(p)) < last.extra["delta"] < 1e-3


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from((0, 1, 2)),
)
def test_winnow_keeps_its_bounds(X, good):
    """Coordinate `good` separates with margin ρ₁ ≥ 1/3, after normalisation."""
    for row in X:
        row[good] = abs(row[good]) or 1
    problem = DenseProblem(np.array(X), np.ones(len(X)))
    rho = min(row[good] / max(map(abs, row)) for row in X)  # a lower bound on ρ₁
    for solver, bound in (
        (Winnow(), 4 * math.log(3) / rho**2),
        (Winnow(rho), 2 * math.log(3) / rho**2),
    ):
        iterates = run(solver, problem, math.floor(bound))
        assert halt(iterates) == "separated"
        assert all(it.w.min() >= 0 and it.w.sum() == pytest.approx(1) for it in iterates)


def test_winnow_needs_a_step_where_log_n_promises_none():
    """One row: log n = 0. The bound is about the number of coordinates."""
    iterates = run(Winnow(), DenseProblem(np.array([[1, -3]]), np.array([1])))
    assert iterates[0].smallest < 0
    assert iterates[0].w.tolist() == [0.5, 0.5]


@settings(max_examples=100)
@given(cases(("dense", "multiclass")))
def test_normalized_perceptron_is_the_worst_perceptron_divided_by_k(case):
    plain = run(Perceptron("worst"), case.problem)
    normal = run(NormalizedPerceptron(), case.problem)
    if case.exact:
        assert len(plain) == len(normal)
        for a, b in zip(plain, normal, strict=True):
            assert (a.w / max(a.t, 1) == b.w).all()


@pytest.mark.parametrize("solver", [*EVERY, Perceptron("worst")], ids=str)
def test_a_linear_kernel_is_the_linear_problem_and_two_classes_are_two_classes(solver):
    rng = np.random.default_rng(5)
    for _ in range(20):
        X = rng.integers(-4, 5, (5, 3))
        y = np.where(X @ [3, -2, 1] + rng.integers(-3, 4, 5) > 0, 1, -1)
        plain = DenseProblem(X, y)
        kernel = KernelProblem(X, y, Kernel("linear"))
        classes = MulticlassProblem(X, (y > 0).astype(int), 2)
        ours, theirs, third = (run(solver, p, 12) for p in (plain, kernel, classes))
        for a, b, c in zip(ours, theirs, third, strict=False):
            assert plain.combine(b.w) == pytest.approx(a.w, abs=1e-9)
            U = c.w.reshape(3, 2)
            assert (U[:, 1] - U[:, 0]) / math.sqrt(2) == pytest.approx(a.w, abs=1e-9)
            if np.abs(a.scores).min() < 1e-9:
                break  # the geometries may round a tie in different ways
            assert a.extra.get("halt") == b.extra.get("halt") == c.extra.get("halt")


def test_one_row():
    one = from_arrays([[3.0, -4.0]], [-1])
    for solver, length in zip(EVERY, (2, 2, 1, None, 1, 1), strict=True):
        iterates = run(solver, one)
        if length is None:  # NVN has no exit for data with a margin
            assert len(iterates) == STEPS + 1
            assert all(it.dual.tolist() == [1.0] and it.extra["theta"] == 0.0 for it in iterates)
        else:
            assert len(iterates) == length
            assert halt(iterates) == "separated"
        assert iterates[-1].w.tolist() == [-3.0, 4.0]


def test_zero_rows():
    """The data are not separable, with the zero row as witness."""
    problem = from_arrays([[0.0, 0.0], [1.0, 0.0]], [-1, 1])
    for solver in (NormalizedPerceptron(), NKP(), SNKP(), Winnow()):
        assert halt(run(solver, problem, 50)) is None
    for solver in (NVN(0.01), SNKP(0.01), SNKPVN(0.01), ISNKPVN(2.0, 0.01)):
        last = run(solver, problem, 1000)[-1]
        assert last.extra["halt"] == "certificate"
        p = last.dual if isinstance(solver, NVN) else last.extra["p"]
        assert p == pytest.approx([1.0, 0.0], abs=0.011)


def test_opposite_rows_keep_isnkpvn_busy_for_ever():
    """q_0 is a witness, δ_0 = 0, no norm is below 0: as printed, the first call never returns."""
    problem = from_arrays([[1.0], [1.0]], [1, -1])
    iterates = run(ISNKPVN(), problem, 300)
    assert len(iterates) == 301
    assert iterates[-1].extra["outer"] == 0
    assert iterates[-1].extra["delta"] == 0.0
    assert halt(run(SNKPVN(0.01), problem)) == "certificate"
    assert halt(run(NVN(), problem)) == "certificate"


def test_ties_go_to_the_first_row():
    problem = DenseProblem(np.array([[1, 0], [1, 0], [0, 1]]), np.ones(3))
    for solver in (NormalizedPerceptron(), NKP()):
        assert [it.extra.get("i") for it in run(solver, problem)] == [0, 2, None]
    # At p_0 = 1/n all four scores are ½ without rounding; after a step they are so up to rounding,
    # which is not the same on every machine.
    even = DenseProblem(np.array([[0, 1], [1, 0], [0, 1], [1, 0]]), np.ones(4))
    assert run(NVN(0.5), even, 1)[0].extra["i"] == 0
    assert run(NVN(0.5), problem, 1)[0].extra["i"] == 2


def test_kernel_steps_read_what_they_must(monkeypatch):
    """Support sizes of all products with the Gram matrix, for three steps from the second on."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.where(rng.random(30) < 0.5, 1, -1)

    def products(solver):
        problem = KernelProblem(X, y, Kernel("linear"))
        sizes = []
        dot = problem._values.dot
        monkeypatch.setattr(
            problem._values, "dot", lambda v: sizes.append(np.count_nonzero(v)) or dot(v)
        )
        iterates = solver.iterates(problem)
        for _ in range(2):
            next(iterates)
        sizes.clear()
        for _ in range(3):
            assert "halt" not in next(iterates).extra
        return sizes

    for solver in (Perceptron(), Perceptron("worst"), NKP(), NVN(1e-9)):
        assert products(solver) == [1, 1, 1]
    for solver in (SNKP(), SNKPVN(1e-9), ISNKPVN(1e9, 1e-9)):
        assert len(products(solver)) == 3


@pytest.mark.parametrize("solver", [*EVERY, Winnow()], ids=str)
def test_what_was_yielded_does_not_change(solver):
    problem = from_arrays([[1.0, 2.0], [2.0, -1.0], [1.0, -0.5], [-1.0, -1.0]], [1, 1, -1, 1])
    kept = run(solver, problem, 15)
    copies = []
    for it in islice(solver.iterates(problem), 16):
        arrays = [it.w, it.dual, it.extra.get("p"), it.extra.get("scores")]
        copies.append([None if a is None else a.copy() for a in arrays])
    for it, arrays in zip(kept, copies, strict=True):
        for a, b in zip(
            [it.w, it.dual, it.extra.get("p"), it.extra.get("scores")], arrays, strict=True
        ):
            assert a is b is None or (a == b).all()
        assert it.scores == pytest.approx(problem.scores(it.w), abs=1e-12)


def test_halting_claims_are_true_of_large_noisy_data():
    problem = load("planted:n=300,d=20,gamma=0.05,seed=3").unit()
    for solver in (NormalizedPerceptron(), NKP(), SNKP(), SNKPVN(1e-3), ISNKPVN(2.0, 1e-3)):
        *_, last = solver.iterates(problem)
        assert last.extra["halt"] == "separated"
        assert problem.scores(last.w).min() > 0


def test_bad_options_are_refused():
    kernel = from_arrays([[1.0], [2.0]], [1, -1], kernel="rbf:gamma=1")
    with pytest.raises(ProblemError, match="winnow multiplies the coordinates"):
        next(Winnow().iterates(kernel))
    for build in (
        lambda: Winnow(0.0),
        lambda: SNKP(-1.0),
        lambda: NVN(math.nan),
        lambda: SNKPVN(0.0),
        lambda: ISNKPVN(epsilon=0.0),
        lambda: ISNKPVN(gamma=1.0),
    ):
        with pytest.raises(ProblemError, match="must be"):
            build()
    with pytest.raises(ProblemError, match="one weight for each of the 2 rows"):
        next(SNKPVN(q=(1.0,)).iterates(kernel))
    with pytest.raises(ProblemError, match="lie in the simplex"):
        next(SNKPVN(q=(1.0, 0.5)).iterates(kernel))
