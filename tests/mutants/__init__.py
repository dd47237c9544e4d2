"""Deliberately wrong solvers: a verification that does not catch them is worth nothing.

Every mutant is a solver of the registry with one wrong line. For most solvers a *loop* repeats the
solver's own lines with a hook for each line that some mutant gets wrong; unchanged, it is the
solver (`LOOPS`, tested in test_mutants.py), so that a mutant differs from it by its hook alone.
Iterates say what the mutant really does, unless misreporting is the very bug.

>>> from tests.mutants import MUTANTS
>>> MUTANTS["dual-acceleration/no-momentum"].solver
'dual-acceleration'
"""

from __future__ import annotations

from typing import Any

from . import jst, lecture, rp, tyurin
from .mutant import Mutant

__all__ = ["LOOPS", "MUTANTS", "Mutant"]

_FAMILIES = (jst, tyurin, rp, lecture)

#: Name → mutant, in the order of the sources.
MUTANTS: dict[str, Mutant] = {}
for _module in _FAMILIES:
    for _mutant in _module.FAMILY.mutants:
        if _mutant.name in MUTANTS:
            raise ValueError(f"two mutants are called {_mutant.name}")
        MUTANTS[_mutant.name] = _mutant

#: The loops without any mutation, each as good as the solver whose `card` it has.
LOOPS: tuple[Any, ...] = tuple(loop for module in _FAMILIES for loop in module.LOOPS)
