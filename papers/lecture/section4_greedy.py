"""Section 4, Boosting: AdaBoost minimises the exponential loss in a greedy manner.

Σ_i exp(−y_i f_{t+1}(x_i)) with f_{t+1} = f_t + αh is Σ_i exp(−y_i f_t(x_i)) times
E(α, h) = Σ_i D_{t+1}(i) e^{−α y_i h(x_i)}, for D_{t+1} ∝ exp(−y_i f_t(x_i)); so it is E that a
round has to minimise. For a given h its minimum over α is √(M² − e²), where M is the sum of D and
e = Σ_i D(i) y_i h(x_i) the edge of h.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gammabar.papers import (
    ROUNDOFF,
    TINY,
    Case,
    Number,
    Relation,
    at_most,
    direct,
    exp,
    nearly,
    number,
    size_of,
    smallest,
    sqrt,
    upper,
)
from gammabar.papers.lecture.boosting_rounds import (
    BOOSTING,
    Round,
    Session,
    heard,
    points,
)

#: By how much α is moved to see whether E gets smaller.
MOVES = (-2.0, -0.5, -0.01, 0.01, 0.5, 2.0)


def _loss(r: Round, alpha: Number) -> Number:
    """E(α, h_t)."""
    return r.right * exp(-alpha) + r.epsilon * exp(alpha)


@direct(
    "lec.sec4.greedy",
    reference="Section 4, AdaBoost as greedy minimisation, and the problem under Figure 1",
    kind="anytime",
    claim=r"f_{t+1} = f_t + \alpha_{t+1}h_{t+1} \text{ is a solution of } \min_{h_{t+1}(x)}"
    r" \sum_{i=1}^n \exp(-y_i f_{t+1}(x_i))",
    problems=("", "wine:0,1"),
    solvers=BOOSTING,
    assumes=(points,),
    instances="all α of a grid; all stumps, where the weak learner looks for the best",
    note="The minimum is over h and α together: α_t minimises for the h_t at hand, and a weak"
    " learner of least error finds the h for which that is smallest. With any other learner only"
    " the former is so, and only that is judged.",
)
def greedy(case: Case) -> Iterator[Relation]:
    """Each round of AdaBoost adds the multiple of h_t that makes the exponential loss smallest; and
    of all stumps none makes it smaller, if the weak learner looks for the best."""
    for s, wrong in heard(case):
        yield from wrong
        for r in s.rounds:
            if r.perfect:
                continue  # α_t is infinite, and the loss zero
            found = _loss(r, number(float(np.asarray(r.after.w)[-1])))
            for move in MOVES:
                moved = _loss(r, number(float(np.asarray(r.after.w)[-1])) + number(move))
                yield at_most(found, moved, f"E(α_t, h_t) ≤ E(α_t + {move:g}, h_t)", where=r.where)
            if s.best:
                yield _best(s, r, found)


def _best(s: Session, r: Round, found: Number) -> Relation:
    """No stump, with whatever α, has a smaller E. Equality is what is hoped for: rounding counts.

    Edges are sums of n products in doubles; so is D_t, of which `Round.slip` bounds what it does.
    """
    edge = float(np.abs(s.stumps @ (np.asarray(r.before.dual) * r.y)).max())
    mass = r.right + r.epsilon
    off = (r.n + 4) * ROUNDOFF
    least = smallest([number(edge), mass])
    square = (mass - least) * (mass + least)
    best, above = sqrt(square), sqrt(square + 4 * number(off))
    slack = upper(above - best) + 4 * r.slip * upper(above) + 4 * off + TINY
    # Beside what the round gains over α = 0, and roundoffs of the sums.
    size = size_of(mass - best, 64 * (r.n + 16) * upper(mass))
    what = "E(α_t, h_t) ≤ √(M² − e²) for every stump"
    return nearly(found, best, what, rounding=slack, size=size, where=r.where)
