"""Novikoff's theorem: the perceptron makes at most (R/γ̄)² mistakes."""

from gammabar.papers import Paper, separable, stopping

paper = Paper(
    key="novikoff",
    title="On convergence proofs for perceptrons",
    authors="A. B. J. Novikoff",
    year=1962,
    venue="Symposium on the Mathematical Theory of Automata",
)


@stopping(
    "novikoff.mistakes",
    reference="Theorem 1",
    claim=r"t \le (R/\bar\gamma)^2",
    solvers=("perceptron",),
    assumes=(separable,),
)
def mistakes(case):
    """The perceptron separates the data after at most (R/γ̄)² updates."""
    return case.mistake_bound


@stopping(
    "novikoff.root",
    reference="a conjecture that is false",
    claim=r"t \le R/\bar\gamma",
    solvers=("perceptron",),
    assumes=(separable,),
)
def root(case):
    """The perceptron separates the data after at most R/γ̄ updates."""
    return case.radius / case.gamma
