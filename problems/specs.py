"""DATA strings: from ``mnist:0,1``, ``planted:n=200,d=10``, ``rows:1,0;1/2,-3*4`` or ``points.csv``
to a problem.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gammabar.problems.datasets import DATASETS, Dataset, Sampling, classes_of, find, read
from gammabar.problems.files import label_text
from gammabar.problems.from_files import (
    FILES,
    SUFFIXES,
    Build,
    Reading,
    is_there,
    load_file,
    named_file,
)
from gammabar.problems.options import (
    MOST_CHARACTERS,
    SEED,
    Option,
    integer,
    parse_options,
    rational,
)
from gammabar.problems.problem import Array, Problem, ProblemError, Source
from gammabar.problems.suggest import did_you_mean

if TYPE_CHECKING:
    from gammabar.problems.kernels import Kernel


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
    """The problem that a DATA string names.

    Parameters
    ----------
    spec : str or path
        A named data set (``mnist:0,1``, ``fashion:0,4:n=5000,seed=0,keep=0.1,repeat=10``,
        ``breast-cancer``), a generator (``planted:n=200,d=10,gamma=0.1,seed=0``), or a file
        (.csv, .tsv, .svm, .libsvm, .npz, .npy, .parquet, .arrow, .feather; text files and arrays
        optionally .gz, .bz2 or .xz), of which ``points.csv:a,b`` takes two of many classes. ``-``
        is standard input.
    label : str or int, optional
        Tables only: the column of the label, by name or by index from 0.
    labels : str or path, optional
        For an .npy file, or an .npz of ``scipy.sparse.save_npz``: the .npy file of the labels.
    drop : sequence of str or int
        Tables only: columns that are no features, named in the same way.
    memory : int, optional
        Most bytes that the points of an .npy, .parquet or .arrow file may take in memory; beyond
        that they are read in chunks, again for every pass. By default half of what there is.
    dask : distributed.Client, optional
        Leave the points of an .npy, .parquet or .arrow file to the workers of this cluster, which
        read it themselves: see `gammabar.problems.chunked`.
    encode : bool
        Tables only: replace columns of texts by indicators of all levels but the first, the
        reference level. The attribute `notes` of the problem says which.
    missing : {"refuse", "drop"}, optional
        Tables only: what becomes of rows with missing values; `notes` says which were dropped.
    kernel : Kernel, str or callable, optional
        Such as ``rbf:gamma=0.1``; see `gammabar.problems.from_arrays`.
    normalised : bool
        With a kernel: divide by sqrt(K(x, x)).
    multiclass : bool
        All classes, or those named, instead of two.
    intercept : {"none", "free", "augmented"} or bool
        As in `gammabar.problems.from_arrays`.

    Returns
    -------
    Problem
        With its `source`, and what is `known` of a generated one by construction.

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

    file_of_labels = None if labels is None else Path(labels)
    reading = Reading(label, file_of_labels, tuple(drop), memory, dask, encode, missing)
    file = named_file(text)
    if file is not None:
        return load_file(file, text, reading, multiclass, build)
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
    if is_there(text) or os.sep in text or (Path(text).suffix and ":" not in text):
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

    Attributes
    ----------
    name : str
    kind : str
        "data set", "generator" or "file".
    syntax : str
        An example of a DATA string.
    what : str
    where : str
        Where it is on this machine: a folder, "embedded", "generated", or "not found".
    options : tuple of (name, default, meaning)
    classes : tuple of str
        What the classes 0, 1, ... are (data sets only).
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

    Examples
    --------
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
            if not _is_double(v):
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


def _is_double(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


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

    Examples
    --------
    >>> text_of_rows([[1, 0], [Fraction(1, 2), -3], [Fraction(1, 2), -3]])
    'rows:1,0;1/2,-3*2'
    """
    texts = (",".join(str(value) for value in row) for row in rows)
    parts = [(text, len(list(same))) for text, same in groupby(texts)]
    return "rows:" + ";".join(text if n == 1 else f"{text}*{n}" for text, n in parts)
