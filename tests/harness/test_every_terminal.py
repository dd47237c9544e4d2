"""Manners: every command on every kind of terminal.

Where no colour is wanted there is none, a narrow terminal gets lines that break at words, and one
that has no Greek gets words: never a traceback, never a question mark for what was meant.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from gammabar.harness.cli import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
SMALL = "planted:n=12,d=3,gamma=0.2,seed=0"
NOT = "inseparable:n=12,d=3,seed=0"
RUN = ("verify", "--statement", "gb.sharp", "--problem", SMALL, "--jobs", "1", "--iterations", "20")
#: Every command, in the words that a user would type first. Those below leave files for others.
CALLS = {
    "alone": (),
    "help": ("--help",),
    **{f"{name} --help": (name, "--help") for name in COMMANDS},
    "oracle": ("oracle", SMALL, "--certificate", "c.json", "--explain"),
    "oracle, not separable": ("oracle", NOT, "--explain", "--signed"),
    "oracle, kernel": ("oracle", SMALL, "--kernel", "rbf:gamma=1"),
    "separation": ("separation", NOT, "--intercept"),
    "check": ("check", "c.json"),
    "check a witness": ("check", str(next(ROOT.glob("papers/*/witnesses/rp.winnow.json")))),
    "verify": (*RUN, "--store", "s.sqlite"),
    "verify, refuted": (*RUN[:-2], "--iterations", "3", "--solver-file", "my.py:mine"),
    "falsify": ("falsify", "rp.winnow", "--budget", "2"),
    "report": ("report", "s.sqlite", "--out", "r.html"),
    "report --markdown": ("report", "s.sqlite", "--markdown"),
    "report --badge": ("report", "s.sqlite", "--badge"),
    "export": ("export", "s.sqlite", "--csv", "s.csv"),
    **{
        f"show {name}": ("show", name)
        for name in ("gb.sharp", "winnow", "planted", SMALL, "jst.fig1", "winnow/additive")
    },
    **{
        f"list {kind}": ("list", kind)
        for kind in ("statements", "solvers", "problems", "mutants", "papers", "artefacts")
    },
    "list --severity": ("list", "statements", "--severity", "substance"),
    "margins": ("margins", "iris", "--no-check", "--jobs", "1"),
    "reproduce": ("reproduce", "rp.sec2.2", "--quick", "--out", "out"),
    "data list": ("data", "list"),
    "data check": ("data", "check", "iris"),
    "a name that is none": ("show", "jst.thm3.1.11"),
    "an option that is none": ("verify", "--statment", "x"),
    "a file that is none": ("oracle", "none.csv"),
    "gate": ("gate", "--repo", "nowhere"),
    "bench": ("bench", "--from", str(ROOT / "docs" / "benchmarks.json")),
    "bench, a section that is none": ("bench", "--only", "nothing"),
}

DOCUMENTS = ("report --markdown", "report --badge")
MINE = """
def mine(problem):
    while True:
        yield problem.origin()
"""
#: Encoding, whether it is a terminal, and what the environment says.
TERMINALS = {
    "a narrow pipe in ASCII": ("ascii", False, {"COLUMNS": "60"}),
    "a terminal without colours": ("utf-8", True, {"NO_COLOR": "1", "COLUMNS": "100"}),
    "a pipe": ("utf-8", False, {}),
    "a narrow terminal": ("utf-8", True, {"TERM": "dumb", "COLUMNS": "60"}),
    "a terminal in Latin-1": ("latin-1", True, {"TERM": "dumb", "COLUMNS": "80"}),
}
#: The two that differ most; the others are variations.
QUICK = ("a narrow pipe in ASCII", "a terminal without colours")
_CODE = re.compile(r"\x1b\[[^a-zA-Z]*[a-zA-Z]")
_COLOUR = re.compile(r"\x1b\[(?:[0-9]*;)*(3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9]*)*m")


class Terminal(io.TextIOWrapper):
    """A stream that knows what it is, and keeps what it is told."""

    def __init__(self, encoding: str, tty: bool) -> None:
        self.kept = io.BytesIO()
        self.tty = tty
        super().__init__(self.kept, encoding, newline="\n", write_through=True)

    def isatty(self) -> bool:
        return self.tty

    def text(self) -> str:
        self.flush()
        return self.kept.getvalue().decode(self.encoding)


@pytest.mark.full
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] * (k not in QUICK)) for k in TERMINALS]
)
def test_every_command(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    encoding, tty, environment = TERMINALS[kind]
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    Path("my.py").write_text(MINE, encoding="utf-8")
    found = []
    for name, words in CALLS.items():
        out, err = (Terminal(encoding, tty) for _ in range(2))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as exit_:
            main(list(words))
        said = out.text()
        if name in DOCUMENTS:  # written for a file: of any width
            said = "\n".join(said.split())
        faults = list(bad(said, err.text(), encoding, tty, environment))
        found += [f"{name}: {fault}" for fault in faults]
        assert exit_.value.code in (0, 1, 2, None), name
    assert not found, "\n".join(found)


def bad(out: str, err: str, encoding: str, tty: bool, environment: dict[str, str]):
    """What a person would mind."""
    if not (out + err).strip():
        yield "nothing is said"
    if "Traceback" in out + err:
        yield "a traceback"
    codes = set(_CODE.findall(out + err))
    if codes and not (tty and environment.get("TERM") != "dumb"):
        yield f"escape codes: {codes}"
    yield from (f"a colour: {code!r}" for code in codes if _COLOUR.fullmatch(code))
    if encoding != "utf-8":
        yield from {f"nobody would guess {m}" for m in re.findall(r"\S*\w\?\w\S*", out)}
    width = int(environment.get("COLUMNS", 0))
    for line in out.splitlines() if width else ():
        # A word that is longer than the line stands alone, or after its name.
        if cells(line) > width and len(line.split()) > 2:
            yield f"{cells(line)} wide: {line}"


def cells(line: str) -> int:
    from rich.cells import cell_len

    return cell_len(_CODE.sub("", line))
