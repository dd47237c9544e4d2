"""A hearing: one run of a solver, and all statements about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.evaluate import IterateJudge, Judge
from gammabar.harness.verify.iterate import Fault, Unclaimed, View, begin_run, narrow
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.vacuity import Rest
from gammabar.harness.verify.verdict import Ruling, StatementError, Verdict, raised
from gammabar.problems import ProblemError
from gammabar.problems.environment import require_doubles

#: So many iterates are kept, to be compared with those of other solvers.
EARLY = 8
#: Claims about stopping hear so many iterates at most.
MOST = 100_000


def examine(statement: Statement, case: Case) -> Verdict:
    """The verdict on a statement that is not about one run: direct and randomised ones."""
    require_doubles()
    reason = statement.inapplicable(case)
    if reason is not None:
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=reason)
    begin_run()
    try:
        verdict = statement.examine(case)
        require_doubles()  # a solver may have been run
        return _spared(verdict)
    except Unclaimed as missing:
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=str(missing))
    except Fault as fault:
        ruling, failure = Ruling.UNDECIDED, fault.failure
        return Verdict(statement.id, ruling, reason=str(fault), failure=failure)
    except ProblemError:
        raise
    except Exception as error:
        raise statement.error(raised(error), error) from error


def hear(
    case: Case,
    statements: list[Statement],
    iterations: int,
    most: int | None = None,
) -> list[Verdict]:
    """Run the solver of a case once and judge all statements about it.

    Parameters
    ----------
    case : Case
    statements : list of Statement
        About runs (`Statement.about_runs`).
    iterations : int
        Claims about every iterate hear t = 0, …, iterations.
    most : int, optional
        Claims about stopping hear as many iterates as they need, but not more than this. By
        default `MOST`; of a run that is ``finite``, as a recorded one is, no more than others.
    """
    check_iterations(iterations)
    if most is None:
        most = iterations if getattr(case.solver, "finite", False) is True else MOST
    require_doubles()
    # What overflows becomes a bound that decides nothing: nobody needs a warning of NumPy's too.
    with working(LEVELS[0]), np.errstate(over="ignore", invalid="ignore"):
        case.begin()
        begin_run()
        judges = [_judge(statement, case) for statement in statements]
        failure, detail = _listen(case, judges, iterations, most)
        require_doubles()  # the solver may have loaded a library that changes it
        return [_spared(judge.verdict(failure, detail)) for judge in judges]


def _spared(verdict: Verdict) -> Verdict:
    """A verdict on iterates that are narrower than doubles: rounding in such a run is not known."""
    kind = narrow()
    if not kind or verdict.verdict is not Ruling.REFUTED:
        return verdict
    reason = f"violated, but the iterates are {kind}, and only rounding to doubles is accounted for"
    return replace(verdict, verdict=Ruling.UNDECIDED, reason=f"{reason}: compute in float64")


def check_iterations(iterations: Any) -> None:
    """Refuse a length of a run that is no positive whole number."""
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer):
        raise ProblemError(f"iterations must be a whole number, not {iterations!r}")
    if iterations < 1:
        raise ProblemError(f"iterations must be at least 1, not {iterations}: nothing is heard")


def _judge(statement: Statement, case: Case) -> Judge:
    case.declared = getattr(statement, "history", ())
    try:
        return statement.judge(case)
    except ProblemError:
        raise
    except Exception as error:
        raise statement.error(raised(error), error) from error
    finally:
        case.declared = None


class _Bench:
    """The judges of one run, and the histories that they share.

    On large data the solver waits for memory most of the time. Then iterates are judged during its
    next pass over the data, which other threads begin alone, and a few at a time: a pass leaves
    nothing of the court in the processor's caches.
    """

    def __init__(self, case: Case, judges: list[Judge], iterations: int, most: int) -> None:
        self.case = case
        self.horizons = [(judge, _horizon(judge, iterations, most)) for judge in judges]
        for judge, last in self.horizons:
            judge.asked = last
        self.histories: dict[type, int] = {}
        for judge, last in self.horizons:
            for kind in () if judge.done else judge.statement.history:
                self.histories[kind] = max(last, self.histories.get(kind, 0))
        heard = [j for j in judges if isinstance(j, IterateJudge) and not j.done]
        self.rest: Rest | None = Rest(case, heard) if heard else None
        self.waiting: list[View] = []
        self.trouble: Exception | None = None
        self.together = case.together
        if self.together > 1:
            case.observed.meanwhile = self.use_time

    def wants(self, t: int) -> bool:
        """Whether some judge wants to hear w_t."""
        return any(t <= last for judge, last in self.horizons if not judge.done)

    def due(self, it: View) -> bool:
        """Take in the next iterate: whether it is time to judge what was heard."""
        if self.trouble is not None:
            raise self.trouble
        if it.t < EARLY:
            self.case.early.append(it.w)  # a copy of the court's own
        self.waiting.append(it)
        if self.together == 1:
            return True
        it.keep()
        return len(self.waiting) >= 2 * self.together  # the solver asks for no pass

    def use_time(self) -> None:
        """Judge while the solver waits for its pass, and let it see nothing of what goes wrong."""
        if len(self.waiting) >= self.together:
            try:
                self.judge()
            except Exception as error:
                self.trouble = error

    def judge(self) -> None:
        """Judge what was heard."""
        waiting, self.waiting = self.waiting, []
        for it in waiting:
            t = it.t
            for kind, last in list(self.histories.items()):
                if t <= last:
                    self.follow(kind, it)
            try:
                for judge, last in self.horizons:
                    # Who else listens may prolong the run, and must not change what a judge hears.
                    if not judge.done and t <= last:
                        self.case.declared = judge.statement.history
                        judge.see(it)
            except ProblemError:
                raise
            except Exception as error:
                raise judge.statement.error(raised(error), error) from error
            finally:
                self.case.declared = None
            if self.rest is not None:
                self.rest.see(it)
                if self.rest.over:
                    self.rest = None

    def follow(self, kind: type, it: View) -> None:
        """Tell a history; a claim that it cannot go on with ends the run for those who need it."""
        try:
            _update(self.case, kind, it)
        except (Fault, Unclaimed) as ended:
            del self.histories[kind]
            for judge, _ in self.horizons:
                if judge.done or kind not in judge.statement.history:
                    continue
                if isinstance(ended, Unclaimed):
                    judge.reason, judge.done = str(ended), True
                else:
                    judge.leave(ended.failure, str(ended))

    def close(self) -> None:
        """The run is over."""
        if self.trouble is not None:
            raise self.trouble
        self.judge()
        if self.rest is not None:
            self.rest.close()


def _update(case: Case, kind: type, it: View) -> None:
    try:
        case.history(kind).update(it)
    except (ProblemError, Unclaimed):
        raise
    except Exception as error:
        raise StatementError.at(kind.__name__, kind.update, raised(error), error) from error  # type: ignore[attr-defined]


def _end(judge: Judge, halted: bool) -> None:
    try:
        judge.end(halted)
    except ProblemError:
        raise
    except Exception as error:
        raise judge.statement.error(raised(error), error) from error


def _listen(case: Case, judges: list[Judge], iterations: int, most: int) -> tuple[str, str]:
    expected, halted, it = 0, True, None
    bench = _Bench(case, judges, iterations, most)
    try:
        try:
            for it in case.views():
                if it.t != expected:
                    message = f"iterates count 0, 1, 2, …, but {it.t} came for {expected}"
                    raise Fault(message)
                if bench.due(it):
                    bench.judge()
                expected += 1
                if not bench.wants(expected):
                    halted = False
                    break
        finally:
            bench.close()  # what came before a fault counts
    except Fault as fault:
        return fault.failure, str(fault)
    if halted and not (it is not None and it.extra.get("halt")):
        after = f"after t = {expected - 1}" if expected else "before the first one"
        return "crashed", f'the iterates end {after}, and the last has no extra["halt"]'
    for judge in judges:
        _end(judge, halted)
    return "", ""


def _horizon(judge: Judge, iterations: int, most: int) -> int:
    """The last t that a judge wants to hear."""
    return iterations if judge.limit is None else min(judge.limit, max(most, iterations))
