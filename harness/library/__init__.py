"""The papers on the shelf: which there are, and all that their packages bring.

A paper is a Python package, or a single file, with a `Paper` called ``paper``. What it brings is
found in it and listed nowhere else:

- statements, registered by the decorators of `gammabar.harness.verify.statement`, in any module;
- ``TRIALS`` in any module: the runs of the default plan (`gammabar.harness.verify.context`);
- ``FAMILY`` and ``LOOPS`` in a module ``mutants``, with ``matrix.json`` beside it: who kills whom;
- ``ARTEFACTS`` in any module: figures and tables (`gammabar.harness.library.artefact`), with
  ``measured.json`` beside them: what each took and showed;
- ``extremal.json``: where bounds come nearest to failing (`gammabar.harness.library.extremal`);
- ``witnesses/<id>.json`` and a module ``refuters``: proofs that a statement is false as printed.

Papers are those of the package `gammabar.papers`, those that installed distributions offer under
the entry-point group ``gammabar.papers``, and those that the user names (`open_paper`).
"""

from gammabar.harness.library.artefact import Artefact, Shown
from gammabar.harness.library.extremal import Extremal
from gammabar.harness.library.mutant import Family, Mutant
from gammabar.harness.library.paper import Paper
from gammabar.harness.library.reference import PaperRef
from gammabar.harness.library.shelf import (
    artefacts,
    close_paper,
    extremal,
    load_statements,
    loops,
    matrix,
    measured,
    mutants,
    open_paper,
    opened_from,
    papers,
    trials,
    witness,
    witnesses,
)

__all__ = [
    "Artefact",
    "Extremal",
    "Family",
    "Mutant",
    "Paper",
    "PaperRef",
    "Shown",
    "artefacts",
    "close_paper",
    "extremal",
    "load_statements",
    "loops",
    "matrix",
    "measured",
    "mutants",
    "open_paper",
    "opened_from",
    "papers",
    "trials",
    "witness",
    "witnesses",
]
