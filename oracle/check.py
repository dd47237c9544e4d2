"""Check a margin certificate against its data, trusting nothing but this file and Python.

    python check.py CERTIFICATE DATA...

DATA is the data file (idx: images and labels), or the directory with the files the certificate
names.  Exit code 0: accepted, and what is proved is printed; 1: rejected, with the reason; 2: a
file is missing or unreadable.  CERTIFICATE.md states the format and why each test suffices.  All
arithmetic is on integers and fractions; a double of the data is an integer times a power of two.
"""

# fmt: off
from __future__ import annotations  # noqa: I001

import ast, bz2, csv, gzip, hashlib, io, json, lzma, math, re, struct, sys, zipfile  # noqa: E401
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import Any

COMMON = "format version kind geometry data support weights total"
FIELDS = {"margin": " gamma_squared radius_squared", "inseparable": "",  # which each kind adds
          "enclosure": " primal gamma_lo gamma_hi",
          "l1-margin": " primal signed value_lo value_hi radius"}
KERNELS = {"linear": "", "precomputed": "", "poly": " degree gamma coef0", "rbf": " gamma"}
MOST_DIGITS = 1 << 20  # of one hexadecimal number: a bound on work, far above what is needed
INTEGER, NUMBER = set("0123456789+- "), set("0123456789+-.eE ")  # int() and float() take more
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
Row = tuple[Sequence[int], Sequence[Any]]  # columns (a range when all are there) and values
Table = tuple[list[str], Callable[[int], Row], int]  # labels, points, number of columns
Array = tuple[Sequence[Any], Sequence[int], bool]  # entries as stored, shape, in Fortran's order?

class Rejected(Exception):
    """The certificate does not prove its claim about these data; the message says why."""

def demand(condition: object, reason: str) -> None:
    if not condition:
        raise Rejected(reason)

# ---- fields of the certificate: nothing is used before it is guarded ---------------------------
def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    demand(len(dict(pairs)) == len(pairs), "the certificate has a JSON key twice in one object")
    return dict(pairs)

def fields(section: Any, where: str, required: str, optional: str = "") -> dict[str, Any]:
    names, needed = set(section if isinstance(section, dict) else ()), set(required.split())
    demand(needed <= names, f"{where} is not an object with the fields {required}")
    demand(names <= needed | set(optional.split()), f"{where} has a field besides {required}")
    return dict(section)

def whole(value: Any, what: str, low: int, end: int) -> int:
    demand(type(value) is int and low <= value < end, f"{what} is not an integer in [{low}, {end})")
    return int(value)

def integer(text: Any, what: str) -> int:
    demand(isinstance(text, str) and len(text) <= MOST_DIGITS
           and re.fullmatch("0x0|-?0x[1-9a-f][0-9a-f]*", text), f"{what} is not an integer in hex")
    return int(text, 16)

def rational(text: Any, what: str) -> Fraction:
    top, _, bottom = text.partition("/") if isinstance(text, str) else ("", "", "")
    value, below = integer(top, what), integer(bottom, what)
    demand(below > 0 and math.gcd(value, below) == 1, f"{what} is not a fraction in lowest terms")
    return Fraction(value, below)

def combination(indices: Any, values: Any, end: int, what: str) -> dict[int, int]:
    demand(type(indices) is type(values) is list, f"the {what} or their indices are not a list")
    demand(len(indices) == len(values), f"the {what} and their indices differ in number")
    keys = [whole(index, f"an index of the {what}", 0, end) for index in indices]
    demand(all(a < b for a, b in pairwise(keys)), f"the indices of the {what} do not increase")
    numbers = [integer(value, f"number {k} of the {what}") for k, value in enumerate(values)]
    demand(all(numbers), f"one of the {what} is zero")
    return dict(zip(keys, numbers, strict=True))

