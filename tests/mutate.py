"""The power of the tests: ``python -m tests.mutate 100 --seed 1`` changes the source and counts.

A mutant changes one place of the source: a comparison, a sign, a constant, a dropped term or check,
a swapped index. It lives in a temporary copy of the tree. Tests that reach the changed function run
first, the cheapest of each file first, until one fails. Which test reaches which function is
recorded once (``build/mutate-TIER.json``), and again for test files that changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ("problems", "oracle", "solvers", "harness", "papers", "gammabar")
PROOFS = "proof enclosure rational linear_system signed separation l1 one_vs_one maximum_margin"
ROOMS = {  # a room is drawn first, then a place in it
    "rounding": ["problems/rounding.py", "problems/exact.py"],
    "proofs": [f"oracle/{name}.py" for name in PROOFS.split()],
    "checker": ["oracle/check*.py"],
    "claims": ["harness/verify/*.py"],
    "solvers": ["solvers/*.py"],
    "papers": ["papers/*.py"],
    "gate": ["harness/gate/*.py"],
}
TIERS = {"fast": "not full and not slow", "full": "not slow"}
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
#: Options without an effect that a test could see, and what is not evaluated.
SILENT = {"strict", "slots", "frozen", "cache", "nogil", "maxsize", "kw_only", "stacklevel"}
TYPES = {"annotation", "returns"}
#: Seconds of tests that a mutant has to survive, as they were recorded.
BUDGET = 15.0

Reached = dict[str, tuple[float, list[str]]]


class Mutant(NamedTuple):
    """A change of a file at a line; `owner` is the outermost function or name there."""

    path: str
    line: int
    owner: str
    text: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {' '.join(self.old.split())[:90]} -> {self.new[:90]}"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may stand in the place of a node."""
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in SWAPS:
            yield ast.Compare(node.left, [SWAPS[type(op)](), *node.ops[1:]], node.comparators)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SWAPS:
            yield ast.BinOp(left, SWAPS[type(op)](), right)
            yield left
        case ast.BoolOp(op=op, values=[first, *rest]):
            yield ast.BoolOp(SWAPS[type(op)](), node.values)
            yield from (first, rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.AugAssign(op=op) if type(op) in SWAPS:
            yield ast.AugAssign(node.target, SWAPS[type(op)](), node.value)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 2)
        case ast.Subscript(slice=ast.Tuple(elts=[a, b])):
            yield ast.Subscript(node.value, ast.Tuple([b, a]), ast.Load())
        case ast.Call(args=[a, b], keywords=[]) if ast.dump(a) != ast.dump(b):
            yield ast.Call(node.func, [b, a], [])
        case ast.If(orelse=[]) | ast.Raise() | ast.Assert() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


def places(node: ast.AST, owner: str = "", inside: bool = False) -> Iterator[tuple[Any, str]]:
    """The nodes of which a change means something, and the outermost function or name of each."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    values = [value for name, value in ast.iter_fields(node) if name not in TYPES]
    for child in [each for value in values for each in (value if type(value) is list else [value])]:
        if not isinstance(child, ast.AST) or getattr(child, "arg", "") in SILENT:
            continue
        name, function = owner, isinstance(child, ast.FunctionDef)
        if (function or isinstance(child, ast.ClassDef)) and not inside:
            name = f"{owner}.{child.name}".lstrip(".")
        elif not owner and isinstance(child, ast.Assign | ast.AnnAssign):
            name = ast.unparse(child).partition(" ")[0].rstrip(":")
        yield child, name
        yield from places(child, name, inside or function)


def mutants(root: Path, path: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    whole = (root / path).read_bytes()
    lines = whole.splitlines(keepends=True)
    starts = [sum(map(len, lines[:k])) for k in range(len(lines))]
    for node, owner in places(ast.parse(whole)):
        for new in changed(node):
            lo = starts[node.lineno - 1] + node.col_offset
            hi = starts[node.end_lineno - 1] + node.end_col_offset
            text = f"({ast.unparse(new)})" if isinstance(node, ast.expr) else ast.unparse(new)
            result = (whole[:lo] + text.encode() + whole[hi:]).decode()
            yield Mutant(path, node.lineno, owner, result, whole[lo:hi].decode(), text)


def draw(root: Path, number: int, seed: int, pattern: str) -> list[Mutant]:
    """Mutants at random: of all rooms alike, or of files (and a line) that match a pattern."""
    name, _, line = pattern.partition(":")
    rng, pools = random.Random(seed), []
    files = [str(p.relative_to(root)) for top in SOURCE for p in sorted((root / top).rglob("*.py"))]
    for patterns in [[f"*{name}*"]] if pattern else ROOMS.values():
        paths = [path for path in files if any(fnmatch(path, each) for each in patterns)]
        pool = [m for path in paths for m in mutants(root, path) if line in ("", str(m.line))]
        pools.append(rng.sample(pool, len(pool)))
    return [pool[k] for k in range(number) for pool in pools if k < len(pool)][:number]


class Recorder:
    """A plugin of pytest: the seconds of each test that passes, and the functions it reaches."""

    def __init__(self, target: Path) -> None:
        self.target, self.seen, self.found = target, set[Any](), Reached()

    def trace(self, frame: Any, *_: Any) -> None:
        self.seen.add(frame.f_code)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.seen, start = set(), sum(os.times()[:4])
        sys.settrace(self.trace)
        yield
        sys.settrace(None)
        reached = sorted(filter(None, map(self.name, self.seen)))
        self.found.setdefault(item.nodeid, (sum(os.times()[:4]) - start, reached))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.found[report.nodeid] = (0.0, [])

    def pytest_sessionfinish(self) -> None:
        self.target.write_text(json.dumps(self.found), encoding="utf-8")

    @staticmethod
    def name(code: Any) -> str:
        """file::function, or nothing for code of others and of modules."""
        file = code.co_filename.removeprefix(os.getcwd() + "/").removeprefix("gammabar/")
        function = code.co_qualname.partition(".<locals>")[0]
        return f"{file}::{function}" if file.startswith(SOURCE) and "<" not in function else ""


class Chosen:
    """A plugin of pytest: run the chosen tests in their order, each for a limited time."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds, self.order = seconds, list(seconds)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if item.nodeid in self.seconds]
        items[:] = sorted(kept, key=lambda item: self.order.index(item.nodeid))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(20 + 10 * self.seconds[item.nodeid]))


