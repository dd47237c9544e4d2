"""Every command with every option of it: wrong types, huge numbers, unknown names, bad files.

Commands and options are those that click knows, so a new one is tried without being listed here.
What takes minutes once all is understood (a plan, a benchmark, a figure) is not done: `_WORK` ends
there, or gives an earlier result, so that what is written afterwards is tried too. The target
`work` does it, for lines of a second or two, with options for where results go and how they look.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import click

from gammabar.harness.cli import cli
from gammabar.problems import ProblemError

from . import repositories
from .fuzz_certificates import certificate_seeds
from .fuzz_commands import call
from .fuzz_files import csv_seeds
from .fuzz_store import store_seeds
from .mutations import NUMBERS
from .target import Fault, Target

#: A valid line of each command, to start from; `_options` knows what else it takes.
SEEDS = (
    "bench --from bench.json --json",
    "check c.json a.csv --limit 1 --json",
    "data list",
    "export s.db --csv out.csv",
    "falsify gb.sharp --budget 0.1 --seed 1 --jobs 1",
    "falsify rp.eq1 --budget 0.1 --out w.json",
    "gate --counts-only --json",
    "list statements --source jst",
    "list artefacts --json",
    "margins three.csv --certificates kept --jobs 1 --json",
    "oracle a.csv --digits 5 --certificate out.json",
    "oracle a.csv --kernel rbf:gamma=0.5 --norm l2 --json",
    "oracle a.csv --label 0 --signed --method exact",
    "oracle loss-spike --kernel poly:degree=2,coef0=1 --normalised --json",
    "oracle a.csv --intercept --export out.npz --explain",
    "report s.db --markdown",
    "report s.db --out page.html",
    "reproduce tyurin.fig1 --quick --out pictures",
    "separation a.csv --intercept --certificate out.json",
    "show perceptron --json",
    "show jst.thm3.1.1 --store s.db",
    "verify --problem a.csv --solver perceptron --iterations 2 --jobs 1",
    "verify --random 2 --store new.db --junit out.xml",
)

#: What an argument or the value of an option is replaced by. Files are those of `_folder`; nothing
#: outside of it is written to.
VALUES = [*NUMBERS, "", " ", "a\0b", "\x1b[2J", "\udc80", "x" * 300, "--", "perceptron:choice="]
VALUES += [
    ".",
    "..",
    "a.csv",
    "c.json",
    "s.db",
    "bench.json",
    "three.csv",
    "my.py",
    "none.csv",
    "none/out.json",
    "folder",
    "folder/",
    "empty",
    "binary",
    "locked/x",
    "loop",
    "null",
    "full",
    "link",
    "/proc/self/mem",
    "/proc/none/x",
    "a.csv/x",
    "é",
    "-",
    "--json",
    "-h",
    "nan",
    "a.csv:0,1",
    "a.csv:0,9",
    ":",
    "my.py:Mine",
    "my.py:Nobody",
    "my.py:Mine:step=nan",
    "nobody",
    "jst.thm3.1.1",
    "gb.sharp",
    "jst",
    "jst.",
    "*",
    "holds",
    "l1",
    "rbf:gamma=nan",
    "rbf:",
    "poly:degree=99999999",
    "iris:0,1",
    "iris:0,0",
    "planted:n=0",
    "planted:n=1e9",
    "tcp://x:1",
]


class _Would(BaseException):
    """All was understood, and now it would take its time; no error, so that nothing catches it."""


def _would(*_: Any, **__: Any) -> Any:
    raise _Would("understood: it would run now")


def _measured(*_: Any, **__: Any) -> dict[str, Any]:
    return json.loads(_bench())


#: Where commands begin to work for long, and what is there instead.
_WORK = {
    "side_by_side.document.measure": _measured,
    "gammabar.harness.gate.checkouts.checkout": _would,
    "gammabar.harness.gate.compare.compare": _would,
    "gammabar.harness.cli.maintenance._make": _would,
    "gammabar.harness.cli.falsify._many": _would,
    "gammabar.harness.cli.falsify._one": _would,
    "gammabar.harness.margins.run": _would,
    "gammabar.harness.run.engine.run": _would,
    "gammabar.harness.power.matrix": _would,
}


@cache
def _bench() -> str:
    return (Path(__file__).parents[2] / "docs" / "benchmarks.json").read_text("utf-8")


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder of its own for every line: a command may write over what it reads."""
    with tempfile.TemporaryDirectory(prefix="gammabar-fuzz-") as name:
        folder = Path(name)
        (folder / "a.csv").write_bytes(csv_seeds()[0])
        (folder / "three.csv").write_text("a,0,0\nb,1,0\nc,0,1\nb,2,0\nc,0,3\n")
        (folder / "c.json").write_bytes(certificate_seeds()[0])
        (folder / "s.db").write_bytes(store_seeds()[0])
        (folder / "bench.json").write_text(_bench(), encoding="utf-8")
        (folder / "my.py").write_text("class Mine:\n    def iterates(self, problem, rng): ...\n")
        (folder / "empty").write_bytes(b"")
        (folder / "binary").write_bytes(bytes(range(256)) * 8)
        (folder / "folder").mkdir()
        (folder / "loop").symlink_to("loop")
        (folder / "link").symlink_to("folder/far")
        (folder / "locked").mkdir(mode=0o500)
        _devices(folder)
        before = _kinds(folder)
        try:
            yield folder
            if _kinds(folder) != before:
                raise Fault(f"replaced: {before} by {_kinds(folder)}")
        finally:
            shutil.rmtree(folder / "locked", ignore_errors=True)


