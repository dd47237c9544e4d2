"""Certificates and witnesses: spoilt ones, costly ones, and those that gammabar writes itself."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gammabar.oracle import check as checker, solve
from gammabar.oracle.separation import separation
from gammabar.papers import witness as witnesses
from gammabar.problems import ProblemError, load

from .fuzz_files import csv_seeds, npz_seeds, svmlight_seeds
from .mutations import NUMBERS, spoil_json, spoiler, words
from .target import Fault, Target, choice_of, lasting_folder

_KERNELS = ["linear", "rbf:gamma=0.25", "poly:degree=2,coef0=1"]
_REFUSALS = (checker.Rejected, checker.TooCostly, OSError)
_LIMIT = 0.5


@cache
def _folder() -> Path:
    """Data of every format, and of all magnitudes."""
    texts = {
        "tangled.csv": "1,1,0\n1,0,1\n-1,1,1\n1,3,1\n-1,3,1\n",
        "three.csv": "0,3,1\n1,0,2\n2,-2,-2\n0,4,0\n",
    }
    files = {name: text.encode() for name, text in texts.items()}
    files |= {"plain.csv": csv_seeds()[0], "named.csv": csv_seeds()[2]}
    return lasting_folder(files | {"halves.npz": npz_seeds()[2], "sparse.svm": svmlight_seeds()[1]})


@cache
def certificate_seeds() -> tuple[bytes, ...]:
    folder = _folder()
    bodies = []
    for path in sorted(folder.iterdir()):
        if path.name == "three.csv":
            bodies.append(solve(load(path, multiclass=True)).certificate)
            continue
        bodies += [solve(load(path)).certificate]
        bodies += [solve(load(path, kernel=kernel)).certificate for kernel in _KERNELS]
    for name in ("plain.csv", "tangled.csv", "sparse.svm"):
        for intercept in ("free", "augmented"):
            bodies.append(solve(load(folder / name), intercept=intercept).certificate)
        free = load(folder / name, kernel=_KERNELS[2], intercept="free")
        bodies.append(solve(free).certificate)
        bodies += [separation(load(folder / name), intercept=i).certificate for i in (True, False)]
    problem = load(folder / "plain.csv")
    bodies += [solve(problem, norm=norm).certificate for norm in ("l1", "l1-simplex")]
    normalised = load(folder / "named.csv", kernel=_KERNELS[2], normalised=True)
    bodies.append(solve(normalised).certificate)
    return tuple(json.dumps(body).encode() for body in bodies)


def _proof(sentence: str) -> str:
    """What a sentence of acceptance says of the margin, without the number of rows that show it."""
    return _without_counts(sentence.partition("): ")[2])


def _without_counts(said: str) -> str:
    return re.sub("[0-9]+ (support|of its) rows", "", said)


@cache
def _truths() -> dict[str, set[str]]:
    """For each file and geometry, everything that was proved of it."""
    found: dict[str, set[str]] = {}
    path = _folder() / "seed.json"
    for data in certificate_seeds():
        path.write_bytes(data)
        proof = _proof(checker.check(path, _folder()))
        found.setdefault(_subject(json.loads(data)), set()).add(proof)
    path.unlink()
    return found


def _subject(body: Any) -> str:
    sort = body.get("signed") if body["kind"] != "separation" else "separation"
    return json.dumps([body["geometry"], body["data"]["sha256"], sort])


def _fraction(text: str) -> Fraction:
    return Fraction(*(int(part, 16) for part in text.split("/")))


_WORDS: list[Any] = words("""
margin inseparable enclosure l1-margin linear rbf poly precomputed free augmented none separation
complete quasi-complete overlap kernel multiclass csv npz svmlight idx named.csv tangled.csv
""")
# Small to write and costly to compute with.
_WORDS += [100, 10**4, 10**6, "0x1/0x" + "f" * 300, "0x" + "f" * 3001 + "/0x1", [0] * 5000]


def run_certificate(path: Path) -> None:
    """What is accepted after any change was true before."""
    said = checker.check(str(path), str(_folder()), limit=_LIMIT)
    body = json.loads(path.read_bytes())
    if not said.isascii() or not said.isprintable():
        raise Fault(f"a sentence with other characters than ASCII: {said!a}")
    if body["kind"] == "enclosure":
        low, high = (_fraction(body[name]) for name in ("gamma_lo", "gamma_hi"))
        if not 0 <= low <= high:
            raise Fault(f"accepted bounds {low} and {high}")
    elif body["geometry"]["type"] != "kernel" and _proof(said) not in _truths()[_subject(body)]:
        raise Fault(f"accepted, but it is false: {said}")


# --- what is written is accepted -------------------------------------------------------------


def data_seeds() -> list[bytes]:
    return [csv_seeds()[0], b"a,0,0\nb,0,0\n", b"a,1\nb,1\n", b"x,1e30,2\ny,-1e-30,5\n"]


_VALUES = ["0", "1", "-1", "2", "-3", "5", "0.1", "-0.25", "1e-5", "1000", "7.5e3"]


def other_data(data: bytes, rng: Random) -> bytes:
    """A small CSV file, often with equal points, of equal or opposite labels."""
    n, d = rng.randrange(2, 7), rng.randrange(1, 4)
    values = rng.choice([_VALUES[:6], _VALUES, _VALUES[:3]])
    points = [[rng.choice(values) for _ in range(d)] for _ in range(n)]
    points += [rng.choice(points) for _ in range(rng.choice([0, 0, 1, 2]))]
    names = rng.choice(["a|b", "+1|-1", "1.0|2", "ä b|'", "0|00.5", "c|c"]).split("|")
    end = rng.choice(["\n", "\r\n", "\r", " \n", "\n\n"])
    lines = [",".join([names[k] if k < 2 else rng.choice(names), *p]) for k, p in enumerate(points)]
    return end.join(lines).encode()


def other_sparse_data(data: bytes, rng: Random) -> bytes:
    """A small svmlight file, often with zeros that are written out, and with equal points."""
    values = rng.choice([_VALUES[:6], _VALUES, _VALUES[:3]])
    columns = rng.sample(range(1, 9), rng.randrange(1, 4))
    points = [{c: rng.choice(values) for c in columns} for _ in range(rng.randrange(2, 6))]
    points += [rng.choice(points) for _ in range(rng.choice([1, 1, 2]))]
    lines = []
    for k, point in enumerate(points):
        kept = [f"{c}:{v}" for c, v in sorted(point.items()) if v != "0" or rng.random() < 0.5]
        label = ["+1", "-1"][k] if k < 2 else rng.choice(["1", "-1", "1.0"])
        qid = rng.choice([[], [], ["qid:7"]])
        lines.append(" ".join([label, *qid, *kept, *rng.choice([[], ["# a note"]])]))
    return rng.choice(["\n", "\r\n"]).join(lines).encode()


_OPTIONS: list[dict[str, Any]] = [{}, {"multiclass": True}]
_OPTIONS += [{"norm": norm} for norm in ("l1", "l1-simplex", "separation")]
_OPTIONS += [{"kernel": kernel} for kernel in (*_KERNELS, "rbf:gamma=1e-8")]
_OPTIONS += [{"kernel": _KERNELS[2], "normalised": True}, {"kernel": "poly:degree=3,gamma=0.1"}]
_OPTIONS += [{"intercept": "free", **more} for more in ({}, {"norm": "separation"})]
_OPTIONS += [{"intercept": "augmented", **more} for more in ({}, {"norm": "l1"}, _OPTIONS[1])]
_OPTIONS += [{"kernel": kernel, "intercept": "free"} for kernel in _KERNELS]


def run_certify(path: Path) -> None:
    options = choice_of(path.read_bytes(), _OPTIONS)
    norm = options.get("norm", "l2")
    problem = load(path, **{name: v for name, v in options.items() if name != "norm"})
    certificate = path.with_suffix(".json")
    found = separation(problem) if norm == "separation" else solve(problem, norm=norm)
    found.save(certificate)
    try:
        checker.check(str(certificate), str(path))
    except _REFUSALS as reason:
        raise Fault(f"our own certificate is rejected: {reason}") from None


# --- short to write and long to compute with --------------------------------------------------
#
# Numbers of a certificate or witness, in any combination, are made as large as the reader takes
# them, beside data of all magnitudes, with hash, sizes and sums as they must be so that nothing is
# refused before it is computed with. The checkers answer within their limit all the same.

_COSTLY = {
    "plain.csv": "\n".join(f"{(-1) ** k},{k % 7},{k % 5 - 2},{k % 3}" for k in range(60)),
    "range.csv": "1,5e-324,1\n-1,1.7e308,-1\n1,3e-200,2\n-1,-1e150,1e-5\n1,1,1\n" * 5,
    "few.csv": "a,1,0.5\nb,-0.1,-2\n",
    "wide.svm": "\n".join(f"{(-1) ** k} {k + 1}:{k + 1} {10**6 + k}:1" for k in range(20)),
}


@cache
def _costly_folder() -> Path:
    return lasting_folder({name: f"{text}\n".encode() for name, text in _COSTLY.items()})


@cache
def costly_certificates() -> tuple[bytes, ...]:
    """Certificates of the small file, and what they would be of the others: they prove nothing."""
    bodies, few = [], _costly_folder() / "few.csv"
    for name in _COSTLY:
        problem = load(_costly_folder() / name)
        about = {"sha256": problem.digest(), "n": problem.n, "d": problem.dimension}
        about |= {"files": [name], "format": "svmlight" if name.endswith("svm") else "csv"}
        about["classes"] = ["a", "b"] if name == "few.csv" else ["-1", "1"]
        for kernel in (None, *_KERNELS, "poly:degree=3,gamma=0.5"):
            for normalised in (False, True) if kernel else (False,):
                body = dict(solve(load(few, kernel=kernel)).certificate or {})
                body["data"] = {**body["data"], **about}
                if kernel:
                    body["geometry"] = {**body["geometry"], "normalised": normalised}
                bodies.append(json.dumps(body).encode())
    return tuple(bodies)


def true_certificate() -> list[bytes]:
    return [json.dumps(solve(load(_costly_folder() / "few.csv")).certificate).encode()]


def _natural(rng: Random) -> str:
    return "0x1" + "f" * rng.choice([0, 3, 60, 300, 1000, 4000, 20000])


def heavier(data: bytes, rng: Random) -> bytes:
    """Some numbers of a certificate, larger; what follows from them follows."""
    body = json.loads(rng.choice(costly_certificates()) if rng.random() < 0.3 else data)
    kernel = body["geometry"].get("kernel", {})
    places = [(kernel, name) for name in ("gamma", "coef0")]
    places += [(body, f) for f in ("gamma_lo", "gamma_hi", "gamma_squared", "radius_squared")]
    for place, name in places:
        if name in place and rng.random() < 0.4:
            place[name] = "/".join(rng.choice([(_natural(rng), "0x1"), ("0x1", _natural(rng))]))
    if "degree" in kernel and rng.random() < 0.6:
        kernel["degree"] = rng.choice([1, 7, 50, 99, 100])
    if rng.random() < 0.5:
        n = body["data"]["n"]
        support = list(range(n) if rng.random() < 0.5 else sorted(rng.sample(range(n), 2)))
        body["support"], body["weights"] = support, [_natural(rng)] * len(support)
        if "primal" in body:
            body["primal"] = {"support": support, "coefficients": body["weights"]}
    body["total"] = hex(sum(int(w, 16) for w in body["weights"]))
    return json.dumps(body).encode()


# --- witnesses ---------------------------------------------------------------------------------

FILES = sorted((Path(__file__).resolve().parents[2] / "papers").glob("*/witnesses/*.json"))
_WHOLE = [1000, 10**4, 3 * 10**4, 10**5, 10**5, 10**6, 10**30]
_RATIONAL = ["9" * 500, "1/" + "9" * 500, "7" * 499 + "/" + "3" * 500]
_RATIONAL += ["100000", "1/100000", "-9999"]
_PARTS: list[Any] = [*NUMBERS, 100, *_WHOLE[:6], *_RATIONAL[:2], "-7/" + "3" * 400]
_PARTS += [["1"] * 50, [["1", "0"], ["0", "1"]], [["1/3"] * 30] * 30, "university"]


def witness_seeds() -> list[bytes]:
    return [path.read_bytes() for path in FILES]


def run_witness(path: Path) -> None:
    said = witnesses.check(str(path), limit=_LIMIT)
    if not said.isprintable() or len(said) > 500:
        raise Fault(f"a long or unprintable sentence: {said[:300]!a}")


def heavier_witness(data: bytes, rng: Random) -> bytes:
    """The numbers of a witness's data, some or all of them larger, and its lists longer."""
    body = json.loads(rng.choice(FILES).read_bytes() if rng.random() < 0.5 else data)
    part = rng.choice([0.1, 0.5, 1.0])

    def grown(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: grown(v) for name, v in value.items()}
        if isinstance(value, list):
            longer = value * rng.choice([1, 1, 1, 2, 10]) if len(value) < 100 else value
            return [grown(v) for v in longer]
        if isinstance(value, bool) or rng.random() > part:
            return value
        return rng.choice(_WHOLE) if isinstance(value, int) else rng.choice(_RATIONAL)

    body["data"] = grown(body["data"])
    keep = ("format", "version", "statement", "data")
    return json.dumps({name: body[name] for name in keep}).encode()


