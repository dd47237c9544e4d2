"""The method on trial: its options as the paper calls them, and what statements assume of them.

λ_t, θ_t, ρ and the loss are those that the solver says it uses (its options ``mixing``, ``step``,
``smoothness`` and ``loss``); a solver without such an option is taken for Algorithm 1 of
Theorem 3.1. Nothing here is shared with the solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from math import sqrt
from numbers import Rational, Real
from typing import Any

from gammabar.papers import Case, Number, Unclaimed, number, option

ALGORITHM_1 = "dual-acceleration"
DUAL_FORM = "dual-acceleration-dual"
#: The primal and the dual form of one method, Section 3.2.
BOTH_FORMS = (ALGORITHM_1, DUAL_FORM)

#: One row, a_1 = 1: everything is known by hand.
ONE_ROW = "degenerate:kind=simplex,n=1,d=1"

#: Rows that may be treated one by one in balls at every iterate.
FEW = 400


def loss_of(case: Case) -> str:
    """ "exponential" or "logistic"."""
    return str(getattr(case.solver, "loss", "exponential"))


def mixing(case: Case, t: int) -> Fraction:
    """λ_t, exactly."""
    value = getattr(case.solver, "mixing", "accelerated")
    if value == "accelerated":
        return _accelerated(t)
    return _exact(_NAMED.get(value, value) if isinstance(value, str) else value, t)


@lru_cache(maxsize=16)
def _accelerated(t: int) -> Fraction:
    """2/(t + 2), which is asked for at t and at t + 1."""
    return Fraction(2, t + 2)


@cache
def _recursive(t: int) -> float:
    """The double that comes of λ²_{t+1} = (1 − λ_{t+1}) λ²_t, λ_0 = 1."""
    if t == 0:
        return 1.0
    square = _recursive(t - 1) ** 2
    return (sqrt(square**2 + 4 * square) - square) / 2


#: λ_t by the names that the dual form has for them; each is the double that it is.
_NAMED: dict[str, Callable[[int], float]] = {
    "slower": lambda t: 3 / (t + 3),
    "recursive": _recursive,
    "halved": lambda t: 0.5 if t else 1.0,
}


def step(case: Case, t: int) -> Fraction:
    """θ_t, exactly."""
    value = getattr(case.solver, "step", 1.0)
    return _exact(value, t)


def _exact(value: Any, t: int) -> Fraction:
    """A number, or what a schedule says at t; of any type of floats."""
    try:
        found = value(t) if callable(value) else value
        return Fraction(found if isinstance(found, Rational) else float(found))
    except Exception:
        what = "what it calls step" if callable(value) else repr(value)
        raise Unclaimed(f"θ_t is not known: {what} is no finite number") from None


def smoothness(case: Case) -> Fraction:
    """ρ: what the solver divides its steps by, by default the smoothness of its loss."""
    value = getattr(case.solver, "smoothness", None)
    return Fraction(_proved_smoothness(case) if value is None else value)


def _proved_smoothness(case: Case) -> int:
    return case.n if loss_of(case) == "logistic" else 1


def rho(case: Case) -> Number:
    """ρ as a ball."""
    return case.once("ρ", lambda: number(smoothness(case)))


# Assumptions

exponential = option("loss", "exponential")


def logistic(case: Case) -> str | None:
    """The loss is the logistic one."""
    return None if loss_of(case) == "logistic" else "the solver's loss is not the logistic one"


unit_smoothness = option("smoothness", None, 1)


def full_step(case: Case) -> str | None:
    """θ_t = 1 for all t."""
    value = getattr(case.solver, "step", 1)
    one = isinstance(value, Real) and value == 1
    return None if one else f"the solver's step is {value!r}, not 1"


def proper_step(case: Case) -> str | None:
    """θ_t ∈ (0, 1]; of a schedule the first one."""
    first = step(case, 0)
    return None if 0 < first <= 1 else f"the solver's step {float(first)!r} is not in (0, 1]"


def accelerated(case: Case) -> str | None:
    """λ_t = 2/(t + 2), or what is the same, β_t = t/(t + 1)."""
    value = getattr(case.solver, "mixing", "accelerated")
    return None if value == "accelerated" else f"the solver's λ_t is {value!r}, not 2/(t + 2)"


def starts_at_one(case: Case) -> str | None:
    """λ_0 = 1."""
    first = mixing(case, 0)
    return None if first == 1 else f"the solver's λ_0 is {float(first)!r}, not 1"


def smooth(case: Case) -> str | None:
    """ψ is ρ-smooth."""
    if smoothness(case) >= _proved_smoothness(case):
        return None
    return "ψ is not known to be ρ-smooth for the ρ of the solver"


def unit_ball(case: Case) -> str | None:
    """Rows have norm at most one."""
    return None if case.unit or case.radius <= 1 else "some row has a norm above 1"


def several_rows(case: Case) -> str | None:
    """n ≥ 2, so that ln n is not zero."""
    return None if case.n > 1 else "there is only one row"


def few_rows(case: Case) -> str | None:
    """Few enough rows to treat them one by one."""
    return None if case.n <= FEW else f"more than {FEW} rows are too many to treat one by one"


def exact_dual(case: Case) -> str | None:
    """q̄ is known, and not only approximately."""
    if case.truth.note:  # the Gordan vector of normalised rows is that of the plain ones
        return f"q̄ is not known: {case.truth.note}"
    return None if case.truth.exact else "q̄ is only known approximately"


#: What Section 3 assumes of a solver: the exponential loss, and no ρ.
SECTION_3 = (exponential, unit_smoothness)

#: What Theorem 3.1 assumes.
THEOREM_3_1 = (*SECTION_3, full_step, accelerated, unit_ball)
