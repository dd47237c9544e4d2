"""Sums of a few multiples of vectors, in one pass and with the square of their length.

NumPy makes a vector for every product; short vectors are then mostly overhead. The error bounds of
such sums hold for every order and with or without the rounding of a product.
"""

from __future__ import annotations

from gammabar.problems.compiled.jit import reordered
from gammabar.problems.problem import Floats


@reordered
def two(out: Floats, a: float, x: Floats, b: float, y: Floats) -> float:
    """out = a x + b y; returns ‖out‖²."""
    square = 0.0
    for j in range(len(out)):
        value = a * x[j] + b * y[j]
        out[j] = value
        square += value * value
    return square


@reordered
def three(out: Floats, a: float, x: Floats, b: float, y: Floats, c: float, z: Floats) -> float:
    """out = a x + b y + c z; returns ‖out‖²."""
    square = 0.0
    for j in range(len(out)):
        value = (a * x[j] + b * y[j]) + c * z[j]
        out[j] = value
        square += value * value
    return square


@reordered
def four(
    out: Floats, a: float, x: Floats, b: float, y: Floats, c: float, z: Floats, e: float, u: Floats
) -> float:
    """out = a x + b y + c z + e u; returns ‖out‖²."""
    square = 0.0
    for j in range(len(out)):
        value = (a * x[j] + b * y[j]) + (c * z[j] + e * u[j])
        out[j] = value
        square += value * value
    return square
