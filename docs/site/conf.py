"""Sphinx's settings. `make docs` calls `build.py`, which lays out the pages that are read here."""

from __future__ import annotations

import re
from importlib.metadata import version as installed
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes

from gammabar.harness.report.mathml import formula

project = "gammabar"
author = "The gammabar developers"
project_copyright = author
version = release = installed("gammabar")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4  # links to headings are written as on a forge
myst_enable_extensions = ["colon_fence", "dollarmath"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections have them
autosummary_generate = False
numpydoc_show_class_members = False
nitpicky = False

html_math_renderer = "mathml"  # the report's own; nothing is loaded from elsewhere
html_theme = "furo"
html_title = "gammabar"
html_static_path = ["_static"]
html_css_files = ["statement.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # they are fetched, which a page from disk may not


def _palette(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", block))


def _style() -> tuple[dict[str, str], dict[str, str], str]:
    """The report's colours, light and dark, and its rules, kept to what comes from the report."""
    text = (files("gammabar.harness.report") / "templates/style.css").read_text("utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", text, re.S)
    own, rules = text.split("* {", 1)
    face = own[own.index("@font-face") :]
    return _palette(light), _palette(dark), f"{face}.gammabar {{\n* {{{rules}\n}}\n"


_light, _dark, _rules = _style()
_own = """
.gammabar { h4, p { margin-bottom: .4rem; } .body { border: 0; padding: 0; margin: 0; } }
div.citation { display: flex; gap: .6em; }
div.citation > span.label { position: static; float: none; }
table.docutils { font-size: .85rem; }
td code span.pre { white-space: normal; }  /* at the marks that build.py puts in */
.gammabar dt { padding-top: 0; }
/* Pictures are drawn on white. In the dark they are turned over, and colours keep their hue. */
body[data-theme="dark"] article img { filter: invert(.92) hue-rotate(180deg); }
@media (prefers-color-scheme: dark) {
  body:not([data-theme="light"]) article img { filter: invert(.92) hue-rotate(180deg); }
}
/* Paper cannot be scrolled: lines of code are wrapped, and tables small enough to fit. */
@media print {
  article img { filter: none !important; }
  article pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  article :is(.table-wrapper, .highlight, pre) { overflow: visible !important; }
  table.docutils { font-size: 8pt; }
  table.docutils :is(th, td) { padding: .1rem .25rem; overflow-wrap: anywhere; }
}
/* On a phone a picture of many columns is looked at piece by piece. */
@media screen and (max-width: 46em) {
  p:has(> img.wide) { overflow-x: auto; }
  img.wide { max-width: none; width: 46em; }
}
"""
_letters = "barred, ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
_static = Path(__file__).parent / "_static"
_static.mkdir(exist_ok=True)
(_static / "statement.css").write_text(_rules + _own, encoding="utf-8")
html_theme_options = {
    "light_css_variables": _light
    | {"ground": "var(--color-background-primary)", "font-stack--monospace": _letters},
    "dark_css_variables": _dark | {"ground": "var(--color-background-primary)"},
}


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(formula(node.astext()))
    raise nodes.SkipNode


def _displayed(writer: Any, node: Any) -> None:
    writer.body.append(f'<p class="displayed">{formula(node.astext())}</p>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
