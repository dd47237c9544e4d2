"""Output for people and programs: lines, tables, JSON documents, progress on stderr.

What is shown may quote labels, names of files, or a solver's messages, which hold whatever somebody
put there. A terminal obeys some characters instead of showing them, and takes a new line for one
of ours: so nothing is printed but through `visible`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from time import monotonic
from typing import Any

from gammabar.problems.output import finite

Stage = Callable[[str], None]

#: Of the JSON documents: it changes if a field is renamed or removed, or means something else.
VERSION = 1
#: Columns of a table in a pipe.
_WIDE = 160
#: A number in the environment; Python's `isdigit` and `int` accept other texts too.
_COUNT = re.compile(r"[0-9]{1,9}").fullmatch
#: Seconds before the first line about progress in a pipe, and between two of them.
_FIRST, _PAUSE = 2.0, 5.0


def visible(text: str) -> str:
    """The text on one line, with every character escaped that a terminal would not just show."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def encodable(text: str, stream: Any = None) -> str:
    """The text with every character escaped that the stream's encoding lacks."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def counted(number: int, noun: str) -> str:
    """A number and its noun: 1 statement, 2,000 statements."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def say(text: str = "", err: bool = False) -> None:
    """Print a line on stdout or stderr; wrapped at words where the width is known."""
    stream = sys.stderr if err else sys.stdout
    print(_wrapped(encodable(visible(text), stream), _width(stream)), file=stream)


def print_lines(text: str) -> None:
    """Print several lines."""
    for line in text.split("\n"):
        say(line)


def complain(sentence: str) -> None:
    """Print a sentence on stderr about something that is wrong."""
    say(f"gammabar: {sentence}", err=True)


