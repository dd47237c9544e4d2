"""The compiled loops: written-out instructions and plain ones agree to the last bit."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import gammabar.problems.points as points_module
from gammabar.problems import DenseProblem, SparseProblem, compiled

#: Each dtype is compiled twice, which takes a few seconds: the others are slow tests.
USUAL = (np.uint8, np.float32, np.float64)
OTHERS = (np.int8, np.int16, np.int32, np.int64, np.uint64)

DTYPES = [pytest.param(t, marks=[pytest.mark.slow] if t in OTHERS else []) for t in USUAL + OTHERS]


def points(rng: np.random.Generator, shape: tuple[int, int], dtype, size: float):
    """Points of some dtype, a third of them zero, of about this size (or all that fits)."""
    values = np.where(rng.random(shape) < 0.3, 0, rng.standard_normal(shape) * size)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = np.clip(np.rint(np.abs(values) if info.min == 0 else values), info.min, info.max)
        large = values >= float(info.max)  # which may be no number of this dtype
        return np.where(large, info.max, np.where(large, 0, values).astype(dtype))
    return np.clip(values, -3e38, 3e38).astype(dtype)


def laid_out(X, layout: str):
    """The same points, in another order of memory."""
    if layout == "fortran":
        return np.asfortranarray(X)
    if layout == "backwards":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if layout == "every other":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    return X.astype(X.dtype.newbyteorder(">")) if layout == "big-endian" else X


def both_ways(monkeypatch, make):
    """What `make` returns with instructions, and plainly."""
    monkeypatch.setenv(compiled.VARIABLE, "0")
    assert compiled.plain_way() is None
    first = make()
    monkeypatch.setenv(compiled.VARIABLE, "1")
    assert compiled.plain_way() is True
    return first, make()


def bits(parts) -> list[bytes]:
    return [np.asarray(part).tobytes() for part in parts]


@pytest.mark.parametrize("geometry", [DenseProblem, SparseProblem])
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways_agree_to_the_last_bit(dtype, geometry, monkeypatch):
    monkeypatch.setattr(points_module, "SMALL", 0)

    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 2**32),
        n=st.integers(1, 40),
        d=st.one_of(st.integers(1, 70), st.just(784)),
        size=st.sampled_from((0.5, 50.0, 1e6, 1e19, 1e30)),
        temperature=st.sampled_from((1e-300, 1e-3, 1.0, 1e3, 1e300)),
        layout=st.sampled_from(("plain", "fortran", "backwards", "every other", "big-endian")),
        unit=st.booleans(),
        stripes=st.integers(1, 5),
        threads=st.integers(1, 3),
    )
    def check(seed, n, d, size, temperature, layout, unit, stripes, threads):
        rng = np.random.default_rng(seed)
        X = points(rng, (n, d), dtype, size)
        y, w = rng.choice([-1, 1], n), rng.standard_normal(d) / size
        X = scipy.sparse.csr_array(X) if geometry is SparseProblem else laid_out(X, layout)
        cuts = [n * s // min(n, stripes) for s in range(min(n, stripes) + 1)]
        parts = list(itertools.pairwise(cuts))

        def make():
            problem = geometry(X, y)
            problem.points._stripes = lambda: parts
            problem = problem.unit() if unit else problem
            once = problem.softmin(w, temperature)
            again = problem.softmin(-w, temperature)
            return [
                part
                for soft in (once, again)
                for part in (soft.smallest, soft.logsumexp, soft.pull, soft.scores)
            ] + [problem.scores(w)]

        with monkeypatch.context() as patch:
            patch.setattr("gammabar.problems.points.threads", lambda: threads)
            first, second = both_ways(patch, make)
        assert bits(first) == bits(second)

    check()


@pytest.mark.parametrize("extreme", [1e-320, 1e-200, 1e200, 1.5e308])
def test_both_ways_agree_at_the_extremes(extreme, monkeypatch):
    monkeypatch.setattr(points_module, "SMALL", 0)
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (21, 19)).astype(np.float32)

    def make():
        with np.errstate(all="ignore"):
            soft = DenseProblem(X, np.ones(21)).softmin(np.full(19, extreme))
        return soft.smallest, soft.logsumexp, soft.pull, soft.scores

    first, second = both_ways(monkeypatch, make)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_plain_loops_are_taken_where_instructions_cannot_be_imported():
    code = """
import builtins, numba
real = builtins.__import__
def refuse(name, scope=None, *rest):
    if name.startswith("llvmlite") and scope and scope["__name__"].startswith("gammabar"):
        raise ImportError(name)
    return real(name, scope, *rest)
builtins.__import__ = refuse
import numpy as np
import gammabar.problems.points as points
points.SMALL = 0
from gammabar.problems import DenseProblem, compiled
assert compiled.plain_way() is True
soft = DenseProblem(np.eye(3, dtype=np.uint8), [1, 1, -1]).softmin(np.ones(3))
assert list(soft.scores) == [1, 1, -1]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_compiled_code_on_disk_depends_on_every_module_of_the_package(tmp_path):
    """A change of `plain` reaches `dense.softmin`, which calls it and stands in another file."""
    source = Path(compiled.__file__).parent
    package = tmp_path / "gammabar" / "problems"
    (package / "compiled").mkdir(parents=True)
    for name in ("__init__", "jit"):
        (package / "compiled" / f"{name}.py").write_text((source / f"{name}.py").read_text())
    (package / "__init__.py").write_text("")
    (package.parent / "__init__.py").write_text("")
    head = "from gammabar.problems.compiled.jit import in_order\n"
    one, other = (package / "compiled" / f"{name}.py" for name in ("one", "other"))
    one.write_text(
        f"{head}from gammabar.problems.compiled.other import called\n"
        "@in_order\ndef calls(x):\n    return called(x)\n"
    )
    program = "from gammabar.problems.compiled.one import calls; print(calls(1))"
    said = []
    for number in (1, 1, 2):
        other.write_text(f"{head}@in_order\ndef called(x):\n    return x + {number}\n")
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            # A text of the same length, changed in the same second, is the old one for Python.
            env={"PYTHONPATH": str(tmp_path), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        said.append(done.stdout.strip() or done.stderr)
    assert said == ["2", "2", "3"]
