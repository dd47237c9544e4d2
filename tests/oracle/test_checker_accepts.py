"""The independent checker: what it reads, what it accepts, and how it speaks."""

from __future__ import annotations

import ast
import bz2
import gzip
import itertools
import json
import lzma
import math
import re
import shutil
import subprocess
import sys
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

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
small = st.integers(-3, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cases")


def run(case, folder):
    return str(checker.check(*case.write(folder)))


# --- the checker itself ----------------------------------------------------------------------


@pytest.mark.parametrize(("path", "most"), list(zip(TRUSTED, (500, 300, 700), strict=True)))
def test_it_is_short_and_imports_the_standard_library_alone(path, most):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= most
    assert "fmt:" not in source, "formatted for people to read"
    imported, beside = set(), {path.stem for path in TRUSTED}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == (node.module in beside), "it reaches into the project"
            imported |= {str(node.module).split(".")[0]} - beside
        elif isinstance(node, ast.Name):
            assert node.id not in ("__import__", "exec", "eval", "importlib")
    assert imported <= sys.stdlib_module_names
    assert not imported & {"importlib", "runpy", "pickle", "subprocess", "ctypes"}


def test_no_module_beside_it_shadows_the_standard_library():
    """``python oracle/check.py`` puts its own folder first on the path."""
    assert not {path.stem for path in CHECKER.parent.iterdir()} & sys.stdlib_module_names


@pytest.mark.parametrize("flags", [["-S"], ["-I", "-S"]])
def test_it_runs_from_any_folder_and_wherever_the_three_files_are(flags, tmp_path):
    for path in TRUSTED:
        shutil.copy(path, tmp_path / path.name)
    arguments = make.linear([[1, 1], [2, 1]], [1, 1]).write(tmp_path)
    for script in (CHECKER, tmp_path / "check.py"):
        command = [sys.executable, *flags, str(script), *arguments]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True)
        assert (done.returncode, done.stdout[:9]) == (0, "accepted:"), done.stderr


def test_short_memory_is_no_reason_to_reject(tmp_path, monkeypatch, capsys):
    def short(*_):
        raise MemoryError

    monkeypatch.setattr(checker.Linear, "norm", short)
    assert checker.main(make.linear([[1, 1], [2, 1]], [1, 1]).write(tmp_path)) == 2
    assert "memory" in capsys.readouterr().err


def test_memory_for_parsing_is_counted(tmp_path):
    """A small file may be large when it is unpacked, and its fields larger still."""
    case = make.linear([[1, 1], [2, 1]], [1, 1], files=["d.csv.xz"])
    case.files = {"d.csv.xz": lzma.compress(b"1,0\n" * 100_000)}
    with pytest.raises(checker.TooCostly, match="to parse"):
        checker.check(*case.write(tmp_path), limit=1)


@given(st.fractions(min_value=0, max_value=400), st.sampled_from([64, 128, 300]))
def test_bounds_of_the_exponential(x, bits):
    low, high = (Fraction(v, 2**bits) for v in kernels.exp_minus(*x.as_integer_ratio(), bits))
    context = Context(prec=200)
    value = context.exp(context.divide(Decimal(-x.numerator), Decimal(x.denominator)))
    nearly = Fraction(1, 10**150)
    assert low - nearly <= Fraction(value) <= high + nearly
    assert high - low <= Fraction(4, 2**bits)


@given(st.integers(1, 10**16), st.integers(0, 300), st.integers(-2, 2), st.booleans())
def test_bounds_are_told_outwards(top, zeros, more, over):
    """However long a number is, and however little it differs from one of few digits."""
    value = Fraction(max(1, top * 10**zeros + more))
    value = 1 / value if over else value
    roundings = (readers.ROUND_FLOOR, readers.ROUND_CEILING)
    low, high = (Fraction(readers.about(value, rounding)) for rounding in roundings)
    assert low <= value <= high
    assert high - low <= value / 10**13


# --- what it accepts -------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_certificates_made_by_brute_force_are_accepted(name, tmp_path):
    said = run(CASES[name], tmp_path)
    assert said.startswith("the data (")
    assert "by hand" not in said, "a name is no claim"
    assert ("not separable" in said) == (CASES[name].certificate["kind"] == "inseparable")
    assert checker.check(str(tmp_path / "certificate.json"), str(tmp_path)) == said, "a folder"


