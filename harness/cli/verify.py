"""``gammabar verify``: what the sources claim, against what solvers do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.cli.options import (
    DROP,
    KEPT,
    LABEL,
    LABELS,
    PAPER_OPTION,
    SECONDS,
    WRITTEN,
    TakesData,
)
from gammabar.harness.cli.verify_request import plan_of, requests_of
from gammabar.harness.screen import bar, print_json, print_lines, say

if TYPE_CHECKING:
    from gammabar.harness.run.engine import Tell
    from gammabar.harness.run.results import Result
    from gammabar.harness.run.store import Store

#: The largest integer that a store takes.
LARGEST = 2**63 - 1


@click.command("verify", cls=TakesData)
@click.option(
    "--statement",
    "statements",
    multiple=True,
    metavar="ID",
    help="Only this statement (repeatable).",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Only statements of this source: a paper's key, as `gammabar list papers` shows them.",
)
@click.option(
    "--problem",
    "problems",
    multiple=True,
    metavar="DATA",
    help="On these problems instead of those of the plan (repeatable).",
)
@click.option("--kernel", metavar="KERNEL", help="For --problem: rbf:gamma=0.1, poly:degree=2, …")
@click.option("--normalised", is_flag=True, help="For --problem: divide kernel rows by √K(x,x).")
@click.option("--multiclass", is_flag=True, help="For --problem: all classes.")
@LABEL
@LABELS
@DROP
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,…]",
    help="Only this solver (repeatable).",
)
@click.option(
    "--solver-file",
    "files",
    multiple=True,
    metavar="FILE:NAME[:OPTION=VALUE,…]",
    help="A solver of your own, as in my.py:MySolver: a class with iterates, or a function that"
    " yields or records w_0, w_1, … (repeatable).",
)
@click.option(
    "--trajectory",
    "trajectories",
    multiple=True,
    metavar="FILE",
    help="Iterates that were computed elsewhere, on the one --problem: a .npy, .csv or .parquet"
    " file whose row t is w_t (repeatable).",
)
@PAPER_OPTION
@click.option(
    "--iterations",
    type=click.IntRange(1, LARGEST),
    metavar="T",
    help="Hear t = 0, …, T instead of what the plan says.",
)
@click.option("--seed", type=click.IntRange(0, LARGEST), metavar="N", help="Of all random numbers.")
@click.option(
    "--random", type=click.IntRange(1), metavar="N", help="Instead of the plan, N random runs."
)
@click.option("--edges", is_flag=True, help="For --random: problems in special position.")
@click.option(
    "--strict",
    is_flag=True,
    help="A statement that holds, but says nothing (a solver that stands still would have passed"
    " as well), is a failure.",
)
@click.option(
    "--time-limit",
    "limit",
    type=SECONDS,
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="For each run of a solver.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="How many runs at once.  [default: as many as there are cores]",
)
@click.option("--dask", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler.")
@click.option(
    "--store",
    "path",
    type=KEPT,
    metavar="FILE",
    help="Keep results in this SQLite file.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Do not run again what the store has, unless something has changed: the data, the"
    " solver's file and the Python files beside it, papers, gammabar, its libraries.",
)
@click.option(
    "--depends",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="For --store: a further file or folder that your solver reads; if it has changed,"
    " --resume runs again (repeatable).",
)
@click.option(
    "--junit",
    type=WRITTEN,
    metavar="FILE",
    help="Write the results as JUnit XML.",
)
@click.option(
    "--report",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a page (index.html), Markdown and a badge there; without --store, results.db too.",
)
@click.option("--all", "full", is_flag=True, help="A line per statement, and all in full.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def verify_command(
    path: Path | None,
    resume: bool,
    depends: tuple[Path, ...],
    jobs: int | None,
    dask: str | None,
    junit: Path | None,
    strict: bool,
    folder: Path | None,
    full: bool,
    as_json: bool,
    **wishes: Any,
) -> int:
    """Verify what the sources claim, at every iterate of every run of the plan.

    Without options: all statements, on the embedded problems. A verdict is "holds", "refuted",
    "undecided" or "inapplicable"; the exit code is 0 if each is the one that is expected.
    """
    start = perf_counter()
    for option in ("--resume" * resume, "--depends" * bool(depends)):
        if option and path is None:
            raise click.UsageError(f"{option} needs --store FILE")
    if dask is not None and wishes["trajectories"]:
        raise click.UsageError("--trajectory is read on this machine, so --dask cannot judge it")
    chosen = any(value for name, value in wishes.items() if name != "limit")
    say(f"verifying {'what was chosen' if chosen else 'the default plan'}", err=True)
    from gammabar.harness.run.engine import run
    from gammabar.harness.run.provenance import contents, origin
    from gammabar.harness.run.results import strictly, summarise, telling
    from gammabar.harness.run.store import Store

    if junit is not None:
        from gammabar.problems.output import check_writable

        check_writable(junit)  # better to know now
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        path = path or folder / "results.db"
    with ExitStack() as stack:
        store = stack.enter_context(Store(path)) if path is not None else None
        requests = [replace(one, depends=contents(depends)) for one in requests_of(**wishes)]
        request, tasks = requests[0], plan_of(requests)
        with _bar(len(tasks)) as tell, _interruptible(store, len(tasks)):
            if store is not None:
                store.sign(origin())
            results = run(
                tasks, jobs=jobs or _cores(), dask=dask, store=store, resume=resume, tell=tell
            )
        results = telling(results, asked=request.names, each_problem=bool(request.problems))
        if strict:
            results = strictly(results, _excused)
        # The answer comes first: what is written besides may find no room.
        summary = summarise(results)
        if as_json:
            every = [result.as_dict() for result in results]
            print_json({"summary": summary, "results": every}, "verify")
        else:
            _show(results, summary, perf_counter() - start, full)
        if folder is not None and store is not None:
            _report(results, store, folder)
    if junit is not None:
        from gammabar.harness.run.results import write_junit
        from gammabar.harness.show import explain

        write_junit(junit, results, explain)
    own = wishes["files"] or wishes["trajectories"]
    if (wishes["statements"] or own) and summary["inapplicable"] == summary["results"]:
        reasons = dict.fromkeys(result.verdict.reason for result in results)
        raise click.ClickException(f"nothing was checked: {'; '.join(reasons)}")
    return int(summary["unexpected"] > 0)


def _excused(result: Result) -> bool:
    """Whether a statement says why it says nothing; to a solver of one's own that is no excuse."""
    from gammabar.harness.registry import obeyed_at_rest

    foreign = result.run.solver is not None and result.run.solver.foreign
    return not foreign and bool(obeyed_at_rest(result.verdict.statement))


