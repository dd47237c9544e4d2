"""Certificates and witnesses: checked by the independent checkers, with the data found for them."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.problems import MulticlassProblem, Problem, ProblemError
from gammabar.problems.files import integer_of
from gammabar.problems.output import whole
from gammabar.problems.suggest import no_file


class Rejected(ValueError):
    """A checker said no; the message is its reason."""


def check(
    certificate: str | Path,
    data: Any = None,
    *,
    papers: Sequence[str | Path] = (),
    limit: float | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> str:
    """Ask the independent checkers whether a certificate or a witness is right.

    A certificate proves a margin; it is checked against its data by `oracle/check.py`. A witness
    shows that a statement is false as printed; it brings its data and is checked by
    `papers/witness.py`. Neither shares code with the rest of gammabar: they read files themselves,
    and data that are in no file are handed over as .npz.

    Parameters
    ----------
    certificate : str or Path
        The file, or the id of a statement whose witness is meant.
    data : Problem, str, Path, or several files, optional
        What `solve` was given: a problem, the text that `load` takes, or the data file(s). By
        default the data that the certificate names.
    papers : sequence of str or Path
        Papers of one's own whose witnesses may be meant.
    limit : float, optional
        Most computing to spend, in seconds, by an estimate made beforehand.
    reading : mapping, optional
        Options of `load` for the data: `label`, `labels`, `drop`. What the certificate says of
        them need not be repeated.
    progress : callable
        Told the name of each stage as it begins.

    Returns
    -------
    str
        What is proved, in a sentence. If it proves nothing, `Rejected` has the reason.

    Examples
    --------
    >>> import gammabar as gb, tempfile
    >>> problem = gb.from_arrays([[3, 1], [1, 3], [-4, -1]], ["yes", "yes", "no"])
    >>> with tempfile.NamedTemporaryFile(suffix=".json") as file:
    ...     gb.solve(problem).save(file.name)
    ...     print("separable; " in gb.check(file.name, problem))
    True
    """
    file = Path(certificate)
    if not file.is_file():
        from gammabar.harness.registry import witness

        known = witness(str(certificate))
        if known is None:
            raise ProblemError(no_file(file))
        file = known
    files = [data] if isinstance(data, str | Path | Problem) else list(data or ())
    document = _document(file)
    if document.get("format") == "gammabar-witness":
        if files or any((reading or {}).values()):
            raise ProblemError(f"{file} is a witness, which has its own data: give none")
        return _witness(file, papers, limit)
    if papers:
        raise ProblemError(
            f"{file} is a certificate, which no paper says anything about: give none"
        )
    from gammabar.oracle import check as checker

    with tempfile.TemporaryDirectory(prefix="gammabar-") as folder:
        progress("finding the data")
        paths = _paths(file, document, files, Path(folder), dict(reading or {}))
        progress(f"checking {file}")
        try:
            return checker.check(str(file), *map(str, paths), limit=limit or checker.LIMIT)
        except checker.Rejected as reason:
            raise Rejected(str(reason)) from None
        except checker.TooCostly as reason:
            raise ProblemError(f"{file}: {reason}") from None


#: Options that say nothing about files that the checker reads as the certificate says.
_UNREAD = ("label", "drop", "memory", "encode", "missing")


def _document(file: Path) -> dict[str, Any]:
    """A certificate or a witness; {} if it is malformed, which the checker will say."""
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _witness(file: Path, papers: Sequence[str | Path], limit: float | None) -> str:
    import gammabar.papers.witness as witness

    folders = [path if path.is_dir() else path.parent for path in map(Path, papers)]
    try:
        try:
            return witness.check(str(file), *folders, limit=limit or witness.LIMIT)
        except witness.Unknown:
            found = _run_again(file, papers)
            if found is None:
                raise
            return found
    except witness.Rejected as reason:
        raise Rejected(str(reason)) from None
    except witness.TooCostly as reason:
        raise ProblemError(f"{file}: {reason}") from None


def _run_again(file: Path, papers: Sequence[str | Path]) -> str | None:
    """What a witness without refuter shows of a statement in a paper that was named; None if none.

    A paper's own lines say what is claimed, so this imports it.
    """
    import gammabar.papers.rerun as rerun
    import gammabar.papers.witness as witness
    from gammabar.harness.registry import everything, open_paper

    for path in papers:
        open_paper(str(path))
    document = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=witness.distinct)
    statement = everything().get(str(document.get("statement")))
    if statement is None or not isinstance(document.get("data"), dict):
        return None
    return rerun.check(document, statement)


def _paths(
    file: Path, document: dict[str, Any], data: list[Any], folder: Path, reading: dict[str, Any]
) -> list[Path]:
    """Files for the checker: those given, those of a named data set, or an export."""
    if len(data) == 1 and isinstance(data[0], Problem):
        return _files_of(data[0], folder)
    section, geometry = (
        part if isinstance(part := document.get(name), dict) else {}
        for name in ("data", "geometry")
    )
    # The checker gets the numbers as NPZ where columns or rows of a table were changed, and of
    # files that it does not read.
    designed = re.search(" --(encode|missing drop)", str(section.get("name"))) is not None
    designed = designed and not (data and str(data[0]).endswith(".npz"))
    unread = len(data) == 1 and Path(data[0]).suffix.lower() in (".parquet", ".arrow", ".feather")
    if data and all(map(os.path.exists, data)) and not (designed or unread):
        idle = [f"--{name}" for name in _UNREAD if reading.get(name)]
        if idle:
            raise ProblemError(
                f"{' and '.join(idle)} would change nothing: {file} says how the files are read"
            )
        labels = reading.get("labels")
        return [Path(name) for name in (*data, *([labels] if labels else []))]
    if len(data) > 1:
        missing = next(name for name in data if not os.path.exists(name))
        raise ProblemError(no_file(missing))
    name = section.get("name") if not data or designed else str(data[0])
    if not isinstance(name, str):
        return []  # the checker will say what is wrong with the certificate
    from gammabar.problems import load
    from gammabar.problems.specs import split_problem

    if name == "arrays" or name.startswith("-"):
        made = "arrays in memory" if name == "arrays" else "standard input"
        raise ProblemError(f"{file} was made from {made}: name a file with these data as DATA")

    files, options = section.get("files"), dict[str, Any]()
    if section.get("format") in ("npy", "scipy") and isinstance(files, list) and files:
        # The file of the labels is in the folder of the points.
        options["labels"] = Path(name).with_name(Path(str(files[-1])).name)
    if " --" in name:  # a table: how it was read is said there
        name, options = split_problem(name)
        name = str(data[0]) if data else name
    label, drop = section.get("label"), section.get("drop")
    if label is not None:
        options["label"] = str(label)
    if isinstance(drop, list):
        options["drop"] = [str(column) for column in drop]
    options |= {key: value for key, value in reading.items() if value}
    problem = load(name, multiclass=geometry.get("type") == "multiclass", **options)
    return _files_of(problem, folder)


def _files_of(problem: Problem, folder: Path) -> list[Path]:
    """The files that a problem was read from, or one that is written for the purpose."""
    if problem.source is not None and problem.source.paths:
        return [Path(path) for path in problem.source.paths]
    return [write_npz(problem, folder / "data.npz")]


def write_npz(problem: Problem, path: Path) -> Path:
    """Arrays X (as stored) and y, whole or not at all.

    y are the labels that certificates of the problem name; −1/+1 or class numbers without any.
    """
    problem = problem.plain  # a constant feature is no part of the data
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    y = np.asarray(problem.labels if isinstance(problem, MulticlassProblem) else problem.y)
    several = isinstance(problem, MulticlassProblem)
    source = problem.source
    if source is not None and source.arrays is not None:
        numbers = [integer_of(name) for name in source.classes]
        names = np.array(source.classes if None in numbers else numbers)
        y = names[y if several else (y + 1) // 2]
    with whole(path, "wb") as stream:
        np.savez_compressed(stream, X=X, y=y)
    return path
