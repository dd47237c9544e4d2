"""Every solver of the project by name, imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gammabar.problems import ProblemError
from gammabar.problems.spelling import did_you_mean

#: Registry name → module and class, in the order of the sources.
SOLVERS = {
    "dual-acceleration": "dual_acceleration:DualAcceleration",
    "dual-acceleration-dual": "dual_form:DualForm",
    "adaptive-sampling": "adaptive_sampling:AdaptiveSampling",
    "gradient-descent": "gradient_descent:GradientDescent",
    "normalized-gradient-descent": "gradient_descent:NormalizedGradientDescent",
    "batch-perceptron-cotter": "gradient_descent:HardMarginAscent",
    "lr-gd": "tyurin:LogisticRegressionGD",
    "normalized-lr-gd": "tyurin:NormalizedLogisticRegressionGD",
    "batch-perceptron": "tyurin:BatchPerceptron",
    "normalized-batch-perceptron": "tyurin:NormalizedBatchPerceptron",
    "perceptron": "tyurin:Perceptron",
    "normalized-perceptron": "ramdas_pena:NormalizedPerceptron",
    "winnow": "winnow:Winnow",
    "nkp": "ramdas_pena:NKP",
    "snkp": "ramdas_pena:SNKP",
    "nvn": "ramdas_pena:NVN",
    "snkpvn": "snkpvn:SNKPVN",
    "isnkpvn": "snkpvn:ISNKPVN",
    "smooth-gradient-descent": "smooth:SmoothGradientDescent",
    "accelerated-gradient-descent": "smooth:AcceleratedGradientDescent",
    "sgd": "sgd:SGD",
    "adaboost": "adaboost:AdaBoost",
    "kernel-ridge": "ridge:KernelRidge",
}


def solver(name: str) -> Any:
    """The class of a solver.

    Examples
    --------
    >>> solver("dual-acceleration")().step
    1.0
    """
    if name not in SOLVERS:
        hint = did_you_mean(name, SOLVERS, "see `gammabar list solvers`")
        raise ProblemError(f"{name!r} is no solver ({hint})")
    module, _, attribute = SOLVERS[name].partition(":")
    return getattr(import_module(f"gammabar.solvers.{module}"), attribute)
