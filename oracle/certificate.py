"""The sections of a certificate, and how it is written (see CERTIFICATE.md)."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.problems import KernelProblem, MulticlassProblem, Problem, ProblemError
from gammabar.problems.output import write_whole

FORMAT = "gammabar-certificate"
#: Version 2 has intercepts, separation, and more kinds of files; version 3 has light certificates.
#: What can be said in version 1 is said in it.
VERSION = 1


def version_for(kind: str, problem: Problem) -> int:
    """The version of a certificate of this kind about this problem."""
    if kind == "support":
        return 3
    source = problem.plain.source
    newer = kind == "separation" or problem.intercept != "none"
    newer |= source is not None and (bool(source.drop) or source.format in ("npy", "scipy"))
    return VERSION + newer


def rational(value: Fraction) -> str:
    """A rational as "numerator/denominator" in hexadecimal."""
    return f"{value.numerator:#x}/{value.denominator:#x}"


def weights_section(
    support: NDArray[np.int64], numerators: list[int], total: int
) -> dict[str, Any]:
    """Dual weights as in the certificate: integers with their sum."""
    return {
        "support": [int(i) for i in support],
        "weights": [f"{v:#x}" for v in numerators],
        "total": f"{total:#x}",
    }


def geometry(problem: Problem) -> dict[str, Any]:
    """The geometry section of a certificate; an intercept belongs to it."""
    section = _space(problem)
    return section if problem.intercept == "none" else section | {"intercept": problem.intercept}


def _space(problem: Problem) -> dict[str, Any]:
    if isinstance(problem, MulticlassProblem):
        return {"type": "multiclass", "classes": problem.k}
    if not isinstance(problem, KernelProblem):
        return {"type": "linear"}
    kernel: dict[str, Any] = {"name": problem.kernel.name}
    if kernel["name"] in ("poly", "rbf"):
        kernel["gamma"] = rational(Fraction(problem.kernel.gamma))
    if kernel["name"] == "poly":
        kernel["degree"] = problem.kernel.degree
        kernel["coef0"] = rational(Fraction(problem.kernel.coef0))
    if kernel["name"] == "network":
        kernel |= {"width": problem.kernel.width, "seed": problem.kernel.seed}
    return {"type": "kernel", "kernel": kernel, "normalised": problem.normalised}


def data_section(problem: Problem) -> dict[str, Any]:
    """The data section of a certificate: what the data are and how to find them again."""
    problem = problem.plain
    points, d = (int(v) for v in problem.X.shape)
    section: dict[str, Any] = {"sha256": problem.digest(), "n": points, "d": d}
    source = problem.source
    if source is None:
        classes = ["-1", "1"]
        if isinstance(problem, MulticlassProblem):
            classes = [str(c) for c in range(problem.k)]
        return {
            "name": "arrays",
            **section,
            "format": "npz",
            "files": ["data.npz"],
            "classes": classes,
            "arrays": ["X", "y"],
        }
    section |= {
        "name": source.name,
        "format": source.format,
        "files": list(source.files),
        "classes": list(source.classes),
    }
    optional = {
        "label": source.label,
        "drop": source.drop or None,
        "arrays": source.arrays,
        "rows": source.rows,
    }
    return section | {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in optional.items()
        if value is not None
    }


def write_certificate(certificate: dict[str, Any], path: str | Path) -> None:
    """Write JSON, so that no half certificate ever remains."""
    target = Path(path)
    if "\0" in str(target) or not target.name or target.name == "..":
        raise ProblemError(f"{str(path)!r} is not the name of a file to write a certificate to")
    write_whole(target, json.dumps(certificate, indent=1) + "\n")
