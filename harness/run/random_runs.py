"""Random problems and runs, which search for a false refutation.

They are small problems of every family and geometry, at the edges as well, and every solver that
statements are about, with random options.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

from gammabar.harness.registry import papers
from gammabar.harness.verify.context import Trial
from gammabar.problems import ProblemError
from gammabar.problems.specs import open_problem

#: These need coordinates.
COORDINATES = ("winnow",)
KINDS = ("ties", "dependent", "collinear", "square", "simplex", "opposite", "zero-row")


def random_trials(
    seed: int = 0, edges: bool = False, only: Container[str] | None = None
) -> Iterator[Trial]:
    """Trials without end, the same for the same seed; each problem can be opened.

    With `edges`, problems are in special position: two rows, one dimension, symmetric data, points
    in each other's way. There many bounds are attained with equality, which no precision decides.
    `only` are names of solvers to draw from; by default all that some paper names.
    """
    every = papers().values()
    solvers = {name: options for paper in every for name, options in paper.random.items()}
    if only is not None:
        solvers = {name: options for name, options in solvers.items() if name in only}
    if not solvers:
        return
    often = {name: times for paper in every for name, times in paper.often.items()}
    weights = np.array([often.get(name, 1) for name in solvers], dtype=float)
    rng = np.random.default_rng([seed, edges])
    while True:
        problem = special_problem(rng) if edges else random_problem(rng)
        try:
            open_problem(problem)
        except ProblemError:
            continue  # a combination of options that makes no sense, such as more support than rows
        for _ in range(3):
            name = str(rng.choice(list(solvers), p=weights / weights.sum()))
            if "--kernel" in problem and name in COORDINATES:
                continue
            options = [f"{k}={rng.choice(v)}" for k, v in solvers[name].items()]
            solver = f"{name}:{','.join(options)}" if options else name
            yield Trial(solver, problem, int(rng.choice((5, 15, 40))), int(rng.integers(1000)))


def random_problem(rng: np.random.Generator) -> str:
    """The text of a random small problem in general position."""
    n, d, seed = int(rng.integers(6, 25)), int(rng.integers(2, 8)), int(rng.integers(10**6))
    gamma = float(rng.choice((0.1, 0.15, 0.2, 0.3)))
    real = rng.choice(("iris:0,1", "iris:0,2", "digits:3,8", "digits:0,1"))
    family, text = rng.choice(
        (
            ("planted", f"planted:n={n},d={d + 1},gamma={gamma},seed={seed}"),
            ("gaussian", f"gaussian:n={n},d={d + n // 3},seed={seed},separable=1"),
            ("gaussian", f"gaussian:n={n + 2 * d},d={d},seed={seed}"),
            ("imbalanced", f"imbalanced:n={4 * n},d={d + 1},ratio=4,gamma={gamma},seed={seed}"),
            ("inseparable", f"inseparable:n={n + 4},d={d},seed={seed}"),
            ("duplicated", f"duplicated:n={n},d={d + 1},copies=3,gamma={gamma},seed={seed}"),
            ("real", f"{real}:n={2 * n},seed={seed}"),
            ("multiclass", f"iris:0,1,2:n={n + 6},seed={seed} --multiclass"),
        )
    )
    # Integer data of size 10³ are too far apart for an RBF kernel of usual width: G would be I.
    width = {"iris": 0.5, "digits": 1e-3, "gaussian": 1.0}.get(text.split(":")[0], 0)
    return _in_kernel(str(text), rng, 0.5, width) if family in ("gaussian", "real") else str(text)


def _in_kernel(text: str, rng: np.random.Generator, often: float, width: float) -> str:
    """A problem, some of the times with a kernel."""
    if rng.random() >= often:
        return text
    kernel = rng.choice(("linear", f"rbf:gamma={width}", "poly:degree=2,coef0=1"))
    return f"{text} --kernel {kernel}" + " --normalised" * int(rng.random() < 0.5)


def special_problem(rng: np.random.Generator) -> str:
    """The text of a small problem in special position."""
    n, d, seed = int(rng.integers(1, 9)), int(rng.integers(1, 6)), int(rng.integers(10**6))
    text = rng.choice(
        (
            *(f"degenerate:kind={kind},n={n},d={d},seed={seed}" for kind in KINDS),
            f"planted:n={n},d={d},gamma=0.5,seed={seed}",
            f"gaussian:n={n},d={d},seed={seed}",
            f"duplicated:n={n},d={d},copies=4,gamma=0.3,seed={seed}",
            f"two-lines:r={rng.integers(2, 5)},n={2 * n + 2}",
            f"worst-case:n={n + 10}",
            "loss-spike",
        )
    )
    return _in_kernel(str(text), rng, 0.25, 0.5)
