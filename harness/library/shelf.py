"""Finds papers, and what is in them."""

from __future__ import annotations

import hashlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from gammabar.harness.court.statement import STATEMENTS, Statement
from gammabar.harness.court.trial import Trial
from gammabar.harness.library.loading import load_files, read_files
from gammabar.harness.library.mutant import Mutant
from gammabar.harness.library.paper import Paper
from gammabar.problems import ProblemError

#: The order in which papers are listed; others follow, by name.
_FIRST = ("jst", "tyurin", "rp", "lec", "gb")


@dataclass(frozen=True)
class Volume:
    """A paper and its modules."""

    paper: Paper
    modules: tuple[ModuleType, ...]
    folder: Path | None

    def module(self, name: str) -> ModuleType | None:
        """The module of this name, if the paper has it."""
        return next((m for m in self.modules if m.__name__.endswith(f".{name}")), None)


@dataclass(frozen=True)
class PaperRef:
    """A paper of the user, as plans, workers and stores know it: its path and its files.

    Attributes
    ----------
    path : str
        As the user wrote it: "my_paper.py", or a folder.
    files : tuple of (str, str)
        Relative names and texts of its Python files, so that it can be opened elsewhere.
    """

    path: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: str) -> PaperRef:
        """The paper in a file or folder."""
        return cls(path, read_files(path))

    def digest(self) -> str:
        """Hash of its contents."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()


_OPENED: dict[str, Volume] = {}


def open_paper(paper: PaperRef | str) -> Paper:
    """Put a paper of the user on the shelf; opened again, it is the same one.

    Raises
    ------
    ProblemError
        If it cannot be imported, has no ``paper``, or takes a name that is taken.
    """
    ref = PaperRef.read(paper) if isinstance(paper, str) else paper
    key = ref.digest()
    if key not in _OPENED:
        _ours()  # so that an id that is taken is noticed
        _OPENED[key] = _opened(ref, f"gammabar_paper_{key[:12]}")
    return _OPENED[key].paper


def _opened(ref: PaperRef, name: str) -> Volume:
    before = set(STATEMENTS)
    try:
        modules = load_files(ref.path, ref.files, name)
        paper = _paper(modules[0], ref.path)
        taken = next((v for v in _volumes() if v.paper.key == paper.key), None)
        if taken is not None:
            raise ProblemError(f"{ref.path}: the key {paper.key!r} is taken by {taken.paper}")
        _check_ids(paper, [i for i in STATEMENTS if i not in before], ref.path)
    except BaseException:
        for identifier in set(STATEMENTS) - before:  # nothing of it stays
            del STATEMENTS[identifier]
        for loaded in [n for n in sys.modules if n.partition(".")[0] == name]:
            del sys.modules[loaded]
        raise
    path = Path(ref.path)
    return Volume(paper, modules, path if path.is_dir() else path.parent)


def _check_ids(paper: Paper, identifiers: list[str], path: str) -> None:
    for identifier in identifiers:
        if identifier.partition(".")[0] != paper.key:
            raise ProblemError(
                f"{path}: the statement {identifier!r} must be called {paper.key}.…, as"
                f" {paper.key!r} is the key of its paper"
            )


def _paper(module: ModuleType, path: str) -> Paper:
    paper = getattr(module, "paper", None)
    if not isinstance(paper, Paper):
        raise ProblemError(
            f"{path}: has no paper: write paper = Paper(key=…, title=…, authors=…, year=…)"
        )
    return paper


@cache
def _ours() -> tuple[Volume, ...]:
    """The papers of the package `gammabar.papers`, and those that are installed."""
    import gammabar.papers

    found = [
        _volume(f"gammabar.papers.{module.name}")
        for module in pkgutil.iter_modules(gammabar.papers.__path__)
        if module.ispkg
    ]
    order = {key: place for place, key in enumerate(_FIRST)}
    found.sort(key=lambda volume: order.get(volume.paper.key, len(order)))
    points = sorted(entry_points(group="gammabar.papers"), key=lambda point: point.name)
    return (*found, *(_installed(point) for point in points))


def _installed(point: Any) -> Volume:
    """A paper of another distribution; one that is broken is said to be, by its name."""
    try:
        volume = _volume(point.module)
    except Exception as error:
        raise ProblemError(
            f"the paper {point.name!r} of {getattr(point.dist, 'name', 'a package')} cannot be"
            f" imported ({type(error).__name__}: {error}): mend or uninstall it"
        ) from error
    return volume


def _volume(name: str) -> Volume:
    package = import_module(name)
    path = getattr(package, "__path__", None)
    names = sorted(module.name for module in pkgutil.iter_modules(path)) if path else []
    # Refuters share nothing with the court, and are imported by whoever checks a witness.
    modules = (import_module(f"{name}.{one}") for one in names if one != "refuters")
    file = Path(package.__file__ or "")
    return Volume(_paper(package, name), (package, *modules), file.parent)


def _volumes() -> Iterator[Volume]:
    yield from _ours()
    yield from _OPENED.values()


# --- what is in them -------------------------------------------------------------------------


def papers() -> dict[str, Paper]:
    """Every paper by its key."""
    return {volume.paper.key: volume.paper for volume in _volumes()}


def load_statements() -> dict[str, Statement]:
    """Every statement by its id, paper by paper."""
    order = {key: place for place, key in enumerate(papers())}
    ordered = sorted(STATEMENTS.values(), key=lambda s: order.get(s.source, len(order)))
    return {statement.id: statement for statement in ordered}


def trials() -> tuple[Trial, ...]:
    """The runs of the default plan, each once."""
    modules = (module for volume in _volumes() for module in volume.modules)
    found = (trial for module in modules for trial in getattr(module, "TRIALS", ()))
    return tuple(dict.fromkeys(found))


def mutants() -> dict[str, Mutant]:
    """Every wrong solver by its name."""
    found: dict[str, Mutant] = {}
    for module in _modules("mutants"):
        for mutant in module.FAMILY.mutants:
            if mutant.name in found:
                raise ValueError(f"two mutants are called {mutant.name}")
            found[mutant.name] = mutant
    return found


def loops() -> tuple[Any, ...]:
    """The loops that mutants are made of, each as good as the solver whose `card` it has."""
    return tuple(loop for module in _modules("mutants") for loop in getattr(module, "LOOPS", ()))


def matrix() -> dict[str, dict[str, list[str]]]:
    """Mutant → statement → problems on which it refutes the mutant, as far as written down."""
    found: dict[str, dict[str, list[str]]] = {}
    for volume in _volumes():
        path = volume.folder / "matrix.json" if volume.folder else None
        if path is not None and volume.module("mutants") and path.is_file():
            found |= json.loads(path.read_text(encoding="utf-8"))
    return found


def witnesses() -> dict[str, Path]:
    """Statement → file of the witness that refutes it."""
    return {i: path for i in load_statements() if (path := witness(i)) is not None}


def witness(identifier: str) -> Path | None:
    """The witness of a statement that is false as printed."""
    source = identifier.partition(".")[0]
    for volume in _volumes():
        if volume.paper.key == source and volume.folder is not None:
            path = volume.folder / "witnesses" / f"{identifier}.json"
            return path if path.is_file() else None
    return None


def _modules(name: str) -> Iterator[ModuleType]:
    return (module for volume in _volumes() if (module := volume.module(name)) is not None)
