"""Of balls, != is no test: it is false as long as they may be equal. `known_zero` is certain."""

from __future__ import annotations

import ast
from pathlib import Path

from flint import arb

from gammabar.harness.verify.numbers import known_zero

ROOT = Path(__file__).resolve().parents[2]
#: Modules that compare rationals, whole numbers or arrays with 0.
RATIONAL = {
    "papers/lecture/quantities.py",
    "papers/lecture/section1.py",
    "papers/ramdas_pena_2015/small_data.py",
    "papers/ramdas_pena_2015/algorithms.py",
    "papers/ramdas_pena_2015/section2.py",
    "papers/tyurin_2024/refuters.py",
}


def _unequal(path: Path) -> bool:
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.NotEq)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value == 0
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_no_ball_is_asked_whether_it_differs_from_a_number() -> None:
    files = [*(ROOT / "papers").rglob("*.py"), *(ROOT / "harness" / "court").glob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if _unequal(path)}
    assert found - RATIONAL == set()
    assert RATIONAL - found == set()


def test_known_zero() -> None:
    assert known_zero(arb(0))
    assert known_zero(0)
    for ball in (arb(0, 1), arb("nan"), arb(1), arb(0, 1e-300)):
        assert not known_zero(ball)
