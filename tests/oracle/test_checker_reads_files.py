"""The checker's own readers at the limits of what they take, and the numbers of a certificate.

What is refused is in tests/problems/test_files_both_readers_refuse.py.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gammabar.oracle import check_readers as readers

ROWS = b"a,1,2\nb,3,4\n"


def csv(raw: bytes, label: Any = 0, drop: tuple = ()) -> Any:
    return readers.read_csv(raw, label, list(drop), "x.csv")


def rows(table: Any) -> list[tuple[str, list[Any]]]:
    return [(label, list(table.row(i)[1])) for i, label in enumerate(table.labels)]


@pytest.mark.parametrize(
    ("raw", "more", "expected"),
    [
        (ROWS, {}, [("a", [1, 2]), ("b", [3, 4])]),
        (b"\xef\xbb\xbfc;u;v\r\na; 1 ;2.5\rb;3;4\n\n \n", {}, [("a", [1, 2.5]), ("b", [3, 4])]),
        (b"u\tc\tv\n1\t01\t2\n3\t+2.0\t4\n", {"label": "c"}, [("1", [1, 2]), ("2", [3, 4])]),
        (b"1,2,a\n3,4,b\n", {"label": -1, "drop": (0,)}, [("a", [2]), ("b", [4])]),
        (
            b"a,9223372036854775807\nb,-9223372036854775808",
            {},
            [("a", [2**63 - 1]), ("b", [-(2**63)])],
        ),
        (b"a," + b"0" * 30 + b"7\nb,-0\n", {}, [("a", [7]), ("b", [0])]),
        (b"x" * 500 + b",1\n-0,2\n", {}, [("x" * 500, [1]), ("0", [2])]),
    ],
)
def test_tables_that_are_read(raw: bytes, more: dict, expected: list):
    assert rows(csv(raw, **more)) == expected


def test_svmlight():
    table = readers.read_svmlight(b"+1 qid:3 1:2 3:-1 # a note\n# nothing\n-1\nx 2:5\n", "x.svm")
    assert (table.labels, table.width) == (["1", "-1", "x"], 3)
    assert [table.row(i) for i in range(3)] == [([0, 2], [2, -1]), ([], []), ([1], [5])]
    table = readers.read_svmlight(b"1 0:1 4294967294:2\n", "x.svm")
    assert (table.width, table.row(0)[0]) == (2**32 - 1, [0, 2**32 - 2])


def test_a_member_that_is_shorter_than_its_directory_says(tmp_path: Path):
    path, member = tmp_path / "x.npz", io.BytesIO()
    np.save(member, np.eye(2))
    for more in (0, 8):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", member.getvalue())
            archive.getinfo("X.npy").file_size += more
        if more:
            with pytest.raises(readers.Rejected, match="wrong length"):
                readers._members(path, "x.npz", ["X"], readers.Budget(60))
        else:
            assert len(readers._members(path, "x.npz", ["X"], readers.Budget(60))) == 1


def test_numbers_of_a_certificate():
    budget = readers.Budget(60)
    assert readers.rational("-0x3/0x2", "x", budget) == -readers.Fraction(3, 2)
    for text in ("0x2/0x4", "0x1/-0x2", "0x1/0x0", "0x1", "3/2", "0x1/", 7, None):
        with pytest.raises(readers.Rejected):
            readers.rational(text, "x", budget)
    assert readers.combination([0, 2], ["0x1", "-0x2"], 3, "weights") == {0: 1, 2: -2}
    for indices, values in (
        *(([0, 3], ["0x1", "0x1"]), ([2, 2], ["0x1", "0x1"]), ([2, 0], ["0x1", "0x1"])),
        *(([0], ["0x0"]), ([0, 1], ["0x1"]), ((0,), ["0x1"]), ([-1], ["0x1"]), ([True], ["0x1"])),
    ):
        with pytest.raises(readers.Rejected):
            readers.combination(indices, values, 3, "weights")
    with pytest.raises(readers.Rejected, match="twice"):
        readers.distinct([("a", 1), ("a", 1)])
    with pytest.raises(readers.Rejected, match="besides"):
        readers.fields({"a": 1, "b": 2}, "x", "a")
    with pytest.raises(readers.Rejected, match="not an object"):
        readers.fields([], "x", "a")
