"""The runs of the default plan, by the module whose statements they are for."""

from gammabar.papers import Trial

TRIALS = (
    # jst_rates.py
    Trial("dual-acceleration", "planted:n=200,d=10,gamma=0.05,seed=4", 400),
    Trial("dual-acceleration", "digits:3,8"),
    Trial("dual-acceleration:loss=logistic", "orthogonal:n=10,p=0.3", 100),
    Trial("normalized-gradient-descent", "orthogonal:n=10,p=0.3", 60),
    # jst_steps.py
    Trial("gradient-descent", "planted:n=60,d=6,gamma=0.1,seed=4", 60),
    Trial("gradient-descent:step=0.5", "iris:0,1 --kernel rbf:gamma=1", 30),
    Trial("gradient-descent:loss=logistic", "imbalanced:n=60,d=5,ratio=4,gamma=0.1,seed=1", 60),
    Trial("gradient-descent", "iris:0,1,2 --multiclass", 40),
    Trial("normalized-gradient-descent", "gaussian:n=40,d=5,seed=2,separable=1", 60),
    Trial("normalized-gradient-descent:decay=True", "digits:0,1", 40),
    Trial("normalized-gradient-descent", "inseparable:n=40,d=4,seed=1", 60),
    Trial("batch-perceptron-cotter", "planted:n=60,d=6,gamma=0.1,seed=4", 120),
    Trial("batch-perceptron-cotter:averaged=False", "iris:0,1 --kernel poly:degree=2,coef0=1", 60),
    Trial("batch-perceptron-cotter", "two-lines:r=3,n=30", 80),
    Trial("adaptive-sampling:step=0.5,momentum=False", "planted:n=30,d=4,gamma=0.2,seed=4", 3000),
    Trial("adaptive-sampling", "iris:0,1 --kernel rbf:gamma=1", 400),
    Trial("adaptive-sampling:step=0.1,momentum=False", "iris:0,1,2 --multiclass", 400),
    # Weights that change much from step to step.
    Trial("adaptive-sampling:step=3,momentum=False", "iris:0,1:n=20 --kernel rbf:gamma=4", 400),
    # rp.py
    Trial("normalized-perceptron", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("nkp", "iris:0,1 --kernel poly:degree=2,coef0=1", 60),
    Trial("nkp", "duplicated:n=6,d=3,copies=3,gamma=0.05", 60),
    Trial("nvn:epsilon=0.001", "gaussian:n=30,d=4,seed=3", 60),
    Trial("nvn", "degenerate:kind=zero-row", 60),
    Trial("snkp", "iris:0,1", 40),
    Trial("snkp", "gaussian:n=30,d=4,seed=3", 60),
    Trial("snkp", "two-lines:r=2,n=12 --kernel poly:degree=2,coef0=1", 60),
    Trial("snkpvn:delta=1e-6", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("snkpvn:delta=1e-6,q=0.5,0.3,0.2", "inseparable:n=3,d=2,seed=0", 60),
    Trial("isnkpvn:gamma=1.5,epsilon=1e-4", "gaussian:n=30,d=4,seed=3", 60),
    Trial("isnkpvn:epsilon=1e-6", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    # gb.staggered
    Trial("normalized-batch-perceptron", "staggered:d=2,r=8,copies=16", 4),
    Trial("normalized-batch-perceptron", "staggered:d=5,r=20,copies=40", 8),
    Trial("normalized-batch-perceptron", "staggered:d=30,r=120,copies=240", 33),
    Trial("normalized-lr-gd:step=1e6", "staggered:d=5,r=20,copies=40", 8),
    # tyurin.py
    Trial("lr-gd:step=0.5", "iris:0,1 --kernel rbf:gamma=1", 60),
    Trial("lr-gd:step=20", "iris:0,1,2 --multiclass", 40),
    Trial("lr-gd:step=1e6", "inseparable:n=40,d=4,seed=0", 60),
    Trial("normalized-lr-gd:step=0.5", "iris:0,1 --kernel rbf:gamma=1", 60),
    Trial("normalized-lr-gd:step=20", "iris:0,1,2 --multiclass", 40),
    Trial("normalized-lr-gd:step=1000", "inseparable:n=40,d=4,seed=0", 60),
    Trial("batch-perceptron", "degenerate:kind=zero-row", 40),
    Trial("batch-perceptron", "iris:0,1,2 --multiclass", 60),
    Trial("normalized-batch-perceptron", "inseparable:n=40,d=4,seed=1", 60),
    Trial("normalized-batch-perceptron", "iris:0,1,2 --multiclass", 40),
    Trial("perceptron", "inseparable:n=40,d=4,seed=2", 60),
    Trial("perceptron:choice=worst", "iris:0,1,2 --multiclass", 60),
)
