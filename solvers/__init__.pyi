from gammabar import MaxMarginClassifier as MaxMarginClassifier

from .base import Iterate as Iterate, Recorder as Recorder, Solver as Solver, solver as solver
from .boosting import AdaBoost as AdaBoost
from .descent import (
    SGD as SGD,
    AcceleratedGradientDescent as AcceleratedGradientDescent,
    SmoothGradientDescent as SmoothGradientDescent,
)
from .ji_srebro_telgarsky import (
    AdaptiveSampling as AdaptiveSampling,
    DualAcceleration as DualAcceleration,
    DualForm as DualForm,
    GradientDescent as GradientDescent,
    HardMarginAscent as HardMarginAscent,
    NormalizedGradientDescent as NormalizedGradientDescent,
)
from .kernel_methods import KernelRidge as KernelRidge
from .ramdas_pena import (
    ISNKPVN as ISNKPVN,
    NKP as NKP,
    NVN as NVN,
    SNKP as SNKP,
    SNKPVN as SNKPVN,
    NormalizedPerceptron as NormalizedPerceptron,
    Winnow as Winnow,
)
from .tyurin import (
    BatchPerceptron as BatchPerceptron,
    LogisticRegressionGD as LogisticRegressionGD,
    NormalizedBatchPerceptron as NormalizedBatchPerceptron,
    NormalizedLogisticRegressionGD as NormalizedLogisticRegressionGD,
    Perceptron as Perceptron,
)
