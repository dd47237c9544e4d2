"""``gammabar verify``: for now, the oracle against CVXPY and against the independent checker."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from harness.output import print_json, print_table


@click.command("verify")
@click.option("--problem", "problems", multiple=True, metavar="DATA",
              help="Verify these instead of the default plan (repeatable).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(problems: tuple[str, ...], as_json: bool) -> int:
    """Verify the oracle: its certificates, and its γ̄ against CVXPY's.

    Every problem of the plan is solved exactly; its certificate goes through the independent
    checker; and γ̄ is compared with what CVXPY computes, within CVXPY's own tolerance.
    """
    start = perf_counter()
    count = len(problems) or "the default"
    click.echo(
        f"verifying {count} problem{'s' * (count != 1)}", err=True
    )  # at once: imports follow
    from harness.oracle_plan import DEFAULT_PLAN, verify_problem

    plan = problems or DEFAULT_PLAN
    results = []
    with _bar(len(plan), as_json) as advance:
        for name in plan:
            results.append(verify_problem(name))
            advance(name)
    good = sum(result["verdict"] == "holds" for result in results)
    summary = {"holds": good, "refuted": len(results) - good}
    if as_json:
        print_json({"summary": summary, "results": results})
    else:
        _show(results)
        seconds = perf_counter() - start
        click.echo(f"{good} of {len(results)} problems as expected ({seconds:.0f} s)")
    return 0 if good == len(results) else 1


def _show(results: list[dict[str, Any]]) -> None:
    columns = ("problem", "rows", "verdict", "γ̄ (all digits proved)", "CVXPY", "γ̄² differs by",
               "support", "certificate")  # fmt: skip
    print_table(columns, [_cells(result) for result in results])


def _cells(result: dict[str, Any]) -> tuple[str, ...]:
    shown = "separable" if result["separable"] else "not separable"
    if result["verdict"] != "holds":
        shown += " ✗"
    cvxpy = result["gamma_cvxpy"]
    return (
        result["problem"],
        f"{result['n']:>6,}",
        shown,
        result["gamma"],
        f"{cvxpy:.12f}",
        f"{result['difference']:.0e}",
        f"{result['support_size']:>4}",
        result["certificate"],
    )


def _bar(total: int, quiet: bool) -> Any:
    """A progress bar on stderr, where there is a terminal to draw it on."""
    import sys
    from contextlib import contextmanager

    from rich.console import Console
    from rich.progress import Progress

    @contextmanager
    def shown() -> Any:
        with Progress(console=Console(stderr=True), transient=True,
                      disable=quiet or not sys.stderr.isatty()) as progress:  # fmt: skip
            task = progress.add_task("verifying", total=total)
            yield lambda name: progress.update(task, advance=1, description=name)

    return shown()
