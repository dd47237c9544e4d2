"""The search for data and options on which a statement fails, or comes closest to failing.

`candidate`   one run that may refute it, and what came of it
`strategies`  ways to search, which compete for the time that there is
`search`      carries them out side by side, in the processes of a run
`shrink`      makes what was found as small as it gets
"""
