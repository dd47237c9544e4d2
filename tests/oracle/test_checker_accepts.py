"""The independent checker: what it reads, what it accepts, and how it speaks."""

from __future__ import annotations

import ast
import bz2
import gzip
import json
import lzma
import math
import shutil
import struct
import subprocess
import sys
import tempfile
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import certificates_for_tests as make
import numpy as np
import pytest
from hypothesis import given, strategies as st
from loaded_checker import CHECKER, checker

import gammabar as gb
from gammabar.oracle.certificate import rational

kernels, readers = sys.modules["checker.check_kernels"], sys.modules["checker.check_readers"]
TRUSTED = [CHECKER, CHECKER.with_name("check_kernels.py"), CHECKER.with_name("check_readers.py")]

CASES = make.all_cases()


def run(case: make.Case, folder: Path) -> str:
    return str(checker.check(*case.write(folder)))


# --- the checker itself ----------------------------------------------------------------------


@pytest.mark.parametrize("path", TRUSTED, ids=lambda path: path.name)
def test_it_imports_the_standard_library_and_nothing_else(path: Path) -> None:
    imported, beside = set(), {path.stem for path in TRUSTED}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == (node.module in beside), "it reaches into the project"
            imported |= {str(node.module).split(".")[0]} - beside
        elif isinstance(node, ast.Name):
            assert node.id not in ("__import__", "exec", "eval", "importlib")
    assert imported <= sys.stdlib_module_names
    assert not imported & {"importlib", "runpy", "pickle", "subprocess", "ctypes"}


def test_no_module_beside_it_shadows_the_standard_library() -> None:
    """``python oracle/check.py`` puts its own folder first on the path."""
    beside = {path.stem for path in CHECKER.parent.glob("*.py")} | {
        path.name for path in CHECKER.parent.iterdir() if path.is_dir()
    }
    assert not beside & sys.stdlib_module_names


def test_it_can_be_read_in_one_sitting() -> None:
    for path, most in zip(TRUSTED, (500, 300, 700), strict=True):
        source = path.read_text(encoding="utf-8")
        assert len(source.splitlines()) <= most
        assert "fmt:" not in source, "formatted for people to read"


@pytest.mark.parametrize("flags", [["-S"], ["-I", "-S"]])
def test_it_runs_from_any_folder_and_wherever_the_three_files_are(flags, tmp_path: Path) -> None:
    for path in TRUSTED:
        shutil.copy(path, tmp_path / path.name)
    certificate, *data = make.linear([[1, 1], [2, 1]], [1, 1]).write(tmp_path)
    for script in (CHECKER, tmp_path / "check.py"):
        command = [sys.executable, *flags, str(script), str(certificate), *map(str, data)]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True)
        assert (done.returncode, done.stdout[:9]) == (0, "accepted:"), done.stderr


