"""``gammabar check`` and ``report``: certificates checked, results written for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gammabar.harness.cli.command import (
    FILE,
    JSON,
    PAPER,
    READING,
    WRITTEN,
    Command,
    argument,
    open_papers,
    open_store,
    run,
    write,
)
from gammabar.harness.screen import print_document, print_json, say, stages


@click.command("report", cls=Command, title="What to show")
@click.argument("store", type=FILE, metavar="STORE")
@write(
    "--out FILE",
    "Output file.  [default: STORE.html; for --markdown and --badge stdout]",
    type=WRITTEN,
)
@write("--markdown", "Write Markdown for a pull request instead.")
@write("--badge", "Write a badge for a README instead, as SVG.")
@write("--csv FILE", "Write a CSV table instead, one row per verdict.", type=WRITTEN)
@write("--parquet FILE", "Write the table as a Parquet file.", type=WRITTEN)
@write("--table", "Only tables.", hidden=True)
@PAPER
def report_command(
    store: Path,
    out: Path | None,
    markdown: bool,
    badge: bool,
    csv: Path | None,
    parquet: Path | None,
    table: bool,
    papers: tuple[str, ...],
) -> None:
    """Write the results in STORE, a file of `gammabar verify --store`, as one HTML page.

    The page works offline and without scripts. With --csv or --parquet the results are a table with
    the fields of `gammabar verify --json` as columns.
    """
    from gammabar.harness.report.page import badge as badge_of, page
    from gammabar.harness.report.tables import markdown as markdown_of, write_csv, write_parquet
    from gammabar.problems.output import write_whole

    open_papers(papers)
    tables = [(path, how) for path, how in ((csv, write_csv), (parquet, write_parquet)) if path]
    if table and not tables:
        raise click.UsageError("name a file to write: --csv FILE or --parquet FILE")
    if tables and (markdown or badge or out is not None):
        raise click.UsageError("--csv and --parquet go without --out, --markdown and --badge")
    if markdown and badge:
        raise click.UsageError("--markdown and --badge are two documents: ask for one of them")
    report = open_store(store)
    for path, how in tables:
        how(report.results, path)
        say(f"{path}: {len(report.results):,} rows")
    if tables:
        return
    text = (markdown_of if markdown else badge_of if badge else page)(report)
    if out is None and (markdown or badge):
        print_document(text)
        return
    out = out or store.with_name(f"{store.name}.html")
    write_whole(out, text)
    say(f"{out}: {len(report.findings):,} statements, {len(report.results):,} verdicts")


@click.command("check", cls=Command)
@argument("file", type=click.Path(path_type=Path), names="statements data")
@argument("data", nargs=-1, names="data")
@PAPER
@READING
@run(
    "--limit SECONDS",
    "Refuse checks that would take longer (estimated).  [default: 600; 60 for a witness]",
)
@JSON
def check_command(
    file: Path,
    data: tuple[str, ...],
    papers: tuple[str, ...],
    limit: float | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Check a certificate or a witness: FILE, or the id of a statement that has a witness.

    A certificate proves a margin. `oracle/check.py` checks it against DATA, which is what `gammabar
    oracle` was given (default: the data that the certificate names). A witness shows that a
    statement is false as printed. It contains its data, and `papers/witness.py` checks it. The
    checkers share no code with the rest of gammabar and read data files themselves; other data
    (generated, embedded, Parquet, Arrow) are passed to them as .npz.
    """
    from gammabar.harness.certificates import Rejected, check

    accepted = True
    with stages(as_json) as stage:
        try:
            said = check(file, data, papers=papers, limit=limit, reading=reading, progress=stage)
        except Rejected as reason:
            said, accepted = str(reason), False
    if as_json:
        print_json({"certificate": str(file), "accepted": accepted, "reason": said}, "check")
    else:
        say(f"{'accepted' if accepted else 'rejected'}: {said}")
    return 0 if accepted else 1
