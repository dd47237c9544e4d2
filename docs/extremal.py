"""Writes papers/*/extremal.json: for each bound that holds, the run that comes nearest to failing.

    gammabar verify --json > results.json
    gammabar falsify --all --status holds --budget 3600 --store reports.json
    python docs/extremal.py results.json reports.json

Reports of single searches (``gammabar falsify ID --json``) may follow as well. What a search found
is judged again, in as few iterates as show it, and counts where it beats the plan. What has been
written before is kept unless it is beaten; ``python docs/tightness.py`` makes the page anew.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gammabar.harness.registry import EXTREMAL, Extremal, extremal, load_statements
from gammabar.harness.run.engine import perform
from gammabar.harness.run.tasks import Registered, Run, Task
from gammabar.harness.verify.statement import IterateStatement, RandomisedStatement, Statement
from gammabar.harness.verify.verdict import Ruling, Status, Verdict

PAPERS = Path(__file__).resolve().parents[1] / "papers"
#: A search must beat what is known by more than this part of it; 1 cannot be beaten.
BETTER = 0.005
#: Seconds that a run of the plan may take here.
LIMIT = 20.0


def has_ratio(statement: Statement, verdict: Verdict) -> bool:
    """Whether the tightness is measured over bound: not of an equation, nor of a number of runs."""
    if verdict.verdict is not Ruling.HOLDS or verdict.tightness is None:
        return False
    if isinstance(statement, RandomisedStatement) or statement.id.endswith((".step", ".draws")):
        return False
    left, right = _middle(verdict.left), _middle(verdict.right)
    if left is None or not right or left == 0 or (left < 0 and statement.kind == "identity"):
        return False
    return abs(left / right - verdict.tightness) <= 1e-6 * max(1.0, abs(verdict.tightness))


def _middle(text: str) -> float | None:
    found = re.search(r"-?\d[\d.]*(?:e[-+]?\d+)?", text)
    return float(found[0]) if found else None


def judged(statement: Statement, one: Extremal, limit: float = LIMIT) -> Verdict:
    """The verdict on a statement in a run."""
    solver = Registered(one.solver) if one.solver else None
    run = Run(one.problem, solver, one.iterations, one.seed, statement.unit)
    [verdict] = perform(Task(run, (statement.id,), ("unrefuted",), False, limit)).verdicts
    return verdict


def shortest(statement: Statement, one: Extremal) -> Extremal | None:
    """The same in as few iterates as show it, with what comes of it; None if it says nothing."""
    tries = [one]
    if isinstance(statement, IterateStatement) and one.worst_t:
        tries.insert(0, replace(one, iterations=one.worst_t))
    for attempt in tries:
        verdict = judged(statement, attempt)
        if has_ratio(statement, verdict) and verdict.tightness is not None:
            found = replace(
                attempt,
                tightness=verdict.tightness,
                worst_t=verdict.worst_t,
                what=verdict.what,
            )
            if verdict.tightness >= one.tightness * (1 - 1e-9):
                return found
    return None


def from_plan(results: list[dict[str, Any]]) -> dict[str, Extremal]:
    """The tightest result of a plan for each statement."""
    statements, best = load_statements(), dict[str, Extremal]()
    names = Verdict.__dataclass_fields__
    for result in results:
        statement = statements.get(result["statement"])
        if statement is None or statement.status is not Status.HOLDS:
            continue
        verdict = Verdict(**{k: v for k, v in result.items() if k in names})
        if not has_ratio(statement, verdict) or verdict.tightness is None:
            continue
        known = best.get(statement.id)
        if known is None or verdict.tightness > known.tightness:
            best[statement.id] = Extremal(
                result["problem"],
                result["solver"] or "",
                result["iterations"],
                result["seed"],
                verdict.tightness,
                verdict.worst_t,
                verdict.what,
                "plan",
                0,
            )
    return best


def reports(paths: list[str]) -> Iterator[dict[str, Any]]:
    """The reports of searches in some files."""
    for path in paths:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        yield from document["reports"].values() if "reports" in document else [document]


def _found(report: dict[str, Any]) -> Extremal | None:
    best = report["best"]
    if best is None or best["verdict"]["tightness"] is None:
        return None
    verdict = best["verdict"]
    runs = sum(report["runs"].values())
    return Extremal(
        best["problem"],
        best["solver"],
        best["iterations"],
        best["seed"],
        verdict["tightness"],
        verdict["worst_t"],
        verdict["what"],
        best["strategy"],
        runs,
    )


def main(results: str, paths: list[str]) -> None:
    """Write the files."""
    statements = load_statements()
    best = from_plan(json.loads(Path(results).read_text(encoding="utf-8"))["results"])
    tried: dict[str, int] = {}
    known = [(name, one) for name, one in extremal().items() if name in statements]
    for name, one in known:
        tried[name] = one.runs
    for report in reports(paths):
        name = report["statement"]
        tried[name] = max(tried.get(name, 0), sum(report["runs"].values()))
        one = _found(report)
        if one is not None and name in statements:
            known.append((name, one))
    for name, one in known:
        statement, last = statements[name], best.get(name)
        if statement.status is not Status.HOLDS or isinstance(statement, RandomisedStatement):
            continue
        if last is not None and one.tightness <= last.tightness + BETTER * abs(last.tightness):
            continue
        if not statement.about_runs:  # it takes its solver by itself
            one = replace(one, solver="", seed=0)
        found = shortest(statement, one)
        if found is not None and (last is None or found.tightness > last.tightness):
            best[name] = found
            print(f"{name}: {found.tightness:.6g} on {found.problem[:70]} ({found.found_by})")
    for folder in sorted(path.parent for path in PAPERS.glob("*/__init__.py")):
        package = f"gammabar.papers.{folder.name}"
        mine = {
            name: replace(best[name], runs=tried.get(name, 0))
            for name, s in statements.items()
            if name in best and s.body.__module__.startswith(package + ".")
        }
        if mine:
            runs = {"statements": {name: asdict(one) for name, one in mine.items()}}
            text = json.dumps(EXTREMAL | runs, indent=1, ensure_ascii=False)
            (folder / "extremal.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
