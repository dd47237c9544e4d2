"""What is to be separated: geometries, data sets, generators and readers.

>>> from gammabar.problems import from_arrays
>>> problem = from_arrays([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
>>> problem.n
2
"""

from gammabar._stub import attach

# Names are imported when first asked for; `__init__.pyi` says from where.
__getattr__, __dir__, __all__ = attach(__name__, __file__)
