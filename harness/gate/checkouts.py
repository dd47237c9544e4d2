"""The two sides of the gate: source trees, and processes that run benchmarks of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import Any, Self

from gammabar.harness.run.processes import Crashed, Limit, OutOfTime, Process
from gammabar.problems import ProblemError
from gammabar.problems.suggest import no_file

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("worker.py")
#: Folders in which a side finds no packages.
HIDDEN = "GAMMABAR_GATE_HIDDEN"
#: A process that has not answered after so many seconds never will.
PATIENCE = 300.0
#: Characters of what a process said last that are quoted.
QUOTED = 300


def real(path: Path) -> Path:
    """A path without links; a link to itself, which Path.resolve raises for, is left as it is."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a null character, or one that no name of a file has
        raise ProblemError(f"{str(path)!r:.100}: cannot be a folder ({error})") from None


def suites_of(root: Path) -> Path:
    """The folder of the suites of a repository, as its asv.conf.json says, or benchmarks/."""
    for place in (root, root / "benchmarks"):
        file = place / "asv.conf.json"
        # It may have comments, which JSON has not.
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
        found = re.search(r'"benchmark_dir"\s*:\s*"([^"]+)"', text)
        if found:
            return real(place / found[1])
    return root / "benchmarks"


def base_commit(root: Path, named: str | None, suites: Path) -> str:
    """The commit to compare with: the one given, or the one that BASE in the suites names."""
    place = ""
    if not (root / ".git").exists():
        raise ProblemError(f"the gate runs in a clone of the repository, which {root} is not")
    if not suites.is_dir():
        raise ProblemError(f"{no_file(suites, 'folder')} of benchmarks; name it with --benchmarks")
    if named is None:
        file = suites / "BASE"
        lines = file.read_bytes().splitlines() if file.is_file() else []
        said = [(k, line) for k, line in enumerate(lines, 1) if line.strip() and line[:1] != b"#"]
        if not said:
            raise ProblemError(f"{suites.name}/BASE names no commit: name the one to compare with")
        place = f"{suites.name}/BASE, line {said[0][0]}: "
        named = said[0][1].decode("utf-8", "backslashreplace").strip()
    try:
        found = _git(root, "rev-parse", "--verify", "--quiet", f"{named}^{{commit}}", check=False)
        commit = "" if found.returncode else found.stdout.decode("ascii", "replace").strip()
    except ValueError:  # a null character, or half of one: no word that a program can be told
        commit = ""
    if not re.fullmatch("[0-9a-f]+", commit):  # "^" before a commit is for git another question
        raise ProblemError(
            f"{place}{named!r:.100} is no commit of this repository (a shallow clone lacks old "
            "ones: `git fetch --unshallow`)"
        )
    return commit


def top(path: Path) -> Path:
    """The root of the repository that a path lies in."""
    if not path.is_dir():
        raise ProblemError(no_file(path, "folder"))
    found = _git(path, "rev-parse", "--show-toplevel", check=False)
    if found.returncode:
        raise ProblemError(f"{path}: is no git repository")
    return Path(os.fsdecode(found.stdout).removesuffix("\n"))


def checkout(root: Path, commit: str) -> Path:
    """The files of a commit, in a folder inside .git that is kept for the next time."""
    kept = _git(root, "rev-parse", "--git-path", "gammabar-gate").stdout
    folder = real(root / os.fsdecode(kept).removesuffix("\n")) / commit
    if folder.exists():
        return folder
    archive = _git(root, "archive", "--format=tar", commit).stdout
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(mkdtemp(dir=folder.parent))
    try:
        with tarfile.open(fileobj=BytesIO(archive)) as tar:
            tar.extractall(part, filter="data")
    except tarfile.TarError as error:  # a link out of the repository
        shutil.rmtree(part)
        raise ProblemError(f"the files of {commit[:10]} cannot be laid out: {error}") from None
    try:
        part.rename(folder)  # at once, so that what exists is complete
    except OSError:  # another gate was faster
        shutil.rmtree(part)
    return folder


