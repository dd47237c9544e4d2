"""Iterates as statements see them: copies of what a solver yields, and facts about them as balls.

A solver may go on with its arrays, and statements look back: so everything is copied when it is
yielded. What is no array of real numbers that doubles hold exactly is refused, for a conversion
would check something else than was delivered.

Only t and w are taken on trust as *the iterate*; scores, norms and dual weights are recomputed
here, or taken from what the problem itself answered for that very w (`ObservedProblem`). What the
solver claims besides (``momentum``, ``dual``, and in ``extra`` further sequences) is there to be
checked.
"""

from __future__ import annotations

import math
from array import array as buffer
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from decimal import Decimal
from functools import cached_property
from itertools import islice
from math import isfinite
from numbers import Number as AnyNumber
from operator import index
from threading import local
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from gammabar.harness.verify.certified import Floats, Space, TooLarge, Vec
from gammabar.harness.verify.numbers import (
    LEVELS,
    ROUNDOFF,
    SAFETY,
    Number,
    Trit,
    ball,
    exp,
    log,
    number,
    smallest,
    total,
    working,
)
from gammabar.problems import Problem, SoftMin
from gammabar.problems.exact import rounded
from gammabar.problems.linear import LinearProblem
from gammabar.problems.problem import Array

if TYPE_CHECKING:
    from gammabar.harness.verify.context import Case
    from gammabar.solvers import Iterate


_DOUBLE = np.dtype(np.float64)
#: Every whole number up to this is a double.
_EXACT = 2**53
#: Decimals of more digits are doubles.
_SHORT = 15


class Fault(BaseException):
    """Ends a run before its time. No `Exception`, so that no solver can swallow it by accident.

    ``failure`` is what `gammabar.harness.verify.verdict.Verdict` says of the solver.
    """

    failure = "crashed"


class NotFinite(Fault):
    """An iterate with entries that are infinite or no numbers."""

    failure = "not finite"


_NOTICED = local()


def begin_run() -> None:
    """Nothing has been noticed of the run that begins."""
    _NOTICED.narrow = ""


def narrow() -> str:
    """The type of the iterates of this run, if it rounds more than doubles do; "" otherwise.

    What holds of them holds of the numbers that they are. But bounds on the rounding of a right
    run are those of doubles, so nothing refutes such a run.
    """
    return str(getattr(_NOTICED, "narrow", ""))


def taken_vector(value: Any, name: str) -> Floats:
    """A copy in doubles of what a solver yields as a vector."""
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        return value.copy()
    array = _numbers(value, name)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        _NOTICED.narrow = str(array.dtype)
    return _doubles(array, name)


def _taken_over(value: Any, name: str) -> Any:
    """A copy of what a solver claims beside w: arrays, also in lists, tuples and dictionaries."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        return value.copy()
    if isinstance(value, np.ndarray):
        array = _numbers(value, name)
        doubles = _doubles(array, name)  # whole numbers stay such: they may be indices
        return doubles if array.dtype.kind == "f" else np.array(array)
    if isinstance(value, Mapping):
        return {key: _taken_over(one, f"{name}[{key!r}]") for key, one in value.items()}
    if isinstance(value, list | tuple):
        parts = [_taken_over(one, f"{name}[{k}]") for k, one in enumerate(value)]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, complex | np.complexfloating):
        raise Fault(f"{name} is complex")
    if isinstance(value, np.floating):
        return float(_doubles(np.asarray(value), name))
    if isinstance(value, np.integer | np.bool_ | AnyNumber | str | bytes):
        return value
    if hasattr(value, "__array__") or isinstance(value, buffer | memoryview | bytearray):
        return _taken_over(np.asarray(value), name)  # the solver's own memory
    try:
        return deepcopy(value)
    except Exception as error:
        raise Fault(f"{name} is {type(value).__name__}, and cannot be copied: {error}") from None


def _finite_square(array: Floats) -> float | None:
    """The sum of the squares of a vector or number; None where some entry is not finite."""
    square = float(array.dot(array))
    # A finite sum of squares has finite terms; an infinite one may have them, too.
    return square if isfinite(square) or np.isfinite(array).all() else None


def claimed_numbers(value: Any, shape: tuple[int, ...]) -> Floats | str:
    """A claim as doubles of this shape, or what keeps it from being that.

    The answer of a text goes on with the name of the claim: "μ_t" + " has shape (3,), not (4,)".
    """
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        array: Floats = value
    else:
        try:
            array = _doubles(_numbers(value, "it"), "it")
        except Fault:
            return "is no array of numbers"
    if array.shape != shape:
        return f"has shape {array.shape}, not {shape}"
    return "has entries that are no finite numbers" if _finite_square(array) is None else array


def claimed_number(value: Any) -> float | None:
    """A claim as one number; None if it is none, or not finite."""
    found = None if isinstance(value, bool) else claimed_numbers(value, ())
    return None if found is None or isinstance(found, str) else float(found)


def claimed_row(value: Any, n: int) -> int | None:
    """A claim as the number of a row; None if it is none of 0, …, n − 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return None
    return int(value) if 0 <= value < n else None


