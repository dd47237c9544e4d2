"""A curve of measured quantity and bound over t, as SVG that takes its colours from the page.

A witness in the plane, drawn: rows, the direction that it is about, and its hyperplane.

A badge for a README: what the verdicts amount to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from gammabar.harness.report.model import Report, Standing
from gammabar.harness.verify.verdict import Point

#: They have no end, and nothing inside.
_EMPTY = {"br", "hr", "input", "meta", "link", "img"}


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def safe(part: object) -> Markup:
    """Anything as HTML."""
    return part if isinstance(part, Markup) else Markup(escape(str(part)))


def join(parts: object, between: str = "") -> Markup:
    """Several things one after the other."""
    assert not isinstance(parts, str)
    return Markup(between.join(safe(part) for part in parts))  # type: ignore[attr-defined]


def tag(name: str, /, *inside: object, **attributes: object) -> Markup:
    """An element.

    Attributes that are None or False are left out, those that are True have no value; an underscore
    at the end is dropped (``class_``), others become hyphens.
    """
    start = name + "".join(
        f" {_attribute_name(key)}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{join(inside)}</{name}>")


def _attribute_name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 34


@dataclass(frozen=True)
class Scale:
    """From numbers to places on the paper.

    Attributes
    ----------
    low, high : float
        Of the numbers.
    start, end : float
        Where they lie on the paper.
    log : bool
    """

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        if self.log:
            value, low, high = (
                math.log(max(value, self.low)),
                math.log(self.low),
                math.log(self.high),
            )
        else:
            low, high = self.low, self.high
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


def scale(values: Sequence[float], start: float, end: float, log: bool) -> Scale:
    """A scale that holds all values, and never a mere point."""
    low, high = min(values), max(values)
    if log:
        low, high = (low / 1.5, high * 1.5) if high < 1.1 * low else (low, high)
    elif high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1), high + (abs(high) or 1)
    return Scale(low, high, start, end, log)


def _drawable(points: Sequence[Point]) -> list[Point]:
    """Numbers whose differences are numbers, too."""
    limit = 1e300

    def tamed(value: float) -> float:
        return min(limit, max(-limit, value))

    return [(t, tamed(left), tamed(bound)) for t, left, bound in points]


def chart(
    points: Sequence[Point], marked: int | None, label: str, silent: int | None = None
) -> str:
    """The picture.

    Parameters
    ----------
    points : sequence of (t, measured, bound)
        At least two.
    marked : int or None
        The worst iterate.
    label : str
        For those who cannot see it.
    silent : int or None
        Up to this t the bound says nothing.
    """
    points = _drawable(points)
    times = [max(t, 0.5) for t, _, _ in points]
    numbers = [value for _, *both in points for value in both]
    log = all(bound > 0 for *_, bound in points) and any(left > 0 for _, left, _ in points)
    shown = [n for n in numbers if n > 0] if log else numbers
    if log:  # what is next to zero would flatten all the rest
        shown = [n for n in shown if n >= 1e-9 * max(shown)]
    x = scale(times, LEFT, WIDTH - RIGHT, log=True)
    y = scale(shown, HEIGHT - BOTTOM, TOP, log)
    at = {t: (x(max(t, 0.5)), left, bound) for t, left, bound in points}
    parts = [_region(x, silent, points[0][0]), _axes(x, y, points[0][0] == 0)]
    parts.append(_line([(place, y(bound)) for place, _, bound in at.values()], "bound"))
    measured = [(place, y(left)) for place, left, _ in at.values() if not log or left > 0]
    parts.append(_line(measured, "measured"))
    if marked in at:
        place, left, bound = at[marked]
        parts.append(_mark(place, y(left), y(bound), marked))
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _line(places: list[tuple[float, float]], kind: str) -> str:
    if len(places) == 1:
        return f'<circle class="{kind}" cx="{places[0][0]}" cy="{places[0][1]}" r="2.5"/>'
    return f'<polyline class="{kind}" points="{" ".join(f"{a:g},{b:g}" for a, b in places)}"/>'


def _region(x: Scale, silent: int | None, first: int) -> str:
    if silent is None:
        return ""
    start, end = x(max(first, 0.5)), x(max(silent, 0.5))
    return (
        f'<rect class="silent" x="{start}" y="{TOP}" width="{max(end - start, 3):g}"'
        f' height="{HEIGHT - BOTTOM - TOP}"><title>up to t = {silent} the bound says nothing'
        "</title></rect>"
    )


def _axes(x: Scale, y: Scale, from_zero: bool) -> str:
    floor = HEIGHT - BOTTOM
    parts = []
    for value in y.ticks():
        place = y(value)
        parts.append(f'<path class="grid" d="M{LEFT} {place}H{WIDTH - RIGHT}"/>')
        parts.append(_text(LEFT - 6, place + 4, _number(value), "end"))
    for value in x.ticks():
        place = x(value)
        parts.append(f'<path class="grid" d="M{place} {TOP}V{floor}"/>')
        parts.append(_text(place, floor + 15, _number(value), "middle"))
    if from_zero:
        parts.append(_text(x(0.5), floor + 15, "0", "middle"))
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}"/>')
    parts.append(_text(WIDTH - RIGHT, HEIGHT - 3, "iterate t", "end"))
    return "".join(parts)


def _mark(x: float, measured: float, bound: float, t: int) -> str:
    side, anchor = (-8, "end") if x > WIDTH * 0.6 else (8, "start")
    above = measured + (16 if bound < measured else -8)
    return (
        f'<path class="gap" d="M{x} {measured}V{bound}"/>'
        f'<circle class="worst" cx="{x}" cy="{measured}" r="4.5"/>'
        + _text(
            x + side, min(max(above, TOP + 10), HEIGHT - BOTTOM - 4), f"t = {t}", anchor, "strong"
        )
    )


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _number(value: float) -> str:
    """Short: 0.01, 1000, 10⁻⁶, 2.5e−7."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    power = round(math.log10(abs(value)))
    if math.isclose(abs(value), 10.0**power, rel_tol=1e-9):
        raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{'−' if value < 0 else ''}10{raised}"
    return f"{value:.2g}".replace("-", "−")


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


