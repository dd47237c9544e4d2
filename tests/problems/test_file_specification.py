"""Files of the specification in oracle/CERTIFICATE.md, drawn with what they mean.

Both readers, gammabar's and that of the independent checker, must read exactly that.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import gammabar as gb
from gammabar.oracle import check as checker, check_readers as readers, solve
from gammabar.problems import load

PACKED = {"": bytes, ".gz": gzip.compress, ".BZ2": bz2.compress, ".xz": lzma.compress}
Cells = list[list[str]]
Points = list[list[Fraction]]

suffixes = st.sampled_from(list(PACKED))
line_ends = st.sampled_from(["\n", "\r\n", "\r"])
large = st.sampled_from([2**53 + 1, -(2**63), 2**63 - 1, 10**17])
integers = st.one_of(st.integers(-5, 5), large, st.integers(0, 255)).map(str)
odd = [".5", "7.", "1e5", "1E-5", "-0.0", "5e-324", "0." + "3" * 5000, "9" * 300 + "."]
decimals = st.one_of(
    st.floats(-1e300, 1e300).map(repr),
    st.decimals(-1000, 1000, places=3).map(str),
    st.sampled_from(odd),
    integers,
)
# Label texts, and what they are read as.
NUMBERS = {"1": "1", "+1": "1", "01": "1", "1.0": "1", "1e0": "1", "-0": "0", "0.50": "0.5"}
NUMBERS |= {"0" * 400 + "7": "7", "9" * 400: "9" * 400, "-003": "-3", "-.5e1": "-5"}
TEXTS = ["1e999", "1_0", "yes", "b c", "é", "\xa0x", "٣", "it's", "0x1", "1/2"]
labels = st.sampled_from([*NUMBERS.items(), *((text, text) for text in TEXTS)])


@st.composite
def tables(draw: Any, sparse: bool = False) -> tuple[list[tuple[str, str]], Cells]:
    """Labels of two classes or more, and numerals: integers alone, or others among them."""
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from([integers, decimals]))
    cells = draw(st.lists(st.lists(kind, min_size=d, max_size=d), min_size=n, max_size=n))
    plain = labels.filter(lambda pair: " " not in pair[0]) if sparse else labels
    several = st.lists(plain, min_size=n, max_size=n)
    names = draw(several.filter(lambda pairs: len({text for _, text in pairs}) > 1))
    zeros = draw(st.sampled_from(["", "", "0", "0" * 4400]))
    return names, [[_padded(cell, zeros) for cell in row] for row in cells]


def _padded(numeral: str, zeros: str) -> str:
    sign, digits = ("-" if numeral[0] == "-" else ""), numeral.removeprefix("-")
    return sign + zeros + digits if digits[0].isdigit() else numeral


def _meaning(cells: Cells) -> Points:
    if all(cell.lstrip("+-").isdigit() for row in cells for cell in row):
        return [[_integer(cell) for cell in row] for row in cells]
    return [[Fraction(float(cell)) for cell in row] for row in cells]


def _integer(cell: str) -> Fraction:
    size = int(cell.lstrip("+-").lstrip("0") or "0")
    return Fraction(-size if cell[0] == "-" else size)


def _both_read(
    name: str,
    raw: bytes,
    form: str,
    texts: list[str],
    points: Points,
    label: Any = None,
    drop: Any = (),
    labels: bytes | None = None,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, beside = Path(folder, name), Path(folder, "labels.npy")
        path.write_bytes(raw)
        if labels is not None:
            beside.write_bytes(labels)
        problem = load(
            path, label=label, drop=drop, labels=beside if labels else None, multiclass=True
        )
        X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
        assert [[Fraction(v) for v in row] for row in X.tolist()] == points
        source = problem.source
        assert source is not None
        assert [source.classes[k] for k in problem.labels] == texts
        assert source.format == form
        data = {"format": form, "files": list(source.files), "label": source.label}
        data["arrays"] = None if source.arrays is None else list(source.arrays)
        data["drop"] = list(source.drop) or None
        table, _ = readers.read(data, list(source.paths), readers.Budget(60))
        rows = [dict(zip(*table.row(i), strict=True)) for i in range(len(texts))]
        assert [[Fraction(row.get(j, 0)) for j in range(len(points[0]))] for row in rows] == points
        assert (table.labels, table.width) == (texts, len(points[0]))


@settings(max_examples=25)
@given(tables(), st.data())
def test_csv(table: Any, data: st.DataObject) -> None:
    (names, cells), draw = table, data.draw
    separator = draw(st.sampled_from(",;\t"))
    at = draw(st.integers(0, len(cells[0])))
    header = draw(st.booleans())
    rows = [[*row[:at], text, *row[at:]] for (text, _), row in zip(names, cells, strict=True)]
    other = draw(st.sampled_from([None, None, 0, len(rows[0])]))  # a column that is no feature
    if other is not None:
        junk = ["x7", "", "nan", "3", "b c"]
        rows = [[*row[:other], draw(st.sampled_from(junk)), *row[other:]] for row in rows]
        at += other == 0
    if header:
        rows.insert(0, [f"column {k}" for k in range(len(rows[0]))])
    quotes = draw(st.lists(st.booleans(), min_size=len(rows[0]), max_size=len(rows[0])))
    pad = draw(st.sampled_from(["", "", " ", "   "]))
    shown = {True: f'"{pad}{{}}"', False: f"{pad}{{}}{pad}"}
    lines = [
        separator.join(shown[q].format(field) for q, field in zip(quotes, row, strict=True))
        for row in rows
    ]
    end = draw(line_ends)
    between = end + draw(st.sampled_from(["", "", end, f" \t{end}"]))
    text = draw(st.sampled_from(["", "\ufeff", end])) + between.join(lines)
    label = draw(st.sampled_from([at, at - len(rows[0]), *([f"column {at}"] if header else [])]))
    drop = []
    if other is not None:
        drop = [draw(st.sampled_from([other, f"column {other}"] if header else [other]))]
    suffix, kind = draw(suffixes), draw(st.sampled_from(["csv", "tsv"]))
    raw = PACKED[suffix](text.encode())
    texts = [t for _, t in names]
    _both_read(f"data.{kind}{suffix}", raw, "csv", texts, _meaning(cells), label, drop)


@settings(max_examples=25)
@given(tables(sparse=True), st.data())
def test_svmlight(table: Any, data: st.DataObject) -> None:
    (names, cells), draw = table, data.draw
    space = draw(st.sampled_from([" ", "\t", " \t "]))
    zeros, base = draw(st.sampled_from(["", "0", "0" * 5000])), draw(st.sampled_from([0, 1]))
    lines = []
    for (text, _), row in zip(names, cells, strict=True):
        pairs = [f"{zeros}{j}:{cell}" for j, cell in enumerate(row, base)]
        query = draw(st.sampled_from([[], ["qid:3"], ["qid:x:y"]]))
        note = draw(st.sampled_from(["", "# a note 9:9", "#"]))
        lines.append(draw(st.sampled_from(["", space])) + space.join([text, *query, *pairs, note]))
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", " ", "# nothing"])))
    suffix = draw(suffixes)
    raw = PACKED[suffix](draw(line_ends).join(lines).encode())
    _both_read(f"data.svm{suffix}", raw, "svmlight", [t for _, t in names], _meaning(cells))


TYPES = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


@st.composite
def arrays(draw: Any) -> tuple[Any, list[str], Any]:
    """Points of any type and order, the texts of their labels, and the labels as an array."""
    kind, order, layout = (draw(st.sampled_from(some)) for some in (TYPES, "<>", "CF"))
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    dtype, size = np.dtype(order + kind), 8 * n * d
    raw = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype)[: n * d]
    X = (raw.view(np.uint8) % 2).astype(bool) if kind == "b1" else raw
    X = np.where(np.isfinite(X), X, 1).astype(dtype).reshape(n, d, order=layout)
    more = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    texts = ["no", "yes", *more][:n]
    y: Any = np.array(texts)
    return X, texts, draw(st.sampled_from([y, y.astype("S"), y[:, None], y.astype(">U5")]))


def _shaped(X: Any, draw: Any) -> Any:
    n, d = X.shape
    return X.reshape(draw(st.sampled_from([(n, d), (n, d, 1), (n, 1, d)])), order="A")


def _exactly(X: Any) -> Points:
    return [[Fraction(v) for v in row] for row in X.tolist()]


def _saved(save: Any, *what: Any, **named: Any) -> bytes:
    out = io.BytesIO()
    save(out, *what, **named)
    return out.getvalue()


@settings(max_examples=25)
@given(arrays(), st.data())
def test_npz(made: Any, data: st.DataObject) -> None:
    X, texts, y = made
    names = data.draw(st.sampled_from([("X", "y"), ("x", "y")]))
    save: Any = data.draw(st.sampled_from([np.savez, np.savez_compressed]))
    raw = _saved(save, **dict(zip(names, (_shaped(X, data.draw), y), strict=True)))
    _both_read("data.npz", raw, "npz", texts, _exactly(X))


@settings(max_examples=25)
@given(arrays(), st.data())
def test_npy(made: Any, data: st.DataObject) -> None:
    (X, texts, y), suffix = made, data.draw(suffixes)
    raw = PACKED[suffix](_saved(np.save, _shaped(X, data.draw)))
    _both_read(f"X.npy{suffix}", raw, "npy", texts, _exactly(X), labels=_saved(np.save, y))


@settings(max_examples=30)
@given(arrays(), st.sampled_from(["csr", "csc", "coo"]), st.booleans(), st.booleans())
def test_scipy(made: Any, form: str, matrix: bool, packed: bool) -> None:
    X, texts, y = made
    if X.dtype.itemsize == 2 and X.dtype.kind == "f":  # SciPy has none
        X = X.astype(np.float32)
    X = X.astype(X.dtype.newbyteorder("="))
    sparse = scipy.sparse.coo_matrix(X) if matrix else scipy.sparse.coo_array(X)
    raw = _saved(scipy.sparse.save_npz, sparse.asformat(form), compressed=packed)
    _both_read("X.npz", raw, "scipy", texts, _exactly(X), labels=_saved(np.save, y))


@settings(max_examples=40)
@given(arrays(), st.sampled_from([".parquet", ".arrow", ".feather"]), st.integers(1, 3))
def test_tables_are_the_same_numbers(made: Any, suffix: str, group: int) -> None:
    """The checker reads no Parquet: what it gets instead is what the certificate binds."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, texts, _ = made
    X = X.astype(X.dtype.newbyteorder("="))
    columns = {"id": [f"row {i}" for i in range(len(X))], "class": texts}
    table = pyarrow.table(columns | {f"f{j}": np.ascontiguousarray(c) for j, c in enumerate(X.T)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a table{suffix}")
        if suffix == ".parquet":
            parquet.write_table(table, path, row_group_size=group)
        else:
            with pyarrow.ipc.new_file(str(path), table.schema) as writer:
                writer.write_table(table, max_chunksize=group)
        problem = load(path, label="class", drop=["id"])
        assert _exactly(problem.X) == _exactly(X)
        assert problem.y.tolist() == [1 if text == "yes" else -1 for text in texts]
        certificate = Path(folder, "certificate.json")
        solve(problem).save(certificate)
        assert "'no' (class -1)" in gb.check(certificate)
        with pytest.raises(gb.Rejected):
            gb.check(certificate, gb.from_arrays(X[::-1], texts))


@settings(max_examples=30)
@given(tables(), st.sampled_from([None, "rbf:gamma=0.5", "linear"]))
def test_what_is_written_for_such_files_is_accepted(table: Any, kernel: str | None) -> None:
    names, cells = table
    tame = [[v if len(v) < 9 and "e" not in v else "3" for v in row] for row in cells]
    signs = ["ä", "it's", *("ä" if text == names[0][1] else "it's" for _, text in names[2:])]
    lines = [",".join([label, *row]) for label, row in zip(signs, tame, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "da:ta \x07.csv")
        path.write_text("\n".join(lines), encoding="utf-8")
        certificate = Path(folder, "certificate.json")
        solve(load(path, kernel=kernel)).save(certificate)
        assert checker.check(str(certificate), str(path)).isascii()
        assert json.loads(certificate.read_text())["data"]["files"] == [path.name]
