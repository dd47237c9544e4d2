"""Forged and damaged certificates are rejected with a reason, and so are damaged data."""

from __future__ import annotations

import copy
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
from loaded_checker import checker

CASES = make.all_cases()
Change = Callable[[dict[str, Any]], None]


def reason(case: make.Case, folder: Path) -> str | None:
    """Why the checker rejects, or None if it accepts."""
    try:
        checker.check(*case.write(folder))
    except checker.Rejected as rejected:
        text = str(rejected)
        assert text.strip()
        assert "\n" not in text
        return text
    return None


def place(certificate: Any, path: str) -> tuple[Any, Any]:
    """The container and the key of a path such as "data.n" or "weights.0"."""
    *above, last = path.split(".")
    for key in above:
        certificate = certificate[int(key) if isinstance(certificate, list) else key]
    return certificate, int(last) if isinstance(certificate, list) else last


def put(path: str, value: Any) -> Change:
    def change(certificate: dict[str, Any]) -> None:
        container, key = place(certificate, path)
        container[key] = value

    return change


def drop(path: str) -> Change:
    def change(certificate: dict[str, Any]) -> None:
        container, key = place(certificate, path)
        del container[key]

    return change


def bias(intercept: Any) -> Change:
    """A certificate turned into one about another intercept, in the version that has them."""

    def change(certificate: dict[str, Any]) -> None:
        certificate["geometry"]["intercept"] = intercept
        certificate["version"] = 2

    return change


def add(text: str, amount: int) -> str:
    return hex(int(text, 16) + amount)


def shifted(rational: str, amount: Fraction) -> str:
    top, bottom = (int(part, 16) for part in rational.split("/"))
    return make.rat(Fraction(top, bottom) + amount)


# --- the table of forgeries ----------------------------------------------------------------------

KINDS = '["margin", "inseparable", "enclosure", "l1-margin", "separation", "support", "", null, 1]'
#: Path → values that are wrong there, as JSON; those equal to the right one are left out.
ANYWHERE = {
    "kind": KINDS,
    "version": '[0, 1, 2, 3, -1, 1.0, "1", true, null, [1]]',
    "format": '["gammabar", null, 1, ["gammabar-certificate"]]',
    "remark": '["proved"]',
    "weights": '[{"0": "0x1"}]',
    "data": '[null, [], "data", 3]',
    "data.sha256": '["", null, 7, ["0"]]',
    "data.n": "[0, -5, 1180591620717411303424, 5.0, true, null]",
    "data.d": "[0, -5, 1180591620717411303424, 5.0, true, null]",
    "data.classes": '[[0, 1], ["no", "yes"], null, "01", [["0"], ["1"]], ["\\u001b", "1"]]',
    "data.rows": '[{}, "", "01", 0, 1, true, [], [null]]',
    "data.format": '["tsv", null, ["csv"], "csv", "svmlight", "npz", "idx"]',
    "data.files": '[{"data.csv": 1}, "data.csv", [], [["data.csv"]], null]',
    "data.source": '["x"]',
    "data.name": '[5, null, ["x"]]',
    "geometry": '[{}, null, "linear", [], {"type": "euclidean"}, {"type": ["linear"]},'
    ' {"type": "linear", "classes": 2}, {"type": "multiclass"}, {"type": "kernel"},'
    ' {"type": "kernel", "kernel": {"name": "linear"}},'
    ' {"type": "kernel", "kernel": {"name": "sigmoid"}, "normalised": false},'
    ' {"type": "kernel", "kernel": "rbf", "normalised": false},'
    ' {"type": "kernel", "kernel": {"name": ["rbf"]}, "normalised": false},'
    ' {"type": "kernel", "kernel": {"name": "linear"}, "normalised": 0},'
    ' {"type": "kernel", "kernel": {"name": "linear", "degree": 1}, "normalised": false}]',
}
#: The same where the last part of the path is there already.
PRESENT = {
    "separation": '["complete", "quasi-complete", "overlap", "", null, 1, ["complete"]]',
    "signed": '[null, 0, 1, "true"]',
    "eigenvalue": '["0x0/0x1", "-0x1/0x20", "0xffff/0x1", "0x1/0x0", "0x2/0x40", "0.5", 0.5, null]',
    "primal": '[[], {"coefficients": ["0x1"]}]',
    "data.label": '[1, -1, 99, -99, "nothing", 0.0, [0], {"a": 1}]',
    "data.arrays": '[["y", "X"], ["X", "X"], ["X"], ["X", "y", "y"], ["a", "b"], "X", 5, {"X": 1}]',
    "geometry.kernel.gamma": '["0x0/0x1", "-0x1/0x4", "0.25", 0.25, null, "0x2/0x8", "0x1/0x5",'
    ' "nan", "0x1/0x0"]',
    "geometry.kernel.degree": '[0, -2, 1, 3, 1000000000, 2.0, true, "2", null]',
    "geometry.kernel.coef0": '["-0x1/0x1", "0x0/0x1", 1, null]',
}
EUCLIDEAN = ("margin", "enclosure", "support")
RATIONALS = ("gamma_squared", "radius_squared", "value_lo", "value_hi", "radius")