def delivered(it: Any) -> SimpleNamespace:
    """An iterate with everything that it carries, taken over: for statements that run a solver."""
    try:
        carried = {**vars(it)}
        t, w = index(carried.pop("t")), carried.pop("w")
    except (TypeError, KeyError):
        raise Fault(f"iterates yields {type(it).__name__}, which has no t and w") from None
    carried.pop("problem", None)  # the harness has its own
    taken = {name: _taken_over(value, f"{name} of t = {t}") for name, value in carried.items()}
    return SimpleNamespace(t=t, w=taken_vector(w, f"w_{t}"), **taken)


def misfit(entries: int, dimension: int, count: int | None = None) -> str:
    """What is wrong with a w of so many entries; of a recorded run there are `count`."""
    said = f"{entries} entries, and rows have {dimension}"
    if count == dimension:
        return (
            f"{said}: rows and columns are exchanged ({count} × {entries} for {entries} × {count})"
        )
    if entries == dimension + 1:
        return f"{said}: an intercept? make it a column of the data, intercept='augmented'"
    return said


def taken_run(iterates: Iterator[Any], length: int) -> list[SimpleNamespace]:
    """So many iterates, taken over one by one."""
    return [delivered(it) for it in islice(iterates, length)]


def _numbers(value: Any, name: str) -> NDArray[Any]:
    """What is given as an array of real numbers."""
    if isinstance(value, np.ma.MaskedArray):
        raise Fault(f"{name} is a masked array; yield a plain one, without a mask")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise Fault(f"{name} is no vector of numbers: {error}") from None
    if array.dtype.kind == "c":
        raise Fault(f"{name} is complex")
    if array.dtype.kind not in "biuf":
        raise Fault(f"{name} is no vector of numbers: it has entries of dtype {array.dtype}")
    if rounded(value, array) is not None:
        raise Fault(f"{name} has whole numbers that are no doubles; yield float64")
    return array


def _doubles(array: NDArray[Any], name: str) -> Floats:
    """Real numbers as doubles, refused where a double does not hold them."""
    with np.errstate(over="ignore"):
        doubles = np.array(array, dtype=np.float64)
    if array.dtype.kind in "iu":
        beyond = (array > _EXACT) | (array < -_EXACT) if array.dtype.itemsize == 8 else False
        wrong = np.any(beyond) and any(
            int(d) != int(v) for d, v in zip(doubles.ravel().tolist(), array.ravel(), strict=True)
        )
    else:
        wrong = array.dtype.itemsize > 8 and bool(np.any((doubles != array) & ~np.isnan(array)))
    if wrong:
        raise Fault(f"{name} has {array.dtype} numbers that are no doubles; yield float64")
    return doubles


