"""``gammabar list KIND`` and ``gammabar show ID``: what there is, and all about one thing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gammabar.harness import registry
from gammabar.harness.cli.command import (
    FILE,
    JSON,
    PAPER,
    SOURCE,
    WRITTEN,
    Command,
    argument,
    open_papers,
    run,
    what,
    write,
)
from gammabar.harness.paper import cost
from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import Result
from gammabar.harness.screen import bar, print_json, print_lines, print_table, say
from gammabar.harness.verify.verdict import Severity, Status, by_severity
from gammabar.problems.datasets import DATASETS, is_here
from gammabar.problems.output import check_writable, write_whole
from gammabar.problems.specs import catalogue
from gammabar.solvers.base import SOLVERS, solver

Entry = dict[str, Any]
#: Title of its table, names of the columns, and the cells of a row.
Table = tuple[str, tuple[str, ...], tuple[str, ...]]


@click.command("list", cls=Command, title="What to list")
@click.argument(
    "kind",
    type=click.Choice(("statements", "solvers", "problems", "mutants", "papers", "artefacts")),
)
@click.argument("text", required=False)
@SOURCE
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
    "For mutants: compute which statements refute which mutants, into FILE (takes minutes).",
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
    """List statements, solvers, problems, mutants (wrong solvers), papers or artefacts (figures).

    With TEXT: only entries that contain it. With --paper: only statements of that paper.
    """
    _, keys = open_papers(papers)
    if (sources or status or severity) and kind != "statements":
        raise click.UsageError("--source, --status and --severity go with statements")
    if matrix is not None:
        if kind != "mutants":
            raise click.UsageError("--matrix goes with mutants")
        _compute(matrix, as_json)
    registry.find_sources(sources)  # opens them; an unknown one is refused
    entries_of, row_of = _KINDS[kind]
    entries = [entry for entry in entries_of() if _contains(text, entry)]
    if kind == "statements":
        chosen = (*keys, *sources)
        entries = [
            entry
            for entry in entries
            if (not chosen or entry["source"] in chosen)
            and status in (None, entry["status"])
            and severity in (None, entry["severity"])
        ]
    if as_json:
        print_json(entries)
        return
    tables: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for title, columns, row in map(row_of, entries):
        tables.setdefault((title, *columns), []).append(row)
    for names, rows in tables.items():
        print_table(names, rows)
    if kind == "statements":
        say(_counted(entries))


def _contains(text: str | None, entry: Entry) -> bool:
    return text is None or text.lower() in json.dumps(entry, ensure_ascii=False).lower()


def _compute(path: Path, quiet: bool) -> None:
    from gammabar.harness.power import matrix

    check_writable(path)  # better to know now
    with bar(len(registry.mutants()), "wrong solvers", quiet) as advance:
        found = matrix(advance=advance)
    write_whole(path, json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


# --- what there is, as in JSON, and a row of a table for each


def _taken(thing: Any, names: str) -> Entry:
    """Attributes by their names, with spaces between them."""
    return {name: getattr(thing, name, None) for name in names.split()}


_STATEMENT = (
    "id source reference kind claim words status witness fixed_by severity why charitable survives"
    " solvers problems note instances powerless at_rest slower"
)


def _statements() -> list[Entry]:
    def entry(statement: Any) -> Entry:
        path, here = registry.witness(statement.id), Path.cwd()
        if path is not None and path.is_relative_to(here):
            path = path.relative_to(here)
        return _taken(statement, _STATEMENT) | {"witness": None if path is None else str(path)}

    return [entry(statement) for statement in registry.load_statements().values()]


def _statement_row(entry: Entry) -> Table:
    see = dict.fromkeys(filter(None, (entry["fixed_by"], entry["charitable"])))
    expected = entry["status"] + (f", see {' and '.join(see)}" if see else "")
    tested = f" [tested at: {entry['instances']}]" if entry["instances"] else ""
    columns = ("kind", "expected", "severity", "what it says")
    row = (entry["kind"], expected, entry["severity"] or "", entry["words"] + tested)
    return entry["source"], columns, (entry["id"], *row)


def _counted(statements: list[Entry]) -> str:
    """How many there are of each status, and of those that are refuted, of each severity."""
    counts = Counter(entry["status"] for entry in statements)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    ways = by_severity(entry["severity"] for entry in statements)
    end = f" ({ways})" if ways else ""
    number = len(statements)
    return f"{number} statement{'s' * (number != 1)}: {', '.join(parts) or 'none'}{end}"


def _papers() -> list[Entry]:
    with registry.plugins():
        sources = Counter(statement.source for statement in registry.load_statements().values())
        return [
            _taken(paper, "key title authors year venue url text")
            | {"statements": sources[paper.key]}
            for paper in registry.papers().values()
        ]


def _paper_row(entry: Entry) -> Table:
    paper = registry.Paper(entry["key"], entry["title"], entry["authors"], entry["year"])
    row = (entry["key"], str(entry["statements"]), str(paper), entry["venue"])
    return "key", ("statements", "paper", "where"), row


def _artefacts() -> list[Entry]:
    took = registry.measured()
    return [
        _taken(one, "id reference title data cost")
        | {name: took.get(one.id, {}).get(name) for name in ("seconds", "cpu", "memory")}
        for one in registry.artefacts().values()
    ]


def _artefact_row(entry: Entry) -> Table:
    here = [name if is_here(DATASETS[name]) else f"{name} (not here)" for name in entry["data"]]
    takes = entry["cost"] or "—"
    if entry["seconds"] is not None:
        takes = cost(entry["seconds"], entry["cpu"], entry["memory"])
    row = (entry["id"], entry["reference"], entry["title"], ", ".join(here) or "—", takes)
    return "artefact", ("reference", "what it shows", "needs", "takes"), row


def _mutants() -> list[Entry]:
    killers = {name: list(found) for name, found in registry.matrix().items()}
    return [
        _taken(one, "name family solver wrong equivalent") | {"killed_by": killers.get(one.name)}
        for one in registry.mutants().values()
    ]


def _mutant_row(entry: Entry) -> Table:
    row = (entry["name"], entry["wrong"], " ".join(entry["killed_by"] or ()) or "—")
    return f"mutant ({entry['family']})", ("what is wrong", "killed by"), row


def _problems() -> list[Entry]:
    return [asdict(entry) for entry in catalogue()]


def _problem_row(entry: Entry) -> Table:
    options = {name: default for name, default, _ in entry["options"]}
    last = entry["where"] if entry["kind"] == "data set" else _defaults(options)
    columns = ("what it is", "where, or options (default)")
    return entry["kind"], columns, (entry["syntax"], entry["what"], last)


def _defaults(options: Mapping[str, Any]) -> str:
    found = (f"{name}={default}" if default else name for name, default in options.items())
    return ", ".join(found)


def _solvers() -> list[Entry]:
    statements = registry.load_statements().values()
    return [
        asdict(solver(name).card) | {"statements": [s.id for s in statements if name in s.solvers]}
        for name in SOLVERS
    ]


def _solver_row(entry: Entry) -> Table:
    row = (entry["name"], entry["reference"], " ".join(entry["geometries"]))
    columns = ("reference", "runs on", "statements")
    return "solver", columns, (*row, " ".join(entry["statements"]) or "—")


_KINDS: dict[str, tuple[Callable[[], Iterable[Entry]], Callable[[Entry], Table]]] = {
    "statements": (_statements, _statement_row),
    "solvers": (_solvers, _solver_row),
    "problems": (_problems, _problem_row),
    "mutants": (_mutants, _mutant_row),
    "papers": (_papers, _paper_row),
    "artefacts": (_artefacts, _artefact_row),
}


# --- all about one thing

#: Verdicts that are shown to people; JSON has them all.
_MOST = 12
#: Fields that are shown, in this order, and what each is called.
_LABELS = """
    reference=where, source, what, words=in words, claim=printed, assumptions=assumes,
    instances=tested at, solvers=about, solver=of, geometries=runs on, options, syntax=written,
    rows, dimension, radius, digest=sha-256, status=expected, why, note, fixed_by=true form,
    charitable=reading, survives, witness, check=check it, at_rest=at rest, powerless=no power,
    slower, kills=refutes, killed_by=killed by, equivalent=right if, statements=claims, mutants,
    used_by=used by, parts=computes, data=needs, missing=not here, seconds=takes, shown, cost=takes,
    tightest, reproduce=again, where=code
