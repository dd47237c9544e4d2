"""Solvers, tasks and results, as texts and as JSON.

A solver is one of the registry, with options: ``dual-acceleration:loss=logistic,step=0.5``; or a
class or function in a user's file, ``my.py:MySolver:step=0.5``, with the text of that file, so that
all processes and machines run the same; or recorded iterates, ``trajectory:w.npy``.

A task is a run and its statements, an outcome its verdicts, and a result one verdict, where it was
found, and whether it was expected.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import typing
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias
from xml.etree import ElementTree as xml

from gammabar.harness.verify.parameters import PREFIX
from gammabar.harness.verify.verdict import Expectation, Ruling, Verdict
from gammabar.problems import ProblemError
from gammabar.problems.options import split_options, typed_options
from gammabar.problems.output import finite, write_whole

# --- solvers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reference:
    """The text that names a solver."""

    text: str
    #: Whether it is a user's own, which is not trusted to behave.
    foreign: ClassVar[bool] = True
    _option: ClassVar[str]

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return self.text

    @property
    def option(self) -> tuple[str, str]:
        """How the command line takes it."""
        return self._option, self.text.removeprefix(TRAJECTORY)


@dataclass(frozen=True)
class Registered(_Reference):
    """A solver of the registry, with options perhaps.

    >>> Registered("dual-acceleration:loss=logistic,step=0.5").open().step
    0.5
    """

    foreign: ClassVar[bool] = False
    file: ClassVar[str] = ""
    _option: ClassVar[str] = "--solver"

    @property
    def name(self) -> str:
        return self.text.partition(":")[0].strip()

    @property
    def own(self) -> bool:
        """Whether it is one that a user's paper brings."""
        return "." in self.name

    @property
    def plain(self) -> bool:
        """Whether it is a mere name, without options."""
        return self.text == self.name

    @property
    def options(self) -> dict[str, str]:
        """Its options and their values, as texts; "*" is any value."""
        known = [option.name for option in fields(self._made())]
        return split_options(self.name, self.text.partition(":")[2], known)

    @property
    def free(self) -> list[str]:
        """Options that may have any value, as in "dual-acceleration:loss=*"."""
        return [name for name, value in self.options.items() if value == "*"]

    @property
    def fixed(self) -> Registered:
        """The solver without its free options, which have their defaults then."""
        kept = ",".join(f"{name}={v}" for name, v in self.options.items() if v != "*")
        return Registered(f"{self.name}:{kept}" if kept else self.name)

    def means(self, other: Registered) -> bool:
        """Whether this, with some values of its free options, is another solver."""
        mine, its = self.fixed.open(), other.open()
        if type(mine) is not type(its):
            return False
        return bool(replace(mine, **{name: getattr(its, name) for name in self.free}) == its)

    def _made(self) -> Any:
        """The class of the solver."""
        from gammabar.solvers.base import solver

        if self.own:
            from gammabar.harness.registry import open_plugin

            open_plugin(self.name)
        return solver(self.name)

    def open(self) -> Any:
        """The solver itself."""
        made = self._made()
        hints = typing.get_type_hints(made)
        kinds = {one.name: hints[one.name] for one in fields(made)}
        values = typed_options(self.name, self.text.partition(":")[2], kinds)
        try:
            return made(**values)
        except (TypeError, ValueError) as error:
            raise ProblemError(f"{self.text}: {error}") from None


#: FILE:CLASS and perhaps :OPTIONS. Names of files and options may have colons themselves.
_IN_FILE = re.compile(r"(?P<file>.+?\.py|.+):(?P<made>[^\W\d]\w*)(?::(?P<options>.*))?", re.DOTALL)


@dataclass(frozen=True)
class InFile(_Reference):
    """A solver in a user's file: "my.py:MySolver", with options perhaps.

    `code` is the text of the file; None where nobody will run it, as in results that were stored.
    """

    code: str | None = field(default=None, repr=False)
    name: ClassVar[str] = ""
    _option: ClassVar[str] = "--solver-file"

    @property
    def parts(self) -> tuple[str, str, str]:
        """The file, the name of the class or function, and its options."""
        found = _IN_FILE.fullmatch(self.text)
        if found is None or not found["made"].isidentifier():
            raise ProblemError(
                f"{self.text}: name a file and a class or function in it, as in my.py:MySolver"
            )
        return found["file"], found["made"], found["options"] or ""

    @property
    def file(self) -> str:
        return self.parts[0]

    @property
    def title(self) -> str:
        _, made, options = self.parts
        return made + f":{options}" * bool(options)

    def open(self) -> Any:
        """The solver itself; that runs the user's file."""
        from gammabar.harness.run.user_files import load

        return load(self)


