"""Inner products in the space of a kernel, for `check.py`: integers, or bounds of them.

Python's standard library, and nothing of this project.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from operator import mul
from typing import Any

from .check_readers import (
    Combination,
    Points,
    about,
    demand,
    dot,
    length,
    number,
    product_time,
    quotient_time,
    rational,
    whole,
)


def exp_minus(top: int, bottom: int, p: int) -> tuple[int, int]:
    """Bounds of 2^p exp(-x), x = top/bottom >= 0: those of exp(-x / 2^halvings), squared."""
    if top > p * bottom:
        return 0, 1
    halvings, k = 8 + p.bit_length(), 0
    bits = p + 2 * halvings + 8
    z = (top << bits - halvings) // bottom  # z <= 2^bits x / 2^halvings < z + 1
    low = high = least = most = 1 << bits
    while most > 1:  # the terms of the series, between least and most, alternate and decrease
        k += 1
        least, most = (least * z >> bits) // k, ((most * (z + 1) >> bits) + 1) // k + 1
        low, high = (low - most, high - least) if k % 2 else (low + least, high + most)
    low, high = low - most, high + most  # what is left is smaller than the last term
    for _ in range(halvings):
        low, high = low * low >> bits, (high * high >> bits) + 1
    return low >> bits - p, (high >> bits - p) + 1


class Kernel(Points):
    """Rows y_i phi(x_i), <phi(x), phi(z)> = K(x, z), over sqrt(K(x, x) K(z, z)) if normalised.

    K is (slope <x, z> + shift)^degree / unit with integers, or exp(-slope |x - z|^2 / shift); for a
    network, <x, z> is replaced by 16 <x, z> times the nodes that are active for both, and their
    outputs for the one times those for the other.
    """

    def __init__(self, form: dict[str, Any], plain: bool, precision: int, *data: Any) -> None:
        super().__init__(*data)
        kernel, normalised = form["kernel"], form["normalised"]
        self.name, self.precision = kernel["name"], precision
        gamma = rational(kernel.get("gamma", "0x1/0x1"), "gamma", self.budget)
        coef0 = rational(kernel.get("coef0", "0x0/0x1"), "coef0", self.budget)
        demand(gamma > 0 <= coef0, "the kernel is not one unless gamma > 0 and coef0 >= 0")
        self.degree = whole(kernel.get("degree", 1), "the degree", 1, 1 << 20)
        self.given, self.rbf = self.name == "precomputed", self.name == "rbf"
        self.hidden: list[list[int]] = []
        self.drawn = ""
        if self.name == "network":
            width = whole(kernel["width"], "the width", 1, 1 << 17)
            seed = whole(kernel["seed"], "the seed", 0, 1 << 64)
            gamma, self.drawn = Fraction(1, 16 * width), f" of width {width} and seed {seed}"
            self.take_network(width, seed)
        self.exact = not self.rbf and (plain or not normalised)
        rate = gamma * Fraction(2 if self.given else 4) ** self.exponent
        bottom = rate.denominator if self.rbf else math.lcm(rate.denominator, coef0.denominator)
        within = rational(form.get("within", "0x0/0x1"), "within", self.budget)
        demand(within >= 0 and (self.given or not within), "within is not for this kernel")
        bottom = math.lcm(bottom, within.denominator) if self.exact else bottom
        self.slope = int(rate * bottom)
        self.shift = bottom if self.rbf else int(coef0 * bottom)
        self.described = self.words(gamma, coef0, within, normalised)
        self.prepare(bottom)
        if self.given:
            self.take_matrix()
        self.norms = [1] * self.n if self.rbf else list(map(self.value, *self.own()))
        demand(not normalised or min(self.norms) > 0, "K(x, x) <= 0 for a point: not normalised")
        self.unit = Fraction(1, bottom**self.degree if self.exact else 1 << precision)
        self.radius_squared = max(self.norms)
        self.slack = math.ceil(within / self.unit)  # of every entry of the matrix, in units

    def words(self, gamma: Fraction, coef0: Fraction, within: Fraction, normalised: bool) -> str:
        divided = ", divided by sqrt(K(x, x) K(z, z))" * normalised
        if within:
            return (
                f"with precomputed kernel values{divided}, for every positive semidefinite matrix "
                f"within {about(within, ROUND_FLOOR)} of these in the 2-norm, if there is one"
            )
        options = {
            "poly": f" (gamma <x, z> + coef0)^{self.degree} with gamma = {number(gamma)} and coef0 "
            f"= {number(coef0)}",
            "rbf": f" exp(-gamma |x - z|^2) with gamma = {number(gamma)}",
            "network": self.drawn,
            "precomputed": " values, provided that this matrix is positive semidefinite",
        }
        return f"with {self.name} kernel{options.get(self.name, '')}{divided}"

    def prepare(self, bottom: int) -> None:
        """Estimate the time for one product of two rows of the space."""
        inner = 2 * self.bits + self.d.bit_length()
        inner += 10 + 2 * self.d.bit_length() if self.hidden else 0
        size = max(inner + self.slope.bit_length(), length([self.shift, bottom])) + 1
        across = 1 if self.given else max(len(values) for _, values in self.rows)
        self.time = across * product_time(self.bits, self.bits) + product_time(inner, size)
        self.time += 3 * len((self.hidden or [[]])[0]) * product_time(self.bits, self.bits)
        if self.rbf:
            p = self.precision + 50
            self.size = self.precision + 1
            self.time += (p / 4 + 60) * product_time(p, p) + quotient_time(size + p, size)
        else:
            self.size = size * self.degree
            self.time += 3 * product_time(self.size, self.size)
        if not self.rbf and not self.exact:
            both = 2 * (self.size + self.precision)
            self.time += 2 * quotient_time(both, self.size) + quotient_time(both, both / 2)
            self.size = self.precision + 1
        self.budget.spend(self.n * self.time, "the norms of the points in the space of the kernel")
        self.budget.hold(self.n * self.size / 8, "to hold these norms")

    def take_matrix(self) -> None:
        # Its columns are all the points of the file, in their order: so must be its rows.
        square = self.d == self.n and self.everything
        demand(square, "a precomputed kernel needs a square matrix of all points, in their order")
        if not self.dense:
            self.budget.hold(8 * self.n**2, "to hold the matrix")
            cells = [{self.columns[c]: v for c, v in zip(*row, strict=True)} for row in self.rows]
            full = range(self.d)
            self.rows = [(full, [cell.get(j, 0) for j in full]) for cell in cells]
            self.dense = True
        table = [tuple(values) for _, values in self.rows]
        demand(table == list(zip(*table, strict=True)), "the matrix is not symmetric")
        self.squares = [values[i] for i, values in enumerate(table)]

    def take_network(self, width: int, seed: int) -> None:
        """What each node of the hidden layer puts out for each point, times 4.

        A weight, times 4, is the number of ones among 64 bits of SHAKE-128, less 32.
        """
        self.budget.spend(width * self.d * 4e-7, "the weights of the network")
        each = product_time(self.bits, 6)
        self.budget.spend(width * self.entries() * each, "the hidden layer of the network")
        self.budget.hold(width * (self.n * (32 + self.bits / 8) + 8 * self.d), "to hold that layer")
        self.hidden = [[] for _ in range(self.n)]
        for node in range(width):
            bits = hashlib.shake_128(b"gammabar network %d %d" % (seed, node)).digest(8 * self.d)
            weights = [
                int.from_bytes(bits[8 * c : 8 * c + 8]).bit_count() - 32 for c in self.columns
            ]
            for outputs, row in zip(self.hidden, self.rows, strict=True):
                outputs.append(max(0, dot(row, weights)))

    def own(self) -> tuple[list[int], Iterable[int], Iterable[int]]:
        """The products of points with themselves, and their numbers, twice."""
        return self.squares, range(self.n), range(self.n)

    def value(self, product: int, i: int, j: int) -> int:
        if self.hidden:
            left, right = self.hidden[i], self.hidden[j]
            both = sum(map(bool, map(mul, left, right)))
            product = 16 * both * product + sum(map(mul, left, right))
        return int((self.slope * product + self.shift) ** self.degree)

    def entry(self, i: int, j: int, product: int) -> tuple[int, int]:
        """Bounds of <phi(x_i), phi(x_j)> from the product of x_i and x_j."""
        if self.rbf:
            apart = self.squares[i] + self.squares[j] - 2 * product
            return exp_minus(self.slope * apart, self.shift, self.precision)
        value = self.value(product, i, j)
        if self.exact:
            return value, value
        square = (value * value << 2 * self.precision) // (self.norms[i] * self.norms[j])
        low = math.isqrt(square)
        return (low, low + 1) if value >= 0 else (-low - 1, -low)

    def scores(self, q: Combination, among: Sequence[int], side: int) -> dict[int, int]:
        """Lower (side 0) or upper (side 1) bounds of <a_i, sum_j q_j a_j> for i in among."""
        each = self.time + product_time(self.size, length(q.values()))
        self.budget.spend(len(q) * len(among) * each, "the products in the space of the kernel")
        rows, classes, bounds = self.rows, self.classes, dict.fromkeys(among, 0)
        for j, weight in q.items():
            vector = rows[j][1] if self.dense else Counter(dict(zip(*rows[j], strict=True)))
            for i in bounds:
                factor = weight if classes[i] == classes[j] else -weight
                pair = self.entry(i, j, rows[i][1][j] if self.given else dot(rows[i], vector))
                bounds[i] += factor * pair[side if factor > 0 else 1 - side]
        return bounds

    def norm(self, q: Combination) -> int:
        """The squared norm of sum q_i a_i, or an upper bound; 0 if equal points cancel.

        By how much the matrix may differ from the one given is added, see CERTIFICATE.md.
        """
        sums: Counter[Any] = Counter()
        for i, weight in q.items():
            columns, values = self.rows[i]
            point = (() if self.dense else tuple(columns), tuple(values))
            sums[i if self.given else point] += weight if self.classes[i] else -weight
        if not any(sums.values()):
            return 0
        total = self.slack * sum(map(abs, q.values())) ** 2
        for side in (0, 1):
            among = [i for i in q if (q[i] > 0) == (side == 1)]
            total += sum(q[i] * bound for i, bound in self.scores(q, among, side).items())
        return total

    def least(self, q: Combination) -> list[int]:
        """Of each side, a lower bound of its scores."""
        slack = self.slack * sum(map(abs, q.values()))
        scores = self.scores(q, range(self.n), 0)
        by_side = [[v for i, v in scores.items() if self.side(i) == k] for k in range(self.sides)]
        return [min(values) - slack for values in by_side]
