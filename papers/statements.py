"""How a paper declares its statements: `Claims`, the method that they are about, and errata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gammabar.harness.verify.statement import (
    Assumption,
    DirectStatement,
    IterateStatement,
    RandomisedStatement,
    Statement,
    StoppingStatement,
    declare,
)


@dataclass(frozen=True, init=False)
class Method:
    """The solvers that a claim is about, by their names in the registry, and what it assumes."""

    solvers: tuple[str, ...]
    assumes: tuple[Assumption, ...]

    def __init__(self, *solvers: str, assumes: tuple[Assumption, ...] = ()) -> None:
        object.__setattr__(self, "solvers", solvers)
        object.__setattr__(self, "assumes", assumes)


@dataclass(frozen=True)
class Erratum:
    """That a claim is false as printed; see `Statement` for the fields.

    Attributes
    ----------
    severity : str
        "substance", "misprint", "edge case" or "transcription".
    fixed_by, charitable, same_mistake : str or None
        Ids in the same paper, without its key. Unless it is of substance, the charitable reading is
        the fixed form by default.
    why, survives : str
        Here, or paragraphs "Why: …" and "Survives: …" of the docstring.
    """

    severity: str
    fixed_by: str | None = None
    charitable: str | None = None
    same_mistake: str | None = None
    why: str = ""
    survives: str = ""


class Claims:
    """The statements of one paper.

    Parameters
    ----------
    key : str
        That of the paper: what its ids begin with.
    source : str
        The paper, as references begin.
    **shared
        Fields that all statements have which do not say otherwise.

    Notes
    -----
    Decorators take the id (without the key), the reference, and then in any order what the claim is
    about: a `Method`, assumptions, an `Erratum`, and classes of sequences that it needs from t = 0
    on (``history``). Other fields of `Statement` are given by name; words, LaTeX and note are those
    of the docstring. One body may have several decorators.
    """

    def __init__(self, key: str, *, source: str = "", **shared: Any) -> None:
        self.key, self.source, self._shared = key, source, shared
        self._about: tuple[Any, ...] = ()

    def sharing(self, *about: Any, **more: Any) -> Claims:
        """The same paper, with a method, assumptions or other fields that statements share."""
        shared = Claims(self.key, source=self.source, **(self._shared | more))
        shared._about = self._about + about
        return shared

    def bound(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """About every iterate: a body ``(it, case)``, or ``(now, before, case)`` from t = 1 on."""
        return self._declare(IterateStatement, identifier, reference, about, given)

    def identity(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """An equation about every iterate."""
        return self.bound(identifier, reference, *about, **({"kind": "identity"} | given))

    def step(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """An equation about every step: a body ``(now, before, case)``, None before w_0."""
        return self.identity(identifier, reference, *about, starts=True, **given)

    def stopping(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """A goal is reached at some t ≤ limit: a body ``(case)`` that returns the limit."""
        return self._declare(StoppingStatement, identifier, reference, about, given)

    def direct(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """About a problem, or about data that it brings itself, the default: ``(case)``."""
        given = {"problems": self._shared.get("problems", ("",))} | given
        return self._declare(DirectStatement, identifier, reference, about, given)

    def probability(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """Holds with probability 1 − δ: ``(case, rng)`` or ``(case, rng, delta)``, one run."""
        return self._declare(RandomisedStatement, identifier, reference, about, given)

    def _declare(
        self,
        kind: type[Statement],
        identifier: str,
        reference: str,
        about: tuple[Any, ...],
        given: dict[str, Any],
    ) -> Declared:
        reference = f"{self.source}, {reference}" if self.source else reference
        fields: dict[str, Any] = {"solvers": (), "assumes": (), "reference": reference}
        for one in self._about + about:
            if isinstance(one, Method):
                fields["solvers"] += one.solvers
                fields["assumes"] += one.assumes
            elif isinstance(one, Erratum):
                fields |= self._false(one)
            elif isinstance(one, type):
                fields["history"] = (*fields.get("history", ()), one)
            else:
                fields["assumes"] += (one,)
        return declare(kind, self._id(identifier), **(self._shared | fields | given))

    def _false(self, erratum: Erratum) -> dict[str, Any]:
        said = {"status": "refuted"} | {name: text for name, text in vars(erratum).items() if text}
        if erratum.severity != "substance" and erratum.fixed_by is not None:
            said.setdefault("charitable", erratum.fixed_by)
        ids = {"fixed_by", "charitable", "same_mistake"} & said.keys()
        return said | {name: self._id(said[name]) for name in ids}

    def _id(self, identifier: str) -> str:
        return identifier if identifier.startswith(self.key + ".") else f"{self.key}.{identifier}"


Declared = Callable[[Any], Any]
