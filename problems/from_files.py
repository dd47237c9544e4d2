"""Problems from files that a DATA string names: their format, their classes, their labels."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.problems import text_readers
from gammabar.problems.chunked import CHUNK_BYTES, Chunks, NpyChunks, TableChunks, spread
from gammabar.problems.exact import design
from gammabar.problems.files import (
    COMPRESSED,
    check_classes,
    encode_labels,
    label_text,
    memory_budget,
    read_bytes,
)
from gammabar.problems.problem import Array, Problem, ProblemError, Source
from gammabar.problems.text_readers import Points

_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".npy": "npy",
    ".parquet": "table",
    ".arrow": "table",
    ".feather": "table",
}
SUFFIXES = f"{', '.join(list(_FORMATS)[:-1])} or {list(_FORMATS)[-1]}"
#: What `gammabar list problems` says of files: name, example, what it is.
FILES = (
    ("CSV", "points.csv", "one point a line, the label first (or --label NAME); .gz .bz2 .xz too"),
    ("TSV", "points.tsv", "the same with tabs; semicolons do as well"),
    ("svmlight", "points.svm", "sparse, label index:value ..., from 0 or 1; also .libsvm"),
    ("NPZ", "points.npz", "arrays X and y as numpy.savez writes them; never unpickled"),
    ("SciPy", "points.npz", "scipy.sparse.save_npz, with --labels y.npy"),
    ("NPY", "points.npy", "mapped into memory, with --labels y.npy"),
    ("Parquet", "points.parquet", "a column for each feature, one for the label (pyarrow)"),
    ("Arrow", "points.arrow", "the same, also .feather (pyarrow)"),
    ("stdin", "-", "any of these but NPY, told by its first bytes"),
)

#: The formats that an option of `Reading` is for, and what they are called.
_TAKEN_BY = {
    "label": (("csv", "table"), "names a column of a table, which this is not"),
    "drop": (("csv", "table"), "names columns of a table, which this is not"),
    "labels": (("npy", "scipy"), "is for .npy files and SciPy's .npz files"),
    "memory": (("npy", "table"), "is for .npy, .parquet, .arrow and .feather files"),
    "dask": (("npy", "table"), "is for .npy, .parquet, .arrow and .feather files"),
    "encode": (("csv", "table"), "is for columns of a table, which this is not"),
    "missing": (("csv", "table"), "is for rows of a table, which this is not"),
}

Build = Callable[[Any, Array, Source], Problem]


@dataclass(frozen=True)
class Reading:
    """How a file is to be read: see `gammabar.problems.specs.load`."""

    label: str | int | None = None
    labels: Path | None = None
    drop: tuple[str | int, ...] = ()
    memory: int | None = None
    dask: Any = None
    encode: bool = False
    missing: str | None = None

    @property
    def designed(self) -> bool:
        """Whether columns or rows of a table are changed, which needs all of it in memory."""
        return self.encode or self.missing == "drop"

    def refuse_for(self, text: str, format_: str | None = None) -> None:
        """Complain of what is said about data that have no such thing."""
        for option, (formats, why) in _TAKEN_BY.items():
            if getattr(self, option) not in (None, (), False) and format_ not in formats:
                raise ProblemError(f"{text}: --{option} {why}")
        if self.missing not in (None, "refuse", "drop"):
            raise ProblemError(f"missing must be 'refuse' or 'drop', not {self.missing!r}")
        if self.designed and (self.memory or self.dask):
            raise ProblemError(
                f"{text}: --encode and --missing drop read the whole table; leave out --memory "
                "and --dask"
            )
        if self.labels is None and format_ == "npy":
            raise ProblemError(f"{text}: give the file of the labels, as in --labels y.npy")


@dataclass(frozen=True)
class _NamedFile:
    """A file, the format that its name says, and the classes that are wanted of it."""

    path: Path
    format: str
    classes: tuple[str, ...] = ()


def named_file(text: str) -> _NamedFile | None:
    """The file that a DATA string names; None if it is no file name."""
    if text == "-":
        return _NamedFile(Path("-"), "stdin")
    whole = _format(text)
    if whole and (is_there(text) or ":" not in text):
        return _NamedFile(Path(text), whole)
    for place in (k for k, c in enumerate(text) if c == ":"):
        name, classes = text[:place], text[place + 1 :]
        format_ = "stdin" if name == "-" else _format(name)
        if format_:
            asked = tuple(label_text(part) for part in classes.split(","))
            return _NamedFile(Path(name), format_, asked)
    return _NamedFile(Path(text), whole) if whole else None


def is_there(text: str) -> bool:
    """Whether a text is the name of a file or folder that exists."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False


