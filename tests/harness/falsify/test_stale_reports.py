"""Reports that were kept: they count for what they are about, and for nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gammabar.harness.falsify.parameters import Finding, solvers_of
from gammabar.harness.falsify.reports import Batch, starts
from gammabar.harness.falsify.search import Report, Search, as_solvers
from gammabar.harness.registry import close_paper, find_statements, open_paper
from gammabar.harness.run.tasks import PaperRef, Registered, Run
from gammabar.harness.verify.verdict import Verdict

PAPER = """
from gammabar.papers import Paper, separable, stopping
from factor import C

paper = Paper(key="nov", title="On", authors="A", year=1962)

@stopping("nov.mistakes", reference="1", claim="t", solvers=("perceptron",), assumes=(separable,))
def mistakes(case):
    \"\"\"The perceptron separates the data after at most C (R/gamma)^2 updates.\"\"\"
    return case.mistake_bound * C
"""
MINE = """
from helper import SIGN
from gammabar.solvers import DualAcceleration, Iterate

class Mine:
    step = 1.0

    def iterates(self, problem, rng=None):
        for it in DualAcceleration().iterates(problem, rng):
            yield Iterate(it.t, SIGN * it.w)
"""


@pytest.fixture
def folder(tmp_path, shelf_as_before, monkeypatch):
    """A paper and a solver, each with a file beside it that it imports."""
    (tmp_path / "paper").mkdir()
    (tmp_path / "solver").mkdir()
    (tmp_path / "paper" / "nov.py").write_text(PAPER)
    (tmp_path / "paper" / "factor.py").write_text("C = 1\n")
    (tmp_path / "solver" / "mine.py").write_text(MINE)
    (tmp_path / "solver" / "helper.py").write_text("SIGN = 1\n")
    monkeypatch.syspath_prepend(tmp_path / "paper")
    monkeypatch.syspath_prepend(tmp_path / "solver")
    return tmp_path


@pytest.fixture
def searched(monkeypatch):
    """Searches that are over at once; what each was about, and where it began."""
    seen: list[tuple[str, tuple[Run, ...]]] = []
    ruling = {"now": "refuted"}

    def carry_out(self, crew=None):
        seen.append((self.statement.id, self.start))
        solver = self.solvers[0][0] if self.solvers else None
        verdict = Verdict(self.statement.id, ruling["now"])
        found = Finding(Run("rows:1", solver, 3), verdict, "families")
        report = Report(self.statement.id, found)
        report.runs["families"] = 5
        return report

    monkeypatch.setattr(Search, "carry_out", carry_out)
    return seen, ruling


def asked(folder: Path, **changed) -> Batch:
    """Two statements, one of a paper of the user, with a solver of the user or of the registry."""
    where = str(folder / "paper" / "nov.py")
    ref = PaperRef.read(where)
    open_paper(where)
    options = {"solver": (), "solver_file": None, "seed": 0, "budget": 4.0} | changed
    batch = Batch(
        find_statements(["nov.mistakes", "gb.sharp"]),
        budget=options["budget"],
        path=folder / "kept.json",
        solvers=as_solvers(options["solver"], options["solver_file"]),
        seed=options["seed"],
        refs=(ref,),
    )
    batch.carry_out(lambda place, statement: lambda report: None)
    close_paper(where)
    return batch


def mine(folder: Path) -> dict[str, str]:
    return {"solver_file": f"{folder / 'solver' / 'mine.py'}:Mine"}


def edited(*parts: str):
    """Add a line to a file."""
    return lambda folder: folder.joinpath(*parts).open("a").write("# another\n")


#: What changes, the options of the second search, and which statements it is about.
PARTS = {
    "the paper": (edited("paper", "nov.py"), {}, {"nov.mistakes"}),
    "a file beside the paper": (edited("paper", "factor.py"), {}, {"nov.mistakes"}),
    "the solver": (None, {"solver": ("perceptron",)}, {"nov.mistakes", "gb.sharp"}),
    "its options": (None, {"solver": ("lr-gd:step=0.1",)}, {"nov.mistakes", "gb.sharp"}),
    "several solvers": (
        None,
        {"solver": ("lr-gd:step=1", "perceptron")},
        {"nov.mistakes", "gb.sharp"},
    ),
    "a solver of one's own": (None, mine, {"nov.mistakes", "gb.sharp"}),
}


@pytest.mark.parametrize("part", PARTS)
def test_what_has_changed_is_searched_again(part, folder, searched):
    change, options, about = PARTS[part]
    options = options(folder) if callable(options) else options
    first = {"solver": ("lr-gd:step=1",)} if options else {}
    asked(folder, **first)
    seen, ruling = searched
    seen.clear()
    asked(folder, **first)
    assert seen == []  # as long as nothing has changed
    if change is not None:
        change(folder)
    ruling["now"] = "holds"
    assert asked(folder, **(options or first)).unexpected == [
        one for one in ("nov.mistakes", "gb.sharp") if one not in about
    ]
    assert {name for name, _ in seen} == about
    assert all(start for _, start in seen)  # the old candidate is where it begins


def test_a_seed_counts_where_nothing_was_found(folder, searched):
    seen, ruling = searched
    asked(folder, seed=1)
    seen.clear()
    asked(folder, seed=2)
    assert seen == []  # what is refuted is refuted
    ruling["now"] = "holds"
    (folder / "kept.json").unlink()
    asked(folder, seed=1)
    seen.clear()
    asked(folder, seed=1)
    assert seen == []
    asked(folder, seed=2)
    assert {one for one, _ in seen} == {"nov.mistakes", "gb.sharp"}


@pytest.mark.parametrize(
    "best",
    [
        {"problem": "inputs:a=1", "solver": "", "iterations": 0, "seed": 0},
        {"problem": "rows:1", "solver": "/no/such/file.py:Gone", "iterations": 3, "seed": 0},
        {"problem": "rows:1"},
    ],
)
def test_a_candidate_that_cannot_be_asked_is_no_error(best, folder, searched):
    """Of a statement whose inputs have changed, or of a solver that is not there."""
    asked(folder)
    document = json.loads((folder / "kept.json").read_text())
    more = {"strategy": "families", "verdict": {"tightness": None}}
    document["reports"]["gb.sharp"] |= {"best": best | more, "key": ""}
    (folder / "kept.json").write_text(json.dumps(document))
    seen, _ = searched
    seen.clear()
    asked(folder)
    ((name, start),) = seen
    assert name == "gb.sharp"
    assert all(isinstance(one.solver, Registered) for one in start)


@pytest.mark.parametrize(
    "wrong",
    [
        {"runs": {"families": "many"}},
        {"seconds": "long"},
        {"refuted": "yes"},
        {"best": {"problem": "rows:1", "strategy": "families", "verdict": {"tightness": "x"}}},
    ],
)
def test_a_file_that_is_damaged_is_refused(wrong, folder, searched, gammabar):
    asked(folder)
    path = folder / "kept.json"
    document = json.loads(path.read_text())
    document["reports"]["gb.sharp"] |= wrong
    path.write_text(json.dumps(document))
    code, _, err = gammabar("falsify", "gb.sharp", "jst.thm3.1.1", "--store", path)
    assert code == 2
    assert "not reports of" in err


def test_a_search_begins_with_its_own_solvers(folder):
    """What refuted one solver is no refutation of another, nor of other options."""
    (statement,) = find_statements(["gb.sharp"])
    ours = solvers_of(statement)
    kept = Run("rows:1", Registered("dual-acceleration:loss=logistic"), 3)
    assert starts(kept, ours) == (kept,)  # an option that the search tries itself
    other = Run("rows:1", Registered("dual-acceleration:step=30"), 3)
    assert {one.solver for one in starts(other, ours)} == {ref for ref, _ in ours}
    chosen = (Registered("perceptron"), Registered("lr-gd:step=1"))
    begun = starts(kept, solvers_of(statement, chosen))
    assert tuple(one.solver for one in begun) == chosen
    assert all(one.problem == "rows:1" for one in begun)