# ---- data files --------------------------------------------------------------------------------
def label_text(label: object) -> str:
    text = str(label).strip()
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return text
    number = int(text) if text.lstrip("+-").isdigit() else float(text)
    return str(int(number) if number % 1 == 0 else number) if math.isfinite(number) else text

def parsed(rows: list[list[str]], where: str) -> list[list[Any]]:
    """Integers if every feature of the file is one, doubles otherwise."""
    used: set[str] = set().union(*("".join(row) for row in rows))
    demand(used <= NUMBER, f"{where} has a feature that is not a finite number")
    table: list[list[Any]] = [list(map(int if used <= INTEGER else float, row)) for row in rows]
    demand(used - INTEGER or all(-1 << 63 <= v < 1 << 63 for row in table for v in row),
           f"{where} has an integer of more than 64 bits")
    return table

def read_csv(text: str, label: Any, where: str) -> Table:
    lines, named = [line for line in text.splitlines() if line.strip()], isinstance(label, str)
    demand(lines, f"{where} is empty")
    reader = csv.reader(lines, delimiter=max(",;\t", key=lines[0].count))
    table = [[token.strip() for token in row] for row in reader]
    end = len(table[0])
    at = table[0].index(label) if named else whole(label, "data.label", -end, end) % end
    if named or not all(t and set(t) <= NUMBER for t in table[0][:at] + table[0][at + 1:]):
        del table[0]  # a header
    demand(table and all(len(row) == len(table[0]) > 1 for row in table), f"{where} is ragged")
    labels = [label_text(row.pop(at)) for row in table]
    columns, values = range(len(table[0])), parsed(table, where)
    return labels, lambda i: (columns, values[i]), len(columns)

def read_svmlight(text: str, where: str) -> Table:
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    lines = [[t for t in line if not t.startswith("qid:")] for line in lines if line]
    pairs = [[token.partition(":")[::2] for token in line[1:]] for line in lines]
    columns = [[int(column) - 1 for column, _ in row] for row in pairs]
    demand(all(a < b for row in columns for a, b in pairwise([-1, *row])),
           f"{where} has columns that do not increase from 1 on")
    values = parsed([[value for _, value in row] for row in pairs], where)
    width = max((row[-1] + 1 for row in columns if row), default=0)
    return [label_text(line[0]) for line in lines], lambda i: (columns[i], values[i]), width

def npy(raw: bytes, where: str) -> Array:
    start = 10 if raw[6] == 1 else 12  # by the version of the format
    end = start + int.from_bytes(raw[8:start], "little")
    header, body = ast.literal_eval(raw[start:end].decode()), raw[end:]
    (order, kind), size = header["descr"][:2], int(header["descr"][2:])
    entries: Sequence[Any] = body  # of unsigned bytes and truth values
    if kind in "SU":
        text = body.decode("latin-1" if kind == "S" else f"utf-32-{'be' if order == '>' else 'le'}")
        entries = [text[i:i + size].rstrip("\0") for i in range(0, len(text), size)]
    elif (kind, size) not in (("u", 1), ("b", 1)):
        code = {"i": "bhiq", "u": "BHIQ", "f": " efd"}[kind]["1248".index(str(size))]
        entries = struct.unpack(f"{order.replace('|', '<')}{len(body) // size}{code}", body)
    demand(len(entries) == math.prod(header["shape"]), f"{where} has an array of the wrong length")
    return entries, header["shape"], header["fortran_order"]

def idx(raw: bytes, where: str) -> Array:
    demand(raw[:3] == b"\0\0\x08", f"{where}: not idx files of unsigned bytes")
    shape, body = struct.unpack_from(f">{raw[3]}I", raw, 4), raw[4 + 4 * raw[3]:]
    demand(len(body) == math.prod(shape), f"{where}: an idx file of the wrong length")
    return body, shape, False

