"""Figures 1 to 4 of Ji, Srebro and Telgarsky (2021).

Figure 3 (Section 4, Appendix F): the full MNIST data, the reduction of Section 5.2, features of the
initial kernel of a 2-homogeneous network with one hidden layer of 128 ReLU nodes, methods with n
kernel evaluations in each iteration. The paper does not say how the network is initialised, how
features are scaled, or which t enters the step √(ln(n)/t) of Theorem 4.1. Here the weights are
those of the kernel ``network``, all rows are divided by the largest norm, and t is the length of
the run (the t of the theorem is far longer, and its step too small to see anything).

Figure 4 (Section 6): an AlexNet is trained on 128 images of CIFAR-10 by plain mini-batch SGD; the
gradients ∇_v A(x; v_t) at several epochs t are features, normalised in ℓ₂. Algorithm 2 maximises
the margin, and the test error of that predictor tells whether the features became better. "All that
differs between Figure 4(a) and Figure 4(b) is the choice of random seed": 100 and 13579. Here the
predictor is x ↦ argmax_c ⟨w, ∇A_c(x)⟩, and the flattened Jacobian of x is the feature that is
normalised; so rows are (∇A_c(x_i) − ∇A_j(x_i))/(√2 ‖∇A(x_i)‖_F) for the label c and every wrong
class j. The paper gives neither step size nor batch, nor which 128 images, nor how weights are
drawn; its legend has epochs 0, 400, 800, 1200 and 1600. With PyTorch's own initial weights, a step
of 0.01 and batches of 16, such a run is as long as the paper's: the loss stays at that of guessing
for several hundred epochs and is small at the end. (With the larger weights of He et al. it is over
after fifty, and test errors end four hundredths below the paper's axis.) Beyond the paper there are
the exact maximum margin of every kernel (of its Gram matrix in doubles, which is proved positive
definite first) and more seeds, of which only the first and the last kernel are taken.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gammabar.harness.paper import Artefact, Numbers, Parts, Shown
from gammabar.harness.reproduce import along, draw_curves, held_out_images, listed, logarithmic
from gammabar.harness.run.tasks import Registered
from gammabar.oracle import solve
from gammabar.papers.ji_srebro_telgarsky_2021 import figures_network as deep
from gammabar.problems import Kernel, KernelProblem, Problem, load
from gammabar.problems.datasets import DATASETS, held_out, read
from gammabar.solvers.ji_srebro_telgarsky import AdaptiveSampling

Floats = NDArray[np.float64]


# --- Figures 1 and 2: data that are separable, and data that are not --------------------------

#: What the legend names, by solvers of the registry.
METHODS = {
    "Algorithm 1": "dual-acceleration",
    "normalised GD": "normalized-gradient-descent",
    "GD": "gradient-descent:step=1",
    "batch perceptron": "batch-perceptron-cotter",
}


def _runs(what: str, data: str, last: int, run: Callable[[str, str, int], Any]) -> Parts:
    """γ̄ of the data, and what is measured along the run of every method."""
    return {f"γ̄ of {data}": lambda: solve(load(data)).gamma} | {
        f"{what}, {data}, {solver}, t ≤ {last}": partial(run, data, solver, last)
        for solver in METHODS.values()
    }


def _found(numbers: Numbers) -> tuple[float, dict[str, Numbers]]:
    """γ̄, and the curves by the names of the legend."""
    best, *curves = numbers.values()
    return best, dict(zip(METHODS, curves, strict=True))


def _margins(data: str, solver: str, last: int) -> dict[str, list[float]]:
    def margin(problem: Problem, w: Any) -> dict[str, float]:
        return {"margin": problem.margin(w) if np.any(w) else 0.0}

    return along(load(data).unit(), solver, logarithmic(last), margin)


def _errors(quick: bool, data: str, solver: str, last: int) -> dict[str, list[float]]:
    """Test errors, on digits 3 and 5 that no method is trained on."""
    if quick:
        problem: Any = load("mnist-sample:3,5:n=1000,seed=1")
        X, y = np.asarray(problem.X), np.asarray(problem.y)
    else:
        X, y = held_out_images("mnist-test", (3, 5))
    X = X.astype(np.float64)

    def error(problem: Problem, w: Any) -> dict[str, float]:
        return {"error": float(np.mean(y * (X @ w) <= 0))}

    return along(load(data).unit(), solver, logarithmic(last), error)


def _parts_1(quick: bool) -> Parts:
    data, last = ("mnist-sample:0,1", 200) if quick else ("mnist:0,1", 10_000)
    return _runs("margin", data, last, _margins)


def _parts_2(quick: bool) -> Parts:
    data, last = ("mnist-sample:3,5:n=600", 200) if quick else ("mnist:3,5", 2000)
    return _runs("test error", data, last, partial(_errors, quick))


def _draw_1(figure: Any, numbers: Numbers) -> None:
    best, curves = _found(numbers)
    figure.set_size_inches(9.6, 4.0)
    paper, near = figure.subplots(1, 2)
    for axes, scale in ((paper, "plot"), (near, "semilogx")):
        draw_curves(axes, curves, "margin", scale)
        axes.axhline(best, color="0.5", lw=0.8, ls="-", label="γ̄, exact")
        axes.set(xlabel="gradient evaluations")
    if curves["GD"]["t"][-1] >= 1000:
        paper.set(xlim=(0, 1000), ylim=(-0.40, 0.05), title="the axes of the paper")
    near.set(ylim=(-0.5 * best, 1.05 * best), title="near γ̄")
    paper.legend(loc="lower right")


def _draw_2(figure: Any, numbers: Numbers) -> None:
    axes = figure.subplots()
    draw_curves(axes, _found(numbers)[1], "error", "loglog")
    axes.set(xlabel="gradient evaluations", ylabel="test error")
    axes.legend(loc="upper right")


def _shown_1(numbers: Numbers) -> list[Shown]:
    best, curves = _found(numbers)
    ends = {label: curve["margin"][-1] for label, curve in curves.items()}
    first, normalised, plain, batch = ends.values()
    shares = ", ".join(f"{label} {value / best:.4f} γ̄" for label, value in ends.items())
    last, implicit = max(curves["GD"]["t"]), max(normalised, plain)
    surpasses = "the batch perceptron surpasses prior implicit margin maximisers"
    faster = "normalising the gradient is faster than gradient descent"
    against = f"at t = {last:.0f}: {batch:.6g} against {implicit:.6g}"
    return [
        Shown("Algorithm 1 is ahead of all others", first > max(implicit, batch), shares),
        Shown(surpasses, batch > implicit, against),
        Shown(faster, normalised > plain, f"{normalised:.6g} against {plain:.6g}"),
    ]


def _shown_2(numbers: Numbers) -> list[Shown]:
    best, curves = _found(numbers)
    ends = {label: curve["error"][-1] for label, curve in curves.items()}
    *smooth, batch = ends.values()
    claim = "the batch perceptron suffers, methods with the exponential loss do not"
    return [
        Shown("digits 3 and 5 are not separable", best == 0, f"γ̄ = {best:.6g}, proved"),
        Shown(claim, batch > max(smooth), listed(ends, ".4f")),
    ]


# --- Figure 3: ten classes and the kernel of a network ---------------------------------------

_KERNEL = "network:width=128,seed=0"
LEGEND = AGGRESSIVE, BATCH, THEOREM = (
    "Algorithm 2, aggressive",
    "batch perceptron",
    "Algorithm 2, Theorem 4.1",
)


def _solver(label: str, n: int, last: int) -> str:
    """A method of the legend, as a solver of the registry."""
    if label == BATCH:
        return "batch-perceptron-cotter"
    slow = f":step={math.sqrt(math.log(n) / last)!r},momentum=false"
    return "adaptive-sampling" + (slow if label == THEOREM else "")


def _curve(data: str, label: str, last: int) -> Numbers:
    """Margins and upper bounds of γ̄ along a run, from the scores that the method carries.

    w_t is a combination of rows with weights α ≥ 0, so ‖w_t‖/Σα is the norm of a convex
    combination of the rows: at least γ̄.
    """
    problem = load(data, multiclass=True, kernel=_KERNEL).unit()
    solver = Registered(_solver(label, problem.n, last)).open()
    found: Numbers = {"t": [], "margin": [], "bound": []}
    wanted, mean = set(logarithmic(last)), np.zeros(problem.n)
    for iterate in islice(solver.iterates(problem, np.random.default_rng(0)), last + 1):
        t, scores = iterate.t, iterate.extra["scores"]
        if "v" in iterate.extra and t > 0:  # w_t is the mean of v_1, …, v_t, whose scores they are
            mean += (scores - mean) / t
            scores = mean
        if t in wanted:
            length = math.sqrt(max(0.0, float(iterate.w @ scores)))
            found["t"].append(t)
            found["margin"].append(float(scores.min()) / length if length else 0.0)
            found["bound"].append(length / float(iterate.w.sum()))
    return found | {"afresh": problem.margin(iterate.w)}


def _parts_3(quick: bool) -> Parts:
    data, last = ("mnist-sample:n=1000", 100) if quick else ("mnist", 3000)
    name = f"margin, {data}, ten classes, {_KERNEL}"
    return {f"{name}, {one}, t ≤ {last}": partial(_curve, data, one, last) for one in LEGEND}


def _draw_3(figure: Any, numbers: Numbers) -> None:
    axes, curves = figure.subplots(), dict(zip(LEGEND, numbers.values(), strict=True))
    draw_curves(axes, curves, "margin")
    least = np.minimum.accumulate(np.min([curve["bound"] for curve in curves.values()], axis=0))
    axes.semilogx(curves[BATCH]["t"], least, color="0.5", lw=0.8, ls="-", label="upper bound of γ̄")
    axes.axhline(0, color="0.8", lw=0.8, ls="-")
    # Margins come close to zero from below: a logarithmic axis on either side of it.
    axes.set_yscale("symlog", linthresh=0.01)
    low = min(min(curve["margin"]) for curve in curves.values())
    axes.set(xlabel="iterations (n kernel evaluations each)", ylim=(1.5 * low, 1.0))
    axes.legend(loc="upper right")


def _shown_3(numbers: Numbers) -> list[Shown]:
    curves = dict(zip(LEGEND, numbers.values(), strict=True))
    ends = {label: curve["margin"][-1] for label, curve in curves.items()}
    bound = min(min(curve["bound"]) for curve in curves.values())
    best = max(max(curve["margin"]) for curve in curves.values())
    drift = max(abs(c["afresh"] - c["margin"][-1]) for c in curves.values())
    firsts = {
        label: next((t for t, m in zip(c["t"], c["margin"], strict=True) if m > 0), None)
        for label, c in curves.items()
    }
    first = {label: f"from t = {t}" if t else "never" for label, t in firsts.items()}
    known, found = ends[BATCH] > 0 or None, f"at t = {curves[BATCH]['t'][-1]}: "
    found += f"{listed(ends, '.5f')}; one seed"
    beaten = "the batch perceptron is slightly beaten by Algorithm 2 with momentum and step 1"
    slower = "the parameters of Theorem 4.1 are slower than the batch perceptron"
    positive = f"positive margin: {listed(first)}; {max(best, 0.0):.5f} ≤ γ̄ ≤ {bound:.5f}"
    afresh = f"the last margins, computed afresh from w, differ by at most {drift:.1e}"
    return [
        Shown(beaten, known and ends[AGGRESSIVE] > ends[BATCH], found),
        Shown(slower, known and ends[THEOREM] < ends[BATCH], found),
        Shown("these features make the data linearly separable", best > 0 or None, positive),
        Shown("scores that are carried along are those of w", drift < 1e-9, afresh, ours=True),
    ]


# --- Figure 4: kernels of a deep network in training -----------------------------------------


class _Setting(NamedTuple):
    """Data, width of the network, step and batch of SGD; the epochs at which kernels are taken,
    the steps of Algorithm 2 at which it is looked at, and the seeds."""

    data: str
    width: int
    step: float
    batch: int
    epochs: tuple[int, ...]
    steps: tuple[int, ...]
    seeds: tuple[int, ...]

    def name(self, seed: int) -> str:
        """The part of a seed, by all that it depends on."""
        return (
            f"kernels of a network of width {self.width}, {self.data}, SGD of step {self.step} and"
            f" batch {self.batch}, epochs {self.taken(seed)}, {self.steps[-1]} steps, seed {seed}"
        )

    def taken(self, seed: int) -> tuple[int, ...]:
        """When kernels are taken: with other seeds than the paper's, at first and in the end."""
        return self.epochs if seed in PAPER else (self.epochs[0], self.epochs[-1])


