"""A problem's data as an .npz file that the independent checker (and anyone) can read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gammabar.problems import MulticlassProblem, Problem
from gammabar.problems.files import integer_of
from gammabar.problems.output import whole


def write_npz(problem: Problem, path: Path) -> Path:
    """Arrays X (as stored) and y, whole or not at all.

    y are the labels that certificates of the problem name; −1/+1 or class numbers without any.
    """
    problem = problem.plain  # a constant feature is no part of the data
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    y = np.asarray(problem.labels if isinstance(problem, MulticlassProblem) else problem.y)
    several = isinstance(problem, MulticlassProblem)
    source = problem.source
    if source is not None and source.arrays is not None:
        numbers = [integer_of(name) for name in source.classes]
        names = np.array(source.classes if None in numbers else numbers)
        y = names[y if several else (y + 1) // 2]
    with whole(path, "wb") as stream:
        np.savez_compressed(stream, X=X, y=y)
    return path
