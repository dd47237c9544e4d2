"""Statements that are false as printed have a witness, which a program of its own accepts."""

from __future__ import annotations

import ast
import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import given, strategies as st

import gammabar.papers.witness as check_witness
from gammabar.harness.registry import load_statements, witnesses
from gammabar.harness.verify.verdict import Severity
from gammabar.papers.witness import Rejected, TooCostly, check, main

ROOT = Path(__file__).resolve().parents[2]
REFUTED = {s.id: s for s in load_statements().values() if s.status == "refuted"}
WITNESSES = witnesses()
FILES = sorted((ROOT / "papers").glob("*/witnesses/*.json"))


def altered(tmp_path: Path, statement: str, **data: object) -> str:
    """A witness with other data."""
    witness = json.loads(WITNESSES[statement].read_text(encoding="utf-8"))
    witness["data"] |= data
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(witness))
    return str(path)


@pytest.mark.parametrize("statement", sorted(REFUTED))
def test_every_refuted_statement_has_a_witness_that_is_accepted(statement: str):
    entry = REFUTED[statement]
    assert statement in check(str(WITNESSES[statement]))
    assert entry.fixed_by in load_statements()
    assert load_statements()[entry.fixed_by].status == "holds"


@pytest.mark.parametrize("statement", sorted(REFUTED))
def test_every_refuted_statement_is_weighed(statement: str):
    entry = REFUTED[statement]
    assert entry.why.endswith(".")
    if entry.charitable is not None:
        assert load_statements()[entry.charitable].status == "holds"
    # Whoever made a slip or forgot a degenerate case can point to what was meant; a reading that is
    # known to hold in part alone does not make a slip of it.
    assert (entry.charitable is None) == (entry.severity == "substance") or statement == "rp.lem9"
    if entry.same_mistake is not None:
        assert REFUTED[entry.same_mistake].same_mistake is None


def test_the_front_page_counts_them_apart():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    counts = Counter(s.severity for s in REFUTED.values())
    assert f"{counts[Severity.SUBSTANCE]} statements are false as stated" in text
    assert f"{sum(s.same_mistake is None for s in REFUTED.values())} mistakes" in text
    for severity in (Severity.MISPRINT, Severity.EDGE_CASE, Severity.TRANSCRIPTION):
        assert re.search(rf"\b{counts[severity]} [\w ]*{severity}", text)


def test_every_witness_belongs_to_a_statement():
    assert {path.stem for path in FILES} == set(REFUTED)
    for path in FILES:
        witness = json.loads(path.read_text(encoding="utf-8"))
        assert witness["statement"] == path.stem
        assert witness["claim"] == REFUTED[path.stem].claim


def test_the_checker_needs_nothing_but_python(tmp_path: Path):
    """Isolated, without site-packages, from another folder."""
    script = ROOT / "papers" / "witness.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), *map(str, FILES)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("accepted: ") == len(FILES)


def test_the_checker_imports_nothing_of_court_or_solvers(tmp_path: Path):
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from gammabar.papers.witness import main\nmain({[str(p) for p in FILES]!r})\n"
        "ours = {m for m in sys.modules if m.startswith('gammabar')}\n"
        "print(sorted(m for m in ours if not m.startswith('gammabar_refuters')))\n"
        "print([m for m in sys.modules if m.partition('.')[0] not in sys.stdlib_module_names"
        " and not m.startswith('gammabar')])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    *_, ours, others = done.stdout.splitlines()
    assert ours == "['gammabar', 'gammabar._stub', 'gammabar.papers', 'gammabar.papers.witness']"
    assert set(ast.literal_eval(others)) <= {"__main__"}


@pytest.mark.parametrize(
    ("statement", "data"),
    [
        ("jst.lemC.12.sum", {"copies": 2}),
        ("jst.eqB.11", {"t": 0}),
        ("jst.eqB.6", {"q": ["1/2", "1/2"]}),
        ("jst.thm4.1", {"epsilon": "3/2"}),
        ("jst.sec2.argmax", {"w": ["1"]}),
        ("jst.sec2.argmax", {"w": ["-1/2"]}),
        ("lec.thm1", {"T": 60}),
        ("lec.thm1", {"diagonal": ["2", "1"]}),
        ("lec.thm10", {"K": [["1", "0"], ["0", "1"]]}),
        ("lec.ridge", {"features": [["1"]]}),
        ("lec.lem7.line4", {"gamma": "3/5"}),
        ("rp.winnow", {"rows": [["3", "-1"]]}),
        ("rp.eq16", {"p": ["1/2", "1/2"]}),
        ("rp.eq16", {"G": [["-1", "0"], ["0", "-1"]]}),
        ("rp.eq16", {"alpha": ["0", "7"]}),
        ("rp.eq1", {"x": ["0", "0"]}),
        ("rp.thm4.2", {"rows": [["1/2"], ["-1/2"]]}),
        ("jst.sec5.2.risk", {"x": ["5"], "u1": ["1"], "u2": ["0"]}),
        ("lec.ridge", {"claim": "more than that"}),
        ("rp.eq17", {"centre": ["1/2", "1/2"], "p": ["1/2", "1/2"]}),
        ("rp.thm4.1", {"gamma": "1"}),
        ("tyurin.thm4.1", {"theta_1": ["-9", "0"]}),
        ("tyurin.sec6.limits", {"rows": [["1", "0"], ["-1", "0"]]}),
        ("tyurin.sec6.limits", {"rows": [["1", "0"], ["1", "0"]]}),
    ],
)
def test_data_that_refute_nothing_are_rejected(tmp_path: Path, statement: str, data: dict):
    with pytest.raises(Rejected):
        check(altered(tmp_path, statement, **data))


