"""One module per command; each offers ``command``."""

from __future__ import annotations

#: What a command that takes DATA says about it.
DATA_HELP = """\b
DATA is one of
  a named data set   mnist-sample:0,1  mnist:0,1  fashion:0,4  digits:3,8  iris:0,1  breast-cancer
  a generator        planted:n=200,d=10,gamma=0.1,seed=0  worst-case:n=1000  inseparable:n=50,d=5
  a file             data.csv  data.tsv  data.svm   (compressed .gz, .bz2 or .xz as well)
                     data.npz  data.npy --labels y.npy  data.parquet  data.arrow  - (stdin)
                     data.csv:a,b is two of many classes
`gammabar list problems` shows them all.
"""
