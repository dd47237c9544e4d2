"""Tiny certificates made independently of the oracle: by brute force over supports, in fractions.

Standard library only. Nothing here is shared with the checker: the canonical form, the formats of
files and the mathematics are written down a second time, in the plainest way.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from reference.minimum_norm import Matrix, between, dot, game, shortest

# --- how numbers are written -----------------------------------------------------------------


def rat(value: Fraction | int) -> str:
    value = Fraction(value)
    return f"{hex(value.numerator)}/{hex(value.denominator)}"


def weights(q: dict[int, Fraction]) -> dict[str, Any]:
    q = {i: v for i, v in sorted(q.items()) if v}
    total = math.lcm(*(v.denominator for v in q.values()))
    return {
        "support": list(q),
        "weights": [hex(int(v * total)) for v in q.values()],
        "total": hex(total),
    }


def digest(points: Sequence[Sequence[Any]], labels: Sequence[int]) -> str:
    sha = hashlib.sha256(b"gammabar-data-1\n" + struct.pack(">qq", len(points), len(points[0])))
    for x, label in zip(points, labels, strict=True):
        nonzero = [(j, v) for j, v in enumerate(x) if v != 0]
        sha.update(struct.pack(">i", label) + struct.pack(">I", len(nonzero)))
        for j, _ in nonzero:
            sha.update(struct.pack(">I", j))
        for _, v in nonzero:
            sha.update(struct.pack(">d", float(v)))
        rest = [Fraction(v) - Fraction(float(v)) for _, v in nonzero]
        if any(rest):
            sha.update(b"r" + b"".join(struct.pack(">q", int(r)) for r in rest))
    return sha.hexdigest()


# --- files -----------------------------------------------------------------------------------


def csv_text(points: Sequence[Sequence[Any]], labels: Sequence[Any]) -> str:
    lines = [",".join(map(str, (label, *x))) for x, label in zip(points, labels, strict=True)]
    return "\n".join(lines) + "\n"


def svmlight_text(points: Sequence[Sequence[Any]], labels: Sequence[Any]) -> str:
    lines = []
    for x, label in zip(points, labels, strict=True):
        pairs = [f"{j + 1}:{v}" for j, v in enumerate(x) if v or j == len(x) - 1]
        lines.append(" ".join([str(label), *pairs]))
    return "# made by hand\n" + " # a comment\n".join(lines) + "\n"


def npy_bytes(descr: str, shape: tuple[int, ...], body: bytes, fortran: bool = False) -> bytes:
    header = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + body


def npz_bytes(**arrays: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def idx_bytes(shape: Sequence[int], body: bytes) -> bytes:
    return b"\0\0\x08" + bytes([len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + body


# --- certificates ----------------------------------------------------------------------------


@dataclass
class Case:
    """A certificate with its data files, by name."""

    certificate: dict[str, Any]
    files: dict[str, bytes]

    def write(self, folder: Path) -> list[str]:
        """Write everything to a folder; the arguments for the checker."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        path = folder / "certificate.json"
        path.write_text(json.dumps(self.certificate), encoding="utf-8")
        return [str(path), *(str(folder / name) for name in self.certificate["data"]["files"])]


def section(points: Sequence[Sequence[Any]], labels: Sequence[int], **more: Any) -> dict[str, Any]:
    return {
        "name": "by hand",
        "sha256": digest(points, labels),
        "n": len(points),
        "d": len(points[0]),
        "format": "csv",
        "files": ["data.csv"],
        "classes": ["-1", "1"],
        **more,
    }


def body(kind: str, geometry: dict[str, Any], data: dict[str, Any], **more: Any) -> dict[str, Any]:
    head = {"format": "gammabar-certificate", "version": 2 if "intercept" in geometry else 1}
    return {**head, "kind": kind, "geometry": geometry, "data": data, **more}


