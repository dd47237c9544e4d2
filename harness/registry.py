"""Registry of papers: which there are, and what each brings.

A paper is a Python package, or a single file, with a `Paper` called ``paper``. What it brings is
found in it and listed nowhere else:

- statements, registered by the decorators of `gammabar.papers`, in any module;
- ``TRIALS``: the runs of the default plan, in a module ``trials``, or else in any module;
- ``FAMILY`` in a module ``mutants``, with ``matrix.json`` beside it: who kills whom;
- ``ARTEFACTS`` in any module: figures and tables (`gammabar.harness.paper.Artefact`), with
  ``measured.json`` beside them: what each took and showed;
- ``extremal.json``: where bounds come nearest to failing (`Extremal`);
- ``witnesses/<id>.json`` and a module ``refuters``: proofs that a statement is false as printed.

Papers are those of the package `gammabar.papers`, those that installed distributions offer under
the entry-point group ``gammabar.papers``, and those that the user names (`open_paper`). The modules
of a paper are imported when something in them is asked for. Papers that are a single file,
``papers/plugins/KEY.py``, are papers like those of a user, opened when their key is named.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gammabar.harness.run.tasks import PaperRef, Registered
from gammabar.harness.run.user_files import as_solver_class, forget, load_files
from gammabar.harness.verify.context import Trial
from gammabar.harness.verify.statement import STATEMENTS, Statement
from gammabar.harness.verify.verdict import Ruling
from gammabar.problems import ProblemError
from gammabar.problems.suggest import did_you_mean
from gammabar.solvers.base import SOLVERS

if TYPE_CHECKING:
    from gammabar.harness.paper import Artefact, Mutant

#: Option → values to draw from, for each solver.
Options = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Paper:
    """A source of statements: a paper, a lecture, a conjecture of one's own."""

    key: str  #: what the ids of its statements begin with: "jst" for "jst.thm3.1.1"
    title: str
    authors: str
    year: int | None = None
    venue: str = ""
    url: str = ""
    text: str = ""  #: which text was transcribed, where there is more than one
    #: The solvers of ``gammabar verify --random``: name → option → values to draw from.
    random: Options = field(default_factory=dict, repr=False)
    #: How much more often than once a solver is drawn.
    often: Mapping[str, int] = field(default_factory=dict, repr=False)
    #: Ids of statements whose tightness on Algorithm 1 the gate watches.
    gated: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.key):
            raise ValueError(
                f"a paper's key is a word of small letters, digits and hyphens, not {self.key!r}"
            )
        if self.key == "oracle":
            raise ValueError("the key 'oracle' is taken: it stands for the checks of the oracle")

    def __str__(self) -> str:
        when = "" if self.year is None else f" ({self.year})"
        return f"{self.authors}{when}, {self.title}"


#: What a file of such runs begins with.
EXTREMAL = {"format": "gammabar-extremal", "version": 1}


@dataclass(frozen=True)
class Extremal:
    """The run in which a statement came nearest to failing."""

    problem: str  #: as ``gammabar verify`` takes it; "" for a statement that brings its own
    solver: str
    iterations: int
    seed: int
    tightness: float  #: measured over bound, at the worst iterate
    worst_t: int | None  #: that iterate
    what: str  #: what is compared there
    found_by: str  #: a strategy of ``gammabar falsify``, or "plan"
    runs: int  #: how many runs were tried in the search; 0 where there is nothing to search


