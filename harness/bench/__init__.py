"""``gammabar bench``: the project side by side with what a user would pick instead.

One module per section, each with `TITLE`, `measure` (numbers, for JSON) and `tables` (of them).
"""

from __future__ import annotations

#: In the order of the page.
SECTIONS = ("oracle", "classifier", "margin", "iteration", "growth", "scale", "overhead")
