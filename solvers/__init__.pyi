from .adaboost import AdaBoost as AdaBoost
from .adaptive_sampling import AdaptiveSampling as AdaptiveSampling
from .base import Iterate as Iterate, Solver as Solver
from .dual_acceleration import DualAcceleration as DualAcceleration
from .dual_form import DualForm as DualForm
from .estimator import MaxMarginClassifier as MaxMarginClassifier
from .forms import Recorder as Recorder
from .gradient_descent import (
    GradientDescent as GradientDescent,
    HardMarginAscent as HardMarginAscent,
    NormalizedGradientDescent as NormalizedGradientDescent,
)
from .ramdas_pena import (
    NKP as NKP,
    NVN as NVN,
    SNKP as SNKP,
    NormalizedPerceptron as NormalizedPerceptron,
)
from .registry import solver as solver
from .ridge import KernelRidge as KernelRidge
from .sgd import SGD as SGD
from .smooth import (
    AcceleratedGradientDescent as AcceleratedGradientDescent,
    SmoothGradientDescent as SmoothGradientDescent,
)
from .snkpvn import ISNKPVN as ISNKPVN, SNKPVN as SNKPVN
from .tyurin import (
    BatchPerceptron as BatchPerceptron,
    LogisticRegressionGD as LogisticRegressionGD,
    NormalizedBatchPerceptron as NormalizedBatchPerceptron,
    NormalizedLogisticRegressionGD as NormalizedLogisticRegressionGD,
    Perceptron as Perceptron,
)
from .winnow import Winnow as Winnow
