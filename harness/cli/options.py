"""Options that commands share: groups, types, how data are read, completion in a shell."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from gammabar.harness.registry import PaperRef
    from gammabar.harness.report.model import Report

F = TypeVar("F", bound=Callable[..., Any])

#: What DATA may be, for commands that take it.
_DATA = (
    (
        "a named data set",
        "mnist-sample:0,1  mnist:0,1  fashion:0,4  digits:3,8  iris:0,1  breast-cancer",
    ),
    ("a generator", "planted:n=200,d=10,gamma=0.1,seed=0  worst-case:n=1000  inseparable:n=50,d=5"),
    (
        "a file",
        "data.csv  data.tsv  data.svm  data.npz  data.npy --labels y.npy  data.parquet  data.arrow"
        "  - (stdin); text may be compressed (.gz, .bz2, .xz); data.csv:a,b is two of many classes",
    ),
)


# --- groups of options


class Option(click.Option):
    """An option that the help shows under the heading of its group."""

    def __init__(self, *args: Any, group: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.group = group

    def get_help_extra(self, ctx: click.Context) -> Any:
        """The default; a range that nobody comes near is left out."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Command(click.Command):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group, in the order in which they come."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(param, "group", ""), []).append(record)
        last = groups.pop("", [])
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)
        with formatter.section("Help" if groups else "Options"):
            formatter.write_dl(last)


class TakesData(Command):
    """A command whose help ends with what DATA may be."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write it in two columns, as wide as the terminal is."""
        with formatter.section("DATA is one of"):
            formatter.write_dl(_DATA)
        formatter.write_paragraph()
        formatter.write_text("`gammabar list problems` shows them all.")


def option(
    group: str,
    spec: str,
    help: str,
    dest: str | None = None,
    *,
    many: bool = False,
    names: str = "",
    **more: Any,
) -> Callable[[F], F]:
    """An option: ``option(group, "--iterations T", "How many.", type=int)``; a flag has no metavar.

    Parameters
    ----------
    group : str
        Its heading in the help.
    spec : str
        The option, and what stands for its value.
    help : str
    dest : str, optional
        The name of the argument, if it is not that of the option.
    many : bool
        Whether it may be repeated.
    names : str
        What a shell completes: statements, solvers, mutants, artefacts, papers or data.
    **more
        For `click.option`.
    """
    name, _, metavar = spec.partition(" ")
    if metavar:
        more["metavar"] = metavar
    elif "/" not in name:
        more["is_flag"] = True
    if names:
        more["shell_complete"] = partial(_complete, names)
    declared = (name, dest) if dest else (name,)
    made: Callable[[F], F] = click.option(
        *declared, cls=Option, group=group, help=help, multiple=many, **more
    )
    return made


what = partial(option, "What to check")
data = partial(option, "On which data")
run = partial(option, "How to run")
write = partial(option, "What to write")

JSON = write("--json", "One JSON document on stdout.", "as_json")
JOBS = run(
    "--jobs N",
    "How many runs at once.  [default: as many as there are cores]",
    type=click.IntRange(1, 1000),
)


# --- completion in a shell


def argument(*declared: str, names: str = "", **more: Any) -> Callable[[F], F]:
    """An argument whose names a shell completes."""
    if names:
        more["shell_complete"] = partial(_complete, names)
    made: Callable[[F], F] = click.argument(*declared, **more)
    return made


def _complete(
    kinds: str, ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names that begin like this, of kinds with spaces between them; files where data are meant."""
    found = [
        CompletionItem(name)
        for kind in kinds.split()
        for name in _known(kind)
        if name.startswith(incomplete)
    ]
    return [*found, CompletionItem(incomplete, type="file")] if "data" in kinds.split() else found


def _known(kind: str) -> Iterable[str]:
    if kind == "data":
        from gammabar.problems.specs import catalogue

        return [entry.name for entry in catalogue() if entry.kind != "file"]
    if kind == "solvers":
        from gammabar.solvers.base import SOLVERS

        return SOLVERS
    from gammabar.harness import registry

    known: Iterable[str] = getattr(registry, "everything" if kind == "statements" else kind)()
    return known


# --- types


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


class _Bytes(click.ParamType):
    """A size in memory: 500MB, 2GB, or a number of bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([kmgt]?)b?", value.strip().lower())
        size = int(float(found[1]) * units[found[2]]) if found else 0
        if size < 1:
            self.fail(f"{value!r} is no size such as 500MB or 2GB", param, ctx)
        return size


WRITTEN, KEPT, SECONDS = _Written(), _Written(kept=True), _Seconds()
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def keep_apart(ctx: click.Context) -> None:
    """Refuse a file to be written that is also named as something else: one of them would be lost.

    Raises
    ------
    click.UsageError
        It names both.
    """
    given = [(p, one) for p in ctx.command.params for one in _texts(ctx.params.get(p.name or ""))]
    if not any(isinstance(param.type, _Written) for param, _ in given):
        return
    from gammabar.problems.output import is_file

    for param, path in given:
        if not isinstance(param.type, _Written) or not is_file(path):
            continue
        real = os.path.realpath(path)
        for other, value in given:
            if other is not param and real in map(os.path.realpath, _paths(value)):
                both = f"{_called(param)} and {_called(other)}"
                raise click.UsageError(f"{path} is {both} at once: name another file", ctx)


def _texts(value: Any) -> tuple[Any, ...]:
    found = value if isinstance(value, tuple) else (value,)
    return tuple(one for one in found if isinstance(one, str | Path) and "\0" not in str(one))


def _paths(value: str | Path) -> list[str]:
    """What a value may name: a file, or one with something after a colon (classes, a solver)."""
    text = str(value)
    places = [place for place, letter in enumerate(text) if letter == ":"]
    return [text, *(text[:place] for place in places[:8])]


def _called(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


# --- options of several commands

LABEL = data("--label NAME", "Label column of a table: name or number from 0.")
LABELS = data("--labels FILE", "Labels of an .npy or a SciPy .npz file: another .npy file.")
DROP = data("--drop NAME", "A column of a table that is no feature (repeatable).", many=True)
_MEMORY = data(
    "--memory SIZE",
    "Most memory for the points of .npy, .parquet or .arrow files: else they are read in chunks,"
    " again for every pass (default: half of what there is).",
    type=_Bytes(),
)
PAPER = what(
    "--paper FILE",
    "A paper of your own: a Python file, or the folder of a package (repeatable).",
    "papers",
    many=True,
)


def reading_options(function: F) -> F:
    """Add ``--label``, ``--labels``, ``--drop`` and ``--memory`` to a command."""
    for one in (_MEMORY, DROP, LABELS, LABEL):
        function = one(function)
    return function


def open_papers(paths: tuple[str, ...]) -> tuple[tuple[PaperRef, ...], tuple[str, ...]]:
    """Register papers of one's own: references to them, and their keys."""
    if not paths:
        return (), ()
    from gammabar.harness.registry import PaperRef, open_paper

    refs = tuple(PaperRef.read(path) for path in dict.fromkeys(paths))
    return refs, tuple(open_paper(ref).key for ref in refs)


def open_store(path: Path) -> Report:
    """What a store has to report; one without results is refused."""
    from gammabar.harness.report.model import gather
    from gammabar.harness.run.store import Store
    from gammabar.problems import ProblemError

    with Store(path, writing=False) as store:
        report = gather(store.results(), store.origins(), store.data())
    if not report.findings:
        raise ProblemError(f"{path}: has no results (write some: gammabar verify --store {path})")
    return report