def test_short_memory_is_no_reason_to_reject(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    def short(*_: Any) -> None:
        raise MemoryError

    paths = make.linear([[1, 1], [2, 1]], [1, 1]).write(tmp_path)
    monkeypatch.setattr(checker.Linear, "norm", short)
    assert checker.main(list(map(str, paths))) == 2
    assert "memory" in capsys.readouterr().err


def test_memory_for_parsing_is_counted(tmp_path: Path) -> None:
    """A small file may be large when it is unpacked, and its fields larger still."""
    with lzma.open(tmp_path / "d.csv.xz", "wt") as stream:
        stream.write("1,0\n" * 100_000)
    case = make.linear([[1, 1], [2, 1]], [1, 1])
    case.certificate["data"] |= {"format": "csv", "files": ["d.csv.xz"]}
    for name in ("label", "arrays"):
        case.certificate["data"].pop(name, None)
    (tmp_path / "c.json").write_text(json.dumps(case.certificate))
    with pytest.raises(checker.TooCostly, match="to parse"):
        checker.check(str(tmp_path / "c.json"), str(tmp_path / "d.csv.xz"), limit=1)


@pytest.mark.parametrize("free", [False, True])
def test_the_lower_bound_of_an_enclosure_is_that_of_its_point(free: bool, tmp_path: Path) -> None:
    """γ_lo up to the margin of the primal point is accepted, and nothing larger."""
    X, y = np.array([[3, 0], [4, 5], [-2, 0], [-5, 1]]), np.array([1, 1, -1, -1])
    truth = gb.solve(X, y, intercept=free)
    gamma = math.isqrt(truth.gamma_squared.numerator * 10**40 // truth.gamma_squared.denominator)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    body = dict(truth.certificate, kind="enclosure")
    weights = dict(zip(body["support"], body["weights"], strict=True))
    body["primal"] = {"support": list(weights), "coefficients": list(weights.values())}
    for name in ("gamma_squared", "radius_squared"):
        del body[name]
    for lower, accepted in ((gamma - 1, True), (gamma + 1, False), (2 * gamma, False)):
        body["gamma_lo"] = rational(Fraction(lower, 10**20))
        body["gamma_hi"] = rational(Fraction(max(lower, gamma + 1), 10**20))
        (tmp_path / "c.json").write_text(json.dumps(body))
        try:
            found = checker.check(str(tmp_path / "c.json"), str(tmp_path / "data.npz"))
        except checker.Rejected as error:
            assert not accepted, error
            assert "gamma_lo" in str(error)
        else:
            assert accepted, found


@given(st.fractions(min_value=0, max_value=400), st.sampled_from([64, 128, 300]))
def test_bounds_of_the_exponential(x: Fraction, bits: int) -> None:
    low, high = (Fraction(v, 2**bits) for v in kernels.exp_minus(*x.as_integer_ratio(), bits))
    context = Context(prec=200)
    value = context.exp(context.divide(Decimal(-x.numerator), Decimal(x.denominator)))
    nearly = Fraction(1, 10**150)
    assert low - nearly <= Fraction(value) <= high + nearly
    assert high - low <= Fraction(4, 2**bits)


# --- what it accepts -------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_certificates_made_by_brute_force_are_accepted(name: str, tmp_path: Path) -> None:
    said = run(CASES[name], tmp_path)
    assert said.startswith("the data (")
    assert "by hand" not in said, "a name is no claim"
    assert ("not separable" in said) == (CASES[name].certificate["kind"] == "inseparable")


small = st.integers(-3, 3)


@given(
    st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(small, min_size=d, max_size=d), min_size=2, max_size=5)
    ),
    st.data(),
)
def test_any_small_data_set(points: list[list[int]], data: st.DataObject) -> None:
    n = len(points)
    y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    case = make.linear(points, y)
    with tempfile.TemporaryDirectory() as folder:
        said = run(case, Path(folder))
    assert ("not separable" in said) == (case.certificate["kind"] == "inseparable")


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=2, max_size=2), min_size=2, max_size=5),
    st.data(),
)
def test_no_wrong_support_is_accepted(points: list[list[int]], data: st.DataObject) -> None:
    """The best weights of any subset, at any precision: accepted for the true support alone."""
    n = len(points)
    y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    some = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True).map(sorted))
    gram = make.linear_gram(points, y)
    best, _ = make.shortest([[gram[i][j] for j in some] for i in some])
    bits = data.draw(st.sampled_from([8, 40, 200]))
    q = {some[k]: int(v * 2**bits) + 1 for k, v in best.items()}
    case = make.linear(points, y)
    for name in ("gamma_squared", "radius_squared"):
        case.certificate.pop(name, None)
    eigenvalue = data.draw(st.sampled_from(["0x1/0x40", "0x1/0x2", "0x2/0x1"]))
    case.certificate |= {"kind": "support", "version": 3, "eigenvalue": eigenvalue}
    case.certificate |= {"support": list(q), "weights": [hex(v) for v in q.values()]}
    case.certificate["total"] = hex(sum(q.values()))
    truth, square = make.shortest(gram)
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(case, Path(folder))
        except checker.Rejected:
            return
    assert square > 0
    assert list(q) == sorted(truth)


@pytest.mark.parametrize("intercept", ["none", "free", "augmented"])
def test_light_certificates_of_the_oracle_are_short_and_accepted(
    intercept: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 30)), np.where(np.arange(40) % 2, 1, -1)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    truth = gb.solve(gb.load(tmp_path / "data.npz", intercept=intercept))
    paths = {light: tmp_path / f"{light}.json" for light in (False, True)}
    for light, path in paths.items():
        truth.save(path, light=light)
        assert "separable; the" in checker.check(str(path), str(tmp_path / "data.npz"))
    assert json.loads(paths[True].read_text())["kind"] == "support"
    assert 8 * paths[True].stat().st_size < paths[False].stat().st_size


