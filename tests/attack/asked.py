"""What else is asked: statements that are proved, so that none of them is refuted."""

from __future__ import annotations

from functools import cache

from gammabar.harness.registry import load_statements

from .claims import CLAIMS, NAMES, UNIT


@cache
def proved(statement: str) -> bool:
    """Whether it is true as it stands."""
    return bool(load_statements()[statement].status == "holds")


@cache
def theorems(method: str) -> list[str]:
    """What else the papers prove of a method: of a right run none of it is refuted."""
    return [
        s.id
        for s in load_statements().values()
        if s.about_runs
        and NAMES[method] in s.solvers
        and s.status == "holds"
        and s.unit is (method in UNIT)
        and s.id not in CLAIMS[method]
    ]


@cache
def about_data() -> list[str]:
    """What the papers prove of any data, with no solver in it."""
    return [
        s.id
        for s in load_statements().values()
        if not s.about_runs and s.status == "holds" and not s.solvers and s.problems != ("",)
    ]


@cache
def of_solver(method: str) -> list[str]:
    """What is proved of points or weights that a solver has to do with, but of no run of it."""
    return [
        s.id
        for s in load_statements().values()
        if not s.about_runs
        and s.status == "holds"
        and s.kind != "probability"
        and NAMES[method] in s.solvers
        and s.id.startswith("jst.")
    ]


@cache
def own_instances() -> list[str]:
    """What is proved of no problem that is given, but of instances that the statement has."""
    return [
        s.id
        for s in load_statements().values()
        if not s.about_runs
        and s.status == "holds"
        and s.problems == ("",)
        and s.id.startswith("jst.")
        and not s.solvers
    ]
