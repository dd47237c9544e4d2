"""Prints a table of rediscoveries: what `gammabar falsify` finds by itself.

    python docs/table_rediscovery.py [--seeds 0 1 2] [--budget 60] [--store FILE] [ID ...]

Every statement that the registry calls refuted is searched anew, with its witness and the problems
that were written down for it taken away, with several seeds. Results are kept in a store, and what
is there is not searched again.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from joblib import cpu_count

from gammabar.harness.falsify.parameters import solvers_of
from gammabar.harness.falsify.reports import as_document
from gammabar.harness.falsify.search import Report, Search
from gammabar.harness.falsify.witness import confirming, write as write_witness
from gammabar.harness.registry import everything, witness
from gammabar.harness.run.pool import Pool
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Status
from gammabar.problems import ProblemError


def without_hints(statement: Statement) -> Statement:
    """The statement without the problems that were written down for it."""
    return replace(statement, problems=tuple("rows:1" if p else "" for p in statement.problems))


def search(statement: Statement, seed: int, budget: float, crew: Pool) -> dict[str, Any]:
    """One search, as a document."""
    start = monotonic()
    found = Search(
        without_hints(statement),
        solvers_of(statement),
        budget=budget,
        seed=seed,
        jobs=int(cpu_count()),
        confirm=confirming(statement, written=True),
    )
    report = found.carry_out(crew)
    seconds = round(monotonic() - start, 1)
    return as_document(report) | {"seconds": seconds} | _witness(statement, report)


def _witness(statement: Statement, report: Report) -> dict[str, str]:
    """What the checker says of the witness of a report, or why there is none; and its size."""
    if report.best is None or not report.refuted:
        return {"witness": "", "size": ""}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "w.json"
        try:
            said = "accepted: " + write_witness(path, statement, report.best)
        except ProblemError as reason:
            return {"witness": str(reason), "size": ""}
        return {"witness": said, "size": _size_of(path)}


def main() -> None:
    """Search for what is not in the store, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--store", type=Path, default=Path("rediscovery.json"))
    parser.add_argument("--write", action="store_true", help="print the table, do not search")
    args = parser.parse_args()
    kept: dict[str, dict[str, Any]] = {}
    if args.store.exists():
        kept = json.loads(args.store.read_text())
    refuted = [s for s in everything().values() if s.status is Status.REFUTED]
    chosen = [s for s in refuted if not args.ids or s.id in args.ids]
    with Pool(single=True) as crew:
        for seed in args.seeds:
            for statement in chosen:
                key = f"{statement.id} {seed}"
                if args.write or key in kept:
                    continue
                kept[key] = search(statement, seed, args.budget, crew)
                args.store.write_text(json.dumps(kept, indent=1) + "\n")
                best = kept[key]["best"]
                shown = best and best["problem"], kept[key]["witness"]
                print(key, kept[key]["refuted"], kept[key]["seconds"], *shown, flush=True)
    if not args.ids:
        show(refuted, kept, args.seeds)


def show(refuted: list[Statement], kept: dict[str, dict[str, Any]], seeds: list[int]) -> None:
    """Print the table."""
    lines = [
        "| statement | found | smallest | of size | witness | hand-made | by | seconds | checked |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for statement in refuted:
        runs = [kept[k] for s in seeds if (k := f"{statement.id} {s}") in kept]
        found = [run for run in runs if run["refuted"]]
        ours = _by_hand(statement)
        if not found:
            lines.append(f"| `{statement.id}` | 0 of {len(runs)} | | | | {ours} | | | |")
            continue
        first = min(
            found, key=lambda run: ("size" not in run, _length(run["best"]), run["seconds"])
        )
        best = first["best"]
        seconds = "–".join(f"{f(run['seconds'] for run in found):.0f}" for f in (min, max))
        by = ", ".join(sorted({run["best"]["strategy"] for run in found}))
        cells = [f"`{statement.id}`", f"{len(found)} of {len(runs)}", _shown(best["problem"])]
        cells += [_size(best), first.get("size", ""), ours, by, seconds, _accepted(found)]
        lines.append(f"| {' | '.join(cells)} |")
    print(*lines, sep="\n")


def _accepted(found: list[dict[str, Any]]) -> str:
    """Of how many the witness was accepted by the checker."""
    good = sum(run["witness"].startswith("accepted") for run in found)
    return f"{good} of {len(found)}"


def _shown(problem: str) -> str:
    if not problem:
        return "the claim itself"
    return f"`{problem}`" if len(problem) < 48 else f"`{problem[:47]}…`"


def _length(best: dict[str, Any]) -> tuple[int, ...]:
    rows, columns = _shape(best["problem"])
    return rows * columns, best["verdict"]["worst_t"] or 0, len(best["problem"])


def _shape(problem: str) -> tuple[int, int]:
    """Rows and columns of written rows; of inputs, how many numbers and 1."""
    if problem.startswith("rows:"):
        parts = problem.split(" ")[0].removeprefix("rows:").split(";")
        rows = sum(int(p.partition("*")[2] or 1) for p in parts)
        return rows, parts[0].count(",") + 1
    if problem.startswith("inputs:"):
        return len(re.findall(r"[=,;]", problem)), 1
    from gammabar.problems.specs import open_problem

    opened = open_problem(problem).raw() if problem else None
    return (0, 0) if opened is None else (opened.n, len(opened.origin()))


def _size(best: dict[str, Any]) -> str:
    rows, columns = _shape(best["problem"])
    t = best["verdict"]["worst_t"]
    if best["problem"].startswith("inputs:"):
        return f"{rows} numbers"
    if not best["problem"]:
        return "–"
    return f"{rows} × {columns}" + (f", t = {t}" if t is not None else "")


def _by_hand(statement: Statement) -> str:
    """The size of the committed witness."""
    path = witness(statement.id)
    return "–" if path is None else _size_of(path)


def _size_of(path: Path) -> str:
    """Of what is in a witness."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))["data"]
    rows = data.get("rows")
    copies = data.get("copies")
    if isinstance(rows, list):
        wide = sum(copies) if isinstance(copies, list) else len(rows[0])
        t = f", t = {data['t']}" if "t" in data else ""
        return f"{len(rows)} × {wide}{t}"
    if isinstance(copies, int):
        return f"{copies} × 1"
    return f"{sum(map(_leaves, data.values()))} numbers"


def _leaves(value: Any) -> int:
    return sum(map(_leaves, value)) if isinstance(value, list) else 1


if __name__ == "__main__":
    main()
