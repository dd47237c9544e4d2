"""The algorithms of the papers, as iterators of iterates.

>>> from itertools import islice
>>> from gammabar.problems import load
>>> from gammabar.solvers import DualAcceleration
>>> problem = load("planted:n=200,d=10,gamma=0.1,seed=0").unit()
>>> [it.t for it in islice(DualAcceleration().iterates(problem), 3)]
[0, 1, 2]
"""

from gammabar._stub import attach

# Names are imported when first asked for; `__init__.pyi` says from where.
__getattr__, __dir__, __all__ = attach(__name__, __file__)
