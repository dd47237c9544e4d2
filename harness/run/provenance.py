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
    return _hash(
        {
            "statements": task.statements,
            "elsewhere": _elsewhere(find_statements(task.statements)),
            "depends": task.depends,
            "papers": [(one.digest(), _neighbours(one.path)) for one in task.papers],
            "problem": run.problem,
            "data": _data(run.problem),
            "solver": _solver(solver),
            "trajectory": _file(solver.file) if isinstance(solver, Recorded) else None,
            "run": (run.iterations, run.seed, run.unit, run.like),
            "planned": task.planned,
            "source": source(),
        }
    )


def search_key(
    statement: Statement,
    solvers: Sequence[tuple[SolverRef, Mapping[str, Sequence[str]]]],
    papers: Sequence[PaperRef],
) -> str:
    """The hash of what a search is about: the statement with its paper, the solvers, their source.

    Each solver has the values that its options may have. Papers of the user count for a statement
    that is in none of ours.
    """
    home = str(statement.body.__module__)
    ours = _is_ours(home)
    return _hash(
        {
            "statement": statement.id,
            "elsewhere": _elsewhere([statement]),
            "papers": [] if ours else [(one.digest(), _neighbours(one.path)) for one in papers],
            "beside": {} if ours else _neighbours(_beside(home)),
            "solvers": [
                (_solver(ref), {name: [*values] for name, values in some.items()})
                for ref, some in solvers
            ],
            "source": source(),
        }
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


def _elsewhere(statements: Iterable[Statement]) -> dict[str, str]:
    """Files of statements that are in no paper of ours: a test's own module, say."""
    names = {str(statement.body.__module__) for statement in statements}
    files = {name: _beside(name) for name in names if not _is_ours(name)}
    return {name: _digest(Path(file)) for name, file in files.items() if Path(file).is_file()}


def _solver(solver: SolverRef | None) -> list[Any] | None:
    """The text of a solver; of a user's also the code, with the Python files in its folder."""
    if solver is None:
        return None
    if not isinstance(solver, InFile):
        return [solver.text]
    return [solver.text, solver.code, _neighbours(solver.file)]


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
