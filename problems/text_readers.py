"""Readers for text files: CSV and svmlight.

What a file means is laid down in oracle/CERTIFICATE.md, under "Files"; the independent checker
reads by the same rules. Both keep integers: if every value in the file is an integer literal, the
points are int64; otherwise every value is the double nearest to its decimal text. Values are
converted in blocks at the speed of the built-in conversions; a block in which that fails is looked
at value by value, to name the line and the column at fault.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from gammabar.problems.exact import Column
from gammabar.problems.files import gigabytes, is_missing, label_fault, memory_budget, read_text
from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.suggest import did_you_mean

_BLOCK = 4096  # rows that are converted at a time
_BLANKS = " \t"
_INTEGERS = re.compile(r"[0-9+\- \t]*").fullmatch
_INTEGER = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*").fullmatch
_NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*").fullmatch
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE).fullmatch
_MOST_COLUMNS = 2**32 - 1  # columns are 32-bit numbers in the canonical form
#: Fields that stand for a missing value, whatever their case.
_MISSING = {"", "na", "n/a", "nan", "null", "none"}

_INDEX = "the first column, which has no name and counts the rows, was left out"

_Row = TypeVar("_Row", bound=tuple[Any, ...])
#: Line numbers, counted from 1, and the fields of the lines.
_Block: TypeAlias = list[tuple[int, list[str]]]
#: The line of each value of a block, and where it is in it, in words.
_Places: TypeAlias = Callable[[], Iterable[tuple[int, str]]]


@dataclass(frozen=True)
class FilePoints:
    """What a file holds: points, one label for each, and how they are found in the file again."""

    X: Any  # an array of two dimensions, a sparse CSR array, or chunks
    labels: Sequence[object] | Array
    label: str | int | None = None  # the label column of a table
    arrays: tuple[str, str] | None = None  # the names of the two arrays of an NPZ
    lines: Array | None = None  # where each point is in a text file, counted from 1
    drop: tuple[str | int, ...] = ()  # columns of a table that were left out
    notes: tuple[str, ...] = ()  # what was done to the columns of a table


@dataclass
class _Values:
    """Collects blocks of values and keeps them integer as long as all of them are."""

    path: Path
    label: bool = True  # whether somebody said where the label is
    blocks: list[Array] = field(default_factory=list)
    integer: bool = True
    too_large: ProblemError | None = None  # about the first integer outside int64

    def add(self, tokens: list[str], places: _Places) -> None:
        """Convert the tokens of a block."""
        joined = " ".join(tokens)
        if self.integer and _INTEGERS(joined):
            try:
                self.blocks.append(np.fromiter(map(int, tokens), np.int64, len(tokens)))
                return
            except (OverflowError, ValueError):  # or "1-2", nothing, thousands of digits
                pass
        try:
            block = np.fromiter(map(float, tokens), np.float64, len(tokens))
            plain = np.isfinite(block).all() and "_" not in joined and joined.isascii()
        except ValueError:
            plain = False
        if not plain:
            raise self._fault(tokens, places, _not_a_number)
        self.integer = self.integer and all(map(_INTEGER, tokens))
        if self.integer:
            if any(map(_beyond_int64, tokens)):
                self.too_large = self.too_large or self._fault(tokens, places, _beyond_int64)
            else:
                block = np.array([_small_integer(token) for token in tokens], np.int64)
        self.blocks.append(block)

    def _fault(
        self, tokens: list[str], places: _Places, check: Callable[[str], str | None]
    ) -> ProblemError:
        """The sentence about the first token that `check` objects to."""
        for token, (line, where) in zip(tokens, places(), strict=True):
            if reason := check(token):
                hint = "" if where.startswith("at index") else self._hint(token, reason)
                shown = _shorten(token)
                return ProblemError(f"{self.path}, line {line}: {shown} {where} {reason}{hint}")
        raise AssertionError("the slow path must find what the fast path objected to")

    def _hint(self, token: str, reason: str) -> str:
        """What to do about a field of a table that is not a number."""
        parts = []
        if token.strip(_BLANKS).lower() in _MISSING:
            parts = ["--missing drop leaves out rows with missing values"]
        elif reason == "is not a number":
            parts = ["--encode makes indicators of a column of texts"]
        if reason == "is not a number" and not self.label:
            parts.insert(0, "use --label NAME if the label is not the first column")
        return f" ({'; '.join(parts)})" if parts else ""

    def array(self) -> Array:
        """All values: int64 if every one is an integer, else the nearest doubles."""
        if self.integer and self.too_large:
            raise self.too_large
        dtype = np.int64 if self.integer else np.float64
        return np.concatenate([block.astype(dtype, copy=False) for block in self.blocks])


def _not_a_number(token: str) -> str | None:
    token = token.strip(_BLANKS)
    if not token:
        return "is empty, but a number is needed"
    if _NUMBER(token):
        return None if math.isfinite(float(token)) else "is too large for a double"
    return "is not a finite number" if _NOT_FINITE(token) else "is not a number"


def _small_integer(token: str) -> int:
    """The integer of a literal; of one with more than 19 digits, another that is as large."""
    token = token.strip(_BLANKS)
    digits = token.lstrip("+-").lstrip("0")[:20] or "0"
    return -int(digits) if token[0] == "-" else int(digits)


def _beyond_int64(token: str) -> str | None:
    if not -(2**63) <= _small_integer(token) < 2**63:
        return "does not fit into a 64-bit integer (write it with a decimal point to round it)"
    return None


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, one by one: they end with a line feed, a carriage return, or both."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _blocks(path: Path, rows: Iterator[_Row], row: int, field: int) -> Iterator[list[_Row]]:
    """Blocks of rows, as long as what is kept of them fits: so many bytes for each and a field.

    Short lines take forty times their length, and a small compressed file may unpack to gigabytes.
    """
    total, most = 0, memory_budget()
    while block := list(islice(rows, _BLOCK)):
        total += row * len(block) + field * sum(len(one[-1]) for one in block)
        if total > most:
            raise ProblemError(
                f"{path}, line {block[-1][0]}: the points up to here take {gigabytes(total)}, too "
                "much for this machine"
            )
        yield block


def _shorten(token: str) -> str:
    token = token.strip(_BLANKS)
    return repr(token if len(token) <= 40 else token[:37] + "...")


# --- CSV -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are what: the label's, the features', and how they were named."""

    label: int
    kept: tuple[int, ...]
    chosen: str | int
    dropped: tuple[str | int, ...]

    @classmethod
    def find(
        cls, path: Path, names: list[str], label: str | int | None, drop: Sequence[str | int]
    ) -> Columns:
        """The columns that were named; the label is the first one unless it is named."""
        column, chosen = _find_column(path, names, 0 if label is None else label)
        dropped = [_find_column(path, names, name) for name in drop]
        places = [place for place, _ in dropped]
        if column in places:
            raise ProblemError(
                f"{path}: the column {chosen!r} is that of the label, do not drop it"
            )
        if len(set(places)) < len(places):
            raise ProblemError(f"{path}: a column to drop is given twice")
        kept = tuple(k for k in range(len(names)) if k != column and k not in places)
        if not kept:
            raise ProblemError(f"{path}: no column is left for the features")
        return cls(column, kept, chosen, tuple(name for _, name in dropped))

    def without_index(self, path: Path) -> Columns:
        """The same without the first column, which has no name and counts the rows."""
        if self.label == 0 or len(self.kept) == 1:
            raise ProblemError(
                f"{path}: the first column has no name and counts the rows, as DataFrame.to_csv "
                "writes its index; name the label with --label NAME"
            )
        return replace(self, kept=self.kept[1:], dropped=(0, *self.dropped))


