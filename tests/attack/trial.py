"""One trial: a problem, a run, what is delivered of it, what is true, and what the court says."""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.solvers import Iterate

from . import claims as asked_of, doors, further, methods
from .asked import about_data, of_solver, own_instances, proved, theorems
from .chance import by_chance
from .claims import (
    BESIDE,
    CLAIMS,
    FACTS,
    LATER,
    OF_DATA,
    OF_NOTHING,
    OPTIONS,
    SETTINGS,
    STEPS,
    UNIT,
)
from .data import Data, Unfit, bits, to_double
from .facts import Facts, Judge
from .methods import EPSILON, Step
from .said import OF_WRONG, SAYS, VECTORS, lie
from .spoils import RIGHT, WRONG

#: Updates that are heard, and how many more for the sake of a claim about how soon.
LENGTH, LONGEST = 7, 24
#: What is said, and what is so.
WRONGLY = (("holds", False), ("refuted", True))
#: Of how many spoils a run is tried.
SPOILS = 5
#: How many lies are told about what is said beside w.
LIES = 4
#: So many unlikely draws are more than chance allows.
UNLIKELY = 72


class Solver:
    """Delivers what it is given, as any solver would."""

    step = 1.0
    ends = ("separated", "certificate")

    def __init__(self, run: np.ndarray, extras: list[dict[str, Any]], method: str) -> None:
        self.run, self.extras = run, extras
        if method in OPTIONS:
            setattr(self, OPTIONS[method], int(EPSILON.p) / int(EPSILON.q))
        vars(self).update(SETTINGS.get(method, {}))

    def iterates(self, problem: Any, rng: Any = None) -> Any:
        for t, (w, extra) in enumerate(zip(self.run, self.extras, strict=True)):
            own = {name: extra.get(name) for name in ("dual", "momentum")}
            said = {name: value for name, value in extra.items() if name not in own}
            yield Iterate(t, w.copy(), **own, extra=said)


@dataclass
class Tally:
    """What was tried, what the court said, and what was wrong with it."""

    trials: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    #: Of runs known to be wrong, what was said of claims that are false of them.
    of_false: Counter[str] = field(default_factory=Counter)
    of_right: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    #: By door: what was asked, and what was refused.
    doors: Counter[str] = field(default_factory=Counter)
    shut: Counter[str] = field(default_factory=Counter)

    def decided(self) -> set[str]:
        """The statements of which something was proved or refuted."""
        return {claim for claim, verdict in self.said if verdict in ("holds", "refuted")}

    def text(self) -> str:
        verdicts = sum(self.said.values())
        lines = [
            f"{self.trials:,} problems, {verdicts:,} verdicts, {len(self.faults)} of them wrong",
            "right runs: " + _counts(self.of_right),
            "claims that are false of the run: " + _counts(self.of_false),
            "refused problems: " + _counts(self.refused),
            "problems: " + _counts(self.kinds),
        ]
        by_claim: dict[str, Counter[str]] = {}
        for (claim, verdict), count in self.said.items():
            by_claim.setdefault(claim, Counter())[verdict] += count
        lines += [f"  {claim:<44}{_counts(counts)}" for claim, counts in sorted(by_claim.items())]
        decided = self.decided()
        judged = {name for claims in CLAIMS.values() for name in claims} | further.JUDGED
        every = load_statements()
        lines.append(
            f"{len(decided)} of {len(every)} statements were decided, {len(decided & judged)} of "
            f"them with a truth of their own for wrong runs; not decided:"
        )
        lines.append("  " + " ".join(sorted(set(every) - decided)))
        lines += [
            "through other doors: " + _counts(self.doors),
            "refused there: " + _counts(self.shut),
        ]
        return "\n".join(lines)


def of_nothing(tally: Tally) -> None:
    """What is proved of no problem that is given: instances of its own, once."""
    problem = gb.from_arrays(np.array([[1.0, 0.0], [0.0, 1.0]]), [1, -1])
    solver = Solver(np.zeros((2, 2)), [{}, {}], "")
    for verdict in gb.verify(solver, problem, [*own_instances(), *OF_NOTHING], iterations=1):
        said, true = str(verdict.verdict), False if verdict.statement in OF_NOTHING else None
        tally.said[verdict.statement, said] += 1
        _compare(verdict.statement, said, true, True, "of nothing", tally)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counter.most_common()) or "none"


