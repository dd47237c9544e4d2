"""What a statement assumes, in words."""

from __future__ import annotations

import inspect
from typing import Any


def described(assumption: Any) -> str:
    """The first line of its docstring, or else its name; "" if it has neither.

    Examples
    --------
    >>> from gammabar.papers import separable
    >>> described(separable)
    'Some w has only positive scores.'
    """
    words = (inspect.getdoc(assumption) or "").partition("\n")[0]
    name = getattr(assumption, "__name__", "<lambda>")
    return words or ("" if name == "<lambda>" else name.replace("_", " ").strip())
