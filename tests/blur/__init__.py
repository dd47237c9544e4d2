"""The court with a blurred eye: with larger error bounds no wrong solver passes.

    python -m tests.blur                    every wrong solver, and all statements about it
    python -m tests.blur perceptron         those whose names contain this

Every error bound of the court is a multiple of the unit roundoff u = 2⁻⁵³. With 2ᵏ u in its place
all bounds remain true, only larger: what the court says then must be true as well. So a statement
that refutes a wrong solver may no longer know, and say `undecided`; it may not say `holds`. If it
does, something passed because an allowance was as large as what it was an allowance for: in data
with rows of very different lengths, u itself is as large as that.
"""
