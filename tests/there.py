"""What today's searches find in old code: the column *there* of docs/soundness.md.

    git worktree add ../old 73e5d2d
    python -m tests.there ../old            every row; minutes
    python -m tests.there ../old 8 10       these rows

The tests of this checkout are run, as they are, on the code of another one. Its packages had names
of their own (`problems`, `oracle`, `solvers`, `harness`): ``gammabar.…`` is looked up there, some
modules under the names that they had then (`MOVED`). Every case that a generator draws is counted:
wrong if the test's own assertion fails, or if the old code ends in an error of its own, or takes
longer than `LIMIT`; *not asked* if it needs something that the old code does not have.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
#: Seconds for a case, and for all of a row.
LIMIT, ROW_LIMIT = 20.0, 900.0
COURT = "harness.court"
#: Where things were before: names are looked for in each, in this order.
MOVED = {
    "gammabar": ("problems", "oracle", "solvers", f"{COURT}.bound"),
    "gammabar.harness.registry": ("harness.statements", "harness.power"),
    f"gammabar.{COURT}.hearing": (f"{COURT}.judge",),
    f"gammabar.{COURT}.judges": (f"{COURT}.judge",),
    f"gammabar.{COURT}.chance": (f"{COURT}.judge",),
    "gammabar.harness.run.in_process": (f"{COURT}.bound",),
    "gammabar.problems.points": ("problems._points",),
    "gammabar.problems.linear": ("problems._linear",),
}
#: What searches a row: a file of the tests, and which of its tests (all of them if none is named).
ROWS: dict[str, tuple[str, ...]] = {
    "1": (
        "oracle/test_extremes.py::integers_of_every_type or integers_in",
        "problems/test_integers.py::refused or wrap or squares",
    ),
    "2": ("oracle/test_extremes.py::polynomial_kernels or normalised_kernels or underflow",),
    "4": ("harness/verify/test_unearned.py::infinite or overflow",),
    "5": ("harness/verify/test_unearned.py::in_place or at_any_depth",),
    "6": ("solvers/test_estimator.py::bounds_of_kernels or constant_feature or wrap",),
    "8": (
        "harness/verify/test_unearned.py::halts_by_itself or true_end or length or inapplicable",
    ),
    "9": (
        "harness/verify/test_lies.py::no_lie_acquits_and",
        "harness/verify/test_unearned.py::simplex or momentum_that or sampler or not_drawn",
    ),
    "10": ("harness/verify/test_unearned.py::no_array or another_shape",),
    "11": (
        "harness/verify/test_first_run.py",
        "harness/verify/test_unearned.py::one_try or once_per",
    ),
    "13": ("harness/test_stale.py",),
}


class Elsewhere(Exception):
    """The old code has nothing of this name."""


class Late(BaseException):
    """A case took too long. No test means to catch this."""


class Absent:
    """Something that the old code does not have: whoever uses it learns that."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise Elsewhere(self._name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Elsewhere(self._name)


class Renamed(ModuleType):
    """A module of today, made of what the old code has of it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for other in self.__dict__["_others"]:
            if hasattr(other, name):
                return getattr(other, name)
        return Absent(f"{self.__name__}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        for other in self.__dict__.get("_others", ()):
            if hasattr(other, name) and not name.startswith("__"):
                return setattr(other, name, value)
        return super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        for other in self._others:
            if hasattr(other, name):
                return delattr(other, name)
        return super().__delattr__(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``gammabar.…`` in the packages that there were."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.split(".")[0] == "gammabar":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> ModuleType:
        made = Renamed(spec.name)
        others = []
        for old in MOVED.get(spec.name, (spec.name.removeprefix("gammabar."),)):
            try:
                others.append(import_module(old))
            except ModuleNotFoundError:
                continue
        made.__dict__["_others"] = tuple(others)
        return made

    def exec_module(self, module: ModuleType) -> None:
        pass


class Counting:
    """A plugin of pytest that counts the cases of every test, and goes on after a wrong one."""

    def __init__(self, checkout: str) -> None:
        self.checkout = checkout
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            handle = getattr(item.obj, "hypothesis", None)
            if handle is not None:
                handle.inner_test = self._counted(handle.inner_test)
            if hasattr(item.module, "tell") and not hasattr(item.module, "_counted"):
                item.module._counted = True
                item.module.tell = self._told(item.module.tell)

    def _told(self, tell: Any) -> Any:
        """Of `test_lies` every verdict is a case, and every fault of it a wrong one."""

        def counted(*args: Any, **more: Any) -> Any:
            tried, faults = tell(*args, **more)
            self.counts["wrong"] += len(faults)
            self.counts["right"] += tried - len(faults)
            self.kinds.update(["a lie acquits, or refutes"] * len(faults))
            return tried, []

        return counted

    def _counted(self, inner: Any) -> Any:
        import functools

        @functools.wraps(inner)
        def case(*args: Any, **more: Any) -> None:
            self.weigh(lambda: inner(*args, **more))

        return case

    def weigh(self, run: Any) -> None:
        """Run one case and count what became of it."""
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            run()
            self.counts["right"] += 1
        except BaseException as error:
            if type(error).__module__.startswith("hypothesis."):
                raise  # not a case: the draw was given up
            self.blame(error)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def blame(self, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        text = str(error)
        judged = isinstance(error, AssertionError | Late) or type(error).__name__ == "Failed"
        if isinstance(error, Elsewhere) or not (judged or self._theirs(error)):
            self.counts["not asked"] += 1
            self.kinds[f"not asked: {text[:70]}"] += 1
        else:
            self.counts["wrong"] += 1
            self.kinds[type(error).__name__ if not isinstance(error, Late) else "late"] += 1

    def _theirs(self, error: BaseException) -> bool:
        """Whether an error is the old code's own, and not that of a test that asks for more."""
        if "unexpected keyword" in str(error) or isinstance(error, NameError):
            return False  # (names are missing where the clock stopped an import)
        frames = traceback.walk_tb(error.__traceback__)
        return any(f.f_code.co_filename.startswith(self.checkout) for f, _ in frames)

    def pytest_runtest_call(self, item: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, ROW_LIMIT if _drawn(item) else LIMIT)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.when != "call":
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        if hasattr(item.obj, "hypothesis") or (_drawn(item) and call.excinfo is None):
            return  # counted case by case
        if call.excinfo is None:
            self.counts["right"] += 1
        elif call.excinfo.typename != "Skipped":
            self.blame(call.excinfo.value)


