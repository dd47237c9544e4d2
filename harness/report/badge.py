"""A badge for a README: what the verdicts amount to."""

from __future__ import annotations

from gammabar.harness.report.markup import Markup, tag
from gammabar.harness.report.model import Report, Standing

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
