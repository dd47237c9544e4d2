"""Figures: iterations against the margin, ISNKPVN, and the example of Section 2.2.

Ramdas and Peña (2015) state these rates and do not plot them.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Numbers, Parts, Shown
from gammabar.harness.run.tasks import Registered
from gammabar.oracle import solve
from gammabar.problems import Problem, from_arrays, load


def _last(solver: str, problem: Problem) -> Any:
    """The iterate with which a method ends."""
    *_, last = Registered(solver).open().iterates(problem, np.random.default_rng(0))
    return last


def _slope(x: Any, y: Any) -> float:
    """Of the line through the points on logarithmic axes."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


# Theorem 1 and Section 4: iterations against 1/ρ

#: Solver → label, what its iterations are plotted against, and the printed power of 1/ρ.
METHODS = {
    "perceptron": ("Perceptron (Section 2.1)", "1/ρ", 2),
    "nkp": ("Normalized Kernel Perceptron (Section 4)", "1/ρ", 2),
    "snkp": ("Smoothed Normalized Kernel Perceptron (Theorem 1)", "√(log n)/ρ", 1),
}
RATES = (
    "the perceptron takes of the order of 1/ρ²",
    "NKP takes of the order of 1/ρ² iterations",
    "SNKP takes of the order of √(log n)/ρ",
)


def _hard(r: int) -> tuple[Problem, float]:
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
    problems, inverse = zip(*map(_hard, radii), strict=True)
    counts = [float(max(_last(solver, problem).t, 1)) for problem in problems]
    return {"n": [p.n for p in problems], "1/rho": list(inverse), "iterations": counts}


def _parts_rates(quick: bool) -> Parts:
    radii = (4, 8, 16) if quick else (8, 12, 16, 24, 32, 40)
    name = "iterations of {} on two blocks, r = {}"
    return {name.format(one, radii): partial(_iterations, one, radii) for one in METHODS}


def _slopes(numbers: Numbers) -> list[float]:
    found = []
    for curve, (_, against, _) in zip(numbers.values(), METHODS.values(), strict=True):
        factor = np.sqrt(np.log(curve["n"])) if "log" in against else 1  # as Theorem 1 has it
        found.append(_slope(factor * np.array(curve["1/rho"]), curve["iterations"]))
    return found


def _draw_rates(figure: Any, numbers: Numbers) -> None:
    axes = figure.subplots()
    every = zip(numbers.values(), METHODS.values(), _slopes(numbers), strict=True)
    for curve, (label, against, _), slope in every:
        shown = f"{label}: slope {slope:.2f} in {against}"
        axes.loglog(curve["1/rho"], curve["iterations"], marker="o", ms=4, label=shown)
    axes.set(xlabel="1/ρ", ylabel="iterations until the data are separated")
    axes.legend(loc="upper left", fontsize=7)


def _shown_rates(numbers: Numbers) -> list[Shown]:
    powers = [power for *_, power in METHODS.values()]
    ends = [curve["iterations"][-1] for curve in numbers.values()]
    words = "at the smallest margin: " + ", ".join(f"{v:.0f}" for v in ends)
    found = zip(RATES, powers, _slopes(numbers), strict=True)
    return [
        *(Shown(rate, abs(v - power) < 0.2, f"slope {v:.2f}") for rate, power, v in found),
        Shown("SNKP is the fastest where the margin is small", ends[2] < min(ends[:2]), words),
    ]


# ISNKPVN (Section 6), beside the bounds of Theorem 4

SEPARABLE = ("iris:0,1", "digits:0,1", "digits:3,8", "mnist-sample:0,1", "wine:0,1")
INSEPARABLE = ("iris:1,2", "inseparable:n=60,d=5,seed=0", "inseparable:n=500,d=20,seed=1")
BLOCKS = (4, 8, 16, 24)
EPSILONS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
GAMMA = 2.0


def _run(problem: Problem, epsilon: float) -> Numbers:
    """How ISNKPVN(2, ε) ends."""
    last = _last(f"isnkpvn:gamma={GAMMA:g},epsilon={epsilon:g}", problem)
    loops, halt = int(last.extra["outer"]) + 1, str(last.extra["halt"])
    return {"n": problem.n, "iterations": int(last.t), "loops": loops, "halt": halt}


def _on_separable(data: str) -> Numbers:
    if data.startswith("two blocks"):
        problem, inverse = _hard(int(data.rpartition(" ")[2]))
        margin = 1 / inverse
    else:
        problem = load(data).unit()
        margin = solve(problem).gamma
    return {"data": data, "rho": margin, **_run(problem, margin / 2)}


def _on_inseparable(data: str, epsilons: tuple[float, ...]) -> Numbers:
    problem = load(data).unit()
    runs = [{"epsilon": epsilon, **_run(problem, epsilon)} for epsilon in epsilons]
    return {"data": data, "separable": solve(problem).separable, "runs": runs}