def _format(text: str) -> str | None:
    """The format that the suffix of a file name says."""
    suffixes = ["", *(suffix.lower() for suffix in Path(text).suffixes)]
    packed = suffixes[-1] in COMPRESSED
    format_ = _FORMATS.get(suffixes[-2] if packed else suffixes[-1])
    if packed and format_ in ("npz", "table"):
        raise ProblemError(f"{text}: such a file is compressed already, unpack {suffixes[-1]}")
    return format_


def load_file(
    file: _NamedFile, text: str, reading: Reading, multiclass: bool, build: Build
) -> Problem:
    """Read a file and build its problem."""
    if file.format == "stdin":
        with _spooled() as spooled:
            path = str(spooled.path)
            try:
                found = replace(spooled, classes=file.classes)
                problem = load_file(found, text, reading, multiclass, build)
            except ProblemError as error:
                raise ProblemError(str(error).replace(path, "stdin")) from None
        if problem.source is not None:
            problem.source = replace(problem.source, paths=())
        return problem
    form = "scipy" if file.format == "npz" and reading.labels is not None else file.format
    reading.refuse_for(text, form)
    points = _read(file.path, form, reading)
    codes, classes = encode_labels(points.labels, points.X.shape[0])
    if file.classes:
        check_classes(text, classes, file.classes, multiclass)
        place = np.full(len(classes), -1)
        place[[classes.index(name) for name in file.classes]] = np.arange(len(file.classes))
        taken = np.flatnonzero(place[codes] >= 0)
        codes, classes = place[codes[taken]], file.classes
        X = points.X.select(taken) if isinstance(points.X, Chunks) else points.X[taken]
        lines = None if points.lines is None else points.lines[taken]
        points = replace(points, X=X, lines=lines)
    if len(classes) == 1 and len(codes) == 1 and classes[0] in ("-1", "1") and not multiclass:
        # A single point is a problem too: its label says on which side it has to be.
        codes, classes = np.array([classes[0] == "1"]), ("-1", "1")
    if len(classes) == 1:
        raise ProblemError(f"{text}: every label is {classes[0]}, but two classes are needed")
    if len(classes) > 2 and not multiclass:
        shown = ", ".join(classes[:10]) + (", ..." if len(classes) > 10 else "")
        raise ProblemError(
            f"{text}: there are {len(classes)} classes ({shown}), but two are needed "
            f"(use --multiclass for more, or two of them, as in {text}:{classes[0]},{classes[1]})"
        )
    y = codes if multiclass else 2 * codes.astype(np.int64) - 1
    problem = build(points.X, y, _source(file.path, text, form, points, classes, reading))
    problem.notes = problem.plain.notes = points.notes
    return problem


def _read(path: Path, form: str, reading: Reading) -> Points:
    from gammabar.problems import binary_readers

    if reading.designed:
        return _designed(path, form, reading)
    if form == "csv":
        return text_readers.read_csv(path, reading.label, reading.drop)
    if form == "svmlight":
        return text_readers.read_svmlight(path)
    if form == "npz":
        return binary_readers.read_npz(path)
    if form == "scipy":
        assert reading.labels is not None
        return binary_readers.read_scipy(path, reading.labels)
    scattered = _in_chunks(path, form, reading)
    if scattered is not None:
        return scattered if reading.dask is None else spread(scattered, reading.dask)
    if form == "table":
        return binary_readers.read_table(path, reading.label, reading.drop)
    assert reading.labels is not None
    return binary_readers.read_npy(path, reading.labels)


