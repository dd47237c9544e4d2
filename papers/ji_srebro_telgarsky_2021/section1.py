"""Section 1, Introduction."""

from __future__ import annotations

from gammabar.papers import Case, Number, Trit, View, separable, sqrt, stopping
from gammabar.papers.ji_srebro_telgarsky_2021.method import (
    BOTH_FORMS,
    ONE_ROW,
    THEOREM_3_1,
    several_rows,
)


def quarter(it: View, case: Case) -> Trit:
    """Whether γ(w_t) ≥ γ̄/4."""
    aim, margin = case.gamma / 4, it.margin
    return True if margin >= aim else False if margin < aim else None


@stopping(
    "jst.sec1.quarter",
    reference="Section 1.1",
    claim=r"\text{a margin of } \bar\gamma/4 \text{ in } 4\sqrt{\ln(n)}/\bar\gamma"
    r" \text{ steps}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    goal=quarter,
    unit=True,
    status="refuted",
    fixed_by="jst.sec1.quarter.fixed",
    severity="edge case",
    survives="Everything: it is a remark beside other work, on which nothing is built, and "
    "Proposition 3.7, which it is drawn from, holds from t = 1 on.",
    why="A single row has ln n = 0; for n ≥ 2 it is true as printed.",
    charitable="jst.sec1.quarter.charitable",
    problems=(ONE_ROW,),
    note="With one row ln n = 0, so it promises γ̄/4 after no step at all, but γ(w_0) = γ(0) = 0."
    " Smallest witness: n = d = 1, x_1 = 1, y_1 = 1: 0 steps, γ̄/4 = 1/4, γ(w_0) = 0. For n ≥ 2 it"
    " holds: it follows from Proposition 3.7 at the last t ≤ 4√(ln n)/γ̄, for which"
    " t + 1 > 4√(ln n)/γ̄ and t ≥ 3.",
)
def quarter_margin(case: Case) -> Number:
    """γ(w_t) ≥ γ̄/4 for some t ≤ 4√(ln n)/γ̄, on separable data."""
    return 4 * sqrt(case.log_n) / case.gamma


@stopping(
    "jst.sec1.quarter.fixed",
    reference="Section 1.1, with at least one step",
    claim=r"\text{a margin of } \bar\gamma/4 \text{ in } \max(1, 4\sqrt{\ln(n)}/\bar\gamma)"
    r" \text{ steps}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable),
    goal=quarter,
    unit=True,
    problems=(ONE_ROW,),
    slower="dual-acceleration/no-momentum",
)
def quarter_margin_after_a_step(case: Case) -> Number:
    """γ(w_t) ≥ γ̄/4 for some t ≤ max(1, 4√(ln n)/γ̄), on separable data."""
    return quarter_margin(case).max(1)


@stopping(
    "jst.sec1.quarter.charitable",
    reference="Section 1.1, for n ≥ 2",
    claim=r"n \ge 2:\ \text{a margin of } \bar\gamma/4 \text{ in } 4\sqrt{\ln(n)}/\bar\gamma"
    r" \text{ steps}",
    solvers=BOTH_FORMS,
    assumes=(*THEOREM_3_1, separable, several_rows),
    goal=quarter,
    unit=True,
    slower="dual-acceleration/no-momentum",
)
def quarter_margin_of_several(case: Case) -> Number:
    """For two rows or more, γ(w_t) ≥ γ̄/4 for some t ≤ 4√(ln n)/γ̄, on separable data."""
    return quarter_margin(case)