def read_extremal(path: Path) -> dict[str, Extremal]:
    """The runs in a file, by statement."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document.items() >= EXTREMAL.items():
            return {name: Extremal(**values) for name, values in document["statements"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ProblemError(f"{path}: not a file of extremal problems ({EXTREMAL})")


#: The order in which papers are listed; others follow, by name.
_FIRST = ("jst", "tyurin", "rp", "lec", "gb")
#: Modules of a paper without statements: they are imported for their own sake alone.
_ASIDE = ("trials", "mutants", "figures", "experiments", "refuters", "reference", "algorithms")
#: They share no code with the harness, and are imported by whoever checks a witness.
_INDEPENDENT = ("refuters", "reference", "algorithms")
#: Papers of one file, by their keys.
PLUGINS = Path(__file__).parent.parent / "papers" / "plugins"


@dataclass(frozen=True)
class _Package:
    """A paper, the names of its modules, and the folder with its other files."""

    paper: Paper
    name: str
    parts: tuple[str, ...]
    folder: Path
    #: Solvers that it brings: their names in its text, and in the registry.
    solvers: Mapping[str, str] = field(default_factory=dict)

    def modules(self) -> Iterator[ModuleType]:
        """All modules, imported now."""
        yield import_module(self.name)
        for part in self.parts:
            if part not in _INDEPENDENT:
                yield import_module(f"{self.name}.{part}")

    def module(self, name: str) -> ModuleType | None:
        """One module, if the paper has it."""
        return import_module(f"{self.name}.{name}") if name in self.parts else None

    def statements(self) -> dict[str, Statement]:
        """Its statements by id: module by module, as they are written."""
        homes = [self.name, *(f"{self.name}.{part}" for part in self._with_statements())]
        for home in homes:
            import_module(home)
        place = {home: number for number, home in enumerate(homes)}
        mine = [s for s in STATEMENTS.values() if s.source == self.paper.key]
        mine.sort(key=lambda s: place.get(str(s.body.__module__), len(place)))
        return {statement.id: statement for statement in mine}

    def statement(self, identifier: str) -> Statement | None:
        """One statement. The modules that name it are imported, or all if none does."""
        words = [f'"{identifier}"', f'"{identifier.partition(".")[2]}"']
        for part in self._with_statements():
            path = self.folder / f"{part}.py"
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if identifier not in STATEMENTS and any(word in text for word in words):
                import_module(f"{self.name}.{part}")
        return STATEMENTS.get(identifier) or self.statements().get(identifier)

    def _with_statements(self) -> list[str]:
        return [part for part in self.parts if part.partition("_")[0] not in _ASIDE]

    def trials(self) -> Iterator[Trial]:
        """Its runs of the default plan."""
        alone, ours = self.module("trials"), self.name.startswith("gammabar.papers.")
        for module in [alone] if alone or ours else self.modules():
            for trial in getattr(module, "TRIALS", ()):
                name, colon, options = trial.solver.partition(":")
                yield replace(trial, solver=self.solvers.get(name, name) + colon + options)

    def read(self, name: str) -> Any:
        """What a JSON file beside its modules holds; nothing if it is not there."""
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


#: Papers of the user, by their paths.
_OPENED: dict[str, tuple[PaperRef, _Package]] = {}
#: Keys of papers that are being opened, whose solvers are asked for on the way.
_OPENING: set[str] = set()


def open_paper(paper: PaperRef | str) -> Paper:
    """Register a paper of the user; opened again after a change, it replaces the old one."""
    ref = PaperRef.read(paper) if isinstance(paper, str) else paper
    if ref.path in _OPENED:
        before, package = _OPENED[ref.path]
        if before == ref:
            return package.paper
        close_paper(ref.path)
    package = _opened(ref)
    _OPENED[ref.path] = ref, package
    return package.paper


def open_plugin(name: str) -> None:
    """Open ``papers/plugins/KEY.py`` if `name` is KEY, or KEY.NAME."""
    key = name.partition(".")[0]
    path = PLUGINS / f"{key}.py"
    if key.isidentifier() and key not in {*papers(), *_OPENING, *_ASIDE} and path.is_file():
        open_paper(str(path))


@contextmanager
def plugins() -> Iterator[None]:
    """All papers of one file, open for a while."""
    before = set(_OPENED)
    for path in sorted(PLUGINS.glob("*.py")):
        open_plugin(path.stem)
    try:
        yield
    finally:
        for path_of in set(_OPENED) - before:
            close_paper(path_of)


def close_paper(path: str) -> None:
    """Forget a paper of the user, with all its statements."""
    _, package = _OPENED.pop(path)
    for name in package.solvers.values():
        del SOLVERS[name]
    for identifier in [i for i in STATEMENTS if _is_of(i, package.paper)]:
        del STATEMENTS[identifier]
    forget(package.name)


def _is_of(identifier: str, paper: Paper) -> bool:
    return identifier.partition(".")[0] == paper.key


def _opened(ref: PaperRef) -> _Package:
    name = f"gammabar_paper_{ref.digest()[:12]}"
    before = set(STATEMENTS)
    try:
        modules = load_files(ref.path, ref.files, name)
        paper = _paper(modules[0], ref.path)
        taken = papers().get(paper.key)
        if taken is not None:
            raise ProblemError(f"{ref.path}: the key {paper.key!r} is taken by {taken}")
        for identifier in set(STATEMENTS) - before:
            if not _is_of(identifier, paper):
                raise ProblemError(
                    f"{ref.path}: the statement {identifier!r} must be called {paper.key}.…, as"
                    f" {paper.key!r} is the key of its paper"
                )
        path = Path(ref.path)
        parts = tuple(m.__name__.removeprefix(f"{name}.") for m in modules[1:])
        package = _Package(paper, name, parts, path if path.is_dir() else path.parent)
        _OPENING.add(paper.key)  # KEY.NAME is its own solver, not that of a plug-in of this key
        try:
            return _with_solvers(package, ref.path, modules)
        finally:
            _OPENING.discard(paper.key)
    except BaseException:
        for identifier in set(STATEMENTS) - before:  # nothing of it stays
            del STATEMENTS[identifier]
        forget(name)
        raise


def _with_solvers(package: _Package, path: str, modules: Iterable[ModuleType]) -> _Package:
    """The paper with the solvers that it brings, registered as KEY.NAME.

    They are the generator functions and classes of its own that its statements or runs name.
    """
    paper, statements = package.paper, package.statements()
    asked = {text.partition(":")[0] for s in statements.values() for text in s.solvers}
    asked |= {trial.solver.partition(":")[0] for trial in package.trials()} | set(paper.random)
    own = {name: f"{paper.key}.{name}" for name in asked if _solver_in(modules, name)}
    for name, full in own.items():
        SOLVERS[full] = as_solver_class(full, path, _solver_in(modules, name))
    for identifier, statement in statements.items():
        STATEMENTS[identifier] = _about(statement, own, path)
    random = {own.get(name, name): options for name, options in paper.random.items()}
    return replace(package, paper=replace(paper, random=random), solvers=own)


def _about(statement: Statement, own: Mapping[str, str], path: str) -> Statement:
    """The statement with the names of its solvers in the registry, and the options they have."""
    settings = []
    for text in statement.solvers:
        name, colon, options = text.partition(":")
        setting = Registered(own.get(name, name) + colon + options)
        try:
            setting.fixed.open()  # a name or option that there is not gets a suggestion
        except ProblemError as error:
            raise ProblemError(f"{path}: {statement.id}: {error}") from None
        settings.append(setting)
    names = tuple(dict.fromkeys(setting.name for setting in settings))
    return replace(statement, solvers=names, settings=tuple(one.text for one in settings))


def _solver_in(modules: Iterable[ModuleType], name: str) -> Any:
    """The generator function, or class with ``iterates``, of this name that a paper defines."""
    for module in modules:
        found = getattr(module, name, None)
        fits = inspect.isgeneratorfunction(found)
        fits |= inspect.isclass(found) and hasattr(found, "iterates")
        if fits and found.__module__ == module.__name__:
            return found
    return None


def _paper(module: ModuleType, path: str) -> Paper:
    paper = getattr(module, "paper", None)
    if isinstance(paper, Paper):
        return paper
    what = "write paper = Paper(key=…, title=…, authors=…, year=…)"
    raise ProblemError(f"{path}: has no paper: {what}")


@cache
def _found() -> tuple[_Package, ...]:
    """The papers of the package `gammabar.papers`, and those that are installed."""
    import gammabar.papers

    modules = pkgutil.iter_modules(gammabar.papers.__path__)
    found = [_package(f"gammabar.papers.{module.name}") for module in modules if module.ispkg]
    order = {key: place for place, key in enumerate(_FIRST)}
    found.sort(key=lambda package: order.get(package.paper.key, len(order)))
    points = sorted(entry_points(group="gammabar.papers"), key=lambda point: point.name)
    return (*found, *(_installed(point) for point in points))


def _installed(point: Any) -> _Package:
    """A paper of another distribution; the error names one that cannot be imported."""
    try:
        package = _package(point.module)
        list(package.modules())
    except Exception as error:
        raise ProblemError(
            f"the paper {point.name!r} of {getattr(point.dist, 'name', 'a package')} cannot be"
            f" imported ({type(error).__name__}: {error}): mend or uninstall it"
        ) from error
    return package


def _package(name: str) -> _Package:
    package = import_module(name)
    path = getattr(package, "__path__", None)
    parts = [module.name for module in pkgutil.iter_modules(path)] if path else []
    parts.sort(key=lambda part: (part.startswith("appendix"), part))
    file = Path(package.__file__ or "")
    return _Package(_paper(package, name), name, tuple(parts), file.parent)


def _packages() -> Iterator[_Package]:
    yield from _found()
    yield from (package for _, package in _OPENED.values())


# --- what is in them


def papers() -> dict[str, Paper]:
    """Every paper by its key."""
    return {package.paper.key: package.paper for package in _packages()}


def opened_from(key: str) -> str | None:
    """The path of a paper of the user; None for papers that are found by themselves."""
    paths = (path for path, (_, p) in _OPENED.items() if p.paper.key == key)
    return next((path for path in paths if Path(path).parent != PLUGINS), None)


def load_statements(source: str | None = None) -> dict[str, Statement]:
    """Every statement by its id, or those of one paper: module by module, as they are written."""
    packages = [p for p in _packages() if source in (None, p.paper.key)]
    found = {i: s for package in packages for i, s in package.statements().items()}
    # Statements may stand in no paper at all: in a test, or in a notebook.
    return found | {i: s for i, s in STATEMENTS.items() if source in (None, s.source)}


def everything() -> dict[str, Statement]:
    """The checks of the oracle, then the registered statements, by id."""
    return _oracle_checks() | load_statements()


def _oracle_checks(prefix: str = "oracle.") -> dict[str, Statement]:
    if not prefix.startswith("oracle."):
        return {}
    from gammabar.harness.run.oracle_checks import ORACLE_CHECKS

    return ORACLE_CHECKS


def find_statement(identifier: str) -> Statement:
    """The statement with an id. Only what it needs of its paper is imported."""
    open_plugin(identifier)
    found = STATEMENTS.get(identifier) or _oracle_checks(identifier).get(identifier)
    for package in _packages() if found is None else ():
        if _is_of(identifier, package.paper):
            found = package.statement(identifier)
    if found is None:
        hint = did_you_mean(identifier, everything(), "see `gammabar list statements`")
        raise ProblemError(f"{identifier!r} is not a statement ({hint})")
    return found


def find_statements(identifiers: Iterable[str]) -> list[Statement]:
    """Statements by their ids."""
    return list(map(find_statement, identifiers))


def find_sources(sources: Iterable[str]) -> list[Statement]:
    """All statements of sources: "jst", "tyurin", "rp", "lec", "gb", "oracle"."""
    wanted = list(sources)
    for source in wanted:
        open_plugin(source)
    names = sorted({"oracle", *papers(), *(s.source for s in STATEMENTS.values())})
    for source in wanted:
        if source not in names:
            hint = did_you_mean(source, names, always=True)
            raise ProblemError(f"{source!r} is not a source ({hint})")
    found = _oracle_checks() if "oracle" in wanted else {}
    for source in [one for one in (*papers(), *names) if one in wanted and one != "oracle"]:
        found = found | load_statements(source)
    return list(found.values())


def obeyed_at_rest(identifier: str) -> str:
    """Why a solver that never moves obeys a statement for ever; "" if it does not."""
    statement = find_statement(identifier)
    return statement.at_rest or statement.powerless


def is_tested(results: Sequence[Any]) -> bool:
    """Whether one of the results on a statement is more than a vacuous pass.

    A statement that a solver at rest obeys for ever is tested by the mutants that it refutes, of
    which `slower` is one, or it is not about a solver. A pass of a user's solver is vacuous there.
    """
    if any(r.verdict.verdict is Ruling.REFUTED or r.verdict.informative for r in results):
        return True
    passes = [r for r in results if r.verdict.says_nothing]
    if not passes or any(r.run.foreign for r in passes):
        return False
    statement = find_statement(passes[0].verdict.statement)
    if statement.powerless or not statement.at_rest:
        return bool(statement.powerless)
    return bool(statement.slower) or any(statement.id in kills for kills in matrix().values())


def trials() -> tuple[Trial, ...]:
    """The runs of the default plan, each once."""
    return tuple(dict.fromkeys(trial for package in _packages() for trial in package.trials()))


def artefacts() -> dict[str, Artefact]:
    """Every figure and table by its id, paper by paper."""
    found: dict[str, Artefact] = {}
    for package in _packages():
        for module in package.modules():
            for artefact in getattr(module, "ARTEFACTS", ()):
                if artefact.id in found:
                    raise ProblemError(f"two artefacts are called {artefact.id}")
                if not _is_of(artefact.id, package.paper):
                    key = package.paper.key
                    raise ProblemError(f"the artefact {artefact.id!r} must be called {key}.…")
                found[artefact.id] = artefact
    return found


def measured() -> dict[str, dict[str, Any]]:
    """Artefact → seconds and bytes that its full settings took, and what they showed."""
    return {k: v for package in _packages() for k, v in package.read("measured.json").items()}


def mutants() -> dict[str, Mutant]:
    """Every wrong solver by its name."""
    found: dict[str, Mutant] = {}
    for package in _packages():
        module = package.module("mutants") or import_module(package.name)
        for mutant in module.FAMILY.mutants if hasattr(module, "FAMILY") else ():
            if mutant.name in found:
                raise ValueError(f"two mutants are called {mutant.name}")
            found[mutant.name] = mutant
    return found


def matrix() -> dict[str, dict[str, list[str]]]:
    """Mutant → statement → problems on which it refutes the mutant, as far as written down."""
    having = (package for package in _packages() if "mutants" in package.parts)
    return {k: v for package in having for k, v in package.read("matrix.json").items()}


def extremal() -> dict[str, Extremal]:
    """Statement → the run in which it came nearest to failing, as far as written down."""
    found: dict[str, Extremal] = {}
    for package in _packages():
        path = package.folder / "extremal.json"
        known = read_extremal(path) if path.is_file() else {}
        found |= {i: one for i, one in known.items() if _is_of(i, package.paper)}
    return found


def witness(identifier: str) -> Path | None:
    """The witness of a statement that is false as printed."""
    open_plugin(identifier)
    for package in _packages():
        if _is_of(identifier, package.paper):
            path = package.folder / "witnesses" / f"{identifier}.json"
            return path if path.is_file() else None
    return None
