"""Every corruption of a certificate or of its data is rejected with a reason, without a crash."""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import certificates_for_tests as make
import pytest
from hypothesis import given, settings, strategies as st

CHECKER = Path(__file__).resolve().parents[2] / "oracle" / "check.py"
spec = importlib.util.spec_from_file_location("fuzzed_checker", CHECKER)
assert spec is not None
assert spec.loader is not None
checker: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)
READERS = "checker.check_readers"

CASES = make.all_cases()
Change = Callable[[dict[str, Any]], None]


def reason(case: make.Case, folder: Path) -> str | None:
    """Why the checker rejects, or None if it accepts. A missing file counts as neither."""
    try:
        checker.check(*case.write(folder))
    except checker.Rejected as rejected:
        text = str(rejected)
        assert text.strip()
        assert "\n" not in text
        return text
    return None


def put(value: Any, *path: Any) -> Change:
    def change(certificate: dict[str, Any]) -> None:
        place: Any = certificate
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def add(text: str, amount: int) -> str:
    return hex(int(text, 16) + amount)


def shifted(rational: str, amount: Fraction) -> str:
    top, bottom = (int(part, 16) for part in rational.split("/"))
    return make.rat(Fraction(top, bottom) + amount)


# --- systematic corruptions ------------------------------------------------------------------


