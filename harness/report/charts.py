"""Pictures as SVG that takes its colours from the page: curves, and witnesses in the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gammabar.harness.screen import visible
from gammabar.harness.verify.verdict import Point

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Templates: what is not marked as HTML is escaped, and so are control characters."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_printable,
    )


def _printable(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return "\n".join(map(visible, value.split("\n")))


def drawn(template: str, **values: Any) -> Markup:
    return Markup(environment().get_template(template).render(values))


_WIDTH, _HEIGHT = 420, 250
#: Where the axes are.
_LEFT, _RIGHT, _TOP, _FLOOR = 52, _WIDTH - 12, 12, _HEIGHT - 34
_FRAME = {"width": _WIDTH, "height": _HEIGHT, "left": _LEFT, "right": _RIGHT}
_FRAME |= {"top": _TOP, "floor": _FLOOR}


class _Scale:
    """From numbers to places between start and end; all values fit, and it is never a point."""

    def __init__(self, values: Sequence[float], start: float, end: float, log: bool) -> None:
        low, high = min(values), max(values)
        if log and high < 1.1 * low:
            low, high = low / 1.5, high * 1.5
        elif not log and high - low <= 1e-12 * max(abs(low), abs(high)):
            low, high = low - (abs(low) or 1), high + (abs(high) or 1)
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
        share = min(1.0, max(0.0, (value - low) / (high - low)))
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round numbers: powers of ten, or about four of them."""
        if self.log:
            low, high = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            step = max(1, math.ceil((high - low) / 5))
            found = [10.0**k for k in range(low, high + 1, step)]
            return found if len(found) > 1 else [self.low, self.high]
        raw = (self.high - self.low) / 4
        unit = 10 ** math.floor(math.log10(raw))
        step = next(k * unit for k in (1, 2, 5, 10) if k * unit >= raw)
        first = math.ceil(self.low / step)
        return [k * step for k in range(first, math.floor(self.high / step) + 1)]


def chart(
    points: Sequence[Point], marked: int | None, label: str, silent: int | None = None
) -> Markup:
    """The curves of a measured quantity and its bound over t, as points (t, measured, bound).

    `marked` is the worst iterate; up to the iterate `silent` the bound is vacuous.
    """
    # Numbers whose differences are finite, too.
    points = [(t, max(-1e300, min(1e300, a)), max(-1e300, min(1e300, b))) for t, a, b in points]
    numbers = [value for _, *both in points for value in both]
    log = all(bound > 0 for *_, bound in points) and any(left > 0 for _, left, _ in points)
    shown = [n for n in numbers if n > 0] if log else numbers
    if log:  # what is next to zero would flatten all the rest
        shown = [n for n in shown if n >= 1e-9 * max(shown)]
    x = _Scale([max(t, 0.5) for t, _, _ in points], _LEFT, _RIGHT, log=True)
    y = _Scale(shown, _FLOOR, _TOP, log)
    at = {t: (x(max(t, 0.5)), left, bound) for t, left, bound in points}
    first = points[0][0]
    return drawn(
        "chart.svg",
        **_FRAME,
        label=label,
        rows=[(y(value), _number(value)) for value in y.ticks()],
        columns=[(x(value), _number(value)) for value in x.ticks()],
        zero=x(0.5) if first == 0 else None,
        bound=[(place, y(bound)) for place, _, bound in at.values()],
        measured=[(place, y(left)) for place, left, _ in at.values() if not log or left > 0],
        silent=None if silent is None else (x(max(first, 0.5)), x(max(silent, 0.5)), silent),
        mark=None if marked not in at else _mark(marked, at[marked][0], *map(y, at[marked][1:])),
    )


def _mark(t: int | None, x: float, measured: float, bound: float) -> dict[str, Any]:
    side, anchor = (-8, "end") if x > _WIDTH * 0.6 else (8, "start")
    y = min(max(measured + (16 if bound < measured else -8), _TOP + 10), _FLOOR - 4)
    where = {"x": x, "y": y, "side": side, "anchor": anchor}
    return where | {"measured": measured, "bound": bound, "t": t}


def _number(value: float) -> str:
    """Short: 0.01, 1000, 10⁻⁶, 2.5e−7."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    power = round(math.log10(abs(value)))
    if math.isclose(abs(value), 10.0**power, rel_tol=1e-9):
        raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{'−' if value < 0 else ''}10{raised}"
    return f"{value:.2g}".replace("-", "−")


_SIZE, _MARGIN = 220, 22
#: What may be drawn as points, and what as a direction.
_POINTS, _DIRECTIONS = ("rows", "x"), ("w", "f", "theta_1")


def drawing(data: dict[str, Any]) -> str:
    """A witness in the plane: rows, the direction that it is about, and its hyperplane.

    It is "" if the data do not lie in the plane.
    """
    points = [p for name in _POINTS for p in _vectors(data.get(name))]
    arrows = [(name, p) for name in _DIRECTIONS for p in _vectors(data.get(name)) if any(p)]
    if not points:
        return ""
    reach = max(abs(c) for p in (*points, *(p for _, p in arrows)) for c in p) or 1.0
    unit = (_SIZE / 2 - _MARGIN) / reach
    label = f"{len(points)} rows in the plane" if len(points) > 1 else "one point in the plane"
    return drawn(
        "plane.svg",
        size=_SIZE,
        label=label,
        arrows=[_arrow(name, p, unit) for name, p in arrows],
        rows=[_row(k, p, unit) for k, p in enumerate(points, 1)],
    )


def _place(p: tuple[float, float], unit: float) -> dict[str, Any]:
    return {"x": round(_SIZE / 2 + unit * p[0], 1), "y": round(_SIZE / 2 - unit * p[1], 1)}


def _arrow(name: str, p: tuple[float, float], unit: float) -> dict[str, Any]:
    """A direction, and half the length of its hyperplane."""
    length = math.hypot(*p)
    plane = {"a": _SIZE * p[1] / length, "b": _SIZE * p[0] / length}
    return _place(p, unit) | plane | {"name": name.replace("_1", "₁")}


def _row(number: int, p: tuple[float, float], unit: float) -> dict[str, Any]:
    at = _place(p, unit)
    side, anchor = (8, "start") if at["x"] < _SIZE * 0.62 else (-8, "end")
    low = str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    shown = ", ".join(f"{c:g}" for c in p).replace("-", "−")
    return at | {"side": side, "anchor": anchor, "name": f"a{low} = ({shown})"}


def _vectors(value: Any) -> list[tuple[float, float]]:
    """Vectors of the plane, if that is what it is: one, or a list of them."""
    if not isinstance(value, list) or not value:
        return []
    rows = value if all(isinstance(one, list) for one in value) else [value]
    if any(len(row) != 2 for row in rows):
        return []
    try:
        return [(float(Fraction(a)), float(Fraction(b))) for a, b in rows]
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return []