def _find_column(path: Path, names: list[str], wanted: str | int) -> tuple[int, str | int]:
    """The index of a column, and the way it was named."""
    if isinstance(wanted, str):
        wanted = wanted.strip(_BLANKS)
        if wanted in names and not _NUMBER(wanted):
            if names.count(wanted) > 1:
                raise ProblemError(f"{path}: more than one column is named {wanted!r}")
            return names.index(wanted), wanted
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", wanted):
            hint = did_you_mean(wanted, names, always=True)
            raise ProblemError(f"{path}: no column is named {wanted!r}; {hint}")
    index = int(wanted)
    if not -len(names) <= index < len(names):
        raise ProblemError(f"{path}: no column {index}, there are {len(names)} (counted from 0)")
    return index % len(names), index


def read_csv(
    path: Path, label: str | int | None = None, drop: Sequence[str | int] = ()
) -> FilePoints:
    """Read a CSV or TSV file, one point a line, optionally compressed (.gz, .bz2, .xz).

    It is separated by commas, semicolons or tabs, whichever the first line has most of. Blank lines
    are ignored. A first line of words is a header. A field may be in quotes, which end on the same
    line. `label` is the column of the label (a name of the header, or an index from 0, negative
    from the end; the first one by default), `drop` are columns that are no features.
    """
    table, names, rows = _opened(path, label, drop)
    values = _Values(path, label is not None)
    labels, lines = _read_rows(rows, values, len(names), table.kept, table.label)
    X = values.array().reshape(len(lines), -1)
    first = labels if table.label == 0 else X[:, 0] if table.kept[0] == 0 else ()
    found = FilePoints(X, labels, table.chosen, lines=np.array(lines), drop=table.dropped)
    if not _is_index(names, first):
        return found
    return replace(found, X=X[:, 1:], drop=table.without_index(path).dropped, notes=(_INDEX,))


