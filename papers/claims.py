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

from gammabar._stub import attach

# Names are imported when first asked for; `claims.pyi` says from where.
__getattr__, __dir__, __all__ = attach(__name__, __file__)
