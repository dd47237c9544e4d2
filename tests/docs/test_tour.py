"""docs/tour.ipynb runs from top to bottom and shows what it shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).resolve().parents[2] / "docs" / "tour.py"


def shown(notebook: Path) -> list[str]:
    """What each cell shows, but for the digits of numbers."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [re.sub(r"\d[\d.e+-]*", "#", json.dumps(cell.get("outputs"))) for cell in cells]


@pytest.mark.full
def test_the_notebook_runs(tmp_path: Path):
    again = tmp_path / "again.ipynb"
    subprocess.run([sys.executable, str(TOUR), str(again)], check=True, cwd=tmp_path)
    assert shown(again) == shown(TOUR.with_suffix(".ipynb")), "run `python docs/tour.py`"