def test_the_margin_is_told_in_units_of_the_radius(tmp_path: Path) -> None:
    said = run(make.linear([[2, 0], [0, 1], [-1, -1]], [1, 1, -1]), tmp_path)
    assert f"{math.sqrt(0.2):.15g} times the largest row norm" in said
    assert "the square root of 4/5, which is 0.894427190999916 to 15 digits" in said
    assert "3 x 2, every point of 'data.csv' (label in column 0, counted from 0)" in said
    assert (
        "with label '-1' (class -1) or '1' (class 1); linear; without intercept: through the origin"
        in said
    )
    assert "2 support rows" in said


def test_a_selection_of_rows_is_told(tmp_path: Path) -> None:
    rows = [4, 0, 0, 1, 2]  # in an order of its own, one of them twice
    case = make.linear([make.POINTS[i] for i in rows], [make.SIGNS[i] for i in rows], rows=rows)
    case.files = make.linear(make.POINTS, make.SIGNS).files
    assert "ONLY 4 (those listed in the certificate) of the 5 points" in run(case, tmp_path)
    case.certificate["data"]["rows"] = [4, 0, 0, 2, 1]
    with pytest.raises(checker.Rejected, match="SHA-256"):
        run(case, tmp_path)


def test_rows_of_other_classes_are_left_out_and_not_selectable(tmp_path: Path) -> None:
    case = make.linear(make.POINTS, make.SIGNS)
    case.files["data.csv"] = b"7,9,9,9\n" + case.files["data.csv"]
    assert "every point" in run(case, tmp_path)
    case.certificate["data"]["rows"] = [0, 1, 2, 3, 4]
    with pytest.raises(checker.Rejected, match="label is not in"):
        run(case, tmp_path)


def test_a_folder_in_place_of_files(tmp_path: Path) -> None:
    for case in CASES.values():
        certificate, *_ = case.write(tmp_path)
        assert checker.check(certificate, str(tmp_path))


def test_images_and_labels_in_either_order(tmp_path: Path) -> None:
    certificate, images, labels = CASES["idx"].write(tmp_path)
    assert checker.check(certificate, labels, images)


def test_integers_that_are_no_doubles(tmp_path: Path) -> None:
    points = [[2**63 - 1, 1], [-(2**63), 2**53 + 1], [-1, -(2**53) - 1]]
    case = make.linear(points, [1, 1, -1])
    assert run(case, tmp_path)
    case.files["data.csv"] = case.files["data.csv"].replace(
        b"9007199254740993", b"9007199254740992"
    )
    with pytest.raises(checker.Rejected, match="SHA-256"):
        run(case, tmp_path)


def test_twins_of_opposite_label_under_any_kernel(tmp_path: Path) -> None:
    case = make.enclosed([[1, 2], [3, 4], [0, 1]], [1, -1, 1], make.RBF)
    case = make.Case(dict(case.certificate), case.files)
    for field in ("primal", "gamma_lo", "gamma_hi"):
        del case.certificate[field]
    case.certificate |= {
        "kind": "inseparable",
        **make.weights({0: Fraction(1, 2), 1: Fraction(1, 2)}),
    }
    with pytest.raises(checker.Rejected, match="not zero"):
        run(case, tmp_path)
    points = [[1, 2], [1, 2], [0, 1]]
    case.certificate["data"] = make.section(points, [1, -1, 1])
    case.files = {"data.csv": make.csv_text(points, [1, -1, 1]).encode()}
    assert "not separable" in run(case, tmp_path)


def test_a_kernel_given_as_a_matrix(tmp_path: Path) -> None:
    points, y = [[2, 0], [0, 1], [-1, -1]], [1, 1, -1]
    table = [[int(make.dot(p, r)) for r in points] for p in points]
    geometry = {"type": "kernel", "kernel": {"name": "precomputed"}, "normalised": False}
    case = make.linear(points, y)
    case.certificate |= {"geometry": geometry, "data": make.section(table, y)}
    case.files = {"data.csv": make.csv_text(table, y).encode()}
    assert "provided that this matrix is positive semidefinite" in run(case, tmp_path)
    table[0][1] += 1
    case.certificate["data"] = make.section(table, y)
    case.files = {"data.csv": make.csv_text(table, y).encode()}
    with pytest.raises(checker.Rejected, match="not symmetric"):
        run(case, tmp_path)


