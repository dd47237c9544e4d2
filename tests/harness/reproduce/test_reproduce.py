"""Figures and tables made again: parts that are kept, pictures, and what does not agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gammabar.harness import reproduce as work
from gammabar.harness.paper import Artefact, Shown
from gammabar.harness.registry import artefacts
from gammabar.harness.reproduce import draw
from gammabar.problems import ProblemError
from gammabar.problems.environment import has_module

PAPER = """
from gammabar.harness.paper import Artefact, Shown
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
    found = work.compute(artefact(made), tmp_path, tell=lambda *args: told.append(args[-1])).numbers
    assert made == ["a", "bb", "ccc"]
    assert told == [True, True, False]
    assert found == {"a": 1, "bb": 2, "ccc": 3}
    assert found == work.compute(artefact([]), tmp_path / "elsewhere").numbers


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "a"}', '{"name": "b", "numbers": 7}'])
def test_a_part_that_is_damaged_is_computed_again(text: str, tmp_path: Path):
    first = work.compute(artefact([]), tmp_path).numbers
    for path in (tmp_path / "parts").iterdir():
        path.write_text(text)
    made: list[str] = []
    assert work.compute(artefact(made), tmp_path).numbers == first
    assert made == ["a", "bb", "ccc"]


def test_numbers_that_are_none_are_not_written(tmp_path: Path):
    def parts(quick: bool):
        return {"bad": lambda: float("nan")}

    bad = Artefact("x.fig1", "Figure 1", "Nothing", parts, lambda *_: None, lambda _: [])
    with pytest.raises(ValueError, match="JSON"):
        work.compute(bad, tmp_path)
    assert not list((tmp_path / "parts").glob("*.json"))


def test_a_part_of_other_source_code_is_computed_again(monkeypatch, tmp_path: Path):
    work.compute(artefact([]), tmp_path)
    made: list[str] = []
    work.compute(artefact(made), tmp_path, fresh=True)
    assert made == ["a", "bb", "ccc"]
    monkeypatch.setattr(work, "_source_of", lambda make: f"another {make}")
    work.compute(artefact(made), tmp_path)
    assert made == ["a", "bb", "ccc"] * 2


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Path:
    """A folder for all artefacts, which share parts."""
    return tmp_path_factory.mktemp("artefacts")


def one_of_each_family() -> Iterator[Any]:
    """All artefacts; those that are drawn by the same function as one before are slow."""
    seen = set()
    for name, one in artefacts().items():
        drawn = one.draw.func if isinstance(one.draw, partial) else one.draw
        yield pytest.param(name, marks=[pytest.mark.slow] if drawn in seen else [])
        seen.add(drawn)


@pytest.mark.full
@pytest.mark.parametrize("name", list(one_of_each_family()))
def test_quick_settings_make_numbers_and_pictures(name: str, shared: Path, tmp_path: Path):
    one = artefacts()[name]
    if one.package is not None and not has_module(one.package[0]):
        pytest.skip(f"{one.package[0]} is not installed")
    computed = work.compute(one, shared, quick=True)
    document = work.as_document(one, computed, quick=True)
    numbers = computed.numbers
    assert document["seconds"] >= 0
    assert document["memory"] > 10**7
    assert json.loads(json.dumps(document, allow_nan=False))["artefact"] == name
    assert all(isinstance(shown, Shown) for shown in one.shown(numbers))
    svg = draw(one, numbers, tmp_path, ("svg",))[0].read_text(encoding="utf-8")
    assert svg.startswith("<?xml")
    assert len(svg) < 300_000  # a page has many of them


@pytest.mark.full
def test_pictures_are_the_same_every_time(tmp_path: Path):
    one = artefacts()["rp.rates"]
    numbers = work.compute(one, tmp_path, quick=True).numbers
    first = draw(one, numbers, tmp_path)
    assert [path.suffix for path in first] == [".svg", ".png", ".pdf"]
    fonts = first[2].read_bytes()
    assert b"/FontFile2" in fonts  # the letters are in the file
    assert b"/Type3" not in fonts  # which publishers refuse
    (tmp_path / "again").mkdir()
    again = draw(one, numbers, tmp_path / "again", ("svg",))
    assert again[0].read_bytes() == first[0].read_bytes()


