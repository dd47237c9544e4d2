"""papers/COVERAGE.md names every statement and every artefact of the sources, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from gammabar.harness.registry import artefacts, load_statements

PAGE = (Path(__file__).resolve().parents[2] / "papers" / "COVERAGE.md").read_text(encoding="utf-8")
NAMED = {
    name
    for name in re.findall(r"`([a-z]+[.][^`*]+)`", PAGE)
    if name.partition(".")[0] in ("jst", "tyurin", "rp", "lec")
}


def test_the_page_names_every_statement_of_the_sources():
    ours = {s.id for s in load_statements().values() if s.source in ("jst", "tyurin", "rp", "lec")}
    shown = {a for a in artefacts() if re.match(r"(jst|tyurin|lec)[.](fig|table)", a)}
    assert (ours | shown) - NAMED == set()
    assert NAMED - ours - set(artefacts()) == set()


def test_no_row_is_empty():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    assert all(len(row.strip("| ").split(" | ")) == 2 for row in rows)
    assert len(rows) > 100
