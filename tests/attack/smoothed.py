"""Ramdas and Peña (2015): Algorithm 7 and Winnow, and every claim that their methods make beside w.

Rows have norm at most one (but for Winnow), as everywhere in the paper. Of α_k, p_k, μ_k, δ_t and
the counts of the loops what follows is the truth, from the numbers that are delivered; each of them
is spoilt in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from flint import arb, fmpq

import gammabar as gb
from gammabar.harness.registry import load_statements
from gammabar.solvers import Iterate

from . import methods
from .claims import NAMES
from .data import Data, Unfit, bits, to_double
from .facts import Facts, Trit
from .hearing import counted, hear
from .methods import EPSILON, Step, nearest_in_simplex
from .spoils import WRONG

#: Updates that are heard.
LENGTH = 9
#: γ of Algorithm 7.
GAMMA = 2


def iterated_von_neumann(data: Data, rng: Any) -> Iterator[Step]:
    """Algorithm 7 (ISNKPVN) with γ = 2 and ε; every step of every call of Algorithm 6."""
    n = data.n
    gram = [[v / data.radius_squared for v in row] for row in data.gram]

    def products(p: list[Any]) -> list[Any]:
        return [sum((g * v for g, v in zip(row, p, strict=True)), fmpq(0)) for row in gram]

    def square(p: list[Any]) -> Any:
        return sum((a * b for a, b in zip(p, products(p), strict=True)), fmpq(0))

    q: list[Any] = [fmpq(1, n)] * n
    outer = 0
    while True:
        small = square(q) / GAMMA**2
        alpha, p, k, returned = q, [], 0, False
        while not returned:
            mu = fmpq(4 * n, (k + 1) * (k + 2))
            scores = products(alpha)
            answer = nearest_in_simplex([a - s / mu for a, s in zip(q, scores, strict=True)])
            p = answer if not k else mixed(p, answer, fmpq(2, k + 2))
            over = all(s > 0 for s in scores)
            returned = not over and bool(square(p) < small)
            extra = {"p": p, "dual": alpha, "mu": mu, "outer": outer, "inner": k}
            extra["delta"] = arb(small).max(arb(0)).sqrt()
            if returned:
                extra["returned"] = True
            halts = returned and small < EPSILON**2
            if over or halts:
                extra["halt"] = "separated" if over else "certificate"
            yield Step(data.combine(alpha, True), extra)
            if over or halts:
                return
            theta = fmpq(2, k + 3)
            alpha = [
                (1 - theta) * (a + theta * b) + theta**2 * c
                for a, b, c in zip(alpha, p, answer, strict=True)
            ]
            k += 1
        q, outer = p, outer + 1


def mixed(p: list[Any], answer: list[Any], share: fmpq) -> list[Any]:
    return [(1 - share) * a + share * b for a, b in zip(p, answer, strict=True)]


def winnow(data: Data, rng: Any) -> Iterator[Step]:
    """w_t ∝ exp(η_t (g_1 + … + g_t)), η_t = √(ln d/(t+1)), g = a_i/‖a_i‖_∞ of a smallest score.

    The paper prints no update: this is the one that the project's solver documents.
    """
    d = data.dimension
    if not data.linear:
        raise Unfit("multiplicative weights need coordinates")
    total = [arb(0)] * d
    t = 0
    while True:
        eta = (arb(d).log() / (t + 1)).sqrt()
        raw = [(eta * v).exp() for v in total]
        w = [v / sum(raw, arb(0)) for v in raw]
        scores = data.scores(w, False)
        over = all(s > 0 for s in scores)
        yield Step(w, {"halt": "separated"} if over else {})
        if over:
            return
        row = data.combine(_unit(_least(scores, rng), data.n), False)
        most = _largest([abs(v) for v in row])
        total = [a + (b / most if most > 0 else 0) for a, b in zip(total, row, strict=True)]
        t += 1


def _unit(j: int, n: int) -> list[int]:
    return [int(i == j) for i in range(n)]


def _least(scores: list[Any], rng: Any) -> int:
    low = scores[0]
    for s in scores[1:]:
        low = low.min(s)
    return int(rng.choice([i for i, s in enumerate(scores) if not s > low]))


def _largest(values: list[arb]) -> arb:
    most = values[0]
    for v in values[1:]:
        most = most.max(v)
    return most


def temperature(method: str, n: int, k: int) -> fmpq:
    """μ_k."""
    return fmpq(4 if method == "smoothed_perceptron" else 4 * n, (k + 1) * (k + 2))


class Solver:
    """Delivers what it is given, with the options that the statements speak of."""

    ends = ("separated", "certificate")
    gamma = float(GAMMA)
    rate = None

    def __init__(self, method: str, run: Any, extras: list[dict[str, Any]]) -> None:
        self.run, self.extras = run, extras
        small = int(EPSILON.p) / int(EPSILON.q)
        # Algorithm 4 has no ε; of one that had, the exit by a certificate would be asked for.
        self.epsilon = None if method == "smoothed_perceptron" else small
        self.delta = small

    def iterates(self, problem: Any, rng: Any = None) -> Iterator[Iterate]:
        for t, (w, extra) in enumerate(zip(self.run, self.extras, strict=True)):
            said = {name: value for name, value in extra.items() if name != "dual"}
            yield Iterate(t, w.copy(), dual=extra.get("dual"), extra=said)


# What is said beside w, spoilt

Said = list[dict[str, Any]]


def lie(extras: Said, rng: np.random.Generator) -> tuple[str, Said]:
    """Something else for one thing that is said, at one k or from there on."""
    k = int(rng.integers(0, len(extras)))
    names = [*extras[k], *(["halt"] if rng.random() < 0.1 else [])]
    if not names:
        return "", extras
    name = str(rng.choice(names))
    other = extras[int(rng.integers(0, len(extras)))].get(name)
    old = extras[k].get(name)
    how, new = _another(name, old, other, rng)
    last = len(extras) if rng.random() < 0.3 else k + 1
    changed = [{**said, name: new} if k <= j < last else said for j, said in enumerate(extras)]
    return f"{name} {how}", changed


def _another(name: str, old: Any, other: Any, rng: np.random.Generator) -> tuple[str, Any]:
    if name in ("halt", "returned"):
        options = {"halt": ["separated", "certificate", None], "returned": [False, None]}[name]
        new = options[int(rng.integers(len(options)))]
        return f"said to be {new}", new
    if name in ("outer", "inner"):
        more = int(rng.choice([-1, 1, 2]))
        return (f"{more:+d}", old + more) if rng.random() < 0.7 else ("of another k", other)
    choice = int(rng.integers(7))
    if choice == 0:
        return "negated", -old
    if choice == 1:
        return "doubled", 2 * old
    if choice == 2:
        return "of another k", old if other is None else other
    if choice == 3:
        return "scaled down", old * 2.0 ** -int(rng.choice([1, 40, 600]))
    if isinstance(old, float):
        return "a little off", old * (1 + 1e-3)
    if choice == 4:
        return "turned", old[::-1].copy()
    moved = old.copy()
    moved[int(rng.integers(len(moved)))] += 1e-3 if choice == 5 else -0.1
    return "moved", moved


def theorems(method: str) -> list[str]:
    """What holds of the method, as far as it is about runs."""
    name = {"iterated_von_neumann": "isnkpvn", "winnow": "winnow"}.get(method) or NAMES[method]
    return [
        s.id
        for s in load_statements().values()
        if s.about_runs and name in s.solvers and s.status == "holds"
    ]


METHODS: dict[str, Callable[[Data, Any], Iterator[Step]]] = {
    "smoothed_perceptron": methods.smoothed_perceptron,
    "smoothed_von_neumann": methods.smoothed_von_neumann,
    "iterated_von_neumann": iterated_von_neumann,
    "von_neumann": methods.von_neumann,
    "kernel_perceptron": methods.kernel_perceptron,
    "winnow": winnow,
}


def _drawn(rng: np.random.Generator) -> Data:
    """Most claims are about rows of norm one."""
    if rng.random() < 0.4:
        return Data(rng)
    for _ in range(12):
        try:
            data = Data(rng)
        except (Unfit, gb.ProblemError):
            continue
        if data.normalised or data.kind == "rbf":
            return data
    raise Unfit("no rows of norm one were drawn")


def one(seed: int, number: int, tally: Any) -> None:
    """One of the methods on a drawn problem: right, with wrong iterates, and with lies beside."""
    rng = np.random.default_rng([seed, number, 7])
    with bits():
        try:
            with counted(tally, f"{seed}.{number}"):
                data = _drawn(rng)
                method = str(rng.choice([*METHODS]))
                if not data.radius_squared > 0:
                    raise Unfit("all rows are zero")
                _tried(data, method, rng, f"{seed}.{number} {data.name}: {method}", tally)
        except Unfit as reason:
            tally.refused[str(reason)[:60]] += 1


def _tried(data: Data, method: str, rng: np.random.Generator, where: str, tally: Any) -> None:
    steps = list(islice(METHODS[method](data, rng), LENGTH + 1))
    run = np.array([[to_double(v) for v in step.w] for step in steps])
    if not np.isfinite(run).all():
        raise Unfit("the right iterates are no doubles")
    extras = [_rounded(method, data.n, k, step.extra) for k, step in enumerate(steps)]
    tally.trials += 1
    tally.kinds[data.kind] += 1
    runs: dict[str, tuple[Any, Said]] = {"nearest": (run, extras)}
    for spoil in rng.choice([*WRONG], 2, replace=False):
        runs[str(spoil)] = (WRONG[str(spoil)](run, rng), extras)
    for _ in range(4):
        name, said = lie(extras, rng)
        runs[name] = (run, said)
    for how, (ws, said) in runs.items():
        if how and np.isfinite(ws).all():
            _hear(data, method, ws, said, how == "nearest", f"{where}, {how}", tally)


def _rounded(method: str, n: int, k: int, extra: dict[str, Any]) -> dict[str, Any]:
    said = dict(extra)
    if method in ("smoothed_perceptron", "smoothed_von_neumann"):
        said["mu"] = temperature(method, n, k)
    for name in {"p", "dual"} & said.keys():
        said[name] = np.array([to_double(arb(v)) for v in said[name]])
    for name in {"mu", "delta"} & said.keys():
        said[name] = to_double(arb(said[name]))
    return said


def _hear(
    data: Data, method: str, run: Any, extras: Said, right: bool, where: str, tally: Any
) -> None:
    from .smoothed_claims import CLAIMS

    facts = Facts(data, method != "winnow", run.tolist(), extras)
    claims = CLAIMS[method]
    judges: dict[str, Callable[[], Trit]] = {k: partial(c, facts) for k, c in claims.items()}
    if right:
        judges = {name: judges.get(name, lambda: None) for name in theorems(method)} | judges
    solver = Solver(method, run, extras)
    hear(solver, data.problem, judges, right, where, tally, iterations=max(len(run) - 1, 1))
