"""``gammabar reproduce ARTEFACT``: the papers' figures and tables, made again."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from gammabar.harness.commands.papers import PAPER_OPTION, open_papers
from gammabar.harness.screen.output import print_json, say


@click.command("reproduce")
@click.argument("artefacts", nargs=-1, metavar="[ARTEFACT]...")
@click.option("--all", "everything", is_flag=True, help="Every artefact.")
@click.option("--quick", is_flag=True, help="Small settings on embedded data, in seconds.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("artefacts"),
    show_default=True,
    help="Where pictures and numbers are written; what is there already is not computed again.",
)
@PAPER_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    artefacts: tuple[str, ...],
    everything: bool,
    quick: bool,
    folder: Path,
    papers: tuple[str, ...],
    as_json: bool,
) -> int:
    """Make figures and tables of the papers again (see `gammabar list artefacts`).

    Each is written as SVG, PNG and PDF, with its numbers as JSON, and compared with what the paper
    shows. Interrupted, it goes on where it was. Exit code 1 if something does not agree.
    """
    from gammabar.harness.library import artefacts as every
    from gammabar.harness.reproduce.pictures import draw
    from gammabar.harness.reproduce.work import as_document, compute, missing_data, write_document

    open_papers(papers)
    known = every()
    if everything == bool(artefacts):
        raise click.UsageError("name artefacts, or --all")
    for name in artefacts:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else "see `gammabar list artefacts`"
            raise click.UsageError(f"{name!r} is no artefact ({hint})")
    chosen = list(known.values()) if everything else [known[a] for a in dict.fromkeys(artefacts)]
    for artefact in chosen:
        missing_data(artefact, quick)  # said before anything is computed
    folder.mkdir(parents=True, exist_ok=True)
    documents = []
    for artefact in chosen:
        numbers = compute(artefact, folder, quick, _tell)
        document = as_document(artefact, numbers, quick)
        write_document(folder / f"{artefact.id}.json", document)
        pictures = draw(artefact, numbers, folder)
        documents.append(document | {"pictures": [str(path) for path in pictures]})
        if not as_json:
            say(f"{artefact.id}  {artefact.reference}: {artefact.title}")
            for shown in document["shown"]:
                mark = {True: "agrees", False: "DIFFERS", None: "open"}[shown["agrees"]]
                mark = "–" if quick else mark  # small data are not the paper's
                say(f"    {mark:8}{shown['claim']}")
                say(f"            {shown['found']}")
            say(f"    written {', '.join(str(path) for path in pictures)}")
    if as_json:
        print_json({"artefacts": documents}, "reproduce")
    differs = any(shown["agrees"] is False for d in documents for shown in d["shown"])
    return int(differs and not quick)


def _tell(name: str, place: int, total: int, kept: bool) -> None:
    say(f"{place + 1}/{total}  {name}{' (kept)' if kept else ''}", err=True)
