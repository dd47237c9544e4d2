"""One run of a solver, and the checks of all statements about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gammabar.harness.verify.context import Case
from gammabar.harness.verify.evaluate import Check, IterateCheck
from gammabar.harness.verify.iterate import Fault, Unclaimed, View, begin_run, narrow
from gammabar.harness.verify.numbers import LEVELS, working
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.vacuity import Vacuity
from gammabar.harness.verify.verdict import Ruling, StatementError, Verdict, raised
from gammabar.problems import ProblemError
from gammabar.problems.environment import require_doubles
from gammabar.solvers.adapters import OtherGeometry

#: So many iterates are kept, to be compared with those of other solvers.
EARLY = 8
#: Claims about stopping see so many iterates at most.
MOST = 100_000


def check_statement(statement: Statement, case: Case) -> Verdict:
    """The verdict on a statement that is not about one run: direct and randomised ones."""
    require_doubles()
    reason = statement.inapplicable(case)
    if reason is not None:
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=reason)
    begin_run()
    try:
        verdict = _blaming(statement, statement.examine, case)
        require_doubles()  # a solver may have been run
        return _spared(verdict)
    except Unclaimed as missing:
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=str(missing))
    except Fault as fault:
        ruling, failure = Ruling.UNDECIDED, fault.failure
        return Verdict(statement.id, ruling, reason=str(fault), failure=failure)


def check_run(
    case: Case,
    statements: list[Statement],
    iterations: int,
    most: int | None = None,
) -> list[Verdict]:
    """Run the solver of a case once and check all statements about it.

    Parameters
    ----------
    case : Case
    statements : list of Statement
        About runs (`Statement.about_runs`).
    iterations : int
        Claims about every iterate see t = 0, …, iterations.
    most : int, optional
        Claims about stopping see as many iterates as they need, but not more than this. By
        default `MOST`; of a run that is ``finite``, as a recorded one is, no more than others.
    """
    _check_iterations(iterations)
    if most is None:
        most = iterations if getattr(case.solver, "finite", False) is True else MOST
    require_doubles()
    # What overflows becomes a bound that decides nothing: nobody needs a warning of NumPy's too.
    with working(LEVELS[0]), np.errstate(over="ignore", invalid="ignore"):
        case.begin()
        begin_run()
        checks = [_started(statement, case) for statement in statements]
        failure, detail = _Run(case, checks, iterations, most).follow()
        require_doubles()  # the solver may have loaded a library that changes it
        return [_spared(check.verdict(failure, detail)) for check in checks]


def _spared(verdict: Verdict) -> Verdict:
    """A verdict on iterates that are narrower than doubles: rounding in such a run is not known."""
    kind = narrow()
    if not kind or verdict.verdict is not Ruling.REFUTED:
        return verdict
    reason = f"violated, but the iterates are {kind}, and only rounding to doubles is accounted for"
    return replace(verdict, verdict=Ruling.UNDECIDED, reason=f"{reason}: compute in float64")


def _check_iterations(iterations: Any) -> None:
    """Refuse a length of a run that is no positive whole number."""
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer):
        raise ProblemError(f"iterations must be a whole number, not {iterations!r}")
    if iterations < 1:
        what = f"iterations must be at least 1, not {iterations}: nothing would be checked"
        raise ProblemError(what)


def _blaming(statement: Statement, call: Callable[..., Any], *given: Any) -> Any:
    """A call of the statement's code, with errors that name the statement and its line."""
    try:
        return call(*given)
    except (ProblemError, Unclaimed):
        raise
    except Exception as error:
        raise statement.error(raised(error), error) from error


def _started(statement: Statement, case: Case) -> Check:
    case.declared = getattr(statement, "history", ())
    try:
        check: Check = _blaming(statement, statement.check, case)
        if not check.done:
            _blaming(statement, check.start)
    except Unclaimed as missing:
        check.drop(str(missing))
    finally:
        case.declared = None
    return check


def ended(count: int) -> str:
    """What is said of iterates that end too soon."""
    if not count:
        return "it yields no iterate: yield w_0 first, then w_t after each update"
    return (
        f"the iterates end after t = {count - 1}: yield them without end (while True), ask for no"
        f" more (iterations {max(count - 1, 1)}), or, if the method stops by itself, end with"
        ' Iterate(t, w, extra={"halt": "separated"})'
    )


