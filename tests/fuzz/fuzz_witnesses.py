"""Witnesses: spoilt ones are refused, and none keeps the checker busy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gammabar.papers.witness import Rejected, TooCostly, check

from .mutations import NUMBERS, spoil_json, spoiler
from .target import Fault, Target

FILES = sorted((Path(__file__).resolve().parents[2] / "papers").glob("*/witnesses/*.json"))
_WORDS: list[Any] = [
    *NUMBERS,
    100,
    1000,
    10**5,
    10**6,
    "9" * 500,
    "1/" + "9" * 500,
    "-7/" + "3" * 400,
]
_WORDS += [["1"] * 50, [["1", "0"], ["0", "1"]], [["1/3"] * 30] * 30, "university"]


def run_witness(path: Path) -> None:
    said = check(str(path), limit=0.5)
    if not said.isprintable() or len(said) > 500:
        raise Fault(f"a long or unprintable sentence: {said[:300]!a}")


TARGETS = [
    Target(
        "witness",
        lambda: [path.read_bytes() for path in FILES],
        spoiler(spoil_json, words=_WORDS),
        run_witness,
        (Rejected, TooCostly),
        ".json",
        seconds=3,
    )
]