def _wrapped(line: str, width: int | None) -> str:
    if width is None or len(line) <= width:
        return line
    # A line that begins with a name and a gap has its text in a column, which goes on below.
    label = re.match(r"( +\S+(?: \S+){0,2} {2,}(?=\S)| +\S+ (?=\S))?", line)
    indent = _columns(label[0]) if label is not None and len(label[0]) <= width // 3 else 0
    return textwrap.fill(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def _columns(text: str) -> int:
    """Columns that a text takes: the macron of γ̄ has none of its own."""
    return sum(not unicodedata.combining(c) for c in text)


def _width(stream: Any) -> int | None:
    """Columns of a terminal, or of what `COLUMNS` says; None where lines may be of any length."""
    said = os.environ.get("COLUMNS", "")
    counts = stream is sys.stdout or stream.isatty()  # a sentence in a log stays on one line
    if counts and _COUNT(said) and int(said) > 0:
        return max(20, int(said))
    return shutil.get_terminal_size().columns if stream.isatty() else None


def print_json(document: Any, kind: str = "") -> None:
    """Print one JSON document on stdout; infinities and NaN are null.

    Parameters
    ----------
    document : dict or list
    kind : str
        For a dictionary: its first fields are then ``format`` and ``version``, see
        ``docs/reference.md``.
    """
    if kind:
        document = {"format": f"gammabar-{kind}", "version": VERSION} | document
    ascii_only = not _is_unicode(sys.stdout)
    text = json.dumps(finite(document), indent=2, ensure_ascii=ascii_only, allow_nan=False)
    sys.stdout.write("\n".join(map(_json_line, text.split("\n"))) + "\n")


def _json_line(line: str) -> str:
    """JSON whose strings have no characters that a terminal would obey."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def print_document(text: str) -> None:
    """Print Markdown or SVG: what the encoding of stdout lacks is written as in HTML, &#947;."""
    if not _is_unicode(sys.stdout):
        text = text.encode(sys.stdout.encoding, "xmlcharrefreplace").decode(sys.stdout.encoding)
    sys.stdout.write(text)


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf").lower().startswith("utf")


def print_title(title: str) -> None:
    """Print a line in bold, where the terminal has that."""
    import click

    dumb = os.environ.get("TERM") == "dumb"
    click.secho(encodable(visible(title)), bold=True, color=False if dumb else None)


def print_facts(title: str, lines: dict[str, str]) -> None:
    """Print a title, and under it names with their values in a column."""
    print_title(title)
    lines = {encodable(name): text for name, text in lines.items()}
    width = max(map(_columns, lines))
    for name, text in lines.items():
        say(f"  {name}{' ' * (width - _columns(name))}  {text}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table; long cells are wrapped at words, never cut, and the first column is not.

    Where the words of all columns do not fit beside each other, they are shown below each other.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    shown = [[encodable(visible(cell)) for cell in row] for row in (columns, *rows)]
    width = _width(sys.stdout) or _WIDE
    whole = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    words = [
        max(cell_len(w) for c in column for w in c.split() or [""])
        for column in zip(*shown, strict=True)
    ]
    widths = _shared([whole[0], *words[1:]], whole, width - 3 * len(whole) - 1)
    if widths is None:
        _print_records(columns, rows, title)
        return
    table = Table(
        title=encodable(visible(title)) or None,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title_justify="left",
    )
    for name, column in zip(shown[0], widths, strict=True):
        table.add_column(name, overflow="fold", width=column)
    for row in shown[1:]:
        table.add_row(*map(Text, row))
    _console(width=width).print(table)


def _shared(needed: list[int], whole: list[int], room: int) -> list[int] | None:
    """Widths of columns: what their longest words need, and a share of what is left.

    Rich breaks words in a narrow column before it makes a wide one narrower.
    """
    widths, room = list(needed), room - sum(needed)
    if room < 0:
        return None
    wanting = sorted(range(len(needed)), key=lambda place: whole[place] - needed[place])
    for left, place in zip(range(len(wanting), 0, -1), wanting, strict=True):
        more = min(whole[place] - needed[place], room // left)
        widths[place] += more
        room -= more
    return widths


def _print_records(names: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
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


def _console(**options: Any) -> Any:
    """Rich's console; it would leave with the exit code 1 where nobody reads the output."""
    from rich.console import Console

    class Unread(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Unread(**options)


def _now_and_then() -> Stage:
    """Lines on stderr that say how far something is; none of what takes no longer than FIRST."""
    begun = monotonic()
    due = begun + _FIRST

    def tell(text: str) -> None:
        nonlocal due
        now = monotonic()
        if now >= due:
            due = now + _PAUSE
            say(f"{now - begun:.0f} s: {text}", err=True)

    return tell


@contextmanager
def stages(quiet: bool = False) -> Iterator[Stage]:
    """The current stage on stderr: a spinner on a terminal, a line now and then in a pipe."""
    if quiet:
        yield lambda text: None
    elif not sys.stderr.isatty():
        yield _now_and_then()
    else:
        from rich.markup import escape

        with _console(stderr=True).status("starting") as status:
            yield lambda text: status.update(escape(visible(text)))


@contextmanager
def bar(total: int | None, what: str, quiet: bool = False) -> Iterator[Stage]:
    """Yield a function to be called with a word about each finished piece of work.

    Without a total it is not yet known how many there are."""
    if quiet:
        yield lambda text: None
    elif not sys.stderr.isatty():
        tell, done, of = _now_and_then(), count(1), "" if total is None else f" of {total}"
        yield lambda text: tell(f"{next(done)}{of} {what}: {text}")
    else:
        from rich.markup import escape
        from rich.progress import Progress

        with Progress(console=_console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=total)
            yield lambda text: progress.update(task, advance=1, description=escape(visible(text)))


def prepare_terminal() -> None:
    """Let stdout and stderr take every text, and forget sizes in the environment that are none."""
    for name in ("COLUMNS", "LINES"):
        if not _COUNT(os.environ.get(name, "0")):
            del os.environ[name]  # rich would end in an error
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def open_streams() -> None:
    """Open closed standard streams on /dev/null, so that no file gets their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            place = os.open(os.devnull, os.O_RDWR)
            if place != number:
                os.dup2(place, number)
                os.close(place)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


class _Unfailing:
    """Standard error that accepts everything: a lost message must not end a run."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text) or 0)
        except (OSError, ValueError):  # full, closed, or nobody reads
            return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            # What it still holds would be tried again at the end, and change the exit code.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


@contextmanager
def unfailing_stderr() -> Iterator[None]:
    """Let standard error accept everything for a while."""
    before = sys.stderr
    sys.stderr = _Unfailing(before)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stderr = before