@pytest.mark.parametrize("free", [False, True])
def test_the_lower_bound_of_an_enclosure_is_that_of_its_point(free, tmp_path):
    """γ_lo up to the margin of the primal point is accepted, and nothing larger."""
    X, y = np.array([[3, 0], [4, 5], [-2, 0], [-5, 1]]), np.array([1, 1, -1, -1])
    truth = gb.solve(X, y, intercept=free)
    gamma = math.isqrt(truth.gamma_squared.numerator * 10**40 // truth.gamma_squared.denominator)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    body = dict(truth.certificate, kind="enclosure")
    body["primal"] = {"support": body["support"], "coefficients": body["weights"]}
    del body["gamma_squared"], body["radius_squared"]
    paths = [str(tmp_path / name) for name in ("c.json", "data.npz")]
    for lower, accepted in ((gamma - 1, True), (gamma + 1, False), (2 * gamma, False)):
        body["gamma_lo"] = rational(Fraction(lower, 10**20))
        body["gamma_hi"] = rational(Fraction(max(lower, gamma + 1), 10**20))
        Path(paths[0]).write_text(json.dumps(body))
        if accepted:
            assert checker.check(*paths)
        else:
            with pytest.raises(checker.Rejected, match="gamma_lo"):
                checker.check(*paths)


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=2, max_size=2), min_size=2, max_size=5),
    st.data(),
)
def test_no_wrong_support_is_accepted(folder, points, data):
    """The best weights of any subset, at any precision: accepted for the true support alone."""
    n = len(points)
    y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    some = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True).map(sorted))
    gram = make.linear_gram(points, y)
    best, _ = make.shortest([[gram[i][j] for j in some] for i in some])
    bits = data.draw(st.sampled_from([8, 40, 200]))
    q = {some[k]: int(v * 2**bits) + 1 for k, v in best.items()}
    eigenvalue = data.draw(st.sampled_from(["0x1/0x40", "0x1/0x2", "0x2/0x1"]))
    case = make.light(make.linear(points, y), q, eigenvalue)
    truth, square = make.shortest(gram)
    try:
        run(case, folder)
    except checker.Rejected:
        return
    assert square > 0
    assert list(q) == sorted(truth)


@pytest.mark.parametrize(("third", "accepted"), [("0.9995", False), ("1.5", True)])
def test_a_row_within_the_error_of_w_is_not_left_out(tmp_path, third, accepted):
    """Rows (1, 1), (1, −1) and (third, 0), with weights 0.501 and 0.499 on the first two."""
    points = [[1, 1], [1, -1], [float(third), 0], [-1.5, 0]]
    case = make.light(make.linear(points, [1, 1, 1, -1]), {0: 501, 1: 499}, "0x1/0x1")
    if accepted:
        assert "the support is exactly these 2 rows" in run(case, tmp_path)
    else:
        with pytest.raises(checker.Rejected, match="may belong to it"):
            run(case, tmp_path)


def definite(matrix):
    """Whether a symmetric matrix has no negative eigenvalue, by elimination in fractions."""
    rows = [[Fraction(v) for v in row] for row in matrix]
    for k, pivot in enumerate(rows):
        if pivot[k] < 0 or (pivot[k] == 0 and any(pivot[k:])):
            return False
        for row in rows[k + 1 :] if pivot[k] else ():
            factor = row[k] / pivot[k]
            row[k:] = [a - factor * b for a, b in zip(row[k:], pivot[k:], strict=True)]
    return True


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_eigenvalue_bound_is_below_every_eigenvalue_however_near_it_is(size):
    rng, near = np.random.default_rng(size), 0
    for _ in range(40):
        A = rng.integers(-9, 10, (size, size + 1))
        M = (A @ A.T).tolist()
        least = float(np.linalg.eigvalsh(np.array(M, dtype=float))[0])
        for off in (sign * Fraction(1, 2**k) for sign in (-1, 1) for k in range(8, 60, 2)):
            about = Fraction(least) * (1 + off)  # a little too much may pass, by its rounding
            lower = [row[: i + 1] for i, row in enumerate(M)]
            try:
                bound, scale = checker.least_eigenvalue(lower, about, checker.Budget(60))
            except checker.Rejected:
                continue
            shifted = [
                [scale * v - bound * (i == j) for j, v in enumerate(row)] for i, row in enumerate(M)
            ]
            assert definite(shifted)
            near += 1
    assert near > 200


