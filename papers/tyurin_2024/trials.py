"""The runs of the default plan, by the module whose statements they are for."""

from __future__ import annotations

from gammabar.papers import Trial

SECTION3 = (
    Trial("lr-gd", "planted:n=60,d=5,gamma=0.1,seed=0"),
    Trial("lr-gd:step=100", "worst-case:n=101", 40),
    Trial("lr-gd:step=1e4", "worst-case:n=101", 40),
    Trial("lr-gd:step=1e6", "worst-case:n=101", 40),
    Trial("lr-gd:step=0.01", "planted:n=4,d=3,gamma=0.05,seed=15", 40),
    Trial("lr-gd:step=100", "planted:n=4,d=3,gamma=0.05,seed=36", 60),
    Trial("batch-perceptron", "worst-case:n=101", 40),
    Trial("batch-perceptron", "planted:n=4,d=3,gamma=0.05,seed=15", 40),
    Trial("batch-perceptron", "planted:n=60,d=5,gamma=0.1,seed=0"),
    Trial("batch-perceptron", "opposed:r=10,copies=2"),
    Trial("batch-perceptron", "iris:0,1"),
    Trial("batch-perceptron", "imbalanced:n=110,d=5,ratio=10,gamma=0.1,seed=0"),
    Trial("batch-perceptron", "degenerate:kind=collinear,n=1,d=2"),
    Trial("batch-perceptron", "gaussian:n=30,d=4,seed=1,separable=1 --kernel rbf:gamma=0.5"),
)
SECTION4 = (Trial("lr-gd:step=4", "loss-spike", 10), Trial("lr-gd:step=1e6", "loss-spike", 10))
SECTION5 = (
    Trial("batch-perceptron", "worst-case:n=16", 20),
    Trial("batch-perceptron", "worst-case:n=1000", 310),
    Trial("lr-gd:step=0.1", "worst-case:n=20", 20),
    Trial("lr-gd:step=1e6", "worst-case:n=1000", 310),
    Trial("perceptron", "planted:n=60,d=5,gamma=0.1,seed=2"),
    Trial("perceptron:choice=cyclic", "gaussian:n=40,d=4,seed=3,separable=1"),
    Trial("perceptron:choice=random", "two-lines:r=3,n=40", seed=1),
    Trial("perceptron:choice=worst", "degenerate:kind=simplex"),
    Trial("perceptron:choice=worst", "mnist-sample:0,1"),
    Trial("normalized-batch-perceptron", "planted:n=60,d=5,gamma=0.1,seed=1"),
    Trial("normalized-batch-perceptron", "imbalanced:n=110,d=5,ratio=10,gamma=0.1,seed=0"),
    Trial("normalized-batch-perceptron", "degenerate:kind=simplex"),
    Trial("normalized-batch-perceptron", "opposed:r=10"),
    Trial("normalized-batch-perceptron", "worst-case:n=30"),
    Trial("perceptron", "worst-case:n=50"),
    Trial("normalized-batch-perceptron", "iris:0,1 --kernel poly:degree=2,coef0=1"),
)
SECTION6 = (
    Trial("lr-gd:step=1e4", "digits:3,8", 60),
    Trial("lr-gd:step=1e6", "gaussian:n=40,d=5,seed=0", 40),
    Trial("normalized-lr-gd:step=1000", "loss-spike", 10),
    Trial("normalized-lr-gd:step=1e6", "gaussian:n=40,d=5,seed=0", 40),
    Trial("normalized-lr-gd:step=1e4", "digits:3,8", 60),
    Trial("normalized-lr-gd:step=10", "planted:n=60,d=5,gamma=0.1,seed=3"),
    Trial("normalized-lr-gd:step=0.1", "two-lines:r=2,n=20"),
    Trial("normalized-lr-gd:step=100", "imbalanced:n=110,d=5,ratio=10,gamma=0.1,seed=1"),
    Trial("normalized-lr-gd", "degenerate:kind=collinear,n=1,d=2"),
)
SECTION8 = (
    Trial("lr-gd", "degenerate:kind=simplex,n=1,d=1", 20),
    Trial("lr-gd:step=0.2", "loss-spike", 400),
    Trial("lr-gd", "degenerate:kind=simplex,n=4,d=4", 300),
)
TABLE1 = (
    Trial("normalized-lr-gd:step=100", "worst-case:n=1000", 10),
    Trial("normalized-lr-gd:step=10", "worst-case:n=1000", 10),
    Trial("normalized-lr-gd:step=1", "worst-case:n=1000", 20),
    Trial("normalized-lr-gd:step=0.1", "worst-case:n=1000", 160),
    Trial("lr-gd:step=100", "worst-case:n=1000", 310),
)
APPENDIX = (
    # Rows of 2²⁰: with a step of one, scores have errors that no softmax survives.
    Trial("normalized-lr-gd:step=1e-6", "orthogonal:n=10,p=0.3", 60),
    Trial("normalized-lr-gd:step=0.5", "worst-case:n=100", 60),
    Trial("normalized-lr-gd:step=0.01", "worst-case:n=100", 60),
)
TRIALS = (*SECTION3, *SECTION4, *SECTION5, *SECTION6, *SECTION8, *TABLE1, *APPENDIX)
