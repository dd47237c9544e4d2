"""Pages are valid CommonMark, their links lead somewhere, and their code does what they say.

`blocks` lists how a block may be tested. In a ``console`` block "…" stands for anything.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import copy, which

import pytest
from blocks import MARKDOWN, PAGES, PROGRAMS, ROOT, WAYS, Block, agree, blocks, indented, parsed
from markdown_it.token import Token

from gammabar.harness.cli import cli
from tests.every_command import every_command

RUN = [
    page
    for page in PAGES
    if any(block.way in ("console", "needs", "run", "file") for block in blocks(page))
]
#: What a page may call besides ours, where it is installed.
OTHERS = ("awk",)
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


@pytest.mark.full
@pytest.mark.parametrize("page", RUN)
def test_a_page_says_what_happens(page: str, tmp_path: Path):
    text = (ROOT / page).read_text(encoding="utf-8")
    (tmp_path / "oracle").symlink_to(ROOT / "oracle")  # for `python oracle/check.py`
    for block in blocks(page):
        if block.way == "file":
            (tmp_path / block.word).write_text(block.text, encoding="utf-8")
        elif block.way == "needs":
            copy((ROOT / page).parent / block.word, tmp_path)
            shown(block, tmp_path)
        elif block.way == "console":
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
        known = block.kind == "bibtex" or block.way in (*WAYS, "console")
        assert known, f"nothing tests the block of {block}: see blocks.py"
        assert set(block.ways) <= set(WAYS), block
        hold(block)
    for line in indented(page):
        assert line.split()[0] not in PROGRAMS, f"{page}: {line}: commands belong in a fence"
    ways = Counter(block.way for block in blocks(page))
    assert ways["drawing"] == DRAWINGS.get(page, 0)


def hold(block: Block) -> None:
    """What a block must be that is not run."""
    if "copy" in block.ways:
        whole = (ROOT / block.page).parent / block.ways["copy"]
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


def inside(tokens: list[Token]) -> Iterator[Token]:
    """Tokens and those inside of them."""
    for token in tokens:
        yield token
        yield from inside(token.children or [])


def broken(text: str) -> set[str]:
    """What a renderer would not show as it is meant."""
    tokens = list(inside(MARKDOWN.parse(text)))
    kinds = {t.type for t in tokens}
    texts = [t.content for t in tokens if t.type == "text"]
    paragraphs = [t.content for t in tokens if t.type == "inline"]
    faults = {
        "raw HTML": kinds & {"html_block", "html_inline"},
        "a link that is none": any("](" in text for text in texts),
        "no table": any(re.match(r"\|.*\|$", text, re.S) for text in paragraphs),
    }
    return {fault for fault, there in faults.items() if there}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_plain_commonmark(page: str):
    assert broken((ROOT / page).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        # README of 4aaf0d4, line 113: a line that begins with a comment is HTML to its end.
        ("<!-- mutants -->93<!-- / --> wrong solvers: see `list\nmutants`", "raw HTML"),
        ("see <b>this</b>", "raw HTML"),
        ("[a page](two words.md)", "a link that is none"),
        ("| a | b |\n| c | d |", "no table"),
    ],
)
def test_a_broken_page_is_found(text: str, fault: str):
    assert broken(text) == {fault}


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text_have_the_options_that_they_name(page: str):
    codes = [t.content for t in inside(parsed(page)) if t.type == "code_inline"]
    for words in (shlex.split(code) for code in codes if code.startswith("gammabar ")):
        known = every_command().get(words[1]) or every_command().get(" ".join(words[1:3]), cli)
        options = {"--help", *(option for one in known.params for option in one.opts)}
        assert {word for word in words if word.startswith("--")} <= options, f"{page}: {words}"


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as a forge makes them."""
    found, tokens = set(), parsed(page.relative_to(ROOT).as_posix())
    for opened, heading in itertools.pairwise(tokens):
        if opened.type == "heading_open":
            text = "".join(t.content for t in inside(heading.children or []))
            found.add(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str):
    for token in inside(parsed(page)):
        target = str(token.attrs.get("href", token.attrs.get("src", "")))
        if not target or "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        place = ((ROOT / page).parent / name).resolve() if name else ROOT / page
        assert place.exists(), f"{page}: {target}"
        if anchor and place.suffix == ".md":
            assert anchor in anchors(place), f"{page}: {target}"


def test_there_are_few_pages_and_words():
    pages = [page for page in PAGES if page.startswith("docs/")]
    assert len(pages) <= 12
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", *pages)]
    assert sum(len(text.split()) for text in texts) <= 20_000


def test_pictures_of_the_readme_are_absolute():
    """A package index shows the README without its neighbours."""
    pictures = re.findall(
        r"!\[[^]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert pictures
    for picture in pictures:
        assert picture.startswith("https://")
        badge = picture.startswith("https://img.shields.io/badge/")
        assert badge or (ROOT / "docs" / Path(picture).name).is_file()


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_files_that_a_page_names_are_there(page: str):
    text = (ROOT / page).read_text(encoding="utf-8")
    rooms = "problems|oracle|solvers|harness|papers|tests|benchmarks|docs"
    named = re.findall(rf"`((?:{rooms})/[\w./]+)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", text)) - {"test_mine.py"} <= tests