def _designed(path: Path, form: str, reading: Reading) -> Points:
    """A table whose texts become indicators, or that loses rows with missing values."""
    from gammabar.problems.binary_readers import table_columns

    lines: Array | None = None
    before: tuple[str, ...] = ()
    if form == "csv":
        found, columns, lines, before = text_readers.csv_columns(path, reading.label, reading.drop)
    else:
        found, columns = table_columns(path, reading.label, reading.drop)
    label, *features = columns
    try:
        X, y, rows, notes = design(features, label, reading.encode, reading.missing or "refuse")
    except ProblemError as error:
        raise ProblemError(f"{path}: {error}") from None
    lines = None if lines is None else lines[rows]
    return Points(X, y, found.chosen, lines=lines, drop=found.dropped, notes=before + notes)


def _in_chunks(path: Path, form: str, reading: Reading) -> Points | None:
    """Points that are left in their file, because they would take too much memory."""
    if path.suffix.lower() in COMPRESSED or not path.is_file():
        return None
    most = memory_budget() if reading.memory is None else reading.memory
    if form == "npy":
        from gammabar.problems.binary_readers import labels_for, read_array

        assert reading.labels is not None
        if path.stat().st_size <= most and reading.dask is None:
            return None
        small = min(CHUNK_BYTES, max(1 << 20, most // 8))
        rows = NpyChunks(path, CHUNK_BYTES if reading.memory is None else small)
        called = str(path), str(reading.labels)
        return Points(rows, labels_for(called, read_array(reading.labels), rows.shape[0]))
    chunks = TableChunks(path, reading.label, reading.drop)
    table, (n, d) = chunks.table, chunks.shape
    if n * d * chunks.dtype.itemsize <= most and reading.dask is None:
        return None
    return Points(chunks, table.labels(), table.columns.chosen, drop=table.columns.dropped)


def _source(
    path: Path, text: str, form: str, points: Points, classes: tuple[str, ...], reading: Reading
) -> Source:
    if form == "table" or reading.designed:
        # The checker gets the same numbers as NPZ; the name says which they are.
        words = [shlex.quote(text), f"--label {shlex.quote(str(points.label))}"]
        words += [f"--drop {shlex.quote(str(column))}" for column in points.drop]
        words += ["--encode"] if reading.encode else []
        words += ["--missing drop"] if reading.missing == "drop" else []
        file = (f"{path.stem}.npz",)
        name = " ".join(words)
        return Source(name, "npz", file, classes, arrays=("X", "y"), lines=points.lines)
    files = (path,) if reading.labels is None else (path, reading.labels)
    return Source(
        name=text,
        format=form,
        files=tuple(file.name for file in files),
        classes=classes,
        label=points.label,
        drop=points.drop,
        arrays=points.arrays,
        paths=tuple(str(file) for file in files),
        lines=points.lines,
    )


# --- standard input --------------------------------------------------------------------------

_MAGIC = {
    b"PK": ".npz",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x93NUMPY": ".npy",
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ": ".xz",
}


@contextmanager
def _spooled() -> Iterator[_NamedFile]:
    """What comes on standard input, in a file of the name that its first bytes suggest."""
    with tempfile.TemporaryDirectory(prefix="gammabar-") as folder:
        path = Path(folder, "stdin")
        try:
            with path.open("wb") as stream:
                while chunk := sys.stdin.buffer.read(1 << 20):
                    stream.write(chunk)
        except (AttributeError, ValueError, OSError) as error:  # closed, or none at all
            raise ProblemError(f"stdin: cannot be read ({error})") from None
        with path.open("rb") as stream:
            start = stream.read(8)
        suffix = next((s for magic, s in _MAGIC.items() if start.startswith(magic)), "")
        if suffix in COMPRESSED:
            packed = path.rename(path.with_name(f"stdin{suffix}"))
            path.write_bytes(read_bytes(packed))
            suffix = ""
        if suffix == ".npy":
            raise ProblemError("stdin: an .npy array is read from a file, not from standard input")
        suffix = suffix or _text_suffix(path)
        named = path.rename(path.with_name(f"stdin{suffix}"))
        yield _NamedFile(named, _FORMATS[suffix])


def _text_suffix(path: Path) -> str:
    """svmlight, if the first line with more than a label has fields of the form index:value."""
    with path.open("rb") as stream:
        for _ in range(1000):
            fields = stream.readline(1 << 20).partition(b"#")[0].split()
            if len(fields) > 1:
                index, colon, _value = fields[1].partition(b":")
                return ".svm" if colon and (index.isdigit() or index == b"qid") else ".csv"
            if fields:
                return ".csv"
    return ".csv"
