"""The truth about a problem: γ̄, q̄ and certificates that an independent checker verifies.

Solvers, CVXPY's included, are never trusted here; certificates are (see CERTIFICATE.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gammabar.oracle.answer import solve as solve
    from gammabar.oracle.truth import Truth as Truth

_HOME = {"solve": "gammabar.oracle.answer", "Truth": "gammabar.oracle.truth"}
__all__ = ["Truth", "solve"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``gammabar --help`` does not wait for FLINT and Numba."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
