"""Every file that a problem is read from is part of the key that `--resume` goes by."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gammabar.harness.run.provenance import key
from gammabar.harness.run.tasks import PaperRef, Registered, Run, Task
from gammabar.problems.specs import open_problem

ROWS = "a,3,1\na,1,3\nb,-4,-1\nb,-2,-3\n"
X, Y = np.array([[3.0, 1], [1, 3], [-4, -1], [-2, -3]]), np.array([1, 1, -1, -1])


#: Every way to write DATA.
FORMS = {
    "c.csv": "c.csv",
    "classes": "many.csv:a,b",
    "blank": "'sp ace.csv'",
    "colon": "'odd:a,b.csv'",
    "packed": "c.csv.gz",
    "packed classes": "c.csv.gz:b,a",
    "tabs": "t.tsv",
    "svmlight": "s.svm",
    "npy": "X.npy --labels y.npy",
    "npy=": "X.npy --labels=y.npy",
    "npz": "both.npz",
    "scipy": "sparse.npz --labels y.npy",
    "parquet": "p.parquet",
    "parquet classes": "p.parquet:a,b --label y",
    "kernel": "c.csv --kernel rbf:gamma=1",
}


def write(folder: Path) -> None:
    """The files that they name."""
    for name in ("c.csv", "sp ace.csv", "odd:a,b.csv"):
        (folder / name).write_text(ROWS)
    (folder / "many.csv").write_text(ROWS + "c,5,-5\n")
    (folder / "c.csv.gz").write_bytes(gzip.compress(ROWS.encode(), mtime=0))
    (folder / "t.tsv").write_text(ROWS.replace(",", "\t"))
    (folder / "s.svm").write_text("1 1:3 2:1\n-1 1:-4\n")
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", Y)
    np.savez(folder / "both.npz", X=X, y=Y)
    sparse.save_npz(folder / "sparse.npz", sparse.csr_array(X))
    pd.DataFrame({"y": list("aabb"), "u": X[:, 0]}).to_parquet(folder / "p.parquet")


_SEEN: list[str] = []
_WATCHING = [False]


def _hook(event: str, arguments: tuple) -> None:
    if _WATCHING[0] and event == "open" and isinstance(arguments[0], (str, Path)):
        _SEEN.append(str(arguments[0]))


sys.addaudithook(_hook)


def opened(text: str, folder: Path) -> set[Path]:
    """The files of a folder that are opened when a problem is."""
    _SEEN.clear()
    _WATCHING[0] = True
    try:
        open_problem(text).digest()
    finally:
        _WATCHING[0] = False
    found = {Path(name).resolve() for name in _SEEN}
    return {path for path in found if folder.resolve() in path.parents}


@pytest.mark.parametrize("name", FORMS)
def test_every_file_that_is_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    text = FORMS[name]
    task = Task(Run(text, Registered("perceptron"), 5), ("jst.thm3.1.1",), ("holds",))
    files = opened(text, tmp_path)
    if name.startswith("parquet"):
        files |= {tmp_path / "p.parquet"}  # Arrow opens it without Python's knowledge
    assert files
    before = key(task)
    assert key(task) == before
    for path in files:
        contents = path.read_bytes()
        path.write_bytes(contents + b"\n")
        assert key(task) != before, path.name
        path.write_bytes(contents)
        assert key(task) == before


def test_whether_a_data_set_is_there(monkeypatch):
    task = Task(Run("mnist-sample:0,1", Registered("perceptron"), 5), ("jst.thm3.1.1",), ("holds",))
    before = key(task)
    monkeypatch.setattr("gammabar.problems.datasets.is_here", lambda dataset: False)
    assert key(task) != before


@pytest.mark.parametrize("place", ["beside.py", "folder/inside.py"])
def test_python_files_beside_a_paper(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine.py").write_text("from beside import C\n")
    (tmp_path / place).write_text("C = 1\n")
    paper = PaperRef.read(str(tmp_path / "mine.py"))
    task = Task(
        Run("iris:0,1", Registered("perceptron"), 5), ("jst.thm3.1.1",), ("holds",), papers=(paper,)
    )
    before = key(task)
    (tmp_path / place).write_text("C = 2\n")
    assert key(task) != before


READS = """
import pathlib
from gammabar.solvers import DualAcceleration, Iterate

class Reads:
    def iterates(self, problem, rng=None):
        sign = float(pathlib.Path({path!r}).read_text())
        for it in DualAcceleration().iterates(problem, rng):
            yield Iterate(it.t, sign * it.w)
"""


@pytest.mark.full
def test_a_file_that_is_named_with_depends(tmp_path, gammabar):
    """`--resume` after it has changed: nothing is said of the old one."""
    path, solver = tmp_path / "sign.txt", tmp_path / "own.py"
    solver.write_text(READS.format(path=str(path)))
    words = ["--solver-file", f"{solver}:Reads", "--statement", "gb.sharp", "--iterations", "20"]
    words += ["--problem", "planted:n=20,d=3,gamma=0.3,seed=0", "--json", "--jobs", "1"]
    words += ["--store", str(tmp_path / "s.sqlite"), "--resume", "--depends", str(path)]
    for sign in (1, -1, 1):
        path.write_text(str(sign))
        _, out, _ = gammabar("verify", *words)
        (found,) = json.loads(out)["results"]
        assert found["verdict"] == ("holds" if sign > 0 else "refuted")
