"""Every refutation is found again by the search, without its witness and its problems (slow)."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from gammabar.harness.registry import everything
from gammabar.harness.run.pool import Crew
from gammabar.harness.verify.verdict import Status

SCRIPT = Path(__file__).resolve().parents[3] / "docs" / "table_rediscovery.py"
REFUTED = {s.id: s for s in everything().values() if s.status is Status.REFUTED}


def script():
    spec = spec_from_file_location("table_rediscovery", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("statement", sorted(REFUTED))
def test_a_refutation_is_found_again_and_its_witness_accepted(statement: str):
    with Crew(single=True) as crew:
        found = script().search(REFUTED[statement], seed=3, budget=60.0, crew=crew)
    assert found["refuted"]
    assert found["witness"].startswith("accepted")


def test_the_page_has_all_of_them_with_witnesses_no_larger_than_those_made_by_hand():
    page = SCRIPT.with_name("falsify.md").read_text(encoding="utf-8")
    table = page.partition("<!-- rediscovery -->")[2].partition("<!-- end of")[0]
    rows = [
        [cell.strip() for cell in line.split(" | ")] for line in table.splitlines() if "`" in line
    ]
    assert {row[0].strip("|` ") for row in rows} == set(REFUTED)
    for row in rows:
        found, witness, by_hand, checked = row[1], row[4], row[5], row[-1]
        assert found == checked.strip("| ") == "3 of 3", row
        assert numbers(witness) <= numbers(by_hand), row


def numbers(size: str) -> int:
    """How many there are: "3 × 2, t = 1" has six."""
    rows, _, columns = size.partition(",")[0].removesuffix(" numbers").partition(" × ")
    return int(rows) * int(columns or 1)


def test_the_search_knows_nothing_of_what_was_written_down():
    for entry in REFUTED.values():
        bare = script().without_hints(entry)
        assert set(bare.problems) <= {"", "rows:1"}
        assert bare.body is entry.body
