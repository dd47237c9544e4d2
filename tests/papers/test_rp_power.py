"""The statements of Ramdas and Peña refute wrong solvers, and never right ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.run.specs import open_problem, open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.statement import STATEMENTS, Statement
from gammabar.harness.verify.verdict import Verdict
from gammabar.problems import Problem, ProblemError, from_arrays
from gammabar.solvers import Iterate

load_statements()
ABOUT = [
    s
    for s in STATEMENTS.values()
    if s.about_runs and s.id.startswith(("rp.", "gb.rp.", "gb.snkp."))
]

#: Solver → problems on which its start is no solution: with a margin, and without one.
SEPARABLE = {
    "perceptron": "gaussian:n=20,d=3,seed=0,separable=1",
    "normalized-perceptron": "degenerate:kind=simplex,n=8,d=8",
    "winnow": "planted:n=40,d=4,gamma=0.02,seed=0,rotate=0",
    "nkp": "gaussian:n=20,d=3,seed=0 --kernel rbf:gamma=1",
    "snkp:epsilon=0.01": "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1",
    "snkpvn:delta=0.01": "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1",
    "isnkpvn:epsilon=0.01": "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1",
    "nvn:epsilon=0.05": "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1",
}
INSEPARABLE = "degenerate:kind=opposite --kernel rbf:gamma=0.2"


@dataclass(frozen=True)
class Wrong:
    """A solver whose iterates are changed on the way; it has the options of the right one."""

    right: Any
    change: Callable[[Iterator[Iterate]], Iterator[Iterate]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)

    def iterates(self, problem: Problem, rng: Any = None) -> Iterator[Iterate]:
        return self.change(self.right.iterates(problem, rng))


def stuck(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
    """It never leaves its start, and counts on."""
    first = next(iterates)
    extra = {key: v for key, v in first.extra.items() if key not in ("halt", "returned")}
    for t in count():
        yield replace(first, t=t, extra=extra | ({"inner": t} if "inner" in extra else {}))


def verdicts(solver: Any, text: str, about: list[Statement], iterations: int) -> list[Verdict]:
    problem = open_problem(text)
    found = []
    for unit in (False, True):
        same = [s for s in about if s.unit is unit]
        found += check_run(Case(problem, solver, unit=unit), same, iterations, most=2000)
    return found


def refuted(solver: Any, text: str, name: str, iterations: int = 40) -> set[str]:
    about = [s for s in ABOUT if solver_name(name) in s.solvers]
    return {
        v.statement for v in verdicts(solver, text, about, iterations) if v.verdict == "refuted"
    }


def test_a_solver_that_never_moves_is_refuted_by_every_statement_that_can() -> None:
    killers = set()
    for name, problem in SEPARABLE.items():
        killers |= refuted(Wrong(open_solver(name), stuck), problem, name, 200)
        if name not in ("perceptron", "normalized-perceptron", "winnow", "nkp"):
            killers |= refuted(Wrong(open_solver(name), stuck), INSEPARABLE, name, 200)
    # Lemma 9 is proved for |ρ_K| ≤ √(2/3) or a long q; equation (15) is about calls that return.
    short = Wrong(open_solver("snkpvn:delta=0.01"), stuck)
    killers |= refuted(short, "degenerate:kind=opposite,n=8,d=1", "snkpvn:delta=0.01", 200)
    killers |= refuted(Wrong(open_solver("nkp"), stuck), "degenerate:kind=square", "nkp", 40)
    about = {s.id for s in ABOUT if s.status == "holds" and not s.powerless}
    assert killers >= about - {"rp.eq15"}


@pytest.mark.parametrize("name", [name for name in SEPARABLE if name != "perceptron"])
def test_a_nudge_of_a_millionth_is_no_step(name: str) -> None:
    """One coordinate of w, α or p of one iterate, off by 10⁻⁶ of the whole."""
    step = f"gb.rp.{solver_name(name)}.step"

    def nudged(part: str) -> Callable[[Iterator[Iterate]], Iterator[Iterate]]:
        def change(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
            for it in iterates:
                if it.t != 2:
                    yield it
                    continue
                old = it.extra["p"] if part == "p" else getattr(it, part)
                new = np.array(old)
                new[int(np.argmax(np.abs(new)))] += 1e-6 * float(np.abs(new).sum())
                extra = it.extra | {"p": new} if part == "p" else it.extra
                fields = {} if part == "p" else {part: new}
                yield replace(it, extra=extra, soft=None, computed=None, **fields)

        return change

    parts = ["w"]
    if name.startswith(("nkp", "snkp", "nvn", "isnkp")):
        parts.append("dual")
    if name.startswith(("snkp", "isnkp")):
        parts.append("p")
    for part in parts:
        assert step in refuted(Wrong(open_solver(name), nudged(part)), SEPARABLE[name], name, 5)


def changed(change: Callable[[Iterate], Iterate]) -> Callable[[Iterator[Iterate]], Any]:
    return lambda iterates: map(change, iterates)


def test_weights_that_are_no_distribution() -> None:
    def doubled(it: Iterate) -> Iterate:
        return replace(it, dual=2 * it.dual, extra=it.extra | {"p": -it.extra.get("p", it.dual)})

    for name in ("nkp", "snkp", "nvn", "snkpvn", "isnkpvn"):
        problem = SEPARABLE.get(name, INSEPARABLE)
        wrong = Wrong(open_solver(name), changed(doubled))
        assert "gb.rp.simplex" in refuted(wrong, problem, name, 5)


def test_exits_that_are_none() -> None:
    """A method that says that it is done when it is not, or goes on when it is."""

    def done(it: Iterate) -> Iterate:
        return replace(it, extra=it.extra | {"halt": "separated", "returned": True})

    def hasty(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        yield done(next(iterates))

    def patient(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
        for it in iterates:
            last = it
            yield replace(it, extra={k: v for k, v in it.extra.items() if k != "halt"})
        for t in count(last.t + 1):
            yield replace(last, t=t)

    for name, problem in SEPARABLE.items():
        if name.startswith(("nvn", "perceptron")):
            continue
        step = f"gb.rp.{solver_name(name)}.step"
        assert step in refuted(Wrong(open_solver(name), hasty), problem, name)
        assert step in refuted(Wrong(open_solver(name), patient), problem, name, 60)


def test_certificates_that_are_none() -> None:
    for name in (
        "nvn:epsilon=0.001",
        "snkpvn:delta=0.001",
        "snkp:epsilon=0.001",
        "isnkpvn:epsilon=0.001",
    ):

        def early(iterates: Iterator[Iterate]) -> Iterator[Iterate]:
            it = next(iterates)
            yield replace(it, extra=it.extra | {"halt": "certificate", "returned": True})

        found = refuted(Wrong(open_solver(name), early), INSEPARABLE, name)
        assert f"gb.rp.{solver_name(name)}.step" in found
        ends = {
            "nvn": "rp.nvn",
            "snkpvn": "rp.lem9.solution",
            "snkp": "gb.snkp.any.exit",
            "isnkpvn": "rp.thm4.2.fixed",
        }
        assert ends[solver_name(name)] in found


def test_any_of_the_tied_rows_is_right() -> None:
    """A perceptron that takes the last row of smallest score, and tells nothing but t and w."""

    class Last:
        def iterates(self, problem: Problem, rng: Any = None) -> Iterator[Iterate]:
            total = problem.origin()
            for k in count():
                scores = problem.scores(total)
                yield Iterate(k, total / max(k, 1))
                total = total + problem.row(int(np.flatnonzero(scores == scores.min())[-1]))

    step = STATEMENTS["gb.rp.normalized-perceptron.step"]
    for text in ("degenerate:kind=simplex,n=20,d=20", "degenerate:kind=square", "worst-case:n=30"):
        (verdict,) = check_run(Case(open_problem(text), Last(), unit=True), [step], 2)
        assert verdict.verdict == "holds"


def test_a_solver_that_tells_only_its_iterates_is_heard() -> None:
    class Bare:
        def iterates(self, problem: Problem, rng: Any = None) -> Iterator[Iterate]:
            for it in open_solver("nkp").iterates(problem):
                yield Iterate(it.t, it.w, extra={"halt": it.extra.get("halt")})

    for text in ("degenerate:kind=square", INSEPARABLE):
        for verdict in verdicts(Bare(), text, ABOUT, 5):
            assert verdict.verdict in ("holds", "inapplicable", "undecided", "refuted")
            assert not verdict.failure


# Right solvers -----------------------------------------------------------------------------------

SOLVERS = (
    "perceptron:choice=random",
    "normalized-perceptron",
    "winnow",
    "winnow:rate=0.3",
    "nkp",
    "snkp",
    "snkp:epsilon=0.1",
    "nvn:epsilon=0.1",
    "snkpvn:delta=0.02",
    "snkpvn:delta=0.3",
    "isnkpvn:epsilon=0.02",
    "isnkpvn:gamma=1.3,epsilon=0.2",
)


def problems(seed: int) -> Problem:
    """Points in general position, so that no score is zero but for rounding."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    X = rng.standard_normal((n, d))
    side = np.sign(X @ rng.standard_normal(d)) if rng.random() < 0.6 else rng.choice([-1, 1], n)
    y = np.where(side == 0, 1, side).astype(int)
    if abs(int(y.sum())) == n:
        X[0], y[0] = -X[0], -y[0]
    kind = int(rng.integers(5))
    if kind == 0:
        return from_arrays(X, y)
    if kind == 1:  # rows of norm one
        return from_arrays(np.sign(X[:, :1]), y)
    kernel = ("linear", "poly:degree=2,coef0=1", "rbf:gamma=0.5")[kind - 2]
    return from_arrays(X, y, kernel=kernel, normalised=True)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(SOLVERS))
