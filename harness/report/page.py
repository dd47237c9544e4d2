"""The report as one page of HTML: no network, no script needed to read it.

Pictures as SVG that takes its colours from the page: curves, witnesses in the plane, a badge.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import gammabar
from gammabar.harness.registry import everything, matrix, papers, witness
from gammabar.harness.report.mathml import formula
from gammabar.harness.report.model import Finding, Report, Standing, described, public, standing
from gammabar.harness.run.tasks import Result
from gammabar.harness.screen import visible
from gammabar.harness.show import explain, reproduce
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Point, Ruling, Severity, worth

#: More problems than these do not fit on a page: then a column is a family of problems.
_MOST = 24
#: A sign for each, so that nobody needs the colours.
_SIGNS = {
    Standing.UNEXPECTED: "!",
    Standing.REFUTED: "✕",
    Standing.UNDECIDED: "?",
    Standing.VACUOUS: "○",
    Standing.HOLDS: "●",
    Standing.NOT_REPRODUCIBLE: "~",
    Standing.INAPPLICABLE: "·",
}
#: A check of the plan: the independent checker accepts the certificate of γ̄.
_CERTIFICATE = "oracle.certificate"
_ROOT = Path(gammabar.__file__).resolve().parents[1]


@dataclass(frozen=True)
class _Context:
    """What is known besides the runs of a statement.

    Attributes
    ----------
    killers : dict
        Statement → the wrong solvers that it refutes.
    certified : set of str
        Problems whose certificate the independent checker has accepted.
    present : set of str
        The statements that links may lead to.
    target : str
        Where a link leads, with {} for the id.
    """

    killers: dict[str, list[str]]
    certified: set[str]
    present: set[str]
    target: str = "#{}"


def context_of(report: Report) -> _Context:
    """Who kills whom, and which problems have a certificate that was checked."""
    killers: dict[str, list[str]] = {}
    for mutant, found in matrix().items():
        for identifier in found:
            killers.setdefault(identifier, []).append(mutant)
    certified = {
        result.run.problem
        for result in report.results
        if result.verdict.statement == _CERTIFICATE and result.verdict.verdict is Ruling.HOLDS
    }
    return _Context(killers, certified, {finding.id for finding in report.findings})


def page(report: Report, title: str = "gammabar report") -> str:
    """The whole page."""
    style, script = _asset("style.css"), _asset("script.js")
    return (
        _templates()
        .get_template("page.html")
        .render(
            report=report,
            title=title,
            style=style,
            script=script,
            policy=_policy(script),
            context=context_of(report),
            tiles=list(_tiles(report)),
            sources=[_source(*one) for one in report.sources.items()],
            attention=[_attention(result) for result in report.unexpected[:50]],
            refuted=_refuted(report),
            grid=_grid(report),
            signs=_SIGNS,
            choices=_choices(report),
            seeds=sorted({result.run.seed for result in report.results}),
            runs=Counter(result.run.problem for result in report.results),
        )
    )


def body(finding: Finding, context: _Context) -> Markup:
    """All that is known about a statement, and what was found, if anything was run."""
    module: Any = _templates().get_template("statement.html").module
    return Markup(module.body(finding, context))


def _templates() -> Environment:
    made = environment()
    made.filters |= {
        "code_place": _code_place,
        "described": described,
        "figure": _figure,
        "formula": lambda text: Markup(formula(text)),
        "json": lambda data: json.dumps(data, ensure_ascii=False),
        "plural": _plural,
        "public": public,
        "reproduce": reproduce,
        "runs_in_order": _runs_in_order,
        "slug": lambda text: text.replace(" ", "-"),
        "standing": standing,
    }
    made.globals |= {
        "chart": chart,
        "drawing": drawing,
        "papers": papers,
        "witness_data": _witness_data,
        "worth": worth,
    }
    return made


def _asset(name: str) -> Markup:
    return Markup("\n" + (TEMPLATES / name).read_text(encoding="utf-8"))


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


# --- the summary


def _tiles(report: Report) -> Iterator[tuple[int, Standing, str, str]]:
    """Number, kind, name and note of each tile."""
    severities = report.severities
    ways = ", ".join(f"{severities[one]} {one}" for one in Severity if severities[one])
    notes = {
        Standing.UNEXPECTED: "look at these first",
        Standing.HOLDS: "at every iterate checked",
        Standing.REFUTED: ways or "as expected",
        Standing.VACUOUS: "a solver that never moves would pass, too",
    }
    names = {Standing.HOLDS: "hold", Standing.REFUTED: "false as printed"}
    for kind in dict.fromkeys([Standing.UNEXPECTED, *names, *Standing]):
        number = report.standings[kind]
        if number or kind in names:
            yield number, kind, names.get(kind, _plural(kind)), notes.get(kind, "statements")


def _source(key: str, findings: list[Finding]) -> tuple[str, str, dict[Standing, int]]:
    """Key and name of a paper, and how many of its statements stand how."""
    names = {"oracle": "the oracle's own checks"} | {k: str(p) for k, p in papers().items()}
    counts = Counter(finding.standing for finding in findings)
    return key, names.get(key, key), {kind: counts[kind] for kind in Standing if counts[kind]}


def _plural(kind: Standing) -> str:
    return {Standing.HOLDS: "hold"}.get(kind, str(kind))


def _attention(result: Result) -> tuple[str, str]:
    identifier = result.verdict.statement
    if identifier not in everything():
        return identifier, f"{identifier}: {result.verdict.verdict}"
    return identifier, public(explain(result))


def _refuted(report: Report) -> list[Finding]:
    """The statements that are false as printed, the worst first."""
    found = [
        one
        for one in report.findings
        if one.standing is Standing.REFUTED and one.statement is not None and one.severity
    ]
    return sorted(found, key=lambda one: list(Severity).index(one.severity or Severity.SUBSTANCE))


def _choices(report: Report) -> dict[str, list[str]]:
    """What the statements of the page can be chosen by."""
    return {
        "source": list(report.sources),
        "standing": [str(kind) for kind in Standing if report.standings[kind]],
        "severity": [str(kind) for kind in Severity if report.severities[kind]],
        "kind": sorted({f.statement.kind for f in report.findings if f.statement is not None}),
    }


# --- the matrix statements × problems


def _grid(report: Report) -> dict[str, Any]:
    families = len(report.problems) > _MOST
    column = _family if families else _name
    columns = list(dict.fromkeys(column(result) for result in report.results))
    used = {standing(result) for result in report.results}
    return {
        "families": families,
        "columns": columns,
        "kinds": [kind for kind in Standing if kind in used],
        "bodies": [
            [(finding.id, _cells(finding, columns, column)) for finding in findings]
            for findings in report.sources.values()
        ],
    }


def _name(result: Result) -> str:
    return public(result.run.problem) or "own data"


def _family(result: Result) -> str:
    """What stands before the options of a problem."""
    name = public(result.run.problem)
    return name.split()[0].partition(":")[0] if name else "own data"


def _cells(
    finding: Finding, columns: list[str], column: Callable[[Result], str]
) -> list[dict[str, Any] | None]:
    cells: dict[str, list[Result]] = {}
    for result in finding.results:
        cells.setdefault(column(result), []).append(result)
    return [_cell(cells[name]) if name in cells else None for name in columns]


def _cell(results: list[Result]) -> dict[str, Any]:
    worst = min(map(standing, results), key=list(Standing).index)
    known = [r.verdict.tightness for r in results if r.verdict.tightness is not None]
    names = list(dict.fromkeys(public(r.run.problem) for r in results if r.run.problem))
    title = f"{worst}, {len(results)} run{'s' * (len(results) > 1)}"
    title += f", tightness {max(known):.3g}" if known else ""
    title += f": {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" if names else ""
    return {"kind": worst, "title": title, "runs": len(results)}


# --- one statement


def _runs_in_order(finding: Finding) -> list[Result]:
    """The runs, those first that matter most."""
    order = list(Ruling)

    def key(result: Result) -> tuple[Any, ...]:
        verdict = result.verdict
        place = order.index(Ruling(verdict.verdict))
        return result.as_expected, -place, -(verdict.tightness or 0)

    return sorted(finding.results, key=key)


def _figure(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _witness_data(identifier: str) -> dict[str, Any] | None:
    path = witness(identifier)
    if path is None:
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")).get("data", {})
    return data


def _code_place(statement: Statement) -> str:
    """The file and line of a statement, in the repository."""
    try:
        file = inspect.getsourcefile(statement.body) or ""
        line = inspect.getsourcelines(statement.body)[1]
    except (OSError, TypeError):
        return str(getattr(statement.body, "__module__", ""))
    return f"{_relative(Path(file))}:{line}"


def _relative(path: Path) -> str:
    """A path from the root of the repository; only the name of what lies elsewhere."""
    path = path.resolve()
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else path.name


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


def _drawn(template: str, **values: Any) -> Markup:
    return Markup(environment().get_template(template).render(values))


_WIDTH, _HEIGHT = 420, 250
#: Where the axes are.
_LEFT, _RIGHT, _TOP, _FLOOR = 52, _WIDTH - 12, 12, _HEIGHT - 34


@dataclass(frozen=True)
class _Scale:
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


def _scale(values: Sequence[float], start: float, end: float, log: bool) -> _Scale:
    """A scale that holds all values, and never a mere point."""
    low, high = min(values), max(values)
    if log:
        low, high = (low / 1.5, high * 1.5) if high < 1.1 * low else (low, high)
    elif high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1), high + (abs(high) or 1)
    return _Scale(low, high, start, end, log)


def chart(
    points: Sequence[Point], marked: int | None, label: str, silent: int | None = None
) -> Markup:
    """The curves of a measured quantity and its bound over t.

    Parameters
    ----------
    points : sequence of (t, measured, bound)
        At least two.
    marked : int or None
        The worst iterate.
    label : str
        For those who cannot see it.
    silent : int or None
        Up to this t the bound is vacuous.
    """
    points = [(t, _tamed(left), _tamed(bound)) for t, left, bound in points]
    numbers = [value for _, *both in points for value in both]
    log = all(bound > 0 for *_, bound in points) and any(left > 0 for _, left, _ in points)
    shown = [n for n in numbers if n > 0] if log else numbers
    if log:  # what is next to zero would flatten all the rest
        shown = [n for n in shown if n >= 1e-9 * max(shown)]
    x = _scale([max(t, 0.5) for t, _, _ in points], _LEFT, _RIGHT, log=True)
    y = _scale(shown, _FLOOR, _TOP, log)
    at = {t: (x(max(t, 0.5)), left, bound) for t, left, bound in points}
    first = points[0][0]
    return _drawn(
        "chart.svg",
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        floor=_FLOOR,
        label=label,
        rows=[(y(value), _number(value)) for value in y.ticks()],
        columns=[(x(value), _number(value)) for value in x.ticks()],
        zero=x(0.5) if first == 0 else None,
        bound=[(place, y(bound)) for place, _, bound in at.values()],
        measured=[(place, y(left)) for place, left, _ in at.values() if not log or left > 0],
        silent=None if silent is None else _region(x(max(first, 0.5)), x(max(silent, 0.5)), silent),
        mark=_mark(at[marked][0], y(at[marked][1]), y(at[marked][2]), marked)
        if marked in at
        else None,
    )


def _tamed(value: float) -> float:
    """Numbers whose differences are finite, too."""
    return min(1e300, max(-1e300, value))


def _region(start: float, end: float, t: int) -> dict[str, Any]:
    return {"start": start, "width": max(end - start, 3), "t": t}


def _mark(x: float, measured: float, bound: float, t: int) -> dict[str, Any]:
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
    return _drawn(
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
    length = (p[0] ** 2 + p[1] ** 2) ** 0.5
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


def badge(report: Report) -> str:
    """A badge for a README: "gammabar | 156 hold, 35 false as printed"."""
    failed, counts = len(report.unexpected), report.standings
    parts = [f"{counts[Standing.HOLDS]} hold"]
    if counts[Standing.REFUTED]:
        parts.append(f"{counts[Standing.REFUTED]} false as printed")
    said = f"{failed} failed" if failed else ", ".join(parts)
    left, right = (round(6.6 * len(text) + 20) for text in ("gammabar", said))
    colour = "#c2252b" if failed else "#1a7f4b"
    return _drawn("badge.svg", said=said, left=left, right=right, colour=colour)
