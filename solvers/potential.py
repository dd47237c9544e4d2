"""The potential of an exponentially-tailed loss, and its gradient.

Ji, Srebro and Telgarsky (2021), Section 2, eq. (2.1): for a loss ℓ,

    ψ(ξ) = ℓ⁻¹(Σ_i ℓ(ξ_i)),        ∇ψ(ξ)_i = ℓ′(ξ_i) / ℓ′(ψ(ξ)).

The dual variable of w is q = ∇ψ(Zw) with Z = −A. For the exponential loss ℓ(z) = eᶻ it is the
softmax; for the logistic loss ℓ(z) = ln(1 + eᶻ) it is positive with sum at least one (Section 5.1).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gammabar.problems.problem import soften

LOSSES = ("exponential", "logistic")

# Below this, 1 + exp(x) rounds to 1 and the two losses cannot be told apart.
_NEGLIGIBLE = -38.0


def gradient(scores: NDArray[Any], loss: str) -> NDArray[np.float64]:
    """∇ψ(−scores), without overflow or underflow.

    For the logistic loss, S = Σ ln(1 + exp ξ_i) gives ℓ′(ψ(ξ)) = 1 − exp(−S), so that

        ∇ψ(ξ)_i = σ(ξ_i) / (1 − exp(−S)).

    Numerator and denominator underflow together where all ξ_i are very negative. With m = max ξ_i
    this gradient and the softmax agree up to a relative error of (1 + n/2) exp(m), so as soon as
    n exp(m) is below the rounding error, the softmax is used.

    Parameters
    ----------
    scores : array of length n
        A w, that is −ξ.
    loss : "exponential" or "logistic"
    """
    if loss == "exponential" or math.log(len(scores)) - float(scores.min()) < _NEGLIGIBLE:
        return soften(scores, 1.0)[0]
    total = float(np.logaddexp(0.0, -scores).sum())
    weights: NDArray[np.float64] = expit(-scores) / -math.expm1(-total)
    return weights


def smoothness(loss: str, n: int) -> float:
    """ρ such that ψ is ρ-smooth in the ℓ∞ norm: 1 (exponential) or n (logistic), Section 5.1."""
    return 1.0 if loss == "exponential" else float(n)
