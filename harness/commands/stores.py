"""The argument STORE: a file of results that exists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gammabar.harness.report.model import Report

STORE = click.argument(
    "store", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="STORE"
)


def opened(path: Path) -> Report:
    """What a store has to report; one without results is refused."""
    from gammabar.harness.report.model import gather
    from gammabar.harness.run.store import Store
    from gammabar.problems import ProblemError

    with Store(path, writing=False) as store:
        report = gather(store.results(), store.origins(), store.data())
    if not report.findings:
        raise ProblemError(f"{path}: has no results (write some: gammabar verify --store {path})")
    return report
