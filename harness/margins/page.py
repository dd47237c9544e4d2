"""The table of all pairs as a page in Markdown."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gammabar.harness.margins.work import summary

#: How a text is written in Markdown.
Plain = Callable[[str], str]


def page(results: list[dict[str, Any]], picture: Path | None, machine: str, plain: Plain) -> str:
    """A page: what was asked, the picture, a table of all pairs, and how long it took.

    Classes and names of files may hold anything: nothing of them is written but through `plain`.
    """
    data = list(dict.fromkeys(result["data"] for result in results))
    facts = summary(results)
    unchecked = facts["pairs"] - facts["accepted"] - facts["rejected"]
    rest = f", {unchecked} not handed to it" if unchecked else ""
    asked = _code(f"gammabar margins {shlex.join(data)}")
    lines = [
        "# The margin of every pair of classes",
        "",
        f"Written by {asked}. Hyperplanes pass through the origin,",
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
        lines += [
            f"![The margins of all pairs as matrices]({quote(os.fsencode(picture.name))})",
            "",
        ]
    for name in data:
        lines += [f"## {plain(_utf8(name))}", "", *table(results, name, plain), ""]
    return "\n".join(lines)


def _utf8(text: str) -> str:
    """A name of a file as UTF-8 has it: other bytes are escaped."""
    return text.encode(errors="backslashreplace").decode()


def _code(text: str) -> str:
    """A text as code on one line, between more backticks than it has in a row."""
    text = " ".join(_utf8(text).split())
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def table(results: list[dict[str, Any]], data: str, plain: Plain) -> list[str]:
    """The rows of a table in Markdown."""
    rows = ["| classes | γ̄ | rows | support | computing |", "|---|---|---|---|---|"]
    for result in results:
        if result["data"] == data:
            cells = [plain(" / ".join(result["names"])), words(result), f"{result['n']:,}"]
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
