"""Which class, where the hyperplanes between pairs of classes disagree? Three rules, one machine.

    python -m benchmarks.several_classes [mnist]

fits one machine on some rows (scikit-learn's SVC with C = 1e6, so that nothing here depends on our
own hyperplanes) and tests the rules on others, again and again: votes with ties for the first class
(LIBSVM), votes with ties for the larger sum of distances, and the largest of the classes' least
distances (`MaxMarginClassifier`). Differences are to the first rule, with their standard errors.
"""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np


def rules(scores: Any, lengths: Any, k: int) -> dict[str, Any]:
    """The class that each rule gives to each row; scores of pairs are divided by the lengths."""
    from gammabar.harness.classifier.hyperplanes import depths

    distances = scores / lengths
    votes, sums = np.zeros((len(scores), k)), np.zeros((len(scores), k))
    for column, (a, b) in enumerate(combinations(range(k), 2)):
        first = distances[:, column] > 0
        votes[first, a] += 1
        votes[~first, b] += 1
        sums[:, a] += distances[:, column]
        sums[:, b] -= distances[:, column]
    return {
        "votes, first class": votes.argmax(1),
        "votes, sum of distances": (votes + sums / (3 * (np.abs(sums) + 1))).argmax(1),
        "least distance": depths(distances, k).argmax(1),
    }


def errors(X: Any, y: Any, fitted: Any, tested: Any) -> dict[str, float]:
    """The share of errors of each rule, in per cent."""
    from sklearn.svm import SVC

    machine = SVC(kernel="linear", C=1e6, decision_function_shape="ovo").fit(X[fitted], y[fitted])
    scores = machine.decision_function(X[tested])
    found = rules(scores, np.linalg.norm(machine.coef_, axis=1), len(machine.classes_))
    assert (machine.classes_[found["votes, first class"]] == machine.predict(X[tested])).all()
    return {
        rule: 100 * float(np.mean(machine.classes_[guess] != y[tested]))
        for rule, guess in found.items()
    }


def main() -> None:
    """Digits, 60 times four fifths against the rest; or MNIST, six times 4,000 against 20,000."""
    import gammabar as gb

    name, times, size, rest = "digits", 60, 1438, 359
    if sys.argv[1:] == ["mnist"]:
        name, times, size, rest = "mnist", 6, 4000, 20_000
    problem: Any = gb.load(name, multiclass=True)
    X, y = np.asarray(problem.X, dtype=np.float64) / problem.radius, np.asarray(problem.labels)
    rng, runs = np.random.default_rng(0), []
    for _ in range(times):
        order = rng.permutation(len(y))
        runs.append(errors(X, y, order[:size], order[size : size + rest]))
    base = np.array([run["votes, first class"] for run in runs])
    print(f"{name}: {size:,} rows fitted, {rest:,} tested, {times} times")
    for rule in runs[0]:
        values = np.array([run[rule] for run in runs])
        gap = values - base
        error = gap.std(ddof=1) / len(gap) ** 0.5
        print(f"  {rule:25s} {values.mean():6.2f} %   {gap.mean():+.3f} ± {error:.3f}")


if __name__ == "__main__":
    main()
