"""Every command with every option: wrong types, huge numbers, unknown names, bad files; and texts.

Commands and options are those that click knows, so a new one is tried without being listed here.
What takes minutes once all is understood (a plan, a benchmark, a figure) is not done: `_WORK` ends
there, or gives an earlier result, so that what is written afterwards is tried too. The target
`work` does it, for lines of a second or two, with options for where results go and how they look.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import click
import numpy as np

from gammabar.harness.cli import cli, main
from gammabar.harness.run.sandbox import _decode, _encode, _NoMessage
from gammabar.harness.run.tasks import open_solver, reference
from gammabar.harness.run.user_files import read_solver
from gammabar.problems import ProblemError
from gammabar.problems.kernels import Kernel
from gammabar.problems.specs import catalogue, open_problem
from gammabar.solvers.base import SOLVERS

from .fuzz_certificates import certificate_seeds
from .fuzz_files import csv_seeds
from .fuzz_store import store_seeds
from .mutations import NUMBERS, spoil_bytes, spoil_text, spoiler, words
from .target import Fault, Target, lasting_folder, text_of

#: A valid line of each command, to start from; `_options` knows what else it takes.
SEEDS = """
bench --from bench.json --json
check c.json a.csv --limit 1 --json
data list
export s.db --csv out.csv
falsify gb.sharp --budget 0.1 --seed 1 --jobs 1
falsify rp.eq1 --budget 0.1 --out w.json
gate --counts-only --json
list statements --source jst
list artefacts --json
margins three.csv --certificates kept --jobs 1 --json
oracle a.csv --digits 5 --certificate out.json
oracle a.csv --kernel rbf:gamma=0.5 --norm l2 --json
oracle a.csv --label 0 --signed --method exact
oracle loss-spike --kernel poly:degree=2,coef0=1 --normalised --json
oracle a.csv --intercept --export out.npz --explain
report s.db --markdown
report s.db --out page.html
reproduce tyurin.fig1 --quick --out pictures
separation a.csv --intercept --certificate out.json
show perceptron --json
show jst.thm3.1.1 --store s.db
verify --problem a.csv --solver perceptron --iterations 2 --jobs 1
verify --random 2 --store new.db --junit out.xml
""".strip().splitlines()
#: Lines whose work is done.
WORK_SEEDS = """
falsify gb.sharp --budget 0.1 --jobs 1
falsify rp.eq1 --budget 0.1 --jobs 1
falsify jst.thm4.1 --budget 0.1 --jobs 1
margins three.csv --jobs 1
reproduce gb.constant-four --quick
verify --problem a.csv --solver perceptron --iterations 2 --jobs 1
verify --problem a.csv --statement gb.sharp --iterations 3 --jobs 1
verify --problem a.csv --solver-file my.py:Mine --statement gb.sharp --jobs 1
""".strip().splitlines()
#: Options that do not make it long: where results go, and how they look.
RESULTS = {
    "falsify": "--store --out --json",
    "margins": "--certificates --picture --page --check --json",
    "reproduce": "--out --fresh --json",
    "verify": "--store --resume --depends --junit --report --strict --json",
}
#: What an argument or the value of an option is replaced by. Files are those of `_folder`; nothing
#: outside of it is written to.
VALUES = [*NUMBERS, "", " ", "a\0b", "\x1b[2J", "\udc80", "x" * 300, "--", "perceptron:choice="]
VALUES += words("""
. .. a.csv c.json s.db bench.json three.csv my.py none.csv none/out.json folder folder/ empty binary
locked/x loop null full link /proc/self/mem /proc/none/x a.csv/x é - --json -h nan a.csv:0,1
a.csv:0,9 : my.py:Mine my.py:Nobody my.py:Mine:step=nan nobody jst.thm3.1.1 gb.sharp jst jst. *
holds l1 rbf:gamma=nan rbf: poly:degree=99999999 iris:0,1 iris:0,0 planted:n=0 planted:n=1e9
tcp://x:1
""")
_FILES = words("out.json out.xml new.db s.db page.html page.md kept p.svg")


def call(arguments: list[str], folder: Path, *instead: type[BaseException]) -> None:
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
        # What a command that takes long says at once is not part of the answer.
        at_once = ("checking ", "comparing with ")
        lines = [line for line in said.splitlines() if not line.startswith(at_once)]
        if len(lines) != 1:
            raise Fault(f"not one sentence: {said[:300]!a}")
        # The folder has another name each time: with it, every reason would be a new kind.
        raise ProblemError(lines[0].replace(str(folder), "."))


def _no_json(word: str) -> None:
    raise Fault(f"not JSON: {word}")


class _Would(BaseException):
    """All was understood, and now it would take its time; no error, so that nothing catches it."""


def _would(*_: Any, **__: Any) -> Any:
    raise _Would("understood: it would run now")


#: Where commands begin to work for long, and what is there instead.
_WORK = dict.fromkeys(
    words("""
