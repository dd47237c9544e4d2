"""Content hashes: a stored result counts only as long as nothing that it depends on has changed.

A key covers the problem (its text; the contents of every file that this names, labels included; for
a data set, whether it is there), the solver (its options and the source code that it consists of;
for a user's file, its text and the Python files in its folder and in the folders there), the
statements and papers with their source code (and the Python files beside a user's), iterations,
seed and unit, the source code of the court, of the oracle and of the problems, and the versions of
Python and of the libraries whose results may differ. What else a user's solver reads, such as a
file of weights or a module elsewhere, is not seen: it is named with ``--depends``.

With what results are computed: versions, machine, commit; nothing about who or where.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import inspect
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import gammabar
from gammabar.harness.registry import PaperRef, find_statements
from gammabar.harness.run.results import Task
from gammabar.harness.run.specs import InFile, Recorded, Registered, SolverRef, split_problem
from gammabar.harness.verify.statement import Statement
from gammabar.problems import ProblemError

#: The folder of the package `gammabar`, whose links lead to the folders beside it.
_ROOT = Path(gammabar.__file__).resolve().parent
_PACKAGES = ("problems", "oracle", "solvers", "harness", "papers")
#: Their results may differ in the last digit from version to version.
_LIBRARIES = ("gammabar", "numpy", "scipy", "numba", "python-flint")
#: What an import asks for: a module, and a name in it unless it is the module itself.
Import: TypeAlias = tuple[str, str | None]
#: Every task depends on these, partly through imports by name, which a parser does not see.
_ALWAYS = (
    "problems/*.py",
    "oracle/*.py",
    "harness/verify/*.py",
    "harness/run/engine.py",
    "harness/run/sandbox.py",
)


def key(task: Task) -> str:
    """The hash of a task: problem, solver, statements, their source, seed and iterations."""
    run, solver = task.run, task.run.solver
    parts: dict[str, Any] = {
        "statements": task.statements,
        "depends": task.depends,
        "papers": [(one.digest(), _neighbours(one.path)) for one in task.papers],
        "problem": run.problem,
        "data": _data(run.problem),
        "solver": run.by,
        "code": solver.code if isinstance(solver, InFile) else None,
        "beside": _beside(solver),
        "trajectory": _file(solver.file) if isinstance(solver, Recorded) else None,
        "run": (run.iterations, run.seed, run.unit),
        "planned": task.planned,
        "source": source(_modules(task)),
        "libraries": _versions(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def search_key(
    statement: Statement,
    solvers: Sequence[tuple[SolverRef, Mapping[str, Sequence[str]]]],
    papers: Sequence[PaperRef],
) -> str:
    """The hash of what a search is about: the statement with its paper, the solvers, their source.

    Parameters
    ----------
    statement : Statement
    solvers : sequence of (SolverRef, options)
        Whose runs are searched, each with the values that its options may have.
    papers : sequence of PaperRef
        Papers of the user. They count for a statement that is in none of ours.
    """
    home = str(statement.body.__module__)
    names = {*_homes(statement), *(name for ref, _ in solvers for name in _home(ref))}
    ours = path_of(home) is not None
    parts: dict[str, Any] = {
        "statement": statement.id,
        "papers": [] if ours else [(one.digest(), _neighbours(one.path)) for one in papers],
        "beside": {} if ours else _neighbours(getattr(sys.modules.get(home), "__file__", "") or ""),
        "solvers": [
            (ref.text, getattr(ref, "code", None), _beside(ref), {k: [*v] for k, v in some.items()})
            for ref, some in solvers
        ],
        "source": source(tuple(sorted(names))),
        "libraries": _versions(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def contents(paths: Iterable[Path]) -> str:
    """The hash of files, and of all files in folders, by their contents and names."""
    found: dict[str, str] = {}
    for path in paths:
        inside = (
            sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        )
        for file in inside:
            with file.open("rb") as stream:
                found[str(file)] = hashlib.file_digest(stream, "sha256").hexdigest()
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest() if found else ""


def _beside(solver: SolverRef | None) -> dict[str, str]:
    """The Python files in the folder of a user's solver, which may import them."""
    return _neighbours(solver.file) if isinstance(solver, InFile) else {}


