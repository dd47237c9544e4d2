"""Wrong solvers, judged with error bounds that are 2ᵏ times as large."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from flint import arb

from gammabar.harness import registry
from gammabar.harness.power import _verdicts as verdicts
from gammabar.harness.registry import load_statements, mutants
from gammabar.harness.verify.numbers import COARSE
from gammabar.harness.verify.statement import RandomisedStatement
from gammabar.harness.verify.verdict import Verdict

#: k: from bounds that are still small to bounds as large as an eighth of what they are relative to.
BLURS = (16, 26, 34, 40, 44, 47, 50)
#: Iterates that are heard, and by claims about stopping: what is not decided at once is expensive.
HEARD = 25, 120
#: What is wrong with these is that they round: with a larger roundoff that is right.
PRECISE = "single-precision"
#: Where bounds are made: the court, the papers, and the geometry of problems (which calls it U).
ROOTS = ("gammabar.harness.verify", "gammabar.papers", "gammabar.problems.rounding")


@contextmanager
def blurred(k: int) -> Iterator[int]:
    """2ᵏ u in the place of u wherever the court computes a bound; how many modules have it."""
    names = [name for name in sys.modules if name.startswith(ROOTS)]
    places = [
        (sys.modules[name], constant, vars(sys.modules[name])[constant])
        for name in names
        for constant in ("ROUNDOFF", "U")
        if isinstance(vars(sys.modules[name]).get(constant), float)
    ]
    try:
        for module, constant, value in places:
            setattr(module, constant, value * 2.0**k)
        yield len(places)
    finally:
        for module, constant, value in places:
            setattr(module, constant, value)


@dataclass
class Tally:
    """What was said, by k, of solvers that are wrong; and what should not have been."""

    said: dict[int, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = [f"{sum(map(Counter.total, self.said.values())):,} verdicts on wrong solvers"]
        for k, counts in sorted(self.said.items()):
            lines.append(
                f"  2^{k:<3} {', '.join(f'{n:,} {what}' for what, n in sorted(counts.items()))}"
            )
        return "\n".join([*lines, f"{len(self.faults)} passes that nothing earned"])


def judge(name: str, problem: str, tally: Tally, blurs: tuple[int, ...] = BLURS) -> None:
    """A wrong solver on a problem on which some statements refute it, as the matrix has it."""
    mutant = mutants()[name]
    every = load_statements()
    # Those with a probability run their solver hundreds of times, and bound nothing by rounding.
    expected = [
        s
        for s, where in registry.matrix()[name].items()
        if problem in where and not isinstance(every[s], RandomisedStatement)
    ]
    if not expected:
        return
    # Heard for less long than in the matrix, and with every option that a trial gives it: not all
    # are refuted. With blurs the same runs are heard, in the same order.
    plain = [v for v, _ in verdicts(mutant, expected, problem, *HEARD)]
    for k in blurs if any(v.verdict == "refuted" for v in plain) else ():
        counts = tally.said.setdefault(k, Counter())
        with blurred(k):
            found = [v for v, _ in verdicts(mutant, expected, problem, *HEARD)]
        for before, verdict in zip(plain, found, strict=True):
            assert before.statement == verdict.statement
            if before.verdict != "refuted" or _slightly(before):
                continue
            counts[str(verdict.verdict)] += 1
            if verdict.verdict == "holds":
                what = f"{verdict.statement} holds of {name} on {problem or 'its data'}"
                tally.faults.append(f"FAULT {what}, with 2^{k} u for u")


def _slightly(verdict: Verdict) -> bool:
    """Whether the two sides of what is violated differ by less than an allowance may be."""
    if not verdict.left or not verdict.right:
        return False
    left, right = arb(verdict.left), arb(verdict.right)
    return bool(abs(left - right) < 2 * COARSE * abs(left).max(abs(right)))


def trials(part: str = "", most: int | None = None) -> Iterator[tuple[str, str]]:
    """Wrong solvers and problems: for every statement that refutes one, the first, or `most`."""
    for name, killed in sorted(registry.matrix().items()):
        if part in name and not name.endswith(PRECISE):
            problems = dict.fromkeys(p for where in killed.values() for p in where[:most])
            yield from ((name, problem) for problem in problems)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.blur", description=__doc__)
    parser.add_argument("part", nargs="?", default="", help="a part of a wrong solver's name")
    parser.add_argument("--all", action="store_true", help="every problem of the matrix")
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    load_statements()
    tally, began, shown = Tally(), time.monotonic(), 0
    for count, (name, problem) in enumerate(trials(args.part, None if args.all else 1), 1):
        judge(name, problem, tally)
        for fault in tally.faults[shown:]:
            print(fault, flush=True)
        shown = len(tally.faults)
        if count % 20 == 0:
            print(f"{count} runs, {shown} faults, {time.monotonic() - began:.0f} s", flush=True)
    print(tally.text())
    return 1 if tally.faults else 0
