"""What a plan consists of: a solver on a problem, heard for so many iterates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """One run of one solver, which all statements about that solver hear.

    Attributes
    ----------
    solver : str
        Name in the registry with options, as ``gammabar verify --solver`` takes it:
        "dual-acceleration" or "dual-acceleration:loss=logistic,step=0.5".
    problem : str
        As ``gammabar verify`` takes it: DATA, and what follows it on the command line, as in
        "iris:0,1 --kernel rbf:gamma=1" or "iris:0,1,2 --multiclass".
    iterations : int
        Claims about every iterate hear t = 0, …, iterations.
    seed : int
        Of the solver's random numbers.
    """

    solver: str
    problem: str
    iterations: int = 200
    seed: int = 0
