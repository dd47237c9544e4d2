"""DATA strings: from ``mnist:0,1``, ``planted:n=200,d=10``, ``rows:1,0;1/2,-3*4`` or ``points.csv``
to a problem.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gammabar.problems import text_readers
from gammabar.problems.chunked import CHUNK_BYTES, Chunks, FileChunks, npy_chunks, spread
from gammabar.problems.datasets import DATASETS, Dataset, Sampling, classes_of, find, read
from gammabar.problems.exact import design, is_double
from gammabar.problems.files import (
    COMPRESSED,
    MOST_CHARACTERS,
    check_classes,
    encode_labels,
    label_text,
    memory_budget,
    read_bytes,
)
from gammabar.problems.options import (
    SEED,
    Option,
    integer,
    parse_options,
    rational,
)
from gammabar.problems.problem import Array, Problem, ProblemError, Source
from gammabar.problems.suggest import did_you_mean
from gammabar.problems.text_readers import FilePoints

if TYPE_CHECKING:
    from gammabar.problems.kernels import Kernel

# --- files: their format, their classes, their labels ----------------------------------------

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
    """How a file is to be read: see `load`."""

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

    def fits(self, size: int) -> bool:
        """Whether points of so many bytes are to be in the memory of this process."""
        return self.dask is None and size <= (
            memory_budget() if self.memory is None else self.memory
        )

    def placed(self, points: FilePoints) -> FilePoints:
        """Points in chunks where they are to be: in their file, or with the workers."""
        return points if self.dask is None else spread(points, self.dask)

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
    if whole and (_is_there(text) or ":" not in text):
        return _NamedFile(Path(text), whole)
    for place in (k for k, c in enumerate(text) if c == ":"):
        name, classes = text[:place], text[place + 1 :]
        format_ = "stdin" if name == "-" else _format(name)
        if format_:
            asked = tuple(label_text(part) for part in classes.split(","))
            return _NamedFile(Path(name), format_, asked)
    return _NamedFile(Path(text), whole) if whole else None


def _is_there(text: str) -> bool:
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


def _load_file(
    file: _NamedFile, text: str, reading: Reading, multiclass: bool, build: Build
) -> Problem:
    """Read a file and build its problem."""
    if file.format == "stdin":
        with _spooled() as spooled:
            path = str(spooled.path)
            try:
                found = replace(spooled, classes=file.classes)
                problem = _load_file(found, text, reading, multiclass, build)
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
    if len(codes) == 1 and classes[0] in ("-1", "1") and not multiclass:
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


def _read(path: Path, form: str, reading: Reading) -> FilePoints:
    from gammabar.problems import binary_readers

    if reading.designed:
        return _designed(path, form, reading)
    if form == "csv":
        return text_readers.read_csv(path, reading.label, reading.drop)
    if form == "svmlight":
        return text_readers.read_svmlight(path)
    if form == "npz":
        return binary_readers.read_npz(path)
    if form == "table":
        return _read_table(path, reading)
    assert reading.labels is not None
    if form == "scipy":
        return binary_readers.read_scipy(path, reading.labels)
    return _read_npy(path, reading.labels, reading)


def _designed(path: Path, form: str, reading: Reading) -> FilePoints:
    """A table whose texts become indicators, or that loses rows with missing values."""
    from gammabar.problems.binary_readers import Table

    lines: Array | None = None
    before: tuple[str, ...] = ()
    if form == "csv":
        found, columns, lines, before = text_readers.csv_columns(path, reading.label, reading.drop)
    else:
        table = Table(path, reading.label, reading.drop, texts=True)
        found, columns = table.columns, table.all_columns()
    label, *features = columns
    try:
        X, y, rows, notes = design(features, label, reading.encode, reading.missing or "refuse")
    except ProblemError as error:
        raise ProblemError(f"{path}: {error}") from None
    lines = None if lines is None else lines[rows]
    return FilePoints(X, y, found.chosen, lines=lines, drop=found.dropped, notes=before + notes)


# Points stay in their file if they would take too much memory, or if workers are to read them.


def _read_table(path: Path, reading: Reading) -> FilePoints:
    from gammabar.problems.binary_readers import Table

    table = Table(path, reading.label, reading.drop)
    chunks = FileChunks(table.points, table.lengths, len(table.columns.kept), table.dtype)
    if reading.fits(prod(chunks.shape) * chunks.dtype.itemsize):
        return table.in_memory()
    return reading.placed(table.with_labels(chunks))


def _read_npy(path: Path, labels: Path, reading: Reading) -> FilePoints:
    from gammabar.problems.binary_readers import labels_for, read_array, read_npy

    packed = path.suffix.lower() in COMPRESSED or not path.is_file()
    if packed or reading.fits(path.stat().st_size):
        return read_npy(path, labels)
    small = min(CHUNK_BYTES, max(1 << 20, (reading.memory or 0) // 8))
    rows = npy_chunks(path, CHUNK_BYTES if reading.memory is None else small)
    called = str(path), str(labels)
    return reading.placed(FilePoints(rows, labels_for(called, read_array(labels), rows.shape[0])))


def _source(
    path: Path, text: str, form: str, points: FilePoints, classes: tuple[str, ...], reading: Reading
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
                shutil.copyfileobj(sys.stdin.buffer, stream)
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


# --- every kind of data ------------------------------------------------------------------------

_SAMPLING = (
    Option("n", None, "take this many points at random", integer(1)),
    SEED,
    Option("keep", None, "then keep this fraction of them", rational(0, 1)),
    Option("repeat", "1", "then repeat each point of the last class", integer(1, 10**6)),
)


def load(
    spec: str | os.PathLike[str],
    *,
    label: str | int | None = None,
    labels: str | os.PathLike[str] | None = None,
    drop: Sequence[str | int] = (),
    memory: int | None = None,
    dask: Any = None,
    encode: bool = False,
    missing: str | None = None,
    kernel: Kernel | str | Callable[[Any, Any], Any] | None = None,
    normalised: bool = False,
    multiclass: bool = False,
    intercept: str | bool = "none",
) -> Problem:
    """The problem that a DATA string names, with its `source`.

    Parameters
    ----------
    spec : str or path
        A named data set (``mnist:0,1``, ``fashion:0,4:n=5000,seed=0,keep=0.1,repeat=10``,
        ``breast-cancer``), a generator (``planted:n=200,d=10,gamma=0.1,seed=0``), or a file
        (.csv, .tsv, .svm, .libsvm, .npz, .npy, .parquet, .arrow, .feather; text files and arrays
        optionally .gz, .bz2 or .xz), of which ``points.csv:a,b`` takes two of many classes. ``-``
        is standard input.
    label, drop : str or int, and a sequence of them
        Tables only: the column of the label, and columns that are no features, by name or by
        index from 0.
    labels : str or path, optional
        For an .npy file, or an .npz of ``scipy.sparse.save_npz``: the .npy file of the labels.
    memory : int, optional
        Most bytes that the points of an .npy, .parquet or .arrow file may take in memory; beyond
        that they are read in chunks, again for every pass. By default half of what there is.
    dask : distributed.Client, optional
        Leave the points of such a file to the workers of this cluster, which read it themselves.
    encode, missing, kernel, normalised, multiclass, intercept
        As in `gammabar.problems.from_arrays`; tables only: `encode` and `missing`.

    Raises
    ------
    ProblemError
        One sentence that names the file, line, column or option at fault.
    """
    from gammabar.problems.conversion import from_arrays

    text = os.fspath(spec).strip()
    name, _, rest = text.partition(":")

    def build(X: Any, y: Array, source: Source) -> Problem:
        try:
            return from_arrays(
                X,
                y,
                kernel=kernel,
                normalised=normalised,
                multiclass=multiclass,
                intercept=intercept,
                source=source,
            )
        except ProblemError as error:
            raise ProblemError(f"{text}: {error}") from None

    beside = None if labels is None else Path(labels)
    reading = Reading(label, beside, tuple(drop), memory, dask, encode, missing)
    file = named_file(text)
    if file is not None:
        return _load_file(file, text, reading, multiclass, build)
    reading.refuse_for(text)
    if name in DATASETS:
        return _load_dataset(DATASETS[name], text, rest, multiclass, build)
    if name == "rows":
        X, y = _written_rows(rest)
        classes = _plain_classes(2, multiclass)
        return build(X, y, Source(text, "npz", ("rows.npz",), classes, arrays=("X", "y")))
    from gammabar.problems.generators import FAMILIES, generate

    if name in FAMILIES:
        made, classes = generate(name, rest), _plain_classes(2, multiclass)
        source = Source(text, "npz", (f"{name}.npz",), classes, arrays=("X", "y"))
        problem = build(made.X, made.y, source)
        # What is known is known of the points themselves, not of their images under a kernel.
        if kernel is None and not multiclass and problem.intercept == "none":
            problem.known = made.known
        return problem
    raise ProblemError(_unknown(text, name, FAMILIES))


def _unknown(text: str, name: str, families: Iterable[str]) -> str:
    if not text:
        return "the name of the data is empty (see `gammabar list problems`)"
    if Path(text).suffix.lower() in (".xlsx", ".xls", ".ods"):
        return f"{text}: a spreadsheet; save its table as CSV, and give that"
    if _is_there(text) or os.sep in text or (Path(text).suffix and ":" not in text):
        return f"{text}: not a file that can be read (only {SUFFIXES})"
    hint = did_you_mean(name, [*DATASETS, *families, "rows"], "see `gammabar list problems`")
    return f"{name!r} is no data set, generator or file ({hint})"


# --- named data sets -------------------------------------------------------------------------


def _load_dataset(
    dataset: Dataset, text: str, rest: str, multiclass: bool, build: Build
) -> Problem:
    first, _, second = rest.partition(":")
    if "=" in first and not second:  # options without classes
        first, second = "", first
    asked = [label_text(part) for part in first.split(",")] if first.strip() else []
    values = parse_options(dataset.name, second, _SAMPLING)
    classes = classes_of(dataset, asked, multiclass)
    sampling = Sampling(**values)
    data = read(dataset)

    place = np.full(len(dataset.classes), -1)
    place[[int(name) for name in classes]] = np.arange(len(classes))
    codes = place[data.labels]
    candidates = np.flatnonzero(codes >= 0)
    last = codes[candidates] == len(classes) - 1
    rows = sampling.rows(dataset.name, candidates, last, data.X.shape[1])
    codes = codes[rows]
    for i, name in enumerate(classes):
        if not (codes == i).any():
            raise ProblemError(f"{text}: no point of class {name} is among those taken")
    X = data.X if len(rows) == len(data.X) and sampling.everything else data.X[rows]
    return build(
        X,
        codes if multiclass else 2 * codes - 1,
        Source(
            name=text,
            format=data.format,
            files=tuple(path.name for path in data.paths) or (f"{dataset.name}.npz",),
            # Embedded data are written to a file of their own, with labels as they are here.
            classes=classes if data.paths else _plain_classes(len(classes), multiclass),
            arrays=data.arrays if data.paths else ("X", "y"),
            rows=None if sampling.everything or not data.paths else tuple(rows.tolist()),
            paths=tuple(str(path) for path in data.paths),
        ),
    )


def _plain_classes(count: int, multiclass: bool) -> tuple[str, ...]:
    return tuple(str(i) for i in range(count)) if multiclass else ("-1", "1")


# --- what there is ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One line of ``gammabar list problems``.

    `kind` is "data set", "generator" or "file", `syntax` an example of a DATA string, `where` a
    folder, "embedded", "generated" or "not found"; `options` are (name, default, meaning), and
    `classes` says what the classes 0, 1, ... of a data set are.
    """

    name: str
    kind: str
    syntax: str
    what: str
    where: str
    options: tuple[tuple[str, str, str], ...] = ()
    classes: tuple[str, ...] = ()


