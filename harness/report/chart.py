"""A curve of measured quantity and bound over t, as SVG that takes its colours from the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from gammabar.harness.verify.verdict import Point

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
