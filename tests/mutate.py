"""The power of the tests: ``python -m tests.mutate 100 --seed 1`` changes the source and counts.

A mutant changes one place of the source: a comparison, a sign, a constant, a dropped term or check,
a swapped index. It lives in a temporary copy of the tree. Of the test files that mention the
changed function, its statement or its module, up to ``--tests`` tests run until one fails: those
whose text mentions it first, a few cases of each before the others. Seed and tree determine mutants
and tests; nothing is measured. ``--root`` names another tree, whose own tests run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.metadata
import inspect
import os
import random
import re
import resource
import shutil
import signal
import sys
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
GENERIC = {"tuple", "dict", "Callable", "Iterator", "NDArray"}
#: Functions of two arguments in any order.
SYMMETRIC = {"min", "max", "_times", "_usable", "equal", "same", "np.minimum", "np.maximum"}
#: Test files that a mutant has to survive.
FILES = 5
#: Cases of a parametrised test that run before those of other tests.
EACH = 5
PAPERS = ("jst", "tyurin", "rp", "lec", "gb", "jt", "wang", "wu", "yu")


class Mutant(NamedTuple):
    """`new` in the place of `old` at a byte of a file; `owner` is the outermost name there."""

    path: str
    line: int
    place: int
    owner: str
    old: str
    new: str

    def text(self, before: bytes) -> bytes:
        """The file with the change."""
        return (
            before[: self.place] + self.new.encode() + before[self.place + len(self.old.encode()) :]
        )

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
            yield ast.Constant(value * 2 or 1.0)
        case ast.Subscript(ast.Name(name)) if name in GENERIC:
            pass
        case ast.Subscript(slice=ast.Tuple(elts=[a, b])):
            yield ast.Subscript(node.value, ast.Tuple([b, a]), ast.Load())
        case ast.Call(_, [a, b], []) if ast.unparse(a) == ast.unparse(b):
            pass
        case ast.Call(func, [a, b], []) if ast.unparse(func) not in SYMMETRIC:
            yield ast.Call(func, [b, a], [])
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
            name = f"{owner}.{getattr(child, 'name', '')}".lstrip(".")
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
            yield Mutant(path, node.lineno, lo, owner, whole[lo:hi].decode(), text)


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


class Selection:
    """A plugin of pytest: which tests run, in which order, and none of them for ever."""

    def __init__(self, files: list[str], words: set[str], most: int) -> None:
        self.files, self.words, self.most = files, words, most

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tests that name what is changed, then the rest by file: a few of each function at first,
        then more of the parametrised ones."""
        place = {name: k for k, name in enumerate(self.files)}
        found, keys = Counter[str](), {}
        for item in items:
            name = item.nodeid.partition("[")[0]
            text = inspect.getsource(getattr(item, "function", None) or Selection)
            case = item.nodeid.partition("[")[2].rstrip("]")
            foreign = self.words.isdisjoint([*re.findall(r"[\w.]+", text), case])
            order = 0 if case in self.words else found[name] // EACH
            keys[item] = (order, foreign, place.get(name.partition("::")[0], 0))
            found[name] += 1
        items[:] = sorted(items, key=lambda item: keys[item])[: self.most]

    def pytest_runtest_setup(self) -> None:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, 20)
        signal.alarm(120)


