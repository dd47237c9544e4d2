"""The page ``docs/benchmarks.md``, from the document of one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from side_by_side.document import section, tables
from side_by_side.pictures import GAPS, SCALE, draw

from gammabar.problems import ProblemError
from gammabar.problems.output import write_whole
from gammabar.problems.suggest import no_file

PAGE, NUMBERS = "benchmarks.md", "benchmarks.json"

INTRODUCTION = """\
# Benchmarks

gammabar side by side with what a user would pick instead. This page, its pictures and
[the numbers](benchmarks.json) were written by one run of

```sh small
{command}
```

on {date}, with {cores} cores ({machine}; {threads} threads for passes over the data), Python
{python}, {packages}.

How it is measured:

- All contestants of a table take turns in one run, in a new order every turn, and the best time
  counts (medians where it says so). Whoever takes more than five seconds runs once. Ratios are to
  the first row of a table: below 1× is faster than we are. They mean more than the seconds, and
  neither means much to more than two digits.
- Everybody has the data in memory, in the form they like best, and has been imported and compiled
  before the clock starts. Rows are divided by the largest row norm.
- Contestants who may fail run in a process of their own. Whoever raises an error, crashes, does not
  answer in time, reaches a limit of iterations, or returns something that does not separate the
  data, **fails**, and the failure is shown.
- Margins are measured by us, in doubles, from the classifier that a contestant returns. "Missing"
  is 1 − γ(w)/γ̄ with the exact γ̄; "< 1e-12" says that it is no more than what rounding in this
  measurement can cause.
"""

WORDS = {
    "oracle": """\
Who finds the maximum margin of linearly separable data, how fast, how exactly, and what does a user
know about it afterwards? LIBLINEAR is scikit-learn's `LinearSVC` with tolerance 1e-8 and up to
10,000 iterations. LIBSVM is its `OneClassSVM` on the rows y·x with ν = 1/n and tolerance 1e-10,
which is this very problem (the classifiers of LIBSVM have an intercept that cannot be switched
off). DAQP, quadprog and PIQP solve min ½‖w‖² subject to y·⟨x, w⟩ ≥ 1 through qpsolvers, PIQP with
tolerance 1e-10. CVXPY models this (primal) or the minimum of ‖Aᵀq‖² on the simplex (dual), for
Clarabel with tolerance 1e-10.

"Margin claimed" is what follows from the optimal value that a contestant reports, right or wrong. A
tolerance is a promise of a solver, not a proof. breast-cancer is separable by a margin that doubles
can hardly see; contestants have ten seconds for it.""",
    "proof": """\
What does the proof add to the search, and how do both compare with what people use? Processor
time, best of three turns. "Planted" rows lie on either side of a gap; "Gaussian" rows have random
labels and are wider than they are many; pixels are MNIST 0/1. SVC and LIBLINEAR have C = 1e6, the
others solve min ½‖w‖² subject to y (⟨x, w⟩ + b) ≥ 1 with tolerance 1e-10. (SVC always has an
intercept.) "(fails)" marks a time whose result does not separate the data or reached a limit.""",
    "classifier": """\
A linear classifier out of the box: no parameter for ours, C = 1e6 where hard margins are wanted
from others. Four fifths of the rows are fitted, the rest is tested; all have an intercept.
"Missing" is what a margin lacks of ours, which is exact. A fit proves which rows the support is,
and with that the margin, as the doubles next to it, and the weights, as the nearest ones; γ̄² and q̄
are written down as fractions when certificates are asked for, which is a row of its own. Ten
classes: one hyperplane for each
pair (ours, SVC) or for each class (LIBLINEAR, and ours with `several='ovr'`, where classes that
no hyperplane separates from the rest get a soft margin). Where the pairs disagree about a point,
ours is the class whose region it is deepest in, and SVC counts votes, with ties for the first
class. `python -m benchmarks.several_classes` compares the rules alone, with the same hyperplanes:
errors of 2.11 % by votes and 1.91 % by depth on digits (60 splits; difference −0.195 ± 0.038),
9.63 % and 9.07 % on MNIST (4,000 rows fitted, 20,000 tested, six splits; −0.561 ± 0.066). Default
settings of LIBLINEAR are not for hard margins; they are here because they are what people use.""",
    "margin": """\
How long until the margin is 90 %, 99 %, 99.9 % of the largest? `MaxMarginClassifier` with its
iterative solver stops by itself, when it has proved that it is there; the oracle proves that
there is nothing more to be had. The margin of all others is watched from outside, at no cost to
them: by themselves they neither know how close they are nor when to stop. `Perceptron` and
`SGDClassifier` go on epoch by epoch; LIBLINEAR gets fresh fits with more and more iterations, and
the time of the first fit that is good enough counts. No contestant has an intercept. Ratios are
to `MaxMarginClassifier`. In the picture, what is above the dotted line does not separate the
data, and the gap of `MaxMarginClassifier` is the one that it has proved.""",
    "iteration": """\
A step of the batch methods needs the scores of all rows and a weighted sum of the rows. One read of
the data is the least that it can take: the faster of summing the words of the matrix with all
threads and of one BLAS product. The NumPy step is the obvious one, two products with a matrix of
doubles. Times are medians of at least 45 runs in nine turns; the first run of a turn, which wakes
threads up, does not count.""",
    "scale": """\
The oracle beside LIBLINEAR as far as this machine goes, on generated data with a gap: processor
time (of all threads) and peak memory with the data, each contestant once, alone in a process that
has the data when the clock starts. What LIBLINEAR lacks of the margin is shown, as it stops at its
limit of 1,000 iterations or before. Whoever needs more memory than is free, or more than half an
hour by the clock, fails; and is not asked again with more.""",
    "overhead": """\
All that is claimed of Algorithm 1 and its iterates, judged with proof at every iterate, against as
many iterations of the solver alone (medians). What a judge costs hardly depends on the data, so it
weighs less the larger they are; on large data judges work while the other threads begin the next
pass.""",
}


def write(document: dict[str, Any], folder: Path) -> list[Path]:
    """Write page, pictures and numbers into a folder; returns the files written."""
    if not folder.is_dir():
        raise ProblemError(no_file(folder, "folder"))
    page, numbers = folder / PAGE, folder / NUMBERS
    write_whole(page, text(document))
    write_whole(numbers, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return [page, numbers, *draw(document, folder)]


def text(document: dict[str, Any]) -> str:
    """The page in Markdown."""
    parts = [_introduction(document)]
    pictures = {
        "scale": f"![Processor time and memory against sizes on logarithmic axes]({SCALE})",
        "margin": f"![Gap of the margin against time, on logarithmic axes]({GAPS})",
    }
    for name, shown in tables(document).items():
        parts += [f"## {section(name).TITLE}", WORDS[name]]
        parts += [pictures[name]] if name in pictures else []
        parts += [table.markdown() for table in shown]
    took = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in document["seconds"].items())
    parts.append(f"The run took {sum(document['seconds'].values()) / 60:.1f} minutes ({took}).")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _introduction(document: dict[str, Any]) -> str:
    about = document["circumstances"]
    packages = about["packages"].items()
    installed = ", ".join(f"{name} {version}" for name, version in packages if version)
    absent = [name for name, version in packages if not version]
    listed = installed + (f" (not installed: {', '.join(absent)})" if absent else "")
    command = "gammabar bench" + " --quick" * document["quick"] + " --page docs"
    facts = {key: about[key] for key in ("date", "cores", "machine", "threads", "python")}
    return INTRODUCTION.format(command=command, packages=listed, **facts)
