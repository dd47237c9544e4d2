"""Does your solver obey the theorem? A verdict with proof, at every iterate.

>>> import gammabar as gb
>>> problem = gb.from_arrays([[1.0, 2.0], [2.0, -1.0]], ["a", "b"])
>>> gb.solve(problem).gamma_squared
Fraction(5, 2)

========================== =====================================================================
``load``                   the problem that a text names: "mnist:0,1", "data.csv", a generator
``from_arrays``            a problem of one's own: arrays, sparse matrices, kernels, many classes
``from_dask``              the same of a Dask array, whose chunks stay where they are
``solve``                  the maximum margin of a problem, exact and proved; ``.save`` certifies
``separation``             complete, quasi-complete or overlap: does the MLE exist? exact, proved
``check``                  is a certificate or a witness right? asks the independent checkers
``verify``                 verdicts about a solver on a problem, in this process
``Recorder``               ``record(w)`` in a training loop; ``verify`` judges what it kept
``solvers``                the algorithms of the papers: ``gb.solvers.DualAcceleration()``
``papers``                 what the papers claim, and the words to state a theorem of one's own
``MaxMarginClassifier``    the exact maximum-margin classifier, as a scikit-learn estimator
``Problem``, ``Truth``     what ``load`` and ``solve`` return
``ProblemError``           what bad input raises: one sentence that says where and what to do
``Rejected``               what ``check`` raises if the checker says no, and why it does
========================== =====================================================================

The command is ``gammabar``, or ``python -m gammabar``.
"""

from __future__ import annotations

# The module `typing` takes longer to import than all of this; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gammabar import harness as harness
    from gammabar import oracle as oracle
    from gammabar import papers as papers
    from gammabar import problems as problems
    from gammabar import solvers as solvers
    from gammabar.harness.classifier import MaxMarginClassifier as MaxMarginClassifier
    from gammabar.harness.run.checking import Rejected as Rejected
    from gammabar.harness.run.checking import check as check
    from gammabar.harness.run.verify import verify as verify
    from gammabar.oracle.answer import solve as solve
    from gammabar.oracle.separation import separation as separation
    from gammabar.oracle.truth import Truth as Truth
    from gammabar.problems.base import Problem as Problem
    from gammabar.problems.base import ProblemError as ProblemError
    from gammabar.problems.on_dask import from_dask as from_dask
    from gammabar.problems.spec import load as load
    from gammabar.problems.validate import from_arrays as from_arrays
    from gammabar.solvers.forms import Recorder as Recorder

    __version__: str

#: Name → the module that has it. Imported when first asked for.
_HOME = {
    "MaxMarginClassifier": "harness.classifier",
    "Problem": "problems.base",
    "ProblemError": "problems.base",
    "Recorder": "solvers.forms",
    "Rejected": "harness.run.checking",
    "Truth": "oracle.truth",
    "check": "harness.run.checking",
    "from_arrays": "problems.validate",
    "from_dask": "problems.on_dask",
    "load": "problems.spec",
    "separation": "oracle.separation",
    "solve": "oracle.answer",
    "verify": "harness.run.verify",
}
_PACKAGES = ("harness", "oracle", "papers", "problems", "solvers")

__all__ = ["__version__", *_HOME, "papers", "solvers"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

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
