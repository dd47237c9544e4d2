"""What the papers' bounds are worth: the statements that a paper names, on one run each."""

from __future__ import annotations

from typing import Any

from .common import loaded, need


def _in_registry(name: str) -> Any:
    """A function of the registry, which older commits call the library."""
    try:
        return need("harness.registry", name)
    except NotImplementedError:
        return need("harness.library", name)


def gated() -> list[str]:
    """Ids of the statements that papers want to have watched; none in commits without papers."""
    try:
        papers = _in_registry("papers")()
    except NotImplementedError:
        return ["jst.thm3.1.1", "jst.thm3.1.2", "gb.sharp", "gb.selfcert"]
    return [statement for paper in papers.values() for statement in paper.gated]


class Tightness:
    """Deterministic: how much of each bound Algorithm 1 uses, at the worst of 300 iterates."""

    version = "1"
    params = (gated(),)
    param_names = ("statement",)

    def setup(self, statement: str) -> None:
        try:
            self.hear = need("harness.verify.run_checks", "check_run")
        except NotImplementedError:  # a commit in which it was elsewhere
            self.hear = need("harness.court.hearing", "hear")
        try:
            statements = _in_registry("load_statements")()
        except NotImplementedError:  # before papers were packages
            statements = need("harness.statements", "load_statements")()
        if statement not in statements:
            raise NotImplementedError(f"{statement} is not in this commit")
        self.statement = statements[statement]
        problem = loaded("planted:n=100,d=10,gamma=0.05,seed=0")
        solver = need("solvers", "DualAcceleration")()
        try:
            case = need("harness.verify.context", "Case")
        except NotImplementedError:
            case = need("harness.court.case", "Case")
        self.case = case(problem, solver, unit=True)

    def track_worst(self, statement: str) -> float:
        (verdict,) = self.hear(self.case, [self.statement], 300)
        return round(verdict.tightness, 9)

    track_worst.unit = "measured / bound"  # type: ignore[attr-defined]
