"""``gammabar export STORE``: the results in a store, for programs."""

from __future__ import annotations

from pathlib import Path

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.commands.stores import STORE, opened
from gammabar.harness.commands.types import WRITTEN
from gammabar.harness.screen.output import say

_FILE = WRITTEN


@click.command("export")
@STORE
@click.option("--csv", "csv", type=_FILE, metavar="FILE", help="As a CSV file.")
@click.option("--parquet", type=_FILE, metavar="FILE", help="As a Parquet file.")
@PAPER_OPTION
def command(store: Path, csv: Path | None, parquet: Path | None, papers: tuple[str, ...]) -> None:
    """Write the results in STORE as a table, one row per verdict.

    The columns are the fields of `gammabar verify --json`.
    """
    if csv is None and parquet is None:
        raise click.UsageError("name a file to write: --csv FILE or --parquet FILE")
    open_papers(papers)
    from gammabar.harness.report.tables import write_csv, write_parquet

    results = opened(store).results
    for path, write in ((csv, write_csv), (parquet, write_parquet)):
        if path is not None:
            write(results, path)
            say(f"{path}: {len(results):,} rows")
