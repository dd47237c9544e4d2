"""Does your solver obey the theorem? A verdict with proof, at every iterate.

>>> import gammabar as gb
>>> problem = gb.from_arrays([[1.0, 2.0], [2.0, -1.0]], ["a", "b"])
>>> gb.solve(problem).gamma_squared
Fraction(5, 2)

========================== =====================================================================
``load``                   the problem that a text names: "mnist:0,1", "data.csv", a generator
``from_arrays``            a problem of one's own: arrays, sparse matrices, kernels, many classes
``from_dask``              the same of a Dask array, whose chunks stay where they are
``solve``                  the maximum margin of a problem, exact and proved; ``.save`` certifies
``separation``             complete, quasi-complete or overlap: does the MLE exist? exact, proved
``check``                  is a certificate or a witness right? asks the independent checkers
``verify``                 verdicts about a solver on a problem, in this process
``Recorder``               ``record(w)`` in a training loop; ``verify`` judges what it kept
``solvers``                the algorithms of the papers: ``gb.solvers.DualAcceleration()``
``papers``                 what the papers claim, and the words to state a theorem of one's own
``MaxMarginClassifier``    the exact maximum-margin classifier, as a scikit-learn estimator
``Problem``, ``Truth``     what ``load`` and ``solve`` return
``ProblemError``           what bad input raises: one sentence that says where and what to do
``Rejected``               what ``check`` raises if the checker says no, and why it does
========================== =====================================================================

The command is ``gammabar``, or ``python -m gammabar``.
"""

from gammabar._stub import attach

# Names are imported when first asked for; `__init__.pyi` says from where.
_attribute, _, _names = attach(__name__, __file__)
__all__ = [*_names, "__version__"]


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version

        return version("gammabar")
    return _attribute(name)


def __dir__():
    return __all__
