"""The same numbers through every entry point: kept to the last bit, or refused with a sentence."""

from __future__ import annotations

import json
from array import array
from collections import UserList, deque
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy import sparse

import gammabar as gb
from gammabar.problems import Problem, ProblemError, from_arrays, from_dask, load

Rows = list[list[int | float]]
E53, E63, E64 = 2**53, 2**63, 2**64

#: Three rows of two columns; the labels are 0, 0, 1.
FAMILIES: dict[str, Rows] = {
    "small": [[0, 1], [2, -3], [4, 5]],
    "octets": [[0, 255], [17, 3], [200, 9]],
    "truth": [[0, 1], [1, 1], [1, 0]],
    "negative": [[-1, -2], [-3, -4], [-5, -6]],
    "beyond 2^53": [[E53, E53 + 1], [E53 + 2, E53 + 3], [1, 2]],
    "int64": [[-E63, E63 - 1], [E63 - 2, 1 - E63], [0, 1]],
    "uint64": [[0, E64 - 1], [E64 - 2, E64 - 3], [1, E63]],
    "signed and unsigned": [[E63, -1], [E64 - 1, -2], [3, 4]],
    "large beside a half": [[E53 + 1, 0.5], [1, 2.5], [2, 3.5]],
    "double beside a half": [[E53 + 2, 0.5], [1, 2.5], [2, 3.5]],
    "large in the second column": [[0.25, E53 + 1], [1.25, E53 + 3], [2.25, 7]],
    "halves": [[0.5, 1.5], [-2.5, 3.0], [4.25, 5.0]],
    "tenths": [[0.1, 0.2], [0.3, -0.7], [1.1, 2.3]],
    "tiny": [[1e-300, 2e-300], [5e-324, 0.0], [1e-308, 3e-310]],
    "huge": [[1e300, 2e300], [1.7e308, -1e308], [3e299, 1.0]],
    "zeros": [[0.0, -0.0], [0.0, 1.0], [2.0, 0.0]],
    "whole doubles": [[float(E53), 1.0], [float(E63), 2.0], [float(E64), 3.0]],
    "singles": [[0.5, 2.0**-149], [1.5, 2.0**127], [-(2.0**-126), 3.0]],
    "integers above doubles": [[E53 + 1, E53 + 2], [0.5, -0.25], [3, 4]],
    "doubles above integers": [[2.0**60, 0.5], [E53 + 2, 2], [-E53, 4]],
    "beyond 64 bits": [[E64, 1], [2, 3], [4, 5]],
    "not finite": [[float("inf"), 1.0], [2.0, float("nan")], [4.0, 5.0]],
}
LABELS = [0, 0, 1]


def typed(rows: Rows) -> np.ndarray[Any, Any]:
    """The rows as NumPy holds them, where it does so exactly."""
    try:
        array = np.array(rows)
    except OverflowError:
        pytest.skip("no array holds these")
    if array.dtype == object or any(
        np.isfinite(v) and Fraction(v) != Fraction(a.item())
        for row, line in zip(rows, array, strict=True)
        for v, a in zip(row, line, strict=True)
    ):
        pytest.skip("no array holds these")
    return array


def columns(rows: Rows) -> dict[str, list[Any]]:
    return {name: [row[j] for row in rows] for j, name in enumerate("ab")}


def frame(rows: Rows) -> pd.DataFrame:
    if any(len({type(v) for v in column}) > 1 for column in columns(rows).values()):
        pytest.skip("pandas makes doubles of these")
    return pd.DataFrame(columns(rows))


def nullable(rows: Rows) -> pd.DataFrame:
    return frame(rows).convert_dtypes()


def arrow_backed(rows: Rows) -> pd.DataFrame:
    return frame(rows).convert_dtypes(dtype_backend="pyarrow")


def sparse_frame(rows: Rows, fill: int | float) -> pd.DataFrame:
    plain = entries(frame(rows))
    kinds = {name: pd.SparseDtype(dtype, fill) for name, dtype in plain.dtypes.items()}
    return plain.astype(kinds)


