"""Tables for people, JSON for programs, progress on stderr.

What is shown may quote labels, names of files, or what a solver has to say, which hold whatever
somebody put there. A terminal obeys some characters instead of showing them, and takes a new line
for one of ours: so nothing is printed but through `visible`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

from gammabar.problems.finite import finite

#: Of the JSON documents: it changes if a field is renamed or removed, or means something else.
VERSION = 1
#: Columns of a table in a pipe.
WIDE = 160
#: A number that the environment may say; Python's `isdigit` and `int` take other texts, and not
#: the same ones.
_COUNT = re.compile(r"[0-9]{1,9}").fullmatch
#: Seconds before the first line about progress in a pipe, and between two of them.
FIRST, PAUSE = 2.0, 5.0


class Stage(Protocol):
    """Told what is going on now."""

    def __call__(self, text: str) -> None: ...


def visible(text: str) -> str:
    """The text on one line, with every character escaped that a terminal would not just show."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return typeable(text)  # now, so that tables know how long it is


def typeable(text: str, stream: Any = None) -> str:
    """A text whose every character the terminal has, lines and all."""
    stream = sys.stdout if stream is None else stream
    if text.isascii() or _is_unicode(stream):
        return text
    from gammabar.harness.screen.plain import typed

    return typed(text, stream.encoding)


def say(text: str = "", err: bool = False) -> None:
    """A line for people, on stdout or stderr; wrapped at words where the width is known."""
    stream = sys.stderr if err else sys.stdout
    print(_wrapped(visible(text), stream), file=stream)


def print_lines(text: str) -> None:
    """Several lines for people, each of them visible; what is too long goes on below its words."""
    for line in text.split("\n"):
        print(_wrapped(visible(line), sys.stdout))


