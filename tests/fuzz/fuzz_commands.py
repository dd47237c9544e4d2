"""Texts that name a user's solver, what a solver's process may send, and a call of a command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from gammabar.harness.cli import main
from gammabar.harness.run.sandbox import (
    _decode as decode,
    _encode as encode,
    _NoMessage as NoMessage,
)
from gammabar.harness.run.tasks import reference
from gammabar.harness.run.user_files import read_solver
from gammabar.problems import ProblemError

from .mutations import NUMBERS, spoil_bytes, spoil_text, spoiler
from .target import Fault, Target

_HOLDERS: list[Any] = []  # removed when the process ends


@cache
def _folder() -> Path:
    """A folder with something to be named on a command line."""
    holder = tempfile.TemporaryDirectory(prefix="gammabar-fuzz-")
    _HOLDERS.append(holder)
    folder = Path(holder.name)
    (folder / "my.py").write_text(
        "class Mine:\n    def iterates(self, problem, rng):\n        pass\n"
    )
    return folder


def call(arguments: list[str], folder: Path, *instead: type[Exception]) -> None:
    """A command in a folder: exit code 0, 1 or 2; with 2 comes one sentence, as a `ProblemError`.

    `instead` are raised where the work would begin.
    """
    out, err, code, here = io.StringIO(), io.StringIO(), 0, Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(arguments)
    except instead:
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    finally:
        os.chdir(here)
    said = err.getvalue()
    if code not in (0, 1, 2):
        raise Fault(f"exit code {code}: {said[:300]!a}")
    if "\x1b" in out.getvalue() + said or "Traceback" in said:
        raise Fault(f"{said[:300]!a}")
    if "--json" in arguments and out.getvalue()[:1] in ("{", "["):
        json.loads(out.getvalue(), parse_constant=_no_json)
    if code == 2:
        # What a command that takes long says at once is no part of the answer.
        at_once = ("checking ", "comparing with ")
        lines = [line for line in said.splitlines() if not line.startswith(at_once)]
        if len(lines) != 1:
            raise Fault(f"not one sentence: {said[:300]!a}")
        # The folder has another name each time: with it, every reason would be a new kind.
        raise ProblemError(lines[0].replace(str(folder), "."))


def _no_json(word: str) -> None:
    raise Fault(f"no JSON: {word}")


# --- solvers in files ------------------------------------------------------------------------


def solver_file_seeds() -> list[bytes]:
    return [f"{_folder()}/my.py:Mine".encode(), f"{_folder()}/my.py:Mine:step=0.5".encode()]


def run_solver_file(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    read_solver(text)
    reference(text)


# --- messages ----------------------------------------------------------------------------------


def message_seeds() -> list[bytes]:
    w, mask = np.arange(4.0), np.ma.array([1.0, 2.0], mask=[0, 1])
    extra = {"mu": np.ones(3), "i": 4, "halt": "separated", "nested": [w, {"a": (1, 2.5)}]}
    return [
        encode({"t": 0, "w": w, "dual": None, "momentum": w.astype(np.float32), "extra": {}}),
        encode({"t": 1, "w": w.astype(int), "dual": mask, "momentum": None, "extra": extra}),
        encode({"opened": {"step": 0.5, "loss": "logistic"}, "made": "Mine", "card": None}),
        encode({"crashed": "IndexError: list index out of range"}),
    ]


_KINDS = ["<f8", "|b1", "<c16", "|O", "<U4", "|V8", "<f16", "M8[ns]", "f8,f8", "(2,)f8", ""]
_KINDS += ['{"array": 0}', '{"array": -1}', '{"masked": [0, 1]}', '{"fraction": [1, 0]}', "NaN"]
_KINDS += ['{"dict": []}', '{"list": {}}', "[[1, 2], []]", "99999999999", "-1", "null", "1e400"]


def spoil_message(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.2:
        return spoil_bytes(data, rng)
    return spoil_text(data, rng, '"[]{},: ', [*_KINDS, *NUMBERS[:30]])


class _Named(NoMessage):
    def __str__(self) -> str:
        return "no message"


def _run_message(path: Path) -> None:
    try:
        message = decode(path.read_bytes())
    except NoMessage as error:
        raise _Named from error
    if not isinstance(message, dict) or not all(isinstance(name, str) for name in message):
        raise Fault(f"this is no message: {message!r:.200}")


TARGETS = [
    Target(
        "solver-file",
        solver_file_seeds,
        spoiler(spoil_text, ":=/.", ["Mine", "my.py", "step", "~"]),
        run_solver_file,
    ),
    Target("message", message_seeds, spoil_message, _run_message, (NoMessage,), ".bin"),
]
