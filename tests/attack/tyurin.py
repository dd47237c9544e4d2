"""Tyurin (2024): perceptrons and logistic regression, and what is claimed of them."""

from __future__ import annotations

from itertools import count

from .facts import *

#: A score of this part of what it is a sum of may be seen on either side of 0.
NEAR = arb(10) ** -12


def perceptron(data: Data, rng: Any) -> Iterator[Step]:
    """(Perceptron): θ_{t+1} = θ_t + y_j a_j for some j ∈ S_t = {score ≤ 0}."""
    counts = vec([0] * data.n)
    while True:
        wrong = [i for i, s in enumerate(data.gram @ counts) if not s > 0]
        yield Step(data.combine(counts, False), {} if wrong else {"halt": "separated"})
        if not wrong:
            return
        counts[int(rng.choice(wrong))] += 1


def logistic_weights(scores: Vector, normalised: bool) -> Vector:
    """(LR+GD) with γ = 1: the mean of (1 + exp(score))⁻¹ a_i; or weights divided by their sum."""
    raw = 1 / (1 + exp(scores))
    return raw / (raw.sum() if normalised else len(raw))


def ratio(f: Facts) -> Any:
    """R²/μ²."""
    return (1 if f.unit else f.data.radius_squared) / f.gamma_squared


def mistakes(f: Facts) -> tuple[Any, list[Trit]]:
    return ratio(f), separated(f)


def our_batch_bound(f: Facts) -> tuple[Any, list[Trit]]:
    n = f.data.n
    return ratio(f) * fmpq((n + 1) ** 2, 4 * n), separated(f)


def theorem_6_1(f: Facts) -> tuple[Any, list[Trit]]:
    more = 2 * arb(2 * f.data.n - 1).log() / arb(f.gamma_squared)
    return ratio(f) + more, separated(f)


def _sides(f: Facts, t: int) -> list[Trit]:
    """Whether scores are positive; None where rounding may show a solver either side.

    Doubles compute small whole numbers without rounding, and anything at w = 0.
    """
    exact = f.data.whole and all(v.is_integer() and abs(v) < 2**20 for v in f.w[t])
    if exact or not f.moved(t):
        return [sign(s) for s in f.scores[t]]
    near = NEAR * f.data.radius * f.size(t)
    return [sign(s) if abs(s) > near else None for s in f.scores[t]]


def batch_method(solver: str, first: bool, normalised: bool, claims: dict[str, Truth]) -> Method:
    """(Batch Perceptron): half of every row first, then those of S_t, over n; or, normalised,
    the mean of the rows of S_t. With the statement about its steps."""

    def weights(positive: list[Trit], t: int) -> Vector | None:
        """None if the side of a row is not known, or if there is nothing left to do."""
        n, wrong = len(positive), vec(int(not s) for s in positive)
        if None in positive:
            return None
        if t == 0 and first:
            return vec([fmpq(1, 2 * n)] * n)
        return wrong * fmpq(1, int(wrong.sum()) if normalised else n) if any(wrong) else None

    def run(data: Data, rng: Any) -> Iterator[Step]:
        counts = vec([fmpq(0)] * data.n)
        for t in count():
            positive = [bool(s > 0) for s in data.gram @ counts]
            yield Step(data.combine(counts, False), {"halt": "separated"} if all(positive) else {})
            if all(positive):
                return
            counts = counts + weights(positive, t)

    def sides(f: Facts) -> Iterator[Side]:
        yield f.norm[0], arb(0)
        yield from weighted_steps(f, lambda t: weights(_sides(f, t), t))

    claims = {**claims, f"gb.tyurin.{solver}.step": step(sides)}
    return Method(solver, run, claims, unit=False)


def row_step(f: Facts) -> Iterator[Side]:
    """The step is one of the rows whose score is not positive."""
    for t in range(len(f.w) - 1):
        signs = _sides(f, t)
        if False in signs:  # else it may have ended
            yield best_side([step_side(f, t, f.row(i)) for i, s in enumerate(signs) if not s])


METHODS: dict[str, Method] = {
    "perceptron": Method(
        "perceptron",
        perceptron,
        {
            "tyurin.thm5.2": stop(mistakes),
            "rp.perceptron": stop(mistakes),
            "gb.tyurin.perceptron.step": step(row_step),
        },
        unit=False,
    ),
    "batch_perceptron": batch_method(
        "batch-perceptron",
        True,
        False,
        {
            "tyurin.thm3.3": stop(lambda f: (f.data.n * ratio(f), separated(f))),
            "gb.batch": stop(our_batch_bound),
        },
    ),
    "normalized_batch_perceptron": batch_method(
        "normalized-batch-perceptron", False, True, {"tyurin.thm5.3": stop(mistakes)}
    ),
    "logistic_descent": weight_method(
        "lr-gd",
        "gb.tyurin.lr-gd.step",
        lambda scores, t: logistic_weights(scores, False),
        unit=False,
        starts=True,
    ),
    "normalized_logistic_descent": weight_method(
        "normalized-lr-gd",
        "gb.tyurin.normalized-lr-gd.step",
        lambda scores, t: logistic_weights(scores, True),
        {"tyurin.thm6.1": stop(theorem_6_1)},
        unit=False,
        starts=True,
    ),
}
