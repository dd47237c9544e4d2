"""Results for people and programs elsewhere: a page, Markdown, a badge, tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gammabar.problems.output import write_whole

if TYPE_CHECKING:
    from gammabar.harness.report.model import Report


def write_report(report: Report, folder: Path) -> Path:
    """Write page, Markdown and badge into a folder, which is made; the path of the page."""
    from gammabar.harness.report.page import badge, page
    from gammabar.harness.report.tables import markdown

    folder.mkdir(parents=True, exist_ok=True)
    texts = {"index.html": page, "report.md": markdown, "badge.svg": badge}
    for name, written in texts.items():
        write_whole(folder / name, written(report))
    return folder / "index.html"