def _opened(
    path: Path, label: str | int | None, drop: Sequence[str | int]
) -> tuple[Columns, list[str], Iterator[tuple[int, list[str]]]]:
    """Which column of a CSV file is what, the fields of its first line, and the rows of data."""
    rows = _csv_rows(path, read_text(path))
    line, head = next(rows)
    if len(head) < 2:
        raise ProblemError(
            f"{path}, line {line}: fewer than two columns, but a label and features are needed "
            "(separate them by commas)"
        )
    names = [name.strip(_BLANKS) for name in head]
    table = Columns.find(path, names, label, drop)
    named = any(isinstance(name, str) for name in (table.chosen, *table.dropped))
    if not named and not _is_header(head, table.kept, table.label):
        rows = chain([(line, head)], rows)
        names = [str(k) for k in range(len(head))]
    return table, names, rows


def csv_columns(
    path: Path, label: str | int | None, drop: Sequence[str | int]
) -> tuple[Columns, list[Column], Array, tuple[str, ...]]:
    """The columns of a CSV file, the label first; the line of each row; and notes.

    A column without words holds numbers: integers if all are, else doubles. Columns without a
    header are named by their places.
    """
    table, names, rows = _opened(path, label, drop)
    data = list(chain.from_iterable(_blocks(path, rows, 200, 100)))
    for line, row in data:
        _check_width(path, line, row, len(names))
    if not data:
        raise ProblemError(f"{path}: there is a header, but no data below it")
    notes: tuple[str, ...] = ()
    first = [row[0] for _, row in data] if 0 in (table.label, table.kept[0]) else []
    if _is_index(names, first):
        table, notes = table.without_index(path), (_INDEX,)
    found = [
        _csv_column(path, data, k, names[k], k == table.label) for k in (table.label, *table.kept)
    ]
    return table, found, np.array([line for line, _ in data]), notes


