"""Weights of rows and classes, as far as they mean anything to a hard margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

Array = NDArray[Any]


def row_weights(X: Any, y: Array, sample_weight: Any, class_weight: Any) -> Array:
    """The weight of each row: its own, times that of its class; none is negative, some positive."""
    if sample_weight is None and class_weight is None:
        return np.ones(len(y))
    if not (class_weight is None or class_weight == "balanced" or isinstance(class_weight, dict)):
        raise ValueError(f"class_weight must be a dictionary or 'balanced', not {class_weight!r}")
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64, copy=True)
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight must not be negative, but that of row {row} is")
    counted = np.flatnonzero(weights)
    if class_weight is not None and len(counted):
        classes, labels = np.unique(y[counted], return_inverse=True)
        factors = compute_class_weight(
            class_weight, classes=classes, y=y[counted], sample_weight=weights[counted]
        )
        for name, factor in zip(classes.tolist(), factors.tolist(), strict=True):
            if not 0 <= factor < np.inf:
                raise ValueError(f"class_weight of {name!r} must be zero or more, not {factor!r}")
        # Products of positive weights are positive, and finite, whatever doubles can hold.
        least, most = np.nextafter(0.0, 1.0), np.finfo(np.float64).max
        with np.errstate(over="ignore", under="ignore"):
            products = np.clip(weights[counted] * factors[labels], least, most)
        weights[counted] = np.where(factors[labels] > 0, products, 0.0)
    if not weights.any():
        raise ValueError("all rows have weight zero, so that nothing is left to separate")
    return weights
