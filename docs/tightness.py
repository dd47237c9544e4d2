"""The page of the site about tightness, and its picture; ``docs/site/build.py`` asks for both.

They come from the registry and from papers/*/extremal.json, which docs/extremal.py writes. No
search is run; a test checks the runs that the page names again.
"""

from __future__ import annotations

from html import escape

from gammabar.harness.registry import Extremal, extremal, load_statements
from gammabar.harness.verify.statement import Statement, StoppingStatement

#: From here on a bound counts as attained.
ATTAINED = 0.99
COLOURS = {"jst": "#1b5e9e", "tyurin": "#b3261e", "rp": "#2e7d32", "lec": "#6a4c93", "gb": "#555"}
NAMES = {
    "jst": "Ji, Srebro and Telgarsky",
    "tyurin": "Tyurin",
    "rp": "Ramdas and Peña",
    "lec": "the lecture",
    "gb": "our own",
}

#: Why there is room, where that is known.
PROVED = {
    "gb.sharp": "none in the limit: gb.four reaches 0.89 with 100,000 rows",
    "jst.thm3.1.1": "1 + 2 ln(t+1) is not needed: at most 0.29 after the first step, by gb.sharp"
    " (for other steps of the method: Wang et al. 2023, Theorem 4)",
    "jst.thm5.1.fixed": "as jst.thm3.1.1: less than 1/3 from t = 9 on",
}

HEAD = """# How tight the bounds are

This page lists every bound that holds, of the sources and our own, with the largest ratio *measured
over bound* that was found; 1 means that the bound is attained. The runs come from the plan of
`gammabar verify` and from `gammabar falsify`, which tried {runs:,} runs for these {count}
statements. They are kept in `papers/*/extremal.json` and are part of the plan, so a change that
makes a bound fail there is noticed at once. `gammabar show ID` prints the run and the command.

The picture shows the {room_count} with a ratio below {least:g}; the other {attained_count} are
attained, and listed below.

![The ranking](tightness.svg)

## Room that nothing closed

On everything that was tried, the right side of the bound may be multiplied by this number. A
conjecture, unless the last column says why. If you can prove or refute one, please open an issue.

| statement | what is compared | largest ratio | on | t | found by | known |
|---|---|---|---|---|---|---|
{room}

## Attained, or nearly

| statement | ratio | on | t | found by |
|---|---|---|---|---|
{attained}

## Without a ratio

Equations, equivalences and facts have two sides that agree or not; a bound of 0 or a probability
has no useful ratio. `gammabar verify` checks them too; they do not appear here.
"""


def ranking() -> list[tuple[Statement, Extremal]]:
    """Bounds that hold, the loosest first."""
    statements = load_statements()
    known = extremal()
    found = [(statements[name], one) for name, one in known.items() if name in statements]
    return sorted(found, key=lambda pair: (pair[1].tightness, pair[0].id))


def page() -> str:
    """The page on tightness."""
    found = ranking()
    room = [pair for pair in found if pair[1].tightness < ATTAINED]
    attained = [pair for pair in found if pair[1].tightness >= ATTAINED]
    return HEAD.format(
        runs=sum(one.runs for _, one in found),
        count=len(found),
        least=ATTAINED,
        room_count=len(room),
        attained_count=len(attained),
        room="\n".join(_row(s, one) for s, one in room),
        attained="\n".join(_short(s, one) for s, one in reversed(attained)),
    )


def _row(statement: Statement, one: Extremal) -> str:
    said = statement.words if isinstance(statement, StoppingStatement) else one.what
    what = said.replace("|", r"\|").replace("*", r"\*").replace("<", r"\<")
    known = PROVED.get(statement.id, "")
    where = f"{_where(one)} | {_t(one)} | {_how(one)} | {known}"
    return f"| `{statement.id}` | {what} | {_number(one.tightness)} | {where} |"


def _short(statement: Statement, one: Extremal) -> str:
    ratio = _number(one.tightness)
    return f"| `{statement.id}` | {ratio} | {_where(one)} | {_t(one)} | {_how(one)} |"


def _where(one: Extremal) -> str:
    problem = one.problem if len(one.problem) <= 60 else one.problem[:59] + "…"
    solver = f", `{one.solver}`" if ":" in one.solver else ""
    return (f"`{problem}`" if problem else "its own data") + solver


def _t(one: Extremal) -> str:
    return "" if one.worst_t is None else str(one.worst_t)


def _how(one: Extremal) -> str:
    searched = f" ({one.runs:,} runs)" if one.runs else ""
    return one.found_by + searched


def _number(ratio: float) -> str:
    return "≤ 0" if ratio <= 0 else f"{ratio:.3f}" if ratio >= 0.0995 else f"{ratio:.2g}"


# --- the picture -----------------------------------------------------------------------------

LINE, LEFT, WIDE = 18, 230, 420


def picture() -> str:
    """The bounds with room as SVG: a dot for each, hollow where a search found it."""
    found = [pair for pair in reversed(ranking()) if pair[1].tightness < ATTAINED]
    height = LINE * len(found) + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 30} {height}" '
        f'width="{LEFT + WIDE + 30}" role="img" aria-label="ratio of each bound">',
        "<style>svg{background:#fff}text{font:12px sans-serif;fill:#222}</style>",
    ]
    parts.append('<text x="8" y="16">● plan, ○ gammabar falsify</text>')
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = LEFT + WIDE * tick
        parts.append(f'<path d="M{x} 22V{height - 28}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="16" text-anchor="middle">{tick:g}</text>')
    for place, (statement, one) in enumerate(found):
        y = 30 + LINE * place
        x = round(LEFT + WIDE * max(one.tightness, 0.0), 1)
        colour = COLOURS[statement.source]
        fill = colour if one.found_by == "plan" else "#fff"
        name = escape(statement.id)
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
        parts.append(f'<path d="M{LEFT} {y}H{x}" stroke="{colour}" stroke-opacity=".35"/>')
        dot = f'cx="{x}" cy="{y}" r="3.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"'
        parts.append(f"<circle {dot}><title>{name}: {one.tightness:.4g}</title></circle>")
    for place, (source, name) in enumerate(NAMES.items()):
        x = 14 + 132 * place + (40 if place else 0)
        parts.append(f'<circle cx="{x}" cy="{height - 14}" r="3.5" fill="{COLOURS[source]}"/>')
        parts.append(f'<text x="{x + 8}" y="{height - 11}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
