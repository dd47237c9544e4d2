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

from typing import TYPE_CHECKING

from gammabar._stub import attach

if TYPE_CHECKING:
    from gammabar.papers.claims import *  # noqa: F403
else:  # imported when first asked for: checking a witness imports nothing of the harness
    __getattr__, __dir__, __all__ = attach(__name__, __file__.replace("__init__", "claims"))
