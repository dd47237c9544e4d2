"""Mathematics in letters that every terminal has: γ̄ ≤ 1 as gamma_bar <= 1."""

from __future__ import annotations

import codecs
import unicodedata

#: Where the name of a character alone does not say how people type it.
_TYPED = {
    "̄": "_bar",
    "̂": "_hat",
    "̃": "_tilde",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "≡": "==",
    "−": "-",
    "–": "-",
    "—": "-",
    "‑": "-",
    "×": "x",
    "·": ".",
    "⋅": ".",
    "…": "...",
    "⋯": "...",
    "√": "sqrt ",
    "∞": "infinity",
    "‖": "||",
    "→": "->",
    "←": "<-",
    "⇒": "=>",
    "⟹": "=>",
    "⟺": "<=>",
    "⇔": "<=>",
    "↦": "->",
    "∈": "in",
    "∉": "not in",
    "∪": "union",
    "∩": "intersection",
    "⊂": "subset of",
    "⊆": "subset of",
    "∅": "{}",
    "∀": "for all",
    "∃": "there is",
    "∇": "grad ",
    "∂": "d",
    "∑": "sum",
    "∏": "prod",
    "Σ": "Sum",
    "Π": "Prod",
    "⟨": "<",
    "⟩": ">",
    "⌈": "ceil(",
    "⌉": ")",
    "⌊": "floor(",
    "⌋": ")",
    "∝": "prop. to",
    "∼": "~",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "¬": "not ",
    "°": " degrees",
    "±": "+-",
    "∓": "-+",
    "⇐": "<=",
    "⟸": "<=",
    "∖": "\\",
    "∗": "*",
    "⋆": "*",
    "∘": "o",
    "∣": "|",
    "∧": "and",
    "∨": "or",
    "∫": "integral ",
    "≃": "~",
    "≔": ":=",
    "≪": "<<",
    "≫": ">>",
    "≺": "<",
    "≻": ">",
    "≼": "<=",
    "≽": ">=",
    "⪯": "<=",
    "⪰": ">=",
    "⊃": "superset of",
    "⊕": "(+)",
    "⊗": "(x)",
    "⊙": "(.)",
    "⊤": "^T",
    "⊥": "orthogonal to",
    "○": "o",
    "●": "*",
    "✓": "+",
    "✗": "X",
    "†": "+",
    "§": "Section ",
    "ᵀ": "^T",
    "ᵢ": "_i",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "′": "'",
    "─": "-",
    "━": "-",
    "│": "|",
    "ℓ": "l",
    "ß": "ss",
    "ñ": "n",  # a letter of names; other tildes are mathematics
    "ø": "o",
    "ł": "l",
}
_GREEK = {
    chr(code): unicodedata.name(chr(code)).rpartition(" ")[2]
    for code in (*range(0x391, 0x3A2), *range(0x3A3, 0x3AA), *range(0x3B1, 0x3CA))
}
_LETTERS = {letter: name.lower() for letter, name in _GREEK.items() if letter.islower()}
_LETTERS |= {letter: name.capitalize() for letter, name in _GREEK.items() if letter.isupper()}
_LETTERS |= {"λ": "lambda", "Λ": "Lambda", "ς": "sigma", "ϕ": "phi", "ϵ": "epsilon"} | _TYPED
_MARKS = {"<super>": "^", "<sub>": "_"}


def typed(text: str, encoding: str) -> str:
    """A text whose every character an encoding has; what it has already stays as it is."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_typed(c, encoding) for c in text)
    return text


def _typed(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return spelt(character)
    return character


def spelt(character: str) -> str:
    """A character in ASCII; "?" for one that nobody would guess."""
    if character in _LETTERS:
        return _LETTERS[character]
    kind, *parts = unicodedata.decomposition(character).split() or [""]
    if not kind:
        return "?"
    if kind in _MARKS:  # ² is ^2, ₀ is _0
        return _MARKS[kind] + "".join(_each(parts))
    return "".join(_each(parts if kind.startswith("<") else [kind, *parts]))


def _each(codes: list[str]) -> list[str]:
    letters = [chr(int(code, 16)) for code in codes]
    kept = (one for one in letters if not unicodedata.combining(one) or one in _TYPED)
    return [one if one.isascii() else spelt(one) for one in kept]


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(spelt(c) for c in error.object[error.start : error.end]), error.end


#: As an error handler of streams: what their encoding lacks is spelt.
SPELT = "gammabar-spelt"
codecs.register_error(SPELT, _replaced)
