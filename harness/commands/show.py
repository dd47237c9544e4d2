"""``gammabar show ID``: all about a statement, a solver, a problem, a mutant or an artefact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.screen.output import print_json, print_lines, print_table, say

if TYPE_CHECKING:
    from gammabar.harness.run.results import Result

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
    "status": "status",
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


@click.command("show")
@click.argument("name", metavar="ID")
@PAPER_OPTION
@click.option(
    "--store",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Verdicts from this file instead of a run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(name: str, papers: tuple[str, ...], path: Path | None, as_json: bool) -> None:
    """Show everything about ID: a statement, a solver, a problem, a mutant or an artefact.

    A statement is judged on its part of the plan, unless the verdicts of a store are to be shown.
    """
    open_papers(papers)
    from gammabar.harness.report.about import about

    facts = about(name, lambda identifier: _results(identifier, path))
    if as_json:
        print_json(facts, "show")
        return
    say(f"{facts['id']} ({facts['kind']})")
    for field, label in FIELDS.items():
        text = _text(field, facts)
        if text:
            print_lines(f"    {label:<10} {text}")
    if facts.get("where"):
        print_lines(f"    {'code':<10} {facts['where']}")
    if facts.get("verdicts"):
        _verdicts(facts["verdicts"])


def _results(identifier: str, path: Path | None) -> list[Result]:
    """The verdicts on a statement."""
    if path is not None:
        from gammabar.harness.run.store import Store

        with Store(path, writing=False) as store:
            return [r for r in store.results() if r.verdict.statement == identifier]
    from gammabar.harness.report.about import plan_of
    from gammabar.harness.run.engine import run

    tasks = plan_of(identifier)
    say(f"judging {identifier} in {len(tasks)} runs", err=True)
    return run(tasks)


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
        from gammabar.harness.library.cost import cost

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


def _verdicts(verdicts: list[dict[str, Any]]) -> None:
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