#: Pixels of a letter, about, and of the room around a text.
_LETTER, _ROOM, _HEIGHT = 6.6, 10, 20


def badge(report: Report) -> str:
    """An SVG: "gammabar | 156 hold, 35 false as printed"."""
    wrong = len(report.unexpected)
    counts = report.standings
    parts = [f"{counts[Standing.HOLDS]} hold"]
    if counts[Standing.REFUTED]:
        parts.append(f"{counts[Standing.REFUTED]} false as printed")
    said = f"{wrong} not expected" if wrong else ", ".join(parts)
    name, colour = "gammabar", "#c2252b" if wrong else "#1a7f4b"
    left, right = (round(_LETTER * len(text) + 2 * _ROOM) for text in (name, said))
    width = left + right
    ground = [
        tag("rect", width=left, height=_HEIGHT, fill="#4a525c"),
        tag("rect", x=left, width=right, height=_HEIGHT, fill=colour),
    ]
    texts = [
        tag("text", name, x=left / 2, y=14),
        tag("text", said, x=left + right / 2, y=14),
    ]
    picture = tag(
        "svg",
        tag("title", f"{name}: {said}"),
        tag("clipPath", tag("rect", width=width, height=_HEIGHT, rx=4), id="round"),
        tag("g", *ground, clip_path="url(#round)"),
        tag(
            "g",
            *texts,
            fill="#fff",
            text_anchor="middle",
            font_family="Verdana,DejaVu Sans,sans-serif",
            font_size=11,
        ),
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=_HEIGHT,
        role="img",
    )
    return Markup(f"{picture}\n")
