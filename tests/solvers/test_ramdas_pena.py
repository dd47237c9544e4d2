"""Algorithms 2 to 7 and Winnow against their literal reference, in every geometry; the corners."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from flint import arb, ctx
from geometry_cases import ball, balls, cases, close, compare, floats, fractions, halt, run
from hypothesis import given, settings, strategies as st

from gammabar.papers.ramdas_pena_2015 import algorithms
from gammabar.problems import DenseProblem, Kernel, KernelProblem, from_arrays
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
TIGHT = 1e-12


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(300):
        yield


def near(value, scale, slack=TIGHT):
    """Zero, up to the slack."""
    return abs(value) <= slack * (1 + abs(scale))


def followed(iterates, slack):
    """A `pick` that takes a solver's choices, each of which must be a minimiser up to `slack`; if
    that is 0, the first one."""

    def pick(k, values):
        i, least = iterates[k].extra["i"], min(values)
        assert near(values[i] - least, max(map(abs, values)), Fraction(slack))
        assert slack or i == list(values).index(least)
        return i

    return pick


def observed(iterates, slack):
    """Whether the solver stopped at k: rightly, or the smallest value is within the slack of 0."""

    def solved(k, values):
        stopped = iterates[k].extra.get("halt") == "separated"
        assert stopped == (min(values) > 0) or near(min(values), max(values), slack)
        return stopped

    return solved


@settings(max_examples=200)
@given(cases())
def test_normalized_perceptron_is_the_text(case):
    iterates, slack = run(NormalizedPerceptron(), case.problem), 0 if case.exact else TIGHT
    # With a kernel w is represented by α.
    loop, data = algorithms.nkp, case.gram
    if case.metric is None:
        loop, data = algorithms.normalized_perceptron, case.rows
    exact = loop(data, followed(iterates, slack), observed(iterates, slack))
    compare(iterates, exact, lambda it, w: case.same(it.w, w, 0), STEPS)
    if case.exact:  # the perceptron that takes the worst row, divided by k
        for a, b in zip(run(Perceptron("worst"), case.problem), iterates, strict=True):
            np.testing.assert_array_equal(a.w / max(a.t, 1), b.w)


@settings(max_examples=200)
@given(cases())
def test_nkp_is_the_text(case):
    iterates, slack = run(NKP(), case.problem), 0 if case.exact else TIGHT

    def same(it, alpha):
        assert it.dual.tolist() == floats(alpha).tolist()
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=1e-13)
        carried = it.extra.get("scores", it.scores)
        assert carried == pytest.approx(case.problem.scores(it.w), abs=1e-11)

    exact = algorithms.nkp(case.gram, followed(iterates, slack), observed(iterates, slack))
    compare(iterates, exact, same, STEPS)


@settings(max_examples=200)
@given(cases())
def test_snkp_steps_are_the_text(case):
    G, size, n = balls(case.gram), float(case.radius_squared), case.problem.n
    iterates = run(SNKP(), case.problem, 12)
    start = iterates[0]
    assert (start.dual.tolist(), start.extra["mu"]) == ([1 / n] * n, 2.0)
    answer = algorithms.softmax(G @ algorithms.array([arb(1) / n] * n), arb(2))
    close(start.extra["p"], answer, 1e-14 * (1 + size))
    for k, it in enumerate(iterates):
        mu, p = 4 / ((k + 1) * (k + 2)), it.extra["p"]
        assert (it.t, it.extra["mu"]) == (k, pytest.approx(mu, rel=1e-14))
        for vector, weights in ((it.w, it.dual), (it.extra["v"], p)):
            assert vector == pytest.approx(case.problem.combine(weights), abs=TIGHT * (1 + size))
        least = min(case.gram @ fractions(it.dual))
        assert (it.extra.get("halt") == "separated") == (least > 0) or near(least, size)
        if k == 0:
            continue
        before, theta = iterates[k - 1], arb(2) / (k + 2)
        # Scores err by rounding relative to the Gram matrix; the softmax by that over μ.
        bound = 1e-14 * (1 + 4 * size / mu)
        alpha, last = balls(before.dual), balls(before.extra["p"])
        answer = algorithms.softmax(G @ alpha, ball(before.extra["mu"]))
        close(it.dual, algorithms.smoothed_alpha(theta, alpha, last, answer), bound)
        answer = algorithms.softmax(G @ balls(it.dual), ball(it.extra["mu"]))
        close(p, algorithms.mixed(theta, last, answer), bound)
    assert halt(iterates) or len(iterates) == 13


@settings(max_examples=200)
@given(cases(), st.sampled_from((1e-6, 0.125, 1.0)))
def test_nvn_steps_are_the_text(case, epsilon):
    """From each iterate of the solver, as it is, the next one."""
    G, size, n = case.gram, float(case.radius_squared), case.problem.n
    iterates = run(NVN(epsilon), case.problem, 12)
    assert iterates[0].dual.tolist() == [1 / n] * n
    for k, it in enumerate(iterates):
        assert it.t == k
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=TIGHT * (1 + size))
        p = fractions(it.dual)
        square = algorithms.square(G, p)
        assert it.extra["norm"] ** 2 == pytest.approx(float(square), abs=TIGHT * (1 + size))
        stopped = it.extra.get("halt") == "certificate"
        assert stopped == (square <= Fraction(epsilon) ** 2) or near(square - epsilon**2, size)
        if k + 1 == len(iterates):
            continue
        j, scores = it.extra["i"], G @ p
        assert near(scores[j] - min(scores), size)
        theta = algorithms.line_search(square, scores[j], G[j, j])
        wanted = algorithms.mixed(theta, p, algorithms.corner(j, len(p)))
        after = fractions(iterates[k + 1].dual)
        # No λ does better, up to rounding.
        assert algorithms.square(G, after) <= algorithms.square(G, wanted) + TIGHT * (1 + size)
        # θ is a quotient by ‖w − a_j‖², so it is itself known only if that is not tiny.
        length = float(square - 2 * scores[j] + G[j, j])
        if length > 1e-6:
            assert max(abs(after - wanted)) <= TIGHT * (1 + size / length)
    assert halt(iterates) or len(iterates) == 13


def follow_smoothed(case, iterates, exact, thresholds):
    """Same α, p and end at every step, until a decision hangs on the last digit."""
    size = float(case.radius_squared)
    assert [it.t for it in iterates] == list(range(len(iterates)))
    for it, (alpha, p, outcome), threshold in zip(iterates, exact, thresholds, strict=False):
        assert it.dual == pytest.approx(floats(alpha), abs=1e-9)
        assert it.extra["p"] == pytest.approx(floats(p), abs=1e-9)
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=1e-11 * (1 + size))
        square = algorithms.square(case.gram, p)
        assert it.extra["norm_p"] ** 2 == pytest.approx(float(square), abs=1e-9 * (1 + size))
        seen = it.extra.get("halt", "certificate" if "returned" in it.extra else None)
        if seen != outcome:
            assert near(min(case.gram @ alpha), size) or near(float(square) - threshold, size)
            return


@settings(max_examples=200)
@given(cases(max_n=5, unit=True), st.sampled_from((0.5, 0.125, 0.01)), st.data())
def test_snkpvn_is_the_text(case, delta, data):
    n = case.problem.n
    whole = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    total = sum(whole)
    q = [Fraction(v, total) for v in whole] if total else [Fraction(1, n)] * n
    iterates = run(SNKPVN(delta, tuple(floats(q)) if total else None), case.problem)
    for k, it in enumerate(iterates):
        assert it.extra["mu"] == pytest.approx(4 * n / ((k + 1) * (k + 2)), rel=1e-14)
    exact = ((a, p, end) for a, p, _, end in algorithms.snkpvn(case.gram, q, Fraction(delta) ** 2))
    follow_smoothed(case, iterates, exact, [delta**2] * len(iterates))
    assert halt(iterates) or len(iterates) == STEPS + 1


@pytest.mark.full
@settings(max_examples=200)
@given(cases(max_n=4, unit=True), st.sampled_from((1.25, 2.0, 8.0)), st.sampled_from((0.1, 0.02)))
def test_isnkpvn_is_the_text(case, gamma, epsilon):
    iterates = run(ISNKPVN(gamma, epsilon), case.problem, 12)
    exact = islice(algorithms.isnkpvn(case.gram, Fraction(gamma), Fraction(epsilon)), 13)
    thresholds = [it.extra["delta"] ** 2 for it in iterates]
    follow_smoothed(case, iterates, (x[1:] for x in exact), thresholds)
    t = k = 0
    for it in iterates:
        assert (it.extra["outer"], it.extra["inner"]) == (t, k)
        if "returned" in it.extra:
            assert (it.extra["delta"] < epsilon) == ("halt" in it.extra)
            t, k = t + 1, 0
        else:
            k += 1
    assert halt(iterates) or len(iterates) == 13


@settings(max_examples=200)
@given(cases(("dense", "sparse", "multiclass")), st.sampled_from((None, 0.05, 1.0, 100.0)))
def test_winnow_is_the_text(case, rate):
    rows, _ = case.balls()
    iterates = run(Winnow(rate), case.problem)

    def pick(t, values):
        i = iterates[t].extra["i"]
        assert not any(values[i] - v > 1e-12 * case.size(iterates[t].w) for v in values)
        return i

    exact = algorithms.winnow(rows, pick, None if rate is None else ball(rate))
    for t, (it, w) in enumerate(zip(iterates, exact, strict=False)):
        assert it.t == t
        # Exponents err by rounding, relative to their size.
        close(it.w, w, 1e-13 * (1 + (rate or 1) * (t + 1)))
        values, slack = rows @ w, 1e-12 * (1 + case.size(it.w)) * (1 + (rate or 1) * t)
        stopped = it.extra.get("halt") == "separated"
        assert not any(v < -slack for v in values) if stopped else any(v < slack for v in values)
    assert halt(iterates) or len(iterates) == STEPS + 1


def test_zero_rows():
    """The data are not separable, with the zero row as witness."""
    problem = from_arrays([[0.0, 0.0], [1.0, 0.0]], [-1, 1])
    for solver in (NormalizedPerceptron(), NKP(), SNKP(), Winnow()):
        assert halt(run(solver, problem, 50)) is None
    for solver in (NVN(0.01), SNKP(0.01), SNKPVN(0.01), ISNKPVN(2.0, 0.01)):
        last = run(solver, problem, 1000)[-1]
        assert last.extra["halt"] == "certificate"
        assert last.extra.get("p", last.dual) == pytest.approx([1.0, 0.0], abs=0.011)


def test_opposite_rows_keep_isnkpvn_busy_for_ever():
    """q_0 is a witness, δ_0 = 0, no norm is below 0: as printed, the first call never returns."""
    problem = from_arrays([[1.0], [1.0]], [1, -1])
    iterates = run(ISNKPVN(), problem, 300)
    assert (len(iterates), iterates[-1].extra["outer"], iterates[-1].extra["delta"]) == (301, 0, 0)
    assert halt(run(SNKPVN(0.01), problem)) == halt(run(NVN(), problem)) == "certificate"


def test_ties_go_to_the_first_row():
    problem = DenseProblem(np.array([[1, 0], [1, 0], [0, 1]]), np.ones(3))
    for solver in (NormalizedPerceptron(), NKP()):
        assert [it.extra.get("i") for it in run(solver, problem)] == [0, 2, None]
    # At p_0 = 1/n all four scores are ½ without rounding; after a step they are so up to rounding,
    # which is not the same on every machine.
    even = DenseProblem(np.array([[0, 1], [1, 0], [0, 1], [1, 0]]), np.ones(4))
    assert [run(NVN(0.5), p, 1)[0].extra["i"] for p in (even, problem)] == [0, 2]


@pytest.mark.parametrize(
    ("solver", "rows"),
    [(s, 1) for s in (Perceptron(), Perceptron("worst"), NKP(), NVN(1e-9))]
    + [(s, None) for s in (SNKP(), SNKPVN(1e-9), ISNKPVN(1e9, 1e-9))],
)
def test_kernel_steps_read_what_they_must(monkeypatch, solver, rows):
    """Support sizes of all products with the Gram matrix, for three steps from the second on."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.where(rng.random(30) < 0.5, 1, -1)
    problem, sizes = KernelProblem(X, y, Kernel("linear")), []
    dot = problem._values.dot
    count = lambda v: sizes.append(np.count_nonzero(v)) or dot(v)  # noqa: E731
    monkeypatch.setattr(problem._values, "dot", count)
    iterates = solver.iterates(problem)
    list(islice(iterates, 2))
    sizes.clear()
    assert not any("halt" in it.extra for it in islice(iterates, 3))
    assert len(sizes) == 3
    assert rows is None or sizes == [rows] * 3
