"""Ways to spoil an input: bytes, texts, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

# Numbers, and what looks like one, from around every edge that a reader may have.
NUMBERS = (
    ["0", "-0", "+0", "00", "1", "-1", "+1", "1.0", "1.", ".5", ".", "-", "+", "", "1-2", "--1"]
    + ["1e0", "1e999", "-1e999", "1e-999", "5e-324", "1.7976931348623157e308", "1e308", "1E5"]
    + ["nan", "NaN", "-nan", "inf", "-Infinity", "0x10", "0x1p3", "1_000", "1,5", "1/3", "1/0"]
    + ["0/1", "1e1000000000", "1e-1000000000", "٣", "１", "²", "1e", "1e+", "e5", "True", "none"]
    + [str(2**k + s) for k in (7, 8, 15, 16, 31, 32, 53, 63, 64, 127) for s in (-1, 0, 1)]
    + [str(-(2**k) + s) for k in (31, 53, 63, 64) for s in (-1, 0, 1)]
    + ["9" * 400, "9" * 4301, "-" + "9" * 6000, "1" + "0" * 5000, "0." + "3" * 5000]
    + ["9" * 5000 + "/7", "1/" + "9" * 5000, "0" * 5000 + "1", "1e" + "9" * 50, "7" * 20000 + "e5"]
)
CHARACTERS = [*"\0\t\n\r\x0b\x0c\x1b\x1c\x85\xa0\u2028\u2029\ufeff\ud7ff\u202e;,:#\"'\\ /.=-+_~"]
CHARACTERS += ["\x1b[2J", "\r\n", "\U0001f600", "é", "..", "../", "$(x)", "%s", "{}", "\ufffd"]
_LENGTH = 1 << 16  # an input that has grown beyond this is cut


def words(text: str) -> list[str]:
    return text.split()


def spoil_bytes(data: bytes, rng: Random) -> bytes:
    """Flip, cut, repeat, remove or insert bytes."""
    if not data:
        return rng.randbytes(rng.randrange(1, 9))
    out = bytearray(data)
    place = rng.randrange(len(out))
    end = min(len(out), place + rng.choice([1, 1, 2, 4, 8, 64]))
    action = rng.randrange(7)
    if action == 0:
        out[place] ^= 1 << rng.randrange(8)
    elif action == 1:
        out[place:end] = rng.randbytes(end - place)
    elif action == 2:
        out[place:end] = bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF])]) * (end - place)
    elif action == 3:
        del out[place:]
    elif action == 4:
        del out[place:end]
    elif action == 5:
        out[place:place] = out[place:end]
    else:
        out[place:place] = rng.randbytes(rng.choice([1, 1, 2, 4, 16]))
    return bytes(out[:_LENGTH])


def spoil_text(data: bytes, rng: Random, separators: str = ",", words: Sequence[str] = ()) -> bytes:
    """Replace, remove, repeat or swap the fields of a text, or its lines, or some bytes."""
    action = rng.randrange(10)
    if action < 2:
        return spoil_bytes(data, rng)
    text = data.decode("utf-8", "replace")
    if action == 2:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(CHARACTERS) + text[place:]
    elif action == 3:
        text = "\n".join(_rearranged(text.split("\n"), rng))
    else:
        separator = rng.choice(separators + "\n")
        fields = text.split(separator)
        place = rng.randrange(len(fields))
        if action < 7:
            fields[place] = rng.choice([*words, *NUMBERS] if action > 4 and words else NUMBERS)
        elif action == 7:
            fields[place] += rng.choice(CHARACTERS)
        else:
            fields = _rearranged(fields, rng)
        text = separator.join(fields)
    return text.encode("utf-8", "surrogatepass")[:_LENGTH]


def _rearranged(parts: list[str], rng: Random) -> list[str]:
    place, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    action = rng.randrange(5)
    if action == 0:
        del parts[place]
    elif action == 1:
        parts.insert(place, parts[other])
    elif action == 2:
        parts[place], parts[other] = parts[other], parts[place]
    elif action == 3:
        parts.insert(place, "")
    else:
        parts[place : place + 1] = [parts[place]] * rng.choice([2, 3, 100])
    return parts or [""]


_JSON: list[Any] = [None, True, False, 0, 1, -1, 2, 0.5, math.nan, math.inf, 2**31, 2**64, 10**30]
_JSON += ["", "x", "\0", "\x1b[2J", "0x0", "-0x1", "0x0/0x1", "0x1/0x0", [], {}, [[]], [{}], "é"]
_JSON += ["0x" + "f" * 5000, "-0x1/0x" + "f" * 3000, "0x1/0x1" + "0" * 9000, "9" * 5000, "1/3"]


def spoil_json(data: bytes, rng: Random, words: Sequence[Any] = ()) -> bytes:
    """Change one place of a JSON document: a value, a key, an entry; or its text."""
    if rng.random() < 0.25:
        return spoil_text(data, rng, ',:[]{}"')
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return spoil_bytes(data, rng)
    place, key = _place(body, rng)
    if place is None:
        return json.dumps(rng.choice([body, [body], {"a": body}])).encode()
    action = rng.randrange(8)
    if action == 0:
        del place[key]
    elif action == 1 and isinstance(place, dict):
        place[f"{key}{rng.choice(CHARACTERS)}"] = place.pop(key)
    elif action == 1:
        place.insert(key, place[key])
    elif action == 2:
        place[key] = [place[key]]
    elif action < 5:
        place[key] = _near(place[key], rng)
    else:
        place[key] = rng.choice([*words, *_JSON])
    return _dumped(body, rng)


def _near(value: Any, rng: Random) -> Any:
    """A value like the one that was there."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        half = 0.5 if abs(value) < 2**53 else 1  # an integer may be too large for a double
        return value + rng.choice([1, -1, half, 10**6, -(10**6), 2**40])
    if isinstance(value, str):
        return spoil_text(value.encode(), rng, "x/").decode("utf-8", "replace")
    return rng.choice([value * 2, value[:1]]) if isinstance(value, list) else {**value, "a": 1}


def _place(body: Any, rng: Random) -> tuple[Any, Any]:
    place, key = None, None
    while isinstance(body, (dict, list)) and body:
        place, key = body, rng.choice([*body] if isinstance(body, dict) else range(len(body)))
        if rng.random() < 0.25:
            break
        body = place[key]
    return place, key


def _dumped(body: Any, rng: Random) -> bytes:
    text = json.dumps(body)
    depth = rng.choice([0] * 200 + [50, 2000, 100_000])
    return (("[" * depth + text + "]" * depth) if depth else text).encode()


def spoiler(
    spoil: Callable[..., bytes], *arguments: Any, **options: Any
) -> Callable[[bytes, Random], bytes]:
    """`spoil` with its further arguments."""
    return lambda data, rng: spoil(data, rng, *arguments, **options)
