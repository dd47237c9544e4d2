"""The data that the contests are run on: the full data sets where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gammabar.oracle import Truth
from gammabar.problems import ProblemError, load

MNIST, FASHION, SAMPLE = "mnist:0,1", "fashion:0,4", "mnist-sample:0,1"
#: On every machine, and small.
EMBEDDED = (SAMPLE, "digits:3,8", "planted:n=2000,d=50,gamma=0.01,seed=0")


def available(*names: str, otherwise: Sequence[str]) -> tuple[str, ...]:
    """Those data sets, or others if one of them is not on this machine."""
    try:
        for name in names:
            load(name)
    except ProblemError:
        return tuple(otherwise)
    return names


def shown(truth: Truth) -> str:
    """γ̄ to 17 digits, with an ellipsis if there are more."""
    text = truth.digits(17)
    return text + "…" * (Fraction(text) ** 2 not in truth.unit_squares)