def weight_changes(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    old = certificate["weights"]
    exact = certificate["kind"] not in ("enclosure", "support")
    for k, text in enumerate(old):
        for amount in (1, -1):
            yield f"weight {k} {amount:+d}", put(add(text, amount), "weights", k)

            def both(c: dict[str, Any], k: int = k, amount: int = amount) -> None:
                c["weights"][k] = add(c["weights"][k], amount)
                c["total"] = add(c["total"], amount)

            # These have room for a dual point that differs in the last place.
            if exact and len(old) > 1:
                yield f"weight {k} {amount:+d} and total", both
        for bad in (
            f"-{text}",
            "0x0",
            text[2:],
            text.upper(),
            f"{text} ",
            "0x",
            int(text, 16),
            None,
            True,
            [text],
            "0x0" + text[2:],
            "-0x0",
            f"+{text}",
            "0x" + "f" * 2**20 + "f",
        ):
            if bad != text:
                yield f"weight {k} is {bad!r:.30}", put(bad, "weights", k)
    yield "a weight too many", put([*old, "0x1"], "weights")
    if old:
        yield "a weight too few", put(old[1:], "weights")
        yield "no weights at all", lambda c: c.update(support=[], weights=[], total="0x0")
    yield "weights are no list", put({"0": "0x1"}, "weights")
    for amount in (1, -1):
        yield "total", put(add(certificate["total"], amount), "total")
    yield "negative total", put(f"-{certificate['total']}", "total")


def index_changes(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    old = certificate["support"]
    n = certificate["data"]["n"] * (certificate["geometry"].get("classes", 2) - 1)
    for k, index in enumerate(old):
        bad: list[Any] = [-1, -n, n, n + 7, 2**80, str(index), float(index), None, [index]]
        bad += [bool(index)] if index in (0, 1) else []
        bad += [other for other in range(n) if other not in old]
        for value in bad:
            if not (certificate["kind"] == "enclosure" and value in range(n)):
                yield f"index {index} becomes {value!r}", put(value, "support", k)
    if len(old) > 1:
        yield "indices swapped", put([old[1], old[0], *old[2:]], "support")
        yield "index twice", put([old[0], old[0], *old[2:]], "support")
        q = certificate["weights"]
        if len(set(q)) > 1:
            yield "weights swapped", put(q[1:] + q[:1], "weights")


def claim_changes(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    for field in ("gamma_squared", "radius_squared", "value_lo", "value_hi", "radius"):
        if field in certificate:
            text = certificate[field]
            top, bottom = text.split("/")
            for amount in (Fraction(1), Fraction(-1), Fraction(1, 10**30)):
                yield f"{field} {amount}", put(shifted(text, amount), field)
            yield (
                "not in lowest terms",
                put(f"{add(top, int(top, 16))}/{add(bottom, int(bottom, 16))}", field),
            )
            for bad in (
                top,
                f"{top}/-{bottom}",
                f"-{top}/-{bottom}",
                f"{top}/0x0",
                text + "/0x1",
                "1.5",
                1.5,
                None,
                "",
                "/",
            ):
                yield f"{field} is {bad!r}", put(bad, field)
    if certificate["kind"] == "enclosure":
        lo, hi = certificate["gamma_lo"], certificate["gamma_hi"]
        room = Fraction(3, 10**9)
        yield "gamma_lo too large", put(shifted(lo, room), "gamma_lo")
        yield "gamma_hi too small", put(shifted(hi, -room), "gamma_hi")
        yield (
            "bounds raised",
            lambda c: c.update(gamma_lo=shifted(lo, room), gamma_hi=shifted(hi, room)),
        )
        yield (
            "bounds lowered",
            lambda c: c.update(gamma_lo=shifted(lo, -room), gamma_hi=shifted(hi, -room)),
        )
        yield "bounds swapped", lambda c: c.update(gamma_lo=hi, gamma_hi=lo)
        yield "negative gamma_lo", put("-0x1/0x2", "gamma_lo")
        yield "gamma_lo a little below zero", put("-0x1/0xffffffffffff", "gamma_lo")
        yield "empty primal", put({"support": [], "coefficients": []}, "primal")
    if certificate["kind"] == "support":
        for value in (
            "0x0/0x1",
            "-0x1/0x20",
            "0xffff/0x1",
            "0x1/0x0",
            "0x2/0x40",
            "0.5",
            0.5,
            None,
        ):
            yield f"eigenvalue {value!r}", put(value, "eigenvalue")
        short = [hex((int(v, 16) >> 96) or 1) for v in certificate["weights"]]
        total = hex(sum(int(v, 16) for v in short))
        if len(set(short)) > 1:  # equal weights are exact
            yield "weights of a few bits", lambda c: c.update(weights=short, total=total)
    if certificate["kind"] == "separation":
        for value in ("complete", "quasi-complete", "overlap", "", None, 1, ["complete"]):
            if value != certificate["separation"]:
                yield f"separation {value!r}", put(value, "separation")
    if "primal" in certificate:
        for k, text in enumerate(certificate["primal"]["coefficients"]):
            flipped = text[1:] if text[0] == "-" else f"-{text}"
            yield "primal sign", put(flipped, "primal", "coefficients", k)
            yield "primal zero", put("0x0", "primal", "coefficients", k)
        indices = "columns" if "columns" in certificate["primal"] else "support"
        where = certificate["primal"][indices]
        if free := set(range(certificate["data"]["d" if indices == "columns" else "n"])) - {*where}:
            more = sorted([*where, min(free)])
            numbers = dict(zip(where, certificate["primal"]["coefficients"], strict=True))
            values = [numbers.get(index, "0x0") for index in more]
            yield "a zero in primal", put({indices: more, "coefficients": values}, "primal")
        yield "primal without indices", put({"coefficients": ["0x1"]}, "primal")
        yield "primal of a wrong type", put([], "primal")
    if "signed" in certificate:
        for value in (None, 0, 1, "true"):
            yield "signed", put(value, "signed")


def head_changes(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    for kind in (
        "margin",
        "inseparable",
        "enclosure",
        "l1-margin",
        "separation",
        "support",
        "",
        "Margin",
        None,
        1,
        ["margin"],
    ):
        if kind != certificate["kind"]:
            yield f"kind {kind!r}", put(kind, "kind")
    for version in (0, 1, 2, 3, -1, 1.0, "1", True, None, [1]):
        if version is not certificate["version"]:
            yield f"version {version!r}", put(version, "version")
    # Weights that prove data inseparable may prove it with another intercept too, and a point in
    # the l1 ball may be the best with a constant feature: what is said then is true.
    kinds = ("margin", "enclosure", "support")
    known = ["free", "augmented"] if certificate["kind"] in kinds else []
    for intercept in (*known, "none", "", None, True, ["free"], {"free": 1}):
        if intercept != certificate["geometry"].get("intercept"):
            yield f"intercept {intercept!r}", put(intercept, "geometry", "intercept")
            yield f"intercept {intercept!r}, version 2", bias(intercept)
    for value in ("gammabar", None, 1, ["gammabar-certificate"]):
        yield "format", put(value, "format")
    for field in certificate:
        yield f"without {field}", lambda c, field=field: c.pop(field)  # type: ignore[misc]
    yield "with a field more", put("proved", "remark")
    geometries = [
        {},
        None,
        "linear",
        [],
        {"type": "euclidean"},
        {"type": ["linear"]},
        {"type": "linear", "classes": 2},
        {"type": "multiclass"},
        *({"type": "multiclass", "classes": k} for k in (0, 1, 2, 4, True, -3, "3", 10**30)),
        {"type": "kernel"},
        {"type": "kernel", "kernel": {"name": "linear"}},
        {"type": "kernel", "kernel": {"name": "sigmoid"}, "normalised": False},
        {"type": "kernel", "kernel": "rbf", "normalised": False},
        {"type": "kernel", "kernel": {"name": ["rbf"]}, "normalised": False},
        {"type": "kernel", "kernel": {"name": "linear"}, "normalised": 0},
        {"type": "kernel", "kernel": {"name": "linear", "degree": 1}, "normalised": False},
    ]
    for value in geometries:
        yield f"geometry {value!r}", put(value, "geometry")
    if certificate["geometry"]["type"] == "kernel":
        kernel = ("geometry", "kernel")
        for gamma in (
            "0x0/0x1",
            "-0x1/0x4",
            "0.25",
            0.25,
            None,
            "0x2/0x8",
            "0x1/0x5",
            "nan",
            "0x1/0x0",
        ):
            yield f"gamma {gamma!r}", put(gamma, *kernel, "gamma")
        if certificate["geometry"]["kernel"]["name"] == "poly":
            for degree in (0, -2, 1, 3, 10**9, 2.0, True, "2", None):
                yield f"degree {degree!r}", put(degree, *kernel, "degree")
            for coef0 in ("-0x1/0x1", "0x0/0x1", 1, None):
                yield f"coef0 {coef0!r}", put(coef0, *kernel, "coef0")
        else:
            yield "degree for rbf", put(2, *kernel, "degree")


def bias(intercept: Any) -> Change:
    """A certificate turned into one about another intercept, in the version that has them."""

    def change(certificate: dict[str, Any]) -> None:
        certificate["geometry"]["intercept"] = intercept
        certificate["version"] = 2

    return change


def data_changes(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    data = certificate["data"]
    old = data["sha256"]
    for value in (
        old[:-1] + ("0" if old[-1] != "0" else "1"),
        old.upper() + "F",
        old[:-1],
        "",
        None,
        7,
        [old],
    ):
        yield f"sha256 {value!r:.20}", put(value, "data", "sha256")
    for field in ("n", "d"):
        for value in (
            data[field] + 1,
            data[field] - 1,
            0,
            -data[field],
            2**70,
            float(data[field]),
            str(data[field]),
            True,
            None,
        ):
            yield f"{field} {value!r}", put(value, "data", field)
    for value in (
        data["classes"][::-1],
        data["classes"][:1],
        [*data["classes"], "9"],
        [data["classes"][0]] * 2,
        [0, 1],
        ["no", "yes"],
        None,
        "01",
        [["0"], ["1"]],
        ["\x1b", "1"],
    ):
        yield f"classes {value!r}", put(value, "data", "classes")
    n = data["n"]
    for value in (
        [*range(n)][::-1],
        [*range(n - 1)],
        [*range(1, n)],
        [*range(n), 0],
        [0] * n,
        [-1, *range(1, n)],
        [*range(n - 1), n + 100],
        [*map(str, range(n))],
        [*map(float, range(n))],
        {},
        "",
        "01",
        0,
        1,
        True,
        [],
        [None],
    ):
        yield f"rows {value!r}", put(value, "data", "rows")
    for value in ("tsv", None, ["csv"], *({"csv", "svmlight", "npz", "idx"} - {data["format"]})):
        yield f"format {value!r}", put(value, "data", "format")
    for field in ("name", "sha256", "n", "d", "format", "files", "classes"):
        yield f"without data.{field}", lambda c, field=field: c["data"].pop(field)  # type: ignore[misc]
    yield "a field more", put("x", "data", "source")
    for value in (None, [], "data", 3):
        yield f"data {value!r}", put(value, "data")
    for value in (5, None, ["x"]):
        yield f"name {value!r}", put(value, "data", "name")
    if data["format"] == "csv":
        for value in (1, -1, 99, -99, "nothing", 0.0, [0], {"a": 1}):
            yield f"label {value!r}", put(value, "data", "label")
    if data["format"] == "npz":
        for value in (
            ["y", "X"],
            ["X", "X"],
            ["X"],
            ["X", "y", "y"],
            ["a", "b"],
            "X",
            5,
            [["X"], ["y"]],
            {"X": 1},
        ):
            yield f"arrays {value!r}", put(value, "data", "arrays")


FAMILIES = [weight_changes, index_changes, claim_changes, head_changes, data_changes]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_systematic_corruptions(name: str, family: Any, tmp_path: Path) -> None:
    path, *data = CASES[name].write(tmp_path)
    assert checker.check(path, *data)
    survivors = []
    for what, change in family(CASES[name].certificate):
        certificate = copy.deepcopy(CASES[name].certificate)
        change(certificate)
        Path(path).write_text(json.dumps(certificate))
        try:
            checker.check(path, *data)
        except checker.Rejected as rejected:
            if not str(rejected).strip():
                survivors.append(f"{what}: without a reason")
        except FileNotFoundError:  # another format has another number of files
            if not what.startswith("format"):
                survivors.append(f"{what}: a missing file")
        else:
            survivors.append(what)
    assert not survivors


def test_hundreds_of_corruptions_are_tried() -> None:
    assert sum(1 for case in CASES.values() for f in FAMILIES for _ in f(case.certificate)) > 1500


def corrupted_text(text: str) -> Iterator[str]:
    yield ""
    yield "null"
    yield "[]"
    yield text + text
    yield text + "]"
    yield "\ufeff{"
    yield "[" * 100_000
    yield '{"a":' * 50_000
    version = re.search('"version": [123]', text)
    assert version
    yield text.replace(version[0], f"{version[0]}, {version[0]}")
    yield text.replace(version[0], f"{version[0]}e0")
    yield text.replace(version[0], f'"version": {"9" * 5000}')
    yield text.replace(version[0], '"version": NaN')
    yield text.replace('"n": ', '"n": -Infinity, "m": ')
    yield text.replace('"n": ', '"n": 5, "n": ')
    yield text.replace('"total"', '"totаl"')  # with a Cyrillic letter
    yield from (text[:cut] for cut in range(1, len(text), max(1, len(text) // 60)))
    yield text[:-1]


@pytest.mark.parametrize("name", CASES)
def test_corrupted_json(name: str, tmp_path: Path) -> None:
    path, *data = CASES[name].write(tmp_path)
    for text in corrupted_text(json.dumps(CASES[name].certificate)):
        Path(path).write_bytes(text.encode())
        with pytest.raises(checker.Rejected):
            checker.check(path, *data)


@pytest.mark.parametrize("raw", [b"\x80", b"\xff\xfe\x00", bytes(range(256)), b"\x1f\x8b\x08\x00"])
def test_a_certificate_of_bytes_that_are_no_text(raw: bytes, tmp_path: Path) -> None:
    path, *data = CASES["linear"].write(tmp_path)
    Path(path).write_bytes(raw)
    with pytest.raises(checker.Rejected):
        checker.check(path, *data)


# --- corruptions of the data -----------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_truncated_data(name: str, tmp_path: Path) -> None:
    for file, content in CASES[name].files.items():
        case = copy.deepcopy(CASES[name])
        for cut in range(0, len(content) - 1, max(1, len(content) // 40)):
            case.files[file] = content[:cut]
            assert reason(case, tmp_path), f"{file} cut to {cut} bytes"


def test_every_byte_of_idx_files_matters(tmp_path: Path) -> None:
    case = make.idx_case()
    images = make.gzip.decompress(case.files.pop("images.gz"))
    case.certificate["data"]["files"] = ["images", "labels"]
    plain = {"images": images, "labels": case.files["labels"]}
    case.files = dict(plain)
    assert reason(case, tmp_path) is None
    other = range(16 + 4, 16 + 8)  # the pixels of the point of another class
    for file, content in plain.items():
        for place in range(len(content)):
            if file == "images" and place in other:
                continue
            for flip in (1, 2, 0x80):
                changed = bytearray(content)
                changed[place] ^= flip
                case.files = {**plain, file: bytes(changed)}
                if file == "labels" and place == 9 and changed[place] not in (2, 7):
                    assert reason(case, tmp_path) is None  # still neither of the two classes
                else:
                    assert reason(case, tmp_path), f"{file}, byte {place} changed by {flip}"


@pytest.mark.parametrize("name", ["linear", "inseparable", "multiclass", "poly", "rbf", "l1"])
def test_every_value_and_every_label_matters(name: str, tmp_path: Path) -> None:
    lines = CASES[name].files["data.csv"].decode().splitlines()
    case = copy.deepcopy(CASES[name])
    for i, line in enumerate(lines):
        fields = line.split(",")
        for j, field in enumerate(fields):
            for value in (str(int(field) + 1), str(-int(field) - 1), field + ".5", "x"):
                changed = [*fields[:j], value, *fields[j + 1 :]]
                text = "\n".join([*lines[:i], ",".join(changed), *lines[i + 1 :]])
                case.files["data.csv"] = text.encode()
                assert reason(case, tmp_path), f"line {i}, field {j}: {value}"
    for text in (lines[::-1], lines[1:], lines + lines[:1]):
        case.files["data.csv"] = "\n".join(text).encode()
        assert reason(case, tmp_path)


def test_the_data_of_another_certificate(tmp_path: Path) -> None:
    in_csv = {k: case for k, case in CASES.items() if case.certificate["data"]["format"] == "csv"}
    for mine in in_csv.values():
        for other in in_csv.values():
            if other.files != mine.files:
                assert reason(make.Case(mine.certificate, other.files), tmp_path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_miss_by_one_unit_in_the_last_place(
    seed: int, classes: int, tmp_path: Path
) -> None:
    """Weights of many bits, and a row below the margin by less than rough products tell."""
    rng = random.Random(seed)
    points = [[rng.randrange(2**61, 2**62) >> 2 * (j != i % 3) for j in range(3)] for i in range(5)]
    labels = [1] * 5 if classes == 2 else [0, 1, 2, 0, 1]
    case = make.linear(points, labels) if classes == 2 else make.multiclass(points, labels, 3)
    assert case.certificate["kind"] == "margin"
    assert len(case.certificate["total"]) > 20
    assert reason(case, tmp_path) is None
    touching = case.certificate["support"][0] // (classes - 1)
    below = list(points[touching])
    place = 0 if classes == 2 else labels[touching]  # where w has a positive entry for its class
    below[place] -= 1
    points, labels = [*points, below], [*labels, labels[touching]]
    case.certificate["data"] |= {"n": 6, "sha256": make.digest(points, labels)}
    case.files["data.csv"] = make.csv_text(points, labels).encode()
    found = reason(case, tmp_path)
    assert found is not None
    assert "not the shortest" in found
    points[-1][place] += 2  # above the margin by as little
    case.certificate["data"]["sha256"] = make.digest(points, labels)
    case.files["data.csv"] = make.csv_text(points, labels).encode()
    found = reason(case, tmp_path)
    assert found is None or "radius_squared" in found


# --- random corruptions ----------------------------------------------------------------------


def meaning(certificate: Any) -> Any:
    """A certificate without the name of the data, which is a name and no claim."""
    certificate = copy.deepcopy(certificate)
    if isinstance(certificate, dict) and isinstance(certificate.get("data"), dict):
        certificate["data"].pop("name", None)
    return certificate


@settings(max_examples=300)
@given(
    st.sampled_from(["linear", "inseparable", "multiclass", "poly"]),
    st.randoms(use_true_random=False),
)
def test_random_bytes_of_the_certificate(name: str, rng: random.Random) -> None:
    """What is accepted after random edits of the text says the same as before."""
    case = CASES[name]
    text = bytearray(json.dumps(case.certificate).encode())
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place = rng.randrange(len(text))
        action = rng.randrange(3)
        if action == 0:
            text[place] = rng.choice(b'0123456789abcdefx-/,:[]{}" \\')
        elif action == 1:
            del text[place]
        else:
            text.insert(place, rng.choice(b'0123456789abcdefx-/,:[]{}" \\'))
    with tempfile.TemporaryDirectory() as folder:
        path, *data = case.write(Path(folder))
        Path(path).write_bytes(bytes(text))
        try:
            checker.check(path, *data)
        except checker.Rejected:
            return
        now = meaning(json.loads(bytes(text)))
        now["data"]["files"] = case.certificate["data"]["files"]  # the files given are what counts
        assert now == meaning(case.certificate)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(st.sampled_from(sorted(CASES)), junk, st.data())
def test_junk_in_any_field(name: str, value: Any, data: st.DataObject) -> None:
    certificate = copy.deepcopy(CASES[name].certificate)
    place: Any = certificate
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    before, place[key] = place[key], value
    with tempfile.TemporaryDirectory() as folder:
        path, *files = CASES[name].write(Path(folder))
        Path(path).write_text(json.dumps(certificate))
        try:
            checker.check(path, *files)
        except checker.Rejected:
            return
    # This optimum over the l1 ball lies in the simplex, and rbf is normalised as it is.
    still_true = {("l1", "signed"), ("rbf", "normalised")}
    harmless = key in ("name", "files") or (name, key) in still_true
    assert harmless or (place[key] == before and type(value) is type(before))


@settings(max_examples=150)
@given(st.sampled_from(sorted(CASES)), st.binary(max_size=200))
def test_any_bytes_as_data(name: str, raw: bytes) -> None:
    for file in CASES[name].files:
        case = make.Case(CASES[name].certificate, {**CASES[name].files, file: raw})
        with tempfile.TemporaryDirectory() as folder:
            assert reason(case, Path(folder))


# --- the tests can fail ----------------------------------------------------------------------


def test_a_checker_that_skips_rows_is_noticed(monkeypatch: Any, tmp_path: Path) -> None:
    """Weights that are optimal for some rows only: nothing but the look at every row stops them."""
    case = make.linear([[2, 0], [0, 1], [-1, -1]], [1, 1, -1])
    case.certificate |= {"support": [2], "weights": ["0x1"], "total": "0x1"}
    case.certificate["gamma_squared"] = "0x2/0x1"
    found = reason(case, tmp_path)
    assert found is not None
    assert "not the shortest" in found
    monkeypatch.setattr(checker.Linear, "least", lambda self, q: [10**9])
    assert reason(case, tmp_path) is None


def test_negative_weights_prove_nothing(tmp_path: Path) -> None:
    """The line through (1, 1) and (2, 1) comes closer to zero than the segment does."""
    case = make.linear([[1, 1], [2, 1]], [1, 1])
    assert case.certificate["gamma_squared"] == "0x2/0x1"
    case.certificate |= {"support": [0, 1], "weights": ["0x2", "-0x1"], "total": "0x1"}
    case.certificate["gamma_squared"] = "0x1/0x1"
    assert reason(case, tmp_path) == "the weights are not positive"


@pytest.mark.parametrize("name", ["rbf", "normalised"])
def test_every_doubt_about_the_kernel_counts_against_the_claim(
    name: str, monkeypatch: Any, tmp_path: Path
) -> None:
    case, doubt = CASES[name], Fraction(1, 1024)
    _, *data = case.write(tmp_path)
    budget = checker.Budget(60)
    space = checker.geometry(case.certificate, case.certificate["data"], data, budget)
    doubt = int(doubt * 2**space.precision)
    alpha = {0: 3, 1: -2, 3: 5}
    before = [space.scores(alpha, [0, 1, 2, 3], side) for side in (0, 1)]
    norm, entry = space.norm(alpha), type(space).entry

    def vague(self: Any, i: int, j: int, product: int) -> tuple[int, int]:
        low, high = entry(self, i, j, product)
        return low - doubt, high + doubt

    monkeypatch.setattr(type(space), "entry", vague)
    for side, sign in ((0, -1), (1, 1)):
        after = space.scores(alpha, [0, 1, 2, 3], side)
        assert all(after[i] == before[side][i] + sign * 10 * doubt for i in after)
    assert space.norm(alpha) == norm + 100 * doubt
    assert reason(case, tmp_path) is not None


def test_a_margin_of_zero_is_none(tmp_path: Path) -> None:
    case = copy.deepcopy(CASES["inseparable"])
    case.certificate |= {"kind": "margin", "gamma_squared": "0x0/0x1", "radius_squared": "0xa/0x1"}
    assert reason(case, tmp_path) == "the weighted sum w of the rows is zero"


def test_kinds_that_do_not_fit_the_geometry(tmp_path: Path) -> None:
    case = copy.deepcopy(CASES["rbf"])
    for field in ("primal", "gamma_lo", "gamma_hi"):
        del case.certificate[field]
    case.certificate |= {"kind": "margin", "gamma_squared": "0x1/0x1", "radius_squared": "0x1/0x1"}
    assert "needs an enclosure" in (reason(case, tmp_path) or "")

    case = copy.deepcopy(CASES["l1"])
    case.certificate["geometry"] = {"type": "multiclass", "classes": 2}
    sha256 = make.digest(make.POINTS, [(label + 1) // 2 for label in make.SIGNS])
    case.certificate["data"]["sha256"] = sha256
    assert reason(case, tmp_path) == "l1 margins, separation and support are linear"


def test_bounds_of_normalised_products(tmp_path: Path) -> None:
    points, labels = [[2, 1], [-1, 3], [1, -3], [0, -5]], [1, 1, -1, -1]
    case = make.linear(points, labels)
    kernel = {"type": "kernel", "kernel": {"name": "linear"}, "normalised": True}
    case.certificate["geometry"] = kernel
    _, *data = case.write(tmp_path)
    budget = checker.Budget(60)
    space = checker.geometry(case.certificate, case.certificate["data"], data, budget)
    for i, x in enumerate(points):
        for j, z in enumerate(points):
            product = make.dot(x, z)
            square = product * abs(product) / (make.dot(x, x) * make.dot(z, z))
            low, high = (v * space.unit for v in space.entry(i, j, int(product)))
            assert low * abs(low) <= square <= high * abs(high)
            assert high - low == space.unit == Fraction(1, 2**space.precision)

    case = make.linear([[0, 0], [1, 2]], labels[:2])
    case.certificate["geometry"] = kernel
    assert "not normalised" in (reason(case, tmp_path) or "")


def left_out(certificate: dict[str, Any]) -> None:
    """Without a row of the support, and the best weights of the others."""
    gone = certificate["support"][0]
    rest = [i for i in range(len(make.POINTS)) if i != gone]
    alone = make.support([make.POINTS[i] for i in rest], [make.SIGNS[i] for i in rest])
    found = alone.certificate
    certificate["support"] = [rest[i] for i in found["support"]]
    certificate |= {name: found[name] for name in ("weights", "total")}


GUARDS: dict[str, tuple[str, Change]] = {
    "do not sum to total": ("linear", put("0xfff", "total")),
    "not of version": ("linear", put(4, "version")),
    "a version is for": ("linear", put(2, "version")),
    "not in the support may belong": ("support", lambda c: left_out(c)),
    "closer to dependent": ("support", put("0xffff/0x1", "eigenvalue")),
    "a weight may be zero": ("support", put(f"0x1/{1 << 300:#x}", "eigenvalue")),
    "equal weights of the two classes": ("linear", bias("free")),
    "has no bias": ("normalised", bias("free")),
    "SHA-256": ("linear", put("0" * 64, "data", "sha256")),
    "not that of the data": ("linear", put("0x63/0x1", "radius_squared")),
    "do not prove gamma_hi": ("rbf", lambda c: c.update(gamma_hi=c["gamma_lo"])),
    "does not prove gamma_lo": ("rbf", lambda c: c.update(gamma_lo=c["gamma_hi"])),
    "has a field besides": ("linear", put(1, "remark")),
    "on the wrong side": ("quasi", put(["0x1", "-0x3"], "primal", "coefficients")),
    "that the direction leaves at zero": ("quasi", put([0, 2], "support")),
    "the separation of these data": ("overlap", put("complete", "separation")),
    "not in the simplex": ("simplex", put(["-0x1"], "primal", "coefficients")),
}


@pytest.mark.parametrize("words", GUARDS)
def test_each_guard_is_what_stops_the_corruption(
    words: str, monkeypatch: Any, tmp_path: Path
) -> None:
    name, change = GUARDS[words]
    case = copy.deepcopy(CASES[name])
    change(case.certificate)
    found = reason(case, tmp_path)
    assert found is not None
    assert words in found
    honest = checker.demand

    def lax(condition: object, text: str) -> None:
        honest(condition or words in text, text)

    for module in (checker, sys.modules["checker.check_kernels"], sys.modules[READERS]):
        monkeypatch.setattr(module, "demand", lax)
    after = reason(case, tmp_path)
    assert after is None or words not in after
