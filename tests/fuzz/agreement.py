"""Two readers, one specification: gammabar's and that of the independent checker.

Both refuse a file, or both read the same labels and exactly the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gammabar.oracle import check_readers as checker
from gammabar.problems import ProblemError
from gammabar.problems.files import label_text
from gammabar.problems.text_readers import Points

from .target import Fault

Content = tuple[list[str], int, list[dict[int, Any]]]  # labels, columns, values that are not zero


def agree(
    path: Path,
    form: str,
    reader: Callable[[], Points],
    label: str | int | None = None,
    *beside: Path,
) -> None:
    """Raise `Fault` if the two readers differ; ProblemError if both refuse."""
    refusal = None
    try:
        points = reader()
        ours = _content(points)
        label, arrays = points.label, points.arrays
    except ProblemError as error:
        if re.search("too much for this machine|would need vectors of", str(error)):
            raise  # a limit of the machine, not of the format
        refusal, ours, arrays = error, None, None
        if isinstance(label, str) and re.fullmatch("[+-]?[0-9]{1,9}", label):
            label = int(label)
    asked = ([path, *beside], form, label, arrays)
    theirs = _checker_content(*asked)
    if (ours is None) != (theirs is None):
        who = "the checker" if ours is None else "gammabar"
        raise Fault(f"only {who} reads it ({refusal or _reason(*asked)})")
    if ours != theirs:
        raise Fault(f"they read different things: {ours!r:.500} and {theirs!r:.500}")
    if refusal is not None:
        raise refusal


def _content(points: Points) -> Content:
    X = points.X.toarray() if hasattr(points.X, "toarray") else points.X
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        raise ProblemError("a value is not finite")
    if X.dtype.kind not in "iu" and X.dtype.kind != "f":
        X = X.astype(np.uint8)
    labels = np.asarray(points.labels).tolist()
    rows = [{j: v for j, v in enumerate(row) if v} for row in X.tolist()]
    return [label_text(label) for label in labels], int(X.shape[1]), rows


def _read(paths: list[Path], form: str, label: Any, arrays: Any) -> Content:
    data = {"format": form, "files": [path.name for path in paths], "label": label}
    data["arrays"] = arrays and list(arrays)
    table, _ = checker.read(data, [str(path) for path in paths], checker.Budget(100))
    pairs = (zip(*table.row(i), strict=True) for i in range(len(table.labels)))
    return table.labels, table.width, [{j: v for j, v in row if v} for row in pairs]


def _checker_content(paths: list[Path], form: str, label: Any, arrays: Any) -> Content | None:
    try:
        return _read(paths, form, label, arrays)
    except Exception:  # check() turns all of them into Rejected
        return None


def _reason(paths: list[Path], form: str, label: Any, arrays: Any) -> str:
    try:
        _read(paths, form, label, arrays)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
