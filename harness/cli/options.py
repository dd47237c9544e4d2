"""Options that commands share: groups, types, how data are read, completion in a shell.

The command ``gammabar``: dispatch, exit codes, and errors for people.

The modules of commands are imported when a command is run, so that ``gammabar --help`` answers at
once.
"""

from __future__ import annotations

import errno
import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from click.shell_completion import CompletionItem

from gammabar.harness.screen import (
    complain,
    encodable,
    open_streams,
    prepare_terminal,
    unfailing_stderr,
)

if TYPE_CHECKING:
    from gammabar.harness.report.model import Report
    from gammabar.harness.run.tasks import PaperRef


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


class _Option(click.Option):
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
        *declared, cls=_Option, group=group, help=help, multiple=many, **more
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


def _keep_apart(ctx: click.Context) -> None:
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
    from gammabar.harness.registry import open_paper
    from gammabar.harness.run.tasks import PaperRef

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


#: Exit codes besides 0, 1, 2 and 130: nobody reads the output any more (as if by SIGPIPE), and a
#: fault of ours (EX_SOFTWARE).
UNREAD, FAULT = 141, 70

#: name → (module, one line of help). The help is here so that listing commands imports none.
COMMANDS = {
    "verify": ("verify", "Verify what the papers claim, at every iterate of every run."),
    "falsify": ("falsify", "Search for data on which a statement fails, and make them small."),
    "oracle": ("oracle", "Maximum margin γ̄ and dual optimum q̄ of DATA, exact and proved."),
    "check": ("results", "Check a certificate or a witness with the independent checker."),
    "show": ("catalogue", "Everything about a statement, solver, problem, mutant or artefact."),
    "list": ("catalogue", "List statements, solvers, problems, mutants, papers or artefacts."),
    "report": ("results", "The results in a store: a page, Markdown, a badge, CSV or Parquet."),
    "reproduce": ("maintenance", "Reproduce figures and tables of the papers."),
    "data": ("maintenance", "Fetch, list, check and export data sets."),
    "gate": ("maintenance", "Compare with a base commit; exit code 1 on a regression."),
    "bench": ("bench", "Side by side with what a user would pick instead, as ratios."),
}
#: Older names, which the help does not show, and what they are today.
_OLD = {
    "separation": ("oracle", "--separation"),
    "margins": ("oracle", "--pairs"),
    "export": ("report", "--table"),
}
_ROWS = {
    "Commands": ("verify", "falsify", "oracle", "check", "show", "list"),
    "More": ("report", "reproduce", "data", "gate", "bench"),
}


class _Formatter(click.HelpFormatter):
    """Help in characters that the terminal has: lines are broken after these are chosen."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, encodable(args), prefix)

    def write_text(self, text: str) -> None:
        super().write_text(encodable(text))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        here = [(encodable(name), encodable(text)) for name, text in rows]
        super().write_dl(here, col_max if self.width >= 80 else self.width // 3, col_spacing)


class _Unread(Exception):
    """Nobody reads the output any more."""


class _Context(click.Context):
    formatter_class = _Formatter

    def invoke(self, callback: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a command; not if what it writes would replace what it reads."""
        if self.parent is not None:  # a command, and not `gammabar` itself
            pass

            _keep_apart(self)
        try:
            return super().invoke(callback, *args, **kwargs)
        except BrokenPipeError:  # click would leave with 1
            raise _Unread from None


