"""Problems and solvers as texts, in plans, stores, results and on the command line.

A problem is DATA and what may follow it: ``iris:0,1 --kernel rbf:gamma=1 --normalised``,
``iris:0,1,2 --multiclass``, ``points.csv --label class --drop id``. A solver is one of the
registry, with options: ``dual-acceleration:loss=logistic,step=0.5``; or a class or function in a
user's file, ``my.py:MySolver:step=0.5``, with the text of that file, so that all processes and
machines run the same; or recorded iterates, ``trajectory:w.npy``.

Tasks, their outcomes, and results: a verdict, where it was found, and whether it was expected.

Tasks and outcomes travel between processes as JSON. Results can be written as JUnit XML.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shlex
import stat
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias
from xml.etree import ElementTree as xml

from gammabar.harness.verify.parameters import PREFIX
from gammabar.harness.verify.verdict import Expectation, Ruling, Verdict
from gammabar.problems import Problem, ProblemError, load
from gammabar.problems.from_files import named_file
from gammabar.problems.options import typed_options
from gammabar.problems.output import finite, write_whole


@dataclass(frozen=True)
class _Solver:
    """A solver as a text, as it stands on the command line and in results."""

    text: str
    #: Whether it is a user's own, which is not trusted to behave.
    foreign: ClassVar[bool] = True
    #: How the command line takes it.
    option: ClassVar[str]

    @property
    def argument(self) -> str:
        """What follows the option."""
        return self.text

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return self.argument

    @property
    def name(self) -> str:
        """The name in the registry; "" for what is not in it."""
        return ""

    @property
    def file(self) -> str:
        """The user's file."""
        return ""


@dataclass(frozen=True)
class Registered(_Solver):
    """A solver of the registry."""

    foreign: ClassVar[bool] = False
    option: ClassVar[str] = "--solver"

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
    def free(self) -> list[str]:
        """Options that may have any value, as in "dual-acceleration:loss=*"."""
        parts = self.text.partition(":")[2].split(",")
        return [part[:-2].strip() for part in parts if part.strip().endswith("=*")]

    @property
    def fixed(self) -> Registered:
        """The solver without its free options, which have their defaults then."""
        parts = self.text.partition(":")[2].split(",")
        kept = ",".join(part for part in parts if not part.strip().endswith("=*"))
        return Registered(f"{self.name}:{kept}" if kept else self.name)

    def means(self, other: Registered) -> bool:
        """Whether this, with some values of its free options, is another solver."""
        mine, its = self.fixed.open(), other.open()
        if type(mine) is not type(its):
            return False
        return bool(replace(mine, **{name: getattr(its, name) for name in self.free}) == its)

    def open(self) -> Any:
        """The solver itself."""
        from gammabar.solvers.base import solver

        if self.own:
            from gammabar.harness.registry import open_plugin

            open_plugin(self.name)
        made = solver(self.name)
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
class InFile(_Solver):
    """A solver in a user's file: "my.py:MySolver", with options perhaps.

    `code` is the text of the file; None where nobody will run it, as in results that were stored.
    """

    code: str | None = field(default=None, repr=False)
    option: ClassVar[str] = "--solver-file"

    def _part(self, name: str) -> str:
        found = _IN_FILE.fullmatch(self.text)
        if found is None or not found["made"].isidentifier():
            raise ProblemError(
                f"{self.text}: name a file and a class or function in it, as in my.py:MySolver"
            )
        return found[name] or ""

    @property
    def file(self) -> str:
        return self._part("file")

    @property
    def made(self) -> str:
        """The name of the class or function."""
        return self._part("made")

    @property
    def title(self) -> str:
        return self.made + f":{self.options}" * bool(self.options)

    @property
    def options(self) -> str:
        """What follows its name."""
        return self._part("options")

    def open(self) -> Any:
        """The solver itself; that runs the user's file."""
        from gammabar.harness.run.user_files import load

        return load(self)


#: What may follow the name of a file.
_OPTIONS = re.compile(r":([^\W\d]\w*=.*)$", re.DOTALL)
#: What the text of a recorded run begins with.
TRAJECTORY = "trajectory:"


@dataclass(frozen=True)
class Recorded(_Solver):
    """Iterates in a file, from a program that nobody here has to know: "trajectory:w.npy".

    What its solver's options were may follow: "trajectory:w.npy:step=0.5".
    """

    option: ClassVar[str] = "--trajectory"

    @property
    def argument(self) -> str:
        return self.text.removeprefix(TRAJECTORY)

    @property
    def file(self) -> str:
        return _OPTIONS.sub("", self.argument)

    title = file

    def open(self) -> Any:
        """The iterates, as a solver."""
        from gammabar.harness.run.user_files import read_trajectory

        found = _OPTIONS.search(self.argument)
        return read_trajectory(self.file, found[1] if found else "")


