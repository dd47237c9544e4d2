"""Check a margin certificate against its data, trusting nothing but Python.

    python check.py CERTIFICATE DATA... [--limit SECONDS]

DATA is the data file (idx: images and labels), or the directory with the files the certificate
names.  Exit code 0: accepted, and what is proved is printed; 1: rejected, with the reason; 2: a
file is missing or unreadable, or the check would take longer than the limit.  CERTIFICATE.md
states the format and why each test suffices.  All arithmetic is on integers and fractions; a
double of the data is an integer times a power of two.

The proofs are here; `check_readers.py` reads files and fields, and `check_kernels.py` multiplies in
the space of a kernel.  All three use Python's standard library and nothing of this project.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Container, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from operator import mul
from pathlib import Path
from types import ModuleType
from typing import Any

if not __package__:  # run as a script: it and the modules beside it are a package of their own
    __package__ = "checker"
    sys.modules[__package__] = ModuleType(__package__)
    sys.modules[__package__].__path__ = [str(Path(__file__).resolve().parent)]

from .check_kernels import Kernel
from .check_readers import (
    Budget,
    Combination,
    Points,
    Rejected,
    TooCostly,
    about,
    combination,
    contents,
    demand,
    distinct,
    dot,
    fields,
    integer,
    length,
    number,
    product_time,
    rational,
    whole,
)

__all__ = ["LIMIT", "Rejected", "TooCostly", "check", "main"]

LIMIT = 600.0  # seconds of computing, by the estimates below, unless --limit says otherwise

COMMON = "format version kind geometry data support weights total"
FIELDS = {  # which each kind adds
    "margin": " gamma_squared radius_squared",
    "inseparable": "",
    "enclosure": " primal gamma_lo gamma_hi",
    "l1-margin": " primal signed value_lo value_hi radius",
    "separation": " primal separation",
    "support": " eigenvalue",
}
INTERCEPTS = {  # what a bias may be, and how it is told; they need version 2
    "none": "without intercept: through the origin",
    "free": "with a free intercept, which does not count in the norm",
    "augmented": "with an intercept that counts in the norm: a constant feature of 1",
}
EUCLIDEAN = ("margin", "inseparable", "enclosure")  # the other kinds are for linear data
FREE = (*EUCLIDEAN, "support")  # kinds that may have a free intercept
KERNELS = {
    "linear": "",
    "precomputed": "",
    "poly": " degree gamma coef0",
    "rbf": " gamma",
    "network": " width seed",
}


# ---- inner products: integers, or bounds on them, in multiples of `unit` -----------------------


class Linear(Points):
    """Rows x_i (e_c - e_j) / sqrt 2, c the class of x_i, j another; as good as y_i x_i if k = 2."""

    exact = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.unit = Fraction(4) ** self.exponent / 2
        self.radius_squared = 2 * max(self.squares)
        self.described = "linear" if self.k == 2 else f"linear, {self.k} classes"

    def combine(self, q: Combination) -> list[list[int]]:
        each = product_time(self.bits, length(q.values()))
        touched = sum(len(self.rows[index // (self.k - 1)][1]) for index in q)
        self.budget.hold(8 * self.k * len(self.columns), "to hold the weighted sum")
        self.budget.spend(2 * each * touched, "the weighted sum of the rows")
        w = [[0] * len(self.columns) for _ in range(self.k)]
        for index, weight in q.items():
            i, j = divmod(index, self.k - 1)
            c = self.classes[i]
            for part, factor in ((w[c], weight), (w[j + (j >= c)], -weight)):
                for column, value in zip(*self.rows[i], strict=True):
                    part[column] += factor * value
        return w

    def norm(self, q: Combination) -> int:
        w = self.combine(q)
        bits = max(map(length, w))
        self.budget.spend(self.k * len(self.columns) * product_time(bits, bits), "its norm")
        return sum(x * x for part in w for x in part)

    def scores(self, i: int, w: list[list[int]]) -> list[int]:
        c, s = self.classes[i], [dot(self.rows[i], part) for part in w]
        return [s[c] - s[j] for j in range(self.k) if j != c]

    def least(self, q: Combination) -> list[int]:
        return list(self.lowest(q).values())

    def lowest(self, q: Combination, without: Container[int] = ()) -> dict[int, int]:
        """The least score of each side, of all rows or of those that are not left out (k = 2).

        With w = 2^shift rough + rest and 0 <= rest < 2^shift most rows are seen to be above it.
        """
        w = self.combine(q)
        most = max(map(length, w))
        each = self.k * product_time(self.bits, most)
        self.budget.spend(self.entries() * self.k * product_time(self.bits, 60), "all scores")
        shift = max(0, most - 60)
        rough = [[x >> shift for x in part] for part in w]
        best: dict[int, int] = {}
        for i, (_, values) in enumerate(self.rows):
            if i in without:
                continue
            side = self.side(i)
            above = (min(self.scores(i, rough)) - sum(map(abs, values))) << shift
            if side not in best or above < best[side]:
                self.budget.spend(len(values) * each, "the scores that are close to the least")
                exact = min(self.scores(i, w))
                best[side] = min(best.get(side, exact), exact)
        return best

    def gram(self, rows: Sequence[int]) -> list[list[int]]:
        """Products of some rows (k = 2), each with itself and those before it."""
        each = 4 * len(self.columns) * product_time(self.bits, self.bits)
        self.budget.spend(len(rows) * (len(rows) + 2) / 2 * each, "the products of support rows")
        units = [self.combine({j: 1}) for j in rows]
        return [[self.scores(i, w)[0] for w in units[: a + 1]] for a, i in enumerate(rows)]


# ---- the proofs --------------------------------------------------------------------------------


def _equal(claimed: Fraction, top: int, bottom: int, budget: Budget) -> bool:
    """Whether claimed = top / bottom, without the slow way to lowest terms."""
    bits = length([top, bottom, *claimed.as_integer_ratio()])
    budget.spend(2 * product_time(bits, bits), "comparing the claim with the data")
    return claimed.numerator * bottom == top * claimed.denominator


def _prove_l1(c: dict[str, Any], space: Linear, q: Combination, total: int) -> str:
    primal, signed = fields(c["primal"], "primal", "columns coefficients"), c["signed"]
    chosen = combination(primal["columns"], primal["coefficients"], space.d, "coefficients")
    demand(isinstance(signed, bool), "signed is not a truth value")
    demand(signed or min(chosen.values(), default=0) > 0, "the primal point is not in the simplex")
    each = product_time(space.bits, length(chosen.values()))
    space.budget.spend(space.entries() * each, "all scores")
    w, pull = [chosen.get(column, 0) for column in space.columns], space.combine(q)[1]
    pull += [0] * (len(pull) < space.d)  # a column of zeros
    least = min((2 * k - 1) * dot(row, w) for k, row in zip(space.classes, space.rows, strict=True))
    most = max(map(abs, pull) if signed else pull)
    largest = max((abs(v) for _, values in space.rows for v in values), default=0)
    size = sum(map(abs, chosen.values())) or 1
    unit = Fraction(2) ** space.exponent
    bounds = {"value_lo": (least, size), "value_hi": (most, total), "radius": (largest, 1)}
    found = {}
    for name, (top, bottom) in bounds.items():
        found[name] = rational(c[name], name, space.budget)
        same = _equal(found[name], top * unit.numerator, bottom * unit.denominator, space.budget)
        demand(same, f"{name} is not what the points and the data give")
    low, high = found["value_lo"], found["value_hi"]
    ball = "of l1 norm at most 1" if signed else "in the simplex"
    value = f"exactly {number(low)}"
    if low != high:
        value = f"between {about(low, ROUND_FLOOR)} and {about(high, ROUND_CEILING)}"
    return f"the largest margin min_i <a_i, w> of any w {ball} is {value}, in the units of the data"


def _prove_enclosure(c: dict[str, Any], space: Any, q: Combination, total: int) -> str:
    primal = fields(c["primal"], "primal", "support coefficients")
    alpha = combination(primal["support"], primal["coefficients"], space.n, "coefficients")
    low, high = (rational(c[name], name, space.budget) for name in ("gamma_lo", "gamma_hi"))
    demand(0 <= low <= high, "gamma_lo and gamma_hi do not enclose anything")
    # |q|^2 unit <= (high total)^2, and (least unit)^2 >= low^2 |alpha|^2 unit, without fractions
    above, below = space.unit.as_integer_ratio()
    square = space.norm(q)
    bits = length([square, above, below, total, *high.as_integer_ratio()])
    space.budget.spend(20 * product_time(bits, bits), "comparing the bounds")
    demand(
        square * above * high.denominator**2 <= (high.numerator * total) ** 2 * below,
        "the weights do not prove gamma_hi",
    )
    if low:
        # Of two sides the mean counts: that is the least score with the best intercept.
        lows, square = space.least(alpha), space.norm(alpha)
        least, low = sum(lows), low * len(lows)
        bits = length([square, above, below, least, *low.as_integer_ratio()])
        space.budget.spend(20 * product_time(bits, bits), "comparing the bounds")
        demand(
            least > 0
            and least**2 * above * low.denominator**2 >= low.numerator**2 * square * below,
            "the primal point does not prove gamma_lo",
        )
        low /= len(lows)
    if not low:
        return f"undecided whether separable; the maximum margin is at most {_upper(high)}"
    return (
        f"separable; the maximum margin is between {about(low, ROUND_FLOOR)} and "
        f"{_upper(high)}, in the units of the rows"
    )


def _prove_separation(c: dict[str, Any], space: Linear, q: Combination, total: int) -> str:
    primal = fields(c["primal"], "primal", "columns coefficients")
    chosen = combination(primal["columns"], primal["coefficients"], space.d, "coefficients")
    each = product_time(space.bits, length(chosen.values()))
    space.budget.spend(space.entries() * each, "all scores")
    beta = [chosen.get(column, 0) for column in space.columns]
    signed = zip(space.classes, space.rows, strict=True)
    scores = [(2 * k - 1) * dot(row, beta) for k, row in signed]
    demand(min(scores) >= 0, "the direction puts a row on the wrong side")
    boundary = [i for i, score in enumerate(scores) if score == 0]
    demand(list(q) == boundary, "the weights are not on the rows that the direction leaves at zero")
    demand(not q or space.norm(q) == 0, "the weighted sum of the rows is not zero")
    kind = "complete" if not q else "overlap" if len(q) == space.n else "quasi-complete"
    demand(c["separation"] == kind, f"the separation of these data is {kind}")
    if kind == "complete":
        return "complete separation: a direction puts every row strictly on its side"
    if kind == "overlap":
        return "overlap: each direction puts a row on the wrong side or is orthogonal to all rows"
    places = sorted({space.chosen[i] for i in boundary})
    shown = ", ".join(map(str, places[:10])) + (", ..." if len(places) > 10 else "")
    return (
        f"quasi-complete separation: a direction puts {space.n - len(q)} rows strictly on their "
        f"side and none on the wrong one, and every such direction leaves the other {len(q)} on "
        f"the boundary (points of the file, counted from 0: {shown})"
    )


def _upper(value: Fraction) -> str:
    return about(value, ROUND_CEILING)


def _prove_exact(c: dict[str, Any], space: Any, q: Combination, total: int) -> str:
    square = space.norm(q)  # of total w, in multiples of unit
    if c["kind"] == "inseparable":
        demand(square == 0, "the weighted sum of the rows is not zero")
        halves = ", with half of the weight on either class" * (space.sides == 2)
        return f"not separable: a convex combination of {len(q)} of its rows is zero{halves}"
    demand(space.exact, "the margin of such a kernel is not rational: it needs an enclosure")
    gamma, radius = (
        rational(c[name], name, space.budget) for name in ("gamma_squared", "radius_squared")
    )
    above, below = space.unit.as_integer_ratio()
    for name, claimed, value, over in (
        ("gamma_squared", gamma, square, total**2),
        ("radius_squared", radius, space.radius_squared, 1),
    ):
        same = _equal(claimed, value * above, over * below, space.budget)
        demand(same, f"{name} is not that of the data")
    demand(square > 0, "the weighted sum w of the rows is zero")
    lows = space.least(q)  # with the best intercept, the least score is the mean of these
    demand(
        sum(lows) * total >= len(lows) * square,
        "the weighted sum w of the rows is not the shortest: some row has a smaller product with w "
        "than w has with itself",
    )
    return (
        f"separable; the maximum margin is the square root of {number(gamma)}, which is "
        f"{about(gamma, root=True)} to 15 digits, and {about(gamma, root=True, over=radius)} times "
        f"the largest row norm; {len(q)} support rows"
    )


def least_eigenvalue(M: list[list[int]], about: Fraction, budget: Budget) -> tuple[int, int]:
    """(b, 4^k): the eigenvalues of M (its lower triangle), integers, are not below b / 4^k.

    4^k M - shift I = L L^T + E, by Cholesky's method with remainders: they are the entries of E,
    none of them negative, and no eigenvalue of E is larger than the sum of one of its rows.
    """
    s, bits = len(M), max(map(length, M))
    wanted = about.numerator.bit_length() - about.denominator.bit_length() - 1
    k = max(0, 14 + s.bit_length() + bits // 2 - wanted)
    budget.spend((s + 9) ** 3 / 6 * product_time(k + bits, k + bits), "factoring the support")
    shift = (about.numerator << 2 * k) // about.denominator
    L: list[list[int]] = []
    off = [0] * s
    for i, given in enumerate(M):
        row: list[int] = []
        for j in range(i):
            entry, left = divmod((given[j] << 2 * k) - sum(map(mul, row, L[j])), L[j][j])
            row.append(entry)
            off[i], off[j] = off[i] + left, off[j] + left
        rest = (given[i] << 2 * k) - shift - sum(map(mul, row, row))
        demand(rest > 0, "the support rows are closer to dependent than eigenvalue says")
        row.append(math.isqrt(rest))
        off[i] += rest - row[i] ** 2
        L.append(row)
    return shift - max(off), 1 << 2 * k


def _prove_support(c: dict[str, Any], space: Linear, q: Combination, total: int) -> str:
    budget, square, lows = space.budget, space.norm(q), space.lowest(q)
    sides, least = space.sides, sum(lows.values())
    demand(least > 0, "the weighted sum w of the rows separates nothing")
    bits = length([square, least, total])
    budget.spend(50 * product_time(2 * bits, 2 * bits), "comparing the bounds")
    # |w - w*|^2 <= missing / (square (sides total)^2), w* the shortest point; see CERTIFICATE.md
    missing, over = (sides * square) ** 2 - (least * total) ** 2, square * sides**2
    gap = math.isqrt(4 * space.radius_squared * missing // over) + 1
    others = space.lowest(q, without=q)
    demand(
        all(score > lows[side] + gap for side, score in others.items()),
        "a row that is not in the support may belong to it: its product with w is too small",
    )
    rows = list(q)
    M = space.gram(rows)
    lift = max(line[-1] for line in M)
    for i, line in enumerate(M):
        M[i] = [v + lift * (space.side(rows[i]) == space.side(rows[j])) for j, v in enumerate(line)]
    claimed = rational(c["eigenvalue"], "eigenvalue", budget) / space.unit
    demand(claimed > 0, "eigenvalue is not positive")
    bound, scale = least_eigenvalue(M, claimed, budget)
    demand(min(q.values()) ** 2 * bound * over > missing * scale, "a weight may be zero")
    low, high = (v * space.unit for v in (Fraction(least**2, over), Fraction(square, total**2)))
    return (
        f"separable; the support is exactly these {len(q)} rows, so that the maximum margin and "
        "its weights are the solution of their linear system; the margin is between "
        f"{about(low, ROUND_FLOOR, root=True)} and {about(high, ROUND_CEILING, root=True)}, in "
        "the units of the rows"
    )


def geometry(
    c: dict[str, Any], data: dict[str, Any], paths: Sequence[str], budget: Budget
) -> Linear | Kernel:
    form = c["geometry"] if isinstance(c["geometry"], dict) else {}
    if form.get("type") == "kernel":
        kernel = fields(form, "geometry", "type kernel normalised", "within intercept")["kernel"]
        demand(isinstance(kernel, dict) and kernel.get("name") in list(KERNELS), "unknown kernel")
        fields(kernel, "the kernel", "name" + KERNELS[kernel["name"]])
        demand(isinstance(form["normalised"], bool), "geometry.normalised is not a truth value")
        bounds = [rational(c.get(f, "0x0/0x1"), f, budget) for f in ("gamma_lo", "gamma_hi")]
        precision = 128 + 2 * min(1 << 12, max(b.denominator.bit_length() for b in bounds))
        plain = c["kind"] == "inseparable"  # rows may keep their lengths: these do not move zero
        demand("within" not in form or c["kind"] == "enclosure", "within is for enclosures only")
        intercept = _bias(form, "free")
        demand(intercept == "none" or not form["normalised"], "a normalised kernel has no bias")
        return Kernel(form, plain, precision, data, paths, 2, True, intercept, budget)
    two = form.get("type") == "linear"
    demand(two or form.get("type") == "multiclass", "the geometry is of an unknown type")
    fields(form, "geometry", "type" if two else "type classes", "intercept")
    k = whole(form.get("classes", 2), "geometry.classes", 2, 1 << 12)
    intercept = _bias(form, "free augmented" if two else "augmented")
    return Linear(data, paths, k, two, intercept, budget)


def _bias(form: dict[str, Any], allowed: str) -> str:
    """The intercept of a geometry: "none" if it is not mentioned."""
    if "intercept" not in form:
        return "none"
    demand(form["intercept"] in allowed.split(), f"geometry.intercept is not {allowed}")
    return str(form["intercept"])


def _prove(c: Any, paths: Sequence[str], budget: Budget) -> str:
    demand(isinstance(c, dict) and c.get("format") == "gammabar-certificate", "no certificate")
    demand(type(c.get("version")) is int and c["version"] in (1, 2, 3), "not of version 1 to 3")
    demand(c.get("kind") in list(FIELDS), "the certificate is of an unknown kind")
    fields(c, "the certificate", COMMON + FIELDS[c["kind"]])
    data = fields(
        c["data"], "data", "name sha256 n d format files classes", "label drop arrays rows"
    )
    demand(isinstance(data["name"], str), "data.name is not a text")
    space, total = geometry(c, data, paths, budget), integer(c["total"], "total")
    q = combination(c["support"], c["weights"], space.n, "weights")
    demand(q or c["kind"] == "separation", "there are no weights")
    demand(min(q.values(), default=1) > 0, "the weights are not positive")
    demand(sum(q.values()) == total, "the weights do not sum to total")
    newer = space.intercept != "none" or c["kind"] == "separation"
    newer = newer or data.get("drop") is not None or data["format"] in ("npy", "scipy")
    version = 3 if c["kind"] == "support" else 1 + newer
    demand(c["version"] == version, "a version is for what earlier ones do not have")
    if space.sides == 2:
        half = sum(weight for i, weight in q.items() if space.side(i))
        demand(2 * half == total, "a free intercept needs equal weights of the two classes")
        demand(c["kind"] in FREE, "no l1 margin or separation has a free intercept")
    plain = c["geometry"]["type"] == "linear"
    demand(plain or c["kind"] in EUCLIDEAN, "l1 margins, separation and support are linear")
    proofs = {
        "l1-margin": _prove_l1,
        "enclosure": _prove_enclosure,
        "separation": _prove_separation,
        "support": _prove_support,
    }
    proved = proofs.get(c["kind"], _prove_exact)(c, space, q, total)
    words = INTERCEPTS[space.intercept]
    if c["kind"] == "separation" and space.intercept != "none":
        words = "with an intercept"  # no norm is spoken of
    return f"the data ({space.summary}; {space.described}; {words}): {proved}"


def check(certificate_path: str, *data_paths: str, limit: float = LIMIT) -> str:
    """Say what the certificate proves.

    Raises Rejected; TooCostly if it would take more seconds of computing than `limit`, by an
    estimate; MemoryError; or OSError if a file is missing.
    """
    budget = Budget(limit)
    try:
        raw = contents(Path(certificate_path), budget)
        return _prove(json.loads(raw, object_pairs_hook=distinct), data_paths, budget)
    except (Rejected, TooCostly, MemoryError):
        raise
    except Exception as error:  # whatever a malformed file may provoke; none is worth a traceback
        if isinstance(error, OSError) and error.errno:
            raise
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]!a}"
        raise Rejected(f"the certificate or a data file is malformed ({reason})") from None


def main(arguments: list[str]) -> int:
    limit = LIMIT
    try:
        if "--limit" in arguments:
            at = arguments.index("--limit")
            limit = float(arguments[at + 1])
            arguments = arguments[:at] + arguments[at + 2 :]
        if len(arguments) < 2 or not limit > 0:
            raise ValueError
        code, text = 0, f"accepted: {check(*arguments, limit=limit)}"
    except (ValueError, IndexError):
        code, text = 2, "usage: python check.py CERTIFICATE DATA... [--limit SECONDS]"
    except Rejected as reason:
        code, text = 1, f"rejected: {reason}"
    except (OSError, TooCostly) as error:
        code, text = 2, f"{error}"
    except MemoryError:
        code, text = 2, "there is not enough memory for this check"
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    print(text.encode("ascii", "backslashreplace").decode(), file=sys.stderr if code > 1 else None)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
