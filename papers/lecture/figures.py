"""Figures 1 to 3 of the lecture: the exponential loss, AdaBoost's errors, and its margins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from gammabar.harness.library import Artefact, Shown
from gammabar.papers.lecture.boosting_experiment import FULL, QUICK, boosting, largest_margin


def _boosted(quick: bool) -> tuple[str, Callable[[], Any]]:
    data, rounds = (QUICK, 150) if quick else (FULL, 1000)
    return f"AdaBoost with stumps, {data}, {rounds} rounds", partial(boosting, data, rounds)


def _margin(quick: bool) -> tuple[str, Callable[[], Any]]:
    data, rounds = (QUICK, 150) if quick else (FULL, 500)
    return f"ℓ₁ margin of all stumps, {data}", partial(largest_margin, data, rounds)


def _course(numbers: dict[str, Any]) -> Any:
    return next(value for name, value in numbers.items() if name.startswith("AdaBoost"))


def _largest(numbers: dict[str, Any]) -> Any:
    return next(value for name, value in numbers.items() if name.startswith("ℓ₁"))


def _parts_1(quick: bool) -> Mapping[str, Callable[[], Any]]:
    return dict([_boosted(quick)])


def _parts_3(quick: bool) -> Mapping[str, Callable[[], Any]]:
    return dict([_boosted(quick), _margin(quick)])


# --- Figure 1: the exponential loss above the 0/1 loss ---------------------------------------


def _draw_1(figure: Any, numbers: dict[str, Any]) -> None:
    import numpy as np

    figure.set_size_inches(8.0, 3.4)
    left, right = figure.subplots(1, 2)
    x = np.linspace(-2, 3, 201)
    left.step([-2, 0, 3], [1, 1, 0], where="pre", label="0/1 loss")
    left.plot(x, np.exp(-x), label="exp(−x)")
    left.set(xlabel="x = y H(x)", ylabel="loss", ylim=(0, 4))
    left.legend()
    course = _course(numbers)
    seen = [(t, e) for t, e in zip(course["t"], course["train"], strict=True) if e > 0]
    right.loglog(*zip(*seen, strict=True), label="training error")
    right.loglog(course["t"], course["exponential"], label="mean of exp(−y H(x))")
    right.set(xlabel="rounds of AdaBoost", ylim=(1e-4, 1.5))
    right.legend()


def _shown_1(numbers: dict[str, Any]) -> list[Shown]:
    course = _course(numbers)
    falls = course["exponential"]
    return [
        Shown(
            "exp(−x) is a surrogate for the 0/1 loss: it is above it",
            course["above"],
            f"mean of exp(−y H(x)) at least the training error at every one of"
            f" {course['t'][-1]:,} rounds, n = {course['n']:,}",
        ),
        Shown(
            "AdaBoost minimises Σ exp(−y_i H(x_i)) greedily",
            all(b <= a for a, b in pairwise(falls)),
            f"it falls from {falls[0]:.3g} to {falls[-1]:.3g}, never rising",
        ),
    ]


# --- Figure 2: training and test error -------------------------------------------------------


def _draw_2(figure: Any, numbers: dict[str, Any]) -> None:
    axes = figure.subplots()
    course = _course(numbers)
    axes.semilogx(course["t"], course["train"], label="training error")
    axes.semilogx(course["t"], course["test"], label="test error")
    if course["perfect"]:
        words = f"first without training error: {course['perfect']}"
        axes.axvline(course["perfect"], color="0.5", lw=1, ls=":", label=words)
    axes.set(xlabel="rounds", ylabel="error", ylim=(0, None))
    axes.legend()


def _shown_2(numbers: dict[str, Any]) -> list[Shown]:
    course = _course(numbers)
    if course["perfect"] is None:
        return [Shown("AdaBoost reaches training error zero", False, "not in these rounds")]
    then = course["test"][course["t"].index(course["perfect"])]
    return [
        Shown(
            "test error can go down even after training error is already zero",
            course["test"][-1] < then,
            f"training error 0 first at round {course['perfect']}; test error on"
            f" {course['tested']:,} images {then:.4f} then, {course['test'][-1]:.4f} after"
            f" {course['t'][-1]:,} rounds",
        )
    ]


# --- Figure 3: margins -----------------------------------------------------------------------


def _draw_3(figure: Any, numbers: dict[str, Any]) -> None:
    figure.set_size_inches(8.0, 3.6)
    left, right = figure.subplots(1, 2)
    course, best = _course(numbers), _largest(numbers)
    for rounds, margins in course["margins"].items():
        share = [(i + 1) / len(margins) for i in range(len(margins))]
        left.step(margins, share, where="post", label=f"{int(rounds):,} rounds")
    left.set(xlabel="margin y H(x)/Σ|α|", ylabel="share of the points", xlim=(-1, 1))
    right.semilogx(course["t"], course["margin"], label="smallest margin of AdaBoost")
    right.set(xlabel="rounds", ylim=(-1, 1.6 * best["value"]))
    for axes, line in ((left, left.axvline), (right, right.axhline)):
        line(
            best["value"], color="0.4", lw=1, ls="--", label=f"ℓ₁ margin {best['value']:.5f}, exact"
        )
        axes.legend(fontsize=7, loc="upper left" if axes is left else "lower right")


def _shown_3(numbers: dict[str, Any]) -> list[Shown]:
    course, best = _course(numbers), _largest(numbers)
    end = course["margin"][-1]
    if course["perfect"] is None:
        return [Shown("AdaBoost reaches training error zero", False, "not in these rounds")]
    then = course["margin"][course["t"].index(course["perfect"])]
    return [
        Shown(
            "AdaBoost maximises some notion of margin after getting perfect accuracy",
            end > then,
            f"smallest margin {then:.5f} at round {course['perfect']}, {end:.5f} at the end:"
            f" {end / best['value']:.3f} of the largest",
        ),
        Shown(
            "no vote of stumps has a larger margin than the exact one (beyond the lecture)",
            best["exact"] and end <= best["value"],
            f"{best['value']:.9f}, proved over all stumps (a fraction of"
            f" {len(best['fraction'])} characters)",
        ),
    ]


ARTEFACTS = (
    Artefact(
        id="lec.fig1",
        reference="Figure 1",
        title="exp(−x) above the 0/1 loss, and on MNIST digits 3 and 8",
        parts=_parts_1,
        draw=_draw_1,
        shown=_shown_1,
        data=("mnist", "mnist-test"),
    ),
    Artefact(
        id="lec.fig2",
        reference="Figure 2",
        title="Training and test error of AdaBoost, MNIST digits 3 and 8",
        parts=_parts_1,
        draw=_draw_2,
        shown=_shown_2,
        data=("mnist", "mnist-test"),
    ),
    Artefact(
        id="lec.fig3",
        reference="Figure 3",
        title="Margins of AdaBoost beside the exact ℓ₁ margin, MNIST digits 3 and 8",
        parts=_parts_3,
        draw=_draw_3,
        shown=_shown_3,
        data=("mnist", "mnist-test"),
    ),
)
