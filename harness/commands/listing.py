"""``gammabar list KIND``: what there is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from harness.output import print_json, print_table

if TYPE_CHECKING:
    from problems.spec import Entry

KINDS = ("problems",)


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(kind: str, as_json: bool) -> None:
    """List what there is of a KIND: problems."""
    from problems.spec import catalogue

    entries = catalogue()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    for kind_of in ("data set", "generator", "file"):
        rows = [(e.syntax, e.what, _last(e)) for e in entries if e.kind == kind_of]
        last = {"data set": "where", "generator": "options (default)", "file": ""}[kind_of]
        print_table((kind_of, "what it is", last), rows)


def _last(entry: Entry) -> str:
    if entry.kind == "data set":
        return entry.where
    return ", ".join(f"{name}={default}" if default else name for name, default, _ in entry.options)
