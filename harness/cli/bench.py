"""``gammabar bench``: the comparison in ``benchmarks/side_by_side``, which a clone has."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

import gammabar

_FOLDER = Path(gammabar.__file__).resolve().parents[1] / "benchmarks"


@click.command("bench", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _missing(arguments: tuple[str, ...]) -> None:
    """Compare with what a user would pick instead; needs a clone of the repository."""
    raise click.ClickException(
        "the comparison is not part of the installed package: run `gammabar bench` in a clone of"
        " the repository, which has it in benchmarks/side_by_side"
    )


def _found() -> click.Command:
    if not (_FOLDER / "side_by_side").is_dir():
        return _missing
    sys.path.append(str(_FOLDER))
    command = import_module("side_by_side.command").bench_command
    assert isinstance(command, click.Command)
    return command


bench_command = _found()
