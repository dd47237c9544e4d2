"""``gammabar list KIND`` and ``gammabar show ID``: what there is, and all about one thing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
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
    from gammabar.harness.run.tasks import Result


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
    from gammabar.harness.registry import open_plugin

    _, keys = open_papers(papers)
    for source in sources:
        open_plugin(source)
    if (sources or status or severity) and kind != "statements":
        raise click.UsageError("--source, --status and --severity go with statements")
    if matrix is not None:
        if kind != "mutants":
            raise click.UsageError("--matrix goes with mutants")
        _compute(matrix, as_json)
    shown = _KINDS[kind]
    entries = [entry for entry in shown.entries() if _says(text, entry)]
    if kind == "statements":
        entries = _chosen(entries, (*keys, *sources), status, severity)
    if as_json:
        print_json(entries)
        return
    for title in dict.fromkeys(map(shown.title, entries)):
        rows = [shown.row(entry) for entry in entries if shown.title(entry) == title]
        print_table((title, *shown.columns), rows)
    if kind == "statements":
        say(_counted(entries))


Entry = dict[str, Any]


@dataclass(frozen=True)
class _Kind:
    """How one kind of things is listed: entries as in JSON, and a table for each title."""

    entries: Callable[[], list[Entry]]
    title: Callable[[Entry], str]
    columns: tuple[str, ...]
    row: Callable[[Entry], tuple[str, ...]]


def _says(text: str | None, entry: Entry) -> bool:
    """Whether an entry contains a text, in whatever field."""
    return text is None or text.lower() in json.dumps(entry, ensure_ascii=False).lower()


def _chosen(
    entries: list[Entry], sources: tuple[str, ...], status: str | None, severity: str | None
) -> list[Entry]:
    from gammabar.harness.registry import find_sources

    find_sources(sources)  # a source that is none is refused
    return [
        entry
        for entry in entries
        if (not sources or entry["source"] in sources)
        and status in (None, entry["status"])
        and severity in (None, entry["severity"])
    ]


#: What JSON says of a statement, besides its witness.
_STATEMENT = (
    *("id", "source", "reference", "kind", "claim", "words", "status", "witness", "fixed_by"),
    *("severity", "why", "charitable", "survives", "solvers", "problems", "note", "instances"),
    *("powerless", "at_rest", "slower"),
)


def _statements() -> list[Entry]:
    from gammabar.harness.registry import load_statements, witness

    def entry(statement: Any) -> Entry:
        path, here = witness(statement.id), Path.cwd()
        if path is not None and path.is_relative_to(here):
            path = path.relative_to(here)
        found = {name: getattr(statement, name, None) for name in _STATEMENT}
        return found | {"witness": None if path is None else str(path)}

    return [entry(statement) for statement in load_statements().values()]


def _statement_row(entry: Entry) -> tuple[str, ...]:
    """Its id, what it says, and where a claim about everything was put to the test."""
    see = dict.fromkeys(filter(None, (entry["fixed_by"], entry["charitable"])))
    expected = entry["status"] + (f", see {' and '.join(see)}" if see else "")
    tested = f" [tested at: {entry['instances']}]" if entry["instances"] else ""
    words = entry["words"] + tested
    return entry["id"], entry["kind"], expected, entry["severity"] or "", words


def _counted(statements: list[Entry]) -> str:
    """How many there are of each status, and of those that are refuted, of each severity."""
    counts = Counter(entry["status"] for entry in statements)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    ways = by_severity(entry["severity"] for entry in statements)
    end = f" ({ways})" if ways else ""
    number = len(statements)
    return f"{number} statement{'s' * (number != 1)}: {', '.join(parts) or 'none'}{end}"


def _papers() -> list[Entry]:
    from gammabar.harness.registry import load_statements, papers, plugins

    with plugins():
        sources = Counter(statement.source for statement in load_statements().values())
        names = ("key", "title", "authors", "year", "venue", "url", "text")
        return [
            {name: getattr(paper, name) for name in names} | {"statements": sources[paper.key]}
            for paper in papers().values()
        ]


def _paper_row(entry: Entry) -> tuple[str, ...]:
    from gammabar.harness.paper import Paper

    paper = Paper(entry["key"], entry["title"], entry["authors"], entry["year"])
    return entry["key"], str(entry["statements"]), str(paper), entry["venue"]


def _artefacts() -> list[Entry]:
    from gammabar.harness.registry import artefacts, measured

    took = measured()
    return [
        {name: getattr(one, name) for name in ("id", "reference", "title", "data", "cost")}
        | {name: took.get(one.id, {}).get(name) for name in ("seconds", "cpu", "memory")}
        for one in artefacts().values()
    ]


def _artefact_row(entry: Entry) -> tuple[str, ...]:
    from gammabar.harness.paper import cost
    from gammabar.problems.datasets import DATASETS, is_here

    here = [name if is_here(DATASETS[name]) else f"{name} (not here)" for name in entry["data"]]
    takes = entry["cost"] or "—"
    if entry["seconds"] is not None:
        takes = cost(entry["seconds"], entry["cpu"], entry["memory"])
    return entry["id"], entry["reference"], entry["title"], ", ".join(here) or "—", takes


def _mutants() -> list[Entry]:
    from gammabar.harness.registry import matrix, mutants

    killers = {name: list(found) for name, found in matrix().items()}
    names = ("name", "family", "solver", "wrong", "equivalent")
    return [
        {name: getattr(m, name) for name in names} | {"killed_by": killers.get(m.name)}
        for m in mutants().values()
    ]


def _problems() -> list[Entry]:
    from gammabar.problems.specs import catalogue

    return [asdict(entry) for entry in catalogue()]


def _problem_row(entry: Entry) -> tuple[str, ...]:
    last = entry["where"]
    if entry["kind"] != "data set":
        options = [
            f"{name}={default}" if default else name for name, default, _ in entry["options"]
        ]
        last = ", ".join(options)
    return entry["syntax"], entry["what"], last


def _solvers() -> list[Entry]:
    from gammabar.harness.registry import load_statements
    from gammabar.solvers.base import SOLVERS, solver

    # What is said about a solver is the statements' to say, not its own.
    statements = load_statements().values()
    return [
        asdict(solver(name).card) | {"statements": [s.id for s in statements if name in s.solvers]}
        for name in SOLVERS
    ]


def _compute(path: Path, quiet: bool) -> None:
    from gammabar.harness.power import matrix
    from gammabar.harness.registry import mutants
    from gammabar.harness.screen import bar
    from gammabar.problems.output import check_writable, write_whole

    check_writable(path)  # better to know now
    with bar(len(mutants()), "wrong solvers", quiet) as advance:
        found = matrix(advance=advance)
    write_whole(path, json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


_KINDS = {
    "statements": _Kind(
        _statements,
        lambda entry: entry["source"],
        ("kind", "expected", "severity", "what it says"),
        _statement_row,
    ),
    "solvers": _Kind(
        _solvers,
        lambda entry: "solver",
        ("reference", "runs on", "statements"),
        lambda e: (
            e["name"],
            e["reference"],
            " ".join(e["geometries"]),
            " ".join(e["statements"]) or "—",
        ),
    ),
    "problems": _Kind(
        _problems,
        lambda entry: entry["kind"],
        ("what it is", "where, or options (default)"),
        _problem_row,
    ),
    "mutants": _Kind(
        _mutants,
        lambda entry: f"mutant ({entry['family']})",
        ("what is wrong", "killed by"),
        lambda e: (e["name"], e["wrong"], " ".join(e["killed_by"] or ()) or "—"),
    ),
    "papers": _Kind(_papers, lambda entry: "key", ("statements", "paper", "where"), _paper_row),
    "artefacts": _Kind(
        _artefacts,
        lambda entry: "artefact",
        ("reference", "what it shows", "needs", "takes"),
        _artefact_row,
    ),
}


#: Verdicts that are shown to people; JSON has them all.
_MOST = 12
#: Shown in this order, if there is anything to show.
_FIELDS = {
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
    for field, label in (*_FIELDS.items(), ("where", "code")):
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
    if field == "parts" and len(value) > _MOST:  # a run for each of many seeds
        value = [*value[: _MOST // 2], f"… ({len(value)} in all)"]
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
        )[:_MOST]
    ]
    columns = ("problem", "solver", "verdict", "tightness", "worst t", "informative")
    print_table(columns, rows)
    if len(verdicts) > _MOST:
        say(f"and {len(verdicts) - _MOST} more, with --json")
