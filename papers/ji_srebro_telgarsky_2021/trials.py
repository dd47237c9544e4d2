"""The runs of the default plan, by the module whose statements they are for."""

from gammabar.papers import Trial

TRIALS = (
    # Section 3
    Trial("dual-acceleration", "planted:n=100,d=8,gamma=0.1,seed=0", 300),
    Trial("dual-acceleration", "planted:n=40,d=5,gamma=0.01,seed=1", 300),
    Trial("dual-acceleration", "imbalanced:n=100,d=6,ratio=10,gamma=0.1,seed=0"),
    Trial("dual-acceleration", "gaussian:n=60,d=20,seed=2,separable=1"),
    Trial("dual-acceleration", "inseparable:n=80,d=6,seed=0"),
    Trial("dual-acceleration", "degenerate:kind=zero-row", 100),
    Trial("dual-acceleration", "duplicated:n=20,d=4,copies=3", 100),
    # ‖g_t‖ gets as near to γ̄t/2 as doubles can be: after these, only rounding is left to see.
    Trial("dual-acceleration", "worst-case:n=50", 15),
    Trial("dual-acceleration", "loss-spike", 50),
    Trial("dual-acceleration", "mnist-sample:0,1", 300),
    Trial("dual-acceleration", "iris:0,1 --kernel rbf:gamma=1", 60),
    Trial("dual-acceleration", "iris:0,1,2 --multiclass", 100),
    # Normalised gradient descent is too slow for Theorem 3.1(1) from t = 113 on.
    Trial("dual-acceleration", "orthogonal:n=30,p=0.35", 120),
    Trial("dual-acceleration", "orthogonal:n=10,p=0.95", 60),
    # Proposition 3.7 uses 0.36 of what it allows at t = 8; after that only rounding is left to see.
    Trial("dual-acceleration", "opposed:r=8,copies=20", 8),
    Trial("dual-acceleration", "orthogonal:n=100,p=0.25", 80),
    Trial("dual-acceleration", "orthogonal:n=10,p=0.3 --multiclass", 70),
    Trial("dual-acceleration-dual", "orthogonal:n=10,p=0.95", 60),
    Trial("dual-acceleration-dual", "planted:n=60,d=6,gamma=0.1,seed=3", 150),
    Trial("dual-acceleration-dual", "inseparable:n=40,d=5,seed=1", 100),
    Trial("dual-acceleration-dual", "iris:0,1 --kernel poly:degree=2,coef0=1", 60),
    Trial("dual-acceleration-dual:mixing=1", "planted:n=60,d=6,gamma=0.1,seed=3", 100),
    Trial("gradient-descent", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("gradient-descent:step=0.5", "inseparable:n=40,d=5,seed=0", 100),
    Trial("gradient-descent", "iris:0,1:n=40 --kernel rbf:gamma=1", 50),
    Trial("normalized-gradient-descent", "gaussian:n=60,d=20,seed=2,separable=1", 100),
    Trial("normalized-gradient-descent:decay=1", "planted:n=60,d=6,gamma=0.1,seed=0", 100),
    Trial("normalized-gradient-descent", "digits:0,1,2:n=30 --multiclass", 50),
    Trial("normalized-gradient-descent", "opposed:r=10", 60),
    Trial("normalized-gradient-descent", "inseparable:n=40,d=5,seed=0", 60),
    Trial("gradient-descent", "orthogonal:n=10,p=0.3", 100),
    # Section 5
    Trial("dual-acceleration", "planted:n=30,d=4,gamma=0.2,seed=0 --multiclass", 60),
    Trial("dual-acceleration", "digits:0,1,2:n=90 --multiclass", 100),
    Trial("dual-acceleration-dual", "digits:0,1,2:n=30 --multiclass", 50),
    # Appendices A and B
    Trial("dual-acceleration-dual", "planted:n=40,d=5,gamma=0.2,seed=0", 60),
    Trial("dual-acceleration-dual", "inseparable:n=30,d=4,seed=0", 60),
    Trial("dual-acceleration-dual", "iris:0,1", 40),
    Trial("dual-acceleration-dual:mixing=1", "planted:n=40,d=5,gamma=0.2,seed=0", 60),
    Trial("dual-acceleration-dual:mixing=0.5,step=0.5", "planted:n=40,d=5,gamma=0.2,seed=0", 40),
    Trial("dual-acceleration-dual:mixing=0.5", "planted:n=20,d=4,gamma=0.2,seed=1", 30),
    Trial("dual-acceleration-dual:mixing=slower", "planted:n=40,d=5,gamma=0.2,seed=0", 40),
    Trial("dual-acceleration-dual:mixing=recursive", "inseparable:n=30,d=4,seed=0", 40),
    Trial(
        "dual-acceleration-dual:mixing=halved,loss=logistic",
        "planted:n=20,d=4,gamma=0.2,seed=1",
        30,
    ),
    Trial("dual-acceleration-dual:mixing=1,step=0.25", "iris:0,1 --kernel rbf:gamma=1", 20),
    Trial("dual-acceleration-dual:loss=logistic", "planted:n=40,d=5,gamma=0.2,seed=0", 60),
    Trial("dual-acceleration-dual:loss=logistic,mixing=1", "iris:0,1", 40),
    # Appendix C
    Trial("dual-acceleration", "planted:n=60,d=5,gamma=0.1,seed=0"),
    Trial("dual-acceleration", "inseparable:n=50,d=4,seed=0", 100),
    Trial("dual-acceleration", "iris:0,1 --kernel poly:degree=2,coef0=1", 40),
    Trial("dual-acceleration:loss=logistic", "planted:n=60,d=5,gamma=0.1,seed=0"),
    Trial("dual-acceleration:loss=logistic", "iris:0,1", 100),
    Trial("dual-acceleration:loss=logistic", "inseparable:n=50,d=4,seed=0", 100),
    Trial("dual-acceleration:loss=logistic", "iris:0,1,2 --multiclass", 60),
    Trial("dual-acceleration:loss=logistic", "duplicated:n=10,d=3,copies=50,gamma=0.9", 40),
    Trial("dual-acceleration-dual:loss=logistic", "duplicated:n=10,d=3,copies=50,gamma=0.9", 40),
)
