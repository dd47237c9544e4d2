"""Contexts of checks: a problem, a solver, and the truth about the problem."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from flint import ctx

from gammabar.harness.verify.certified import Floats, Space, space_of
from gammabar.harness.verify.iterate import ObservedProblem, Precision, Unclaimed, View
from gammabar.harness.verify.numbers import LEVELS, Number, between, log, number, precision, sqrt
from gammabar.oracle import Truth, solve
from gammabar.problems import DenseProblem, Problem, ProblemError, SparseProblem
from gammabar.solvers.base import Recorder, with_options, with_plain_options


@dataclass(frozen=True)
class Trial:
    """A planned run of one solver, in which all statements about that solver are checked."""

    #: As ``gammabar verify`` takes them: "dual-acceleration:loss=logistic,step=0.5", and
    #: "iris:0,1 --kernel rbf:gamma=1".
    solver: str
    problem: str
    #: Claims about every iterate are checked at t = 0, …, iterations.
    iterations: int = 200
    #: Of the solver's random numbers.
    seed: int = 0


#: Digits of γ̄ beyond level 0, where it is no root of a rational.
_FINER = 90
#: Iterates of a solver that a function starts.
_Watch: TypeAlias = Callable[[Callable[[], Iterator[Any]]], Iterator[Any]]
_MARGINS: dict[tuple[str, float], Number] = {}
_TRUTHS: OrderedDict[tuple[str, ...], Truth] = OrderedDict()


def _margin_in(problem: Any, q: float) -> Number:
    """The ℓ_q margin in the units of the data."""
    from gammabar.oracle.l1 import solve_l1
    from gammabar.oracle.lp import solve_lq
    from gammabar.oracle.rational import integer_rows

    integers, exponent = integer_rows(problem.X, np.arange(problem.n))
    signed = integers * np.asarray(problem.y, dtype=object)[:, None]
    if q == 1:
        found = solve_l1(signed.tolist(), Fraction(2) ** exponent, signed=True)
        return between(number(found.value_lo), number(found.value_hi))
    rows = np.asarray(signed, dtype=np.float64)
    if (rows != signed).any():
        raise Unclaimed("some row is not a vector of doubles up to one power of two")
    truth = solve_lq(rows, q)
    return between(number(truth.low), number(truth.high)) * number(2) ** exponent


def steered(solver: Any, **options: Any) -> Any:
    """A solver with the options that a statement chooses, or `Unclaimed` if they cannot be set."""
    found = with_options(solver, **options)
    if found is None:
        names = ", ".join(options)
        raise Unclaimed(f"the statement sets {names}: the solver is no dataclass with such options")
    return found


def positive(case: Case, name: str, above: float = 0) -> Any:
    """An option of the solver that is a number above `above`, as papers ask for; None if it has
    none of that name. If it is something else, no claim is about such a run: `Unclaimed`."""
    value = getattr(case.solver, name, None)
    if value is None or (isinstance(value, Real) and above < float(value) < inf):
        return value
    raise Unclaimed(f"the solver's {name} is {value!r}, and not a number above {above:g}")


class Case:
    """A problem and a solver, as statements see them.

    `problem` is in the units of its data, or None for statements that bring their own; with `unit`
    its rows are divided by their largest norm. `name` is what the user calls it. `watch` is given a
    function that starts the solver, and yields its iterates: for solvers that are not trusted to
    behave. `level` is the precision at which a direct statement is examined.
    """

    def __init__(
        self,
        problem: Problem | None = None,
        solver: Any = None,
        *,
        unit: bool = False,
        name: str = "",
        seed: int = 0,
        watch: _Watch | None = None,
    ) -> None:
        self.given, self.unit, self._watch = problem, unit, watch
        self.solver: Any = None if solver is None else with_plain_options(solver)
        self.name, self.seed, self.level = name, seed, 0
        self._balls: dict[tuple[str, int], Number] = {}
        self._shared: dict[type, Any] = {}
        self._finer: Truth | None = None
        self._memory: dict[str, Any] = {}
        #: What a claim that brings its own data is put to instead, see `instances`.
        self.inputs: dict[str, Any] | None = None
        #: Kinds of history that the statement which is asked has declared; None: nobody is asked.
        self.declared: Collection[type] | None = None
        #: w_0, w_1, … of the run, a few of them; and what their numbers are rounded to.
        self.early: list[Floats] = []
        self.precision = Precision(self)

    @cached_property
    def problem(self) -> Problem:
        """The problem in the convention of the trial."""
        if self.given is None:
            raise ProblemError("this case has no problem")
        if self.given.intercept == "free":
            raise ProblemError(
                "what the papers claim is about hyperplanes through the origin: no solver here has "
                "a free intercept (intercept='augmented' makes a coordinate of it)"
            )
        return self.given.unit() if self.unit else self.given

    @cached_property
    def space(self) -> Space:
        """Norms and scores of the problem."""
        return space_of(self.problem)

    @cached_property
    def observed(self) -> Any:
        """The problem as the solver gets it: an `ObservedProblem`."""
        return ObservedProblem(self.problem)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.problem.n

    @property
    def log_n(self) -> Number:
        """ln n."""
        return self.once("log n", lambda: log(self.n))

    def instances(self, own: Iterable[Any]) -> Iterable[Any]:
        """What a claim about its own data is put to: the data that it lists, or one other choice,
        a value for each input that it declares (see `gammabar.harness.verify.parameters`)."""
        return own if self.inputs is None else (tuple(self.inputs.values()),)

    # the truth

    @cached_property
    def truth(self) -> Truth:
        """What the oracle proved about the problem."""
        problem = self.problem.raw()
        more = (str(getattr(problem, name, "")) for name in ("kernel", "normalised", "k"))
        key = type(problem).__name__, problem.digest(), *more
        if key not in _TRUTHS:
            _TRUTHS[key] = solve(problem)
            while len(_TRUTHS) > 64:
                _TRUTHS.popitem(last=False)
        return _TRUTHS[key]

    @property
    def separable(self) -> bool | None:
        """Whether some w has only positive scores; None where the oracle cannot tell."""
        return self.truth.separable

    @property
    def gamma_squared(self) -> Number:
        """γ̄², in the convention of `problem`; 0 for data that are not separable."""
        return self.once("gamma squared", self._gamma_squared)

    def _gamma_squared(self) -> Number:
        truth = self._finer_truth() if precision() > LEVELS[0] else self.truth
        low, high = truth.unit_squares if self.unit else (truth.square_lo, truth.square_hi)
        return number(low) if low == high else between(number(low), number(high))

    @property
    def gamma(self) -> Number:
        """γ̄, in the convention of `problem`; 0 for data that are not separable."""
        return self.once("gamma", lambda: sqrt(self.gamma_squared))

    def _finer_truth(self) -> Truth:
        """The truth to more digits, where it is an enclosure: escalation must narrow γ̄ as well."""
        if self.truth.exact:
            return self.truth
        if self._finer is None:
            self._finer = solve(self.problem.raw(), digits=_FINER)
        return self._finer

    @property
    def radius(self) -> Number:
        """The largest norm of a row of `problem`: 1 in the unit convention (0 if all are zero)."""
        return self.once("radius", self._radius)

    def _radius(self) -> Number:
        square = self.truth.radius_squared
        return number(1) if self.unit and square > 0 else sqrt(number(square))

    def margin_in(self, q: float) -> Number:
        """The ℓ_q margin max_{‖w‖_q ≤ 1} min_i ⟨a_i, w⟩, q ≥ 1, in the convention of `problem`.

        For rows in ℝᵈ. It is exact for q = 2, and where `oracle.l1` and `oracle.lp` are for q = 1
        and q = ∞; an enclosure otherwise.
        """
        if q == 2:
            return self.gamma
        raw = self.problem.raw()
        if not isinstance(raw, DenseProblem | SparseProblem):
            raise Unclaimed("a margin in ℓ_q needs rows in ℝᵈ")
        key = raw.digest(), float(q)
        if key not in _MARGINS:
            _MARGINS[key] = _margin_in(raw, float(q))
        return _MARGINS[key] * self.space.unit_factor

    @property
    def mistake_bound(self) -> Any:
        """(R/γ̄)², an exact rational wherever γ̄² is one, so that a count can be equal to it."""
        truth = self.truth
        if self.n == 1 and truth.separable:
            return 1  # a row is its own separator, also where its norm is no rational
        if truth.exact and truth.separable:
            return truth.radius_squared / truth.square_lo
        return self.radius**2 / self.gamma_squared

    @cached_property
    def q_bar(self) -> list[Any]:
        """q̄, one exact rational (Fraction) per row; where γ̄ is enclosed, a nearly optimal q."""
        dense = [Fraction(0)] * self.n
        for i, v in zip(self.truth.support.tolist(), self.truth.numerators, strict=True):
            dense[i] = Fraction(v, self.truth.total)
        return dense

    def once(self, name: str, make: Callable[[], Number]) -> Number:
        """A number that depends on the case alone, computed once at each precision."""
        key = name, ctx.prec
        found = self._balls.get(key)
        if found is None:
            found = self._balls[key] = make()
        return found

    # runs

    def remember(self, name: str, make: Callable[[], Any]) -> Any:
        """make(), called once while a direct or randomised statement is checked, at any level.

        A claim that is not certain is evaluated again with more digits. The run of the solver must
        not be: one with randomness of its own would get another try. So this is for what a solver
        delivers, never for balls, which are to become narrower.
        """
        if name not in self._memory:
            self._memory[name] = make()
        return self._memory[name]

    def forget(self) -> None:
        """A new run begins."""
        self._memory.clear()

    @property
    def remembers(self) -> bool:
        """Whether this run can be looked at again."""
        return bool(self._memory)

    def rng(self, *more: int) -> np.random.Generator:
        """The random numbers of this case (and of one run of several)."""
        return np.random.default_rng([self.seed, *more])

    def views(self, solver: Any = None, rng: np.random.Generator | None = None) -> Iterator[View]:
        """The iterates of a solver (default: that of the case) as statements see them."""
        own, rng = solver is None, self.rng() if rng is None else rng
        chosen = self.solver if own else solver

        def start() -> Iterator[Any]:
            return chosen.iterates(self.observed, rng)

        view: View | None = None
        for claimed in self._watch(start) if own and self._watch is not None else start():
            view = View(claimed, self, last=view)
            yield view

    @property
    def recorded(self) -> bool:
        """Whether the user recorded the iterates: in a file, an array or a `Recorder`."""
        return isinstance(self.solver, Recorder)

    def begin(self) -> None:
        """A run begins: sequences of the one before, if there was any, are forgotten."""
        self._shared.clear()
        self.early, self.precision = [], Precision(self)
        if self.recorded:  # its last numbers tell of the first ones, too
            for it in self.solver.iterates():
                self.precision.see(np.asarray(it.w, dtype=np.float64))

    def apart(self) -> Case:
        """The same case for another run: what is known of problem and truth is shared."""
        other = copy(self)
        other._shared, other._memory = {}, {}
        return other

    def history(self, kind: type) -> Any:
        """The one object of a kind in this trial: sequences that several statements need.

        The kind is a class, named in ``history`` of the statements, whose instances are made with
        ``kind(case)``; its ``update(it)`` is called once for every iterate, before any claim is.
        One that statements update themselves says so: ``by_itself = True``.
        """
        # One that nobody updates would say the same for ever, and one that others have declared
        # would say something else in other company.
        if (
            self.declared is not None
            and kind not in self.declared
            and hasattr(kind, "update")
            and not getattr(kind, "by_itself", False)
        ):
            name = kind.__name__
            raise TypeError(f"it asks for case.history({name}) without history=({name},)")
        found = self._shared.get(kind)
        if found is None:
            found = self._shared[kind] = kind(self)
        return found
