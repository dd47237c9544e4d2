"""One trial: a problem, a run, what is delivered of it, what is true, and what the court says."""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from flint import arb

import gammabar as gb
from gammabar.solvers import Iterate

from . import methods
from .claims import CLAIMS, STEPS, UNIT, Facts, Judge
from .data import Data, Unfit, bits, to_double
from .methods import Step
from .spoils import RIGHT, WRONG

#: Updates that are heard, and how many more for the sake of a claim about how soon.
LENGTH, LONGEST = 7, 24
#: What is said, and what is so.
WRONGLY = (("holds", False), ("refuted", True))
#: Of how many spoils a run is tried.
SPOILS = 5


class Solver:
    """Delivers what it is given, as any solver would."""

    step = 1.0
    ends = ("separated",)

    def __init__(self, run: np.ndarray, extras: list[dict[str, Any]]) -> None:
        self.run, self.extras = run, extras

    def iterates(self, problem: Any, rng: Any = None) -> Any:
        for t, (w, extra) in enumerate(zip(self.run, self.extras, strict=True)):
            yield Iterate(t, w.copy(), extra=dict(extra))


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
        return "\n".join(lines)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counter.most_common()) or "none"


def one(seed: int, number: int, tally: Tally) -> None:
    """Try one problem; what is wrong is appended to the faults."""
    rng = np.random.default_rng([seed, number])
    with warnings.catch_warnings(), np.errstate(all="ignore"), bits():
        warnings.simplefilter("error")
        try:
            data = Data(rng)
            method = str(rng.choice([*CLAIMS]))
            unit = method in UNIT
            if not data.radius_squared > 0:
                raise Unfit("all rows are zero")
            claims = _short_enough(data, method, unit)
            steps = list(islice(getattr(methods, method)(data, rng), claims[1] + 1))
            run, extras = _rounded(steps)
        except (Unfit, gb.ProblemError) as reason:
            tally.refused[str(reason)[:60]] += 1
            return
        tally.trials += 1
        where = f"{seed}.{number} {data.name}: {method}"
        tally.kinds[data.kind] += 1
        if method == "dual_acceleration" and data.linear:
            naive = methods.in_doubles(data, rng, claims[1])
            _ask(data, claims, unit, naive, extras, True, f"{where}, naive", tally)
        for spoil in _spoils(rng):
            spoilt = (RIGHT | WRONG)[spoil](run, rng)
            if np.isfinite(spoilt).all():
                right = spoil in RIGHT
                _ask(data, claims, unit, spoilt, extras, right, f"{where}, {spoil}", tally)


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
        if method == "dual_acceleration":
            most = 4 * math.sqrt(math.log(data.n) / float(arb(facts.gamma_squared)))
        length = max(length, math.ceil(min(most, LONGEST)) + 1)
        if most <= LONGEST:
            return claims, length
    return {k: v for k, v in claims.items() if k not in _STOPS}, LENGTH


_STOPS = ("jst.sec1.quarter.fixed", "tyurin.thm5.2", "rp.perceptron", "tyurin.thm3.3", "gb.batch")
_STOPS += ("tyurin.thm5.3", "tyurin.thm6.1", "rp.nkp", "rp.thm1")


def _rounded(steps: list[Step]) -> tuple[np.ndarray, list[dict[str, Any]]]:
    run = np.array([[to_double(v) for v in step.w] for step in steps])
    if not np.isfinite(run).all():
        raise Unfit("the right iterates are no doubles")
    extras = []
    for step in steps:
        extra = dict(step.extra)
        if "p" in extra:
            extra["p"] = np.array([to_double(v) for v in extra["p"]])
        extras.append(extra)
    return run, extras


def _ask(
    data: Data,
    claims: tuple[dict[str, Judge], int],
    unit: bool,
    run: np.ndarray,
    extras: list[dict[str, Any]],
    right: bool,
    where: str,
    tally: Tally,
) -> None:
    judges, length = claims
    try:
        verdicts = gb.verify(
            Solver(run, extras),
            data.problem,
            list(judges),
            iterations=min(length, len(run) - 1) or 1,
        )
    except gb.ProblemError as reason:
        if type(reason) is not gb.ProblemError:  # a statement that raised something else
            tally.faults.append(f"FAULT {where}: {reason}")
        tally.refused[str(reason)[:60]] += 1
        return
    facts = Facts(data, unit, run.tolist(), extras)
    for verdict in verdicts:
        said = str(verdict.verdict)
        tally.said[verdict.statement, said] += 1
        if right:
            tally.of_right[said] += 1
        if said == "inapplicable":
            continue
        true = judges[verdict.statement](facts)
        if right and verdict.statement in STEPS:
            if where.endswith("jitter"):  # not the w that the next step was made from
                continue
            true = None
        if true is False:
            tally.of_false[said] += 1
        if (right and said == "refuted") or (said, true) in WRONGLY:
            known = {True: "true", False: "false", None: "not known"}[true]
            tally.faults.append(
                f"FAULT {where}: {verdict.statement} {said}, though the claim is {known}"
            )


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
        print("\n".join(tally.faults))
    number = shown = 0
    while not args.only and tally.trials < args.trials:
        one(args.seed, number, tally)
        for fault in tally.faults[shown:]:
            print(fault, flush=True)
        shown = len(tally.faults)
        number += 1
        if number % 500 == 0:
            spent = time.monotonic() - began
            print(
                f"{tally.trials:,} problems, {len(tally.faults)} faults, {spent:.0f} s", flush=True
            )
    print(tally.text())
    return 1 if tally.faults else 0
