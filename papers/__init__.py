"""What the sources claim: one package per paper, and the words to write one.

A paper of one's own is a file or a package like those here, written in the same words::

    from gammabar.papers import Paper, at_most, per_iterate, separable

    paper = Paper(key="mine", title="My conjecture", authors="…", year=2026)

    @per_iterate("mine.rate", reference="Conjecture 1", claim=r"…",
                 solvers=("dual-acceleration",), assumes=(separable,), since=1, unit=True)
    def rate(it, case):
        return at_most(case.gamma - it.margin, 3 * case.log_n / (case.gamma * it.t * (it.t + 3)))

``gammabar verify --paper mine.py`` checks it; docs/bring-your-theorem.md tells the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gammabar.papers.claims import *  # noqa: F403


def __getattr__(name: str) -> Any:
    # Imported when first asked for: checking a witness imports nothing of the harness.
    if not name.startswith("_"):
        try:
            return globals().setdefault(name, getattr(import_module(f"{__name__}.claims"), name))
        except AttributeError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
