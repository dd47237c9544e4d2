"""DATA strings: from ``mnist:0,1``, ``planted:n=200,d=10`` or ``points.csv`` to a problem."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gammabar.problems.base import Array, Problem, ProblemError, Source
from gammabar.problems.datasets import DATASETS, Dataset, Sampling, check_classes, find, read
from gammabar.problems.files import COMPRESSED
from gammabar.problems.generators import FAMILIES, generate
from gammabar.problems.known import Known
from gammabar.problems.labels import encode_labels, label_text
from gammabar.problems.options import SEED, Option, integer, parse_options, rational
from gammabar.problems.written import written_rows

if TYPE_CHECKING:
    from gammabar.problems.kernels import Kernel

_FORMATS = {".csv": "csv", ".npz": "npz", ".svm": "svmlight", ".libsvm": "svmlight"}
_SUFFIXES = ".csv, .npz, .svm or .libsvm"

SAMPLING = (
    Option("n", None, "take this many points at random", integer(1)),
    SEED,
    Option("keep", None, "then keep this fraction of them", rational(0, 1)),
    Option("repeat", "1", "then repeat each point of the last class", integer(1, 10**6)),
)

Build = Callable[[Any, Array, Source], Problem]


def load(
    spec: str | os.PathLike[str],
    *,
    label: str | int | None = None,
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
        (.csv, .npz, .svm, .libsvm; text files optionally .gz, .bz2 or .xz).
    label : str or int, optional
        CSV files only: the column of the label, by name or by index from 0.
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
        With its `source`. What is known of a generated one by construction is its attribute
        `known`, of class `gammabar.problems.generators.Known` (or None).

    Raises
    ------
    ProblemError
        One sentence that names the file, line, column or option at fault.
    """
    from gammabar.problems.validate import from_arrays

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

    format_ = _file_format(text)
    if label is not None and format_ != "csv":
        raise ProblemError(f"{text}: --label names a column of a CSV file, which this is not")
    if format_ is not None:
        return _load_file(Path(text), text, format_, label, multiclass, build)
    if name in DATASETS:
        return _load_dataset(DATASETS[name], text, rest, multiclass, build)
    if name == "rows":
        X, y = written_rows(rest)
        classes = _plain_classes(2, multiclass)
        return build(X, y, Source(text, "npz", ("rows.npz",), classes, arrays=("X", "y")))
    if name in FAMILIES:
        problem, truth = _load_generated(name, text, rest, multiclass, build)
        # What is known is known of the points themselves, not of their images under a kernel.
        plain = kernel is None and not multiclass and problem.intercept == "none"
        vars(problem)["known"] = truth if plain else None
        return problem
    raise ProblemError(_unknown(text, name))


def _unknown(text: str, name: str) -> str:
    if not text:
        return "the name of the data is empty (see `gammabar list problems`)"
    if _exists(text) or os.sep in text or (Path(text).suffix and ":" not in text):
        return f"{text}: not a file that can be read (only {_SUFFIXES})"
    close = difflib.get_close_matches(name.lower(), [*DATASETS, *FAMILIES, "rows"], 1)
    hint = f"did you mean {close[0]}?" if close else "see `gammabar list problems`"
    return f"{name!r} is no data set, generator or file ({hint})"


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False


# --- files -----------------------------------------------------------------------------------


def _file_format(text: str) -> str | None:
    """The format that the suffix of a file name says; None if it is no file name."""
    suffixes = [suffix.lower() for suffix in Path(text).suffixes]
    packed = bool(suffixes) and suffixes[-1] in COMPRESSED
    suffix = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    format_ = _FORMATS.get(suffix)
    if packed and format_ == "npz":
        raise ProblemError(f"{text}: an NPZ archive is compressed already, unpack {suffixes[-1]}")
    return format_


def _load_file(
    path: Path, text: str, format_: str, label: str | int | None, multiclass: bool, build: Build
) -> Problem:
    from gammabar.problems.containers import read_npz
    from gammabar.problems.readers import read_csv, read_svmlight

    if format_ == "csv":
        points = read_csv(path, label)
    else:
        points = read_svmlight(path) if format_ == "svmlight" else read_npz(path)
    n = points.X.shape[0]
    codes, classes = encode_labels(points.labels, n)
    if multiclass:
        if len(classes) < 2:
            raise ProblemError(_one_class(text, classes[0]))
    else:
        codes, classes = _two_classes(text, codes, classes)
    source = Source(
        name=text,
        format=format_,
        files=(path.name,),
        classes=classes,
        label=points.label,
        arrays=points.arrays,
        paths=(str(path),),
        lines=points.lines,
    )
    return build(points.X, codes, source)


