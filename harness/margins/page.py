"""The table of all pairs as a page in Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gammabar.harness.margins.work import summary


def page(results: list[dict[str, Any]], picture: Path | None, machine: str) -> str:
    """A page: what was asked, the picture, a table of all pairs, and how long it took."""
    data = list(dict.fromkeys(result["data"] for result in results))
    facts = summary(results)
    unchecked = facts["pairs"] - facts["accepted"] - facts["rejected"]
    rest = f", {unchecked} not handed to it" if unchecked else ""
    lines = [
        "# The margin of every pair of classes",
        "",
        f"Written by `gammabar margins {' '.join(data)}`. Hyperplanes pass through the origin,",
        "and γ̄ is that of the rows divided by the largest row norm. Every digit is proved: γ̄² is",
        "a rational number, and where there is no margin there are exact weights q with Aᵀq = 0.",
        "",
        f"{facts['pairs']} pairs: {facts['separable']} separable, {facts['not_separable']} not, "
        f"{facts['unknown']} unknown; {facts['accepted']} certificates accepted by the independent",
        f"checker, {facts['rejected']} rejected{rest}.",
        f"The oracle took {facts['computing']:.0f} s for all together and "
        f"{facts['computing_longest']:.1f} s for the longest (time of the",
        f"processor, without loading and checking; {machine}).",
        "",
    ]
    if picture is not None:
        lines += [f"![The margins of all pairs as matrices]({picture.name})", ""]
    for name in data:
        lines += [f"## {name}", "", *table(results, name), ""]
    return "\n".join(lines)


def table(results: list[dict[str, Any]], data: str) -> list[str]:
    """The rows of a table in Markdown."""
    rows = ["| classes | γ̄ | rows | support | computing |", "|---|---|---|---|---|"]
    for result in results:
        if result["data"] == data:
            cells = [" / ".join(result["names"]), words(result), f"{result['n']:,}"]
            cells += [str(result["support_size"]), f"{result['seconds_computing']:.2f} s"]
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def words(result: dict[str, Any]) -> str:
    """What is known of a margin, in a few words."""
    if result["separable"] is False:
        return "not separable"
    if result["exact"]:
        return f"{result['gamma']}…"
    known = "" if result["separable"] else "not known to be separable, "
    return f"{known}in [{result['gamma_lo']!r}, {result['gamma_hi']!r}]"
