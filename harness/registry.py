"""References to papers of users, which travel to other processes and machines.

Finds papers, and what is in them.

All that a plan may contain: the checks of the oracle, and the statements of the sources.
"""

from __future__ import annotations

import hashlib
import json
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from gammabar.harness.paper import Artefact, Extremal, Mutant, Paper, read as read_extremal
from gammabar.harness.run.oracle_checks import ORACLE_CHECKS
from gammabar.harness.run.user_files import forget, load_files, read_files
from gammabar.harness.verify.context import Trial
from gammabar.harness.verify.statement import STATEMENTS, Statement
from gammabar.problems import ProblemError
from gammabar.problems.suggest import did_you_mean


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

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PaperRef:
        """From JSON."""
        return cls(values["path"], tuple((name, text) for name, text in values["files"]))

    def digest(self) -> str:
        """Hash of its contents."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()


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


#: Papers of the user, by their paths.
_OPENED: dict[str, tuple[PaperRef, Volume]] = {}


def open_paper(paper: PaperRef | str) -> Paper:
    """Put a paper of the user on the shelf.

    Opened again it is the same one, or, if its files have changed, takes the place of the old one.

    Raises
    ------
    ProblemError
        If it cannot be imported, has no ``paper``, or takes a name that is taken.
    """
    ref = PaperRef.read(paper) if isinstance(paper, str) else paper
    if ref.path in _OPENED:
        before, volume = _OPENED[ref.path]
        if before == ref:
            return volume.paper
        close_paper(ref.path)
    _ours()  # so that an id that is taken is noticed
    volume = _opened(ref)
    _OPENED[ref.path] = ref, volume
    return volume.paper


def close_paper(path: str) -> None:
    """Take a paper of the user off the shelf, with all its statements."""
    _, volume = _OPENED.pop(path)
    _forget(volume.modules[0].__name__, [s for s in STATEMENTS if _is_of(s, volume.paper)])


def _is_of(identifier: str, paper: Paper) -> bool:
    return identifier.partition(".")[0] == paper.key


def _forget(name: str, identifiers: Iterable[str]) -> None:
    for identifier in identifiers:
        del STATEMENTS[identifier]
    forget(name)


def _opened(ref: PaperRef) -> Volume:
    name = f"gammabar_paper_{ref.digest()[:12]}"
    before = set(STATEMENTS)
    try:
        modules = load_files(ref.path, ref.files, name)
        paper = _paper(modules[0], ref.path)
        taken = next((v for v in _volumes() if v.paper.key == paper.key), None)
        if taken is not None:
            raise ProblemError(f"{ref.path}: the key {paper.key!r} is taken by {taken.paper}")
        _check_ids(paper, [i for i in STATEMENTS if i not in before], ref.path)
    except BaseException:
        _forget(name, set(STATEMENTS) - before)  # nothing of it stays
        raise
    path = Path(ref.path)
    return Volume(paper, modules, path if path.is_dir() else path.parent)


def _check_ids(paper: Paper, identifiers: list[str], path: str) -> None:
    for identifier in identifiers:
        if not _is_of(identifier, paper):
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
    names = sorted((m.name for m in pkgutil.iter_modules(path)), key=_place) if path else []
    # These share nothing with the court, and are imported by whoever checks a witness.
    apart = ("refuters", "reference", "algorithms")
    modules = (import_module(f"{name}.{one}") for one in names if one not in apart)
    file = Path(package.__file__ or "")
    return Volume(_paper(package, name), (package, *modules), file.parent)


def _place(name: str) -> tuple[bool, str]:
    """Where a module of a paper is read, as statements are listed: appendices are at its end."""
    return name.startswith("appendix"), name


def _volumes() -> Iterator[Volume]:
    yield from _ours()
    yield from (volume for _, volume in _OPENED.values())


# --- what is in them -------------------------------------------------------------------------


def papers() -> dict[str, Paper]:
    """Every paper by its key."""
    return {volume.paper.key: volume.paper for volume in _volumes()}


def opened_from(key: str) -> str | None:
    """The path of a paper of the user; None for papers that are found by themselves."""
    return next((path for path, (_, v) in _OPENED.items() if v.paper.key == key), None)


def load_statements() -> dict[str, Statement]:
    """Every statement by its id: paper by paper, module by module, as they are written."""
    order = {key: place for place, key in enumerate(papers())}
    modules = [module.__name__ for volume in _volumes() for module in volume.modules]
    homes = {name: place for place, name in enumerate(modules)}

    def place(statement: Statement) -> tuple[int, int]:
        home = str(statement.body.__module__)
        return order.get(statement.source, len(order)), homes.get(home, len(homes))

    return {statement.id: statement for statement in sorted(STATEMENTS.values(), key=place)}


def trials() -> tuple[Trial, ...]:
    """The runs of the default plan, each once."""
    modules = (module for volume in _volumes() for module in volume.modules)
    found = (trial for module in modules for trial in getattr(module, "TRIALS", ()))
    return tuple(dict.fromkeys(found))


def artefacts() -> dict[str, Artefact]:
    """Every figure and table by its id, paper by paper."""
    found: dict[str, Artefact] = {}
    for volume in _volumes():
        for module in volume.modules:
            for artefact in getattr(module, "ARTEFACTS", ()):
                if artefact.id in found:
                    raise ProblemError(f"two artefacts are called {artefact.id}")
                if not _is_of(artefact.id, volume.paper):
                    key = volume.paper.key
                    raise ProblemError(f"the artefact {artefact.id!r} must be called {key}.…")
                found[artefact.id] = artefact
    return found


def measured() -> dict[str, dict[str, Any]]:
    """Artefact → seconds and bytes that its full settings took, and what they showed."""
    found: dict[str, dict[str, Any]] = {}
    for volume in _volumes():
        path = volume.folder / "measured.json" if volume.folder else None
        if path is not None and path.is_file():
            found |= json.loads(path.read_text(encoding="utf-8"))
    return found


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


def extremal() -> dict[str, Extremal]:
    """Statement → the run in which it came nearest to failing, as far as written down."""
    found: dict[str, Extremal] = {}
    for volume in _volumes():
        path = volume.folder / "extremal.json" if volume.folder else None
        if path is not None and path.is_file():
            known = _extremal(path, path.stat().st_mtime_ns)
            found |= {i: one for i, one in known.items() if _is_of(i, volume.paper)}
    return found


@lru_cache(maxsize=32)
def _extremal(path: Path, changed: int) -> dict[str, Extremal]:
    return read_extremal(path)


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


def everything() -> dict[str, Statement]:
    """The checks of the oracle, then the registered statements, by id."""
    return ORACLE_CHECKS | load_statements()


def find_statements(identifiers: Iterable[str]) -> list[Statement]:
    """Statements by their ids."""
    known = everything()
    return [known[one] if one in known else _unknown(one, known) for one in identifiers]


def find_sources(sources: Iterable[str]) -> list[Statement]:
    """All statements of sources: "jst", "tyurin", "rp", "lec", "gb", "oracle"."""
    known = everything().values()
    names = sorted({statement.source for statement in known})
    for source in sources:
        if source not in names:
            hint = did_you_mean(source, names, always=True)
            raise ProblemError(f"{source!r} is no source ({hint})")
    return [statement for statement in known if statement.source in sources]


def _unknown(identifier: str, known: dict[str, Statement]) -> Statement:
    hint = did_you_mean(identifier, known, "see `gammabar list statements`")
    raise ProblemError(f"{identifier!r} is no statement ({hint})")


def obeyed_at_rest(identifier: str) -> str:
    """Why a solver that stands still obeys a statement for ever; "" if it does not."""
    statement = everything()[identifier]
    return statement.at_rest or statement.powerless
