"""The option ``--intercept``, with or without its word, of the commands that ask about a bias."""

from __future__ import annotations

from itertools import pairwise

import click

from gammabar.harness.commands import TakesData

KINDS = ("none", "free", "augmented")

#: Where the hyperplanes are that an answer speaks of.
WHERE = {
    "none": "through the origin",
    "free": "with a free intercept",
    "augmented": "with an augmented intercept (a constant feature, which counts in ‖w‖)",
}


class BareIntercept(TakesData):
    """A command in which ``--intercept`` alone means ``--intercept free``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        full = [
            "--intercept=free" if word == "--intercept" and following not in KINDS else word
            for word, following in pairwise([*args, ""])
        ]
        return super().parse_args(ctx, full)


INTERCEPT_OPTION = click.option(
    "--intercept",
    type=click.Choice(KINDS),
    metavar="[free|augmented]",
    default="none",
    help="With a bias: free (the margin counts w alone) or augmented (a constant feature).",
)