#: What no command may replace by a file of its own.
_NO_FILES = ("null", "full", "link", "loop")


def _devices(folder: Path) -> None:
    """Devices of the folder's own: root, who may make them, could also replace those of /dev."""
    for minor, name in ((3, "null"), (7, "full")):
        try:
            os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        except OSError:
            (folder / name).symlink_to(f"/dev/{name}")


def _kinds(folder: Path) -> dict[str, int]:
    return {name: stat.S_IFMT((folder / name).lstat().st_mode) for name in _NO_FILES}


@cache
def _options() -> dict[str, list[tuple[str, bool]]]:
    """Of every command (and every one of `data`), its options, and whether they take a value."""
    found = {}
    for name in _commands():
        command = cli.get_command(click.Context(cli), _NOW.get(name, name))
        parts = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        for part, leaf in parts:
            taken = [p for p in leaf.params if isinstance(p, click.Option)]
            options = [(flag, not p.is_flag) for p in taken for flag in p.opts if flag[:2] == "--"]
            found[f"{name} {part}".strip()] = options
    return found


#: Names of older versions, which the help does not show, and the commands that they mean.
_NOW = {"separation": "oracle", "margins": "oracle", "export": "report"}


def _commands() -> list[str]:
    """Every command, hidden names of older versions included."""
    return sorted({line.split()[0] for line in SEEDS})


def seeds() -> list[bytes]:
    assert set(cli.list_commands(click.Context(cli))) <= set(_commands())
    return ["\n".join(line.split()).encode() for line in SEEDS]


def spoil(data: bytes, rng: Random) -> bytes:
    """Replace, add or drop an argument, or put in an option of the command with any value."""
    parts = data.decode("utf-8", "surrogatepass").split("\n")
    place = rng.randrange(1, len(parts) + 1)
    action = rng.randrange(8)
    if action < 3 and place < len(parts):
        parts[place] = rng.choice(VALUES)
    elif action == 3 and place < len(parts):
        del parts[place]
    elif action == 4:
        parts.insert(place, rng.choice(VALUES))
    else:
        known = (
            _options().get(parts[0]) or _options().get(" ".join(parts[:2])) or [("--help", False)]
        )
        name, takes = rng.choice(known)
        parts[place:place] = [name, rng.choice(VALUES)] if takes else [name]
    kept = [part.replace("\n", " ") for part in parts]
    return "\n".join(kept).encode("utf-8", "surrogatepass")


