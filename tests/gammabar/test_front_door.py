"""`import gammabar`: one name, a flat list, no heavy imports."""

from __future__ import annotations

import doctest
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import gammabar as gb

ROOT = Path(__file__).resolve().parents[2]


def test_every_name_is_there_and_documented():
    assert set(gb.__all__) <= set(dir(gb))
    for name in gb.__all__:
        assert getattr(gb, name) is not None
    for name in ("load", "from_arrays", "solve", "check", "verify", "solvers", "papers"):
        assert name in gb.__all__
        assert f"``{name}``" in gb.__doc__
    assert "MaxMarginClassifier" in gb.__all__
    assert "__version__" in gb.__all__


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = gb.nonsense


def test_importing_it_imports_no_heavy_library():
    """That it is fast follows; elapsed time is for the benchmarks."""
    code = (
        "import sys; before = set(sys.modules); import gammabar\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['gammabar']"


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "gammabar", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("gammabar ")
    assert done.stdout.split()[1] == gb.__version__


def test_examples_of_the_docstring():
    assert doctest.testmod(gb).failed == 0


def test_the_core_installs_no_package_that_only_extras_need():
    """The default solvers of CVXPY alone take 160 MB, and nothing here calls them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, found = list(project["dependencies"]), set()
    while wanted:
        need = Requirement(wanted.pop())
        if need.name not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
            found.add(need.name)
            wanted += requires(need.name) or []
    assert "numpy" in found
    assert found.isdisjoint({"cvxpy", "scs", "osqp", "highspy", "pandas", "matplotlib", "dask"})
