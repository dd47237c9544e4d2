"""Every certificate that is written is accepted by the independent checker."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from gammabar.oracle import check, solve
from gammabar.problems import ProblemError, from_arrays, load

KERNELS = ["linear", "poly:degree=2,coef0=1", "poly:degree=3", "rbf:gamma=0.5", "precomputed"]
SMALL = st.integers(-3, 3)
NUMBERS = {
    "int8": st.sampled_from([-128, 127, -1, 0, 1, 2]),
    "uint8": st.integers(0, 255) | st.integers(0, 2),
    "int64": st.sampled_from([-(2**63), 2**63 - 1, 2**62, -(2**53) - 1, -1, 0, 1, 3]) | SMALL,
    "uint64": st.sampled_from([2**64 - 1, 2**63, 2**53 + 1, 0, 1, 2]),
    "float32": st.floats(-8, 8, width=32) | st.sampled_from([0.0, -0.0, 1e-45, 3e38]),
    "float64": st.floats(-8, 8)
    | SMALL.map(float)
    | st.sampled_from([0.0, -0.0, 5e-324, 1e-310, 1e-160, 1e150, 1.7e308, -1e-81]),
}


@st.composite
def tables(draw, dtypes=tuple(NUMBERS)):
    """A matrix of some type, often with repeated rows, and labels of two or three classes."""
    dtype = draw(st.sampled_from(dtypes))
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    row = st.lists(NUMBERS[dtype], min_size=d, max_size=d)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    if draw(st.booleans()):
        rows[-1] = rows[0]
    classes = draw(st.sampled_from([2, 2, 3])) if n > 2 else 2
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    labels[:classes] = range(classes)
    return np.array(rows, dtype=dtype), np.array(labels)


@st.composite
def questions(draw, labels):
    """Keywords for the problem and for `solve`."""
    bias = draw(st.sampled_from(["none", "none", "free", "augmented"]))
    if len(set(labels.tolist())) > 2:
        return {"multiclass": True, "intercept": bias}, {}
    which = draw(st.sampled_from(["plain", "l1", "l1-simplex", "signed", "kernel", "kernel"]))
    if which == "kernel":
        kernel = draw(st.sampled_from(KERNELS))
        made = {"kernel": kernel, "normalised": draw(st.booleans()), "intercept": bias}
        return made, {}
    return {"intercept": bias}, {} if which == "plain" else {
        "signed": True
    } if which == "signed" else {"norm": which}


def gram(X):
    X = np.clip(X.astype(float), -1e100, 1e100)
    K = X @ X.T
    return (K + K.T) / 2


def answered(problem, wanted):
    """The answer, or none where the question was refused with a sentence."""
    try:
        return solve(problem, **wanted)
    except ProblemError:
        assume(False)


def accept(margin, folder, *files):
    margin.save(folder / "certificate.json")
    return check.check(str(folder / "certificate.json"), *map(str, files))


SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def written(kind, X, labels, folder, choose):
    """The file of a kind with these points, and what `load` needs to be told."""
    path, rows = folder / f"points.{kind}", X.tolist()
    if kind == "npz":
        np.savez(path, X=X, y=labels)
        return path, {}
    lines = []
    if kind == "csv":
        separator = choose.draw(st.sampled_from([",", ";", "\t"]))
        names = [["0", "1", "2"], ["no", "yes", "maybe"], ["-1", "+1", "2.5"]]
        names = choose.draw(st.sampled_from(names))
        for label, row in zip(labels.tolist(), rows, strict=True):
            lines.append(separator.join([names[label], *map(repr, row)]))
    else:  # zeros are written or left out, row by row, and mean the same
        for label, row in zip(labels.tolist(), rows, strict=True):
            every = choose.draw(st.booleans())
            pairs = [f"{j + 1}:{v!r}" for j, v in enumerate(row) if v or every]
            lines.append(" ".join([str(label), *pairs]))
    path.write_text("\n".join(lines) + "\n")
    return path, {"label": "0"} if kind == "csv" else {}


@pytest.mark.parametrize("kind", ["dense", "sparse", "npz", "csv", "svm"])
@SETTINGS
@given(st.data())
def test_certificates_are_accepted(tmp_path, kind, choose):
    text = kind in ("csv", "svm")
    X, labels = choose.draw(tables(("int8", "int64", "float64") if text else tuple(NUMBERS)))
    made, wanted = choose.draw(questions(labels))
    if made.get("kernel") == "precomputed":
        made, X = ({}, X) if kind == "svm" else (made, gram(X))
    try:
        if kind in ("dense", "sparse"):
            problem = from_arrays(
                scipy.sparse.csr_array(X) if kind == "sparse" else X, labels, **made
            )
            path = tmp_path / "data.npz"
            np.savez(path, X=X, y=labels if "multiclass" in made else problem.y)
        else:
            path, told = written(kind, X, labels, tmp_path, choose)
            problem = load(str(path), **told, **made)
    except ProblemError:
        assume(False)
    assert accept(answered(problem, wanted), tmp_path, path)


@pytest.mark.parametrize("gamma", [1e-300, 0.5, 1e300])
def test_equal_points_with_opposite_labels(tmp_path, gamma):
    path = tmp_path / "twins.svm"
    path.write_text("0 1:2 2:0\n1 1:2\n1 1:3 2:1\n")
    margin = solve(load(str(path), kernel=f"rbf:gamma={gamma}"))
    assert margin.separable is False
    assert "not separable" in accept(margin, tmp_path, path)
