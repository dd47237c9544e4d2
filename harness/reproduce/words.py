"""Time and memory, for people."""

from __future__ import annotations


def cost(seconds: float, memory: int) -> str:
    """What an artefact takes.

    Examples
    --------
    >>> cost(83.2, 412_000_000), cost(0.3, 96_000_000), cost(1500, 2_340_000_000)
    ('83 s, 0.41 GB', '0.3 s, 0.10 GB', '25 min, 2.34 GB')
    """
    if seconds >= 100:
        time = f"{seconds / 60:.0f} min"
    else:
        time = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{time}, {memory / 1e9:.2f} GB"
