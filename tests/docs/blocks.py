"""The code blocks of the pages, and in which way each of them is put to the test.

A comment before a block says what becomes of it; without one, only ``console`` blocks are run:

``file: NAME``     it is written to that file, for the blocks below (tests are run)
``run``            Python that is run
``data: NAME``     a ``console`` block that needs a data set
``walk: NAME``     calls, compared by tests/test_walks.py
``copy: FILE``     the text of a file beside the page
``layout``         folders, each of which is there
``usage: FILE``    what a program says of its arguments
``parsed``         it must be of its language
``clone``          the first commands in a fresh clone, run by a slow test
``repository``     commands in a repository of a user's, run by test_workflows.py
``small``          commands that are run in a fresh clone, made small, by test_commands.py
``cluster``        a command that is run with a cluster, by test_commands.py
``drawing``        nothing that could run
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for room in (ROOT, ROOT / "docs", ROOT / "oracle")
    for path in room.glob("*.md")
)
#: Commands that a page may run, or tell to run; an indented block is a formula and has none.
PROGRAMS = ("gammabar", "pytest", "python", "awk", "make", "asv", "pip", "git", "cd")
#: What becomes of a block is said in one of these ways.
WAYS = (
    *("file", "run", "data", "walk", "copy", "layout"),
    *("usage", "parsed", "clone", "repository", "small", "cluster", "drawing"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, its language, the way and the word after it, and its text."""

    page: str
    line: int
    kind: str
    way: str
    word: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, from top to bottom."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    begun: int | None = None
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("```"):
            continue
        if begun is None:
            begun = number
            continue
        kind = lines[begun].strip().removeprefix("```")
        said = re.fullmatch(r"<!-- (\w+)(?:: (.+?))? -->", lines[begun - 1]) if begun else None
        way, word = (said[1], said[2] or "") if said else ("", "")
        text = "".join(f"{one}\n" for one in lines[begun + 1 : number])
        if not way and kind == "console":
            way = "console"
        yield Block(page, begun + 1, kind, way, word, text)
        begun = None
    assert begun is None, f"{page}: the block of line {begun} has no end"


def indented(page: str) -> Iterator[tuple[int, str]]:
    """Lines that are code by their indentation: number and text."""
    fenced, above, inside = False, "", False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        # Below a paragraph or an item of a list it is a part of that.
        inside = line.startswith("    ") and (inside or not above.strip())
        if inside and not fenced and line.strip():
            yield number, line.strip()
        above = line


def agree(expected: str, printed: str) -> None:
    """Every line of the page is printed, in this order and with the same words."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    place = 0
    for line in expected.splitlines():
        words = " ".join(line.split())
        pattern = re.escape(words).replace("…", ".*")
        while place < len(lines) and not re.fullmatch(pattern, lines[place]):
            place += 1
        assert place < len(lines), f"not printed: {line}\n\n{printed}"
