"""Where no hyperplane separates two sets: the support vector machine with slack."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gammabar.harness.classifier.hyperplane import Array, Hyperplane


def softened(
    found: Hyperplane,
    given: Any,
    signs: Array,
    *,
    expanded: bool,
    intercept: bool,
    costs: Array,
) -> Hyperplane:
    """The hyperplane that minimises ½‖w‖² + Σ cost_i max(0, 1 − y_i f(x_i)), of norm one.

    Parameters
    ----------
    found : Hyperplane
        What the oracle found of these rows; its proof stays at hand.
    given : matrix
        The rows, or (`expanded`) their kernel matrix.
    signs, costs : arrays
        The class and the cost of each row.
    intercept : bool
        Whether there is one. (A kernel's machine always has.)
    """
    from sklearn.svm import SVC, LinearSVC

    if not expanded and not intercept:
        line = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, random_state=0)
        w = np.asarray(line.fit(given, signs, sample_weight=costs).coef_[0])
        b, support, coef = 0.0, found.support, np.zeros(len(found.support))
        length = float(np.linalg.norm(w))
    else:
        kernel: Any = "precomputed" if expanded else "linear"
        machine = SVC(C=1.0, kernel=kernel).fit(given, signs, sample_weight=costs)
        support, b = np.asarray(machine.support_), float(machine.intercept_[0])
        dual = machine.dual_coef_
        coef = np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual).ravel()
        if expanded:
            w = np.ones(1)  # what the dual weights are to be multiplied by
            square = float(coef @ (given[np.ix_(support, support)] @ coef))
            length = math.sqrt(max(square, 0.0))
        else:
            w = np.asarray(given[support].T @ coef).ravel()
            length = float(np.linalg.norm(w))
    length = length or 1.0
    return Hyperplane(w / length, b / length, support, coef, 0.0, 0.0, False, 1, found.truth)