def from_arrays(points: Array, names: Array, where: str) -> Table:
    (values, shape, fortran), labels = points, [label_text(label) for label in names[0]]
    demand(shape and shape[0] == len(labels), f"{where} has not one label for each point")
    d, offsets, stride = math.prod(shape[1:]), [0], shape[0]
    for side in shape[1:] if fortran else ():  # where the features of point 0 are
        offsets = [base + stride * k for base in offsets for k in range(side)]
        stride *= side
    return labels, lambda i: (range(d), [values[i + place] for place in offsets] if fortran
                              else values[i * d:(i + 1) * d]), d

def read(data: dict[str, Any], paths: Sequence[str]) -> tuple[Table, str]:
    form, files, label = data["format"], data["files"], data.get("label")
    arrays = ["X", "y"] if data.get("arrays") is None else data["arrays"]
    demand(form in ("csv", "svmlight", "npz", "idx"), "data.format is not csv, svmlight, npz, idx")
    demand(isinstance(files, list) and len(files) == 1 + (form == "idx") and all(
        isinstance(f, str) and f.isprintable() and f not in ("", "..") and not set(f) & set("/\\:")
        for f in files), f"data.files is not the plain name(s) of {1 + (form == 'idx')} file(s)")
    inside = len(paths) == 1 and Path(paths[0]).is_dir()
    places = [Path(paths[0], name) for name in files] if inside else list(map(Path, paths))
    if len(places) != len(files):
        raise FileNotFoundError(2, f"the data files needed are {' and '.join(files)}")
    raws = [UNPACK.get(path.suffix, bytes)(path.read_bytes()) for path in places]
    where = " and ".join(path.name for path in places)
    if form == "csv":
        return read_csv(raws[0].decode("utf-8-sig"), 0 if label is None else label, where), where
    if form == "svmlight":
        return read_svmlight(raws[0].decode("utf-8-sig"), where), where
    if form == "idx":
        names, points = sorted((idx(raw, where) for raw in raws), key=lambda part: len(part[1]))
    else:
        with zipfile.ZipFile(io.BytesIO(raws[0])) as archive:
            points, names = (npy(archive.read(f"{name}.npy"), where) for name in arrays)
    return from_arrays(points, names, where), where

def canonical(label: int, row: Row) -> bytes:
    columns, values = [c for c, v in zip(*row, strict=True) if v], [v for v in row[1] if v]
    k, large = len(values), max(map(abs, values), default=0) > 1 << 53  # a double may not hold it
    rest = [int(v) - int(float(v)) for v in values] if large else []
    return (struct.pack(f">iI{k}I{k}d", label, k, *columns, *values)
            + (b"r" + struct.pack(f">{k}q", *rest) if any(rest) else b""))

class Points:
    """The data: rows of integers, which are the points divided by 2^exponent, and their classes."""
    def __init__(self, data: dict[str, Any], paths: Sequence[str], k: int, two: bool) -> None:
        (labels, row, width), where = read(data, paths)
        texts, n, d = data["classes"], *(whole(data[f], f"data.{f}", 1, 1 << 32) for f in "nd")
        demand(isinstance(texts, list) and len(texts) == k == len(set(texts))
               and all(isinstance(text, str) and text.isprintable() for text in texts),
               f"data.classes is not a list of {k} labels")
        known = [i for i, text in enumerate(labels) if text in texts]
        chosen = known if data.get("rows") is None else [
            whole(i, "an entry of data.rows", 0, len(labels)) for i in data["rows"]]
        demand(set(chosen) <= set(known), "data.rows has a row whose label is not in data.classes")
        demand(n == len(chosen), f"data.n is {n} but the data hold {len(chosen)} such points")
        self.classes, rows = [texts.index(labels[i]) for i in chosen], [row(i) for i in chosen]
        dense = isinstance(rows[0][0], range)
        self.columns = rows[0][0] if dense else sorted(set().union(*(c for c, _ in rows)))
        demand(max(self.columns, default=-1) < d <= width, f"data.d is not {width}, as in {where}")
        digest = hashlib.sha256(b"gammabar-data-1\n" + struct.pack(">qq", n, d))
        for c, point in zip(self.classes, rows, strict=True):
            digest.update(canonical(2 * c - 1 if two else c, point))
        demand(digest.hexdigest() == data["sha256"], f"{where}: other data, by their SHA-256")
        scale = 1
        if any(isinstance(v, float) for _, values in rows for v in values[:1]):
            scale = max(v.as_integer_ratio()[1] for _, values in rows for v in values)
            rows = [(columns, [top * (scale // bottom) for top, bottom in map(
                float.as_integer_ratio, values)]) for columns, values in rows]
        if not dense:  # number the columns that occur
            place = {column: i for i, column in enumerate(self.columns)}
            rows = [([place[c] for c in columns], values) for columns, values in rows]
        self.n, self.d, self.k, self.rows = n * (k - 1), d, k, rows
        self.exponent, self.squares = 1 - scale.bit_length(), [sum(map(mul, v, v)) for _, v in rows]
        part = "every point" if (m := len(set(chosen))) == len(known) else (
            f"ONLY {m} (those listed in the certificate) of the {len(known)} points")
        self.summary = f"{n} x {d}: {part} of {where} with label {' or '.join(texts)[:80]}"

