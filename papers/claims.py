"""Words for writing papers: numbers, relations, statements and what they speak about."""

from gammabar._stub import attach

# Names are imported when first asked for; `claims.pyi` says from where.
__getattr__, __dir__, __all__ = attach(__name__, __file__)