def test_gram_matrices_are_told_from_others():
    one, half, no = "1", "1/2", "-1/2"
    check_witness.gram([[one, half], [half, one]])
    check_witness.gram([[one, one, one]] * 3)  # singular
    check_witness.gram([[one, no, no], [no, one, no], [no, no, one]])  # singular too
    for rows in ([[one, "2"], ["2", one]], [[one, "-3/4", "-3/4"]] * 3):
        with pytest.raises(Rejected):
            check_witness.gram(rows)
    with pytest.raises(Rejected, match="semidefinite"):
        check_witness.gram([[one, "-3/4", no], ["-3/4", one, no], [no, no, one]])


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=3, max_size=3),
    st.fractions(-2, 2),
)
def test_semidefinite_agrees_with_the_principal_minors(rows: list[list[int]], shift: Fraction):
    S = [[Fraction(rows[i][j] + rows[j][i]) + shift * (i == j) for j in range(3)] for i in range(3)]

    def minor(indices: tuple[int, ...]) -> Fraction:
        return fmpq_determinant([[S[i][j] for j in indices] for i in indices])

    subsets = [c for size in (1, 2, 3) for c in itertools.combinations(range(3), size)]
    assert check_witness.semidefinite(S) == all(minor(c) >= 0 for c in subsets)


def fmpq_determinant(rows: list[list[Fraction]]) -> Fraction:
    found = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in rows]).det()
    return Fraction(int(found.p), int(found.q))


COSTLY = {
    "jst.sec5.2.risk": {"x": ["1"], "u1": ["9" * 400], "u2": ["0"]},
    "lec.thm1": {"diagonal": ["9" * 400, "7/" + "1" * 400], "b": ["9", "0"], "T": 1000},
    "lec.ridge": {
        "features": [[f"1/{k}{'7' * 400}" for k in range(1, 200)]] * 4,
        "y": ["1"] * 4,
        "alpha": ["1"] * 4,
        "lambda": "1",
    },
}


@pytest.mark.parametrize("statement", COSTLY)
def test_what_would_take_too_long_is_not_begun(tmp_path: Path, statement: str):
    path = altered(tmp_path, statement, **COSTLY[statement])
    with pytest.raises(TooCostly) as refusal:
        check(path, limit=1)
    assert "\n" not in str(refusal.value)
    assert main([path, "--limit", "1"]) == 2


def test_a_hundred_thousand_copies_are_no_trouble(tmp_path: Path):
    check(altered(tmp_path, "jst.lemC.12.sum", copies=100_000))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "{}", '{"format": "gammabar-witness"}', "1" * 9999]
)
def test_files_that_are_no_witnesses(tmp_path: Path, text: str):
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(Rejected):
        check(str(path))


@pytest.mark.parametrize("bad", [None, 7, "x", [], [[]], ["1/0"], [["nan"]], {"a": 1}])
@pytest.mark.parametrize("statement", sorted(REFUTED))
def test_corrupted_data_are_rejected(tmp_path: Path, statement: str, bad: object):
    witness = json.loads(WITNESSES[statement].read_text(encoding="utf-8"))
    for key in witness["data"]:
        try:
            check(altered(tmp_path, statement, **{key: bad}))
        except Rejected:
            continue
        assert (key, bad) == ("t", 7), statement  # another t that will do as well


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_intervals_contain_the_truth(x: Fraction):
    ctx.prec = 700
    try:
        exact = arb(fmpq(x.numerator, x.denominator))
        small = x / 10**5
        pairs = [
            (check_witness.log(x), exact.log()),
            (check_witness.sqrt(x), exact.sqrt()),
            (check_witness.exp(small), (exact / 10**5).exp()),
            (check_witness.exp(-small), (-exact / 10**5).exp()),
        ]
        for found, truth in pairs:
            low, high = (arb(fmpq(v.numerator, v.denominator)) for v in (found.lo, found.hi))
            assert low <= truth or low.overlaps(truth)
            assert truth <= high or high.overlaps(truth)
            assert found.hi - found.lo <= Fraction(1, 2**200) * (1 + abs(found.hi))
    finally:
        ctx.prec = 53
