"""The fenced blocks of the pages, and how each of them is tested.

The words after the language of a fence say how: ```` ```python file=my.py ````.

``file=NAME``     written to that file, for the blocks below (tests are run)
``run``           Python that is run
``needs=FILE``    a ``console`` block that needs a file beside the page
``copy=FILE``     the text of a file beside the page
``layout``        folders, each of which exists
``usage=FILE``    the usage message of a program
``parsed``        text in its language
``clone``         the first commands in a fresh clone, run by a slow test
``repository``    commands in a repository of a user's, run by test_workflows.py
``small``         commands that are run in a fresh clone, made small, by test_commands.py
``cluster``       a command that is run with a cluster, by test_commands.py
``install``, ``drawing``    not run

A ``console`` block without such a word is a command with its output. ``bibtex`` is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (".", "docs", "oracle", "papers", "papers/gammabar")
    for path in (ROOT / folder).glob("*.md")
)
#: Commands that a page may run; an indented block is a formula and has none.
PROGRAMS = ("gammabar", "pytest", "python", "awk", "make", "asv", "pip", "git", "cd")
WAYS = (
    *("file", "run", "needs", "copy", "layout", "usage", "parsed"),
    *("clone", "repository", "small", "cluster", "install", "drawing"),
)


MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, its language, how it is tested, and its text."""

    page: str
    line: int
    kind: str
    ways: dict[str, str]
    text: str

    @property
    def way(self) -> str:
        """The first word after the language; "console" for a command with its output."""
        return next(iter(self.ways), "console" if self.kind == "console" else "")

    @property
    def word(self) -> str:
        """What follows that word."""
        return self.ways.get(self.way, "")

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def parsed(page: str) -> list[Token]:
    """A page as a CommonMark parser with tables sees it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return MARKDOWN.parse(text)


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, from top to bottom."""
    for token in parsed(page):
        if token.type == "fence" and token.map:
            kind, *words = token.info.split() or [""]
            ways = {name: value for name, _, value in (word.partition("=") for word in words)}
            yield Block(page, token.map[0] + 1, kind, ways, token.content)


def indented(page: str) -> list[str]:
    """Lines that are code by their indentation."""
    code = [token.content for token in parsed(page) if token.type == "code_block"]
    return [line.strip() for text in code for line in text.splitlines() if line.strip()]


@cache
def script(path: str) -> ModuleType:
    """A program of the repository as a module."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


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