def catalogue() -> list[Entry]:
    """Everything that a DATA string can name, and where it is on this machine."""
    from gammabar.problems.generators import FAMILIES

    entries = []
    for dataset in DATASETS.values():
        paths = find(dataset)
        where = "embedded" if dataset.folder is None else str(paths[0].parent) if paths else ""
        syntax = dataset.name if len(dataset.classes) == 2 else f"{dataset.name}:0,1"
        options = _described(_SAMPLING)
        about = dataset.what, where or "not found", options, dataset.classes
        entries.append(Entry(dataset.name, "data set", syntax, *about))
    for name, family in FAMILIES.items():
        options = _described(family.options)
        defaults = ",".join(f"{key}={value}" for key, value, _ in options if value)
        syntax = f"{name}:{defaults}" if defaults else name
        entries.append(Entry(name, "generator", syntax, family.what, "generated", options))
    what = "rows y_i x_i as they are written, with labels that alternate"
    entries.append(Entry("rows", "generator", "rows:1,0;-1,2", what, "generated"))
    return entries + [Entry(name, "file", syntax, what, "") for name, syntax, what in FILES]


def _described(options: tuple[Option, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((option.name, option.default or "", option.what) for option in options)


# --- rows that are written out ---------------------------------------------------------------

_ANY = rational(Fraction(-(10**2000)), None)
_MOST = 10_000  # numbers; more belong in a file
_COUNT = integer(1, _MOST)


def _written_rows(text: str) -> tuple[Array, Array]:
    """Points and labels whose rows y_i x_i are those of a text; labels alternate.

    ``*4`` after a row: four times.

    >>> X, y = _written_rows("1,0;1/2,-3")
    >>> (X * y[:, None]).tolist()
    [[1.0, 0.0], [0.5, -3.0]]
    """
    written = [_times(part) for part in text.split(";")]
    if sum((row.count(",") + 1) * times for row, times in written) > _MOST:
        raise ProblemError(f"rows: more than {_MOST} numbers; write them to a file")
    parts = [row.split(",") for row, times in written for _ in range(times)]
    wide = len(parts[0])
    for i, part in enumerate(parts):
        if len(part) != wide:
            raise ProblemError(f"rows: row {i} has {len(part)} numbers, and row 0 has {wide}")
    values = [[_number(i, number.strip()) for number in part] for i, part in enumerate(parts)]
    y = np.where(np.arange(len(values)) % 2, -1, 1)
    signed = [[int(s) * v for v in row] for s, row in zip(y, values, strict=True)]
    if all(v.denominator == 1 and abs(v) < 2**62 for row in signed for v in row):
        return np.array([[int(v) for v in row] for row in signed], dtype=np.int64), y
    for i, row in enumerate(values):
        for v in row:
            if not is_double(v):
                raise ProblemError(
                    f"rows: {v} in row {i} is not a double; multiply all rows by a number such"
                    " that they become integers"
                )
    return np.array([[float(v) for v in row] for row in signed], dtype=np.float64), y


def _times(part: str) -> tuple[str, int]:
    row, star, times = part.partition("*")
    if not star:
        return row, 1
    try:
        return row, _COUNT(times.strip())
    except ValueError as error:
        raise ProblemError(f"rows: {times[:20]!r} after * {error}") from None


def _number(i: int, text: str) -> Fraction:
    digits = text.removeprefix("-") if "/" in text else text
    try:
        value = _ANY(digits)
    except ValueError as error:
        shown = text if len(text) <= MOST_CHARACTERS else text[:20] + "…"
        raise ProblemError(f"rows: {shown!r} in row {i} {error}") from None
    return -value if digits != text else value


def text_of_rows(rows: Sequence[Sequence[Fraction | int]]) -> str:
    """The DATA string of some rows.

    >>> text_of_rows([[1, 0], [Fraction(1, 2), -3], [Fraction(1, 2), -3]])
    'rows:1,0;1/2,-3*2'
    """
    texts = (",".join(str(value) for value in row) for row in rows)
    parts = [(text, len(list(same))) for text, same in groupby(texts)]
    return "rows:" + ";".join(text if n == 1 else f"{text}*{n}" for text, n in parts)


# --- DATA with what may follow it: ``iris:0,1 --kernel rbf:gamma=1`` ----------------------

_SWITCHES = ("normalised", "multiclass", "encode")
_VALUES = ("kernel", "label", "labels", "drop", "missing")


def open_problem(text: str) -> Problem:
    """The problem that a text names.

    >>> open_problem("iris:0,1 --kernel rbf:gamma=1").n
    100
    """
    data, options = split_problem(text)
    if options.get("normalised") and not options.get("kernel"):
        raise ProblemError(f"{text}: --normalised needs --kernel")
    if options.get("kernel") and options.get("multiclass"):
        raise ProblemError(f"{text}: --kernel and --multiclass cannot be combined")
    return load(data, **options)


open_once = lru_cache(maxsize=8)(open_problem)


def split_problem(text: str) -> tuple[str, dict[str, Any]]:
    """DATA and the options that follow it."""
    try:
        data, *rest = shlex.split(text) or [""]
    except ValueError as error:
        raise ProblemError(f"{text}: {str(error).lower()} in the name of a problem") from None
    options: dict[str, Any] = {}
    words = iter(rest)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in _SWITCHES + _VALUES:
            allowed = ", ".join(f"--{n}" for n in _VALUES + _SWITCHES)
            raise ProblemError(f"{text}: {word!r} may not follow {data} (only {allowed})")
        if name in _SWITCHES:
            options[name] = True
            continue
        found = value if equals else next(words, None)
        if found is None:
            raise ProblemError(f"{text}: --{name} needs a value")
        options[name] = [*options.get(name, []), found] if name == "drop" else found
    return data, options


def read_again(data: str) -> None:
    """Complain of a DATA string whose data can be read only once: stdin, a pipe, a device."""
    file = named_file(data.strip())
    if file is None:
        return
    what = "standard input" if file.format == "stdin" else ""
    if not what:
        try:
            mode = file.path.stat().st_mode
        except (OSError, ValueError):
            return  # opening it says why not
        what = "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "a pipe or a device"
    if what:
        raise ProblemError(f"{data}: data of {what} are read once: write them to a file for this")


def problem_text(data: str, **options: Any) -> str:
    """The text of a problem whose parts were given as options of their own, as `load` takes them.

    DATA may be such a text itself, but for a file, whose name may have blanks.
    """
    options |= {"kernel": options.get("kernel") or None}
    there = os.path.exists(data)  # False of what is too long to be a name
    for name in (data if there else split_problem(data)[0], options.get("labels") or ""):
        read_again(name)
    text = shlex.quote(data) if there else data
    for name in _VALUES:
        value = options.get(name)
        values = value or () if name == "drop" else () if value is None else (value,)
        text += "".join(f" --{name} {shlex.quote(one)}" for one in values)
    return text + "".join(f" --{name}" for name in _SWITCHES if options.get(name))