def _drawn(item: Any) -> bool:
    """Whether the cases of a test are counted one by one."""
    return hasattr(item.obj, "hypothesis") or hasattr(item.module, "tell")


def adapt() -> None:
    """What the objects of the old code say under other names."""
    statement = import_module(f"{COURT}.statement")
    kind = statement.Statement
    if not hasattr(kind, "about_runs"):
        kind.about_runs = property(lambda self: self.way in ("iterates", "stopping"))

        class Those(type):
            def __instancecheck__(cls, thing: Any) -> bool:
                return getattr(thing, "way", "") == "iterates"

        statement.IterateStatement = Those("IterateStatement", (), {})


def _late(*_: Any) -> None:
    raise Late


def inside(checkout: str, row: str) -> int:
    """Run the tests of a row on the code of a checkout, and print the counts."""
    import pytest
    from hypothesis import HealthCheck, settings

    sys.path[:] = [checkout, *(p for p in sys.path if Path(p or ".").resolve() != HERE.parent)]
    sys.path.append(str(HERE))
    sys.meta_path.insert(0, Finder())
    signal.signal(signal.SIGALRM, _late)
    settings.register_profile(
        "there",
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[*HealthCheck],
    )
    settings.load_profile("there")
    # Now, before pytest takes the folders of the tests for packages of these names.
    for name in ("problems", "oracle", "solvers", "harness.statements", "tests.mutants"):
        import_module(name)
    adapt()
    oracle, problems = import_module("oracle"), import_module("problems")
    for point in (1, 1.5):  # what is imported late, or compiled, is so before a clock runs
        oracle.solve(problems.from_arrays([[point, 0], [0, point]], [1, -1]))
    counting = Counting(checkout)
    for place in ROWS[row]:
        file, _, chosen = place.partition("::")
        options = ["-q", "--noconftest", "-c", os.devnull, "--rootdir", str(HERE.parent)]
        options += ["--import-mode=importlib", "-p", "no:cacheprovider", "-W", "ignore"]
        code = pytest.main(
            [*options, str(HERE / file), *(["-k", chosen] if chosen else [])], plugins=[counting]
        )
        if code not in (0, 1):
            counting.kinds[f"{file}: pytest ended with {int(code)}"] += 1
    print("\nCOUNTS " + json.dumps([counting.counts, counting.kinds]))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.there", description=__doc__)
    parser.add_argument("checkout", type=Path, help="folder with the old code")
    parser.add_argument("rows", nargs="*", help=f"some of {', '.join(ROWS)}; all if none is named")
    parser.add_argument("--verbose", action="store_true", help="what pytest says, too")
    args = parser.parse_args(arguments)
    if not (args.checkout / "harness" / COURT.split(".")[1]).is_dir():
        parser.error(f"{args.checkout} is no checkout of this project from before the rules")
    quiet = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
    for row in args.rows or ROWS:
        if row not in ROWS:
            parser.error(f"{row} is none of {', '.join(ROWS)}")
        command = [sys.executable, str(HERE / "there.py"), "--inside", str(args.checkout.resolve())]
        try:
            done = subprocess.run(
                [*command, row],
                cwd=args.checkout,
                env={**os.environ, **quiet},
                capture_output=True,
                text=True,
                timeout=2 * ROW_LIMIT,
            )
        except subprocess.TimeoutExpired:
            print(f"{row:>3}  did not end", flush=True)
            continue
        if args.verbose:
            print(done.stdout, done.stderr)
        counted = [line for line in done.stdout.splitlines() if line.startswith("COUNTS ")]
        if not counted:
            print(f"{row:>3}  ended with {done.returncode}: {done.stderr[-300:]}", flush=True)
            continue
        counts, kinds = json.loads(counted[-1].removeprefix("COUNTS "))
        wrong, right = counts.get("wrong", 0), counts.get("right", 0)
        silent = counts.get("not asked", 0)
        print(f"{row:>3}  {wrong:,} of {wrong + right:,} wrong, {silent} not asked")
        for kind, count in sorted(kinds.items()):
            print(f"       {count:,} {kind}", flush=True)
    return 0


if __name__ == "__main__":
    inner = sys.argv[1:2] == ["--inside"]
    sys.exit(inside(*sys.argv[2:4]) if inner else main())
