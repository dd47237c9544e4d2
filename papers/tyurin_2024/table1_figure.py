"""Table 1, all three parts: every n that fits the first, twenty subsamples for the other two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

from gammabar.harness.library import Artefact, Shown
from gammabar.papers.tyurin_2024.table1 import FASHION, IMBALANCED, WORST, Table, standing
from gammabar.papers.tyurin_2024.table1_runs import sizes_that_fit, subsample

LARGEST = 10_000
SEEDS = 20
#: Part of the table → data, its methods with their counts, and how long a run may be.
PARTS = {
    "imbalanced": ("fashion:0,4:keep=0.1,repeat=10", IMBALANCED, 4000),
    "default": ("fashion:0,4:n=5000", FASHION, 12_000),
}
TITLES = {"imbalanced": "Imbalanced Fashion MNIST", "default": "Fashion MNIST (default setup)"}


def _name(part: str, seed: int, quick: bool) -> tuple[str, str, Table, int]:
    spec, table, most = PARTS[part]
    if quick:
        chosen = {"imbalanced": "keep=0.15,repeat=10", "default": "n=200"}[part]
        spec, most = f"mnist-sample:7,8:{chosen}", 400
    spec = f"{spec},seed={seed}"
    return f"Table 1, {part}: counts on {spec}, at most {most}", spec, table, most


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    largest = 1200 if quick else LARGEST
    parts: dict[str, Callable[[], Any]] = {
        f"Table 1, worst case: n ≤ {largest}": partial(sizes_that_fit, WORST, largest)
    }
    for part in PARTS:
        for seed in range(3 if quick else SEEDS):
            name, spec, table, most = _name(part, seed, quick)
            parts[name] = partial(subsample, spec, table, most)
    return parts


def _counts(part: str, numbers: dict[str, Any]) -> list[list[int]]:
    """One row for each subsample."""
    return [value for name, value in numbers.items() if name.startswith(f"Table 1, {part}:")]


def _worst(numbers: dict[str, Any]) -> Any:
    return next(value for name, value in numbers.items() if "worst case" in name)


def _label(method: tuple[str, float]) -> str:
    name = {"lr-gd": "LR+GD", "normalized-lr-gd": "Normalized LR+GD"}[method[0]]
    return f"{name}, step {method[1]:g}"


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
    figure.set_size_inches(8.4, 4.4)
    worst = _worst(numbers)
    for axes, part in zip(figure.subplots(1, 2), PARTS, strict=True):
        table, found = PARTS[part][1], _counts(part, numbers)
        columns = list(zip(*found, strict=True))
        places = range(len(table))
        for place, column in zip(places, columns, strict=True):
            axes.plot(column, [place] * len(column), "o", ms=3.5, mfc="none", color="#0072b2")
            axes.plot(median(column), place, "|", ms=16, mew=1.5, color="black")
        axes.plot(list(table.values()), places, "D", ms=6, color="#d55e00", ls="")
        axes.set_yticks(places, [_label(method) for method in table], fontsize=7)
        axes.invert_yaxis()
        small = any("mnist-sample" in name for name in numbers)
        title = "embedded digits instead (--quick)" if small else TITLES[part]
        axes.set(xlabel="iterations", title=title, xlim=(0, None))
    handles = [*axes.lines[:2], axes.lines[-1]]
    names = ["a subsample", "median", "printed in Table 1"]
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8)
    fits = ", ".join(map(str, worst["n"]))
    figure.suptitle(f"First part: all five counts for n = {fits} alone (n ≤ {worst['largest']:,})")


def _shown(numbers: dict[str, Any]) -> list[Shown]:
    worst = _worst(numbers)
    ranges = "; ".join(f"{name} for n in {lo}–{hi}" for name, (lo, hi) in worst["each"].items())
    shown = [
        Shown(
            "worst-case data: 2, 2, 16, 157 and 308 iterations",
            bool(worst["n"]),
            f"all five for n = {', '.join(map(str, worst['n'])) or 'none'} and no other"
            f" n ≤ {worst['largest']:,} ({ranges})",
        )
    ]
    for part in PARTS:
        shown += _printed(part, _counts(part, numbers))
    return [*shown, *_caption(numbers)]


def _printed(part: str, found: list[list[int]]) -> list[Shown]:
    """Printed counts beside those of subsamples; which one was the paper's is not known."""
    table = PARTS[part][1]
    columns = list(zip(*found, strict=True))
    words = "; ".join(
        f"{_label(method)}: {printed}, found {min(column)}–{max(column)}, median {median(column):g}"
        for (method, printed), column in zip(table.items(), columns, strict=True)
    )
    try:
        status = standing(table, tuple(map(tuple, found)))
    except ValueError as error:
        status = f"outside: {error}"
    claim = f"{TITLES[part]}: printed counts (the subsample is not given: {status})"
    return [Shown(claim, False if status.startswith("outside") else None, words)]


def _caption(numbers: dict[str, Any]) -> list[Shown]:
    """What the caption says of the fastest Normalized LR+GD against the fastest LR+GD."""
    shown = []
    for part, wanted, claim in (
        ("imbalanced", True, "1.7 times faster on the second data set"),
        ("default", False, "only 1.1 times slower on the third data set"),
    ):
        methods = list(PARTS[part][1])
        ratios = [
            min(c for c, m in zip(row, methods, strict=True) if m[0] == "lr-gd")
            / min(c for c, m in zip(row, methods, strict=True) if m[0] != "lr-gd")
            for row in _counts(part, numbers)
        ]
        faster = sum(ratio > 1 for ratio in ratios)
        middle = median(ratios)
        shown.append(
            Shown(
                f"Normalized LR+GD is {claim}",
                (middle > 1) is wanted,
                f"faster on {faster} of {len(ratios)} subsamples, median {middle:.2f} times"
                f" ({min(ratios):.2f}–{max(ratios):.2f})",
            )
        )
    return shown


ARTEFACTS = (
    Artefact(
        id="tyurin.table1",
        reference="Table 1",
        title="Iterations of LR+GD and Normalized LR+GD, all three parts",
        parts=_parts,
        draw=_draw,
        shown=_shown,
        data=("fashion",),
    ),
)
