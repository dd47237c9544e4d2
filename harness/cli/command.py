"""The command ``gammabar``: dispatch, exit codes, errors in one sentence, and what commands share.

A command is a function of its options. Its module is imported when the command runs, so that
``gammabar --help`` answers at once.
"""

from __future__ import annotations

import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial, reduce
from importlib import import_module
from itertools import pairwise
from keyword import iskeyword
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem, shell_complete

from gammabar.harness.screen import (
    complain,
    encodable,
    open_streams,
    prepare_terminal,
    unfailing_stderr,
)

if TYPE_CHECKING:
    from gammabar.harness.run.tasks import PaperRef

#: Exit codes besides 0, 1, 2 and 130: broken pipe (as if by SIGPIPE), internal error (EX_SOFTWARE).
UNREAD, FAULT = 141, 70

Decorator = Callable[[Any], Any]
#: The largest integer that a store takes.
LARGEST = 2**63 - 1
#: Headings of the help.
_WHAT, _ON, _HOW, _OUTPUT = "What to check", "On which data", "How to run", "What to write"
PAIRS = "Every pair of classes (--pairs)"
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


class _Written(click.Path):
    """A file to be written at the end; that it cannot be written is said at the beginning.

    One that the next run reads again (`kept`) must be a file; others may be a pipe, too.
    """

    def __init__(self, kept: bool = False) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.kept = kept

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        there = os.path.exists(path)
        if not path.name:
            self.fail(f"{str(path)!r} is not the name of a file", param, ctx)
        if not os.path.isdir(path.parent):
            self.fail(f"{path}: there is no folder {path.parent}", param, ctx)
        if not there and not os.access(path.parent, os.W_OK):
            self.fail(f"{path}: the folder {path.parent} cannot be written to", param, ctx)
        if self.kept and there and not path.is_file():
            self.fail(f"{path}: not a regular file, so nothing can be kept in it", param, ctx)
        return path


class _Seconds(click.FloatRange):
    """A positive number of seconds. click's ranges contain NaN."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(0, 1e9, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return seconds


class _Bytes(click.ParamType):
    """A size in memory: 500MB, 2GB, or a number of bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
        given = str(value).strip().lower()
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([kmgt]?)b?", given)
        size = int(float(found[1]) * units[found[2]]) if found else 0
        if size < 1:
            self.fail(f"{value!r} is not a size such as 500MB or 2GB", param, ctx)
        return size


WRITTEN, KEPT, SECONDS = _Written(), _Written(kept=True), _Seconds()
JOB_COUNT = click.IntRange(1, 1000)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
READ = click.Path(exists=True, path_type=Path)
_COUNT = click.IntRange(1, LARGEST)
#: The type of an option by what stands for its value; a file may be read or written.
_TYPES = {
    "SECONDS": SECONDS,
    "SIZE": _Bytes(),
    "DIR": FOLDER,
    "N": _COUNT,
    "T": _COUNT,
    "PATH": click.Path(path_type=Path),
    f"{_HOW}: FILE": FILE,
    f"{_OUTPUT}: FILE": WRITTEN,
    f"{PAIRS}: FILE": WRITTEN,
}
#: The kinds of names that a shell completes, by what stands for the value.
_COMPLETED = {"ID": "statements", "METHOD": "solvers", "KEY": "papers", "DATA": "data"}
_COMPLETED |= {"FILE": "files", "FILE:NAME": "files"}


