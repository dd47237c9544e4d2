"""Figures 1–19 of Tyurin (2024), as three families.

- `ALIGNED`: accuracy of LR+GD with each step beside Batch Perceptron;
- `METRICS`: accuracy, loss and norm of the gradient of LR+GD, and Figure 1 with the first two;
- `BALANCED` and `IMBALANCED`: Batch Perceptron beside Normalized Batch Perceptron.

Figures of one subsample share its run. Beyond the paper each has the exact margin of its data.

Table 1, all three parts: every n that fits the first, twenty subsamples for the other two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from math import log
from statistics import median
from typing import Any

from gammabar.harness.paper import Artefact, Shown
from gammabar.papers.tyurin_2024.experiments import (
    BATCH,
    LR_GD,
    NORMALISED,
    STEPS,
    Sample,
    run,
    sizes_that_fit,
    subsample,
    truth,
)
from gammabar.papers.tyurin_2024.table1 import (
    FASHION_TABLE,
    IMBALANCED_TABLE,
    WORST,
    Table,
    standing,
)

CIFAR, CIFAR_LARGE = Sample("cifar", 5000, 3000), Sample("cifar", 10_000, 500)
FASHION, FASHION_LARGE = Sample("fashion", 5000, 6000), Sample("fashion", 10_000, 3000)
EUROSAT, MNIST = Sample("eurosat", 5000, 2000), Sample("mnist", 5000, 4000)
CIFAR_SMALL, FASHION_SMALL = Sample("cifar", 1000, 6000), Sample("fashion", 1000, 6000)

ALIGNED = {
    2: CIFAR,
    3: FASHION,
    8: EUROSAT,
    10: MNIST,
    12: CIFAR_LARGE,
    14: FASHION_LARGE,
    16: CIFAR_SMALL,
    18: FASHION_SMALL,
}
METRICS = {
    4: CIFAR,
    5: FASHION,
    9: EUROSAT,
    11: MNIST,
    13: CIFAR_LARGE,
    15: FASHION_LARGE,
    17: CIFAR_SMALL,
    19: FASHION_SMALL,
}
BALANCED = (CIFAR, FASHION, EUROSAT, MNIST)
#: EuroSAT takes longest: its margin is the smallest of the four.
IMBALANCED = tuple(Sample(one.dataset, 0, 20_000 if one is EUROSAT else 4000) for one in BALANCED)

#: Theorem 3.2 is about each t as γ grows: later on, steps as chaotic as these go their own ways.
EARLY = 10

#: From light to dark as the step grows, with dashes for greyscale.
SHADES = ("#b4de2c", "#35b779", "#1f9e89", "#31688e", "#443983", "#000000")
LINES = (":", (0, (5, 1)), "-.", "--", (0, (3, 1, 1, 1)), "-")


def _parts(samples: tuple[Sample, ...], quick: bool) -> Mapping[str, Callable[[], Any]]:
    return dict(make(sample, quick) for sample in samples for make in (run, truth))


class Found:
    """The numbers of a subsample."""

    def __init__(self, sample: Sample, numbers: dict[str, Any]) -> None:
        quick = run(sample, False)[0] not in numbers
        self.name = sample.spec(True) if quick else sample.name()
        self.numbers, self.truth = numbers[run(sample, quick)[0]], numbers[truth(sample, quick)[0]]
        self.n, self.last = self.numbers["n"], self.numbers["last"]
        courses = self.numbers["courses"]
        self.lr_gd = {m.step: courses[str(m)] for m in LR_GD}
        self.batch, self.normalised = courses[str(BATCH)], courses[str(NORMALISED)]

    def solved(self, course: dict[str, Any]) -> float:
        """The first t at which the data are separated; infinite if it was not reached."""
        return float("inf") if course["first"] is None else course["first"]

    def when(self, course: dict[str, Any]) -> str:
        """The same for people."""
        first = course["first"]
        return f"not in {self.last:,}" if first is None else f"{first:,}"

    def margin(self) -> str:
        """What is known of the margin, for people."""
        if self.truth["separable"] is None:
            return f"not settled: γ̄ ≤ {self.truth['gamma_hi']:.3g}, proved"
        if not self.truth["separable"]:
            return "not separable through the origin, proved"
        if self.truth["exact"]:
            return f"γ̄ = {self.truth['gamma']:.6g}, exact"
        return f"{self.truth['gamma_lo']:.4g} ≤ γ̄ ≤ {self.truth['gamma_hi']:.4g}, proved"


# --- beyond the paper: margins and bounds ----------------------------------------------------


def _separable(found: Found) -> list[Shown]:
    """What the theory says of these data, where the margin is known."""
    separable, gamma = found.truth["separable"], found.truth["gamma_lo"]
    words = found.margin() + (
        ": accuracy 1.0 cannot be reached without a bias" if separable is False else ""
    )
    shown = [Shown("the subsample is separable", separable, words)]
    if not separable:
        return shown
    bounds = (
        ("Batch Perceptron needs at most nR²/μ² iterations (Theorem 3.3)", found.batch, found.n),
        ("Normalized Batch Perceptron needs at most R²/μ² (Theorem 5.3)", found.normalised, 1),
    )
    for claim, course, factor in bounds:
        bound, first = factor / gamma**2, course["first"]
        holds = first <= bound if first is not None else (None if bound > found.last else False)
        shown.append(Shown(claim, holds, f"{found.when(course)}, bound {bound:.3g}"))
    return shown


# --- LR+GD beside Batch Perceptron -----------------------------------------------------------


def _draw_aligned(sample: Sample, figure: Any, numbers: dict[str, Any]) -> None:
    found = Found(sample, numbers)
    figure.set_size_inches(8.4, 4.6)
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, (step, course) in zip(panels.flat, found.lr_gd.items(), strict=True):
        axes.semilogx(course["t"], course["accuracy"], color="#d55e00", lw=1.6, ls="-")
        axes.semilogx(found.batch["t"], found.batch["accuracy"], color="black", lw=0.7, ls="--")
        axes.set_title(f"γ = {step:g}, separated: {found.when(course)}", fontsize=8)
    for axes in panels[1]:
        axes.set_xlabel("iterations")
    for axes in panels[:, 0]:
        axes.set_ylabel("accuracy")
    both = (panels[0, 0].get_lines(), ("LR+GD", "Batch Perceptron"))
    figure.legend(*both, loc="outside lower center", ncols=2, fontsize=8)
    batch = found.when(found.batch)
    figure.suptitle(f"{found.name}; Batch Perceptron: {batch}; {found.margin()}", fontsize=9)


def _shown_aligned(sample: Sample, numbers: dict[str, Any]) -> list[Shown]:
    found = Found(sample, numbers)
    rises = {step: course["rises"] for step, course in found.lr_gd.items()}
    words = ", ".join(f"γ = {step:g}: {count}" for step, count in rises.items())
    apart = {step: median(course["apart"]) for step, course in found.lr_gd.items()}
    early = {step: median(_early(course)) for step, course in found.lr_gd.items()}
    far = {step: _difference(course, found.batch) for step, course in found.lr_gd.items()}
    least, most = STEPS[0], STEPS[-1]
    order = [early[step] for step in STEPS[2:]]
    return [
        Shown(
            "with a small step the loss falls monotonically, with large ones it oscillates",
            rises[least] == 0 and min(rises[step] for step in STEPS[3:]) > 0,
            f"rises of the loss before the data were separated: {words}",
        ),
        Shown(
            "LR+GD with large steps aligns closely with Batch Perceptron",
            early[most] <= 0.01 and early[most] <= early[least] / 10,
            f"median of ‖θ_t/γ − θ̂_t‖/‖θ̂_t‖ for t ≤ {EARLY}: γ = {least:g}: {early[least]:.3g},"
            f" γ = {most:g}: {early[most]:.3g}; over the whole run, where both may be chaotic:"
            f" {apart[least]:.3g} and {apart[most]:.3g}, accuracies {far[least]:.4f} and"
            f" {far[most]:.4f} apart",
        ),
        Shown(
            f"θ_t/γ comes closer to Batch Perceptron as γ grows (steps 0.1 to 100, t ≤ {EARLY})",
            order == sorted(order, reverse=True),
            ", ".join(f"γ = {step:g}: {early[step]:.3g}" for step in STEPS[2:]),
        ),
        *_separable(found),
    ]


def _early(course: dict[str, Any]) -> list[float]:
    """Distances to Batch Perceptron as long as rounding has not made two runs of one."""
    times = [t for t in course["t"] if t]
    return [far for t, far in zip(times, course["apart"], strict=True) if t <= EARLY]


def _difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    pairs = zip(one["accuracy"], other["accuracy"], strict=True)
    return median(abs(a - b) for a, b in pairs)


# --- accuracy, loss and gradient -------------------------------------------------------------


def _draw_metrics(
    sample: Sample, what: tuple[str, ...], figure: Any, numbers: dict[str, Any]
) -> None:
    found = Found(sample, numbers)
    figure.set_size_inches(2.9 * len(what) + 0.4, 3.7)
    for axes, name in zip(figure.subplots(1, len(what)), what, strict=True):
        draw = axes.semilogx if name == "accuracy" else axes.loglog
        for style, (step, course) in zip(
            zip(SHADES, LINES, strict=True), found.lr_gd.items(), strict=True
        ):
            kept = [(t, v) for t, v in zip(course["t"], course[name], strict=True) if v > 1e-12]
            draw(
                *zip(*kept, strict=True), color=style[0], ls=style[1], lw=1.1, label=f"γ = {step:g}"
            )
        axes.set(xlabel="iterations", title=LABELS[name])
        if name != "accuracy":
            axes.set_ylim(bottom=1e-6)
    handles, labels = axes.get_legend_handles_labels()
    when = [f"{one}: {found.when(c)}" for one, c in zip(labels, found.lr_gd.values(), strict=True)]
    figure.legend(handles, when, loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"LR+GD on {found.name}; {found.margin()}", fontsize=9)


LABELS = {"accuracy": "accuracy", "loss": "logistic loss f", "gradient": "‖∇f‖"}


def _shown_metrics(sample: Sample, numbers: dict[str, Any]) -> list[Shown]:
    found = Found(sample, numbers)
    solved = {step: found.solved(course) for step, course in found.lr_gd.items()}
    # All start at w = 0, where the loss is log 2: small steps never rise above it.
    highest = {step: max(log(2), course["highest"]) for step, course in found.lr_gd.items()}
    when = ", ".join(f"γ = {s:g}: {found.when(c)}" for s, c in found.lr_gd.items())
    small, large = STEPS[:3], STEPS[3:]
    faster = _before([solved[s] for s in large], [solved[s] for s in small])
    high = "highest loss (0.693 at w = 0): " + ", ".join(
        f"γ = {s:g}: {highest[s]:.3g}" for s in STEPS
    )
    shown = [
        Shown(
            "steps 1, 10 and 100 separate the data before 0.001, 0.01 and 0.1 do",
            faster,
            f"separated at: {when}",
        ),
        Shown(
            "the loss before that is higher with steps 1, 10 and 100",
            min(highest[s] for s in large) > max(highest[s] for s in small),
            high,
        ),
    ]
    if sample == FASHION:  # its caption says more
        ordered, losses = [solved[s] for s in STEPS], [highest[s] for s in STEPS]
        in_order = all(_before([b], [a]) is True for a, b in pairwise(ordered)) or (
            None if ordered == sorted(ordered, reverse=True) else False
        )
        shown += [
            Shown("the larger the step, the faster (all six)", in_order, f"separated at: {when}"),
            Shown("the larger the step, the higher the loss", losses == sorted(losses), high),
        ]
    return [*shown, *_separable(found)]


def _before(some: list[float], others: list[float]) -> bool | None:
    """Whether all of some came before all others; None if runs were too short to tell."""
    if max(some) == float("inf"):
        return None if min(others) == float("inf") else False
    return max(some) < min(others)


# --- perceptrons -----------------------------------------------------------------------------


def _draw_perceptrons(samples: tuple[Sample, ...], figure: Any, numbers: dict[str, Any]) -> None:
    figure.set_size_inches(8.4, 5.0)
    panels = figure.subplots(2, 2, sharey=True)
    for axes, sample in zip(panels.flat, samples, strict=True):
        found = Found(sample, numbers)
        for course, name, style in (
            (found.batch, "Batch Perceptron", {"color": "black", "ls": "-", "lw": 0.8}),
            (
                found.normalised,
                "Normalized Batch Perceptron",
                {"color": "#d55e00", "ls": "--", "lw": 1.3},
            ),
        ):
            label = f"{name}: {found.when(course)}"
            axes.semilogx(course["t"], course["accuracy"], label=label, **style)
        # Above, since curves may be anywhere below.
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=7)
        axes.set_title(f"{found.name}; {found.margin()}", fontsize=8, pad=18)
    for axes in panels[1]:
        axes.set_xlabel("iterations")
    for axes in panels[:, 0]:
        axes.set_ylabel("accuracy")


def _shown_perceptrons(
    samples: tuple[Sample, ...], claim: str, normalised: bool, numbers: dict[str, Any]
) -> list[Shown]:
    every = [Found(sample, numbers) for sample in samples]
    better = [_better(found) for found in every]
    wins = sum(one is normalised for one in better)
    words = "; ".join(
        f"{found.name}: {found.when(found.batch)} against {found.when(found.normalised)}"
        for found in every
    )
    agrees = wins > len(every) / 2 if None not in better else None
    shown = [Shown(claim, agrees, f"{wins} of {len(every)} ({words})")]
    for found in every:
        shown += [one._replace(claim=f"{found.name}: {one.claim}") for one in _separable(found)]
    return shown


def _better(found: Found) -> bool | None:
    """Whether the normalised method was the faster one; None if neither arrived."""
    one, other = found.solved(found.normalised), found.solved(found.batch)
    return None if one == other == float("inf") else one < other


# --- the artefacts ---------------------------------------------------------------------------


def _figure(
    number: int,
    title: str,
    samples: tuple[Sample, ...],
    draw: Callable[[Any, dict[str, Any]], None],
    shown: Callable[[dict[str, Any]], list[Shown]],
) -> Artefact:
    return Artefact(
        id=f"tyurin.fig{number}",
        reference=f"Figure {number}",
        title=title,
        parts=partial(_parts, samples),
        draw=draw,
        shown=shown,
        data=tuple(sample.dataset for sample in samples),
    )


def _aligned(number: int, sample: Sample) -> Artefact:
    title = f"LR+GD beside Batch Perceptron, {sample.name()}"
    draw, shown = partial(_draw_aligned, sample), partial(_shown_aligned, sample)
    return _figure(number, title, (sample,), draw, shown)


def _metrics(number: int, sample: Sample, what: tuple[str, ...]) -> Artefact:
    title = f"{', '.join(LABELS[name] for name in what)} of LR+GD, {sample.name()}"
    draw, shown = partial(_draw_metrics, sample, what), partial(_shown_metrics, sample)
    return _figure(number, title, (sample,), draw, shown)


def _perceptrons(
    number: int, samples: tuple[Sample, ...], title: str, claim: str, normalised: bool
) -> Artefact:
    draw = partial(_draw_perceptrons, samples)
    shown = partial(_shown_perceptrons, samples, claim, normalised)
    return _figure(number, title, samples, draw, shown)


_EVERY = (
    _metrics(1, CIFAR, ("loss", "accuracy")),
    *(_aligned(number, sample) for number, sample in ALIGNED.items()),
    *(_metrics(number, sample, tuple(LABELS)) for number, sample in METRICS.items()),
    _perceptrons(
        6,
        BALANCED,
        "Batch Perceptron and Normalized Batch Perceptron",
        "Batch Perceptron converges slightly better in practice",
        False,
    ),
    _perceptrons(
        7,
        IMBALANCED,
        "Batch Perceptron and Normalized Batch Perceptron on imbalanced data",
        "Normalized Batch Perceptron is faster on imbalanced data (on two of three data sets)",
        True,
    ),
)
FIGURES = tuple(sorted(_EVERY, key=lambda one: int(one.id.removeprefix("tyurin.fig"))))


LARGEST = 10_000
SEEDS = 20
#: Part of the table → data, its methods with their counts, and how long a run may be.
PARTS = {
    "imbalanced": ("fashion:0,4:keep=0.1,repeat=10", IMBALANCED_TABLE, 4000),
    "default": ("fashion:0,4:n=5000", FASHION_TABLE, 12_000),
}
TITLES = {"imbalanced": "Imbalanced Fashion MNIST", "default": "Fashion MNIST (default setup)"}


def _name(part: str, seed: int, quick: bool) -> tuple[str, str, Table, int]:
    spec, table, most = PARTS[part]
    if quick:
        chosen = {"imbalanced": "keep=0.15,repeat=10", "default": "n=200"}[part]
        spec, most = f"mnist-sample:7,8:{chosen}", 400
    spec = f"{spec},seed={seed}"
    return f"Table 1, {part}: counts on {spec}, at most {most}", spec, table, most


def _table_parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
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
    *FIGURES,
    Artefact(
        id="tyurin.table1",
        reference="Table 1",
        title="Iterations of LR+GD and Normalized LR+GD, all three parts",
        parts=_table_parts,
        draw=_draw,
        shown=_shown,
        data=("fashion",),
    ),
)
