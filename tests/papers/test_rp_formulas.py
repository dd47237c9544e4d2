"""Ramdas and Peña (2015): printed numbers, and what their statements are made of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from statement_checks import STATEMENTS, verdict

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.iterate import View
from gammabar.harness.verify.numbers import LEVELS, middle, number, working
from gammabar.papers.ramdas_pena_2015 import quantities, small_data
from gammabar.papers.ramdas_pena_2015.algorithms import nearest_in_simplex
from gammabar.papers.ramdas_pena_2015.quantities import signed_normalised
from gammabar.papers.ramdas_pena_2015.small_data import over
from gammabar.problems import DenseProblem, from_arrays
from gammabar.problems.specs import open_problem
from gammabar.solvers import Iterate
from gammabar.solvers.ramdas_pena import ISNKPVN, NVN, SNKP, SNKPVN, Winnow

ONE, PAIR = from_arrays([[2.0]], [1]), from_arrays([[1, 2], [1, 2]], [1, -1])
THIRD = from_arrays([[1], [1], [1]], [1, 1, -1])


@pytest.mark.parametrize(
    ("statement", "solver", "problem", "words"),
    [
        ("rp.lem9", SNKPVN(0.01, (0.75, 0.25)), from_arrays([[1], [1]], [1, -1]), "‖p_k‖_G"),
        ("rp.thm4.1", ISNKPVN(), ONE, "loops"),
        ("rp.thm4.2", ISNKPVN(), PAIR, "can end"),
        ("rp.thm4.2", ISNKPVN(4.0, 0.5), THIRD, "loops"),  # log 2/log 4 = ½ loops, but there is one
    ],
)
def test_printed_forms_are_refuted_where_the_fixed_ones_hold(statement, solver, problem, words):
    found = verdict(statement, solver, problem, 20)
    assert (found.verdict, words in found.what) == ("refuted", True)
    assert problem is PAIR or verdict(f"{statement}.fixed", solver, problem, 20).verdict == "holds"
    if statement == "rp.lem9":  # it divides by a negative number
        sides = [float(side.strip("[").split()[0]) for side in (found.left, found.right)]
        assert (found.worst_t, sides) == (0, pytest.approx([0.25, -math.sqrt(2)]))


@pytest.mark.parametrize(("eta", "steps"), [(0.1, 24), (0.01, 249), (0.003, 834), (0.001, 2505)])
def test_the_last_call_of_theorem_4_takes_more_than_a_constant_over_epsilon(eta, steps) -> None:
    rows = np.array([[1, eta], [-1, eta], [1, -eta], [-1, -eta / 2]])
    y = np.array([1, -1, 1, -1])
    problem = from_arrays(y[:, None] * rows / np.linalg.norm(rows, axis=1, keepdims=True), y)
    *_, last = ISNKPVN(2.0, 0.5).iterates(problem)
    assert (last.extra["outer"], last.extra["inner"]) == (0, steps)


def bound(identifier: str, text: str, solver=None) -> float:
    case = Case(open_problem(text), solver, unit=STATEMENTS[identifier].unit)
    assert STATEMENTS[identifier].inapplicable(case) is None
    with working(LEVELS[1]):
        return middle(number(STATEMENTS[identifier].body(case)))


SIMPLEX = "degenerate:kind=simplex,n=16,d=16"  # ρ = 1/4
ROWS = "degenerate:kind=opposite,n=4,d=1"  # rows 1, 1, 1, −1: ρ = −1 and ‖q‖ = ½
ROW = "degenerate:kind=collinear,n=1,d=2,seed=25"  # the row (3, −4): ρ₁ = 3/4


@pytest.mark.parametrize(
    ("statement", "problem", "solver", "wanted"),
    [
        ("rp.perceptron", SIMPLEX, None, 16),
        ("rp.normalized", SIMPLEX, None, 16),
        ("rp.nkp", SIMPLEX, None, 16),
        ("rp.thm1", SIMPLEX, None, 8 * math.sqrt(2 * math.log(16))),
        ("rp.lem8.separator", SIMPLEX, SNKPVN(0.1), 8 * math.sqrt(32)),
        ("rp.nvn", ROWS, NVN(0.125), 64),
        ("rp.lem9.solution", ROWS, SNKPVN(0.25), 4 * math.sqrt(8)),
        ("gb.snkp.any.exit", ROWS, SNKP(0.5), 4 * math.sqrt(2 * math.log(4))),
        ("rp.winnow", ROW, Winnow(), 0),
        ("rp.winnow.fixed", ROW, Winnow(), 64 / 9 * math.log(2)),
        ("rp.winnow.fixed", ROW, Winnow(0.5), 4 * math.log(2)),
    ],
)
def test_printed_bounds(statement, problem, solver, wanted) -> None:
    assert bound(statement, problem, solver) == pytest.approx(wanted)


@settings(max_examples=50)
@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=6), st.integers(1, 30), st.integers(0, 5)
)
def test_smoothed_maximum_is_enclosed(scores, scale, seed) -> None:
    """max_p −⟨s, p⟩ − (μ/2)‖p − q‖², against the exact projection."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, 5, len(scores)) + np.eye(len(scores), dtype=int)[0]
    q, s, mu = over(parts, int(parts.sum())), over(scores, 7), Fraction(scale, 11)
    p = nearest_in_simplex(q - s / mu)
    exact = number(-s @ p - mu / 2 * ((p - q) @ (p - q)))
    with working(LEVELS[1]):
        found = quantities.prox_value([*map(number, s)], [*map(number, q)], number(mu))
        assert found.contains(exact) or found.overlaps(exact)
        assert found.rad() < 1e-25
    near = quantities.nearest((q - s / mu).astype(float))
    assert near == pytest.approx(p.astype(float), abs=1e-12)


