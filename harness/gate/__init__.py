"""The gate: is this commit slower, hungrier or lazier than its base?

On a shared machine one timing means nothing. So the two commits run side by side in two processes
that take turns of a few milliseconds, each turn beside a fixed piece of reference work; what counts
is the median ratio of neighbouring turns. A slowdown must appear in three rounds of fresh processes
before it is called a regression. What does not depend on the clock (iterations, passes over the
data, kernel evaluations, tightness) must be equal, exactly. The benchmarks are those of asv,
found and set up by asv's own runner.
"""
