"""``gammabar check`` and ``report``: certificates checked, results written for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gammabar.harness.cli.command import (
    FILE,
    JSON,
    OF_READING,
    PAPER,
    READING,
    argument,
    command,
    open_papers,
    picked,
    run,
    write,
)
from gammabar.harness.screen import counted, print_document, print_json, say, stages


@command(
    "report",
    argument("store", type=FILE, metavar="STORE"),
    write("--out FILE", "Output file.  [default: STORE.html; for --markdown and --badge stdout]"),
    write("--markdown", "Write Markdown for a pull request instead."),
    write("--badge", "Write a badge for a README instead, as SVG."),
    write("--csv FILE", "Write a CSV table instead, one row per verdict."),
    write("--parquet FILE", "Write the table as a Parquet file."),
    write("--table", "Only tables.", hidden=True),
    PAPER,
    title="What to show",
)
def report_command(o: Any) -> None:
    """Write the results in STORE, a file of `gammabar verify --store`, as one HTML page.

    The page works offline and without scripts. With --csv or --parquet the results are a table with
    the fields of `gammabar verify --json` as columns.
    """
    from gammabar.harness.report.model import gather
    from gammabar.harness.report.page import badge, page
    from gammabar.harness.report.tables import markdown, write_csv, write_parquet
    from gammabar.harness.run.store import Store
    from gammabar.problems import ProblemError
    from gammabar.problems.output import write_whole

    open_papers(o.paper)
    tables = [(path, how) for path, how in ((o.csv, write_csv), (o.parquet, write_parquet)) if path]
    if o.table and not tables:
        raise click.UsageError("name a file to write: --csv FILE or --parquet FILE")
    if tables and (o.markdown or o.badge or o.out is not None):
        raise click.UsageError("--csv and --parquet go without --out, --markdown and --badge")
    if o.markdown and o.badge:
        raise click.UsageError("--markdown and --badge are two documents: ask for one of them")
    with Store(o.store, writing=False) as store:
        report = gather(store.results(), store.origins(), store.data())
    if not report.findings:
        hint = f"gammabar verify --store {o.store}"
        raise ProblemError(f"{o.store}: has no results (write some: {hint})")
    for path, how in tables:
        how(report.results, path)
        say(f"{path}: {counted(len(report.results), 'row')}")
    if tables:
        return
    text = (markdown if o.markdown else badge if o.badge else page)(report)
    if o.out is None and (o.markdown or o.badge):
        print_document(text)
        return
    out = o.out or o.store.with_name(f"{o.store.name}.html")
    write_whole(out, text)
    statements = counted(len(report.findings), "statement")
    say(f"{out}: {statements}, {counted(len(report.results), 'verdict')}")


@command(
    "check",
    argument("file", type=click.Path(path_type=Path), names="statements files"),
    argument("data", nargs=-1, names="data"),
    PAPER,
    READING,
    run(
        "--limit SECONDS",
        "Refuse checks that would take longer (estimated).  [default: 600; 60 for a witness]",
    ),
    JSON,
)
def check_command(o: Any) -> int:
    """Check a certificate or a witness: FILE, or the id of a statement that has a witness.

    A certificate proves a margin. `oracle/check.py` checks it against DATA, which is what `gammabar
    oracle` was given (default: the data that the certificate names). A witness shows that a
    statement is false as printed. It contains its data, and `papers/witness.py` checks it. The
    checkers share no code with the rest of gammabar and read data files themselves; other data
    (generated, embedded, Parquet, Arrow) are passed to them as .npz.
    """
    from gammabar.harness.certificates import Rejected, check

    accepted = True
    how: dict[str, Any] = {"papers": o.paper, "limit": o.limit, "reading": picked(o, OF_READING)}
    with stages(o.json) as stage:
        try:
            said = check(o.file, o.data, progress=stage, **how)
        except Rejected as reason:
            said, accepted = str(reason), False
    if o.json:
        print_json({"certificate": str(o.file), "accepted": accepted, "reason": said}, "check")
    else:
        say(f"{'accepted' if accepted else 'rejected'}: {said}")
    return 0 if accepted else 1
