"""Writes the counts on the pages anew from what the packages hold: ``python docs/counts.py``.

On a page, ``<!-- NAME -->78<!-- / -->`` is a number with its name. Nobody types it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from gammabar.harness.registry import load_statements, mutants, papers
from gammabar.solvers.base import SOLVERS

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/severity.md")
_COUNT = re.compile(r"<!-- ([\w. -]+) -->[^<]*<!-- / -->")


def counts() -> dict[str, int]:
    """Every number that a page may name."""
    statements = load_statements().values()
    found = {
        "statements": len(statements),
        "refuted": sum(s.status == "refuted" for s in statements),
        "mutants": len(mutants()),
        "solvers": len(SOLVERS),
        "papers": len(papers()),
    }
    severities = Counter(str(s.severity) for s in statements if s.severity)
    return (
        found
        | severities
        | {f"statements.{key}": sum(s.source == key for s in statements) for key in papers()}
    )


def renewed(text: str) -> str:
    """A page with its numbers as they are now."""
    known = counts()
    return _COUNT.sub(lambda found: f"<!-- {found[1]} -->{known[found[1]]}<!-- / -->", text)


if __name__ == "__main__":
    for name in PAGES:
        page = ROOT / name
        before = page.read_text(encoding="utf-8")
        page.write_text(renewed(before), encoding="utf-8")
        print(f"{name}: {'as it was' if renewed(before) == before else 'renewed'}")
