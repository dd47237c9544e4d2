"""References to solvers, as plans, stores, results and the command line name them.

A solver is one of the registry, with options: ``dual-acceleration:loss=logistic,step=0.5``. Or it
is a user's own, a class or a function in a file: ``my.py:MySolver:step=0.5``. Such a reference
brings the text of the file, so that all processes and machines run the same. Or it is no solver at
all but the iterates of one, in a file: ``trajectory:w.npy``.
"""

from __future__ import annotations

import re
import typing
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from gammabar.harness.run.options import parse_options
from gammabar.problems import ProblemError


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
    def plain(self) -> bool:
        """Whether it is a mere name, without options."""
        return self.text == self.name

    def open(self) -> Any:
        """The solver itself."""
        from gammabar.solvers.base import solver

        made = solver(self.name)
        hints = typing.get_type_hints(made)
        kinds = {one.name: hints[one.name] for one in fields(made)}
        values = parse_options(self.name, self.text.partition(":")[2], kinds)
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
        from gammabar.harness.run.solver_file import load

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
        from gammabar.harness.run.trajectory import read

        found = _OPTIONS.search(self.argument)
        return read(self.file, found[1] if found else "")


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
    if code is None and text.partition(":")[0].strip() in SOLVERS:
        return Registered(text)
    return InFile(text, code)
