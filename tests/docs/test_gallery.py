"""docs/gallery.md is what was measured, and its pictures are there."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from gammabar.harness.registry import artefacts, measured

ROOT = Path(__file__).resolve().parents[2]
_AGAIN = "python docs/gallery.py"


def gallery():
    """The script that writes the page."""
    spec = spec_from_file_location("docs_gallery", ROOT / "docs" / "gallery.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_was_measured():
    written = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert gallery().page() == written, f"run `{_AGAIN}`"


def test_only_artefacts_that_there_are_were_measured():
    assert set(measured()) <= set(artefacts())


def test_every_picture_is_there_and_small():
    written = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\((gallery/[^)]+)\)", written)
    assert pictures
    for name in pictures:
        assert (ROOT / "docs" / name).stat().st_size < 300_000
    unused = {path.name for path in (ROOT / "docs" / "gallery").iterdir()}
    assert unused == {Path(name).name for name in pictures}
