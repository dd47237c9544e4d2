"""Where a solver of one's own goes wrong, and in the words of which mistake.

Its first iterates are compared with those of the solver that the statements speak about: recorded
in another way, on data that were prepared wrongly, step by step, and with those of the wrong
solvers that the papers bring along. A mistake is named only if it explains every iterate, or is a
fact about the first wrong step. This decides nothing: verdicts do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from gammabar.harness.registry import mutants
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.run_checks import EARLY
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, Verdict
from gammabar.problems import DenseProblem
from gammabar.problems.linear import LinearProblem
from gammabar.problems.problem import Floats
from gammabar.solvers.base import SOLVERS, Recorder, solver

#: Two runs are the same if no iterate is further away than this, relative to its size.
SAME = 1e-7
_SAME: ContextVar[float] = ContextVar("_SAME", default=SAME)
#: No comparison on data with more entries than this; and none with other data, or a longer run.
LARGEST, SMALL = 1 << 25, 1 << 16
#: Runs resemble each other if they are apart by less than this part of their lengths.
ALIKE = 0.25
#: Every k-th iterate may have been recorded, up to this k.
EVERY = 20
#: Momentum weights that people take for t/(t+1).
_WEIGHTS: dict[str, Callable[[int], float]] = {
    "t/(t+2)": lambda t: t / (t + 2),
    "t/(t+3)": lambda t: t / (t + 3),
    "(t+1)/(t+2)": lambda t: (t + 1) / (t + 2),
    "(t−1)/(t+2)": lambda t: max(t - 1, 0) / (t + 2),
    "(t−1)/t": lambda t: max(t - 1, 0) / max(t, 1),
}
_Run = Callable[..., list[Floats]]


def explained(case: Case, statements: list[Statement], verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts on a user's solver; those that refute it say where it goes wrong."""
    refuted = [s for s, v in zip(statements, verdicts, strict=True) if v.verdict is Ruling.REFUTED]
    # Numbers that are rounded to fewer digits agree to fewer digits.
    token = _SAME.set(min(max(SAME, 64 * case.precision.roundoff), 1e-2))
    hint = _diagnose(case, refuted) if refuted else ""
    _SAME.reset(token)
    return [replace(v, hint=hint) if v.verdict is Ruling.REFUTED else v for v in verdicts]


def _diagnose(case: Case, statements: list[Statement]) -> str:
    """The mistake of a solver that statements refute, and its first wrong iterate.

    The run is over: `Case.early` has its first iterates. "" if the method is not known.
    """
    name = _spoken_of(case, statements)
    given = _given(case)
    if name is None or len(given) < 2 or case.n * case.space.dimension > LARGEST:
        return ""
    made = _like(case.solver, name)
    run = partial(_first, case, made)
    right = run(len(given))
    if not right or not _same(right, run(len(given), seed=1)):
        return ""  # it draws random numbers
    pairs = enumerate(zip(given, right, strict=False))
    t = next((t for t, (mine, due) in pairs if not _near(mine, due)), None)
    if t is None:
        return ""
    small = case.n * case.space.dimension <= SMALL
    mistake = (
        _recorded(given, run(EVERY * len(given) if small else len(given)))
        or (_of_data(case, given, run) if small else "")
        or _momentum(case, made, given)
        or _of_step(case.n, given, right, t)
        or _mutant(case, name, given, right)
    )
    where = _where(name, t, given[t], right[t])
    return f"{mistake}; {where}" if mistake else where


def resembling(runs: Callable[[bool], list[Floats]], problem: Any) -> str:
    """Which methods make similar iterates, in words; "" if none does.

    `runs(unit)` gives the first iterates of a solver, on rows divided by the radius or not.
    """
    given = {unit: runs(unit) for unit in (True, False)}
    found = []
    for name in SOLVERS:
        made = solver(name)
        mine = given[made.card.unit_ball]
        right = _first(Case(problem, unit=made.card.unit_ball), made(), len(mine))
        if len(mine) > 2 and right and right[0].shape == mine[0].shape:
            gap = sum(float(np.linalg.norm(a - b)) for a, b in zip(mine, right, strict=True))
            size = sum(float(np.linalg.norm(w)) for w in (*mine, *right))
            found.append((gap / (size or 1.0), name))
    near = [name for apart, name in sorted(found) if apart < ALIKE][:3]
    return f" (its first iterates resemble those of {', '.join(near)})" if near else ""


def _spoken_of(case: Case, statements: Iterable[Statement]) -> str | None:
    """The method that a solver stands for: by its card, or else the one most spoken of."""
    card = getattr(getattr(case.solver, "card", None), "name", None)
    named = Counter(name for s in statements for name in s.solvers if name in SOLVERS)
    return card if card in SOLVERS else next((name for name, _ in named.most_common(1)), None)


def _like(given: Any, name: str) -> Any:
    """The method with the options of a solver, as far as they have the same names."""
    made = solver(name)
    options = {f.name: getattr(given, f.name) for f in fields(made) if hasattr(given, f.name)}
    try:
        return made(**options)
    except (TypeError, ValueError):
        return made()


