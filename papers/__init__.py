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
    from gammabar.harness.court.case import Case as Case
    from gammabar.harness.court.case import positive as positive
    from gammabar.harness.court.case import steered as steered
    from gammabar.harness.court.chance import CHANCE as CHANCE
    from gammabar.harness.court.inputs import Entry as Entry
    from gammabar.harness.court.inputs import choices as choices
    from gammabar.harness.court.inputs import rationals as rationals
    from gammabar.harness.court.inputs import wholes as wholes
    from gammabar.harness.court.numbers import LEVELS as LEVELS
    from gammabar.harness.court.numbers import ROUNDOFF as ROUNDOFF
    from gammabar.harness.court.numbers import SAFETY as SAFETY
    from gammabar.harness.court.numbers import TINY as TINY
    from gammabar.harness.court.numbers import Number as Number
    from gammabar.harness.court.numbers import Trit as Trit
    from gammabar.harness.court.numbers import ball as ball
    from gammabar.harness.court.numbers import between as between
    from gammabar.harness.court.numbers import exp as exp
    from gammabar.harness.court.numbers import known_zero as known_zero
    from gammabar.harness.court.numbers import log as log
    from gammabar.harness.court.numbers import middle as middle
    from gammabar.harness.court.numbers import number as number
    from gammabar.harness.court.numbers import precision as precision
    from gammabar.harness.court.numbers import smallest as smallest
    from gammabar.harness.court.numbers import sqrt as sqrt
    from gammabar.harness.court.numbers import total as total
    from gammabar.harness.court.numbers import upper as upper
    from gammabar.harness.court.numbers import working as working
    from gammabar.harness.court.relation import COARSE as COARSE
    from gammabar.harness.court.relation import HELD as HELD
    from gammabar.harness.court.relation import Relation as Relation
    from gammabar.harness.court.relation import any_of as any_of
    from gammabar.harness.court.relation import at_least as at_least
    from gammabar.harness.court.relation import at_most as at_most
    from gammabar.harness.court.relation import below as below
    from gammabar.harness.court.relation import equal as equal
    from gammabar.harness.court.relation import fact as fact
    from gammabar.harness.court.relation import nearly as nearly
    from gammabar.harness.court.relation import same_digits as same_digits
    from gammabar.harness.court.relation import size_of as size_of
    from gammabar.harness.court.relation import within as within
    from gammabar.harness.court.space import Floats as Floats
    from gammabar.harness.court.space import LinearSpace as LinearSpace
    from gammabar.harness.court.space import Space as Space
    from gammabar.harness.court.space import TooLarge as TooLarge
    from gammabar.harness.court.space import space_of as space_of
    from gammabar.harness.court.statement import Assumption as Assumption
    from gammabar.harness.court.statement import Statement as Statement
    from gammabar.harness.court.statement import direct as direct
    from gammabar.harness.court.statement import has as has
    from gammabar.harness.court.statement import inseparable as inseparable
    from gammabar.harness.court.statement import option as option
    from gammabar.harness.court.statement import per_iterate as per_iterate
    from gammabar.harness.court.statement import randomised as randomised
    from gammabar.harness.court.statement import separable as separable
    from gammabar.harness.court.statement import separates as separates
    from gammabar.harness.court.statement import stopping as stopping
    from gammabar.harness.court.taken import Fault as Fault
    from gammabar.harness.court.taken import claimed_entries as claimed_entries
    from gammabar.harness.court.taken import claimed_number as claimed_number
    from gammabar.harness.court.taken import claimed_numbers as claimed_numbers
    from gammabar.harness.court.taken import claimed_row as claimed_row
    from gammabar.harness.court.taken import delivered as delivered
    from gammabar.harness.court.taken import taken_run as taken_run
    from gammabar.harness.court.taken import taken_vector as taken_vector
    from gammabar.harness.court.trial import Trial as Trial
    from gammabar.harness.court.vectors import Vec as Vec
    from gammabar.harness.court.vectors import scaled as scaled
    from gammabar.harness.court.vectors import weighted_sum as weighted_sum
    from gammabar.harness.court.view import NotFinite as NotFinite
    from gammabar.harness.court.view import Unclaimed as Unclaimed
    from gammabar.harness.court.view import View as View
    from gammabar.harness.library.mutant import Family as Family
    from gammabar.harness.library.mutant import Mutant as Mutant
    from gammabar.harness.library.mutant import Rng as Rng
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