def run_tests(copy: Path, arguments: list[str], plugin: Any, compiled: str) -> tuple[int, str]:
    """Run pytest in a forked process; its exit code (negative: a signal) and what it printed."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.chdir(copy)
        out = os.open("pytest.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        for stream in (0, 1, 2):
            os.dup2(out if stream else os.open(os.devnull, os.O_RDONLY), stream)
        resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
        os.environ |= {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / compiled)}
        sys.path[:] = [str(copy), *(path for path in sys.path if path not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        always = ["-q", "-p", "no:cacheprovider", "--benchmark-disable"]
        os._exit(pytest.main([*always, *arguments], plugins=[plugin]))
    status = os.waitpid(pid, 0)[1]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), (copy / "pytest.log").read_text(errors="replace")


def reached_by_tests(copy: Path, tier: str) -> Reached:
    """Each passing test of a tier: its seconds, and the functions that it reaches."""
    kept, target = ROOT / "build" / f"mutate-{tier}.json", copy / "reached.json"
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    files = {str(path.relative_to(copy)): path for path in (copy / "tests").rglob("test_*.py")}
    stamps = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    known = {name: entry for name, entry in known.items() if entry[0] == stamps.get(name)}
    for name in sorted(files.keys() - known.keys(), reverse=True):
        target.write_text("{}", encoding="utf-8")
        run_tests(copy, ["-m", TIERS[tier], name], Recorder(target), ".numba")
        known[name] = [stamps[name], json.loads(target.read_text(encoding="utf-8"))]
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(known), encoding="utf-8")
    return {test: found for _, tests in known.values() for test, found in tests.items()}


def chosen(mutant: Mutant, tests: Reached, root: Path) -> dict[str, float]:
    """Tests that reach the function, then those of its file and of files with its name."""
    function, name = f"{mutant.path}::{mutant.owner}", mutant.owner.rpartition(".")[2]
    paths = [path for top in SOURCE for path in (root / top).rglob("*.py")]
    near = {str(p.relative_to(root)) for p in paths if name in p.read_text(encoding="utf-8")}
    ranked: dict[str, tuple[bool, int, float]] = {}
    turns: Counter[str] = Counter()
    for test, (seconds, reached) in sorted(tests.items(), key=lambda item: item[1][0]):
        direct, file = function in reached, test.partition("::")[0]
        if direct or any(each.partition("::")[0] in near for each in reached):
            turns[file] += 1
            ranked[test] = (not direct, turns[file], seconds)
    result, total = {}, 0.0
    for test in sorted(ranked, key=ranked.__getitem__):
        total += (seconds := ranked[test][2])
        if total < BUDGET or not result:
            result[test] = seconds
    return result


def killer(mutant: Mutant, copy: Path, tests: dict[str, float], number: int) -> str:
    """The test that kills a mutant, or nothing if it survives."""
    path = copy / mutant.path
    before = path.read_bytes()
    compiled = f".numba-{number}" if b"njit" in before else ".numba"
    path.write_text(mutant.text, encoding="utf-8")
    os.utime(path, (number, number))  # no byte code of another mutant has this time
    files = sorted({test.partition("::")[0] for test in tests})
    code, said = run_tests(copy, ["-x", *files], Chosen(tests), compiled)
    path.write_bytes(before)
    shutil.rmtree(copy / f".numba-{number}", ignore_errors=True)
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if code == 0 else failed[0][:110] if failed else f"exit code {code}"


def main() -> int:
    """Draw mutants, run their tests, and print which of them survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tier", choices=TIERS, default="fast")
    parser.add_argument("--file", default="", help="part of a path, or FILE:LINE")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    for library in ("numpy", "scipy.optimize", "scipy.sparse", "hypothesis", "flint", "numba"):
        importlib.import_module(library)
    survivors, copy = 0, Path(tempfile.mkdtemp()) / "tree"
    try:
        unneeded = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=unneeded)
        tests = reached_by_tests(copy, options.tier)
        drawn = draw(copy, options.count, options.seed, options.file)
        for number, mutant in enumerate(drawn, 1):
            some, start = chosen(mutant, tests, copy), time.monotonic()
            by = killer(mutant, copy, some, number) if some else ""
            survivors += not by
            took = f"{time.monotonic() - start:5.1f} s  {len(some):3} tests"
            print("killed  " if by else "SURVIVED", took, mutant, "|", by, flush=True)
    finally:
        shutil.rmtree(copy.parent)
    print(f"{len(drawn) - survivors} of {len(drawn)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
