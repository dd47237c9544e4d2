"""``gammabar report STORE``: the results in a store, for people."""

from __future__ import annotations

from pathlib import Path

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.commands.stores import STORE, opened
from gammabar.harness.commands.types import WRITTEN
from gammabar.harness.screen.output import print_document, say


@click.command("report")
@STORE
@click.option(
    "--out",
    type=WRITTEN,
    metavar="FILE",
    help="Where to write.  [default: the page beside the store, Markdown and badge to stdout]",
)
@click.option("--markdown", is_flag=True, help="Markdown for a pull request.")
@click.option("--badge", is_flag=True, help="A badge for a README, as SVG.")
@PAPER_OPTION
def command(
    store: Path, out: Path | None, markdown: bool, badge: bool, papers: tuple[str, ...]
) -> None:
    """Write the results in STORE as one page of HTML that needs nothing else.

    STORE is a file of `gammabar verify --store`. The page loads nothing, opens from disk and is
    readable without scripts.
    """
    open_papers(papers)
    from gammabar.harness.report.badge import badge as badge_of
    from gammabar.harness.report.markdown import markdown as markdown_of
    from gammabar.harness.report.page import page

    if markdown and badge:
        raise click.UsageError("--markdown and --badge are two documents: ask for one of them")
    report = opened(store)
    text = (markdown_of if markdown else badge_of if badge else page)(report)
    if out is None and not (markdown or badge):
        out = store.with_name(f"{store.name}.html")
    if out is None:
        print_document(text)
        return
    from gammabar.problems.writing import write_whole

    write_whole(out, text)
    say(f"{out}: {len(report.findings):,} statements, {len(report.results):,} verdicts")