def build(tree: Path, command: str) -> None:
    """Run a command in a tree: what has to be compiled there."""
    shown = f"--build: {command!r:.100}"
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("no program is named")
        done = subprocess.run(words, cwd=tree, capture_output=True, check=False)
    except (OSError, ValueError) as error:  # no command, or no such program
        reason = getattr(error, "strerror", None) or error
        raise ProblemError(f"{shown} cannot be run in {tree} ({reason})") from None
    if done.returncode:
        last = _last_line(done.stderr.strip() or done.stdout)
        said = ": ".join([f"exit code {done.returncode}", *last])
        raise ProblemError(f"{shown} failed in {tree} ({said})")


def _last_line(said: bytes) -> list[str]:
    return [line[:QUOTED] for line in said.decode("utf-8", "replace").strip().splitlines()[-1:]]


def same_lock(root: Path, tree: Path) -> bool:
    """Whether both trees ask for the same packages."""
    name = "requirements.lock"
    return (tree / name).is_file() and (tree / name).read_bytes() == (root / name).read_bytes()


def _git(root: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=root, check=check, capture_output=True)
    except FileNotFoundError:
        raise ProblemError("the gate needs git to find the commit to compare with") from None
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())
        raise ProblemError(f"git {arguments[0]}: {said[:QUOTED]}") from None


def _roots(tree: Path) -> list[Path]:
    """Where the packages of a tree are: in it, or in src/."""
    return [place for place in (tree / "src", tree) if place.is_dir()]


class Side(Process):
    """A process that runs benchmarks with the packages of one source tree.

    Both sides use the benchmarks of the working tree: a changed benchmark is no changed solver.
    """

    def __init__(self, tree: Path, benchmarks: Path, other: Path | None = None) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONPATH": os.pathsep.join(map(str, _roots(tree)))}
        # An editable installation of the other tree must not stand in for what this one lacks.
        hidden = [] if other is None else [str(place.resolve()) for place in _roots(other)]
        environment |= {HIDDEN: os.pathsep.join(hidden)}
        self._said = TemporaryFile()  # noqa: SIM115 (until the process ends)
        self._end = ""
        self._last: list[str] = []
        # -P: the folder of the worker must not shadow modules of the tree.
        command = [sys.executable, "-P", str(WORKER), str(benchmarks)]
        super().__init__(command, environment, tree, self._said)

    def tell(self, **command: Any) -> None:
        """Send a command."""
        if not self.closed:
            with suppress(Crashed):  # the answer says so
                self.send(json.dumps(command).encode())

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to the last command; one with "error" if there is none."""
        if self.closed:
            return {"error": self._end}
        try:
            line = self.line(Limit(PATIENCE)).decode("utf-8", "replace")
        except (Crashed, OutOfTime) as fault:
            self._end = str(fault)
            return {"error": self._end}
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            return {"error": f"the process said {line.strip()!r:.100}, which is no answer"}
        return answer

    def ended(self) -> str:
        """How the process ended, and what it said last."""
        self._end = ": ".join([super().ended(), *self._last])
        return self._end

    def close(self) -> None:
        """End the process, and keep the last line of what it said."""
        super().close()
        if not self._said.closed:
            self._said.seek(0)
            self._last = _last_line(self._said.read())
            self._said.close()


class Pair:
    """Both sides."""

    def __init__(self, base: Path, head: Path, benchmarks: Path) -> None:
        self.base, self.head = Side(base, benchmarks, head), Side(head, benchmarks, base)

    def ask(self, **command: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Answers of base and head, who work at the same time."""
        self.base.tell(**command)
        self.head.tell(**command)
        return self.base.answer(), self.head.answer()

    def turns(self, seconds: float, head_first: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        """Answers of base and head to {"slice": seconds}, one after the other."""
        answers = {}
        for side in (self.head, self.base) if head_first else (self.base, self.head):
            side.tell(slice=seconds)
            answers[side] = side.answer()
        return answers[self.base], answers[self.head]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.base.close()
        self.head.close()