@given(st.data())
def test_no_choice_of_rows_of_a_matrix_proves_anything_false(data: st.DataObject) -> None:
    """Columns of a precomputed kernel are points, too: rows that are moved or left out are not."""
    n = data.draw(st.integers(1, 4), label="n")
    points = data.draw(st.lists(st.tuples(small, small), min_size=n, max_size=n), label="points")
    y = data.draw(st.lists(st.sampled_from([1, -1]), min_size=n, max_size=n), label="y")
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n), label="rows")
    sparse = data.draw(st.booleans(), label="sparse")
    table = [[int(make.dot(p, r)) for r in points] for p in points]
    # The claim of somebody who takes the chosen rows, as they stand, for a matrix of their own.
    taken = [table[i][: len(rows)] for i in rows]
    signs = [y[i] for i in rows]
    gram = [
        [Fraction(a * b * v) for b, v in zip(signs, row, strict=True)]
        for a, row in zip(signs, taken, strict=True)
    ]
    try:
        q, square = make.shortest(gram)
    except AssertionError:
        return  # no matrix of inner products at all
    case = make.linear(points, y)
    section = make.section(taken, signs) | {"rows": rows}
    claims = {"kind": "inseparable"} if square == 0 else {"kind": "margin"}
    if square > 0:
        largest = max(gram[i][i] for i in range(len(rows)))
        claims |= {"gamma_squared": make.rat(square), "radius_squared": make.rat(largest)}
    names = ("format", "version")
    case.certificate = {name: case.certificate[name] for name in names} | {
        "geometry": {"type": "kernel", "kernel": {"name": "precomputed"}, "normalised": False},
        "data": section,
        **make.weights(q),
        **claims,
    }
    case.files = {"data.csv": make.csv_text(table, y).encode()}
    if sparse:
        case.certificate["data"] |= {"format": "svmlight", "files": ["a.svm"], "label": None}
        case.files = {"a.svm": make.svmlight_text(table, y).encode()}
    with tempfile.TemporaryDirectory() as folder:
        if rows == list(range(n)):
            assert "provided that this matrix" in run(case, Path(folder))
            return
        with pytest.raises(checker.Rejected):
            run(case, Path(folder))


@given(st.integers(1, 10**16), st.integers(0, 300), st.integers(-2, 2), st.booleans())
def test_bounds_are_told_outwards(top: int, zeros: int, more: int, over: bool) -> None:
    """However long a number is, and however little it differs from one of few digits."""
    value = Fraction(max(1, top * 10**zeros + more))
    value = 1 / value if over else value
    low, high = (
        Fraction(readers.about(value, rounding))
        for rounding in (readers.ROUND_FLOOR, readers.ROUND_CEILING)
    )
    assert low <= value <= high
    assert high - low <= value / 10**13


def test_classes_are_named_as_labels_are_read(tmp_path: Path) -> None:
    for text in ("1.0", "+1", " 1", "01", "nan", ""):
        case = make.linear([[1, 0], [2, 1]], [1, 1])
        case.certificate["data"]["classes"] = [text, "1"]
        with pytest.raises(checker.Rejected, match="label"):
            run(case, tmp_path)


def test_an_enclosure_that_proves_only_an_upper_bound(tmp_path: Path) -> None:
    case = make.all_cases()["rbf"]
    case.certificate |= {"gamma_lo": "0x0/0x1", "primal": {"support": [], "coefficients": []}}
    assert "undecided" in run(case, tmp_path)


def test_a_column_that_a_sparse_file_never_mentions_counts(tmp_path: Path) -> None:
    """The rows are (-1, 0, -1) and (-2, 0, -1): over the simplex, the empty column is the best."""
    case = make.l1([[1, 0, 1], [2, 0, 1]], [-1, -1], signed=False)
    assert case.certificate["primal"]["columns"] == [1]
    assert case.certificate["value_hi"] == "0x0/0x1"
    case.certificate["data"] |= {"format": "svmlight", "files": ["a.svm"]}
    case.files = {"a.svm": b"-1 1:1 3:1\n-1 1:2 3:1\n"}
    assert "any w in the simplex is exactly 0, in the units" in run(case, tmp_path)


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_text(suffix: str, pack: Any, tmp_path: Path) -> None:
    name = f"data.csv{suffix}"
    case = make.linear(make.POINTS, make.SIGNS, files=[name])
    plain = case.files["data.csv"]
    case.files = {name: pack(plain)}
    assert run(case, tmp_path)
    case.files = {name: pack(plain)[:-9]}
    with pytest.raises(checker.Rejected, match="malformed"):
        run(case, tmp_path)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", "bhiqefdBHIQ")
