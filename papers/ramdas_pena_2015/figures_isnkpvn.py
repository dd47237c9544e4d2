"""ISNKPVN (Section 6) on separable and on inseparable data, beside the bounds of Theorem 4."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gammabar.harness.paper import Artefact, Shown
from gammabar.harness.run.specs import Registered
from gammabar.papers.ramdas_pena_2015.figures import hard
from gammabar.problems import Problem, load

SEPARABLE = ("iris:0,1", "digits:0,1", "digits:3,8", "mnist-sample:0,1", "wine:0,1")
INSEPARABLE = ("iris:1,2", "inseparable:n=60,d=5,seed=0", "inseparable:n=500,d=20,seed=1")
RADII = (4, 8, 16, 24)
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
    from gammabar.oracle import solve

    if data.startswith("two blocks"):
        problem, inverse = hard(int(data.rpartition(" ")[2]))
        margin = 1 / inverse
    else:
        problem = load(data).unit()
        margin = solve(problem).gamma
    return {"data": data, "rho": margin, **_run(problem, margin / 2)}


def _on_inseparable(data: str, epsilons: tuple[float, ...]) -> dict[str, Any]:
    from gammabar.oracle import solve

    problem = load(data).unit()
    runs = [{"epsilon": epsilon, **_run(problem, epsilon)} for epsilon in epsilons]
    return {"data": data, "separable": solve(problem).separable, "runs": runs}


def _parts(quick: bool) -> Mapping[str, Callable[[], Any]]:
    blocks = [f"two blocks, r = {r}" for r in (RADII[:2] if quick else RADII)]
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


def _draw(figure: Any, numbers: dict[str, Any]) -> None:
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


def _shown(numbers: dict[str, Any]) -> list[Shown]:
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


ARTEFACTS = (
    Artefact(
        id="rp.isnkpvn",
        reference="Section 6, Theorem 4",
        title="Iterations of ISNKPVN on separable and inseparable data",
        parts=_parts,
        draw=_draw,
        shown=_shown,
    ),
)
