"""``gammabar bench``: side by side with what a user would pick instead, as ratios in one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from side_by_side.document import SECTIONS

from gammabar.harness.cli.command import JSON, command, run, what, write
from gammabar.harness.screen import print_json, print_title, say, stages


@command(
    "bench",
    what(
        "--only SECTION",
        f"Only this section: {', '.join(SECTIONS)}.",
        many=True,
        type=click.Choice(SECTIONS),
    ),
    run("--quick", "Embedded data and small sizes: about a minute."),
    run("--from FILE", "Show the numbers of an earlier document, and measure nothing."),
    write("--out FILE", "Write the JSON document here."),
    write(
        "--page DIR",
        "Write page, pictures and numbers into DIR; with --only, its other sections stay.",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
    ),
    JSON,
    title="What to measure",
)
def bench_command(o: Any) -> None:
    """Compare the oracle, the solvers and the harness with other programs, side by side.

    All programs of a table take turns in one run. Times are ratios to ours; failures are shown.
    Uses the full MNIST and Fashion-MNIST if they are installed (GAMMABAR_DATA, `gammabar data
    fetch`), and embedded data otherwise.
    """
    from side_by_side import document as documents, pages

    if o.from_ and (o.quick or o.only):
        raise click.UsageError("--from measures nothing, so it goes without --quick and --only")
    before = _read_document(o.page / pages.NUMBERS) if o.page and o.only else None
    if o.from_:
        document = _read_document(o.from_)
    else:
        with stages(quiet=o.json) as stage:
            chosen = [name for name in SECTIONS if name in o.only or not o.only]
            document = documents.measure(chosen, o.quick, stage)
        if before is not None:
            document = documents.merged(before, document)
    if o.out:
        from gammabar.problems.output import write_whole

        write_whole(o.out, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    if o.page:
        for path in pages.write(document, o.page):
            say(f"wrote {path}", err=True)
    if o.json:
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
