"""Kernels K(x, x'): linear, polynomial, Gaussian, of a network, a function, or a Gram matrix.

The kernel "network" is that of a network with one hidden layer of ReLU nodes, at its random start,
in closed form:

    f(x) = m^(-1/2) sum_j a_j max(0, <w_j, x>),

with m nodes, a_j = +-1 and no biases. It is homogeneous of degree 2 in all its parameters (a, w).
The gradient by them is

    d f / d w_j = m^(-1/2) a_j [<w_j, x> > 0] x,      d f / d a_j = m^(-1/2) max(0, <w_j, x>),

d m + m numbers, and the inner product of two such gradients, with a_j^2 = 1, is

    K(x, z) = (<x, z> #{j : <w_j, x> > 0 and <w_j, z> > 0}
               + sum_j max(0, <w_j, x>) max(0, <w_j, z>)) / m.

From the hidden layer of every point, n m numbers, a value costs d + m operations; gradients are
never written down. With independent standard normal w_jk it converges, as m grows, to the neural
tangent kernel of a network of one hidden layer [1]_.

The w_jk here are a quarter of whole numbers from -32 to 32: the number of ones among 64 random
bits, less 32, which has mean 0, variance 16, and is normal to the eye. So K of rational points is
rational, and for points of small integers, such as images, it is decided in doubles without error
which nodes are active. The bits are those of SHAKE-128, which every computer has and which will
not change; those of node j depend on the seed and on j alone, so a wider network, or one with more
inputs, has the same first weights.

References
----------
.. [1] A. Jacot, F. Gabriel and C. Hongler, Neural tangent kernel: convergence and generalization
   in neural networks, NeurIPS 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import shake_128
from numbers import Real
from typing import Any

import numpy as np

from gammabar.problems.options import typed_options
from gammabar.problems.points import Points, is_sparse, product
from gammabar.problems.problem import Array, Floats, ProblemError
from gammabar.problems.suggest import did_you_mean

_PARAMETERS = {
    "linear": (),
    "poly": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "network": ("width", "seed"),
    "precomputed": (),
    "callable": (),  # which no text can name
}
# Options that are whole numbers, and the least of them.
_WHOLE = {"degree": 1, "width": 1, "seed": 0}
# Part of the largest value by which rounding may make a kernel function unsymmetric.
_ROUNDING = 2.0**-40
# A squared distance below this part of the squared norms is computed again from differences; what
# that leaves of its error is worked out in `rounding`.
_CANCELLED = 0.125


def _option(key: str, value: Any) -> int | float:
    """An option as an integer or a double, which it must be: that number is what is meant."""
    if key in _WHOLE:
        least = _WHOLE[key]
        if not least <= value < 1 << 64 or int(value) != value:
            raise ProblemError(
                f"kernel option {key} must be a whole number of at least {least}, not {value!r}"
            )
        return int(value)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if found == found and found != value:
        raise ProblemError(f"kernel option {key} is {value!r}, which is no double; round it")
    if not (math.isfinite(found) and (found > 0 or (found == 0 and key == "coef0"))):
        what = "zero or a positive number" if key == "coef0" else "a positive number"
        raise ProblemError(f"kernel option {key} must be {what}, not {found!r}")
    return found


@dataclass(frozen=True)
class Kernel:
    """A kernel by name and parameters.

    ======== ==========================================
    linear   <x, x'>
    poly     (gamma <x, x'> + coef0) ** degree
    rbf      exp(-gamma ||x - x'||^2)
    network  that of a random ReLU network of one hidden
             layer, see `gammabar.problems.kernels`
    ======== ==========================================

    "precomputed" says that the points are given as their Gram matrix; "callable" is a user's
    symmetric positive semidefinite function of two matrices (returning all values at once) or of
    two rows. Parameters are doubles and mean exactly that: gamma=0.1 is the double next to 0.1.

    `degree`, `gamma` and `coef0` are those of the table, with coef0 >= 0; `width` and `seed` are
    the nodes of a network and the seed of its weights. `by_rows` says whether `function` takes two
    rows; None finds out by calling it.

    Examples
    --------
    >>> Kernel.parse("poly:degree=2,coef0=1")
    Kernel(name='poly', degree=2, gamma=1.0, coef0=1.0)
    """

    name: str
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0
    function: Callable[[Any, Any], Any] | None = field(default=None, repr=False)
    by_rows: bool | None = field(default=None, repr=False)
    width: int = field(default=128, repr=False)
    seed: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.name not in _PARAMETERS:
            raise ProblemError(
                f"unknown kernel {self.name!r}; {did_you_mean(self.name, _PARAMETERS, always=True)}"
            )
        for key in (*_WHOLE, "gamma", "coef0"):
            value = getattr(self, key)
            if not isinstance(value, Real | np.generic) or isinstance(value, bool | np.bool_):
                raise ProblemError(f"kernel option {key} must be a number, not {value!r}")
            object.__setattr__(self, key, _option(key, value))
        if (self.name == "callable") != callable(self.function):
            raise ProblemError("a kernel named 'callable', and no other, comes with a function")

    @classmethod
    def parse(cls, text: str) -> Kernel:
        """Read "rbf:gamma=0.1", "poly:degree=2,coef0=1", "network:width=128" and the like."""
        name, _, options = text.strip().partition(":")
        named = {key: value for key, value in _PARAMETERS.items() if key != "callable"}
        if name not in named:
            raise ProblemError(f"unknown kernel {name!r}; {did_you_mean(name, named)}")
        kinds = {key: int if key in _WHOLE else float for key in named[name]}
        return cls(name, **typed_options(f"kernel {text!r}", options, kinds))

    @classmethod
    def of(cls, kernel: Kernel | str | Callable[[Any, Any], Any]) -> Kernel:
        """A kernel from a kernel, its text, or a function."""
        if isinstance(kernel, Kernel):
            return kernel
        if isinstance(kernel, str):
            return cls.parse(kernel)
        if callable(kernel):
            return cls("callable", function=kernel)
        raise ProblemError(
            f"kernel must be a text such as 'rbf:gamma=0.1' or a function, not {kernel!r}"
        )

    def __str__(self) -> str:
        options = ",".join(f"{key}={getattr(self, key)!r}" for key in _PARAMETERS[self.name])
        return f"{self.name}:{options}" if options else self.name

    def fitted(self, sample: Any) -> Kernel:
        """The same kernel, knowing whether its function takes matrices or rows."""
        if self.function is None or self.by_rows is not None:
            return self
        # Two rows against three (or four, if rows have three entries): no product of the two
        # blocks has this shape by accident.
        row = _dense(sample[:1])
        left = np.repeat(row, 2, axis=0)
        right = np.repeat(row, 4 if row.shape[1] == 3 else 3, axis=0)
        try:
            shape = np.shape(self.function(left, right))
        except Exception:
            return replace(self, by_rows=True)
        return replace(self, by_rows=shape != (len(left), len(right)))

    def matrix(self, X: Any, Z: Any, x_known: Any = None, z_known: Any = None) -> Floats:
        """K(x, z) for the rows of X and Z (dense or CSR), and what `prepare` knows of them."""
        if self.name == "precomputed":
            raise ProblemError("a precomputed kernel has no values but those of its Gram matrix")
        if self.name == "callable":
            for given in (X, Z):
                _check_whole(given)
            return self.fitted(X)._call(_dense(X), _dense(Z))
        X, Z = _doubles(X), _doubles(Z)
        if x_known is None:
            x_known, z_known = self.prepare(Points(X)), self.prepare(Points(Z))
        with np.errstate(over="ignore", invalid="ignore"):
            if self.name == "rbf":
                return np.asarray(np.exp(-self.gamma * _squared_distances(X, Z, x_known, z_known)))
        return self.from_products(product(X, Z), x_known, z_known)

    @property
    def of_products(self) -> bool:
        """Whether a value is a function of <x, z> and of what is known of x and of z."""
        return self.name in ("linear", "poly", "network")

    def from_products(self, inner: Floats, x_known: Any, z_known: Any) -> Floats:
        """K(x, z) from the inner products <x, z> of such a kernel."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.name == "poly":
                return np.asarray((self.gamma * inner + self.coef0) ** self.degree)
            if self.name == "network":
                return _network_kernel(inner, x_known, z_known)
        return inner

    def prepare(self, points: Points) -> Any:
        """What is computed of each point once, if anything: one entry of an array for each."""
        with np.errstate(over="ignore"):
            if self.name == "rbf":
                return points.squares()  # ||x||^2
            if self.name == "network":
                return _hidden_layers(points, self.width, self.seed)
        return np.zeros(points.shape[0])

    def diagonal(self, points: Points) -> Floats:
        """K(x_i, x_i) of every point; for a precomputed kernel the points are its Gram matrix."""
        n = points.shape[0]
        if self.name == "rbf":
            return np.ones(n)
        if self.name == "precomputed":
            return np.asarray(points.X.diagonal(), dtype=np.float64)
        if self.name == "callable":
            rows = (points.take(np.array([i])) for i in range(n))
            return np.array([self.matrix(row, row)[0, 0] for row in rows])
        with np.errstate(over="ignore"):
            squares = points.squares()
            if self.name == "linear":
                return squares
            if self.name == "network":
                return _network_diagonal(squares, _hidden_layers(points, self.width, self.seed))
            return np.asarray((self.gamma * squares + self.coef0) ** self.degree)

    def _call(self, X: Floats, Z: Floats) -> Floats:
        assert self.function is not None
        try:
            if self.by_rows:
                values = [[_real(self.function(x, z)).item() for z in Z] for x in X]
                return np.array(values, dtype=np.float64).reshape(len(X), len(Z))
            result = _real(self.function(X, Z))
        except Exception as error:
            name = getattr(self.function, "__name__", "given")
            raise ProblemError(f"the kernel function {name} failed: {error}") from error
        if result.shape != (len(X), len(Z)):
            raise ProblemError(
                f"the kernel function returned shape {result.shape} for {len(X)} and {len(Z)} rows"
            )
        return result


def check_gram(K: Array) -> None:
    """Refuse a matrix that cannot be a Gram matrix (whether it is semidefinite is not checked)."""
    if K.shape[0] != K.shape[1]:
        raise ProblemError(
            f"a precomputed Gram matrix must be square, not {K.shape[0]} x {K.shape[1]}"
        )
    different = K != K.T
    if different.any():
        i, j = (int(v) for v in np.argwhere(different)[0])
        raise ProblemError(
            f"the Gram matrix is not symmetric: row {i}, column {j} has {K[i, j]} but row {j}, "
            f"column {i} has {K[j, i]}; average it with its transpose first"
        )


def symmetric(values: Floats) -> Floats:
    """The values of a kernel function between points, after the last bits have been averaged.

    A function that is not symmetric is no kernel, however its values are averaged.
    """
    with np.errstate(invalid="ignore"):
        different = np.abs(values - values.T) > _ROUNDING * np.abs(values).max()
    if different.any():
        i, j = (int(v) for v in np.argwhere(different)[0])
        raise ProblemError(
            f"the kernel function is not symmetric: it is {values[i, j]} of rows {i} and {j}, but "
            f"{values[j, i]} of rows {j} and {i}"
        )
    return np.asarray((values + values.T) / 2)


def check_diagonal(diagonal: Floats, normalised: bool) -> None:
    """Refuse K(x, x) that no kernel has, and zero where it is to be divided by."""
    bad = ~(np.isfinite(diagonal) & (diagonal >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        what = "is negative" if diagonal[i] < 0 else "is not finite; divide X by its largest entry"
        raise ProblemError(f"K(x, x) of row {i} is {diagonal[i]}, which {what}")
    if normalised and not diagonal.all():
        i = int(np.argmin(diagonal))
        raise ProblemError(
            f"K(x, x) of row {i} is 0, and cannot be divided by; remove the row or do not normalise"
        )


def _real(values: Any) -> Floats:
    """What a kernel function returns, in doubles; a number that is complex is no kernel's."""
    found = np.asarray(values)
    if found.dtype.kind == "c":
        raise ValueError("it returns complex numbers")
    return np.asarray(found, dtype=np.float64)


def _check_whole(X: Any) -> None:
    """Refuse integers that a function would be given as other numbers."""
    values = X.data if is_sparse(X) else np.asarray(X)
    whole = values.dtype.kind in "iu" and values.size
    if whole and max(-int(values.min()), int(values.max())) > 1 << 53:
        raise ProblemError(
            "a kernel function is given doubles, and the points have integers beyond 2^53; use "
            "points in float64"
        )


def _doubles(X: Any) -> Any:
    """The same matrix in float64: products of small integers would wrap around."""
    if is_sparse(X):
        return X.astype(np.float64, copy=False)
    return np.asarray(X, dtype=np.float64)


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def _squared_distances(X: Any, Z: Any, x_squares: Floats, z_squares: Floats) -> Floats:
    """||x - z||^2 through ||x||^2 + ||z||^2 - 2 <x, z>, and from x - z where that cancels."""
    norms = x_squares[:, None] + z_squares[None, :]
    result = norms - 2 * product(X, Z)
    again = ~(result >= _CANCELLED * norms)  # also true of NaN
    cancelled = np.count_nonzero(again)
    if not cancelled:
        return result
    if cancelled > 0.1 * again.size:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(_dense(X), _dense(Z), "sqeuclidean"))
    rows, cols = np.nonzero(again)
    step = max(1, (1 << 20) // X.shape[1])
    for lo in range(0, len(rows), step):
        i, j = rows[lo : lo + step], cols[lo : lo + step]
        result[i, j] = np.square(_dense(X[i]) - _dense(Z[j])).sum(axis=1)
    return result


#: Weights are whole numbers divided by this.
UNIT = 4
#: No weight is larger, as a whole number.
LARGEST = 32
_BITS = 2 * LARGEST
# More would take minutes to draw, or gigabytes to hold.
_MOST, WIDEST = 1 << 25, 1 << 16


@lru_cache(maxsize=4)
def whole_weights(width: int, inputs: int, seed: int) -> Floats:
    """The weights of the hidden layer times `UNIT`: whole numbers, one row for each node."""
    if width > WIDEST:
        raise ProblemError(f"a network has at most {WIDEST:,} nodes, not {width:,}")
    if width * inputs > _MOST:
        raise ProblemError(
            f"a network of width {width} has {width * inputs:,} weights for points of {inputs:,} "
            f"columns, and at most {_MOST:,} are drawn; use a smaller width"
        )
    result = np.empty((width, inputs))
    for j in range(width):
        drawn = shake_128(f"gammabar network {seed} {j}".encode()).digest(_BITS // 8 * inputs)
        result[j] = np.bitwise_count(np.frombuffer(drawn, dtype=np.uint64))
    result -= LARGEST
    result.flags.writeable = False
    return result


@dataclass(frozen=True)
class _Hidden:
    """What the hidden layer makes of some points: which nodes are active, and how much."""

    active: Array  # n rows of words, uint64, with a bit for each node
    outputs: Floats  # n rows of `UNIT` times max(0, <w_j, x>)

    def __getitem__(self, rows: Any) -> _Hidden:
        return _Hidden(self.active[rows], self.outputs[rows])


def _hidden_layers(points: Points, width: int, seed: int) -> _Hidden:
    """The hidden layer for all points, block by block."""
    weights = whole_weights(width, points.shape[1], seed)
    outputs = np.concatenate(
        [np.maximum(block @ weights.T, 0) for _, _, block in points.blocks(1 << 22)]
    )
    padded = np.zeros((len(outputs), -(-width // 64) * 64), dtype=bool)
    padded[:, :width] = outputs > 0
    return _Hidden(np.packbits(padded, axis=1).view(np.uint64), outputs)


def _network_kernel(inner: Floats, left: _Hidden, right: _Hidden) -> Floats:
    """K(x, z) from the inner products <x, z> and the hidden layers."""
    shared = np.zeros(inner.shape)  # how many nodes are active for both
    for a, b in zip(left.active.T, right.active.T, strict=True):
        shared += np.bitwise_count(a[:, None] & b[None, :])
    second = left.outputs @ right.outputs.T
    return np.asarray((inner * shared + second / UNIT**2) / left.outputs.shape[1])


def _network_diagonal(squares: Floats, hidden: _Hidden) -> Floats:
    """K(x, x) from ||x||^2 and the hidden layer."""
    nodes = np.bitwise_count(hidden.active).sum(axis=1, dtype=np.float64)
    second = np.square(hidden.outputs).sum(axis=1)
    return np.asarray((squares * nodes + second / UNIT**2) / hidden.outputs.shape[1])