def _csv_column(path: Path, data: _Block, k: int, name: str, texts: bool) -> Column:
    """Column k: of numbers, if it has no words and need not hold texts."""
    fields = [(line, row[k].strip(_BLANKS)) for line, row in data]
    missing = np.array([text.lower() in _MISSING for _, text in fields])
    present = [(line, text) for line, text in fields if text.lower() not in _MISSING]
    if texts or any(_not_a_number(text) == "is not a number" for _, text in present):
        values = np.array([text for _, text in fields], dtype=object)
        return Column(name, values, missing, "texts")
    numbers = _Values(path)
    places = [(line, f"in column {k + 1}") for line, _ in present]
    numbers.add([text for _, text in present], lambda: places)
    some = numbers.array()
    values = np.zeros(len(fields), some.dtype)
    values[~missing] = some
    return Column(name, values, missing, str(some.dtype))


def _check_width(path: Path, line: int, row: list[str], width: int) -> None:
    if len(row) != width:
        raise ProblemError(
            f"{path}, line {line}: {len(row)} columns, but the first line has {width}"
        )


def read_numbers(path: Path) -> Array:
    """Read a CSV file that holds numbers alone, below a header perhaps: an array of its rows."""
    rows = _csv_rows(path, read_text(path))
    line, head = next(rows)
    if not _is_header(head, range(len(head))):
        rows = chain([(line, head)], rows)
    values = _Values(path)
    _, lines = _read_rows(rows, values, len(head), range(len(head)))
    return values.array().reshape(len(lines), -1)


def _is_header(head: list[str], kept: Sequence[int], *others: int) -> bool:
    """Whether the first line is one of words; one that is half numbers is a line of data."""
    words = any(_not_a_number(head[k]) == "is not a number" for k in kept)
    return words and not any(_NUMBER(head[k]) for k in (*kept, *others))


def _read_rows(
    rows: Iterator[tuple[int, list[str]]],
    values: _Values,
    width: int,
    kept: Sequence[int],
    label: int | None = None,
) -> tuple[list[str], list[int]]:
    """Add the values of these columns; the labels, if there are any, and the lines of all rows."""
    path, labels, lines = values.path, [], []
    k = width if label is None else label
    for block in _blocks(path, rows, 200, 16):
        for line, row in block:
            _check_width(path, line, row, width)
            fault = None if label is None else label_fault(row[label].strip(_BLANKS))
            if fault:
                raise ProblemError(f"{path}, line {line}: the label in column {k + 1} {fault}")
        if len(kept) + (label is not None) == width:  # the common case, at the speed of slices
            tokens = [token for _, row in block for token in chain(row[:k], row[k + 1 :])]
        else:
            tokens = [row[j] for _, row in block for j in kept]
        values.add(tokens, partial(_csv_places, block, kept))
        lines += [line for line, _ in block]
        labels += [] if label is None else [row[label] for _, row in block]
    if not lines:
        raise ProblemError(f"{path}: there is a header, but no data below it")
    return labels, lines


def _csv_places(block: _Block, kept: Sequence[int]) -> Iterator[tuple[int, str]]:
    return ((line, f"in column {j + 1}") for line, _ in block for j in kept)


