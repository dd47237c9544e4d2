"""Whether a matrix is one of SciPy's sparse ones, without importing SciPy to find out.

Importing ``scipy.sparse`` takes longer than most small problems do, and dense data need nothing of
it. Nobody can have made a sparse matrix before it was imported.
"""

from __future__ import annotations

import sys
from typing import Any


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(X))
