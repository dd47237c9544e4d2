"""Errors of people who write statements: one sentence that says where, what, and what to do."""

from __future__ import annotations

import os
import sys
import traceback
from types import CodeType
from typing import Any, Self

from gammabar.harness.court.numbers import BALLS
from gammabar.problems import ProblemError


class StatementError(ProblemError):
    """A statement that is not written as it must be: its author's fault, not a solver's."""

    @classmethod
    def at(cls, identifier: Any, body: Any, what: str, error: Exception | None = None) -> Self:
        """``jst.thm3.1.1 (paper.py, line 12): what``, with the line that raised `error`, if any."""
        return cls(f"{identifier}{place(body, error)}: {what}")


def place(body: Any, error: Exception | None = None) -> str:
    """Where a body is written: " (paper.py, line 12)"."""
    code = code_of(body)
    file = code.co_filename if code is not None else _file(body)
    if not file:
        return ""
    line = code.co_firstlineno if code is not None else None
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == file), line)
    return f" ({_short(file)}, line {line})" if line else f" ({_short(file)})"


def code_of(body: Any) -> CodeType | None:
    """The code of a function, or of the method ``claim`` of a class."""
    function = getattr(body, "claim", None) if isinstance(body, type) else body
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _file(body: Any) -> str:
    module = sys.modules.get(getattr(body, "__module__", None) or "")
    return getattr(module, "__file__", None) or ""


def _short(file: str) -> str:
    """A path as a person would write it who stands in this folder."""
    inside = os.path.relpath(file)
    return file if inside.startswith(os.pardir) else inside


def raised(error: Exception) -> str:
    """What a body raised, and what to do where NumPy met a ball."""
    last = traceback.format_exception_only(error)[-1].strip()
    if BALLS not in last and ("flint" in last or "ufunc" in last):
        return f"{last}; {BALLS}"
    return last
