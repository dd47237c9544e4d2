"""Section 4, Boosting: what the proof of Theorem 6 says about VC dimensions and sample sizes.

The bounds on the number of examples have a constant c that is not named, for any class, learner and
distribution: no run can refute them, and they are not registered.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import ceil

import numpy as np
from numpy.typing import NDArray

from gammabar.papers import (
    Case,
    Relation,
    Unclaimed,
    at_least,
    at_most,
    choices,
    direct,
    log,
    number,
    rationals,
    upper,
    wholes,
)

Signs = NDArray[np.int64]

#: The domain is {0, …, 5}.
POINTS = 6


def thresholds() -> Signs:
    """x ↦ sign(x ≥ θ), one row each: VC dimension 1."""
    return np.array([np.where(np.arange(POINTS) >= c, 1, -1) for c in range(POINTS + 1)])


def intervals() -> Signs:
    """x ↦ sign(a ≤ x < b), one row each: VC dimension 2."""
    x = np.arange(POINTS)
    ends = combinations(range(POINTS + 1), 2)
    return np.array([np.where((a <= x) & (x < b), 1, -1) for a, b in ends])


def combined(H: Signs, T: int) -> set[tuple[int, ...]]:
    """Members of LC(H, T) on the domain: those with weights −2, …, 2. (sign(0) is +1.)"""
    found: set[tuple[int, ...]] = set()
    weights = np.array(list(product(range(-2, 3), repeat=T)))
    for rows in combinations(range(len(H)), T):
        signs = np.where(weights @ H[list(rows)] >= 0, 1, -1)
        found.update(map(tuple, signs.tolist()))
    return found


def vc_dimension(patterns: set[tuple[int, ...]]) -> int:
    """The largest number of points of the domain on which all signs occur."""
    for size in range(POINTS, 0, -1):
        for chosen in combinations(range(POINTS), size):
            if len({tuple(p[i] for i in chosen) for p in patterns}) == 2**size:
                return size
    return 0


NO_RUN = "it is about classes of hypotheses, not about a solver"
_CLAIM = r"\text{VC-dim}(LC(\mathcal{H}, T)) \leq c\,T\,d\log(T)"


#: Classes and their VC dimensions.
CLASSES = {"thresholds": (thresholds, 1), "intervals": (intervals, 2)}


def _bounded(case: Case, rounds: tuple[int, ...], c: int) -> Iterator[Relation]:
    """What is found of the VC dimension against c T d log T."""
    for name, T in case.instances(product(CLASSES, rounds)):
        H, d = CLASSES[name]
        size = vc_dimension(combined(H(), T))
        bound = c * T * d * log(T)
        where = f"{name}, d = {d}, T = {T}"
        yield at_most(size, bound, "VC-dim(LC(H, T)) ≤ c T d log T", where=where)


@direct(
    "lec.sec4.vc",
    reference="Section 4, Exercise",
    kind="existence",
    claim=_CLAIM + r" \text{ for some constant } c",
    problems=("",),
    inputs={"H": choices(*CLASSES), "T": wholes(1, 3)},
    status="refuted",
    fixed_by="lec.sec4.vc.fixed",
    severity="edge case",
    survives="Everything: it is used at T = log(2n)/(2γ²), and since γ ≤ ½ that is more than one.",
    why="It fails at T = 1 alone, where log T = 0.",
    charitable="lec.sec4.vc.fixed",
    note="At T = 1 the right side is 0 whatever c is, and LC(H, 1) contains H: thresholds on a line"
    " shatter a point. (In the plan c is 10⁶.)",
    powerless=NO_RUN,
)
def vc_as_printed(case: Case) -> Iterator[Relation]:
    """The combinations of T hypotheses of a class of VC dimension d have VC dimension at most
    c T d log T."""
    yield from _bounded(case, (1,), 10**6)


@direct(
    "lec.sec4.vc.fixed",
    reference="Section 4, Exercise, for T ≥ 2, with a constant",
    kind="existence",
    claim=_CLAIM + r" \text{ with } c = 16, \text{ for } T \geq 2",
    problems=("",),
    inputs={"H": choices(*CLASSES), "T": wholes(2, 3)},
    instances="thresholds and intervals on six points, T = 2 and 3, small weights",
    note="The proof of c = 16 is in the source; what is found there by trying can only refute it.",
    powerless=NO_RUN,
)
def vc(case: Case) -> Iterator[Relation]:
    """For T ≥ 2 the combinations of T hypotheses of a class of VC dimension d ≥ 1 have VC dimension
    at most 16 T d log T.

    Proof. Let LC(H, T) shatter m points; if m ≤ dT there is nothing to show, so let m > dT. By
    Sauer's lemma H has at most (em/d)^d members on them, and for each choice of T of these the
    combinations are half-spaces of ℝ^T, at most (em/T)^T. So 2^m ≤ (em/d)^{dT} (em/T)^T, and with
    x = m/(dT): x ≤ log₂(exT) + (1/d) log₂(exd) ≤ 2 log₂(ex) + log₂ T, since (log₂(exd))/d falls
    with d. For x = 16 ln T this is false at T = 2, where 11.09 > 10.83, and the left side grows
    faster with ln T than the right one, whose derivative is at most 2/(ln 2)² + 1/ln 2 < 6; and for
    larger x all the more. ∎
    """
    yield from _bounded(case, (2, 3), 16)


@direct(
    "lec.sec4.nlogn",
    reference="Section 4, the last line of the proof of Theorem 6",
    kind="existence",
    claim=r"n \geq a\log(n) \text{ is satisfied for } n \geq O(a\log(a))",
    problems=("",),
    inputs={"a": rationals(0, 10**9, positive=True), "n": wholes(1, 10**12)},
    instances="a from 1/2 to 10⁹, and n = 2a log a, one more, and twice as much",
    note="With the constant 2 (Shalev-Shwartz and Ben-David 2014, Lemma A.1): at n = 2a log a it"
    " says a ≥ 2 log a, and n − a log n grows from n = a on; for a ≤ e it holds for every n.",
    powerless=NO_RUN,
)
def n_log_n(case: Case) -> Iterator[Relation]:
    """n ≥ a log n for all n ≥ 2a log a."""
    for a, n in case.instances(_sizes()):
        if case.inputs is not None and not n >= 2 * number(a) * log(number(a)):
            raise Unclaimed("n is below 2a log a")
        yield at_least(n, number(a) * log(n), "n ≥ a log n", where=f"a = {a}, n = {n}")


def _sizes() -> Iterator[tuple[Fraction | int, int]]:
    for a in (Fraction(1, 2), 1, 2, 3, 10, 1000, 10**9):
        first = max(1, ceil(upper(2 * number(a) * log(number(a)))))
        yield from ((a, n) for n in (first, first + 1, 2 * first))