def _given(case: Case) -> list[Floats]:
    """The first iterates; of a recorded run also those that were not checked."""
    if isinstance(case.solver, Recorder) and len(case.early) < EARLY:
        return [it.w.astype(np.float64) for it in islice(case.solver.iterates(), EARLY)]
    return case.early


def _first(
    case: Case, made: Any, count: int, problem: Any = None, *, seed: int = 0
) -> list[Floats]:
    """The first iterates of a solver on the problem of a case; none if it fails there.

    A method that has ended stays where it is.
    """
    try:
        run = islice(made.iterates(problem or case.problem, case.rng(seed)), count)
        found = [np.array(it.w, dtype=np.float64) for it in run]
        return found + found[-1:] * (count - len(found))
    except Exception:
        return []


def _near(mine: Floats, due: Floats) -> bool:
    if mine.shape != due.shape:
        return False
    size = float(np.linalg.norm(due)) + float(np.linalg.norm(mine))
    return float(np.linalg.norm(mine - due)) <= _SAME.get() * size


def _same(one: list[Floats], other: list[Floats]) -> bool:
    return len(one) == len(other) and all(map(_near, one, other))


def _where(name: str, t: int, mine: Floats, due: Floats) -> str:
    what = f"the step to w_{t} is" if t else "the start w_0 is"
    reference = solver(name).card.reference
    worst = int(np.abs(mine - due).argmax())
    return (
        f"{what} not that of {name} ({reference}): {mine[worst]:.6g} in coordinate {worst}"
        f" where {due[worst]:.6g} is due"
    )