# ---- inner products: integers, or bounds on them, in multiples of `unit` -----------------------
def dot(row: Row, w: Any) -> int:
    return sum(map(mul, row[1], w if isinstance(row[0], range) else map(w.__getitem__, row[0])))

class Linear(Points):
    """Rows x_i (e_c - e_j) / sqrt 2, c the class of x_i, j another; as good as y_i x_i if k = 2."""
    exact = True
    def __init__(self, *data: Any) -> None:
        super().__init__(*data)
        self.unit = Fraction(4) ** self.exponent / 2
        self.radius_squared = 2 * max(self.squares) * self.unit
    def combine(self, q: dict[int, int]) -> list[list[int]]:
        w = [[0] * len(self.columns) for _ in range(self.k)]
        for index, weight in q.items():
            i, j = divmod(index, self.k - 1)
            c = self.classes[i]
            for part, factor in ((w[c], weight), (w[j + (j >= c)], -weight)):
                for column, value in zip(*self.rows[i], strict=True):
                    part[column] += factor * value
        return w
    def norm(self, q: dict[int, int]) -> int:
        return sum(x * x for part in self.combine(q) for x in part)
    def scores(self, i: int, w: list[list[int]]) -> list[int]:
        c, s = self.classes[i], [dot(self.rows[i], part) for part in w]
        return [s[c] - s[j] for j in range(self.k) if j != c]
    def least(self, q: dict[int, int]) -> int:
        """The least score; w = 2^shift rough + rest with 0 <= rest < 2^shift clears most rows."""
        w = self.combine(q)
        shift = max(0, max((abs(x).bit_length() for part in w for x in part), default=0) - 60)
        rough, best = [[x >> shift for x in part] for part in w], min(self.scores(0, w))
        for i, (_, values) in enumerate(self.rows):
            if (min(self.scores(i, rough)) - sum(map(abs, values))) << shift < best:
                best = min(best, *self.scores(i, w))
        return best

def exp_minus(x: Fraction, p: int) -> tuple[Fraction, Fraction]:
    """Bounds of exp(-x), x >= 0, to p bits: those of exp(-x / 2^halvings), squared as often."""
    if x > p:
        return Fraction(0), Fraction(1, 1 << p)
    halvings, k = 8 + p.bit_length(), 0
    bits = p + 2 * halvings + 8
    z = (x.numerator << bits - halvings) // x.denominator  # z <= 2^bits x / 2^halvings < z + 1
    low = high = least = most = 1 << bits
    while most > 1:  # the terms of the series, between least and most, alternate and decrease
        k += 1
        least, most = (least * z >> bits) // k, ((most * (z + 1) >> bits) + 1) // k + 1
        low, high = (low - most, high - least) if k % 2 else (low + least, high + most)
    low, high = low - most, high + most  # what is left is smaller than the last term
    for _ in range(halvings):
        low, high = low * low >> bits, (high * high >> bits) + 1
    return Fraction(low >> bits - p, 1 << p), Fraction((high >> bits - p) + 1, 1 << p)

