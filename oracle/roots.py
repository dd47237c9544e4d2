"""Square roots of rationals: decimal digits that are all right, and doubles rounded outwards.

Margins of either sign are kept as x|x|, the square that keeps the sign.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile
from math import inf, isqrt, nextafter

import numpy as np
from flint import fmpz
from numpy.typing import NDArray


def signed_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """Leading digits, with their sign, shared by every x with low ≤ x|x| ≤ high.

    They are truncated, so that every digit shown is right; "0" where not even one is certain. Fewer
    than asked for are shown of a number that ends earlier, as √(1/4) = 0.5 does.
    """
    if low < 0 < high or low == high == 0:
        return "0"
    if high <= 0:
        text = signed_digits(-high, -low, digits)
        return text if text == "0" else f"-{text}"
    if low == 0:
        return "0"
    first, power, ends = _root_digits(low, digits)
    if low == high:
        return _place_point(first.rstrip("0") if ends else first, power, ends)
    other, size, _ = _root_digits(high, digits)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=True))
    shared = "".join(digit for digit, _ in same)
    return _place_point(shared, power, ends=False) if shared and power == size else "0"


def _root_digits(square: Fraction, digits: int) -> tuple[str, int, bool]:
    """The first digits of √square, the power of ten of the first, and whether others are zero."""
    bits = square.numerator.bit_length() - square.denominator.bit_length()
    # 100^places · square is so large that its root has as many digits, or a few more.
    places = digits + 1 - int(bits * 0.30102999566398120) // 2
    scaled = square * Fraction(100) ** places
    root = isqrt(scaled.numerator // scaled.denominator)
    text = str(fmpz(root))  # Python's own integers refuse more than 4,300 digits
    ends = root * root == scaled and not text[digits:].strip("0")
    return text[:digits], len(text) - 1 - places, ends


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


def sqrt_doubles(square: Fraction) -> tuple[float, float]:
    """The tightest doubles lo ≤ √square ≤ hi, equal exactly where the root is a double."""
    try:
        low = high = float(root_bounds(square)[0])
    except OverflowError:
        low = high = inf
    while low == inf or Fraction(low) ** 2 > square:
        low = nextafter(low, 0.0)
    while high != inf and Fraction(high) ** 2 < square:
        high = nextafter(high, inf)
    return low, high


def signed_bounds(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The tightest doubles around every x with low ≤ x|x| ≤ high."""
    if low == high >= 0:
        return sqrt_doubles(low)
    below = sqrt_doubles(low)[0] if low >= 0 else -sqrt_doubles(-low)[1]
    above = sqrt_doubles(high)[1] if high >= 0 else -sqrt_doubles(-high)[0]
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
