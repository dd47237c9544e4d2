"""Everything about one thing: a statement, a solver, a problem, a mutant or an artefact."""

from __future__ import annotations

import inspect
import math
import re
import shlex
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import gammabar
from gammabar.harness.registry import (
    artefacts,
    everything,
    matrix,
    measured,
    mutants,
    open_plugin,
    opened_from,
    papers,
    witness,
)
from gammabar.harness.report.model import described
from gammabar.harness.run.tasks import Result
from gammabar.harness.show import reproduce
from gammabar.harness.verify.statement import Statement
from gammabar.harness.verify.verdict import Ruling, worth
from gammabar.problems import ProblemError
from gammabar.problems.datasets import DATASETS, is_here
from gammabar.problems.specs import catalogue, open_problem
from gammabar.problems.suggest import did_you_mean
from gammabar.solvers.base import SOLVERS, solver

_Facts = dict[str, Any]
#: What is said of a comparison with the source.
_MARKS = {True: "agrees", False: "does not agree", None: "open"}


def about(name: str, results: Callable[[str], list[Result]]) -> _Facts:
    """The facts about a statement, artefact, solver, mutant or problem (as DATA), by its name.

    `results` returns what was found about a statement. An unknown name gets a suggestion.
    """
    open_plugin(name)
    if name in everything():
        return _statement_facts(everything()[name], results(name))
    if name in SOLVERS:
        return solver_facts(name)
    if name in mutants():
        return _mutant_facts(name)
    if name in artefacts():
        return _artefact_facts(name)
    return _problem_or_nothing(name)


def _statement_facts(statement: Statement, results: list[Result]) -> _Facts:
    """What is claimed, assumed, found and proved."""
    paper = papers().get(statement.source)
    proof = witness(statement.id)
    killed = {
        name: kills[statement.id] for name, kills in matrix().items() if statement.id in kills
    }
    refuted = next((r for r in results if r.verdict.verdict == Ruling.REFUTED), None)
    known = [result for result in results if _ratio(result) is not None]
    best = max(known, key=lambda result: _ratio(result) or 0.0, default=None)
    return {
        "kind": "statement",
        "id": statement.id,
        "source": str(paper) if paper is not None else statement.source,
        **_taken(statement, "reference claim words"),
        "assumptions": [text for met in statement.assumes if (text := described(met))],
        "unit": statement.unit,
        "solvers": list(statement.solvers),
        **_taken(statement, "status severity why fixed_by charitable survives"),
        "witness": None if proof is None else str(_short(proof)),
        "check": None if proof is None else shlex.join(["gammabar", "check", statement.id]),
        **_taken(statement, "note instances powerless at_rest slower"),
        "kills": killed,
        "where": _place_of(statement.body),
        "verdicts": [_verdict(result) for result in results],
        "tightest": None if best is None else _verdict(best),
        "reproduce": _command(statement, refuted or best or next(iter(results), None)),
    }


def _taken(thing: Any, names: str) -> _Facts:
    """Attributes by their names, with spaces between them."""
    return {name: getattr(thing, name) for name in names.split()}


def _command(statement: Statement, result: Result | None) -> str:
    if result is not None:
        return reproduce(result)
    paper = opened_from(statement.source)
    brought = [] if paper is None else ["--paper", paper]
    return shlex.join(["gammabar", "verify", *brought, "--statement", statement.id])


def _verdict(result: Result) -> _Facts:
    verdict = result.verdict
    statement = everything()[verdict.statement]
    return {
        "verdict": verdict.verdict,
        "problem": result.run.problem,
        "solver": result.run.by,
        "tightness": _ratio(result),
        **_taken(verdict, "worst_t checked informative vacuous_to reason"),
        "says": worth(verdict, statement.at_rest or statement.powerless),
    }


def _ratio(result: Result) -> float | None:
    value = result.verdict.tightness
    held = result.verdict.verdict in (Ruling.HOLDS, Ruling.REFUTED)
    return value if held and value is not None and math.isfinite(value) else None


