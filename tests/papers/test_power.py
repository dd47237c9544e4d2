"""Every wrong solver is refuted, and every statement about iterates refutes one or says why not."""

from __future__ import annotations

import pytest

from gammabar.harness import registry
from gammabar.harness.power import idle, kills, matrix
from gammabar.harness.registry import mutants

#: Mutant → statement → problems, as ``gammabar list mutants --matrix FILE`` writes it.
MATRIX = registry.matrix()


def test_the_matrix_is_about_the_mutants():
    assert set(MATRIX) == set(mutants())
    assert len(MATRIX) >= 40


@pytest.mark.parametrize("name", sorted(MATRIX))
def test_a_mutant_is_refuted(name: str):
    """By the first statement and on the first problem that the matrix names."""
    mutant = mutants()[name]
    if not MATRIX[name]:
        assert mutant.equivalent, "a wrong solver that nothing refutes is a hole in the suite"
        return
    statement, problems = next(iter(MATRIX[name].items()))
    assert kills(mutant, statement, problems[0])


def test_statements_have_power_or_say_why_not():
    assert idle(MATRIX) == []


def test_every_statement_refutes_a_wrong_solver_or_says_why_not():
    """Of every kind, also those that are about no solver."""
    killing = {statement for killed in MATRIX.values() for statement in killed}
    true = [s for s in registry.load_statements().values() if s.status != "refuted"]
    assert [s.id for s in true if s.id not in killing and not s.powerless] == []


@pytest.mark.slow
def test_the_matrix_is_what_is_computed():
    computed = matrix()
    assert {name: set(found) for name, found in computed.items()} == {
        name: set(found) for name, found in MATRIX.items()
    }