def entries(frame: pd.DataFrame) -> pd.DataFrame:
    if any(dtype.kind == "O" for dtype in frame.dtypes):
        pytest.skip("no column holds these")
    return frame


def written(name: str, write: Callable[[Rows, Path], None], **options: Any) -> Callable[..., Any]:
    def build(rows: Rows, folder: Path) -> Problem:
        path = folder / name
        write(rows, path)
        if "labels" in options:
            np.save(folder / "y.npy", LABELS)
            return load(str(path), labels=str(folder / "y.npy"))
        return load(str(path))

    return build


def write_csv(rows: Rows, path: Path) -> None:
    lines = (",".join(map(json.dumps, [y, *row])) for y, row in zip(LABELS, rows, strict=True))
    path.write_text("\n".join(lines))


def write_svm(rows: Rows, path: Path) -> None:
    path.write_text(
        "\n".join(
            " ".join([str(y), *(f"{k}:{json.dumps(v)}" for k, v in enumerate(row, 1))])
            for y, row in zip(LABELS, rows, strict=True)
        )
    )


def table(rows: Rows) -> Any:
    try:
        return pyarrow.table({"y": LABELS, **columns(rows)})
    except (OverflowError, pyarrow.lib.ArrowInvalid):
        pytest.skip("no table holds these")


def typed_row(row: list[int | float]) -> Any:
    if len({type(v) for v in row}) > 1 or not all(-E63 <= v < E63 for v in row):
        pytest.skip("no such array holds these")
    return array("q" if isinstance(row[0], int) else "d", row)


