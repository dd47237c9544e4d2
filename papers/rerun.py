"""Checks a witness against a statement that has no refuter: its algorithm is run again, literally.

For statements of one's own about an algorithm of one of the papers. The witness has the rows, the
options and t, and dual weights that prove the margin. Here the rows are taken as the rationals that
they are; the algorithm is that of a paper, word for word (``algorithms.py`` of its package), in
fractions where it is rational and in balls that contain the true values otherwise; the margin is
proved anew; and the statement's own lines say what is claimed of it. Neither a solver nor the
oracle has a part in it.

Accepted is only what is certainly false: a relation whose sides are apart, or a goal that is
certainly not reached at any t up to the bound. Where the state of an exact run repeats, it repeats
for ever: that something never ends is proved so, and not by waiting.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction as Q
from functools import partial, reduce
from importlib import import_module
from re import compile as pattern
from types import SimpleNamespace
from typing import Any

from gammabar.papers.witness import Data, Rejected, TooCostly, rational, vector, whole

#: Bits of the balls, until what is claimed is decided.
PRECISIONS = (192, 768, 3072)
#: Products of numbers that may be computed: rows, columns and iterates multiplied.
MOST = 5e6

Row = dict[int, Any]
#: A column or a row, in one way of writing.
_INDEX = pattern(r"0|[1-9][0-9]{0,8}").fullmatch


class _Known:
    """What a statement may ask for."""

    def __getattr__(self, name: str) -> Any:
        raise Rejected(f"the statement uses {name}, which a witness without refuter cannot give")


@dataclass
class _Moment(_Known):
    """One iterate, with the names of `View`; `state` of an exact run decides the next iterates."""

    t: int
    n: int
    scores: list[Any]
    norm_squared: Any
    state: Any = None

    @property
    def smallest(self) -> Any:
        return reduce(lambda a, b: a.min(b) if hasattr(a, "min") else min(a, b), self.scores)

    @property
    def norm(self) -> Any:
        return _number(self.norm_squared).sqrt()

    @property
    def margin(self) -> Any:
        return _number(0) if self.norm_squared == 0 else _number(self.smallest) / self.norm

    @property
    def separates(self) -> bool | None:
        if all(score > 0 for score in self.scores):
            return True
        return False if any(score <= 0 for score in self.scores) else None


@dataclass
class Facts(_Known):
    """What is proved of the data, with the names of `Case`."""

    n: int
    radius_squared: Q
    gamma_squared_raw: Q
    unit: bool
    solver: SimpleNamespace
    q_bar: list[Q] = field(repr=False)

    @property
    def separable(self) -> bool:
        return self.gamma_squared_raw > 0

    @property
    def scale(self) -> Q:
        """What squares of the data are divided by."""
        return self.radius_squared if self.unit else Q(1)

    @property
    def gamma_squared(self) -> Any:
        return _number(self.gamma_squared_raw / self.scale)

    @property
    def gamma(self) -> Any:
        return self.gamma_squared.sqrt()

    @property
    def radius(self) -> Any:
        return _number(self.radius_squared / self.scale).sqrt()

    @property
    def log_n(self) -> Any:
        return _number(self.n).log()

    @property
    def mistake_bound(self) -> Any:
        return self.radius_squared / self.gamma_squared_raw


def _number(value: Any) -> Any:
    """A number as a ball; a ball as it is."""
    from flint import arb, fmpq

    if isinstance(value, Q | int | float):
        return arb(fmpq(*Q(value).as_integer_ratio()))
    return value


def check(witness: dict[str, Any], statement: Any) -> str:
    """What a witness, a document of the format of `papers.witness`, refutes; else `Rejected`."""
    try:
        return _checked(Data(witness["data"]), statement)
    except (Rejected, TooCostly):
        raise
    except Exception as error:  # whatever malformed data, or a statement of somebody, may provoke
        words = " ".join(str(error).split())[:80]
        raise Rejected(f"it cannot be evaluated here: {type(error).__name__} {words!a}") from None


def _checked(data: Data, statement: Any) -> str:
    from flint import ctx

    (rows, d), name = _rows(data), data["algorithm"]
    if name not in ALGORITHMS or name not in statement.solvers:
        raise Rejected(f"{statement.id} is not about {str(name)[:40]!a}, or that is not known here")
    facts = _facts(rows, data, _options(data, name), statement.unit)
    for assumption in statement.assumes:
        if (reason := assumption(facts)) is not None:
            raise Rejected(f"the data do not meet an assumption: {' '.join(reason.split())[:120]}")
    t, algorithm = whole(data["t"], 0, 10**6), ALGORITHMS[name]
    if unused := set(data) - data.used:
        raise Rejected(f"the data have a part that shows nothing: {min(unused)[:40]!a}")
    weight = len(rows) ** 2 if algorithm.dense else sum(map(len, rows)) + 3 * len(rows) + 20
    if weight * (t + 1) > MOST:
        raise TooCostly(f"{len(rows)} rows and {t} iterates are too many to run again")
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            said = _violation(statement, facts, algorithm.moments(rows, d, facts), t)
        if said is not None:
            return f"{statement.id} is false: {said}"
    raise Rejected(f"{statement.id} is not seen to be violated by these data")


def _violation(statement: Any, facts: Facts, run: Iterator[_Moment], t: int) -> str | None:
    """What is certainly violated, in words; None if that is not known."""
    if hasattr(statement, "goal"):
        return _late(statement, facts, run, t)
    if getattr(statement, "remembers", True):
        raise Rejected(f"{statement.id} is of a kind that needs a refuter of its own")
    if t < statement.since:
        raise Rejected(f"the statement speaks of t ≥ {statement.since}")
    moment = next((m for m in run if m.t == t), None)
    if moment is None:
        raise Rejected(f"the algorithm ends before t = {t}")
    claimed = statement.body(moment, facts)
    for r in claimed if isinstance(claimed, list | tuple | Iterator) else [claimed]:
        if _certainly_false(r):
            return f"at t = {t}, {_shown(r.left)} {r.op} {_shown(r.right)} does not hold"
    return None


def _certainly_false(relation: Any) -> bool:
    """Whether a relation is false by more than it allows, whatever its balls contain."""
    if relation.op == "fact":
        return relation.fact is False
    left, right, allowed = relation.left, relation.right, _number(Q(relation.allowance))
    if relation.op == "==":
        return bool(abs(left - right) > allowed)
    return bool(left > right + allowed or (relation.op == "<" and left >= right + allowed))


def _late(statement: Any, facts: Facts, run: Iterator[_Moment], t: int) -> str | None:
    """That a goal is not reached at any time up to the bound."""
    if statement.goal.__name__ != "separates":
        raise Rejected(f"{statement.id} has a goal of its own, which needs a refuter")
    bound = statement.body(facts)
    if bound is None:
        raise Rejected("nothing is claimed of these data")
    floor = bound // 1 if isinstance(bound, Q | int) else bound.floor().unique_fmpz()
    if floor is None:
        raise Rejected("the whole part of the bound is not known")
    most, seen = int(floor), set[Any]()
    for moment in run:
        if moment.separates:
            raise Rejected(f"the goal is reached at t = {moment.t}, within the bound {most}")
        if moment.separates is None:
            return None
        if moment.t >= most:
            if t not in (moment.t, most):
                raise Rejected(f"the bound is {most}, and t is not")
            reached = f"the goal is not reached at t = 0, …, {moment.t}"
            return f"{reached}, and {_shown(bound)} is claimed"
        if moment.state is not None and moment.state in seen:
            return f"the state at t = {moment.t} was there before: the goal is never reached"
        seen.add(moment.state)
    raise Rejected("the algorithm ends before the bound")


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Q | int) else str(_number(value).str(12, radius=False))


# ---- data -----------------------------------------------------------------------------------


def _entries(given: Any, most: int, what: str) -> dict[int, Q]:
    """Numbers by their index, which is below `most`."""
    entries = {int(j): rational(v) for j, v in given.items() if _INDEX(j)}
    if len(entries) != len(given) or any(j >= most for j in entries):
        raise Rejected(what)
    return entries


def _rows(data: Data) -> tuple[list[Row], int]:
    """Rows as their entries that are not zero, and the number of columns."""
    given, d, found = data["rows"], whole(data["columns"], 1, 10**6), []
    if not isinstance(given, list) or not 0 < len(given) <= 10**5:
        raise Rejected("rows are a list")
    for row in given:
        if isinstance(row, list):
            row = {str(j): str(v) for j, v in enumerate(vector(row))}
        elif not isinstance(row, dict):
            raise Rejected("a row is a list of numbers, or an object: column → number")
        entries = _entries(row, d, "a row has other columns")
        found.append({j: v for j, v in entries.items() if v})
    return found, d


def _dot(row: Row, w: Any) -> Any:
    return sum(v * w[j] for j, v in row.items() if j in w)


def _facts(rows: list[Row], data: Data, options: Any, unit: bool) -> Facts:
    """γ̄ by dual weights: w = Aᵀq has ‖w‖ ≥ γ̄, and γ̄ ≥ min ⟨a_i, w⟩/‖w‖."""
    q = _entries(data["q"], len(rows), "q has a weight of no row")
    if any(v < 0 for v in q.values()) or sum(q.values(), Q(0)) != 1:
        raise Rejected("q is not in the simplex")
    w: dict[int, Q] = {}
    for i, weight in q.items():
        for j, v in rows[i].items():
            w[j] = w.get(j, Q(0)) + weight * v
    square, largest = _dot(w, w), max(_dot(row, row) for row in rows)
    if any(_dot(row, w) < square for row in rows):
        raise Rejected("q does not prove the margin")
    if largest == 0:
        raise Rejected("all rows are zero")
    weights = [q.get(i, Q(0)) for i in range(len(rows))]
    return Facts(len(rows), Q(largest), Q(square), unit, options, weights)


#: Options that are not positive numbers: their values.
_CHOICES: dict[str, tuple[Any, ...]] = {
    "choice": ("first",),
    "loss": ("exponential", "logistic"),
    "decay": (True, False),
}


def _options(data: Data, name: str) -> SimpleNamespace:
    given, known = data["options"], ALGORITHMS[name].defaults
    if not isinstance(given, dict) or not all(k in known and _fits(k, v) for k, v in given.items()):
        raise Rejected("an option of the algorithm is not known here")
    return SimpleNamespace(**(known | given))


def _fits(name: str, value: Any) -> bool:
    if name in _CHOICES:
        return type(value) is type(_CHOICES[name][0]) and value in _CHOICES[name]
    return type(value) in (int, float) and 0 < value < float("inf")


# ---- algorithms -----------------------------------------------------------------------------

#: From rows, the number of columns and facts: scores and ‖w‖² for t = 0, 1, …, and the state.
Run = Callable[[list[Row], int, Facts], Iterator[tuple[Any, ...]]]


@dataclass(frozen=True)
class _Algorithm:
    """A method of a paper, and its options; a dense one needs all products of rows."""

    run: Run
    defaults: dict[str, Any] = field(default_factory=dict)
    dense: bool = False

    def moments(self, rows: list[Row], d: int, facts: Facts) -> Iterator[_Moment]:
        """The run, as statements see it."""
        return (_Moment(t, facts.n, *seen) for t, seen in enumerate(self.run(rows, d, facts)))


def _paper(name: str) -> Any:
    return import_module(f"gammabar.papers.{name}")


def _balls(rows: list[Row], facts: Facts, sign: int = 1) -> list[Row]:
    """The rows, in the unit ball if that is meant."""
    length = _number(facts.scale).sqrt()
    return [{j: sign * _number(v) / length for j, v in row.items()} for row in rows]


def _tyurin(which: str, exact: bool = False) -> Run:
    """Methods of Tyurin (2024), in balls; the perceptrons in fractions: of multiples of the rows w
    is the same multiple."""

    def run(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
        paper, scale = _paper("tyurin_2024.reference"), facts.scale if exact else 1
        rule, zero = getattr(paper, which), Q(0) if exact else _number(0)
        if not exact:
            rows, rule = _balls(rows, facts), partial(rule, step=_number(facts.solver.step))
        A = paper.array([[row.get(j, zero) for j in range(d)] for row in rows])
        for w in paper.iterates(rule, A):
            yield list(A @ w / scale), (w @ w) / scale, tuple(w) if exact else None

    return run


def _ji_srebro_telgarsky(vectors: Callable[[Any, Any, Any], Iterator[Any]]) -> Run:
    """Methods of Ji, Srebro and Telgarsky (2021), in balls; Z has minus the rows."""

    def run(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
        paper = _paper("ji_srebro_telgarsky_2021.algorithms")
        Z = paper.Rows(_balls(rows, facts, -1), d)
        return (([-v for v in Z.times(w)], w @ w) for w in vectors(paper, Z, facts.solver))

    return run


@_ji_srebro_telgarsky
def _accelerated(paper: Any, Z: Any, options: Any) -> Any:
    """Algorithm 1, with the step θ/ρ of eq. (C.4)."""
    rho = options.smoothness or (1 if options.loss == "exponential" else Z.n)
    return paper.algorithm1(Z, _number(options.step) / _number(rho), options.loss)


@_ji_srebro_telgarsky
def _gradient_descent(paper: Any, Z: Any, options: Any) -> Any:
    return paper.gradient_descent(Z, _number(options.step), options.loss)


@_ji_srebro_telgarsky
def _normalised(paper: Any, Z: Any, options: Any) -> Any:
    step, decay = _number(options.step), options.decay
    return paper.normalised(Z, lambda t: step / _number(t + 1 if decay else 1).sqrt())


def _ramdas_pena(which: str) -> Run:
    """Methods of Ramdas and Peña (2015): NKP and NVN in fractions, Algorithm 4 in balls.

    With ε, Algorithm 4 also ends where ‖p_k‖_G ≤ ε, or may be.
    """

    def run(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
        paper = _paper("ramdas_pena_2015.algorithms")
        epsilon = getattr(facts.solver, "epsilon", None)
        make = _number if which == "snkp" else Q
        gram = paper.array([[make(Q(_dot(a, b)) / facts.scale) for b in rows] for a in rows])
        more = {"nkp": (), "nvn": (Q(epsilon or 0),), "snkp": (_number(1),)}[which]
        for found in getattr(paper, which)(gram, *more):
            alpha, p = found[:2] if which == "snkp" else (found, found)
            yield list(gram @ alpha), paper.square(gram, alpha)
            if which == "snkp" and epsilon and not paper.square(gram, p) > _number(Q(epsilon) ** 2):
                return

    return run


_STEP = {"step": 1.0}
_LOSS = _STEP | {"loss": "exponential"}
ALGORITHMS = {
    "perceptron": _Algorithm(_tyurin("perceptron", exact=True), {"choice": "first"}),
    "batch-perceptron": _Algorithm(_tyurin("batch_perceptron", exact=True)),
    "normalized-batch-perceptron": _Algorithm(_tyurin("normalized_batch_perceptron", exact=True)),
    "lr-gd": _Algorithm(_tyurin("lr_gd"), _STEP),
    "normalized-lr-gd": _Algorithm(_tyurin("normalized_lr_gd"), _STEP),
    "dual-acceleration": _Algorithm(_accelerated, _LOSS | {"smoothness": None}),
    "gradient-descent": _Algorithm(_gradient_descent, _LOSS),
    "normalized-gradient-descent": _Algorithm(_normalised, _STEP | {"decay": False}),
    "snkp": _Algorithm(_ramdas_pena("snkp"), {"epsilon": None}, dense=True),
    "nkp": _Algorithm(_ramdas_pena("nkp"), dense=True),
    "nvn": _Algorithm(_ramdas_pena("nvn"), {"epsilon": 0.01}, dense=True),
}
