"""Writes docs/gallery.md: ``python docs/gallery.py [DIR]``.

With DIR, where `gammabar reproduce` has written: takes over what full settings took and showed,
into the `measured.json` of each paper, and their pictures. The page is written from
`measured.json`; a test compares the two.
"""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import gammabar.papers
from gammabar.harness.paper import Artefact
from gammabar.harness.registry import artefacts, measured, papers

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "gallery.md", HERE / "gallery"
WORDS = {True: "agree", False: "**do not agree**", None: "open"}

HEAD = """# Gallery: the figures and tables of the papers, reproduced

`gammabar reproduce ARTEFACT` computes a figure or a table from the data, writes it as SVG, PNG and
PDF with its numbers as JSON, and compares it with what the source says. `--all` makes all of them
and continues after an interruption; `--quick` uses embedded data and takes seconds; `gammabar show
ARTEFACT` lists every comparison with the numbers found. Full settings need `GAMMABAR_DATA` or
`gammabar data fetch NAME`. Our copies of the papers contain no pictures, so we chose the axes
wherever a caption does not give them.

{summary} `python docs/gallery.py` writes this page from the results of full runs.

{differs}Figures 1, 2, 4, 8, 9, 14 and 15 of Tyurin end before accuracy 1. In longer runs of four
methods (LR+GD with γ = 1 and 100, both batch perceptrons), 10,000 points of FashionMNIST (Figures
14 and 15) are separated at t = 20,567 by LR+GD with γ = 100, at 21,615 by Batch Perceptron and at
29,779 by its normalised form, and not within 38,444 with γ = 1 (13 minutes of processor time).
EuroSAT (Figures 8 and 9) is not separated by any of them within 38,444 iterations (15 minutes),
CIFAR-10 (Figures 1, 2 and 4) not within 17,086 (7 minutes).

"""

TAIL = """## A figure of your own

A module of a paper, [yours too](bring-your-theorem.md), may have `ARTEFACTS`, a tuple of
`gammabar.harness.paper.Artefact`. `gammabar reproduce --paper FILE ARTEFACT` makes it.
"""


def homes() -> dict[str, Path]:
    """The folder of each paper, by its key."""
    base = Path(gammabar.papers.__path__[0])
    packages = (one.name for one in iter_modules(gammabar.papers.__path__) if one.ispkg)
    return {import_module(f"gammabar.papers.{name}").paper.key: base / name for name in packages}


def take_over(folder: Path) -> None:
    """What a folder has of full settings, into the papers and beside the page."""
    folders = homes()
    for name in artefacts():
        path, picture = folder / f"{name}.json", folder / f"{name}.svg"
        whole = path.is_file() and picture.is_file()
        document = json.loads(path.read_text(encoding="utf-8")) if whole else None
        if document is None or document["quick"] or "cpu" not in document:
            continue
        home = folders[name.partition(".")[0]] / "measured.json"
        known = json.loads(home.read_text(encoding="utf-8")) if home.is_file() else {}
        known[name] = {field: document[field] for field in ("seconds", "cpu", "memory", "shown")}
        order = [one for one in artefacts() if one in known]
        text = json.dumps({one: known[one] for one in order}, indent=1, ensure_ascii=False)
        home.write_text(text + "\n", encoding="utf-8")
        PICTURES.mkdir(exist_ok=True)
        shutil.copy(picture, PICTURES / picture.name)


def page() -> str:
    """The page, from the registry and from what was measured."""
    found, took = artefacts(), measured()
    sections: list[str] = []
    for key, paper in papers().items():
        of = [one for one in found.values() if one.id.partition(".")[0] == key]
        if of:
            sections.append(f"## {paper}\n")
            sections += [_section(one, took.get(one.id)) for one in of]
    return HEAD.format(summary=_summary(found, took), differs=_differs(took)) + "\n".join(
        [*sections, _which_method(), TAIL]
    )


def _summary(found: dict[str, Artefact], took: dict[str, Any]) -> str:
    every = [shown for one in took.values() for shown in one["shown"]]
    compared = [one for one in every if not one["ours"]]
    count = {mark: sum(one["agrees"] is mark for one in compared) for mark in WORDS}
    own = [one["agrees"] for one in every if one["ours"]]
    missing = [name for name in found if name not in took]
    words = (
        f"{len(found)} artefacts, {len(compared)} comparisons with the sources: {count[True]}"
        f" agree, {count[False]} do not, {count[None]} are open (the source does not say enough, or"
        f" the run was too short). Of {len(own)} checks of our own on the same data (separability,"
        f" the bounds of theorems, sums carried along) {own.count(True)} hold, {own.count(False)}"
        f" do not, {own.count(None)} were not reached."
    )
    if missing:
        words += f" Not yet run with full settings: {', '.join(f'`{name}`' for name in missing)}."
    return words


def _which_method() -> str:
    """The section that docs/which_method.py writes."""
    return str(runpy.run_path(str(HERE / "which_method.py"))["section"]())


def _differs(took: dict[str, Any]) -> str:
    lines = [
        f"- [`{name}`](#{name.replace('.', '')}): {shown['claim']}."
        for name, one in took.items()
        for shown in one["shown"]
        if shown["agrees"] is False
    ]
    return "\n".join(["**What does not agree:**\n", *lines, "\n"]) if lines else ""


def _section(one: Artefact, took: dict[str, Any] | None) -> str:
    lines = [f"### {one.id}", ""]
    shown = "" if took is None else f" {_counted(took['shown'])}"
    lines += [f"{one.reference}: {one.title}.{shown}"]
    if (PICTURES / f"{one.id}.svg").is_file():
        lines += ["", f"![{one.title}](gallery/{one.id}.svg)"]
    return "\n".join([*lines, ""])


def _counted(shown: list[dict[str, Any]]) -> str:
    counts = {mark: sum(one["agrees"] is mark for one in shown) for mark in WORDS}
    words = WORDS | ({True: "agrees"} if counts[True] == 1 else {})
    return "; ".join(f"{count} {words[mark]}" for mark, count in counts.items() if count) + "."


if __name__ == "__main__":
    if sys.argv[1:]:
        take_over(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8")
