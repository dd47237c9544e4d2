"""What is to be separated: geometries, data sets, generators and readers.

>>> from gammabar.problems import from_arrays
>>> problem = from_arrays([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
>>> problem.n
2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gammabar.problems.base import Problem, ProblemError, SoftMin, Source
    from gammabar.problems.dense import DenseProblem
    from gammabar.problems.kernel import KernelProblem
    from gammabar.problems.kernels import Kernel
    from gammabar.problems.multiclass import MulticlassProblem
    from gammabar.problems.on_dask import from_dask
    from gammabar.problems.scattered import ScatteredProblem
    from gammabar.problems.sparse import SparseProblem
    from gammabar.problems.spec import load
    from gammabar.problems.validate import from_arrays

# Imported when first asked for, so that `gammabar --help` need not wait for numpy and scipy.
_HOME = {
    "DenseProblem": "dense",
    "Kernel": "kernels",
    "KernelProblem": "kernel",
    "MulticlassKernelProblem": "multiclass_kernel",
    "MulticlassProblem": "multiclass",
    "Problem": "base",
    "ProblemError": "base",
    "ScatteredProblem": "scattered",
    "SoftMin": "base",
    "Source": "base",
    "SparseProblem": "sparse",
    "from_arrays": "validate",
    "from_dask": "on_dask",
    "load": "spec",
}

__all__ = [
    "DenseProblem",
    "Kernel",
    "KernelProblem",
    "MulticlassKernelProblem",
    "MulticlassProblem",
    "Problem",
    "ProblemError",
    "ScatteredProblem",
    "SoftMin",
    "Source",
    "SparseProblem",
    "from_arrays",
    "from_dask",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
