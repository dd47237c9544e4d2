from .chunked import ScatteredProblem as ScatteredProblem, from_dask as from_dask
from .conversion import from_arrays as from_arrays
from .kernel import KernelProblem as KernelProblem
from .kernels import Kernel as Kernel
from .linear import DenseProblem as DenseProblem, SparseProblem as SparseProblem
from .multiclass import (
    MulticlassKernelProblem as MulticlassKernelProblem,
    MulticlassProblem as MulticlassProblem,
)
from .problem import (
    Problem as Problem,
    ProblemError as ProblemError,
    SoftMin as SoftMin,
    Source as Source,
)
from .specs import load as load
