"""Usual mistakes, each in five methods: the cause that is named is the one made.

As a program it prints the table: method, mistake, and what is said of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gammabar as gb
from gammabar.harness.run.in_process import BoundViolated, check_bounds


def _data():
    """24 points in five dimensions, of a small margin: no method is done in eight steps."""
    rng = np.random.default_rng(5)
    X = rng.normal([0, 0, 0, 0.5, 2.0], size=(24, 5))
    y = np.where(X @ [1, -1, 0.5, 0.2, 0] > 0.1, 1, -1)
    return gb.from_arrays(X, y)


PROBLEM = _data()
LENGTH = 8


def softmax(A, w):
    q = np.exp((A @ w).min() - A @ w)
    return A.T @ (q / q.sum())


class NormalizedDescent:
    """w ← w + Aᵀ softmax(−A w)."""

    unit, start = True, staticmethod(lambda A: np.zeros(A.shape[1]))

    def step(self, A, w, t):
        return softmax(A, w)


class Acceleration(NormalizedDescent):
    """Algorithm 1 of Ji, Srebro and Telgarsky."""

    weight = staticmethod(lambda t: t / (t + 1))

    def step(self, A, w, t):
        pull = softmax(A, w)
        self.g = self.weight(t) * ((self.g if t else 0 * w) + pull)
        return self.g + pull


class Logistic(NormalizedDescent):
    """LR+GD of Tyurin."""

    unit = False

    def step(self, A, w, t):
        return A.T @ (1 / (1 + np.exp(A @ w))) / len(A)


class BatchPerceptron(NormalizedDescent):
    """Half of the mean row first, then the sum of misclassified rows over n."""

    unit = False

    def step(self, A, w, t):
        return A[A @ w <= 0].sum(axis=0) / len(A) / (1 if t else 2)


class NormalizedLogistic(NormalizedDescent):
    """Normalized LR+GD of Tyurin."""

    unit = False

    def step(self, A, w, t):
        q = 1 / (1 + np.exp(A @ w))
        return A.T @ (q / q.sum())


METHODS: dict[str, Any] = {
    "dual-acceleration": Acceleration,
    "normalized-gradient-descent": NormalizedDescent,
    "lr-gd": Logistic,
    "batch-perceptron": BatchPerceptron,
    "normalized-lr-gd": NormalizedLogistic,
}


@dataclass
class Mistake:
    """What is done to the data, to a step (its number, itself, the last one, w), or to iterates."""

    cause: str
    data: Callable[..., Any] = lambda A, y, unit: A
    step: Callable[..., Any] = lambda t, step, last, w: step
    record: Callable[..., Any] = lambda ws: ws
    start: float = 0.0
    stale: bool = False
    weight: Callable[[int], float] | None = None


def norms(A):
    return np.linalg.norm(A, axis=1)


def scaled(A, y, unit):
    return A * float(PROBLEM.radius) if unit else A / float(PROBLEM.radius)


def by_l1(A, y, unit):
    return A / np.abs(A).sum(axis=1).max()


def centred(A, y, unit):
    X = A * y[:, None]
    return (X - X.mean(axis=0)) * y[:, None]


def unit_vectors(ws):
    return [w / (np.linalg.norm(w) or 1) for w in ws]


MISTAKES = {
    "step-1.05": Mistake("is 21/20 times the due one", step=lambda t, s, last, w: 1.05 * s),
    "step-half": Mistake("is 1/2 times the due one", step=lambda t, s, last, w: s / 2),
    "step-pi": Mistake("is 3.14159 times the due one", step=lambda t, s, last, w: np.pi * s),
    "sum-for-mean": Mistake("the sum over all rows", step=lambda t, s, last, w: 24 * s),
    "decay": Mistake("decay as 1/√", step=lambda t, s, last, w: s / np.sqrt(t + 1)),
    "sign": Mistake("the sign of the step to w_1", step=lambda t, s, last, w: -s),
    "weight-decay": Mistake("weight decay", step=lambda t, s, last, w: s - 0.01 * w),
    "momentum": Mistake(
        "momentum", step=lambda t, s, last, w: s + 0.5 * last, weight=lambda t: t / (t + 2)
    ),
    "stale": Mistake("the direction of the step before", stale=True),
    "start": Mistake("starts elsewhere", start=0.1),
    "radius": Mistake("divided by the radius", data=scaled),
    "l1": Mistake("ℓ₁ norm", data=by_l1),
    "own-norms": Mistake("by its own norm", data=lambda A, y, unit: A / norms(A)[:, None]),
    "labels-swapped": Mistake("labels are swapped", data=lambda A, y, unit: -A),
    "labels-01": Mistake("labels are 0 and 1", data=lambda A, y, unit: A * (y > 0)[:, None]),
    "no-labels": Mistake("labels are not used", data=lambda A, y, unit: A * y[:, None]),
    "centred": Mistake("features were centred", data=centred),
    "row-missing": Mistake("row 7 is missing", data=lambda A, y, unit: np.delete(A, 7, axis=0)),
    "row-twice": Mistake("row 3 is counted twice", data=lambda A, y, unit: np.vstack([A, A[3]])),
    "from-w1": Mistake("starts with w_1", record=lambda ws: ws[1:]),
    "w0-twice": Mistake("w_0 is recorded twice", record=lambda ws: [ws[0], *ws]),
    "every-10th": Mistake("every 10th iterate", record=lambda ws: ws[::10]),
    "each-twice": Mistake(
        "every iterate is recorded twice", record=lambda ws: [w for w in ws for _ in "ab"]
    ),
    "normalised": Mistake("w is normalised", record=unit_vectors),
    "each-visit": Mistake("w_2 is w_1", record=lambda ws: [*ws[:2], *ws[1:]]),
    "mean": Mistake(
        "w_t/t is recorded", record=lambda ws: [w / max(t, 1) for t, w in enumerate(ws)]
    ),
    "averaged": Mistake(
        "the average of w_0",
        record=lambda ws: [np.mean(ws[: k + 1], axis=0) for k in range(len(ws))],
    ),
    "still": Mistake("never moves", step=lambda t, s, last, w: 0 * s),
    "float32": Mistake("the iterates are float32", record=lambda ws: [np.float32(w) for w in ws]),
    "transposed": Mistake("rows and columns are exchanged", record=lambda ws: list(np.array(ws).T)),
    "intercept": Mistake("an intercept", record=lambda ws: [np.append(w, 1.0) for w in ws]),
}


def iterates(method: str, mistake: Mistake, length: int) -> list[Any]:
    made = METHODS[method]()
    problem = PROBLEM.unit() if made.unit else PROBLEM
    A = np.array([problem.row(i) for i in range(problem.n)])
    A = mistake.data(A, np.asarray(problem.y, dtype=float), made.unit)
    if mistake.weight is not None and hasattr(made, "weight"):
        made.weight, mistake = mistake.weight, Mistake(mistake.cause)
    w = made.start(A) + mistake.start
    found, last = [w], 0 * w
    for t in range(length):
        at = found[max(len(found) - 2, 0)] if mistake.stale else w
        last = mistake.step(t, made.step(A, at, t), last, w)
        w = w + last
        found.append(w)
    return mistake.record(found)


def cause(method: str, name: str, rounded: Callable[..., Any] = np.asarray) -> str:
    """What is said of a mistake; "" if nothing fails."""
    given = [rounded(w) for w in iterates(method, MISTAKES[name], 80)]
    recorder = gb.Recorder(given)
    try:
        check_bounds(None, recorder, PROBLEM, like=method, iterations=min(len(given) - 1, LENGTH))
    except (BoundViolated, gb.ProblemError) as failed:
        return str(failed)
    return ""


@pytest.mark.parametrize("method", METHODS)
def test_a_right_run_is_not_refuted(method):
    given = gb.Recorder(iterates(method, Mistake(""), 80))
    found = gb.verify(given, PROBLEM, like=method, iterations=LENGTH)
    assert "refuted" not in {verdict.verdict for verdict in found}
    assert "holds" in {verdict.verdict for verdict in found}


#: Normalised gradient descent may start anywhere: nothing that is claimed of it fails.
#: And eight steps of the batch perceptron hold in float32 as well.
ALLOWED = [
    ("normalized-gradient-descent", "start"),
    ("normalized-gradient-descent", "from-w1"),
    ("batch-perceptron", "float32"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MISTAKES)
def test_the_cause_is_the_mistake_that_was_made(method, name):
    said = cause(method, name)
    if (method, name) in ALLOWED:
        assert said == ""
    else:
        assert MISTAKES[name].cause in said


def test_few_of_the_causes_are_allowed_to_be_unnamed():
    """At least 90 % of the table is named; the test above says that nothing wrong is."""
    assert len(MISTAKES) >= 25
    assert len(ALLOWED) <= 0.1 * len(MISTAKES) * len(METHODS)


SHORT = {
    "float32": lambda w: np.float32(w).astype(float),
    "%.6f": lambda w: np.round(w, 6),
    "%.5e": lambda w: np.array([float(f"{v:.5e}") for v in np.atleast_1d(w)]),
}


@pytest.mark.full
@pytest.mark.parametrize("form", SHORT)
def test_numbers_with_few_digits_have_the_same_causes(form):
    """The mistake, perhaps with fewer digits, or that more digits are needed; no other cause."""
    named, doubtful = 0, []
    for method in METHODS:
        for name in MISTAKES.keys() - {"float32", "transposed", "intercept"}:
            said = cause(method, name, SHORT[form])
            known = "step-pi" if " 3.14" in said else "step-1.05" if " 1.05 " in said else ""
            if MISTAKES[name].cause in said or known == name:
                named += 1
            elif said and "the iterates are" not in said:
                doubtful.append((method, name, said))
    assert [one for one in doubtful if "times the due one" in one[2]] == []
    assert named > 9 * len(doubtful)


if __name__ == "__main__":
    for place in ((method, name) for name in MISTAKES for method in METHODS):
        lines = [line.strip() for line in cause(*place).splitlines()] or ["nothing fails"]
        told = [line for line in lines if line.startswith(("cause ", "because "))]
        named = MISTAKES[place[1]].cause in "".join(lines)
        print("named" if named else "-----", f"{place[1]:15}{place[0]:28}", (told or lines)[0])
