"""Search for data and options on which a statement fails, or comes closest to failing.

`parameters`  candidates, and Hypothesis strategies of them: rows, families of data, inputs
`search`      the search: Hypothesis generates and shrinks, processes of a run judge
`reports`     reports as JSON, and the search for many statements
`witness`     a refutation as a file for `gammabar check`
"""
