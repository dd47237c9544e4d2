"""The files that data come in: CSV, svmlight, NPZ, NPY, SciPy, idx, Parquet and Arrow."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

from gammabar.problems import load
from gammabar.problems.binary_readers import decode_idx, read_npy, read_npz, read_scipy
from gammabar.problems.fetch import _encode_idx
from gammabar.problems.files import read_bytes
from gammabar.problems.text_readers import read_csv, read_svmlight

from .agreement import agree
from .mutations import spoil_bytes, spoil_text, spoiler
from .target import Target, choice_of

POINTS = np.array([[2, 0, 1], [0, 1, 3], [-1, -1, 0], [1, 4, 0], [-3, 0, -2]])
LABELS = [1, 1, -1, 1, -1]
_WORDS = ["class", "label", "yes", "no", '"quoted, text"', '"', "# comment", "1:1", "qid:3", "a b"]


# --- texts -----------------------------------------------------------------------------------


def csv_seeds() -> list[bytes]:
    rows = [[label, *x] for x, label in zip(POINTS.tolist(), LABELS, strict=True)]
    plain = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    halves = "\n".join(";".join(str(v / 2) for v in row) for row in rows)
    named = "class\ta\tb\n" + "\n".join(
        f"{'yes' if y > 0 else 'no'}\t{a}\t{b}" for y, a, b, _ in rows
    )
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


def run_csv(path: Path) -> None:
    data = path.read_bytes()
    label = None if data in _SEEDS else choice_of(data, [None, None, "class", "-1", 1, "a"])
    agree(path, "csv", lambda: read_csv(path, label), label)
    load(path, label=label, multiclass=choice_of(data[::-1], [True, False]))


def run_svmlight(path: Path) -> None:
    agree(path, "svmlight", lambda: read_svmlight(path))
    load(path, multiclass=choice_of(path.read_bytes(), [False, True]))


def run_npz(path: Path) -> None:
    agree(path, "npz", lambda: read_npz(path))
    load(path, multiclass=True)


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


_DESCRIPTIONS = ["<f8", "|u1", "<i8", ">u8", "<f2", "|b1", "<U0", "|S0", "|V0", "<U4", "|V8", "|O"]
_DESCRIPTIONS += ["<f16", "<c16", "<M8[ns]", "<U999999999", "i", "", "<", "|S3", "<u3", "=i4", "f8"]
_DESCRIPTIONS += ["<f8,<i4", "<i4" * 50, "|T16", "<F8", "<i\\x00"]
_SHAPES = ["()", "(0,)", "(5,)", "(5, 3)", "(0, 5)", "(5, 0)", "(-5, -3)", "(5, -3)", "(15,)", "5"]
_SHAPES += ["(99999999999, 99999999999)", "(1,) * 3", "(5, 1, 3, 1)", "(True, 15)", "(5.0, 3)"]
_SHAPES += ["(0, 18446744073709551616)", "(18446744073709551616, 0)", "(5, 3, " + "1, " * 70 + ")"]
_SHAPES += ["(" + "9" * 5000 + ",)", "[5, 3]", "None", "(5, 3" + "(" * 300, "(-1,)", "(3, 5)"]
_ORDERS = ["True", "False", "1", "None", "'F'"]


def _header(rng: Random) -> bytes:
    """A header that is well formed, or nearly, and does not fit what follows it."""
    fields = [f"'descr': {rng.choice(_DESCRIPTIONS)!r}"]
    fields += [f"'fortran_order': {rng.choice(_ORDERS)}", f"'shape': {rng.choice(_SHAPES)}"]
    if rng.random() < 0.1:
        fields[rng.randrange(3)] = rng.choice(["'descr': [('a', '<f8')]", "'x': 1", "", "'shape'"])
    text = "{" + ", ".join(fields) + rng.choice([", }", "}", ", ", "", "'", '"""', "(", "\\", "}}"])
    body = (text + " " * (-len(text) % 64) + "\n").encode("latin-1", "replace")
    version = rng.choice([1, 1, 1, 1, 2, 3, 0, 9])
    size = len(body) + rng.choice([0, 0, 0, 0, 1, -1, 10**4, 2**31])
    length = struct.pack("<H" if version == 1 else "<I", size % 2**16 if version == 1 else size)
    return b"\x93NUMPY" + bytes([version, 0]) + length + body


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
    action = rng.randrange(5)
    if action < 2:
        _, _, body = content.partition(b"\n")
        members[name] = _header(rng) + body
    elif action == 2:
        members[name] = spoil_bytes(content, rng)
    elif action == 3:
        members[rng.choice(["x", "X", "y", "z", "", ".npy", "X/y"])] = content
        members.pop(name, None)
    else:
        head, newline, body = content.partition(b"\n")
        words = _DESCRIPTIONS + _SHAPES
        members[name] = spoil_text(head, rng, "',(): ", words) + newline + body
    return _npz(packed=rng.random() < 0.2, **members)


