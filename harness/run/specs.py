"""Problems and solvers as texts, in plans, stores, results and on the command line.

A problem is DATA and what may follow it: ``iris:0,1 --kernel rbf:gamma=1 --normalised``,
``iris:0,1,2 --multiclass``, ``points.csv --label class --drop id``. A solver is one of the
registry, with options: ``dual-acceleration:loss=logistic,step=0.5``; or a class or function in a
user's file, ``my.py:MySolver:step=0.5``, with the text of that file, so that all processes and
machines run the same; or recorded iterates, ``trajectory:w.npy``.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

from gammabar.problems import Problem, ProblemError, load
from gammabar.problems.from_files import named_file
from gammabar.problems.options import typed_options


@dataclass(frozen=True)
class Registered:
    """A solver of the registry.

    Attributes
    ----------
    text : str
        As on the command line and in results.
    """

    text: str
    #: Whether it is a user's own, which is not trusted to behave.
    foreign: ClassVar[bool] = False
    #: The user's file.
    file: ClassVar[str] = ""
    #: How the command line takes it.
    option: ClassVar[str] = "--solver"

    @property
    def argument(self) -> str:
        """What follows the option."""
        return self.text

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return self.text

    @property
    def name(self) -> str:
        """The name in the registry: what stands before the options."""
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
class InFile:
    """A solver in a user's file.

    Attributes
    ----------
    text : str
        "my.py:MySolver", with options perhaps.
    code : str or None
        The text of the file; None where nobody will run it, as in results that were stored.
    """

    text: str
    code: str | None = field(default=None, repr=False)
    foreign: ClassVar[bool] = True
    option: ClassVar[str] = "--solver-file"

    @property
    def argument(self) -> str:
        """What follows the option."""
        return self.text

    def _part(self, name: str) -> str:
        found = _IN_FILE.fullmatch(self.text)
        if found is None or not found["made"].isidentifier():
            raise ProblemError(
                f"{self.text}: name a file and a class or function in it, as in my.py:MySolver"
            )
        return found[name] or ""

    @property
    def file(self) -> str:
        """The file."""
        return self._part("file")

    @property
    def made(self) -> str:
        """The name of the class or function."""
        return self._part("made")

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return self.made + f":{self.options}" * bool(self.options)

    @property
    def options(self) -> str:
        """What follows its name."""
        return self._part("options")

    #: It is itself, not one of the registry.
    name: ClassVar[str] = ""

    def open(self) -> Any:
        """The solver itself; that runs the user's file."""
        from gammabar.harness.run.user_files import load

        return load(self)


#: What may follow the name of a file.
_OPTIONS = re.compile(r":([^\W\d]\w*=.*)$", re.DOTALL)
#: What the text of a recorded run begins with.
TRAJECTORY = "trajectory:"


@dataclass(frozen=True)
class Recorded:
    """Iterates in a file, from a program that nobody here has to know.

    Attributes
    ----------
    text : str
        "trajectory:w.npy"; what its solver's options were may follow: "trajectory:w.npy:step=0.5".
    """

    text: str
    foreign: ClassVar[bool] = True
    option: ClassVar[str] = "--trajectory"
    name: ClassVar[str] = ""

    @property
    def argument(self) -> str:
        """What follows the option."""
        return self.text.removeprefix(TRAJECTORY)

    @property
    def file(self) -> str:
        """The file."""
        return _OPTIONS.sub("", self.argument)

    title = file

    def open(self) -> Any:
        """The iterates, as a solver."""
        from gammabar.harness.run.user_files import read_trajectory

        found = _OPTIONS.search(self.argument)
        return read_trajectory(self.file, found[1] if found else "")


SolverRef: TypeAlias = Registered | InFile | Recorded


def reference(text: str, code: str | None = None) -> SolverRef | None:
    """The solver that a text names; None for none.

    Parameters
    ----------
    text : str
    code : str, optional
        The text of the user's file.
    """
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
