"""The algorithms of the papers, as iterators of iterates.

>>> from itertools import islice
>>> from gammabar.problems import load
>>> from gammabar.solvers import DualAcceleration
>>> problem = load("planted:n=200,d=10,gamma=0.1,seed=0").unit()
>>> [it.t for it in islice(DualAcceleration().iterates(problem), 3)]
[0, 1, 2]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gammabar.solvers.registry import SOLVERS, solver

if TYPE_CHECKING:
    from gammabar.solvers.adaboost import AdaBoost as AdaBoost
    from gammabar.solvers.adaptive_sampling import AdaptiveSampling as AdaptiveSampling
    from gammabar.solvers.base import Iterate as Iterate
    from gammabar.solvers.base import Solver as Solver
    from gammabar.solvers.dual_acceleration import DualAcceleration as DualAcceleration
    from gammabar.solvers.dual_form import DualForm as DualForm
    from gammabar.solvers.estimator import MaxMarginClassifier as MaxMarginClassifier
    from gammabar.solvers.forms import Recorder as Recorder
    from gammabar.solvers.gradient_descent import GradientDescent as GradientDescent
    from gammabar.solvers.gradient_descent import HardMarginAscent as HardMarginAscent
    from gammabar.solvers.gradient_descent import (
        NormalizedGradientDescent as NormalizedGradientDescent,
    )
    from gammabar.solvers.ramdas_pena import NKP as NKP
    from gammabar.solvers.ramdas_pena import NVN as NVN
    from gammabar.solvers.ramdas_pena import SNKP as SNKP
    from gammabar.solvers.ramdas_pena import NormalizedPerceptron as NormalizedPerceptron
    from gammabar.solvers.ridge import KernelRidge as KernelRidge
    from gammabar.solvers.sgd import SGD as SGD
    from gammabar.solvers.smooth import AcceleratedGradientDescent as AcceleratedGradientDescent
    from gammabar.solvers.smooth import SmoothGradientDescent as SmoothGradientDescent
    from gammabar.solvers.snkpvn import ISNKPVN as ISNKPVN
    from gammabar.solvers.snkpvn import SNKPVN as SNKPVN
    from gammabar.solvers.tyurin import BatchPerceptron as BatchPerceptron
    from gammabar.solvers.tyurin import LogisticRegressionGD as LogisticRegressionGD
    from gammabar.solvers.tyurin import NormalizedBatchPerceptron as NormalizedBatchPerceptron
    from gammabar.solvers.tyurin import (
        NormalizedLogisticRegressionGD as NormalizedLogisticRegressionGD,
    )
    from gammabar.solvers.tyurin import Perceptron as Perceptron
    from gammabar.solvers.winnow import Winnow as Winnow

# Imported when first asked for; classes of solvers are found through the registry.
_HOME = {path.partition(":")[2]: path.partition(":")[0] for path in SOLVERS.values()}
_HOME |= {
    "Iterate": "base",
    "Solver": "base",
    "MaxMarginClassifier": "estimator",
    "Recorder": "forms",
}

__all__ = [*sorted(_HOME), "solver"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
