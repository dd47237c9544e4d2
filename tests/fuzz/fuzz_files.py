"""The files that data come in: CSV, svmlight, NPZ, NPY, SciPy, idx, Parquet and Arrow.

Two readers, one specification: gammabar's and that of the independent checker both refuse a file,
or both read the same labels and exactly the same numbers.
"""

from __future__ import annotations

import gzip
import io
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

from gammabar.oracle import check_readers as checker
from gammabar.problems import ProblemError, load
from gammabar.problems.binary_readers import decode_idx, read_npy, read_npz, read_scipy
from gammabar.problems.fetch import _encode_idx
from gammabar.problems.files import label_text, read_bytes
from gammabar.problems.text_readers import FilePoints, read_csv, read_svmlight

from .mutations import spoil_bytes, spoil_text, spoiler, words
from .target import Fault, Target, choice_of

POINTS = np.array([[2, 0, 1], [0, 1, 3], [-1, -1, 0], [1, 4, 0], [-3, 0, -2]])
LABELS = [1, 1, -1, 1, -1]
_WORDS = ["class", "label", "yes", "no", '"quoted, text"', '"', "# comment", "1:1", "qid:3", "a b"]

Content = tuple[list[str], int, list[dict[int, Any]]]  # labels, columns, values that are not zero


def agree(
    paths: list[Path], form: str, reader: Callable[[], FilePoints], label: Any = None
) -> None:
    """Raise `Fault` if the two readers differ; ProblemError if both refuse."""
    refusal = ours = arrays = drop = None
    try:
        points = reader()
        ours, label, arrays = _content(points), points.label, points.arrays
        drop = list(points.drop) or None
    except ProblemError as error:
        if re.search("too much for this machine|would need vectors of", str(error)):
            raise  # a limit of the machine, not of the format
        refusal = error
        if isinstance(label, str) and re.fullmatch("[+-]?[0-9]{1,9}", label):
            label = int(label)
    theirs: Any = None
    try:
        theirs = _checker_content(paths, form, label, arrays, drop)
        reason = ""
    except Exception as error:  # check() turns all of them into Rejected
        reason = f"{type(error).__name__}: {error}"
    if (ours is None) != (theirs is None):
        who = "the checker" if ours is None else "gammabar"
        raise Fault(f"only {who} reads it ({refusal or reason})")
    if ours != theirs:
        raise Fault(f"they read different things: {ours!r:.500} and {theirs!r:.500}")
    if refusal is not None:
        raise refusal


def _content(points: FilePoints) -> Content:
    X = points.X.toarray() if hasattr(points.X, "toarray") else points.X
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        raise ProblemError("a value is not finite")
    X = X if X.dtype.kind in "iuf" else X.astype(np.uint8)
    rows = [{j: v for j, v in enumerate(row) if v} for row in X.tolist()]
    labels = np.asarray(points.labels).tolist()
    return [label_text(label) for label in labels], int(X.shape[1]), rows


def _checker_content(paths: list[Path], form: str, label: Any, arrays: Any, drop: Any) -> Content:
    data = {"format": form, "files": [path.name for path in paths], "label": label, "drop": drop}
    data["arrays"] = arrays and list(arrays)
    table, _ = checker.read(data, [str(path) for path in paths], checker.Budget(100))
    pairs = (zip(*table.row(i), strict=True) for i in range(len(table.labels)))
    return table.labels, table.width, [{j: v for j, v in row if v} for row in pairs]


# --- texts -----------------------------------------------------------------------------------


def csv_seeds() -> list[bytes]:
    rows = [[label, *x] for x, label in zip(POINTS.tolist(), LABELS, strict=True)]
    plain = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    halves = "\n".join(";".join(str(v / 2) for v in row) for row in rows)
    words = [f"{'yes' if y > 0 else 'no'}\t{a}\t{b}" for y, a, b, _ in rows]
    named = "\n".join(["class\ta\tb", *words])
    quoted = '"class","a, b"\r\n' + "\r\n".join(f'"{y}","{a}"' for y, a, *_ in rows) + "\r\n"
    return [text.encode() for text in (plain, halves, named, quoted, "\ufeff" + plain)]


def svmlight_seeds() -> list[bytes]:
    lines = [
        f"{label:+d} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1) if v)
        for x, label in zip(POINTS.tolist(), LABELS, strict=True)
    ]
    plain = "\n".join(lines)
    noted = "# a file\n" + " # a note\n".join(lines) + "\n"
    ranked = plain.replace("1 1:", "1 qid:7 1:").replace("4", "4.5")
    return [text.encode() for text in (plain, noted, ranked)]


def gz_seeds() -> list[bytes]:
    return [gzip.compress(data, mtime=0) for data in csv_seeds()]


_SEEDS = {*csv_seeds(), *gz_seeds()}


def run_csv(path: Path) -> None:
    data = path.read_bytes()
    label = None if data in _SEEDS else choice_of(data, [None, None, "class", "-1", 1, "a"])
    agree([path], "csv", lambda: read_csv(path, label), label)
    load(path, label=label, multiclass=choice_of(data[::-1], [True, False]))


