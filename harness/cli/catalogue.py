"""``gammabar list KIND``: what there is.

``gammabar show ID``: all about a statement, a solver, a problem, a mutant or an artefact.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.cli.options import (
    FILE,
    JSON,
    PAPER,
    WRITTEN,
    Command,
    argument,
    open_papers,
    run,
    what,
    write,
)
from gammabar.harness.screen import print_json, print_lines, print_table, say
from gammabar.harness.verify.verdict import Severity, Status, by_severity

if TYPE_CHECKING:
    from gammabar.harness.run.results import Result
    from gammabar.harness.verify.statement import Statement
    from gammabar.problems.specs import Entry


@click.command("list", cls=Command)
@click.argument(
    "kind",
    type=click.Choice(("statements", "solvers", "problems", "mutants", "papers", "artefacts")),
)
@click.argument("text", required=False)
@what(
    "--source NAME",
    "For statements: only those of this paper, by its key (repeatable).",
    "sources",
    many=True,
    names="papers",
)
@what(
    "--status STATUS",
    "For statements: only those that are expected to hold, to be refuted, …",
    type=click.Choice([str(one) for one in Status]),
)
@what(
    "--severity SEVERITY",
    "For statements: only those that are false in this way.",
    type=click.Choice([str(one) for one in Severity]),
)
@PAPER
@write(
    "--matrix FILE",
    "For mutants: compute anew which statements refute which, and keep it in FILE (some minutes).",
    type=WRITTEN,
)
@JSON
def list_command(
    kind: str,
    text: str | None,
    as_json: bool,
    matrix: Path | None,
    papers: tuple[str, ...],
    sources: tuple[str, ...],
    status: str | None,
    severity: str | None,
) -> None:
    """List what there is of a KIND: statements, solvers, problems, mutants, papers or artefacts.

    With TEXT, those that contain it. Statements may be chosen by options as well; with --paper they
    are those of that paper.
    """
    _, keys = open_papers(papers)
    choice = Choice((*keys, *sources), status, severity, text)
    if replace(choice, text=None) != Choice() and kind != "statements" and not papers:
        raise click.UsageError("--source, --status and --severity go with statements")
    if matrix is not None:
        if kind != "mutants":
            raise click.UsageError("--matrix goes with mutants")
        _compute(matrix, as_json)
    show: dict[str, Callable[[bool], None]] = {
        "statements": partial(_statements, choice=choice),
        "solvers": partial(_solvers, text=text),
        "problems": partial(_problems, text=text),
        "mutants": partial(_mutants, text=text),
        "papers": partial(_papers, text=text),
        "artefacts": partial(_artefacts, text=text),
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
    "severity",
    "why",
    "charitable",
    "survives",
    "solvers",
    "problems",
    "note",
    "instances",
    "powerless",
    "at_rest",
    "slower",
)


@dataclass(frozen=True)
class Choice:
    """Which statements the user wants to see; all, unless something is chosen."""

    sources: tuple[str, ...] = ()
    status: str | None = None
    severity: str | None = None
    text: str | None = None

    def fits(self, statement: Statement) -> bool:
        """Whether it is one of them."""
        s = statement
        shown = (s.id, s.reference, s.words, s.note, s.why, s.claim)
        return (
            (not self.sources or s.source in self.sources)
            and self.status in (None, s.status)
            and self.severity in (None, s.severity)
            and (self.text is None or any(self.text.lower() in part.lower() for part in shown))
        )


def _statements(as_json: bool, choice: Choice) -> None:
    from gammabar.harness.registry import find_sources, load_statements, witness

    find_sources(choice.sources)  # a source that is none is refused
    statements = [s for s in load_statements().values() if choice.fits(s)]
    if as_json:
        print_json([_described(s, witness(s.id)) for s in statements])
        return
    for source in dict.fromkeys(s.source for s in statements):
        rows = [
            (s.id, s.kind, _status(s), s.severity or "", _words(s))
            for s in statements
            if s.source == source
        ]
        print_table((source, "kind", "expected", "severity", "what it says"), rows)
    say(_counted(statements))


def _words(statement: Statement) -> str:
    """What it says, and where a claim about everything was put to the test."""
    tested = f" [tested at: {statement.instances}]" if statement.instances else ""
    return statement.words + tested


def _status(statement: Statement) -> str:
    see = dict.fromkeys(filter(None, (statement.fixed_by, statement.charitable)))
    return statement.status + (f", see {' and '.join(see)}" if see else "")


def _counted(statements: list[Statement]) -> str:
    """How many there are of each status, and of those that are refuted, of each severity."""
    counts = Counter(s.status for s in statements)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    ways = by_severity(s.severity for s in statements)
    end = f" ({ways})" if ways else ""
    number = len(statements)
    return f"{number} statement{'s' * (number != 1)}: {', '.join(parts) or 'none'}{end}"


def _says(text: str | None, entry: Any) -> bool:
    """Whether an entry contains a text, in whatever field."""
    values = asdict(entry) if is_dataclass(entry) and not isinstance(entry, type) else entry
    return text is None or text.lower() in json.dumps(values, ensure_ascii=False).lower()


def _papers(as_json: bool, text: str | None) -> None:
    from gammabar.harness.registry import load_statements, papers

    sources = Counter(statement.source for statement in load_statements().values())
    found = [p for p in papers().values() if _says(text, [p.key, str(p), p.venue])]
    if as_json:
        names = ("key", "title", "authors", "year", "venue", "url", "text")
        print_json(
            [{n: getattr(p, n) for n in names} | {"statements": sources[p.key]} for p in found]
        )
        return
    rows = [(p.key, str(sources[p.key]), str(p), p.venue) for p in found]
    print_table(("key", "statements", "paper", "where"), rows)


def _artefacts(as_json: bool, text: str | None) -> None:
    from gammabar.harness.paper import cost
    from gammabar.harness.registry import artefacts, measured
    from gammabar.problems.datasets import DATASETS, is_here

    about = artefacts().values()
    found = [a for a in about if _says(text, [a.id, a.reference, a.title, a.data])]
    names = ("seconds", "cpu", "memory")
    took = {one: {name: about[name] for name in names} for one, about in measured().items()}
    if as_json:
        known = ("id", "reference", "title", "data", "cost")
        print_json(
            [
                {name: getattr(one, name) for name in known}
                | took.get(one.id, dict.fromkeys(names))
                for one in found
            ]
        )
        return
    rows = [
        (
            one.id,
            one.reference,
            one.title,
            _needs(one.data, DATASETS, is_here),
            cost(**took[one.id]) if one.id in took else one.cost or "—",
        )
        for one in found
    ]
    print_table(("artefact", "reference", "what it shows", "needs", "takes"), rows)


def _needs(data: tuple[str, ...], known: Any, is_here: Callable[[Any], bool]) -> str:
    here = (name if is_here(known[name]) else f"{name} (not here)" for name in data)
    return ", ".join(here) or "—"


def _described(statement: Statement, witness: Path | None) -> dict[str, Any]:
    """A statement for JSON; its witness by a path that leads there from this folder."""
    here = Path.cwd()
    if witness is not None and witness.is_relative_to(here):
        witness = witness.relative_to(here)
    known = {name: getattr(statement, name) for name in _FIELDS if name != "witness"}
    known["witness"] = None if witness is None else str(witness)
    return {name: known[name] for name in _FIELDS}


def _mutants(as_json: bool, text: str | None) -> None:
    from gammabar.harness.registry import matrix, mutants

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
    entries = [entry for entry in entries if _says(text, entry)]
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
    from gammabar.harness.power import matrix
    from gammabar.harness.registry import mutants
    from gammabar.harness.screen import bar
    from gammabar.problems.output import check_writable, write_whole

    check_writable(path)  # better to know now
    with bar(len(mutants()), "wrong solvers", quiet) as advance:
        found = matrix(advance=advance)
    write_whole(path, json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def _problems(as_json: bool, text: str | None) -> None:
    from gammabar.problems.specs import catalogue

    entries = [entry for entry in catalogue() if _says(text, entry)]
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    for kind in ("data set", "generator", "file"):
        rows = [(e.syntax, e.what, _last(e)) for e in entries if e.kind == kind]
        last = {"data set": "where", "generator": "options (default)", "file": ""}[kind]
        if rows:
            print_table((kind, "what it is", last), rows)


def _last(entry: Entry) -> str:
    if entry.kind == "data set":
        return entry.where
    return ", ".join(f"{name}={default}" if default else name for name, default, _ in entry.options)


def _solvers(as_json: bool, text: str | None) -> None:
    from gammabar.harness.registry import load_statements
    from gammabar.solvers.base import SOLVERS, solver

    cards = [card for card in (solver(name).card for name in SOLVERS) if _says(text, card)]
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


#: Verdicts that are shown to people; JSON has them all.
MOST = 12
#: Shown in this order, if there is anything to show.
FIELDS = {
    "reference": "where",
    "source": "source",
    "what": "what",
    "words": "in words",
    "claim": "printed",
    "assumptions": "assumes",
    "instances": "tested at",
    "solvers": "about",
    "solver": "of",
    "geometries": "runs on",
    "options": "options",
    "syntax": "written",
    "rows": "rows",
    "dimension": "dimension",
    "radius": "radius",
    "digest": "sha-256",
    "status": "expected",
    "why": "why",
    "note": "note",
    "fixed_by": "true form",
    "charitable": "reading",
    "survives": "survives",
    "witness": "witness",
    "check": "check it",
    "at_rest": "at rest",
    "powerless": "no power",
    "slower": "slower",
    "kills": "refutes",
    "killed_by": "killed by",
    "equivalent": "right if",
    "statements": "claims",
    "mutants": "mutants",
    "used_by": "used by",
    "parts": "computes",
    "data": "needs",
    "missing": "not here",
    "seconds": "takes",
    "shown": "shown",
    "cost": "takes",
    "tightest": "tightest",
    "reproduce": "again",
}


@click.command("show", cls=Command)
@argument("name", metavar="ID", names="statements solvers mutants artefacts data")
@PAPER
@run("--run", "Run a statement on its part of the plan, and show the verdicts.", "running")
@run("--store FILE", "Show the verdicts in this file.", "path", type=FILE)
@JSON
def show_command(
    name: str, papers: tuple[str, ...], running: bool, path: Path | None, as_json: bool
) -> None:
    """Show everything about ID: a statement, a solver, a problem, a mutant or an artefact."""
    if running and path is not None:
        raise click.UsageError("--run and --store are two sources of verdicts: choose one")
    open_papers(papers)
    from gammabar.harness.report.describe import about

    facts = about(name, lambda identifier: _results(identifier, running, path))
    if as_json:
        print_json(facts, "show")
        return
    say(f"{facts['id']} ({facts['kind']})")
    for field, label in (*FIELDS.items(), ("where", "code")):
        text = _text(field, facts)
        if text:
            print_lines(f"    {label:<10} {text}")
    if facts.get("verdicts"):
        _verdict_table(facts["verdicts"])


def _results(identifier: str, running: bool, path: Path | None) -> list[Result]:
    """The verdicts on a statement."""
    if path is not None:
        from gammabar.harness.run.store import Store

        with Store(path, writing=False) as store:
            return [r for r in store.results() if r.verdict.statement == identifier]
    if not running:
        return []
    from gammabar.harness.report.describe import plan_of
    from gammabar.harness.run.engine import run as run_tasks

    tasks = plan_of(identifier)
    say(f"checking {identifier} in {len(tasks)} runs", err=True)
    return run_tasks(tasks)


def _text(field: str, facts: dict[str, Any]) -> str:
    """A field in a line; "" for none."""
    value = facts.get(field)
    if not value:
        return ""
    if field == "tightest":
        at = "" if value["worst_t"] is None else f" at t = {value['worst_t']}"
        by = f" by {value['solver']}" if value["solver"] else ""
        return f"{value['tightness']:.6g} on {value['problem'] or 'its own data'}{by}{at}"
    if field == "seconds":
        from gammabar.harness.paper import cost

        return cost(value, facts["cpu"], facts["memory"])
    if field == "status" and facts.get("severity"):
        return f"{value} as printed ({facts['severity']})"
    if field == "options":
        return ", ".join(
            f"{name}={default}" if default else name for name, default in value.items()
        )
    if isinstance(value, dict):
        return ", ".join(value)
    if not isinstance(value, list):
        return str(value)
    if field == "parts" and len(value) > MOST:  # a run for each of many seeds
        value = [*value[: MOST // 2], f"… ({len(value)} in all)"]
    # Sentences have their full stops; names do not.
    return (" " if all(one.endswith(".") for one in value) else "; ").join(value)


def _verdict_table(verdicts: list[dict[str, Any]]) -> None:
    rows = [
        (
            v["problem"] or "its own data",
            v["solver"],
            v["verdict"] + (f" ({v['says']})" if v["says"] else ""),
            "—" if v["tightness"] is None else f"{v['tightness']:.4g}",
            "—" if v["worst_t"] is None else str(v["worst_t"]),
            "—" if v["informative"] is None else f"{v['informative']} of {v['checked']}",
        )
        for v in sorted(
            verdicts, key=lambda v: (v["verdict"] != "refuted", -(v["tightness"] or 0.0))
        )[:MOST]
    ]
    columns = ("problem", "solver", "verdict", "tightness", "worst t", "informative")
    print_table(columns, rows)
    if len(verdicts) > MOST:
        say(f"and {len(verdicts) - MOST} more, with --json")
