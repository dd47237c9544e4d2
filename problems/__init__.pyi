from .base import (
    Problem as Problem,
    ProblemError as ProblemError,
    SoftMin as SoftMin,
    Source as Source,
)
from .dense import DenseProblem as DenseProblem
from .kernel import KernelProblem as KernelProblem
from .kernels import Kernel as Kernel
from .multiclass import MulticlassProblem as MulticlassProblem
from .multiclass_kernel import MulticlassKernelProblem as MulticlassKernelProblem
from .on_dask import from_dask as from_dask
from .scattered import ScatteredProblem as ScatteredProblem
from .sparse import SparseProblem as SparseProblem
from .spec import load as load
from .validate import from_arrays as from_arrays