#: What may follow the name of a file.
_OPTIONS = re.compile(r":([^\W\d]\w*=.*)$", re.DOTALL)
#: What the text of a recorded run begins with.
TRAJECTORY = "trajectory:"


@dataclass(frozen=True)
class Recorded(_Reference):
    """Iterates in a file: "trajectory:w.npy", or with options "trajectory:w.npy:step=0.5"."""

    name: ClassVar[str] = ""
    _option: ClassVar[str] = "--trajectory"

    @property
    def file(self) -> str:
        return _OPTIONS.sub("", self.option[1])

    title = file

    def open(self) -> Any:
        """The iterates, as a solver."""
        from gammabar.harness.run.user_files import read_trajectory

        found = _OPTIONS.search(self.option[1])
        return read_trajectory(self.file, found[1] if found else "")


SolverRef: TypeAlias = Registered | InFile | Recorded

#: A solver of a paper, with options perhaps: KEY.NAME, where NAME is no suffix of a file.
_OWN = re.compile(r"[a-z][a-z0-9-]*\.(?!py:)[^\W\d]\w*(:[^\W\d]\w*=.*)?", re.DOTALL)


def reference(text: str, code: str | None = None) -> SolverRef | None:
    """The solver that a text names; None for none. `code` is the text of the user's file."""
    from gammabar.solvers.base import SOLVERS

    if not text:
        return None
    if text.startswith(TRAJECTORY):
        return Recorded(text)
    if code is None and (text.partition(":")[0].strip() in SOLVERS or _OWN.fullmatch(text)):
        return Registered(text)
    return InFile(text, code)


def solver_name(text: str) -> str:
    """The name in the registry: what stands before the options."""
    return Registered(text).name


def open_solver(text: str) -> Any:
    """The solver of the registry that a text names, with its options."""
    return Registered(text).open()


