"""Readers for text files: CSV and svmlight.

Both keep integers: if every value in the file is an integer literal, the points are int64, so that
exactness is not lost on the way; otherwise every value is the double nearest to its decimal text.
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
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.problems.base import Array, ProblemError
from gammabar.problems.files import gigabytes, memory_budget, read_text

_BLOCK = 4096  # rows that are converted at a time
_INTEGERS = re.compile(r"[0-9+\- \t]*").fullmatch
_INTEGER = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*").fullmatch
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", re.ASCII).fullmatch
_HINT = "(use --label NAME if the label is not the first column)"


@dataclass(frozen=True)
class Points:
    """What a file holds: points, one label for each, and how they are found in the file again.

    `label` is the label column of a CSV file, `arrays` the names of the two arrays of an NPZ.
    """

    X: Any  # an array of two dimensions, or a sparse CSR array
    labels: Sequence[object] | Array
    label: str | int | None = None
    arrays: tuple[str, str] | None = None


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
            except ValueError:  # such as "1-2", or nothing; the conversion below says which
                pass
        try:
            block = np.fromiter(map(float, tokens), np.float64, len(tokens))
        except ValueError:
            raise ProblemError(complain(_not_a_number)) from None
        if not np.isfinite(block).all() or "_" in joined or not joined.isascii():
            raise ProblemError(complain(_not_a_number))
        self.integer = self.integer and all(map(_INTEGER, tokens))
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


def is_missing(label: str) -> bool:
    """Whether the text of a label says that there is none."""
    return label.strip().lower() in {"", "nan", "+nan", "-nan"}


def _not_a_number(token: str) -> str | None:
    if not token.strip():
        return "is empty, but a number is needed"
    if _NUMBER(token):
        return None if math.isfinite(float(token)) else "is too large for a double"
    try:
        float(token)
    except ValueError:
        return "is not a number"
    return "is not a finite number" if "_" not in token and token.isascii() else "is not a number"


def _beyond_int64(token: str) -> str | None:
    digits = token.strip().lstrip("+-").lstrip("0")
    if len(digits) > 19 or not -(2**63) <= int(token) < 2**63:
        return "does not fit into a 64-bit integer (write it with a decimal point to round it)"
    return None


# --- CSV -------------------------------------------------------------------------------------


def read_csv(path: Path, label: str | int | None = None) -> Points:
    """Read a CSV file, one point a line.

    Parameters
    ----------
    path : Path
        Separated by commas, semicolons or tabs (whichever the first line has most of),
        optionally compressed (.gz, .bz2, .xz). Blank lines are ignored. A first line of words
        is a header.
    label : str or int, optional
        The column of the label: a name of the header, or an index from 0 (negative: from the
        end). The first column by default.
    """
    text = read_text(path)
    first = next(line for line in text.split("\n") if line.strip())
    separator = max(",;\t", key=first.count)
    rows = _csv_rows(path, text, separator)
    line, head = next(rows, (1, []))
    if len(head) < 2:
        raise ProblemError(
            f"{path}, line {line}: fewer than two columns, but a label and features are needed "
            "(separate them by commas)"
        )
    column, chosen = _label_column(path, head, label)
    has_header = _is_header(path, line, head, column, named=isinstance(chosen, str))
    if not has_header:
        rows = chain([(line, head)], rows)

    labels: list[str] = []
    values = _Values()
    while block := list(islice(rows, _BLOCK)):
        _check_block(path, block, len(head), column)
        labels += [row[column] for _, row in block]
        tokens = [token for _, row in block for token in chain(row[:column], row[column + 1 :])]
        values.add(tokens, partial(_csv_complaint, path, block, column))
    if not labels:
        raise ProblemError(f"{path}: there is a header, but no data below it")
    return Points(values.array().reshape(len(labels), -1), labels, label=chosen)


def _csv_rows(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    lines = (line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for row in reader:
            if row and (len(row) > 1 or row[0].strip()):
                yield reader.line_num, row
    except csv.Error as error:
        raise ProblemError(f"{path}, line {reader.line_num}: not a CSV line ({error})") from None


def _label_column(path: Path, head: list[str], label: str | int | None) -> tuple[int, str | int]:
    """The index of the label column, and the way it was named."""
    names = [name.strip() for name in head]
    if isinstance(label, str):
        if names.count(label) > 1:
            raise ProblemError(f"{path}: more than one column is named {label!r}")
        if label in names and not _NUMBER(label):
            return names.index(label), label
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", label):
            raise ProblemError(
                f"{path}: no column is named {label!r}; the first line has "
                f"{', '.join(names[:10])}{', ...' if len(names) > 10 else ''}"
            )
    index = 0 if label is None else int(label)
    if not -len(head) <= index < len(head):
        raise ProblemError(f"{path}: no column {index}, there are {len(head)} (counted from 0)")
    return index % len(head), index


def _is_header(path: Path, line: int, head: list[str], column: int, named: bool) -> bool:
    """Whether the first line is a header; a line that is half numbers is an error, not a header."""
    words = [
        (i, token)
        for i, token in enumerate(head)
        if i != column and token.strip() and _not_a_number(token) == "is not a number"
    ]
    if not words:
        return named
    if any(map(_NUMBER, head)) and not named:
        place, token = words[0]
        raise ProblemError(
            f"{path}, line {line}: {token.strip()!r} in column {place + 1} is not a number {_HINT}"
        )
    return True


def _check_block(path: Path, block: list[tuple[int, list[str]]], width: int, column: int) -> None:
    for line, row in block:
        if len(row) != width:
            raise ProblemError(
                f"{path}, line {line}: {len(row)} columns, but the first line has {width}"
            )
        if is_missing(row[column]):
            raise ProblemError(f"{path}, line {line}: the label in column {column + 1} is missing")


def _csv_complaint(
    path: Path,
    block: list[tuple[int, list[str]]],
    column: int,
    check: Callable[[str], str | None],
) -> str:
    for line, row in block:
        for place, token in enumerate(row):
            if place != column and (reason := check(token)):
                shown = _shorten(token)
                hint = f" {_HINT}" if reason == "is not a number" else ""
                return f"{path}, line {line}: {shown} in column {place + 1} {reason}{hint}"
    raise AssertionError("the slow path must find what the fast path objected to")


def _shorten(token: str) -> str:
    token = token.strip()
    return repr(token if len(token) <= 40 else token[:37] + "...")


# --- svmlight --------------------------------------------------------------------------------


def read_svmlight(path: Path) -> Points:
    """Read a sparse file in svmlight (LIBSVM) format.

    Every line is ``label index:value index:value ... # comment`` with indices from 1 in
    ascending order; ``qid:`` fields are ignored.

    Returns
    -------
    Points
        X is a CSR array of int64 if every value is an integer literal, else of doubles. Its
        width is the largest index.
    """
    from scipy.sparse import csr_array

    labels: list[str] = []
    counts: list[int] = []
    indices: list[Array] = []
    values = _Values()
    lines = _svmlight_lines(path, read_text(path))
    while block := list(islice(lines, _BLOCK)):
        labels += [fields[0] for _, fields in block]
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
    width = int(columns.max())
    if 8 * width > memory_budget():
        raise ProblemError(
            f"{path}: the index {width} would need vectors of {gigabytes(8 * width)}"
        )
    starts = np.concatenate([[0], np.cumsum(counts)])
    X = csr_array((values.array(), columns - 1, starts), shape=(len(labels), width))
    return Points(X, labels)


def _svmlight_lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        if ":" in fields[0] or is_missing(fields[0]):
            raise ProblemError(f"{path}, line {number}: no label before {_shorten(fields[0])}")
        if len(fields) > 1 and fields[1].startswith("qid:"):
            del fields[1]
        yield number, fields


def _svmlight_indices(
    path: Path, block: list[tuple[int, list[str]]], pairs: list[tuple[str, str, str]]
) -> Array:
    """The indices of a block; the slow path runs only if something is wrong with them."""
    try:
        found = np.fromiter((int(index) for index, _, _ in pairs), np.int64, len(pairs))
        good = "_" not in "".join([index for index, _, _ in pairs])
    except (ValueError, OverflowError):
        good = False
    if good and len(pairs):
        rises = np.ones(len(found), dtype=bool)
        rises[1:] = found[1:] > found[:-1]
        starts = np.cumsum([0] + [len(fields) - 1 for _, fields in block])[:-1]
        rises[starts[starts < len(found)]] = True
        good = bool(rises.all()) and bool(found.min() >= 1)
    if not good and pairs:
        raise ProblemError(_index_complaint(path, block))
    return found if pairs else np.empty(0, dtype=np.int64)


def _index_complaint(path: Path, block: list[tuple[int, list[str]]]) -> str:
    for line, fields in block:
        for token in fields[1:]:
            index, colon, _ = token.partition(":")
            if not colon:
                return f"{path}, line {line}: {_shorten(token)} is not of the form index:value"
            if not re.fullmatch(r"[+-]?[0-9]{1,18}", index):
                return f"{path}, line {line}: the index {_shorten(index)} is not an integer"
            if int(index) < 1:
                return f"{path}, line {line}: the index {index} is below 1 (indices start at 1)"
        for left, right in pairwise(int(token.partition(":")[0]) for token in fields[1:]):
            if right <= left:
                return (
                    f"{path}, line {line}: the index {right} follows {left}, but indices must "
                    "ascend"
                )
    raise AssertionError("the slow path must find what the fast path objected to")


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
