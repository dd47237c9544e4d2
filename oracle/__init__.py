"""The truth about a problem: its margins, dual weights, and certificates that anyone can check.

Solvers, CVXPY's included, are never trusted here; certificates are (see CERTIFICATE.md). Floats
propose and reject what is far from the margin by a proved bound; integers and balls decide.

=================  ==============================================================================
`maximum_margin`   `solve`: every margin, by geometry and norm
`result`           what it returns: `Truth` (ℓ₂), `L1Margin` and `NegativeMargin`; square roots
`certificate`      the sections of a certificate, and how it is written
`check`            the independent checker: standard library, and nothing of this project
`candidate`        untrusted: a working-set method in doubles, and its scans
`narrow`           the same for margins that a Gram matrix of doubles does not show
`proof`            the minimum-norm point, proved, from whatever candidate
`rational`         exact inner products for each geometry, behind a filter in doubles
`linear_algebra`   over the integers: pivots, null spaces, coordinates
`one_vs_one`       all pairs of many classes on one Gram matrix
`enclosure`        bounds in ball arithmetic where γ̄² is not rational (RBF, normalised)
`l1`               the ℓ₁ margins: the value of a matrix game
`signed`           the negative margin of data that cannot be separated
`conflicts`        why data cannot be separated: rows in conflict, and how many have to go
`separation`       complete or quasi-complete separation, or overlap, with both proofs
`cvxpy_models`     the margins as CVXPY models: for comparison, and for `method="cvxpy"`
=================  ==============================================================================
"""

from gammabar._stub import attach

# Names are imported when first asked for; `__init__.pyi` says from where.
__getattr__, __dir__, __all__ = attach(__name__, __file__)
