"""Opening files: compression, memory and errors; and the texts and classes of labels."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.problems.problem import Array, ProblemError
from gammabar.problems.suggest import nearest, no_file

_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}

COMPRESSED = tuple(_OPENERS)

# Control characters other than tabs and ends of lines: no text file of numbers has any.
_CONTROL = bytes([*range(9), 11, 12, *range(14, 32), 127])
_CONTROL_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def memory_budget() -> int:
    """Bytes that one array may take: half of the memory of this machine, or of what is allowed."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        whole = 8 << 30  # Where the system does not tell: what any present machine can hold.
    return min(whole, *_limits(), whole) // 2


def _limits() -> list[int]:
    """What this process may have: its own limit (ulimit -v) and that of its control group."""
    found = []
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        found += [soft] if soft != resource.RLIM_INFINITY else []
    except (ImportError, OSError, ValueError):
        pass
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        found += [int(text)] if text.isdigit() else []
    except (OSError, ValueError):
        pass
    return found


def gigabytes(size: int) -> str:
    """A number of bytes for an error message."""
    return f"{size / 1e9:,.1f} GB"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong on opening and unpacking a file into a ProblemError with its name."""
    try:
        yield
    except ProblemError:
        raise
    except FileNotFoundError:
        raise ProblemError(no_file(path)) from None
    except IsADirectoryError:
        raise ProblemError(f"{path}: this is a folder, not a file") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile):
        raise ProblemError(f"{path}: the compressed file is damaged or truncated") from None
    except ValueError as error:  # a zero byte in the name
        raise ProblemError(f"{str(path)!r}: cannot be a file ({error})") from None
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise ProblemError(f"{path}: cannot be read ({reason})") from None
    except MemoryError:
        raise ProblemError(f"{path}: does not fit into the memory of this machine") from None


def read_bytes(path: Path, budget: int | None = None) -> bytes:
    """The contents of a file, decompressed as its last suffix says.

    A small file that unpacks to more than the budget (a decompression bomb) is refused before
    it has filled the memory.
    """
    limit = memory_budget() // 4 if budget is None else budget
    opener = _OPENERS.get(path.suffix.lower(), partial(open, mode="rb"))
    out = io.BytesIO()
    with readable(path), opener(path) as stream:
        while chunk := stream.read(1 << 22):
            out.write(chunk)
            if out.tell() > limit:
                raise ProblemError(
                    f"{path}: holds more than {gigabytes(limit)}, too much for this machine"
                )
    return out.getvalue()


def read_text(path: Path) -> str:
    """The contents of a text file in UTF-8; binary and empty files are refused."""
    raw = read_bytes(path)
    if raw.startswith((b"PK\3\4", b"\xd0\xcf\x11\xe0")):  # .xlsx and .ods, or .xls
        raise ProblemError(f"{path}: a spreadsheet or an archive, not text; save its table as CSV")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ProblemError(
            f"{path}, line {line}: not text (byte 0x{raw[error.start]:02x} is no UTF-8)"
        ) from None
    # Most files are settled by the first look, which is fast: those beyond ASCII begin with 0xc2.
    suspect = len(raw.translate(None, _CONTROL)) < len(raw) or b"\xc2" in raw
    if suspect and (found := _CONTROL_TEXT.search(text)):
        line, code = text.count("\n", 0, found.start()) + 1, ord(found.group())
        raise ProblemError(
            f"{path}, line {line}: not text (it holds the control character 0x{code:02x})"
        )
    if not text.strip(" \t\r\n"):
        raise ProblemError(f"{path}: the file is empty")
    return text


MOST_CHARACTERS = 500  # of a label or a number; Python always converts up to 640 digits

_INTEGER = re.compile(r"[+-]?[0-9]+").fullmatch
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_MISSING = {"", "nan", "+nan", "-nan"}
_WRITTEN = re.compile(r"0|-?[1-9][0-9]{0,18}").fullmatch


def label_text(label: object) -> str:
    """The text of a label: "1" for 1, 1.0, True, "+1" and " 1 "; "0.5"; or the stripped text.

    An integer keeps all its digits; any other number is the double nearest to it.
    """
    if isinstance(label, bytes):
        label = label.decode(errors="replace")
    text = str(int(label)) if isinstance(label, (bool, np.bool_)) else str(label).strip(" \t")
    if _INTEGER(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        return f"-{digits}" if text[0] == "-" and digits != "0" else digits
    if _NUMBER(text) and math.isfinite(float(text)):
        number = float(text)
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def integer_of(text: str) -> int | None:
    """The integer of 64 bits that is written just so; None of any other text.

    Python takes more for integers: digits of other scripts, blanks, signs and underscores, which
    are texts of their own as labels are.
    """
    number = int(text) if _WRITTEN(text) else None
    return None if number is None or not -(2**63) <= number < 2**63 else number


def is_missing(text: str) -> bool:
    """Whether the text stands for no label at all: nothing, or not a number."""
    return text.strip(" \t").lower() in _MISSING


def label_fault(text: str) -> str | None:
    """What is wrong with the text of a label, if anything, as the end of a sentence."""
    if is_missing(text):
        return "is missing"
    if len(text) > MOST_CHARACTERS:
        return f"has {len(text)} characters, more than {MOST_CHARACTERS}"
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text if not c.isprintable()):
        return f"has a control character: {text!r}"
    return None


def check_classes(
    owner: str,
    there: Sequence[str],
    asked: Sequence[str],
    multiclass: bool,
    shown: Sequence[str] | None = None,
) -> None:
    """Refuse classes that cannot be chosen of those that there are (in words: `shown`)."""
    shown = there if shown is None else shown
    listing = ", ".join(shown[:10]) + (", ..." if len(shown) > 10 else "")
    for name in asked:
        if name not in there:
            close = nearest(name, shown)
            hint = "" if close is None else f"did you mean {there[shown.index(close)]}? "
            raise ProblemError(f"{owner}: there is no class {name!r}; {hint}there are {listing}")
    if len(set(asked)) < len(asked):
        raise ProblemError(f"{owner}: the classes {','.join(asked)} are not different")
    if len(asked) < 2 or (len(asked) > 2 and not multiclass):
        example = f"{owner.partition(':')[0]}:{there[0]},{there[1]}" if len(there) > 1 else "two"
        raise ProblemError(
            f"{owner}: {len(asked)} classes are given, but two are needed, as in {example} (or "
            f"--multiclass); there are {listing}"
        )


def encode_labels(y: Any, n: int) -> tuple[Array, tuple[str, ...]]:
    """The index of the class of each of n labels, and the texts of the classes in order."""
    if y is None:
        raise ProblemError("y is missing; give one label for each row of X")
    if np.ma.is_masked(y):
        raise ProblemError("y has masked labels; fill them or drop their rows")
    from gammabar.problems.exact import exact_labels

    try:
        values = exact_labels(y)
    except (ValueError, TypeError):
        raise ProblemError("y is ragged; give one label for each row of X") from None
    if values.dtype.kind == "O" and any(isinstance(v, list | tuple) for v in values.ravel()):
        raise ProblemError("y is ragged; give one label for each row of X")
    if values.ndim != 1:
        hint = "; use y.ravel()" if values.size == n else ""
        raise ProblemError(f"y must be one-dimensional, not of shape {values.shape}{hint}")
    if len(values) != n:
        raise ProblemError(f"y has {len(values)} labels but X has {n} rows; give one label per row")
    if values.dtype.kind == "O":
        texts = [_text(label, i) for i, label in enumerate(values)]
    else:
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        # Complaints come in the order of the rows, names in the order of the distinct values.
        named = {place: _text(values[place], place) for place in np.sort(first).tolist()}
        names = [named[place] for place in first.tolist()]
        texts = [names[i] for i in inverse.tolist()]
    numbers = {text: _number(text) for text in set(texts)}
    whole = None not in numbers.values()  # in the order of numbers if all are, else of texts
    classes = tuple(sorted(numbers, key=lambda text: (numbers[text] or 0) if whole else text))
    index = {text: i for i, text in enumerate(classes)}
    return np.array([index[text] for text in texts], dtype=np.int64), classes


def _text(label: Any, row: int) -> str:
    """The text of the label of a row, which must be a finite number or a text."""
    if isinstance(label, (float, np.floating)):
        if math.isfinite(label) and float(label) == label:  # a longer float may be no double
            return label_text(float(label))
    elif isinstance(label, (bool, np.bool_, int, np.integer)):
        if int(label).bit_length() > 3 * MOST_CHARACTERS:
            raise ProblemError(f"y has an integer of more than 450 digits in row {row}")
        return label_text(int(label))
    elif isinstance(label, (str, bytes)):
        try:
            text = label_text(label if isinstance(label, str) else label.decode())
        except UnicodeDecodeError:
            raise ProblemError(f"y has {label!r} in row {row}, which is no UTF-8") from None
        fault = label_fault(text)
        if fault is None:
            return text
        if text:
            raise ProblemError(f"y has a label in row {row} that {fault}")
    shown = label.item() if isinstance(label, np.generic) else label
    raise ProblemError(f"y has {shown!r} in row {row}, which is no label; use numbers or texts")


def _number(text: str) -> int | float | None:
    """The number that a label text is, exactly, or None."""
    if _INTEGER(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and label_text(number) == text else None
