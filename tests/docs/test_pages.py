"""Code on the pages is run as it stands, and what the screen shows is what the page says.

`blocks` has the ways in which a block may be put to the test; one that says none fails here. A
``console`` block is a command and its output, where "…" stands for anything. A file after
``<!-- needs: NAME -->`` is there when the blocks run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copy, which

import pytest
from blocks import PAGES, PROGRAMS, ROOT, WAYS, Block, agree, blocks, indented

from gammabar.problems.datasets import DATASETS, is_here

RUN = [
    page
    for page in PAGES
    if any(block.way in ("console", "data", "run", "file") for block in blocks(page))
]
#: What a page may call besides ours, where it is installed.
OTHERS = ("awk",)
#: They put several solvers on trial.
LONG = ("docs/what-the-screen-says.md",)
#: Blocks with nothing that could run: how many. Let them not become more.
DRAWINGS = {"docs/architecture.md": 1}


def run(arguments: list[str], folder: Path) -> str:
    """What a command prints, both streams together."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env=os.environ | {"COLUMNS": "160", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def shown(block: Block, folder: Path) -> None:
    """Run the command of a block and compare what it prints."""
    first, _, expected = block.text.partition("\n")
    command = shlex.split(first.removeprefix("$ "))
    if command[0] in OTHERS:
        if which(command[0]) is None:
            pytest.skip(f"there is no {command[0]} here")
        subprocess.run(first.removeprefix("$ "), cwd=folder, shell=True, check=True)
    elif command[0] == "python":
        agree(expected, run([sys.executable, *command[1:]], folder))
    else:
        assert command[0] in ("gammabar", "pytest"), block
        agree(expected, run([sys.executable, "-m", *command], folder))


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in RUN]
)
def test_a_page_says_what_happens(page: str, tmp_path: Path):
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"<!-- needs: (\S+) -->", text):
        copy((ROOT / page).parent / name, tmp_path)
    (tmp_path / "oracle").symlink_to(ROOT / "oracle")  # for `python oracle/check.py`
    for block in blocks(page):
        if block.way == "file":
            (tmp_path / block.word).write_text(block.text, encoding="utf-8")
        elif block.way == "console" or (block.way == "data" and is_here(DATASETS[block.word])):
            shown(block, tmp_path)
        elif block.way == "run":
            script = tmp_path / "block.py"
            script.write_text(block.text, encoding="utf-8")
            printed = run([sys.executable, str(script)], tmp_path)
            assert "Traceback" not in printed, printed
    for test in tmp_path.glob("test_*.py"):
        if f"pytest -q {test.name}" not in text:  # else its block said what comes of it
            assert " passed" in run([sys.executable, "-m", "pytest", "-q", test.name], tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_put_to_some_test(page: str):
    for block in blocks(page):
        assert block.kind, f"{block} does not say its language"
        assert block.way in (*WAYS, "console"), f"nothing runs the block of {block}: see blocks.py"
        hold(block)
    for number, line in indented(page):
        assert line.split()[0] not in PROGRAMS, f"{page}:{number}: commands belong in a fence"
    ways = Counter(block.way for block in blocks(page))
    assert ways["drawing"] == DRAWINGS.get(page, 0)


def hold(block: Block) -> None:
    """What a block must be that is not run."""
    if block.way == "copy":
        whole = (ROOT / block.page).parent / block.word
        assert block.text == whole.read_text(encoding="utf-8"), block
    elif block.way == "layout":
        for folder in re.findall(r"^(?:.* {3})?(\w+)/ ", block.text, re.MULTILINE):
            assert (ROOT / folder).is_dir(), f"{block}: there is no {folder}"
    elif block.way == "usage":
        said = run([sys.executable, block.word], ROOT)
        assert block.text.split(block.word)[1].strip() in said
    elif block.way == "parsed":
        assert block.kind == "toml", block
        assert tomllib.loads(block.text)
    elif block.way == "walk":
        assert block.word in (ROOT / "tests" / "test_walks.py").read_text(encoding="utf-8")


def test_the_first_screen_counts_the_statements_that_there_are():
    """Totals and severities; that they hold is shown by the run above, in a fresh clone."""
    from gammabar.harness.registry import everything

    [block] = [b for b in blocks("docs/first-ten-minutes.md") if b.way == "clone"]
    found = re.findall(r"^(\w+): .*\n +(\d+) statements: (.*)", block.text, re.MULTILINE)
    known = everything().values()
    assert {source for source, _, _ in found} == {s.source for s in known}
    for source, total, counts in found:
        own = [s for s in known if s.source == source]
        severities = Counter(str(s.severity) for s in own if s.severity)
        assert int(total) == len(own), f"{source}: run make verify and renew the page"
        said = re.findall(r"(\d+) (substance|misprint|edge case|transcription)", counts)
        assert {name: int(count) for count, name in said} == severities, source


@pytest.mark.parametrize(
    ("page", "example"),
    [("bring-your-own-theorem.md", "novikoff.py"), ("any-solver.md", "algorithm1.awk")],
)
def test_the_example_is_the_one_on_the_page(page: str, example: str):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert (ROOT / "docs" / "examples" / example).read_text(encoding="utf-8") in text


def test_counts_on_the_pages_are_those_of_the_packages():
    spec = spec_from_file_location("counts", ROOT / "docs" / "counts.py")
    counts = module_from_spec(spec)
    spec.loader.exec_module(counts)
    for page in counts.PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert counts._COUNT.search(text)
        assert counts.renewed(text) == text, "run python docs/counts.py"


@pytest.mark.parametrize(
    "page",
    ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))],
)
def test_links_lead_somewhere(page: str):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_pictures_of_the_readme_are_absolute():
    """A package index shows the README without its neighbours."""
    pictures = re.findall(
        r"!\[[^]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert pictures
    for picture in pictures:
        assert picture.startswith("https://")
        assert (ROOT / "docs" / Path(picture).name).is_file()


@pytest.mark.parametrize("page", sorted(p.name for p in (ROOT / "docs").glob("*.md")))
def test_the_site_can_colour_every_block(page: str):
    """Sphinx warns of a language that it does not know, and warnings are errors there."""
    lexers = pytest.importorskip("pygments.lexers")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for kind in set(re.findall(r"^```(\w+)$", text, re.MULTILINE)):
        assert lexers.get_lexer_by_name(kind)
