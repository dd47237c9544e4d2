"""Witnesses: refutations in files that `gammabar check` accepts by themselves.

In the format of the statement's refuter, where it has one; otherwise as a run to be repeated
literally (`gammabar.papers.rerun`). The checker accepts a witness before it is written.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import isqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gammabar.harness.certificates import Rejected, check
from gammabar.harness.falsify.parameters import Finding
from gammabar.harness.registry import opened_from
from gammabar.harness.run.tasks import Registered
from gammabar.harness.verify.parameters import PREFIX, read as read_inputs
from gammabar.harness.verify.statement import Statement
from gammabar.problems import DenseProblem, MulticlassProblem, ProblemError
from gammabar.problems.output import write_whole
from gammabar.problems.specs import open_problem

#: Rows with fewer entries are written out, others by their entries that are not zero.
DENSE = 2000
Rows = tuple[tuple[Fraction, ...], ...]
#: The checker counts what it spends in one place.
_ONE_AT_A_TIME = threading.Lock()


def write(path: Path, statement: Statement, found: Finding) -> str:
    """Write the witness of a refutation; what the checker says of it.

    If no witness can be made of it, a `ProblemError` says why, and no file is left.
    """
    reasons = []
    for data in _forms(statement, found):
        document = {
            "format": "gammabar-witness",
            "version": 1,
            "statement": statement.id,
            "reference": statement.reference,
            "claim": statement.claim,
            "note": f"Found by gammabar falsify: {found.candidate.problem}",
            "data": data,
        }
        text = json.dumps(document, indent=1) + "\n"
        paper = opened_from(statement.source)
        try:
            with TemporaryDirectory() as folder:
                asked = Path(folder, "witness.json")
                asked.write_text(text, encoding="utf-8")
                said = check(asked, papers=() if paper is None else (paper,))
        except (Rejected, ProblemError) as reason:
            reasons.append(str(reason))
            continue
        write_whole(path, text)
        return said
    why = "; ".join(reasons) or "its data have no form that a checker knows"
    raise ProblemError(f"no witness was written: {why}")


def _checker(statement: Statement) -> Any:
    """The checker of witnesses, with the refuters of the statement's paper."""
    import gammabar.papers.witness as checker

    path = opened_from(statement.source)
    folder = [] if path is None else [Path(path) if Path(path).is_dir() else Path(path).parent]
    checker.load_refuters(*folder)
    return checker


def confirming(statement: Statement, written: bool) -> Callable[[Finding], bool] | None:
    """Whether the statement's refuter accepts what was found.

    Without a refuter: whether a witness has a form for it, if one is to be written; else None.
    """
    checker = _checker(statement)
    if statement.id not in checker.REFUTERS:
        return (lambda found: bool(_forms(statement, found))) if written else None

    def confirmed(found: Finding) -> bool:
        with _ONE_AT_A_TIME:
            for data in _forms(statement, found):
                try:
                    left, relation, right = checker.REFUTERS[statement.id](checker.Data(data))
                    return bool(checker.certainly(left, checker.NEGATION[relation], right))
                except Exception:  # whatever it says: it is not confirmed
                    return False
        return False

    return confirmed


def _forms(statement: Statement, found: Finding) -> list[dict[str, Any]]:
    """Data of witnesses that may be accepted."""
    checker = _checker(statement)
    if statement.id not in checker.REFUTERS:
        return _rerun(statement, found) if found.candidate.problem else []
    facts = _facts(statement, found)
    if facts is None:
        return []
    try:
        if statement.id in checker.COMPLETIONS:
            return [checker.COMPLETIONS[statement.id](facts | {"statement": statement.id})]
        return [_asked_for(checker, statement.id, facts)]
    except Exception:  # data of another form: there is no witness of this one
        return []


def _asked_for(checker: Any, statement: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Those of the facts that the refuter looks at."""
    asked = checker.Data(facts)
    checker.Budget.spent = 0.0
    checker.REFUTERS[statement](asked)
    return {name: facts[name] for name in facts if name in asked.used}


def _facts(statement: Statement, found: Finding) -> dict[str, Any] | None:
    """All that may be in a witness, as JSON."""
    candidate, t = found.candidate, found.verdict.worst_t
    facts: dict[str, Any] = {} if t is None else {"t": t}
    if candidate.problem.startswith(PREFIX):
        values = read_inputs(statement.inputs, candidate.problem)
        return {name: _json(value) for name, value in values.items()}
    if not candidate.problem:
        return facts
    if isinstance(candidate.solver, Registered):
        solver = candidate.solver.open()
        facts |= {
            name: str(Fraction(value))
            for name, value in vars(solver).items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
    rows = _rows(candidate.problem)
    if rows is None or len(rows) * len(rows[0]) > DENSE * 50:
        return None
    if statement.unit:
        rows = _unit(rows)
    facts |= {"rows": _json(rows)}
    if len(set(rows)) == 1:
        facts["copies"] = len(rows)
    return facts


def _rows(problem: str) -> Rows | None:
    """Rows y_i x_i of a problem, exactly; of a multiclass one its points."""
    opened = open_problem(problem).raw()
    if isinstance(opened, MulticlassProblem):
        X, y = np.asarray(opened.X), np.ones(opened.N, dtype=int)
    elif isinstance(opened, DenseProblem):
        X, y = np.asarray(opened.points.X), np.asarray(opened.y)
    else:
        return None
    return tuple(
        tuple(int(s) * Fraction(v) for v in row)
        for s, row in zip(y.tolist(), X.tolist(), strict=True)
    )


def _unit(rows: Rows) -> Rows:
    """Rows divided by the largest norm, if that is rational."""
    square = max(sum((v * v for v in row), Fraction(0)) for row in rows)
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root == 0 or root * root != square:
        return rows
    return tuple(tuple(v / root for v in row) for row in rows)


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json(part) for part in value]
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _rerun(statement: Statement, found: Finding) -> list[dict[str, Any]]:
    """A run of an algorithm, to be repeated."""
    from gammabar.oracle import solve

    candidate = found.candidate
    rows = None if candidate.problem.startswith(PREFIX) else _rows(candidate.problem)
    if rows is None or not isinstance(candidate.solver, Registered):
        return []
    if sum(bool(v) for row in rows for v in row) > DENSE * 50:
        return []
    truth = solve(open_problem(candidate.problem).raw())
    if not truth.exact:
        return []
    d = len(rows[0])
    small = len(rows) * d <= DENSE
    written = [
        [str(v) for v in row] if small else {str(j): str(v) for j, v in enumerate(row) if v}
        for row in rows
    ]
    support = zip(truth.support.tolist(), truth.numerators, strict=True)
    return [
        {
            "algorithm": candidate.solver.name,
            "options": {name: _option(v) for name, v in candidate.solver.options.items()},
            "columns": d,
            "rows": written,
            "q": {str(i): str(Fraction(int(v), int(truth.total))) for i, v in support},
            "t": found.verdict.worst_t or 0,
        }
    ]


def _option(value: str) -> Any:
    if value in ("True", "False"):
        return value == "True"
    with suppress(ValueError):
        return float(value)
    return value
