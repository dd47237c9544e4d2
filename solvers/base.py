"""What a solver is, and what it yields.

A solver is a small frozen dataclass of hyper-parameters with one method,
``iterates(problem, rng) -> Iterator[Iterate]``, written against the protocol of `problems.Problem`,
so that the same text runs on dense, sparse, kernel and multiclass problems. It never measures
itself and never sees the oracle, and the caller decides when to stop: iterates are endless, but
for methods that exit by themselves in their paper (a perceptron without mistakes), which end after
an iterate with ``extra["halt"]``.

`SOLVERS` lists every solver of the project by name.

A function that yields w_0, w_1, … is a solver, and so is a loop that calls ``record(w)``:

    def mine(problem, step=1.0):
        w = problem.origin()
        while True:
            yield w
            w = w + step * problem.softmin(w).pull

    def trained(problem, record, rate=0.1):
        w = problem.origin()
        while True:
            record(w)
            w = w + rate * problem.softmin(w).pull

The first argument is the problem. ``rng`` and ``record`` are recognised by their names; whatever
else a function takes is an option of the solver.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import Problem, ProblemError, SoftMin
from gammabar.problems.exact import rounded
from gammabar.problems.kernel import Coefficients
from gammabar.problems.output import whole
from gammabar.problems.suggest import did_you_mean

Array = NDArray[Any]
Rng: TypeAlias = np.random.Generator | None
T = TypeVar("T")

ALL_GEOMETRIES = ("dense", "sparse", "kernel", "multiclass")
COORDINATES = ("dense", "sparse", "multiclass")
LECTURE = "Sharan, Lecture 9: SGD, boosting, kernels"


@dataclass(frozen=True)
class Iterate:
    """One iterate of a solver. ``t`` (updates so far) and ``w`` are enough; the rest is derived.

    ``problem`` is filled in by the harness where a solver does not; ``soft`` is what the step
    computed in its pass over the data at ``w``, ``computed`` the scores A w where there is no
    ``soft``, ``dual`` the dual weights where they differ from the softmax, ``momentum`` g_t, and
    ``extra`` has further sequences of the method under the paper's names (``mu``, ``p``, …).
    """

    t: int
    w: Array
    problem: Problem | None = field(default=None, repr=False)
    soft: SoftMin | None = field(default=None, repr=False)
    dual: Array | None = field(default=None, repr=False)
    momentum: Array | None = field(default=None, repr=False)
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    computed: Array | None = field(default=None, repr=False, kw_only=True)

    def on(self, problem: Problem) -> Iterate:
        return self if self.problem is problem else replace(self, problem=problem)

    def _known(self) -> Problem:
        if self.problem is None:
            raise ProblemError("this iterate does not know its problem: use iterate.on(problem)")
        return self.problem

    @cached_property
    def scores(self) -> Array:
        if self.soft is not None:
            return self.soft.scores
        return self._known().scores(self.w) if self.computed is None else self.computed

    @cached_property
    def smallest(self) -> float:
        return float(self.scores.min()) if self.soft is None else self.soft.smallest

    @cached_property
    def norm(self) -> float:
        return self._known().norm(self.w)

    @cached_property
    def margin(self) -> float:
        """γ(w) = min_i (A w)_i / ‖w‖, and 0 for w = 0."""
        return self.smallest / self.norm if self.norm > 0 else 0.0

    @cached_property
    def l1_margin(self) -> float:
        """min_i (A w)_i / ‖w‖₁, and 0 for w = 0: the margin of AdaBoost and Winnow."""
        length = float(np.abs(self.w).sum())
        return self.smallest / length if length > 0 else 0.0

    @cached_property
    def weights(self) -> Array:
        """Dual weights: those of the step, or the softmax of −A w."""
        if self.dual is not None:
            return self.dual
        weights = np.exp(self.smallest - self.scores)
        return weights / weights.sum()


def scored(
    t: int, w: Array, problem: Problem, scores: Array, dual: Array | None = None, **extra: Any
) -> Iterate:
    """An iterate whose scores are known, so that asking for them costs no pass over the data."""
    return Iterate(t, w, problem, dual=dual, extra=extra, computed=scores)


class Solver(Protocol):
    """Anything with ``iterates``."""

    def iterates(self, problem: Problem, rng: Rng = None) -> Iterator[Iterate]: ...


@dataclass(frozen=True)
class Card:
    """What ``gammabar list solvers`` shows of a solver.

    ``geometries`` are of `ALL_GEOMETRIES`, or "functions" and "stumps" for the lecture's.
    ``unit_ball`` says that its theory assumes rows of norm at most one.
    """

    name: str
    reference: str
    geometries: tuple[str, ...]
    unit_ball: bool = False


@dataclass_transform(frozen_default=True)
def declare(
    name: str,
    reference: str,
    geometries: tuple[str, ...] = ALL_GEOMETRIES,
    *,
    unit_ball: bool = False,
    ends: tuple[str, ...] = (),
    positive: tuple[str, ...] = (),
    choices: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Callable[[type[T]], type[T]]:
    """Declare a solver: a frozen dataclass of hyper-parameters, with its `Card`.

    ``ends`` are the values of ``extra["halt"]`` with which the method ends in its paper.
    ``positive`` options must be positive numbers (or None, where that is the default), and
    ``choices`` one of some texts; a ``__post_init__`` of the class checks the others.
    """

    def declared(cls: Any) -> Any:
        further = vars(cls).get("__post_init__")

        def check(self: Any) -> None:
            for option in positive:
                value = getattr(self, option)
                optional = getattr(cls, option) is None
                if not (optional if value is None else 0 < value < math.inf):
                    raise ProblemError(f"option {option} must be a positive number, not {value!r}")
            for option, texts in choices.items():
                if (value := getattr(self, option)) not in texts:
                    raise ProblemError(f"{option} must be one of {', '.join(texts)}, not {value!r}")
            if further is not None:
                further(self)

        cls.card, cls.ends = Card(name, reference, geometries, unit_ball), ends
        cls.__post_init__ = check
        return dataclass(frozen=True)(cls)

    return declared


#: Registry name → class or its name, in the order of the sources. Papers of users add theirs.
SOLVERS: dict[str, Any] = {
    "dual-acceleration": "DualAcceleration",
    "dual-acceleration-dual": "DualForm",
    "adaptive-sampling": "AdaptiveSampling",
    "gradient-descent": "GradientDescent",
    "normalized-gradient-descent": "NormalizedGradientDescent",
    "batch-perceptron-cotter": "HardMarginAscent",
    "lr-gd": "LogisticRegressionGD",
    "normalized-lr-gd": "NormalizedLogisticRegressionGD",
    "batch-perceptron": "BatchPerceptron",
    "normalized-batch-perceptron": "NormalizedBatchPerceptron",
    "perceptron": "Perceptron",
    "normalized-perceptron": "NormalizedPerceptron",
    "winnow": "Winnow",
    "nkp": "NKP",
    "snkp": "SNKP",
    "nvn": "NVN",
    "snkpvn": "SNKPVN",
    "isnkpvn": "ISNKPVN",
    "smooth-gradient-descent": "SmoothGradientDescent",
    "accelerated-gradient-descent": "AcceleratedGradientDescent",
    "sgd": "SGD",
    "adaboost": "AdaBoost",
    "kernel-ridge": "KernelRidge",
}


def solver(name: str) -> Any:
    """The class of a solver, by its name in the registry."""
    if name not in SOLVERS:
        hint = did_you_mean(name, SOLVERS, "see `gammabar list solvers`")
        raise ProblemError(f"{name!r} is no solver ({hint})")
    found = SOLVERS[name]
    return getattr(import_module("gammabar.solvers"), found) if isinstance(found, str) else found


# --- other forms than classes: functions that yield, loops that record, kept iterates --------

#: Where a solver that does not say more is run: there rows are vectors of ℝᵈ.
PLAIN = ("dense", "sparse")
#: Arguments that a function gets by their names.
RECORD, RNG = "record", "rng"


class Recorder:
    """The iterates of a training loop, recorded one by one or given at once.

    The first call of `record` is for w_0, the start; then there is one call per update. Tensors of
    PyTorch may be recorded as they are, also weights of shape (1, d).
    ``gammabar.verify(recorder, problem, "jst.thm3.1.1")`` checks what was kept, and `save` writes
    it for ``gammabar verify --trajectory``.

    Examples
    --------
    >>> import gammabar as gb
    >>> problem = gb.load("iris:0,1").unit()
    >>> recorder, w = gb.Recorder(), np.zeros(4)
    >>> for _ in range(31):
    ...     recorder.record(w)
    ...     w = w + problem.softmin(w).pull
    >>> [verdict] = gb.verify(recorder, problem, "jst.lem3.4.primal")
    >>> verdict.verdict == "refuted", verdict.worst_t
    (True, 2)
    """

    #: It ends when the loop did.
    finite = True

    def __init__(self, iterates: Iterable[Any] = ()) -> None:
        self._kept: list[Array] = []
        for w in iterates:
            self.record(w)

    def record(self, w: Any) -> None:
        """Keep a copy of the next iterate."""
        copy, t = _vector(w, len(self._kept)), len(self._kept)
        if t and copy.shape != self._kept[0].shape:
            raise ProblemError(f"w_{t} has {copy.size} entries, and w_0 has {self._kept[0].size}")
        self._kept.append(copy)

    __call__ = record

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def array(self) -> Array:
        """Shape (T + 1, d): row t is w_t."""
        if not self._kept:
            raise ProblemError("nothing was recorded: call record(w) for w_0 and after each update")
        return np.stack(self._kept)

    def save(self, path: str | Path) -> None:
        """Write an .npy file."""
        if Path(path).suffix != ".npy":
            raise ProblemError(f"{path}: a recorder writes .npy files")
        with whole(path, "wb") as stream:
            np.save(stream, self.array)

    def iterates(self, problem: Any = None, rng: Any = None) -> Iterator[Iterate]:
        return (Iterate(t, w) for t, w in enumerate(self.array))


def _vector(w: Any, t: int) -> Array:
    """A copy of w as an array of one dimension, from tensors and sparse matrices as well.

    A matrix is refused: of several classes w has an order, and a matrix may be either way round.
    """
    for name in ("detach", "cpu", "toarray"):
        with contextlib.suppress(AttributeError):
            w = getattr(w, name)()
    if isinstance(w, np.ma.MaskedArray):
        raise ProblemError(f"w_{t} is a masked array; yield a plain one, without a mask")
    try:
        array = np.array(w)
    except (TypeError, ValueError):  # such as (t, w)
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        what = f"an array of {array.dtype}" if isinstance(w, np.ndarray) else type(w).__name__
        instead = "yield w itself, or gammabar.solvers.Iterate(t=…, w=…)"
        raise ProblemError(f"w_{t} is no vector of numbers, but {what}: {instead}")
    if array.ndim > 1 and array.size > max(array.shape):
        raise ProblemError(
            f"w_{t} is of shape {array.shape}, and no vector; of several classes it is a matrix "
            "with a column for each class, row by row: w.ravel() of that, or w.T.ravel() of one "
            "with a row for each class, as PyTorch has it"
        )
    large = (rounded(w, array) or (None,))[0]
    if array.dtype.kind in "iu" and (np.abs(array.astype(np.float64)) > 2.0**53).any():
        # Beside others of the run they would become doubles, rounded.
        large = next((v for v in array.ravel().tolist() if int(float(v)) != v), large)
        array = array.astype(np.float64)
    if large is not None:
        raise ProblemError(f"w_{t} has the whole number {large}, which is no double")
    return array.reshape(-1)


class OtherGeometry(ProblemError):
    """A solver takes rows for vectors of ℝᵈ where they are not."""


def geometries(solver: Any) -> tuple[str, ...]:
    """The geometries that a solver declares, in an attribute of this name."""
    card = getattr(solver, "card", None)
    return tuple(getattr(solver, "geometries", None) or getattr(card, "geometries", ()) or PLAIN)


def with_rows(problem: Any, solver: Any) -> Any:
    """The problem; with a kernel, one whose `row` refuses a solver that does not declare that."""
    if not isinstance(problem, Coefficients) or "kernel" in geometries(solver):
        return problem

    def row(i: int) -> Any:
        raise OtherGeometry(
            "the solver uses problem.row, and with a kernel w holds coefficients and a row is not a"
            " vector of ℝᵈ: use problem.scores and problem.combine, or declare it, geometries ="
            ' ("dense", "sparse", "kernel")'
        )

    guarded = copy(problem)
    object.__setattr__(guarded, "row", row)
    return guarded


class _FunctionSolver:
    """A function as a solver; its options are attributes. Made by `from_function`."""

    _function: Callable[..., Any]
    _wants: tuple[str, ...] = ()
    _options: dict[str, Any]
    finite = False

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        given = {name: getattr(self, name) for name in self._options}
        given |= {RNG: rng} if RNG in self._wants else {}
        function = partial(self._function, with_rows(problem, self), **given)
        found = _recorded(function) if RECORD in self._wants else function()
        if not isinstance(found, Iterable):
            raise ProblemError(
                f"{type(self).__name__} returned {type(found).__name__}, and no iterates: yield"
                f" w_0, w_1, …, or take an argument {RECORD} and call {RECORD}(w)"
            )
        return counted(found)


def from_function(function: Callable[..., Any], **options: Any) -> _FunctionSolver:
    """A solver from a function that yields iterates or records them; see this module."""
    name = _name(function)
    wants, known = arguments_of(function)
    values = {n: p.default for n, p in known.items()} | options
    for option, value in values.items():
        if option not in known:
            raise ProblemError(f"{name} takes no {option}")
        if value is inspect.Parameter.empty:
            raise ProblemError(
                f"{name} needs a value of {option}: give it one in the file, or as an option"
                f" (:{option}=…); a generator of random numbers is called {RNG}, and what an"
                f" iterate is given to, {RECORD}"
            )
    body = {"_function": staticmethod(function), "_wants": wants, "_options": values}
    body["geometries"] = getattr(function, "geometries", PLAIN)
    made: _FunctionSolver = type(name, (_FunctionSolver,), body | values)()
    made.finite = RECORD in wants
    return made


def _name(function: Any) -> str:
    """What a function is called; a partial one with its arguments: "mine(step=0.5)"."""
    if not isinstance(function, partial):
        return getattr(function, "__name__", "solver")
    given = [*map(repr, function.args), *(f"{k}={v!r}" for k, v in function.keywords.items())]
    return f"{_name(function.func)}({', '.join(given)})"


def arguments_of(
    function: Callable[..., Any],
) -> tuple[tuple[str, ...], dict[str, inspect.Parameter]]:
    """Which of rng and record a function wants, and its options: what follows the problem."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (), {}
    keyword = inspect.Parameter.KEYWORD_ONLY
    if not parameters or parameters[0].kind in (keyword, inspect.Parameter.VAR_KEYWORD):
        name = getattr(function, "__name__", "it")
        raise ProblemError(f"{name} must take a problem: def {name}(problem)")
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, keyword)
    named = [p for p in parameters[1:] if p.kind in kinds]
    wants = tuple(p.name for p in named if p.name in (RNG, RECORD))
    return wants, {p.name: p for p in named if p.name not in wants}


