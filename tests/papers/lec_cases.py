"""What the tests of the lecture's statements share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_statement
from gammabar.harness.verify.verdict import Verdict
from gammabar.problems import DenseProblem

MINE = {i: s for i, s in load_statements().items() if s.source == "lec" or i.startswith("gb.lec.")}


def hear(identifier: str, solver: object = None, problem: object = None, name: str = "") -> Verdict:
    return check_statement(MINE[identifier], Case(problem, solver, name=name))


def refuted(identifier: str, solver: object, problem: object = None) -> bool:
    return hear(identifier, solver, problem).verdict == "refuted"


small_problems = st.integers(1, 6).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda d: st.tuples(
            st.lists(
                st.lists(st.integers(-16, 16), min_size=d, max_size=d), min_size=n, max_size=n
            ),
            st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n),
        )
    )
)


def built(case: tuple) -> DenseProblem:
    X, y = case
    return DenseProblem(np.array(X) / 8, np.array(y))
