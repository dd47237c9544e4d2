"""No iterate of which a statement speaks is passed over (docs/verdicts.md).

Three ways to find one that is. For every statement about runs, on small trials of its own:

1. the iterates at which something was compared are counted against those of which the
   statement speaks. The latter are taken from a run of the solver without the court; where a
   statement is silent of some, `SILENT` says of which, and why, by rational arithmetic or from
   what is printed, and not by the statement's own code;
2. a relation that is false is planted at one iterate, at each of them in turn, and must be found
   there; the goal of a stopping time is planted likewise;
3. for runs that end, crash or go on, with claims that doubles decide or that must be looked at
   again, Hypothesis draws the run, and every iterate that it delivered must be checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gammabar.harness.registry import load_statements
from gammabar.harness.run.engine import Request, make_plan
from gammabar.harness.run.processes import Crashed
from gammabar.harness.run.tasks import Registered, Run, open_solver, solver_name
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.numbers import COARSE, Relation, fact
from gammabar.harness.verify.run_checks import check_run, check_statement
from gammabar.harness.verify.statement import (
    STATEMENTS,
    IterateStatement,
    Statement,
    StoppingStatement,
    per_iterate,
)
from gammabar.problems import from_arrays
from gammabar.problems.specs import open_problem
from gammabar.solvers import Iterate

ALL = load_statements()
#: The last t of a run, and rows of a problem, at most; runs for each statement.
LAST, ROWS, EACH = 14, 60, 3
#: The same, where there is one run for each of the iterates.
SHORT = 8
#: Longer runs, where a statement has something to say only later on.
LONGER = {"isnkpvn": 40}


# --- of which iterates a statement is silent, apart from those before its first ---


class Heard:
    """The iterates of a run, made without the court, in rational arithmetic where it matters."""

    def __init__(self, run: Run, last: int) -> None:
        self.run, self.given = run, open_problem(run.problem)
        self.solver = open_solver(run.by)
        self.problem = self.given.unit() if run.unit else self.given
        self.iterates: list[Any] = []
        for it in self.solver.iterates(self.problem, np.random.default_rng([run.seed])):
            self.iterates.append(Iterate(it.t, np.array(it.w), extra=dict(it.extra)))
            if it.t == last:
                break

    def case(self) -> Case:
        return Case(self.given, self.solver, unit=self.run.unit, seed=self.run.seed)

    def separates(self, t: int) -> bool:
        """Whether w_t separates, from what the rows of the data are."""
        least = float(self.problem.scores(self.iterates[t].w).min())
        # Trials are such that no score is near 0 without being 0.
        assert least == 0 or abs(least) > 1e-12 * float(np.abs(self.iterates[t].w).max())
        return least > 0

    def single(self, t: int) -> bool:
        """Whether w_0, …, w_t are numbers of single precision."""
        return all((np.float32(it.w) == it.w).all() for it in self.iterates[: t + 1])

    @property
    def rows(self) -> list[list[Fraction]]:
        signed = self.given.X * np.asarray(self.given.y, dtype=float)[:, None]
        return [[Fraction(float(v)) for v in row] for row in signed]

    def perceptron(self, normalised: bool) -> list[int]:
        """|S_t| for t = 1, 2, …: of (Normalized) Batch Perceptron, in rationals."""
        rows, counts, n = self.rows, [0], len(self.rows)
        point = [
            sum(column, Fraction(0)) / (n if normalised else 2 * n)
            for column in zip(*rows, strict=True)
        ]
        for _ in self.iterates[1:]:
            wrong = [a for a in rows if sum(x * v for x, v in zip(a, point, strict=True)) <= 0]
            counts.append(len(wrong))
            divisor = (len(wrong) or 1) if normalised else n
            point = [
                v + sum((a[j] for a in wrong), Fraction(0)) / divisor for j, v in enumerate(point)
            ]
        return counts


def after_separation(heard: Heard) -> set[int]:
    """Steps from an iterate that separates the data."""
    return {it.t for it in heard.iterates[1:] if heard.separates(it.t - 1)}


def separated(heard: Heard) -> set[int]:
    """Iterates that separate the data."""
    return {it.t for it in heard.iterates if heard.separates(it.t)}


def none_wrong(heard: Heard) -> set[int]:
    """S_t of the perceptron that the method tends to is empty."""
    counts = heard.perceptron(solver_name(heard.run.by).startswith("normalized"))
    return {t for t, wrong in enumerate(counts) if t and not wrong}


def perceptron_ended(heard: Heard) -> set[int]:
    """Normalized Batch Perceptron has ended before t: at the first t with S_t empty."""
    counts = heard.perceptron(True)
    return {t for t in range(2, len(counts)) if 0 in counts[1:t]}


def loss_above(heard: Heard) -> set[int]:
    """The rate is one of those t with n f(θ_t) ≤ 1."""
    sums = {
        it.t: float(np.logaddexp(0, -heard.problem.scores(it.w)).sum()) for it in heard.iterates
    }
    return {t for t, value in sums.items() if value > 1 - 1e-9}


def no_call_begins(heard: Heard) -> set[int]:
    """δ_t and q_{t+1} are spoken of where a call has returned, and the next one begins."""
    return {it.t for it in heard.iterates if it.extra["inner"] or not it.extra["outer"]}


SILENT: dict[str, Callable[[Heard], set[int]]] = {
    "tyurin.eq6": lambda heard: after_separation(heard) - {1},
    "tyurin.eq10": after_separation,
    "tyurin.appC.descent": after_separation,
    "gb.snkp.any": separated,
    "tyurin.sec6.limits": none_wrong,
    "tyurin.sec6.limits.fixed": none_wrong,
    "gb.tyurin.normalized-lr-gd.rate": perceptron_ended,
    "tyurin.sec8.bias.fixed": loss_above,
    "rp.eq15": no_call_begins,
    # "(but for α_0 = 0)"
    "gb.rp.simplex": lambda heard: set() if heard.iterates[0].w.any() else {0},
    # "the first and second iterates", from θ_0 = 0
    "tyurin.thm4.1.fixed": lambda heard: {it.t for it in heard.iterates if it.t > 2},
    # t < 3n/10
    "tyurin.thm5.1": lambda heard: {
        it.t for it in heard.iterates if 10 * it.t >= 3 * heard.given.n
    },
    # the counts that are printed
    "tyurin.table1.worst": lambda heard: {
        it.t
        for it in heard.iterates
        if it.t > {("lr-gd", 100.0): 308}.get((solver_name(heard.run.by), heard.solver.step), 2)
    },
}


def spoken_of(statement: IterateStatement, heard: Heard) -> set[int]:
    """The iterates of a run of which a statement speaks."""
    every = {it.t for it in heard.iterates if it.t >= statement.since}
    return every - SILENT.get(statement.id, lambda heard: set())(heard)


# --- a court that is watched ---


def wide(relation: Relation) -> bool:
    """Whether an allowance is so large that no solver could be refuted by the relation."""
    size = 1 + abs(float(relation.left)) + abs(float(relation.right))
    size = relation.size if relation.op == "==" and relation.size >= 0 else size
    return not relation.allowance <= COARSE * size


class Watched:
    """A statement whose body notes at which iterates it was asked, and may be made to fail."""

    def __init__(self, statement: Statement, false_at: int | None = None) -> None:
        self.relations: dict[int, int] = {}
        self.allowances: set[tuple[str, bool]] = set()
        self.asked: list[int] = []
        self.case: Case | None = None
        self.false_at = false_at
        body = statement.body
        if isinstance(statement, StoppingStatement):
            self.statement: Any = replace(statement, goal=self._goal(statement.goal))
        elif isinstance(body, type):
            claim = body.claim
            noted = lambda judge, it: self._note(it, it.case, claim(judge, it))  # noqa: E731
            self.statement = replace(statement, body=type(body.__name__, (body,), {"claim": noted}))
        elif statement.takes_all:
            pair = lambda now, last, case: self._note(now, case, body(now, last, case))  # noqa: E731
            self.statement = replace(statement, body=pair)
        else:
            noted = lambda it, case: self._note(it, case, body(it, case))  # noqa: E731
            self.statement = replace(statement, body=noted)

    def _note(self, it: Any, case: Case, claimed: Any) -> list[Relation]:
        if claimed is None:
            found = []
        else:
            found = [claimed] if isinstance(claimed, Relation) else list(claimed)
        if case is not self.case:
            return found  # a solver at rest
        if it.t == self.false_at:
            found.append(fact(False, "planted"))
        if not it.level:
            self.relations[it.t] = len(found)
            self.allowances.update((r.what, wide(r)) for r in found if r.op != "fact")
        return found

    def _goal(self, goal: Any) -> Any:
        def noted(it: Any, case: Case) -> Any:
            if not it.level and it.case is self.case and it.w is not None:
                self.asked.append(it.t)
            if self.false_at is None:
                return goal(it, case)
            return it.t == self.false_at

        return noted

    def compared(self) -> set[int]:
        return {t for t, relations in self.relations.items() if relations}


def judged(heard: Heard, watched: list[Watched], last: int, most: int | None = None) -> list[Any]:
    case = heard.case()
    for one in watched:
        one.case = case
    return check_run(case, [one.statement for one in watched], last, most)


@cache
def runs() -> dict[str, list[Run]]:
    """Runs of the plan on few rows, by solver, the shortest first."""
    found: dict[str, dict[Run, int]] = defaultdict(dict)
    for task in make_plan(Request()):
        run = task.run
        if run.solver is None or not ALL.get(task.statements[0], ALL["gb.sharp"]).about_runs:
            continue
        large = run.problem.startswith(("mnist", "fashion", "cifar", "eurosat", "digits"))
        if large or "worst-case:n=1000" in run.problem:
            continue
        rows = open_problem(run.problem).n
        if rows <= ROWS:
            found[solver_name(run.by)][run] = rows
    for name in ("lr-gd", "normalized-lr-gd"):  # of Table 1
        found[name][Run("worst-case:n=1000", Registered(f"{name}:step=100"))] = 1000
    return {
        name: sorted(some, key=lambda run: (some[run], run.problem)) for name, some in found.items()
    }


def about(run: Run, kind: type) -> list[Any]:
    name = solver_name(run.by)
    return [
        s for s in ALL.values() if isinstance(s, kind) and name in s.solvers and s.unit is run.unit
    ]


def count_all(name: str) -> list[str]:
    """Count on runs of one solver until every statement about it has been counted; the faults."""
    wanted = {s.id for s in ALL.values() if isinstance(s, IterateStatement) and name in s.solvers}
    seen, faults, last = Counter[str](), [], LONGER.get(name, LAST)
    allowances: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for run in runs().get(name, []):
        statements = [s for s in about(run, IterateStatement) if seen[s.id] < EACH]
        if not statements:
            continue
        heard = Heard(run, last)
        watched = [Watched(s) for s in statements]
        for one, verdict in zip(watched, judged(heard, watched, last), strict=True):
            if verdict.verdict == "inapplicable":
                continue
            ends = verdict.worst_t if verdict.verdict == "refuted" else last
            spoken = {t for t in spoken_of(one.statement, heard) if t <= ends}
            missed = sorted(spoken - one.compared())
            where = f"{verdict.statement} by {run.by} on {run.problem}"
            if missed:
                faults.append(f"{where}: nothing was compared at t = {missed}")
            if verdict.checked != sum(one.relations.values()):
                faults.append(f"{where}: {verdict.checked} of {sum(one.relations.values())}")
            if spoken:
                seen[verdict.statement] += 1
            allowances[verdict.statement] |= one.allowances
    for statement, found in allowances.items():
        never = sorted(
            {what for what, _ in found} - {what for what, is_wide in found if not is_wide}
        )
        faults += [f"{statement}: {what!r} allows anything" for what in never]
    missing = wanted - set(seen)
    return faults + [f"{s}: no run of {name} was found for it" for s in sorted(missing)]


SOLVERS = sorted({name for s in ALL.values() if s.about_runs for name in s.solvers})


@pytest.mark.parametrize("name", SOLVERS)
def test_something_is_compared_at_every_iterate_that_is_spoken_of(name):
    assert count_all(name) == []


# --- something false at one iterate, at each of them in turn ---


def plant_all(name: str) -> list[str]:
    """A false relation, or a goal that is reached, at each t of a run; where it is not found."""
    faults, done = [], set()
    for run in runs().get(name, []):
        statements = [s for s in about(run, IterateStatement) if s.id not in done]
        if not statements:
            continue
        heard = Heard(run, SHORT)
        plain = [Watched(s) for s in statements]
        first = {v.statement: v for v in judged(heard, plain, SHORT)}
        use = [s for s in statements if first[s.id].verdict not in ("inapplicable", "undecided")]
        for it in heard.iterates:
            planted = [Watched(s, it.t) for s in use if it.t >= s.since]
            for verdict in judged(heard, planted, SHORT):
                before = first[verdict.statement]
                refuted = before.verdict == "refuted" and before.worst_t < it.t
                expected = before.worst_t if refuted else it.t
                if verdict.verdict == "undecided" and heard.single(it.t):
                    continue  # a run in single precision would have such numbers, too
                if (verdict.verdict, verdict.worst_t) != ("refuted", expected):
                    found = f"{verdict.verdict} at {verdict.worst_t}"
                    faults.append(f"{verdict.statement}, planted at t = {it.t}: {found}")
        done |= {s.id for s in use}
    return faults


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_false_at_one_iterate_is_found_there(name):
    assert plant_all(name) == []


@pytest.mark.parametrize("name", SOLVERS)
def test_a_goal_is_looked_for_at_every_iterate_and_found_where_it_is(name):
    """Of a stopping time: asked at t = 0, 1, …, and never again once it is reached."""
    done = set()
    for run in runs().get(name, []):
        statements = [s for s in about(run, StoppingStatement) if s.id not in done]
        heard = Heard(run, LAST) if statements else None
        for statement in statements:
            for goal in range(LAST + 1):
                watched = Watched(statement, goal)
                (found,) = judged(heard, [watched], LAST, LAST)
                ends = len(heard.iterates) - 1
                if found.verdict == "inapplicable" or goal > ends:
                    break
                if found.verdict == "holds":
                    assert found.worst_t == goal, statement.id
                    assert list(dict.fromkeys(watched.asked)) == list(range(goal + 1))
                    done.add(statement.id)
                else:  # the limit, or the end of the run, is before
                    assert list(dict.fromkeys(watched.asked)) == list(range(max(watched.asked) + 1))
    assert done == {
        s.id for s in ALL.values() if isinstance(s, StoppingStatement) and name in s.solvers
    }


# --- whatever the run is like ---

SQUARE = from_arrays([[1.0, 0.0], [0.0, -1.0]], [1, -1])


class Steps:
    """w_t = (t, t), and an end of some kind after so many iterates."""

    ends = ("separated",)

    def __init__(self, passes: bool, length: int, end: str) -> None:
        self.passes, self.length, self.end = passes, length, end

    def iterates(self, problem: Any, rng: Any = None) -> Any:
        w = np.zeros(2)
        for t in range(self.length):
            if self.passes:
                problem.softmin(w)
            halts = self.end == "halts" and t == self.length - 1
            yield Iterate(t, w, extra={"halt": "separated"} if halts else {})
            w += 1.0
        if self.end == "crashes":
            raise Crashed("enough")
        if self.end == "goes on":
            while True:
                yield Iterate(t := t + 1, np.full(2, float(t)))


@given(
    length=st.integers(1, 12),
    last=st.integers(1, 12),
    end=st.sampled_from(["halts", "crashes", "stops", "goes on"]),
    passes=st.booleans(),
    since=st.integers(0, 3),
    hard=st.sets(st.integers(0, 12)),
    wrong=st.none() | st.integers(0, 12),
)
@settings(max_examples=150, deadline=None)
def test_every_iterate_that_is_delivered_is_checked(length, last, end, passes, since, hard, wrong):
    """`hard`: where doubles do not decide; `wrong`: where the claim is false."""
    asked, heard = [], []

    def claim(it: Any, case: Any) -> Any:
        if case is mine and not it.level:
            asked.append(it.t)
        if it.t in hard and not it.level:
            return fact(None, "not yet")
        return fact(it.t != wrong, "not where it is false")

    before = dict(STATEMENTS)
    try:
        more = {"reference": "here", "claim": "", "solvers": ()}
        per_iterate("test.every", since=since, **more)(claim)
        statement = STATEMENTS["test.every"]
    finally:
        STATEMENTS.clear()
        STATEMENTS.update(before)
    mine = Case(SQUARE, Steps(passes, length, end))
    (found,) = check_run(mine, [statement], last)
    heard = range(last + 1 if end == "goes on" else min(length, last + 1))
    spoken = [t for t in heard if t >= since]
    if wrong in spoken:
        assert (found.verdict, found.worst_t) == ("refuted", wrong)
        spoken = [t for t in spoken if t <= wrong]
    elif len(heard) <= last:
        # w_t = (t, t) separates from t = 1 on: a method that says so has come to its end.
        expected = "holds" if end == "halts" and length > 1 else "undecided"
        assert found.verdict == (expected if spoken or expected != "holds" else "inapplicable")
    elif spoken:
        assert found.verdict == "holds"
    assert sorted(set(asked)) == spoken
    assert found.checked in (len(spoken), 0)


# --- statements that run their solvers themselves ---


#: More than any bound allows at the first iterates.
FAR = 1e6


class Bent:
    """A solver that is off at one iterate, or ends after some."""

    @staticmethod
    def make(solver: Any, at: int | None = None, ends: int | None = None) -> Any:
        kind = type(solver)

        def iterates(self: Any, *data: Any) -> Any:
            for it in kind.iterates(self, *data):
                if it.t == ends:
                    return
                yield replace(it, w=it.w + FAR) if it.t == at else it

        made = replace(solver)
        object.__setattr__(made, "__class__", type(kind.__name__, (kind,), {"iterates": iterates}))
        return made


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("smooth-gradient-descent", "lec.thm1.fixed"),
        ("smooth-gradient-descent", "gb.lec.gd.step"),
        ("accelerated-gradient-descent", "gb.lec.agd.rate"),
        ("accelerated-gradient-descent", "gb.lec.agd.step"),
    ],
)
def test_descent_that_is_off_at_one_iterate_is_refuted(name, identifier):
    statement, problem = ALL[identifier], open_problem("planted:n=6,d=2,gamma=0.3,seed=0")
    for t in range(1, 31):
        found = check_statement(statement, Case(problem, Bent.make(open_solver(name), at=t)))
        # A step is called by the iterate that it starts from.
        where = f"= {t - 1 if identifier.endswith('step') else t}"
        assert (found.verdict, found.where[-len(where) :]) == ("refuted", where)


@pytest.mark.parametrize(
    ("name", "identifiers"),
    {
        "sgd": ("lec.thm3", "lec.cor4", "gb.lec.sgd.step", "gb.lec.sgd.draws"),
        "adaboost": ("lec.lem7", "lec.alg3.z.sum.fixed", "gb.lec.adaboost.step"),
        "smooth-gradient-descent": ("lec.thm1.fixed", "lec.sec1.steps", "gb.lec.gd.step"),
        "accelerated-gradient-descent": ("gb.lec.agd.rate", "gb.lec.agd.step"),
    }.items(),
)
def test_a_run_that_ends_early_does_not_pass(name, identifiers):
    for identifier in identifiers:
        for ends in (1, 2, 3):
            case = Case(None, Bent.make(open_solver(name), ends=ends))
            found = check_statement(ALL[identifier], case)
            assert found.verdict in ("refuted", "undecided"), (identifier, ends)