def _report(results: list[Result], store: Store, folder: Path) -> None:
    """The page on the results of this run."""
    from gammabar.harness.report import write_report
    from gammabar.harness.report.model import gather

    written = write_report(gather(results, store.origins()[-1:], store.data()), folder)
    say(f"report: {written}", err=True)


def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def _interruptible(store: Store | None, total: int) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if store is not None:
            say(
                f"gammabar: {store.written} of {total} runs are now in {store.path};"
                " go on with --resume",
                err=True,
            )
        raise


def _show(results: list[Result], summary: dict[str, int], seconds: float, full: bool) -> None:
    from gammabar.harness.show import attention, closing_line, refuted_by_severity, show

    show(results, full)
    for text in attention(results, full):
        print_lines(text)
        say()
    say(closing_line(summary, seconds, refuted_by_severity(results)))


@contextmanager
def _bar(total: int) -> Iterator[Tell]:
    """The verdicts so far on stderr: a bar on a terminal, a line now and then in a pipe."""
    from gammabar.harness.verify.verdict import Expectation

    counts: Counter[str] = Counter()

    def count(results: list[Result]) -> str:
        counts.update(result.verdict.verdict for result in results)
        # That a false statement is refuted may be left to another run.
        wrong = (r for r in results if not r.as_expected and r.expected != Expectation.REFUTED)
        counts.update("not expected" for _ in wrong)
        return ", ".join(f"{count} {name}" for name, count in counts.items())

    with bar(total, "runs") as advance:
        yield lambda results: advance(count(results))
