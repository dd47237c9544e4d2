"""What a solver is, and what it yields.

A solver is a small frozen dataclass of hyper-parameters with one method,
``iterates(problem, rng) -> Iterator[Iterate]``, written against the protocol of `problems.Problem`,
so that the same text runs on dense, sparse, kernel and multiclass problems. It never measures
itself and never sees the oracle, and the caller decides when to stop: iterates are endless, but
for methods that exit by themselves in their paper (a perceptron without mistakes), which end after
an iterate with ``extra["halt"]``.

`SOLVERS` lists every solver of the project by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import Problem, ProblemError, SoftMin
from gammabar.problems.suggest import did_you_mean

Array = NDArray[Any]
Rng: TypeAlias = np.random.Generator | None
T = TypeVar("T")

ALL_GEOMETRIES = ("dense", "sparse", "kernel", "multiclass")
COORDINATES = ("dense", "sparse", "multiclass")
LECTURE = "Sharan, Lecture 9: SGD, boosting, kernels"


@dataclass(frozen=True)
class Iterate:
    """One iterate of a solver. ``t`` (updates so far) and ``w`` are enough; the rest is derived.

    ``problem`` is filled in by the harness where a solver does not; ``soft`` is what the step
    computed in its pass over the data at ``w``, ``computed`` the scores A w where there is no
    ``soft``, ``dual`` the dual weights where they differ from the softmax, ``momentum`` g_t, and
    ``extra`` has further sequences of the method under the paper's names (``mu``, ``p``, …).
    """

    t: int
    w: Array
    problem: Problem | None = field(default=None, repr=False)
    soft: SoftMin | None = field(default=None, repr=False)
    dual: Array | None = field(default=None, repr=False)
    momentum: Array | None = field(default=None, repr=False)
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    computed: Array | None = field(default=None, repr=False, kw_only=True)

    def on(self, problem: Problem) -> Iterate:
        return self if self.problem is problem else replace(self, problem=problem)

    def _known(self) -> Problem:
        if self.problem is None:
            raise ProblemError("this iterate does not know its problem: use iterate.on(problem)")
        return self.problem

    @cached_property
    def scores(self) -> Array:
        if self.soft is not None:
            return self.soft.scores
        return self._known().scores(self.w) if self.computed is None else self.computed

    @cached_property
    def smallest(self) -> float:
        return float(self.scores.min()) if self.soft is None else self.soft.smallest

    @cached_property
    def norm(self) -> float:
        return self._known().norm(self.w)

    @cached_property
    def margin(self) -> float:
        """γ(w) = min_i (A w)_i / ‖w‖, and 0 for w = 0."""
        return self.smallest / self.norm if self.norm > 0 else 0.0

    @cached_property
    def weights(self) -> Array:
        """Dual weights: those of the step, or the softmax of −A w."""
        if self.dual is not None:
            return self.dual
        weights = np.exp(self.smallest - self.scores)
        return weights / weights.sum()


def scored(
    t: int, w: Array, problem: Problem, scores: Array, dual: Array | None = None, **extra: Any
) -> Iterate:
    """An iterate whose scores are known, so that asking for them costs no pass over the data."""
    return Iterate(t, w, problem, dual=dual, extra=extra, computed=scores)


class Solver(Protocol):
    """Anything with ``iterates``."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]: ...


@dataclass(frozen=True)
class Card:
    """What ``gammabar list solvers`` shows of a solver.

    ``geometries`` are of "dense", "sparse", "kernel", "multiclass"; or "functions", "stumps" for
    the lecture's. ``unit_ball`` says that its theory assumes rows of norm at most one.
    """

    name: str
    reference: str
    geometries: tuple[str, ...]
    unit_ball: bool = False


@dataclass_transform(frozen_default=True)
def declare(
    name: str,
    reference: str,
    geometries: tuple[str, ...] = ALL_GEOMETRIES,
    *,
    unit_ball: bool = False,
    ends: tuple[str, ...] = (),
    positive: tuple[str, ...] = (),
    choices: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Callable[[type[T]], type[T]]:
    """Declare a solver: a frozen dataclass of hyper-parameters, with its `Card`.

    ``ends`` are the values of ``extra["halt"]`` with which the method ends in its paper.
    ``positive`` options must be positive numbers (or None, where that is the default), and
    ``choices`` one of some texts; a ``__post_init__`` of the class checks the others.
    """

    def declared(cls: Any) -> Any:
        further = vars(cls).get("__post_init__")

        def check(self: Any) -> None:
            for option in positive:
                _check_positive(option, getattr(self, option), getattr(cls, option))
            for option, texts in choices.items():
                if (value := getattr(self, option)) not in texts:
                    raise ProblemError(f"{option} must be one of {', '.join(texts)}, not {value!r}")
            if further is not None:
                further(self)

        cls.card = Card(name, reference, geometries, unit_ball)
        cls.ends = ends
        cls.__post_init__ = check
        return dataclass(frozen=True)(cls)

    return declared


def _check_positive(option: str, value: float | None, default: float | None) -> None:
    if value is None and default is None:
        return
    if value is None or not (value > 0 and math.isfinite(value)):
        raise ProblemError(f"option {option} must be a positive number, not {value!r}")


#: Registry name → class or its name, in the order of the sources. Papers of users add theirs.
SOLVERS: dict[str, Any] = {
    "dual-acceleration": "DualAcceleration",
    "dual-acceleration-dual": "DualForm",
    "adaptive-sampling": "AdaptiveSampling",
    "gradient-descent": "GradientDescent",
    "normalized-gradient-descent": "NormalizedGradientDescent",
    "batch-perceptron-cotter": "HardMarginAscent",
    "lr-gd": "LogisticRegressionGD",
    "normalized-lr-gd": "NormalizedLogisticRegressionGD",
    "batch-perceptron": "BatchPerceptron",
    "normalized-batch-perceptron": "NormalizedBatchPerceptron",
    "perceptron": "Perceptron",
    "normalized-perceptron": "NormalizedPerceptron",
    "winnow": "Winnow",
    "nkp": "NKP",
    "snkp": "SNKP",
    "nvn": "NVN",
    "snkpvn": "SNKPVN",
    "isnkpvn": "ISNKPVN",
    "smooth-gradient-descent": "SmoothGradientDescent",
    "accelerated-gradient-descent": "AcceleratedGradientDescent",
    "sgd": "SGD",
    "adaboost": "AdaBoost",
    "kernel-ridge": "KernelRidge",
}


def solver(name: str) -> Any:
    """The class of a solver, by its name in the registry."""
    if name not in SOLVERS:
        hint = did_you_mean(name, SOLVERS, "see `gammabar list solvers`")
        raise ProblemError(f"{name!r} is no solver ({hint})")
    found = SOLVERS[name]
    return getattr(import_module("gammabar.solvers"), found) if isinstance(found, str) else found
