"""Readers for text files: CSV and svmlight.

What a file means is laid down in oracle/CERTIFICATE.md, under "Files"; the independent checker
reads by the same rules. Both keep integers: if every value in the file is an integer literal, the
points are int64, so that exactness is not lost on the way; otherwise every value is the double
nearest to its decimal text.
Values are converted in blocks at the speed of the built-in conversions; only a block in which that
fails is looked at value by value, to name the line and the column at fault.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

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
_HINT = "(use --label NAME if the label is not the first column)"


@dataclass(frozen=True)
class Points:
    """What a file holds: points, one label for each, and how they are found in the file again.

    `label` is the label column of a table, `drop` the columns that were left out, `arrays` the
    names of the two arrays of an NPZ.
    """

    X: Any  # an array of two dimensions, or a sparse CSR array
    labels: Sequence[object] | Array
    label: str | int | None = None
    arrays: tuple[str, str] | None = None
    lines: Array | None = None  # where each point is in a text file, counted from 1
    drop: tuple[str | int, ...] = ()


@dataclass
class _Values:
    """Collects blocks of values and keeps them integer as long as all of them are."""

    blocks: list[Array] = field(default_factory=list)
    integer: bool = True
    too_large: str | None = None  # the complaint about the first integer outside int64

    def add(
        self, tokens: list[str], complain: Callable[[Callable[[str], str | None]], str]
    ) -> None:
        """Convert tokens; `complain(check)` finds the first that `check` objects to."""
        joined = " ".join(tokens)
        if self.integer and _INTEGERS(joined):
            try:
                self.blocks.append(np.fromiter(map(int, tokens), np.int64, len(tokens)))
                return
            except OverflowError:
                self.too_large = self.too_large or complain(_beyond_int64)
            except ValueError:  # "1-2", nothing, or thousands of digits: see below
                pass
        try:
            block = np.fromiter(map(float, tokens), np.float64, len(tokens))
        except ValueError:
            raise ProblemError(complain(_not_a_number)) from None
        if not np.isfinite(block).all() or "_" in joined or not joined.isascii():
            raise ProblemError(complain(_not_a_number))
        self.integer = self.integer and all(map(_INTEGER, tokens))
        if self.integer and not self.too_large:  # integers with thousands of leading zeros
            self.too_large = complain(_beyond_int64) if any(map(_beyond_int64, tokens)) else None
            if not self.too_large:
                block = np.array([_small_integer(token) for token in tokens], np.int64)
        self.blocks.append(block)

    def array(self) -> Array:
        if self.integer and self.too_large:
            raise ProblemError(self.too_large)
        if not self.blocks:
            return np.empty(0, dtype=np.int64)
        # Integers met before the first fraction become the doubles nearest to them, as they
        # would have been from their text.
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


def _lines(text: str) -> list[str]:
    """The lines of a text: they end with a line feed, a carriage return, or both."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


# --- CSV -------------------------------------------------------------------------------------


def read_csv(path: Path, label: str | int | None = None, drop: Sequence[str | int] = ()) -> Points:
    """Read a CSV or TSV file, one point a line.

    Parameters
    ----------
    path : Path
        Separated by commas, semicolons or tabs (whichever the first line has most of),
        optionally compressed (.gz, .bz2, .xz). Blank lines are ignored. A first line of words
        is a header. A field may be in quotes, which end on the same line.
    label : str or int, optional
        The column of the label: a name of the header, or an index from 0 (negative: from the
        end). The first column by default.
    drop : sequence of str or int
        Columns that are no features, such as an identifier, named in the same way.
    """
    rows = _csv_rows(path, read_text(path))
    line, head = next(rows)
    if len(head) < 2:
        raise ProblemError(
            f"{path}, line {line}: fewer than two columns, but a label and features are needed "
            "(separate them by commas)"
        )
    table = _columns_of(path, head, label, drop)
    if not _has_header(path, line, head, table):
        rows = chain([(line, head)], rows)

    labels: list[str] = []
    places: list[int] = []
    values = _Values()
    while block := list(islice(rows, _BLOCK)):
        _check_block(path, block, len(head), table.label)
        labels += [row[table.label] for _, row in block]
        places += [place for place, _ in block]
        values.add(table.features(block), partial(_csv_complaint, path, block, table))
    if not labels:
        raise ProblemError(f"{path}: there is a header, but no data below it")
    X = values.array().reshape(len(labels), -1)
    _check_index(path, head, table, X, labels)
    return Points(X, labels, label=table.chosen, lines=np.array(places), drop=table.dropped)


@dataclass(frozen=True)
class _Columns:
    """Which columns are what: of the label, of features; and how label and others were named.

    Where there is no label, its column is −1.
    """

    label: int
    kept: tuple[int, ...]
    chosen: str | int
    dropped: tuple[str | int, ...]
    guessed: bool = False  # the label is the first column because nobody said where it is

    @property
    def named(self) -> bool:
        return any(isinstance(name, str) for name in (self.chosen, *self.dropped))

    def features(self, block: list[tuple[int, list[str]]]) -> list[str]:
        if not self.dropped:  # the common case, at the speed of slices
            k = self.label
            return [token for _, row in block for token in chain(row[:k], row[k + 1 :])]
        return [row[k] for _, row in block for k in self.kept]


