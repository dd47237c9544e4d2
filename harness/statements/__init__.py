"""What the sources claim: one module per part of a source.

A module registers its statements when it is imported (`harness.court.statement`), and names in
``TRIALS`` the runs of the default plan that exercise them (`gammabar.harness.court.trial`).
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gammabar.harness.court.statement import Statement
    from gammabar.harness.court.trial import Trial


@cache
def _modules() -> tuple[ModuleType, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}") for name in names)


def load_statements() -> dict[str, Statement]:
    """Every statement by its id."""
    from gammabar.harness.court.statement import STATEMENTS

    _modules()
    return STATEMENTS


def trials() -> tuple[Trial, ...]:
    """The runs of the default plan, each once."""
    found = (trial for module in _modules() for trial in getattr(module, "TRIALS", ()))
    return tuple(dict.fromkeys(found))
