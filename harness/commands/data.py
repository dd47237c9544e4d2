"""``gammabar data``: data sets on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.commands.reading import reading_options
from gammabar.harness.commands.types import WRITTEN
from gammabar.harness.screen.output import print_json, print_table, say, stages

if TYPE_CHECKING:
    from gammabar.problems.fetch import Status


@click.group("data")
def command() -> None:
    """Fetch, list, check and export data sets."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def list_(as_json: bool) -> None:
    """Which data sets are on this machine, and how to get the others."""
    from gammabar.problems.fetch import data_status

    _show(data_status(), as_json)


@command.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def check(name: str | None, as_json: bool) -> int:
    """Compare the contents of a data set (or of all that are here) with the pinned SHA-256 sums."""
    from gammabar.problems.fetch import data_status

    with stages(quiet=as_json) as stage:
        stage("reading and hashing")
        found = data_status(name, check=True)
    _show(found, as_json)
    wrong = {"damaged"} if name is None else {"damaged", "missing"}
    return int(any(status.state in wrong for status in found))


@command.command()
@click.argument("name")
@click.option(
    "--archive",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take it out of this file, downloaded by hand (eurosat: EuroSAT_RGB.zip).",
)
def fetch(name: str, archive: Path | None) -> None:
    """Download a data set; what arrives is compared with the pinned SHA-256 sums."""
    from gammabar.problems.fetch import fetch as get

    with stages() as stage:
        paths = get(name, stage, archive=archive)
    for path in paths:
        say(str(path))


@command.command()
@click.argument("data")
@click.argument("file", type=WRITTEN)
@reading_options
@click.option("--multiclass", is_flag=True, help="All classes.")
def export(data: str, file: Path, multiclass: bool, **reading: Any) -> None:
    """Write DATA as an .npz FILE (arrays X and y), which `python oracle/check.py` reads."""
    from gammabar.harness.run.export import write_npz
    from gammabar.problems import load

    if file.suffix != ".npz":
        raise click.UsageError(f"FILE must end in .npz, not {file.name!r}")
    with stages() as stage:
        stage(f"reading {data}")
        problem = load(data, multiclass=multiclass, **reading)
        stage(f"writing {file}")
        write_npz(problem, file)
    say(str(file))


def _show(found: list[Status], as_json: bool) -> None:
    if as_json:
        print_json([asdict(status) for status in found])
        return
    rows = [(s.name, s.state, s.what, " ".join(filter(None, (s.where, s.detail)))) for s in found]
    print_table(("data set", "state", "what it is", "where"), rows)