def _one_class(text: str, name: str) -> str:
    return f"{text}: every label is {name}, but two classes are needed"


def _two_classes(
    text: str, codes: Array, classes: tuple[str, ...]
) -> tuple[Array, tuple[str, ...]]:
    """Labels of -1 and 1 for class numbers of 0 and 1."""
    if len(classes) == 2:
        return 2 * codes - 1, classes
    if len(codes) == 1 and classes[0] in {"-1", "1"}:
        # A single point is a problem too: its label says on which side it has to be.
        return np.array([int(classes[0])]), ("-1", "1")
    if len(classes) == 1:
        raise ProblemError(_one_class(text, classes[0]))
    shown = ", ".join(classes[:10]) + (", ..." if len(classes) > 10 else "")
    raise ProblemError(
        f"{text}: there are {len(classes)} classes ({shown}), but two are needed "
        "(use --multiclass for more)"
    )


# --- named data sets -------------------------------------------------------------------------


def _load_dataset(
    dataset: Dataset, text: str, rest: str, multiclass: bool, build: Build
) -> Problem:
    first, _, second = rest.partition(":")
    if "=" in first and not second:  # options without classes
        first, second = "", first
    asked = [label_text(part) for part in first.split(",")] if first.strip() else []
    values = parse_options(dataset.name, second, SAMPLING)
    classes = check_classes(dataset, asked, multiclass)
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


# --- generators ------------------------------------------------------------------------------


def _load_generated(
    name: str, text: str, options: str, multiclass: bool, build: Build
) -> tuple[Problem, Known | None]:
    made = generate(name, options)
    source = Source(
        name=text,
        format="npz",
        files=(f"{name}.npz",),
        classes=_plain_classes(2, multiclass),
        arrays=("X", "y"),
    )
    return build(made.X, made.y, source), made.known


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
    options : tuple of (name, default, meaning)
    classes : tuple of str
        What the classes 0, 1, ... are (data sets only).
    where : str
        Where it is on this machine: a folder, "embedded", "generated", or "not found".
    """

    name: str
    kind: str
    syntax: str
    what: str
    options: tuple[tuple[str, str, str], ...]
    classes: tuple[str, ...]
    where: str


_SYNTAX = {
    "fashion": "fashion:0,4",
    "digits": "digits:3,8",
    "breast-cancer": "breast-cancer",
    "planted": "planted:n=200,d=10,gamma=0.1,seed=0",
    "worst-case": "worst-case:n=1000",
    "two-lines": "two-lines:r=3",
    "imbalanced": "imbalanced:n=200,d=10,ratio=10,gamma=0.1,seed=0",
    "inseparable": "inseparable:n=200,d=10,seed=0",
    "gaussian": "gaussian:n=200,d=10,seed=0,separable=1",
    "duplicated": "duplicated:n=50,d=10,copies=4",
    "degenerate": "degenerate:kind=ties",
    "loss-spike": "loss-spike",
}

_FILES = (
    ("CSV", "points.csv", "one point a line, the label first (or --label NAME); .gz .bz2 .xz too"),
    ("NPZ", "points.npz", "arrays X and y as numpy.savez writes them; never unpickled"),
    ("svmlight", "points.svm", "sparse, label index:value ..., also .libsvm; .gz .bz2 .xz too"),
)


def catalogue() -> list[Entry]:
    """Everything that a DATA string can name, and where it is on this machine."""
    entries = []
    for dataset in DATASETS.values():
        paths = find(dataset)
        where = "embedded" if dataset.folder is None else "not found"
        where = str(paths[0].parent) if paths else where
        syntax = _SYNTAX.get(dataset.name, f"{dataset.name}:0,1")
        entries.append(
            Entry(
                dataset.name,
                "data set",
                syntax,
                dataset.what,
                _described(SAMPLING),
                dataset.classes,
                where,
            )
        )
    for family in FAMILIES.values():
        options = _described(family.options)
        syntax = _SYNTAX.get(family.name, family.name)  # every option has a default
        entries.append(
            Entry(family.name, "generator", syntax, family.what, options, (), "generated")
        )
    what = "rows y_i x_i as they are written, with labels that alternate"
    entries.append(Entry("rows", "generator", "rows:1,0;-1,2", what, (), (), "generated"))
    entries += [Entry(name, "file", syntax, what, (), (), "") for name, syntax, what in _FILES]
    return entries


def _described(options: tuple[Option, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((option.name, option.default or "", option.what) for option in options)
