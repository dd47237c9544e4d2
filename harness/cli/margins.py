"""``gammabar margins DATA…``: the exact margin of every pair of classes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from gammabar.harness.cli.options import SECONDS, WRITTEN, TakesData
from gammabar.harness.screen import bar, print_json, print_table, say


@click.command("margins", cls=TakesData)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("margins"),
    show_default=True,
    metavar="DIR",
    help="Certificates and results, one for each pair; what is there is not computed again.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1000),
    default=None,
    metavar="N",
    help="Processes.  [default: one per core]",
)
@click.option("--check/--no-check", default=True, help="Check each certificate.  [default: check]")
@click.option(
    "--time-limit",
    type=SECONDS,
    metavar="SECONDS",
    help="For each pair: then the best bounds that are proved.",
)
@click.option("--picture", type=WRITTEN, metavar="FILE", help="A matrix of all pairs: .svg, .png.")
@click.option("--page", "written", type=WRITTEN, metavar="FILE", help="The table, in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def margins_command(
    data: tuple[str, ...],
    certificates: Path,
    jobs: int | None,
    check: bool,
    time_limit: float | None,
    picture: Path | None,
    written: Path | None,
    as_json: bool,
) -> int:
    """The exact margin of every pair of classes of DATA, or the proof that there is none.

    DATA is a data set with several classes (mnist, fashion, mnist-sample, digits, iris, …) or a
    file. A run that is killed goes on where it was. Exit code 1 if a certificate is rejected.
    """
    from gammabar.harness.margins import (
        all_pairs,
        check as check_picture,
        draw,
        page,
        run,
        summary,
        words,
    )
    from gammabar.harness.report.tables import plain

    if picture is not None:
        check_picture(picture)
    pairs = all_pairs(data)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with bar(len(pairs), "pairs", quiet=as_json) as tell:
        results = run(pairs, certificates, jobs or cores, check, time_limit, tell)
    if picture is not None:
        draw(results, picture)
    if written is not None:
        from gammabar.problems.output import write_whole

        text = page(results, picture, f"{jobs or cores} processes", plain)
        write_whole(written, text)
    facts = summary(results)
    if as_json:
        shown = [{k: v for k, v in result.items() if k != "files"} for result in results]
        print_json({"data": list(data), "summary": facts, "pairs": shown}, "margins")
    else:
        _table(results, words)
        say(_sentence(facts, certificates))
    return 1 if facts["rejected"] else 0


def _table(results: list[dict[str, Any]], words: Any) -> None:
    rows = [
        [
            f"{result['data']}:{','.join(result['classes'])}",
            words(result),
            str(result["support_size"]),
            f"{result['seconds']:.2f} s",
            {True: "accepted", False: "REJECTED", None: ""}[result["accepted"]],
        ]
        for result in results
    ]
    print_table(["pair", "γ̄ (rows of norm at most 1)", "support", "time", "certificate"], rows)


def _sentence(facts: dict[str, Any], folder: Path) -> str:
    known = f", {facts['unknown']} unknown" if facts["unknown"] else ""
    bad = f", {facts['rejected']} REJECTED" if facts["rejected"] else ""
    return (
        f"{facts['pairs']} pairs: {facts['separable']} separable, {facts['not_separable']} not"
        f"{known}; {facts['accepted']} certificates accepted{bad} (in {folder}); the longest took "
        f"{facts['seconds_longest']:.1f} s, {facts['computing_longest']:.1f} s of them computing"
    )
