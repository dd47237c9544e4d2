"""Certificates: spoilt ones, and those that gammabar writes for any data that it reads."""

from __future__ import annotations

import json
import re
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gammabar.oracle import check as checker, solve
from gammabar.oracle.separation import separation
from gammabar.problems import ProblemError, load

from .fuzz_files import csv_seeds, npz_seeds, svmlight_seeds
from .mutations import spoil_json, spoiler
from .target import Fault, Target, choice_of

_KERNELS = ["linear", "rbf:gamma=0.25", "poly:degree=2,coef0=1"]
_INTERCEPTS = ["free", "augmented"]
_REFUSALS = (checker.Rejected, checker.TooCostly, OSError)


@cache
def _folder() -> Path:
    """A folder with data of every format, which lasts as long as the process."""
    holder = tempfile.TemporaryDirectory(prefix="gammabar-fuzz-")
    _HOLDERS.append(holder)
    folder = Path(holder.name)
    (folder / "plain.csv").write_bytes(csv_seeds()[0])
    (folder / "named.csv").write_bytes(csv_seeds()[2])
    (folder / "tangled.csv").write_text("1,1,0\n1,0,1\n-1,1,1\n1,3,1\n-1,3,1\n")
    (folder / "three.csv").write_text("0,3,1\n1,0,2\n2,-2,-2\n0,4,0\n")
    (folder / "halves.npz").write_bytes(npz_seeds()[2])
    (folder / "sparse.svm").write_bytes(svmlight_seeds()[1])
    return folder


_HOLDERS: list[Any] = []  # removed when the process ends


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
        bodies += [solve(load(folder / name), intercept=i).certificate for i in _INTERCEPTS]
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
    return re.sub("[0-9]+ (support|of its) rows", "", sentence.partition("): ")[2])


@cache
def _truths() -> dict[str, set[str]]:
    """For each file and geometry, everything that was proved of it."""
    found: dict[str, set[str]] = {}
    for data in certificate_seeds():
        body = json.loads(data)
        path = _folder() / "seed.json"
        path.write_bytes(data)
        found.setdefault(_subject(body), set()).add(_proof(checker.check(path, _folder())))
        path.unlink()
    return found


def _subject(body: Any) -> str:
    sort = body.get("signed") if body["kind"] != "separation" else "separation"
    return json.dumps([body["geometry"], body["data"]["sha256"], sort])


_WORDS: list[Any] = [
    "margin",
    "inseparable",
    "enclosure",
    "l1-margin",
    "linear",
    "rbf",
    "poly",
    "precomputed",
]
_WORDS += ["free", "augmented", "none", "separation", "complete", "quasi-complete", "overlap"]
_WORDS += ["kernel", "multiclass", "csv", "npz", "svmlight", "idx", "named.csv", "tangled.csv"]
# Small to write and costly to compute with.
_WORDS += [100, 10**4, 10**6, "0x1/0x" + "f" * 300, "0x" + "f" * 3001 + "/0x1", [0] * 5000]


def run_certificate(path: Path) -> None:
    """What is accepted after any change was true before."""
    said = checker.check(str(path), str(_folder()), limit=0.5)
    body = json.loads(path.read_bytes())
    if not said.isascii() or not said.isprintable():
        raise Fault(f"a sentence with other characters than ASCII: {said!a}")
    if body["kind"] == "enclosure":
        low, high = (Fraction(*(int(v, 16) for v in body[f].split("/"))) for f in _BOUNDS)
        if not 0 <= low <= high:
            raise Fault(f"accepted bounds {low} and {high}")
    elif body["geometry"]["type"] != "kernel" and _proof(said) not in _truths()[_subject(body)]:
        raise Fault(f"accepted, but it is false: {said}")


_BOUNDS = ("gamma_lo", "gamma_hi")


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
    names = rng.choice(
        [["a", "b"], ["+1", "-1"], ["1.0", "2"], ["ä b", "'"], ["0", "00.5"], ["c", "c"]]
    )
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


_OPTIONS: list[dict[str, Any]] = [
    {},
    {"norm": "l1"},
    {"norm": "l1-simplex"},
    {"multiclass": True},
    *({"kernel": kernel} for kernel in _KERNELS),
    {"kernel": "poly:degree=2,coef0=1", "normalised": True},
    {"kernel": "rbf:gamma=1e-8"},
    {"kernel": "poly:degree=3,gamma=0.1"},
    {"intercept": "free"},
    {"norm": "separation"},
    {"norm": "separation", "intercept": "free"},
    {"intercept": "augmented"},
    {"intercept": "augmented", "norm": "l1"},
    {"intercept": "augmented", "multiclass": True},
    *({"kernel": kernel, "intercept": "free"} for kernel in _KERNELS),
]


def run_certify(path: Path) -> None:
    options = choice_of(path.read_bytes(), _OPTIONS)
    norm = options.get("norm", "l2")
    problem = load(path, **{name: v for name, v in options.items() if name != "norm"})
    certificate = path.with_suffix(".json")
    if norm == "separation":
        separation(problem).save(certificate)
    else:
        solve(problem, norm=norm).save(certificate)
    try:
        checker.check(str(certificate), str(path))
    except _REFUSALS as reason:
        raise Fault(f"our own certificate is rejected: {reason}") from None


TARGETS = [
    Target(
        "certificate",
        certificate_seeds,
        spoiler(spoil_json, words=_WORDS),
        run_certificate,
        _REFUSALS,
        ".json",
        seconds=3,
    ),
    Target("certify", data_seeds, other_data, run_certify, (ProblemError,), ".csv", seconds=20),
    Target(
        "certify-sparse",
        svmlight_seeds,
        other_sparse_data,
        run_certify,
        (ProblemError,),
        ".svm",
        seconds=20,
    ),
]
