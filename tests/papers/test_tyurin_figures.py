"""The runs behind Tyurin's figures, held against the solvers themselves."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from gammabar.harness.registry import artefacts
from gammabar.harness.run.tasks import Registered
from gammabar.papers.tyurin_2024 import experiments
from gammabar.papers.tyurin_2024.experiments import (
    Method,
    counts,
    curves,
    rows_of,
    scaled,
    sizes_that_fit,
)
from gammabar.papers.tyurin_2024.figures import _before
from gammabar.papers.tyurin_2024.table1 import WORST, standing
from gammabar.problems import DenseProblem, ProblemError, from_arrays, load

METHODS = [
    Method("lr-gd", 0.01),
    Method("lr-gd", 1.0),
    Method("lr-gd", 100.0),
    Method("normalized-lr-gd", 0.1),
    Method("normalized-lr-gd", 10.0),
    Method("batch-perceptron"),
    Method("normalized-batch-perceptron"),
]


def pixels(n: int, d: int, repeat: int = 1) -> DenseProblem:
    """Separable bytes, some rows several times."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 256, (n, d), dtype=np.uint8)
    y = np.where(scaled(X) @ rng.standard_normal(d) > 0, 1, -1)
    again = np.where(y > 0, repeat, 1)
    return DenseProblem(np.repeat(X, again, axis=0), np.repeat(y, again))


def by_solver(problem: DenseProblem, method: Method, last: int) -> list[np.ndarray]:
    """Scores of the iterates of the registered solver; perceptrons end with the last of them."""
    whole = from_arrays(scaled(np.asarray(problem.X)), problem.y)
    run = Registered(str(method)).open().iterates(whole, np.random.default_rng(0))
    return [whole.scores(it.w) for it in islice(run, last + 1)]


@pytest.mark.parametrize("gram", [True, False])
@pytest.mark.parametrize("repeat", [1, 4])
def test_side_by_side_is_what_the_solvers_do(monkeypatch, gram: bool, repeat: int):
    if not gram:
        monkeypatch.setattr(experiments, "_MOST", 0)
    problem = pixels(40, 60, repeat)
    rows = rows_of(problem)
    assert len(rows.times) == 40
    assert rows.n == problem.n
    times = list(range(1, 16))
    found = curves(rows, METHODS, times)
    for method in METHODS:
        course = found[str(method)]
        every = by_solver(problem, method, 60)
        exact = [float(np.mean(scores > 0)) for scores in every]
        solved = next((t for t, accuracy in enumerate(exact) if accuracy == 1), None)
        accuracy = [exact[min(t, len(exact) - 1)] for t in times]
        loss = [float(np.logaddexp(0, -every[min(t, len(every) - 1)]).mean()) for t in times]
        assert course["t"] == times
        assert course["accuracy"] == pytest.approx(accuracy, abs=1e-12)
        assert course["loss"] == pytest.approx(loss, rel=1e-9)
        if method.step == 100:
            last = times[-1] if course["first"] is None else course["first"]
            until = [float(np.logaddexp(0, -s).mean()) for s in every[: last + 1]]
            assert course["rises"] == sum(b > a for a, b in pairwise(until)) > 0
            assert course["highest"] == pytest.approx(max(until[1:]), rel=1e-9)
        assert counts(rows, [method], 60) == [61 if solved is None else solved]
    assert counts(rows, METHODS, 60) == [counts(rows, [method], 60)[0] for method in METHODS]


def test_gradients_and_distances_are_those_of_w():
    problem = pixels(30, 50)
    found = curves(rows_of(problem), METHODS, [1, 7])
    whole = from_arrays(scaled(np.asarray(problem.X)), problem.y)
    batch = [it.w for it in islice(Registered("batch-perceptron").open().iterates(whole, None), 8)]
    for method in METHODS[:3]:
        run = list(islice(Registered(str(method)).open().iterates(whole, None), 8))
        course = found[str(method)]
        for place, t in enumerate((1, 7)):
            slope = np.linalg.norm(run[t].extra["gradient"])
            assert course["gradient"][place] == pytest.approx(slope, rel=1e-9)
            v = batch[min(t, len(batch) - 1)]
            apart = np.linalg.norm(run[t].w / method.step - v) / np.linalg.norm(v)
            assert course["apart"][place] == pytest.approx(apart, rel=1e-6, abs=1e-7)


def test_what_fits_table_1():
    assert sizes_that_fit(WORST, 1300)["n"] == [998, 999, 1000]
    printed = {("lr-gd", 1.0): 30, ("lr-gd", 10.0): 20}
    assert standing(printed, ((31, 30), (20, 25))) == "not reproducible"
    with pytest.raises(ValueError, match="30 is not among 31–33"):
        standing(printed, ((31, 33), (20, 25)))
    with pytest.raises(ProblemError, match="bytes"):
        rows_of(load("iris:0,1"))


def test_every_figure_of_the_paper_is_there():
    wanted = {f"tyurin.fig{number}" for number in range(1, 20)} | {"tyurin.table1"}
    assert wanted == {name for name in artefacts() if name.startswith("tyurin.")}


def test_runs_that_did_not_arrive_prove_nothing():
    never = float("inf")
    assert _before([3, 5], [7, never]) is True
    assert _before([3, 8], [7, never]) is False
    assert _before([3, never], [never, never]) is None
    assert _before([3, never], [7, never]) is False
