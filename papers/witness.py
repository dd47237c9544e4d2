#!/usr/bin/env python3
"""Checks a witness: data on which a statement, as its source prints it, is false.

    python papers/witness.py WITNESS.json... [--limit SECONDS]

Exit code 0: accepted, and what is false is printed; 1: rejected, with the reason; 2: the check
would take longer than the limit, by an estimate made before the time is spent.

Standard library only, and nothing of court or solvers: what is claimed is recomputed from the data
in the file, in rational arithmetic, or in intervals with rational ends where logarithms,
exponentials and roots occur. This module has the arithmetic; each paper says in its ``refuters.py``
what its statements claim of the data. A statement is refuted if its relation is certain to fail.
The words of the file about what it shows are not believed nor repeated; only its data are used, and
all of them: data that a refuter does not look at are refused.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from fractions import Fraction as Q
from importlib.util import module_from_spec, spec_from_file_location
from math import isqrt
from pathlib import Path
from re import fullmatch
from typing import Any

BITS = 256  # intervals are a little wider than 2^-BITS
MOST_EXPONENT = 10**9  # the exponential of more has no place in memory, whatever the limit


class Rejected(Exception):
    """The witness does not show what it claims to show."""


class Unknown(Rejected):
    """There is no refuter for the statement."""


class TooCostly(Exception):
    """The check would take more computing than is allowed; the message says how much."""


LIMIT = 60.0  # seconds of computing, by estimates from sizes, unless --limit says otherwise


class Budget:
    """Seconds that may be spent on a witness; one check at a time."""

    limit, spent = LIMIT, 0.0


def spend(seconds: float, what: str) -> None:
    """Account for computing that is about to be done."""
    Budget.spent += seconds
    if Budget.spent > Budget.limit:
        raise TooCostly(
            f"{what} would bring the check to about {Budget.spent:.3g} seconds of computing, and "
            f"the limit is {Budget.limit:.3g} (raise it with --limit)"
        )


def fraction_time(bits: float) -> float:
    """Seconds for a sum of two fractions of so many bits; bringing it to lowest terms takes it."""
    return 5e-6 + 8e-9 * (bits / 30) ** 2


def _product_time(bits: float) -> float:
    """Seconds for a product of two integers of so many bits, and for shifting it."""
    return 1e-6 + 4e-9 * (bits / 30) ** 1.585


def bits(*values: Any) -> int:
    """How long numerator and denominator of some numbers are, all together."""
    ends = [end for v in values for end in ((v.lo, v.hi) if isinstance(v, Interval) else (v,))]
    return sum(e.numerator.bit_length() + e.denominator.bit_length() for e in map(Q, ends))


class Interval:
    """All numbers from lo to hi, both rational."""

    def __init__(self, lo: Any, hi: Any = None) -> None:
        self.lo, self.hi = Q(lo), Q(lo if hi is None else hi)

    def __add__(self, other: Any) -> Interval:
        other = interval(other)
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Any) -> Interval:
        return self + -interval(other)

    def __mul__(self, other: Any) -> Interval:
        other = interval(other)
        ends = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: Any) -> Interval:
        other = interval(other)
        if other.lo <= 0 <= other.hi:
            raise Rejected("a division by something that may be zero")
        return self * Interval(1 / other.hi, 1 / other.lo)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Interval:
        return interval(other) - self

    def __rtruediv__(self, other: Any) -> Interval:
        return interval(other) / self

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)


def interval(value: Any) -> Interval:
    return value if isinstance(value, Interval) else Interval(value)


def sqrt(value: Any) -> Interval:
    """The square root, rounded outwards."""
    value = interval(value)
    if value.lo < 0:
        raise Rejected("the square root of a negative number")
    low = Q(isqrt((value.lo.numerator << 2 * BITS) // value.lo.denominator), 1 << BITS)
    high = Q(isqrt((value.hi.numerator << 2 * BITS) // value.hi.denominator) + 1, 1 << BITS)
    exact = low * low == value.lo == value.hi
    return Interval(low, low if exact else high)


def exp(value: Any) -> Interval:
    """The exponential, rounded outwards: a Taylor series after halving the argument."""
    value = interval(value)
    return Interval(_exp(value.lo).lo, _exp(value.hi).hi)


def _exp(x: Q) -> Interval:
    if x < -1000:
        return Interval(0, Q(1, 1 << (2 * BITS)))
    if x > MOST_EXPONENT:
        raise TooCostly(
            f"the exponential of a number above {MOST_EXPONENT} is not computed, whatever the limit"
        )
    halvings = max(0, abs(x).__ceil__().bit_length() + 8)
    # The last of so many squares are as long as the result, 1.5 x bits; one rounding each.
    spend(0.01 + 4 * _product_time(1.5 * float(max(Q(0), x)) + 4 * BITS), "an exponential")
    x, unit = rounded(x / (1 << halvings), -1), 1 << (2 * BITS)
    y = rounded(x + Q(1, unit), 1)  # x and y enclose the argument
    low, high = _series(x).lo, _series(y).hi
    for _ in range(halvings):
        low, high = rounded(low * low, -1), rounded(high * high, 1)
    return Interval(low, high)


def _series(x: Q) -> Interval:
    """exp for |x| < 1/128: fifty terms leave less than 2⁻⁵⁰⁰."""
    term = total = Q(1)
    for k in range(1, 60):
        term = rounded(term * x / k, 1)
        total += term
    slack = Q(64, 1 << (2 * BITS))
    return Interval(total - slack, total + slack)


def log(value: Any) -> Interval:
    """The natural logarithm, rounded outwards."""
    value = interval(value)
    if value.lo <= 0:
        raise Rejected("the logarithm of a number that is not positive")
    return Interval(_log(value.lo).lo, _log(value.hi).hi)


def _log(x: Q) -> Interval:
    """ln x = k ln 2 + 2 artanh((m − 1)/(m + 1)) with x = m 2ᵏ and m in [1, 2)."""
    spend(0.01, "a logarithm")
    k = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Q(2) ** k
    if m < 1:
        k, m = k - 1, m * 2
    return _artanh2((m - 1) / (m + 1)) + k * _artanh2(Q(1, 3))


def _artanh2(z: Q) -> Interval:
    """2 artanh z for 0 ≤ z ≤ 1/3: terms fall by a factor of nine."""
    power, total, terms = z, Q(0), 2 * BITS // 3
    square = rounded(z * z, -1)
    for j in range(terms):
        total += power / (2 * j + 1)
        power = rounded(power * square, -1)
    # What was rounded down in each power, and the tail of the series.
    slack = Q(terms * terms, 1 << (2 * BITS)) + 2 * Q(1, 9) ** terms
    return Interval(2 * total, 2 * (total + slack))


def rounded(x: Q, direction: int) -> Q:
    """A nearby rational with a denominator of 2^(2 BITS): below, or above."""
    scaled = x.numerator << (2 * BITS)
    whole = scaled // x.denominator if direction < 0 else -(-scaled // x.denominator)
    return Q(whole, 1 << (2 * BITS))


def power(value: Any, n: int) -> Interval:
    """The n-th power of a number in [0, 1], rounded outwards after every product."""
    base, found = interval(value), Interval(1)
    if not 0 <= base.lo <= base.hi <= 1:
        raise Rejected("a power of a number outside [0, 1]")
    while n:
        if n % 2:
            found = Interval(rounded(found.lo * base.lo, -1), rounded(found.hi * base.hi, 1))
        base = Interval(rounded(base.lo * base.lo, -1), rounded(base.hi * base.hi, 1))
        n //= 2
    return found


def certainly(left: Any, relation: str, right: Any) -> bool:
    """Whether left relation right holds whatever the intervals contain."""
    a, b = interval(left), interval(right)
    return {
        "<": a.hi < b.lo,
        ">": a.lo > b.hi,
        "<=": a.hi <= b.lo,
        ">=": a.lo >= b.hi,
        "!=": a.hi < b.lo or a.lo > b.hi,
    }[relation]


# Reading the data of a witness.


def rational(text: Any) -> Q:
    if not isinstance(text, str) or not fullmatch(r"-?[0-9]{1,500}(/[1-9][0-9]{0,499})?", text):
        raise Rejected('a rational number is written as "3" or "-3/4", with at most 500 digits')
    spend(2e-5, "reading the numbers")
    return Q(text)


def vector(values: Any) -> list[Q]:
    if not isinstance(values, list) or not 0 < len(values) <= 1000:
        raise Rejected("a vector is a list of rational numbers in quotes")
    return [rational(v) for v in values]


def matrix(rows: Any) -> list[list[Q]]:
    if not isinstance(rows, list) or not 0 < len(rows) <= 1000:
        raise Rejected("a matrix is a list of rows")
    found = [vector(row) for row in rows]
    if len({len(row) for row in found}) != 1:
        raise Rejected("rows of different lengths")
    return found


def whole(value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Rejected(f"a number is not a whole number from {low} to {high}")
    return value


def dot(u: list[Any], v: list[Any]) -> Any:
    return total([a * b for a, b in zip(u, v, strict=True)])


def total(values: list[Any]) -> Any:
    """A sum; its denominator may have as many bits as those of all summands together."""
    ends = [v.hi if isinstance(v, Interval) else Q(v) for v in values]
    size = sum(e.denominator.bit_length() for e in ends if e.denominator > 1)
    size += max((e.numerator.bit_length() for e in ends), default=0)
    spend(len(values) * fraction_time(size), "a sum of fractions")
    return sum(values, Q(0))


def in_simplex(values: list[Q]) -> bool:
    return min(values) >= 0 and total(values) == 1


def separable(rows: list[list[Q]]) -> bool:
    """Whether the perceptron, in integers, finds a w with a positive product with every row.

    It looks for a while only: False is no proof of the contrary.
    """
    w = [Q(0)] * len(rows[0])
    for _ in range(100):
        wrong = next((row for row in rows if dot(row, w) <= 0), None)
        if wrong is None:
            return True
        w = [a + b for a, b in zip(w, wrong, strict=True)]
    return False


def semidefinite(matrix: list[list[Q]]) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by elimination in fractions."""
    rows = [list(row) for row in matrix]
    n = len(rows)
    spend(n**3 / 3 * fraction_time(2 * bits(*(v for row in rows for v in row))), "an elimination")
    for k in range(n):
        if rows[k][k] < 0 or (rows[k][k] == 0 and any(rows[k][k:])):
            return False
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k] if rows[k][k] else Q(0)
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def gram(rows: Any) -> list[list[Q]]:
    """A matrix of products of unit vectors: square, symmetric, semidefinite, of diagonal one."""
    G = matrix(rows)
    n = len(G)
    demand(len(G[0]) == n, "G is square")
    demand(all(G[i][j] == G[j][i] for i in range(n) for j in range(i)), "G is symmetric")
    demand(all(G[i][i] == 1 for i in range(n)), "G has ones on its diagonal")
    demand(semidefinite(G), "G is positive semidefinite, so it is a Gram matrix")
    return G


