"""What the sources claim: one package per paper, and the words to write one.

A paper of one's own is a file or a package like those here, written in the same words::

    from gammabar.papers import Paper, at_most, per_iterate, separable

    paper = Paper(key="mine", title="My conjecture", authors="…", year=2026)

    @per_iterate("mine.rate", reference="Conjecture 1", claim=r"…",
                 solvers=("dual-acceleration",), assumes=(separable,), since=1, unit=True)
    def rate(it, case):
        return at_most(case.gamma - it.margin, 3 * case.log_n / (case.gamma * it.t * (it.t + 3)))

``gammabar verify --paper mine.py`` judges it; docs/bring-your-own-theorem.md tells the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gammabar.harness.court.case import Case as Case, positive as positive, steered as steered
    from gammabar.harness.court.chance import CHANCE as CHANCE
    from gammabar.harness.court.inputs import (
        Entry as Entry,
        choices as choices,
        rationals as rationals,
        wholes as wholes,
    )
    from gammabar.harness.court.numbers import (
        LEVELS as LEVELS,
        ROUNDOFF as ROUNDOFF,
        SAFETY as SAFETY,
        TINY as TINY,
        Number as Number,
        Trit as Trit,
        ball as ball,
        between as between,
        exp as exp,
        known_zero as known_zero,
        log as log,
        middle as middle,
        number as number,
        precision as precision,
        smallest as smallest,
        sqrt as sqrt,
        total as total,
        upper as upper,
        working as working,
    )
    from gammabar.harness.court.relation import (
        COARSE as COARSE,
        HELD as HELD,
        Relation as Relation,
        any_of as any_of,
        at_least as at_least,
        at_most as at_most,
        below as below,
        equal as equal,
        fact as fact,
        nearly as nearly,
        same_digits as same_digits,
        size_of as size_of,
        within as within,
    )
    from gammabar.harness.court.space import (
        Floats as Floats,
        LinearSpace as LinearSpace,
        Space as Space,
        TooLarge as TooLarge,
        space_of as space_of,
    )
    from gammabar.harness.court.statement import (
        Assumption as Assumption,
        Statement as Statement,
        direct as direct,
        has as has,
        inseparable as inseparable,
        option as option,
        per_iterate as per_iterate,
        randomised as randomised,
        separable as separable,
        separates as separates,
        stopping as stopping,
    )
    from gammabar.harness.court.taken import (
        Fault as Fault,
        claimed_entries as claimed_entries,
        claimed_number as claimed_number,
        claimed_numbers as claimed_numbers,
        claimed_row as claimed_row,
        delivered as delivered,
        taken_run as taken_run,
        taken_vector as taken_vector,
    )
    from gammabar.harness.court.trial import Trial as Trial
    from gammabar.harness.court.vectors import (
        Vec as Vec,
        scaled as scaled,
        weighted_sum as weighted_sum,
    )
    from gammabar.harness.court.view import (
        NotFinite as NotFinite,
        Unclaimed as Unclaimed,
        View as View,
    )
    from gammabar.harness.library.mutant import Family as Family, Mutant as Mutant, Rng as Rng
    from gammabar.harness.library.paper import Paper as Paper

#: Module → the words that it gives. Imported when first asked for: whoever checks a witness
#: imports `gammabar.papers.witness`, and nothing of the court with it.
_WORDS = {
    "harness.court.case": (
        "Case",
        "positive",
        "steered",
    ),
    "harness.court.chance": ("CHANCE",),
    "harness.court.inputs": (
        "Entry",
        "choices",
        "rationals",
        "wholes",
    ),
    "harness.court.numbers": (
        "Number",
        "Trit",
        "ball",
        "between",
        "exp",
        "known_zero",
        "log",
        "middle",
        "number",
        "precision",
        "smallest",
        "sqrt",
        "total",
        "upper",
        "working",
        "ROUNDOFF",
        "SAFETY",
        "TINY",
        "LEVELS",
    ),
    "harness.court.relation": (
        "COARSE",
        "HELD",
        "Relation",
        "any_of",
        "at_least",
        "at_most",
        "below",
        "equal",
        "fact",
        "nearly",
        "same_digits",
        "size_of",
        "within",
    ),
    "harness.court.space": (
        "Floats",
        "LinearSpace",
        "Space",
        "TooLarge",
        "space_of",
    ),
    "harness.court.statement": (
        "Assumption",
        "Statement",
        "direct",
        "has",
        "inseparable",
        "option",
        "per_iterate",
        "randomised",
        "separable",
        "separates",
        "stopping",
    ),
    "harness.court.taken": (
        "Fault",
        "delivered",
        "claimed_number",
        "claimed_entries",
        "claimed_numbers",
        "claimed_row",
        "taken_run",
        "taken_vector",
    ),
    "harness.court.trial": ("Trial",),
    "harness.court.vectors": (
        "Vec",
        "scaled",
        "weighted_sum",
    ),
    "harness.court.view": (
        "NotFinite",
        "Unclaimed",
        "View",
    ),
    "harness.library.mutant": (
        "Family",
        "Mutant",
        "Rng",
    ),
    "harness.library.paper": ("Paper",),
}
_HOME = {word: module for module, words in _WORDS.items() for word in words}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"gammabar.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