def run_svmlight(path: Path) -> None:
    agree([path], "svmlight", lambda: read_svmlight(path))
    load(path, multiclass=choice_of(path.read_bytes(), [False, True]))


# --- arrays ----------------------------------------------------------------------------------


def npz_seeds() -> list[bytes]:
    words = np.array(["up" if label > 0 else "down" for label in LABELS])
    pairs: list[tuple[Any, Any]] = [
        (POINTS, np.array(LABELS)),
        (POINTS.astype(np.int8), np.array(LABELS, dtype=np.int8)),
        (np.asfortranarray(POINTS / 2), np.array(LABELS) > 0),
        (POINTS.astype(">f4"), words),
        (POINTS.astype(np.float16).reshape(5, 3, 1), words.astype("S")),
        (POINTS > 0, np.array(LABELS, dtype=float)[:, None]),
    ]
    return [_npz(X=_npy(X), y=_npy(y)) for X, y in pairs]


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _npz(packed: bool = False, **members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return out.getvalue()


_DESCRIPTIONS = words("<f8 |u1 <i8 >u8 <f2 |b1 <U0 |S0 |V0 <U4 |V8 |O <f16 <c16 <M8[ns]")
_DESCRIPTIONS += [
    "<U999999999",
    "i",
    "",
    "<",
    "|S3",
    "<u3",
    "=i4",
    "f8",
    "<f8,<i4",
    "<i4" * 50,
    "|T16",
    "<F8",
]
_DESCRIPTIONS += ["<i\\x00"]
_SHAPES = ["()", "(0,)", "(5,)", "(5, 3)", "(0, 5)", "(5, 0)", "(-5, -3)", "(5, -3)", "(15,)", "5"]
_SHAPES += ["(99999999999, 99999999999)", "(1,) * 3", "(5, 1, 3, 1)", "(True, 15)", "(5.0, 3)"]
_SHAPES += ["(0, 18446744073709551616)", "(18446744073709551616, 0)", "(5, 3, " + "1, " * 70 + ")"]
_SHAPES += ["(" + "9" * 5000 + ",)", "[5, 3]", "None", "(5, 3" + "(" * 300, "(-1,)", "(3, 5)"]


def _header(rng: Random) -> bytes:
    """A header that is well formed, or nearly, and does not fit what follows it."""
    order = rng.choice(["True", "False", "1", "None", "'F'"])
    fields = [f"'descr': {rng.choice(_DESCRIPTIONS)!r}", f"'fortran_order': {order}"]
    fields += [f"'shape': {rng.choice(_SHAPES)}"]
    if rng.random() < 0.1:
        fields[rng.randrange(3)] = rng.choice(["'descr': [('a', '<f8')]", "'x': 1", "", "'shape'"])
    text = "{" + ", ".join(fields) + rng.choice([", }", "}", ", ", "", "'", '"""', "(", "\\", "}}"])
    body = (text + " " * (-len(text) % 64) + "\n").encode("latin-1", "replace")
    version = rng.choice([1, 1, 1, 1, 2, 3, 0, 9])
    size = len(body) + rng.choice([0, 0, 0, 0, 1, -1, 10**4, 2**31])
    length = struct.pack("<H" if version == 1 else "<I", size % 2**16 if version == 1 else size)
    return b"\x93NUMPY" + bytes([version, 0]) + length + body


def spoil_npy(data: bytes, rng: Random) -> bytes:
    """Change the header, or some bytes."""
    head, newline, body = data.partition(b"\n")
    if rng.random() < 0.4:
        return _header(rng) + body
    if rng.random() < 0.5:
        return spoil_text(head, rng, "',(): ", _DESCRIPTIONS + _SHAPES) + newline + body
    return spoil_bytes(data, rng)


def spoil_npz(data: bytes, rng: Random) -> bytes:
    """Change the members and pack them again, or change the bytes of the archive."""
    if rng.random() < 0.3:
        return spoil_bytes(data, rng)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {n.removesuffix(".npy"): archive.read(n)[:4096] for n in archive.namelist()}
    except Exception:  # spoilt before
        return spoil_bytes(data, rng)
    name = rng.choice(["X", "y", *members])
    content = members.get(name, b"")
    if rng.random() < 0.2:
        members[rng.choice(["x", "X", "y", "z", "", ".npy", "X/y"])] = content
        members.pop(name, None)
    else:
        members[name] = spoil_npy(content, rng)
    return _npz(packed=rng.random() < 0.2, **members)


def npy_seeds() -> list[bytes]:
    some = [POINTS, POINTS.astype(">i2"), np.asfortranarray(POINTS / 2), (POINTS > 0)[:, :, None]]
    return [_npy(X) for X in some]


def run_arrays(
    form: str, reader: Callable[..., FilePoints], labelled: bool
) -> Callable[[Path], None]:
    """Arrays with their labels in the same file, or in one beside it."""

    def run(path: Path) -> None:
        labels = path.with_name("labels.npy")
        np.save(labels, np.array(LABELS))
        beside = [] if labelled else [labels]
        agree([path, *beside], form, lambda: reader(path, *beside))
        load(path, multiclass=True, **({} if labelled else {"labels": labels}))

    return run


def scipy_seeds() -> list[bytes]:
    found = []
    for form in ("csr", "csc", "coo"):
        out = io.BytesIO()
        scipy.sparse.save_npz(out, scipy.sparse.coo_array(POINTS).asformat(form), compressed=False)
        found.append(out.getvalue())
    return found


_LISTS = [[0, 2, 4, 6, 8, 10], [0, 10], [-1, 0], [3], [], [2**62], [0.5], [True], [[0, 1]], [5, 3]]
_LISTS += [[2**47, 2], [2**62, 3]]  # more rows than there is memory for their pointers
_LISTS += [[5, 3, 1], ["csr"], ["bsr"], [b"coo"], [""], [2**32, 2**32], [0, 0], [1] * 10, [2] * 10]


def spoil_scipy(data: bytes, rng: Random) -> bytes:
    """Change one of the arrays of a sparse matrix: a place, its type, all of it; or the bytes."""
    if rng.random() < 0.2:
        return spoil_npz(data, rng)
    try:
        with np.load(io.BytesIO(data)) as archive:
            members = {name: archive[name] for name in archive.files}
    except Exception:  # spoilt before
        return spoil_npz(data, rng)
    name = rng.choice([*members, "shape", "indices", "format"])
    array = np.array(members.get(name, [0]))
    action = rng.randrange(4)
    if action == 0:
        array = np.array(rng.choice(_LISTS))
    elif action == 1 and array.size and array.dtype.kind in "iuf":
        array.ravel()[rng.randrange(array.size)] = rng.choice([0, 1, 2, 3, 4, 5, 7, 100])
    elif action == 2 and array.dtype.kind in "iuf":
        array = array.astype(rng.choice(["i1", "u8", "f2", ">i4", "f8", "?", "U3"]))
    else:
        array = array.ravel()[: rng.randrange(array.size + 1)]
    members[name] = array
    return _npz(**{key: _npy(value) for key, value in members.items()})


def table_seeds(suffix: str) -> list[bytes]:
    import pyarrow
    import pyarrow.parquet

    words = ["up" if label > 0 else "down" for label in LABELS]
    columns: dict[str, Any] = {"class": words, "a": POINTS[:, 0], "b": POINTS[:, 1] / 2}
    found = []
    for labels in (words, LABELS):
        out, table = io.BytesIO(), pyarrow.table(columns | {"class": labels})
        if suffix == ".parquet":
            pyarrow.parquet.write_table(table, out, row_group_size=2, compression="none")
        else:
            with pyarrow.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table, max_chunksize=3)
        found.append(out.getvalue())
    return found


