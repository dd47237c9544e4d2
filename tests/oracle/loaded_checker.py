"""The independent checker, loaded from its file as a script would be."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

CHECKER = Path(__file__).resolve().parents[2] / "oracle" / "check.py"
_spec = importlib.util.spec_from_file_location("independent_checker", CHECKER)
assert _spec is not None
assert _spec.loader is not None
checker: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checker)
