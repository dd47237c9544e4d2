"""The option ``--paper``: statements of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gammabar.harness.library import PaperRef

PAPER_OPTION = click.option(
    "--paper",
    "papers",
    multiple=True,
    metavar="FILE",
    help="A paper of your own: a Python file, or the folder of a package (repeatable).",
)


def open_papers(paths: tuple[str, ...]) -> tuple[tuple[PaperRef, ...], tuple[str, ...]]:
    """Put papers on the shelf: references to them, and their keys."""
    if not paths:
        return (), ()
    from gammabar.harness.library import PaperRef, open_paper

    refs = tuple(PaperRef.read(path) for path in dict.fromkeys(paths))
    return refs, tuple(open_paper(ref).key for ref in refs)