def npy_seeds() -> list[bytes]:
    some = [POINTS, POINTS.astype(">i2"), np.asfortranarray(POINTS / 2), (POINTS > 0)[:, :, None]]
    return [_npy(X) for X in some]


def spoil_npy(data: bytes, rng: Random) -> bytes:
    """Change the header, or some bytes."""
    head, newline, body = data.partition(b"\n")
    if rng.random() < 0.4:
        return _header(rng) + body
    if rng.random() < 0.5:
        return spoil_text(head, rng, "',(): ", _DESCRIPTIONS + _SHAPES) + newline + body
    return spoil_bytes(data, rng)


def _labels_beside(path: Path) -> Path:
    labels = path.with_name("labels.npy")
    np.save(labels, np.array(LABELS))
    return labels


def run_npy(path: Path) -> None:
    labels = _labels_beside(path)
    agree(path, "npy", lambda: read_npy(path, labels), None, labels)
    load(path, labels=labels, multiclass=True)


def scipy_seeds() -> list[bytes]:
    found = []
    for form in ("csr", "csc", "coo"):
        out = io.BytesIO()
        scipy.sparse.save_npz(out, scipy.sparse.coo_array(POINTS).asformat(form), compressed=False)
        found.append(out.getvalue())
    return found


_LISTS = [[0, 2, 4, 6, 8, 10], [0, 10], [-1, 0], [3], [], [2**62], [0.5], [True], [[0, 1]], [5, 3]]
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


def run_scipy(path: Path) -> None:
    labels = _labels_beside(path)
    agree(path, "scipy", lambda: read_scipy(path, labels), None, labels)
    load(path, labels=labels, multiclass=True)


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


# --- compressed ------------------------------------------------------------------------------


def gz_seeds() -> list[bytes]:
    return [gzip.compress(data, mtime=0) for data in csv_seeds()]


def run_idx(path):
    return decode_idx(str(path), read_bytes(path))


_SEEDS = {*csv_seeds(), *gz_seeds()}

TARGETS = [
    Target("csv", csv_seeds, spoiler(spoil_text, ",;\t", _WORDS), run_csv, suffix=".csv"),
    Target("csv-gz", gz_seeds, spoil_bytes, run_csv, suffix=".csv.gz"),
    Target(
        "svmlight", svmlight_seeds, spoiler(spoil_text, " :", _WORDS), run_svmlight, suffix=".svm"
    ),
    Target("npz", npz_seeds, spoil_npz, run_npz, suffix=".npz"),
    Target("npy", npy_seeds, spoil_npy, run_npy, suffix=".npy"),
    Target("scipy", scipy_seeds, spoil_scipy, run_scipy, suffix=".npz"),
    Target("parquet", lambda: table_seeds(".parquet"), spoil_bytes, run_table, suffix=".parquet"),
    Target("arrow", lambda: table_seeds(".arrow"), spoil_bytes, run_table, suffix=".arrow"),
    Target(
        "idx",
        idx_seeds,
        spoil_idx,
        lambda path: decode_idx(str(path), read_bytes(path)),
        suffix="-ubyte",
    ),
]