def tabled(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    optional = {"csv": "data.label", "npz": "data.arrays"}.get(certificate["data"]["format"])
    for path, values in (ANYWHERE | PRESENT).items():
        container, key = None, None
        try:
            container, key = place(certificate, path)
        except (KeyError, TypeError):
            continue
        if path in PRESENT and key not in container and path != optional:
            continue
        before = container.get(key, ...)
        for value in json.loads(values):
            if value != before or type(value) is not type(before):
                yield f"{path} {value!r:.40}", put(path, value)
    for field in certificate:
        yield f"without {field}", drop(field)
    for field in set(certificate["data"]) & {
        *["name", "sha256", "n", "d", "format", "files", "classes"]
    }:
        yield f"without data.{field}", drop(f"data.{field}")


def of_weights(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    old, support = certificate["weights"], certificate["support"]
    exact = certificate["kind"] not in ("enclosure", "support")
    for k, text in enumerate(old):
        for amount in (1, -1):
            yield f"weight {k} {amount:+d}", put(f"weights.{k}", add(text, amount))

            def both(c: dict[str, Any], k: int = k, amount: int = amount) -> None:
                c["weights"][k] = add(c["weights"][k], amount)
                c["total"] = add(c["total"], amount)

            # These have room for a dual point that differs in the last place.
            if exact and len(old) > 1:
                yield f"weight {k} {amount:+d} and total", both
        bad: list[Any] = [f"-{text}", "0x0", text[2:], text.upper(), f"{text} ", "0x", "-0x0"]
        bad += [int(text, 16), None, True, [text], "0x0" + text[2:], f"+{text}", "0x" + "f" * 2**21]
        for value in bad:
            if value != text:
                yield f"weight {k} is {value!r:.30}", put(f"weights.{k}", value)
    yield "a weight too many", put("weights", [*old, "0x1"])
    if old:
        yield "a weight too few", put("weights", old[1:])
        yield "no weights at all", lambda c: c.update(support=[], weights=[], total="0x0")
    if len(set(old)) > 1:
        yield "weights swapped", put("weights", old[1:] + old[:1])
    for total in (*(add(certificate["total"], a) for a in (1, -1)), f"-{certificate['total']}"):
        yield f"total {total}", put("total", total)
    n = certificate["data"]["n"] * (certificate["geometry"].get("classes", 2) - 1)
    for k, index in enumerate(support):
        wrong: list[Any] = [-1, -n, n, n + 7, 2**80, str(index), float(index), None, [index]]
        wrong += [bool(index)] if index in (0, 1) else []
        if certificate["kind"] != "enclosure":
            wrong += [other for other in range(n) if other not in support]
        for value in wrong:
            yield f"index {index} becomes {value!r}", put(f"support.{k}", value)
    if len(support) > 1:
        yield "indices swapped", put("support", [support[1], support[0], *support[2:]])
        yield "index twice", put("support", [support[0], support[0], *support[2:]])


def of_claims(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    for field in set(RATIONALS) & set(certificate):
        text = certificate[field]
        top, bottom = text.split("/")
        bad: list[Any] = [shifted(text, Fraction(a)) for a in ("1", "-1", f"1/{10**30}")]
        bad += [f"{add(top, int(top, 16))}/{add(bottom, int(bottom, 16))}"]  # not in lowest terms
        bad += [top, f"{top}/-{bottom}", f"-{top}/-{bottom}", f"{top}/0x0", text + "/0x1"]
        for value in (*bad, "1.5", 1.5, None, "", "/"):
            yield f"{field} is {value!r}", put(field, value)
    if certificate["kind"] == "enclosure":
        lo, hi, room = certificate["gamma_lo"], certificate["gamma_hi"], Fraction(3, 10**9)
        for low, high in (
            (shifted(lo, room), hi),
            (lo, shifted(hi, -room)),
            (shifted(lo, room), shifted(hi, room)),
            (shifted(lo, -room), shifted(hi, -room)),
            (hi, lo),
            ("-0x1/0x2", hi),
            ("-0x1/0xffffffffffff", hi),
        ):
            change = lambda c, low=low, high=high: c.update(gamma_lo=low, gamma_hi=high)  # noqa: E731
            yield f"bounds {low}, {high}", change
        yield "empty primal", put("primal", {"support": [], "coefficients": []})
    if certificate["kind"] == "support":
        short = [hex((int(v, 16) >> 96) or 1) for v in certificate["weights"]]
        total = hex(sum(int(v, 16) for v in short))
        if len(set(short)) > 1:  # equal weights are exact
            yield "weights of a few bits", lambda c: c.update(weights=short, total=total)
    if "primal" in certificate:
        primal = certificate["primal"]
        for k, text in enumerate(primal["coefficients"]):
            flipped = text[1:] if text[0] == "-" else f"-{text}"
            for value in (flipped, "0x0"):
                yield f"primal {k} {value}", put(f"primal.coefficients.{k}", value)
        indices = "columns" if "columns" in primal else "support"
        where = primal[indices]
        if free := set(range(certificate["data"]["d" if indices == "columns" else "n"])) - {*where}:
            more = sorted([*where, min(free)])
            numbers = dict(zip(where, primal["coefficients"], strict=True))
            values = [numbers.get(index, "0x0") for index in more]
            yield "a zero in primal", put("primal", {indices: more, "coefficients": values})


def of_data(certificate: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    data = certificate["data"]
    sha, n, classes = data["sha256"], data["n"], data["classes"]
    for value in (sha[:-1] + ("0" if sha[-1] != "0" else "1"), sha.upper() + "F", sha[:-1]):
        yield f"sha256 {value:.9}", put("data.sha256", value)
    for field in ("n", "d"):
        for value in (data[field] + 1, data[field] - 1, str(data[field])):
            yield f"{field} {value}", put(f"data.{field}", value)
    for value in (classes[::-1], classes[:1], [*classes, "9"], [classes[0]] * 2):
        yield f"classes {value}", put("data.classes", value)
    rows = [[*range(n)][::-1], [*range(n - 1)], [*range(1, n)], [*range(n), 0], [0] * n]
    rows += [[-1, *range(1, n)], [*range(n - 1), n + 100]]
    for value in (*rows, [*map(str, range(n))], [*map(float, range(n))]):
        yield f"rows {value}", put("data.rows", value)
    for k in (0, 1, 2, 4, True, -3, "3", 10**30):
        yield f"{k!r} classes", put("geometry", {"type": "multiclass", "classes": k})
    # Weights that prove data inseparable may prove it with another intercept too, and a point in
    # the l1 ball may be the best with a constant feature: what is said then is true.
    known = ["free", "augmented"] if certificate["kind"] in EUCLIDEAN else []
    for intercept in (*known, "none", "", None, True, ["free"], {"free": 1}):
        if intercept != certificate["geometry"].get("intercept"):
            yield f"intercept {intercept!r}", put("geometry.intercept", intercept)
            yield f"intercept {intercept!r}, version 2", bias(intercept)


FAMILIES = [tabled, of_weights, of_claims, of_data]


@pytest.mark.parametrize("name", CASES)
def test_forgeries_are_rejected(name: str, tmp_path: Path) -> None:
    path, *data = CASES[name].write(tmp_path)
    assert checker.check(path, *data)
    survivors = []
    for what, change in (pair for family in FAMILIES for pair in family(CASES[name].certificate)):
        certificate = copy.deepcopy(CASES[name].certificate)
        change(certificate)
        Path(path).write_text(json.dumps(certificate))
        try:
            checker.check(path, *data)
        except checker.Rejected as rejected:
            survivors += [] if str(rejected).strip() else [f"{what}: without a reason"]
        except FileNotFoundError:  # another format has another number of files
            survivors += [] if what.startswith("data.format") else [f"{what}: a missing file"]
        else:
            survivors.append(what)
    assert not survivors


def corrupted_text(text: str) -> Iterator[str]:
    yield from ("", "null", "[]", text + text, text + "]", "\ufeff{", "[" * 10**5, '{"a":' * 50_000)
    version = re.search('"version": [123]', text)
    assert version
    for value in (f"{version[0]}, {version[0]}", f"{version[0]}e0", f'"version": {"9" * 5000}'):
        yield text.replace(version[0], value)
    yield text.replace(version[0], '"version": NaN')
    yield text.replace('"n": ', '"n": -Infinity, "m": ')
    yield text.replace('"n": ', '"n": 5, "n": ')
    yield text.replace('"total"', '"totаl"')  # with a Cyrillic letter
    yield from (text[:cut] for cut in range(1, len(text), max(1, len(text) // 60)))
    yield text[:-1]


@pytest.mark.parametrize("name", CASES)
def test_corrupted_json(name: str, tmp_path: Path) -> None:
    path, *data = CASES[name].write(tmp_path)
    texts = [text.encode() for text in corrupted_text(json.dumps(CASES[name].certificate))]
    for raw in (*texts, b"\x80", b"\xff\xfe\x00", bytes(range(256)), b"\x1f\x8b\x08\x00"):
        Path(path).write_bytes(raw)
        with pytest.raises(checker.Rejected):
            checker.check(path, *data)


# --- damaged data --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_truncated_data(name: str, tmp_path: Path) -> None:
    for file, content in CASES[name].files.items():
        case = copy.deepcopy(CASES[name])
        for cut in range(0, len(content) - 1, max(1, len(content) // 40)):
            case.files[file] = content[:cut]
            assert reason(case, tmp_path), f"{file} cut to {cut} bytes"


@pytest.mark.parametrize("name", ["linear", "inseparable", "multiclass", "poly", "rbf", "l1"])
def test_every_value_and_every_label_matters(name: str, tmp_path: Path) -> None:
    lines = CASES[name].files["data.csv"].decode().splitlines()
    texts = [lines[::-1], lines[1:], lines + lines[:1]]
    for i, line in enumerate(lines):
        fields = line.split(",")
        for j, field in enumerate(fields):
            for value in (str(int(field) + 1), str(-int(field) - 1), field + ".5", "x"):
                changed = ",".join([*fields[:j], value, *fields[j + 1 :]])
                texts.append([*lines[:i], changed, *lines[i + 1 :]])
    case = copy.deepcopy(CASES[name])
    for text in texts:
        case.files["data.csv"] = "\n".join(text).encode()
        assert reason(case, tmp_path), text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_miss_by_one_unit_in_the_last_place(seed, classes, tmp_path: Path) -> None:
    """Weights of many bits, and a row below the margin by less than rough products tell."""
    rng = random.Random(seed)
    points = [[rng.randrange(2**61, 2**62) >> 2 * (j != i % 3) for j in range(3)] for i in range(5)]
    labels = [1] * 5 if classes == 2 else [0, 1, 2, 0, 1]
    case = make.linear(points, labels) if classes == 2 else make.multiclass(points, labels, 3)
    assert case.certificate["kind"] == "margin"
    assert len(case.certificate["total"]) > 20
    assert reason(case, tmp_path) is None
    touching = case.certificate["support"][0] // (classes - 1)
    at = 0 if classes == 2 else labels[touching]  # where w has a positive entry for its class
    labels = [*labels, labels[touching]]
    for less in (1, -1):  # below the margin, and above it by as little
        moved = [v - less * (j == at) for j, v in enumerate(points[touching])]
        rows = [*points, moved]
        case.certificate["data"] |= {"n": 6, "sha256": make.digest(rows, labels)}
        case.files["data.csv"] = make.csv_text(rows, labels).encode()
        found = reason(case, tmp_path)
        if less == 1:
            assert "not the shortest" in (found or "")
        else:
            assert found is None or "radius_squared" in found


# --- random changes ------------------------------------------------------------------------------


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
    at: Any = certificate
    while True:
        key = data.draw(st.sampled_from([*at] if isinstance(at, dict) else [*range(len(at))]))
        if not isinstance(at[key], (dict, list)) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    before, at[key] = at[key], value
    with tempfile.TemporaryDirectory() as folder:
        path, *files = CASES[name].write(Path(folder))
        Path(path).write_text(json.dumps(certificate))
        try:
            checker.check(path, *files)
        except checker.Rejected:
            return
    # This optimum over the l1 ball lies in the simplex, and rbf is normalised as it is.
    harmless = key in ("name", "files") or (name, key) in {("l1", "signed"), ("rbf", "normalised")}
    assert harmless or (at[key] == before and type(value) is type(before))


@settings(max_examples=150)
@given(st.sampled_from(sorted(CASES)), st.binary(max_size=200))
def test_any_bytes_as_data(name: str, raw: bytes) -> None:
    for file in CASES[name].files:
        case = make.Case(CASES[name].certificate, {**CASES[name].files, file: raw})
        with tempfile.TemporaryDirectory() as folder:
            assert reason(case, Path(folder))


# --- the tests can fail --------------------------------------------------------------------------


def test_a_checker_that_skips_rows_is_noticed(monkeypatch: Any, tmp_path: Path) -> None:
    """Weights that are optimal for some rows only: nothing but the look at every row stops them."""
    case = make.linear([[2, 0], [0, 1], [-1, -1]], [1, 1, -1])
    case.certificate |= {"support": [2], "weights": ["0x1"], "total": "0x1"}
    case.certificate["gamma_squared"] = "0x2/0x1"
    assert "not the shortest" in (reason(case, tmp_path) or "")
    monkeypatch.setattr(checker.Linear, "least", lambda self, q: [10**9])
    assert reason(case, tmp_path) is None


def test_kinds_that_prove_nothing(tmp_path: Path) -> None:
    # The line through (1, 1) and (2, 1) comes closer to zero than the segment does.
    case = make.linear([[1, 1], [2, 1]], [1, 1])
    assert case.certificate["gamma_squared"] == "0x2/0x1"
    case.certificate |= {"support": [0, 1], "weights": ["0x2", "-0x1"], "total": "0x1"}
    case.certificate["gamma_squared"] = "0x1/0x1"
    assert reason(case, tmp_path) == "the weights are not positive"
    case = copy.deepcopy(CASES["inseparable"])
    case.certificate |= {"kind": "margin", "gamma_squared": "0x0/0x1", "radius_squared": "0xa/0x1"}
    assert reason(case, tmp_path) == "the weighted sum w of the rows is zero"
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


def space_of(case: make.Case, folder: Path) -> Any:
    _, *data = case.write(folder)
    return checker.geometry(case.certificate, case.certificate["data"], data, checker.Budget(60))


@pytest.mark.parametrize("name", ["rbf", "normalised"])
def test_every_doubt_about_the_kernel_counts_against_the_claim(
    name: str, monkeypatch: Any, tmp_path: Path
) -> None:
    space = space_of(CASES[name], tmp_path)
    doubt, alpha = 2 ** (space.precision - 10), {0: 3, 1: -2, 3: 5}
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
    assert reason(CASES[name], tmp_path) is not None


def test_bounds_of_normalised_products(tmp_path: Path) -> None:
    points, labels = [[2, 1], [-1, 3], [1, -3], [0, -5]], [1, 1, -1, -1]
    case = make.linear(points, labels)
    kernel = {"type": "kernel", "kernel": {"name": "linear"}, "normalised": True}
    case.certificate["geometry"] = kernel
    space = space_of(case, tmp_path)
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
    "do not sum to total": ("linear", put("total", "0xfff")),
    "not of version": ("linear", put("version", 4)),
    "a version is for": ("linear", put("version", 2)),
    "not in the support may belong": ("support", lambda c: left_out(c)),
    "closer to dependent": ("support", put("eigenvalue", "0xffff/0x1")),
    "a weight may be zero": ("support", put("eigenvalue", f"0x1/{1 << 300:#x}")),
    "equal weights of the two classes": ("linear", bias("free")),
    "has no bias": ("normalised", bias("free")),
    "SHA-256": ("linear", put("data.sha256", "0" * 64)),
    "not that of the data": ("linear", put("radius_squared", "0x63/0x1")),
    "do not prove gamma_hi": ("rbf", lambda c: c.update(gamma_hi=c["gamma_lo"])),
    "does not prove gamma_lo": ("rbf", lambda c: c.update(gamma_lo=c["gamma_hi"])),
    "has a field besides": ("linear", put("remark", 1)),
    "on the wrong side": ("quasi", put("primal.coefficients", ["0x1", "-0x3"])),
    "that the direction leaves at zero": ("quasi", put("support", [0, 2])),
    "the separation of these data": ("overlap", put("separation", "complete")),
    "not in the simplex": ("simplex", put("primal.coefficients", ["-0x1"])),
}


@pytest.mark.parametrize("words", GUARDS)
def test_each_guard_is_what_stops_the_forgery(words: str, monkeypatch: Any, tmp_path: Path) -> None:
    name, change = GUARDS[words]
    case = copy.deepcopy(CASES[name])
    change(case.certificate)
    assert words in (reason(case, tmp_path) or "")
    honest = checker.demand

    def lax(condition: object, text: str) -> None:
        honest(condition or words in text, text)

    names = ("check_kernels", "check_readers")
    for module in (checker, *(sys.modules[f"checker.{name}"] for name in names)):
        monkeypatch.setattr(module, "demand", lax)
    after = reason(case, tmp_path)
    assert after is None or words not in after