def run_table(path: Path) -> None:
    load(path, label=choice_of(path.read_bytes(), [None, None, "class", "0"]))


def idx_seeds() -> list[bytes]:
    return [_encode_idx(np.arange(12).reshape(shape)) for shape in ((12,), (3, 4), (3, 2, 2))]


def spoil_idx(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.5:
        return spoil_bytes(data, rng)
    sides = [rng.choice([0, 1, 2, 3, 4, 12, 2**31, 2**32 - 1]) for _ in range(rng.randrange(6))]
    return b"\0\0\x08" + struct.pack(f">B{len(sides)}I", len(sides), *sides) + data[8:]


def run_idx(path: Path) -> Any:
    return decode_idx(str(path), read_bytes(path))


_SPOIL_CSV, _SPOIL_SVM = spoiler(spoil_text, ",;\t", _WORDS), spoiler(spoil_text, " :", _WORDS)
_NPY, _NPZ = run_arrays("npy", read_npy, False), run_arrays("npz", read_npz, True)
TARGETS = [
    Target("csv", csv_seeds, _SPOIL_CSV, run_csv, suffix=".csv"),
    Target("csv-gz", gz_seeds, spoil_bytes, run_csv, suffix=".csv.gz"),
    Target("svmlight", svmlight_seeds, _SPOIL_SVM, run_svmlight, suffix=".svm"),
    Target("npz", npz_seeds, spoil_npz, _NPZ, suffix=".npz"),
    Target("npy", npy_seeds, spoil_npy, _NPY, suffix=".npy"),
    Target(
        "scipy", scipy_seeds, spoil_scipy, run_arrays("scipy", read_scipy, False), suffix=".npz"
    ),
    Target("parquet", lambda: table_seeds(".parquet"), spoil_bytes, run_table, suffix=".parquet"),
    Target("arrow", lambda: table_seeds(".arrow"), spoil_bytes, run_table, suffix=".arrow"),
    Target("idx", idx_seeds, spoil_idx, run_idx, suffix="-ubyte"),
]
