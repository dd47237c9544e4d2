"""What is proved by a fit is proved of the numbers that were given, and stays so."""

from __future__ import annotations

import copy
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import gammabar as gb

#: Ways to hand over a table of integers (first column) and halves (second column).
CONTAINERS: dict[str, Any] = {
    "list": lambda a, b: [[x, y] for x, y in zip(a, b, strict=True)],
    "tuples": lambda a, b: tuple(zip(a, b, strict=True)),
    "objects": lambda a, b: np.array([a, b], dtype=object).T,
    "frame": lambda a, b: pd.DataFrame({"a": a, "b": b}),
    "frame of objects": lambda a, b: pd.DataFrame({"a": a, "b": b}, dtype=object),
    "nullable": lambda a, b: pd.DataFrame({"a": a, "b": b}).convert_dtypes(),
    "fractions": lambda a, b: np.array([[Fraction(x) for x in a], list(b)], dtype=object).T,
    "decimals": lambda a, b: np.array([[Decimal(x) for x in a], list(b)], dtype=object).T,
    "rows of arrays": lambda a, b: [np.array(row) for row in zip(a, b, strict=True)],
}
near = st.integers(-3, 3).map(lambda k: 2**53 + k) | st.integers(-5, 5)
far = near | st.integers(-(2**63), 2**64 - 1)


def truth(a: list[int], b: list[Any]) -> Fraction:
    """Of two points the margin is half their distance."""
    (u, v), (x, y) = a, map(Fraction, b)
    return (Fraction(u - v) ** 2 + (x - y) ** 2) / 4


@pytest.mark.full
@given(
    st.lists(far, min_size=2, max_size=2, unique=True),
    st.sampled_from([[0.5, 0.5], [0.5, -1.25], [1, 1], [0, 3]]),
    st.sampled_from(sorted(CONTAINERS)),
)
def test_numbers_are_not_rounded_or_refused(a: list[int], b: list[Any], how: str) -> None:
    try:
        X = CONTAINERS[how](a, b)
    except OverflowError:
        return  # pandas does not take it
    if how == "rows of arrays" and np.result_type(*X).kind == "f" and isinstance(b[0], float):
        a = [int(row[0]) for row in X]  # NumPy has rounded it before anybody was asked
    try:
        fitted = gb.MaxMarginClassifier().fit(X, [0, 1])
    except ValueError as refused:
        assert str(refused)
        # What doubles hold is taken.
        assert any(int(float(v)) != v for v in a)
        return
    assert fitted.truths_[0].gamma_squared == truth(a, b)


@given(st.lists(st.floats(5e-324, 1.7e308), min_size=5, max_size=5), st.floats(5e-324, 1.7e308))
def test_positive_weights_are_all_alike(weights: list[float], factor: float) -> None:
    X, y = np.array([[0.0], [1.0], [10.0], [11.0], [-3.0]]), [0, 1, 1, 1, 0]
    plain = gb.MaxMarginClassifier().fit(X, y)
    weighed = gb.MaxMarginClassifier(class_weight={0: 1.0, 1: factor}).fit(X, y, weights)
    assert weighed.margin_ == plain.margin_ == 0.5
    none = gb.MaxMarginClassifier(class_weight={0: 1.0, 1: factor})
    assert none.fit(X, y, [1, 0, 1, 1, 1]).margin_ == 5.0


POINTS = np.array([[1.0, 2], [3, 5], [-2, -1], [-3, -4], [6, -7], [8, -5]])
FITS: list[dict[str, Any]] = [
    {"kernel": kernel, "several": several, "solver": solver, "proof": proof}
    for kernel in ("linear", "rbf", "poly")
    for several in ("ovo", "ovr", "joint")
    for solver in ("exact", "dual-acceleration")
    for proof in (True, False)
    if (kernel == "linear" or several != "joint") and (solver == "exact" or proof)
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("of", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("options", FITS, ids=lambda o: "-".join(map(str, o.values())))
def test_the_arrays_are_the_callers(options: dict[str, Any], of: Any, classes: int) -> None:
    """What is done with X, y and the weights after the fit changes nothing."""
    y = np.array([0, 0, 1, 1, 2, 2]) % classes
    if classes == 2:
        y = np.array([0, 0, 1, 1, 1, 1])
    if classes == 3 and options["solver"] != "exact" and options["kernel"] != "linear":
        return  # kernels of that solver are for two classes
    X, weights = of(POINTS), np.ones(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made = gb.MaxMarginClassifier(gamma=0.01, **options)
        fitted = made.fit(X, y, weights)
        twin = copy.deepcopy(made).fit(of(POINTS), y.copy(), np.ones(6))
    before = fitted.decision_function(of(POINTS)).copy()
    entries = X.data if hasattr(X, "tocsr") else X
    entries *= -3
    y += 1
    weights[:] = 0
    assert np.array_equal(fitted.decision_function(of(POINTS)), before)
    assert np.array_equal(fitted.predict(of(POINTS)), twin.predict(of(POINTS)))
    if options["solver"] == "exact" and options["proof"]:
        assert fitted.certificate() == twin.certificate()
