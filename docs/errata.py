"""Writes docs/errata.md, and draws the witnesses that lie in the plane: ``python docs/errata.py``.

All of it comes from the registry and from the witnesses; a test compares page and registry.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gammabar.harness.registry import load_statements, papers, witness
from gammabar.harness.report.charts import drawing
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Severity, Status

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE, PICTURES = HERE / "errata.md", HERE / "errata"
#: Witnesses with more characters are only named.
LONGEST = 400

HEAD = """# Errata

What is false as printed in the four sources: {counts}. How a statement is false is its
[severity](verdicts.md#statements-that-are-false-as-printed); only those of *substance* mean what
they say, and it is not so. Every entry has an example that `gammabar check FILE` verifies with
nothing but Python's standard library, the closest true form, which is judged like every other
statement, and what of the source rests on it. Most of it stands.

Written by `python docs/errata.py` from the registry. If you are an author and an entry is unfair,
please tell us.

{contents}
"""

#: How the sources are called.
SHORT = {
    "jst": "Ji, Srebro and Telgarsky",
    "tyurin": "Tyurin",
    "rp": "Ramdas and Peña",
    "lec": "Lecture",
}
#: Classes of `gammabar.harness.report.charts`, for a file of its own.
STYLE = (
    "<style>svg{background:#fff}text{font:11px sans-serif;fill:#222}.axis{stroke:#ccc}"
    ".plane{stroke:#888;stroke-dasharray:4 3}.arrow{stroke:#1b5e9e;fill:#1b5e9e;stroke-width:2}"
    ".row{fill:#b3261e}</style>"
)


def refuted() -> list[Statement]:
    """Statements that are false as printed: by severity, then as they are listed."""
    order = {severity: place for place, severity in enumerate(Severity)}
    found = [s for s in load_statements().values() if s.status is Status.REFUTED]
    return sorted(found, key=lambda s: order[Severity(str(s.severity))])


def page() -> str:
    """The text of docs/errata.md."""
    found = refuted()
    counts = {kind: [s for s in found if s.severity is kind] for kind in Severity}
    counted = ", ".join(f"{len(some)} {kind}" for kind, some in counts.items())
    parts = [HEAD.format(counts=counted, contents=_contents(found))]
    for kind, some in counts.items():
        parts.append(f"## {str(kind).capitalize()}\n")
        parts += [_entry(statement) for statement in some]
    return "\n".join(parts).rstrip() + "\n"


def pictures() -> dict[str, str]:
    """File name → SVG, of the witnesses that lie in the plane."""
    found = {s.id: drawing(_witness(s).get("data", {})) for s in refuted()}
    return {f"{name}.svg": _alone(svg) for name, svg in found.items() if svg}


def _alone(svg: str) -> str:
    """A drawing that needs no page around it."""
    begin, _, rest = svg.partition(">")
    opened = begin.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg" width="260"', 1)
    return f"{opened}>{STYLE}{rest}\n"


def _contents(found: list[Statement]) -> str:
    rows = ["| statement | where | severity | what survives |", "|---|---|---|---|"]
    for s in found:
        all_of_it = s.survives.startswith("Everything")
        rest = "everything" if all_of_it else "in part"
        rows.append(f"| [`{s.id}`](#{_anchor(s)}) | {_where(s)} | {s.severity} | {rest} |")
    return "\n".join(rows)


def _where(statement: Statement) -> str:
    """Authors and place; some references have the authors in them already."""
    who, year = SHORT[statement.source], papers()[statement.source].year
    place = statement.reference.removeprefix(f"{who} ({year}), ")
    return f"{who}, {place}"


def _anchor(statement: Statement) -> str:
    return statement.id.replace(".", "").lower()


def _witness(statement: Statement) -> dict[str, Any]:
    path = witness(statement.id)
    if path is None:
        raise ValueError(f"{statement.id} has no witness")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _entry(statement: Statement) -> str:
    statements = load_statements()
    lines = [f"### {statement.id}", ""]
    lines += [f"{_where(statement)}. *{statement.severity}*: {_plain(statement.why)}", ""]
    lines += ["**Printed.** " + _plain(statement.words), "", f"$${statement.claim}$$", ""]
    lines += ["**Why it fails.** " + _plain(statement.note), ""]
    lines += ["**The example.** " + _example(statement), ""]
    if drawing(_witness(statement).get("data", {})):
        lines += [f"![the witness in the plane](errata/{statement.id}.svg)", ""]
    true = statements[str(statement.fixed_by)]
    lines += [f"**What is true instead.** {_plain(true.words)} (`{true.id}`)", ""]
    if statement.charitable and statement.charitable != statement.fixed_by:
        reading = statements[statement.charitable]
        lines += [f"**A charitable reading.** {_plain(reading.words)} (`{reading.id}`)", ""]
    elif statement.charitable:
        lines += ["The true form is also what the authors would point to.", ""]
    lines += ["**What survives.** " + _plain(statement.survives), ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text without what Markdown takes for a sign of its own."""
    return text.replace("*", r"\*").replace("<", r"\<")


def _example(statement: Statement) -> str:
    path = witness(statement.id)
    assert path is not None
    file = path.relative_to(path.parents[3]).as_posix()
    data = _witness(statement).get("data", {})
    shown = json.dumps(data, ensure_ascii=False)
    said = f"`{shown}`" if len(shown) <= LONGEST else "Too long to be shown here"
    return f"{said}; `gammabar check {file}`"


def main() -> None:
    """Write the page and its pictures."""
    PICTURES.mkdir(exist_ok=True)
    made = pictures()
    for old in PICTURES.glob("*.svg"):
        if old.name not in made:
            old.unlink()
    for name, svg in made.items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
