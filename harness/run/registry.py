"""All that a plan may contain: the checks of the oracle, and the statements of the sources."""

from __future__ import annotations

from collections.abc import Iterable

from gammabar.harness.library import load_statements
from gammabar.harness.run.oracle_checks import ORACLE_CHECKS
from gammabar.harness.verify.statement import Statement
from gammabar.problems import ProblemError
from gammabar.problems.suggest import did_you_mean


def everything() -> dict[str, Statement]:
    """The checks of the oracle, then the registered statements, by id."""
    return ORACLE_CHECKS | load_statements()


def find_statements(identifiers: Iterable[str]) -> list[Statement]:
    """Statements by their ids."""
    known = everything()
    return [known[one] if one in known else _unknown(one, known) for one in identifiers]


def find_sources(sources: Iterable[str]) -> list[Statement]:
    """All statements of sources: "jst", "tyurin", "rp", "lec", "gb", "oracle"."""
    known = everything().values()
    names = sorted({statement.source for statement in known})
    for source in sources:
        if source not in names:
            hint = did_you_mean(source, names, always=True)
            raise ProblemError(f"{source!r} is no source ({hint})")
    return [statement for statement in known if statement.source in sources]


def _unknown(identifier: str, known: dict[str, Statement]) -> Statement:
    hint = did_you_mean(identifier, known, "see `gammabar list statements`")
    raise ProblemError(f"{identifier!r} is no statement ({hint})")


def obeyed_at_rest(identifier: str) -> str:
    """Why a solver that stands still obeys a statement for ever; "" if it does not."""
    statement = everything()[identifier]
    return statement.at_rest or statement.powerless
