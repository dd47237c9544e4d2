"""Certificates and witnesses that are short to write and long to compute with.

Every number of a certificate or witness, in any combination, is made as large as its reader takes
it, beside data of all magnitudes, with hash, sizes and sums as they must be so that nothing is
refused before it is computed with. The checkers answer within their limit all the same.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gammabar.oracle import check as checker, solve
from gammabar.papers import witness as witnesses
from gammabar.problems import load

from .fuzz_witnesses import FILES
from .target import Target

_LIMIT = 0.5
_HOLDERS: list[Any] = []  # removed when the process ends
_DATA = {
    "plain.csv": "\n".join(f"{(-1) ** k},{k % 7},{k % 5 - 2},{k % 3}" for k in range(60)),
    "range.csv": "1,5e-324,1\n-1,1.7e308,-1\n1,3e-200,2\n-1,-1e150,1e-5\n1,1,1\n" * 5,
    "few.csv": "a,1,0.5\nb,-0.1,-2\n",
    "wide.svm": "\n".join(f"{(-1) ** k} {k + 1}:{k + 1} {10**6 + k}:1" for k in range(20)),
}
_KERNELS = ["linear", "rbf:gamma=0.25", "poly:degree=2,coef0=1", "poly:degree=3,gamma=0.5"]


@cache
def _folder() -> Path:
    holder = tempfile.TemporaryDirectory(prefix="gammabar-fuzz-")
    _HOLDERS.append(holder)
    for name, text in _DATA.items():
        (Path(holder.name) / name).write_text(text + "\n")
    return Path(holder.name)


@cache
def costly_certificates() -> tuple[bytes, ...]:
    """Certificates of the small file, and what they would be of the others: they prove nothing."""
    bodies = []
    for name in _DATA:
        problem = load(_folder() / name)
        head = solve(load(_folder() / "few.csv")).certificate
        assert head is not None
        about = {"sha256": problem.digest(), "n": problem.n, "d": problem.dimension}
        about |= {"files": [name], "format": "svmlight" if name.endswith("svm") else "csv"}
        classes = ["a", "b"] if name == "few.csv" else ["-1", "1"]
        data = {**head["data"], **about, "classes": classes}
        for kernel in (None, *_KERNELS):
            certificate = solve(load(_folder() / "few.csv", kernel=kernel)).certificate
            assert certificate is not None
            for normalised in (False, True) if kernel else (False,):
                body = {**certificate, "data": data}
                if kernel:
                    body["geometry"] = {**body["geometry"], "normalised": normalised}
                bodies.append(json.dumps(body).encode())
    return tuple(bodies)


def true_certificate() -> list[bytes]:
    return [json.dumps(solve(load(_folder() / "few.csv")).certificate).encode()]


def _natural(rng: Random) -> str:
    return "0x1" + "f" * rng.choice([0, 3, 60, 300, 1000, 4000, 20000])


def heavier(data: bytes, rng: Random) -> bytes:
    """Some numbers of a certificate, larger; what follows from them follows."""
    body = json.loads(data)
    if rng.random() < 0.3:
        body = json.loads(rng.choice(costly_certificates()))
    form = body["geometry"]
    for place, name in [(form.get("kernel", {}), f) for f in ("gamma", "coef0")] + [
        (body, f) for f in ("gamma_lo", "gamma_hi", "gamma_squared", "radius_squared")
    ]:
        if name in place and rng.random() < 0.4:
            top, bottom = rng.choice([(_natural(rng), "0x1"), ("0x1", _natural(rng))])
            place[name] = f"{top}/{bottom}"
    if "degree" in form.get("kernel", {}) and rng.random() < 0.6:
        form["kernel"]["degree"] = rng.choice([1, 7, 50, 99, 100])
    if rng.random() < 0.5:
        n = body["data"]["n"]
        support = range(n) if rng.random() < 0.5 else sorted(rng.sample(range(n), 2))
        weight = _natural(rng)
        body["support"], body["weights"] = list(support), [weight] * len(support)
        if "primal" in body:
            body["primal"] = {"support": list(support), "coefficients": [weight] * len(support)}
    body["total"] = hex(sum(int(w, 16) for w in body["weights"]))
    return json.dumps(body).encode()


def run_costly_certificate(path: Path) -> None:
    checker.check(str(path), str(_folder()), limit=_LIMIT)


_WHOLE = [1000, 10**4, 3 * 10**4, 10**5, 10**5, 10**6, 10**30]
_RATIONAL = [
    "9" * 500,
    "1/" + "9" * 500,
    "7" * 499 + "/" + "3" * 500,
    "100000",
    "1/100000",
    "-9999",
]


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


def run_costly_witness(path: Path) -> None:
    witnesses.check(str(path), limit=_LIMIT)


TARGETS = [
    Target(
        "costly",
        true_certificate,
        heavier,
        run_costly_certificate,
        (checker.Rejected, checker.TooCostly, OSError),
        ".json",
        seconds=3,
    ),
    Target(
        "costly-witness",
        lambda: [path.read_bytes() for path in FILES],
        heavier_witness,
        run_costly_witness,
        (witnesses.Rejected, witnesses.TooCostly),
        ".json",
        seconds=3,
    ),
]