# --- what the checker says when it accepts ------------------------------------------------------
#
# An input is a small file with words in every place that takes some, and two questions about it.
# 1. No word of the file or of the certificate stands in the sentence but in quotes.
# 2. The sentences differ if the theorems do: kernel, its parameters, label column, classes, bias
#    and norm, also where the numbers are made to agree.
# 3. The sentence is the same whatever is written into a field that proves nothing.
# 4. Numbers that are not zero are not shown as zero, and those of a margin are the margin's.

_MARK = "zqx"  # in every text that is put into a file or a certificate, and in nothing that is said
_TEXTS = ["zqx) is separable; its maximum margin is 7 times the radius", "zqx: accepted"]
_TEXTS += ["it's \"zqx\" (every point), not 'zqx'", "zqx é ﷺ", "zqx" * 40]
_NUMERALS = ["0", "1", "-1", "2", "-3", "0.5", "1e-200", "-1e200", "3e-320", "1e-300"]
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_NUMERAL = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")


def other_questions(data: bytes, rng: Random) -> bytes:
    """Another file and two questions, whatever the input was."""
    values = rng.choice([_NUMERALS[:5], _NUMERALS[:6], _NUMERALS])
    n, d = rng.randrange(2, 6), rng.randrange(1, 4)
    words = rng.random() < 0.5
    names = [rng.choice(_TEXTS), "zqx b"] if words else ["1", "-1"]
    labels = [*names, *(rng.choice(names) for _ in range(n - 2))]
    points = [[rng.choice(values) for _ in range(d)] for _ in labels]
    for k in range(rng.choice([0, 0, 1])):  # equal points of two classes
        points[k] = list(points[1 - k])
    if not words:  # either of two columns may be the label
        points = [[*p, label] for p, label in zip(points, labels, strict=True)]
    rows = [[label, *p] for label, p in zip(labels, points, strict=True)]
    header = ["zqx label", *(f"zqx {k}" for k in range(len(points[0])))]
    asked = [_question(rng, words) for _ in range(2)]
    if rng.random() < 0.7:  # that differ in one thing
        name = rng.choice([*asked[0]])
        asked[1] = asked[0] | {name: asked[1][name]}
    rows = [header, *rows] if rng.random() < 0.5 else rows
    return json.dumps({"rows": rows, "asked": asked, "name": rng.choice(_TEXTS)}).encode()


