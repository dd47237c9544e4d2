"""The exact oracle side by side with what people use, as ratios in one run.

    python benchmarks/oracle_ratios.py [--quick] [--repeat 5] [--json FILE] [DATA …]

A short way into one section of ``gammabar bench``, for any data; see `side_by_side.oracle`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def main() -> None:
    """Race on the problems named, or on those of ``gammabar bench``."""
    # asv imports this module on commits that have no such package.
    from side_by_side import oracle

    from gammabar.harness.screen import stages

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="embedded data")
    parser.add_argument("--repeat", type=int, default=5, help="interleaved rounds (best counts)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here as well")
    parser.add_argument("data", nargs="*", help="problems (default: those of gammabar bench)")
    options = parser.parse_args()
    with stages() as say:
        results = oracle.measure(options.quick, say, names=options.data, repeat=options.repeat)
    for table in oracle.tables(results):
        table.show()
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