def run(path: Path) -> None:
    """Exit code 0, 1 or 2; with 2 comes one sentence, and never more than that."""
    arguments = path.read_bytes().decode("utf-8", "surrogatepass").split("\n")
    if arguments[:2] == ["data", "fetch"] or (arguments[:1] == ["data"] and "fetch" in arguments):
        raise ProblemError("not tried: it would ask the network")
    for option, value in pairwise(arguments):
        if option == "--random" and re.fullmatch("[0-9]{4,}", value):
            raise ProblemError("not tried: so many runs are planned for as long as one asks")
    importlib.import_module("gammabar.harness.cli.bench")  # it finds the package side_by_side
    with _folder() as folder, contextlib.ExitStack() as stack:
        for name, instead in _WORK.items():
            module, _, function = name.rpartition(".")
            home = importlib.import_module(module)
            stack.enter_context(patch.object(home, function, instead))
        call(arguments, folder, _Would)


#: Lines whose work is done.
WORK_SEEDS = (
    "falsify gb.sharp --budget 0.1 --jobs 1",
    "falsify rp.eq1 --budget 0.1 --jobs 1",
    "falsify jst.thm4.1 --budget 0.1 --jobs 1",
    "gate HEAD --repo theirs --counts-only",
    "gate --repo theirs --counts-only --json",
    "gate HEAD --repo theirs --counts-only --build true",
    "margins three.csv --jobs 1",
    "reproduce gb.constant-four --quick",
    "verify --problem a.csv --solver perceptron --iterations 2 --jobs 1",
    "verify --problem a.csv --statement gb.sharp --iterations 3 --jobs 1",
    "verify --problem a.csv --solver-file my.py:Mine --statement gb.sharp --jobs 1",
)
#: Options that do not make it long: where results go, and how they look.
RESULTS = {
    "gate": ["--bench", "--benchmarks", "--build", "--json"],
    "falsify": ["--store", "--out", "--json"],
    "margins": ["--certificates", "--picture", "--page", "--check", "--json"],
    "reproduce": ["--out", "--fresh", "--json"],
    "verify": ["--store", "--resume", "--depends", "--junit", "--report", "--strict", "--json"],
}


def work_seeds() -> list[bytes]:
    return ["\n".join(line.split()).encode() for line in WORK_SEEDS]


def spoil_work(data: bytes, rng: Random) -> bytes:
    """Another option for the results of a line, with any value; or files that the gate reads."""
    command, *rest = data.decode("utf-8", "surrogatepass").split("\n")
    if command == "gate" and rng.random() < 0.7:
        return "\n".join([command, *rest, repositories.spoilt(rng)]).encode(
            "utf-8", "surrogatepass"
        )
    takes = dict(_options()[command])
    name = rng.choice(RESULTS[command])
    values = repositories.BUILDS if name == "--build" else [*VALUES, *_FILES * 5]
    value = rng.choice(values).replace("\n", " ")
    added = [name, value] if takes[name] else [name]
    return "\n".join([command, *rest, *added]).encode("utf-8", "surrogatepass")


_FILES = ["out.json", "out.xml", "new.db", "s.db", "page.html", "page.md", "kept", "p.svg"]


def run_work(path: Path) -> None:
    arguments = path.read_bytes().decode("utf-8", "surrogatepass").split("\n")
    with _folder() as folder:
        if arguments[0] == "gate":
            repositories.make(folder / "theirs", [a for a in arguments if a.startswith("@")])
        call([a for a in arguments if not a.startswith("@")], folder)


TARGETS = [
    Target("options", seeds, spoil, run, (ProblemError,), seconds=10),
    Target("work", work_seeds, spoil_work, run_work, (ProblemError,), seconds=20),
]
