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


def test_what_a_run_wrote_is_taken_over(tmp_path, monkeypatch):
    import json

    module = gallery()
    monkeypatch.setattr(module, "PICTURES", tmp_path / "pictures")
    monkeypatch.setattr(module, "homes", lambda: {"rp": tmp_path, "gb": tmp_path})
    shown = [{"claim": "c", "agrees": False, "found": "f", "ours": False}]
    for name, quick in (("rp.rates", False), ("gb.rates", True)):
        document = {"quick": quick, "seconds": 1, "cpu": 1, "memory": 1, "shown": shown}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
        (tmp_path / f"{name}.svg").write_text("<svg/>")
    module.take_over(tmp_path)
    assert list(json.loads((tmp_path / "measured.json").read_text())) == ["rp.rates"]
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["rp.rates.svg"]
