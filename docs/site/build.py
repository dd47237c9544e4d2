"""Builds the site: ``make docs``, or ``python docs/site/build.py [STORE]``.

The pages are those of the repository, at their places, so that links between them lead where they
lead in the repository; and a page for each statement and each solver, from the registry and, if a
STORE of `gammabar verify` is named, with what was found. Sphinx turns warnings into errors.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gammabar
from gammabar.harness.cli.catalogue import solver_facts
from gammabar.harness.registry import everything, papers
from gammabar.harness.report.model import Finding, Report, gather
from gammabar.harness.report.page import body, context_of
from gammabar.harness.run.store import Store
from gammabar.solvers.base import SOLVERS, solver

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tightness

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "site"
FORGE = "https://github.com/gammabar/gammabar"
RAW = "https://raw.githubusercontent.com/gammabar/gammabar"
#: Caption → pages, in the order in which somebody new would read them.
SECTIONS = {
    "Start": ["docs/first-ten-minutes"],
    "How to": [
        "docs/check-your-solver",
        "docs/bring-your-theorem",
        "docs/is-my-data-separable",
        "docs/in-ci",
    ],
    "What is proved": ["docs/verdicts", "docs/soundness", "oracle/CERTIFICATE"],
    "What was found": [
        "docs/errata",
        "papers/gammabar/PROOFS",
        "papers/COVERAGE",
        "tightness",
        "docs/gallery",
        "docs/benchmarks",
    ],
    "Reference": ["docs/reference", "statements/index", "solvers/index", "api"],
    "The project": [
        "docs/architecture",
        "CONTRIBUTING",
        "SECURITY",
        "SUPPORT",
        "CODE_OF_CONDUCT",
        "CHANGELOG",
    ],
}
#: What scikit-learn adds to every estimator is explained there.
MEMBERS = "\n   :members:\n   :exclude-members: set_fit_request, set_score_request"
#: Folders whose pages are on the site.
FOLDERS = (".", "docs", "oracle", "papers", "papers/gammabar")
#: Pictures that nobody can read on a phone unless they are wider than it is.
WIDE = ("margins-of-pairs.svg", "tightness.svg", "benchmarks-gaps.svg")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def pages() -> dict[str, Path]:
    """Every page of the repository, by its name on the site."""
    found = (path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md")))
    named = {str(path.relative_to(ROOT).with_suffix("")): path for path in found}
    return {name: path for name, path in named.items() if name != "README"}  # it is the front page


def sections() -> dict[str, list[str]]:
    """The sections with the pages that there are; what is in none comes last."""
    made = {"statements/index", "solvers/index", "api", "tightness"}
    known = set(pages()) | made
    found = {name: [p for p in places if p in known] for name, places in SECTIONS.items()}
    found["More"] = sorted(known - {page for places in found.values() for page in places})
    return {name: places for name, places in found.items() if places}


def lay_out(source: Path, report: Report) -> None:
    """Write all that Sphinx is to read."""
    for name, path in ({"index": ROOT / "README.md"} | pages()).items():
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"(\]\((?:\.\./)*)README\.md", r"\1index.md", text)
        text = re.sub(rf"\({RAW}/main/([^)]+)\)", r"(\1)", text)  # the picture is here
        text = re.sub(r"(?m)^\[!\[.*\n", "", text)  # badges, which are loaded from elsewhere
        for target in dict.fromkeys(_LINK.findall(text)):
            if (path.parent / target).is_dir():  # a site has no folders to look into
                place = (path.parent / target).resolve().relative_to(ROOT)
                text = text.replace(f"]({target})", f"]({FORGE}/tree/main/{place})")
            _bring(path.parent / target, source)
        # A number and its unit stay on one line.
        text = re.sub(r"(?m)(?<=\d) (?=(%|ms|s|min|MB|GB|µs) \|)", "\u00a0", text)
        text = linked(text, "../" * name.count("/"))
        _write(source / f"{name}.md", text if name != "index" else f"{text}\n{_ways()}")
    shutil.copy(Path(__file__).with_name("conf.py"), source)
    _write(source / "api.md", api_page())
    _write(source / "tightness.md", linked(tightness.page(), ""))
    _write(source / "tightness.svg", tightness.picture())
    for place, text in statement_pages(report):
        _write(source / "statements" / f"{place}.md", text)
    for place, text in solver_pages():
        _write(source / "solvers" / f"{place}.md", text)


def linked(text: str, up: str) -> str:
    """A page in which names of statements and solvers lead to their pages; code is left alone."""
    rooms = dict.fromkeys(SOLVERS, "solvers") | dict.fromkeys(everything(), "statements")

    def link(found: re.Match[str]) -> str:
        room = rooms.get(found[2] or "")
        return found[0] if room is None else f"[`{found[2]}`]({up}{room}/{found[2]}.md)"

    # Fenced blocks, headings and what is a link already are met first, and stay as they are.
    parts = r"(^```.*?^```$|^#[^\n]*$|\[[^\]\n]*\]\([^)\n]*\))|`([\w./-]+)`"
    return re.sub(parts, link, text, flags=re.MULTILINE | re.DOTALL)


def _breakable(cell: re.Match[str]) -> str:
    """A cell whose long names may go on in the next line, after their commas and the like."""
    named = r'(?<=<span class="pre">)[^<]*'
    text = re.sub(
        named, lambda name: re.sub(r"([,/:;]|\.(?=[a-z]))(?=.)", r"\1<wbr>", name[0]), cell[0]
    )
    # A number such as 1e-10 stays on one line.
    return re.sub(
        r"(?<![\w.\"=#/-])-?[\d.]+e-\d+", r'<span style="white-space: nowrap">\g<0></span>', text
    )


def _bring(target: Path, source: Path) -> None:
    """What a page links to or shows, if it is a file of the repository and no page itself."""
    target = target.resolve()
    if target.suffix != ".md" and target.is_file() and target.is_relative_to(ROOT):
        place = source / target.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target, place)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _toctree(places: list[str], *options: str) -> str:
    return "\n".join(["```{toctree}", *options, "", *places, "```", ""])


def _ways() -> str:
    """From the front page to all others, in the margin."""
    found = sections().items()
    return "\n".join(_toctree(places, f":caption: {name}", ":hidden:") for name, places in found)


def api_page() -> str:
    """Every name of the front door, from its docstring."""
    parts = ["# `import gammabar as gb`", "", "Everything that is public stands here.", ""]
    for name in gammabar.__all__:
        value = getattr(gammabar, name)
        if inspect.isclass(value):
            members = "" if issubclass(value, Exception) else MEMBERS
            directive = f".. autoclass:: gammabar.{name}{members}"
        elif callable(value):
            directive = f".. autofunction:: gammabar.{name}"
        else:
            continue
        parts += [f"## `gb.{name}`", "", "```{eval-rst}", directive, "```", ""]
    return "\n".join(parts)


def statement_pages(report: Report) -> Iterator[tuple[str, str]]:
    """A page for each statement, one for each paper, and one for all."""
    known, held = everything(), {finding.id: finding for finding in report.findings}
    context = replace(context_of(report), present=set(known), target="{}.html")
    of: dict[str, list[str]] = {}
    for identifier, statement in known.items():
        finding = held.get(identifier) or Finding(identifier, statement, ())
        inside = body(finding, context)
        of.setdefault(statement.source, []).append(identifier)
        yield (
            identifier,
            f"# {identifier}\n\n"
            f'```{{raw}} html\n<div class="gammabar"><div class="body">{inside}</div></div>\n```\n',
        )
    for source, identifiers in of.items():
        paper = papers().get(source)
        title = str(paper) if paper is not None else "The oracle's own checks"
        rows = [
            f"| [{i}]({i}.md) | {_plain(known[i].words)} | {known[i].severity or known[i].status} |"
            for i in identifiers
        ]
        table = "\n".join(["| statement | what it says | status |", "|---|---|---|", *rows])
        tree = _toctree(identifiers, ":hidden:")
        yield f"of-{source}", f"# {title}\n\n{table}\n\n{tree}"
    yield "index", "# Statements\n\n" + _toctree([f"of-{source}" for source in of], ":maxdepth: 1")


def _plain(text: str) -> str:
    """Words that Markdown takes for words."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", " ".join(text.split()))


