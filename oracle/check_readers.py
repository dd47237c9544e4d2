"""Data files and fields of a certificate, for `check.py`: guarded, counted, and made integers.

Python's standard library, and nothing of this project. CERTIFICATE.md specifies the formats under
"Files". What a file or a certificate holds is not used before it is tested; time and memory are
estimated from sizes before they are spent.
"""

from __future__ import annotations

import ast
import bz2
import csv
import gzip
import hashlib
import lzma
import math
import re
import struct
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import Any

Row = tuple[Sequence[int], Sequence[Any]]  # columns (a range when all are there) and values
Combination = dict[int, int]  # coefficients by index


class Rejected(Exception):
    """The certificate does not prove its claim about these data; the message says why."""


class TooCostly(Exception):
    """The check would take more computing than is allowed; the message says how much."""


def demand(condition: object, reason: str) -> None:
    if not condition:
        raise Rejected(reason)


def _quoted(text: str) -> str:
    """A text from outside, in quotes and escaped: it cannot pass for words of this program."""
    return ascii(text if len(text) <= 80 else text[:60] + "[...]" + text[-15:])


# ---- cost: estimated from sizes before it is spent ---------------------------------------------


class Budget:
    """Seconds of computing that may be spent."""

    def __init__(self, limit: float) -> None:
        self.limit, self.spent = limit, 0.0

    def spend(self, seconds: float, what: str) -> None:
        self.spent += seconds
        if self.spent > self.limit:
            raise TooCostly(
                f"{what} would bring the check to about {self.spent:.3g} seconds of computing, and "
                f"the limit is {self.limit:.3g} (raise it with --limit)"
            )

    def hold(self, count: float, what: str) -> None:
        """Bytes of memory; those that the limit allows by default are 6 GB."""
        self.spend(1e-7 * count, what)


def product_time(bits: float, other: float) -> float:
    """Seconds for the product of two integers of so many bits, as Python multiplies them."""
    small, large = sorted((bits / 30 + 1, other / 30 + 1))
    return 1e-7 + 4e-9 * large * small**0.585


def quotient_time(bits: float, divisor: float) -> float:
    """Seconds for a division of integers, which takes time in proportion to both lengths."""
    return 2e-7 + 4e-9 * max(1.0, bits - divisor) / 30 * (divisor / 30 + 1)


# ---- fields of the certificate: nothing is used before it is guarded ---------------------------

MOST_DIGITS = 1 << 20  # of one hexadecimal number
HEXADECIMAL = re.compile("0x0|-?0x[1-9a-f][0-9a-f]*").fullmatch


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
    demand(
        isinstance(text, str) and len(text) <= MOST_DIGITS and HEXADECIMAL(text),
        f"{what} is not an integer in hexadecimal of at most {MOST_DIGITS} digits",
    )
    return int(text, 16)


def rational(text: Any, what: str, budget: Budget) -> Fraction:
    top, _, bottom = text.partition("/") if isinstance(text, str) else ("", "", "")
    value, below = integer(top, what), integer(bottom, what)
    budget.spend(quotient_time(8 * len(text), 4 * len(text)), f"reading {what}")
    demand(below > 0 and math.gcd(value, below) == 1, f"{what} is not a fraction in lowest terms")
    return Fraction(value, below)


def combination(indices: Any, values: Any, end: int, what: str) -> Combination:
    demand(type(indices) is type(values) is list, f"the {what} or their indices are not a list")
    demand(len(indices) == len(values), f"the {what} and their indices differ in number")
    keys = [whole(index, f"an index of the {what}", 0, end) for index in indices]
    demand(all(a < b for a, b in pairwise(keys)), f"the indices of the {what} do not increase")
    numbers = [integer(value, f"number {k} of the {what}") for k, value in enumerate(values)]
    demand(all(numbers), f"one of the {what} is zero")
    return dict(zip(keys, numbers, strict=True))


def length(values: Iterable[int]) -> int:
    """Bits of the longest of some integers."""
    return max((abs(value).bit_length() for value in values), default=0)


# ---- data files, as CERTIFICATE.md specifies them under "Files" --------------------------------

