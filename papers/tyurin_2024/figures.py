"""Figures 1–19 and Table 1 of Tyurin (2024).

Figures of one subsample share its run: accuracy of LR+GD with each step beside Batch Perceptron;
accuracy, loss and norm of the gradient of LR+GD; Batch Perceptron beside Normalized Batch
Perceptron. Beyond the paper each has the exact margin of its data.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from math import inf, log
from statistics import median
from typing import Any

from gammabar.harness.paper import Artefact, Numbers, Parts, Shown
from gammabar.papers.tyurin_2024.experiments import *
from gammabar.papers.tyurin_2024.table1 import FASHION_TABLE, IMBALANCED_TABLE, WORST, standing

CIFAR, FASHION = Sample("cifar", 5000, 3000), Sample("fashion", 5000, 6000)
EUROSAT, MNIST = Sample("eurosat", 5000, 2000), Sample("mnist", 5000, 4000)
#: Numbers of the figures with all steps: LR+GD beside Batch Perceptron, and its metrics.
SAMPLES = {
    (2, 4): CIFAR,
    (3, 5): FASHION,
    (8, 9): EUROSAT,
    (10, 11): MNIST,
    (12, 13): Sample("cifar", 10_000, 500),
    (14, 15): Sample("fashion", 10_000, 3000),
    (16, 17): Sample("cifar", 1000, 6000),
    (18, 19): Sample("fashion", 1000, 6000),
}
BALANCED = (CIFAR, FASHION, EUROSAT, MNIST)
#: EuroSAT takes longest: its margin is the smallest of the four.
IMBALANCED = tuple(Sample(one.dataset, 0, 20_000 if one is EUROSAT else 4000) for one in BALANCED)

#: Theorem 3.2 is about each t as γ grows: later on, steps as chaotic as these go their own ways.
EARLY = 10
LABELS = {"accuracy": "accuracy", "loss": "logistic loss f", "gradient": "‖∇f‖"}
#: From light to dark as the step grows, with dashes for greyscale.
SHADES = ("#b4de2c", "#35b779", "#1f9e89", "#31688e", "#443983", "#000000")
LINES = (":", (0, (5, 1)), "-.", "--", (0, (3, 1, 1, 1)), "-")


class _Found:
    """The numbers of a subsample."""

    def __init__(self, sample: Sample, numbers: Numbers) -> None:
        quick = sample.run(False)[0] not in numbers
        self.sample, self.name = sample, sample.spec(True) if quick else sample.name()
        found, self.truth = numbers[sample.run(quick)[0]], numbers[sample.truth(quick)[0]]
        self.n, self.last, courses = found["n"], found["last"], found["courses"]
        self.lr_gd = {m.step: courses[str(m)] for m in LR_GD}
        self.batch, self.normalised = courses[str(BATCH)], courses[str(NORMALISED)]

    def when(self, course: Numbers) -> str:
        """The first t at which the data are separated."""
        first = course["first"]
        return f"not in {self.last:,}" if first is None else f"{first:,}"

    def margin(self) -> str:
        truth = self.truth
        if truth["separable"] is None:
            return f"not settled: γ̄ ≤ {truth['gamma_hi']:.3g}, proved"
        if not truth["separable"]:
            return "not separable through the origin, proved"
        if truth["exact"]:
            return f"γ̄ = {truth['gamma']:.6g}, exact"
        return f"{truth['gamma_lo']:.4g} ≤ γ̄ ≤ {truth['gamma_hi']:.4g}, proved"

    def separable(self) -> list[Shown]:
        """What the theory says of these data, where the margin is known."""
        separable, gamma = self.truth["separable"], self.truth["gamma_lo"]
        never = ": with pixels in [−1, 1] accuracy 1.0 cannot be reached without a bias"
        words = self.margin() + (never if separable is False else "")
        claim = "the subsample is separable"
        if self.sample.size > 5000:  # what is said in Appendix E of 5,000 points is open here
            claim, separable = f"{claim} (which is said of 5,000 points)", separable or None
        shown = [Shown(claim, separable, words, ours=True)]
        bounds = (
            ("Batch Perceptron needs at most nR²/μ² iterations (Theorem 3.3)", self.batch, self.n),
            ("Normalized Batch Perceptron needs at most R²/μ² (Theorem 5.3)", self.normalised, 1),
        )
        for claim, course, factor in bounds if separable else ():
            bound, first = factor / gamma**2, course["first"]
            holds = first <= bound if first is not None else (None if bound > self.last else False)
            found = f"{self.when(course)}, bound {bound:.3g}"
            shown.append(Shown(claim, holds, found, ours=True))
        return shown


def _first(course: Numbers) -> float:
    return inf if course["first"] is None else course["first"]


def _each(said: Mapping[float, Any]) -> str:
    """What is said of some steps of LR+GD."""
    return ", ".join(f"γ = {step:g}: {words}" for step, words in said.items())


# LR+GD beside Batch Perceptron


def _draw_aligned(figure: Any, found: _Found) -> None:
    figure.set_size_inches(8.4, 4.6)
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, (step, course) in zip(panels.flat, found.lr_gd.items(), strict=True):
        axes.semilogx(course["t"], course["accuracy"], color="#d55e00", lw=1.6, ls="-")
        axes.semilogx(found.batch["t"], found.batch["accuracy"], color="black", lw=0.7, ls="--")
        axes.set_title(f"γ = {step:g}, separated: {found.when(course)}", fontsize=8)
    _label(panels)
    both = (panels[0, 0].get_lines(), ("LR+GD", "Batch Perceptron"))
    figure.legend(*both, loc="outside lower center", ncols=2, fontsize=8)
    batch = found.when(found.batch)
    figure.suptitle(f"{found.name}; Batch Perceptron: {batch}; {found.margin()}", fontsize=9)


def _label(panels: Any) -> None:
    for axes in panels[1]:
        axes.set_xlabel("iterations")
    for axes in panels[:, 0]:
        axes.set_ylabel("accuracy")


def _shown_aligned(found: _Found) -> list[Shown]:
    runs, least, most = found.lr_gd, STEPS[0], STEPS[-1]
    rises, apart, early, far = {}, {}, {}, {}
    for step, course in runs.items():
        rises[step], apart[step] = course["rises"], median(course["apart"])
        # Distances as long as rounding has not made two runs of one.
        times = zip((t for t in course["t"] if t), course["apart"], strict=True)
        early[step] = median(away for t, away in times if t <= EARLY)
        pairs = zip(course["accuracy"], found.batch["accuracy"], strict=True)
        far[step] = median(abs(a - b) for a, b in pairs)
    closer = {step: early[step] for step in STEPS[2:]}
    order = list(closer.values())
    return [
        Shown(
            "with a small step the loss falls monotonically, with large ones it oscillates",
            rises[least] == 0 and min(rises[step] for step in STEPS[3:]) > 0,
            f"rises of the loss before the data were separated: {_each(rises)}",
        ),
        Shown(
            "LR+GD with large steps aligns closely with Batch Perceptron",
            (early[most] <= 0.01 and early[most] <= early[least] / 10)
            and (far[most] <= 0.01 or None),  # in the beginning; and over the whole run
            f"median of ‖θ_t/γ − θ̂_t‖/‖θ̂_t‖ for t ≤ {EARLY}: γ = {least:g}: {early[least]:.3g},"
            f" γ = {most:g}: {early[most]:.3g}; over the whole run, where both may be chaotic:"
            f" {apart[least]:.3g} and {apart[most]:.3g}, accuracies {far[least]:.4f} and"
            f" {far[most]:.4f} apart",
        ),
        Shown(
            f"θ_t/γ comes closer to Batch Perceptron as γ grows (steps 0.1 to 100, t ≤ {EARLY})",
            order == sorted(order, reverse=True),
            _each({step: f"{away:.3g}" for step, away in closer.items()}),
        ),
        *found.separable(),
    ]


# Accuracy, loss and gradient


def _draw_metrics(what: tuple[str, ...], figure: Any, found: _Found) -> None:
    figure.set_size_inches(2.9 * len(what) + 0.4, 3.7)
    for axes, name in zip(figure.subplots(1, len(what)), what, strict=True):
        draw = axes.semilogx if name == "accuracy" else axes.loglog
        for colour, line, course in zip(SHADES, LINES, found.lr_gd.values(), strict=True):
            kept = [(t, v) for t, v in zip(course["t"], course[name], strict=True) if v > 1e-12]
            draw(*zip(*kept, strict=True), color=colour, ls=line, lw=1.1)
        axes.set(xlabel="iterations", title=LABELS[name])
        if name != "accuracy":
            axes.set_ylim(bottom=1e-6)
    when = [f"γ = {step:g}: {found.when(course)}" for step, course in found.lr_gd.items()]
    figure.legend(axes.lines, when, loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"LR+GD on {found.name}; {found.margin()}", fontsize=9)


def _shown_metrics(found: _Found) -> list[Shown]:
    solved = {step: _first(course) for step, course in found.lr_gd.items()}
    # All start at w = 0, where the loss is log 2: small steps never rise above it.
    highest = {step: max(log(2), course["highest"]) for step, course in found.lr_gd.items()}
    ordered, losses = list(solved.values()), list(highest.values())
    when = "separated at: " + _each({s: found.when(c) for s, c in found.lr_gd.items()})
    high = "highest loss (0.693 at w = 0): " + _each({s: f"{v:.3g}" for s, v in highest.items()})
    faster = _before(ordered[3:], ordered[:3])
    higher = min(losses[3:]) > max(losses[:3])
    shown = [
        Shown("steps 1, 10 and 100 separate the data before 0.001, 0.01 and 0.1 do", faster, when),
        Shown("the loss before that is higher with steps 1, 10 and 100", higher, high),
    ]
    if found.sample == FASHION:  # its caption says more
        in_order = all(_before([b], [a]) is True for a, b in pairwise(ordered)) or (
            None if ordered == sorted(ordered, reverse=True) else False
        )
        shown += [
            Shown("the larger the step, the faster (all six)", in_order, when),
            Shown("the larger the step, the higher the loss", losses == sorted(losses), high),
        ]
    return [*shown, *found.separable()]


def _before(some: list[float], others: list[float]) -> bool | None:
    """Whether all of some came before all others; None if runs were too short to tell."""
    if max(some) == inf:
        return None if min(others) == inf else False
    return max(some) < min(others)


# Perceptrons


def _draw_perceptrons(figure: Any, *every: _Found) -> None:
    figure.set_size_inches(8.4, 5.0)
    panels = figure.subplots(2, 2, sharey=True)
    for axes, found in zip(panels.flat, every, strict=True):
        for course, name, colour, line, width in (
            (found.batch, "Batch Perceptron", "black", "-", 0.8),
            (found.normalised, "Normalized Batch Perceptron", "#d55e00", "--", 1.3),
        ):
            label = f"{name}: {found.when(course)}"
            points = course["t"], course["accuracy"]
            axes.semilogx(*points, label=label, color=colour, ls=line, lw=width)
        # Above, since curves may be anywhere below.
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=7)
        axes.set_title(f"{found.name}; {found.margin()}", fontsize=8, pad=18)
    _label(panels)


def _shown_perceptrons(claim: str, normalised: bool, *every: _Found) -> list[Shown]:
    # Whether the normalised method was the faster one; None if neither arrived.
    firsts = [(_first(found.normalised), _first(found.batch)) for found in every]
    better = [None if one == other == inf else one < other for one, other in firsts]
    wins = sum(one is normalised for one in better)
    words = "; ".join(
        f"{found.name}: {found.when(found.batch)} against {found.when(found.normalised)}"
        for found in every
    )
    agrees = wins > len(every) / 2 if None not in better else None
    shown = [Shown(claim, agrees, f"{wins} of {len(every)} ({words})")]
    for found in every:
        shown += [one._replace(claim=f"{found.name}: {one.claim}") for one in found.separable()]
    return shown


# Table 1: every n that fits the first part, twenty subsamples for the other two

LARGEST, SEEDS = 10_000, 20
#: Part of the table → title, its methods with their counts, and the points, those with --quick, and
#: how long a run may be.
_KEPT = ("keep=0.1,repeat=10", "keep=0.15,repeat=10", 4000)
PARTS: dict[str, tuple[str, Table, str, str, int]] = {
    "imbalanced": ("Imbalanced Fashion MNIST", IMBALANCED_TABLE, *_KEPT),
    "default": ("Fashion MNIST (default setup)", FASHION_TABLE, "n=5000", "n=200", 12_000),
}


def _table_parts(quick: bool) -> Parts:
    largest = 1200 if quick else LARGEST
    parts: dict[str, Callable[[], Any]] = {
        f"Table 1, worst case: n ≤ {largest}": partial(sizes_that_fit, WORST, largest)
    }
    for part, (_, table, full, small, longest) in PARTS.items():
        points = f"mnist-sample:7,8:{small}" if quick else f"fashion:0,4:{full}"
        for seed in range(3 if quick else SEEDS):
            spec, most = f"{points},seed={seed}", 400 if quick else longest
            name = f"Table 1, {part}: counts on {spec}, at most {most}"
            parts[name] = partial(subsample, spec, table, most)
    return parts


def _counts(part: str, numbers: Numbers) -> list[Any]:
    """The numbers of a part of the table, one row for each subsample."""
    return [value for name, value in numbers.items() if name.startswith(f"Table 1, {part}:")]


def _method(method: tuple[str, float]) -> str:
    name = {"lr-gd": "LR+GD", "normalized-lr-gd": "Normalized LR+GD"}[method[0]]
    return f"{name}, step {method[1]:g}"


def _draw_table(figure: Any, numbers: Numbers) -> None:
    figure.set_size_inches(8.4, 4.4)
    (worst,) = _counts("worst case", numbers)
    panels = figure.subplots(1, 2)
    for axes, (part, (title, table, *_)) in zip(panels, PARTS.items(), strict=True):
        places = range(len(table))
        for place, column in zip(places, zip(*_counts(part, numbers), strict=True), strict=True):
            axes.plot(column, [place] * len(column), "o", ms=3.5, mfc="none", color="#0072b2")
            axes.plot(median(column), place, "|", ms=16, mew=1.5, color="black")
        axes.plot(list(table.values()), places, "D", ms=6, color="#d55e00", ls="")
        axes.set_yticks(places, [_method(method) for method in table], fontsize=7)
        axes.invert_yaxis()
        small = any("mnist-sample" in name for name in numbers)
        title = "embedded digits instead (--quick)" if small else title
        axes.set(xlabel="iterations", title=title, xlim=(0, None))
    handles = [*axes.lines[:2], axes.lines[-1]]
    names = ["a subsample", "median", "printed in Table 1"]
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8)
    fits = ", ".join(map(str, worst["n"]))
    figure.suptitle(f"First part: all five counts for n = {fits} alone (n ≤ {worst['largest']:,})")


def _shown_table(numbers: Numbers) -> list[Shown]:
    (worst,) = _counts("worst case", numbers)
    fits, largest = ", ".join(map(str, worst["n"])) or "none", worst["largest"]
    ranges = "; ".join(f"{name} for n in {lo}–{hi}" for name, (lo, hi) in worst["each"].items())
    found = f"all five for n = {fits} and no other n ≤ {largest:,} ({ranges})"
    return [
        Shown("worst-case data: 2, 2, 16, 157 and 308 iterations", bool(worst["n"]), found),
        *(_printed(part, _counts(part, numbers)) for part in PARTS),
        _caption("imbalanced", True, "1.7 times faster on the second data set", numbers),
        _caption("default", False, "only 1.1 times slower on the third data set", numbers),
    ]


def _printed(part: str, found: list[list[int]]) -> Shown:
    """Printed counts beside those of subsamples; which one was the paper's is not known."""
    title, table, *_ = PARTS[part]
    words = "; ".join(
        f"{_method(method)}: {printed}, found {min(seen)}–{max(seen)}, median {median(seen):g}"
        for (method, printed), seen in zip(table.items(), zip(*found, strict=True), strict=True)
    )
    try:
        status = standing(table, zip(*found, strict=True))
    except ValueError as error:
        status = f"outside: {error}"
    claim = f"{title}: printed counts (the subsample is not given: {status})"
    return Shown(claim, False if status.startswith("outside") else None, words)


