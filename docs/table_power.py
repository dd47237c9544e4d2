"""Writes docs/power.md: how tight each rate is, and which slower method it refutes.

    gammabar verify --json > results.json
    python docs/table_power.py results.json

What was before the data of problems/generators.py were added is in docs/power-before.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gammabar.harness.registry import load_statements, matrix, mutants

HERE = Path(__file__).parent

HEAD = """# The power of the statements about rates

A bound that is far above everything that a method does cannot tell it from a slower one. This
table is made by `python docs/table_power.py results.json` from what `gammabar verify --json` says.
*Tightness* is measured over bound at the worst iterate of all problems of the plan (1 is an
exhausted bound); *before* is without the problems `orthogonal`, `opposed`, `crossed` and `centred`,
and without those that `gammabar falsify` found ([tightness](tightness.md)).
The last columns name the mutant with the next slower rate (`gammabar list mutants`) and a problem
on which the statement refutes it; `tests/papers/test_rates.py` holds every rate to that.

| statement | before | now | tightest on | next slower method | refuted on |
|---|---|---|---|---|---|
"""

TAIL = """
## What stays thin, and why

- `jst.thm3.1.1` and `jst.thm5.1.fixed` carry a factor 1 + 2 ln(t+1) that is not needed: by gb.sharp
  (for other steps of the method: Wang et al. 2023, Theorem 4) no data use more than 0.29 of the
  former after the first step
  ([proof](own-results.md#gbfour-the-constant-4-cannot-be-improved)), and twice that of the latter,
  where both margins are √2 times as large: less than 1/3 from t = 9 on.
- `tyurin.thm3.3`: no data of n rows use more than (n+1)²/(4n²) of it
  ([gb.batch](own-results.md#gbbatch-a-quarter-of-the-bound-for-batch-perceptron)); one row attains
  it, and `opposed` with three rows uses 0.125 of at most 0.444.
- `gb.selfcert`, `gb.gap` and `gb.floor` are no rates: slower methods may meet them as well.
- Below 1/3, without a proof that this must be so: {thin}.
"""


def main(path: str) -> None:
    """Write docs/power.md from the results in a file."""
    before = json.loads((HERE / "power-before.json").read_text())
    tightest: dict[str, tuple[float, str]] = {}
    for result in json.loads(Path(path).read_text())["results"]:
        tightness = result["tightness"]
        if result["verdict"] == "holds" and tightness is not None:
            last = tightest.get(result["statement"], (float("-inf"), ""))
            tightest[result["statement"]] = max(last, (tightness, result["problem"]))
    killed, known = matrix(), mutants()
    rows, thin = [], []
    told = {"jst.thm3.1.1", "jst.thm5.1.fixed", "tyurin.thm3.3"}
    for statement in load_statements().values():
        if not statement.slower:
            continue
        tightness, problem = tightest.get(statement.id, (None, ""))
        if tightness is not None and tightness < 1 / 3 and statement.id not in told:
            thin.append(f"`{statement.id}`")
        where = killed[known[statement.slower].name][statement.id][0]
        cells: list[Any] = [
            f"`{statement.id}`",
            _number(before.get(statement.id)),
            _number(tightness),
            _code(problem),
            f"`{statement.slower}`",
            _code(where),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    text = HEAD + "\n".join(rows) + "\n" + TAIL.format(thin=", ".join(thin) or "none")
    (HERE / "power.md").write_text(text, encoding="utf-8")


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3g}"


def _code(text: str) -> str:
    return f"`{text}`" if text else "its own data"


if __name__ == "__main__":
    main(sys.argv[1])
