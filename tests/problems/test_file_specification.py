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
from hypothesis import given, settings
from hypothesis import strategies as st

from gammabar.oracle import check as checker
from gammabar.oracle import solve
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
    name: str, raw: bytes, form: str, texts: list[str], points: Points, label: Any = None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(raw)
        problem = load(path, label=label, multiclass=True)
        X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
        assert [[Fraction(v) for v in row] for row in X.tolist()] == points
        source = problem.source
        assert source is not None
        assert [source.classes[k] for k in problem.labels] == texts
        data = {"format": form, "files": [name], "label": source.label}
        data["arrays"] = None if source.arrays is None else list(source.arrays)
        table, _ = checker.read(data, [str(path)], checker.Budget(60))
        rows = [dict(zip(*table.row(i), strict=True)) for i in range(len(texts))]
        assert [[Fraction(row.get(j, 0)) for j in range(len(points[0]))] for row in rows] == points
        assert (table.labels, table.width) == (texts, len(points[0]))


@settings(max_examples=60)
@given(tables(), st.data())
def test_csv(table: Any, data: st.DataObject) -> None:
    (names, cells), draw = table, data.draw
    separator = draw(st.sampled_from(",;\t"))
    at = draw(st.integers(0, len(cells[0])))
    header = draw(st.booleans())
    rows = [[*row[:at], text, *row[at:]] for (text, _), row in zip(names, cells, strict=True)]
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
    suffix = draw(suffixes)
    raw = PACKED[suffix](text.encode())
    _both_read(f"data.csv{suffix}", raw, "csv", [t for _, t in names], _meaning(cells), label)


@settings(max_examples=60)
@given(tables(sparse=True), st.data())
def test_svmlight(table: Any, data: st.DataObject) -> None:
    (names, cells), draw = table, data.draw
    space = draw(st.sampled_from([" ", "\t", " \t "]))
    zeros = draw(st.sampled_from(["", "0", "0" * 5000]))
    lines = []
    for (text, _), row in zip(names, cells, strict=True):
        pairs = [f"{zeros}{j}:{cell}" for j, cell in enumerate(row, 1)]
        query = draw(st.sampled_from([[], ["qid:3"], ["qid:x:y"]]))
        note = draw(st.sampled_from(["", "# a note 9:9", "#"]))
        lines.append(draw(st.sampled_from(["", space])) + space.join([text, *query, *pairs, note]))
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", " ", "# nothing"])))
    suffix = draw(suffixes)
    raw = PACKED[suffix](draw(line_ends).join(lines).encode())
    _both_read(f"data.svm{suffix}", raw, "svmlight", [t for _, t in names], _meaning(cells))


TYPES = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


@settings(max_examples=60)
@given(st.sampled_from(TYPES), st.sampled_from("<>"), st.sampled_from("CF"), st.data())
def test_npz(kind: str, order: str, layout: Any, data: st.DataObject) -> None:
    n, d = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 4))
    dtype, size = np.dtype(order + kind), 8 * n * d
    raw = np.frombuffer(data.draw(st.binary(min_size=size, max_size=size)), dtype)[: n * d]
    X = (raw.view(np.uint8) % 2).astype(bool) if kind == "b1" else raw
    X = np.where(np.isfinite(X), X, 1).astype(dtype).reshape(n, d, order=layout)
    more = data.draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    texts = ["no", "yes", *more][:n]
    y: Any = np.array(texts)
    y = data.draw(st.sampled_from([y, y.astype("S"), y[:, None], y.astype(">U5")]))
    shape = data.draw(st.sampled_from([(n, d), (n, d, 1), (n, 1, d)]))
    names = data.draw(st.sampled_from([("X", "y"), ("x", "y")]))
    out = io.BytesIO()
    save: Any = data.draw(st.sampled_from([np.savez, np.savez_compressed]))
    save(out, **dict(zip(names, (X.reshape(shape, order="A"), y), strict=True)))
    points = [[Fraction(v) for v in row] for row in X.tolist()]
    _both_read("data.npz", out.getvalue(), "npz", texts, points)


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