def _recorded(given: list[Floats], right: list[Floats]) -> str:
    """What was done to the iterates of the method before they were given."""
    count, long = len(given), right
    right = right[:count]
    if count < 4:
        return ""
    if all(_near(given[0], w) for w in given):
        return "the solver never moves: every iterate is w_0"
    if all(map(_near, given[:-1], right[1:])):
        return "the run starts with w_1: the first iterate is w_0, before any update"
    if _near(given[0], given[1]) and all(map(_near, given[1:], right)):
        return "w_0 is recorded twice"
    if all(_near(w, right[k // 2]) for k, w in enumerate(given)):
        return "every iterate is recorded twice"
    for k in range(2, EVERY + 1):
        if _same(given, long[::k][:count]):
            return f"only every {k}{ {2: 'nd', 3: 'rd'}.get(k, 'th') } iterate is recorded"
    if _same(given, [_unit(w) for w in right]):
        return "w is normalised: w_t/‖w_t‖ is recorded"
    if _near(given[1], _unit(right[1])) and all(_near(w, _unit(w)) for w in given[1:]):
        return "w is normalised after each step"
    if _same(given, [w / max(t, 1) for t, w in enumerate(right)]):
        return "w_t/t is recorded"
    if _same(given, [np.mean(right[: t + 1], axis=0) for t in range(count)]):
        return "the average of w_0, …, w_t is recorded"
    if _same(given, [-w for w in right]):
        return "the labels are swapped: w_t is minus that of the method"
    return ""


def _unit(w: Floats) -> Floats:
    length = float(np.linalg.norm(w))
    return w / length if length else w


def _of_data(case: Case, given: list[Floats], run: _Run) -> str:
    """How the data were prepared, if the method makes these iterates of other rows."""
    if not isinstance(case.problem, LinearProblem):
        return ""
    for mistake, rows in _prepared(case):
        problem = DenseProblem(rows, np.ones(len(rows)))
        if _near(given[1], (run(2, problem) or given)[-1]) and _same(
            given, run(len(given), problem)
        ):
            return mistake
    return ""


def _prepared(case: Case) -> Iterator[tuple[str, Floats]]:
    """Rows as people prepare them by mistake."""
    rows = np.array([case.problem.row(i) for i in range(case.n)])
    signs = np.asarray(case.problem.y, dtype=np.float64)[:, None]
    radius, norms = float(case.problem.raw().radius), np.linalg.norm(rows, axis=1)
    points = rows * signs
    whole = rows * radius if case.unit else rows
    if case.unit:
        yield "rows were not divided by the radius, the largest norm: use problem.unit()", whole
    elif radius:
        yield "rows were divided by the radius, the largest norm of a row", rows / radius
    yield "rows were divided by the largest ℓ₁ norm of a row", whole / np.abs(whole).sum(1).max()
    if norms.all():
        yield "every row was divided by its own norm", rows / norms[:, None]
    yield (
        "labels are 0 and 1 where −1 and 1 are due: rows of the class 0 vanish",
        rows * (signs > 0),
    )
    yield "labels are not used: rows are x_i where y_i x_i is due", points
    centred = (points - points.mean(axis=0)) * signs
    yield "features were centred", centred
    if case.unit and centred.any():
        yield "features were centred", centred / np.linalg.norm(centred, axis=1).max()
    for i in range(len(rows)) if len(rows) * rows.size <= SMALL << 6 and len(rows) > 1 else ():
        yield f"row {i} is missing", np.delete(rows, i, axis=0)
        yield f"row {i} is counted twice", np.insert(rows, i, rows[i], axis=0)


def _momentum(case: Case, made: Any, given: list[Floats]) -> str:
    """The momentum weights of Algorithm 1, measured, where they follow another formula."""
    if not hasattr(made, "rho") or made.loss != "exponential" or len(given) < 4:
        return ""
    last, weights = np.zeros_like(given[0]), []
    for before, now in pairwise(given):
        pull = case.problem.softmin(before).pull
        mine = (now - before) * made.rho(case.n) / made.step - pull
        weight = _ratio(mine, last + pull)
        if weight is None:
            return ""
        weights.append(weight)
        last = mine
    due = [t / (t + 1) for t in range(len(weights))]
    known = [name for name, of in _WEIGHTS.items() if _all_close(weights, map(of, range(len(due))))]
    if not np.any(np.abs(weights) > _SAME.get()):
        return "there is no momentum: its weight is 0 where t/(t+1) is due"
    if not known and not _all_close(weights[1:], [weights[1]] * len(weights[1:])):
        return ""
    t = next(
        t for t, (w, d) in enumerate(zip(weights, due, strict=True)) if abs(w - d) > _SAME.get()
    )
    asked = f": β_t = {known[0]}?" if known else " at every t"
    return f"the momentum weight is {_shown(weights[t])} at t = {t}, {_shown(due[t])} is due{asked}"


def _all_close(one: list[float], other: Iterable[float]) -> bool:
    return all(abs(a - b) <= 10 * _SAME.get() for a, b in zip(one, other, strict=True))


def _shown(value: float) -> str:
    """1/3 for what is nearly that, if a number of these digits is not so by chance."""
    near = 10 * _SAME.get()
    simple = Fraction(value).limit_denominator(max(1, min(60, int(0.25 / np.sqrt(near)))))
    digits = max(3, int(-np.log10(near)))
    return str(simple) if abs(simple - value) <= near else f"{value:.{digits}g}"


def _ratio(one: Floats, other: Floats) -> float | None:
    """c where one = c · other; None if they are not parallel."""
    square = float(other @ other)
    if not square:
        return None if one.any() else 0.0
    c = float(one @ other) / square
    off, size = float(np.linalg.norm(one - c * other)), float(np.linalg.norm(one))
    if size <= 4 * _SAME.get() * float(np.linalg.norm(other)):
        return 0.0
    return c if off <= min(100 * _SAME.get(), 1e-3) * size else None


def _of_step(n: int, given: list[Floats], right: list[Floats], t: int) -> str:
    """What the first wrong step is beside the due one."""
    if not t:
        return "the run starts elsewhere" if not right[0].any() else ""
    mine, due = given[t] - given[t - 1], right[t] - right[t - 1]
    ratio = _ratio(mine, due)
    if ratio is not None:
        return _times(ratio, n, t)
    before = given[t - 1] - given[t - 2] if t > 1 else np.zeros_like(mine)
    if t > 1 and _ratio(mine, before) is not None and _ratio(due, before) is None:
        return (
            f"the step to w_{t} has the direction of the step before: it is computed at w_{t - 2},"
            f" w_{t - 1} is due"
        )
    more, shrunk = _ratio(mine - due, before), _ratio(mine - due, given[t - 1])
    if shrunk is not None and -1 < shrunk < 0:
        return f"w is multiplied by {_shown(1 + shrunk)} before the step: weight decay?"
    if more and before.any():
        return (
            f"{_shown(more)} times the step before is added: a momentum that is not the method's?"
        )
    return ""


def _times(ratio: float, n: int, t: int) -> str:
    """Words for a step that is a multiple of the due one."""
    step = f"the step to w_{t}"
    asked = {
        n: ": the sum over all rows, their mean is due?",
        1 / n: ": the mean over all rows, their sum is due?",
        1 / np.sqrt(t): ": does it decay as 1/√t?",
        1 / t: ": does it decay as 1/t?",
        1 / np.sqrt(t + 1): ": does it decay as 1/√(t+1)?",
    }
    if not ratio:
        return f"w_{t} is w_{t - 1}: is an iterate recorded without an update?"
    if abs(ratio + 1) <= 10 * _SAME.get():
        return f"the sign of {step} is wrong"
    if abs(ratio - 1) <= 10 * _SAME.get():
        return ""  # the difference is elsewhere
    guess = next((text for c, text in asked.items() if abs(ratio - c) <= 10 * _SAME.get() * c), "")
    return f"{step} is {_shown(ratio)} times the due one{guess}"


def _mutant(case: Case, name: str, given: list[Floats], right: list[Floats]) -> str:
    """Which wrong solver of the papers makes the same iterates."""
    for mutant in mutants().values():
        if mutant.solver == name:
            wrong = _first(case, mutant.make(), len(given))
            if _same(given, wrong) and not _same(wrong, right):
                return f"this looks like {mutant.name}: {mutant.wrong.removesuffix('.')}"
    return ""