def _caption(part: str, wanted: bool, claim: str, numbers: Numbers) -> Shown:
    """What the caption says of the fastest Normalized LR+GD against the fastest LR+GD."""
    methods, rows = [name for name, _ in PARTS[part][1]], _counts(part, numbers)

    def least(row: list[int], name: str) -> int:
        return min(count for count, method in zip(row, methods, strict=True) if method == name)

    ratios = [least(row, "lr-gd") / least(row, "normalized-lr-gd") for row in rows]
    faster, middle = sum(ratio > 1 for ratio in ratios), median(ratios)
    words = f"faster on {faster} of {len(ratios)} subsamples, median {middle:.2f} times"
    words += f" ({min(ratios):.2f}–{max(ratios):.2f})"
    return Shown(f"Normalized LR+GD is {claim}", (middle > 1) is wanted, words)


# The artefacts


def _figure(number: int, title: str, draw: Any, shown: Any, *samples: Sample) -> Artefact:
    def found(numbers: Numbers) -> list[_Found]:
        return [_Found(sample, numbers) for sample in samples]

    return Artefact(
        f"tyurin.fig{number}",
        f"Figure {number}",
        title,
        lambda quick: dict(part for s in samples for part in (s.run(quick), s.truth(quick))),
        lambda figure, numbers: draw(figure, *found(numbers)),
        lambda numbers: shown(*found(numbers)),
        tuple(sample.dataset for sample in samples),
    )