"""


@click.command("show", cls=Command, title="What to show")
@argument("name", metavar="ID", names="statements solvers mutants artefacts data")
@PAPER
@run("--run", "Run a statement on its part of the default plan, and show the verdicts.", "running")
@run(
    "--store FILE",
    "Show the verdicts in this file of `gammabar verify --store`.",
    "path",
    type=FILE,
)
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
    for pair in _LABELS.split(","):
        field, _, label = pair.strip().partition("=")
        if text := _text(field, facts):
            print_lines(f"    {label or field:<10} {text}")
    if facts.get("verdicts"):
        _verdict_table(facts["verdicts"])


def _results(identifier: str, running: bool, path: Path | None) -> list[Result]:
    """The verdicts on a statement."""
    if path is not None:
        with Store(path, writing=False) as store:
            return [r for r in store.results() if r.verdict.statement == identifier]
    if not running:
        return []
    from gammabar.harness.run.engine import Request, make_plan, run as run_tasks

    tasks = make_plan(Request(statements=(identifier,)))
    say(f"checking {identifier} in {len(tasks)} runs", err=True)
    return run_tasks(tasks)


def _text(field: str, facts: Entry) -> str:
    """A field in a line; "" for none."""
    value = facts.get(field)
    if not value:
        return ""
    if field == "tightest":
        at = "" if value["worst_t"] is None else f" at t = {value['worst_t']}"
        by = f" by {value['solver']}" if value["solver"] else ""
        return f"{value['tightness']:.6g} on {value['problem'] or 'its own data'}{by}{at}"
    if field == "seconds":
        return cost(value, facts["cpu"], facts["memory"])
    if field == "status" and facts.get("severity"):
        return f"{value} as printed ({facts['severity']})"
    if field == "options":
        return _defaults(value)
    if isinstance(value, dict):
        return ", ".join(value)
    if not isinstance(value, list):
        return str(value)
    if field == "parts" and len(value) > _MOST:  # a run for each of many seeds
        value = [*value[: _MOST // 2], f"… ({len(value)} in all)"]
    # Sentences have their full stops; names do not.
    return (" " if all(one.endswith(".") for one in value) else "; ").join(value)


def _verdict_table(verdicts: list[Entry]) -> None:
    verdicts.sort(key=lambda v: (v["verdict"] != "refuted", -(v["tightness"] or 0.0)))
    rows = [
        (
            v["problem"] or "its own data",
            v["solver"],
            v["verdict"] + (f" ({v['says']})" if v["says"] else ""),
            "—" if v["tightness"] is None else f"{v['tightness']:.4g}",
            "—" if v["worst_t"] is None else str(v["worst_t"]),
            "—" if v["informative"] is None else f"{v['informative']} of {v['checked']}",
        )
        for v in verdicts[:_MOST]
    ]
    columns = ("problem", "solver", "verdict", "tightness", "worst t", "informative")
    print_table(columns, rows)
    if len(verdicts) > _MOST:
        say(f"and {len(verdicts) - _MOST} more, with --json")
