"""Texts of a run without what is nobody's business: folders of the machine, names of users."""

from __future__ import annotations

import re

#: An absolute path: of it, only its last part is shown. No address such as https://… is one.
_PATH = re.compile(
    r"(?:(?<![\w.:/~<])|(?<=\btrajectory:))(?:~[\w.-]*|[A-Za-z]:)?(?:[/\\][^\s/\\:'\"`<>|()]+)+[/\\](?=[^\s/\\])"
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
    >>> public("trajectory:/home/ada/w.npy:step=1")
    'trajectory:w.npy:step=1'
    """
    text = _QUOTED.sub(r"\g<mark>\g<last>\g<mark>", text)
    return _PATH.sub("", text)
