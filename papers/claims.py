"""Words for writing papers: numbers, relations, statements and what they speak about.

`Claims` declares the statements of a paper::

    mine = Claims("mine", unit=True)
    ALG1 = Method("dual-acceleration", assumes=(full_step,))

    @mine.bound("thm1", "Theorem 1", ALG1, separable, since=1)
    def rate(it, case):
        r\"\"\"γ(w_t) ≥ γ̄ − 3 ln n/(γ̄ t²) for all t ≥ 1.

        $\\gamma(w_t) \\ge \\bar\\gamma - \\frac{3\\ln n}{\\bar\\gamma t^2}$

        What a reader should know: a proof, a misprint, a reading.\"\"\"
        return at_most(case.gamma - it.margin, 3 * case.log_n / (case.gamma * it.t**2))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gammabar.harness.paper import Family as Family, Mutant as Mutant, Paper as Paper, Rng as Rng
from gammabar.harness.verify.certified import (
    Floats as Floats,
    LinearSpace as LinearSpace,
    Space as Space,
    TooLarge as TooLarge,
    Vec as Vec,
    scaled as scaled,
    space_of as space_of,
    weighted_sum as weighted_sum,
)
from gammabar.harness.verify.combinations import (
    carried as carried,
    claimed_weights as claimed_weights,
    combined_norm as combined_norm,
    combined_square as combined_square,
    combined_vector as combined_vector,
    ended as ended,
    is_distribution as is_distribution,
    lengths as lengths,
    lowest as lowest,
    lowest_known as lowest_known,
    product_terms as product_terms,
    represents as represents,
    same_number as same_number,
    same_point as same_point,
    same_weights as same_weights,
    slack as slack,
    stands_for as stands_for,
    summands as summands,
    tied as tied,
    told_apart as told_apart,
    weights_of as weights_of,
    went_on as went_on,
)
from gammabar.harness.verify.context import (
    Case as Case,
    Trial as Trial,
    positive as positive,
    steered as steered,
)
from gammabar.harness.verify.identities import (
    Logistic as Logistic,
    ScoreVec as ScoreVec,
    carried_scores as carried_scores,
    claimed_pull as claimed_pull,
    claimed_vector as claimed_vector,
    constant as constant,
    follows as follows,
    gram_rounding as gram_rounding,
    in_simplex as in_simplex,
    log_rounding as log_rounding,
    log_softmax as log_softmax,
    moved as moved,
    nearly_after as nearly_after,
    pull_of as pull_of,
    pull_sums as pull_sums,
    roundoff as roundoff,
    row_of as row_of,
    row_vector as row_vector,
    same as same,
    same_masses as same_masses,
    same_softmax as same_softmax,
    score_drift as score_drift,
    scores_of as scores_of,
    softmax_of as softmax_of,
    softmax_rounding as softmax_rounding,
    softmax_vector as softmax_vector,
    told as told,
    zero as zero,
)
from gammabar.harness.verify.iterate import (
    Fault as Fault,
    NotFinite as NotFinite,
    Unclaimed as Unclaimed,
    View as View,
    claimed_entries as claimed_entries,
    claimed_number as claimed_number,
    claimed_numbers as claimed_numbers,
    claimed_row as claimed_row,
    delivered as delivered,
    taken_run as taken_run,
    taken_vector as taken_vector,
)
from gammabar.harness.verify.losses import (
    EXPONENTIAL as EXPONENTIAL,
    LOGISTIC as LOGISTIC,
    GeneralisedSum as GeneralisedSum,
    Loss as Loss,
    Polynomial as Polynomial,
)
from gammabar.harness.verify.numbers import (
    COARSE as COARSE,
    HELD as HELD,
    LEVELS as LEVELS,
    ROUNDOFF as ROUNDOFF,
    SAFETY as SAFETY,
    TINY as TINY,
    Number as Number,
    Relation as Relation,
    Trit as Trit,
    any_of as any_of,
    at_least as at_least,
    at_most as at_most,
    ball as ball,
    below as below,
    between as between,
    equal as equal,
    exp as exp,
    fact as fact,
    known_zero as known_zero,
    log as log,
    middle as middle,
    nearly as nearly,
    number as number,
    precision as precision,
    same_digits as same_digits,
    size_of as size_of,
    smallest as smallest,
    sqrt as sqrt,
    total as total,
    upper as upper,
    within as within,
    working as working,
)
from gammabar.harness.verify.parameters import (
    Entry as Entry,
    choices as choices,
    rationals as rationals,
    wholes as wholes,
)
from gammabar.harness.verify.row_sums import (
    LogisticWeights as LogisticWeights,
    Mask as Mask,
    combination as combination,
    has_coordinates as has_coordinates,
    is_misclassified as is_misclassified,
    least as least,
    misclassified as misclassified,
    per_sum as per_sum,
    square_off as square_off,
    sums_are_exact as sums_are_exact,
)
from gammabar.harness.verify.run_checks import CHANCE as CHANCE
from gammabar.harness.verify.statement import (
    Assumption as Assumption,
    DirectStatement,
    IterateStatement,
    RandomisedStatement,
    Statement as Statement,
    StoppingStatement,
    declare,
    direct as direct,
    has as has,
    inseparable as inseparable,
    option as option,
    per_iterate as per_iterate,
    randomised as randomised,
    separable as separable,
    separates as separates,
    stopping as stopping,
)


@dataclass(frozen=True, init=False)
class Method:
    """The solvers that a claim is about, by their names in the registry, and what it assumes."""

    solvers: tuple[str, ...]
    assumes: tuple[Assumption, ...]

    def __init__(self, *solvers: str, assumes: tuple[Assumption, ...] = ()) -> None:
        object.__setattr__(self, "solvers", solvers)
        object.__setattr__(self, "assumes", assumes)


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """That a claim is false as printed; see `Statement` for the fields.

    Attributes
    ----------
    severity : str
        "substance", "misprint", "edge case" or "transcription".
    fixed_by, charitable, same_mistake : str or None
        Ids in the same paper, without its key.
    """

    severity: str
    why: str
    survives: str
    fixed_by: str | None = None
    charitable: str | None = None
    same_mistake: str | None = None


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

    def sharing(self, **more: Any) -> Claims:
        """The same paper, with further fields that statements share."""
        return Claims(self.key, source=self.source, **(self._shared | more))

    def bound(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """About every iterate: a body ``(it, case)``, or ``(now, before, case)`` from t = 1 on."""
        return self._declare(IterateStatement, identifier, reference, about, given)

    def identity(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """An equation about every iterate."""
        return self.bound(identifier, reference, *about, **({"kind": "identity"} | given))

    def step(self, identifier: str, reference: str, *about: Any, **given: Any) -> Declared:
        """An equation about every step: a body ``(now, before, case)``, None before w_0."""

        def register(body: Any) -> Any:
            named = {"__doc__": body.__doc__, "__module__": body.__module__}
            walk = type(body.__name__, (_Walk,), named | {"body": staticmethod(body)})
            self.identity(identifier, reference, *about, **given)(walk)
            return body

        return register

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
        for one in about:
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
        ids = {name: getattr(erratum, name) for name in ("fixed_by", "charitable", "same_mistake")}
        named = {name: None if one is None else self._id(one) for name, one in ids.items()}
        return {"status": "refuted"} | vars(erratum) | named

    def _id(self, identifier: str) -> str:
        return identifier if identifier.startswith(self.key + ".") else f"{self.key}.{identifier}"


Declared = Callable[[Any], Any]


class _Walk:
    """A claim about w_t and w_{t−1}, and about w_0."""

    body: Any

    def __init__(self, case: Case) -> None:
        self._case = case
        self._before: Any = None
        self._now: Any = None

    def update(self, it: View) -> None:
        it.keep()
        self._before, self._now = self._now, it

    def claim(self, it: View) -> Any:
        before = self._before
        if before is not None and it.level:
            before = before.at(it.level)
        return self.body(it, before, self._case)
