"""``gammabar list KIND``: what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from harness.output import print_json, print_table

if TYPE_CHECKING:
    from problems.spec import Entry


@click.command("list")
@click.argument("kind", type=click.Choice(("problems", "solvers")))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(kind: str, as_json: bool) -> None:
    """List what there is of a KIND: problems or solvers."""
    show: dict[str, Callable[[bool], None]] = {"problems": _problems, "solvers": _solvers}
    show[kind](as_json)


def _problems(as_json: bool) -> None:
    from problems.spec import catalogue

    entries = catalogue()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    for kind in ("data set", "generator", "file"):
        rows = [(e.syntax, e.what, _last(e)) for e in entries if e.kind == kind]
        last = {"data set": "where", "generator": "options (default)", "file": ""}[kind]
        print_table((kind, "what it is", last), rows)


def _last(entry: Entry) -> str:
    if entry.kind == "data set":
        return entry.where
    return ", ".join(f"{name}={default}" if default else name for name, default, _ in entry.options)


def _solvers(as_json: bool) -> None:
    from solvers.registry import SOLVERS, solver

    cards = [solver(name).card for name in SOLVERS]
    if as_json:
        print_json([asdict(card) for card in cards])
        return
    rows = [
        (card.name, card.reference, " ".join(card.geometries), " ".join(card.statements) or "—")
        for card in cards
    ]
    print_table(("solver", "reference", "runs on", "statements"), rows)
