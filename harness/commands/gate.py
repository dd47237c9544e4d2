"""``gammabar gate [BASE]``: is this commit slower, hungrier or lazier than its base?"""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gammabar.harness.screen.output import print_json, print_table, say
from gammabar.problems.extras import missing

if TYPE_CHECKING:
    from gammabar.harness.gate.compare import Finding, Gated


@click.command("gate")
@click.argument("base", required=False)
@click.option("--bench", metavar="TEXT", help="Only benchmarks whose name contains TEXT.")
@click.option("--counts-only", is_flag=True, help="Only what does not depend on the clock.")
@click.option(
    "--repo",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Any other git repository with an asv suite.",
)
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="For --repo: the folder of its suites.  [default: what its asv.conf.json says]",
)
@click.option(
    "--build", metavar="COMMAND", help="For --repo: run this first, in the files of each side."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    base: str | None,
    bench: str | None,
    counts_only: bool,
    repo: Path | None,
    benchmarks: Path | None,
    build: str | None,
    as_json: bool,
) -> int:
    """Compare the working tree with BASE (a commit; default: the one benchmarks/BASE names).

    Iterations, passes over the data, kernel evaluations and tightness must be equal, exactly; peak
    memory may grow by a tenth; times are compared side by side, turn by turn, and a slowdown
    counts if it recurs in three rounds. Exit code 1 on a regression.

    With --repo: the same for any repository whose benchmarks are asv's, all of them or those that
    its suites name in GATED. Its packages are imported from the files of each side, with the Python
    and the libraries that run this command.
    """
    from gammabar.harness.gate import plan as plans, sides
    from gammabar.harness.gate.compare import compare
    from gammabar.harness.screen.progress import bar

    if repo is None and (benchmarks is not None or build is not None):
        raise click.UsageError("--benchmarks and --build go with --repo PATH")
    if repo is None:
        root, suites = sides.ROOT, sides.ROOT / "benchmarks"
        commit = sides.base_commit(root, base)
    else:
        root = sides.top(repo)
        suites = sides.real(benchmarks) if benchmarks is not None else sides.suites_of(root)
        commit = sides.base_commit(root, base, suites)
    if find_spec("asv_runner") is None:
        raise missing("the gate", "asv", "bench")
    if repo is None:
        plan, shelf = plans.plan(suites, counts_only), None
    else:
        plan, shelf = _foreign(root, suites, counts_only, build), sides.hidden(root)
    plan = [gated for gated in plan if bench is None or bench in str(gated)]
    if not plan:
        what = f"has {bench!r} in its name" if bench is not None else f"is in {suites}"
        raise click.UsageError(f"no benchmark of the gate {what}")
    tree = sides.checkout(root, commit) if shelf is None else sides.checkout(root, commit, shelf)
    if build is not None:
        sides.build(tree, build)
    say(f"comparing with {commit[:10]}: {len(plan)} benchmarks", err=True)
    if repo is None and not sides.same_lock(root, tree):
        say("the lock files differ: both sides run with the packages installed now", err=True)
    findings = []
    with bar(len(plan), "benchmarks", as_json) as advance:
        for finding in compare(plan, lambda: sides.Pair(tree, root, suites)):
            findings.append(finding)
            advance(finding.name)
    if all(f.verdict == "new" for f in findings):
        raise click.ClickException(f"nothing was compared: {commit[:10]} can run none of this")
    bad = [f for f in findings if f.verdict in ("worse", "failed")]
    if as_json:
        results = [asdict(f) for f in findings]
        print_json({"base": commit, "regressions": len(bad), "results": results}, "gate")
    else:
        _show(findings)
    return 1 if bad else 0


def _foreign(root: Path, suites: Path, counts_only: bool, build: str | None) -> list[Gated]:
    """The benchmarks of another repository, as its working tree has them."""
    from contextlib import closing

    from gammabar.harness.gate import plan, sides

    if build is not None:
        sides.build(root, build)
    with closing(sides.Side(root, suites)) as side:
        return plan.foreign(suites, side, counts_only)


def _show(findings: list[Finding]) -> None:
    """What changed, and how much did not."""
    order = {"failed": 0, "worse": 1, "better": 2, "new": 3, "same": 4}
    # Counts that are the same say nothing that the last line does not say.
    told = [f for f in findings if f.verdict != "same" or f.kind != "track"]
    rows = [
        (
            f.name,
            f.verdict,
            _number(f.base, f.kind),
            _number(f.head, f.kind),
            "" if f.ratio is None else f"{f.ratio:.3f}",
            f.confidence,
        )
        for f in sorted(told, key=lambda f: order[f.verdict])
    ]
    print_table(("benchmark", "verdict", "base", "now", "now / base", "confidence"), rows)
    tally = {v: sum(f.verdict == v for f in findings) for v in order}
    bad = tally["failed"] + tally["worse"]
    say(
        f"{bad or 'no'} regression{'' if bad == 1 else 's'} in {len(findings)} benchmarks "
        f"({', '.join(f'{n} {v}' for v, n in tally.items() if n)})"
    )


def _number(value: float | None, kind: str) -> str:
    if value is None:
        return ""
    if kind == "time":
        return f"{1e3 * value:.3f} ms"
    if kind in ("mem", "peakmem"):
        return f"{value / 2**20:.1f} MiB"
    return f"{value:g}"
