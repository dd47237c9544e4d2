"""Texts that look like numbers: what Python would take for an integer, and we do not."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from gammabar.harness.certificates import check, write_npz
from gammabar.harness.verify.parameters import rationals
from gammabar.oracle import solve
from gammabar.papers import rerun
from gammabar.papers.witness import Rejected
from gammabar.problems import load
from gammabar.problems.files import integer_of, label_fault, label_text

#: `isdigit`, `isdecimal`, `isnumeric` or `int` say yes to these, or nearly.
ODD = ["٣", "४", "３", "²", "①", "½", "Ⅷ", "六", "--5", "-", "−3", "1_0", "_1", "1_", "0x1", "1e3"]
ODD += ["-5", "5", "05", "+5", "-0", "00", "3.", "inf", "1 2", "٣4", "-٣", "5\u00a0", "\u20035"]
ODD += [str(n + k) for n in (2**63, -(2**63), 10**18, 10**400) for k in (-1, 0, 1)]
LABELS = st.one_of(
    st.sampled_from(ODD),
    st.integers(-(2**70), 2**70).map(str),
    st.text(st.sampled_from("0123456789٣²+-_. ")),
    st.text(),
).filter(lambda text: label_fault(label_text(text)) is None)


#: Where Python's words for digits are used: nothing is converted there, or the text is ASCII.
HARMLESS = {
    "harness/report/mathml.py": "signs of formulas",
    "harness/run/processes.py": "names that the kernel gives to processes",
    "oracle/check_readers.py": "after isascii",
    "problems/files.py": "a file of the kernel",
    "problems/specs.py": "bytes, of which only those of ASCII are digits",
    "problems/text_readers.py": "after isascii",
}


def test_digits_are_asked_for_in_one_way():
    """`isdigit` and `int` do not agree, nor do they with anybody who reads a file elsewhere."""
    root = Path(__file__).resolve().parents[2]
    packages = ("problems", "oracle", "solvers", "harness", "papers")
    found = {
        str(path.relative_to(root))
        for package in packages
        for path in (root / package).rglob("*.py")
        if re.search(r"\.is(digit|decimal|numeric)\(", path.read_text(encoding="utf-8"))
    }
    assert found == set(HARMLESS)


@given(LABELS)
def test_an_integer_is_what_is_written_just_so(text):
    number = integer_of(text)
    plain = text.isascii() and text.removeprefix("-").isdecimal() and str(int(text)) == text
    assert (number is not None) == (plain and -(2**63) <= int(text) < 2**63)
    assert number is None or str(number) == text


@settings(max_examples=25)
@given(st.lists(LABELS, min_size=2, max_size=3), st.sampled_from(["npz", "parquet"]))
def test_every_label_is_exported_and_checked(labels, form):
    """A certificate is accepted for its file, for an export of it, and by what it says itself."""
    classes = list(dict.fromkeys(map(label_text, labels)))
    assume(len(classes) > 1)
    many = len(classes) > 2
    X = np.array([[3, 1, 0], [1, 3, 0], [-4, -1, 0], [-2, -3, 0], [0, 0, 9], [0, 1, 9]])
    texts = [name for name in classes for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        path = _written(Path(folder), form, X[: len(texts)], texts)
        problem = load(path, multiclass=many)
        assert problem.source is not None
        assert set(problem.source.classes) == set(classes)
        certificate = Path(folder, "c.json")
        solve(problem).save(certificate)
        exported = write_npz(problem, Path(folder, "out.npz"))
        with np.load(exported) as arrays:
            assert [label_text(label) for label in arrays["y"].tolist()] == texts
        assert check(certificate, (exported,))
        assert check(certificate, (path,))
        assert check(certificate)


def _written(folder: Path, form: str, X: np.ndarray, labels: list[str]) -> Path:
    path = folder / f"points.{form}"
    if form == "npz":
        np.savez(path, X=X, y=np.array(labels))
        return path
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"x{k}": column.astype(float) for k, column in enumerate(X.T)}
    parquet.write_table(pa.table({"y": labels, **columns}), path)
    return path


def test_an_input_of_a_statement_is_measured_before_it_is_computed():
    """1e999999999 has a thousand million digits."""
    with pytest.raises(ValueError, match="is not a rational number"):
        rationals().written("1e999999999")
    assert rationals().written("-3/4") == rationals().written("-0.75")


@pytest.mark.parametrize("index", ["٠", "00", " 0", "+0", "²", "9" * 5000])
@pytest.mark.parametrize("where", ["rows", "q"])
def test_indices_of_a_witness_have_one_way_of_writing(index, where):
    data = {"rows": [{"0": "1"}], "columns": 1, "q": {"0": "1"}}
    rows, _ = rerun._rows(data)
    assert rerun._facts(rows, data, None, False).n == 1
    spoilt = data | ({"rows": [{index: "1"}]} if where == "rows" else {"q": {index: "1"}})
    with pytest.raises(Rejected):
        rows, _ = rerun._rows(spoilt)
        rerun._facts(rows, spoilt, None, False)