def _columns_of(
    path: Path, head: list[str], label: str | int | None, drop: Sequence[str | int]
) -> _Columns:
    """Find the columns that were named."""
    names = [name.strip(_BLANKS) for name in head]
    column, chosen = find_column(path, names, 0 if label is None else label)
    dropped = [find_column(path, names, name) for name in drop]
    places = [place for place, _ in dropped]
    if column in places:
        raise ProblemError(f"{path}: the column {chosen!r} is that of the label, and not to drop")
    kept = tuple(k for k in range(len(head)) if k != column and k not in places)
    if len(set(places)) < len(places):
        raise ProblemError(f"{path}: a column to drop is given twice")
    if not kept:
        raise ProblemError(f"{path}: no column is left for the features")
    return _Columns(column, kept, chosen, tuple(name for _, name in dropped), label is None)


def _check_index(path: Path, head: list[str], table: _Columns, X: Array, labels: list[str]) -> None:
    """Refuse an index as `DataFrame.to_csv` writes it: a first column that counts, unnamed."""
    if head[0].strip(_BLANKS) or not any(name.strip(_BLANKS) for name in head):
        return
    first = labels if table.label == 0 else X[:, 0].tolist() if table.kept[0] == 0 else []
    if [str(value) for value in first] == [str(i) for i in range(len(labels))]:
        raise ProblemError(
            f"{path}: the first column has no name and counts the rows, as DataFrame.to_csv writes "
            "its index; leave it out with --drop 0 and name the label with --label NAME"
        )