gammabar.harness.gate.checkouts.checkout gammabar.harness.gate.compare.compare
gammabar.harness.cli.maintenance._make gammabar.harness.cli.falsify._many
gammabar.harness.cli.falsify._one gammabar.harness.margins.run gammabar.harness.run.engine.run
gammabar.harness.power.matrix
"""),
    _would,
) | {
    "side_by_side.document.measure": lambda *_, **__: json.loads(_bench()),
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


def _devices(folder: Path) -> None:
    """Devices of the folder's own: root, who may make them, could also replace those of /dev."""
    for minor, name in ((3, "null"), (7, "full")):
        try:
            os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        except OSError:
            (folder / name).symlink_to(f"/dev/{name}")


def _kinds(folder: Path) -> dict[str, int]:
    """What no command may replace by a file of its own."""
    names = ("null", "full", "link", "loop")
    return {name: stat.S_IFMT((folder / name).lstat().st_mode) for name in names}


#: Names of older versions, which the help does not show, and the commands that they mean.
_NOW = {"separation": "oracle", "margins": "oracle", "export": "report"}


@cache
def _options() -> dict[str, list[tuple[str, bool]]]:
    """Of every command (and every one of `data`), its options, and whether they take a value."""
    found, names = {}, {line.split()[0] for line in SEEDS}
    assert set(cli.list_commands(click.Context(cli))) <= names
    for name in names:
        command = cli.get_command(click.Context(cli), _NOW.get(name, name))
        parts = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        for part, leaf in parts:
            taken = [p for p in leaf.params if isinstance(p, click.Option)]
            options = [(flag, not p.is_flag) for p in taken for flag in p.opts if flag[:2] == "--"]
            found[f"{name} {part}".strip()] = options
    return found


def _line(parts: list[str]) -> bytes:
    """Arguments as an input, one to a line."""
    kept = [part.replace("\n", " ") for part in parts]
    return "\n".join(kept).encode("utf-8", "surrogatepass")