def test_bounds_with_many_digits_are_accepted(tmp_path):
    """Kernels are computed with twice the bits of the claim."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([1, -1, 1])
    np.savez(tmp_path / "data.npz", X=X, y=y)
    problem = gb.load(tmp_path / "data.npz", kernel="rbf:gamma=0.5")
    gb.solve(problem, digits=100).save(tmp_path / "certificate.json")
    assert checker.check(str(tmp_path / "certificate.json"), str(tmp_path / "data.npz"))


@pytest.mark.parametrize("intercept", ["none", "free", "augmented"])
def test_light_certificates_of_the_oracle_are_short_and_accepted(intercept, tmp_path):
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


def test_the_margin_is_told_in_units_of_the_radius(tmp_path):
    said = run(make.linear([[2, 0], [0, 1], [-1, -1]], [1, 1, -1]), tmp_path)
    for words in (
        f"{math.sqrt(0.2):.15g} times the largest row norm",
        "the square root of 4/5, which is 0.894427190999916 to 15 digits",
        "3 x 2, every point of 'data.csv' (label in column 0, counted from 0)",
        "with label '-1' (class -1) or '1' (class 1); linear; without intercept: through the orig",
        "2 support rows",
    ):
        assert words in said


KERNELS = [None, "linear", *(f"rbf:gamma={rate}" for rate in ("1", "0.25", "0.250000000001"))]
KERNELS += [f"poly:degree={p},gamma={g},coef0={c}" for p, g, c in ((2, 1, 1), (3, 1, 1), (2, 1, 0))]
KERNELS += ["poly:degree=2,gamma=0.5,coef0=1"]


@pytest.mark.full
@pytest.mark.parametrize("scale", ["", "e-200"])
def test_two_theorems_have_two_sentences(tmp_path, scale):
    """The numbers of enclosures are made to agree; no number of a margin is shown as zero."""
    data, certificate = tmp_path / "data.csv", tmp_path / "certificate.json"
    points = [(2, 3), (3, 1), (-2, 1), (-1, -2)]
    signs = [1, 1, -1, -1]
    lines = [f"{s},{a}{scale},{b}{scale},{s}" for s, (a, b) in zip(signs, points, strict=True)]
    data.write_text("\n".join(lines))
    found = {}
    for kernel, normalised, intercept, label, norm in itertools.product(
        KERNELS, (False, True), ("none", "free"), (0, -1), ("l2", "l1", "l1-simplex")
    ):
        options = {"kernel": kernel, "normalised": normalised} if kernel else {}
        try:
            problem = gb.load(data, label=label, intercept=intercept, **options)
            body = gb.solve(problem, norm=norm).certificate
        except gb.ProblemError:
            continue
        if body["kind"] == "enclosure":
            body |= {"gamma_lo": "0x0/0x1", "gamma_hi": "0x" + "f" * 90 + "/0x1"}
        certificate.write_text(json.dumps(body))
        said = str(checker.check(str(certificate), str(data)))
        about = {k: v for k, v in body["data"].items() if k not in ("name", "sha256")}
        theorem = json.dumps([body["kind"], body["geometry"], about, body.get("signed")])
        sentence = re.sub("[0-9]+ (support|of its) rows", "", said)
        assert found.setdefault(sentence, theorem) == theorem, said
        if body["kind"] == "margin":
            shown = re.findall(
                r"(?<![\w.])[0-9.]+(?:e-?[0-9]+)?(?![\w.])", said.partition("sep")[2]
            )
            assert all(Decimal(number.rstrip(".")) for number in shown), said
    assert len(set(found.values())) == len(found) > 30


def test_a_selection_of_rows_is_told(tmp_path):
    rows = [4, 0, 0, 1, 2]  # in an order of its own, one of them twice
    case = make.linear([make.POINTS[i] for i in rows], [make.SIGNS[i] for i in rows], rows=rows)
    case.files = make.linear(make.POINTS, make.SIGNS).files
    assert "ONLY 4 (those listed in the certificate) of the 5 points" in run(case, tmp_path)
    case.certificate["data"]["rows"] = [4, 0, 0, 2, 1]
    with pytest.raises(checker.Rejected, match="SHA-256"):
        run(case, tmp_path)
    case = make.linear(make.POINTS, make.SIGNS)
    case.files["data.csv"] = b"7,9,9,9\n" + case.files["data.csv"]
    assert "every point" in run(case, tmp_path), "rows of other classes are left out"
    case.certificate["data"]["rows"] = [0, 1, 2, 3, 4]
    with pytest.raises(checker.Rejected, match="label is not in"):
        run(case, tmp_path)


@given(st.data())
def test_no_choice_of_rows_of_a_matrix_proves_anything_false(folder, data):
    """Columns of a precomputed kernel are points, too: rows that are moved or left out are not."""
    n = data.draw(st.integers(1, 4), label="n")
    points = data.draw(st.lists(st.tuples(small, small), min_size=n, max_size=n), label="points")
    y = data.draw(st.lists(st.sampled_from([1, -1]), min_size=n, max_size=n), label="y")
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n), label="rows")
    table = [[int(make.dot(p, r)) for r in points] for p in points]
    # The claim of somebody who takes the chosen rows, as they stand, for a matrix of their own.
    taken, signs = [table[i][: len(rows)] for i in rows], [y[i] for i in rows]
    gram = [
        [Fraction(a * b * v) for b, v in zip(signs, row, strict=True)]
        for a, row in zip(signs, taken, strict=True)
    ]
    contents = {"data.csv": make.csv_text(table, y).encode()}
    geometry = {"type": "kernel", "kernel": {"name": "precomputed"}, "normalised": False}
    section = make.section(taken, signs, rows=rows)
    if data.draw(st.booleans(), label="sparse"):
        section |= {"format": "svmlight", "files": ["a.svm"]}
        contents = {"a.svm": make.svmlight_text(table, y).encode()}
    try:
        case = make.exact_case(gram, geometry, section, contents)
    except AssertionError:
        return  # no matrix of inner products at all
    if rows == list(range(n)):
        assert "provided that this matrix is positive semidefinite" in run(case, folder)
        return
    with pytest.raises(checker.Rejected):
        run(case, folder)


def test_a_matrix_that_is_not_symmetric(tmp_path):
    table, y = [[4, 1], [0, 1]], [1, 1]
    geometry = {"type": "kernel", "kernel": {"name": "precomputed"}, "normalised": False}
    contents = {"data.csv": make.csv_text(table, y).encode()}
    case = make.exact_case(make.linear_gram([[2, 0], [0, 1]], y), geometry, {}, contents)
    case.certificate["data"] = make.section(table, y)
    with pytest.raises(checker.Rejected, match="not symmetric"):
        run(case, tmp_path)


def test_a_column_that_a_sparse_file_never_mentions_counts(tmp_path):
    """The rows are (-1, 0, -1) and (-2, 0, -1): over the simplex, the empty column is the best."""
    case = make.l1([[1, 0, 1], [2, 0, 1]], [-1, -1], signed=False)
    assert case.certificate["primal"]["columns"] == [1]
    case.certificate["data"] |= {"format": "svmlight", "files": ["a.svm"]}
    case.files = {"a.svm": b"-1 1:1 3:1\n-1 1:2 3:1\n"}
    assert "any w in the simplex is exactly 0, in the units" in run(case, tmp_path)


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_text(suffix, pack, tmp_path):
    name = f"data.csv{suffix}"
    case = make.linear(make.POINTS, make.SIGNS, files=[name])
    plain = case.files["data.csv"]
    case.files = {name: pack(plain)}
    assert run(case, tmp_path)
    case.files = {name: pack(plain)[:-9]}
    with pytest.raises(checker.Rejected, match="malformed"):
        run(case, tmp_path)


# --- the command -----------------------------------------------------------------------------


def command(*arguments):
    line = [sys.executable, "-I", str(CHECKER), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_exit_codes(tmp_path):
    certificate, data = CASES["linear"].write(tmp_path)
    accepted = command(certificate, data)
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert accepted.stdout.startswith("accepted: the data (5 x 3")
    Path(data).write_text("1,1,1,1\n-1,2,2,2\n")
    rejected = command(certificate, data)
    assert (rejected.returncode, rejected.stderr) == (1, "")
    assert rejected.stdout.startswith("rejected: ")
    none = tmp_path / "none"
    for arguments in [(), (certificate,), (certificate, none), (none, data), (tmp_path, data)]:
        missing = command(*arguments)
        assert (missing.returncode, missing.stdout) == (2, "")
        assert len(missing.stderr.splitlines()) == 1
        assert "Traceback" not in missing.stderr


LIE = "\x1b[2J'): separable; the maximum margin is 7\naccepted: \u202e"


def test_names_cannot_speak_to_the_terminal_nor_pass_for_a_sentence(tmp_path):
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


def test_a_certificate_reaches_no_file_outside_the_folder(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    case = make.linear(make.POINTS, make.SIGNS)
    case.write(tmp_path)
    for name in ("../data.csv", str(tmp_path / "data.csv"), "..", "", "a\\b", "a\0b", 7, None):
        case.certificate["data"]["files"] = [name]
        path = inner / "certificate.json"
        path.write_text(json.dumps(case.certificate))
        with pytest.raises(checker.Rejected, match=r"data\.files"):
            checker.check(str(path), str(inner))
