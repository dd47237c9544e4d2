"""Trials: a problem, a run, what is delivered of it, what is true, and what the harness says."""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.harness.run.tasks import open_solver
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_statement

from . import boosting, chance, descent, jst, ramdas_pena, ridge, sgd, tyurin
from .arithmetic import Unfit, bits, doubles, to_double, zeros
from .changes import RIGHT, WRONG, lie, lie_about_weights
from .data import Data
from .driver import Solver, Tally, ask, attempt, compare
from .facts import Extras, Facts, Method, Step, Truth
from .plain import PRINTED

METHODS: dict[str, Method] = {**jst.METHODS, **tyurin.METHODS, **ramdas_pena.METHODS}
#: Methods that are drawn, and those that take the place of others in some trials, so that a number
#: keeps its problem and mostly its method.
FIRST = (
    "dual_acceleration",
    "normalized_descent",
    *tyurin.METHODS,
    "kernel_perceptron",
    "smoothed_perceptron",
)
LATER = ("gradient_descent", "normalized_perceptron", "von_neumann", "smoothed_von_neumann")
#: Claims about one step. Where a score is 0 up to rounding, exactness would ask for another row.
STEPS = {name for method in METHODS.values() for name in method.claims if name.endswith(".step")}
#: Equations that doubles meet up to rounding: their truth is for runs that are known to be wrong.
EQUATIONS = {*STEPS, "jst.lem3.4.primal", "jst.lemC.3"}
#: Claims about how soon a goal is reached.
STOPS = {"jst.sec1.quarter.fixed", "tyurin.thm5.2", "rp.perceptron", "tyurin.thm3.3", "gb.batch"}
STOPS |= {"tyurin.thm5.3", "tyurin.thm6.1", "rp.nkp", "rp.thm1", "rp.normalized"}
STOPS |= {"rp.lem8.separator", "jst.sec1.quarter", "jst.sec1.quarter.charitable"}
#: Updates that are checked, and how many more for the sake of a claim about how soon.
LENGTH, LONGEST = 7, 24
#: Wrong runs and false reports of a method on a problem.
WRONG_RUNS, LIES = 5, 4
#: So many unlikely draws are more than chance allows.
UNLIKELY = 72


@cache
def holding(about_runs: bool, solver: str = "", own_data: bool = False) -> list[Any]:
    """What is proved of runs of a solver, or of data (with or without a solver), or of instances
    that the statement brings itself."""
    return [
        s
        for s in load_statements().values()
        if s.status == "holds"
        and s.about_runs is about_runs
        and (solver in s.solvers if solver else not s.solvers)
        and (about_runs or solver or (s.problems == ("",)) is own_data)
    ]


def of_solver(method: Method) -> list[str]:
    """What is proved of points or weights that a solver has to do with, but of no run of it."""
    found = (s for s in holding(False, method.solver) if s.kind != "probability")
    return [s.id for s in found if s.id.startswith("jst.")]


def of_nothing(tally: Tally) -> None:
    """Statements about instances of their own, once: none that is proved is refuted, and none that
    is false as printed holds."""
    printed = {name: truth for truths in PRINTED.values() for name, truth in truths.items()}
    solvers = {name: solver for solver, truths in PRINTED.items() for name in truths}
    with bits():
        for name in (*printed, *(s.id for s in holding(False, own_data=True))):
            solver = open_solver(solvers[name]) if solvers.get(name) else None
            # ``gb.verify`` asks for a solver and a problem; these statements have none.
            said = str(check_statement(load_statements()[name], Case(solver=solver)).verdict)
            tally.said[name, said] += 1
            compare(name, said, printed.get(name, lambda: None)(), True, "of nothing", tally)