class Precision:
    """What the numbers of a run are rounded to, if all of them are float32 or short decimals."""

    #: Whether all are float32; the most digits, and decimal places, that a number has.
    single, digits, places = True, 0, 0
    #: The smallest norm, of iterates that are not zero; whether all are sums of rows over 2n.
    least, exact = math.inf, True

    def __init__(self, case: Case) -> None:
        self.case = case
        #: Some numbers that are no float32. A few short ones do not mean that a solver rounds
        #: all of them; in recorded iterates one is enough.
        self._seen: set[float] = set()
        self._few = 1 if case.recorded else 3
        #: The last two iterates.
        self.views: deque[View] = deque(maxlen=2)

    def see(self, w: Floats) -> None:
        """The next iterate."""
        if not self._narrow or not w.any() or not np.isfinite(w).all():
            return
        if self.single:
            with np.errstate(over="ignore"):
                self.single = bool((w.astype(np.float32) == w).all())
        for value in () if self.single else w[w != 0].tolist():
            _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
            self.digits = max(self.digits, len(digits))
            self.places = max(self.places, -int(exponent))
            if not self._narrow:
                return
            if len(self._seen) < self._few:
                self._seen.add(abs(value))
        self.least = min(self.least, float(np.linalg.norm(w)))
        self.exact = self.exact and self._sums(w)

    @property
    def _narrow(self) -> bool:
        return self.single or self.digits <= _SHORT

    def _sums(self, w: Floats) -> bool:
        """Whether w is a sum of rows over 2n, by its decimals: such numbers are not rounded."""
        parts = w * (2 * self.case.n * self._grid)
        whole = np.abs(parts - np.round(parts)) <= 1e-12 * np.abs(parts)
        return bool(whole.all() and 0 < np.abs(parts).max() < 1e10)

    @cached_property
    def _grid(self) -> float:
        """Entries of rows are whole numbers over this, or 0; 1 where w holds coefficients."""
        problem = self.case.problem
        if not isinstance(problem, LinearProblem) or problem.n * problem.dimension > 1 << 20:
            return 1.0
        rows = np.array([problem.row(i) for i in range(problem.n)])
        grids = (10.0**k for k in range(7))
        return next((g for g in grids if (np.round(rows * g) / g == rows).all()), 0.0)

    @property
    def named(self) -> str:
        """What all numbers are, for people; "" for doubles."""
        if narrow():
            return narrow()
        if self.exact or not self._narrow or not (self.single or len(self._seen) == self._few):
            return ""
        return "float32 numbers" if self.single else f"decimals of {self.digits} digits"

    @property
    def roundoff(self) -> float:
        """Their unit roundoff, relative to an iterate."""
        kind = self.named
        if not kind:
            return ROUNDOFF
        if kind.startswith("float"):
            return 2.0**-11 if kind == "float16" else 2.0**-24
        if not self.least:
            return math.inf
        fixed = 10.0**-self.places * math.sqrt(self.case.space.dimension) / self.least
        return max(fixed, 10.0 ** (1 - self.digits)) / 2


