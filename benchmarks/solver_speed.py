"""What an iteration costs, against reading the data once and against the obvious NumPy step.

    python benchmarks/solver_speed.py [--quick] [--repeat 15] [--json FILE]

A short way into two sections of ``gammabar bench``; see `side_by_side.iteration` and
`side_by_side.growth`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def main() -> None:
    """Run every comparison; --quick uses embedded data and smaller sizes."""
    # asv imports this module on commits that have no such package.
    from side_by_side import growth, iteration

    from gammabar.harness.screen import stages

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="embedded data, smaller sizes")
    parser.add_argument("--repeat", type=int, default=15, help="interleaved rounds (medians count)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    figures = {}
    for name, section in (("iteration", iteration), ("growth", growth)):
        with stages() as say:
            figures[name] = section.measure(options.quick, say, repeat=options.repeat)
        for table in section.tables(figures[name]):
            table.show()
    if options.json:
        options.json.write_text(json.dumps(figures, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
