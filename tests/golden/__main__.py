"""Run the plan and compare: ``python -m tests.golden [--source X | --statement ID …]``."""

from __future__ import annotations

import csv
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from gammabar.harness.registry import load_statements

FOLDER = Path(__file__).parent
FIELDS = ("statement", "problem", "solver", "seed", "verdict", "refuted_at", "checked")
FIELDS += ("informative", "vacuous_to", "tightness")
KEY = FIELDS[:4]

Results = dict[tuple[str, ...], list[dict[str, str]]]


def run_plan(arguments: list[str], store: str) -> None:
    """Verify into a store, with embedded data alone."""
    environment = {name: text for name, text in os.environ.items() if name != "GAMMABAR_DATA"}
    command = [sys.executable, "-m", "gammabar", "verify", *arguments, "--store", store]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)


def read_store(store: str) -> Results:
    """Every result in a store."""
    query = """SELECT statement, problem, solver, seed, verdict, worst_t, tightness, details
               FROM results JOIN trajectories USING (key)"""
    found: Results = defaultdict(list)
    with sqlite3.connect(store) as connection:
        for *key, verdict, worst, tightness, details in connection.execute(query):
            more = json.loads(details)
            values = (
                *key,
                verdict,
                worst if verdict == "refuted" else None,
                more["checked"],
                more["informative"],
                more["vacuous_to"],
                tightness,
            )
            texts = ("" if value is None else str(value) for value in values)
            row = dict(zip(FIELDS, texts, strict=True))
            found[tuple(row[name] for name in KEY)].append(row)
    return found


def read_frozen(path: Path) -> Results:
    """The results in a CSV file."""
    found: Results = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found[tuple(row[name] for name in KEY)].append(row)
    return found


def freeze(results: Results, path: Path) -> None:
    """Write results as a CSV file."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for key in sorted(results):
            table.writerows(results[key])


def intended() -> list[str]:
    """Patterns of the differences that were intended: what stands before # in ``intended.txt``."""
    lines = (FOLDER / "intended.txt").read_text(encoding="utf-8").splitlines()
    return [pattern for line in lines if (pattern := line.partition("#")[0].strip())]


@cache
def equations() -> frozenset[str]:
    """Ids of statements whose tightness is the share of an allowance for rounding.

    It depends on the order in which the machine's BLAS adds, so it is not compared.
    """
    return frozenset(s.id for s in load_statements().values() if s.kind == "identity")


def equal(name: str, old: str, new: str, statement: str) -> bool:
    """Whether two values agree; a tightness up to the ball that it is the middle of."""
    if name != "tightness" or "" in (old, new):
        return old == new
    if statement in equations():
        return True
    # Below a thousandth it is a share of an allowance too.
    return math.isclose(float(old), float(new), rel_tol=1e-7, abs_tol=1e-3)


def differences(old: Results, new: Results) -> list[str]:
    """One line for each result that is missing, new or different."""
    found = []
    for key in sorted(old.keys() | new.keys()):
        name = " ".join(part for part in key[:3] if part)
        if len(old.get(key, ())) != len(new.get(key, ())):
            counts = f"{len(old.get(key, ()))} results before, {len(new.get(key, ()))} now"
            found.append(f"{name} :: {counts}")
            continue
        for a, b in zip(old[key], new[key], strict=True):
            changed = (f for f in FIELDS[4:] if not equal(f, a[f], b[f], key[0]))
            apart = [f"{f} {a[f]} → {b[f]}" for f in changed]
            if apart:
                found.append(f"{name} :: {', '.join(apart)}")
    return found


def main(arguments: list[str]) -> int:
    """Compare, or freeze with ``--freeze``; 1 if there is a difference that was not intended."""
    freezing = arguments[:1] == ["--freeze"]
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/plan.sqlite"
        run_plan(arguments[freezing:], store)
        new = read_store(store)
    if freezing:
        freeze(new, FOLDER / "plan.csv")
        return 0
    old = read_frozen(FOLDER / "plan.csv")
    if arguments:
        names = {key[0] for key in new} | {a for a in arguments if "." in a}
        sources = set(arguments)
        old = {k: v for k, v in old.items() if k[0] in names or k[0].partition(".")[0] in sources}
    patterns = intended()
    found = differences(old, new)
    surprising = [line for line in found if not any(fnmatchcase(line, p) for p in patterns)]
    print(*surprising, sep="\n")
    total = sum(map(len, new.values()))
    print(f"{total} results, {len(found)} differences, {len(surprising)} of them not intended")
    return 1 if surprising else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
