"""What checking costs: all statements about a run at every iterate, against the bare run.

The statements are those about Algorithm 1 and its iterates. Both sides do the same number of
iterations, in turns, and medians are compared. The truth is known before the clock starts: it is
computed once per problem, whatever the number of runs.
"""

from __future__ import annotations

import random
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from statistics import median
from time import sleep
from typing import Any

from side_by_side.contest import PAUSE, seconds_of
from side_by_side.data import EMBEDDED, MNIST, available
from side_by_side.table import Table, digits, duration

from gammabar.harness.registry import load_statements
from gammabar.harness.screen import Stage
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import check_run
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling
from gammabar.problems import load
from gammabar.solvers import DualAcceleration

TITLE = "The cost of checking"


def measure(
    quick: bool, say: Stage, *, names: tuple[str, ...] = (), repeat: int = 7
) -> list[dict[str, Any]]:
    """One result per problem: the largest there is, and small ones, where checking costs most."""
    if not names:
        names = EMBEDDED[:2] if quick else (*available(MNIST, otherwise=()), *EMBEDDED[:2])
    results = []
    # A process of its own, as the runs of `gammabar verify` have: what other sections leave behind
    # in memory would be searched by Python's collector of garbage again and again.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for name in names:
            say(f"checking on {name}")
            size = (50, 3) if quick else (200, repeat)
            results.append(pool.submit(compare, name, *size).result())
    return results


def compare(name: str, iterations: int, repeat: int) -> dict[str, Any]:
    """Time runs with and without checking, in turns."""
    problem, solver = load(name), DualAcceleration()
    unit, statements = problem.unit(), spoken_of("dual-acceleration")

    def heard() -> list[Any]:
        case = Case(problem, solver, unit=True, name=name)
        return check_run(case, statements, iterations, most=iterations)

    def bare() -> None:
        for _ in islice(solver.iterates(unit), iterations + 1):
            pass

    verdicts = heard()  # the truth is known now, and everything compiled
    judged = [v for v in verdicts if v.verdict is not Ruling.INAPPLICABLE]
    times: dict[str, list[float]] = {"bare": [], "heard": []}
    order = random.Random(0)
    for _ in range(repeat):
        for side in order.sample(list(times), 2):
            sleep(PAUSE)
            times[side].append(seconds_of(bare if side == "bare" else heard))
    middle = {side: median(all_) for side, all_ in times.items()}
    return {
        "data": name,
        "n": problem.n,
        "d": int(problem.X.shape[1]),
        "iterations": iterations,
        "statements": len(judged),
        "comparisons": sum(v.checked for v in judged),
        "escalated": sum(v.escalated for v in judged),
        "verdicts": {v.statement: v.verdict for v in verdicts},
        "times": times,
        **middle,
        "ratio": middle["heard"] / middle["bare"],
    }


def spoken_of(solver: str) -> list[Statement]:
    """The statements about the iterates of a solver."""
    return [
        statement
        for statement in load_statements().values()
        if solver in statement.solvers and statement.about_runs
    ]


def tables(results: list[dict[str, Any]]) -> list[Table]:
    """One row per problem."""
    columns = (
        "data",
        "size",
        "iterations",
        "statements",
        "comparisons, of them escalated",
        "bare run",
        "with checking",
        "checking, per iterate",
        "ratio",
    )
    rows = [
        (
            result["data"],
            f"{result['n']:,} × {result['d']:,}",
            f"{result['iterations']}",
            f"{result['statements']}",
            f"{result['comparisons']:,}, {result['escalated']:,}",
            duration(result["bare"]),
            duration(result["heard"]),
            duration(max(0.0, result["heard"] - result["bare"]) / (result["iterations"] + 1)),
            digits(result["ratio"]),
        )
        for result in results
    ]
    return [Table("Algorithm 1 with all that is claimed of its iterates", columns, rows)]