def opposite_rows(data: Any) -> list[list[Q]]:
    """Two rows a and −a of norm one."""
    rows = matrix(data["rows"])
    demand(len(rows) == 2 and rows[0] == [-v for v in rows[1]], "the rows are a and −a")
    demand(dot(rows[0], rows[0]) == 1, "the rows have norm one")
    return rows


def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Rejected(what)


def one_row(data: dict[str, Any]) -> list[Q]:
    """A single row of norm one: its maximum margin is 1, attained by the row itself."""
    rows = matrix(data["rows"])
    demand(len(rows) == 1 and dot(rows[0], rows[0]) == 1, "the witness is one row of norm one")
    return rows[0]


#: Left, relation, right: what a statement says of the data.
Claim = tuple[Any, str, Any]
REFUTERS: dict[str, Callable[[dict[str, Any]], Claim]] = {}
_LOADED: set[Path] = set()


def refuter(statement: str) -> Callable[[Callable[[dict[str, Any]], Claim]], Any]:
    """Register what a statement claims of the data of a witness.

    A witness is accepted if that is certainly false. Rows are a_i = y_i x_i.
    """

    def register(function: Callable[[dict[str, Any]], Claim]) -> Any:
        REFUTERS[statement] = function
        return function

    return register


def load_refuters(*folders: Path) -> None:
    """Read the refuters of our papers, and of papers in further folders.

    As files, not as parts of their packages, which would import the court.
    """
    ours = Path(__file__).resolve().parent
    for path in (*sorted(ours.glob("*/refuters.py")), *(f / "refuters.py" for f in folders)):
        if path in _LOADED or not path.is_file():
            continue
        name = f"gammabar_refuters_{len(_LOADED)}"
        spec = spec_from_file_location(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module(module_from_spec(spec))
        _LOADED.add(path)


#: Statement → the data of a witness from what a search has found: inputs, or rows, t and options.
COMPLETIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def completes(*statements: str) -> Callable[[Callable[[dict[str, Any]], dict[str, Any]]], Any]:
    """Register how a refuter's data are had from what a search finds.

    Nothing depends on it: what it makes is checked like any other witness.
    """

    def register(function: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        COMPLETIONS.update(dict.fromkeys(statements, function))
        return function

    return register


def copies(statement: str, *names: str, **fixed: Any) -> None:
    """Of what a search finds, a refuter needs these parts as they are, and data that are fixed."""
    completes(statement)(lambda found: {name: found[name] for name in names} | fixed)


NEGATION = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!="}


class Data(dict[str, Any]):
    """The data of a witness, which remember what was asked for."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.used.add(name)
        return super().__getitem__(name)


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Rejected("the witness has a JSON key twice in one object")
    return dict(pairs)


def check(path: str, *folders: Path, limit: float = LIMIT) -> str:
    """What the witness in a file refutes; raises `Rejected` if it does not.

    Folders are those of papers that are not in this package. `TooCostly` is raised if it would take
    more seconds of computing than `limit`, by an estimate.
    """
    load_refuters(*folders)
    Budget.limit, Budget.spent = limit, 0.0
    try:
        spend(1e-6 * Path(path).stat().st_size, "reading the file")
        with open(path, encoding="utf-8") as file:
            witness = json.load(file, object_pairs_hook=distinct)
    except (OSError, ValueError, RecursionError) as error:
        raise Rejected(f"{path!a} cannot be read: {_brief(error)}") from None
    if not isinstance(witness, dict) or witness.get("format") != "gammabar-witness":
        raise Rejected("this is not a witness")
    if type(witness.get("version")) is not int or witness["version"] != 1:
        raise Rejected("only version 1 is known")
    statement, data = witness.get("statement"), witness.get("data")
    if not isinstance(statement, str) or statement not in REFUTERS or not isinstance(data, dict):
        raise Unknown(f"no claim is known for the statement {_brief(statement)}")
    asked = Data(data)
    try:
        left, relation, right = REFUTERS[statement](asked)
    except (Rejected, TooCostly):
        raise
    except Exception as error:  # whatever malformed data may provoke; none is worth a traceback
        raise Rejected(
            f"the data are incomplete or of the wrong shape: {type(error).__name__} {_brief(error)}"
        ) from None
    if unused := set(data) - asked.used:
        raise Rejected(f"the data have a part that shows nothing: {_brief(min(unused))}")
    if not certainly(left, NEGATION[relation], right):
        raise Rejected(f"{statement} is not violated by these data")
    return (
        f"{statement} is false as printed: {_shown(left)} {relation} {_shown(right)} does not hold"
    )


def _brief(text: object) -> str:
    """Words from outside, escaped and in quotes."""
    return ascii(" ".join(str(text).split())[:120])


def _shown(value: Any) -> str:
    value = interval(value)
    if value.lo == value.hi and max(abs(value.lo.numerator), value.lo.denominator) < 10**12:
        return str(value.lo)
    try:
        number = float(value.lo)
    except OverflowError:
        number = 0.0
    if number or not value.lo:
        return f"{number:.12g}…"
    size = value.lo.numerator.bit_length() - value.lo.denominator.bit_length()
    return f"about {'-' * (value.lo < 0)}2^{size}"


def main(arguments: list[str]) -> int:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("witness", nargs="+")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    asked = parser.parse_args(arguments)
    for path in asked.witness:
        try:
            print(f"accepted: {check(path, limit=asked.limit)}")
        except Rejected as reason:
            print(f"rejected: {path!a}: {reason}")
            return 1
        except TooCostly as reason:
            print(f"{path!a}: {reason}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    # Refuters ask for this module by its name, in a clone as in an installation.
    above = Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(above if (above / "gammabar").is_dir() else above.parent))
    from gammabar.papers.witness import main as named

    sys.exit(named(sys.argv[1:]))