class Trial:
    """Runs of a method on a problem, and what the harness says of them."""

    def __init__(self, data: Data, name: str, where: str, tally: Tally) -> None:
        self.data, self.name, self.method = data, name, METHODS[name]
        self.where, self.tally = f"{where}: {name}", tally
        self.claims, self.length = dict(self.method.claims), LENGTH

    def facts(self, run: Any, extras: Extras) -> Facts:
        method = self.method
        return method.facts(self.data, method.unit, run, extras, **method.settings)

    def drawn(self, rng: np.random.Generator) -> tuple[Any, Extras]:
        """The right run, rounded once."""
        return rounded(list(islice(self.method.run(self.data, rng), self.length + 1)))

    def long_enough(self) -> None:
        """Deliver so many updates that claims about how soon can be judged, or leave them out."""
        facts, name, n = self.facts([zeros(self.data.dimension)], [{}]), self.name, self.data.n
        if facts.separable and to_double(1 / facts.gamma_squared) < math.inf:
            gamma_squared = to_double(facts.gamma_squared)
            radius_squared = 1 if self.method.unit else self.data.radius_squared
            most = to_double(n * radius_squared / facts.gamma_squared)
            if name == "normalized_logistic_descent":
                most += 2 * math.log(2 * n) / max(gamma_squared, 1e-300)
            if name in ("dual_acceleration", "momentum_said", "dual_form"):
                most = 4 * math.sqrt(math.log(n) / gamma_squared)
            if most <= LONGEST:
                self.length = max(LENGTH, math.ceil(most) + 1)
                return
        self.claims = {name: truth for name, truth in self.claims.items() if name not in STOPS}

    def reports(self, run: Any, extras: Extras, right: bool) -> Extras:
        """What the method reports of the w that are delivered, be they right or not."""
        says = self.method.says or (None if right else self.method.says_if_wrong)
        return extras if says is None else says(self.facts(run, extras))

    def ask(self, run: Any, extras: Extras, right: bool, how: str, more: Any = ()) -> None:
        """Ask about a run; `more` are further statements, with their truths or without."""
        facts = self.facts(run, extras)

        def truth_of(name: str, truth: Truth | None) -> Any:
            unknown = truth is None or (right and name in EQUATIONS)
            return None if unknown else partial(truth, facts)

        more = more if isinstance(more, dict) else dict.fromkeys(more)
        asked = {**more, **self.claims}
        ask(
            Solver(run, extras, **self.method.settings),
            self.data.problem,
            {name: truth_of(name, truth) for name, truth in asked.items()},
            right,
            f"{self.where}, {how}",
            self.tally,
            # Jitter: not the w that the next step was made from.
            uncompared=STEPS if how == "jitter" else (),
            iterations=min(self.length, len(run) - 1) or 1,
        )

    def every_run(self, rng: np.random.Generator) -> None:
        """Right runs, wrong runs, and false reports about right ones."""
        reporting = self.name in jst.REPORTING
        self.long_enough()
        run, extras = self.drawn(rng)
        if self.name == "dual_acceleration" and self.data.linear:
            self.ask(jst.in_doubles(self.data, rng, self.length), extras, True, "naive")
        wrong = map(str, rng.choice([*WRONG], WRONG_RUNS, replace=False))
        for how in ("nearest", "jitter", *wrong):
            changed = (RIGHT | WRONG)[how](run, rng)
            if np.isfinite(changed).all():
                right = how in RIGHT
                # Of a wrong run what follows from it may be reported, or what the right one said.
                kept = reporting and not right and rng.random() < 0.3
                said = self.reports(run if kept else changed, extras, right or kept)
                self.ask(changed, said, right, how, self.proved() if how == "nearest" else ())
        for _ in range(LIES if reporting else 0):
            what, told = lie(self.reports(run, extras, True), rng)
            self.ask(run, told, False, what)

    def theorems(self) -> list[str]:
        """What else the papers prove of the method: of a right run none of it is refuted."""
        return [s.id for s in holding(True, self.method.solver) if s.unit is self.method.unit]

    def proved(self) -> dict[str, Truth | None]:
        """The same, and what is proved or false of any data."""
        names = self.theorems() + [s.id for s in holding(False)]
        if self.name in jst.REPORTING:  # they take long and are the same for all data: once
            said = self.tally.said
            names += [name for name in of_solver(self.method) if (name, "holds") not in said]
        return {**dict.fromkeys(names), **jst.OF_DATA}


def rounded(steps: list[Step]) -> tuple[Any, Extras]:
    run = np.array([doubles(step.w) for step in steps])
    if not np.isfinite(run).all():
        raise Unfit("the right iterates are not doubles")
    extras = []
    for step in steps:
        extra = dict(step.extra)
        for name, value in extra.items():
            if isinstance(value, np.ndarray):
                extra[name] = doubles(value)
            elif name in ("mu", "delta"):
                extra[name] = to_double(value)
        extras.append(extra)
    return run, extras


def one(seed: int, number: int, tally: Tally, asked: str = "") -> None:
    """Try one problem, with a method that is drawn or asked for; faults are kept in the tally."""
    rng = np.random.default_rng([seed, number])
    with strictly(), bits(), attempt(tally, f"{seed}.{number}"):
        data = Data(rng)
        name = str(rng.choice(FIRST))
        later = np.random.default_rng([seed, number, 2])
        name = asked or (str(later.choice(LATER)) if later.random() < 0.3 else name)
        if not data.radius_squared > 0:
            raise Unfit("all rows are zero")
        where = f"{seed}.{number} {data.name}"
        tally.kinds[data.kind] += 1
        with attempt(tally, where):
            Trial(data, name, where, tally).every_run(rng)
            tally.trials += 1
        # A generator of its own, so that what is drawn above stays what it was.
        beside = np.random.default_rng([seed, number, 3])
        if not asked and beside.random() < 0.4:
            name = str(beside.choice(jst.REPORTING))
            Trial(data, name, where, tally).every_run(beside)
            if name.endswith("sampling"):
                unlikely_draws(data, beside, where, tally)
                chance.on_data(data, beside, where, tally)