OPEN: dict[str, Callable[[Path, Any], Any]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
BLANKS = " \t"
PARSED = 36  # bytes of memory for each byte of a text
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]").search
INTEGER = re.compile(r"[+-]?[0-9]+").fullmatch
NUMERAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE).fullmatch
NPY = {b"\x93NUMPY\1\0": 2, b"\x93NUMPY\2\0": 4}  # the first bytes, and those of the length
NPY_TYPE = re.compile(
    r"([<>|])(b1|i1|u1|S[1-9][0-9]{0,5})|([<>])([iu][248]|f[248]|U[1-9][0-9]{0,5})"
).fullmatch
CODES = {"b1": "B", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "f2": "e", "f4": "f", "f8": "d"}
CODES |= {"u1": "B", "u2": "H", "u4": "I", "u8": "Q"}


class _Table:
    """What the files hold: a label for each point, the points, and how many columns they have."""

    def __init__(self, labels: list[str], row: Callable[[int], Row], width: int) -> None:
        self.labels, self.row, self.width = labels, row, width


class Array:
    """Entries as they are stored, the shape, and whether they are in Fortran's order."""

    def __init__(self, entries: Sequence[Any], shape: Sequence[int], fortran: bool) -> None:
        self.entries, self.shape, self.fortran = entries, shape, fortran


def contents(path: Path, budget: Budget) -> bytes:
    """The bytes of a file, decompressed as its last suffix says."""
    parts = []
    with OPEN.get(path.suffix.lower(), open)(path, "rb") as stream:
        while part := stream.read(1 << 20):
            budget.spend(1e-6 * len(part), f"reading {_quoted(path.name)}")
            parts.append(part)
    return b"".join(parts)


