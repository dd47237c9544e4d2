"""The runs of the default plan, by the module whose statements they are for."""

from __future__ import annotations

from gammabar.papers import Trial

SECTION2 = (
    Trial("perceptron", "planted:n=60,d=5,gamma=0.15,seed=0"),
    Trial("perceptron:choice=random", "iris:0,1", seed=1),
    Trial("perceptron:choice=worst", "two-lines:r=2,n=20"),
    Trial("normalized-perceptron", "planted:n=60,d=5,gamma=0.15,seed=1"),
    Trial("normalized-perceptron", "iris:0,1"),
    Trial("normalized-perceptron", "worst-case:n=30"),
    Trial("normalized-perceptron", "degenerate:kind=square"),
    Trial("normalized-perceptron", "two-lines:r=3,n=20 --kernel linear --normalised"),
    Trial("normalized-perceptron", "degenerate:kind=collinear,n=1,d=2"),
    Trial("normalized-perceptron", "inseparable:n=20,d=3,seed=0", 40),
    Trial("normalized-perceptron", "iris:0,1,2 --multiclass", 30),
    Trial("winnow", "planted:n=40,d=6,gamma=0.05,seed=0,rotate=0"),
    Trial("winnow", "planted:n=40,d=4,gamma=0.02,seed=0,rotate=0"),
    Trial("winnow", "degenerate:kind=ties,n=30,d=10,seed=3"),
    Trial("winnow", "degenerate:kind=ties,n=100,d=200,seed=0"),
    Trial("winnow", "opposed:r=1,copies=1"),
    Trial("winnow:rate=0.2", "degenerate:kind=dependent,n=15,d=4"),
    Trial("winnow:rate=0.1", "planted:n=30,d=3,gamma=0.1,seed=1,rotate=0"),
    Trial("winnow", "degenerate:kind=collinear,n=1,d=2,seed=25"),
    Trial("winnow", "inseparable:n=12,d=3,seed=1", 40),
)
SECTION4 = (
    Trial("snkp", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("snkp", "iris:1,2:n=60,seed=0 --kernel rbf:gamma=1"),
    Trial("snkp", "gaussian:n=40,d=6,seed=2,separable=1 --kernel linear --normalised"),
    Trial("snkp", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 60),
    Trial("snkp", "degenerate:kind=opposite,n=8,d=1", 60),
    Trial("snkp", "degenerate:kind=opposite,n=2,d=1", 20),
    Trial("snkp", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("snkp:epsilon=0.01", "opposed:r=30"),
    Trial("snkp:epsilon=0.64", "crossed"),
    Trial("snkp:epsilon=0.05", "inseparable:n=30,d=4,seed=0", 100),
    Trial("snkp", "iris:0,1,2 --multiclass", 20),
    Trial("snkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
    Trial("nkp", "worst-case:n=30"),
    Trial("nkp", "degenerate:kind=simplex,n=20,d=20"),
    Trial("nkp", "gaussian:n=30,d=3,seed=0,separable=1 --kernel linear --normalised"),
    Trial("nkp", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("nkp", "degenerate:kind=collinear,n=1,d=2"),
    Trial("nkp", "degenerate:kind=square"),
    Trial("nkp", "degenerate:kind=opposite,n=3,d=1", 60),
    Trial("nkp", "gaussian:n=50,d=5,seed=1,separable=1", 60),
    Trial("nkp", "inseparable:n=20,d=3,seed=0", 40),
    Trial("nkp", "mnist-sample:3,8:n=80,seed=0 --kernel linear --normalised", 60),
)
SECTION5 = (
    Trial("nvn:epsilon=0.05", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised"),
    Trial("nvn:epsilon=0.1", "degenerate:kind=opposite --kernel rbf:gamma=1"),
    Trial("nvn:epsilon=0.03", "degenerate:kind=opposite,n=8,d=1"),
    Trial("nvn:epsilon=0.2", "centred"),
    Trial("nvn", "inseparable:n=20,d=3,seed=0", 60),
    Trial("nvn:epsilon=0.001", "iris:0,1", 60),
)
SECTION6 = (
    Trial("snkpvn:delta=0.001", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial(
        "snkpvn:delta=0.001", "gaussian:n=40,d=6,seed=2,separable=1 --kernel linear --normalised"
    ),
    Trial("snkpvn:delta=0.15", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("snkpvn:delta=0.001,q=0,0,0.5,0.5", "worst-case:n=4"),
    Trial("snkpvn:delta=0.001", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 100),
    Trial("snkpvn:delta=1e-5", "degenerate:kind=opposite,n=8,d=1"),
    Trial("snkpvn:delta=0.05", "degenerate:kind=opposite --kernel rbf:gamma=1"),
    Trial("snkpvn:delta=0.01,q=0.75,0.25", "degenerate:kind=opposite,n=2,d=1"),
    # All of q on one of 30 rows that are the same, against one: p_k is slow to find the others.
    Trial(f"snkpvn:delta=0.01,q=0,1{',0' * 29}", "degenerate:kind=opposite,n=31,d=1"),
    Trial("snkpvn:delta=0.001", "opposed:r=30"),
    Trial("snkpvn:delta=0.6,q=1,0,0", "crossed:copies=1"),
    Trial("snkpvn", "inseparable:n=20,d=3,seed=0", 60),
    Trial("isnkpvn:epsilon=0.001", "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"),
    Trial("isnkpvn:gamma=1.1,epsilon=0.001", "iris:1,2:n=60,seed=0 --kernel rbf:gamma=1", 100),
    Trial("isnkpvn:epsilon=0.001", "degenerate:kind=square"),
    Trial("isnkpvn:gamma=100,epsilon=0.001", "opposed:r=30"),
    Trial("isnkpvn:gamma=100,epsilon=0.001", "opposed:r=10,copies=30"),
    Trial("isnkpvn", "gaussian:n=20,d=3,seed=0 --kernel linear --normalised", 100),
    Trial("isnkpvn:gamma=4", "degenerate:kind=opposite,n=8,d=1"),
    Trial("isnkpvn:gamma=3,epsilon=0.05", "degenerate:kind=opposite --kernel rbf:gamma=1", 100),
    Trial("isnkpvn", "inseparable:n=20,d=3,seed=0", 60),
    # δ_0 is far below ε, and the first call takes 24 steps.
    Trial("isnkpvn:epsilon=0.5", "rows:10,1;-10,1;10,-1;-20,-1 --kernel linear --normalised"),
)
TRIALS = (*SECTION2, *SECTION4, *SECTION5, *SECTION6)
