"""``gammabar oracle DATA``: the exact maximum margin."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from gammabar.harness.cli import DATA_HELP
from gammabar.harness.screen.output import print_json, stages

if TYPE_CHECKING:
    from gammabar.oracle.truth import Truth
    from gammabar.problems import Problem

NORMS = ("l2", "l1", "l1-simplex")


@click.command("oracle", epilog=DATA_HELP)
@click.argument("data")
@click.option("--label", metavar="NAME", help="Label column of a CSV file: name or number from 0.")
@click.option("--kernel", metavar="KERNEL", help="rbf:gamma=0.1 | poly:degree=2,coef0=1 | linear")
@click.option("--normalised", is_flag=True, help="Divide kernel rows by √K(x,x) (Ramdas–Peña §3).")
@click.option("--multiclass", is_flag=True, help="All classes (Ji–Srebro–Telgarsky §5.2).")
@click.option(
    "--norm",
    type=click.Choice(NORMS),
    default="l2",
    show_default=True,
    help="l1: ‖w‖₁ ≤ 1 (boosting); l1-simplex: w ≥ 0 as well (Winnow).",
)
@click.option(
    "--method",
    type=click.Choice(("exact", "cvxpy")),
    default="exact",
    show_default=True,
    help="Who proposes the candidate; both are proved.",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 100_000),
    default=17,
    show_default=True,
    help="Significant digits of γ̄, each proved.",
)
@click.option(
    "--signed",
    is_flag=True,
    help="For inseparable data: the negative margin ρ of Ramdas–Peña §5.2.",
)
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the certificate, for `gammabar check`.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    data: str,
    label: str | None,
    kernel: str | None,
    normalised: bool,
    multiclass: bool,
    norm: str,
    method: str,
    digits: int,
    signed: bool,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Maximum margin γ̄ and dual optimum q̄ of DATA, in exact rational arithmetic.

    A candidate found in floating point is proved optimal (or repaired until it is) with
    integers; γ̄ is given with the rows divided by the largest row norm, as in the papers,
    and in the data's own units.
    """
    if norm != "l2" and (kernel or normalised or multiclass):
        raise click.UsageError(f"--norm {norm} is for linear two-class problems")
    if normalised and not kernel:
        raise click.UsageError("--normalised needs --kernel")
    if kernel and multiclass:
        raise click.UsageError("--kernel and --multiclass cannot be combined")
    from gammabar.problems import load

    with stages(quiet=as_json) as stage:
        stage(f"reading {data}")
        problem = load(
            data, label=label, kernel=kernel, normalised=normalised, multiclass=multiclass
        )
        if norm != "l2":
            answer, lines = _l1(problem, norm, digits, certificate)
        else:
            answer, lines = _l2(problem, method, digits, signed, certificate, stage)
    answer = {"data": data, **answer}
    if as_json:
        print_json(answer)
    else:
        _show(data, lines)


def _l2(
    problem: Problem,
    method: str,
    digits: int,
    signed: bool,
    certificate: Path | None,
    stage: Any,
) -> tuple[dict[str, Any], dict[str, str]]:
    from gammabar.oracle import solve

    truth = solve(problem, method=method, digits=digits, progress=stage)
    seconds = sum(truth.seconds.values())
    answer = describe(truth, digits) | {"seconds": round(seconds, 6)}
    lines = _lines(truth, answer)
    if signed:
        rho, words = _signed(truth)
        answer |= rho
        lines["signed margin ρ"] = words
    if certificate:
        stage("writing the certificate")
        truth.save(certificate)
        answer["certificate"] = str(certificate)
        lines["certificate"] = f"{certificate} (check it: gammabar check {certificate})"
    return answer, lines


def describe(truth: Truth, digits: int = 17) -> dict[str, Any]:
    """The JSON fields of an answer."""
    from gammabar.oracle.truth import rational

    square = truth.gamma_squared
    return {
        "n": truth.problem.n,
        "d": int(truth.problem.X.shape[1]),
        "separable": truth.separable,
        "gamma": truth.digits(digits),
        "gamma_raw": truth.digits(digits, raw=True),
        "gamma_lo": truth.gamma_lo,
        "gamma_hi": truth.gamma_hi,
        "gamma_squared": None if square is None else rational(square),
        "radius": truth.radius_digits(digits),
        "exact": truth.exact,
        "support_size": len(truth.support),
        "method": truth.method,
        "rounds": truth.rounds,
        "note": truth.note,
    }