def _label_text(label: object, where: str) -> str:
    """Numbers in one way of writing, other texts without the blanks around them."""
    text = str(label).strip(BLANKS)
    demand(0 < len(text) <= 500, f"{where} has a label that is missing or very long")
    demand(text.lower() not in ("nan", "+nan", "-nan"), f"{where} has a label that is missing")
    odd = [c for c in text if not c.isprintable() and unicodedata.category(c) in ("Cc", "Cs")]
    demand(not odd, f"{where} has a label with a control character")
    if INTEGER(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        return f"-{digits}" if text[0] == "-" and digits != "0" else digits
    if NUMERAL(text) and math.isfinite(float(text)):
        number = float(text)
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def _lines(raw: bytes, where: str) -> list[str]:
    text = raw.decode("utf-8-sig")
    demand(not CONTROL(text), f"{where} has a control character")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def numbers(rows: list[list[str]], where: str) -> list[list[Any]]:
    """Integers of 64 bits if every feature of the file is an integer, doubles otherwise."""
    for row in rows:
        demand(all(map(NUMERAL, row)), f"{where} has a feature that is not a finite number")
    if all(all(map(INTEGER, row)) for row in rows):
        return [[_small_integer(text, 1 << 63, where) for text in row] for row in rows]
    table = [list(map(float, row)) for row in rows]
    for values in table:
        demand(all(map(math.isfinite, values)), f"{where} has a number too large for a double")
    return table


def _small_integer(text: str, end: int, where: str) -> int:
    """An integer in [-end, end), however many zeros it begins with."""
    digits = text.lstrip("+-").lstrip("0") or "0"
    value = int(digits[:20]) * (-1 if text[0] == "-" else 1)
    demand(len(digits) < 20 and -end <= value < end, f"{where} has an integer that is too large")
    return value


def _column_of(name: Any, head: list[str], where: str) -> int:
    """The index of a column that is given by its name in the first line, or by its index."""
    if isinstance(name, str):
        once = head.count(name) == 1 and not NUMERAL(name)
        demand(once, f"{where}: not one column {_quoted(name)}")
        return head.index(name)
    return whole(name, "data.label or data.drop", -len(head), len(head)) % len(head)


def read_csv(raw: bytes, label: Any, drop: list[Any], where: str) -> _Table:
    kept = [line for line in _lines(raw, where) if line.strip(BLANKS)]
    demand(kept, f"{where} is empty")
    reader = csv.reader(kept, delimiter=max(",;\t", key=kept[0].count), strict=True)
    table = [[field.strip(BLANKS) for field in row] for row in reader]
    demand(len(table) == len(kept), f"{where} has quotation marks that go over the end of a line")
    head = table[0]
    at, *without = (_column_of(name, head, where) for name in (label, *drop))
    demand(len({at, *without}) == 1 + len(drop), "data.label and data.drop name a column twice")
    features = [k for k in range(len(head)) if k != at and k not in without]
    words = [head[k] for k in features]
    header = any(isinstance(name, str) for name in (label, *drop))
    if any(field and not NUMERAL(field) and not NOT_FINITE(field) for field in words):
        half = any(map(NUMERAL, [head[at], *words]))
        demand(header or not half, f"{where}: the first line has a word")
        header = True
    if header:
        del table[0]
    demand(table and features, f"{where} has no data")
    demand(all(len(row) == len(head) for row in table), f"{where} is ragged")
    labels = [_label_text(row[at], where) for row in table]
    columns = range(len(features))
    values = numbers([[row[k] for k in features] for row in table], where)
    return _Table(labels, lambda i: (columns, values[i]), len(columns))


def read_svmlight(raw: bytes, where: str) -> _Table:
    parts = [re.findall(r"[^ \t]+", line.partition("#")[0]) for line in _lines(raw, where)]
    parts = [part for part in parts if part]
    demand(all(":" not in part[0] for part in parts), f"{where} has a line without label")
    labels = [_label_text(part[0], where) for part in parts]
    pairs = [
        [field.partition(":") for field in part[1 + part[1].startswith("qid:") :]]
        if len(part) > 1
        else []
        for part in parts
    ]
    columns = []
    for row in pairs:
        demand(
            all(colon and index.isascii() and index.isdigit() for index, colon, _ in row),
            f"{where} has a field that is not index:value",
        )
        columns.append([_small_integer(index, 1 << 32, where) for index, _, _ in row])
        rising = all(a < b for a, b in pairwise(columns[-1]))
        demand(rising, f"{where} has columns that do not increase")
    demand(any(columns), f"{where} has no data")
    if min(row[0] for row in columns if row):  # else indices count from 0
        columns = [[index - 1 for index in row] for row in columns]
    values = numbers([[value for _, _, value in row] for row in pairs], where)
    width = max(row[-1] + 1 for row in columns if row)
    demand(width < 1 << 32, f"{where} has too many columns")
    return _Table(labels, lambda i: (columns[i], values[i]), width)


def _members(path: Path, where: str, names: Sequence[str], budget: Budget) -> list[Array]:
    """Some arrays of an NPZ archive."""
    with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
        listed = archive.namelist()
        demand(len(set(listed)) == len(listed), f"{where} has members of the same name")
        found = []
        for name in names:
            info = archive.getinfo(f"{name}.npy")
            budget.spend(1e-6 * info.file_size, f"reading {where}")
            with archive.open(info) as member:
                raw = member.read(info.file_size + 1)
            demand(len(raw) == info.file_size, f"{where} has an array of the wrong length")
            found.append(npy(raw, where))
    return found


def npy(raw: bytes, where: str) -> Array:
    size = NPY.get(raw[:8])
    demand(size, f"{where} has an array of an unknown version")
    end = 8 + (size or 0) + int.from_bytes(raw[8 : 8 + (size or 0)], "little")
    demand(end <= min(len(raw), 10_012), f"{where} has an array with a long header")
    header = ast.literal_eval(raw[8 + (size or 0) : end].decode("latin-1").strip())
    fields(header, "the header of an array", "descr fortran_order shape")
    kind, shape, fortran = header["descr"], header["shape"], header["fortran_order"]
    demand(type(fortran) is bool and type(shape) is tuple and len(shape) <= 32, "no array")
    demand(all(type(side) is int and 0 <= side < 1 << 63 for side in shape), "no array")
    demand(isinstance(kind, str) and NPY_TYPE(kind), f"{where} has an array of another type")
    return Array(_unpacked(raw[end:], kind, math.prod(shape), where), shape, fortran)


def _unpacked(body: bytes, kind: str, count: int, where: str) -> Sequence[Any]:
    """The entries of an array, or None among them for bytes that are no text."""
    order, kind = kind[0], kind[1:]
    wide = {"U": 4, "S": 1}.get(kind[0], 0) * int(kind[1:])
    size = wide or int(kind[1:])
    demand(len(body) == count * size, f"{where} has an array of the wrong length")
    if wide:
        code = "utf-8" if kind[0] == "S" else "utf-32-be" if order == ">" else "utf-32-le"
        texts = [body[i : i + wide] for i in range(0, len(body), wide)]
        if kind[0] == "S":
            return [text.rstrip(b"\0").decode(code) for text in texts]
        return [text.decode(code).rstrip("\0") for text in texts]
    if kind == "b1":
        demand(max(body, default=0) <= 1, f"{where} has a truth value that is not 0 or 1")
    if size == 1 and kind != "i1":
        return body
    entries = struct.unpack(f"{'>' if order == '>' else '<'}{count}{CODES[kind]}", body)
    demand(kind[0] != "f" or all(map(math.isfinite, entries)), f"{where} has no finite number")
    return entries


def idx(raw: bytes, where: str) -> Array:
    demand(raw[:3] == b"\0\0\x08" and 1 <= raw[3] <= 4, f"{where}: not idx files of bytes")
    shape, body = struct.unpack_from(f">{raw[3]}I", raw, 4), raw[4 + 4 * raw[3] :]
    demand(body and len(body) == math.prod(shape), f"{where}: an idx file of the wrong length")
    return Array(body, shape, False)


def from_arrays(points: Array, names: Array, where: str) -> _Table:
    shape, values = points.shape, points.entries
    demand(len(shape) > 1, f"{where} has no array of points")
    demand(len(values), f"{where} has no data")
    demand(not isinstance(values[0], str), f"{where} has texts where numbers are needed")
    n, d = shape[0], math.prod(shape[1:])
    labels = _labels_of(names, n, where)
    if not points.fortran:
        return _Table(labels, lambda i: (range(d), values[i * d : (i + 1) * d]), d)
    offsets, stride = [0], n  # where the features of point 0 are
    for side in shape[1:]:
        offsets = [base + stride * k for base in offsets for k in range(side)]
        stride *= side
    return _Table(labels, lambda i: (range(d), [values[i + place] for place in offsets]), d)


def _labels_of(names: Array, n: int, where: str) -> list[str]:
    demand(tuple(names.shape) in ((n,), (n, 1)), f"{where} has not one label for each point")
    return [_label_text(label, where) for label in names.entries]


SPARSE = {"csr": "indptr indices data", "csc": "indptr indices data", "coo": "row col data"}


def read_scipy(path: Path, names: Array, where: str, budget: Budget) -> _Table:
    """A sparse matrix as SciPy saves it."""
    (form,) = _members(path, where, ["format"], budget)
    demand(form.entries and isinstance(form.entries[0], str), f"{where} has no format")
    kind = form.entries[0]
    demand(kind in SPARSE, f"{where} is a sparse matrix in another format than csr, csc or coo")
    shape, *arrays = _members(path, where, ["shape", *SPARSE[kind].split()], budget)
    for array in (shape, *arrays):
        demand(len(array.shape) == 1, f"{where} has an array that is no list")
    first, second, data = (list(array.entries) for array in arrays)
    sizes = list(shape.entries)
    whole_numbers = all(type(value) is int for value in (*sizes, *first, *second))
    demand(whole_numbers, f"{where} has a place that is no integer")
    demand(len(sizes) == 2 and min(sizes) > 0, f"{where} is no matrix")
    demand(sizes[1] < 1 << 32, f"{where} has too many columns")
    demand(not data or not isinstance(data[0], str), f"{where} has texts for numbers")
    if kind != "coo":
        ends = first
        fits = len(ends) == sizes[kind == "csc"] + 1 and ends[0] == 0 and ends[-1] == len(data)
        demand(fits and all(a <= b for a, b in pairwise(ends)), f"{where}: indptr does not fit")
        first = [k for k, (a, b) in enumerate(pairwise(ends)) for _ in range(b - a)]
    demand(len(first) == len(second) == len(data), f"{where} has arrays of different lengths")
    if kind == "csc":
        first, second = second, first
    for places, size in zip((first, second), sizes, strict=True):
        inside = 0 <= min(places, default=0) <= max(places, default=0) < size
        demand(inside, f"{where} has an entry outside of it")
    rows: dict[int, dict[int, Any]] = {}
    for i, j, value in zip(first, second, data, strict=True):
        rows.setdefault(i, {})[j] = value
    demand(sum(map(len, rows.values())) == len(data), f"{where} has an entry twice")

    def row(i: int) -> Row:
        found = sorted(rows.get(i, {}).items())
        return [j for j, _ in found], [value for _, value in found]

    return _Table(_labels_of(names, sizes[0], where), row, sizes[1])


def _locate(files: Any, count: int, paths: Sequence[str]) -> list[Path]:
    """The data files: those that were given, or those of these names in the folder given."""
    demand(
        isinstance(files, list) and len(files) == count and all(type(f) is str for f in files),
        f"data.files is not the name(s) of {count} file(s)",
    )
    places = list(map(Path, paths))
    if len(paths) == 1 and places[0].is_dir():
        for name in files:
            plain = (
                name.isprintable()
                and len(name) < 256
                and name not in ("", ".", "..")
                and not set(name) & {*"/\\:"}
            )
            demand(plain, "data.files has a name that is not that of a file in a folder")
        places = [Path(paths[0], name) for name in files]
    if len(places) != count:
        names = " and ".join(map(_quoted, files))
        raise FileNotFoundError(2, f"{count} data file(s) are needed, such as {names}")
    return places


FORMATS = {"csv": 1, "svmlight": 1, "npz": 1, "npy": 2, "scipy": 2, "idx": 2}  # and their files


def read(data: dict[str, Any], paths: Sequence[str], budget: Budget) -> tuple[_Table, str]:
    """The table in the data files, and how to call them."""
    form, label, arrays = data["format"], data.get("label"), data.get("arrays")
    drop = data.get("drop")
    demand(form in list(FORMATS), f"data.format is not one of {', '.join(FORMATS)}")
    demand(label is drop is None or form == "csv", "data.label and data.drop are for CSV files")
    demand(arrays is None or form == "npz", "data.arrays is for NPZ files")
    places = _locate(data["files"], FORMATS[form], paths)
    where = " and ".join(_quoted(path.name) for path in places)
    if form == "npz":
        arrays = ["X", "y"] if arrays is None else arrays
        demand(type(arrays) is list and len(arrays) == 2, "data.arrays is not a pair of names")
        demand(all(type(name) is str for name in arrays), "data.arrays is not a pair of names")
        points, names = _members(places[0], where, arrays, budget)
        told = ", ".join(map(ascii, arrays))
        return from_arrays(points, names, where), f"{where} (arrays {told})"
    if form == "scipy":
        names = npy(contents(places[1], budget), where)
        return read_scipy(places[0], names, where, budget), where
    raws = [contents(path, budget) for path in places]
    if form in ("csv", "svmlight"):
        budget.hold(PARSED * len(raws[0]), f"to parse {where}")
    if form == "csv":
        label, drop = 0 if label is None else label, [] if drop is None else drop
        demand(type(drop) is list, "data.drop is not a list of columns")
        words = [f"label in column {shown(label)}", *(f"without {shown(name)}" for name in drop)]
        return read_csv(raws[0], label, drop, where), f"{where} ({', '.join(words)})"
    if form == "svmlight":
        return read_svmlight(raws[0], where), where
    if form == "npy":
        points, names = (npy(raw, where) for raw in raws)
        return from_arrays(points, names, where), where
    names, points = sorted((idx(raw, where) for raw in raws), key=lambda array: len(array.shape))
    return from_arrays(points, names, where), where


def shown(column: Any) -> str:
    return _quoted(column) if isinstance(column, str) else f"{column}, counted from 0"


def _canonical(label: int, row: Row) -> bytes:
    """A point in the form that is hashed."""
    columns, values = [c for c, v in zip(*row, strict=True) if v], [v for v in row[1] if v]
    count = len(values)
    packed = struct.pack(f">iI{count}I{count}d", label, count, *columns, *values)
    if max(map(abs, values), default=0) <= 1 << 53:
        return packed
    rest = [int(v) - int(float(v)) for v in values]  # an integer may be no double
    return packed + (b"r" + struct.pack(f">{count}q", *rest) if any(rest) else b"")


class Points:
    """The data: rows of integers, which are the points divided by 2^exponent, and their classes."""

    def __init__(
        self,
        data: dict[str, Any],
        paths: Sequence[str],
        k: int,
        two: bool,
        intercept: str,
        budget: Budget,
    ) -> None:
        table, where = read(data, paths, budget)
        texts = data["classes"]
        n, d = (whole(data[name], f"data.{name}", 1, 1 << 32) for name in "nd")
        demand(
            isinstance(texts, list)
            and all(isinstance(text, str) for text in texts)
            and len(texts) == k == len(set(texts)),
            f"data.classes is not a list of {k} labels",
        )
        same = all(_label_text(text, "data.classes") == text for text in texts)
        demand(same, "data.classes has a text that no label is read as")
        chosen, known = self.choose(data.get("rows"), table.labels, texts)
        demand(n == len(chosen), f"data.n is {n} but the data hold {len(chosen)} such points")
        place = {text: index for index, text in enumerate(texts)}
        self.classes = [place[table.labels[i]] for i in chosen]
        rows = [table.row(i) for i in chosen]
        self.chosen, self.everything = chosen, chosen == list(range(len(table.labels)))
        self.dense = isinstance(rows[0][0], range)
        self.columns = rows[0][0] if self.dense else sorted(set().union(*(c for c, _ in rows)))
        demand(
            max(self.columns, default=-1) < d <= table.width,
            f"data.d is not {table.width}, as in {where}",
        )
        digest = hashlib.sha256(b"gammabar-data-1\n" + struct.pack(">qq", n, d))
        for c, point in zip(self.classes, rows, strict=True):
            digest.update(_canonical(2 * c - 1 if two else c, point))
        demand(digest.hexdigest() == data["sha256"], f"{where}: other data, by their SHA-256")
        self.n, self.d, self.k, self.budget = n * (k - 1), d, k, budget
        self.rows, self.exponent = self.integers(rows)
        if intercept == "augmented":
            self.append_one()
        self.intercept = intercept
        #: With a free intercept the two classes are the sides, otherwise all rows are of one.
        self.sides = 2 if intercept == "free" else 1
        self.bits = max(map(length, (values for _, values in self.rows)))
        budget.spend(self.entries() * product_time(self.bits, self.bits), "the norms of the points")
        self.squares = [sum(map(mul, values, values)) for _, values in self.rows]
        self.summary = f"{n} x {d}, {_selection(len(set(chosen)), known)} of {where} with label "
        self.summary += _class_names(texts, two)

    @staticmethod
    def choose(rows: Any, labels: list[str], texts: list[str]) -> tuple[list[int], int]:
        """The rows of the file that the certificate speaks of; how many have its labels."""
        wanted = set(texts)
        known = [i for i, text in enumerate(labels) if text in wanted]
        if rows is None:
            demand(known, "no point has a label of data.classes")
            return known, len(known)
        demand(type(rows) is list and rows, "data.rows is not a list of rows")
        chosen = [whole(i, "an entry of data.rows", 0, len(labels)) for i in rows]
        strays = set(chosen).difference(known)
        demand(not strays, "data.rows has a row whose label is not in data.classes")
        return chosen, len(known)

    def append_one(self) -> None:
        """Give every point one more feature, which is 1."""
        self.budget.hold(8 * self.entries(), "to append a constant feature")
        here, one = len(self.columns), 1 << -self.exponent
        self.columns = [*self.columns, self.d]
        if self.dense:
            self.columns = range(self.d + 1)
            self.rows = [(self.columns, [*values, one]) for _, values in self.rows]
        else:
            self.rows = [([*columns, here], [*values, one]) for columns, values in self.rows]
        self.d += 1

    def side(self, i: int) -> int:
        """The side of a row."""
        return self.classes[i] if self.sides == 2 else 0

    def entries(self) -> int:
        return sum(len(values) for _, values in self.rows)

    def integers(self, rows: list[Row]) -> tuple[list[Row], int]:
        """Rows of integers, and the power of two to multiply them by."""
        scale = 1
        if any(isinstance(v, float) for _, values in rows for v in values[:1]):
            ratios = [(c, [v.as_integer_ratio() for v in values]) for c, values in rows]
            scale = max(bottom for _, pairs in ratios for _, bottom in pairs)
            top = max(abs(v) for _, pairs in ratios for v, _ in pairs)
            count = sum(len(pairs) for _, pairs in ratios)
            most = top.bit_length() + scale.bit_length()
            self.budget.hold(count * most / 8, "to hold the data as integers")
            rows = [(c, [top * (scale // bottom) for top, bottom in pairs]) for c, pairs in ratios]
        if not self.dense:  # number the columns that occur, and leave out zeros
            place = {column: i for i, column in enumerate(self.columns)}
            rows = [
                (
                    [place[c] for c, v in zip(*row, strict=True) if v],
                    [v for v in row[1] if v],
                )
                for row in rows
            ]
        return rows, 1 - scale.bit_length()


def _selection(taken: int, there: int) -> str:
    if taken == there:
        return "every point"
    return f"ONLY {taken} (those listed in the certificate) of the {there} points"


def _class_names(texts: list[str], two: bool) -> str:
    if two:
        return f"{_quoted(texts[0])} (class -1) or {_quoted(texts[1])} (class 1)"
    shown = [f"{_quoted(text)} (class {index})" for index, text in enumerate(texts[:10])]
    return " or ".join(shown) + (f" or {len(texts) - 10} others" if len(texts) > 10 else "")


def dot(row: Row, w: Any) -> int:
    return sum(map(mul, row[1], w if isinstance(row[0], range) else map(w.__getitem__, row[0])))


# ---- numbers for people ------------------------------------------------------------------------


def about(
    value: Fraction,
    rounding: str = ROUND_HALF_EVEN,
    root: bool = False,
    over: Fraction = Fraction(1),
) -> str:
    """A rational (over another), or its square root, in 15 digits; never rounded to zero."""
    if not value:
        return "0"
    context = Context(prec=60, Emin=-(10**17), Emax=10**17)
    found, lost = Decimal(1), False
    for part, step in (
        (value.numerator, context.multiply),
        (value.denominator, context.divide),
        (over.numerator, context.divide),
        (over.denominator, context.multiply),
    ):
        cut = max(0, part.bit_length() - 256)
        lost = lost or part >> cut << cut != part
        found = step(found, context.multiply(Decimal(part >> cut), context.power(2, cut)))
    found = context.sqrt(found) if root else found
    # What was cut off and rounded so far is less than 1e-50 of it.
    inexact = lost or bool(context.flags[Inexact])
    sign = {ROUND_FLOOR: -1, ROUND_CEILING: 1}.get(rounding, 0) * inexact
    found = context.add(found, context.multiply(abs(found), Decimal(sign).scaleb(-50)))
    short = Context(prec=15, rounding=rounding, Emin=-(10**17), Emax=10**17).plus(found)
    return f"{short.normalize(context):g}"


def number(value: Fraction) -> str:
    """A rational: in full if it is short or a double, else about."""
    if max(abs(value.numerator), value.denominator) < 10**9:
        return str(value)
    try:
        if Fraction(float(value)) == value:
            return f"{float(value)!r} (a double)"
    except OverflowError:
        pass
    return f"about {about(value)} (a rational of {value.denominator.bit_length()} bits)"
