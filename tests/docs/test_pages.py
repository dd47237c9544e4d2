"""Code on the pages is run as it stands, and what the screen shows is what the page says.

A block after ``<!-- file: NAME -->`` is written to that file; a ``console`` block is a command and
its output, where "…" stands for anything; a Python block after ``<!-- run -->`` is run, and so are
tests. A file after ``<!-- needs: NAME -->`` is there when they are.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copy, which

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "docs").glob("*.md")
    if "```console\n$ gammabar" in path.read_text(encoding="utf-8")
)
PAGES.append("README.md")
#: What a page may call besides ours, where it is installed.
OTHERS = ("awk",)
_BLOCK = re.compile(
    r"(?:<!-- (file: (?P<file>\S+)|run) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.S
)


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


def agree(expected: str, printed: str) -> None:
    """Every line of the page is printed, in this order and with the same words."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    place = 0
    for line in expected.splitlines():
        words = " ".join(line.split())
        pattern = re.escape(words).replace("…", ".*")
        while place < len(lines) and not re.fullmatch(pattern, lines[place]):
            place += 1
        assert place < len(lines), f"not printed: {line}\n\n{printed}"


#: They put several solvers on trial.
LONG = ("docs/what-the-screen-says.md",)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in PAGES]
)
def test_a_page_says_what_happens(page: str, tmp_path: Path):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(text))
    for name in re.findall(r"<!-- needs: (\S+) -->", text):
        copy((ROOT / page).parent / name, tmp_path)
    for block in blocks:
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "console":
            first, _, expected = block["text"].partition("\n")
            command = shlex.split(first.removeprefix("$ "))
            if command[0] in OTHERS:
                if which(command[0]) is None:
                    pytest.skip(f"there is no {command[0]} here")
                subprocess.run(first.removeprefix("$ "), cwd=tmp_path, shell=True, check=True)
                continue
            assert command[0] == "gammabar"
            agree(expected, run([sys.executable, "-m", *command], tmp_path))
        elif block[0].startswith("<!-- run"):
            script = tmp_path / "block.py"
            script.write_text(block["text"], encoding="utf-8")
            assert "Traceback" not in run([sys.executable, str(script)], tmp_path)
    for test in tmp_path.glob("test_*.py"):
        assert " passed" in run([sys.executable, "-m", "pytest", "-q", test.name], tmp_path)


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