def read_numbers(path: Path) -> Array:
    """Read a CSV file that holds numbers alone, below a header perhaps: an array of its rows."""
    rows = _csv_rows(path, read_text(path))
    line, head = next(rows)
    words = [token for token in head if _not_a_number(token) == "is not a number"]
    if not words or any(map(_NUMBER, head)):  # half numbers is an error, which is told below
        rows = chain([(line, head)], rows)
    unlabelled = _Columns(-1, tuple(range(len(head))), -1, ())
    values, count = _Values(), 0
    while block := list(islice(rows, _BLOCK)):
        for place, row in block:
            if len(row) != len(head):
                raise ProblemError(
                    f"{path}, line {place}: {len(row)} columns, but the first line has {len(head)}"
                )
        count += len(block)
        tokens = [token for _, row in block for token in row]
        values.add(tokens, partial(_csv_complaint, path, block, unlabelled))
    if not count:
        raise ProblemError(f"{path}: there is a header, but no data below it")
    return values.array().reshape(count, -1)


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not blank, by number, split at the separator."""
    lines = [(k, line) for k, line in enumerate(_lines(text), 1) if line.strip(_BLANKS)]
    separator = max(",;\t", key=lines[0][1].count)
    reader = csv.reader((line for _, line in lines), delimiter=separator, strict=True)
    read = 0
    try:
        for row in reader:
            read += 1
            if reader.line_num != read:
                raise ProblemError(
                    f"{path}, line {lines[read - 1][0]}: a quotation mark is not closed"
                )
            yield lines[read - 1][0], row
    except csv.Error as error:
        number = lines[min(read, len(lines) - 1)][0]
        raise ProblemError(f"{path}, line {number}: not a CSV line ({error})") from None


def find_column(path: Path, names: list[str], wanted: str | int) -> tuple[int, str | int]:
    """The index of a column, and the way it was named."""
    if isinstance(wanted, str):
        wanted = wanted.strip(_BLANKS)
        if names.count(wanted) > 1 and not _NUMBER(wanted):
            raise ProblemError(f"{path}: more than one column is named {wanted!r}")
        if wanted in names and not _NUMBER(wanted):
            return names.index(wanted), wanted
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", wanted):
            hint = did_you_mean(wanted, names, always=True)
            raise ProblemError(f"{path}: no column is named {wanted!r}; {hint}")
    index = int(wanted)
    if not -len(names) <= index < len(names):
        raise ProblemError(f"{path}: no column {index}, there are {len(names)} (counted from 0)")
    return index % len(names), index


def _has_header(path: Path, line: int, head: list[str], table: _Columns) -> bool:
    """Whether the first line is a header; a line that is half numbers is an error, not a header."""
    words = [(i, head[i]) for i in table.kept if _not_a_number(head[i]) == "is not a number"]
    if not words:
        return table.named
    if any(_NUMBER(head[i]) for i in (table.label, *table.kept)) and not table.named:
        place, token = words[0]
        hint = f" {_HINT}" if table.guessed else ""
        raise ProblemError(
            f"{path}, line {line}: {_shorten(token)} in column {place + 1} is not a number{hint}"
        )
    return True


def _check_block(path: Path, block: list[tuple[int, list[str]]], width: int, column: int) -> None:
    for line, row in block:
        if len(row) != width:
            raise ProblemError(
                f"{path}, line {line}: {len(row)} columns, but the first line has {width}"
            )
        if fault := label_fault(row[column].strip(_BLANKS)):
            raise ProblemError(f"{path}, line {line}: the label in column {column + 1} {fault}")


def _csv_complaint(
    path: Path,
    block: list[tuple[int, list[str]]],
    table: _Columns,
    check: Callable[[str], str | None],
) -> str:
    for line, row in block:
        for place in table.kept:
            if reason := check(row[place]):
                shown = _shorten(row[place])
                hint = f" {_HINT}" if reason == "is not a number" and table.guessed else ""
                return f"{path}, line {line}: {shown} in column {place + 1} {reason}{hint}"
    raise AssertionError("the slow path must find what the fast path objected to")


def _shorten(token: str) -> str:
    token = token.strip(_BLANKS)
    return repr(token if len(token) <= 40 else token[:37] + "...")


# --- svmlight --------------------------------------------------------------------------------


def read_svmlight(path: Path) -> Points:
    """Read a sparse file in svmlight (LIBSVM) format.

    Every line is ``label index:value index:value ... # comment`` with ascending indices; ``qid:``
    fields are ignored. Indices count from 0 if one of the file is 0, as scikit-learn writes them,
    and from 1 otherwise.

    Returns
    -------
    Points
        X is a CSR array of int64 if every value is an integer literal, else of doubles. Its
        width is the largest index (plus one, if they count from 0).
    """
    from scipy.sparse import csr_array

    labels: list[str] = []
    places: list[int] = []
    counts: list[int] = []
    indices: list[Array] = []
    values = _Values()
    lines = _svmlight_lines(path, read_text(path))
    while block := list(islice(lines, _BLOCK)):
        labels += [fields[0] for _, fields in block]
        places += [place for place, _ in block]
        counts += [len(fields) - 1 for _, fields in block]
        pairs = [token.partition(":") for _, fields in block for token in fields[1:]]
        indices.append(_svmlight_indices(path, block, pairs))
        values.add(
            [value for _, _, value in pairs],
            partial(_svmlight_complaint, path, block),
        )
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
    starts = np.concatenate([[0], np.cumsum(counts)])
    X = csr_array((values.array(), columns, starts), shape=(len(labels), width))
    return Points(X, labels, lines=np.array(places))


def _svmlight_lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
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
        yield number, fields


def _svmlight_indices(
    path: Path, block: list[tuple[int, list[str]]], pairs: list[tuple[str, str, str]]
) -> Array:
    """The indices of a block; the slow path runs only if something is wrong with them."""
    if not pairs:
        return np.empty(0, dtype=np.int64)
    joined = "".join([index for index, _, _ in pairs])
    try:
        found = np.fromiter((int(index) for index, _, _ in pairs), np.int64, len(pairs))
    except (ValueError, OverflowError):
        return _indices_one_by_one(path, block)
    rises = np.ones(len(found), dtype=bool)
    rises[1:] = found[1:] > found[:-1]
    starts = np.cumsum([0] + [len(fields) - 1 for _, fields in block])[:-1]
    rises[starts[starts < len(found)]] = True
    plain = joined.isascii() and joined.isdigit()
    if plain and rises.all() and found.max() <= _MOST_COLUMNS:
        return found
    return _indices_one_by_one(path, block)


def _indices_one_by_one(path: Path, block: list[tuple[int, list[str]]]) -> Array:
    found = []
    for line, fields in block:
        before = -1
        for token in fields[1:]:
            text, colon, _ = token.partition(":")
            if not colon:
                wrong = f"{_shorten(token)} is not of the form index:value"
            elif not re.fullmatch(r"[0-9]+", text):
                below = re.fullmatch(r"-[0-9]{1,18}", text)
                wrong = (
                    f"the index {text} is below 0 (indices start at 0 or 1)"
                    if below
                    else f"the index {_shorten(text)} is not a positive integer or 0"
                )
            else:
                index = _small_integer(text)
                found.append(index)
                if before < index <= _MOST_COLUMNS:
                    before = index
                    continue
                if index > _MOST_COLUMNS:
                    wrong = f"the index {_shorten(text)} is above {_MOST_COLUMNS}"
                else:
                    wrong = f"the index {index} follows {before}, but indices must ascend"
            raise ProblemError(f"{path}, line {line}: {wrong}")
    return np.array(found, dtype=np.int64)


def _svmlight_complaint(
    path: Path, block: list[tuple[int, list[str]]], check: Callable[[str], str | None]
) -> str:
    for line, fields in block:
        for token in fields[1:]:
            index, colon, value = token.partition(":")
            if not colon:
                return f"{path}, line {line}: {_shorten(token)} is not of the form index:value"
            if reason := check(value):
                return f"{path}, line {line}: {_shorten(value)} at index {index} {reason}"
    raise AssertionError("the slow path must find what the fast path objected to")
