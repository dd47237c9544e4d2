"""The arithmetic that every error bound assumes: doubles that round to nearest and keep small ones.

A process may have neither. Libraries compiled with ``-ffast-math`` switch a processor to flushing
subnormal numbers to zero when they are loaded [1]_, and ``fesetround`` changes the direction of
rounding. The bounds of `problems.rounding` are then those of another machine.

References
----------
.. [1] S. Byrne (2022), Shared library compiled with -ffast-math modifies FPU state of thread.
   LLVM, issue 57589.
"""

from __future__ import annotations

from gammabar.problems.base import ProblemError

# Named, so that no compiler computes with them before they are asked for.
_ONE, _ROUNDOFF, _NORMAL, _LEAST, _LARGE = 1.0, 2.0**-53, 2.0**-1022, 5e-324, 2.0**60


def require_doubles() -> None:
    """Raise `ProblemError` unless this thread computes as IEEE 754 does by default."""
    if not (_NORMAL / (_ONE + _ONE) * _LARGE and _LEAST * _LARGE):
        raise ProblemError(
            "this process flushes small numbers to zero, so that nothing can be proved in it: a"
            " library that was compiled with -ffast-math has switched that on; do not load it here"
        )
    even, up = _ONE + _ROUNDOFF, _ONE + 1.5 * _ROUNDOFF
    if not (even == _ONE < up == _ONE + 2 * _ROUNDOFF):
        raise ProblemError(
            "this process does not round to nearest, so that nothing can be proved in it: something"
            " has called fesetround"
        )
