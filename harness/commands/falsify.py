"""``gammabar falsify ID``: the search for data on which a statement fails."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.screen.output import print_json, print_table, say

if TYPE_CHECKING:
    from gammabar.harness.falsify.candidate import Candidate
    from gammabar.harness.falsify.hunt import Report, Tell
    from gammabar.harness.run.results import Result


@click.command("falsify")
@click.argument("statement", metavar="ID")
@PAPER_OPTION
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,…]",
    help="Only runs of this solver (repeatable).",
)
@click.option(
    "--solver-file",
    "file",
    metavar="FILE:CLASS[:OPTION=VALUE,…]",
    help="Runs of a solver of your own, as in my.py:MySolver.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to search; making what is found smaller may take half as long again.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, metavar="N", help="Of the search."
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="How many runs at once.  [default: as many as there are cores]",
)
@click.option(
    "--store",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the best so far in this file, and go on from it if it exists.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    statement: str,
    papers: tuple[str, ...],
    solvers: tuple[str, ...],
    file: str | None,
    budget: float,
    seed: int,
    jobs: int | None,
    path: Path | None,
    as_json: bool,
) -> int:
    """Search for data and options on which statement ID fails, or comes closest to failing.

    Families of data in special position, small integers, differential evolution on coordinates and
    Hypothesis compete for the time. What is found is made small: fewest rows, lowest dimension,
    smallest t, simplest numbers. A refutation is a verdict of the court, with proof; that nothing
    is found proves nothing. Exit code 1 if the statement is refuted, 0 if it is not.
    """
    from joblib import cpu_count

    from gammabar.harness.falsify.hunt import Hunt, as_solvers, space_of
    from gammabar.harness.falsify.record import as_document, read, write
    from gammabar.harness.run.registry import find_statements

    refs, _ = open_papers(papers)
    [about] = find_statements([statement])
    chosen = as_solvers(solvers, file)
    start: tuple[Candidate, ...] = ()
    runs = 0
    if path is not None and path.exists():
        kept, runs = read(path, about.id, chosen)
        start = (kept,)
    say(f"searching for {budget:g} s where {about.id} fails", err=True)
    hunt = Hunt(
        about,
        space_of(about, chosen),
        budget=budget,
        seed=seed + runs,  # who goes on looks elsewhere
        jobs=jobs or int(cpu_count()),
        start=start,
        refs=refs,
        tell=_telling(monotonic(), path),
    )
    report = hunt.carry_out()
    if path is not None:
        write(path, report)
    if as_json:
        print_json(as_document(report))
    else:
        _show(report, about.unit, budget)
    return int(report.refuted)


def _telling(start: float, path: Path | None) -> Tell:
    """A line on stderr for every improvement, and the file kept up to date."""
    from gammabar.harness.falsify.record import write

    def tell(report: Report) -> None:
        best = report.best
        if best is None or best.score == float("-inf"):
            return
        ratio = "refuted" if best.refuted else _ratio(best.score)
        problem = best.candidate.problem
        shown = problem if len(problem) <= 60 else problem[:59] + "…"
        seconds, runs = monotonic() - start, report.runs.total()
        say(f"{seconds:5.1f} s  {runs:6,} runs  {ratio}  {best.strategy}: {shown}", err=True)
        if path is not None:
            write(path, report)

    return tell


def _ratio(score: float) -> str:
    return f"{score:.4g} of the bound" if score > -1 else f"slack {-1 - score:.4g}"


def _show(report: Report, unit: bool, budget: float) -> None:
    from gammabar.harness.run.registry import everything
    from gammabar.harness.run.show import explain, reproduce

    best = report.best
    runs = f"{report.runs.total():,} runs"
    if best is None or best.score == float("-inf"):
        say(f"{report.statement}: no run was found of which it speaks ({runs} in {budget:g} s)")
        if best is not None:
            say(f"    for instance: {best.verdict.reason}")
        return
    result = _result(report, unit)
    if report.refuted:
        print(explain(result))  # several lines, each of them safe
        say(f"    found by  {best.strategy}, after {report.found_after} runs")
        statement = everything()[report.statement]
        if statement.severity is not None:
            say(
                f"    known     false as printed ({statement.severity}); true: {statement.fixed_by}"
            )
    else:
        words = everything()[report.statement].words
        say(f"{report.statement}: not refuted in {budget:g} s, {runs}")
        say(f"    claimed   {words}")
        say(f"    nearest   {_ratio(best.score)}, at t = {best.verdict.worst_t}")
        say(f"    on        {best.candidate.problem}")
        say(f"    reproduce {reproduce(result)}")
    rows = [
        (name, f"{report.runs[name]:,}", _near(report.nearest.get(name))) for name in report.runs
    ]
    print_table(("strategy", "runs", "nearest"), rows)


def _near(score: float | None) -> str:
    if score is None or score == float("-inf"):
        return "–"
    return "refuted" if score == float("inf") else _ratio(score)


def _result(report: Report, unit: bool) -> Result:
    from gammabar.harness.court.verdict import Expectation
    from gammabar.harness.run.results import Result

    assert report.best is not None
    run = report.best.candidate.run(unit)
    return Result(report.best.verdict, run, Expectation.EITHER, 0.0)
