"""The nearest of the names that there are, for messages about one that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A few words about a name that is none.

    Parameters
    ----------
    name : str
    known : iterable of str
        The names that there are.
    otherwise : str
        What to say if none is near; by default all of them.

    Examples
    --------
    >>> did_you_mean("mnits", ["mnist", "iris"])
    'did you mean mnist?'
    >>> did_you_mean("x", ["mnist", "iris"])
    'there are mnist, iris'
    """
    names = list(known)
    by_case = {one.lower(): one for one in names}
    close = difflib.get_close_matches(name.lower(), by_case, n=1)
    return (
        f"did you mean {by_case[close[0]]}?"
        if close
        else otherwise or (f"there are {', '.join(names)}" if names else "there is none")
    )