#: Rows of a list of rows; as a table, with integers above doubles, in one column.
ROWS: dict[str, Callable[[list[Any]], Any]] = {
    "deque": deque,
    "UserList": UserList,
    "array": typed_row,
    "memoryview": lambda row: memoryview(typed_row(row)),
    "Series": lambda row: pd.Series(typed_row(row), index=[7, 8]),
    "0-d arrays": lambda row: [np.array(v) for v in row],
    "scalars": lambda row: [np.array(v)[()] for v in row],
}
SPARSE = [sparse.csr_array, sparse.csc_array, sparse.coo_matrix, sparse.lil_array]
SPARSE += [sparse.dok_array, sparse.bsr_matrix, sparse.dia_matrix]
ENTRIES: dict[str, Callable[[Rows, Path], Problem]] = {
    "list": lambda rows, _: from_arrays(rows, LABELS),
    "tuples": lambda rows, _: from_arrays(tuple(map(tuple, rows)), tuple(LABELS)),
    **{
        f"rows: {name}": lambda rows, _, made=made: from_arrays(
            deque(map(made, rows)), deque(LABELS)
        )
        for name, made in ROWS.items()
    },
    "objects": lambda rows, _: from_arrays(np.array(rows, dtype=object).tolist(), LABELS),
    "array": lambda rows, _: from_arrays(typed(rows), np.array(LABELS)),
    "Fortran": lambda rows, _: from_arrays(np.asfortranarray(typed(rows)), LABELS),
    "big-endian": lambda rows, _: from_arrays(
        typed(rows).astype(typed(rows).dtype.newbyteorder(">")), LABELS
    ),
    "memoryview": lambda rows, _: from_arrays(memoryview(typed(rows)), LABELS),
    "masked": lambda rows, _: from_arrays(np.ma.MaskedArray(typed(rows)), LABELS),
    **{
        made.__name__: lambda rows, _, made=made: from_arrays(made(typed(rows)), LABELS)
        for made in SPARSE
    },
    "frame": lambda rows, _: from_arrays(entries(frame(rows)), pd.Series(LABELS)),
    "nullable": lambda rows, _: from_arrays(entries(nullable(rows)), LABELS),
    "arrow-backed": lambda rows, _: from_arrays(entries(arrow_backed(rows)), LABELS),
    "sparse frame": lambda rows, _: from_arrays(sparse_frame(rows, 0), LABELS),
    "filled frame": lambda rows, _: from_arrays(sparse_frame(rows, 0.0), LABELS),
    "table": lambda rows, _: from_arrays(table(rows).drop(["y"]), LABELS),
    "record batch": lambda rows, _: from_arrays(
        table(rows).drop(["y"]).to_batches()[0], pyarrow.array(LABELS)
    ),
    "dask array": lambda rows, _: from_dask(da.from_array(typed(rows), chunks=(2, 1)), LABELS),
    "dask frame": lambda rows, _: from_dask(
        dd.from_pandas(entries(frame(rows)), npartitions=2), pd.Series(LABELS)
    ),
    "csv": written("x.csv", write_csv),
    "svmlight": written("x.svm", write_svm),
    "npz": written("x.npz", lambda rows, path: np.savez(path, X=typed(rows), y=LABELS)),
    "npy": written("x.npy", lambda rows, path: np.save(path, typed(rows)), labels=True),
    "save_npz": written(
        "x.npz",
        lambda rows, path: sparse.save_npz(path, sparse.csr_array(typed(rows))),
        labels=True,
    ),
    "parquet": written("x.parquet", lambda rows, p: pyarrow.parquet.write_table(table(rows), p)),
    "feather": written("x.feather", lambda rows, p: pyarrow.feather.write_feather(table(rows), p)),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_are_kept_or_refused(family: str, entry: str, tmp_path: Path) -> None:
    rows = FAMILIES[family]
    try:
        problem = ENTRIES[entry](rows, tmp_path)
    except ProblemError as refused:
        assert len(str(refused).splitlines()) == 1
        assert family in REFUSED, refused
        return
    assert family != "not finite"
    X = problem.X[:] if not sparse.issparse(problem.X) else problem.X.toarray()
    found = [[Fraction(v) for v in row] for row in np.asarray(X).tolist()]
    if entry in ("csv", "svmlight") and any(isinstance(v, float) for row in rows for v in row):
        rows = [[float(v) for v in row] for row in rows]  # texts are the nearest doubles
    assert found == [[Fraction(v) for v in row] for row in rows]
    assert problem.y.tolist() == [-1, -1, 1]


#: What some entry cannot hold, and says so.
REFUSED = {
    "uint64",
    "signed and unsigned",
    "large beside a half",
    "large in the second column",
    "integers above doubles",
    "beyond 64 bits",
    "not finite",
    "huge",
}


@pytest.mark.parametrize(
    "values", [pd.array([0, E64 - 2, E64 - 1], "Sparse[uint64]"), pd.array([0, E53, E53 + 1])]
)
def test_sparse_columns_prove_what_is_true(values: Any) -> None:
    """Rounded, the last two points would coincide, and nothing would separate them."""
    X = pd.DataFrame({"a": values})
    assert gb.solve(X, LABELS, intercept=True).gamma_squared == Fraction(1, 4)
    labels = pd.Series(values)
    assert from_arrays([[1], [2], [3]], labels, multiclass=True).k == 3


def test_masked_chunks_and_impure_ones_are_refused() -> None:
    masked = np.ma.MaskedArray(np.arange(6.0).reshape(3, 2), mask=[[0, 0], [0, 0], [0, 1]])
    with pytest.raises(ProblemError, match="masked entry in row 2"):
        from_dask(da.from_array(masked, chunks=(1, 2)), LABELS)
    rng = np.random.default_rng(0)
    impure = da.zeros((6, 2), chunks=(3, 2)).map_blocks(lambda x: rng.random(x.shape))
    with pytest.raises(ProblemError, match="other numbers than in an earlier pass"):
        gb.solve(from_dask(impure, [0, 0, 1, 1, 0, 1]))


def test_a_file_that_changes_between_passes_is_noticed(tmp_path: Path) -> None:
    path, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(path, np.arange(600_000.0).reshape(-1, 2))
    np.save(y, np.arange(300_000) % 2)
    problem = load(str(path), labels=str(y), memory=1 << 20)
    problem.scores(np.ones(2))
    with path.open("r+b") as stream:
        stream.seek(4000)
        stream.write(b"\1")
    with pytest.raises(ProblemError, match="chunk 0 of X holds other numbers"):
        problem.scores(np.ones(2))


@pytest.mark.parametrize("first", [0, 1, 13, 40, 598])
def test_functions_that_are_not_symmetric_are_no_kernels(first: int) -> None:
    """Not for two rows only, wherever they are: what is computed of them would be of no kernel."""
    X = np.c_[np.arange(600.0), np.ones(600)]

    def skew(a: Any, b: Any) -> Any:
        return a @ b.T + 1e-3 * (a[:, :1] == first) * (first + 1 == b[:, :1].T)

    with pytest.raises(ProblemError, match=f"not symmetric: .* of rows {first} and {first + 1}"):
        from_arrays(X, np.arange(600) % 2, kernel=skew).scores(np.ones(600))


class Column:
    """A column of polars, as far as it is looked at."""

    def __init__(self, name: str, values: list[Any]) -> None:
        self.name, self.values, self.dtype = name, values, "Int64"

    def is_null(self) -> Column:
        return Column(self.name, [value is None for value in self.values])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.values, dtype=dtype)

    def __getitem__(self, rows: list[int]) -> Column:
        return Column(self.name, [self.values[i] for i in rows])


