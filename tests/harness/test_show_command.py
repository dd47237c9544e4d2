"""``gammabar show``: everything about one thing, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gammabar.harness.run.store import Store
from gammabar.harness.run.tasks import Outcome, Registered, Run, Task
from gammabar.harness.verify.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
PAPER = """
from gammabar.papers import Paper, at_most, per_iterate, separable

paper = Paper(key="mine", title="A conjecture", authors="Somebody", year=2026)


@per_iterate("mine.rate", reference="1", claim="x", solvers=("dual-acceleration",), since=1)
def rate(it, case):
    "In words."
    return at_most(case.gamma - it.margin, 1 / case.gamma)
"""
#: What a user may have in a folder, and misspell.
FILES = {
    "colours.csv": "color,weight,size\nred,1,2\nblue,-1,-2\nred,2,3\n",
    "solver.py": "class Mine:\n    step: float = 1.0\n    def iterates(self, problem, rng): ...\n",
    "paper.py": PAPER,
    "other.py": PAPER.replace("since=1", "sinc=1"),
    "certificate.json": "{}",
    "store.sqlite": "",
}


def test_a_statement_that_is_false_as_printed(gammabar, tmp_path, monkeypatch):
    code, shown, _ = gammabar("show", "jst.eqB.11", "--run", "--json")
    facts = json.loads(shown)
    assert code == 0
    assert (facts["format"], facts["version"], facts["kind"]) == ("gammabar-show", 1, "statement")
    assert (facts["status"], facts["fixed_by"]) == ("refuted", "jst.eqB.11.fixed")
    assert facts["severity"]
    assert facts["witness"].endswith("jst.eqB.11.json")
    assert facts["check"] == "gammabar check jst.eqB.11"
    words = facts["check"].split()[1:]
    monkeypatch.chdir(tmp_path)  # what is told to type works in any folder
    assert gammabar(*words)[0] == 0
    assert "refuted" in {v["verdict"] for v in facts["verdicts"]}
    file, _, line = facts["where"].partition(":")
    assert "appendix" in file
    assert int(line) > 0
    assert "--statement jst.eqB.11" in facts["reproduce"]


@pytest.mark.parametrize("command", ["list statements", "show jst.eqB.11"])
def test_the_path_of_a_witness_leads_to_it_anywhere(gammabar, command, tmp_path, monkeypatch):
    for folder in (ROOT, tmp_path):
        monkeypatch.chdir(folder)
        answer = json.loads(gammabar(*command.split(), "--json")[1])
        entries = answer if isinstance(answer, list) else [answer]
        paths = [Path(entry["witness"]) for entry in entries if entry["witness"]]
        assert paths
        assert all(path.is_file() for path in paths)


def test_verdicts_of_a_store_and_the_tightest_of_them(gammabar, tmp_path: Path):
    file = tmp_path / "s.db"
    with Store(file) as store:
        for place, (problem, ratio) in enumerate((("iris:0,1", 0.25), ("loss-spike", 0.75))):
            run = Run(problem, Registered("dual-acceleration"), 50)
            verdict = Verdict(
                "gb.sharp", "holds", tightness=ratio, worst_t=7, checked=50, informative=9
            )
            store.put(str(place), Task(run, ("gb.sharp",), ("holds",)), Outcome((verdict,), 0.1))
    code, shown, err = gammabar("show", "gb.sharp", "--store", str(file))
    assert (code, err) == (0, "")
    assert "tightest   0.75 on loss-spike by dual-acceleration at t = 7" in shown
    assert "9 of 50" in shown
    assert "in words" in shown
    kept = gammabar("show", "gb.sharp")[1]
    assert "tightest   0.8" in kept  # of the search that is written down
    assert "\\bar\\gamma" in shown
    assert "assumes" in shown
    assert "jst_rates.py:" in shown
    assert "gammabar verify --solver dual-acceleration --statement gb.sharp --problem" in shown


@pytest.mark.parametrize(
    ("name", "kind", "shown"),
    [
        ("dual-acceleration", "solver", "ji_srebro_telgarsky.py:"),
        ("dual-acceleration/no-momentum", "mutant", "jst.lem3.4.primal"),
        ("planted", "problem", "gammabar oracle planted:"),
        ("iris:0,1", "problem", "100"),
    ],
)
def test_other_things(gammabar, name, kind, shown):
    code, text, _ = gammabar("show", name)
    assert code == 0
    assert text.startswith(f"{name} ({kind})")
    assert shown in text
    assert json.loads(gammabar("show", name, "--json")[1])["kind"] == kind


def test_what_is_long_is_short_and_reads_well(gammabar):
    _, shown, _ = gammabar("show", "tyurin.table1")
    assert "… (" in shown
    assert len(shown.splitlines()) < 20
    assert len(json.loads(gammabar("show", "tyurin.table1", "--json")[1])["parts"]) > 12
    assert "]_" not in gammabar("show", "dual-acceleration")[1]
    _, shown, _ = gammabar("show", "rp.winnow", "--run")
    assert ".;" not in shown
    # The run that refutes it comes first, and is the one to do again.
    assert "refuted" in shown.partition("informative")[2].splitlines()[2]
    assert "--iterations 1\n" in shown


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("shw x", "show"),
        ("show jst.thm3.1.11", "jst.thm3.1.1"),
        ("show dual-accelaration", "dual-acceleration"),
        ("show jst.fgi1", "jst.fig1"),
        ("show dual-acceleration/no-momentun", "dual-acceleration/no-momentum"),
        ("list statements --severity substanc", "substance"),
        ("list statements --source jts", "jst"),
        ("oracle iris:0,1 --kernel rfb:gamma=1", "rbf"),
        ("oracle plantd:n=3", "planted"),
        ("oracle planted:gama=0.1", "gamma"),
        ("data fetch mnits", "mnist"),
        ("verify --solver dual-acceleration:stp=1", "step"),
        ("verify --statment x", "--statement"),
        ("reproduce jst.fgi1", "jst.fig1"),
        ("bench --only oracl", "oracle"),
        # What has names in files of the user's, and the files themselves.
        ("oracle colours.csv:rde,blue", "red"),
        ("oracle colours.csv --label colr", "color"),
        ("oracle colors.csv", "colours.csv"),
        ("verify --solver-file solver.py:Mien", "mine"),
        ("verify --solver-file solver.py:Mine:stp=1", "step"),
        ("verify --paper papper.py", "paper.py"),
        ("falsify --paper paper.py mine.rat", "mine.rate"),
        ("verify --paper other.py", "since"),
        ("check certifcate.json", "certificate.json"),
        ("report stor.sqlite", "store.sqlite"),
        ("data exprt iris:0,1", "export"),
        ("gate --repo repositry", "repository"),
    ],
)
def test_did_you_mean_everywhere(gammabar, words, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("repository").mkdir()
    code, _, told = gammabar(*words.split())
    assert code == 2
    assert f"did you mean {meant}?" in told.lower().replace("'", "")
    assert told.count("\n") == 1 + told.startswith("checking")


def test_there_is_one_way_to_find_the_nearest_name():
    """A message of its own would know less than `problems.suggest`: case, files, long lists."""
    own = [
        path.relative_to(ROOT).as_posix()
        for room in ("gammabar", "problems", "oracle", "solvers", "harness", "papers")
        for path in (ROOT / room).rglob("*.py")
        if "difflib" in path.read_text(encoding="utf-8") and not path.is_symlink()
    ]
    assert set(own) == {"problems/suggest.py"}


@pytest.mark.parametrize("kind", ["solvers", "problems", "mutants", "papers", "artefacts"])
def test_every_list_takes_a_text(gammabar, kind):
    every = json.loads(gammabar("list", kind, "--json")[1])
    word = {"solvers": "winnow", "problems": "planted", "mutants": "momentum"}.get(
        kind, "Perceptron"
    )
    chosen = json.loads(gammabar("list", kind, word, "--json")[1])
    assert 0 < len(chosen) < len(every)
    assert gammabar("list", kind, "no such thing at all", "--json")[1].strip() == "[]"
    assert gammabar("list", kind, word)[0] == 0
