"""Claims that are true are not weaker than printed: where the hypothesis just fails, they do."""

from __future__ import annotations

from importlib import import_module

import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case, Unclaimed

STATEMENTS = load_statements()


def facts(name: str, **inputs: object) -> list[bool]:
    case = Case()
    case.inputs = inputs or None
    return [bool(relation.fact) for relation in STATEMENTS[name].body(case)]


def test_example_2_says_that_the_minimum_is_the_only_one(monkeypatch) -> None:
    """x², and 1 in place of its minimum 0: −1 is as good, 0 is better."""
    section1 = import_module("gammabar.papers.lecture.section1_3")

    class Moved(section1.fmpq_mat):
        def solve(self, b):
            return section1.vector([1])

    monkeypatch.setattr(section1, "matrix", Moved)
    monkeypatch.setattr(section1, "QUADRATICS", (([[2]], [0]),))
    found = [r.fact for r in STATEMENTS["lec.ex2"].body(Case()) if r.what == "A⁻¹b is the minimum"]
    assert found == [False, False, True]


@pytest.mark.parametrize(
    ("rows", "f", "expected"),
    [
        ((1, 2), -1, [True]),
        ((0, 2), -1, [True]),
        ((1, 2), 3, [False]),
        ((1, 2), 0, [False]),
        ((-1, 1), 2, [False]),
        ((1, 2), 2, None),
        ((1, 1), 3, None),
    ],
)
def test_part_2_of_theorem_3_on_a_line(rows, f, expected) -> None:
    """Some g of ±1 is negative at f and not negative on the hull."""
    inputs = {"rows": tuple((row,) for row in rows), "f": (f,)}
    if expected is None:
        with pytest.raises(Unclaimed):
            facts("rp.thm3.part2", **inputs)
    else:
        assert facts("rp.thm3.part2", **inputs) == expected
