"""Problems at a scale where doubles neither overflow nor underflow.

Squares of numbers near 1e±300 leave the range of doubles, and so do the values of a polynomial
kernel of numbers near 1e±40. Rows are therefore multiplied by a power of two, which is exact,
before doubles see them; integers and rationals always see the original data.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from gammabar.oracle.integers import exponent_of, largest_norm
from gammabar.problems import (
    DenseProblem,
    Kernel,
    KernelProblem,
    MulticlassProblem,
    Problem,
    ScatteredProblem,
    SparseProblem,
)
from gammabar.problems.chunks import Divide
from gammabar.problems.linear import LinearProblem
from gammabar.problems.sparsity import is_sparse

#: Binary exponents of data, and of the parameters of a kernel, that are left alone.
LINEAR, KERNEL, VALUE = 300, 100, 600


def tame(problem: Problem) -> tuple[Problem, int]:
    """The problem with rows (kernels: with values K) divided by 2ᵏ, and k.

    It is the problem itself, and 0, unless its scale is extreme. Entries that the division rounds
    are below 2⁻¹⁰⁷⁴, which the error bounds absorb.

    Notes
    -----
    Doubles that compute a value (γ⟨x, z⟩ + c)^p of the tamed problem lose to underflow at most
    p (10 d + 20) 2⁻¹⁰⁷⁴ B^(p−1), where B = γ max ‖x‖² + c: at most d products, the entries, γ and c
    themselves where the scaling rounded them, each with a factor of at most 4. Either B lies
    between ¼ and 1 (rows scaled), or γ ≤ 2¹⁰⁰ takes the place of the 4 and B ≥ 2⁻³⁰³: less than
    p d 2⁻⁶⁰⁰ times B^p, a part of one of the roundings that the bound counts. The power itself and
    the weighted sum of m values lose at most (m + 1) 2⁻¹⁰⁷⁴ more (`rational.UNDERFLOW`).
    """
    tamed, k = _tame_kernel(problem) if isinstance(problem, KernelProblem) else _tame(problem)
    if tamed is not problem:
        tamed.intercept = problem.intercept
    return tamed, k


def _tame(problem: Problem) -> tuple[Problem, int]:
    if not isinstance(problem, LinearProblem | MulticlassProblem):
        return problem, 0
    k = exponent_of(problem.X)
    if abs(k) <= LINEAR or problem.X.dtype.kind != "f":
        return problem, 0
    if isinstance(problem, ScatteredProblem):
        return ScatteredProblem(problem.points.chunks.changed(Divide(k)), problem.y), k
    scaled = _divided(problem.X, k)
    if isinstance(problem, MulticlassProblem):
        return MulticlassProblem(scaled, problem.labels, problem.k), k
    return (SparseProblem if is_sparse(scaled) else DenseProblem)(scaled, problem.y), k


def largest_value(problem: KernelProblem) -> float:
    """A bound on |K(x, z)| over the points, up to a few roundings; infinite if it is no double."""
    kernel = problem.kernel
    if kernel.name == "precomputed":
        return max(-float(problem.X.min()), float(problem.X.max()))
    try:
        return float(_base(problem)) ** (kernel.degree if kernel.name == "poly" else 1)
    except OverflowError:
        return math.inf


def _base(problem: KernelProblem) -> Fraction:
    """γ max ‖x‖² + c, exactly."""
    top, kernel = largest_norm(problem.points), problem.kernel
    return top if kernel.name == "linear" else Fraction(kernel.gamma) * top + Fraction(kernel.coef0)


def _tame_kernel(problem: KernelProblem) -> tuple[KernelProblem, int]:
    kernel, k = problem.kernel, exponent_of(problem.X)
    if problem.normalised:  # has no scale; its doubles propose and decide nothing
        return problem, 0
    if kernel.name == "precomputed":
        if abs(k) <= LINEAR or problem.X.dtype.kind != "f":
            return problem, 0
        return _with(problem, _divided(problem.X, k), kernel), k
    if kernel.name == "linear":
        if abs(k) <= LINEAR:
            return problem, 0
        return _with(problem, _divided(problem.X, k), kernel), 2 * k
    if kernel.name != "poly":
        return problem, 0
    base = _base(problem)
    if base == 0:
        return problem, 0
    b = base.numerator.bit_length() - base.denominator.bit_length() + 1  # 2^(b−2) < base < 2^b
    parameters = [math.frexp(kernel.gamma)[1], math.frexp(kernel.coef0)[1]]
    if max(map(abs, [k, *parameters])) <= KERNEL and kernel.degree * abs(b) <= VALUE:
        return problem, 0
    # γ' ≤ 4, because γ' max ‖x'‖² ≤ 1 and the largest entry of x' is at least ½.
    gamma = max(math.ldexp(kernel.gamma, 2 * k - b), math.ulp(0.0))  # no kernel has γ = 0
    scaled = Kernel("poly", kernel.degree, gamma, math.ldexp(kernel.coef0, -b))
    return _with(problem, _divided(problem.X, k), scaled), kernel.degree * b


def _with(problem: KernelProblem, X: Any, kernel: Kernel) -> KernelProblem:
    return KernelProblem(X, problem.y, kernel)


def _divided(X: Any, k: int) -> Any:
    """X / 2ᵏ in doubles."""
    if not hasattr(X, "toarray"):
        return np.ldexp(X.astype(np.float64), -k)
    scaled = X.astype(np.float64)
    scaled.data = np.ldexp(scaled.data, -k)
    return scaled
