"""Figures: iterations against the margin, ISNKPVN, and the example of Section 2.2.

Ramdas and Peña (2015) state these rates and do not plot them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Shown
from gammabar.harness.run.tasks import Registered
from gammabar.oracle import solve
from gammabar.problems import Problem, from_arrays, load

METHODS = {
    "Perceptron (Section 2.1)": "perceptron",
    "Normalized Kernel Perceptron (Section 4)": "nkp",
    "Smoothed Normalized Kernel Perceptron (Theorem 1)": "snkp",
}


def hard(r: int) -> tuple[Problem, float]:
    """Unit rows that are hard for both methods, and 1/ρ.

    In a plane, (1, r) three times and (1, −r), divided by their norms: a margin of 1/√(1 + r²),
    for which smoothed steps take long. Orthogonal to it and to each other, 1 + r² further rows:
    a perceptron has to visit each of them. In orthogonal subspaces the 1/ρ² add up.
    """
    n = 1 + r * r
    A = np.zeros((4 + n, 2 + n))
    A[:4, 0], A[:4, 1] = 1 / np.sqrt(n), r / np.sqrt(n)
    A[3, 1] *= -1
    A[4:, 2:] = np.eye(n)
    y = np.where(np.arange(len(A)) % 2, -1, 1)
    return from_arrays(A * y[:, None], y), float(np.sqrt(2 * n))


def _iterations(solver: str, radii: tuple[int, ...]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"n": [], "1/rho": [], "iterations": []}
    for r in radii:
        problem, inverse = hard(r)
        for iterate in Registered(solver).open().iterates(problem, np.random.default_rng(0)):
            if problem.scores(iterate.w).min() > 0:
                found["n"].append(problem.n)
                found["1/rho"].append(inverse)
                found["iterations"].append(float(max(iterate.t, 1)))
                break
    return found


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    radii = (4, 8, 16) if quick else (8, 12, 16, 24, 32, 40)
    return {
        f"iterations of {solver} on two blocks, r = {radii}": partial(_iterations, solver, radii)
        for solver in METHODS.values()
    }


def _curves(numbers: dict[str, Any]) -> dict[str, Any]:
    return {
        label: next(value for name, value in numbers.items() if f" of {solver} " in name)
        for label, solver in METHODS.items()
    }


def _slope(curve: dict[str, list[float]], logarithm: bool) -> float:
    """Of the line through the points on logarithmic axes, against 1/ρ or √(log n)/ρ."""
    x = np.log(curve["1/rho"]) + 0.5 * np.log(np.log(curve["n"])) * logarithm
    return float(np.polyfit(x, np.log(curve["iterations"]), 1)[0])


def _slopes(numbers: dict[str, Any]) -> tuple[float, float, float]:
    classic, slow, fast = _curves(numbers).values()
    return _slope(classic, False), _slope(slow, False), _slope(fast, True)  # as Theorem 1 has it


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
    axes = figure.subplots()
    against = ("1/ρ", "1/ρ", "√(log n)/ρ")
    every = zip(_curves(numbers).items(), _slopes(numbers), against, strict=True)
    for (label, curve), slope, what in every:
        shown = f"{label}: slope {slope:.2f} in {what}"
        axes.loglog(curve["1/rho"], curve["iterations"], marker="o", ms=4, label=shown)
    axes.set(xlabel="1/ρ", ylabel="iterations until the data are separated")
    axes.legend(loc="upper left", fontsize=7)


def _shown(numbers: dict[str, Any]) -> list[Shown]:
    classic, slow, fast = _slopes(numbers)
    last = {label: curve["iterations"][-1] for label, curve in _curves(numbers).items()}
    ends = list(last.values())
    return [
        Shown(
            "the perceptron takes of the order of 1/ρ²", 1.8 < classic < 2.2, f"slope {classic:.2f}"
        ),
        Shown("NKP takes of the order of 1/ρ² iterations", 1.8 < slow < 2.2, f"slope {slow:.2f}"),
        Shown("SNKP takes of the order of √(log n)/ρ", 0.8 < fast < 1.2, f"slope {fast:.2f}"),
        Shown(
            "SNKP is the fastest where the margin is small",
            ends[2] < min(ends[:2]),
            "at the smallest margin: " + ", ".join(f"{v:.0f}" for v in ends),
        ),
    ]


# ISNKPVN (Section 6), beside the bounds of Theorem 4

SEPARABLE = ("iris:0,1", "digits:0,1", "digits:3,8", "mnist-sample:0,1", "wine:0,1")
INSEPARABLE = ("iris:1,2", "inseparable:n=60,d=5,seed=0", "inseparable:n=500,d=20,seed=1")
BLOCKS = (4, 8, 16, 24)
EPSILONS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
GAMMA = 2.0


def _run(problem: Problem, epsilon: float) -> dict[str, Any]:
    """How ISNKPVN(2, ε) ends."""
    method = Registered(f"isnkpvn:gamma={GAMMA:g},epsilon={epsilon:g}").open()
    *_, last = method.iterates(problem, np.random.default_rng(0))
    return {
        "n": problem.n,
        "iterations": int(last.t),
        "loops": int(last.extra["outer"]) + 1,
        "halt": str(last.extra["halt"]),
    }


def _on_separable(data: str) -> dict[str, Any]:
    if data.startswith("two blocks"):
        problem, inverse = hard(int(data.rpartition(" ")[2]))
        margin = 1 / inverse
    else:
        problem = load(data).unit()
        margin = solve(problem).gamma
    return {"data": data, "rho": margin, **_run(problem, margin / 2)}


def _on_inseparable(data: str, epsilons: tuple[float, ...]) -> dict[str, Any]:
    problem = load(data).unit()
    runs = [{"epsilon": epsilon, **_run(problem, epsilon)} for epsilon in epsilons]
    return {"data": data, "separable": solve(problem).separable, "runs": runs}


def _parts_isnkpvn(quick: bool) -> Mapping[str, Callable[[], Any]]:
    blocks = [f"two blocks, r = {r}" for r in (BLOCKS[:2] if quick else BLOCKS)]
    separable = [*(SEPARABLE[:3] if quick else SEPARABLE), *blocks]
    epsilons = EPSILONS[:4] if quick else EPSILONS
    parts: dict[str, Callable[[], Any]] = {
        f"ISNKPVN, separable, {data}": partial(_on_separable, data) for data in separable
    }
    for data in INSEPARABLE[:2] if quick else INSEPARABLE:
        parts[f"ISNKPVN, inseparable, {data}, ε = {epsilons}"] = partial(
            _on_inseparable, data, epsilons
        )
    return parts


def _kinds(numbers: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    return tuple(
        [value for name, value in numbers.items() if f"ISNKPVN, {kind}" in name]
        for kind in ("separable", "inseparable")
    )  # type: ignore[return-value]


def _bound(n: int, small: float) -> float:
    """2√(2n)/ρ iterations a loop, in log(1/ρ)/log γ loops and one more."""
    return 2 * math.sqrt(2 * n) / small * (math.log(1 / small) / math.log(GAMMA) + 1)


def _draw_isnkpvn(figure: Any, numbers: dict[str, Any]) -> None:
    separable, inseparable = _kinds(numbers)
    figure.set_size_inches(8.4, 4.0)
    left, right = figure.subplots(1, 2)
    near = {"textcoords": "offset points", "fontsize": 6, "ha": "right", "va": "center"}
    handles = {}
    for one in separable:
        blocks = one["data"].startswith("two blocks")
        mark, words = ("s", "two blocks, as in rp.rates") if blocks else ("o", "real data")
        x, count = 1 / one["rho"], max(one["iterations"], 1)
        (handles[words],) = left.loglog(x, count, mark, ms=5, color="#0072b2", mfc="none")
        bound = _bound(one["n"], one["rho"])
        (handles["bound"],) = left.loglog(x, bound, "_", ms=9, color="black")
        if not blocks:
            left.annotate(one["data"], (x, count), xytext=(-5, 0), **near)
    left.set(xlabel="1/ρ", ylabel="iterations", title="separable: until a separator")
    left.legend(handles.values(), handles, fontsize=7, loc="upper left")
    left.margins(x=0.25)
    for one in inseparable:
        x = [1 / run["epsilon"] for run in one["runs"]]
        right.loglog(
            x, [max(r["iterations"], 1) for r in one["runs"]], marker="o", ms=3, label=one["data"]
        )
    n = max(run["n"] for one in inseparable for run in one["runs"])
    right.loglog(x, [_bound(n, 1 / v) for v in x], color="0.4", ls=":", label=f"bound, n = {n}")
    right.set(xlabel="1/ε", title="inseparable: until an ε-certificate")
    right.legend(fontsize=7)


def _shown_isnkpvn(numbers: dict[str, Any]) -> list[Shown]:
    separable, inseparable = _kinds(numbers)
    runs = [run for one in inseparable for run in one["runs"]]
    share = max(one["iterations"] / _bound(one["n"], one["rho"]) for one in separable)
    other = max(run["iterations"] / _bound(run["n"], run["epsilon"]) for run in runs)
    words = ", ".join(f"{one['data']} {one['iterations']:,}" for one in separable)
    return [
        Shown(
            "it ends with a separator if there is one (ε < ρ)",
            all(one["halt"] == "separated" for one in separable),
            words,
        ),
        Shown(
            "and with an ε-certificate otherwise",
            all(run["halt"] == "certificate" for run in runs)
            and not any(one["separable"] for one in inseparable),
            f"{len(runs)} runs on {len(inseparable)} data sets that are proved inseparable",
        ),
        Shown(
            "of the order of √n/ρ·log(1/ρ) iterations (Theorem 4.1, with one loop more)",
            share <= 1,
            f"at most {share:.3g} of 2√(2n)/ρ·(log(1/ρ)/log γ + 1)",
        ),
        Shown(
            "of the order of √n/ε·log(1/ε) iterations (Theorem 4.2)",
            other <= 1,
            f"at most {other:.3g} of the same with ε",
        ),
    ]


# The example of Section 2.2: what normalising the points does to the bounds

RADII = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def _mistakes(problem: Problem) -> int:
    """Updates of the perceptron, which takes the first point that it gets wrong."""
    *_, last = Registered("perceptron").open().iterates(problem, np.random.default_rng(0))
    return int(last.t)


def _bounds(radii: tuple[float, ...]) -> dict[str, list[float]]:
    """max ‖x‖²/ρ² and 1/ρ₂² from exact margins, and the updates of the perceptron."""
    found: dict[str, list[float]] = {
        name: [] for name in ("r", "plain", "normalised", "updates", "updates normalised")
    }
    for r in radii:
        problem: Any = load(f"two-lines:r={r:g}")
        X = np.asarray(problem.X, dtype=np.float64)
        unit = from_arrays(X / np.linalg.norm(X, axis=1)[:, None], problem.y)
        found["r"].append(float(r))
        found["plain"].append(solve(problem).gamma ** -2)  # of the rows divided by the longest
        found["normalised"].append(solve(unit).gamma ** -2)
        found["updates"].append(_mistakes(problem))
        found["updates normalised"].append(_mistakes(unit))
    return found


def _points(r: float) -> dict[str, list[float]]:
    problem: Any = load(f"two-lines:r={r:g}")
    X, y = np.asarray(problem.X, dtype=np.float64), np.asarray(problem.y)
    X *= r / np.linalg.norm(X, axis=1).max()  # the generator has integers
    return {
        "x1": X[:, 0].tolist(),
        "x2": X[:, 1].tolist(),
        "y": [int(v) for v in y],
    }


def _parts_two_lines(quick: bool) -> Mapping[str, Callable[[], Any]]:
    radii = RADII[:4] if quick else RADII
    return {
        "points of two-lines:r=3": partial(_points, 3),
        f"bounds and updates on two-lines, r = {radii}": partial(_bounds, radii),
    }


def _two(numbers: dict[str, Any]) -> tuple[Any, Any]:
    points, bounds = numbers.values()
    return points, bounds


def _draw_two_lines(figure: Any, numbers: dict[str, Any]) -> None:
    points, bounds = _two(numbers)
    figure.set_size_inches(8.4, 3.9)
    left, right = figure.subplots(1, 2)
    for label, marker, colour in ((1, "+", "#d55e00"), (-1, "_", "#0072b2")):
        of = [i for i, y in enumerate(points["y"]) if y == label]
        x1, x2 = ([points[name][i] for i in of] for name in ("x1", "x2"))
        left.plot(x1, x2, marker, color=colour, ls="", ms=6)
        length = np.hypot(x1[0], x2[0])
        left.plot(x1[0] / length, x2[0] / length, "o", color=colour, ms=8, mfc="none", mew=1.6)
    end = max(points["x1"] + points["x2"])
    left.plot([0, end], [0, end], color="0.4", lw=0.9, ls="--")
    left.annotate("x₁ = x₂", (0.8 * end, 0.84 * end), fontsize=8, rotation=45, ha="center")
    left.set(xlabel="x₁", ylabel="x₂", aspect="equal", title="r = 3; circles: normalised")
    for name, words, style in (
        ("plain", "max ‖x‖²/ρ², data as they are", "-"),
        ("normalised", "1/ρ₂², data normalised", "--"),
        ("updates", "updates of the perceptron, as they are", "-."),
        ("updates normalised", "updates, normalised", ":"),
    ):
        right.loglog(bounds["r"], bounds[name], marker="o", ms=3, ls=style, label=words)
    right.set(
        xlabel="r",
        title=f"fitted slope of the ratio of the bounds: {_growth(bounds):.3f}",
    )
    ticks = [r for r in (1, 2, 4, 8, 16, 32) if bounds["r"][0] <= r <= bounds["r"][-1]]
    right.set_xticks(ticks, [str(r) for r in ticks])
    right.minorticks_off()
    right.legend(fontsize=7)


def _growth(bounds: dict[str, list[float]]) -> float:
    ratio = np.array(bounds["plain"]) / np.array(bounds["normalised"])
    return float(np.polyfit(np.log(bounds["r"]), np.log(ratio), 1)[0])


def _shown_two_lines(numbers: dict[str, Any]) -> list[Shown]:
    _, bounds = _two(numbers)
    rho = [value**-0.5 for value in bounds["normalised"]]
    slope = _growth(bounds)
    more = [a > b for a, b in zip(bounds["updates"], bounds["updates normalised"], strict=True)]
    return [
        Shown("ρ₂ ≈ 0.14", all(abs(v - 0.14) < 0.005 for v in rho), f"ρ₂ = {rho[0]:.6f}"),
        Shown("the bounds differ by r⁴", abs(slope - 4) < 1e-6, f"fitted slope {slope:.9f}"),
        Shown(
            "it is always better to normalise the data (said of the bounds)",
            all(a >= b for a, b in zip(bounds["plain"], bounds["normalised"], strict=True)),
            f"of the bounds in all {len(rho)} cases; the perceptron itself makes"
            f" {max(bounds['updates']):.0f} updates at most as they are, and"
            f" {max(bounds['updates normalised']):.0f} normalised (more as they are: {sum(more)})",
        ),
    ]


ARTEFACTS = (
    Artefact(
        id="rp.rates",
        reference="Theorem 1 and Section 4",
        title="Iterations of the perceptron, NKP and SNKP against 1/ρ",
        parts=_parts,
        draw=_draw,
        shown=_shown,
    ),
    Artefact(
        id="rp.isnkpvn",
        reference="Section 6, Theorem 4",
        title="Iterations of ISNKPVN on separable and inseparable data",
        parts=_parts_isnkpvn,
        draw=_draw_isnkpvn,
        shown=_shown_isnkpvn,
    ),
    Artefact(
        id="rp.sec2.2",
        reference="Section 2.2, Example",
        title="Normalised and unnormalised margins on two lines",
        parts=_parts_two_lines,
        draw=_draw_two_lines,
        shown=_shown_two_lines,
    ),
)