@dataclass(frozen=True)
class PaperRef:
    """A paper of the user: the path of its file or folder, and names and texts of its files.

    The texts open it in another process or on another machine.
    """

    path: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: str) -> PaperRef:
        """The paper in a file or folder."""
        from gammabar.harness.run.user_files import read_files

        return cls(path, read_files(path))

    def digest(self) -> str:
        """Hash of its contents."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()


# --- tasks -----------------------------------------------------------------------------------

#: Seconds that a trajectory may take, unless the user says otherwise.
TIME_LIMIT = 300.0


@dataclass(frozen=True)
class Run:
    """One run of one solver on one problem."""

    #: "" for a statement that brings its own data.
    problem: str = ""
    #: None if there is none, or the statement takes one by itself.
    solver: SolverRef | None = None
    iterations: int = 0
    seed: int = 0
    #: Whether rows are divided by their largest norm.
    unit: bool = False
    #: The method that a user's solver implements: it has the options that the solver does not say.
    like: str = ""

    @property
    def of_inputs(self) -> bool:
        """Whether the problem is a choice of inputs for a statement with data of its own."""
        return self.problem.startswith(PREFIX)

    @property
    def foreign(self) -> bool:
        return self.solver is not None and self.solver.foreign

    @property
    def by(self) -> str:
        return "" if self.solver is None else self.solver.text


@dataclass(frozen=True)
class Task:
    """A run that several statements are about, or one statement that needs none."""

    run: Run
    #: Ids, and an `Expectation` of each.
    statements: tuple[str, ...]
    expected: tuple[str, ...]
    #: Whether the plan is ours: then a problem that does not fit the solver is a mistake.
    planned: bool = True
    #: Seconds that it may take.
    limit: float = TIME_LIMIT
    #: Papers of the user, in which the statements are found.
    papers: tuple[PaperRef, ...] = ()
    #: Hash of further files that the results depend on, see `gammabar.harness.run.provenance`.
    depends: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        run, solver = values["run"], values["run"]["solver"]
        found: SolverRef | None = None
        if solver is not None:
            text, code = solver["text"], solver.get("code")
            # That of a paper may not be in the registry yet.
            known = code is not None or text.startswith(TRAJECTORY)
            found = reference(text, code) if known else Registered(text)
        lists = {name: tuple(values[name]) for name in ("statements", "expected")}
        lists["papers"] = tuple(
            PaperRef(paper["path"], tuple(map(tuple, paper["files"]))) for paper in values["papers"]
        )
        return cls(**(values | lists | {"run": Run(**(run | {"solver": found}))}))

    def failed(self, failure: str, reason: str, seconds: float = 0.0) -> Outcome:
        """Nothing is known: something went wrong, or ("") the problem does not fit."""
        ruling = Ruling.UNDECIDED if failure else Ruling.INAPPLICABLE
        more: Any = {"reason": reason, "failure": failure}
        return Outcome(tuple(Verdict(one, ruling, **more) for one in self.statements), seconds)


@dataclass(frozen=True)
class Outcome:
    """The verdicts of one task, in the order of its statements."""

    verdicts: tuple[Verdict, ...]
    seconds: float
    #: SHA-256 of the canonical form of the data; "" if there are none, or they were not opened.
    data: str = ""

    @property
    def failed(self) -> bool:
        """Whether the solver did not do its part: such an outcome is shown, but not kept."""
        return any(verdict.failure for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        verdicts = [v.as_dict() for v in self.verdicts]
        return {"verdicts": verdicts, "seconds": self.seconds, "data": self.data}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        verdicts = tuple(verdict_from(v) for v in values["verdicts"])
        return cls(verdicts, float(values["seconds"]), values.get("data", ""))


def verdict_from(values: dict[str, Any]) -> Verdict:
    """A verdict from what `Verdict.as_dict` wrote; what this version does not know is left out."""
    known = {field.name for field in fields(Verdict)}
    return Verdict(**{name: value for name, value in values.items() if name in known})


# --- results ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """One verdict of a run."""

    verdict: Verdict
    run: Run
    #: An `Expectation`, or its text.
    expected: str
    #: Of the whole run, which other statements share.
    seconds: float
    #: Whether it is a vacuous pass where the user does not accept one, see `strictly`.
    worthless: bool = False

    @property
    def source(self) -> str:
        """jst, tyurin, rp, lec, gb or oracle."""
        return self.verdict.statement.partition(".")[0]

    @property
    def tightness(self) -> float:
        """For sorting: where there is none, it is less than any."""
        value = self.verdict.tightness
        return -math.inf if value is None or math.isnan(value) else value

    @property
    def as_expected(self) -> bool:
        """Whether nobody needs to look at it.

        A statement that is to hold may be inapplicable; it may not be undecided, and a solver that
        fails is never expected.
        """
        if self.verdict.failure or self.worthless:
            return False
        if self.expected == Expectation.HOLDS:
            return self.verdict.verdict in (Ruling.HOLDS, Ruling.INAPPLICABLE)
        if self.expected == Expectation.UNREFUTED:
            return self.verdict.verdict != Ruling.REFUTED
        return self.expected in (Expectation.EITHER, self.verdict.verdict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what is only drawn is in the store and in the report."""
        verdict: dict[str, Any] = finite(self.verdict.as_dict())
        del verdict["curve"]
        first = ("statement", "problem", "solver", "verdict", "expected", "as_expected")
        document = verdict | {
            "problem": self.run.problem,
            "solver": self.run.by,
            "expected": self.expected,
            "as_expected": self.as_expected,
            "seed": self.run.seed,
            "iterations": self.run.iterations,
            "seconds": self.seconds,
        }
        return {name: document[name] for name in first} | document


def settle(results: list[Result]) -> list[Result]:
    """What is expected of claims that are false, now that all runs are known.

    Such a claim is to be refuted on each of its problems, but not by every solver and with all
    options: where one run has refuted it, the others may end either way.
    """

    def place(result: Result) -> tuple[str, str, str]:
        return result.verdict.statement, result.run.problem, result.expected

    refuted = {place(result) for result in results if result.verdict.verdict is Ruling.REFUTED}
    return [
        replace(result, expected=Expectation.EITHER)
        if result.expected == Expectation.REFUTED != result.verdict.verdict
        and place(result) in refuted
        else result
        for result in results
    ]


