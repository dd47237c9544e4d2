"""Algorithms 2 to 7 and Winnow against their literal reference, in every geometry."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from perceptron_cases import ball, cases, dyadic, followed

from gammabar.papers.ramdas_pena_2015 import algorithms
from gammabar.solvers.ramdas_pena import (
    ISNKPVN,
    NKP,
    NVN,
    SNKP,
    SNKPVN,
    NormalizedPerceptron,
    Winnow,
)

STEPS = 8
COORDINATES = ("dense", "sparse", "multiclass")
TIGHT = 1e-12


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def run(solver, problem, steps=STEPS):
    return list(islice(solver.iterates(problem), steps + 1))


def halt(iterates):
    """How it ended, if it did; only the last iterate may say so."""
    assert not any("halt" in it.extra for it in iterates[:-1])
    return iterates[-1].extra.get("halt")


def near(value, scale, slack=TIGHT):
    """Zero, up to the slack."""
    return abs(value) <= slack * (1 + abs(scale))


def observed(iterates, slack):
    """Whether the solver stopped at k: rightly, or the smallest value is within the slack of 0."""

    def solved(k, values):
        stopped = iterates[k].extra.get("halt") == "separated"
        assert stopped == (min(values) > 0) or near(min(values), max(values), slack)
        return stopped

    return solved


def compare(iterates, exact, same, steps=STEPS):
    wanted = list(islice(exact, len(iterates)))
    assert len(wanted) == len(iterates)
    for k, (it, value) in enumerate(zip(iterates, wanted, strict=True)):
        assert it.t == k
        same(it, value)
    assert halt(iterates) or len(iterates) == steps + 1
    if halt(iterates):
        assert next(exact, None) is None


def close(got, wanted, bound):
    for a, b in zip(got, wanted, strict=True):
        assert abs(ball(a) - b) <= bound


@settings(max_examples=200)
@given(cases())
def test_normalized_perceptron_is_the_text(case):
    iterates = run(NormalizedPerceptron(), case.problem)
    slack = 0 if case.exact else TIGHT
    pick = followed(lambda k: iterates[k].extra["i"], slack)
    solved = observed(iterates, slack)
    if case.metric is None:
        exact = algorithms.normalized_perceptron(case.rows, pick, solved)
    else:
        exact = algorithms.nkp(case.gram, pick, solved)  # w is represented by α
    compare(iterates, exact, lambda it, w: case.same(it.w, w, 0))


@settings(max_examples=200)
@given(cases())
def test_nkp_is_the_text(case):
    iterates = run(NKP(), case.problem)
    slack = 0 if case.exact else TIGHT
    pick = followed(lambda k: iterates[k].extra["i"], slack)

    def same(it, alpha):
        assert it.dual.tolist() == [float(v) for v in alpha]
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=1e-13)
        carried = it.extra.get("scores", it.scores)
        assert carried == pytest.approx(case.problem.scores(it.w), abs=1e-11)

    compare(iterates, algorithms.nkp(case.gram, pick, observed(iterates, slack)), same)


@settings(max_examples=200)
@given(cases())
def test_snkp_steps_are_the_text(case):
    G = algorithms.array([[ball(v) for v in line] for line in case.gram])
    size = float(case.radius_squared)
    iterates = run(SNKP(), case.problem, 12)
    n = case.problem.n
    assert iterates[0].dual.tolist() == [1 / n] * n
    assert iterates[0].extra["mu"] == 2.0
    uniform = algorithms.array([arb(1) / n] * n)
    close(iterates[0].extra["p"], algorithms.softmax(G @ uniform, arb(2)), 1e-14 * (1 + size))
    for k, it in enumerate(iterates):
        assert it.t == k
        mu = 4 / ((k + 1) * (k + 2))
        assert it.extra["mu"] == pytest.approx(mu, rel=1e-14)
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=1e-12 * (1 + size))
        assert it.extra["v"] == pytest.approx(
            case.problem.combine(it.extra["p"]), abs=1e-12 * (1 + size)
        )
        scores = algorithms.array(case.gram) @ dyadic(it.dual)
        stopped = it.extra.get("halt") == "separated"
        assert stopped == (min(scores) > 0) or near(min(scores), size)
        if k == 0:
            continue
        before = iterates[k - 1]
        vectors = (before.dual, before.extra["p"], it.dual)
        alpha, p, last = (algorithms.array([ball(v) for v in x]) for x in vectors)
        theta = arb(2) / (k + 2)
        # Scores err by rounding relative to the Gram matrix; the softmax by that over μ.
        bound = 1e-14 * (1 + 4 * size / mu)
        previous = ball(before.extra["mu"])
        answer = algorithms.softmax(G @ alpha, previous)
        close(it.dual, algorithms.smoothed_alpha(theta, alpha, p, answer), bound)
        answer = algorithms.softmax(G @ last, ball(it.extra["mu"]))
        close(it.extra["p"], algorithms.mixed(theta, p, answer), bound)
    assert halt(iterates) or len(iterates) == 13


@settings(max_examples=150)
@given(cases(unit=True))
def test_snkp_trajectories_are_the_text(case):
    G = algorithms.array([[ball(v) for v in line] for line in case.gram])
    iterates = run(SNKP(), case.problem, 6)
    for it, (alpha, p, mu) in zip(iterates, algorithms.snkp(G, arb(1)), strict=False):
        close(it.dual, alpha, 1e-9)
        close(it.extra["p"], p, 1e-9)
        close([it.extra["mu"]], [mu], 1e-14)


@settings(max_examples=200)
@given(cases(), st.sampled_from((1e-6, 0.125, 1.0)))
def test_nvn_steps_are_the_text(case, epsilon):
    """From each iterate of the solver, as it is, the next one."""
    G, size = algorithms.array(case.gram), float(case.radius_squared)
    iterates = run(NVN(epsilon), case.problem, 12)
    assert iterates[0].dual.tolist() == [1 / case.problem.n] * case.problem.n
    for k, it in enumerate(iterates):
        assert it.t == k
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=1e-12 * (1 + size))
        p = algorithms.array(dyadic(it.dual))
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
        after = algorithms.array(dyadic(iterates[k + 1].dual))
        # No λ does better, up to rounding.
        shortest = algorithms.square(G, wanted)
        assert algorithms.square(G, after) <= shortest + TIGHT * (1 + size)
        # θ is a quotient by ‖w − a_j‖², so it is itself known only if that is not tiny.
        length = float(square - 2 * scores[j] + G[j, j])
        if length > 1e-6:
            bound = TIGHT * (1 + size / length)
            assert max(abs(a - b) for a, b in zip(after, wanted, strict=True)) <= bound
    assert halt(iterates) or len(iterates) == 13


@settings(max_examples=150)
@given(cases(max_n=5, entry=3), st.sampled_from((1e-6, 0.125)))
def test_nvn_trajectories_are_the_text(case, epsilon):
    iterates = run(NVN(epsilon), case.problem, 5)
    pick = followed(lambda k: iterates[k].extra["i"], TIGHT)
    wanted = list(islice(algorithms.nvn(case.gram, Fraction(epsilon), pick), len(iterates)))
    for it, p in zip(iterates, wanted, strict=True):
        # Not p itself: where w = a_j, a rounding error decides between p and e_j, for the same w.
        exact = np.array([float(v) for v in algorithms.array(case.gram) @ p])
        assert case.problem.scores(it.w) == pytest.approx(exact, abs=1e-9)


def follow_smoothed(case, iterates, exact, thresholds):
    """Same α, p and end at every step, until a decision hangs on the last digit."""
    size = float(case.radius_squared)
    for it, (alpha, p, outcome), threshold in zip(iterates, exact, thresholds, strict=False):
        assert it.dual == pytest.approx(np.array([float(v) for v in alpha]), abs=1e-9)
        assert it.extra["p"] == pytest.approx(np.array([float(v) for v in p]), abs=1e-9)
        assert it.w == pytest.approx(case.problem.combine(it.dual), abs=1e-11 * (1 + size))
        square = algorithms.square(algorithms.array(case.gram), p)
        assert it.extra["norm_p"] ** 2 == pytest.approx(float(square), abs=1e-9 * (1 + size))
        seen = it.extra.get("halt", "certificate" if "returned" in it.extra else None)
        if seen != outcome:
            least = min(algorithms.array(case.gram) @ alpha)
            assert near(least, size) or near(float(square) - threshold, size)
            return


@settings(max_examples=200)
@given(cases(max_n=5, unit=True), st.sampled_from((0.5, 0.125, 0.01)), st.data())
def test_snkpvn_is_the_text(case, delta, data):
    n = case.problem.n
    whole = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    total = sum(whole)
    q = [Fraction(v, total) for v in whole] if total else [Fraction(1, n)] * n
    solver = SNKPVN(delta, tuple(float(v) for v in q) if total else None)
    iterates = run(solver, case.problem)
    assert [it.t for it in iterates] == list(range(len(iterates)))
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
    assert [it.t for it in iterates] == list(range(len(iterates)))
    G = case.gram
    exact = list(islice(algorithms.isnkpvn(G, Fraction(gamma), Fraction(epsilon)), 13))
    thresholds = [it.extra["delta"] ** 2 for it in iterates]
    follow_smoothed(case, iterates, (x[1:] for x in exact), thresholds)
    place = (0, 0)
    for it in iterates:
        assert (it.extra["outer"], it.extra["inner"]) == place
        if "returned" in it.extra:
            assert (it.extra["delta"] < epsilon) == ("halt" in it.extra)
            place = (place[0] + 1, 0)
        else:
            place = (place[0], place[1] + 1)
    assert halt(iterates) or len(iterates) == 13


@settings(max_examples=200)
@given(cases(COORDINATES), st.sampled_from((None, 0.05, 1.0, 100.0)))
def test_winnow_is_the_text(case, rate):
    rows, _ = case.balls()
    iterates = run(Winnow(rate), case.problem)

    def pick(t, values):
        i = iterates[t].extra["i"]
        assert not any(values[i] - v > 1e-12 * case.size(iterates[t].w) for v in values)
        return i

    exact = algorithms.winnow(rows, pick, None if rate is None else ball(rate))
    for t, it in enumerate(iterates):
        assert it.t == t
        w = next(exact)
        # Exponents err by rounding, relative to their size.
        close(it.w, w, 1e-13 * (1 + (rate or 1) * (t + 1)))
        values = algorithms.array(rows) @ w
        slack = 1e-12 * (1 + case.size(it.w)) * (1 + (rate or 1) * t)
        stopped = it.extra.get("halt") == "separated"
        assert not any(v < -slack for v in values) if stopped else any(v < slack for v in values)
    assert halt(iterates) or len(iterates) == STEPS + 1
