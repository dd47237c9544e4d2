"""Time and memory, for people."""

from __future__ import annotations


def cost(seconds: float, cpu: float, memory: int) -> str:
    """What an artefact takes.

    Examples
    --------
    >>> cost(83.2, 41.3, 412_000_000), cost(1500, 900, 2_340_000_000)
    ('83 s (41 s of processor time), 0.41 GB', '25 min (15 min of processor time), 2.34 GB')
    """
    return f"{_time(seconds)} ({_time(cpu)} of processor time), {memory / 1e9:.2f} GB"


def _time(seconds: float) -> str:
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
