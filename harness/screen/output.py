"""Tables for people, JSON for programs, progress on stderr when it is a terminal.

What is shown may quote labels, names of files, or what a solver has to say, which hold whatever
somebody put there. A terminal obeys some characters instead of showing them, and takes a new line
for one of ours: so nothing is printed but through `visible`.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

#: Of the JSON documents: it changes if a field is renamed or removed, or means something else.
VERSION = 1


class Stage(Protocol):
    """Told what is going on now."""

    def __call__(self, text: str) -> None: ...


def visible(text: str) -> str:
    """The text on one line, with every character escaped that a terminal would not just show."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


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
    # A line that begins with a word and a gap has its text in a column, which goes on below.
    label = re.match(r"( +\S+ {1,}(?=\S))?", line)
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
    if wished and said.isdigit() and int(said) > 0:
        return max(20, int(said))
    return shutil.get_terminal_size().columns if stream.isatty() else None


def complain(sentence: str) -> None:
    """A line on stderr about something that is wrong."""
    say(f"gammabar: {sentence}", err=True)


def any_terminal() -> None:
    """Let stdout and stderr take every text: what their encoding lacks is replaced."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Half a surrogate pair in JSON is escaped in just this way.
            stream.reconfigure(errors="backslashreplace" if _is_unicode(stream) else "replace")


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf").lower().startswith("utf")


def print_json(document: Any, kind: str = "") -> None:
    """One JSON document on stdout and nothing else.

    Parameters
    ----------
    document : dict or list
    kind : str
        What it is, for a dictionary: its first fields are then ``format`` and ``version``, see
        ``docs/json.md``.
    """
    if kind:
        document = {"format": f"gammabar-{kind}", "version": VERSION} | document
    text = json.dumps(document, indent=2, ensure_ascii=not _is_unicode(sys.stdout))
    lines = (line if line.isprintable() else _escaped(line) for line in text.split("\n"))
    sys.stdout.write("\n".join(lines) + "\n")


def _escaped(text: str) -> str:
    """JSON whose strings have no characters that a terminal would obey."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A table; long cells are folded, never cut, and the first column is neither."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=visible(title) or None, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left"
    )
    for place, name in enumerate(columns):
        table.add_column(visible(name), no_wrap=place == 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    # A pipe has no width: let the table be as wide as its contents instead of folding it at 80.
    Console(width=_width(sys.stdout) or 160).print(table)


def print_facts(title: str, lines: dict[str, str]) -> None:
    """A title, and under it names with what there is to say of them."""
    from rich.cells import cell_len  # the macron of γ̄ has no width of its own
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(visible(title), style="bold"))
    width = max(map(cell_len, lines))
    for name, text in lines.items():
        label = visible(f"  {name}{' ' * (width - cell_len(name))}  ")
        console.print(Text(label, style="dim"), Text(visible(text)), sep="", soft_wrap=True)


@contextmanager
def stages(quiet: bool = False) -> Iterator[Stage]:
    """A spinner with the current stage on stderr; silent where stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(escape(visible(text)))