def one(seed: int, number: int, tally: Tally, asked: str = "") -> None:
    """Try one problem, with a method that is drawn or asked for; faults are kept in the tally."""
    rng = np.random.default_rng([seed, number])
    with warnings.catch_warnings(), np.errstate(all="ignore"), bits():
        warnings.simplefilter("error")
        try:
            data = Data(rng)
            known = [name for name in CLAIMS if name not in LATER + BESIDE]
            method = str(rng.choice(known))
            later = np.random.default_rng([seed, number, 2])
            method = asked or (str(later.choice(LATER)) if later.random() < 0.3 else method)
            if not data.radius_squared > 0:
                raise Unfit("all rows are zero")
        except (Unfit, gb.ProblemError) as reason:
            tally.refused[str(reason)[:60]] += 1
            return
        where = f"{seed}.{number} {data.name}"
        tally.trials += _heard(data, method, rng, where, tally)
        tally.kinds[data.kind] += 1
        # A generator of its own, so that what is drawn above stays what it was.
        beside = np.random.default_rng([seed, number, 3])
        if not asked and beside.random() < 0.4:
            method = str(beside.choice(BESIDE))
            if _heard(data, method, beside, where, tally) and method.endswith("sampling"):
                _drawn(data, beside, where, tally)


def _drawn(data: Data, rng: np.random.Generator, where: str, tally: Tally) -> None:
    """What is claimed of draws: of rows that nobody would draw, and with a probability."""
    method = "adaptive_sampling"
    steps = list(islice(asked_of.method("unlikely_sampling")(data, rng), UNLIKELY + 1))
    claims = {"gb.jst.sampling.draws": CLAIMS[method]["gb.jst.sampling.draws"]}, UNLIKELY
    _ask(data, method, claims, *_rounded(steps), False, f"{where}: unlikely draws", tally)
    try:
        for statement, said, true, right, which in by_chance(data, rng):
            tally.said[statement, said] += 1
            if said != "inapplicable":
                _compare(statement, said, true, right, f"{where}: {which}", tally)
    except gb.ProblemError as reason:
        tally.refused[str(reason)[:60]] += 1


def _heard(data: Data, method: str, rng: np.random.Generator, where: str, tally: Tally) -> bool:
    """Try a method on a problem: right runs, wrong runs, and lies about right ones."""
    where = f"{where}: {method}"
    try:
        claims = _short_enough(data, method, method in UNIT)
        steps = list(islice(asked_of.method(method)(data, rng), claims[1] + 1))
        run, extras = _rounded(steps)
    except Unfit as reason:
        tally.refused[str(reason)[:60]] += 1
        return False
    if method == "dual_acceleration" and data.linear:
        naive = methods.in_doubles(data, rng, claims[1])
        _ask(data, method, claims, naive, extras, True, f"{where}, naive", tally)
    for spoil in _spoils(rng):
        spoilt = (RIGHT | WRONG)[spoil](run, rng)
        if np.isfinite(spoilt).all():
            right = spoil in RIGHT
            # Of a wrong run what follows from it may be said, or what the right one said.
            kept = method in BESIDE and not right and rng.random() < 0.3
            said = _said(data, method, run if kept else spoilt, extras, right or kept)
            _ask(data, method, claims, spoilt, said, right, f"{where}, {spoil}", tally)
    for _ in range(LIES if method in BESIDE else 0):
        what, told = lie(data, _said(data, method, run, extras, True), rng)
        _ask(data, method, claims, run, told, False, f"{where}, {what}", tally)
    return True


def _said(
    data: Data, method: str, run: np.ndarray, extras: list[dict[str, Any]], right: bool
) -> list[dict[str, Any]]:
    """What the method says of the w that are delivered, be they right or not."""
    says = (SAYS if right else OF_WRONG | SAYS).get(method)
    return extras if says is None else says(_facts(data, method, run, extras))


def _facts(data: Data, method: str, run: np.ndarray, extras: list[dict[str, Any]]) -> Facts:
    return FACTS.get(method, Facts)(data, method in UNIT, run.tolist(), extras)


