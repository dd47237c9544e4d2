"""Figures and tables made again: parts that are kept, pictures, and what does not agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gammabar.harness.library import Artefact, Shown, artefacts
from gammabar.harness.reproduce import work
from gammabar.harness.reproduce.pictures import draw
from gammabar.harness.reproduce.runs import along, logarithmic
from gammabar.problems import ProblemError, load

PAPER = """
from gammabar.harness.library import Artefact, Shown
from gammabar.papers import Paper

paper = Paper(key="mine", title="A figure", authors="Nobody", year=2026, venue="here")

def parts(quick):
    return {"squares": lambda: [n * n for n in range(3 if quick else 9)]}

def picture(figure, numbers):
    figure.subplots().plot(numbers["squares"])

def shown(numbers):
    return [Shown("squares grow", numbers["squares"] == sorted(numbers["squares"]), "they do"),
            Shown("they are odd", False, "0 is not")]

ARTEFACTS = (Artefact("mine.fig1", "Figure 1", "Squares", parts, picture, shown),)
"""


def artefact(made: list[str], broken: str = "") -> Artefact:
    def make(name: str) -> int:
        if name == broken:
            raise KeyboardInterrupt
        made.append(name)
        return len(name)

    def parts(quick: bool):
        return {name: lambda name=name: make(name) for name in ("a", "bb", "ccc")}

    return Artefact("x.fig1", "Figure 1", "Nothing", parts, lambda *_: None, lambda _: [])


def test_who_is_interrupted_goes_on_where_it_was(tmp_path: Path):
    made: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work.compute(artefact(made, broken="ccc"), tmp_path)
    assert made == ["a", "bb"]
    told: list[bool] = []
    found = work.compute(artefact(made), tmp_path, tell=lambda *args: told.append(args[-1]))
    assert made == ["a", "bb", "ccc"]
    assert told == [True, True, False]
    assert found == {"a": 1, "bb": 2, "ccc": 3}
    assert found == work.compute(artefact([]), tmp_path / "elsewhere")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "a"}', '{"name": "b", "numbers": 7}'])
def test_a_part_that_is_damaged_is_computed_again(text: str, tmp_path: Path):
    first = work.compute(artefact([]), tmp_path)
    for path in (tmp_path / "parts").iterdir():
        path.write_text(text)
    made: list[str] = []
    assert work.compute(artefact(made), tmp_path) == first
    assert made == ["a", "bb", "ccc"]


def test_numbers_that_are_none_are_not_written(tmp_path: Path):
    def parts(quick: bool):
        return {"bad": lambda: float("nan")}

    bad = Artefact("x.fig1", "Figure 1", "Nothing", parts, lambda *_: None, lambda _: [])
    with pytest.raises(ValueError, match="JSON"):
        work.compute(bad, tmp_path)
    assert not list((tmp_path / "parts").glob("*.json"))


@pytest.mark.parametrize("name", ["jst.fig1", "rp.rates", "gb.constant-four"])
def test_quick_settings_make_numbers_and_pictures(name: str, tmp_path: Path):
    one = artefacts()[name]
    numbers = work.compute(one, tmp_path, quick=True)
    document = work.as_document(one, numbers, quick=True)
    assert json.loads(json.dumps(document, allow_nan=False))["artefact"] == name
    assert all(isinstance(shown, Shown) for shown in one.shown(numbers))
    first = draw(one, numbers, tmp_path)
    assert [path.suffix for path in first] == [".svg", ".png", ".pdf"]
    (tmp_path / "again").mkdir()
    again = draw(one, numbers, tmp_path / "again", ("svg",))
    assert again[0].read_bytes() == first[0].read_bytes()


def test_missing_data_are_one_sentence_that_says_how_to_get_them(monkeypatch, tmp_path):
    for name in ("GAMMABAR_DATA", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ProblemError, match=r"jst\.fig1 needs mnist: .*gammabar data"):
        work.compute(artefacts()["jst.fig1"], tmp_path)


def test_curves_are_those_of_the_solver():
    problem = load("iris:0,1").unit()
    times = logarithmic(50)
    assert times[0] == 1
    assert times[-1] == 50
    found = along(problem, "dual-acceleration", times, lambda p, w: {"norm": p.norm(w)})
    assert found["t"] == times
    assert len(found["norm"]) == len(times)


@pytest.mark.usefixtures("shelf_as_before")
def test_a_paper_of_ones_own_brings_its_figures(gammabar, tmp_path: Path):
    paper, folder = tmp_path / "mine.py", tmp_path / "out"
    paper.write_text(PAPER, encoding="utf-8")
    arguments = ["reproduce", "mine.fig1", "--paper", paper, "--folder", folder]
    code, out, _ = gammabar(*arguments)
    assert code == 1  # something differs
    assert "agrees  squares grow" in out
    assert "DIFFERS they are odd" in out
    document = json.loads((folder / "mine.fig1.json").read_text())
    assert document["numbers"] == {"squares": [n * n for n in range(9)]}
    assert (folder / "mine.fig1.svg").read_text().startswith("<?xml")
    code, out, _ = gammabar(*arguments, "--quick", "--json")
    assert code == 0  # small settings are not those of the paper
    assert json.loads(out)["artefacts"][0]["quick"] is True
    _, out, _ = gammabar("list", "artefacts", "--paper", paper, "--json")
    assert "mine.fig1" in {one["id"] for one in json.loads(out)}


def test_unknown_artefacts_are_refused(gammabar):
    code, _, err = gammabar("reproduce", "jst.fig11")
    assert code == 2
    assert "did you mean jst.fig1" in err
    code, _, err = gammabar("reproduce")
    assert code == 2
    assert "--all" in err
