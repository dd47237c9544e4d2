"""Checks a witness against a statement that has no refuter: its algorithm is run again, literally.

For statements of one's own about an algorithm of one of the papers. The witness has the rows, the
options and t, and dual weights that prove the margin. Here the rows are taken as the rationals that
they are; the algorithm is that of a paper, word for word (``algorithms.py`` of its package), in
fractions where it is rational and in balls that contain the true values otherwise; the margin is
proved anew; and the statement's own lines say what is claimed of it. No solver, no judge and no
oracle has a part in it.

Accepted is only what is certainly false: a relation whose sides are apart, or a goal that is
certainly not reached at any t up to the bound. Where the state of an exact run repeats, it repeats
for ever: that something never ends is proved so, and not by waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction as Q
from functools import partial
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


@dataclass
class Moment:
    """One iterate, as statements see it: the names are those of the court's views."""

    t: int
    n: int
    scores: list[Any]
    norm_squared: Any
    #: Of an exact run: what the next iterates depend on.
    state: Any = None

    @property
    def smallest(self) -> Any:
        found = self.scores[0]
        for score in self.scores[1:]:
            found = found.min(score) if hasattr(found, "min") else min(found, score)
        return found

    @property
    def norm(self) -> Any:
        return _number(self.norm_squared).sqrt()

    @property
    def margin(self) -> Any:
        if self.norm_squared == 0:
            return _number(0)
        return _number(self.smallest) / self.norm

    @property
    def separates(self) -> bool | None:
        if all(score > 0 for score in self.scores):
            return True
        return False if any(score <= 0 for score in self.scores) else None

    def __getattr__(self, name: str) -> Any:
        raise Rejected(f"the statement uses it.{name}, which a witness without refuter cannot give")


@dataclass
class Facts:
    """What is proved of the data, as statements see it: the names are those of the court's case."""

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
        return _number(1) if self.unit else _number(self.radius_squared).sqrt()

    @property
    def log_n(self) -> Any:
        return _number(self.n).log()

    @property
    def mistake_bound(self) -> Any:
        return self.radius_squared / self.gamma_squared_raw

    def __getattr__(self, name: str) -> Any:
        raise Rejected(
            f"the statement uses case.{name}, which a witness without refuter cannot give"
        )


def _number(value: Any) -> Any:
    """A rational as a ball; a ball as it is."""
    from flint import arb, fmpq

    if isinstance(value, Q | int):
        exact = Q(value)
        return arb(fmpq(exact.numerator, exact.denominator))
    return value


def check(witness: dict[str, Any], statement: Any) -> str:
    """What a witness refutes; raises `Rejected` if it does not.

    Parameters
    ----------
    witness : dict
        The JSON document, of the format of `gammabar.papers.witness`.
    statement : Statement
        As its author has written it.
    """
    try:
        return _checked(witness, statement)
    except (Rejected, TooCostly):
        raise
    except Exception as error:  # whatever malformed data, or a statement of somebody, may provoke
        words = " ".join(str(error).split())[:80]
        raise Rejected(f"it cannot be evaluated here: {type(error).__name__} {words!a}") from None


def _checked(witness: dict[str, Any], statement: Any) -> str:
    from flint import ctx

    data = Data(witness["data"])
    rows, d = _rows(data)
    name = data["algorithm"]
    if name not in ALGORITHMS or name not in statement.solvers:
        raise Rejected(f"{statement.id} is not about {str(name)[:40]!a}, or that is not known here")
    facts = _facts(rows, data, _options(data, name), statement.unit)
    for assumption in statement.assumes:
        if (reason := assumption(facts)) is not None:
            raise Rejected(f"the data do not meet an assumption: {' '.join(reason.split())[:120]}")
    t = whole(data["t"], 0, 10**6)
    if unused := set(data) - data.used:
        raise Rejected(f"the data have a part that shows nothing: {min(unused)[:40]!a}")
    weight = sum(map(len, rows)) + 3 * len(rows) + 20
    if ALGORITHMS[name].dense:
        weight = len(rows) ** 2
    if weight * (t + 1) > MOST:
        raise TooCostly(f"{len(rows)} rows and {t} iterates are too many to run again")
    said = None
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            said = _violation(statement, facts, ALGORITHMS[name].moments(rows, d, facts), t)
        if said is not None:
            return f"{statement.id} is false: {said}"
    raise Rejected(f"{statement.id} is not seen to be violated by these data")