def _arguments(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogatepass").split("\n")


def spoil(data: bytes, rng: Random) -> bytes:
    """Replace, add or drop an argument, or put in an option of the command with any value."""
    parts = _arguments(data)
    place = rng.randrange(1, len(parts) + 1)
    action = rng.randrange(8)
    if action < 3 and place < len(parts):
        parts[place] = rng.choice(VALUES)
    elif action == 3 and place < len(parts):
        del parts[place]
    elif action == 4:
        parts.insert(place, rng.choice(VALUES))
    else:
        known = _options().get(parts[0]) or _options().get(" ".join(parts[:2]))
        name, takes = rng.choice(known or [("--help", False)])
        parts[place:place] = [name, rng.choice(VALUES)] if takes else [name]
    return _line(parts)


def run(path: Path) -> None:
    """Exit code 0, 1 or 2; with 2 comes one sentence, and never more than that."""
    arguments = _arguments(path.read_bytes())
    if arguments[:1] == ["data"] and "fetch" in arguments:
        raise ProblemError("not tried: it would ask the network")
    importlib.import_module("gammabar.harness.cli.bench")  # it finds the package side_by_side
    with _folder() as folder, contextlib.ExitStack() as stack:
        for name, instead in _WORK.items():
            module, _, function = name.rpartition(".")
            stack.enter_context(patch.object(importlib.import_module(module), function, instead))
        call(arguments, folder, _Would)


def spoil_work(data: bytes, rng: Random) -> bytes:
    """Another option for the results of a line, with any value."""
    parts = _arguments(data)
    name = rng.choice(RESULTS[parts[0]].split())
    value = rng.choice([*VALUES, *_FILES * 5])
    return _line([*parts, name, *([value] if dict(_options()[parts[0]])[name] else [])])


def run_work(path: Path) -> None:
    with _folder() as folder:
        call(_arguments(path.read_bytes()), folder)


# --- texts: problems, kernels, solvers ---------------------------------------------------------


def _texts(texts: Any) -> list[bytes]:
    return [text.encode() for text in texts]


def problem_seeds() -> list[bytes]:
    large = ["mnist", "mnist-sample", "fashion", "cifar", "cifar-128", "eurosat", "mnist-test"]
    entries = (e for e in catalogue() if e.kind != "file" and e.name not in large)
    more = ["iris:0,1:n=50,seed=3,keep=1/2,repeat=2", "iris:0,1 --kernel rbf:gamma=0.5"]
    more += ["iris:0,1 --kernel poly:degree=2,coef0=1 --normalised", "wine:0,1,2 --multiclass"]
    return _texts([*(e.syntax for e in entries), *more])


def kernel_seeds() -> list[bytes]:
    texts = (
        "linear precomputed rbf:gamma=0.1 poly:degree=2,gamma=0.5,coef0=1 network:width=8,seed=3"
    )
    return _texts(texts.split())


def solver_seeds() -> list[bytes]:
    return _texts([*SOLVERS, "dual-acceleration:loss=logistic,step=0.5"])


@cache
def _mine() -> str:
    text = b"class Mine:\n    def iterates(self, problem, rng):\n        pass\n"
    return str(lasting_folder({"my.py": text}) / "my.py")


def run_solver_file(path: Path) -> None:
    read_solver(text_of(path))
    reference(text_of(path))


_WORDS = "--kernel --label class --multiclass --normalised rbf gamma seed n d keep repeat degree ~"
_WORDS += " a\0b.csv ~x.csv . .. .csv x.npz / /dev/null /dev/full.csv nul.csv.gz \ud800.csv"
_SPOIL_PROBLEM = spoiler(spoil_text, ":,= ", [*words(_WORDS), "", "x" * 5000 + ".csv"])
_SPOIL_KERNEL = spoiler(spoil_text, ":,=", ["gamma", "degree", "rbf"])
_SPOIL_SOLVER = spoiler(spoil_text, ":,=", ["step", "loss", "logistic", "none"])
_SPOIL_FILE = spoiler(spoil_text, ":=/.", ["Mine", "my.py", "step", "~"])


# --- messages of a solver's process -------------------------------------------------------------


def message_seeds() -> list[bytes]:
    w = np.arange(4.0)
    extra = {"mu": np.ones(3), "i": 4, "halt": "separated", "nested": [w, {"a": (1, 2.5)}]}
    return [
        _encode({"t": 0, "w": w, "dual": None, "momentum": w.astype(np.float32), "extra": {}}),
        _encode({"t": 1, "w": w.astype(int), "dual": w[:2], "momentum": None, "extra": extra}),
        _encode({"opened": {"step": 0.5, "loss": "logistic"}, "made": "Mine", "card": None}),
        _encode({"crashed": "IndexError: list index out of range"}),
    ]


_KINDS = ["<f8", "|b1", "<c16", "|O", "<U4", "|V8", "<f16", "M8[ns]", "f8,f8", "(2,)f8", ""]
_KINDS += [r'{"\u0000array": 0}', r'{"\u0000array": ["<f8", [-1], ""]}', "NaN"]
_KINDS += [r'{"\u0000fraction": [1, 0]}', '{"list": {}}', "[[1, 2], []]", "99999999999"]
_KINDS += ["-1", "null", "1e400"]


def spoil_message(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.2:
        return spoil_bytes(data, rng)
    return spoil_text(data, rng, '"[]{},: ', [*_KINDS, *NUMBERS[:30]])


def run_message(path: Path) -> None:
    try:
        message = _decode(path.read_bytes())
    except _NoMessage as error:
        raise ProblemError("not a message") from error
    if not isinstance(message, dict) or not all(isinstance(name, str) for name in message):
        raise Fault(f"this is not a message: {message!r:.200}")


TARGETS = [
    Target("options", lambda: [_line(s.split()) for s in SEEDS], spoil, run, seconds=10),
    Target(
        "work", lambda: [_line(s.split()) for s in WORK_SEEDS], spoil_work, run_work, seconds=20
    ),
    Target(
        "problem", problem_seeds, _SPOIL_PROBLEM, lambda p: open_problem(text_of(p)), seconds=10
    ),
    Target("kernel", kernel_seeds, _SPOIL_KERNEL, lambda path: Kernel.parse(text_of(path))),
    Target("solver", solver_seeds, _SPOIL_SOLVER, lambda path: open_solver(text_of(path))),
    Target(
        "solver-file",
        lambda: _texts([f"{_mine()}:Mine", f"{_mine()}:Mine:step=0.5"]),
        _SPOIL_FILE,
        run_solver_file,
    ),
    Target("message", message_seeds, spoil_message, run_message, suffix=".bin"),
]