def _parts_isnkpvn(quick: bool) -> Parts:
    blocks = [f"two blocks, r = {r}" for r in (BLOCKS[:2] if quick else BLOCKS)]
    separable = [*(SEPARABLE[:3] if quick else SEPARABLE), *blocks]
    epsilons = EPSILONS[:4] if quick else EPSILONS
    return {f"ISNKPVN, separable, {data}": partial(_on_separable, data) for data in separable} | {
        f"ISNKPVN, inseparable, {data}, ε = {epsilons}": partial(_on_inseparable, data, epsilons)
        for data in (INSEPARABLE[:2] if quick else INSEPARABLE)
    }


def _kinds(numbers: Numbers) -> tuple[list[Any], list[Any]]:
    """The runs on separable data, and those on the others."""
    found = numbers.values()
    return [one for one in found if "rho" in one], [one for one in found if "runs" in one]


def _bound(n: int, small: float) -> float:
    """2√(2n)/ρ iterations a loop, in log(1/ρ)/log γ loops and one more."""
    return 2 * math.sqrt(2 * n) / small * (math.log(1 / small) / math.log(GAMMA) + 1)


def _draw_isnkpvn(figure: Any, numbers: Numbers) -> None:
    separable, inseparable = _kinds(numbers)
    figure.set_size_inches(8.4, 4.0)
    left, right = figure.subplots(1, 2)
    for mark, words in (("o", "real data"), ("s", "two blocks, as in rp.rates")):
        some = [one for one in separable if one["data"].startswith("two blocks") == (mark == "s")]
        x, counts = [1 / one["rho"] for one in some], [max(one["iterations"], 1) for one in some]
        left.loglog(x, counts, mark, ms=5, color="#0072b2", mfc="none", label=words)
        bounds = [_bound(one["n"], one["rho"]) for one in some]
        left.loglog(x, bounds, "_", ms=9, color="black", label="bound" if mark == "s" else None)
        for one, *place in zip(some, x, counts, strict=True) if mark == "o" else ():
            near = {"xytext": (-5, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
            left.annotate(one["data"], place, fontsize=6, **near)
    left.set(xlabel="1/ρ", ylabel="iterations", title="separable: until a separator")
    left.margins(x=0.25)
    for one in inseparable:
        x = [1 / run["epsilon"] for run in one["runs"]]
        counts = [max(run["iterations"], 1) for run in one["runs"]]
        right.loglog(x, counts, marker="o", ms=3, label=one["data"])
    n = max(run["n"] for one in inseparable for run in one["runs"])
    right.loglog(x, [_bound(n, 1 / v) for v in x], color="0.4", ls=":", label=f"bound, n = {n}")
    right.set(xlabel="1/ε", title="inseparable: until an ε-certificate")
    for axes in (left, right):
        axes.legend(fontsize=7, loc="upper left")


def _shown_isnkpvn(numbers: Numbers) -> list[Shown]:
    separable, inseparable = _kinds(numbers)
    runs = [run for one in inseparable for run in one["runs"]]
    share = max(one["iterations"] / _bound(one["n"], one["rho"]) for one in separable)
    other = max(run["iterations"] / _bound(run["n"], run["epsilon"]) for run in runs)
    found = all(one["halt"] == "separated" for one in separable)
    proved = all(run["halt"] == "certificate" for run in runs)
    proved = proved and not any(one["separable"] for one in inseparable)
    counts = ", ".join(f"{one['data']} {one['iterations']:,}" for one in separable)
    data = f"{len(runs)} runs on {len(inseparable)} data sets that are proved inseparable"
    rate = "of the order of √n/{0}·log(1/{0}) iterations (Theorem 4.{1})"
    most = f"at most {share:.3g} of 2√(2n)/ρ·(log(1/ρ)/log γ + 1)"
    return [
        Shown("it ends with a separator if there is one (ε < ρ)", found, counts),
        Shown("and with an ε-certificate otherwise", proved, data),
        Shown(rate.format("ρ", "1, with one loop more"), share <= 1, most),
        Shown(rate.format("ε", "2"), other <= 1, f"at most {other:.3g} of the same with ε"),
    ]


# The example of Section 2.2: what normalising the points does to the bounds

RADII = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)
#: Curve → its words and style.
CURVES = {
    "plain": ("max ‖x‖²/ρ², data as they are", "-"),
    "normalised": ("1/ρ₂², data normalised", "--"),
    "updates": ("updates of the perceptron, as they are", "-."),
    "updates normalised": ("updates, normalised", ":"),
}


def _points_of(r: float) -> tuple[Any, Any]:
    problem: Any = load(f"two-lines:r={r:g}")
    return problem, np.asarray(problem.X, dtype=np.float64)


def _bounds(radii: tuple[float, ...]) -> dict[str, list[float]]:
    """max ‖x‖²/ρ² and 1/ρ₂² from exact margins, and the updates of the perceptron."""
    rows = []
    for r in radii:
        problem, X = _points_of(r)
        both = problem, from_arrays(X / np.linalg.norm(X, axis=1)[:, None], problem.y)
        # Margins are those of the rows divided by the longest.
        updates = [int(_last("perceptron", one).t) for one in both]
        rows.append([float(r), *(solve(one).gamma ** -2 for one in both), *updates])
    columns = map(list, zip(*rows, strict=True))
    return dict(zip(("r", *CURVES), columns, strict=True))


def _points(r: float) -> dict[str, list[float]]:
    problem, X = _points_of(r)
    X *= r / np.linalg.norm(X, axis=1).max()  # the generator has integers
    return {"x1": X[:, 0].tolist(), "x2": X[:, 1].tolist(), "y": [int(v) for v in problem.y]}


def _parts_two_lines(quick: bool) -> Parts:
    radii = RADII[:4] if quick else RADII
    bounds = {f"bounds and updates on two-lines, r = {radii}": partial(_bounds, radii)}
    return {"points of two-lines:r=3": partial(_points, 3)} | bounds


def _growth(bounds: dict[str, list[float]]) -> float:
    return _slope(bounds["r"], np.array(bounds["plain"]) / np.array(bounds["normalised"]))


def _draw_two_lines(figure: Any, numbers: Numbers) -> None:
    points, bounds = numbers.values()
    figure.set_size_inches(8.4, 3.9)
    left, right = figure.subplots(1, 2)
    x, y = np.array([points["x1"], points["x2"]]), np.array(points["y"])
    for label, marker, colour in ((1, "+", "#d55e00"), (-1, "_", "#0072b2")):
        some = x[:, y == label]
        left.plot(*some, marker, color=colour, ls="", ms=6)
        unit = some[:, 0] / np.hypot(*some[:, 0])
        left.plot(*unit, "o", color=colour, ms=8, mfc="none", mew=1.6)
    left.axline((0, 0), slope=1, color="0.4", lw=0.9, ls="--", label="x₁ = x₂")
    left.legend(fontsize=8)
    left.set(xlabel="x₁", ylabel="x₂", aspect="equal", title="r = 3; circles: normalised")
    for name, (words, style) in CURVES.items():
        right.loglog(bounds["r"], bounds[name], marker="o", ms=3, ls=style, label=words)
    right.set(xlabel="r", title=f"fitted slope of the ratio of the bounds: {_growth(bounds):.3f}")
    ticks = [r for r in (1, 2, 4, 8, 16, 32) if bounds["r"][0] <= r <= bounds["r"][-1]]
    right.set_xticks(ticks, [str(r) for r in ticks])
    right.minorticks_off()
    right.legend(fontsize=7)


def _shown_two_lines(numbers: Numbers) -> list[Shown]:
    _, bounds = numbers.values()
    rho, slope = [value**-0.5 for value in bounds["normalised"]], _growth(bounds)
    plain, normalised, updates, fewer = (np.array(bounds[name]) for name in CURVES)
    words = (
        f"of the bounds in all {len(rho)} cases; the perceptron itself makes {max(updates):.0f}"
        f" updates at most as they are, and {max(fewer):.0f} normalised (more as they are:"
        f" {(updates > fewer).sum()})"
    )
    better = "it is always better to normalise the data (said of the bounds)"
    return [
        Shown("ρ₂ ≈ 0.14", all(abs(v - 0.14) < 0.005 for v in rho), f"ρ₂ = {rho[0]:.6f}"),
        Shown("the bounds differ by r⁴", abs(slope - 4) < 1e-6, f"fitted slope {slope:.9f}"),
        Shown(better, bool((plain >= normalised).all()), words),
    ]


_RATES = "Iterations of the perceptron, NKP and SNKP against 1/ρ"
_ISNKPVN = "Iterations of ISNKPVN on separable and inseparable data"
_LINES = "Normalised and unnormalised margins on two lines"
_FIGURES: tuple[Any, ...] = (
    ("rates", "Theorem 1 and Section 4", _RATES, _parts_rates, _draw_rates, _shown_rates),
    ("isnkpvn", "Section 6, Theorem 4", _ISNKPVN, _parts_isnkpvn, _draw_isnkpvn, _shown_isnkpvn),
    ("sec2.2", "Section 2.2, Example", _LINES, _parts_two_lines, _draw_two_lines, _shown_two_lines),
)
ARTEFACTS = tuple(Artefact(f"rp.{name}", *more) for name, *more in _FIGURES)
