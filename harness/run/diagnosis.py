"""Where a solver of one's own goes wrong, and which of the usual mistakes it looks like.

Its first iterates are compared with those of the solver that the statements speak about, and with
those of the wrong solvers that the papers bring along. This decides nothing: verdicts do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from gammabar.harness.registry import mutants
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import EARLY
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, Verdict
from gammabar.problems.problem import Floats
from gammabar.solvers.adapters import Recorder
from gammabar.solvers.base import SOLVERS, solver

#: Two runs are the same if no iterate is further away than this, relative to its size.
SAME = 1e-7
#: No comparison on data with more entries than this.
LARGEST = 1 << 25


def explained(case: Case, statements: list[Statement], verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts on a user's solver; those that refute it say where it goes wrong."""
    refuted = [s for s, v in zip(statements, verdicts, strict=True) if v.verdict is Ruling.REFUTED]
    hint = _diagnose(case, refuted) if refuted else ""
    return [replace(v, hint=hint) if v.verdict is Ruling.REFUTED else v for v in verdicts]


def _diagnose(case: Case, statements: list[Statement]) -> str:
    """In which step a solver leaves the method that statements speak about; "" if it is not known.

    Parameters
    ----------
    case : Case
        Its run is over: `Case.early` has its first iterates.
    statements : list of Statement
        Those that refute it.
    """
    name = _spoken_of(case, statements)
    given = _given(case)
    if name is None or len(given) < 2 or case.n * case.space.dimension > LARGEST:
        return ""
    made = solver(name)()
    right = _first(case, made, len(given), 0)
    if not right or not _same(right, _first(case, made, len(given), 1)):
        return ""  # it draws random numbers
    pairs = enumerate(zip(given, right, strict=False))
    t = next((t for t, (mine, due) in pairs if not _near(mine, due)), None)
    if t is None:
        return ""
    return f"{_where(name, t, given[t], right[t])}{_mistake(case, name, given, right)}"


def _spoken_of(case: Case, statements: Iterable[Statement]) -> str | None:
    """The method that a solver stands for: by its card, or else the one most spoken of."""
    card = getattr(getattr(case.solver, "card", None), "name", None)
    named = Counter(name for s in statements for name in s.solvers if name in SOLVERS)
    return card if card in SOLVERS else next((name for name, _ in named.most_common(1)), None)


def _given(case: Case) -> list[Floats]:
    """The first iterates; of a recorded run also those that were not checked."""
    if isinstance(case.solver, Recorder) and len(case.early) < EARLY:
        return [it.w.astype(np.float64) for it in islice(case.solver.iterates(), EARLY)]
    return case.early


def _first(case: Case, made: Any, count: int, seed: int) -> list[Floats]:
    """The first iterates of a solver on the problem of a case; none if it fails there."""
    try:
        run = islice(made.iterates(case.problem, case.rng(seed)), count)
        return [np.array(it.w, dtype=np.float64) for it in run]
    except Exception:
        return []


def _near(mine: Floats, due: Floats) -> bool:
    size = float(np.linalg.norm(due)) + float(np.linalg.norm(mine))
    return mine.shape == due.shape and float(np.linalg.norm(mine - due)) <= SAME * size


def _same(one: list[Floats], other: list[Floats]) -> bool:
    return len(one) == len(other) and all(map(_near, one, other))


def _where(name: str, t: int, mine: Floats, due: Floats) -> str:
    reference = solver(name).card.reference
    what = f"the step to w_{t} is" if t else "the start w_0 is"
    if mine.shape != due.shape:
        return f"{what} not that of {name} ({reference})"
    worst = int(np.abs(mine - due).argmax())
    return (
        f"{what} not that of {name} ({reference}): off by"
        f" {abs(mine[worst] - due[worst]):.3g} in coordinate {worst}"
        f" ({mine[worst]:.6g} where {due[worst]:.6g} is due)"
    )


def _mistake(case: Case, name: str, given: list[Floats], right: list[Floats]) -> str:
    """Which wrong solver makes the same iterates."""
    if len(given) > 2 and all(map(_near, given[:-1], right[1:])):
        return "; this looks like a start with w_1: the first iterate is w_0, before any update"
    if all(_near(given[0], w) for w in given):
        return "; it stands still"
    for mutant in mutants().values():
        if mutant.solver != name:
            continue
        wrong = _first(case, mutant.make(), len(given), 0)
        if _same(given, wrong) and not _same(wrong, right):
            scaled = "; use problem.unit()" if mutant.name.endswith("radius-forgotten") else ""
            return f"; this looks like {mutant.name}: {mutant.wrong.removesuffix('.')}{scaled}"
    return ""
