"""What is run at once, and what comes of it; both travel between processes as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from gammabar.harness.library.reference import PaperRef
from gammabar.harness.run.solver_ref import SolverRef, reference
from gammabar.harness.verify.parameters import PREFIX
from gammabar.harness.verify.verdict import Ruling, Verdict

#: Seconds that a trajectory may take, unless the user says otherwise.
TIME_LIMIT = 300.0


@dataclass(frozen=True)
class Run:
    """One run of one solver on one problem.

    Attributes
    ----------
    problem : str
        As `gammabar.harness.run.texts.open_problem` takes it; "" for a statement that brings its
        own data.
    solver : SolverRef or None
        None if there is none, or the statement takes one by itself.
    iterations, seed : int
        See `gammabar.harness.verify.context.Trial`.
    unit : bool
        Whether rows are divided by their largest norm.
    """

    problem: str = ""
    solver: SolverRef | None = None
    iterations: int = 0
    seed: int = 0
    unit: bool = False

    @property
    def of_inputs(self) -> bool:
        """Whether the problem is a choice of inputs for a statement with data of its own."""
        return self.problem.startswith(PREFIX)

    @property
    def by(self) -> str:
        """The text of the solver; "" if there is none."""
        return "" if self.solver is None else self.solver.text


@dataclass(frozen=True)
class Task:
    """A run that several statements hear, or one statement that needs none.

    Attributes
    ----------
    run : Run
    statements : tuple of str
        Their ids.
    expected : tuple of str
        What is expected of each: "holds", "refuted", "either", "unrefuted" in random trials, or
        "inapplicable" where the data are not on this machine.
    planned : bool
        Whether the plan is ours: then a problem that does not fit the solver is a mistake.
    limit : float
        Seconds that it may take.
    papers : tuple of PaperRef
        Papers of the user, in which the statements are found.
    depends : str
        Hash of further files that the results depend on, see `gammabar.harness.run.keys`.
    """

    run: Run
    statements: tuple[str, ...]
    expected: tuple[str, ...]
    planned: bool = True
    limit: float = TIME_LIMIT
    papers: tuple[PaperRef, ...] = ()
    depends: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON."""
        run, solver = values["run"], values["run"]["solver"]
        found = None if solver is None else reference(solver["text"], solver.get("code"))
        lists = {name: tuple(values[name]) for name in ("statements", "expected")}
        lists["papers"] = tuple(PaperRef.from_dict(paper) for paper in values["papers"])
        return cls(**(values | lists | {"run": Run(**(run | {"solver": found}))}))


@dataclass(frozen=True)
class Outcome:
    """The verdicts of one task, in the order of its statements.

    Attributes
    ----------
    verdicts : tuple of Verdict
    seconds : float
        That it took.
    data : str
        SHA-256 of the canonical form of the data; "" if there are none, or they were not opened.
    """

    verdicts: tuple[Verdict, ...]
    seconds: float
    data: str = ""

    @property
    def failed(self) -> bool:
        """Whether the solver did not do its part: such an outcome is shown, but not kept."""
        return any(verdict.failure for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        verdicts = [v.as_dict() for v in self.verdicts]
        return {"verdicts": verdicts, "seconds": self.seconds, "data": self.data}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON."""
        verdicts = tuple(verdict_from(v) for v in values["verdicts"])
        return cls(verdicts, float(values["seconds"]), values.get("data", ""))

    @classmethod
    def failure(cls, task: Task, failure: str, reason: str, seconds: float = 0.0) -> Self:
        """Nothing is known, because something went wrong."""
        return cls(
            tuple(
                Verdict(s, Ruling.UNDECIDED, reason=reason, failure=failure)
                for s in task.statements
            ),
            seconds,
        )

    @classmethod
    def inapplicable(cls, task: Task, reason: str, seconds: float = 0.0) -> Self:
        """The problem does not fit."""
        return cls(
            tuple(Verdict(s, Ruling.INAPPLICABLE, reason=reason) for s in task.statements), seconds
        )


def verdict_from(values: dict[str, Any]) -> Verdict:
    """A verdict from what `Verdict.as_dict` wrote; what this version does not know is left out."""
    known = {field.name for field in fields(Verdict)}
    return Verdict(**{name: value for name, value in values.items() if name in known})
