"""``gammabar oracle DATA… --pairs``: the exact margin of every pair of classes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gammabar.harness.screen import bar, print_json, print_table, say


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
    """Print the margin of every pair of classes, or the proof that there is none; the exit code.

    A run that is killed goes on where it was. The exit code is 1 if a certificate is rejected.
    """
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