def test_entropy_loss_is_the_supremum() -> None:
    problem = from_arrays([[3, 4], [4, 3], [-5, 0]], [1, -1, 1])
    case = Case(problem, unit=True)
    w = np.array([0.3, -0.2])
    with working(LEVELS[1]):
        it = View(Iterate(0, w), case).at(1)
        hard = middle(quantities.hard_loss(it))
        loss = hard - middle(quantities.entropy_gap(it, number(Fraction(1, 3))))
    scores = case.problem.scores(w)
    assert hard == pytest.approx(-scores.min() + w @ w / 2)
    for p in np.random.default_rng(0).dirichlet(np.ones(3), 200):
        d = float((p * np.log(p)).sum()) + math.log(3)
        assert -scores @ p - d / 3 + w @ w / 2 <= loss + 1e-12
    best = np.exp(-3 * scores) / np.exp(-3 * scores).sum()
    d = float((best * np.log(best)).sum()) + math.log(3)
    assert -scores @ best - d / 3 + w @ w / 2 == pytest.approx(loss)


def test_distance_to_the_witnesses_is_bounded_from_below() -> None:
    for name, rows in small_data.INSEPARABLE.items():
        integers, _ = small_data.integers_of(rows)
        case = Case(DenseProblem(np.array(integers), np.ones(len(rows), dtype=int)), unit=True)
        for q in small_data.centres(len(rows)):
            exact = small_data.square_distance(rows, q) / 2
            with working(LEVELS[1]):
                found = small_data.to_witnesses(case, q.astype(float))
            assert middle(found) <= float(exact) + 1e-15, name
            assert middle(found) == pytest.approx(float(exact), abs=1e-6), name


def test_signed_margins_of_normalised_rows() -> None:
    plain = from_arrays([[2, 0], [0, 3], [4, 0], [0, 5]], [1, 1, -1, -1])
    low, high, error = signed_normalised(plain)
    assert (low, high, error) == (Fraction(1, 2), Fraction(1, 2), 0)
    rounded = from_arrays([[1, 1], [2, -2], [3, 3], [7, -7]], [1, 1, -1, -1])
    low, high, error = signed_normalised(rounded)
    assert math.sqrt(low) - float(error) <= math.sqrt(0.5) <= math.sqrt(high) + float(error)
    assert 0 < error < 1e-15
    assert signed_normalised(from_arrays([[1, 0], [2, 0]], [1, -1])) == (0, 0, 0)
