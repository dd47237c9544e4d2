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

- All programs of a table take turns in one run, in a new order every turn, and the best time counts
  (medians where the text says so). A program that takes more than five seconds runs once. Ratios
  are to the first row of a table: below 1× is faster than gammabar. Ratios are more reliable than
  seconds, and neither is reliable beyond two digits.
- Before the clock starts, each program is imported and compiled and has the data in memory, in the
  form that suits it best. Rows are divided by the largest row norm.
- Programs that may fail run in their own process. A program **fails** if it raises an error,
  crashes, does not answer in time, reaches its limit of iterations, or returns a classifier that
  does not separate the data. The tables show failures.
- We measure the margin of each returned classifier in doubles. "Missing" is 1 − γ(w)/γ̄ with the
  exact γ̄; "< 1e-12" means that rounding in this measurement can explain the difference.
"""

WORDS = {
    "oracle": """\
How fast and how exactly do programs find the maximum margin of linearly separable data, and what is
proved about the result? LIBLINEAR is scikit-learn's `LinearSVC` with tolerance 1e-8 and up to
10,000 iterations. LIBSVM is its `OneClassSVM` on the rows y·x with ν = 1/n and tolerance 1e-10,
which is the same problem (the intercept of LIBSVM's classifiers cannot be switched off). DAQP,
quadprog and PIQP solve min ½‖w‖² subject to y·⟨x, w⟩ ≥ 1 through qpsolvers, PIQP with tolerance
1e-10. CVXPY models this (primal) or the minimum of ‖Aᵀq‖² on the simplex (dual), for Clarabel with
tolerance 1e-10.

"Margin claimed" follows from the optimal value that a program reports, right or wrong. A tolerance
is what a solver promises, not a proof. The margin of breast-cancer is close to the resolution of
doubles; programs have ten seconds for it.""",
    "proof": """\
What does the proof add to the search, and how do both compare with other programs? Processor time
with one thread, best of up to three turns, and at most five seconds. "Planted" rows lie on either
side of a gap; "Gaussian" rows have random labels; pixels are MNIST 0/1. SVC (always with an
intercept) and LIBLINEAR have C = 1e6, the others tolerance 1e-10. "(fails)": the result does not
separate the data or reached a limit. The lines below count cells with an intercept, too (see the
numbers).""",
    "classifier": """\
Linear classifiers with their usual settings: ours has no parameter, the others have C = 1e6 for a
hard margin. Four fifths of the rows are fitted, the rest are tested; all have an intercept.
"Missing" is the difference to our margin, which is exact. A fit proves the support, the margin (as
the neighbouring doubles) and the weights (as the nearest doubles); `certificate()`, in its own row,
also writes γ̄² and q̄ as fractions. With ten classes there is one hyperplane for each pair (ours,
SVC) or for each class (LIBLINEAR, and ours with `several='ovr'`, where classes that cannot be
separated from the rest get a soft margin). If the pairs disagree about a point, ours chooses the
class whose region contains it most deeply; SVC counts votes, and the first class wins ties. `python
-m benchmarks.several_classes` compares the rules alone, with the same hyperplanes: errors of 2.11 %
by votes and 1.91 % by depth on digits (60 splits; difference −0.195 ± 0.038), 9.63 % and 9.07 % on
MNIST (4,000 rows fitted, 20,000 tested, six splits; −0.561 ± 0.066). The default settings of
LIBLINEAR are not meant for hard margins; they are shown because many people use them.""",
    "margin": """\
How long until the margin is 90 %, 99 %, 99.9 % of the largest? `MaxMarginClassifier` with its
iterative solver stops when it has proved that it has reached this part; the oracle proves that no
larger margin exists. The margin of all others is measured from outside, at no cost to them: they do
not know how close they are, nor when to stop. `Perceptron` and `SGDClassifier` go on epoch by
epoch; LIBLINEAR gets fresh fits with more and more iterations, and the time of the first fit that
is good enough counts. No program has an intercept. Ratios are to `MaxMarginClassifier`. In the
picture, points above the dotted line do not separate the data, and the gap of `MaxMarginClassifier`
is the one that it has proved.""",
    "iteration": """\
A step of the batch methods needs the scores of all rows and a weighted sum of the rows. It cannot
be faster than one read of the data, which is measured as the faster of summing the words of the
matrix with all threads and of one BLAS product. The NumPy step is the obvious one, two products
with a matrix of doubles. Times are medians of at least 45 runs in nine turns; the first run of a
turn, which wakes threads up, does not count.""",
    "scale": """\
The oracle beside LIBLINEAR as far as this machine goes, on generated data with a gap: processor
time (of all threads) and peak memory with the data. Each program runs once, alone in a process that
has the data when the clock starts. LIBLINEAR stops after at most 1,000 iterations; the table shows
how much of the margin it lacks. A program that needs more memory than is free, or more than half an
hour, fails, and is not run on larger data.""",
    "overhead": """\
Checking all statements about Algorithm 1, with proof, at every iterate, compared with the same
number of iterations of the solver alone (medians). The cost of checking hardly depends on the size
of the data, so its share falls as the data grow; on large data statements are checked while other
threads begin the next pass.""",
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
        if name in document.get("dates", {}):
            parts.append(f"Measured on {document['dates'][name]}, in a run of its own.")
        parts += [pictures[name]] if name in pictures else []
        parts += [table.markdown() for table in (shown[:1] if name == "proof" else shown)]
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
