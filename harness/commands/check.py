"""``gammabar check FILE [DATA]``: the independent checkers, with the data found for you."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gammabar.harness.commands.papers import PAPER_OPTION
from gammabar.harness.commands.reading import reading_options
from gammabar.harness.commands.types import SECONDS
from gammabar.harness.screen.output import print_json, say, stages


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("data", nargs=-1)
@reading_options
@PAPER_OPTION
@click.option(
    "--limit",
    type=SECONDS,
    metavar="SECONDS",
    help="Most computing to spend, by an estimate (default: 600; 60 for a witness).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    file: Path,
    data: tuple[str, ...],
    papers: tuple[str, ...],
    limit: float | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Check certificate or witness FILE; the id of a statement is its witness.

    A certificate proves a margin; it is checked against DATA with `oracle/check.py`. DATA is what
    `gammabar oracle` was given, or the data file(s); by default it is the data that the
    certificate names. A witness shows that a statement is false as printed; it brings its data and
    is checked with `papers/witness.py`. Neither checker shares code with the rest of
    gammabar: they read files themselves; generated and embedded data, and Parquet or Arrow files,
    are handed over as .npz.
    """
    from gammabar.harness.run.checking import Rejected, check

    with stages(as_json) as stage:
        try:
            found = (
                check(file, data, papers=papers, limit=limit, reading=reading, progress=stage),
                True,
            )
        except Rejected as reason:
            found = str(reason), False
    return _report(file, found, as_json)


def _report(file: Path, found: tuple[str, bool], as_json: bool) -> int:
    verdict, accepted = found
    if as_json:
        print_json({"certificate": str(file), "accepted": accepted, "reason": verdict}, "check")
    else:
        say(f"{'accepted' if accepted else 'rejected'}: {verdict}")
    return 0 if accepted else 1