SolverRef: TypeAlias = Registered | InFile | Recorded


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


#: A solver of a paper, with options perhaps: KEY.NAME, where NAME is no suffix of a file.
_OWN = re.compile(r"[a-z][a-z0-9-]*\.(?!py:)[^\W\d]\w*(:[^\W\d]\w*=.*)?", re.DOTALL)


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
        from gammabar.harness.run.user_files import read_files

        return cls(path, read_files(path))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PaperRef:
        """From JSON."""
        return cls(values["path"], tuple((name, text) for name, text in values["files"]))

    def digest(self) -> str:
        """Hash of its contents."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()


_SWITCHES = ("multiclass", "normalised")
_VALUES = ("kernel", "label", "labels", "drop")


def open_problem(text: str) -> Problem:
    """The problem that a text names.

    Examples
    --------
    >>> open_problem("iris:0,1 --kernel rbf:gamma=1").n
    100
    """
    data, options = split_problem(text)
    if options.get("normalised") and not options.get("kernel"):
        raise ProblemError(f"{text}: --normalised needs --kernel")
    if options.get("kernel") and options.get("multiclass"):
        raise ProblemError(f"{text}: --kernel and --multiclass cannot be combined")
    return load(data, **options)


open_once = lru_cache(maxsize=8)(open_problem)


def split_problem(text: str) -> tuple[str, dict[str, Any]]:
    """DATA and the options that follow it."""
    try:
        data, *rest = shlex.split(text) or [""]
    except ValueError as error:
        raise ProblemError(f"{text}: {str(error).lower()} in the name of a problem") from None
    options: dict[str, Any] = {}
    words = iter(rest)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in _SWITCHES + _VALUES:
            allowed = ", ".join(f"--{n}" for n in _VALUES + _SWITCHES)
            raise ProblemError(f"{text}: {word!r} may not follow {data} (only {allowed})")
        if name in _SWITCHES:
            options[name] = True
            continue
        found = value if equals else next(words, None)
        if found is None:
            raise ProblemError(f"{text}: --{name} needs a value")
        options[name] = [*options.get(name, []), found] if name == "drop" else found
    return data, options


def read_again(data: str) -> None:
    """Complain of a DATA string whose data can be read only once: stdin, a pipe, a device."""
    file = named_file(data.strip())
    if file is None:
        return
    if file.format == "stdin":
        raise ProblemError("data of standard input are read once: write them to a file for this")
    try:
        mode = file.path.stat().st_mode
    except (OSError, ValueError):
        return  # opening it says why not
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ProblemError(
            f"{data}: data of a pipe or a device are read once: write them to a file for this"
        )


def problem_text(
    data: str,
    *,
    kernel: str | None = None,
    normalised: bool = False,
    multiclass: bool = False,
    label: str | None = None,
    labels: str | None = None,
    drop: Sequence[str] = (),
) -> str:
    """The text of a problem whose parts were given as options of their own.

    DATA may be such a text itself, but for a file, whose name may have blanks.
    """
    there = os.path.exists(data)  # False of what is too long to be a name
    for name in (data if there else split_problem(data)[0], labels or ""):
        read_again(name)
    text = shlex.quote(data) if there else data
    if kernel:
        text += f" --kernel {shlex.quote(kernel)}"
    if label is not None:
        text += f" --label {shlex.quote(label)}"
    if labels is not None:
        text += f" --labels {shlex.quote(labels)}"
    text += "".join(f" --drop {shlex.quote(name)}" for name in drop)
    return text + " --normalised" * normalised + " --multiclass" * multiclass


def solver_name(text: str) -> str:
    """The name in the registry: what stands before the options."""
    return Registered(text).name


def open_solver(text: str) -> Any:
    """The solver that a text names, with its options.

    Examples
    --------
    >>> open_solver("dual-acceleration:loss=logistic,step=0.5").step
    0.5
    """
    return Registered(text).open()


VERDICTS = tuple(Ruling)


@dataclass(frozen=True)
class Result:
    """One verdict of a run.

    Attributes
    ----------
    verdict : Verdict
    run : Run
        Where it was found.
    expected : Expectation
        Or its text.
    seconds : float
        Of the whole run, which other statements share.
    worthless : bool
        Whether it is a vacuous pass where the user does not accept one; see
        `strictly`.
    """

    verdict: Verdict
    run: Run
    expected: str
    seconds: float
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


def results_of(task: Task, outcome: Outcome) -> list[Result]:
    """The results of a task."""
    pairs = zip(outcome.verdicts, task.expected, strict=True)
    return [Result(verdict, task.run, expected, outcome.seconds) for verdict, expected in pairs]


def settle(results: list[Result]) -> list[Result]:
    """What is expected of claims that are false, now that all runs are known.

    Such a claim is to be refuted on each of its problems, but not by every solver and with all
    options: where one run has refuted it, the others may end either way.
    """
    refuted = {
        (result.verdict.statement, result.run.problem)
        for result in results
        if result.expected == Expectation.REFUTED == result.verdict.verdict
    }
    return [
        replace(result, expected=Expectation.EITHER)
        if result.expected == Expectation.REFUTED != result.verdict.verdict
        and (result.verdict.statement, result.run.problem) in refuted
        else result
        for result in results
    ]


def strictly(results: list[Result], excused: Callable[[Result], bool]) -> list[Result]:
    """The results, where a pass that says nothing is a failure.

    A statement may say nothing on some problems, if it does on others. `excused` are those of which
    it is known that a solver which stands still obeys them for ever.
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
    """The results without those that say nothing: inapplicable here, but not everywhere.

    Parameters
    ----------
    results : list of Result
    asked : callable
        Whether the user has asked for it by name: then it is kept.
    each_problem : bool
        Whether a statement that is nowhere applicable is so on each problem for itself. In any
        case such a statement is kept, and so is what is inapplicable because data are missing.
    """

    def place(result: Result) -> tuple[str, str]:
        return result.verdict.statement, result.run.problem if each_problem else ""

    heard = {
        place(result) for result in results if result.verdict.verdict is not Ruling.INAPPLICABLE
    }
    return [
        result
        for result in results
        if result.verdict.verdict is not Ruling.INAPPLICABLE
        or result.expected == Expectation.INAPPLICABLE
        or place(result) not in heard
        or asked(result)
    ]


