"""Does your solver obey the theorem? A verdict with proof, at every iterate.

>>> import gammabar as gb
>>> problem = gb.from_arrays([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
>>> problem.n
2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gammabar.oracle.answer import solve as solve
    from gammabar.oracle.truth import Truth as Truth
    from gammabar.problems.base import Problem as Problem
    from gammabar.problems.base import ProblemError as ProblemError
    from gammabar.problems.spec import load as load
    from gammabar.problems.validate import from_arrays as from_arrays
    from gammabar.solvers.estimator import MaxMarginClassifier as MaxMarginClassifier

#: Name → module that has it. Imported when first asked for: `import gammabar` costs nothing.
_HOME = {
    "MaxMarginClassifier": "solvers.estimator",
    "Problem": "problems.base",
    "ProblemError": "problems.base",
    "Truth": "oracle.truth",
    "from_arrays": "problems.validate",
    "load": "problems.spec",
    "solve": "oracle.answer",
}
_PACKAGES = ("harness", "oracle", "problems", "solvers")

__all__ = sorted([*_HOME, *_PACKAGES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _PACKAGES:
        value = import_module(f"{__name__}.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("gammabar")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
