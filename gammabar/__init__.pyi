from . import (
    harness as harness,
    oracle as oracle,
    papers as papers,
    problems as problems,
    solvers as solvers,
)
from .harness.certificates import Rejected as Rejected, check as check
from .harness.classifier import MaxMarginClassifier as MaxMarginClassifier
from .harness.run.in_process import verify as verify
from .oracle.maximum_margin import solve as solve
from .oracle.result import Truth as Truth
from .oracle.separation import separation as separation
from .problems.chunked import from_dask as from_dask
from .problems.conversion import from_arrays as from_arrays
from .problems.problem import Problem as Problem, ProblemError as ProblemError
from .problems.specs import load as load
from .solvers.base import Recorder as Recorder

__version__: str
