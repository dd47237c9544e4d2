"""The size of the source, and how much of it three commands touch: ``python -m tests.size``.

``--base COMMIT`` prints the numbers of another commit beside those of the working tree. A module is
executed if the body of one of its functions has run; methods that `dataclasses` writes do not
count.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ("problems", "oracle", "solvers", "harness", "papers", "gammabar")
COMMANDS = {
    "oracle iris:0,1": ["oracle", "iris:0,1"],
    "verify, one statement": ["verify", "--statement", "jst.thm3.1.1", "--problem", "iris:0,1"],
    "check_bound": [],
}


def files(root: Path, *folders: str, suffix: str = ".py") -> list[Path]:
    """Files of folders, without following links."""
    return [
        Path(place, name)
        for folder in folders
        for place, _, names in os.walk(root / folder)
        for name in sorted(names)
        if name.endswith(suffix)
    ]


def public_names(tree: ast.Module) -> set[str]:
    """Functions and classes of a module that do not begin with an underscore."""
    named = (n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef))
    return {name for name in named if not name.startswith("_")}


def measure(root: Path) -> dict[str, str]:
    """The rows of the table, by name."""
    paths = [path for path in files(root, *SOURCE) if path.parent.name != "plugins"]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    trees = [ast.parse(text) for text in texts]
    lines = [line for text in texts for line in text.splitlines()]
    lengths = [
        (node.end_lineno or 0) - node.lineno + 1
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]
    tests = (path.read_text(encoding="utf-8") for path in files(root, "tests"))
    pages = [root / "README.md", *files(root, "docs", suffix=".md")]
    more = [path.read_text(encoding="utf-8") for path in files(root, "papers/plugins")]
    rows = {
        "source lines, without papers/plugins": f"{len(lines):,}",
        "source modules": f"{len(paths)}",
        "public functions and classes": f"{sum(len(public_names(tree)) for tree in trees):,}",
        "papers/plugins, lines": f"{sum(text.count(chr(10)) for text in more):,}",
        "function lines, median": f"{median(lengths):g}",
        "function lines, 95th percentile": f"{quantiles(lengths, n=20)[-1]:g}",
        "mean line length": f"{mean(map(len, lines)):.1f}",
        "test lines": f"{sum(len(text.splitlines()) for text in tests):,}",
        "docs and README, words": f"{sum(len(p.read_text().split()) for p in pages):,}",
    }
    touched = {name: _touched(root, arguments) for name, arguments in COMMANDS.items()}
    rows |= {f"modules imported: {name}": f"{some[0]}" for name, some in touched.items()}
    return rows | {f"modules executed: {name}": f"{some[1]}" for name, some in touched.items()}


def _touched(root: Path, arguments: list[str]) -> tuple[int, int]:
    """How many modules a command imports, and how many it executes, in a fresh process."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "touched.json")
        subprocess.run(
            [sys.executable, __file__, str(report), project["scripts"]["gammabar"], *arguments],
            env=os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        imported, executed = json.loads(report.read_text(encoding="utf-8"))
    return len(imported), len(executed)


# --- in the fresh process --------------------------------------------------------------------


def _probe(report: str, entry: str, *arguments: str) -> None:
    codes: set[Any] = set()

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            codes.add((frame.f_globals.get("__name__", ""), frame.f_code))

    sys.setprofile(note)
    try:
        _run_command(entry, arguments) if arguments else _run_fixture()
    except SystemExit as end:
        assert end.code in (None, 0), end.code
    finally:
        sys.setprofile(None)
    imported = sorted(name for name in sys.modules if name.partition(".")[0] == "gammabar")
    assert "gammabar.harness" in imported
    executed = {
        name
        for name, code in codes
        if name in imported
        and code.co_flags & 1  # of a function, not of a class or module
        and code.co_filename == sys.modules[name].__file__
    }
    Path(report).write_text(json.dumps([imported, sorted(executed)]), encoding="utf-8")


def _run_command(entry: str, arguments: tuple[str, ...]) -> None:
    module, _, function = entry.partition(":")
    sys.argv = ["gammabar", *arguments]
    main: Callable[[], int | None] = getattr(__import__(module, fromlist=[function]), function)
    sys.exit(main())


def _run_fixture() -> None:
    from gammabar.harness.pytest_plugin import _check

    _check("jst.thm3.1.1", Momentum(), problem="iris:0,1")


class Momentum:
    """Algorithm 1 of Ji, Srebro and Telgarsky (2021), as a user might write it."""

    def iterates(self, problem: Any, rng: object) -> Iterator[Any]:
        import numpy as np

        A = np.array([problem.row(i) for i in range(problem.n)])
        w, g = np.zeros(A.shape[1]), np.zeros(A.shape[1])
        t = 0
        while True:
            yield w
            scores = -(A @ w)
            q = np.exp(scores - scores.max())
            gradient = A.T @ (q / q.sum())
            g = t / (t + 1) * (g + gradient)
            w = w + (g + gradient)
            t += 1


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", help="a commit to compare with")
    base = parser.parse_args().base
    columns = {"now": measure(ROOT)}
    if base is not None:
        archive = subprocess.run(
            ["git", "archive", base], cwd=ROOT, capture_output=True, check=True
        )
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(fileobj=BytesIO(archive.stdout)) as tar:
                tar.extractall(folder, filter="fully_trusted")  # links lead to folders beside
            columns = {base: measure(Path(folder)), **columns}
    print("| |", " | ".join(columns), "|")
    print("|---|" + "---|" * len(columns))
    for name in columns["now"]:
        print("|", " | ".join((name, *(column[name] for column in columns.values()))), "|")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1].endswith("touched.json"):
        _probe(*sys.argv[1:])
    else:
        main()
