"""Texts of the command line and of plans: problems, kernels and solvers with their options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gammabar.harness.run.tasks import open_problem, open_solver
from gammabar.problems.kernels import Kernel
from gammabar.problems.specs import catalogue
from gammabar.solvers.base import SOLVERS

from .mutations import spoil_text, spoiler
from .target import Target


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def problem_seeds() -> list[bytes]:
    small = {"mnist", "mnist-sample", "fashion", "cifar", "cifar-128", "eurosat", "mnist-test"}
    texts = [
        entry.syntax for entry in catalogue() if entry.kind != "file" and entry.name not in small
    ]
    texts += ["iris:0,1:n=50,seed=3,keep=1/2,repeat=2", "iris:0,1 --kernel rbf:gamma=0.5"]
    texts += ["iris:0,1 --kernel poly:degree=2,coef0=1 --normalised", "wine:0,1,2 --multiclass"]
    return [text.encode() for text in texts]


def kernel_seeds() -> list[bytes]:
    texts = ["linear", "precomputed", "rbf:gamma=0.1", "poly:degree=2,gamma=0.5,coef0=1"]
    texts += ["network:width=8,seed=3"]
    return [text.encode() for text in texts]


def solver_seeds() -> list[bytes]:
    texts = [*SOLVERS, "dual-acceleration:loss=logistic,step=0.5"]
    return [text.encode() for text in texts]


_WORDS = ["--kernel", "--label", "class", "--multiclass", "--normalised", "rbf", "gamma", "seed"]
_WORDS += ["n", "d", "keep", "repeat", "degree", "~", "~x.csv", ".", "..", "", "a\0b.csv", ".csv"]
_WORDS += [
    "x.npz",
    "/",
    "/dev/null",
    "/dev/full.csv",
    "nul.csv.gz",
    "\ud800.csv",
    "x" * 5000 + ".csv",
]


def run_problem(path: Path) -> Any:
    return open_problem(_text(path))


TARGETS = [
    Target("problem", problem_seeds, spoiler(spoil_text, ":,= ", _WORDS), run_problem, seconds=10),
    Target(
        "kernel",
        kernel_seeds,
        spoiler(spoil_text, ":,=", ["gamma", "degree", "rbf"]),
        lambda path: Kernel.parse(_text(path)),
    ),
    Target(
        "solver",
        solver_seeds,
        spoiler(spoil_text, ":,=", ["step", "loss", "logistic", "none"]),
        lambda path: open_solver(_text(path)),
    ),
]