def exact_case(
    gram: Matrix,
    geometry: dict[str, Any],
    data: dict[str, Any],
    files: dict[str, bytes],
    **more: Any,
) -> Case:
    """Margin or inseparable, whichever is true, of the rows with this Gram matrix."""
    free = geometry.get("intercept") == "free"
    q, square = between(gram, more["y"]) if free else shortest(gram)
    if square == 0:
        return Case(body("inseparable", geometry, data, **weights(q)), files)
    radius = max(gram[i][i] for i in range(len(gram)))
    numbers = {"gamma_squared": rat(square), "radius_squared": rat(radius)}
    return Case(body("margin", geometry, data, **weights(q), **numbers), files)


def linear_gram(points: Sequence[Sequence[Any]], y: Sequence[int]) -> Matrix:
    n = range(len(points))
    return [[y[i] * y[j] * dot(points[i], points[j]) for j in n] for i in n]


def linear(points: Sequence[Sequence[Any]], y: Sequence[int], **more: Any) -> Case:
    """Of points with labels of -1 and 1, in a CSV file unless `more` says otherwise."""
    files = more.pop("contents", {"data.csv": csv_text(points, y).encode()})
    intercept = more.pop("intercept", None)
    data = section(points, y, **more)
    geometry = {"type": "linear"} | ({"intercept": intercept} if intercept else {})
    rows = [[*x, 1] for x in points] if intercept == "augmented" else points
    return exact_case(linear_gram(rows, y), geometry, data, files, y=y)


def light(case: Case, q: dict[int, int], eigenvalue: str) -> Case:
    """A certificate turned into a light one with these weights."""
    made = {key: case.certificate[key] for key in ("format", "geometry", "data")}
    made |= {"kind": "support", "version": 3, "eigenvalue": eigenvalue, "support": list(q)}
    made |= {"weights": [hex(v) for v in q.values()], "total": hex(sum(q.values()))}
    return Case(made, case.files)


def support(points: Sequence[Sequence[Any]], y: Sequence[int], **more: Any) -> Case:
    """A light certificate: weights that are right to 100 bits or so, and an eigenvalue."""
    case = linear(points, y, **more)
    made, q = case.certificate, {}
    total = int(made["total"], 16)
    for i, weight in zip(made["support"], made["weights"], strict=True):
        q[i] = (int(weight, 16) << 100) // total + 1
    if more.get("intercept") == "free":  # the same sum on both sides
        gap = sum(v * y[i] for i, v in q.items())
        last = next(i for i in reversed(q) if y[i] * gap <= 0)
        q[last] += abs(gap)
    return light(case, q, "0x1/0x20")


def multiclass(points: Sequence[Sequence[Any]], classes: Sequence[int], k: int) -> Case:
    rows = [
        [Fraction(v) * ((m == c) - (m == j)) for m in range(k) for v in x]
        for x, c in zip(points, classes, strict=True)
        for j in range(k)
        if j != c
    ]
    gram = [[dot(a, b) / 2 for b in rows] for a in rows]
    data = section(points, classes, classes=[str(c) for c in range(k)])
    files = {"data.csv": csv_text(points, classes).encode()}
    return exact_case(gram, {"type": "multiclass", "classes": k}, data, files)


def poly_value(x: Sequence[Any], z: Sequence[Any], degree: int, gamma: float, coef0: float) -> Any:
    return (Fraction(gamma) * dot(x, z) + Fraction(coef0)) ** degree


def poly(
    points: Sequence[Sequence[Any]],
    y: Sequence[int],
    degree: int,
    gamma: float,
    coef0: float,
    **intercept: str,
) -> Case:
    kernel = {"name": "poly", "degree": degree}
    kernel |= {"gamma": rat(Fraction(gamma)), "coef0": rat(Fraction(coef0))}
    n = range(len(points))
    table = [[poly_value(points[i], points[j], degree, gamma, coef0) for j in n] for i in n]
    gram = [[y[i] * y[j] * table[i][j] for j in n] for i in n]
    geometry = {"type": "kernel", "kernel": kernel, "normalised": False, **intercept}
    return exact_case(
        gram, geometry, section(points, y), {"data.csv": csv_text(points, y).encode()}, y=y
    )