def unlikely_draws(data: Data, rng: np.random.Generator, where: str, tally: Tally) -> None:
    """The row of least weight, every time: more often than chance allows."""
    trial = Trial(data, "adaptive_sampling", where, tally)
    steps = list(islice(jst.sampling(jst.SMALL, False, unlikely=True)(data, rng), UNLIKELY + 1))
    name = "gb.jst.sampling.draws"
    trial.claims, trial.length = {name: trial.claims[name]}, UNLIKELY
    trial.ask(*rounded(steps), False, "unlikely draws")


def weights(seed: int, number: int, tally: Tally, asked: str = "") -> None:
    """A method of Ramdas and Peña: right, with wrong iterates, and with false reports beside."""
    rng = np.random.default_rng([seed, number, 7])
    with bits(), attempt(tally, f"{seed}.{number}"):
        data = Data(rng) if asked == "winnow" else rows_of_norm_one(rng)
        name = asked or str(rng.choice(ramdas_pena.REPORTING))
        if not data.radius_squared > 0:
            raise Unfit("all rows are zero")
        trial = Trial(data, name, f"{seed}.{number} {data.name}", tally)
        trial.length = 40 if asked else 9
        trial.claims = {k: truth for k, truth in trial.claims.items() if k not in STOPS}
        run, extras = trial.drawn(rng)
        tally.count(data.kind)
        runs = {"nearest": (run, extras)}
        for change in map(str, rng.choice([*WRONG], 2, replace=False)):
            runs[change] = (WRONG[change](run, rng), extras)
        for _ in range(4):
            what, said = lie_about_weights(extras, rng)
            runs[what] = (run, said)
        for how, (ws, said) in runs.items():
            if how and np.isfinite(ws).all():
                right = how == "nearest"
                trial.ask(ws, said, right, how, trial.theorems() if right else ())
        if name == "smoothed_perceptron":
            other = Trial(data, "exiting_perceptron", trial.where, tally)
            other.length = 40
            other.ask(*other.drawn(rng), True, "nearest", other.theorems())


def rows_of_norm_one(rng: np.random.Generator) -> Data:
    """Mostly: most claims of Ramdas and Peña are about such rows."""
    if rng.random() < 0.4:
        return Data(rng)
    for _ in range(12):
        try:
            data = Data(rng)
        except (Unfit, gb.ProblemError):
            continue
        if data.normalised or data.kind == "rbf":
            return data
    raise Unfit("no rows of norm one were drawn")


#: Trials of their own kind: solvers that statements run by themselves, and reports beside w.
KINDS: dict[str, Callable[[int, int, Tally], None]] = {
    "boosting": boosting.one,
    "descent": descent.one,
    "stochastic": sgd.one,
    "ridge": ridge.one,
    "smoothed": weights,
    "iterated": partial(weights, asked="iterated_von_neumann"),
    "winnow": partial(weights, asked="winnow"),
    "failing": chance.one,
}
#: They take turns with the other problems.
TURNS = ("smoothed", "boosting", "winnow", "descent", "iterated", "stochastic", "smoothed")
TURNS += ("ridge", "iterated", "descent", "winnow", "failing", "smoothed")


class strictly(warnings.catch_warnings):
    """Warnings are errors, and NumPy is silent."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("error")
        self.before = np.seterr(all="ignore")

    def __exit__(self, *reason: object) -> None:
        np.seterr(**self.before)
        super().__exit__(*reason)


def further(seed: int, number: int, tally: Tally) -> None:
    """The kind whose turn it is, every second number."""
    if number % 2 == 0:
        kind(TURNS[number // 2 % len(TURNS)], seed, number, tally)


def kind(name: str, seed: int, number: int, tally: Tally) -> None:
    with strictly():
        KINDS[name](seed, number, tally)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="problems (default 2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one problem again: SEED.NUMBER")
    args = parser.parse_args(arguments)
    tally, began, number, shown = Tally(), time.monotonic(), 0, 0
    if args.only:
        seed, number = map(int, args.only.split("."))
        one(seed, number, tally)
        for name in KINDS:
            kind(name, seed, number, tally)
        print("\n".join(tally.faults))
    else:
        of_nothing(tally)
    while not args.only and tally.trials < args.trials:
        one(args.seed, number, tally)
        further(args.seed, number, tally)
        for fault in tally.faults[shown:]:
            print(fault, flush=True)
        shown, number = len(tally.faults), number + 1
        if number % 500 == 0:
            spent = time.monotonic() - began
            print(f"{tally.trials:,} problems, {shown} faults, {spent:.0f} s", flush=True)
    print(tally.text())
    return 1 if tally.faults else 0