@pytest.mark.parametrize("fortran", [False, True])
def test_types_of_arrays(order: str, code: str, fortran: bool, tmp_path: Path) -> None:
    kind = {"e": "f2", "f": "f4", "d": "f8"}.get(code)
    kind = kind or f"{'i' if code.islower() else 'u'}{struct.calcsize(code)}"
    points, y = [[2, 0, 1, 0], [0, 1, 0, 5], [3, 1, 7, 2]], [1, 1, -1]
    cells = [(i, a, b) for i in range(3) for a in range(2) for b in range(2)]
    cells = sorted(cells, key=lambda cell: cell[::-1]) if fortran else cells
    values = struct.pack(f"{order}12{code}", *(points[i][2 * a + b] for i, a, b in cells))
    X = make.npy_bytes(f"{order}{kind}", (3, 2, 2), values, fortran)
    names = "".join(text.ljust(4, "\0") for text in ("up", "up", "down"))
    text = make.npy_bytes("<U4", (3,), names.encode("utf-32-le"))
    case = make.linear(
        points,
        y,
        format="npz",
        files=["d.npz"],
        arrays=["points", "names"],
        classes=["down", "up"],
        contents={"d.npz": make.npz_bytes(points=X, names=text)},
    )
    assert run(case, tmp_path)


def test_arrays_of_objects_are_refused_unread(tmp_path: Path) -> None:
    bomb = b"cos\nsystem\n(S'exit 1'\ntR."
    case = make.npz_case()
    y = make.npy_bytes("|i1", (5,), struct.pack("5b", *make.SIGNS))
    case.files["data.npz"] = make.npz_bytes(X=make.npy_bytes("|O", (5, 3), bomb), y=y)
    with pytest.raises(checker.Rejected, match="another type"):
        run(case, tmp_path)


# --- the command -----------------------------------------------------------------------------


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(CHECKER), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_exit_codes(tmp_path: Path) -> None:
    certificate, data = CASES["linear"].write(tmp_path)
    accepted = command(certificate, data)
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert accepted.stdout.startswith("accepted: the data (5 x 3")

    Path(data).write_text("1,1,1,1\n-1,2,2,2\n")
    rejected = command(certificate, data)
    assert (rejected.returncode, rejected.stderr) == (1, "")
    assert rejected.stdout.startswith("rejected: ")

    for arguments in [
        (),
        (certificate,),
        (certificate, tmp_path / "none"),
        ("none", data),
        (certificate, data, data),
        (tmp_path, data),
    ]:
        missing = command(*arguments)
        assert (missing.returncode, missing.stdout) == (2, "")
        assert len(missing.stderr.splitlines()) == 1
        assert "Traceback" not in missing.stderr


LIE = "\x1b[2J'): separable; the maximum margin is 7\naccepted: \u202e"


def test_names_cannot_speak_to_the_terminal_nor_pass_for_a_sentence(tmp_path: Path) -> None:
    """The name is not repeated at all; labels, columns and files are, escaped and in quotes."""
    case = make.linear(make.POINTS, make.SIGNS, name=LIE)
    said = command(*case.write(tmp_path)).stdout
    assert said == command(*make.linear(make.POINTS, make.SIGNS).write(tmp_path)).stdout
    names = [LIE[4:30], "\u202e'); separable"]
    case = make.linear([[2, 0], [0, 1], [-1, -1]], [1, 1, -1], classes=names, label="a'b")
    rows = "\n".join(f'"{names[k]}",{x}' for k, x in ((1, "2,0"), (1, "0,1"), (0, "-1,-1")))
    case.files["data.csv"] = f'"a\'b",u,v\n{rows}\n'.encode()
    arguments = case.write(tmp_path)
    path = tmp_path / "it's \x1b[2J accepted: 'data.csv"
    path.write_bytes(case.files["data.csv"])
    found = command(arguments[0], path)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.isascii()
    assert len(found.stdout.splitlines()) == 1
    for name in (*names, "a'b", path.name):
        assert ascii(name) in found.stdout


def test_a_certificate_reaches_no_file_outside_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("../data.csv", str(tmp_path / "data.csv"), "..", "", "a\\b", "a\0b", 7, None):
        case = make.linear(make.POINTS, make.SIGNS)
        case.write(tmp_path)
        case.certificate["data"]["files"] = [name]
        path = inner / "certificate.json"
        path.write_text(json.dumps(case.certificate))
        with pytest.raises(checker.Rejected, match=r"data\.files"):
            checker.check(str(path), str(inner))