def test_missing_data_are_one_sentence_that_says_how_to_get_them(monkeypatch, tmp_path):
    for name in ("GAMMABAR_DATA", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ProblemError, match=r"jst\.fig1 needs mnist: .*gammabar data"):
        work.compute(artefacts()["jst.fig1"], tmp_path)


@pytest.mark.usefixtures("shelf_as_before")
def test_a_paper_of_ones_own_brings_its_figures(gammabar, tmp_path: Path):
    paper, folder = tmp_path / "mine.py", tmp_path / "out"
    paper.write_text(PAPER, encoding="utf-8")
    arguments = ["reproduce", "mine.fig1", "--paper", paper, "--out", folder]
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
    listed = {one["id"]: one for one in json.loads(out)}
    assert listed["mine.fig1"]["seconds"] is None
    took = {"mine.fig1": {"seconds": 240, "cpu": 60, "memory": 2 * 10**9, "shown": []}}
    (tmp_path / "measured.json").write_text(json.dumps(took))
    _, out, _ = gammabar("list", "artefacts", "--paper", paper)
    assert "4 min (60 s of processor time), 2.00 GB" in " ".join(out.split())


@pytest.mark.usefixtures("shelf_as_before")
def test_where_nothing_can_be_written_it_says_so(gammabar, tmp_path: Path):
    paper = tmp_path / "mine.py"
    paper.write_text(PAPER, encoding="utf-8")
    (tmp_path / "file").write_text("")
    code, _, err = gammabar(
        "reproduce", "mine.fig1", "--paper", paper, "--out", tmp_path / "file/x"
    )
    assert code == 2
    assert "--out" in err


def test_all_leaves_out_what_needs_a_package_that_is_not_there(gammabar, monkeypatch, tmp_path):
    one = replace(artefact([]), package=("nowhere", "plots"))
    monkeypatch.setattr("gammabar.harness.registry.artefacts", lambda: {one.id: one})
    code, _, err = gammabar("reproduce", "--all", "--out", tmp_path)
    assert code == 0
    assert "left out: x.fig1 needs nowhere, which is not installed" in err
    code, _, err = gammabar("reproduce", "x.fig1", "--out", tmp_path)
    assert code == 2
    assert "x.fig1 needs nowhere" in err


@pytest.mark.usefixtures("shelf_as_before")
def test_show_says_what_an_artefact_needs_took_and_showed(gammabar, tmp_path: Path):
    paper = tmp_path / "mine.py"
    paper.write_text(PAPER, encoding="utf-8")
    code, out, _ = gammabar("show", "mine.fig1", "--paper", paper)
    assert code == 0
    assert "mine.fig1 (artefact)" in out
    assert "gammabar reproduce mine.fig1" in out
    shown = [{"claim": "they are odd", "agrees": False, "found": "0 is not", "ours": False}]
    took = {"mine.fig1": {"seconds": 240, "cpu": 60, "memory": 2 * 10**9, "shown": shown}}
    (tmp_path / "measured.json").write_text(json.dumps(took))
    _, out, _ = gammabar("show", "mine.fig1", "--paper", paper, "--json")
    facts = json.loads(out)
    assert facts["shown"] == ["does not agree: they are odd (0 is not)"]
    assert (facts["seconds"], facts["cpu"], facts["memory"]) == (240, 60, 2 * 10**9)
    _, out, _ = gammabar("show", "mine.fig1", "--paper", paper)
    assert "4 min (60 s of processor time), 2.00 GB" in out
    assert "they are odd" in out
    code, _, err = gammabar("show", "jst.fig11")
    assert code == 2
    assert "jst.fig1" in err