def _violation(statement: Any, facts: Facts, run: Iterator[Moment], t: int) -> str | None:
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
    for relation in claimed if isinstance(claimed, list | tuple | Iterator) else [claimed]:
        if _certainly_false(relation):
            left, right = _shown(relation.left), _shown(relation.right)
            return f"at t = {t}, {left} {relation.op} {right} does not hold"
    return None


def _certainly_false(relation: Any) -> bool:
    """Whether a relation is false by more than it allows, whatever its balls contain."""
    if relation.op == "fact":
        return relation.fact is False
    left, right, allowed = relation.left, relation.right, _number(Q(relation.allowance))
    if relation.op == "==":
        return bool(abs(left - right) > allowed)
    return bool(left > right + allowed or (relation.op == "<" and left >= right + allowed))


def _late(statement: Any, facts: Facts, run: Iterator[Moment], t: int) -> str | None:
    """That a goal is not reached at any time up to the bound."""
    if statement.goal.__name__ != "separates":
        raise Rejected(f"{statement.id} has a goal of its own, which needs a refuter")
    bound = statement.body(facts)
    if bound is None:
        raise Rejected("nothing is claimed of these data")
    most = int(bound // 1) if isinstance(bound, Q | int) else _floor(_number(bound))
    seen: set[Any] = set()
    for moment in run:
        if moment.separates is not False:
            if moment.separates:
                raise Rejected(f"the goal is reached at t = {moment.t}, within the bound {most}")
            return None
        if moment.t >= most:
            if moment.t != t and most != t:
                raise Rejected(f"the bound is {most}, and t is not")
            return (
                f"the goal is not reached at t = 0, …, {moment.t}, and {_shown(bound)} is claimed"
            )
        if moment.state is not None and moment.state in seen:
            return f"the state at t = {moment.t} was there before: the goal is never reached"
        seen.add(moment.state)
    raise Rejected("the algorithm ends before the bound")


def _floor(value: Any) -> int:
    low, high = (int(end.floor().unique_fmpz()) for end in (value.lower(), value.upper()))
    if low != high:
        raise Rejected("the whole part of the bound is not known")
    return low


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Q | int) else str(_number(value).str(12, radius=False))


# ---- data -----------------------------------------------------------------------------------


def _rows(data: Data) -> tuple[list[Row], int]:
    """Rows as their entries that are not zero, and the number of columns."""
    given, d = data["rows"], whole(data["columns"], 1, 10**6)
    if not isinstance(given, list) or not 0 < len(given) <= 10**5:
        raise Rejected("rows are a list")
    found = []
    for row in given:
        if isinstance(row, list):
            entries = dict(enumerate(vector(row)))
        elif isinstance(row, dict):
            entries = {int(j): rational(v) for j, v in row.items() if _INDEX(j)}
        else:
            raise Rejected("a row is a list of numbers, or an object: column → number")
        if len(entries) != len(row) or any(not 0 <= j < d for j in entries):
            raise Rejected("a row has other columns")
        found.append({j: v for j, v in entries.items() if v})
    return found, d


def _dot(row: Row, w: Any) -> Any:
    return sum(v * w[j] for j, v in row.items())


