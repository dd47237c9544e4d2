"""``gammabar reproduce``, ``data`` and ``gate``: figures, data sets, regressions."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness import registry
from gammabar.harness.certificates import write_npz
from gammabar.harness.cli.command import (
    JSON,
    OF_READING,
    PAPER,
    READING,
    WRITTEN,
    argument,
    command,
    data as data_option,
    open_papers,
    picked,
    run,
    what,
    write,
)
from gammabar.harness.paper import Artefact, cost
from gammabar.harness.screen import bar, counted, print_json, print_table, say, stages
from gammabar.problems import fetch as datasets, load
from gammabar.problems.environment import has_module, missing
from gammabar.problems.suggest import did_you_mean

if TYPE_CHECKING:
    from gammabar.harness.gate.compare import Finding


_MARKS = {True: "agrees", False: "DIFFERS", None: "open"}


@command(
    "reproduce",
    argument("artefacts", nargs=-1, metavar="[ARTEFACT]...", names="artefacts"),
    what("--all", "Every artefact."),
    PAPER,
    run("--quick", "Small settings on embedded data; takes seconds."),
    run("--fresh", "Compute everything again, including what is kept in --out."),
    write("--out DIR", "Where pictures and numbers are written and kept.", default="artefacts"),
    JSON,
    title="What to reproduce",
)
def reproduce_command(o: Any) -> int:
    """Reproduce figures and tables of the papers (see `gammabar list artefacts`).

    Each is written as SVG, PNG and PDF, with its numbers as JSON, and compared with what the paper
    says. An interrupted run continues where it stopped. Exit code 1 if something does not agree.
    """
    from gammabar.harness.reproduce import check, missing_data

    open_papers(o.paper)
    chosen = _chosen(o.artefacts, o.all)
    check()
    for artefact in chosen:
        missing_data(artefact, o.quick)  # said before anything is computed
    try:
        o.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--out {o.out}: {error.strerror}") from None
    documents = []
    for artefact in chosen:
        documents.append(_make(artefact, o.out, o.quick, o.fresh))
        if not o.json:
            _show_reproduce(documents[-1])
    if o.json:
        print_json({"artefacts": documents}, "reproduce")
    differs = any(shown["agrees"] is False for d in documents for shown in d["shown"])
    return int(differs and not o.quick)


def _chosen(names: tuple[str, ...], everything: bool) -> list[Artefact]:
    """The artefacts; ``--all`` leaves out those whose package is missing, and says so."""
    known = registry.artefacts()
    if everything == bool(names):
        raise click.UsageError("name artefacts, or --all")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, "see `gammabar list artefacts`")
            raise click.UsageError(f"{name!r} is not an artefact ({hint})")
    absent = {
        one.id: missing(one.id, *one.package)
        for one in (known.values() if everything else ())
        if one.package is not None and not has_module(one.package[0])
    }
    for words in absent.values():
        say(f"left out: {words}", err=True)
    return [known[name] for name in dict.fromkeys(names or known) if name not in absent]


def _make(artefact: Artefact, out: Path, quick: bool, fresh: bool) -> dict[str, Any]:
    from gammabar.harness.reproduce import as_document, compute, draw, write as keep

    def tell(name: str, place: int, total: int, kept: bool) -> None:
        say(f"{place + 1}/{total}  {name}{' (kept)' if kept else ''}", err=True)

    computed = compute(artefact, out, quick, tell, fresh)
    document = as_document(artefact, computed, quick)
    keep(out / f"{artefact.id}.json", document)
    pictures = draw(artefact, computed.numbers, out, quick=quick)
    return document | {"pictures": [str(path) for path in pictures]}


def _show_reproduce(document: dict[str, Any]) -> None:
    say(f"{document['artefact']}  {document['reference']}: {document['title']}")
    for shown in document["shown"]:
        # Small data are not the paper's.
        mark = "–" if document["quick"] else _MARKS[shown["agrees"]]
        say(f"    {mark:8}{shown['claim']}")
        say(f"            {shown['found']}")
    took = cost(document["seconds"], document["cpu"], document["memory"])
    say(f"    written {', '.join(document['pictures'])} ({took})")


@command("list", JSON)
def _list(o: Any) -> None:
    """List data sets and how to get missing ones."""
    _show_data(datasets.data_status(), o.json)


@command("check", argument("name", required=False, names="data"), JSON)
def _check(o: Any) -> int:
    """Compare data sets with their SHA-256 sums."""
    with stages(quiet=o.json) as stage:
        stage("reading and hashing")
        found = datasets.data_status(o.name, check=True)
    _show_data(found, o.json)
    wrong = {"damaged"} if o.name is None else {"damaged", "missing"}
    return int(any(status.state in wrong for status in found))


@command(
    "fetch",
    argument("name", names="data"),
    run("--archive FILE", "Use this file, downloaded by hand (eurosat: EuroSAT_RGB.zip)."),
)
def _fetch(o: Any) -> None:
    """Download a data set and check its SHA-256 sums."""
    with stages() as stage:
        paths = datasets.fetch(o.name, stage, archive=o.archive)
    for path in paths:
        say(str(path))


@command(
    "export",
    argument("data", names="data"),
    argument("file", type=WRITTEN),
    READING,
    data_option("--multiclass", "Export all classes, not two."),
)
def _export(o: Any) -> None:
    """Write DATA as an .npz FILE with arrays X and y."""
    if o.file.suffix != ".npz":
        raise click.UsageError(f"FILE must end in .npz, not {o.file.name!r}")
    with stages() as stage:
        stage(f"reading {o.data}")
        problem = load(o.data, multiclass=o.multiclass, **picked(o, OF_READING))
        stage(f"writing {o.file}")
        write_npz(problem, o.file)
    say(str(o.file))


data_command = click.Group(
    "data",
    [_list, _check, _fetch, _export],
    help="Fetch, list, check and export data sets.",
)


def _show_data(found: list[datasets.Status], as_json: bool) -> None:
    if as_json:
        print_json([asdict(status) for status in found])
        return
    rows = [(s.name, s.state, s.what, " ".join(filter(None, (s.where, s.detail)))) for s in found]
    print_table(("data set", "state", "what it is", "where"), rows)


@command(
    "gate",
    argument("base", required=False),
    what("--bench TEXT", "Only benchmarks whose name contains TEXT."),
    what("--counts-only", "Only counts, which do not depend on the clock."),
    what("--repo PATH", "Compare in this git repository, which has an asv suite."),
    what(
        "--benchmarks PATH",
        "For --repo: the folder of its suites.  [default: what its asv.conf.json says]",
    ),
    run("--build COMMAND", "For --repo: run this command first, in the checkout of each side."),
    JSON,
    title="What to compare",
)
def gate_command(o: Any) -> int:
    """Compare the working tree with commit BASE (default: the commit named in benchmarks/BASE).

    Iterations, passes over the data, kernel evaluations and tightness must not change at all; peak
    memory may grow by a tenth. Times are measured side by side, in turns; a slowdown counts if it
    recurs in three rounds. Exit code 1 on a regression.

    With --repo: the same for any repository with an asv suite: all its benchmarks, or those that it
    names in GATED. Both sides run with the Python and the libraries that run this command.
    """
    from gammabar.harness.gate import checkouts
    from gammabar.harness.gate.compare import compare, plan as plan_of

    if o.repo is None and (o.benchmarks is not None or o.build is not None):
        raise click.UsageError("--benchmarks and --build go with --repo PATH")
    root = checkouts.ROOT if o.repo is None else checkouts.top(o.repo)
    named = o.benchmarks
    suites = checkouts.suites_of(root) if named is None else checkouts.real(named)
    commit = checkouts.base_commit(root, o.base, suites)
    if find_spec("asv_runner") is None:
        raise missing("the gate", "asv", "gate")
    if o.build is not None:
        checkouts.build(root, o.build)
    everything = plan_of(root, suites, o.counts_only)
    plan = [gated for gated in everything if o.bench is None or o.bench in str(gated)]
    if not plan:
        where = f"has {o.bench!r} in its name" if o.bench is not None else f"is in {suites}"
        raise click.UsageError(f"no benchmark of the gate {where}")
    tree = checkouts.checkout(root, commit)
    if o.build is not None:
        checkouts.build(tree, o.build)
    say(f"comparing with {commit[:10]}: {counted(len(plan), 'benchmark')}", err=True)
    if o.repo is None and not checkouts.same_lock(root, tree):
        say("the lock files differ: both sides run with the packages installed now", err=True)
    findings = []
    with bar(len(plan), "benchmarks", o.json) as advance:
        for finding in compare(plan, lambda: checkouts.Pair(tree, root, suites)):
            findings.append(finding)
            advance(finding.name)
    if all(f.verdict == "new" for f in findings):
        raise click.ClickException(f"nothing was compared: {commit[:10]} can run none of this")
    bad = [f for f in findings if f.verdict in ("worse", "failed")]
    if o.json:
        results = [asdict(f) for f in findings]
        print_json({"base": commit, "regressions": len(bad), "results": results}, "gate")
    else:
        _show_gate(findings)
    return 1 if bad else 0


def _show_gate(findings: list[Finding]) -> None:
    """What changed, and how much did not."""
    order = {"failed": 0, "worse": 1, "better": 2, "new": 3, "same": 4}
    # Counts that are the same say nothing that the last line does not say.
    told = [f for f in findings if f.verdict != "same" or f.kind != "track"]
    rows = [
        (
            f.name,
            f.verdict,
            *(_number(v, f.kind) for v in (f.base, f.head)),
            _ratio(f.ratio),
            f.confidence,
        )
        for f in sorted(told, key=lambda f: order[f.verdict])
    ]
    print_table(("benchmark", "verdict", "base", "now", "now / base", "confidence"), rows)
    tally = {v: sum(f.verdict == v for f in findings) for v in order}
    bad = tally["failed"] + tally["worse"]
    say(
        f"{counted(bad, 'regression')} in {counted(len(findings), 'benchmark')} "
        f"({', '.join(f'{n} {v}' for v, n in tally.items() if n)})"
    )


def _ratio(value: float | None) -> str:
    """Three decimals, or all where these are 1.000."""
    short = "" if value is None else f"{value:.3f}"
    return short if short != "1.000" or value == 1 else str(value)


def _number(value: float | None, kind: str) -> str:
    """With a unit, and rounded; a count with all its digits."""
    if value is None:
        return ""
    if kind == "time":
        return f"{1e3 * value:.3f} ms"
    if kind in ("mem", "peakmem"):
        return f"{value / 2**20:.1f} MiB"
    return str(value).removesuffix(".0")
