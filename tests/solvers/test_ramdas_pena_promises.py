"""What Ramdas and Peña promise of Algorithms 2 to 7 and Winnow, with exact margins; the corners."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from perceptron_cases import cases

from gammabar.problems import (
    DenseProblem,
    KernelProblem,
    from_arrays,
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


def run(solver, problem, steps=STEPS):
    return list(islice(solver.iterates(problem), steps + 1))


def halt(iterates):
    """How it ended, if it did; only the last iterate may say so."""
    assert not any("halt" in it.extra for it in iterates[:-1])
    return iterates[-1].extra.get("halt")


@settings(max_examples=100)
@given(cases(("dense", "multiclass")))
def test_normalized_perceptron_is_the_worst_perceptron_divided_by_k(case):
    plain = run(Perceptron("worst"), case.problem)
    normal = run(NormalizedPerceptron(), case.problem)
    if case.exact:
        assert len(plain) == len(normal)
        for a, b in zip(plain, normal, strict=True):
            assert (a.w / max(a.t, 1) == b.w).all()


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
