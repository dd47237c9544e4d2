"""Writes docs/gallery.md: ``python docs/gallery.py [DIR]``.

With DIR, where `gammabar reproduce` has written: takes over what full settings took and showed,
into the `measured.json` of each paper, and their pictures. The page is written from
`measured.json`; a test compares the two.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import gammabar.papers
from gammabar.harness.paper import Artefact, cost
from gammabar.harness.registry import artefacts, measured, papers

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "gallery.md", HERE / "gallery"
WORDS = {True: "agrees", False: "**does not agree**", None: "open"}

HEAD = """# The papers' figures and tables, made again

`gammabar reproduce ARTEFACT` computes a figure or a table from the data, writes it as SVG, PNG
and PDF with its numbers as JSON (`--out DIR`), and says what agrees with the source. `gammabar
reproduce --all` makes all of them; `gammabar list artefacts` says what there is and what each
needs; `--quick` takes embedded data and seconds. Killed in the middle, it goes on where it was
and ends with the same numbers. Full settings need `GAMMABAR_DATA`, or `gammabar data fetch
NAME`; what is missing is said, with the command, before anything is computed.

The texts of the papers that we have are without pictures. One of them has the numbers on the axes
of Figures 1 and 4 of Ji, Srebro and Telgarsky, and ours have the same; others are ours where a
caption does not give them. Times and memory are those of one run on one of two cores,
which had much other work to do (a load of five to ten): processor time is nearer to what an idle
machine takes. Parts that several figures share are counted in each of them. Written by `python
docs/gallery.py` from what the runs wrote down.

Figure 12 of Tyurin has as many samples as there are training images of its two classes. Through the
origin, with pixels in [−1, 1], they are proved not to be separable, so that nobody could have
waited for accuracy 1.0; with a free intercept they are separable (`gammabar oracle cifar:0,1
--intercept`, half an hour: γ̄ is 1.911e-6 of the longest row, exact, with 3,018 support rows).

{summary}

**What does not agree.** {differs}

"""

TAIL = """## A figure of your own

A module of a paper, [yours too](bring-your-own-theorem.md), may have `ARTEFACTS`, a tuple of
`gammabar.harness.paper.Artefact`: what has to be computed, part by part, how it is drawn, and
what the source says of it. `gammabar reproduce --paper FILE ARTEFACT` makes it.
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
        [*sections, TAIL]
    )


def _summary(found: dict[str, Artefact], took: dict[str, Any]) -> str:
    every = [shown for one in took.values() for shown in one["shown"]]
    count = {mark: sum(one["agrees"] is mark for one in every) for mark in WORDS}
    missing = [name for name in found if name not in took]
    words = (
        f"{len(found)} artefacts, {len(every)} comparisons: {count[True]} agree, {count[False]} do"
        f" not, {count[None]} are open (the source does not say enough, or the run was too short)."
    )
    if missing:
        words += f" Not yet run with full settings: {', '.join(f'`{name}`' for name in missing)}."
    return words


def _differs(took: dict[str, Any]) -> str:
    lines = [
        f"\n- [`{name}`](#{name.replace('.', '')}): {shown['claim']}. Found: {shown['found']}."
        for name, one in took.items()
        for shown in one["shown"]
        if shown["agrees"] is False
    ]
    return "".join(lines) or "Nothing."


def _section(one: Artefact, took: dict[str, Any] | None) -> str:
    needs = f" Needs {', '.join(dict.fromkeys(one.data))}." if one.data else ""
    lines = [f"### {one.id}", "", f"{one.reference}: {one.title}.", ""]
    if took is None:
        lines += [f"`gammabar reproduce {one.id}`{needs}"]
    else:
        took_words = cost(took["seconds"], took["cpu"], took["memory"])
        lines += [f"`gammabar reproduce {one.id}` took {took_words}.{needs}", ""]
        lines += [
            f"- {WORDS[shown['agrees']]}: {shown['claim']} ({shown['found']})"
            for shown in took["shown"]
        ]
    if (PICTURES / f"{one.id}.svg").is_file():
        lines += ["", f"![{one.title}](gallery/{one.id}.svg)"]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    if sys.argv[1:]:
        take_over(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8")
