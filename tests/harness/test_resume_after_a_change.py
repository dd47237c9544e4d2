"""`--resume` after a file has changed that a solver reads: nothing is said of the old one."""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
import pytest

from gammabar.harness.cli import cli, main

SOLVER = """
import json, pathlib, sys
import numpy as np
from gammabar.solvers import DualAcceleration, Iterate

FILE = pathlib.Path({path!r})

class Reads:
    step = 1.0

    def iterates(self, problem, rng=None):
        sign = {reader}
        for it in DualAcceleration().iterates(problem, rng):
            yield Iterate(it.t, sign * it.w)
"""
#: How a solver may read its sign, and how the file is written.
READERS = {
    "text.txt": ("float(FILE.read_text())", lambda p, s: p.write_text(str(s))),
    "options.json": (
        "json.loads(FILE.read_text())['sign']",
        lambda p, s: p.write_text(json.dumps({"sign": s})),
    ),
    "weights.npy": ("float(np.load(FILE))", lambda p, s: np.save(p, float(s))),
    "beside.py": (
        "eval(FILE.read_text().partition('=')[2])",
        lambda p, s: p.write_text(f"SIGN = {s}\n"),
    ),
    "folder": (
        "float((FILE / 'inner' / 'deep').read_text())",
        lambda p, s: ((p / "inner").mkdir(parents=True, exist_ok=True),
                      (p / "inner" / "deep").write_text(str(s))),
    ),
    "name": (
        "1.0 if (FILE / 'right').exists() else -1.0",
        lambda p, s: (p.mkdir(exist_ok=True), (p / "right").unlink(missing_ok=True),
                      (p / ("right" if s > 0 else "wrong")).touch()),
    ),
}  # fmt: skip


def asked(folder: Path, named: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    text = ["verify", "--solver-file", f"{folder / 'own.py'}:Reads", "--statement", "gb.sharp"]
    text += ["--problem", "planted:n=20,d=3,gamma=0.3,seed=0", "--iterations", "20", "--json"]
    text += ["--store", str(folder / "s.sqlite"), "--resume", "--jobs", "1", *named]
    with pytest.raises(SystemExit) as left:
        main(text)
    out, err = capsys.readouterr()
    assert left.value.code in (0, 1), err
    found = json.loads(out)
    return next(v["verdict"] for v in found["results"] if v["statement"] == "gb.sharp")


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_what_is_said_is_of_the_file_as_it_is(tmp_path, name, capsys) -> None:
    path, (reader, write) = tmp_path / name, READERS[name]
    (tmp_path / "own.py").write_text(SOLVER.format(path=str(path), reader=reader))
    options = cli.get_command(click.Context(cli), "verify").params
    offered = any(option.name == "depends" for option in options)
    named = ["--depends", str(path)] if offered else []
    for sign in (1, -1, 1):
        write(path, sign)
        assert asked(tmp_path, named, capsys) == ("holds" if sign > 0 else "refuted")
