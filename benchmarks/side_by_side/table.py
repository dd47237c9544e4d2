"""Tables, once for the terminal and once for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """A table with a title above and remarks below it."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """For the page."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        shown = "\n".join("| " + " | ".join(map(_safe, line)) + " |" for line in lines)
        return "\n\n".join([f"**{self.title}**", shown, *self.notes])

    def show(self) -> None:
        """For the terminal."""

        from gammabar.harness.screen import print_table, say

        plain = [tuple(cell.replace("**", "") for cell in row) for row in self.rows]
        print_table(self.columns, plain, self.title)
        for note in self.notes:
            say(note)


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|")


def duration(seconds: float | None) -> str:
    """Seconds for people, to three digits."""
    if seconds is None:
        return ""
    units = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"))
    factor, unit = next((u for u in units if seconds * u[0] >= 0.9995), units[-1])
    return f"{digits(seconds * factor)} {unit}"


def ratio(value: float | None) -> str:
    """A ratio of times for people: two digits are all that a clock can promise."""
    return "" if value is None or not math.isfinite(value) else f"{digits(value, 2)}×"


def digits(value: float, count: int = 3) -> str:
    """So many significant digits, without an exponent where the number is of human size."""
    value = float(f"{value:.{count}g}")
    if value == 0 or not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{count}g}"
    places = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def percent(fraction: float) -> str:
    """A fraction for people: as many nines as there are."""
    if not 0.99 <= fraction < 1:
        return f"{100 * fraction:.3g} %"
    places = 1 - math.floor(math.log10(100 * (1 - fraction)))
    return f"{100 * fraction:.{min(places, 6)}f} %"


def named(rows: Sequence[dict[str, object]]) -> list[str]:
    """Who took no part, in words."""
    absent = [str(row["name"]) for row in rows if row.get("absent")]
    return [f"Not installed, and left out: {', '.join(absent)}."] if absent else []
