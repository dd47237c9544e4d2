"""One module per command; each offers ``command``.

Types of options: files that will be written, and times.

Options that say how a file of data is read, the same for every command that takes DATA.

The option ``--intercept``, with or without its word, of the commands that ask about a bias.

The option ``--paper``: statements of one's own.

The argument STORE: a file of results that exists.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from gammabar.harness.registry import PaperRef
    from gammabar.harness.report.model import Report


#: What DATA may be, for commands that take it.
DATA = (
    (
        "a named data set",
        "mnist-sample:0,1  mnist:0,1  fashion:0,4  digits:3,8  iris:0,1  breast-cancer",
    ),
    (
        "a generator",
        "planted:n=200,d=10,gamma=0.1,seed=0  worst-case:n=1000  inseparable:n=50,d=5",
    ),
    (
        "a file",
        "data.csv  data.tsv  data.svm  data.npz  data.npy --labels y.npy  data.parquet  data.arrow"
        "  - (stdin); text may be compressed (.gz, .bz2, .xz); data.csv:a,b is two of many classes",
    ),
)


class TakesData(click.Command):
    """A command whose help ends with what DATA may be."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write it in two columns, as wide as the terminal is."""
        with formatter.section("DATA is one of"):
            formatter.write_dl(DATA)
        formatter.write_paragraph()
        formatter.write_text("`gammabar list problems` shows them all.")


#: `my.py:Mine:step=1`, and names of files that hold colons themselves.
_COLONS = 8


class _Written(click.Path):
    """A file to be written at the end: that it cannot be is said at the beginning.

    One that is kept, and read again by the next run, must be a file; others may be a pipe, too.
    """

    def __init__(self, kept: bool = False) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.kept = kept

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.name or "\0" in str(path):
            self.fail(f"{str(path)!r} is no name of a file", param, ctx)
        try:
            inside = path.parent.is_dir()
        except OSError as error:
            self.fail(f"{path}: {error.strerror}", param, ctx)
        if not inside:
            self.fail(f"{path}: there is no folder {path.parent}", param, ctx)
        if not path.exists() and not os.access(path.parent, os.W_OK):
            self.fail(f"{path}: the folder {path.parent} cannot be written to", param, ctx)
        if self.kept and path.exists() and not path.is_file():
            self.fail(f"{path}: no file, so nothing can be kept in it", param, ctx)
        return path


def keep_apart(ctx: click.Context) -> None:
    """Refuse a file to be written that is also named as something else: one of them would be lost.

    Raises
    ------
    click.UsageError
        It names both.
    """
    given = [(p, one) for p in ctx.command.params for one in _several(ctx.params.get(p.name or ""))]
    if not any(isinstance(param.type, _Written) for param, _ in given):
        return
    from gammabar.problems.output import is_file

    for param, path in given:
        if not isinstance(param.type, _Written) or not is_file(path):
            continue
        real = os.path.realpath(path)
        for other, value in given:
            if other is not param and real in map(os.path.realpath, _names(value)):
                both = f"{_called(param)} and {_called(other)}"
                raise click.UsageError(f"{path} is {both} at once: name another file", ctx)


def _several(value: Any) -> tuple[Any, ...]:
    found = value if isinstance(value, tuple) else (value,)
    return tuple(one for one in found if isinstance(one, str | Path) and "\0" not in str(one))


def _names(value: str | Path) -> list[str]:
    """What a value may name: a file, or one with something after a colon (classes, a solver)."""
    text = str(value)
    places = [place for place, letter in enumerate(text) if letter == ":"]
    return [text, *(text[:place] for place in places[:_COLONS])]


def _called(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


class _Seconds(click.FloatRange):
    """A positive number of seconds. NaN lies in every range of click's, as it does in none."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(0, 1e9, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds


WRITTEN, KEPT = _Written(), _Written(kept=True)
SECONDS = _Seconds()


F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Bytes(click.ParamType):
    """A size in memory: 500MB, 2GB, or a number of bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([kmgt]?)b?", value.strip().lower())
        size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
        if size < 1:
            self.fail(f"{value!r} is no size such as 500MB or 2GB", param, ctx)
        return size


LABEL = click.option(
    "--label", metavar="NAME", help="Label column of a table: name or number from 0."
)
LABELS = click.option(
    "--labels", metavar="FILE", help="Labels of an .npy or a SciPy .npz file: another .npy file."
)
DROP = click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="A column of a table that is no feature (repeatable).",
)
MEMORY = click.option(
    "--memory",
    type=Bytes(),
    metavar="SIZE",
    help="Most memory for the points of .npy, .parquet or .arrow files: else they are read in "
    "chunks, again for every pass (default: half of what there is).",
)


def reading_options(function: F) -> F:
    """Add ``--label``, ``--labels``, ``--drop`` and ``--memory`` to a command."""
    for option in (MEMORY, DROP, LABELS, LABEL):
        function = option(function)
    return function


KINDS = ("none", "free", "augmented")

#: Where the hyperplanes are that an answer speaks of.
WHERE = {
    "none": "through the origin",
    "free": "with a free intercept",
    "augmented": "with an augmented intercept (a constant feature, which counts in ‖w‖)",
}


class BareIntercept(TakesData):
    """A command in which ``--intercept`` alone means ``--intercept free``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        full = [
            "--intercept=free" if word == "--intercept" and following not in KINDS else word
            for word, following in pairwise([*args, ""])
        ]
        return super().parse_args(ctx, full)


INTERCEPT_OPTION = click.option(
    "--intercept",
    type=click.Choice(KINDS),
    metavar="[free|augmented]",
    default="none",
    help="With a bias: free (the margin counts w alone) or augmented (a constant feature).",
)


PAPER_OPTION = click.option(
    "--paper",
    "papers",
    multiple=True,
    metavar="FILE",
    help="A paper of your own: a Python file, or the folder of a package (repeatable).",
)


def open_papers(paths: tuple[str, ...]) -> tuple[tuple[PaperRef, ...], tuple[str, ...]]:
    """Put papers on the shelf: references to them, and their keys."""
    if not paths:
        return (), ()
    from gammabar.harness.registry import PaperRef, open_paper

    refs = tuple(PaperRef.read(path) for path in dict.fromkeys(paths))
    return refs, tuple(open_paper(ref).key for ref in refs)


STORE = click.argument(
    "store", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="STORE"
)


def opened(path: Path) -> Report:
    """What a store has to report; one without results is refused."""
    from gammabar.harness.report.model import gather
    from gammabar.harness.run.store import Store
    from gammabar.problems import ProblemError

    with Store(path, writing=False) as store:
        report = gather(store.results(), store.origins(), store.data())
    if not report.findings:
        raise ProblemError(f"{path}: has no results (write some: gammabar verify --store {path})")
    return report
