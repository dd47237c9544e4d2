"""``gammabar oracle DATA``: the exact maximum margin, and whether data are separable at all."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gammabar import problems
from gammabar.harness.cli.command import (
    JOB_COUNT,
    JSON,
    OF_READING,
    OF_SPACE,
    PAIRS,
    READING,
    SPACE,
    argument,
    command,
    given,
    option,
    picked,
    run,
    what,
    write,
)
from gammabar.harness.screen import Stage, counted, print_facts, print_json, stages
from gammabar.oracle import solve
from gammabar.oracle.candidate import Interrupted
from gammabar.oracle.result import L1Margin, Margin, NegativeMargin, Truth, signed_digits
from gammabar.problems import MulticlassProblem, Problem, ProblemError, ScatteredProblem
from gammabar.problems.files import gigabytes
from gammabar.problems.output import whole

if TYPE_CHECKING:
    from gammabar.oracle.separation import Separation


#: Rows of a support up to which the rational γ̄² is computed to tell its length.
MANY = 100
#: Rows and numbers that are listed for people; JSON has all of them.
_SHOWN = 12
#: Where the hyperplanes are that an answer speaks of, by the kind of intercept.
WHERE = {
    "none": "through the origin",
    "free": "with a free intercept",
    "augmented": "with an augmented intercept (a constant feature, which counts in ‖w‖)",
}
#: The options of ``--pairs`` alone, and those that ``--separation`` and ``--pairs`` allow besides.
_OF_PAIRS = ("certificates", "jobs", "check", "picture", "page")
_ALLOWED = {
    "--pairs": ("time_limit",),
    "--separation": (*OF_READING, "intercept", "certificate", "time_limit"),
}
#: All options that describe a margin, which these two do not have.
_OF_MARGIN = (
    *("signed", "explain", "norm", "intercept", *OF_SPACE, *OF_READING, "method", "time_limit"),
    *("dask", "digits", "certificate", "light", "export"),
)


@command(
    "oracle",
    argument("data", nargs=-1, required=True, metavar="DATA", names="data"),
    what("--separation", "Instead: does the logistic maximum-likelihood estimate exist?"),
    what("--pairs", "Instead: the margin of every pair of classes, of one or several DATA."),
    what("--signed", "If not separable, also the negative margin ρ (Ramdas–Peña §5.2)."),
    what("--explain", "Also rows on the margin or in conflict, rows to remove, w, b, q̄."),
    what(
        "--norm [l2|l1|l1-simplex]",
        "Norm of w: l2; l1 (boosting); l1-simplex, with w ≥ 0 (Winnow).",
        default="l2",
    ),
    what(
        "--intercept [free|augmented]",
        "Add a bias b: free (‖w‖ leaves b out) or augmented (a constant feature: ‖w‖ counts b).",
        type=click.Choice(list(WHERE)),
        default="none",
        show_default=False,
        bare="free",
    ),
    SPACE,
    READING,
    run("--method [exact|cvxpy]", "How to find the candidate to prove.", default="exact"),
    run("--time-limit SECONDS", "Stop then, or at Ctrl-C, with the best proved bounds of γ̄."),
    run("--dask ADDRESS", "Let a Dask cluster read the rows of a .parquet, .arrow or .npy file."),
    write(
        "--digits N",
        "Significant digits of γ̄; all of them are proved.",
        type=click.IntRange(1, 100_000),
        default=17,
    ),
    write("--certificate FILE", "Write the certificate, for `gammabar check`."),
    write("--light", "With --certificate: a shorter one, with the support and rounded weights."),
    write("--export FILE", "Write w, b, support and q to an .npz file."),
    JSON,
    option(
        PAIRS,
        "--certificates DIR",
        "Keep certificates and results here, and compute only what is missing.",
        default="margins",
    ),
    option(PAIRS, "--jobs N", "How many processes.  [default: one per core]", type=JOB_COUNT),
    option(PAIRS, "--check/--no-check", "Check each certificate.  [default: check]", default=True),
    option(PAIRS, "--picture FILE", "Draw a matrix of all pairs: .svg, .png or .pdf."),
    option(PAIRS, "--page FILE", "Write the table in Markdown."),
    title="What to compute",
    explains_data=True,
)
def oracle_command(o: Any) -> int:
    """Compute the maximum margin γ̄ and the dual optimum q̄ of DATA, exactly.

    A candidate is found in floating point; exact arithmetic proves it, or repairs it until it is
    optimal. γ̄ is printed twice: with the rows divided by the largest row norm, as in the papers,
    and in the units of the data.
    """
    instead = "--pairs" if o.pairs else "--separation" if o.separation else None
    for name in _OF_MARGIN:
        if instead is not None and name not in _ALLOWED[instead] and given(name):
            raise click.UsageError(f"{instead} goes without --{name.replace('_', '-')}")
    if o.pairs:
        from gammabar.harness.margins import all_margins

        more: dict[str, Any] = picked(o, _OF_PAIRS)
        return all_margins(o.data, as_json=o.json, time_limit=o.time_limit, **more)
    if any(map(given, _OF_PAIRS)):
        raise click.UsageError(f"{', '.join(f'--{name}' for name in _OF_PAIRS)} need --pairs")
    if len(o.data) > 1:
        raise click.UsageError("one DATA at a time; several go with --pairs")
    if not o.separation:
        _refuse(o)
    answer = _Answer(o.data[0])
    interrupted = not o.separation and _margin(answer, o)
    if o.separation:
        _separation(answer, o)
    if o.json:
        print_json({"data": answer.data, **answer.fields}, "separation" if instead else "oracle")
    else:
        print_facts(answer.data, answer.lines)
    if interrupted:
        sys.exit(130)
    return 0


def _refuse(o: Any) -> None:
    """Refuse options that do not go together, before anything is read."""
    linear = not (o.kernel or o.normalised or o.multiclass)
    rules = {
        f"--norm {o.norm} is for linear two-class problems": o.norm == "l2" or linear,
        "--normalised needs --kernel": o.kernel or not o.normalised,
        "--kernel and --multiclass cannot be combined": not (o.kernel and o.multiclass),
        f"--signed is for --norm l2, not {o.norm}": not o.signed or o.norm == "l2",
    }
    for sentence, kept in rules.items():
        if not kept:
            raise click.UsageError(sentence)


class _Answer:
    """What is said of the data: fields of the JSON document, and lines for people."""

    def __init__(self, data: str) -> None:
        self.data = data
        self.fields: dict[str, Any] = {}
        self.lines: dict[str, str] = {}

    def say(self, name: str, words: str, **fields: Any) -> None:
        """A line, and the fields with the same contents."""
        self.lines[name] = words
        self.fields |= fields

    def notes(self, problem: Problem) -> None:
        """What was done to the columns and rows of a table."""
        if problem.notes:
            self.say("table", "; ".join(problem.notes), notes=list(problem.notes))

    def save(self, found: Any, path: Path | None, proves: str = "", **how: Any) -> None:
        """Write the certificate, if one is asked for."""
        if path is not None:
            found.save(path, **how)
            words = f"{path}{proves} (gammabar check {path})"
            self.say("certificate", words, certificate=str(path))


def _margin(answer: _Answer, o: Any) -> bool:
    """Compute the margin; whether the search was interrupted."""
    interrupted = False
    with ExitStack() as stack:
        stage = stack.enter_context(stages(quiet=o.json))
        client = None
        if o.dask is not None:
            from gammabar.harness.run.pool import connected

            client = stack.enter_context(connected(o.dask))
        stage(f"reading {answer.data}")
        described = picked(o, ("intercept", *OF_SPACE, *OF_READING))
        problem = problems.load(answer.data, dask=client, **described)
        found: Margin
        try:
            wanted: dict[str, Any] = picked(o, ("norm", "signed", "method", "digits", "time_limit"))
            found = solve(problem, progress=stage, **wanted)
        except Interrupted as stop:  # the best that was proved
            found, interrupted = stop.bounds(), True
        _tell(answer, found, o)
        answer.notes(problem)
        answer.fields["intercept"] = o.intercept
        if o.json or isinstance(problem, ScatteredProblem):
            from gammabar.problems.environment import peak_memory

            answer.fields["memory"] = peak_memory()
        if isinstance(problem, ScatteredProblem):
            room = gigabytes(answer.fields["memory"])
            answer.say("data", f"{problem.where}; peak memory {room}")
        if found.separable is False and o.intercept == "none" and o.norm != "l1-simplex":
            stage("with a bias")
            with_bias = _separable_with_bias(problem, o.time_limit)
            answer.fields["separable_with_intercept"] = with_bias
            answer.lines["verdict"] += _BIAS[with_bias]
        if o.explain:
            stage("explaining")
            _explain(answer, found, stage)
        if o.export:
            _write_classifier(found, o.export)
            answer.say("export", str(o.export), export=str(o.export))
        proves = f", which proves {found.proves}" if o.certificate else ""
        answer.save(found, o.certificate, proves, light=o.light)
    return interrupted


#: What is added about the same data with a bias, where no hyperplane through the origin separates.
_BIAS = {True: ", but separable with a bias (--intercept)", False: ", nor with a bias", None: ""}


def _separable_with_bias(problem: Problem, time_limit: float | None) -> bool | None:
    """Whether some hyperplane separates data that none through the origin does; None if unknown."""
    # Whether anything separates depends neither on the norm nor on what counts in it.
    kind = "augmented" if isinstance(problem, MulticlassProblem) else "free"
    try:
        return solve(problem, intercept=kind, time_limit=time_limit).separable
    except ProblemError:  # a normalised kernel, or a single class
        return None


def _tell(answer: _Answer, found: Margin, o: Any) -> None:
    """The answer of the oracle, in JSON with γ̄² written out."""
    if isinstance(found, L1Margin):
        _tell_l1(answer, found, o.digits)
        return
    truth = found.truth if isinstance(found, NegativeMargin) else found
    assert isinstance(truth, Truth)
    answer.fields = truth.facts(o.digits, o.json)
    answer.fields["seconds"] = round(sum(found.seconds.values()), 6)
    _tell_truth(answer, truth, o.digits)
    if isinstance(found, NegativeMargin):
        low, high = (signed_digits(v, v, 17) for v in found.squares)
        shown = low if found.exact else f"in [{low}, {high}]"
        why = found.note.partition(": ")[2]  # what precedes it repeats the number
        rho = {"rho_lo": low, "rho_hi": high, "rho_exact": found.exact, "rho_statement": found.note}
        answer.say("signed margin ρ", f"{shown}: {why}", **rho)
    elif o.signed:
        rho = {"rho": truth.digits(raw=True), "rho_exact": truth.exact}
        answer.say("signed margin ρ", "ρ = γ̄ > 0 (separable)", **rho)


def _tell_truth(answer: _Answer, truth: Truth, digits: int) -> None:
    fields, anytime = answer.fields, truth.method == "anytime"
    unknown = "not known to be separable" if anytime else "undecided: γ̄ may be 0"
    verdict = {True: "separable", False: "not separable", None: unknown}[truth.separable]
    answer.say("problem", f"{fields['n']:,} rows × {fields['d']:,}")
    answer.say("verdict", f"{verdict} {WHERE[truth.problem.intercept]}")
    if truth.separable is None and anytime:
        answer.say("γ̄", f"at most {truth.gamma_hi!r}")
    elif truth.separable is not False:
        answer.say("γ̄", fields["gamma"] + "…" * (not truth.ends(digits)))
        answer.say("γ̄ in data units", fields["gamma_raw"])
        answer.say("enclosure", f"[{truth.gamma_lo!r}, {truth.gamma_hi!r}]")
    note = "" if anytime else truth.note
    joined = note and ("; " if truth.deficit else ", ") + note
    answer.say("proved", _proved(truth) + joined)
    answer.say("support", f"{fields['support_size']} rows")
    rounds = counted(truth.rounds, "exact round")
    parts = ", ".join(f"{name} {value:.3g} s" for name, value in truth.seconds.items())
    answer.say("time", f"{fields['seconds']:.3g} s ({parts}; {rounds})")


def _proved(truth: Truth) -> str:
    """What was proved, and by what."""
    if truth.exact and truth.separable and len(truth.support) > MANY:
        return "γ̄² is a rational number, defined by the support"
    if truth.exact and truth.separable:
        assert truth.gamma_squared is not None
        bits = truth.gamma_squared.denominator.bit_length()
        if bits == 1:
            return "γ̄² is an integer, in data units"
        return f"γ̄² is a rational number with a denominator of {bits:,} bits"
    if truth.exact and truth.problem.intercept == "free":
        return "the convex hulls of the classes share a point, given by exact weights"
    if truth.exact:
        return "Aᵀq̄ = 0 for exact weights q̄ on the simplex (Gordan)"
    if truth.method == "anytime":
        return "the bounds, by exact weights and an exact w; the search was ended early"
    more = "" if truth.deficit else "; γ̄² is not rational here"
    return f"enclosure by interval arithmetic{more}"


def _tell_l1(answer: _Answer, found: L1Margin, digits: int) -> None:
    seconds, n, norm = sum(found.seconds.values()), found.problem.n, found.norm
    verdict = {True: "separable", False: "not separable", None: "undecided"}[found.separable]
    verdict = f"{verdict} {WHERE[found.problem.intercept]}"
    gamma, raw = found.digits(digits), found.digits(digits, raw=True)
    how = "equal primal and dual value, exactly" if found.exact else "rational bounds"
    d, support = int(found.problem.plain.X.shape[1]), len(found.support)
    answer.say("problem", f"{n:,} rows, {norm} margin", n=n, d=d, norm=norm)
    answer.say("verdict", verdict, separable=found.separable)
    answer.say("γ", f"{gamma} (rows divided by the largest entry)", gamma=gamma)
    answer.say("γ in data units", raw, gamma_raw=raw)
    answer.fields |= {"gamma_lo": found.gamma_lo, "gamma_hi": found.gamma_hi}
    answer.say("proved", how, exact=found.exact, support_size=support)
    answer.say("time", f"{seconds:.3g} s", seconds=round(seconds, 6))


def _explain(answer: _Answer, found: Margin, stage: Stage) -> None:
    """The rows behind an answer, and the classifier."""
    problem, rows = found.problem, [int(i) for i in found.support]
    weights = [v / found.total for v in found.numerators]
    answer.fields |= {"rows": rows, "lines": _file_lines(problem, rows), "q": weights}
    answer.fields |= {"w": None, "b": None}
    named = _named(problem, rows)
    if found.separable:
        answer.say("on the margin", named)
        try:
            parts = _classifier(found)
        except ProblemError as error:
            answer.say("w", str(error))
        else:
            b = parts["b"]
            answer.say("w", _some(parts["w"]), **parts)
            answer.say("b", _some(b if isinstance(b, list) else [b]))
    elif found.separable is False:
        answer.say("conflict", f"{named}: without any one of these, the others agree")
        _tell_removal(answer, found, stage)
    answer.say("q̄", _some(weights))


def _classifier(found: Margin) -> dict[str, Any]:
    """w and b of separable data, as lists and numbers."""
    b = getattr(found, "b", 0.0)
    return {"w": found.w.tolist(), "b": b if isinstance(b, float) else b.tolist()}


def _write_classifier(found: Margin, path: Path) -> None:
    """w, b, support, q and gamma as an .npz file; w and b are empty if nothing separates."""
    import numpy as np

    parts = _classifier(found) if found.separable else {"w": [], "b": []}
    arrays: dict[str, Any] = {name: np.asarray(v, dtype=np.float64) for name, v in parts.items()}
    arrays |= {"support": found.support, "gamma": np.array([found.gamma_lo, found.gamma_hi])}
    arrays["q"] = np.array([v / found.total for v in found.numerators])
    with whole(path, "wb") as stream:
        np.savez(stream, **arrays)


def _named(problem: Problem, rows: list[int]) -> str:
    """Rows by their lines in the file, or by their numbers from 0."""
    lines = _file_lines(problem, rows)
    what, items = ("rows (from 0)", rows) if lines is None else ("lines", lines)
    return f"{what} {_some(items, '')} ({len(items)})"


def _file_lines(problem: Problem, rows: list[int]) -> list[int] | None:
    """Lines of a text file, counted from 1; None for other data."""
    source = problem.source
    if source is None or source.lines is None:
        return None
    per_point = problem.n // len(source.lines)  # several classes: k − 1 rows for each point
    return [int(source.lines[i // per_point]) for i in rows]


def _tell_removal(answer: _Answer, found: Margin, stage: Stage) -> None:
    """Rows without which the data are separable."""
    from gammabar.oracle.conflicts import smallest_removal

    truth = getattr(found, "truth", found)
    if not isinstance(truth, Truth):
        return
    try:
        removal = smallest_removal(truth, progress=stage)
    except ProblemError:  # kernels and several classes
        return
    words = f"at least {removal.least} rows; no small set was found"
    if removal.rows is not None:
        bound = "the fewest" if removal.smallest else f"at least {removal.least} have to go"
        words = f"{_named(truth.problem, removal.rows)}: then the data are separable; {bound}"
    lines = _file_lines(truth.problem, removal.rows or [])
    fields = {"removal": removal.rows, "removal_least": removal.least, "removal_lines": lines}
    answer.say("to remove", words, **fields)


def _some(values: list[Any], what: str = " numbers") -> str:
    """The first values of a list; of numbers that are not shown, how many there are."""
    shown = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in values[:_SHOWN]]
    count = f" ({len(values)}{what})" if what else ""
    return ", ".join(shown) + (f", …{count}" if len(values) > _SHOWN else "")


#: What each kind means for the estimate.
_MEANING = {
    "complete": "complete separation: the maximum-likelihood estimate does not exist",
    "quasi-complete": "quasi-complete separation: the maximum-likelihood estimate does not exist",
    "overlap": "overlap: the maximum-likelihood estimate exists",
}


def _separation(answer: _Answer, o: Any) -> None:
    """Whether the data are separated completely, quasi-completely, or overlap.

    Logistic and probit regression have no finite maximum-likelihood estimate if some direction of
    the coefficients puts no row on the wrong side and at least one strictly on its own side
    (Albert and Anderson 1984).
    """
    from gammabar.oracle.separation import separation

    with stages(quiet=o.json) as stage:
        stage(f"reading {answer.data}")
        problem = problems.load(answer.data, **picked(o, OF_READING))
        intercept = o.intercept != "none"
        found = separation(problem, intercept=intercept, time_limit=o.time_limit, progress=stage)
        _tell_separation(answer, found)
        answer.notes(problem)
        answer.save(found, o.certificate)


def _tell_separation(answer: _Answer, found: Separation) -> None:
    n, d = found.problem.n, int(found.problem.plain.X.shape[1])
    with_ = "with intercept" if found.intercept else "without intercept"
    boundary, kind = found.boundary.tolist(), found.kind
    answer.say("model", f"{n:,} rows × {d:,}, {with_}", n=n, d=d, intercept=found.intercept)
    answer.say("verdict", _MEANING[kind], kind=kind, estimate_exists=found.estimate_exists)
    if kind == "quasi-complete":
        answer.say("boundary", f"{_some(boundary, '')} ({len(boundary)} rows)")
    if kind == "complete" and len(found.unidentified) == found.problem.dimension:
        none = "no coefficient has a finite one, and the rows identify none by itself"
        answer.say("estimate", none)
    else:
        if kind != "overlap":
            answer.say("diverging", _columns(found.diverging, d))
        if found.unidentified:
            answer.say("unidentified", _columns(found.unidentified, d))
    answer.say("time", f"{found.seconds:.3g} s", seconds=round(found.seconds, 6))
    answer.fields |= {"boundary": boundary, "diverging": found.diverging}
    answer.fields |= {"unidentified": found.unidentified}
    answer.fields["direction"] = [str(v) for v in found.direction]


def _columns(columns: list[int], d: int) -> str:
    names = [f"{j}" if j < d else "intercept" for j in columns]
    return f"coefficients of columns {_some(names, '')} ({len(columns)}, counted from 0)"
