"""``gammabar bench``: side by side with what a user would pick instead, as ratios in one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from side_by_side.document import SECTIONS

from gammabar.harness.cli.command import WRITTEN, Command
from gammabar.harness.screen import print_json, print_title, say, stages


@click.command("bench", cls=Command)
@click.option("--quick", is_flag=True, help="Embedded data and small sizes: about a minute.")
@click.option(
    "--only",
    type=click.Choice(SECTIONS),
    multiple=True,
    metavar="SECTION",
    help=f"Only this section: {', '.join(SECTIONS)} (repeatable).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--out",
    type=WRITTEN,
    metavar="FILE",
    help="Write the JSON document here.",
)
@click.option(
    "--page",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write page, pictures and numbers into DIR; with --only, other sections stay as there.",
)
@click.option(
    "--from",
    "kept",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show the numbers of a document, and measure nothing.",
)
def bench_command(
    quick: bool,
    only: tuple[str, ...],
    as_json: bool,
    out: Path | None,
    page: Path | None,
    kept: Path | None,
) -> None:
    """Compare the oracle, the solvers and the harness with other programs, side by side.

    All programs of a table take turns in one run. Times are ratios to ours; failures are shown.
    Uses the full MNIST and Fashion-MNIST if they are installed (GAMMABAR_DATA, `gammabar data
    fetch`), and embedded data otherwise.
    """
    from side_by_side import document as documents, pages

    if kept and (quick or only):
        raise click.UsageError("--from measures nothing, so it goes without --quick and --only")
    before = _read_document(page / pages.NUMBERS) if page and only else None
    if kept:
        document = _read_document(kept)
    else:
        with stages(quiet=as_json) as stage:
            chosen = [name for name in SECTIONS if name in only or not only]
            document = documents.measure(chosen, quick, stage)
        if before is not None:
            document = documents.merged(before, document)
    if out:
        from gammabar.problems.output import write_whole

        write_whole(out, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    if page:
        for path in pages.write(document, page):
            say(f"wrote {path}", err=True)
    if as_json:
        print_json(document)
    else:
        _show_bench(document)


def _read_document(path: Path) -> dict[str, Any]:
    """A document that an earlier run wrote."""
    from side_by_side.document import FORMAT, VERSION

    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise click.ClickException(f"{path} is no JSON document: {error}") from error
    known = {"format": FORMAT, "version": VERSION}
    if not isinstance(document, dict) or any(document.get(k) != v for k, v in known.items()):
        raise click.ClickException(f"{path} was not written by this version of gammabar bench")
    return document


def _show_bench(document: dict[str, Any]) -> None:
    from side_by_side.document import section, tables

    for name, shown in tables(document).items():
        print_title(section(name).TITLE)
        say()
        for table in shown:
            table.show()
