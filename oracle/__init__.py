"""The truth about a problem: its margins, dual weights, and certificates that anyone can check.

Solvers, CVXPY's included, are never trusted here; certificates are (see CERTIFICATE.md). Floats
propose and reject what is far from the margin by a proved bound; integers and balls decide.

The front door
    ==================  ==========================================================================
    `answer`            `solve`: every margin, by geometry and norm
    `truth`             what it returns: `Truth` (ℓ₂), `L1Margin` and `NegativeMargin`
    `certificate`       the sections of a certificate, and how it is written
    `check`             the independent checker: standard library, and nothing of this project
    ==================  ==========================================================================

The ℓ₂ margin: γ̄ = min over q in the simplex of ‖Aᵀq‖
    ==================  ==========================================================================
    `candidate`         untrusted: working sets of rows, in doubles; `_wolfe` is its compiled core
    `exact`             the minimum-norm point over the integers, from whatever candidate
    `rational`          exact inner products for each geometry, behind a filter in doubles
    `enclosure`         bounds in ball arithmetic where γ̄² is not rational (RBF, normalised)
    `semidefinite`      is a Gram matrix one? if not, how far is it from one
    ==================  ==========================================================================

The ℓ₁ margins: a matrix game
    ==================  ==========================================================================
    `l1`                the value, proved by a primal and a dual point
    `game`              exact pivoting from a basis that `programme` suggests in doubles
    ==================  ==========================================================================

The negative margin of data that cannot be separated
    ==================  ==========================================================================
    `signed`            the distance of the origin to the nearest facet, or bounds of it
    `facets`            all facets of a hull, proved complete
    `reach`             bounds where they are too many
    ==================  ==========================================================================

Why not, and does the maximum-likelihood estimate exist?
    ==================  ==========================================================================
    `explain`           rows in conflict, and how many have to go
    `separation`        complete or quasi-complete separation, or overlap, with both proofs
    ==================  ==========================================================================

What they share
    ==================  ==========================================================================
    `integers`          data as integers times a power of two; products and norms that cannot wrap
    `scale`             problems at a scale where doubles neither over- nor underflow
    `decimals`          digits that are all right, and doubles that are rounded outwards
    `models`            the margins as CVXPY models: for comparison, and for `method="cvxpy"`
    ==================  ==========================================================================
"""

import lazy_loader

# Names are imported when first asked for; `__init__.pyi` says from where.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
