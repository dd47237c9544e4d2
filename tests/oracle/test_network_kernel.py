"""The margin in the space of a network's kernel is exact; the checker draws the same network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from gammabar.harness.certificates import write_npz
from gammabar.oracle import check, solve
from gammabar.problems import KernelProblem, from_arrays
from gammabar.problems.kernels import UNIT, Kernel, whole_weights


def features(X, width: int, seed: int):
    """Gradients times the root of 16 m: whole numbers."""
    hidden = X.astype(np.int64) @ whole_weights(width, X.shape[1], seed).astype(np.int64).T
    first = ((hidden > 0)[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    return np.hstack([UNIT * first.astype(np.int64), np.maximum(hidden, 0)])


@settings(max_examples=25, deadline=None)
@given(
    arrays(np.int8, st.tuples(st.integers(2, 8), st.integers(1, 3)), elements=st.integers(-5, 5)),
    st.integers(1, 6),
    st.integers(0, 9),
)
def test_it_is_that_of_the_gradients(X, width: int, seed: int):
    y = np.where(np.arange(len(X)) % 2, 1, -1)
    ours = solve(KernelProblem(X, y, Kernel("network", width=width, seed=seed)))
    explicit = solve(from_arrays(features(X, width, seed), y))
    assert ours.exact
    assert ours.square_lo * UNIT**2 * width == explicit.square_lo
    assert ours.radius_squared * UNIT**2 * width == explicit.radius_squared


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_certificates_are_accepted_and_those_of_another_network_are_not(
    tmp_path: Path, normalised: bool, kind: str
):
    import scipy.sparse

    rng = np.random.default_rng(4)
    X = np.round(rng.standard_normal((9, 5)), 2)
    X[:, 2] = 0
    y = np.arange(9) % 2
    given_ = scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    problem = from_arrays(given_, y, kernel="network:width=70,seed=3", normalised=normalised)
    found = solve(problem)
    assert found.separable
    path = tmp_path / "c.json"
    found.save(path)
    certificate = json.loads(path.read_text())
    write_npz(problem, tmp_path / "data.npz")
    said = check.check(str(path), str(tmp_path / "data.npz"))
    assert "with network kernel of width 70 and seed 3" in said
    for field, value in (("seed", 4), ("width", 71)):
        certificate["geometry"]["kernel"] |= {"seed": 3, "width": 70} | {field: value}
        path.write_text(json.dumps(certificate))
        with pytest.raises(check.Rejected):
            check.check(str(path), str(tmp_path / "data.npz"))
    for field, value in (("seed", -1), ("width", 0), ("width", "70"), ("seed", 1 << 64)):
        certificate["geometry"]["kernel"] |= {"seed": 3, "width": 70} | {field: value}
        path.write_text(json.dumps(certificate))
        with pytest.raises(check.Rejected, match=f"the {field} "):
            check.check(str(path), str(tmp_path / "data.npz"))
