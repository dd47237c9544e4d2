"""The classifiers on every pair of classes of a data set, one after the other: wins and losses."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from functools import partial
from itertools import combinations
from statistics import median
from time import sleep
from typing import Any

import numpy as np
from side_by_side import contest
from side_by_side.table import Table, duration, ratio

from gammabar.harness.screen import Stage
from gammabar.problems import load

#: Who is compared with whom.
RIVALS = ("SVC(kernel='linear', C=1e6)", "LinearSVC (LIBLINEAR, hinge, C=1e6)")
OURS = ("MaxMarginClassifier", "MaxMarginClassifier(proof=False)")


def compare(name: str, makers: dict[str, Callable[[], Any]], repeat: int, say: Stage) -> Any:
    """Median times of all pairs that are separable, and what the margins lack.

    A contestant fits all pairs one after the other, in turns with the others; as a fit takes a few
    milliseconds, the first turn, in which code is loaded, does not count.
    """
    problem: Any = load(name, multiclass=True)
    X, labels = np.asarray(problem.X), np.asarray(problem.labels)
    classes = combinations(range(int(labels.max()) + 1), 2)
    pairs = [(a, b, np.isin(labels, (a, b))) for a, b in classes]
    data = {
        (a, b): (X[rows], X[rows] / problem.radius, np.where(labels[rows] == a, 1, -1))
        for a, b, rows in pairs
    }
    times: dict[str, dict[Any, list[float]]] = {who: {pair: [] for pair in data} for who in makers}
    margins: dict[str, dict[Any, float]] = {who: {} for who in makers}
    order = random.Random(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iteration limits: what they cost is in the margins
        for turn in range(repeat + 1):
            for who in order.sample(list(makers), len(makers)):
                say(f"{name}, all pairs: {who}, turn {turn + 1}")
                sleep(contest.PAUSE)
                for pair, (whole, unit, y) in data.items():
                    given = whole if who in OURS else unit
                    model = makers[who]()
                    seconds = contest.seconds_of(partial(model.fit, given, y))
                    times[who][pair] += [seconds] if turn else []
                    if not turn:
                        radius = problem.radius if who in OURS else 1.0
                        margins[who][pair] = _margin(model, given, y) / radius
    rows = []
    kept = [pair for pair in data if margins[OURS[0]][pair] > 0]
    for who in makers:
        medians = [median(times[who][pair]) for pair in kept]
        missing = [1 - margins[who][pair] / margins[OURS[0]][pair] for pair in kept]
        rows.append({"name": who, "times": medians, "missing": missing})
    sizes = sorted(len(data[pair][2]) for pair in kept)
    return {
        "data": name,
        "pairs": [f"{a},{b}" for a, b in kept],
        "n": [sizes[0], sizes[-1]],
        "d": X.shape[1],
        "rows": rows,
    }


def _margin(model: Any, X: Any, y: Any) -> float:
    """The margin of what a classifier found."""
    w, b = np.asarray(model.coef_).ravel(), float(np.ravel(model.intercept_)[0])
    return float((y * (X @ w + b)).min() / (np.linalg.norm(w) or 1.0))


def table(result: dict[str, Any]) -> Table:
    """How often ours are faster than others, by how much at worst, and with which margins."""
    least, most = result["n"]
    title = (
        f"{result['data']}: each of its {len(result['pairs'])} separable pairs,"
        f" {least:,}–{most:,} × {result['d']}, all rows fitted"
    )
    columns = ["classifier", "time, all pairs"]
    for who in RIVALS:
        columns += [f"faster than {who.split(' ')[0].split('(')[0]}", "median ratio", "worst ratio"]
    times = {row["name"]: row["times"] for row in result["rows"]}
    lines = []
    for row in result["rows"]:
        line = [row["name"], duration(sum(row["times"]))]
        for rival in RIVALS:
            ratios = [a / b for a, b in zip(row["times"], times[rival], strict=True)]
            if row["name"] == rival:
                line += ["", "", ""]
                continue
            won = sum(value < 1 for value in ratios)
            line += [f"{won} of {len(ratios)}", ratio(median(ratios)), ratio(max(ratios))]
        missing = row["missing"]
        line += [_part(median(missing)), _part(max(missing))]
        lines.append(tuple(line))
    return Table(title, (*columns, "margin missing, median", "most"), lines)


def _part(value: float) -> str:
    return "< 1e-12" if value < 1e-12 else f"{value:.2g}"