class Kernel(Points):
    """Rows y_i phi(x_i), <phi(x), phi(z)> = K(x, z), over sqrt(K(x, x) K(z, z)) if normalised."""
    unit = 1
    def __init__(self, kernel: Any, form: Any, plain: bool, bits: int, *data: Any) -> None:
        super().__init__(*data)
        self.within = rational(form.get("within", "0x0/0x1"), "within")
        normalised = form["normalised"]
        gamma = rational(kernel.get("gamma", "0x1/0x1"), "gamma")
        self.coef0 = rational(kernel.get("coef0", "0x0/0x1"), "coef0")
        demand(gamma > 0 <= self.coef0, "the kernel is not one unless gamma > 0 and coef0 >= 0")
        self.degree = whole(kernel.get("degree", 1), "the degree", 1, 101)
        self.given, self.rbf = (kernel["name"] == name for name in ("precomputed", "rbf"))
        self.rate = gamma * Fraction(2 if self.given else 4) ** self.exponent
        self.bits, self.exact = bits, not self.rbf and (plain or not normalised)
        if self.given:
            demand(self.d == self.n, "a precomputed kernel needs a square matrix of its values")
            table = [tuple(values) for _, values in self.rows]
            demand(table == list(zip(*table, strict=True)), "the matrix is not symmetric")
            self.squares = [values[i] for i, values in enumerate(table)]
            self.summary += ("; for every positive semidefinite matrix at a distance of at most "
                f"about {float(self.within)!r} from this one{', normalised' * normalised}, in the "
                "2-norm" if self.within else "; provided that this matrix is positive semidefinite")
        demand(self.within >= 0 and (self.given or not self.within), "within: not for this kernel")
        self.norms = [Fraction(1) if self.rbf else self.value(square) for square in self.squares]
        demand(not normalised or min(self.norms) > 0, "K(x, x) <= 0 for a point: not normalised")
        self.radius_squared = max(self.norms) if self.exact else Fraction(1)
    def value(self, product: int) -> Fraction:
        return (self.rate * product + self.coef0) ** self.degree
    def entry(self, i: int, j: int, product: int) -> tuple[Fraction, Fraction]:
        """Bounds of <phi(x_i), phi(x_j)>, from the product of x_i and x_j."""
        if self.rbf:
            apart = self.squares[i] + self.squares[j] - 2 * product
            return exp_minus(self.rate * apart, self.bits)
        value = self.value(product)
        if self.exact:
            return value, value
        square = value**2 / (self.norms[i] * self.norms[j])
        low = math.isqrt(int(square * 4**self.bits))
        bounds = Fraction(low, 2**self.bits), Fraction(low + 1, 2**self.bits)
        return bounds if value >= 0 else (-bounds[1], -bounds[0])
    def scores(self, q: dict[int, int], among: Iterable[int], side: int) -> dict[int, Fraction]:
        """Lower (side 0) or upper (side 1) bounds of <a_i, sum_j q_j a_j> for i in among."""
        rows, classes, bounds = self.rows, self.classes, dict.fromkeys(among, Fraction(0))
        for j, weight in q.items():
            vector = (rows[j][1] if isinstance(rows[j][0], range)
                      else Counter(dict(zip(*rows[j], strict=True))))
            for i in bounds:
                factor = weight if classes[i] == classes[j] else -weight
                pair = self.entry(i, j, rows[i][1][j] if self.given else dot(rows[i], vector))
                bounds[i] += factor * pair[side if factor > 0 else 1 - side]
        return bounds
    def norm(self, q: dict[int, int]) -> Fraction:
        """The squared norm of sum q_i a_i, or an upper bound; 0 if equal points cancel."""
        sums: Counter[Any] = Counter()
        for i, weight in q.items():
            point = tuple((c, v) for c, v in zip(*self.rows[i], strict=True) if v)
            sums[point] += weight if self.classes[i] else -weight
        sides = [[i for i in q if q[i] < 0], [i for i in q if q[i] > 0]]
        return sum((q[i] * bound for side in (0, 1) if any(sums.values())
                    for i, bound in self.scores(q, sides[side], side).items()),
                   self.within * sum(map(abs, q.values()))**2)
    def least(self, q: dict[int, int]) -> Fraction:
        slack = self.within * sum(map(abs, q.values()))
        return min(self.scores(q, range(self.n), 0).values()) - slack