class Frame:
    """A frame of polars, as far as it is looked at."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.table = [Column(name, values) for name, values in columns.items()]
        self.columns = list(columns)

    def get_columns(self) -> list[Column]:
        return self.table


class LazyFrame(Frame):
    """A frame of polars that is yet to be read."""

    def collect_schema(self) -> None: ...

    def collect(self) -> Frame:
        return Frame({column.name: column.values for column in self.table})


PEOPLE = {
    "y": [0, 0, 1, 1],
    "a": [1, E53 + 1, 3, 7],
    "c": ["u", "v", "u", "w"],
    "e": [1, None, 2, 3],
}


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pyarrow.table, pyarrow.record_batch, Frame, LazyFrame]
)
def test_columns_by_name_levels_and_missing_values(make: Callable[..., Any]) -> None:
    frame = make(PEOPLE)
    problem = from_arrays(frame, "y", encode=True, missing="drop")
    assert problem.X.tolist() == [[1, 0, 1], [3, 0, 2], [7, 1, 3]]
    assert problem.y.tolist() == [-1, 1, 1]
    assert problem.notes == (
        "1 rows with missing values in 'e' were dropped: 1 (counted from 0)",
        "column 'c' became c=w; the reference level is 'u'",
    )
    for answer in (gb.solve, gb.separation):
        found = answer(frame, "y", intercept=True, encode=True, missing="drop").problem
        assert found.notes == problem.notes
        assert found.plain.digest() == problem.digest()
        with pytest.raises(ProblemError, match="leave out"):
            answer(problem, missing="drop")
    plain = make({name: PEOPLE[name] for name in "ya"})
    assert gb.solve(plain, "y", intercept=True).separable is False
    assert gb.separation(plain, "y", intercept=True).kind == "overlap"


@pytest.mark.parametrize(
    ("columns", "y", "options", "sentence"),
    [
        ("yac", "y", {}, r"column 'c' of X holds .*encode=True"),
        ("yae", "y", {}, r"missing value in row 1, column 'e'; .*missing='drop'"),
        ("yace", "y", {"encode": True}, "missing value in row 1, column 'e'"),
        ("ya", "b", {}, "X has 0 columns named 'b'"),
        ("ya", "y", {"missing": "fill"}, "missing must be 'refuse' or 'drop'"),
        ("y", "y", {}, "no rows or no columns left"),
    ],
)
def test_what_a_frame_lacks_is_named(columns: str, y: str, options: Any, sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence):
        from_arrays(pd.DataFrame({name: PEOPLE[name] for name in columns}), y, **options)
    with pytest.raises(ProblemError, match="X has no named columns"):
        from_arrays([[1], [2]], "y")


def test_a_label_that_is_missing_in_a_series_is_refused_or_dropped() -> None:
    X, y = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), pd.Series(["u", None, "v"])
    with pytest.raises(ProblemError, match="y has nan in row 1"):
        from_arrays(X, y)
    assert from_arrays(X, y, missing="drop").X.tolist() == [[1.0], [3.0]]
