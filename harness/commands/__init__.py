"""One module per command; each offers ``command``."""

from __future__ import annotations

import click

#: What DATA may be, for commands that take it.
DATA = (
    (
        "a named data set",
        "mnist-sample:0,1  mnist:0,1  fashion:0,4  digits:3,8  iris:0,1  breast-cancer",
    ),
    (
        "a generator",
        "planted:n=200,d=10,gamma=0.1,seed=0  worst-case:n=1000  inseparable:n=50,d=5",
    ),
    (
        "a file",
        "data.csv  data.tsv  data.svm  data.npz  data.npy --labels y.npy  data.parquet  data.arrow"
        "  - (stdin); text may be compressed (.gz, .bz2, .xz); data.csv:a,b is two of many classes",
    ),
)


class TakesData(click.Command):
    """A command whose help ends with what DATA may be."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write it in two columns, as wide as the terminal is."""
        with formatter.section("DATA is one of"):
            formatter.write_dl(DATA)
        formatter.write_paragraph()
        formatter.write_text("`gammabar list problems` shows them all.")
