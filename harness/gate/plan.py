"""What the gate runs: timings of the hot paths, and the numbers that the clock cannot touch."""

from __future__ import annotations

from gammabar.harness.gate.compare import Gated

#: Timings of the hot paths: each takes a few seconds.
TIMES = (
    Gated("bench_jst.Iteration.time_step", ((20_000, 50), "float64", 1)),
    Gated("bench_jst.Iteration.time_step", ((20_000, 50), "float32", 1)),
    Gated("bench_jst.Iteration.time_step", ((20_000, 400), "float32", 2)),
    Gated("bench_jst.Iteration.time_step", ((20_000, 400), "sparse", 1)),
    Gated("bench_jst.OtherGeometries.time_step", ("kernel",)),
    Gated("bench_jst.OtherGeometries.time_step", ("multiclass",)),
    Gated("bench_jst.Convergence.time_to_certified_gap", ("DualAcceleration", 0.9)),
    Gated("bench_jst.Sampling.time_run"),
    Gated("bench_tyurin.Iteration.time_step", ("NormalizedLogisticRegressionGD", (20_000, 50))),
    Gated("bench_rp.Iteration.time_step", ("SNKP", "kernel")),
    Gated("bench_lecture.Boosting.time_round", ((500, 20),)),
    Gated("bench_oracle.Proof.time_solve", ("iris:0,1",)),
)

#: Peak memory.
MEMORY = (
    Gated("bench_jst.Memory.peakmem_run"),
    Gated("bench_jst.Certified.peakmem_to_certified_gap", ("dense",)),
    Gated("bench_oracle.Proof.peakmem_solve", ("digits:3,8",)),
)

#: Deterministic numbers.
COUNTS = (
    *(
        Gated(f"bench_jst.Convergence.track_{what}", (name, fraction))
        for what in ("iterations", "passes")
        for name, fractions in (
            ("DualAcceleration", (0.9, 0.99, 0.999, 0.9999)),
            ("DualForm", (0.9, 0.99)),
            ("NormalizedGradientDescent", (0.9,)),
            ("HardMarginAscent", (0.9,)),
        )
        for fraction in fractions
    ),
    Gated("bench_jst.Sampling.track_iterations"),
    Gated("bench_jst.Sampling.track_kernel_evaluations"),
    *(
        Gated("bench_jst.Tightness.track_worst", (name,), "same")
        for name in ("jst.thm3.1.1", "jst.thm3.1.2", "gb.sharp", "gb.selfcert")
    ),
    *(
        Gated("bench_tyurin.Separation.track_iterations", (name, problem))
        for name in (
            "LogisticRegressionGD",
            "NormalizedLogisticRegressionGD",
            "BatchPerceptron",
            "NormalizedBatchPerceptron",
            "Perceptron",
        )
        for problem in ("worst-case:n=1000", "digits:3,8")
    ),
    *(
        Gated(f"bench_rp.Separation.track_{what}", (name,))
        for what in ("iterations", "passes")
        for name in ("NormalizedPerceptron", "NKP", "SNKP")
    ),
    *(
        Gated("bench_rp.Certificates.track_iterations", (name, separable))
        for name in ("SNKPVN", "ISNKPVN")
        for separable in (True, False)
    ),
    Gated("bench_rp.Simplex.track_iterations"),
    Gated("bench_lecture.Descent.track_iterations", ("SmoothGradientDescent",)),
    Gated("bench_lecture.Descent.track_iterations", ("AcceleratedGradientDescent",)),
    Gated("bench_lecture.Boosting.track_rounds", ((500, 20),)),
    *(
        Gated("bench_oracle.Proof.track_support", (name,), "same")
        for name in ("digits:3,8", "planted:n=2000,d=50,gamma=0.01,seed=1")
    ),
    Gated("bench_oracle.Proof.track_rounds", ("breast-cancer",)),
    Gated("bench_oracle.Enclosure.track_digits_proved", (50,), "higher"),
)

PLAN = COUNTS + MEMORY + TIMES
