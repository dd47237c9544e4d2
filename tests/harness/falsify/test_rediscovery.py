"""Every refutation is found again by the search, without its witness and its problems (slow)."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from gammabar.harness.registry import everything
from gammabar.harness.run.pool import Pool
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
    with Pool(single=True) as crew:
        found = script().search(REFUTED[statement], seed=3, budget=60.0, crew=crew)
    assert found["refuted"]
    assert found["witness"].startswith("accepted")


def test_the_search_knows_nothing_of_what_was_written_down():
    for entry in REFUTED.values():
        bare = script().without_hints(entry)
        assert set(bare.problems) <= {"", "rows:1"}
        assert bare.body is entry.body