# ---- the proofs --------------------------------------------------------------------------------
def prove_l1(c: dict[str, Any], space: Linear, q: dict[int, int], total: int) -> str:
    primal, signed = fields(c["primal"], "primal", "columns coefficients"), c["signed"]
    chosen = combination(primal["columns"], primal["coefficients"], space.d, "coefficients")
    demand(isinstance(signed, bool), "signed is not a truth value")
    demand(signed or min(chosen.values(), default=0) > 0, "the primal point is not in the simplex")
    w, pull = [chosen.get(column, 0) for column in space.columns], space.combine(q)[1]
    pull += [0] * (len(pull) < space.d)  # a column of zeros
    least = min((2 * k - 1) * dot(row, w) for k, row in zip(space.classes, space.rows, strict=True))
    most = max(map(abs, pull) if signed else pull)
    largest = max((abs(v) for _, values in space.rows for v in values), default=0)
    low, high, radius = (Fraction(a, b) * Fraction(2) ** space.exponent for a, b in (
        (least, sum(map(abs, chosen.values())) or 1), (most, total), (largest, 1)))
    for name, value in (("value_lo", low), ("value_hi", high), ("radius", radius)):
        demand(rational(c[name], name) == value, f"{name} is not what the points and the data give")
    about = f"{float(low)!r}" if low == high else f"from {float(low)!r} to {float(high)!r}, about"
    return f"of largest {'l1' if signed else 'simplex'} margin {about}{', exactly' * (low == high)}"

def prove_enclosure(c: dict[str, Any], space: Any, q: dict[int, int], total: int) -> str:
    primal = fields(c["primal"], "primal", "support coefficients")
    alpha = combination(primal["support"], primal["coefficients"], space.n, "coefficients")
    low, high = rational(c["gamma_lo"], "gamma_lo"), rational(c["gamma_hi"], "gamma_hi")
    demand(0 <= low <= high, "gamma_lo and gamma_hi do not enclose anything")
    demand(space.norm(q) * space.unit <= (high * total) ** 2, "the weights do not prove gamma_hi")
    least = space.least(alpha) if low else 0
    demand(low == 0 or (least > 0 and least**2 * space.unit >= low**2 * space.norm(alpha)),
           "the primal point does not prove gamma_lo")
    return (f"{'separable' if low else 'undecided'}; its maximum margin is between gamma_lo and "
            f"gamma_hi, about {float(low)!r} and {float(high)!r}")

def prove_exact(c: dict[str, Any], space: Any, q: dict[int, int], total: int) -> str:
    square = space.norm(q)  # of total w, in multiples of unit
    if c["kind"] == "inseparable":
        demand(square == 0, "the weighted sum of the rows is not zero")
        return f"not separable: a convex combination of {len(q)} of its rows is zero"
    demand(space.exact, "the margin of such a kernel is not rational: it needs an enclosure")
    gamma, radius = square * space.unit / total**2, space.radius_squared
    for name, value in (("gamma_squared", gamma), ("radius_squared", radius)):
        demand(rational(c[name], name) == value, f"{name} is not that of the data")
    demand(square > 0, "the weighted sum w of the rows is zero")
    demand(space.least(q) * total >= square, "the weighted sum w of the rows is not the shortest: "
           "some row has a smaller product with w than w has with itself")
    return (f"separable; its maximum margin is {math.sqrt(gamma / radius):.15g} times the radius; "
            f"gamma^2 is an exact rational; {len(q)} support rows")

