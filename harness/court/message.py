"""What a person is told about a verdict that was not expected."""

from __future__ import annotations

from gammabar.harness.court.statement import Statement
from gammabar.harness.court.verdict import Ruling, Verdict
from gammabar.harness.screen.output import visible


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
    lines = [f"{statement.id} {verdict.verdict}{at}{on}{by}", f"    claimed   {statement.words}"]
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
    lines.append(f"    source    {statement.reference}")
    if reproduce:
        lines.append(f"    reproduce {reproduce}")
    return "\n".join(visible(line) for line in lines)
