"""The sections of a certificate, and how it is written (see CERTIFICATE.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from gammabar.problems import KernelProblem, MulticlassProblem, Problem, ProblemError
from gammabar.problems.output import write_whole


def _version_for(kind: str, problem: Problem) -> int:
    """The version of a certificate: the first one that has all that it says.

    Version 2 has intercepts, separation, and more kinds of files; version 3 light certificates.
    """
    if kind == "support":
        return 3
    source = problem.plain.source
    newer = kind == "separation" or problem.intercept != "none"
    newer |= source is not None and (bool(source.drop) or source.format in ("npy", "scipy"))
    return 1 + newer


def rational(value: Fraction) -> str:
    """A rational as "numerator/denominator" in hexadecimal."""
    return f"{value.numerator:#x}/{value.denominator:#x}"


def head_section(
    kind: str, problem: Problem, support: Iterable[int], weights: list[int]
) -> dict[str, Any]:
    """What every certificate begins with: the data, and weights of rows as integers."""
    return {
        "format": "gammabar-certificate",
        "version": _version_for(kind, problem),
        "kind": kind,
        "geometry": _geometry(problem),
        "data": _data_section(problem),
        "support": [int(i) for i in support],
        "weights": [f"{v:#x}" for v in weights],
        "total": f"{sum(weights):#x}",
    }


def _geometry(problem: Problem) -> dict[str, Any]:
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


def _data_section(problem: Problem) -> dict[str, Any]:
    """The data section of a certificate: what the data are and how to find them again."""
    problem = problem.plain
    points, d = (int(v) for v in problem.X.shape)
    section: dict[str, Any] = {"name": "arrays", "sha256": problem.digest(), "n": points, "d": d}
    source = problem.source
    if source is None:
        classes = ["-1", "1"]
        if isinstance(problem, MulticlassProblem):
            classes = [str(c) for c in range(problem.k)]
        section |= {"format": "npz", "files": ["data.npz"], "classes": classes}
        return section | {"arrays": ["X", "y"]}
    section |= {"name": source.name, "format": source.format}
    section |= {"files": list(source.files), "classes": list(source.classes)}
    if source.label is not None:
        section["label"] = source.label
    for name in ("drop", "arrays", "rows"):
        value = getattr(source, name)
        if value is not None and (name != "drop" or value):
            section[name] = list(value)
    return section


def write_certificate(certificate: dict[str, Any], path: str | Path) -> None:
    """Write JSON, so that no half certificate ever remains."""
    target = Path(path)
    if "\0" in str(target) or not target.name or target.name == "..":
        raise ProblemError(f"{str(path)!r} is not the name of a file to write a certificate to")
    write_whole(target, json.dumps(certificate, indent=1) + "\n")
