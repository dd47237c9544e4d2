"""HTML that escapes by itself: what is not known to be HTML already is text."""

from __future__ import annotations

from html import escape

#: They have no end, and nothing inside.
_EMPTY = {"br", "hr", "input", "meta", "link", "img"}


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def safe(part: object) -> Markup:
    """Anything as HTML."""
    return part if isinstance(part, Markup) else Markup(escape(str(part)))


def join(parts: object, between: str = "") -> Markup:
    """Several things one after the other."""
    assert not isinstance(parts, str)
    return Markup(between.join(safe(part) for part in parts))  # type: ignore[attr-defined]


def tag(name: str, /, *inside: object, **attributes: object) -> Markup:
    """An element.

    Attributes that are None or False are left out, those that are True have no value; an underscore
    at the end is dropped (``class_``), others become hyphens.
    """
    start = name + "".join(
        f" {_name(key)}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{join(inside)}</{name}>")


def _name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")