class _Option(click.Option):
    """An option that the help shows under the heading of its group, without its range.

    `bare` is its value where the next word is not one of its choices.
    """

    def __init__(self, *args: Any, group: str = "", bare: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.group, self.bare = group, bare

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Command(click.Command):
    """A command whose help has its options in groups, and that overwrites nothing it reads.

    `title` is the heading of options that are declared with `what`; with `explains_data` the help
    ends with what DATA may be.
    """

    def __init__(
        self, *args: Any, title: str = _WHAT, explains_data: bool = False, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.title, self.explains_data = title, explains_data

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for option in self.params:
            if isinstance(option, _Option) and option.bare:
                kinds: Any = option.type
                (name,) = option.opts
                pairs = pairwise([*args, ""])
                alone = [one == name and other not in kinds.choices for one, other in pairs]
                bare = f"{name}={option.bare}"
                args = [bare if no else one for one, no in zip(args, alone, strict=True)]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group, in the order in which they come."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(param, "group", ""), []).append(record)
        last = groups.pop("", [])
        if groups:  # --help stands with the last group
            groups[next(reversed(groups))] += last
        for title, records in groups.items() if groups else [("Options", last)]:
            with formatter.section(self.title if title == _WHAT else title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what DATA may be, the epilog, and what [+] means."""
        if self.explains_data:
            with formatter.section("DATA is one of (see `gammabar list problems`)"):
                formatter.write_dl(_DATA)
        many = any(getattr(param, "multiple", False) for param in self.params)
        text = " ".join(filter(None, (self.epilog, "[+]: may be repeated." * many)))
        if text:
            formatter.write_paragraph()
            formatter.write_text(text)

    def invoke(self, ctx: click.Context) -> Any:
        _keep_apart(ctx)
        return super().invoke(ctx)


def command(
    name: str, *parameters: Decorator, **options: Any
) -> Callable[[Callable[[Any], Any]], Command]:
    """Make a command of a function: its one argument has an attribute for each parameter.

    ``--time-limit`` is ``o.time_limit``; Python's keywords get an underscore: ``o.as_``.
    """

    def made(function: Callable[[Any], Any]) -> Command:
        def callback(**values: Any) -> Any:
            return function(
                SimpleNamespace(**{n + "_" * iskeyword(n): v for n, v in values.items()})
            )

        callback.__doc__ = function.__doc__
        whole = together(*parameters)(callback)
        return click.command(name, cls=Command, **options)(whole)

    return made


def option(
    group: str,
    spec: str,
    help: str,
    *,
    many: bool = False,
    names: str = "",
    **more: Any,
) -> Decorator:
    """An option under a heading: ``option(group, "--iterations T", "How many.")``.

    What stands for its value decides its type (`_type`), and whether a shell completes names of
    some kind (`_COMPLETED`, or `names`); without a value it is a flag. `many` allows repetition.
    """
    name, _, metavar = spec.partition(" ")
    if metavar:
        shown = more.get("default") is not None
        more = {"metavar": metavar, "type": _type(group, metavar), "show_default": shown} | more
    elif "/" not in name:
        more["is_flag"] = True
    if many:
        help = f"{help} [+]"
    if names or metavar in _COMPLETED:
        more["shell_complete"] = partial(_complete, names or _COMPLETED[metavar])
    return click.option(name, cls=_Option, group=group, help=help, multiple=many, **more)


def _type(group: str, metavar: str) -> Any:
    """The type of an option by what stands for its value; None for a text."""
    if metavar.startswith("["):
        return click.Choice(metavar.strip("[]").split("|"))
    return _TYPES.get(f"{group}: {metavar}", _TYPES.get(metavar))


what = partial(option, _WHAT)
data = partial(option, _ON)
run = partial(option, _HOW)
write = partial(option, _OUTPUT)


def argument(*declared: str, names: str = "", **more: Any) -> Decorator:
    """An argument whose names a shell completes."""
    complete = partial(_complete, names) if names else None
    return click.argument(*declared, shell_complete=complete, **more)


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator."""
    return lambda function: reduce(lambda made, one: one(made), reversed(options), function)


def _complete(
    kinds: str, ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names that begin like this, of kinds with spaces between them; data may be files."""
    names = [name for kind in kinds.split() for name in _known(kind)]
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    files = (
        [CompletionItem(incomplete, type="file")] if {"data", "files"} & {*kinds.split()} else []
    )
    return [*found, *files]


def _known(kind: str) -> Iterable[str]:
    if kind == "files":
        return ()
    if kind == "data":
        from gammabar.problems.specs import catalogue

        return [entry.name for entry in catalogue() if entry.kind != "file"]
    if kind == "solvers":
        from gammabar.solvers.base import SOLVERS

        return SOLVERS
    from gammabar.harness import registry

    known: Iterable[str] = getattr(registry, "everything" if kind == "statements" else kind)()
    return known


def _keep_apart(ctx: click.Context) -> None:
    """Refuse a file to be written that another option or argument names: one would be lost."""
    given = []
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        several = value if isinstance(value, tuple) else (value,)
        texts = [str(one) for one in several if isinstance(one, str | Path)]
        given += [(param, text) for text in texts if "\0" not in text]
    written = [(param, path) for param, path in given if isinstance(param.type, _Written)]
    if not written:
        return
    from gammabar.problems.output import is_file

    for param, path in written:
        real = os.path.realpath(path)
        for other, value in given if is_file(path) else ():
            # A value may have something after a colon: classes, the name of a solver.
            ends = [len(value), *(k for k, letter in enumerate(value) if letter == ":")][:9]
            if other is not param and real in {os.path.realpath(value[:end]) for end in ends}:
                names = (
                    one.opts[0] if isinstance(one, click.Option) else one.human_readable_name
                    for one in (param, other)
                )
                both = " and ".join(names)
                raise click.UsageError(f"{path} is {both} at once: name another file", ctx)


def given(name: str) -> bool:
    """Whether the user gave this option of the command that runs."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


# Options of several commands.
JSON = write("--json", "Print one JSON document on stdout.")
JOBS = run("--jobs N", "How many runs at once.  [default: one per core]", type=JOB_COUNT)
SEED = run("--seed N", "Seed of all random numbers.", type=click.IntRange(0, LARGEST))
PAPER = what("--paper FILE", "Your own paper: a Python file or a package.", many=True)
SOURCE = what("--source KEY", "Only this paper of `gammabar list papers`.", many=True)
SOLVER = what(
    "--solver NAME", "Only this solver; with options: lr-gd:step=0.1.", many=True, names="solvers"
)
TABLE = together(
    data("--label NAME", "Label column of a table: its name, or its number from 0."),
    data("--labels FILE", "An .npy file with the labels of an .npy or .npz file."),
    data("--drop NAME", "Leave this column of a table out.", many=True),
    data("--encode", "One-hot encode the text columns of a table."),
    data("--missing [drop]", "Leave out rows with missing values."),
)
#: How data are read.
READING = together(
    TABLE,
    data(
        "--memory SIZE",
        "Read .npy, .parquet and .arrow files larger than this in chunks, once per pass."
        "  [default: half of the free memory]",
    ),
)
#: Geometries.
SPACE = together(
    data("--kernel KERNEL", "linear, rbf:gamma=1, poly:degree=2,coef0=1 or network."),
    data("--normalised", "Divide kernel rows by √K(x,x) (Ramdas–Peña §3)."),
    data("--multiclass", "Use all classes at once (Ji–Srebro–Telgarsky §5.2)."),
)
#: The names of these options.
OF_TABLE = ("label", "labels", "drop", "encode", "missing")
OF_READING = (*OF_TABLE, "memory")
OF_SPACE = ("kernel", "normalised", "multiclass")


def picked(o: Any, names: Iterable[str]) -> dict[str, Any]:
    """The values of some options."""
    return {name: getattr(o, name) for name in names}


def open_papers(paths: tuple[str, ...]) -> tuple[tuple[PaperRef, ...], tuple[str, ...]]:
    """Register papers of one's own: references to them, and their keys."""
    if not paths:
        return (), ()
    from gammabar.harness.registry import open_paper
    from gammabar.harness.run.tasks import PaperRef

    refs = tuple(PaperRef.read(path) for path in dict.fromkeys(paths))
    return refs, tuple(open_paper(ref).key for ref in refs)


# --- dispatch --------------------------------------------------------------------------------

#: name → (module, one line of help). The help is here so that listing commands imports none.
COMMANDS = {
    "verify": ("verify", "Check what papers claim about solvers, at every iterate."),
    "falsify": ("falsify", "Search for small data on which a statement fails."),
    "oracle": ("oracle", "Compute the maximum margin γ̄ and dual optimum q̄ of DATA, exactly."),
    "check": ("results", "Check a certificate or a witness with the independent checker."),
    "show": ("catalogue", "Show a statement, solver, problem, mutant or artefact in full."),
    "list": ("catalogue", "List statements, solvers, problems, mutants, papers or artefacts."),
    "report": ("results", "Write stored results as HTML, Markdown, badge, CSV or Parquet."),
    "reproduce": ("maintenance", "Reproduce figures and tables of the papers."),
    "data": ("maintenance", "Fetch, list, check and export data sets."),
    "gate": ("maintenance", "Compare with a base commit; exit code 1 on a regression."),
    "bench": ("bench", "Compare speed and accuracy with other programs, side by side."),
}
#: Commands in the second row of the help.
_MORE = ("report", "reproduce", "data", "gate", "bench")
#: Older names, which the help does not show, and what they are today.
_OLD = {
    "separation": ("oracle", "--separation"),
    "margins": ("oracle", "--pairs"),
    "export": ("report", "--table"),
}


class _Lazy(click.Group):
    """A group that imports a command's module only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"gammabar.harness.cli.{COMMANDS[name][0]}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = [*_OLD.get(args[0], args[:1]), *args[1:]]
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from gammabar.problems.suggest import did_you_mean

            ctx.fail(f"there is no command {args[0]!r}; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        first = [name for name in COMMANDS if name not in _MORE]
        for title, names in (("Commands", first), ("More", _MORE)):
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


class _Help(click.HelpFormatter):
    """Help in which characters that the terminal lacks are escaped before lines are broken."""

    def write(self, string: str) -> None:
        super().write(encodable(string))

    def write_text(self, text: str) -> None:
        super().write_text(encodable(text))

    def write_dl(self, rows: Any, *args: Any, **options: Any) -> None:
        super().write_dl([(encodable(a), encodable(b)) for a, b in rows], *args, **options)


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
            complain("Python runs without docstrings (-OO, PYTHONOPTIMIZE=2): they hold the claims")
            sys.exit(2)
        try:
            code = _run(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()  # so that a closed pipe or a full disk is noticed here
        except BaseException as error:
            code = _exit_code(error)
            _drop_what_cannot_be_written()
        sys.exit(code if isinstance(code, int) else 0)


def _drop_what_cannot_be_written() -> None:
    """Python would try again to write it when it ends, and change the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> Any:
    """As `click.Command.main`, which would turn a broken pipe into exit code 1."""
    variable = "_GAMMABAR_COMPLETE"
    if variable in os.environ:
        return shell_complete(cli, {}, "gammabar", variable, os.environ[variable])
    click.Context.formatter_class = _Help
    with cli.make_context("gammabar", list(arguments)) as context:
        return cli.invoke(context)


def _exit_code(error: BaseException) -> Any:
    """The exit code of what ended a command, after a sentence about it."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code
    if isinstance(error, click.Abort | KeyboardInterrupt):
        complain("interrupted")
        return 130
    if isinstance(error, BrokenPipeError):
        return UNREAD
    if not isinstance(error, Exception):
        raise error
    sentence = _sentence(error)
    if sentence is None:  # not exit code 1, which says that something was refuted
        traceback.print_exception(error)
        complain("this is a fault of gammabar's own: please report it, with the lines above")
        return FAULT
    complain(sentence)
    return 2


def _sentence(error: Exception) -> str | None:
    """What a user can mend; None for a fault of ours."""
    from gammabar.problems import ProblemError

    if isinstance(error, click.UsageError):
        where = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        return error.format_message().rstrip(".").replace("\n", " ") + _nearest(error) + where
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, ProblemError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for a problem of this size"
    if isinstance(error, OSError):
        return f"{error.filename or 'the output'}: {error.strerror or error}"
    if isinstance(error, ValueError) and re.search("null|has an empty name", str(error)):
        return "the name of a file is empty or has a null character"  # Python's words of a path
    return None


def _nearest(error: click.UsageError) -> str:
    """The choice or the file that a misspelt one resembles."""
    kind = getattr(getattr(error, "param", None), "type", None)
    given = re.search(r"'(.*?)' (?:is not one of|does not exist)", error.message)
    if given is None or not isinstance(kind, click.Choice | click.Path):
        return ""
    from gammabar.problems.suggest import beside, nearest

    if isinstance(kind, click.Choice):
        close = nearest(given[1], map(str, kind.choices))
    else:
        close = beside(given[1])
    return "" if close is None else f"; did you mean {close}?"