def test_right_solvers_are_never_refuted(seed: int, name: str) -> None:
    problem, solver = problems(seed), open_solver(name)
    about = [s for s in ABOUT if solver_name(name) in s.solvers and s.status == "holds"]
    for unit in (False, True):
        same = [s for s in about if s.unit is unit]
        try:
            found = check_run(Case(problem, solver, unit=unit, seed=seed), same, 25, most=1000)
        except ProblemError as error:
            assert "kernel" in str(error)  # winnow has no kernels
            continue
        for verdict in found:
            assert verdict.verdict != "refuted", verdict
            # Claims that are equations, as Lemma 5 is for rows that are all the same, drown in
            # rounding; and a run may be too short for the claim to be decided.
            equation = verdict.statement in ("rp.lem5", "rp.lem8", "rp.lem9.chain", "rp.lem9.fixed")
            short = verdict.what == "t so far" or verdict.reason.startswith("the run ended at")
            short = short or verdict.reason == "the method has not halted yet"
            assert verdict.verdict != "undecided" or equation or short, verdict


def test_theorem_1_is_about_the_algorithm_without_the_exit_of_ours() -> None:
    """With ε above the margin SNKP may certify at once, and Theorem 1 says nothing about that."""
    text = "gaussian:n=30,d=3,seed=0 --kernel rbf:gamma=1"  # ρ_K = 0.141…
    thm1 = [STATEMENTS["rp.thm1"]]
    expected = {"snkp": "holds", "snkp:epsilon=0.1": "holds", "snkp:epsilon=0.2": "inapplicable"}
    for name, verdict in expected.items():
        (found,) = verdicts(open_solver(name), text, thm1, 30)
        assert found.verdict == verdict
