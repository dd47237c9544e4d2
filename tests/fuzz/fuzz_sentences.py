"""What the checker says when it accepts: all that was proved, and nothing that was not.

An input is a small file with words in every place that takes some, and two questions about it. Of
the two certificates

1. no word of the file or of the certificate stands in the sentence but in quotes: what is left
   without the quoted parts are the checker's own words;
2. the sentences differ if the theorems do: kernel, its parameters, label column, classes, bias and
   norm, also where the numbers are made to agree;
3. the sentence is the same whatever is written into a field that proves nothing;
4. numbers that are not zero are not shown as zero, and those of a margin are the margin's.
"""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from gammabar.oracle import check as checker, solve
from gammabar.problems import ProblemError, load

from .target import Fault, Target

#: Stands in every text that is put into a file or a certificate, and in nothing that is said.
_MARK = "zqx"
_TEXTS = [
    "zqx) is separable; its maximum margin is 7 times the radius",
    "zqx: accepted",
    "it's \"zqx\" (every point), not 'zqx'",
    "zqx é ﷺ",
    "zqx" * 40,
]
_VALUES = ["0", "1", "-1", "2", "-3", "0.5", "1e-200", "-1e200", "3e-320", "1e-300"]
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_NUMERAL = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")

Question = dict[str, Any]


def other_questions(data: bytes, rng: Random) -> bytes:
    """Another file and two questions, whatever the input was."""
    values = rng.choice([_VALUES[:5], _VALUES[:6], _VALUES])
    n, d = rng.randrange(2, 6), rng.randrange(1, 4)
    words = rng.random() < 0.5
    names = [rng.choice(_TEXTS), "zqx b"] if words else ["1", "-1"]
    labels = [*names, *(rng.choice(names) for _ in range(n - 2))]
    points = [[rng.choice(values) for _ in range(d)] for _ in labels]
    for k in range(rng.choice([0, 0, 1])):  # equal points of two classes
        points[k] = list(points[1 - k])
    if not words:  # either of two columns may be the label
        points = [[*p, label] for p, label in zip(points, labels, strict=True)]
    header = ["zqx label", *(f"zqx {k}" for k in range(len(points[0])))]
    asked = [_question(rng, words) for _ in range(2)]
    if rng.random() < 0.7:  # that differ in one thing
        name = rng.choice([*asked[0]])
        asked[1] = asked[0] | {name: asked[1][name]}
    body = {"labels": labels, "points": points, "asked": asked, "name": rng.choice(_TEXTS)}
    return json.dumps(body | {"header": header if rng.random() < 0.5 else None}).encode()


def _question(rng: Random, words: bool) -> Question:
    rate = rng.choice(["0.25", "1", "1e-8", "0.250000000001"])
    degree, constant = rng.choice([1, 2, 3]), rng.choice(["0", "1", "0.5"])
    return {
        "kernel": rng.choice(
            [None, "linear", f"rbf:gamma={rate}"]
            + [f"poly:degree={degree},gamma={rate},coef0={constant}"] * 2
        ),
        "normalised": rng.random() < 0.3,
        "intercept": rng.choice(["none"] * 4 + ["free"]),
        "label": 0 if words else rng.choice([0, 0, -1]),
        "norm": rng.choice(["l2"] * 4 + ["l1", "l1-simplex"]),
    }


def question_seeds() -> list[bytes]:
    return [other_questions(b"", Random(seed)) for seed in range(3)]


def _certificate(path: Path, asked: Question, name: str) -> dict[str, Any] | None:
    """The certificate for a question, with bounds that say nothing; None if it is refused."""
    norm, kernel = asked["norm"], asked["kernel"]
    options: dict[str, Any] = {"label": asked["label"]}
    if kernel is not None:
        options |= {"kernel": kernel, "normalised": asked["normalised"]}
    if asked["intercept"] != "none":
        options["intercept"] = asked["intercept"]
    try:
        body: dict[str, Any] = dict(solve(load(path, **options), norm=norm).certificate or {})
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
    rows = [[label, *p] for label, p in zip(body["labels"], body["points"], strict=True)]
    csv.writer(table).writerows([body["header"], *rows] if body["header"] else rows)
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


def _without_counts(said: str) -> str:
    return re.sub("[0-9]+ (support|of its) rows", "", said)


def _numbers(body: dict[str, Any], said: str) -> None:
    """None of a margin is shown as zero, and one of them is the margin, or that over the radius."""
    if body["kind"] != "margin":
        return
    square, radius = (_fraction(body[f]) for f in ("gamma_squared", "radius_squared"))
    shown = [Decimal(v) for v in _NUMERAL.findall(_QUOTED.sub("", said).partition("separable")[2])]
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 40, -99999, 99999
        roots = [(_decimal(v)).sqrt() for v in (square, square / radius)]
        near = any(abs(v - root) <= root * Decimal("1e-12") for v in shown for root in roots)
        if not near or any(v == 0 for v in shown):
            raise Fault(f"the margin is {roots[0]}, and {said!a} does not say it")


def _fraction(text: str) -> Fraction:
    return Fraction(*(int(part, 16) for part in text.split("/")))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


TARGETS = [
    Target(
        "sentence",
        question_seeds,
        other_questions,
        run_sentence,
        (ProblemError,),
        ".txt",
        seconds=20,
    )
]
