"""What `solve` answers: the margin by brute force in fractions, and certificates that are accepted.

Data of every type at the edges of integers and doubles, from arrays or files, in every geometry.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import exp

import numpy as np
import pytest
import scipy.sparse
from certificates_for_tests import linear_gram
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reference.minimum_norm import between, dot, game, shortest

import gammabar as gb
from gammabar.harness.cli import main
from gammabar.oracle import check, solve
from gammabar.oracle.result import signed_digits
from gammabar.problems import ProblemError, from_arrays, load
from gammabar.problems.conversion import with_constant

KERNELS = ["linear", "poly:degree=2,coef0=1", "poly:degree=3", "rbf:gamma=0.5", "precomputed"]
SMALL = st.integers(-3, 3)
NUMBERS = {
    "int8": st.sampled_from([-128, 127, -1, 0, 1, 2]),
    "uint8": st.integers(0, 255) | st.integers(0, 2),
    "int64": st.sampled_from([-(2**63), 2**63 - 1, 2**62, -(2**53) - 1, -1, 0, 1, 3]) | SMALL,
    "uint64": st.sampled_from([2**64 - 1, 2**63, 2**53 + 1, 0, 1, 2]),
    "float32": st.floats(-8, 8, width=32) | st.sampled_from([0.0, -0.0, 1e-45, 3e38]),
    "float64": st.floats(-8, 8)
    | SMALL.map(float)
    | st.sampled_from([0.0, -0.0, 5e-324, 1e-310, 1e-160, 1e150, 1.7e308, -1e-81]),
}
SETTINGS = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def tables(draw, dtypes=tuple(NUMBERS)):
    """A matrix of some type, often with repeated rows, and labels of two or three classes."""
    dtype = draw(st.sampled_from(dtypes))
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    row = st.lists(NUMBERS[dtype], min_size=d, max_size=d)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    if draw(st.booleans()):
        rows[-1] = rows[0]
    classes = draw(st.sampled_from([2, 2, 3])) if n > 2 else 2
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    labels[:classes] = range(classes)
    return np.array(rows, dtype=dtype), np.array(labels)


@st.composite
def questions(draw, labels):
    """Keywords for the problem and for `solve`."""
    bias = draw(st.sampled_from(["none", "none", "free", "augmented"]))
    if len(set(labels.tolist())) > 2:
        return {"multiclass": True, "intercept": draw(st.sampled_from(["none", bias]))}, {}
    which = draw(st.sampled_from(["plain", "plain", "l1", "l1-simplex", "signed", "kernel"]))
    if which == "kernel":
        kernel = draw(st.sampled_from(KERNELS))
        return {"kernel": kernel, "normalised": draw(st.booleans()), "intercept": bias}, {}
    asked = {"signed": True} if which == "signed" else {"norm": which}
    return {"intercept": bias}, {} if which == "plain" else asked


def points_of(problem, X):
    more = [Fraction(1)] * (problem.intercept == "augmented")
    return [[*map(Fraction, row), *more] for row in X.tolist()]


def gram_of(problem, X, labels):
    """Inner products of the rows in fractions; None where they are not rational."""
    points = points_of(problem, X)
    if hasattr(problem, "k"):
        rows = [
            [v * ((m == c) - (m == j)) for m in range(problem.k) for v in x]
            for x, c in zip(points, labels.tolist(), strict=True)
            for j in range(problem.k)
            if j != c
        ]
        return [[dot(a, b) / 2 for b in rows] for a in rows]
    kernel = getattr(problem, "kernel", None)
    if kernel is None or kernel.name == "linear":
        return linear_gram(points, problem.y.tolist())
    if kernel.name != "poly":
        return None
    gamma, coef0 = Fraction(kernel.gamma), Fraction(kernel.coef0)
    signs = problem.y.tolist()
    return [
        [
            (gamma * dot(x, z) + coef0) ** kernel.degree * s * t
            for z, t in zip(points, signs, strict=True)
        ]
        for x, s in zip(points, signs, strict=True)
    ]


def is_the_truth(truth, problem, X, labels, wanted):
    """Margin and radius are those of the definition; weights are what they are weights of."""
    if norm := wanted.get("norm"):
        signs = problem.y.tolist()
        rows = [[v * s for v in x] for x, s in zip(points_of(problem, X), signs, strict=True)]
        signed = [[*row, *(-v for v in row)] for row in rows]
        assert truth.found.value_lo == game(rows if norm == "l1-simplex" else signed)[2]
        return
    if wanted or getattr(problem, "normalised", False):
        return
    gram = gram_of(problem, X, labels)
    if gram is None:
        return
    free = problem.intercept == "free"
    square = (between(gram, problem.y.tolist()) if free else shortest(gram))[1]
    assert truth.exact
    assert (truth.gamma_squared, truth.separable) == (square, square > 0)
    assert truth.radius_squared == max(gram[i][i] for i in range(len(gram)))
    assert sum(truth.numerators) == truth.total
    if free:
        sides = [
            v * int(problem.y[i]) for v, i in zip(truth.numerators, truth.support, strict=True)
        ]
        assert sum(sides) == 0
    if square and not hasattr(problem, "kernel") and not hasattr(problem, "k"):
        is_rounded_once(truth, problem, X)


def is_rounded_once(truth, problem, X):
    """Sums of rounded weights cancel where the margin is small, and squares leave the doubles."""
    rows, y = points_of(problem, X), problem.y.tolist()
    pairs = [*zip(truth.numerators, truth.support.tolist(), strict=True)]
    v = [sum(q * y[i] * rows[i][j] for q, i in pairs) for j in range(len(rows[0]))]
    square = dot(v, v)
    assert all(is_rounded(w, c, square) for w, c in zip(truth.w, v, strict=False))
    products = [dot(row, v) for row in rows]
    sides = [min(p for p, s in zip(products, y, strict=True) if s > 0)]
    sides.append(max(p for p, s in zip(products, y, strict=True) if s < 0))
    bias = {"none": Fraction(0), "free": -sum(sides) / 2, "augmented": v[-1]}[problem.intercept]
    assert is_rounded(truth.b, bias, square)


def is_rounded(value, over, square):
    """Whether a double is over/√square, or one of the two doubles next to that."""
    low, high = (Fraction(float(np.nextafter(value, end))) for end in (-np.inf, np.inf))
    sides = [v * abs(v) * square for v in (low, high)]
    return sides[0] <= over * abs(over) <= sides[1]


def accept(margin, folder, *files):
    margin.save(folder / "certificate.json")
    return check.check(str(folder / "certificate.json"), *map(str, files))


def written(kind, X, labels, folder, choose):
    """The file of a kind with these points, and what `load` needs to be told."""
    path, rows = folder / f"points.{kind}", X.tolist()
    if kind == "npz":
        np.savez(path, X=X, y=labels)
        return path, {}
    lines = []
    if kind == "csv":
        separator = choose.draw(st.sampled_from([",", ";", "\t"]))
        names = [["0", "1", "2"], ["no", "yes", "zero"], ["-1", "+1", "2.5"]]
        names = choose.draw(st.sampled_from(names))
        for label, row in zip(labels.tolist(), rows, strict=True):
            lines.append(separator.join([names[label], *map(repr, row)]))
    else:  # zeros are written or left out, row by row, and mean the same
        for label, row in zip(labels.tolist(), rows, strict=True):
            every = choose.draw(st.booleans())
            pairs = [f"{j + 1}:{v!r}" for j, v in enumerate(row) if v or every]
            lines.append(" ".join([str(label), *pairs]))
    path.write_text("\n".join(lines) + "\n")
    return path, {"label": "0"} if kind == "csv" else {}


@pytest.mark.parametrize("kind", ["dense", "sparse", "npz", "csv", "svm"])
@SETTINGS
@given(st.data())
def test_answers_are_true_and_their_certificates_are_accepted(tmp_path, kind, choose):
    text = kind in ("csv", "svm")
    X, labels = choose.draw(tables(("int8", "int64", "float64") if text else tuple(NUMBERS)))
    made, wanted = choose.draw(questions(labels))
    if made.get("kernel") == "precomputed":
        K = np.clip(X.astype(float), -1e100, 1e100) @ np.clip(X.astype(float), -1e100, 1e100).T
        made, X = ({}, X) if kind == "svm" else (made, (K + K.T) / 2)
    try:
        if kind in ("dense", "sparse"):
            store = scipy.sparse.csr_array if kind == "sparse" else np.asarray
            problem, path = from_arrays(store(X), labels, **made), tmp_path / "data.npz"
            np.savez(path, X=X, y=labels if "multiclass" in made else problem.y)
        else:
            path, told = written(kind, X, labels, tmp_path, choose)
            problem = load(str(path), **told, **made)
        truth = solve(problem, **wanted)
    except ProblemError:
        assume(False)
    if kind in ("dense", "sparse", "npz"):
        is_the_truth(truth, problem, X, labels, wanted)
    said = accept(truth, tmp_path, path)
    assert ("not separable" in said) == (truth.separable is False) or wanted


def test_augmented_is_a_constant_feature():
    X, y = np.array([[2**63 - 1, 0], [1, -1]]), [1, -1]
    truth = solve(X, y, intercept="augmented")
    assert truth.problem.digest() == from_arrays(with_constant(X), y).digest()
    assert truth.certificate["data"]["sha256"] == from_arrays(X, y).digest()


@pytest.mark.parametrize("gamma", [1e-300, 0.5, 1e300])
def test_equal_points_with_opposite_labels(tmp_path, gamma):
    path = tmp_path / "twins.svm"
    path.write_text("0 1:2 2:0\n1 1:2\n1 1:3 2:1\n")
    margin = solve(load(str(path), kernel=f"rbf:gamma={gamma}"))
    assert margin.separable is False
    assert "not separable" in accept(margin, tmp_path, path)


# --- geometries by hand -------------------------------------------------------------------


def test_rbf_enclosure_of_two_points():
    """Two opposite points at distance 1: q̄ = (½, ½) and γ̄² = (1 − e^{−γ})/2."""
    truth = solve(from_arrays([[0.0], [1.0]], [-1, 1], kernel="rbf:gamma=0.5"), digits=30)
    assert truth.separable
    assert not truth.exact
    assert truth.gamma == pytest.approx(((1 - exp(-0.5)) / 2) ** 0.5, rel=1e-15)
    assert truth.bounds[1] - truth.bounds[0] < Fraction(1, 10**29)
    context = Context(prec=40)
    root = context.sqrt(context.divide(1 - context.exp(Decimal("-0.5")), Decimal(2)))
    assert truth.digits(28) == str(root)[:30]


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e100, 1e300])
def test_rbf_at_extreme_scales(scale):
    """Points that nearly coincide or are infinitely far apart for doubles are still told apart."""
    truth = solve(from_arrays(np.array([[0.0], [1.0]]) * scale, [-1, 1], kernel="rbf:gamma=1"))
    assert truth.separable
    if scale < 1:  # γ̄² = (1 − exp(−s²))/2, which is s²/2 up to a factor 1 − s²/2
        assert truth.digits(10, raw=True) == signed_digits(*[Fraction(scale) ** 2 / 2] * 2, 10)
    else:
        assert truth.digits(10) == "0.7071067811"


@pytest.mark.parametrize("kernel", ["rbf:gamma=0.05", "poly:degree=3,coef0=1", "linear"])
def test_enclosures_contain_every_weak_duality_bound(kernel):
    """γ̄ lies between min(Gα)/‖α‖ and ‖q‖ for arbitrary α and q, evaluated in floating point."""
    rng = np.random.default_rng(5)
    X = rng.integers(1, 9, (30, 3))
    y = np.where(X[:, 0] + X[:, 1] > 9, 1, -1)
    problem = from_arrays(X, y, kernel=kernel, normalised=True)
    truth = solve(problem)
    for _ in range(200):
        q = rng.dirichlet(np.ones(30))
        assert truth.gamma_lo <= problem.norm(q) * (1 + 1e-12)
        assert problem.margin(q) <= truth.gamma_hi * (1 + 1e-9) + 1e-12
    assert truth.separable == (kernel != "linear")  # a line through the origin is too little here
    if truth.separable:
        assert problem.margin(truth.q) == pytest.approx(truth.gamma, rel=1e-6)


def test_normalised_linear_kernel_is_the_problem_of_unit_rows():
    """Ramdas–Peña §2.2: points on two lines have normalised margin 0.1·√2, however long."""
    X = np.array([[3, 4], [6, 8], [30, 40], [4, 3], [8, 6], [40, 30]])
    truth = solve(from_arrays(X, [1, 1, 1, -1, -1, -1], kernel="linear", normalised=True))
    assert truth.digits(12) == "0.141421356237"


def test_callable_kernels_become_tables():
    X, y = np.array([[1, 2], [3, 1], [2, 2]]), [1, -1, 1]
    truth = solve(from_arrays(X, y, kernel=lambda a, b: np.asarray(a) @ np.asarray(b).T))
    assert truth.gamma_squared == solve(from_arrays(X, y)).gamma_squared


# --- intercepts ---------------------------------------------------------------------------


def blobs(seed=0, n=60, far=4.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) + 5
    y = np.where(np.arange(n) < n // 2, 1, -1)
    X[y > 0, 0] += far
    return X, y


def test_several_classes_have_a_bias_each():
    X = np.array([[3.0, 3], [3, 4], [9, 3], [9, 4], [3, 9], [4, 9]])
    labels = [0, 0, 1, 1, 2, 2]
    problem = from_arrays(X, labels, multiclass=True, intercept="augmented")
    truth = solve(problem)
    scores = X @ truth.w.reshape(2, 3) + truth.b
    assert (scores.argmax(axis=1) == labels).all()


def test_an_rbf_kernel_with_a_free_bias():
    X, y = blobs(far=0.5, n=24)
    truth = solve(from_arrays(X, y, kernel="rbf:gamma=0.5", intercept="free"))
    scores = truth.problem.scores(truth.w) + y * truth.b
    assert truth.separable
    assert scores.min() == pytest.approx(truth.gamma_raw, rel=1e-9)
    assert truth.gamma_hi - truth.gamma_lo < 1e-15


@pytest.mark.parametrize(
    ("made", "asked", "words"),
    [
        ({"multiclass": True}, "free", "pairs of classes"),
        ({"kernel": "linear", "normalised": True}, "free", "normalised"),
        ({"kernel": "linear"}, "augmented", r"K \+ 1"),
        ({}, "biased", "not one of"),
    ],
)
def test_what_has_no_such_intercept_says_so(made, asked, words):
    X, y = blobs()
    with pytest.raises(ProblemError, match=words):
        from_arrays(X, y, intercept=asked, **made)


def test_other_refusals():
    X, y = blobs()
    with pytest.raises(ProblemError, match="single class"):
        from_arrays([[1.0]], [1], intercept="free")
    for asked in ({"norm": "l1"}, {"signed": True}):
        with pytest.raises(ProblemError, match="no free intercept"):
            solve(X, y, intercept="free", **asked)
    with pytest.raises(ProblemError, match="labels"):
        solve(X)
    with pytest.raises(ProblemError, match="labels already"):
        solve(from_arrays(X, y), y)
    with pytest.raises(ProblemError, match="through the origin"):
        gb.verify("dual-acceleration", from_arrays(X, y, intercept="free"), "gb.sharp")


@pytest.mark.parametrize(
    "options", [[], ["--norm", "l1"], ["--multiclass"], ["--kernel", "linear"]]
)
def test_what_a_bias_separates_is_said_of_every_margin(tmp_path, capsys, options):
    """Through the origin nothing separates these blobs; with a bias any line between them does."""
    path = tmp_path / "blobs.csv"
    for text, there in (("1,5,5\n1,6,5\n0,1,1\n0,2,1\n", True), ("1,1\n0,2\n1,3\n", False)):
        path.write_text(text)
        with pytest.raises(SystemExit):
            main(["oracle", str(path), *options])
        said = capsys.readouterr().out
        words = "but separable with a bias" if there else "nor with a bias"
        assert f"not separable through the origin, {words}" in said
