"""Generators: the same data everywhere, and truths that hold in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from gammabar.problems import ProblemError, load
from gammabar.problems.generators import FAMILIES, KINDS, Generated, _fill_behind, generate
from gammabar.problems.portable_rng import Draws

# SHA-256 of the canonical form of each family with its default options. These must never change:
# results that were published for a seed are results for these data.
DIGESTS = {
    "planted": "3bddcf63a23dacae29690ba33d3857a15090929b461f278666180b1adf3f6c20",
    "worst-case": "2513d3e7e6868b52842ec37d0d5aebe3e77e23f78371f24e74fad75bc008f8a8",
    "loss-spike": "94674a72ca66e374c3cb261e78d4b2f594d0ee85e93ee4da1088b1bbdef624bc",
    "two-lines": "eed3179b0af0504c63d71dcce7d955b0996b4aeeb3a278b664d0f489d771a8d6",
    "imbalanced": "e3f67bc8acfa0c67636f1ba529c552c5c04d573c4545be5fdfa23b5e8557be5a",
    "inseparable": "381a21397af9649a3f76bfae64ef4f89203be4f54befc0b7796dce717f38e611",
    "gaussian": "d173c653ab6a2294200ea0e92821bcf1fe8afb23a5a585299d8d97e83d220126",
    "duplicated": "27f051f58f10f29326c0429b793833de503396df70e93a83f4fa12a40c1d42c2",
    "degenerate": "4a4cd78c2205bcd35e064d9067347067bc5b201cf714dcf3f88979d2588985dd",
    "orthogonal": "ba16f7a2291de8d4a04427449f56aec8f9a6377cecc8705035ab80eb566d8774",
    "opposed": "0d40fd2e64e7ecd3e637bca9e3d3da2c7e35a333f1213bc75fb1acaa9bb1fc7a",
    "crossed": "c7b76278ea49fb222fe2b32ec322830b895d7fd806dacc4af8a1709b3da8704d",
    "centred": "2e21b5d909f0166db0ed65714c8b83ed9460b43904277bdacdd9079a2de08b0c",
    "staggered": "ed6833c438454fede106eabb35fc4f0a71df243d91fcbb2ed205f4b155c76917",
    "gaussian:separable=1": "8159ec0b9debf7f7b4fe9820edfba52d7588318151ca0942117c58d132797d0d",
}


def test_data_are_the_same_everywhere():
    assert set(FAMILIES) <= set(DIGESTS)
    assert {spec: load(spec).digest() for spec in DIGESTS} == DIGESTS


def rows(made: Generated) -> list[list[Fraction]]:
    return [
        [int(label) * Fraction(value) for value in point]
        for point, label in zip(made.X.tolist(), made.y.tolist(), strict=True)
    ]


def dot(left: list[Fraction], right: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def prove(made: Generated) -> list[Fraction]:
    """The proof of `Known`, from the definition, without the code that is under test; A^T q."""
    truth = made.known
    assert truth is not None
    A = rows(made)
    assert all(weight > 0 for _, weight in truth.q)
    assert sum(weight for _, weight in truth.q) == 1
    assert len({i for i, _ in truth.q}) == len(truth.q)
    w = [sum((weight * A[i][j] for i, weight in truth.q), Fraction(0)) for j in range(len(A[0]))]
    assert dot(w, w) == truth.gamma_squared
    if truth.gamma_squared:
        assert min(dot(row, w) for row in A) >= truth.gamma_squared
    assert max(dot(row, row) for row in A) == truth.radius_squared
    return w


GAMMAS = st.sampled_from(["0.1", "0.5", "1", "1/7", "0.999", "1e-9", "0.123456789", ".25"])
SEEDS = st.integers(0, 2**64 - 1)
#: Options of every family whose truth is known.
OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "planted": {
        "n": st.integers(2, 25),
        "d": st.integers(1, 8),
        "gamma": GAMMAS,
        "seed": SEEDS,
        "rotate": st.integers(0, 1),
    },
    "duplicated": {"n": st.integers(2, 9), "copies": st.integers(1, 4), "gamma": GAMMAS},
    "imbalanced": {
        "n": st.integers(8, 40),
        "d": st.integers(2, 5),
        "ratio": st.integers(1, 3),
        "gamma": GAMMAS,
        "seed": SEEDS,
    },
    "worst-case": {"n": st.integers(2, 30)},
    "loss-spike": {},
    "two-lines": {
        "r": st.fractions(Fraction(11, 10), 20, max_denominator=30),
        "n": st.integers(4, 60),
    },
    "inseparable": {"n": st.integers(2, 20), "d": st.integers(1, 6), "seed": SEEDS},
    "degenerate": {
        "kind": st.sampled_from(sorted(KINDS)),
        "n": st.integers(4, 12),
        "d": st.just(12),
        "seed": SEEDS,
    },
    "orthogonal": {
        "n": st.integers(2, 12),
        "p": st.fractions(Fraction(1, 1000), Fraction(999, 1000)),
    },
    "opposed": {"copies": st.integers(1, 9), "r": st.integers(1, 2**20)},
    "crossed": {"copies": st.integers(1, 99)},
    "centred": {"n": st.integers(2, 20), "copies": st.integers(1, 20)},
    "staggered": {"d": st.integers(1, 4), "copies": st.integers(1, 9), "r": st.integers(16, 99)},
}


@pytest.mark.parametrize("family", OPTIONS)
def test_the_truth_that_is_known_is_true(family):
    @settings(max_examples=40)
    @given(st.fixed_dictionaries(OPTIONS[family]))
    def check(options):
        made = generate(family, ",".join(f"{name}={value}" for name, value in options.items()))
        prove(made)
        if "gamma" in options:
            gamma = Fraction(options["gamma"])
            assert made.X.dtype == np.int64
            assert set(made.y.tolist()) == {-1, 1}
            assert made.known.gamma_squared == gamma**2 * made.known.radius_squared

    check()


@pytest.mark.parametrize("support", [1, 2, 5])
def test_planted_support(support):
    made = generate("planted", f"n=30,d=5,support={support}")
    w = prove(made)
    on_margin = sum(dot(row, w) == made.known.gamma_squared for row in rows(made))
    assert on_margin == len(made.known.q) == support


def test_no_row_leaves_the_ball_by_rounding():
    """The square root of radius^2 - 4, taken in doubles, is the radius itself."""
    radius = 2**31 - 1

    class Fixed(Draws):
        def integers(self, low, high, shape):
            if isinstance(shape, tuple):
                return np.ones(shape, dtype=np.int64)
            return np.full(shape, 2 if high == radius else high)

    row = np.zeros((1, 2), dtype=np.int64)
    _fill_behind(Fixed(0), row, 1, radius)
    assert row.tolist() == [[2, radius - 1]]


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_imbalanced(ratio):
    made = generate("imbalanced", f"n=31,d=3,ratio={ratio}")
    few, major = int((made.y > 0).sum()), made.X[made.y < 0]
    assert (made.X.shape, few) == ((31, 3), 31 // (ratio + 1))
    assert len(np.unique(major, axis=0)) <= -(-len(major) // ratio)


def test_degenerate_kinds_are_degenerate():
    made = {kind: generate("degenerate", f"kind={kind}") for kind in KINDS}
    A = {kind: one.X * one.y[:, None] for kind, one in made.items()}
    assert (A["ties"][:, 0] == 3).all()
    assert made["ties"].known.gamma_squared == 9
    assert np.linalg.matrix_rank(A["dependent"]) == 2
    assert np.linalg.matrix_rank(A["collinear"]) == 1
    assert len(np.unique(A["square"], axis=0)) == 4
    assert made["simplex"].known.gamma_squared == Fraction(1, 8)
    assert not A["zero-row"][-1].any()
    for seed in range(8):
        one = generate("degenerate", f"kind=opposite,seed={seed}")
        assert (one.X[0] == one.X[-1]).all()
        assert one.y[0] != one.y[-1]


@given(
    st.fractions(Fraction(11, 10), 20, max_denominator=30),
    st.integers(4, 60),
)
def test_two_lines_are_those_of_the_paper(r, n):
    made = generate("two-lines", f"r={r.numerator}/{r.denominator},n={n}")
    plus, minus = made.X[made.y > 0], made.X[made.y < 0]
    assert (6 * plus[:, 1] == 8 * plus[:, 0]).all()
    assert (8 * minus[:, 1] == 6 * minus[:, 0]).all()
    truth = made.known
    # rho = 1 / (sqrt(50) r) and the radius is r.
    assert truth.gamma_squared / truth.radius_squared == 1 / (50 * r**4)
    for side in (plus, minus):
        lengths = [Fraction(dot(row, row)) for row in side.tolist()]
        assert max(lengths) / min(lengths) == r**4
        assert len(set(lengths)) == len(lengths)


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_gaussian_is_dyadic_and_separable_on_request(n, d, seed, separable):
    made = generate("gaussian", f"n={n},d={d},seed={seed},separable={int(separable)}")
    assert (np.round(made.X * 1024) == made.X * 1024).all()
    assert n == 1 or set(made.y.tolist()) == {-1, 1}
    if separable:
        A = made.X * made.y[:, None]
        assert linprog(np.zeros(d), -A, -np.ones(n), bounds=(None, None)).status == 0


@pytest.mark.parametrize("seed", range(3))
def test_points_that_are_drawn_on_the_hyperplane_are_moved(seed):
    assert generate("gaussian", f"n=20000,d=2,seed={seed},separable=1").y.all()


def test_draws_are_raw_pcg64():
    """Two outputs of PCG64 with seed 0, by the reference implementation."""
    raw = [11749869230777074271, 4976686463289251617]
    assert Draws(0).integers(0, 2**32 - 1, 2).tolist() == [value >> 32 for value in raw]
    assert Draws(3).sample(100, 100).tolist() == list(range(100))
    assert sorted(Draws(3).permutation(50).tolist()) == list(range(50))
    values = Draws(1).integers(-2, 2, 1000)
    assert set(values.tolist()) == {-2, -1, 0, 1, 2}


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("planted:n=0", "planted: n=0 must be at least 1"),
        ("planted:n=ten", "planted: n=ten is not an integer"),
        ("planted:gamma=0", "planted: gamma=0 must be above 0"),
        ("planted:gamma=1/0", "planted: gamma=1/0 is not a number"),
        ("planted:gamma=0.12345678987654321", "planted: gamma=.* has too many digits"),
        ("planted:gamma=1e-9,d=2000000,n=2", "planted: gamma has too many digits for d=2000000"),
        ("planted:n=1", "planted: n=1 has the margin 1 only"),
        ("planted:n=9,support=9", "planted: support=9 must be at most 8"),
        ("planted:rotate=2", "planted: rotate=2 must be one of 0, 1"),
        ("planted:gama=0.1", "planted: there is no option 'gama' .did you mean gamma"),
        ("planted:n=1000000,d=1000000", "planted: n=1000000 and d=1000000 would need 8,000.0 GB"),
        ("gaussian:n=99999999999999", "gaussian: n=99999999999999 must be at most"),
        ("loss-spike:n=3", "loss-spike: there is no option 'n' .it takes none"),
        ("two-lines:r=9999.999999", "two-lines: r=.* has too many digits"),
        ("staggered:d=9,r=2", "staggered: r=2 is too small for d=9"),
        ("orthogonal:n=1000,p=0.9999999999999999", "orthogonal: p=.* is too near 1"),
        ("orthogonal:p=1e-40", "orthogonal: p is too small"),
        ("imbalanced:n=21", "imbalanced: n=21 must be at least 2 .ratio . 1. = 22"),
        ("degenerate:kind=none", "degenerate: kind=none must be one of ties, dependent"),
        ("degenerate:kind=simplex,d=7", "degenerate: n=8, d=7 must be at least 1 and 8"),
        ("degenerate:kind=square,n=3", "degenerate: n=3, d=8 must be at least 4 and 3"),
    ],
)
def test_absurd_options(spec, sentence):
    with pytest.raises(ProblemError, match=f"^{sentence}"):
        load(spec)


@given(n=st.integers(2, 12), p=st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_orthogonal_rows_have_the_weights_that_were_asked_for(n: int, p: Fraction) -> None:
    made = generate("orthogonal", f"n={n},p={p.numerator}/{p.denominator}")
    weight = dict(made.known.q)[0]
    # r is rounded to 2^-20 of the unit, and p (1 - p) is half of what it moves relatively.
    r = Fraction(abs(int(made.X[0, 0])), abs(int(made.X[1, 1])))
    assert abs(weight - p) <= 2 * p * (1 - p) * Fraction(1, 2**20) / r
    assert made.known.gamma_squared == Fraction(int(made.X[0, 0])) ** 2 * weight
