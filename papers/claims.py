"""Words for writing papers: numbers, relations, statements and what they speak about."""

from __future__ import annotations

from gammabar.harness.paper import Family as Family, Mutant as Mutant, Paper as Paper, Rng as Rng
from gammabar.harness.verify.binomial import CHANCE as CHANCE
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
from gammabar.harness.verify.context import (
    Case as Case,
    Trial as Trial,
    positive as positive,
    steered as steered,
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
from gammabar.harness.verify.numbers import (
    LEVELS as LEVELS,
    ROUNDOFF as ROUNDOFF,
    SAFETY as SAFETY,
    TINY as TINY,
    Number as Number,
    Trit as Trit,
    ball as ball,
    between as between,
    exp as exp,
    known_zero as known_zero,
    log as log,
    middle as middle,
    number as number,
    precision as precision,
    smallest as smallest,
    sqrt as sqrt,
    total as total,
    upper as upper,
    working as working,
)
from gammabar.harness.verify.parameters import (
    Entry as Entry,
    choices as choices,
    rationals as rationals,
    wholes as wholes,
)
from gammabar.harness.verify.relation import (
    COARSE as COARSE,
    HELD as HELD,
    Relation as Relation,
    any_of as any_of,
    at_least as at_least,
    at_most as at_most,
    below as below,
    equal as equal,
    fact as fact,
    nearly as nearly,
    same_digits as same_digits,
    size_of as size_of,
    within as within,
)
from gammabar.harness.verify.statement import (
    Assumption as Assumption,
    Statement as Statement,
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
