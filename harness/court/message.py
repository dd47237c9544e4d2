"""What a person is told about a verdict that was not expected."""

from __future__ import annotations

from gammabar.harness.court.statement import Statement
from gammabar.harness.court.verdict import Ruling, Verdict
from gammabar.harness.screen.output import visible


def worth(verdict: Verdict, at_rest: str = "") -> str:
    """What is to be said of a pass that says nothing, in a few words; "" for any other verdict.

    Parameters
    ----------
    verdict : Verdict
    at_rest : str
        Why a solver that stands still obeys the statement for ever, if it does.
    """
    if not verdict.says_nothing:
        return ""
    if at_rest:
        return f"says nothing of a solver that stands still: {at_rest}"
    if verdict.vacuous_to is not None:
        return f"says nothing yet: bound vacuous up to t = {verdict.vacuous_to}"
    return "says nothing: a solver that stands still passes as well"


def explain(
    statement: Statement, verdict: Verdict, *, problem: str, solver: str, reproduce: str = ""
) -> str:
    """What was claimed and measured, by how much it fails, and how to see it again.

    Parameters
    ----------
    statement : Statement
    verdict : Verdict
    problem, solver : str
        What the user calls them.
    reproduce : str
        A command line.
    """
    at = f" at t = {verdict.worst_t}" if verdict.worst_t is not None else ""
    on = f" on {problem}" if problem else ""
    by = f" (solver {solver})" if solver else ""
    lines = [f"{statement.id} {verdict.verdict}{at}{on}{by}"]
    if verdict.hint:
        lines.append(f"    root      {verdict.hint}")
    lines.append(f"    claimed   {statement.words or statement.claim}")
    if verdict.what:
        where = f" ({verdict.where})" if verdict.where else ""
        lines.append(f"    compared  {verdict.what}{where}")
    if verdict.left:
        lines.append(f"    sides     {verdict.left}   and   {verdict.right}")
    if verdict.slack is not None and verdict.verdict is Ruling.REFUTED:
        lines.append(f"    short by  {-verdict.slack:.6g} (proved)")
    if verdict.failure:
        lines.append(f"    solver    {verdict.failure}")
    if verdict.reason:
        lines.append(f"    because   {verdict.reason}")
    if verdict.says_nothing:
        said = worth(verdict, statement.at_rest or statement.powerless)
        lines.append(f"    because   it {said}")
    lines.append(f"    source    {statement.reference}")
    if reproduce:
        lines.append(f"    reproduce {reproduce}")
    return "\n".join(visible(line) for line in lines)
