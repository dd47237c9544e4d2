"""A witness in the plane, drawn: rows, the direction that it is about, and its hyperplane."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

SIZE, MARGIN = 220, 22
#: What may be drawn as points, and what as a direction.
_POINTS, _DIRECTIONS = ("rows", "x"), ("w", "f", "theta_1")


def drawing(data: dict[str, Any]) -> str:
    """SVG of a witness whose data lie in the plane; "" if they do not."""
    points = [p for name in _POINTS for p in _vectors(data.get(name))]
    arrows = [(name, p) for name in _DIRECTIONS for p in _vectors(data.get(name)) if any(p)]
    if not points:
        return ""
    reach = max(abs(c) for p in (*points, *(p for _, p in arrows)) for c in p) or 1.0
    unit = (SIZE / 2 - MARGIN) / reach
    middle = SIZE / 2

    def place(p: tuple[float, float]) -> tuple[float, float]:
        return round(middle + unit * p[0], 1), round(middle - unit * p[1], 1)

    parts = [f'<path class="axis" d="M0 {middle}H{SIZE}M{middle} 0V{SIZE}"/>']
    for name, p in arrows:
        x, y = place(p)
        length = (p[0] ** 2 + p[1] ** 2) ** 0.5
        a, b = SIZE * p[1] / length, SIZE * p[0] / length
        parts.append(
            f'<path class="plane" d="M{middle - a:.1f} {middle - b:.1f}'
            f'L{middle + a:.1f} {middle + b:.1f}"/>'
        )
        parts.append(f'<path class="arrow" d="M{middle} {middle}L{x} {y}"/>')
        parts.append(f'<circle class="arrow" cx="{x}" cy="{y}" r="3"/>')
        parts.append(f'<text x="{x + 6}" y="{y - 6}">{escape(name.replace("_1", "₁"))}</text>')
    for number, p in enumerate(points):
        x, y = place(p)
        shown = ", ".join(f"{c:g}" for c in p).replace("-", "−")
        parts.append(f'<circle class="row" cx="{x}" cy="{y}" r="5"/>')
        side, anchor = (8, "start") if x < SIZE * 0.62 else (-8, "end")
        name = f"a{_low(number + 1)} = ({shown})"
        parts.append(f'<text x="{x + side}" y="{y + 15}" text-anchor="{anchor}">{name}</text>')
    label = f"{len(points)} rows in the plane" if len(points) > 1 else "one point in the plane"
    return (
        f'<svg class="planar" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )


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


def _low(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
