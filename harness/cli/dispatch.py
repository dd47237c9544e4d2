"""The command ``gammabar``: dispatch, exit codes, and errors for people.

The modules of commands are imported when a command is run, so that ``gammabar --help`` answers at
once.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NoReturn

import click

from gammabar.harness.screen import (
    complain,
    encodable,
    open_streams,
    prepare_terminal,
    unfailing_stderr,
)

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
            from gammabar.harness.cli.options import keep_apart

            keep_apart(self)
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