class ObservedProblem:
    """The problem as a solver gets it: its last answers are noted, each with the point it is for.

    A pass over the data is most of what an iteration costs, and the checks of w_t need the same
    pass. So what `softmin` and `scores` answered is used again if exactly that w is yielded.
    """

    def __init__(self, problem: Problem, keep: int = 4) -> None:
        self._problem = problem
        self._soft: deque[tuple[Floats, SoftMin]] = deque(maxlen=keep)
        self._scores: deque[tuple[Floats, Floats]] = deque(maxlen=keep)

    def softmin(self, w: Array, temperature: float = 1.0) -> SoftMin:
        soft = self._problem.softmin(w, temperature)
        if temperature == 1:
            # Copies: a solver may go on with its arrays, or change what it was given (not scores).
            kept = SoftMin(soft.smallest, soft.logsumexp, soft.pull.copy(), soft.scores)
            self._soft.appendleft((np.array(w, dtype=np.float64), kept))
        return soft

    def scores(self, w: Array) -> Floats:
        scores = self._problem.scores(w)
        self._scores.appendleft((np.array(w, dtype=np.float64), scores.copy()))
        return scores

    def noted_soft(self, w: Floats) -> SoftMin | None:
        """What `softmin` answered for w at temperature 1."""
        return next((soft for point, soft in self._soft if (point == w).all()), None)

    def noted_scores(self, w: Floats) -> Floats | None:
        """The scores of w, if they were computed."""
        soft = self.noted_soft(w)
        if soft is not None:
            return soft.scores
        return next((s for point, s in self._scores if np.array_equal(point, w)), None)

    # A view of another scale is not observed: its answers are no answers for this one.

    def unit(self) -> Problem:
        return self._other(self._problem.unit())

    def raw(self) -> Problem:
        return self._other(self._problem.raw())

    def _other(self, view: Problem) -> Any:
        return self if view is self._problem else view

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_problem", "_soft", "_scores"):
            raise AttributeError(name)  # of an object that is not made yet, as `copy` asks
        return getattr(self._problem, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """That of the problem: solvers ask ``isinstance(problem, KernelProblem)``."""
        return type(self._problem)

    def __repr__(self) -> str:
        return repr(self._problem)


#: What a view is made with; all else is computed from it.
_GIVEN = ("case", "level", "t", "space", "n", "dual", "momentum", "extra", "carried", "_base")


class Unclaimed(Exception):
    """A statement needs what the solver does not say."""


class View:
    """The facts about one iterate, at one level of precision.

    Level 0 evaluates vectors in doubles with error bounds; levels 1 and 2 take the doubles of w
    for exact and compute in balls of more bits. Scalars are balls at every level.
    """

    w: Floats
    #: At least Σ_{s≤t} ‖w_s‖: a solver that carries w along is off by roundoffs of that.
    carried: float
    #: What the solver claims besides w: dual weights, momentum, further sequences.
    dual: Any
    momentum: Any
    extra: dict[str, Any]

    def __init__(self, claimed: Iterate, case: Case, last: View | None = None) -> None:
        self.case, self.level = case, 0
        try:
            t = self.t = index(claimed.t)
        except TypeError:
            raise Fault(f"t must be a whole number, not {claimed.t!r}") from None
        self.space: Space = case.space
        self.n = self.space.n
        #: The same iterate at level 0, for those at other levels.
        self._base: View | None = None
        self._made: dict[Any, Any] = {}
        self._levels: dict[int, View] = {}
        self.w = taken_vector(claimed.w, f"w_{t}")
        if self.w.shape != (self.space.dimension,):
            count = len(case.solver) if hasattr(case.solver, "__len__") else None
            raise Fault(f"w_{t} has {misfit(self.w.size, self.space.dimension, count)}")
        square = _finite_square(self.w)
        if square is None:
            raise NotFinite(f"w_{t} has entries that are not finite numbers")
        case.precision.see(self.w)
        case.precision.views.append(self)
        self.here = Vec(self.space, self.w, square=square)
        self.carried = self.here.reach() + (0.0 if last is None else last.carried)
        dual, momentum, extra = claimed.dual, claimed.momentum, claimed.extra
        self.dual = None if dual is None else _taken_over(dual, f"dual of t = {t}")
        self.momentum = None if momentum is None else _taken_over(momentum, f"momentum of t = {t}")
        if extra is not None and not isinstance(extra, dict):
            raise Fault(f"extra of t = {t} is no dictionary")
        self.extra = _taken_over(extra, f"extra of t = {t}") if extra else {}
        halt = self.extra.get("halt")
        if not (halt is None or isinstance(halt, str | int)):
            raise Fault(f'extra["halt"] of t = {t} is {type(halt).__name__}, and not a text')

    def claim(self, name: str) -> Any:
        """What the solver says of itself, where a statement needs it.

        If it says nothing, the statement is inapplicable to this run: `Unclaimed`.
        """
        value = getattr(self, name) if name in ("dual", "momentum") else self.extra.get(name)
        if value is None:
            how = f"{name}=…" if hasattr(self, name) else f"extra={{{name!r}: …}}"
            said = f"the solver does not say its {name} of t = {self.t}"
            raise Unclaimed(f"{said}: yield Iterate(t, w, {how})")
        return value

    @property
    def coarse(self) -> float:
        """How many times more than doubles the run rounds: 1, or more than that for float32 and
        short decimals; infinite where bounds are not in proportion to it any more."""
        precision = self.case.precision
        ratio = 4 * precision.roundoff / ROUNDOFF
        if ratio <= 4:
            return 1.0
        clear = all(view._told_apart(ratio) for view in precision.views)
        return ratio if clear and ratio * self.score_error <= 0.25 else math.inf

    def _told_apart(self, ratio: float) -> bool:
        """Whether rounding by so much more changes no sign and no order of the smallest scores."""
        if not self.w.any():
            return True
        first, second = np.partition(self.score_doubles, 1)[:2] if self.n > 1 else (1.0, 3.0)
        least = min(float(np.abs(self.score_doubles).min()), float(second - first) / 2)
        return least > ratio * self.score_error

    def at(self, level: int) -> View:
        """The same iterate at another level, made once."""
        base = self._base or self
        if not level:
            return base
        if level not in base._levels:
            base._levels[level] = self._with(_GIVEN, w=self.w, level=level, _base=base)
        return base._levels[level]

    def again(self, t: int, case: Case) -> View:
        """The same point and claims at another t, in another case; what is known of w is kept."""
        return self._with(vars(self), t=t, case=case)

    def at_zero(self) -> View:
        """The point w = 0 with the claims of this iterate; scores are 0 there, without rounding."""
        return self._with(_GIVEN, w=np.zeros_like(self.w), score_error=0.0)

    def _with(self, kept: Iterable[str], **changed: Any) -> View:
        view = View.__new__(View)
        vars(view).update({name: vars(self)[name] for name in kept}, _made={}, _levels={})
        vars(view).update(changed)
        return view

    def keep(self) -> None:
        """Be ready to be checked later, when the answers for this iterate are forgotten."""
        if self._soft is None:
            self._noted  # noqa: B018

    def once(self, make: Callable[[View, Case], Any]) -> Any:
        """make(it, case), computed once: what several statements say about an iterate."""
        found = self._made.get(make)
        if found is None:
            found = self._made[make] = make(self, self.case)
        return found

    # scores

    @cached_property
    def score_doubles(self) -> Floats:
        """A w in doubles; each within `score_error` of the truth."""
        if self._base is not None:
            return self._base.score_doubles
        soft = self._soft
        if soft is not None:
            scores, least = soft.scores, soft.smallest
        else:
            noted = self._noted
            scores = self.case.problem.scores(self.w) if noted is None else noted
            least = float(scores.min())
        if not math.isfinite(least):
            raise NotFinite(f"the scores of w_{self.t} leave the range of doubles")
        return scores

    @cached_property
    def score_error(self) -> float:
        """How far `score_doubles` may be off."""
        return self.space.score_error(self.w, self.here.square)

    @cached_property
    def score_errors(self) -> Floats:
        """The same row by row."""
        return self.space.score_errors(self.w) if self.w.any() else np.zeros(self.n)

    @cached_property
    def scores(self) -> list[Number]:
        """A w, row by row: for small problems."""
        if self.level:
            return self.space.exact_scores(self.w, np.arange(self.n))
        return [ball(v, self.score_error) for v in self.score_doubles.tolist()]

    @cached_property
    def smallest(self) -> Number:
        """min_i (A w)_i."""
        doubles, error = self.score_doubles, self.score_error
        soft = self._soft
        least = float(doubles.min()) if soft is None else soft.smallest
        if not self.level:
            return ball(least, error)
        # Every row that could be the smallest, exactly.
        rows = np.flatnonzero(~(doubles > least + 2 * error * SAFETY))
        return smallest(self.space.exact_scores(self.w, rows))

    @cached_property
    def largest(self) -> Number:
        """max_i (A w)_i."""
        doubles, error = self.score_doubles, self.score_error
        top = float(doubles.max())
        if not self.level:
            return ball(top, error)
        rows = np.flatnonzero(~(doubles < top - 2 * error * SAFETY))  # all, if that is no number
        return -smallest([-s for s in self.space.exact_scores(self.w, rows)])

    @cached_property
    def separates(self) -> Trit:
        """Whether every score is positive."""
        least = self.smallest
        return True if least > 0 else False if least <= 0 else None

    @cached_property
    def misses(self) -> Trit:
        """Whether w does not separate the data: decided exactly; None where that is too much.

        For claims that are about such iterates only: what may separate is not one of them.
        """
        known = self.first_known(lambda view: view.separates)[1]
        return None if known is None else not known

    def first_known(self, ask: Callable[[View], Trit]) -> tuple[int, Trit]:
        """What is known of an iterate at the first level at which it is, and that level."""
        for level, bits in enumerate(LEVELS):
            try:
                with working(bits):
                    found = ask(self.at(level))
            except TooLarge:
                break
            if found is not None:
                return level, found
        return 0, None

    # norms and margins

    @cached_property
    def norm(self) -> Number:
        """‖w‖."""
        return self.here.norm(exact=self.level > 0)

    @cached_property
    def norm_squared(self) -> Number:
        """‖w‖²."""
        return self.space.exact_inner(self.w, self.w) if self.level else self.norm * self.norm

    @cached_property
    def at_origin(self) -> bool:
        """Whether w is known to be 0: nothing is said there of what is divided by ‖w‖.

        Where it is not known (coefficients of a kernel that may cancel), it is not so, and what is
        divided by the ball of ‖w‖ is in doubt, at this level.
        """
        return not self.norm > 0 and (not self.w.any() or bool(self.norm <= 0))

    @cached_property
    def margin(self) -> Number:
        """γ(w) = min_i (A w)_i / ‖w‖, and 0 for w = 0."""
        norm = self.norm
        if not norm > 0 and not self.w.any():
            return number(0)
        return self.smallest / norm

    @cached_property
    def toward(self) -> Number:
        """⟨Aᵀq̄, w⟩ = γ̄ ⟨ū, w⟩, with the oracle's q̄: from the scores of the rows in its support."""
        truth = self.case.truth
        if self.level:
            scores = self.space.exact_scores(self.w, truth.support)
        else:
            doubles = self.score_doubles[truth.support].tolist()
            scores = [ball(v, self.score_error) for v in doubles]
        pairs = zip(truth.numerators, scores, strict=True)
        return total(number(v) * s for v, s in pairs) / number(truth.total)

    # the exponential loss

    @cached_property
    def psi(self) -> Number:
        """ψ(−A w) = ln Σ_i exp(−(A w)_i): minus a smoothed smallest score."""
        if self.level:
            least = self.smallest
            return log(total(exp(least - s) for s in self.scores)) - least
        soft = self.soft
        # Scores off by e move it by e; summing n exponentials and the logarithm add the rest.
        size = abs(soft.logsumexp) + abs(soft.smallest)
        error = self.score_error + ROUNDOFF * SAFETY * (2 * self.n + 64 + 8 * size)
        return ball(soft.logsumexp, error * SAFETY)

    @cached_property
    def pull(self) -> Vec:
        """Aᵀq for q = softmax(−A w), with its error bound; in doubles at every level."""
        if self._base is not None:
            return self._base.pull
        # Scores off by e change each weight by a factor of at most exp(2e).
        growth = 2 * self.score_error * (1 + 2 * self.score_error) if self.score_error < 0.1 else 2
        error = self.space.radius * (growth + ROUNDOFF * (4 * self.n + 128 + self.space.dimension))
        return self.vec(self.soft.pull, error * SAFETY + self.space.lost)

    @cached_property
    def weights(self) -> list[Number]:
        """q = softmax(−A w), row by row: for small problems."""
        least = self.smallest
        raw = [exp(least - s) for s in self.scores]
        mass = total(raw)
        return [v / mass for v in raw]

    @cached_property
    def _soft(self) -> SoftMin | None:
        return self._base._soft if self._base is not None else self.case.observed.noted_soft(self.w)

    @cached_property
    def _noted(self) -> Floats | None:
        """Scores that the solver asked for."""
        return self.case.observed.noted_scores(self.w)

    @cached_property
    def soft(self) -> SoftMin:
        """What one pass over the data says about w."""
        if self._base is not None:
            return self._base.soft
        return self.case.problem.softmin(self.w) if self._soft is None else self._soft

    # vectors

    @cached_property
    def here(self) -> Vec:
        """w as a vector, exactly its doubles."""
        return self.vec(self.w) if self._base is None else self._base.here

    def vec(self, values: Any, err: float = 0.0) -> Vec:
        """Doubles in the representation of w, as a vector with an error bound."""
        return Vec(self.space, np.asarray(values, dtype=np.float64), float(err))

    def numbers(self, values: Any) -> list[Number]:
        """Doubles, taken for exact, as balls."""
        return [arb(v) for v in np.asarray(values, dtype=np.float64).tolist()]
