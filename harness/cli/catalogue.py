"""``gammabar list KIND`` and ``gammabar show ID``: what there is, and all about one thing."""

from __future__ import annotations

import inspect
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from gammabar.harness import registry
from gammabar.harness.cli.command import (
    JSON,
    PAPER,
    SOURCE,
    argument,
    command,
    open_papers,
    run,
    what,
    write,
)
from gammabar.harness.paper import cost
from gammabar.harness.report.model import described, place_of
from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import Result
from gammabar.harness.screen import bar, counted, print_json, print_lines, print_table, say
from gammabar.harness.show import reproduce
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, Severity, Status, by_severity, worth
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS, is_here
from gammabar.problems.output import check_writable, write_whole
from gammabar.problems.specs import catalogue, open_problem
from gammabar.problems.suggest import did_you_mean
from gammabar.solvers.base import SOLVERS, solver

Entry = dict[str, Any]
#: Entries, as in JSON, each with its row of a table: column → cell.
Listed = Iterator[tuple[Entry, dict[str, str]]]
#: What is said of a comparison with the source.
_MARKS = {True: "agrees", False: "does not agree", None: "open"}


KINDS = ("statements", "solvers", "problems", "mutants", "papers", "artefacts")
_STATUS: dict[str, Any] = {"type": click.Choice([str(one) for one in Status])}
_SEVERITY: dict[str, Any] = {"type": click.Choice([str(one) for one in Severity])}


@command(
    "list",
    argument("kind", type=click.Choice(KINDS)),
    argument("text", required=False),
    SOURCE,
    what("--status STATUS", f"Only statements of this status: {', '.join(Status)}.", **_STATUS),
    what("--severity SEVERITY", f"Only false statements: {', '.join(Severity)}.", **_SEVERITY),
    PAPER,
    write("--matrix FILE", "For mutants: compute which statements refute which (takes minutes)."),
    JSON,
    title="What to list",
)
def list_command(o: Any) -> None:
    """List statements, solvers, problems, mutants (wrong solvers), papers or artefacts (figures).

    With TEXT: only entries that contain it. With --paper: only statements of that paper.
    """
    _, keys = open_papers(o.paper)
    if (o.source or o.status or o.severity) and o.kind != "statements":
        raise click.UsageError("--source, --status and --severity go with statements")
    if o.matrix is not None:
        if o.kind != "mutants":
            raise click.UsageError("--matrix goes with mutants")
        _compute(o.matrix, o.json)
    registry.find_sources(o.source)  # opens them; an unknown one is refused
    wanted, chosen = (o.text or "").lower(), (*keys, *o.source)
    listed = [
        (entry, row)
        for entry, row in _KINDS[o.kind]()
        if wanted in json.dumps(entry, ensure_ascii=False).lower()
        and (not chosen or entry.get("source") in (None, *chosen))
        and o.status in (None, entry.get("status"))
        and o.severity in (None, entry.get("severity"))
    ]
    if o.json:
        print_json([entry for entry, _ in listed])
        return
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for _, row in listed:
        tables.setdefault(tuple(row), []).append(list(row.values()))
    for names, rows in tables.items():
        print_table(names, rows)
    if o.kind == "statements":
        say(_counted([entry for entry, _ in listed]))


