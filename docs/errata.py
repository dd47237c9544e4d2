"""Writes the list of docs/errata.md and the counts of the README: ``python docs/errata.py``.

Introduction and own results are kept as they are on the page. A test compares
both with the registry.
"""

from __future__ import annotations

import re
from pathlib import Path

from gammabar.harness.registry import PLUGINS, find_sources, load_statements, papers, plugins
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Severity, Status

PAGE = Path(__file__).with_name("errata.md")
README = PAGE.parents[1] / "README.md"

#: How the sources are called.
SHORT = {
    "jst": "Ji, Srebro and Telgarsky",
    "tyurin": "Tyurin",
    "rp": "Ramdas and Peña",
    "lec": "Lecture",
}


def refuted() -> dict[Severity, list[Statement]]:
    """Statements that are false as printed, by severity."""
    found = [s for s in load_statements().values() if s.status is Status.REFUTED]
    return {kind: [s for s in found if s.severity is kind] for kind in Severity}


def mistakes() -> int:
    """How many mistakes the refuted statements come from."""
    return sum(one.same_mistake is None for some in refuted().values() for one in some)


def readme() -> str:
    """The README, with the counts as the registry has them."""
    substance, misprint, edge, transcription = (len(some) for some in refuted().values())
    every = substance + misprint + edge + transcription
    counts = (
        f"{every} statements are false as printed, by {mistakes()} mistakes: {substance} are false"
        f" as stated, {misprint} have a misprint,\n{edge} fail in an edge case and"
        f" {transcription} may be slips of the transcription"
    )
    pattern = r"\d+ statements are false as printed.*?slips of the transcription"
    return re.sub(pattern, counts, README.read_text(encoding="utf-8"), count=1, flags=re.DOTALL)


def page() -> str:
    """The text of docs/errata.md, with the list as the registry has it."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition("\n## Counts\n")
    own = rest[rest.index("\n## Own results\n") :]
    found = refuted()
    counts = ", ".join(f"{len(some)} {kind}" for kind, some in found.items())
    every = [statement for some in found.values() for statement in some]
    parts = [f"## Counts\n\n{len(every)} statements, {mistakes()} mistakes: {counts}.\n"]
    for kind, some in found.items():
        entries = "\n".join(_entry(statement) for statement in some)
        parts.append(f"## {str(kind).capitalize()}\n\n{entries}\n")
    return head + "\n" + "\n".join([*parts, _of_plugins()]) + own


def _of_plugins() -> str:
    """The same of the papers of one file, in short."""
    with plugins():
        keys = sorted(path.stem for path in PLUGINS.glob("*.py") if path.stem in papers())
        found = [s for s in find_sources(keys) if s.status is Status.REFUTED]
        lines = [
            _plain(
                f"- **`{s.id}`** ({papers()[s.source].year}, {s.reference}; {s.severity}). {s.why}"
            )
            for s in found
        ]
    return "## Papers of one file\n\n" + "\n".join(lines) + "\n"


def _entry(statement: Statement) -> str:
    true = load_statements()[str(statement.fixed_by)]
    survives = statement.survives.partition(". ")[0].rstrip(".:")
    same = statement.same_mistake
    return _plain(
        f"- **`{statement.id}`** ({_where(statement)}). {statement.why}"
        + (f" It is the mistake of {same}." if same else "")
        + f" True instead: {true.words} What survives: {survives}."
    )


def _where(statement: Statement) -> str:
    """Authors and place; some references have the authors in them already."""
    who, year = SHORT[statement.source], papers()[statement.source].year
    place = statement.reference.removeprefix(f"{who} ({year}), ")
    return f"{who}, {place}"


def _plain(text: str) -> str:
    """A text in which Markdown sees no sign of its own, but for bold names at the start."""
    name, mark, rest = text.partition("`**")
    return name + mark + rest.replace("*", r"\*").replace("<", r"\<").replace("_", r"\_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(), encoding="utf-8")
