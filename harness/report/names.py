"""Texts of a run without what is nobody's business: folders of the machine, names of users."""

from __future__ import annotations

import re

#: An absolute path: of it, only its last part is shown.
_PATH = re.compile(
    r"(?<![\w.:/~<])(?:~[\w.-]*|[A-Za-z]:)?(?:[/\\][^\s/\\:'\"`<>|()]+)+[/\\](?=[^\s/\\])"
)
#: The same between quotation marks, where it may have blanks.
_QUOTED = re.compile(
    r"(?P<mark>['\"])(?:~[\w.-]*|[A-Za-z]:)?[/\\][^'\"]*[/\\](?P<last>[^'\"/\\]+)(?P=mark)"
)


def public(text: str) -> str:
    """The text with every absolute path cut down to the name of its file.

    Examples
    --------
    >>> public("/home/ada/data/points.csv --label kind")
    'points.csv --label kind'
    """
    text = _QUOTED.sub(r"\g<mark>\g<last>\g<mark>", text)
    return _PATH.sub("", text)