class _Lazy(click.Group):
    """A group that imports a command's module only when the command is used."""

    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for row in _ROWS.values() for name in row]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"gammabar.harness.cli.{COMMANDS[name][0]}")
        command = getattr(module, f"{name}_command")
        assert isinstance(command, click.Command)
        for one in (command, *getattr(command, "commands", {}).values()):
            one.context_class = _Context
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in _OLD:
            args = [*_OLD[args[0]], *args[1:]]
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from gammabar.problems.suggest import did_you_mean

            ctx.fail(f"there is no command {args[0]!r}; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _ROWS.items():
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


@click.group(
    cls=_Lazy,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 as expected · 1 refuted, rejected or regressed · 2 bad input or usage.",
)
@click.version_option(package_name="gammabar", message="gammabar %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Check margin-maximisation solvers against the theorems printed in papers, with proof."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code; bad input is one sentence on stderr."""
    open_streams()
    with unfailing_stderr():
        prepare_terminal()
        if sys.flags.optimize > 1:
            what = "docstrings (-OO, PYTHONOPTIMIZE=2), which say what is claimed here"
            complain(f"Python leaves out {what}")
            sys.exit(2)
        try:
            code = cli.main(arguments, prog_name="gammabar", standalone_mode=False)
            _finish_output()
        except BaseException as error:
            sys.exit(_leave(error))
        sys.exit(code if isinstance(code, int) else 0)


def _leave(error: BaseException) -> int | str | None:
    """The exit code of what ended a command, after a sentence about it."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.UsageError):
        where = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        complain(_message(error).rstrip(".").replace("\n", " ") + _nearest(error) + where)
        return 2
    if isinstance(error, click.ClickException):
        complain(error.format_message())
        return 2
    if isinstance(error, click.Abort | KeyboardInterrupt):
        complain("interrupted")
        return 130
    # If nobody reads its help, click leaves with 1, after it has silenced the streams.
    silenced = "PacifyFlushWrapper" in type(sys.stdout).__name__
    if isinstance(error, BrokenPipeError | _Unread) or silenced:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    if isinstance(error, Exception):
        return _report(error)
    if isinstance(error, SystemExit):
        return error.code
    raise error


def _message(error: click.UsageError) -> str:
    """What click says; of the options that it finds near a misspelt one, the nearest."""
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        from gammabar.problems.suggest import did_you_mean

        hint = did_you_mean(error.option_name, error.possibilities)
        return f"no such option: {error.option_name}; {hint}"
    said = error.format_message()
    if error.ctx is not None and "unexpected extra argument" in said:
        options = [p for p in error.ctx.command.params if isinstance(p, click.Option)]
        several = [p.opts[0] for p in options if p.multiple]
        if several and len(options) == len(error.ctx.command.params):  # it takes nothing else
            said += f"; several values take the option each: {several[0]} A {several[0]} B"
    return said


def _nearest(error: click.UsageError) -> str:
    """What somebody may have meant who named no choice, or no file, that there is."""
    kind = getattr(getattr(error, "param", None), "type", None)
    given = re.search(r"'(.*?)' (?:is not one of|does not exist)", error.message)
    if not isinstance(kind, click.Choice | click.Path) or given is None:
        return ""
    from gammabar.problems.suggest import beside, nearest

    if isinstance(kind, click.Choice):
        close = nearest(given[1], map(str, kind.choices))
    else:
        close = beside(given[1])
    return "" if close is None else f"; did you mean {close}?"


def _report(error: Exception) -> int:
    """Exit code 2 and one sentence for what a user can mend; anything else is a fault of ours, and
    no refutation: that has the exit code 1."""
    from gammabar.problems import ProblemError

    if isinstance(error, ProblemError):
        complain(str(error))
    elif isinstance(error, MemoryError):
        complain("not enough memory for a problem of this size")
    elif isinstance(error, OSError) and error.errno == errno.ENOSPC:
        complain(f"no space left on the disk for {error.filename or 'the output'}")
    elif isinstance(error, OSError):
        complain(f"{error.filename or 'file'}: {error.strerror or error}")
    elif isinstance(error, ValueError) and "null" in str(error):  # what Python says of a path
        complain("a name of a file holds a null character")
    elif isinstance(error, ValueError) and "has an empty name" in str(error):
        complain("a name of a file is empty, or is that of a folder")
    else:
        traceback.print_exception(error)
        complain("this is a fault of gammabar's own: please report it, with the lines above")
        return FAULT
    return 2


def _finish_output() -> None:
    """Flush now, so that a closed pipe or a full disk is noticed here and not at exit."""
    sys.stdout.flush()