def strictly(results: list[Result], excused: Callable[[Result], bool]) -> list[Result]:
    """The results, where a vacuous pass is a failure.

    A statement may be vacuous on some problems, if it is not on others. `excused` are those of
    which it is known that a solver that never moves obeys them for ever.
    """

    def place(result: Result) -> tuple[str, str]:
        return result.verdict.statement, result.run.by if result.run.foreign else ""

    told = {
        place(r) for r in results if r.verdict.verdict is Ruling.HOLDS and r.verdict.informative
    }
    return [
        replace(result, worthless=True)
        if result.expected == Expectation.HOLDS
        and result.verdict.says_nothing
        and place(result) not in told
        and not excused(result)
        else result
        for result in results
    ]


def telling(
    results: list[Result], *, asked: Callable[[Result], bool], each_problem: bool
) -> list[Result]:
    """The results without those that are inapplicable here, but not everywhere.

    Kept is what was `asked` for by name, a statement that is nowhere applicable (with
    `each_problem`: on each problem for itself), and what lacks its data.
    """

    def place(result: Result) -> tuple[str, str]:
        return result.verdict.statement, result.run.problem if each_problem else ""

    def applies(result: Result) -> bool:
        return result.verdict.verdict is not Ruling.INAPPLICABLE

    heard = {place(result) for result in results if applies(result)}
    return [
        result
        for result in results
        if applies(result)
        or result.expected == Expectation.INAPPLICABLE
        or place(result) not in heard
        or asked(result)
    ]


def summarise(results: Iterable[Result]) -> dict[str, int]:
    """How many there are of each verdict, how many were not expected, and how many failed."""
    results = list(results)
    counts = Counter(result.verdict.verdict for result in results)
    return {name: counts[name] for name in Ruling} | {
        "results": len(results),
        "unexpected": sum(not result.as_expected for result in results),
        "failures": sum(bool(result.verdict.failure) for result in results),
        "says_nothing": sum(result.verdict.says_nothing for result in results),
    }


# --- JUnit -----------------------------------------------------------------------------------

#: What is neither a pass nor a failure.
_SKIPPED = (Ruling.INAPPLICABLE, Ruling.NOT_REPRODUCIBLE)
#: Characters that XML 1.0 does not have.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, results: list[Result], explain: Callable[[Result], str]) -> None:
    """Write one test case per result, one suite per source, as JUnit XML.

    `explain` says what there is to say about a result that was not expected.
    """
    root = xml.Element("testsuites", name="gammabar")
    ordered = sorted(results, key=lambda result: result.source)
    for source, group in groupby(ordered, key=lambda result: result.source):
        suite, some = xml.SubElement(root, "testsuite", name=source), list(group)
        cases = [_case(suite, result, explain) for result in some]
        # A run counts once, though several statements are about it.
        seconds = sum(seconds for _, seconds in {(r.run, r.seconds) for r in some})
        kinds = {"errors": "error", "failures": "failure", "skipped": "skipped"}
        counts = {name: str(cases.count(kind)) for name, kind in kinds.items()}
        suite.attrib |= {"tests": str(len(some)), **counts, "time": f"{seconds:.6f}"}
    xml.indent(root)
    document = xml.tostring(root, encoding="unicode", xml_declaration=False)
    write_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n')


def _case(suite: xml.Element, result: Result, explain: Callable[[Result], str]) -> str:
    """Add a result: whether it is an "error", a "failure", "skipped", or a pass ("")."""
    verdict, run = result.verdict, result.run
    on, by = f" on {run.problem}" * bool(run.problem), f" by {run.by}" * bool(run.by)
    name = _legal(f"{verdict.statement}{on}{by} seed {run.seed}")
    case = xml.SubElement(suite, "testcase", classname=verdict.statement, name=name)
    case.set("time", f"{result.seconds:.6f}")
    if not result.as_expected:
        kind = "error" if verdict.failure else "failure"
        expected = f"{verdict.failure or verdict.verdict} (expected: {result.expected})"
        element = xml.SubElement(case, kind, message=_legal(expected), type=verdict.verdict)
        element.text = _legal(explain(result))
        return kind
    if verdict.verdict in _SKIPPED:
        xml.SubElement(case, "skipped", message=_legal(verdict.reason))
        return "skipped"
    return ""


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
