"""The command ``gammabar``: dispatch, exit codes, and errors in one sentence.

The module of a command is imported when the command runs, so that ``gammabar --help`` answers at
once.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import shell_complete

from gammabar.harness.screen import (
    complain,
    encodable,
    open_streams,
    prepare_terminal,
    unfailing_stderr,
)

#: Exit codes besides 0, 1, 2 and 130: broken pipe (as if by SIGPIPE), internal error (EX_SOFTWARE).
UNREAD, FAULT = 141, 70

__all__ = ["COMMANDS", "FAULT", "UNREAD", "cli", "main"]

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
        sys.exit(code if isinstance(code, int) else 0)


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