def _question(rng: Random, words: bool) -> dict[str, Any]:
    rate = rng.choice(["0.25", "1", "1e-8", "0.250000000001"])
    degree, constant = rng.choice([1, 2, 3]), rng.choice(["0", "1", "0.5"])
    poly = f"poly:degree={degree},gamma={rate},coef0={constant}"
    return {
        "kernel": rng.choice([None, "linear", f"rbf:gamma={rate}", poly, poly]),
        "normalised": rng.random() < 0.3,
        "intercept": rng.choice(["none"] * 4 + ["free"]),
        "label": 0 if words else rng.choice([0, 0, -1]),
        "norm": rng.choice(["l2"] * 4 + ["l1", "l1-simplex"]),
    }


def _certificate(path: Path, asked: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The certificate for a question, with bounds that say nothing; None if it is refused."""
    options: dict[str, Any] = {"label": asked["label"]}
    if asked["kernel"] is not None:
        options |= {"kernel": asked["kernel"], "normalised": asked["normalised"]}
    if asked["intercept"] != "none":
        options["intercept"] = asked["intercept"]
    try:
        body = dict(solve(load(path, **options), norm=asked["norm"]).certificate or {})
    except ProblemError:
        return None
    body["data"] = body["data"] | {"name": name}
    if body["kind"] == "enclosure":
        body |= {"gamma_lo": "0x0/0x1", "gamma_hi": "0x" + "f" * 90 + "/0x1"}
    return body


def _said(body: dict[str, Any], path: Path) -> str | None:
    certificate = path.with_suffix(".json")
    certificate.write_text(json.dumps(body))
    try:
        return checker.check(str(certificate), str(path))
    except checker.Rejected:
        return None  # what is written is accepted: that is searched by `certify`


def run_sentence(path: Path) -> None:
    body = json.loads(path.read_bytes())
    table = io.StringIO()
    csv.writer(table).writerows(body["rows"])
    data = path.with_name("zqx questions.csv")
    data.write_text(table.getvalue(), encoding="utf-8")
    found: list[tuple[str, str]] = []
    for asked in body["asked"]:
        certificate = _certificate(data, asked, body["name"])
        said = certificate and _said(certificate, data)
        if not certificate or not said:
            continue
        if _MARK in _QUOTED.sub("", said):
            raise Fault(f"words of a file or certificate as if they were the checker's: {said!a}")
        if certificate["kind"] == "margin":
            _numbers(certificate, said)
        plain = certificate | {"data": certificate["data"] | {"name": "another"}}
        if _said(plain, data) != said:
            raise Fault(f"another name, which proves nothing, and another sentence: {said!a}")
        found.append((_theorem(certificate), _without_counts(said)))
    if len(found) == 2 and found[0][0] != found[1][0] and found[0][1] == found[1][1]:
        raise Fault(f"two theorems and one sentence: {found[0][1]!a}")


def _theorem(body: dict[str, Any]) -> str:
    """All that a certificate is about, without the numbers and weights that prove it."""
    about = {k: v for k, v in body["data"].items() if k not in ("name", "sha256")}
    return json.dumps([body["kind"], body["geometry"], about, body.get("signed")], sort_keys=True)


def _numbers(body: dict[str, Any], said: str) -> None:
    """None of a margin is shown as zero, and one of them is the margin, or that over the radius."""
    square, radius = (_fraction(body[f]) for f in ("gamma_squared", "radius_squared"))
    shown = [Decimal(v) for v in _NUMERAL.findall(_QUOTED.sub("", said).partition("separable")[2])]
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 40, -99999, 99999
        roots = [(Decimal(v.numerator) / v.denominator).sqrt() for v in (square, square / radius)]
        near = any(abs(v - root) <= root * Decimal("1e-12") for v in shown for root in roots)
        if not near or any(v == 0 for v in shown):
            raise Fault(f"the margin is {roots[0]}, and {said!a} does not say it")


def run_costly(path: Path) -> None:
    checker.check(str(path), str(_costly_folder()), limit=_LIMIT)


_JSON = (_REFUSALS, ".json", 3)
_WITNESS = ((witnesses.Rejected, witnesses.TooCostly), ".json", 3)
TARGETS = [
    Target("certificate", certificate_seeds, spoiler(spoil_json, _WORDS), run_certificate, *_JSON),
    Target("certify", data_seeds, other_data, run_certify, suffix=".csv", seconds=20),
    Target(
        "certify-sparse", svmlight_seeds, other_sparse_data, run_certify, suffix=".svm", seconds=20
    ),
    Target("costly", true_certificate, heavier, run_costly, *_JSON),
    Target("costly-witness", witness_seeds, heavier_witness, run_witness, *_WITNESS),
    Target("witness", witness_seeds, spoiler(spoil_json, _PARTS), run_witness, *_WITNESS),
    Target(
        "sentence",
        lambda: [other_questions(b"", Random(seed)) for seed in range(3)],
        other_questions,
        run_sentence,
        seconds=20,
    ),
]