def _facts(rows: list[Row], data: Data, options: SimpleNamespace, unit: bool) -> Facts:
    """γ̄ by dual weights: w = Aᵀq has ‖w‖ ≥ γ̄, and γ̄ ≥ min ⟨a_i, w⟩/‖w‖."""
    q = {int(i): rational(v) for i, v in data["q"].items() if _INDEX(i)}
    if len(q) != len(data["q"]) or any(not 0 <= i < len(rows) for i in q):
        raise Rejected("q has a weight of no row")
    if any(v < 0 for v in q.values()) or sum(q.values(), Q(0)) != 1:
        raise Rejected("q is not in the simplex")
    w: dict[int, Q] = {}
    for i, weight in q.items():
        for j, v in rows[i].items():
            w[j] = w.get(j, Q(0)) + weight * v
    square = sum((v * v for v in w.values()), Q(0))
    for row in rows:
        if sum((v * w.get(j, Q(0)) for j, v in row.items()), Q(0)) < square:
            raise Rejected("q does not prove the margin")
    largest = max(sum((v * v for v in row.values()), Q(0)) for row in rows)
    if largest == 0:
        raise Rejected("all rows are zero")
    weights = [q.get(i, Q(0)) for i in range(len(rows))]
    return Facts(len(rows), largest, square, unit, options, weights)


def _options(data: Data, name: str) -> SimpleNamespace:
    given, known = data["options"], ALGORITHMS[name].options
    if not isinstance(given, dict) or not all(k in known and known[k](v) for k, v in given.items()):
        raise Rejected("an option of the algorithm is not known here")
    return SimpleNamespace(**(ALGORITHMS[name].defaults | given))


# ---- algorithms -----------------------------------------------------------------------------

#: From rows, the number of columns and facts: scores and ‖w‖² for t = 0, 1, …, and the state.
Run = Callable[[list[Row], int, Facts], Iterator[tuple[Any, ...]]]


@dataclass(frozen=True)
class Algorithm:
    """A method of a paper.

    Options have a test of their values, and `defaults` unless they are given. A dense algorithm
    needs all products of rows.
    """

    run: Run
    options: dict[str, Callable[[Any], bool]] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    dense: bool = False

    def moments(self, rows: list[Row], d: int, facts: Facts) -> Iterator[Moment]:
        """The run, as statements see it."""
        return (Moment(t, facts.n, *seen) for t, seen in enumerate(self.run(rows, d, facts)))


def _among(*values: Any) -> Callable[[Any], bool]:
    return lambda value: type(value) in map(type, values) and value in values


def _positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")


def _paper(name: str) -> Any:
    return import_module(f"gammabar.papers.{name}")


def _balls(rows: list[Row], facts: Facts) -> list[Row]:
    """The rows, in the unit ball if that is meant."""
    length = _number(facts.scale).sqrt()
    return [{j: _number(v) / length for j, v in row.items()} for row in rows]


