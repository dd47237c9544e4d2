"""Square roots of rationals as decimal digits and as outward-rounded doubles.

Margins of either sign come as x|x|, the square that keeps the sign.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile
from math import inf, isqrt, nextafter

import numpy as np
from numpy.typing import NDArray


def sqrt_digits(square: Fraction, digits: int) -> str:
    """√square to so many significant digits, truncated, so that every digit shown is right.

    Fewer digits are shown only where the root ends earlier, as √(1/4) = 0.5 does.
    """
    if square < 0:
        raise ValueError("the square of a margin cannot be negative")
    if square == 0:
        return "0"
    # 10^(2·places)·square is large enough that its root has `digits` digits or a few more.
    magnitude = _decimal_exponent(square) // 2
    places = digits - magnitude + 1
    scaled = square * Fraction(100) ** places
    root = isqrt(scaled.numerator // scaled.denominator)
    exact = root * root == scaled
    text = _to_text(root)
    exponent = len(text) - 1 - places
    ends = exact and not text[digits:].strip("0")
    text = text[:digits].rstrip("0") if ends else text[:digits]
    return _place_point(text or "0", exponent, ends)


def _to_text(number: int) -> str:
    """Decimal digits of a non-negative integer of any length (str() refuses beyond 4,300)."""
    if number < 10**4000:
        return str(number)
    half = int(number.bit_length() * 0.30103) // 2
    high, low = divmod(number, 10**half)
    return _to_text(high) + _to_text(low).rjust(half, "0")


def _decimal_exponent(value: Fraction) -> int:
    """⌊log10 value⌋, up to one."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return int(bits * 0.30102999566398120)


def _place_point(text: str, exponent: int, ends: bool) -> str:
    """Digits d₁d₂… times 10^exponent (exponent of d₁), as people write it.

    Zeros in the place of digits that are not shown would be digits that are not known: they stand
    there only if the number ends with the digits.
    """
    if -7 < exponent < 0:
        return "0." + "0" * (-exponent - 1) + text
    if 0 <= exponent < 21 and (ends or exponent < len(text)):
        whole = text[: exponent + 1].ljust(exponent + 1, "0")
        rest = text[exponent + 1 :]
        return f"{whole}.{rest}" if rest else whole
    head = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{head}e{exponent:+d}"


def sqrt_bounds(square: Fraction) -> tuple[float, float]:
    """Doubles lo ≤ √square ≤ hi, equal exactly where the root is a double."""
    nearest = _to_float(root_bounds(square)[0])
    return _largest_below(nearest, square), _smallest_above(nearest, square)


def root_bounds(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals of about 64 bits lo ≤ √square ≤ hi, of any size; equal where the root is short."""
    if square == 0:
        return Fraction(0), Fraction(0)
    # An even shift brings the radicand to at least 126 bits, so that the root has 63 or more.
    shift = 126 - (square.numerator.bit_length() - square.denominator.bit_length())
    shift += shift % 2
    scaled = square * Fraction(2) ** shift
    root, unit = isqrt(scaled.numerator // scaled.denominator), Fraction(2) ** (shift // 2)
    return Fraction(root) / unit, Fraction(root + (root * root != scaled)) / unit


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _largest_below(guess: float, square: Fraction) -> float:
    while guess == inf or Fraction(guess) ** 2 > square:
        guess = nextafter(guess, 0.0)
    return guess


def _smallest_above(guess: float, square: Fraction) -> float:
    while guess != inf and Fraction(guess) ** 2 < square:
        guess = nextafter(guess, inf)
    return guess


def common_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """Leading digits shared by every √x with low ≤ x ≤ high; "0" where not even one is certain."""
    a, b = sqrt_digits(low, digits), sqrt_digits(high, digits)
    if a == b:
        return a
    (a, _, power), (b, _, other) = a.partition("e"), b.partition("e")
    if power != other or len(a.partition(".")[0]) != len(b.partition(".")[0]):
        return "0"
    width = max(len(a), len(b))
    a, b = (
        text.ljust(width, "0") if "." in text else f"{text}.".ljust(width, "0") for text in (a, b)
    )
    same = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=True))
    shared = "".join(digit for digit, _ in same)
    if "." not in shared or not shared.strip("0."):
        return "0"
    return shared.rstrip(".") + (f"e{power}" if power else "")


def signed_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """Leading digits, with their sign, shared by every x with low ≤ x|x| ≤ high."""
    if low < 0 < high or low == high == 0:
        return "0"
    if high <= 0:
        text = signed_digits(-high, -low, digits)
        return text if text == "0" else f"-{text}"
    return sqrt_digits(low, digits) if low == high else common_digits(low, high, digits)


def signed_bounds(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The tightest doubles around every x with low ≤ x|x| ≤ high."""
    below = sqrt_bounds(low)[0] if low >= 0 else -sqrt_bounds(-low)[1]
    above = sqrt_bounds(high)[1] if high >= 0 else -sqrt_bounds(-high)[0]
    return below, above


def root_ratio(value: Fraction, square: Fraction) -> float:
    """value/√square to the nearest double or the one next to it; infinite beyond the doubles."""
    scaled = value * abs(value) / square
    low, high = signed_bounds(scaled, scaled)
    return low + (high - low) / 2


def unit_vector(whole: list[int]) -> NDArray[np.float64]:
    """Integers of any size, divided by the root of the sum of their squares."""
    square = sum(v * v for v in whole)
    # The root has at least 64 bits, so that what isqrt leaves out is far below a rounding.
    shift = max(0, 128 - square.bit_length())
    shift += shift % 2
    root = isqrt(square << shift)
    # A quotient of Python's integers is rounded once, whatever their size.
    return np.array([(v << shift // 2) / root for v in whole])