def _neighbours(file: str) -> dict[str, str]:
    """The Python files in the folder of a file, and in the folders there; none without a file."""
    if not file:
        return {}
    folder = Path(file).resolve().parent
    found = sorted(p for some in ("*.py", "*/*.py") for p in folder.glob(some) if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def _data(text: str) -> dict[str, Any]:
    """The hashes of the files of the user that a problem is read from.

    Data sets have pinned sums, so that they are there or not; generators are source code.
    """
    from gammabar.problems.datasets import DATASETS, is_here
    from gammabar.problems.from_files import named_file

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
    path = Path(name)
    try:
        if not path.is_file():
            return None
    except OSError:  # a name that is too long
        return None
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _modules(task: Task) -> tuple[str, ...]:
    names = {name for one in find_statements(task.statements) for name in _homes(one)}
    return tuple(sorted(names.union(_home(task.run.solver))))


def _home(reference: SolverRef | None) -> tuple[str, ...]:
    """The module of a solver of the registry."""
    if not isinstance(reference, Registered):
        return ()
    from gammabar.solvers.base import solver

    return (str(solver(reference.name).__module__),)


@cache
def _homes(statement: Statement) -> tuple[str, ...]:
    """The module of a statement; its whole paper if it is registered elsewhere than written."""
    name = str(statement.body.__module__)
    path = path_of(name)
    if path is None or f'"{statement.id}"' in path.read_text(encoding="utf-8"):
        return (name,)
    package = name.rpartition(".")[0]
    return (name, *(f"{package}.{p.stem}" for p in sorted(path.parent.glob("*.py"))))


@cache
def _versions() -> dict[str, str]:
    found = {"python": sys.version}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""  # run from a folder, without installation
    return found


@cache
def source(modules: tuple[str, ...]) -> str:
    """The hash of modules and of all modules of the project that they import, in any way."""
    always = [path for pattern in _ALWAYS for path in _ROOT.glob(pattern)]
    todo = [*modules, *(_name(path) for path in always)]
    found: dict[str, str] = {}
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name], imported = _read(name)
        todo += imported
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def whole() -> str:
    """The hash of all source code of the project, and of the libraries that matter."""
    files = sorted(path for package in _PACKAGES for path in (_ROOT / package).rglob("*.py"))
    found = {str(p.relative_to(_ROOT)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    return hashlib.sha256(json.dumps([found, _versions()]).encode()).hexdigest()


@cache
def _read(name: str) -> tuple[str, tuple[str, ...]]:
    """The hash of a module, and what it imports of the project."""
    path = path_of(name)
    if path is None:  # a test's own module, or one that exists in memory alone
        module = sys.modules.get(name)
        file = inspect.getsourcefile(module) if module else None
        return (hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""), ()
    text = path.read_bytes()
    asked = imports(ast.parse(text), name, path.name == "__init__.py")
    imported = {one for base, word in asked for one in (base, f"{base}.{word}")}
    return hashlib.sha256(text).hexdigest(), tuple(one for one in imported if path_of(one))


def imports(tree: ast.AST, name: str, package: bool) -> Iterator[Import]:
    """What a module imports anywhere in it, but for imports that only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield from imports(node, name, package)
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                parts = parts[: len(parts) - node.level + package]
                base = ".".join([*parts, *filter(None, [base])])
            yield from ((base, alias.name) for alias in node.names)


def _name(path: Path) -> str:
    """The module that a file is."""
    return ".".join(("gammabar", *path.relative_to(_ROOT).with_suffix("").parts))


@cache
def path_of(name: str) -> Path | None:
    """The file of a module of the project; None if it is none."""
    package, *parts = name.split(".")
    if package != "gammabar" or not parts or parts[0] not in _PACKAGES:
        return None
    base = _ROOT.joinpath(*parts)
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


_CLONE = Path(__file__).resolve().parents[2]
_SHOWN_LIBRARIES = ("numpy", "scipy", "numba", "python-flint", "scikit-learn")


def origin() -> dict[str, Any]:
    """Versions of gammabar, Python and libraries; kind of machine; commit, if it is a clone."""
    return {
        "gammabar": _version("gammabar"),
        "commit": commit(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: _version(name) for name in _SHOWN_LIBRARIES},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def commit() -> str:
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
