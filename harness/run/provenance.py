"""Provenance of results: content hashes, versions, machine and commit.

A stored result counts only as long as nothing that it depends on has changed. Its key covers the
problem (its text; the contents of every file that this names, labels included; for a data set,
whether it is there), the solver (its options; for a user's file, its text and the Python files in
its folder and in the folders there), the statements and papers (and the Python files beside a
user's), iterations, seed and unit, the source code of gammabar, and the versions of Python and of
the libraries whose results may differ. What else a user's solver reads, such as a file of weights
or a module elsewhere, is not seen: it is named with ``--depends``.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import gammabar
from gammabar.harness.registry import find_statements
from gammabar.harness.run.tasks import InFile, PaperRef, Recorded, SolverRef, Task
from gammabar.harness.verify.statement import Statement
from gammabar.problems import ProblemError
from gammabar.problems.specs import split_problem

#: The folder of the package `gammabar`, whose links lead to the folders beside it.
_ROOT = Path(gammabar.__file__).resolve().parent
_PACKAGES = ("problems", "oracle", "solvers", "harness", "papers")
#: Their results may differ in the last digit from version to version.
_LIBRARIES = ("gammabar", "numpy", "scipy", "numba", "python-flint")
_CLONE = Path(__file__).resolve().parents[2]


def key(task: Task) -> str:
    """The hash of a task: problem, solver, statements, their source, seed and iterations."""
    run, solver = task.run, task.run.solver
    about = [task.statements, task.depends, task.planned, asdict(run)]
    files = [_data(run.problem), _file(solver.file) if isinstance(solver, Recorded) else None]
    code = _code(find_statements(task.statements), [solver], task.papers)
    return _hash([about, files, code, source()])


def search_key(
    statement: Statement,
    solvers: Sequence[tuple[SolverRef, Mapping[str, Sequence[str]]]],
    papers: Sequence[PaperRef],
) -> str:
    """The hash of what a search is about: the statement with its paper, the solvers, their source.

    Each solver has the values that its options may have. Papers of the user count for a statement
    that is in none of ours.
    """
    about = [(asdict(ref), {name: [*v] for name, v in some.items()}) for ref, some in solvers]
    papers = [] if _is_ours(str(statement.body.__module__)) else papers
    return _hash(
        [statement.id, about, _code([statement], [ref for ref, _ in solvers], papers), source()]
    )


def contents(paths: Iterable[Path]) -> str:
    """The hash of files, and of all files in folders, by their contents and names."""
    found: dict[str, str | None] = {}
    for path in paths:
        inside = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
        found |= {str(file): _digest(file) for file in inside}
    return _hash(found) if found else ""


@cache
def source() -> str:
    """The hash of all source code of the project, and of the libraries that matter."""
    files = [path for package in _PACKAGES for path in (_ROOT / package).rglob("*.py")]
    versions = {name: _version(name) for name in _LIBRARIES} | {"python": sys.version}
    return _hash([{str(path.relative_to(_ROOT)): _digest(path) for path in files}, versions])


def source_with(module: str) -> str:
    """The same with a module, and the Python files beside it, where it is not of the project."""
    return source() if _is_ours(module) else _hash([source(), module, _neighbours(_beside(module))])


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "gammabar"


def _code(
    statements: Iterable[Statement],
    solvers: Iterable[SolverRef | None],
    papers: Iterable[PaperRef],
) -> list[Any]:
    """The papers of the user, and the Python files beside them, solvers and other statements."""
    modules = {str(statement.body.__module__) for statement in statements}
    beside = [_beside(name) for name in sorted(modules) if not _is_ours(name)]
    beside += [solver.file for solver in solvers if isinstance(solver, InFile)]
    return [(one.files, _neighbours(one.path)) for one in papers] + [*map(_neighbours, beside)]


def _beside(module: str) -> str:
    """The file of a module, if it has one."""
    return getattr(sys.modules.get(module), "__file__", "") or ""


def _neighbours(file: str) -> dict[str, str]:
    """The Python files in the folder of a file, and in the folders there; none without a file."""
    if not file:
        return {}
    folder = Path(file).resolve().parent
    found = [p for some in ("*.py", "*/*.py") for p in folder.glob(some) if p.is_file()]
    return {str(path.relative_to(folder)): _digest(path) for path in found}


def _data(text: str) -> dict[str, Any]:
    """The hashes of the files of the user that a problem is read from.

    Data sets have pinned sums, so that they are there or not; generators are source code.
    """
    from gammabar.problems.datasets import DATASETS, is_here
    from gammabar.problems.specs import named_file

    data, options = split_problem(text) if text else ("", {})
    dataset = DATASETS.get(data.partition(":")[0])
    if dataset is not None:
        return {"here": is_here(dataset)}
    try:
        named = named_file(data) if data else None
    except ProblemError:  # it will be refused when it is opened
        named = None
    files = [None if named is None else str(named.path), options.get("labels")]
    return {name: _file(name) for name in files if name is not None}


def _file(name: str) -> str | None:
    """The hash of a file; None if there is none."""
    try:
        return _digest(Path(name)) if Path(name).is_file() else None
    except OSError:  # a name that is too long
        return None


# --- for people ------------------------------------------------------------------------------


def _program() -> str:
    name = Path(sys.argv[0]).name
    return "gammabar" if name == "__main__.py" else name  # python -m gammabar


def origin() -> dict[str, Any]:
    """Command; versions of gammabar, Python and libraries; machine; commit, if it is a clone."""
    libraries = ("numpy", "scipy", "numba", "python-flint", "scikit-learn")
    return {
        "command": shlex.join([_program(), *sys.argv[1:]]),
        "gammabar": _version("gammabar"),
        "commit": _commit(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: _version(name) for name in libraries},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""  # run from a folder, without installation


def _commit() -> str:
    """The commit of the clone that this is, and whether files of it have changed; "" if none."""
    if not (_CLONE / ".git").exists():
        return ""
    found = _git("rev-parse", "HEAD")
    return found and found + (", changed" if _git("status", "--porcelain", "-uno") else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=_CLONE, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