def _lines(truth: Truth, answer: dict[str, Any]) -> dict[str, str]:
    size = f"{answer['n']:,} rows × {answer['d']:,}"
    verdict = {True: "separable", False: "not separable", None: "undecided: γ̄ may be 0"}
    lines = {"problem": size, "verdict": verdict[truth.separable]}
    if truth.separable is not False:
        lines["γ̄"] = answer["gamma"] + "…" * (not _ends(answer["gamma"], truth))
        lines["γ̄ in data units"] = answer["gamma_raw"]
        lines["enclosure"] = f"[{truth.gamma_lo!r}, {truth.gamma_hi!r}]"
    if truth.exact and truth.separable:
        assert truth.gamma_squared is not None
        bits = truth.gamma_squared.denominator.bit_length()
        lines["proved"] = (
            "γ̄² is an integer, in data units"
            if bits == 1
            else (f"γ̄² is a rational number with a denominator of {bits:,} bits")
        )
    elif truth.exact:
        lines["proved"] = "Aᵀq̄ = 0 for exact weights q̄ on the simplex (Gordan)"
    else:
        lines["proved"] = "enclosure by interval arithmetic; γ̄² is not rational here"
    if truth.note:
        lines["proved"] += f", {truth.note}"
    lines["support"] = f"{answer['support_size']} rows"
    rounds = f"{truth.rounds} exact round{'s' * (truth.rounds != 1)}"
    parts = ", ".join(f"{name} {value:.3g} s" for name, value in truth.seconds.items())
    lines["time"] = f"{answer['seconds']:.3g} s ({parts}; {rounds})"
    return lines


def _ends(text: str, truth: Truth) -> bool:
    """Whether the decimal expansion shown is the whole number."""
    lo, hi = truth.unit_squares
    return lo == hi == Fraction(text) ** 2


def _signed(truth: Truth) -> tuple[dict[str, Any], str]:
    from gammabar.oracle.decimals import sqrt_digits
    from gammabar.oracle.rational import integer_matrix
    from gammabar.oracle.signed import signed_margin

    if truth.separable:
        return {"rho": truth.digits(raw=True), "rho_exact": truth.exact}, "ρ = γ̄ > 0 (separable)"
    rows, scale = integer_matrix(truth.problem)
    found = signed_margin(rows, scale, [int(i) for i in truth.support])
    low, high = (sqrt_digits(v, 17) for v in (found.rho_squared_hi, found.rho_squared_lo))
    answer = {"rho_lo": _negative(low), "rho_hi": _negative(high), "rho_exact": found.exact}
    shown = answer["rho_lo"] if found.exact else f"in [{answer['rho_lo']}, {answer['rho_hi']}]"
    why = found.statement.partition(": ")[2]  # what precedes it repeats the number
    return answer | {"rho_statement": found.statement}, f"{shown}: {why}"


def _negative(digits: str) -> str:
    return digits if digits == "0" else f"-{digits}"


def _l1(
    problem: Problem, norm: str, digits: int, certificate: Path | None
) -> tuple[dict[str, Any], dict[str, str]]:
    from gammabar.oracle.decimals import float_bounds, signed_digits
    from gammabar.oracle.l1 import solve_l1
    from gammabar.oracle.rational import integer_matrix
    from gammabar.oracle.truth import FORMAT, VERSION, data_section, geometry, write_certificate

    rows, scale = integer_matrix(problem)
    start = perf_counter()
    found = solve_l1(rows, scale, signed=norm == "l1")
    seconds = perf_counter() - start
    radius = found.radius or Fraction(1)
    lo, hi = found.value_lo / radius, found.value_hi / radius
    bounds = float_bounds(lo, hi)
    answer: dict[str, Any] = {
        "n": problem.n,
        "norm": norm,
        "separable": found.separable,
        "gamma": signed_digits(lo, hi, digits),
        "gamma_raw": signed_digits(found.value_lo, found.value_hi, digits),
        "gamma_lo": bounds[0],
        "gamma_hi": bounds[1],
        "exact": found.exact,
        "support_size": len(found.q.support),
        "seconds": round(seconds, 6),
    }
    lines = {
        "problem": f"{problem.n:,} rows, {norm} margin",
        "γ": f"{answer['gamma']} (rows divided by the largest entry)",
        "γ in data units": answer["gamma_raw"],
        "proved": "equal primal and dual value, exactly" if found.exact else "rational bounds",
        "time": f"{seconds:.3g} s",
    }
    if certificate:
        body = {
            "format": FORMAT,
            "version": VERSION,
            "kind": "l1-margin",
            "geometry": geometry(problem),
            "data": data_section(problem),
        }
        write_certificate(body | found.certificate_fields(), certificate)
        answer["certificate"] = str(certificate)
        lines["certificate"] = str(certificate)
    return answer, lines


def _show(title: str, lines: dict[str, str]) -> None:
    from rich.cells import cell_len  # the macron of γ̄ has no width of its own
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(title, style="bold"))
    width = max(map(cell_len, lines))
    for name, text in lines.items():
        label = f"  {name}{' ' * (width - cell_len(name))}  "
        console.print(Text(label, style="dim"), Text(text), sep="", soft_wrap=True)