def _tyurin(which: str, exact: bool = False) -> Run:
    """Methods of Tyurin (2024), in balls; the perceptrons in fractions: of multiples of the rows w
    is the same multiple."""

    def run(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
        paper, scale = _paper("tyurin_2024.reference"), facts.scale if exact else 1
        rule, zero = getattr(paper, which), Q(0) if exact else _number(0)
        if not exact:
            rows, rule = _balls(rows, facts), partial(rule, step=_number(Q(facts.solver.step)))
        for w in paper.iterates(rule, [[row.get(j, zero) for j in range(d)] for row in rows]):
            scores = [(zero + _dot(row, w)) / scale for row in rows]
            yield scores, (w @ w) / scale, tuple(w) if exact else None

    return run


def _ji_srebro_telgarsky(vectors: Callable[[Any, Any, Any], Iterator[Any]]) -> Run:
    """Methods of Ji, Srebro and Telgarsky (2021), in balls; Z has minus the rows."""

    def run(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
        paper = _paper("ji_srebro_telgarsky_2021.algorithms")
        Z = [{j: -v for j, v in row.items()} for row in _balls(rows, facts)]
        space = paper.sparse(Z, d)
        return (([-v for v in space.times(w)], w @ w) for w in vectors(paper, space, facts.solver))

    return run


@_ji_srebro_telgarsky
def _accelerated(paper: Any, space: Any, options: Any) -> Iterator[Any]:
    """Algorithm 1, with the step θ/ρ."""
    rho = options.smoothness or (1 if options.loss == "exponential" else space.n)
    theta = _number(Q(options.step)) / _number(Q(rho))
    return (state.w for state in paper.algorithm1(space, theta, options.loss))


@_ji_srebro_telgarsky
def _gradient_descent(paper: Any, space: Any, options: Any) -> Iterator[Any]:
    return iter(paper.gradient_descent(space, _number(Q(options.step)), options.loss))


@_ji_srebro_telgarsky
def _normalised(paper: Any, space: Any, options: Any) -> Iterator[Any]:
    step, decay = _number(Q(options.step)), options.decay
    rule = (lambda t: step / _number(t + 1).sqrt()) if decay else (lambda t: step)
    return iter(paper.normalised(space, rule))


def _ramdas_pena(which: str) -> Run:
    """NKP and NVN of Ramdas and Peña (2015), in fractions."""

    def run(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
        paper = _paper("ramdas_pena_2015.algorithms")
        gram = paper.array(_gram(rows, facts))
        more = () if which == "nkp" else (Q(facts.solver.epsilon),)
        for alpha in getattr(paper, which)(gram, *more):
            yield list(gram @ alpha), paper.square(gram, alpha)

    return run


def _smoothed(rows: list[Row], d: int, facts: Facts) -> Iterator[tuple[Any, ...]]:
    """Algorithm 4 of Ramdas and Peña (2015), in balls; with ε it also ends where ‖p_k‖_G ≤ ε."""
    paper, epsilon = _paper("ramdas_pena_2015.algorithms"), facts.solver.epsilon
    gram = paper.array([[_number(v) for v in row] for row in _gram(rows, facts)])
    for alpha, p, _ in paper.snkp(gram, _number(1)):
        yield list(gram @ alpha), paper.square(gram, alpha)
        if epsilon is not None and not paper.square(gram, p) > _number(Q(epsilon) ** 2):
            return  # it ends here, or may


def _gram(rows: list[Row], facts: Facts) -> list[list[Q]]:
    products = ([sum(v * b[j] for j, v in a.items() if j in b) for b in rows] for a in rows)
    return [[Q(v) / facts.scale for v in row] for row in products]


_LOSS = _among("exponential", "logistic")
_STEP = {"step": 1.0}
ALGORITHMS = {
    "perceptron": Algorithm(
        _tyurin("perceptron", exact=True), {"choice": _among("first")}, {"choice": "first"}
    ),
    "batch-perceptron": Algorithm(_tyurin("batch_perceptron", exact=True)),
    "normalized-batch-perceptron": Algorithm(_tyurin("normalized_batch_perceptron", exact=True)),
    "lr-gd": Algorithm(_tyurin("lr_gd"), {"step": _positive}, _STEP),
    "normalized-lr-gd": Algorithm(_tyurin("normalized_lr_gd"), {"step": _positive}, _STEP),
    "dual-acceleration": Algorithm(
        _accelerated,
        {"loss": _LOSS, "step": _positive, "smoothness": _positive},
        _STEP | {"loss": "exponential", "smoothness": None},
    ),
    "gradient-descent": Algorithm(
        _gradient_descent, {"loss": _LOSS, "step": _positive}, _STEP | {"loss": "exponential"}
    ),
    "normalized-gradient-descent": Algorithm(
        _normalised,
        {"step": _positive, "decay": _among(True, False)},
        {"step": 1.0, "decay": False},
    ),
    "snkp": Algorithm(_smoothed, {"epsilon": _positive}, {"epsilon": None}, dense=True),
    "nkp": Algorithm(_ramdas_pena("nkp"), dense=True),
    "nvn": Algorithm(_ramdas_pena("nvn"), {"epsilon": _positive}, {"epsilon": 0.01}, dense=True),
}
