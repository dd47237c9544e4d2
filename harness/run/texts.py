"""Problems and solvers as texts, as they stand in plans, stores, results and on the command line.

A problem is DATA and what may follow it: ``iris:0,1 --kernel rbf:gamma=1 --normalised``,
``iris:0,1,2 --multiclass``, ``points.csv --label class --drop id``. A solver is a name of the
registry with options: ``dual-acceleration:loss=logistic,step=0.5``.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Sequence
from typing import Any

from gammabar.harness.run.solver_ref import Registered
from gammabar.problems import Problem, ProblemError, load
from gammabar.problems.from_files import named_file

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
        return  # whoever opens it says why not
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
