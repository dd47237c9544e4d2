"""``gammabar report STORE``: the results in a store, for people."""

from __future__ import annotations

from pathlib import Path

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.commands.stores import STORE, opened
from gammabar.harness.commands.types import WRITTEN
from gammabar.harness.screen.output import print_document, say
from gammabar.problems.writing import write_whole


@click.command("report")
@STORE
@click.option(
    "--out",
    type=WRITTEN,
    metavar="FILE",
    help="Where to write.  [default: the page beside the store, Markdown and badge to stdout]",
)
@click.option("--markdown", "form", flag_value="markdown", help="Markdown for a pull request.")
@click.option("--badge", "form", flag_value="badge", help="A badge for a README, as SVG.")
@PAPER_OPTION
def command(store: Path, out: Path | None, form: str | None, papers: tuple[str, ...]) -> None:
    """Write the results in STORE as one page of HTML that needs nothing else.

    STORE is a file of `gammabar verify --store`. The page loads nothing, opens from disk and is
    readable without scripts.
    """
    open_papers(papers)
    from gammabar.harness.report.badge import badge
    from gammabar.harness.report.markdown import markdown
    from gammabar.harness.report.page import page

    report = opened(store)
    text = {"markdown": markdown, "badge": badge}.get(form or "", page)(report)
    if out is None and form is None:
        out = store.with_name(f"{store.name}.html")
    if out is None:
        print_document(text)
        return
    write_whole(out, text)
    say(f"{out}: {len(report.findings):,} statements, {len(report.results):,} verdicts")
