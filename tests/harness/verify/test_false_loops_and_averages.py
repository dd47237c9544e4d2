"""What a solver claims beside w: a lie is refuted or makes no difference; silence is no pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gammabar.harness.registry import load_statements
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.problems import Kernel, KernelProblem, load
from gammabar.solvers.boosting import AdaBoost
from gammabar.solvers.descent import SGD
from gammabar.solvers.ramdas_pena import ISNKPVN

ALL = load_statements()
PLANTED = "planted:n=20,d=3,gamma=0.1,seed=0"


def normalised(text: str) -> KernelProblem:
    problem = load(text)
    return KernelProblem(problem.X, problem.y, Kernel.parse("linear"), normalised=True)


def lying(kind: Any, change: Any, **options: Any) -> Any:
    """A solver whose iterates are passed through change(it)."""

    def iterates(self: Any, problem: Any, rng: Any = None) -> Any:
        yield from map(change, kind.iterates(self, problem, rng))

    return type(f"Lying{kind.__name__}", (kind,), {"iterates": iterates})(**options)


def says(**claims: Any) -> Any:
    return lambda it: replace(it, extra={**it.extra, **{k: f(it) for k, f in claims.items()}})


def silent(*names: str, since: int = 0) -> Any:
    def change(it: Any) -> Any:
        if it.t < since:
            return it
        return replace(it, extra={k: v for k, v in it.extra.items() if k not in names})

    return change


# --- the loops of ISNKPVN ---

LOOPS = {
    "never moves": says(outer=lambda it: 0, inner=lambda it: 0),
    "one long call": says(outer=lambda it: 0, inner=lambda it: it.t),
    "calls of one step": says(outer=lambda it: it.t, inner=lambda it: 0),
    "counts down": says(outer=lambda it: 0, inner=lambda it: -it.t),
    "skips": says(inner=lambda it: it.extra["inner"] // 2),
}
#: A separable problem on which a call returns, and one that is not separable.
THM4 = {
    "rp.thm4.1.fixed": ("gaussian:n=50,d=5,seed=1,separable=1", {"epsilon": 1e-6}),
    "rp.thm4.2.fixed": ("gaussian:n=30,d=4,seed=3", {"gamma": 1.5, "epsilon": 1e-2}),
}


@pytest.mark.parametrize("identifier", THM4)
@pytest.mark.parametrize("lie", LOOPS)
def test_loops_that_are_not_those_of_the_iterates_are_refuted(identifier, lie):
    text, options = THM4[identifier]
    problem = normalised(text)
    run = list(zip(range(200), ISNKPVN(**options).iterates(problem.unit()), strict=False))
    if lie == "one long call" and run[-1][1].extra["outer"] == 0:
        pytest.skip("it is one")
    if len(run) < 3:
        pytest.skip("the run is over at once")
    case = Case(problem, lying(ISNKPVN, LOOPS[lie], **options), unit=True)
    (found,) = check_run(case, [ALL[identifier]], 200)
    assert found.verdict == "refuted"


# --- averages ---


@pytest.mark.parametrize("identifier", ["lec.thm3", "lec.cor4"])
def test_an_average_of_sgd_is_one_or_refutes(identifier):
    best = says(average=lambda it: np.full(len(it.w), 100.0))
    assert check_statement(ALL[identifier], Case(None, lying(SGD, best))).verdict == "refuted"
    mute = Case(None, lying(SGD, silent("average")))
    assert check_statement(ALL[identifier], mute).verdict == "inapplicable"


@pytest.mark.parametrize(
    "identifier", ["lec.lem7", "lec.alg3.z", "lec.alg3.z.sum.fixed", "lec.alg3.z.exp.fixed"]
)
def test_a_distribution_of_adaboost_is_that_of_its_votes(identifier):
    def uniform(it: Any) -> Any:
        return replace(it, dual=np.full(len(it.dual), 1 / len(it.dual)))

    assert check_statement(ALL[identifier], Case(None, AdaBoost())).verdict == "holds"
    assert (
        check_statement(ALL[identifier], Case(None, lying(AdaBoost, uniform))).verdict == "refuted"
    )
    without = lying(AdaBoost, lambda it: replace(it, dual=None))
    assert check_statement(ALL[identifier], Case(None, without)).verdict == "inapplicable"
