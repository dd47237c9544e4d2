"""Suggestions for misspelt names.

Nothing else in the project compares spellings: what has names asks here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

#: Names in a list; of more than these the first are enough to see what they look like.
MANY = 20


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that is most like this one, whatever its case; None if none is.

    Examples
    --------
    >>> nearest("IRSI", ["mnist", "iris"])
    'iris'
    >>> nearest("x", ["mnist", "iris"])
    """
    by_case = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), by_case, n=1)
    return by_case[close[0]] if close else None


def did_you_mean(
    name: str, known: Iterable[str], otherwise: str | None = None, *, always: bool = False
) -> str:
    """A few words about a name that does not exist.

    `otherwise` is what to say if none is near, by default which there are; `always` says which
    there are also if one is near.

    Examples
    --------
    >>> did_you_mean("mnits", ["mnist", "iris"])
    'did you mean mnist?'
    >>> did_you_mean("x", ["mnist", "iris"])
    'there are mnist, iris'
    """
    names = list(known)
    more = f", … ({len(names)} in all)" if len(names) > MANY else ""
    there = f"there are {', '.join(names[:MANY])}{more}" if names else "there is none"
    close = nearest(name, names)
    if close is None:
        return there if otherwise is None else otherwise
    return f"did you mean {close}?" + (f" T{there[1:]}" if always else "")


def beside(path: str | Path) -> str | None:
    """The file in the same folder whose name is most like this one's, if there is any."""
    place = Path(path)
    try:
        close = nearest(place.name, (one.name for one in place.parent.iterdir()))
    except (OSError, ValueError):  # no folder either, or no name of one
        return None
    return None if close is None else str(place.parent / close)


def no_file(path: str | Path, kind: str = "file") -> str:
    """What to say of a file or folder that is not there: the one that was meant, perhaps."""
    close = beside(path)
    hint = "" if close is None else f" (did you mean {close}?)"
    return f"{path}: there is no such {kind}{hint}"
