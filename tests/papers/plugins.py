"""What the tests of papers in papers/plugins share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gammabar as gb
from gammabar.harness.registry import PLUGINS, close_paper, find_sources, find_statement, mutants
from gammabar.harness.run.tasks import Registered
from gammabar.harness.verify.run_checks import check_statement
from gammabar.papers import Case


@contextmanager
def opened(key: str) -> Iterator[None]:
    """A paper, closed afterwards: other tests count what there is."""
    find_sources([key])
    try:
        yield
    finally:
        close_paper(str(PLUGINS / f"{key}.py"))


def rates(key: str) -> set[str]:
    """Statements that name the solver of the next slower rate."""
    return {s.id.removeprefix(f"{key}.") for s in find_sources([key]) if s.slower}


def refutes_slower(identifier: str, problem: str, steps: int, **options: Any) -> bool:
    """Whether a statement about a rate refutes the solver of the next slower rate."""
    wrong = mutants()[find_statement(identifier).slower].make(**options)
    [verdict] = gb.verify(wrong, problem, identifier, iterations=steps)
    return verdict.verdict == "refuted"


def verdicts(key: str, solver: str, problem: str, steps: int) -> dict[str, str]:
    """Statement → verdict for those about a solver of the paper that are said to hold."""
    name = solver.partition(":")[0]
    asked = [s.id for s in find_sources([key]) if s.status == "holds" and name in s.solvers]
    found = gb.verify(Registered(solver).open(), problem, asked, iterations=steps)
    return {v.statement: str(v.verdict) for v in found}


def examined(identifier: str) -> str:
    """The verdict on a statement with data of its own."""
    return str(check_statement(find_statement(identifier), Case()).verdict)