def counted(found: Iterable[Any]) -> Iterator[Iterate]:
    """Iterates, from what may be mere vectors: w_0, w_1, …"""
    for t, one in enumerate(found):
        yield one if isinstance(one, Iterate) else Iterate(t, _vector(one, t))


def has_iterates(solver: T, name: str) -> T:
    """The solver, if it has a method that takes a problem and a random generator."""
    if not callable(getattr(solver, "iterates", None)):
        raise ProblemError(f"{name} has no method iterates(self, problem, rng)")
    try:
        inspect.signature(solver.iterates).bind(None, None)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ProblemError(
            f"{name}.iterates must take a problem and a random generator:"
            " def iterates(self, problem, rng)"
        ) from None
    return solver


class _CountedSolver:
    """An object with ``iterates`` whose iterates may be mere vectors. Made by `from_object`."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # while it is copied, there is no solver yet
            raise AttributeError(name)
        return getattr(self._solver, name)

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        return counted(self._solver.iterates(with_rows(problem, self), rng))


def with_options(solver: Any, **options: Any) -> Any:
    """A solver with other options; None if it is no dataclass that has them."""
    if isinstance(solver, _CountedSolver):
        changed = with_options(solver._solver, **options)
        return None if changed is None else type(solver)(changed)
    if not is_dataclass(solver) or isinstance(solver, type):
        return None
    known = {field.name for field in fields(solver) if field.init}
    return replace(solver, **options) if options.keys() <= known else None


def with_defaults(solver: Any, method: Any) -> Any:
    """A solver with the options of a method where it does not say its own."""
    found = copy(solver)
    for option in fields(method):
        if not hasattr(found, option.name):
            setattr(found, option.name, getattr(method, option.name))
    return found


def with_plain_options(solver: Any) -> Any:
    """A solver whose options are Python's numbers, where they are NumPy's.

    Statements compute with them, and a number of NumPy's is no option there but the result of a
    computation without error bounds.
    """
    inside = solver._solver if isinstance(solver, _CountedSolver) else solver
    attributes = [*map(vars, reversed(type(inside).__mro__)), getattr(inside, "__dict__", {})]
    found = {name: value for some in attributes for name, value in some.items()}
    named = [(n, v) for n, v in found.items() if isinstance(v, np.generic)]
    plain = {n: v.item() for n, v in named if v.dtype.itemsize <= 8 and not n.startswith("_")}
    changed = with_options(solver, **plain) if plain else solver
    if changed is None:
        changed = copy(solver)
        for name, value in plain.items():
            object.__setattr__(changed, name, value)
    return changed


def from_object(solver: Any) -> Any:
    """A solver from an object that yields iterates or vectors; it goes by the object's name."""
    kind = type(solver)
    if kind.__module__.startswith("gammabar.") or isinstance(solver, _FunctionSolver):
        return solver
    card = {"card": kind.card} if hasattr(kind, "card") else {}
    return type(kind.__name__, (_CountedSolver,), card)(solver)


class _Stopped(BaseException):
    """Nobody listens any more. No `Exception`, so that a loop does not go on all the same."""


def _recorded(loop: Callable[..., Any]) -> Iterator[Any]:
    """What a loop records, one by one: the loop waits in a thread until the next one is wanted."""
    heard: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
    count = 0

    def record(w: Any) -> None:
        nonlocal count
        heard.put(("w", w if isinstance(w, Iterate) else _vector(w, count)))
        count += 1
        if not wanted.get():
            raise _Stopped

    def work() -> None:
        try:
            if wanted.get():
                loop(record=record)
            heard.put(("end", None))
        except _Stopped:
            pass
        except BaseException as error:
            heard.put(("error", error))

    threading.Thread(target=work, name="loop", daemon=True).start()
    try:
        while True:
            wanted.put(True)
            what, value = heard.get()
            if what == "error":
                raise value
            if what == "end":
                return
            yield value
    finally:
        wanted.put(False)