def geometry(c: dict[str, Any], data: dict[str, Any], paths: Sequence[str]) -> Linear | Kernel:
    form = c["geometry"] if isinstance(c["geometry"], dict) else {}
    if form.get("type") == "kernel":
        kernel = fields(form, "geometry", "type kernel normalised", "within")["kernel"]
        demand(isinstance(kernel, dict) and kernel.get("name") in list(KERNELS), "unknown kernel")
        fields(kernel, "the kernel", "name" + KERNELS[kernel["name"]])
        demand(isinstance(form["normalised"], bool), "geometry.normalised is not a truth value")
        below = (rational(c.get(f, "0x0/0x1"), f).denominator for f in ("gamma_lo", "gamma_hi"))
        bits = 128 + 2 * min(1 << 12, max(below).bit_length())
        plain = c["kind"] == "inseparable"  # rows may keep their lengths: these do not move zero
        demand("within" not in form or c["kind"] == "enclosure", "within is for enclosures only")
        return Kernel(kernel, form, plain, bits, data, paths, 2, True)
    two = form.get("type") == "linear"
    demand(two or form.get("type") == "multiclass", "the geometry is of an unknown type")
    fields(form, "geometry", "type" if two else "type classes")
    return Linear(data, paths, whole(form.get("classes", 2), "geometry.classes", 2, 1 << 12), two)

def prove(c: Any, paths: Sequence[str]) -> str:
    demand(isinstance(c, dict) and c.get("format") == "gammabar-certificate", "no certificate")
    demand(type(c.get("version")) is int and c["version"] == 1, "not a certificate of version 1")
    demand(c.get("kind") in list(FIELDS), "the certificate is of an unknown kind")
    fields(c, "the certificate", COMMON + FIELDS[c["kind"]])
    data = fields(c["data"], "data", "name sha256 n d format files classes", "label arrays rows")
    demand(isinstance(data["name"], str) and data["name"].isprintable(), "data.name is not a name")
    space, total = geometry(c, data, paths), integer(c["total"], "total")
    q = combination(c["support"], c["weights"], space.n, "weights")
    demand(q and min(q.values()) > 0, "the weights are not positive")
    demand(sum(q.values()) == total, "the weights do not sum to total")
    demand(c["kind"] != "l1-margin" or c["geometry"]["type"] == "linear", "an l1 margin is linear")
    proof = {"l1-margin": prove_l1, "enclosure": prove_enclosure}.get(c["kind"], prove_exact)
    return f"{data['name']} ({space.summary}) is {proof(c, space, q, total)}"

def check(certificate_path: str, *data_paths: str) -> str:
    """Say what the certificate proves; raise Rejected, or OSError if a file is missing."""
    try:
        certificate = json.loads(Path(certificate_path).read_bytes(), object_pairs_hook=distinct)
        return prove(certificate, data_paths)
    except Rejected:
        raise
    except Exception as error:  # whatever a malformed file may provoke; none is worth a traceback
        if isinstance(error, OSError) and error.errno:
            raise
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise Rejected(f"the certificate or a data file is malformed ({reason})") from None

def main(arguments: list[str]) -> int:
    try:
        if len(arguments) < 2:
            raise OSError("usage: python check.py CERTIFICATE DATA...")
        code, text = 0, f"accepted: {check(*arguments)}"
    except Rejected as reason:
        code, text = 1, f"rejected: {reason}"
    except OSError as error:
        code, text = 2, f"{error}"
    print(text.encode("ascii", "backslashreplace").decode(), file=sys.stderr if code > 1 else None)
    return code

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
