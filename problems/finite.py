"""What JSON can say: it has no infinity, and nothing that is no number."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> Any:
    """A document with null in the place of every number in it that is infinite or none.

    Examples
    --------
    >>> finite({"ratio": float("inf"), "rounds": [1.5, float("nan")]})
    {'ratio': None, 'rounds': [1.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return value