#: The seeds of Figure 4 (a) and (b).
PAPER = (100, 13579)
_EPOCHS, _STEPS = (0, 400, 800, 1200, 1600), (500, 1000, 2000, 4000)
_FULL = _Setting("cifar-128", 16, 0.01, 16, _EPOCHS, _STEPS, (*PAPER, 0, 1, 2))
_QUICK = _Setting("mnist-sample", 8, 0.1, 8, (0, 5, 15), (10, 100), (*PAPER, 0))
#: Test errors that differ by no more are the same: three standard deviations of a difference of
#: predictors that disagree on one image in ten, of 10,000.
_SAME = 0.01


def _rows(labels: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Point and wrong class of every row."""
    i, j = np.divmod(np.arange(len(labels) * (k - 1)), k - 1)
    return i, j + (j >= labels[i])


def reduced(gram: Floats, labels: NDArray[Any]) -> tuple[Floats, Floats]:
    """The Gram matrix of the reduction's rows, and the norms of the Jacobians.

    `gram` has ⟨∇A_c(x_i), ∇A_b(x_j)⟩ in row i k + c and column j k + b.
    """
    n, k = len(labels), len(gram) // len(labels)
    lengths = np.sqrt(np.diagonal(gram).reshape(n, k).sum(axis=1))
    i, wrong = _rows(labels, k)
    right, wrong = i * k + labels[i], i * k + wrong
    G = gram[right] - gram[wrong]
    G = (G[:, right] - G[:, wrong]) / (2 * lengths[i][:, None] * lengths[i])
    return np.tril(G) + np.tril(G, -1).T, lengths


def spread(weights: Floats, labels: NDArray[Any], lengths: Floats, k: int) -> Floats:
    """Coefficients β_ic of ∇A_c(x_i) in the combination of rows with these weights."""
    i, wrong = _rows(labels, k)
    beta = np.zeros((len(labels), k))
    share = weights / (np.sqrt(2) * lengths[i])
    np.add.at(beta, (i, labels[i]), share)
    np.add.at(beta, (i, wrong), -share)
    return beta


def _data(setting: _Setting) -> tuple[Any, NDArray[Any], Any, NDArray[Any]]:
    """Images and labels to train on, and to test on."""
    dataset = DATASETS[setting.data]
    points = read(dataset)
    if setting.data == "cifar-128":
        others = held_out(dataset)
        pairs = [(points.X, points.labels), (others.X, others.labels)]
    else:  # digits, 28 by 28, within images of three colours
        grey = np.pad(points.X.reshape(-1, 28, 28), ((0, 0), (2, 2), (2, 2)))
        colours = np.repeat(grey[..., None], 3, axis=3)
        pairs = [
            (colours[rows], points.labels[rows])
            for rows in (slice(0, None, 250), slice(3, None, 25))
        ]
    (X, y), (T, z) = ((deep.images(A.reshape(-1, 32, 32, 3)), b.astype(np.int64)) for A, b in pairs)
    return X, y, T, z


def _seed(setting: _Setting, seed: int) -> list[Numbers]:
    """Train with this seed; what is found at each of the epochs."""
    X, y, T, z = _data(setting)
    model = deep.alexnet(setting.width, seed)
    losses = deep.train(model, X, y, seed, setting.step, setting.batch)
    found, taken = [], setting.taken(seed)
    for epoch in range(taken[-1] + 1):
        loss = next(losses) if epoch else None
        if epoch in taken:
            network = {"training loss": loss, "network error": deep.network_error(model, T, z)}
            found.append({"epoch": epoch} | network | _kernel(setting, seed, model, X, y, T, z))
    return found


def _kernel(setting: _Setting, seed: int, model: Any, X: Any, y: Any, T: Any, z: Any) -> Numbers:
    """The kernel of the model as it is: exact margin, Algorithm 2, and test errors of both."""
    G, lengths = reduced(deep.jacobian_gram(model, X), y)
    problem = KernelProblem(G, np.ones(len(G), dtype=np.int64), Kernel("precomputed"))

    def error(weights: Floats) -> float:
        along = deep.direction(model, X, spread(weights, y, lengths, 1 + len(G) // len(y)))
        return deep.error_of(deep.derivatives(model, T, along), z)

    truth, last = solve(problem), setting.steps[-1]
    curve: dict[str, list[float]] = {"t": [], "margin": [], "error": []}
    run = AdaptiveSampling().iterates(problem, np.random.default_rng(seed))
    for iterate in islice(run, last + 1):
        if iterate.t in (setting.steps if seed in PAPER else (last,)):
            curve["t"].append(iterate.t)
            curve["margin"].append(iterate.margin)
            curve["error"].append(error(iterate.w))
    return {
        "γ̄": truth.gamma_raw,
        "exact": truth.exact,
        "error": error(truth.q) if truth.separable else None,
        "algorithm": curve,
    }


def _parts_4(quick: bool) -> Parts:
    setting = _QUICK if quick else _FULL
    return {setting.name(seed): partial(_seed, setting, seed) for seed in setting.seeds}


def _by_seed(numbers: Numbers) -> dict[int, list[Numbers]]:
    return {int(name.rpartition(" ")[2]): found for name, found in numbers.items()}


def _draw_4(figure: Any, numbers: Numbers) -> None:
    seeds = _by_seed(numbers)
    figure.set_size_inches(9.6, 6.4)
    (one, two), (errors, margins) = figure.subplots(2, 2)
    for axes, seed in zip((one, two), PAPER, strict=True):
        for at in seeds[seed]:
            curve = at["algorithm"]
            axes.plot(curve["t"], curve["error"], marker=".", label=f"epoch {at['epoch']}")
        end = seeds[seed][-1]["network error"]
        axes.axhline(end, color="0.5", lw=0.8, ls="-", label="network, at the end")
        axes.set(title=f"random seed {seed}", xlabel="iterations of Algorithm 2")
        axes.set(ylabel="test error", xlim=(0, None))
        axes.legend(fontsize=7, loc="upper right", ncols=2)
    lows, highs = zip(one.get_ylim(), two.get_ylim(), strict=True)
    two.sharey(one)  # the paper's axis goes from 0.79 to 0.85; the legend takes a quarter
    low, high = min(*lows, 0.79), max(*highs, 0.85)
    one.set_ylim(low, high + 0.25 * (high - low))
    for place, (seed, found) in enumerate(seeds.items()):
        ends = (found[0], found[-1])
        mark = {"marker": "o^sDvPX*"[place % 8], "ms": 4, "label": f"seed {seed}"}
        errors.plot((0, 1), [at["error"] for at in ends], **mark)
        margins.semilogy((0, 1), [at["γ̄"] for at in ends], **mark)
    for axes, what in ((errors, "test error at the largest margin"), (margins, "γ̄, exact")):
        axes.set_xticks((0, 1), [f"epoch {at['epoch']}" for at in ends])
        axes.set(xlabel="kernel", ylabel=what, xlim=(-0.2, 1.8))
    errors.legend(fontsize=7, loc="center right")


def _shown_4(numbers: Numbers) -> list[Shown]:
    seeds = _by_seed(numbers)
    every = [at for found in seeds.values() for at in found]
    first, last = ({seed: found[k] for seed, found in seeds.items()} for k in (0, -1))
    means = [np.mean([at["error"] for at in ends.values()]) for ends in (first, last)]
    lower = {seed: first[seed]["error"] - last[seed]["error"] for seed in seeds}
    change = {s: f"{first[s]['error']:.4f} → {last[s]['error']:.4f}" for s in seeds}
    improved = sum(fall > _SAME for fall in lower.values())
    worse = sum(fall < 0 for fall in lower.values())
    larger = sum(last[seed]["γ̄"] > first[seed]["γ̄"] for seed in seeds)
    apart = [abs(at["error"] - at["network error"]) for at in last.values()]
    shares = {  # the least part of γ̄ that Algorithm 2 has in the end, by epoch
        e: min(at["algorithm"]["margin"][-1] / at["γ̄"] for at in every if at["epoch"] == e)
        for e in sorted({at["epoch"] for at in every})
    }
    # Width, step and images of the network are not given: what does not agree here is open.
    one, other = (
        f"test error {change[seed]}; a seed draws other weights in other programs" for seed in PAPER
    )
    seem, many = "kernels seem to improve in training in terms of", len(seeds) / 2
    either = "changing the seed suffices to change whether features improve"
    same = "the last kernel's predictor has the test error of the network"
    by_seed = (
        f"the test error falls by more than {_SAME} with {improved} of {len(seeds)} seeds and rises"
        f" with {worse}: " + listed({f"{seed}:": text for seed, text in change.items()})
    )
    mean = f"the mean test error goes from {means[0]:.4f} to {means[1]:.4f}"
    gamma = "the exact γ̄ of the last kernel is larger than that of the first with"
    differ = f"they differ by {', '.join(f'{value:.4f}' for value in apart)}"
    quick = (
        f"after {every[0]['algorithm']['t'][-1]} steps its margin is at least, by the epoch of the"
        f" kernel, {', '.join(f'{e}: {share:.2f} γ̄' for e, share in shares.items())}; γ̄ is exact"
        f" for {sum(at['exact'] for at in every)} of {len(every)} kernels"
    )
    determines, fast = "Algorithm 2 quickly determines the maximum margin", min(shares.values())
    return [
        Shown(
            "with seed 100 the last kernel is better than the first", lower[100] > 0 or None, one
        ),
        Shown("with seed 13579 it is not", lower[13579] <= 0 or None, other),
        Shown(either, (improved > 0 and worse > 0) or None, by_seed),
        Shown(f"{seem} test errors", improved > many, mean),
        Shown(f"{seem} margins", larger > many, f"{gamma} {larger} of {len(seeds)} seeds"),
        Shown(same, max(apart) <= _SAME, f"{differ} (up to {_SAME} counts as the same)"),
        Shown(determines, fast > 0.9 or None, quick),
    ]


_FIGURES: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    (
        "Margin against gradient evaluations, MNIST digits 0 and 1",
        (_parts_1, _draw_1, _shown_1),
        {"data": ("mnist",)},
    ),
    (
        "Test error against gradient evaluations, MNIST digits 3 and 5",
        (_parts_2, _draw_2, _shown_2),
        {"data": ("mnist", "mnist-test")},
    ),
    (
        "Margin against iterations of n kernel evaluations, MNIST, the kernel of a network",
        (_parts_3, _draw_3, _shown_3),
        {"data": ("mnist",), "cost": "5 min of one processor, 1.1 GB"},
    ),
    (
        "Test error of the kernels of a deep network, epoch by epoch, CIFAR-10",
        (_parts_4, _draw_4, _shown_4),
        {"data": ("cifar-128",), "cost": "40 min of one processor, 1.1 GB"}
        | {"package": ("torch", "networks")},
    ),
)
ARTEFACTS = tuple(
    Artefact(f"jst.fig{k}", f"Figure {k}", title, *made, **more)
    for k, (title, made, more) in enumerate(_FIGURES, 1)
)