def summarise(results: Iterable[Result]) -> dict[str, int]:
    """How many there are of each verdict, how many were not expected, and how many failed."""
    results = list(results)
    counts = Counter(result.verdict.verdict for result in results)
    return {name: counts[name] for name in VERDICTS} | {
        "results": len(results),
        "unexpected": sum(not result.as_expected for result in results),
        "failures": sum(bool(result.verdict.failure) for result in results),
        "says_nothing": sum(result.verdict.says_nothing for result in results),
    }


#: Seconds that a trajectory may take, unless the user says otherwise.
TIME_LIMIT = 300.0


@dataclass(frozen=True)
class Run:
    """One run of one solver on one problem.

    Attributes
    ----------
    problem : str
        As `gammabar.harness.run.tasks.open_problem` takes it; "" for a statement that brings its
        own data.
    solver : SolverRef or None
        None if there is none, or the statement takes one by itself.
    iterations, seed : int
        See `gammabar.harness.verify.context.Trial`.
    unit : bool
        Whether rows are divided by their largest norm.
    like : str
        The method that a user's solver implements: it has the options that the solver does not say.
    """

    problem: str = ""
    solver: SolverRef | None = None
    iterations: int = 0
    seed: int = 0
    unit: bool = False
    like: str = ""

    @property
    def of_inputs(self) -> bool:
        """Whether the problem is a choice of inputs for a statement with data of its own."""
        return self.problem.startswith(PREFIX)

    @property
    def foreign(self) -> bool:
        """Whether the solver is a user's own."""
        return self.solver is not None and self.solver.foreign

    @property
    def by(self) -> str:
        """The text of the solver; "" if there is none."""
        return "" if self.solver is None else self.solver.text


@dataclass(frozen=True)
class Task:
    """A run that several statements are about, or one statement that needs none.

    Attributes
    ----------
    run : Run
    statements : tuple of str
        Their ids.
    expected : tuple of str
        What is expected of each: "holds", "refuted", "either", "unrefuted" in random trials, or
        "inapplicable" where the data are not on this machine.
    planned : bool
        Whether the plan is ours: then a problem that does not fit the solver is a mistake.
    limit : float
        Seconds that it may take.
    papers : tuple of PaperRef
        Papers of the user, in which the statements are found.
    depends : str
        Hash of further files that the results depend on, see `gammabar.harness.run.provenance`.
    """

    run: Run
    statements: tuple[str, ...]
    expected: tuple[str, ...]
    planned: bool = True
    limit: float = TIME_LIMIT
    papers: tuple[PaperRef, ...] = ()
    depends: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON."""
        run, solver = values["run"], values["run"]["solver"]
        found = None if solver is None else _solver(solver["text"], solver.get("code"))
        lists = {name: tuple(values[name]) for name in ("statements", "expected")}
        lists["papers"] = tuple(PaperRef.from_dict(paper) for paper in values["papers"])
        return cls(**(values | lists | {"run": Run(**(run | {"solver": found}))}))


def _solver(text: str, code: str | None) -> SolverRef | None:
    """The solver of a task; a user's has its code, and that of a paper may not be known yet."""
    known = code is not None or text.startswith(TRAJECTORY)
    return reference(text, code) if known else Registered(text)