class _Run:
    """One run: its checks, and the histories that they share.

    On large data the solver waits for memory most of the time. Then iterates are checked during its
    next pass over the data, which other threads begin alone, and a few at a time: a pass leaves
    nothing of the checks in the processor's caches.
    """

    def __init__(self, case: Case, checks: list[Check], iterations: int, most: int) -> None:
        self.case, self.checks = case, checks
        self.histories: dict[type, int] = {}
        for check in checks:
            limit = check.limit
            check.asked = iterations if limit is None else min(limit, max(most, iterations))
            for kind in () if check.done else check.statement.history:
                self.histories[kind] = max(check.asked, self.histories.get(kind, 0))
        seen = [c for c in checks if isinstance(c, IterateCheck) and not c.done]
        self.vacuity: Vacuity | None = Vacuity(case, seen) if seen else None
        self.waiting: list[View] = []
        self.trouble: Exception | None = None
        self.together = case.together
        if self.together > 1:
            case.observed.meanwhile = self.use_time

    def follow(self) -> tuple[str, str]:
        """Take the iterates as they come: how the solver failed, and words for it, or ""."""
        expected, halted, it = 0, True, None
        try:
            try:
                for it in self.case.views():
                    if it.t != expected:
                        raise Fault(f"iterates count 0, 1, 2, …, but {it.t} came for {expected}")
                    if self.due(it):
                        self.check()
                    expected += 1
                    if not any(
                        expected <= c.asked for c in self.checks if self.listens(c, expected)
                    ):
                        halted = False
                        break
            finally:
                self.close()  # what came before a fault counts
        except Fault as fault:
            return fault.failure, str(fault)
        except OtherGeometry as reason:
            for check in self.checks:
                check.drop(str(reason))
            return "", ""
        if halted and not (it is not None and it.extra.get("halt")):
            return "crashed", ended(expected)
        for check in self.checks:
            try:
                _blaming(check.statement, check.end, halted)
            except Unclaimed as missing:
                check.drop(str(missing))
        return "", ""

    @staticmethod
    def listens(check: Check, t: int) -> bool:
        """Whether a check needs w_t; of a refuted run the first few are kept, for its cause."""
        return not check.done or (t < EARLY and check.tally.broken is not None)

    def due(self, it: View) -> bool:
        """Take in the next iterate: whether it is time to check what came."""
        if self.trouble is not None:
            raise self.trouble
        if it.t < EARLY:
            self.case.early.append(it.w)  # a copy of our own
        self.waiting.append(it)
        if self.together == 1:
            return True
        it.keep()
        return len(self.waiting) >= 2 * self.together  # the solver asks for no pass

    def use_time(self) -> None:
        """Check while the solver waits for its pass, and let it see nothing of what goes wrong."""
        if len(self.waiting) >= self.together:
            try:
                self.check()
            except Exception as error:
                self.trouble = error

    def check(self) -> None:
        """Check the iterates that wait."""
        waiting, self.waiting = self.waiting, []
        for it in waiting:
            for kind, last in list(self.histories.items()):
                if it.t <= last:
                    self._tell(kind, it)
            self._see(it)
            if self.vacuity is not None:
                self.vacuity.see(it)
                if self.vacuity.over:
                    self.vacuity = None

    def _see(self, it: View) -> None:
        case, t = self.case, it.t
        try:
            for check in self.checks:
                # Other checks may prolong the run, and must not change what this one sees.
                if check.done or t > check.asked:
                    continue
                case.declared = check.statement.history
                try:
                    check.see(it)
                except Unclaimed as missing:
                    check.drop(str(missing))
        except ProblemError:
            raise
        except Exception as error:
            raise check.statement.error(raised(error), error) from error
        finally:
            case.declared = None

    def _tell(self, kind: Any, it: View) -> None:
        """Tell a history; a claim that it cannot go on with ends the run for those who need it."""
        try:
            try:
                self.case.history(kind).update(it)
            except (ProblemError, Unclaimed):
                raise
            except Exception as error:
                raise StatementError.at(kind.__name__, kind.update, raised(error), error) from error
        except (Fault, Unclaimed) as ended:
            del self.histories[kind]
            for check in self.checks:
                if not check.done and kind in check.statement.history:
                    if isinstance(ended, Unclaimed):
                        check.drop(str(ended))
                    else:
                        check.fail(ended.failure, str(ended))

    def close(self) -> None:
        """The run is over."""
        if self.trouble is not None:
            raise self.trouble
        self.check()
        if self.vacuity is not None:
            self.vacuity.close()