def enclosed(
    points: Sequence[Sequence[Any]], y: Sequence[int], kernel: dict[str, Any], slack: float = 1e-9
) -> Case:
    """An enclosure for "rbf", or for "poly" normalised: solved for a Gram matrix of doubles."""
    n = range(len(points))
    if kernel["name"] == "rbf":
        gap = [[dot(p, p) + dot(r, r) - 2 * dot(p, r) for r in points] for p in points]
        table = [[math.exp(-kernel["gamma"] * gap[i][j]) for j in n] for i in n]
    else:
        options = {key: kernel[key] for key in ("degree", "gamma", "coef0")}
        plain = [[poly_value(p, r, **options) for r in points] for p in points]
        table = [[float(plain[i][j]) / math.sqrt(plain[i][i] * plain[j][j]) for j in n] for i in n]
    gram = [[Fraction(y[i] * y[j] * table[i][j]).limit_denominator(10**9) for j in n] for i in n]
    q, _square = shortest(gram)
    q = {i: v.limit_denominator(10**12) for i, v in q.items()}
    total = sum(q.values())
    q = {i: v / total for i, v in q.items()}
    gamma = math.sqrt(sum(q[i] * q[j] * y[i] * y[j] * Fraction(table[i][j]) for i in q for j in q))
    written = {key: rat(Fraction(v)) if type(v) is float else v for key, v in kernel.items()}
    geometry = {"type": "kernel", "kernel": written, "normalised": kernel["name"] != "rbf"}
    part = weights(q)
    primal = {"support": part["support"], "coefficients": part["weights"]}
    bounds = {"gamma_lo": rat(Fraction(gamma - slack)), "gamma_hi": rat(Fraction(gamma + slack))}
    certificate = body("enclosure", geometry, section(points, y), **part, primal=primal, **bounds)
    return Case(certificate, {"data.csv": csv_text(points, y).encode()})


def l1(points: Sequence[Sequence[Any]], y: Sequence[int], signed: bool) -> Case:
    rows = [[Fraction(label * v) for v in x] for x, label in zip(points, y, strict=True)]
    d = len(rows[0])
    payoff = [[*row, *(-v for v in row)] if signed else row for row in rows]
    q, w, value = game(payoff)
    w = [w[j] - w[d + j] for j in range(d)] if signed else w
    part = weights({j: v for j, v in enumerate(w) if v})
    certificate = body(
        "l1-margin",
        {"type": "linear"},
        section(points, y),
        **weights(dict(enumerate(q))),
        signed=signed,
        primal={"columns": part["support"], "coefficients": part["weights"]},
        value_lo=rat(value),
        value_hi=rat(value),
        radius=rat(max(abs(v) for row in rows for v in row)),
    )
    return Case(certificate, {"data.csv": csv_text(points, y).encode()})


def separation(
    points: Sequence[Sequence[Any]],
    y: Sequence[int],
    kind: str,
    direction: dict[int, int],
    q: dict[int, Fraction],
    **more: Any,
) -> Case:
    """A certificate whose two proofs are given."""
    geometry = {"type": "linear"} | more
    part = weights(q) if q else {"support": [], "weights": [], "total": "0x0"}
    certificate = body("separation", geometry, section(points, y), **part, separation=kind)
    certificate["version"] = 2
    certificate["primal"] = {
        "columns": list(direction),
        "coefficients": [hex(v) for v in direction.values()],
    }
    return Case(certificate, {"data.csv": csv_text(points, y).encode()})


# --- a few of each ---------------------------------------------------------------------------

POINTS = [[2, 0, 1], [0, 1, 3], [-1, -1, 0], [1, 4, 0], [-3, 0, -2]]
SIGNS = [1, 1, -1, 1, -1]
TANGLED = [[1, 0], [0, 1], [1, 1], [3, 1]]  # with TANGLED_SIGNS not separable
TANGLED_SIGNS = [1, 1, -1, 1]
SHIFTED = [[4, 4], [5, 3], [7, 7], [6, 9], [8, 5]]  # with SHIFTED_SIGNS only with a bias
SHIFTED_SIGNS = [-1, -1, 1, 1, 1]
CROSSED = [[0, 0], [4, 4], [0, 4], [4, 1]]  # with CROSSED_SIGNS not even with one
CROSSED_SIGNS = [1, 1, -1, -1]
RBF = {"name": "rbf", "gamma": 0.25}
NORMALISED = {"name": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0}


