"""``gammabar check FILE [DATA]``: the independent checkers, with the data found for you."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click

from gammabar.harness.commands.papers import PAPER_OPTION
from gammabar.harness.screen.output import print_json, stages
from gammabar.problems import ProblemError


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("data", nargs=-1)
@PAPER_OPTION
@click.option(
    "--limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Most computing to spend on it, by an estimate made beforehand (default: 600).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    file: Path,
    data: tuple[str, ...],
    papers: tuple[str, ...],
    limit: float | None,
    as_json: bool,
) -> int:
    """Check certificate or witness FILE.

    A certificate proves a margin; it is checked against DATA with `oracle/check.py`. DATA is what
    `gammabar oracle` was given, or the data file(s); by default it is the data that the
    certificate names. A witness shows that a statement is false as printed; it brings its data and
    is checked with `papers/witness.py`. Neither checker shares code with the rest of
    gammabar: they read files themselves, and generated or embedded data are handed over as .npz.
    """
    from gammabar.oracle.check import LIMIT, Rejected, TooCostly, check

    if not file.is_file():
        raise ProblemError(f"{file}: no such file")
    if _is_witness(file):
        if data:
            raise ProblemError(f"{file} is a witness, which brings its own data: give no DATA")
        return _report(file, _witness(file, papers), as_json)
    with tempfile.TemporaryDirectory(prefix="gammabar-") as folder, stages(as_json) as stage:
        stage("finding the data")
        paths = _paths(file, data, Path(folder))
        stage(f"checking {file}")
        try:
            found = check(str(file), *map(str, paths), limit=limit or LIMIT), True
        except Rejected as reason:
            found = str(reason), False
        except TooCostly as reason:
            raise ProblemError(f"{file}: {reason}") from None
    return _report(file, found, as_json)


def _report(file: Path, found: tuple[str, bool], as_json: bool) -> int:
    verdict, accepted = found
    if as_json:
        print_json({"certificate": str(file), "accepted": accepted, "reason": verdict})
    else:
        click.echo(f"{'accepted' if accepted else 'rejected'}: {verdict}")
    return 0 if accepted else 1


def _is_witness(file: Path) -> bool:
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return False  # the checker of certificates will say what is wrong with it
    return isinstance(body, dict) and body.get("format") == "gammabar-witness"


def _witness(file: Path, papers: tuple[str, ...]) -> tuple[str, bool]:
    from gammabar.papers.witness import Rejected, check

    folders = [path if path.is_dir() else path.parent for path in map(Path, papers)]
    try:
        return check(str(file), *folders), True
    except Rejected as reason:
        return str(reason), False


def _paths(file: Path, data: tuple[str, ...], folder: Path) -> list[Path]:
    """Files for the checker: those given, those of a named data set, or an export."""
    if data and all(Path(name).exists() for name in data):
        return [Path(name) for name in data]
    if len(data) > 1:
        missing = next(name for name in data if not Path(name).exists())
        raise ProblemError(f"{missing}: no such file")
    section, multiclass = _named(file)
    name = data[0] if data else section.get("name")
    if not isinstance(name, str):
        return []  # the checker will say what is wrong with the certificate
    from gammabar.problems import load

    if name == "arrays":
        raise ProblemError(f"{file} was made from arrays in memory: name their .npz file as DATA")
    label = section.get("label")
    problem = load(name, label=None if label is None else str(label), multiclass=multiclass)
    if problem.source is not None and problem.source.paths:
        return [Path(path) for path in problem.source.paths]
    from gammabar.harness.run.export import write_npz

    return [write_npz(problem, folder / "data.npz")]


def _named(file: Path) -> tuple[dict[str, Any], bool]:
    """The data section of a certificate, or nothing if it is not even readable."""
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        section, shape = body["data"], body["geometry"]["type"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, False
    return (section if isinstance(section, dict) else {}), shape == "multiclass"
