"""Algorithms 2 to 7 and Winnow, step by step, in every geometry; the corners."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from geometry_cases import cases, compare, floats, halt, run
from hypothesis import given, settings, strategies as st
from step_checks import steps_hold

from gammabar.papers.ramdas_pena_2015 import algorithms
from gammabar.problems import DenseProblem, Kernel, KernelProblem, from_arrays
from gammabar.solvers.base import COORDINATES
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
UNIT = {"max_n": 5, "unit": True}
#: Solvers and the data that their steps are computed anew for.
STEPPED = [
    (NormalizedPerceptron(), {}),
    (NKP(), {}),
    (SNKP(), {}),
    (SNKP(0.25), {}),
    *((NVN(epsilon), {}) for epsilon in (1e-6, 0.125, 1.0)),
    *((SNKPVN(delta), UNIT) for delta in (0.5, 0.125, 0.01)),
    *((ISNKPVN(gamma, epsilon), UNIT) for gamma in (1.25, 2.0, 8.0) for epsilon in (0.1, 0.02)),
    *((Winnow(rate), {"geometries": COORDINATES}) for rate in (None, 0.05, 1.0, 100.0)),
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(STEPPED), st.data())
def test_steps_are_those_printed(stepped, data):
    solver, options = stepped
    name = f"gb.rp.{solver.card.name}.step"
    steps_hold(name, solver, data.draw(cases(**options)).problem, 12)


@settings(max_examples=60, deadline=None)
@given(cases(**UNIT), st.data())
def test_snkpvn_from_any_centre(case, data):
    n = case.problem.n
    parts = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    solver = SNKPVN(0.125, tuple(v / sum(parts) for v in parts))
    steps_hold("gb.rp.snkpvn.step", solver, case.problem, 12)


@settings(max_examples=200)
@given(cases())
def test_whole_numbers_are_added_up_without_rounding(case):
    """NKP to the last bit, and the perceptrons that are the same method."""
    if not case.exact:
        return
    iterates = run(NKP(), case.problem)

    def same(it, alpha):
        assert it.dual.tolist() == floats(alpha).tolist()

    compare(iterates, algorithms.nkp(case.gram), same, STEPS)
    others = run(Perceptron("worst"), case.problem), run(NormalizedPerceptron(), case.problem)
    for a, b, c in zip(*others, iterates, strict=True):
        np.testing.assert_array_equal(a.w / max(a.t, 1), b.w)
        assert b.w == pytest.approx(c.w, abs=1e-13)


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
