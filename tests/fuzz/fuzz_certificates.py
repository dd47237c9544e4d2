"""Certificates and witnesses: spoilt ones and costly ones."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gammabar.oracle import check as checker, solve
from gammabar.oracle.separation import separation
from gammabar.papers import witness as witnesses
from gammabar.problems import load

from .fuzz_files import csv_seeds, npz_seeds, svmlight_seeds
from .mutations import NUMBERS, spoil_json, spoiler, words
from .target import Fault, Target, lasting_folder

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


def run_costly(path: Path) -> None:
    checker.check(str(path), str(_costly_folder()), limit=_LIMIT)


_JSON = (_REFUSALS, ".json", 3)
_WITNESS = ((witnesses.Rejected, witnesses.TooCostly), ".json", 3)
TARGETS = [
    Target("certificate", certificate_seeds, spoiler(spoil_json, _WORDS), run_certificate, *_JSON),
    Target("costly", true_certificate, heavier, run_costly, *_JSON),
    Target("costly-witness", witness_seeds, heavier_witness, run_witness, *_WITNESS),
    Target("witness", witness_seeds, spoiler(spoil_json, _PARTS), run_witness, *_WITNESS),
]
