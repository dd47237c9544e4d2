"""What ``gammabar oracle --explain`` adds to an answer, and ``--export`` writes to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gammabar.harness.screen.output import Stage

if TYPE_CHECKING:
    from gammabar.oracle.result import Margin
    from gammabar.problems import Problem

#: Rows and numbers that are listed for people; JSON has all of them.
SHOWN = 12


def explanation(found: Margin, stage: Stage) -> tuple[dict[str, Any], dict[str, str]]:
    """The rows behind an answer, and the classifier: as JSON fields and as lines for people."""
    problem, rows = found.problem, [int(i) for i in found.support]
    weights = [v / found.total for v in found.numerators]
    answer: dict[str, Any] = {
        "rows": rows,
        "lines": _lines(problem, rows),
        "q": weights,
        "w": None,
        "b": None,
    }
    lines = {}
    if found.separable:
        lines["on the margin"] = named(problem, rows)
        more, words = _hyperplane(found)
        answer |= more
        lines |= words
    elif found.separable is False:
        lines["conflict"] = f"{named(problem, rows)}: without any one of these, the others agree"
        more, words = _removal(found, stage)
        answer |= more
        lines |= words
    lines["q̄"] = _numbers(weights)
    return answer, lines


def _hyperplane(found: Margin) -> tuple[dict[str, Any], dict[str, str]]:
    """w and b, or why they are not told."""
    from gammabar.problems import ProblemError

    try:
        parts = classifier(found)
    except ProblemError as error:
        return {}, {"w": str(error)}
    b = parts["b"] if isinstance(parts["b"], list) else [parts["b"]]
    return parts, {"w": _numbers(parts["w"]), "b": _numbers(b)}


def classifier(found: Margin) -> dict[str, Any]:
    """w and b of separable data, as lists and numbers."""
    b = getattr(found, "b", 0.0)
    return {"w": found.w.tolist(), "b": b if isinstance(b, float) else b.tolist()}


def write_classifier(found: Margin, path: Path) -> None:
    """w, b, support, q and gamma as an .npz file; w and b are empty if nothing separates."""
    import numpy as np

    parts: dict[str, Any] = {"w": [], "b": []}
    if found.separable:
        parts = classifier(found)
    arrays: dict[str, Any] = {name: np.asarray(v, dtype=np.float64) for name, v in parts.items()}
    from gammabar.problems.writing import whole

    with whole(path, "wb") as stream:
        np.savez(
            stream,
            **arrays,
            support=found.support,
            q=np.array([v / found.total for v in found.numerators]),
            gamma=np.array([found.gamma_lo, found.gamma_hi]),
        )


def named(problem: Problem, rows: list[int]) -> str:
    """Rows by their lines in the file, or by their numbers from 0."""
    lines = _lines(problem, rows)
    what, items = ("rows (from 0)", rows) if lines is None else ("lines", lines)
    shown = ", ".join(map(str, items[:SHOWN])) + (", …" if len(items) > SHOWN else "")
    return f"{what} {shown} ({len(items)})"


def _lines(problem: Problem, rows: list[int]) -> list[int] | None:
    """Lines of a text file, counted from 1; None for other data."""
    source = problem.source
    if source is None or source.lines is None:
        return None
    per_point = problem.n // len(source.lines)  # several classes: k − 1 rows for each point
    return [int(source.lines[i // per_point]) for i in rows]


def _removal(found: Margin, stage: Stage) -> tuple[dict[str, Any], dict[str, str]]:
    """Rows without which the data are separable."""
    from gammabar.oracle.conflicts import smallest_removal
    from gammabar.oracle.result import Truth
    from gammabar.problems import ProblemError

    truth = getattr(found, "truth", found)
    if not isinstance(truth, Truth):
        return {}, {}
    try:
        removal = smallest_removal(truth, progress=stage)
    except ProblemError:  # kernels and several classes
        return {}, {}
    answer = {"removal": removal.rows, "removal_least": removal.least}
    answer["removal_lines"] = _lines(truth.problem, removal.rows or [])
    if removal.rows is None:
        return answer, {"to remove": f"at least {removal.least} rows; no small set was found"}
    words = named(truth.problem, removal.rows)
    bound = "the fewest" if removal.smallest else f"at least {removal.least} have to go"
    return answer, {"to remove": f"{words}: then the data are separable; {bound}"}


def _numbers(values: list[float]) -> str:
    flat = [f"{v:.6g}" for v in values[:SHOWN]]
    return ", ".join(flat) + (f", … ({len(values)} numbers)" if len(values) > SHOWN else "")
