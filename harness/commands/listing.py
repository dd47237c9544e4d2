"""``gammabar list KIND``: what there is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.screen.output import print_json, print_table

if TYPE_CHECKING:
    from gammabar.harness.court.statement import Statement
    from gammabar.problems.spec import Entry


@click.command("list")
@click.argument(
    "kind", type=click.Choice(("statements", "solvers", "problems", "mutants", "papers"))
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@PAPER_OPTION
@click.option(
    "--matrix",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="For mutants: compute anew which statements refute which, and keep it in FILE "
    "(some minutes).",
)
def command(kind: str, as_json: bool, matrix: Path | None, papers: tuple[str, ...]) -> None:
    """List what there is of a KIND: statements, solvers, problems, mutants or papers.

    With --paper, statements are those of that paper.
    """
    _, keys = open_papers(papers)
    if matrix is not None:
        if kind != "mutants":
            raise click.UsageError("--matrix goes with mutants")
        _compute(matrix, as_json)
    show: dict[str, Callable[[bool], None]] = {
        "statements": partial(_statements, keys=keys),
        "solvers": _solvers,
        "problems": _problems,
        "mutants": _mutants,
        "papers": _papers,
    }
    show[kind](as_json)


#: What JSON says of a statement.
_FIELDS = (
    "id",
    "source",
    "reference",
    "kind",
    "claim",
    "words",
    "status",
    "witness",
    "fixed_by",
    "solvers",
    "problems",
    "note",
    "powerless",
)


def _statements(as_json: bool, keys: tuple[str, ...]) -> None:
    from gammabar.harness.library import load_statements, witness

    statements = [s for s in load_statements().values() if not keys or s.source in keys]
    if as_json:
        print_json([_described(s, witness(s.id)) for s in statements])
        return
    for source in dict.fromkeys(s.source for s in statements):
        rows = [
            (s.id, s.kind, s.status + (f", see {s.fixed_by}" if s.fixed_by else ""), s.words)
            for s in statements
            if s.source == source
        ]
        print_table((source, "kind", "status", "what it says"), rows)


def _papers(as_json: bool) -> None:
    from gammabar.harness.library import load_statements, papers

    sources = Counter(statement.source for statement in load_statements().values())
    found = papers().values()
    if as_json:
        names = ("key", "title", "authors", "year", "venue", "url", "text")
        print_json(
            [{n: getattr(p, n) for n in names} | {"statements": sources[p.key]} for p in found]
        )
        return
    rows = [(p.key, str(sources[p.key]), str(p), p.venue) for p in found]
    print_table(("key", "statements", "paper", "where"), rows)


def _described(statement: Statement, witness: Path | None) -> dict[str, Any]:
    """A statement for JSON; its witness by a path that leads there from this folder."""
    here = Path.cwd()
    if witness is not None and witness.is_relative_to(here):
        witness = witness.relative_to(here)
    known = {name: getattr(statement, name) for name in _FIELDS if name != "witness"}
    known["witness"] = None if witness is None else str(witness)
    return {name: known[name] for name in _FIELDS}


def _mutants(as_json: bool) -> None:
    from gammabar.harness.library import matrix, mutants

    killers = {name: list(found) for name, found in matrix().items()}
    entries: list[dict[str, Any]] = [
        {
            "name": m.name,
            "family": m.family,
            "solver": m.solver,
            "wrong": m.wrong,
            "equivalent": m.equivalent,
            "killed_by": killers.get(m.name),
        }
        for m in mutants().values()
    ]
    if as_json:
        print_json(entries)
        return
    for family in dict.fromkeys(entry["family"] for entry in entries):
        rows = [
            (e["name"], e["wrong"], " ".join(e["killed_by"] or ()) or "—")
            for e in entries
            if e["family"] == family
        ]
        print_table((f"mutant ({family})", "what is wrong", "killed by"), rows)


def _compute(path: Path, quiet: bool) -> None:
    from gammabar.harness.library import mutants
    from gammabar.harness.power import matrix
    from gammabar.harness.screen.progress import bar

    with path.open("w", encoding="utf-8") as file:
        with bar(len(mutants()), "wrong solvers", quiet) as advance:
            found = matrix(advance=advance)
        json.dump(found, file, indent=1, ensure_ascii=False, sort_keys=True)
        file.write("\n")


def _problems(as_json: bool) -> None:
    from gammabar.problems.spec import catalogue

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
    from gammabar.harness.library import load_statements
    from gammabar.solvers.registry import SOLVERS, solver

    cards = [solver(name).card for name in SOLVERS]
    # What is said about a solver is the statements' to say, not its own.
    about = {
        card.name: [s.id for s in load_statements().values() if card.name in s.solvers]
        for card in cards
    }
    if as_json:
        print_json([asdict(card) | {"statements": about[card.name]} for card in cards])
        return
    rows = [
        (card.name, card.reference, " ".join(card.geometries), " ".join(about[card.name]) or "—")
        for card in cards
    ]
    print_table(("solver", "reference", "runs on", "statements"), rows)