def through_doors(seed: int, number: int, tally: Tally) -> None:
    """A few points through every door, and a run handed over in every way."""
    rng = np.random.default_rng([seed, number, 1])
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        bits(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")
        found = [*doors.solved(rng, Path(folder))]
        X, y, _ = doors.drawn(rng)
        run = np.cumsum(rng.normal(size=(6, X.shape[1])), axis=0)
        try:
            problem = gb.from_arrays(X, y)
            claims = ["jst.lem3.6.lower", "jst.lem3.4.primal", "gb.gap"]
            found += doors.judged(rng, Path(folder), problem, run, claims)
        except gb.ProblemError as reason:
            tally.refused[str(reason)[:60]] += 1
    for door, what in found:
        tally.doors[door] += 1
        if what.startswith("refused"):
            tally.shut[door] += 1
        elif what:
            tally.faults.append(f"{what} ({seed}.{number})")


def _spoils(rng: np.random.Generator) -> list[str]:
    return ["nearest", "jitter", *map(str, rng.choice([*WRONG], SPOILS, replace=False))]


def _short_enough(data: Data, method: str, unit: bool) -> tuple[dict[str, Judge], int]:
    """What is asked, and how many updates are delivered for it."""
    claims, length = dict(CLAIMS[method]), LENGTH
    facts = Facts(data, unit, [[0.0] * data.dimension], [{}])
    if facts.separable and float(arb(1 / facts.gamma_squared)) < math.inf:
        most = float(arb(data.n * (1 if unit else data.radius_squared) / facts.gamma_squared))
        if method == "normalized_logistic_descent":
            most += 2 * math.log(2 * data.n) / max(float(arb(facts.gamma_squared)), 1e-300)
        if method in ("dual_acceleration", "momentum_said", "dual_form"):
            most = 4 * math.sqrt(math.log(data.n) / float(arb(facts.gamma_squared)))
        length = max(length, math.ceil(min(most, LONGEST)) + 1)
        if most <= LONGEST:
            return claims, length
    return {k: v for k, v in claims.items() if k not in _STOPS}, LENGTH


_STOPS = ("jst.sec1.quarter.fixed", "tyurin.thm5.2", "rp.perceptron", "tyurin.thm3.3", "gb.batch")
_STOPS += ("tyurin.thm5.3", "tyurin.thm6.1", "rp.nkp", "rp.thm1", "rp.normalized")
_STOPS += ("rp.lem8.separator", "jst.sec1.quarter", "jst.sec1.quarter.charitable")


def _rounded(steps: list[Step]) -> tuple[np.ndarray, list[dict[str, Any]]]:
    run = np.array([[to_double(v) for v in step.w] for step in steps])
    if not np.isfinite(run).all():
        raise Unfit("the right iterates are no doubles")
    extras = []
    for step in steps:
        extra = dict(step.extra)
        for name in extra.keys() & {*VECTORS}:
            extra[name] = np.array([to_double(arb(v)) for v in extra[name]])
        extras.append(extra)
    return run, extras


def _ask(
    data: Data,
    method: str,
    claims: tuple[dict[str, Judge], int],
    run: np.ndarray,
    extras: list[dict[str, Any]],
    right: bool,
    where: str,
    tally: Tally,
) -> None:
    judges, length = claims
    asked = list(judges)
    if where.endswith("nearest"):
        asked += theorems(method) + about_data() + [*OF_DATA]
        if method in BESIDE:  # they take long and are the same for all data: once in a run
            asked += [name for name in of_solver(method) if (name, "holds") not in tally.said]
    try:
        verdicts = gb.verify(
            Solver(run, extras, method),
            data.problem,
            asked,
            iterations=min(length, len(run) - 1) or 1,
        )
    except gb.ProblemError as reason:
        if type(reason) is not gb.ProblemError:  # a statement that raised something else
            tally.faults.append(f"FAULT {where}: {reason}")
        tally.refused[str(reason)[:60]] += 1
        return
    facts = _facts(data, method, run, extras)
    for verdict in verdicts:
        said = str(verdict.verdict)
        tally.said[verdict.statement, said] += 1
        if right:
            tally.of_right[said] += 1
        if said == "inapplicable":
            continue
        judge = (OF_DATA | judges).get(verdict.statement)
        true = None if judge is None else judge(facts)
        if right and verdict.statement in asked_of.EQUATIONS:
            # Jitter: not the w that the next step was made from.
            if verdict.statement in STEPS and where.endswith("jitter"):
                continue
            true = None
        _compare(verdict.statement, said, true, right, where, tally)


def _compare(
    statement: str, said: str, true: bool | None, right: bool, where: str, tally: Tally
) -> None:
    """A fault if what is said is not so. What is false as it is printed may be so of right runs."""
    if true is False:
        tally.of_false[said] += 1
    if (right and proved(statement) and said == "refuted") or (said, true) in WRONGLY:
        known = {True: "true", False: "false", None: "not known"}[true]
        tally.faults.append(f"FAULT {where}: {statement} {said}, though the claim is {known}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="problems (default 2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one problem again: SEED.NUMBER")
    args = parser.parse_args(arguments)
    tally, began = Tally(), time.monotonic()
    if args.only:
        seed, _, number = args.only.partition(".")
        one(int(seed), int(number), tally)
        through_doors(int(seed), int(number), tally)
        further.every(int(seed), int(number), tally)
        print("\n".join(tally.faults))
    else:
        of_nothing(tally)
    number = shown = 0
    while not args.only and tally.trials < args.trials:
        one(args.seed, number, tally)
        further.one(args.seed, number, tally)
        for fault in tally.faults[shown:]:
            print(fault, flush=True)
        shown = len(tally.faults)
        if number % 12 == 0:
            through_doors(args.seed, number, tally)
        number += 1
        if number % 500 == 0:
            spent = time.monotonic() - began
            print(
                f"{tally.trials:,} problems, {len(tally.faults)} faults, {spent:.0f} s", flush=True
            )
    print(tally.text())
    return 1 if tally.faults else 0
