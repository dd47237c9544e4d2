"""``gammabar separation DATA``: does the maximum-likelihood estimate exist?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.commands import TakesData
from gammabar.harness.commands.reading import reading_options
from gammabar.harness.commands.types import WRITTEN
from gammabar.harness.screen.output import print_facts, print_json, stages

if TYPE_CHECKING:
    from gammabar.oracle.separation import Separation

#: What each kind means for the estimate.
MEANING = {
    "complete": "complete separation: the maximum-likelihood estimate does not exist",
    "quasi-complete": "quasi-complete separation: the maximum-likelihood estimate does not exist",
    "overlap": "overlap: the maximum-likelihood estimate exists",
}


@click.command("separation", cls=TakesData)
@click.argument("data")
@reading_options
@click.option("--intercept", is_flag=True, help="The model has an intercept.")
@click.option(
    "--certificate",
    type=WRITTEN,
    metavar="FILE",
    help="Write the certificate, for `gammabar check`.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    data: str, intercept: bool, certificate: Path | None, as_json: bool, **reading: Any
) -> None:
    """Complete separation, quasi-complete separation, or overlap of DATA, exactly.

    Logistic and probit regression have no finite maximum-likelihood estimate if some direction of
    the coefficients puts no row on the wrong side and at least one strictly on its own side
    (Albert and Anderson 1984).
    """
    from gammabar.oracle.separation import separation
    from gammabar.problems import load

    with stages(quiet=as_json) as stage:
        stage(f"reading {data}")
        found = separation(load(data, **reading), intercept=intercept, progress=stage)
        answer = {"format": "gammabar-separation", "version": 1, "data": data, **_fields(found)}
        lines = _lines(found)
        if certificate:
            stage("writing the certificate")
            found.save(certificate)
            answer["certificate"] = str(certificate)
            lines["certificate"] = f"{certificate} (gammabar check {certificate})"
    if as_json:
        print_json(answer, "separation")
    else:
        print_facts(data, lines)


def _fields(found: Separation) -> dict[str, Any]:
    return {
        "n": found.problem.n,
        "d": int(found.problem.plain.X.shape[1]),
        "intercept": found.intercept,
        "kind": found.kind,
        "estimate_exists": found.estimate_exists,
        "boundary": found.boundary.tolist(),
        "diverging": found.diverging,
        "unidentified": found.unidentified,
        "direction": [str(v) for v in found.direction],
        "seconds": round(found.seconds, 6),
    }


def _lines(found: Separation) -> dict[str, str]:
    n, d = found.problem.n, found.problem.plain.X.shape[1]
    with_ = "with intercept" if found.intercept else "without intercept"
    lines = {"model": f"{n:,} rows × {d:,}, {with_}", "verdict": MEANING[found.kind]}
    if found.kind == "quasi-complete":
        lines["boundary"] = f"{_some(found.boundary.tolist())} ({len(found.boundary)} rows)"
    if found.kind != "overlap":
        lines["diverging"] = _columns(found.diverging, d)
    if found.unidentified:
        lines["unidentified"] = _columns(found.unidentified, d)
    lines["time"] = f"{found.seconds:.3g} s"
    return lines


def _columns(columns: list[int], d: int) -> str:
    names = [f"{j}" if j < d else "intercept" for j in columns]
    return f"coefficients of columns {_some(names)} ({len(columns)}, counted from 0)"


def _some(items: list[Any]) -> str:
    return ", ".join(map(str, items[:10])) + (", …" if len(items) > 10 else "")