def solver_pages() -> Iterator[tuple[str, str]]:
    """A page for each solver: the algorithm as its paper has it, and what is claimed of it."""
    for name in SOLVERS:
        facts, kind = solver_facts(name), solver(name)
        algorithm = inspect.getdoc(sys.modules[kind.__module__]) or ""
        claims = ", ".join(f"[{i}](../statements/{i}.md)" for i in facts["statements"])
        wrong = ", ".join(f"`{one}`" for one in facts["mutants"])
        yield (
            name,
            "\n\n".join(
                [
                    f"# {name}",
                    f"{_plain(facts['reference'])}",
                    f"```{{eval-rst}}\n.. autoclass:: {kind.__module__}.{kind.__qualname__}\n```",
                    f"## Algorithm\n\n```text\n{algorithm}\n```",
                    f"## Statements\n\n{claims or 'None.'}",
                    f"## Mutants\n\n{wrong or 'None.'}",
                    f"```console\n$ {facts['reproduce']}\n```\n",
                ]
            ),
        )
    yield "index", "# Solvers\n\n" + _toctree(list(SOLVERS), ":maxdepth: 1")


def read(store: Path | None) -> Report:
    """What was found, if there is a store."""
    if store is None:
        return Report(())
    with Store(store) as kept:
        return gather(kept.results(), kept.origins(), kept.data())


def main(arguments: list[str]) -> int:
    """Build the site and say where it is."""
    source, target = BUILD / "source", BUILD / "html"
    shutil.rmtree(BUILD, ignore_errors=True)
    lay_out(source, read(Path(arguments[0]) if arguments else None))
    sphinx = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-j",
        "auto",
    ]
    code = subprocess.run([*sphinx, str(source), str(target)], check=False).returncode
    for page in target.rglob("*.html"):  # numpydoc's names of references are for its own use
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"\[R[0-9a-f]{12}-(\d+)\]", r"[\1]", text)
        text = re.sub(r"<td>.*?</td>", _breakable, text, flags=re.DOTALL)
        for picture in WIDE:
            text = re.sub(rf'<img (?=[^>]*/{re.escape(picture)}")', '<img class="wide" ', text)
        page.write_text(text, encoding="utf-8")
    if code == 0:
        print(f"the site: {target / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
