"""``gammabar oracle DATA… --pairs``: the exact margin of every pair of classes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from gammabar.harness.cli.options import JSON, SECONDS, TakesData, argument, run
from gammabar.harness.cli.oracle import pair_options
from gammabar.harness.screen import bar, print_json, print_table, say


@click.command("margins", cls=TakesData)
@argument("data", nargs=-1, required=True, names="data")
@run("--time-limit SECONDS", "For each pair: then the best bounds that are proved.", type=SECONDS)
@pair_options
@JSON
def margins_command(data: tuple[str, ...], **options: Any) -> int:
    """The exact margin of every pair of classes of DATA, or the proof that there is none.

    DATA is a data set with several classes (mnist, fashion, mnist-sample, digits, iris, …) or a
    file. A run that is killed goes on where it was. Exit code 1 if a certificate is rejected.
    """
    return all_margins(data, **options)


def all_margins(
    data: tuple[str, ...],
    *,
    certificates: Path,
    jobs: int | None,
    check: bool,
    time_limit: float | None,
    picture: Path | None,
    page: Path | None,
    as_json: bool,
) -> int:
    """Compute and print the margin of every pair; the exit code."""
    from gammabar.harness import margins
    from gammabar.harness.report.tables import plain

    if picture is not None:
        margins.check(picture)
    pairs = margins.all_pairs(data)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with bar(len(pairs), "pairs", quiet=as_json) as tell:
        results = margins.run(pairs, certificates, jobs or cores, check, time_limit, tell)
    if picture is not None:
        margins.draw(results, picture)
    if page is not None:
        from gammabar.problems.output import write_whole

        text = margins.page(results, picture, f"{jobs or cores} processes", plain)
        write_whole(page, text)
    facts = margins.summary(results)
    if as_json:
        shown = [{k: v for k, v in result.items() if k != "files"} for result in results]
        print_json({"data": list(data), "summary": facts, "pairs": shown}, "margins")
    else:
        _table(results, margins.words)
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