def in_child(copy: Path, arguments: list[str], plugin: Any, compiled: str) -> tuple[int, str]:
    """Run pytest in a forked process; its exit code (negative: a signal) and what it printed."""
    if (pid := os.fork()) == 0:
        os.setsid()
        os.chdir(copy)
        out = os.open("pytest.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        for stream in (0, 1, 2):
            os.dup2(out if stream else os.open(os.devnull, os.O_RDONLY), stream)
        resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
        os.environ |= {"PYTHONPATH": str(copy)}
        if compiled:
            os.environ["NUMBA_CACHE_DIR"] = str(copy / compiled)
        sys.path[:] = [str(copy), *(path for path in sys.path if path not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        always = ["-q", "-p", "no:cacheprovider", "--benchmark-disable"]
        os._exit(pytest.main([*always, *arguments], plugins=[plugin]))
    status = os.waitpid(pid, 0)[1]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), (copy / "pytest.log").read_text(errors="replace")


def chosen(mutant: Mutant, root: Path) -> tuple[list[str], set[str]]:
    """The test files that say most about what is changed, and the words that name it."""
    tree = ast.parse((root / mutant.path).read_bytes())
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    own = mutant.owner.split(".")
    names = {word for node in defined for word in said(node)} | set(own)
    mine = {word for node in defined if node.name == own[0] for word in said(node)} | set(own)
    module = mutant.path.removesuffix(".py").replace("/", ".")
    texts = {p: p.read_text(encoding="utf-8") for p in sorted((root / "tests").rglob("test_*.py"))}
    words = {path: set(re.findall(r"[\w.]+", text)) for path, text in texts.items()}
    common = Counter(word for some in words.values() for word in some & (names | mine))
    scores = {}
    for path, text in texts.items():
        score = sum((20 if word in mine else 2) / common[word] for word in words[path] & names)
        score += 5 * (f"gammabar.{module}" in text) + (path.parent.name in mutant.path)
        score += 5 * (Path(mutant.path).stem in path.stem)
        scores[str(path.relative_to(root))] = score
    best = sorted((name for name in scores if scores[name]), key=lambda name: -scores[name])
    return best[:FILES], mine


def said(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """The name of a function or class, and the ids of statements in its decorators."""
    yield node.name
    for part in (part for each in node.decorator_list for part in ast.walk(each)):
        value = getattr(part, "value", None)
        if isinstance(value, str) and re.fullmatch(r"[\w.]+", value):
            yield from (value, *(f"{paper}.{value}" for paper in PAPERS))


class Trial:
    """A copy of the tree in which mutants are tried."""

    def __init__(self, root: Path, tier: str, most: int) -> None:
        copy = root / "build" / "mutate"  # compiled code in it is used again
        for path in copy.rglob("*"):
            if path.is_symlink() or (path.is_file() and path.parent.name != "__pycache__"):
                path.unlink()
        unneeded = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build")
        shutil.copytree(root, copy, symlinks=True, ignore=unneeded, dirs_exist_ok=True)
        self.copy, self.tier, self.most = copy, tier, most
        self.good, self.bad, self.number = set[str](), set[str](), 0

    def killer(self, mutant: Mutant) -> str:
        """The test that kills a mutant, or nothing if it survives."""
        path = self.copy / mutant.path
        before = path.read_bytes()
        self.number += 1
        compiled = f".numba-{self.number}" if b"njit" in before else ""
        path.write_bytes(mutant.text(before))
        os.utime(path, (self.number, self.number))  # no byte code of another mutant has this time
        by = self.failure(*chosen(mutant, self.copy), compiled)
        path.write_bytes(before)
        if compiled:
            shutil.rmtree(self.copy / compiled, ignore_errors=True)
        if not by or by in self.good:
            return by
        if "::" not in by:  # it may be the first time that code is compiled
            warm = self.failure(*chosen(mutant, self.copy), "")
            return by if not warm else ""
        if self.failure([by], set(), ""):  # it fails in any copy
            self.bad.add(by)
            return self.killer(mutant)
        self.good.add(by)
        return by

    def failure(self, tests: list[str], words: set[str], compiled: str) -> str:
        """The first test that fails, or how pytest ended, or nothing."""
        plugin = Selection(tests, words, self.most)
        left_out = [word for name in self.bad for word in ("--deselect", name)]
        arguments = ["-x", "-m", TIERS[self.tier], *left_out, *tests]
        code, text = in_child(self.copy, arguments, plugin, compiled)
        failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", text, re.MULTILINE)
        return failed[1] if failed else "" if code in (0, 2, 5) else f"exit code {code}"


def main() -> int:
    """Draw mutants, run their tests, and print which of them survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="so many of the count")
    parser.add_argument("--tier", choices=TIERS, default="fast")
    parser.add_argument("--file", default="", help="part of a path, or FILE:LINE")
    parser.add_argument("--tests", type=int, default=300, help="that a mutant has to survive")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree (default: this one)")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    for library in ("numpy", "scipy.optimize", "scipy.sparse", "hypothesis", "flint", "numba"):
        importlib.import_module(library)
    for plugin in importlib.metadata.entry_points(group="pytest11"):
        if not plugin.value.startswith("gammabar"):
            plugin.load()
    survivors = 0
    trial = Trial(options.root.resolve(), options.tier, options.tests)
    drawn = draw(trial.copy, options.count, options.seed, options.file)[options.skip :]
    for mutant in drawn:
        by = trial.killer(mutant)
        survivors += not by
        print("killed  " if by else "SURVIVED", mutant, "|", by, flush=True)
    print(f"{len(drawn) - survivors} of {len(drawn)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
