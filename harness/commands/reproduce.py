"""``gammabar reproduce ARTEFACT``: the papers' figures and tables, made again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.library.cost import cost
from gammabar.harness.screen.output import print_json, say
from gammabar.problems.spelling import did_you_mean

if TYPE_CHECKING:
    from gammabar.harness.library import Artefact

MARKS = {True: "agrees", False: "DIFFERS", None: "open"}


@click.command("reproduce")
@click.argument("artefacts", nargs=-1, metavar="[ARTEFACT]...")
@click.option("--all", "everything", is_flag=True, help="Every artefact.")
@click.option("--quick", is_flag=True, help="Small settings on embedded data, in seconds.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("artefacts"),
    show_default=True,
    metavar="DIR",
    help="Where pictures and numbers are written; what is there already is not computed again.",
)
@click.option("--fresh", is_flag=True, help="Compute everything again, whatever is there.")
@PAPER_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    artefacts: tuple[str, ...],
    everything: bool,
    quick: bool,
    out: Path,
    fresh: bool,
    papers: tuple[str, ...],
    as_json: bool,
) -> int:
    """Make figures and tables of the papers again (see `gammabar list artefacts`).

    Each is written as SVG, PNG and PDF, with its numbers as JSON, and compared with what the paper
    shows. Interrupted, it goes on where it was. Exit code 1 if something does not agree.
    """
    from gammabar.harness.reproduce.pictures import check
    from gammabar.harness.reproduce.work import missing_data

    open_papers(papers)
    chosen = _chosen(artefacts, everything)
    check()
    for artefact in chosen:
        missing_data(artefact, quick)  # said before anything is computed
    _writable(out)
    documents = []
    for artefact in chosen:
        documents.append(_make(artefact, out, quick, fresh))
        if not as_json:
            _show(documents[-1])
    if as_json:
        print_json({"artefacts": documents}, "reproduce")
    differs = any(shown["agrees"] is False for d in documents for shown in d["shown"])
    return int(differs and not quick)


def _chosen(names: tuple[str, ...], everything: bool) -> list[Artefact]:
    from gammabar.harness.library import artefacts

    known = artefacts()
    if everything == bool(names):
        raise click.UsageError("name artefacts, or --all")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, "see `gammabar list artefacts`")
            raise click.UsageError(f"{name!r} is no artefact ({hint})")
    if not everything:
        return [known[name] for name in dict.fromkeys(names)]
    return [one for one in known.values() if _can_be_made(one)]


def _can_be_made(artefact: Artefact) -> bool:
    """Whether its package is installed; ``--all`` leaves out others, and says so."""
    from gammabar.problems.extras import has_module, missing

    if artefact.package is None or has_module(artefact.package[0]):
        return True
    say(f"left out: {missing(artefact.id, *artefact.package)}", err=True)
    return False


def _writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--out {out}: {error.strerror}") from None


def _make(artefact: Artefact, out: Path, quick: bool, fresh: bool) -> dict[str, Any]:
    from gammabar.harness.reproduce.pictures import draw
    from gammabar.harness.reproduce.work import as_document, compute, write

    computed = compute(artefact, out, quick, _tell, fresh)
    document = as_document(artefact, computed, quick)
    write(out / f"{artefact.id}.json", document)
    pictures = draw(artefact, computed.numbers, out)
    return document | {"pictures": [str(path) for path in pictures]}


def _show(document: dict[str, Any]) -> None:
    say(f"{document['artefact']}  {document['reference']}: {document['title']}")
    for shown in document["shown"]:
        mark = (
            "–" if document["quick"] else MARKS[shown["agrees"]]
        )  # small data are not the paper's
        say(f"    {mark:8}{shown['claim']}")
        say(f"            {shown['found']}")
    took = cost(document["seconds"], document["cpu"], document["memory"])
    say(f"    written {', '.join(document['pictures'])} ({took})")


def _tell(name: str, place: int, total: int, kept: bool) -> None:
    say(f"{place + 1}/{total}  {name}{' (kept)' if kept else ''}", err=True)
