"""The kernel of a network with one hidden layer of ReLU nodes, at its random start, in closed form.

The network is f(x) = m^(-1/2) sum_j a_j max(0, <w_j, x>), with m nodes, a_j = +-1 and no biases, so
it is homogeneous of degree 2 in all its parameters (a, w). The gradient by them is

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

from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_128
from typing import Any

import numpy as np

from gammabar.problems.base import Array, Floats, ProblemError
from gammabar.problems.points import Points

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
class Hidden:
    """What the hidden layer makes of some points: which nodes are active, and how much.

    Attributes
    ----------
    active : array of uint64, shape (n, words)
        A bit for each node.
    outputs : array, shape (n, width)
        `UNIT` times max(0, <w_j, x>).
    """

    active: Array
    outputs: Floats

    def __getitem__(self, rows: Any) -> Hidden:
        return Hidden(self.active[rows], self.outputs[rows])


def hidden_layer(X: Any, width: int, seed: int) -> Hidden:
    """The hidden layer for the rows of X, a matrix of doubles, dense or CSR."""
    outputs = np.asarray(X @ whole_weights(width, X.shape[1], seed).T)
    np.maximum(outputs, 0, out=outputs)
    padded = np.zeros((len(outputs), -(-width // 64) * 64), dtype=bool)
    padded[:, :width] = outputs > 0
    return Hidden(np.packbits(padded, axis=1).view(np.uint64), outputs)


def hidden_layers(points: Points, width: int, seed: int) -> Hidden:
    """The hidden layer for all points, block by block."""
    parts = [hidden_layer(block, width, seed) for _, _, block in points.blocks(1 << 22)]
    active, outputs = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("active", "outputs")
    )
    return Hidden(active, outputs)


def shared(left: Hidden, right: Hidden) -> Floats:
    """How many nodes are active for both, for all pairs."""
    total = np.zeros((len(left.active), len(right.active)))
    for a, b in zip(left.active.T, right.active.T, strict=True):
        total += np.bitwise_count(a[:, None] & b[None, :])
    return total


def network_kernel(inner: Floats, left: Hidden, right: Hidden) -> Floats:
    """K(x, z) from the inner products <x, z> and the hidden layers."""
    width = left.outputs.shape[1]
    second = left.outputs @ right.outputs.T
    return np.asarray((inner * shared(left, right) + second / UNIT**2) / width)


def network_diagonal(squares: Floats, hidden: Hidden) -> Floats:
    """K(x, x) from ||x||^2 and the hidden layer."""
    nodes = np.bitwise_count(hidden.active).sum(axis=1, dtype=np.float64)
    second = np.square(hidden.outputs).sum(axis=1)
    return np.asarray((squares * nodes + second / UNIT**2) / hidden.outputs.shape[1])