def _compute(path: Path, quiet: bool) -> None:
    from gammabar.harness.power import matrix

    check_writable(path)  # better to know now
    with bar(len(registry.mutants()), "wrong solvers", quiet) as advance:
        found = matrix(advance=advance)
    write_whole(path, json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def _taken(thing: Any, names: str) -> Entry:
    """Attributes by their names, with spaces between them."""
    return {name: getattr(thing, name, None) for name in names.split()}


_STATEMENT = (
    "id source reference kind claim words status witness fixed_by severity why charitable survives"
    " solvers problems note instances powerless at_rest slower"
)


def _statements() -> Listed:
    for one in registry.load_statements().values():
        see = dict.fromkeys(filter(None, (one.fixed_by, one.charitable)))
        row = {
            one.source: one.id,
            "kind": one.kind,
            "expected": one.status + (f", see {' and '.join(see)}" if see else ""),
            "severity": one.severity or "",
            "what it says": one.words + (f" [tested at: {one.instances}]" if one.instances else ""),
        }
        yield _taken(one, _STATEMENT) | {"witness": _witness(one.id)}, row


def _witness(identifier: str) -> str | None:
    """The path of a witness, from this folder if it lies below it: `gammabar check` takes it."""
    path, here = registry.witness(identifier), Path.cwd()
    if path is not None and path.is_relative_to(here):
        path = path.relative_to(here)
    return None if path is None else str(path)


def _counted(statements: list[Entry]) -> str:
    """How many there are of each status, and of those that are refuted, of each severity."""
    counts = Counter(entry["status"] for entry in statements)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    ways = by_severity(entry["severity"] for entry in statements)
    end = f" ({ways})" if ways else ""
    return f"{counted(len(statements), 'statement')}: {', '.join(parts) or 'none'}{end}"


def _papers() -> Listed:
    with registry.plugins():
        sources = Counter(statement.source for statement in registry.load_statements().values())
        for one in registry.papers().values():
            number = sources[one.key]
            row = {"key": one.key, "statements": str(number), "paper": str(one), "where": one.venue}
            yield _taken(one, "key title authors year venue url text") | {"statements": number}, row


def _artefacts() -> Listed:
    for one in registry.artefacts().values():
        took = registry.measured().get(one.id, {})
        used: Entry = {name: took.get(name) for name in ("seconds", "cpu", "memory")}
        here = [name if is_here(DATASETS[name]) else f"{name} (not here)" for name in one.data]
        row = {
            "artefact": one.id,
            "reference": one.reference,
            "what it shows": one.title,
            "needs": ", ".join(here) or "—",
            "takes": cost(**used) if took else one.cost or "—",
        }
        yield _taken(one, "id reference title data cost") | used, row


def _mutants() -> Listed:
    for one in registry.mutants().values():
        found = registry.matrix().get(one.name)
        row = {
            f"mutant ({one.family})": one.name,
            "what is wrong": one.wrong,
            "killed by": " ".join(found or ()) or "—",
        }
        killers = {"killed_by": None if found is None else list(found)}
        yield _taken(one, "name family solver wrong equivalent") | killers, row


def _problems() -> Listed:
    for one in catalogue():
        options = {name: default for name, default, _ in one.options}
        row = {
            one.kind: one.syntax,
            "what it is": one.what,
            "where, or options (default)": one.where
            if one.kind == "data set"
            else _defaults(options),
        }
        yield asdict(one), row


def _defaults(options: Mapping[str, Any]) -> str:
    found = (f"{name}={default}" if default else name for name, default in options.items())
    return ", ".join(found)


def _solvers() -> Listed:
    for name in SOLVERS:
        card = solver(name).card
        claims = [s.id for s in registry.load_statements().values() if name in s.solvers]
        row = {
            "solver": name,
            "reference": card.reference,
            "runs on": " ".join(card.geometries),
            "statements": " ".join(claims) or "—",
        }
        yield asdict(card) | {"statements": claims}, row


_LISTS = (_statements, _solvers, _problems, _mutants, _papers, _artefacts)
_KINDS: dict[str, Callable[[], Listed]] = dict(zip(KINDS, _LISTS, strict=True))


# --- all about one thing

#: Verdicts that are shown to people; JSON has them all.
_MOST = 12
#: Fields that are shown, in this order, and what each is called.
_LABELS = """
    reference=where, source, what, words=in words, claim=formula, assumptions=assumes,
    instances=tested at, solvers=about, solver=of, geometries=runs on, options, syntax=written,
    rows, dimension, radius, digest=sha-256, status=expected, why, note, fixed_by=true form,
    charitable=reading, survives, witness, check=check it, at_rest=at rest, powerless=no power,
    slower, kills=refutes, killed_by=killed by, equivalent=right if, statements=claims, mutants,
    used_by=used by, parts=computes, data=needs, missing=not here, seconds=takes, shown, cost=takes,
    tightest, nearest=tightest, reproduce=again, where=code
"""


@command(
    "show",
    argument("id", names="statements solvers mutants artefacts data"),
    PAPER,
    run("--run", "Run the statement as in the default plan, and show the verdicts."),
    run("--store FILE", "Show the verdicts in this store of `gammabar verify`."),
    JSON,
    title="What to show",
)
def show_command(o: Any) -> None:
    """Show everything about ID: a statement, a solver, a problem, a mutant or an artefact."""
    if o.run and o.store is not None:
        raise click.UsageError("--run and --store are two sources of verdicts: choose one")
    open_papers(o.paper)
    facts = _about(o.id, lambda identifier: _results(identifier, o.run, o.store))
    if o.json:
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
    if field in ("tightest", "nearest"):
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


# --- facts about one thing, as in JSON


def _about(name: str, results: Callable[[str], list[Result]]) -> Entry:
    """The facts about a statement, artefact, solver, mutant or problem (as DATA), by its name.

    `results` returns what was found about a statement. An unknown name gets a suggestion.
    """
    registry.open_plugin(name)
    if name in registry.everything():
        return _statement_facts(registry.everything()[name], results(name))
    if name in SOLVERS:
        return solver_facts(name)
    if name in registry.mutants():
        return _mutant_facts(name)
    if name in registry.artefacts():
        return _artefact_facts(name)
    return _problem_or_nothing(name)


def _statement_facts(statement: Statement, results: list[Result]) -> Entry:
    """What is claimed, assumed, found and proved."""
    paper = registry.papers().get(statement.source)
    proof = _witness(statement.id)
    killed = {
        name: kills[statement.id]
        for name, kills in registry.matrix().items()
        if statement.id in kills
    }
    refuted = next((r for r in results if r.verdict.verdict == Ruling.REFUTED), None)
    known = [result for result in results if _ratio(result) is not None]
    best = max(known, key=lambda result: _ratio(result) or 0.0, default=None)
    kept = registry.extremal().get(statement.id)
    return {
        "kind": "statement",
        "id": statement.id,
        "source": str(paper) if paper is not None else statement.source,
        **_taken(statement, "reference claim words"),
        "assumptions": [text for met in statement.assumes if (text := described(met))],
        "unit": statement.unit,
        "solvers": list(statement.solvers),
        **_taken(statement, "status severity why fixed_by charitable survives"),
        "witness": proof,
        "check": None if proof is None else shlex.join(["gammabar", "check", statement.id]),
        **_taken(statement, "note instances powerless at_rest slower"),
        "kills": killed,
        "where": place_of(statement.body),
        "verdicts": [_verdict_facts(result) for result in results],
        "tightest": None if best is None else _verdict_facts(best),
        "nearest": None if best or kept is None else asdict(kept),
        "reproduce": _command(statement, refuted or best or next(iter(results), None)),
    }


def _command(statement: Statement, result: Result | None) -> str:
    if result is not None:
        return reproduce(result)
    paper = registry.opened_from(statement.source)
    brought = [] if paper is None else ["--paper", paper]
    return shlex.join(["gammabar", "verify", *brought, "--statement", statement.id])


def _verdict_facts(result: Result) -> Entry:
    verdict = result.verdict
    statement = registry.everything()[verdict.statement]
    return {
        "verdict": verdict.verdict,
        "problem": result.run.problem,
        "solver": result.run.by,
        "tightness": _ratio(result),
        **_taken(verdict, "worst_t checked informative vacuous_to reason"),
        "says": worth(verdict, statement.at_rest or statement.powerless),
    }


def _ratio(result: Result) -> float | None:
    value = result.verdict.tightness
    held = result.verdict.verdict in (Ruling.HOLDS, Ruling.REFUTED)
    return value if held and value is not None and math.isfinite(value) else None


def solver_facts(name: str) -> Entry:
    """What a solver is, what is claimed of it, and what is made wrong in its mutants."""
    kind = solver(name)
    card = kind.card
    return {
        "kind": "solver",
        "id": name,
        "reference": card.reference,
        "what": re.sub(r" \[\d+\]_", "", (inspect.getdoc(kind) or "").partition("\n")[0]),
        "geometries": list(card.geometries),
        "unit": card.unit_ball,
        "options": {one.name: repr(one.default) for one in fields(kind)},
        "statements": [s.id for s in registry.everything().values() if name in s.solvers],
        "mutants": [m.name for m in registry.mutants().values() if m.solver == name],
        "where": place_of(kind),
        "reproduce": shlex.join(["gammabar", "verify", "--solver", name]),
    }


def _mutant_facts(name: str) -> Entry:
    """What is wrong with a wrong solver, and who notices."""
    mutant = registry.mutants()[name]
    made = getattr(mutant.make, "func", mutant.make)
    return {
        "kind": "mutant",
        "id": name,
        "solver": mutant.solver,
        "what": mutant.wrong,
        "equivalent": mutant.equivalent,
        "killed_by": registry.matrix().get(name, {}),
        "where": place_of(made),
        "reproduce": "gammabar list mutants --matrix FILE",
    }


def _artefact_facts(name: str) -> Entry:
    """What a figure or table shows, what has to be computed for it, and what that takes."""
    one, took = registry.artefacts()[name], registry.measured().get(name, {})
    paper = registry.papers().get(name.partition(".")[0])
    return {
        "kind": "artefact",
        "id": name,
        "reference": one.reference,
        "source": "" if paper is None else str(paper),
        "what": one.title,
        "parts": list(one.parts(False)),
        "data": list(one.data),
        "missing": [data for data in one.data if not is_here(DATASETS[data])],
        "cost": "" if took else one.cost,
        **{name: took.get(name) for name in ("seconds", "cpu", "memory")},
        "shown": [
            f"{_MARKS[s['agrees']]}: {s['claim']} ({s['found']})" for s in took.get("shown", [])
        ],
        "where": place_of(one.draw),
        "reproduce": shlex.join(["gammabar", "reproduce", name]),
    }


def _problem_or_nothing(name: str) -> Entry:
    entries = {entry.name: entry for entry in catalogue() if entry.kind != "file"}
    if name in entries:
        entry = entries[name]
        return {
            "kind": "problem",
            "id": name,
            "what": entry.what,
            "syntax": entry.syntax,
            "options": {option: default for option, default, _ in entry.options},
            "used_by": [
                s.id
                for s in registry.everything().values()
                if name in {text.partition(":")[0] for text in s.problems}
            ],
            "reproduce": f"gammabar oracle {entry.syntax}",
        }
    if name.partition(":")[0] in entries or Path(name).is_file():
        return _problem(name)
    if name in registry.papers():
        raise ProblemError(f"{name} is a source: `gammabar list statements --source {name}`")
    known = [*registry.everything(), *SOLVERS, *registry.mutants(), *registry.artefacts(), *entries]
    hint = did_you_mean(name, known, "see `gammabar list statements`, or solvers, …")
    raise ProblemError(f"nothing is called {name!r} ({hint})")


def _problem(text: str) -> Entry:
    problem = open_problem(text)
    return {
        "kind": "problem",
        "id": text,
        "rows": problem.n,
        "dimension": int(problem.origin().size),
        "radius": float(problem.radius),
        "digest": problem.digest(),
        "used_by": [s.id for s in registry.everything().values() if text in s.problems],
        "reproduce": shlex.join(["gammabar", "oracle", text]),
    }
