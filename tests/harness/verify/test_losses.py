"""Losses in balls: derivatives and inverses belong to their values."""

from __future__ import annotations

import pytest

from gammabar.papers import EXPONENTIAL, LOGISTIC, GeneralisedSum, Polynomial, number

LOSSES = [EXPONENTIAL, LOGISTIC, Polynomial(0.5), Polynomial(1), Polynomial(3)]
POINTS = [-20.0, -1.0, -0.25, 0.0, 0.25, 2.0, 30.0]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_derivatives_are_those_of_the_values(loss):
    h = number(2) ** -16
    for x in map(number, POINTS):
        for f, df in ((loss.value, loss.slope), (loss.slope, loss.curvature)):
            slope, near = (f(x + h) - f(x - h)) / (2 * h), df(x)
            assert abs(float(slope - near)) <= 1e-3 * (1 + float(abs(near)))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_inverse_contains_what_it_inverts(loss):
    for x in map(number, POINTS):
        assert loss.inverse(loss.value(x)).overlaps(x)


def test_the_sum_of_exponential_losses_is_log_sum_exp():
    found = GeneralisedSum(EXPONENTIAL, [number(0), number(1)])
    assert found.psi.overlaps((number(1).exp() + 1).log())
    assert sum(found.weights, number(0)).overlaps(number(1))


def test_weights_are_the_gradient():
    h = number(2) ** -16
    for loss in LOSSES:
        xi = [number(-1), number(0.5), number(-3)]
        found = GeneralisedSum(loss, xi)
        for i, q in enumerate(found.weights):
            moved = GeneralisedSum(loss, [x + h * (i == j) for j, x in enumerate(xi)])
            assert abs(float((moved.psi - found.psi) / h - q)) < 1e-3