def solver_facts(name: str) -> _Facts:
    """What a solver is, what is claimed of it, and what is made wrong in its mutants."""
    kind = solver(name)
    card = kind.card
    return {
        "kind": "solver",
        "id": name,
        "reference": card.reference,
        "what": re.sub(r" \[\d+\]_", "", (inspect.getdoc(kind) or "").partition("\n")[0]),
        "geometries": list(card.geometries),
        "unit": card.unit_ball,
        "options": {one.name: repr(one.default) for one in fields(kind)},
        "statements": [s.id for s in everything().values() if name in s.solvers],
        "mutants": [m.name for m in mutants().values() if m.solver == name],
        "where": _place_of(kind),
        "reproduce": shlex.join(["gammabar", "verify", "--solver", name]),
    }


def _mutant_facts(name: str) -> _Facts:
    """What is wrong with a wrong solver, and who notices."""
    mutant = mutants()[name]
    made = getattr(mutant.make, "func", mutant.make)
    return {
        "kind": "mutant",
        "id": name,
        "solver": mutant.solver,
        "what": mutant.wrong,
        "equivalent": mutant.equivalent,
        "killed_by": matrix().get(name, {}),
        "where": _place_of(made),
        "reproduce": "gammabar list mutants --matrix FILE",
    }


def _artefact_facts(name: str) -> _Facts:
    """What a figure or table shows, what has to be computed for it, and what that takes."""
    one, took = artefacts()[name], measured().get(name, {})
    paper = papers().get(name.partition(".")[0])
    return {
        "kind": "artefact",
        "id": name,
        "reference": one.reference,
        "source": "" if paper is None else str(paper),
        "what": one.title,
        "parts": list(one.parts(False)),
        "data": list(one.data),
        "missing": [data for data in one.data if not is_here(DATASETS[data])],
        "cost": "" if took else one.cost,
        **{name: took.get(name) for name in ("seconds", "cpu", "memory")},
        "shown": [
            f"{_MARKS[s['agrees']]}: {s['claim']} ({s['found']})" for s in took.get("shown", [])
        ],
        "where": _place_of(one.draw),
        "reproduce": shlex.join(["gammabar", "reproduce", name]),
    }


def _problem_or_nothing(name: str) -> _Facts:
    entries = {entry.name: entry for entry in catalogue() if entry.kind != "file"}
    if name in entries:
        entry = entries[name]
        return {
            "kind": "problem",
            "id": name,
            "what": entry.what,
            "syntax": entry.syntax,
            "options": {option: default for option, default, _ in entry.options},
            "used_by": [
                s.id
                for s in everything().values()
                if name in {text.partition(":")[0] for text in s.problems}
            ],
            "reproduce": f"gammabar oracle {entry.syntax}",
        }
    if name.partition(":")[0] in entries or Path(name).is_file():
        return _problem(name)
    if name in papers():
        raise ProblemError(f"{name} is a source: `gammabar list statements --source {name}`")
    known = [*everything(), *SOLVERS, *mutants(), *artefacts(), *entries]
    hint = did_you_mean(name, known, "see `gammabar list statements`, or solvers, …")
    raise ProblemError(f"nothing is called {name!r} ({hint})")


def _problem(text: str) -> _Facts:
    problem = open_problem(text)
    return {
        "kind": "problem",
        "id": text,
        "rows": problem.n,
        "dimension": int(problem.origin().size),
        "radius": float(problem.radius),
        "digest": problem.digest(),
        "used_by": [s.id for s in everything().values() if text in s.problems],
        "reproduce": shlex.join(["gammabar", "oracle", text]),
    }


def _place_of(body: Any) -> str | None:
    """File and line, as an editor takes them; of what is made while it runs, that of its module."""
    places: tuple[Any, ...] = (inspect.unwrap(body), inspect.getmodule(body))
    for one in places:
        try:
            file, line = inspect.getsourcefile(one), inspect.getsourcelines(one)[1]
        except (TypeError, OSError):
            continue
        if file is not None:
            return f"{_short(Path(file))}:{max(line, 1)}"
    return None


def _short(path: Path) -> Path:
    """From this folder, if it leads there; else as it stands in the project."""
    path = path.resolve()
    for root in (Path.cwd(), Path(gammabar.__file__).resolve().parents[1]):
        if path.is_relative_to(root):
            return path.relative_to(root)
    return path