def _metrics(number: int, sample: Sample, *what: str) -> Artefact:
    title = f"{', '.join(LABELS[name] for name in what)} of LR+GD, {sample.name()}"
    return _figure(number, title, partial(_draw_metrics, what), _shown_metrics, sample)


def _aligned(number: int, sample: Sample) -> Artefact:
    title = f"LR+GD beside Batch Perceptron, {sample.name()}"
    return _figure(number, title, _draw_aligned, _shown_aligned, sample)


def _perceptrons(
    number: int, data: str, claim: str, normalised: bool, *samples: Sample
) -> Artefact:
    title, shown = f"Batch Perceptron and Normalized Batch Perceptron{data}", _shown_perceptrons
    return _figure(number, title, _draw_perceptrons, partial(shown, claim, normalised), *samples)


_BETTER = "Batch Perceptron converges slightly better in practice"
_FASTER = "Normalized Batch Perceptron is faster on imbalanced data (on two of three data sets)"
_TABLE = "Iterations of LR+GD and Normalized LR+GD, all three parts"
_DRAWN = _table_parts, _draw_table, _shown_table
_FIGURES = [
    _metrics(1, CIFAR, "loss", "accuracy"),
    _perceptrons(6, "", _BETTER, False, *BALANCED),
    _perceptrons(7, " on imbalanced data", _FASTER, True, *IMBALANCED),
    *(_aligned(number, sample) for (number, _), sample in SAMPLES.items()),
    *(_metrics(number, sample, *LABELS) for (_, number), sample in SAMPLES.items()),
]
ARTEFACTS = (
    *sorted(_FIGURES, key=lambda one: int(one.id.removeprefix("tyurin.fig"))),
    Artefact("tyurin.table1", "Table 1", _TABLE, *_DRAWN, ("fashion",)),
)