def idx_case() -> Case:
    """Images of 2 x 2 pixels, of three classes, of which the certificate takes 7 and 2."""
    pixels = [[9, 1, 0, 2], [5, 5, 5, 5], [0, 7, 8, 1], [1, 6, 9, 0], [8, 0, 1, 3]]
    labels = [2, 4, 7, 7, 2]
    mine = [x for x, label in zip(pixels, labels, strict=True) if label != 4]
    y = [-1 if label == 7 else 1 for label in labels if label != 4]
    contents = {
        "images.gz": gzip.compress(idx_bytes((5, 2, 2), bytes(v for x in pixels for v in x))),
        "labels": idx_bytes((5,), bytes(labels)),
    }
    return linear(
        mine, y, format="idx", files=list(contents), classes=["7", "2"], contents=contents
    )


def svmlight_case() -> Case:
    contents = {"data.svm": svmlight_text(POINTS, SIGNS).encode()}
    return linear(POINTS, SIGNS, format="svmlight", files=["data.svm"], contents=contents)


def npz_case() -> Case:
    """Doubles of very different size, among them 1e300 and 1e-300 times small integers."""
    points = [[v * 2.0**-1000 for v in x] for x in POINTS]
    flat = [v for x in points for v in x]
    X = npy_bytes("<f8", (5, 3), struct.pack("<15d", *flat))
    y = npy_bytes("|i1", (5,), struct.pack("5b", *SIGNS))
    return linear(
        points, SIGNS, format="npz", files=["data.npz"], contents={"data.npz": npz_bytes(X=X, y=y)}
    )


def all_cases() -> dict[str, Case]:
    return {
        "linear": linear(POINTS, SIGNS),
        "inseparable": linear(TANGLED, TANGLED_SIGNS),
        "svmlight": svmlight_case(),
        "npz": npz_case(),
        "idx": idx_case(),
        "multiclass": multiclass([[3, 1], [0, 2], [-2, -2], [4, 0]], [0, 1, 2, 0], 3),
        "poly": poly([[0, 0], [1, 1], [1, 0], [0, 1]], [-1, -1, 1, 1], 2, 0.5, 1.0),
        "rbf": enclosed([[0, 0], [1, 1], [1, 0], [0, 1], [3, 1]], [-1, -1, 1, 1, 1], RBF),
        "normalised": enclosed([[0, 0], [1, 1], [1, 0], [0, 1]], [-1, -1, 1, 1], NORMALISED),
        "free": linear(SHIFTED, SHIFTED_SIGNS, intercept="free"),
        "augmented": linear(SHIFTED, SHIFTED_SIGNS, intercept="augmented"),
        "overlapping": linear(CROSSED, CROSSED_SIGNS, intercept="free"),
        "poly, free": poly([[0], [1], [2], [3]], [-1, 1, 1, -1], 2, 0.5, 1.0, intercept="free"),
        "complete": separation(POINTS, SIGNS, "complete", {0: 1, 1: 1, 2: 1}, {}),
        "quasi": separation(
            [[1], [2], [2], [3]],
            [-1, -1, 1, 1],
            "quasi-complete",
            {0: 1, 1: -2},
            {1: Fraction(1, 2), 2: Fraction(1, 2)},
            intercept="augmented",
        ),
        "overlap": separation(
            [[1], [2], [3]],
            [1, -1, 1],
            "overlap",
            {},
            {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)},
            intercept="augmented",
        ),
        "support": support(POINTS, SIGNS),
        "support, free": support(SHIFTED, SHIFTED_SIGNS, intercept="free"),
        "support, augmented": support(SHIFTED, SHIFTED_SIGNS, intercept="augmented"),
        "l1": l1(POINTS, SIGNS, signed=True),
        "simplex": l1(TANGLED, TANGLED_SIGNS, signed=False),
    }