@dataclass(frozen=True)
class Outcome:
    """The verdicts of one task, in the order of its statements.

    Attributes
    ----------
    verdicts : tuple of Verdict
    seconds : float
        That it took.
    data : str
        SHA-256 of the canonical form of the data; "" if there are none, or they were not opened.
    """

    verdicts: tuple[Verdict, ...]
    seconds: float
    data: str = ""

    @property
    def failed(self) -> bool:
        """Whether the solver did not do its part: such an outcome is shown, but not kept."""
        return any(verdict.failure for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        verdicts = [v.as_dict() for v in self.verdicts]
        return {"verdicts": verdicts, "seconds": self.seconds, "data": self.data}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON."""
        verdicts = tuple(verdict_from(v) for v in values["verdicts"])
        return cls(verdicts, float(values["seconds"]), values.get("data", ""))

    @classmethod
    def failure(cls, task: Task, failure: str, reason: str, seconds: float = 0.0) -> Self:
        """Nothing is known, because something went wrong."""
        return cls(
            tuple(
                Verdict(s, Ruling.UNDECIDED, reason=reason, failure=failure)
                for s in task.statements
            ),
            seconds,
        )

    @classmethod
    def inapplicable(cls, task: Task, reason: str, seconds: float = 0.0) -> Self:
        """The problem does not fit."""
        return cls(
            tuple(Verdict(s, Ruling.INAPPLICABLE, reason=reason) for s in task.statements), seconds
        )


def verdict_from(values: dict[str, Any]) -> Verdict:
    """A verdict from what `Verdict.as_dict` wrote; what this version does not know is left out."""
    known = {field.name for field in fields(Verdict)}
    return Verdict(**{name: value for name, value in values.items() if name in known})


#: What is neither a pass nor a failure.
_SKIPPED = (Ruling.INAPPLICABLE, Ruling.NOT_REPRODUCIBLE)

#: Characters that XML 1.0 does not have.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, results: list[Result], explain: Callable[[Result], str]) -> None:
    """Write one test case per result, one suite per source.

    Parameters
    ----------
    path : Path
    results : list of Result
    explain : callable
        What to say about a result that was not expected.
    """
    root = xml.Element("testsuites", name="gammabar")
    ordered = sorted(results, key=lambda result: result.source)
    for source, group in groupby(ordered, key=lambda result: result.source):
        _suite(root, source, list(group), explain)
    xml.indent(root)
    document = xml.tostring(root, encoding="unicode", xml_declaration=False)
    write_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n')


def _suite(
    root: xml.Element, source: str, results: list[Result], explain: Callable[[Result], str]
) -> None:
    wrong = [result for result in results if not result.as_expected]
    errors = sum(bool(result.verdict.failure) for result in wrong)
    # A run counts once, though several statements are about it.
    runs = {(r.run, r.seconds) for r in results}
    skipped = sum(r.verdict.verdict in _SKIPPED and r.as_expected for r in results)
    suite = xml.SubElement(
        root,
        "testsuite",
        name=source,
        tests=str(len(results)),
        errors=str(errors),
        failures=str(len(wrong) - errors),
        skipped=str(skipped),
        time=f"{sum(seconds for _, seconds in runs):.6f}",
    )
    for result in results:
        _case(suite, result, explain)


def _case(suite: xml.Element, result: Result, explain: Callable[[Result], str]) -> None:
    verdict = result.verdict
    by, on = (
        f"{word} {text}" if text else ""
        for word, text in (("by", result.run.by), ("on", result.run.problem))
    )
    name = " ".join(filter(None, (verdict.statement, on, by, f"seed {result.run.seed}")))
    case = xml.SubElement(
        suite,
        "testcase",
        classname=verdict.statement,
        name=_legal(name),
        time=f"{result.seconds:.6f}",
    )
    if not result.as_expected:
        kind = "error" if verdict.failure else "failure"
        expected = f"{verdict.failure or verdict.verdict} (expected: {result.expected})"
        element = xml.SubElement(case, kind, message=_legal(expected), type=verdict.verdict)
        element.text = _legal(explain(result))
    elif verdict.verdict in _SKIPPED:
        xml.SubElement(case, "skipped", message=_legal(verdict.reason))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