def _is_index(names: list[str], first: Iterable[Any]) -> bool:
    """Whether the first column is an index as `DataFrame.to_csv` writes it: unnamed, it counts."""
    counted = [str(value) for value in first]
    named = not names[0] and any(names)
    return named and bool(counted) and counted == [str(i) for i in range(len(counted))]


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not blank, by number, split at the separator."""
    numbers: list[int] = []  # of the lines that were read for the next row

    def filled() -> Iterator[str]:
        for number, line in enumerate(_lines(text), 1):
            if line.strip(_BLANKS):
                numbers.append(number)
                yield line

    lines = filled()
    first = next(lines)
    separator = max(",;\t", key=first.count)
    try:
        for row in csv.reader(chain([first], lines), delimiter=separator, strict=True):
            number, *more = numbers
            if more:
                raise ProblemError(f"{path}, line {number}: a quotation mark is not closed")
            numbers.clear()
            yield number, row
    except csv.Error as error:
        raise ProblemError(f"{path}, line {numbers[0]}: not a CSV line ({error})") from None


# --- svmlight --------------------------------------------------------------------------------


def read_svmlight(path: Path) -> FilePoints:
    """Read a sparse file in svmlight (LIBSVM) format.

    Every line is ``label index:value index:value ... # comment`` with ascending indices; ``qid:``
    fields are ignored. Indices count from 0 if one of the file is 0, as scikit-learn writes them,
    and from 1 otherwise. X is a CSR array of int64 if every value is an integer literal, else of
    doubles; its width is the largest index (plus one, if they count from 0).
    """
    from scipy.sparse import csr_array

    labels: list[str] = []
    lines: list[int] = []
    counts: list[int] = [0]
    indices: list[Array] = []
    values = _Values(path)
    for block in _blocks(path, _svmlight_rows(path, read_text(path)), 250, 32):
        lines += [line for line, _, _, _ in block]
        labels += [label for _, label, _, _ in block]
        counts += [len(tokens) for *_, tokens in block]
        indices.append(np.array([i for _, _, places, _ in block for i in places], dtype=np.int64))
        tokens = [token for *_, texts in block for token in texts]
        values.add(tokens, partial(_svmlight_places, block))
    if not labels:
        raise ProblemError(f"{path}: there are only comments, no data")
    columns = np.concatenate(indices)
    if not columns.size:
        raise ProblemError(f"{path}: no point has a feature (write index:value after the label)")
    columns -= 1 if columns.min() else 0
    width = int(columns.max()) + 1
    if width > _MOST_COLUMNS:
        raise ProblemError(f"{path}: the index {width - 1} is too large where 0 is one, too")
    if 8 * width > memory_budget():
        raise ProblemError(f"{path}: {width} columns would need vectors of {gigabytes(8 * width)}")
    X = csr_array((values.array(), columns, np.cumsum(counts)), shape=(len(labels), width))
    return FilePoints(X, labels, lines=np.array(lines))


#: A line of an svmlight file: its number, label, indices and the texts of their values.
_SparseRow: TypeAlias = tuple[int, str, list[int], list[str]]


def _svmlight_places(block: list[_SparseRow]) -> Iterator[tuple[int, str]]:
    return ((line, f"at index {index}") for line, _, indices, _ in block for index in indices)


def _svmlight_rows(path: Path, text: str) -> Iterator[_SparseRow]:
    for number, line in enumerate(_lines(text), 1):
        line = line.partition("#")[0]
        # Of the white space that split() knows, an ASCII text has blanks alone.
        fields = line.split() if line.isascii() else re.findall(r"[^ \t]+", line)
        if not fields:
            continue
        if ":" in fields[0] or is_missing(fields[0]):
            raise ProblemError(f"{path}, line {number}: no label before {_shorten(fields[0])}")
        if fault := label_fault(fields[0]):
            raise ProblemError(f"{path}, line {number}: the label {fault}")
        if len(fields) > 1 and fields[1].startswith("qid:"):
            del fields[1]
        indices: list[int] = []
        tokens = [token.partition(":") for token in fields[1:]]
        last = -1
        try:
            for index, colon, _ in tokens:
                last = _svmlight_index(index, colon, last)
                indices.append(last)
        except ValueError as error:
            raise ProblemError(f"{path}, line {number}: {error}") from None
        yield number, fields[0], indices, [value for _, _, value in tokens]


def _svmlight_index(text: str, colon: str, before: int) -> int:
    """The index of one ``index:value``, which must be larger than the one before."""
    if not colon:
        raise ValueError(f"{_shorten(text)} is not of the form index:value")
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"the index {_shorten(text)} is not a positive integer or 0")
    index = int(text) if len(text) < 20 else _small_integer(text)
    if index > _MOST_COLUMNS:
        raise ValueError(f"the index {_shorten(text)} is above {_MOST_COLUMNS}")
    if index <= before:
        raise ValueError(f"the index {_shorten(text)} follows {before}, but indices must ascend")
    return index
