"""Checks of statements: a run of a solver with all that is claimed of it, or one claim alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from scipy.special import betaincinv

from gammabar.harness.verify.certified import TooLarge
from gammabar.harness.verify.context import Case
from gammabar.harness.verify.evaluate import Check, IterateCheck, Tally
from gammabar.harness.verify.iterate import Fault, Unclaimed, View, begin_run, narrow
from gammabar.harness.verify.numbers import (
    LEVELS,
    ROUNDING,
    VIOLATED,
    Number,
    Relation,
    Trit,
    ball,
    listed,
    log,
    middle,
    number,
    run_rounding,
    sqrt,
    total,
    upper,
    working,
)
from gammabar.harness.verify.statement import RandomisedStatement, Statement
from gammabar.harness.verify.verdict import Ruling, StatementError, Status, Verdict, raised
from gammabar.problems import ProblemError
from gammabar.problems.problem import require_doubles
from gammabar.solvers.base import OtherGeometry

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
    if statement.about_runs:
        raise ProblemError(f"{statement.id} is about a run of a solver")
    check = _count_failures if isinstance(statement, RandomisedStatement) else _check_once
    try:
        verdict: Verdict = _blaming(statement, check, statement, case)
        require_doubles()  # a solver may have been run
        if narrow() and verdict.verdict is Ruling.REFUTED:
            reason = f"violated, but the iterates are {narrow()}: compute in float64"
            return replace(verdict, verdict=Ruling.UNDECIDED, reason=reason)
        return verdict
    except Unclaimed as missing:
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=str(missing))
    except Fault as fault:
        return Verdict(statement.id, "undecided", reason=str(fault), failure=fault.failure)


def _check_once(statement: Statement, case: Case) -> Verdict:
    """The verdict on a direct statement."""
    if statement.status is Status.NOT_REPRODUCIBLE:
        reason = str(statement.body(case))
        return Verdict(statement.id, Ruling.NOT_REPRODUCIBLE, reason=reason)
    found = _weighed(statement, case, statement.body).verdict()
    if found.verdict is not Ruling.HOLDS:
        return found
    telling = _idle_fails(statement, case, statement.body)
    return replace(found, informative=found.checked if telling else 0)


def _weighed(
    statement: Statement, case: Case, body: Callable[[Case], Any], once: bool = False
) -> Tally:
    """What is claimed, decided; `once`: more digits are for what the claim has kept alone."""
    tally = Tally(statement.id)
    case.forget()  # runs of its solver, which are made once and checked at every level

    def claim(level: int) -> list[Relation]:
        if level and once and not case.remembers:
            raise TooLarge("the first run counts, and was not kept")
        case.level = level
        return listed(body(case), needed=True)

    with working(LEVELS[0]):
        tally.weigh(claim, None, 0.0)
    return tally


def check_run(
    case: Case, statements: list[Statement], iterations: int, most: int | None = None
) -> list[Verdict]:
    """Run the solver of a case once and check all statements about it.

    Claims about every iterate see t = 0, …, iterations. Claims about stopping see as many iterates
    as they need, but not more than `most`: by default `MOST`; of a run that is ``finite``, as a
    recorded one is, no more than others.
    """
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer):
        raise ProblemError(f"iterations must be a whole number, not {iterations!r}")
    if iterations < 1:
        raise ProblemError(f"iterations must be at least 1, not {iterations}")
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
        return [_spared(check.verdict(failure, detail), case, check.tally) for check in checks]


def _spared(verdict: Verdict, case: Case, tally: Tally) -> Verdict:
    """A verdict that is undecided because iterates are narrower than doubles says so."""
    kind = case.precision.named
    if not kind or tally.doubtful is None or verdict.verdict is not Ruling.UNDECIDED:
        return verdict
    return replace(verdict, reason=f"{verdict.reason}: the iterates are {kind}, use float64")


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
    """One run: its checks, and the histories that they share."""

    def __init__(self, case: Case, checks: list[Check], iterations: int, most: int) -> None:
        self.case, self.checks = case, checks
        self.histories: dict[type, int] = {}
        for check in checks:
            limit = check.limit
            check.asked = iterations if limit is None else min(limit, max(most, iterations))
            for kind in () if check.done else check.statement.history:
                self.histories[kind] = max(check.asked, self.histories.get(kind, 0))
        seen = [c for c in checks if isinstance(c, IterateCheck) and not c.done]
        self.vacuity = _Vacuity(case, seen)

    def follow(self) -> tuple[str, str]:
        """Take the iterates as they come: how the solver failed, and words for it, or ""."""
        expected, halted, it = 0, True, None
        try:
            try:
                for it in self.case.views():
                    if it.t != expected:
                        raise Fault(f"iterates count 0, 1, 2, …, but {it.t} came for {expected}")
                    self.check(it)
                    expected += 1
                    if not any(
                        expected <= c.asked for c in self.checks if self.listens(c, expected)
                    ):
                        halted = False
                        break
            finally:
                self.vacuity.close()  # what came before a fault counts
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

    def check(self, it: View) -> None:
        """Check the next iterate."""
        if it.t < EARLY:
            self.case.early.append(it.w)  # a copy of our own
        for kind, last in list(self.histories.items()):
            if it.t <= last and kind in self.histories:
                self._tell(kind, it)
        self._see(it)
        self.vacuity.see(it)

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
            self.case.history(kind).update(it)
        except (Fault, Unclaimed) as ended:
            for check in self.checks:
                if not check.done and kind in check.statement.history:
                    if isinstance(ended, Unclaimed):
                        check.drop(str(ended))
                    else:
                        check.fail(ended.failure, str(ended))
            # Others may read this one.
            needed = {k for c in self.checks if not c.done for k in c.statement.history}
            self.histories = {k: t for k, t in self.histories.items() if k in needed}
        except ProblemError:
            raise
        except Exception as error:
            raise StatementError.at(kind.__name__, kind.update, raised(error), error) from error


# --- claims with a probability: failures are counted, binomial bounds decide

#: Confidence of the statistical verdicts: 1 − CHANCE for each of them.
CHANCE = 1e-4


def _count_failures(statement: RandomisedStatement, case: Case) -> Verdict:
    """Count failures in a number of runs fixed in advance; exact binomial bounds decide.

    The first run counts: where it cannot be decided at level 0, it is looked at again if the claim
    keeps it (`Case.remember`), and is a doubt otherwise; the solver never gets another try.
    """
    failures = doubts = silent = escalated = 0
    for run in range(statement.runs):
        tally = _weighed(statement, case, partial(_one_run, statement, run), once=True)
        failures += tally.broken is not None
        silent += not tally.checked
        doubts += tally.broken is None and (tally.doubtful is not None or not tally.checked)
        escalated += tally.escalated
    if silent == statement.runs:
        reason = f"nothing to check in any of {silent} runs"
        return Verdict(statement.id, Ruling.INAPPLICABLE, reason=reason)
    # A run that cannot be decided, or in which nothing was compared, counts against whatever is to
    # be shown.
    low, _ = _clopper_pearson(failures, statement.runs, CHANCE)
    _, high = _clopper_pearson(failures + doubts, statement.runs, CHANCE)
    delta = float(statement.delta)
    ruling = Ruling.HOLDS if high <= delta else Ruling.REFUTED if low > delta else Ruling.UNDECIDED
    informative = None
    if ruling is Ruling.HOLDS:  # all runs, if a solver that does not move fails in the first one
        fails = _idle_fails(statement, case, partial(_one_run, statement, 0))
        informative = statement.runs if fails else 0
    return Verdict(
        statement.id,
        ruling,
        tightness=high / delta if delta else None,
        slack=delta - high,
        checked=statement.runs - silent,
        escalated=escalated,
        reason=f"{failures} failures in {statement.runs} runs fixed in advance: the probability of"
        f" failure lies in [{low:.3g}, {high:.3g}] with confidence 1 − {CHANCE:g}",
        left=f"{high:.6g}",
        right=f"{delta:.6g}",
        what="P(failure) ≤ δ",
        informative=informative,
    )


def expected_value(values: Sequence[Number], most: Number | float) -> Number:
    """E V, from independent values of V in [0, most] whose number was fixed in advance.

    The ball contains it with probability 1 − CHANCE: the empirical Bernstein bound of A. Maurer and
    M. Pontil (2009), Theorem 4, on both sides.
    """
    n, most = len(values), number(most)
    if n < 2 or any(value < 0 or value > most for value in values):
        raise ValueError(f"expected_value needs two or more values in [0, {middle(most):g}]")
    mean = total(values) / n
    # Bounded from above, since Arb's roots of balls around zero are NaN.
    variance = number(upper(total((v - mean) * (v - mean) for v in values) / (n - 1)))
    surety = log(4 / number(CHANCE))
    spread = sqrt(2 * variance * surety / n) + 7 * most * surety / (3 * (n - 1))
    return mean + ball(0.0, upper(spread))


def _one_run(statement: RandomisedStatement, run: int, case: Case) -> Any:
    return statement.run(case, case.rng(run))


def _clopper_pearson(failures: int, runs: int, chance: float) -> tuple[float, float]:
    """Exact confidence interval for a probability; each side errs with probability chance/2."""
    low = float(betaincinv(failures, runs - failures + 1, chance / 2)) if failures else 0.0
    if failures == runs:
        return low, 1.0
    return low, float(betaincinv(failures + 1, runs - failures, 1 - chance / 2))


# --- vacuity: would a solver that never moves have passed, too?
#
# A bound that is larger than anything it could be violated by says nothing, and every solver
# passes it. So each claim is also put to idle solvers: one that stays at w = 0, one that stays
# where the run started, and one that makes the first step of the run and no other. They claim what
# the run claimed there. Iterates from the first t on by which all of them have failed (what is
# claimed of them is proved to be false) are *informative*; until then the claim is *vacuous*. An
# idle solver costs no pass over the data, and is no longer checked once it has failed.

#: What is proved to be false; the verdict on a solver is not "holds" then.
_FALSE = frozenset((VIOLATED, ROUNDING))
#: How far the search for the end of a vacuous bound goes.
_FARTHEST = 10**9


class _Idle:
    """A solver that does not move, or makes one step: its case has histories of its own."""

    def __init__(self, case: Case, start: View) -> None:
        self.case = case.apart()
        #: Where it is before its only step and after it, with the claims of the run there.
        self.places = [start if start.w.any() else start.at_zero()]
        self.places[0].keep()  # it is looked at after the run

    def at(self, t: int) -> View:
        """Where it is at t; what is found out about w there is kept for the next time."""
        place = -1 if t else 0
        view = self.places[place] = self.places[place].again(t, self.case)
        return view

    def passes(self, check: IterateCheck, view: View, claim: Callable[[View, Any], Any]) -> Trit:
        """Whether it passes a claim; None where nothing is said of it."""
        if view.t < check.statement.since:
            return True
        relations = listed(claim(view, self.case))
        return False if _fails(relations, view) else True if relations else None

    def silent(self, checks: list[IterateCheck], last: int) -> dict[IterateCheck, list[int]]:
        """The t ≤ last at which it does not pass claims that remember, which see it from t = 0 on.

        What it has failed once it does not pass later. Where nothing is said of it, but of the run,
        that is no pass. Where a claim cannot be evaluated, nothing is known from there on.
        """
        found: dict[IterateCheck, list[int]] = {check: [] for check in checks}
        parts = {check: check.statement.parts(self.case) for check in checks}
        told = {check: frozenset(check.told()) for check in checks}
        for t in range(last + 1):
            if not parts:
                break
            view = self.at(t)
            updated: dict[type, bool] = {}
            for check, (update, claim) in list(parts.items()):
                try:
                    for kind in check.statement.history:
                        if kind not in updated:
                            updated[kind] = False
                            self.case.history(kind).update(view)
                            updated[kind] = True
                        if not updated[kind]:
                            raise Unclaimed
                    if update is not None:
                        update(view)
                    passes = self.passes(check, view, claim)
                except Exception:
                    check.telling = False
                    del parts[check]
                    continue
                if passes is False:
                    found[check] += range(t, last + 1)
                    del parts[check]
                elif passes is None and t in told[check]:
                    found[check].append(t)
        return found


class _Vacuity:
    """The idle solvers of one run, asked when it is over.

    Claims that remember see them from the start. The others can be put to them at any t: a bound
    that says nothing at first and more and more later is searched for the first t at which all have
    failed by doubling and bisection, which costs next to nothing. Claims that an idle solver is
    known to obey for ever are not put to them.
    """

    def __init__(self, case: Case, checks: list[IterateCheck]) -> None:
        self._checks = [c for c in checks if not (c.statement.at_rest or c.statement.powerless)]
        self._case, self._last = case, 0
        self._idle: list[_Idle] = []

    def see(self, it: View) -> None:
        """See w_t: the first one goes along with the first step."""
        self._last = it.t
        if it.t > 1 or not self._checks:
            return
        if it.t == 1:
            it.keep()
            self._idle[0].places.append(it)
        else:
            starts = [it, it, it.at_zero()] if it.w.any() else [it, it]
            self._idle = [_Idle(self._case, start) for start in starts]

    def close(self) -> None:
        """The run is over: up to which t would idle solvers have passed, or go on to pass?"""
        asked = [c for c in self._checks if not c.done and c.compared]
        along = [c for c in asked if c.statement.remembers]
        self._follow(along)
        for check in asked:
            if check not in along:
                self._search(check)
            if check.uninformed is not None or not check.telling:
                continue
            if check.statement.waits is not None and all(self._unfinished(check)):
                check.vacuous_to, check.uninformed = check.asked - 1, check.compared - 1
            elif check.vacuous_to is None:
                check.vacuous_to = self._last

    def _unfinished(self, check: IterateCheck) -> Iterator[bool]:
        """Whether a run of each that ends here would not settle a claim."""
        for idle in self._idle:
            try:
                assert check.statement.waits is not None
                yield bool(check.statement.waits(idle.at(self._last), idle.case))
            except Exception:
                yield False

    def _follow(self, checks: list[IterateCheck]) -> None:
        """The first t of the run at which no idle solver passes, for claims that remember.

        As long as one passes to the end, the others need not be asked.
        """
        common = dict.fromkeys(checks, frozenset(range(self._last + 1)))
        for idle in self._idle:
            still = [check for check in checks if common[check]]
            for check, times in idle.silent(still, self._last).items():
                common[check] &= frozenset(times)
        for check in checks:
            if common[check]:
                first, check.telling = min(common[check]), True
                check.vacuous_to = first - 1
                check.uninformed = sum(t < first for t in check.told())

    def _search(self, check: IterateCheck) -> None:
        """The first t at which all idle solvers fail, among those of the run or later ones.

        Of the run only those count at which something was claimed: a claim may be about one t.
        """
        told, order = check.told(), list(self._idle)

        def time(place: int) -> int:
            return told[place] if place < len(told) else self._last + 1 + place - len(told)

        def passes(place: int) -> bool:
            for idle in order:
                try:
                    _, claim = check.statement.parts(idle.case)
                    passed = idle.passes(check, idle.at(time(place)), claim)
                except Exception:
                    check.telling = False
                    return True
                if passed:
                    order.remove(idle)  # it is asked first the next time
                    order.insert(0, idle)
                    return True
            return False

        low, high, end = -1, 0, len(told) - 1
        while passes(high):
            if not check.telling:
                return
            if high > _FARTHEST:
                check.vacuous_to = self._last
                return
            # The last iterate of the run is asked in any case.
            low, high = high, end if high < end < 2 * high + 1 else 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if passes(middle) else (low, middle)
        check.vacuous_to = time(high) - 1
        if high <= end:
            check.uninformed = high


def _fails(relations: list[Relation], it: View) -> bool:
    """Whether an iterate cannot pass: what is claimed of it is proved to be false.

    Or it is a comparison with what is infinite because w = 0, where nothing is rounded: more digits
    would not make it certain. What it says beside w is left out: that is the run's, and false of an
    idle solver.
    """
    open_ = [relation for relation in relations if not relation.certain()]
    if not open_:
        return False
    rounding = run_rounding(it.n, it.space.dimension, it.t)
    if any(r.decide(rounding) in _FALSE for r in open_ if not r.said):
        return True
    finite = all(r.left.is_finite() and r.right.is_finite() for r in open_)
    return not finite and not it.w.any()


def _idle_fails(statement: Statement, case: Case, body: Callable[[Case], Any]) -> bool:
    """Whether a claim that runs a solver by itself would refute one that does not move.

    Where there is no solver of the user's, the claim itself is checked, and all that was compared
    speaks about it.
    """
    if case.solver is None or not statement.solvers:
        return True
    with working(LEVELS[0]):
        for at in (0, 1):
            still = case.apart()
            still.level, still.solver = 0, _idle_solver(case.solver, at)
            if still.solver is None:
                return True
            try:
                claimed = listed(body(still), needed=True)
            except Exception:
                return False  # nothing is known of it
            if all(r.decide(0.0) not in _FALSE for r in claimed):
                return False
    return True


def _idle_solver(solver: Any, at: int) -> Any:
    """The same solver, with the same options, which goes on to t = `at` and then stays there.

    None if it cannot be made: what has no iterates cannot stay anywhere.
    """
    kind = type(solver)
    if not callable(getattr(solver, "iterates", None)):
        return None

    def iterates(self: Any, problem: Any, rng: Any = None) -> Iterator[Any]:
        for it in kind.iterates(self, problem, rng):
            yield it
            if it.t >= at:
                break
        for t in count(at + 1):
            yield replace(it, t=t)

    still = copy(solver)
    try:  # as the class itself would have it: a frozen one lets nobody write
        object.__setattr__(still, "__class__", type(kind.__name__, (kind,), {"iterates": iterates}))
    except TypeError:
        return None
    return still
