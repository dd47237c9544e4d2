"""A problem's data as an .npz file that the independent checker (and anyone) can read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gammabar.problems import MulticlassProblem, Problem


def write_npz(problem: Problem, path: Path) -> Path:
    """Arrays X (as stored) and y (−1/+1, or class numbers), through a temporary file."""
    problem = problem.plain  # a constant feature is no part of the data
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    y = problem.labels if isinstance(problem, MulticlassProblem) else problem.y
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as stream:
            np.savez_compressed(stream, X=X, y=np.asarray(y))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
