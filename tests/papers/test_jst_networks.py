"""Figures 3 and 4: kernels of networks, and what is said of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gammabar.harness.reproduce import missing_data
from gammabar.papers.ji_srebro_telgarsky_2021 import figures, figures_network as deep
from gammabar.problems import ProblemError
from gammabar.problems.environment import has_module

with_torch = pytest.mark.skipif(not has_module("torch"), reason="the extra networks is not there")


# --- Figure 3 --------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [figures.AGGRESSIVE, figures.BATCH, figures.THEOREM])
def test_margins_that_are_carried_along_are_those_of_w(label: str):
    curve = figures._curve("mnist-sample:n=60", label, 40)
    assert curve["t"][-1] == 40
    assert curve["afresh"] == pytest.approx(curve["margin"][-1], abs=1e-12)
    assert max(curve["margin"]) <= min(curve["bound"])


def _curves(aggressive: float, batch: float, theorem: float) -> dict:
    return {
        name: {"t": [1, 9], "margin": [-1.0, m], "bound": [1, 0.5], "afresh": m}
        for name, m in (("a", aggressive), ("b", batch), ("t", theorem))
    }


def test_figure_3_says_who_is_ahead():
    agree = [shown.agrees for shown in figures._shown_3(_curves(0.02, 0.01, -0.1))]
    assert agree == [True, True, True, True]
    agree = [shown.agrees for shown in figures._shown_3(_curves(-0.03, -0.02, -0.01))]
    assert agree == [None, None, None, True]


# --- Figure 4, without torch -----------------------------------------------------------------


def test_the_reduction_has_the_gram_matrix_of_its_rows_and_their_combinations():
    rng = np.random.default_rng(0)
    n, k, p = 5, 4, 30
    jacobians = rng.standard_normal((n, k, p))
    labels = np.array([0, 3, 1, 2, 3])
    flat = jacobians.reshape(n * k, p)
    G, lengths = figures.reduced(flat @ flat.T, labels)
    rows = [
        (jacobians[i, c] - jacobians[i, j]) / np.sqrt(2) / np.linalg.norm(jacobians[i])
        for i, c in enumerate(labels)
        for j in range(k)
        if j != c
    ]
    Z = np.array(rows)
    assert pytest.approx(Z @ Z.T, abs=1e-12) == G
    assert (G == G.T).all()
    assert np.diagonal(G).max() <= 1
    alpha = rng.random(len(Z))
    beta = figures.spread(alpha, labels, lengths, k)
    assert np.einsum("ic,icp->p", beta, jacobians) == pytest.approx(alpha @ Z)


def test_without_torch_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr("gammabar.harness.reproduce.has_module", lambda name: False)
    monkeypatch.setitem(sys.modules, "torch", None)
    artefact = figures.ARTEFACTS[-1]
    for quick in (False, True):
        with pytest.raises(ProblemError, match=r"jst.fig4 needs torch.*gammabar\[networks\]"):
            missing_data(artefact, quick)
    with pytest.raises(ProblemError, match=r"needs torch.*gammabar\[networks\]"):
        deep.alexnet(8, seed=0)


def _numbers(*ends: tuple[int, float, float]) -> dict:
    def at(epoch: int, error: float, margin: float) -> dict:
        curve = {"t": [10], "margin": [0.95 * margin], "error": [error]}
        ours = {"epoch": epoch, "γ̄": margin, "exact": True, "network error": 0.7, "error": error}
        return ours | {"algorithm": curve}

    return {
        f"kernels, seed {seed}": [at(0, first, 0.1), at(9, last, 0.2)] for seed, first, last in ends
    }


def test_figure_4_counts_the_seeds():
    found = figures._shown_4(_numbers((100, 0.8, 0.7), (13579, 0.7, 0.705), (3, 0.8, 0.75)))
    assert [shown.agrees for shown in found] == [True, True, True, True, True, False, True]
    assert "falls by more than 0.01 with 2 of 3 seeds and rises with 1" in found[2].found
    found = figures._shown_4(_numbers((100, 0.8, 0.7), (13579, 0.8, 0.7)))
    assert [shown.agrees for shown in found] == [True, None, None, True, True, True, True]


# --- Figure 4, with torch --------------------------------------------------------------------


def _net():
    rng = np.random.default_rng(1)
    model = deep.alexnet(8, seed=1, classes=3).double()
    for parameter in model.parameters():  # biases too
        parameter.data += 0.01 * rng.standard_normal()
    return model, deep.images(rng.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)).double()


def _gradients(model, X) -> np.ndarray:
    """Every ∇A_c(x_i), as automatic differentiation has it."""
    import torch

    rows = []
    for x in X:
        outputs = model(x[None])[0]
        for c in range(len(outputs)):
            found = torch.autograd.grad(outputs[c], list(model.parameters()), retain_graph=True)
            rows.append(torch.cat([part.ravel() for part in found]))
    return torch.stack(rows).numpy()


@with_torch
def test_the_gram_matrix_is_that_of_the_gradients():
    model, X = _net()
    F = _gradients(model, X)
    H = deep.jacobian_gram(model, X)
    assert (H == H.T).all()
    assert pytest.approx(F @ F.T, rel=1e-12, abs=1e-12 * abs(H).max()) == H


@with_torch
def test_a_prediction_is_the_derivative_along_the_combination():
    model, X = _net()
    beta = np.random.default_rng(2).standard_normal((4, 3))
    along = deep.direction(model, X, beta)
    found = deep.derivatives(model, X, along, batch=3)
    expected = _gradients(model, X) @ (_gradients(model, X).T @ beta.ravel())
    assert found.ravel() == pytest.approx(expected, rel=1e-10)


@with_torch
def test_training_is_plain_sgd_and_the_same_every_time():
    import torch

    rng = np.random.default_rng(3)
    X = deep.images(rng.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8))
    labels = np.array([0, 1, 2, 0, 1, 2])
    one, two, three = (deep.alexnet(8, seed=5, classes=3) for _ in range(3))
    losses = [next(deep.train(model, X, labels, 7, 0.05, 6)) for model in (one, two)]
    assert losses[0] == losses[1]
    loss = torch.nn.functional.cross_entropy(three(X), torch.from_numpy(labels))
    loss.backward()
    for moved, start in zip(one.parameters(), three.parameters(), strict=True):
        assert torch.allclose(moved, start - 0.05 * start.grad, atol=1e-6)
    assert torch.is_grad_enabled()


@with_torch
@pytest.mark.slow
def test_quick_figure_4():
    artefact = figures.ARTEFACTS[-1]
    name, make = next(iter(artefact.parts(True).items()))
    for at in make():
        assert at["exact"]
        assert at["γ̄"] > 0
        assert at["algorithm"]["margin"][-1] <= at["γ̄"] * (1 + 1e-9)
        assert 0 <= at["error"] <= 1
    assert name.endswith("seed 100")