def _wrapped(line: str, stream: Any) -> str:
    width = _width(stream)
    if width is None or len(line) <= width:
        return line
    # A line that begins with a name and a gap has its text in a column, which goes on below.
    label = re.match(r"( +\S+(?: \S+){0,2} {2,}(?=\S)| +\S+ (?=\S))?", line)
    indent = len(label.group()) if label is not None and len(label.group()) <= width // 3 else 0
    return textwrap.fill(
        line,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def _width(stream: Any) -> int | None:
    """Columns of a terminal, or of what `COLUMNS` says; None where lines may be of any length."""
    said = os.environ.get("COLUMNS", "")
    wished = stream is sys.stdout or stream.isatty()  # a sentence in a log stays on one line
    if wished and _COUNT(said) and int(said) > 0:
        return max(20, int(said))
    return shutil.get_terminal_size().columns if stream.isatty() else None


def complain(sentence: str) -> None:
    """A line on stderr about something that is wrong."""
    say(f"gammabar: {sentence}", err=True)


def any_terminal() -> None:
    """Let stdout and stderr take every text: what their encoding lacks is replaced.

    And take no size for said that is no number: rich would end in an error.
    """
    for name in ("COLUMNS", "LINES"):
        if not _COUNT(os.environ.get(name, "0")):
            del os.environ[name]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if _is_unicode(stream):
                # Half a surrogate pair in JSON is escaped in just this way.
                stream.reconfigure(errors="backslashreplace")
            else:
                from gammabar.harness.screen.plain import SPELT

                stream.reconfigure(errors=SPELT)


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf").lower().startswith("utf")


def print_json(document: Any, kind: str = "") -> None:
    """One JSON document on stdout and nothing else; what is infinite or no number is null.

    Parameters
    ----------
    document : dict or list
    kind : str
        What it is, for a dictionary: its first fields are then ``format`` and ``version``, see
        ``docs/json.md``.
    """
    if kind:
        document = {"format": f"gammabar-{kind}", "version": VERSION} | document
    ascii_only = not _is_unicode(sys.stdout)
    text = json.dumps(finite(document), indent=2, ensure_ascii=ascii_only, allow_nan=False)
    lines = (line if line.isprintable() else _escaped(line) for line in text.split("\n"))
    sys.stdout.write("\n".join(lines) + "\n")


def print_document(text: str) -> None:
    """Markdown or SVG on stdout: what its encoding lacks is written as in HTML, &#947;."""
    if not _is_unicode(sys.stdout):
        text = text.encode(sys.stdout.encoding, "xmlcharrefreplace").decode(sys.stdout.encoding)
    sys.stdout.write(text)


def _escaped(text: str) -> str:
    """JSON whose strings have no characters that a terminal would obey."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A table; long cells are wrapped at words, never cut, and the first column is neither.

    Where the words of all columns do not fit beside each other, they are shown below each other.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    from gammabar.harness.screen.console import Console

    names = [visible(name) for name in columns]
    cells = [[visible(cell) for cell in row] for row in rows]
    # A pipe has no width: let the table be as wide as its contents instead of folding it at 80.
    width = _width(sys.stdout) or WIDE
    needed = [
        max(
            cell_len(word)
            for cell in (name, *(row[place] for row in cells))
            for word in ([cell] if place == 0 else cell.split() or [""])
        )
        for place, name in enumerate(names)
    ]
    room = width - sum(needed) - 3 * len(needed) - 1
    if room < 0:
        _records(names, cells, visible(title))
        return
    whole = [max(map(cell_len, column)) for column in zip(names, *cells, strict=True)]
    widths = _shared(needed, whole, room)
    table = Table(
        title=visible(title) or None, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left"
    )
    for place, name in enumerate(names):
        table.add_column(name, no_wrap=place == 0, overflow="fold", width=widths[place])
    for row in cells:
        table.add_row(*map(Text, row))
    Console(width=width).print(table)


def _shared(needed: list[int], whole: list[int], room: int) -> list[int]:
    """Widths of columns: what their longest words need, and a share of what is left."""
    widths = list(needed)
    wanting = sorted(range(len(needed)), key=lambda place: whole[place] - needed[place])
    for left, place in zip(range(len(wanting), 0, -1), wanting, strict=True):
        more = min(whole[place] - needed[place], room // left)
        widths[place] += more
        room -= more
    return widths


def _records(names: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    """Rows one below the other: the first cell, and under it the others with their names."""
    if title:
        say(title)
    for first, *cells in rows:
        print()
        say(first)
        for name, cell in zip(names[1:], cells, strict=True):
            if cell:
                say(f"    {name}: {cell}" if name else f"    {cell}")
    print()


def print_title(title: str) -> None:
    """A line in bold, where the terminal has that."""
    from rich.text import Text

    from gammabar.harness.screen.console import Console

    Console().print(Text(visible(title), style="bold"))


def print_facts(title: str, lines: dict[str, str]) -> None:
    """A title, and under it names with what there is to say of them."""
    from rich.cells import cell_len  # the macron of γ̄ has no width of its own
    from rich.text import Text

    from gammabar.harness.screen.console import Console

    print_title(title)
    console = Console()
    names = {name: visible(name) for name in lines}
    width = max(map(cell_len, names.values()))
    room = (_width(sys.stdout) or 0) - width - 4
    for name, text in lines.items():
        label = f"  {names[name]}{' ' * (width - cell_len(names[name]))}  "
        parts = [visible(text)]
        if room > 20:  # the rest goes on below, unless there is hardly any room
            parts = textwrap.wrap(parts[0], room, break_long_words=False, break_on_hyphens=False)
        below = ("\n" + " " * (width + 4)).join(parts)
        console.print(Text(label, style="dim"), Text(below), sep="", soft_wrap=True)


def now_and_then() -> Stage:
    """Lines on stderr that say how far something is; none of what takes no longer than FIRST."""
    begun = monotonic()
    due = begun + FIRST

    def tell(text: str) -> None:
        nonlocal due
        now = monotonic()
        if now >= due:
            due = now + PAUSE
            say(f"{now - begun:.0f} s: {text}", err=True)

    return tell


@contextmanager
def stages(quiet: bool = False) -> Iterator[Stage]:
    """The current stage on stderr: a spinner on a terminal, a line now and then in a pipe."""
    if quiet:
        yield lambda text: None
        return
    if not sys.stderr.isatty():
        yield now_and_then()
        return
    from rich.markup import escape

    from gammabar.harness.screen.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(escape(visible(text)))
