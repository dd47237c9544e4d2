"""``gammabar falsify ID``: the search for data on which a statement fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import click
from joblib import cpu_count

from gammabar.harness import registry
from gammabar.harness.cli.command import (
    JOBS,
    JSON,
    KEPT,
    PAPER,
    SEED,
    SOLVER,
    SOURCE,
    WRITTEN,
    argument,
    command,
    open_papers,
    run,
    what,
    write,
)
from gammabar.harness.falsify.parameters import solvers_of
from gammabar.harness.falsify.reports import Batch, as_document, read, starts, write as keep
from gammabar.harness.falsify.search import Report, Search, Tell, as_solvers, unexpected
from gammabar.harness.falsify.witness import confirming, write as write_witness
from gammabar.harness.run.tasks import Result, SolverRef
from gammabar.harness.screen import counted, print_json, print_lines, print_table, say
from gammabar.harness.show import explain, reproduce
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Expectation
from gammabar.problems import ProblemError


@command(
    "falsify",
    argument("statements", metavar="[ID]...", nargs=-1, names="statements"),
    what("--all", "Every statement, one after the other."),
    SOURCE,
    what("--status [holds|refuted]", "Only statements that are expected to be this."),
    PAPER,
    SOLVER,
    what("--solver-file FILE:NAME", "Only your own solver, as in my.py:mine."),
    run(
        "--budget SECONDS",
        "Time for all statements together; shrinking what was found may take half as long again.",
        default=60,
    ),
    SEED,
    JOBS,
    write(
        "--store FILE",
        "Keep the best result in this file, and continue from it. With several statements, only"
        " those are searched again whose statement, solver or code has changed.",
        type=KEPT,
    ),
    write("--out WITNESS", "Write a refutation as a witness, for `gammabar check`.", type=WRITTEN),
    JSON,
)
def falsify_command(o: Any) -> int:
    """Search for data and options on which statement ID fails, or comes closest to failing.

    Hypothesis generates small data sets, problems of every family and inputs of the statement,
    moves towards a violation, and shrinks what it finds. A refutation is proved; a search without
    one proves nothing. Exit code 1: a statement was refuted that is expected to hold (your own
    conjectures are). Exit code 2: no run was decided.
    """
    refs, _ = open_papers(o.paper)
    chosen = as_solvers(o.solver, o.solver_file)
    about = _chosen(o)
    jobs = o.jobs or int(cpu_count())
    more: dict[str, Any] = {"budget": o.budget, "seed": o.seed or 0, "jobs": jobs, "refs": refs}
    if o.all or o.source or len(about) > 1:
        if o.out is not None:
            raise click.UsageError("--out is for one statement")
        return _many(Batch(about, path=o.store, solvers=chosen, **more), o.json)
    return _one(about[0], chosen, o.store, o.out, o.json, **more)


def _chosen(o: Any) -> list[Statement]:
    if o.all and (o.statements or o.source):
        raise click.UsageError("--all names every statement already: leave out ID and --source")
    found = registry.find_statements(o.statements) + registry.find_sources(o.source)
    if o.all:
        found = list(registry.everything().values())
    elif not found:
        raise click.UsageError("name a statement, as in `gammabar falsify gb.sharp`, or --all")
    kept = [s for s in dict.fromkeys(found) if o.status in (None, s.status)]
    if not kept:
        raise click.UsageError(f"none of these statements has the status {o.status}")
    return kept


def _one(
    about: Statement,
    chosen: tuple[SolverRef, ...],
    path: Path | None,
    out: Path | None,
    as_json: bool,
    *,
    budget: float,
    seed: int,
    **more: Any,
) -> int:
    solvers = solvers_of(about, chosen)
    if path is not None and path.exists():
        kept, runs = read(path, about.id, chosen, about.inputs)
        more["start"] = starts(kept, solvers)
        seed += runs  # a search that goes on looks elsewhere
    confirm = None if chosen else confirming(about, out is not None)
    tell = _telling(monotonic(), path)
    search = Search(about, solvers, budget=budget, seed=seed, tell=tell, confirm=confirm, **more)
    say(f"searching for {budget:g} s where {about.id} fails", err=True)
    report = search.carry_out()
    if path is not None:
        keep(path, as_document(report))
    if as_json:
        print_json(as_document(report))
    else:
        _show(report, about, budget)
    if out is not None:
        say(_witness(out, about, report), err=True)
    return 2 if report.nothing_ran else int(unexpected(about, report.refuted))


def _witness(path: Path, statement: Statement, report: Report) -> str:
    """Write a refutation as a witness; what there is to say of it."""
    if report.best is None or not report.refuted:
        return f"no witness: {statement.id} was not refuted"
    try:
        return f"{path}: {write_witness(path, statement, report.best)}"
    except ProblemError as reason:
        return f"{path}: {reason}"


def _many(batch: Batch, as_json: bool) -> int:
    count = len(batch.statements)
    say(f"{counted(count, 'statement')}, {batch.share:.3g} s each", err=True)

    def begin(place: int, statement: Statement) -> Tell:
        def tell(report: Report) -> None:
            best = report.best
            found = "–" if best is None else _near(best.score)
            where = "" if best is None else f" on {_short(best.candidate.problem)}"
            say(f"{place + 1:4}/{count}  {statement.id}: {found}{where}", err=True)

        return tell

    batch.carry_out(begin)
    document = batch.as_document()
    if as_json:
        print_json(document)
    else:
        rows = [(name, *_summary(kept)) for name, kept in document["reports"].items()]
        print_table(("statement", "runs", "nearest", "strategy", "on"), rows)
        for name in batch.unexpected:
            say(f"{name} is refuted, though the registry says that it holds")
        for name in batch.failed:
            say(f"{name}: runs failed, and none was decided, so nothing is known", err=True)
    return 1 if batch.unexpected else 2 * bool(batch.failed)


def _summary(kept: dict[str, Any]) -> tuple[str, str, str, str]:
    runs, best = str(sum(kept["runs"].values())), kept["best"]
    if best is None:
        return runs, "–", "", ""
    tightness = best["verdict"]["tightness"]
    near = "refuted" if kept["refuted"] else "–" if tightness is None else f"{tightness:.4g}"
    return runs, near, best["strategy"], _short(best["problem"])


def _short(problem: str) -> str:
    return problem if len(problem) <= 60 else problem[:59] + "…"


def _near(score: float | None) -> str:
    """How near a run came to failing."""
    if score is None or score == float("-inf"):
        return "–"
    if score == float("inf"):
        return "refuted"
    return f"{score:.4g} of the bound" if score > -1 else f"slack {-1 - score:.4g}"


def _telling(start: float, path: Path | None) -> Tell:
    """A line on stderr for every improvement, and the file kept up to date."""

    def tell(report: Report) -> None:
        best = report.best
        if best is None or best.score == float("-inf"):
            return
        found = f"{_near(best.score)}  {best.strategy}: {_short(best.candidate.problem)}"
        say(f"{monotonic() - start:5.1f} s  {report.runs.total():6,} runs  {found}", err=True)
        if path is not None:
            keep(path, as_document(report))

    return tell


def _show(report: Report, about: Statement, budget: float) -> None:
    best = report.best
    runs = counted(report.runs.total(), "run")
    if report.failed:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.failed.items())
        say(f"{about.id}: runs failed ({kinds}): {report.trouble}", err=True)
    if report.nothing_ran:
        return
    if best is None or best.score == float("-inf"):
        say(f"{about.id}: no run was found of which it speaks ({runs} in {budget:g} s)")
        if best is not None:
            say(f"    for instance: {best.verdict.reason}")
        return
    result = Result(best.verdict, replace(best.candidate, unit=about.unit), Expectation.EITHER, 0.0)
    if report.refuted:
        print_lines(explain(result))
        say(f"    found by  {best.strategy}, after {report.found_after} runs")
        if about.severity is not None:
            say(f"    known     false as printed ({about.severity}); true: {about.fixed_by}")
    else:
        say(f"{about.id}: not refuted in {budget:g} s, {runs}")
        say(f"    claimed   {about.words}")
        say(f"    nearest   {_near(best.score)}, at t = {best.verdict.worst_t}")
        say(f"    on        {best.candidate.problem}")
        say(f"    reproduce {reproduce(result)}")
    found = ((name, f"{n:,}", _near(report.nearest.get(name))) for name, n in report.runs.items())
    print_table(("strategy", "runs", "nearest"), list(found))
