"""Section 4, Boosting: Definition 5, Lemma 7 and its proof, the greedy view, and VC dimensions.

As printed AdaBoost is undefined if a hypothesis makes no mistake (ε_t = 0, α_t = ∞, D_{t+1} = 0/0);
what H tends to as ε_t → 0 is then h_t alone, with z_{t+1} = 0.
"""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from gammabar.papers.claims import *
from gammabar.papers.lecture.boosting import *
from gammabar.papers.lecture.quantities import lec
from gammabar.problems import DenseProblem

# Lemma 7

boosted = lec.sharing(ON_POINTS, problems=BOOSTED)
SLOWER = "adaboost/alpha-without-half"


@boosted.direct("lem7", "Lemma 7", kind="stopping", slower=SLOWER)
def _no_training_error(c):
    r"""AdaBoost with weak hypotheses of advantage γ has training error 0 after log(2n)/(2γ²)
    rounds.

    $T = \frac{1}{2\gamma^2} \log(2n) \implies \text{the training error is } 0$

    With ε_t ≤ ½ − γ, as remark 1 assumes and the proof uses (γ_t ≥ γ); γ is the smallest
    γ_t of the run so far, and every T is checked that the lemma speaks about. T is no whole number
    (log(2n) is transcendental): rounding down suffices, since ∏ z_t ≤ e^{−2γ²(T−1)} ≤ √e/(2n) <
    1/n. Definition 5 (error ≤ γ) and line 4 of Algorithm 3 (ε_t ≤ 1 − γ) print other conditions,
    for which see lec.lem7.line4."""
    for s in sessions(c):
        yield from s.faults
        gamma = number(1) / 2
        for r, least, most in s.errors():
            gamma = smallest([gamma, r.gamma])
            if gamma > 0 and (r.perfect or r.t > 1 / (2 * gamma**2) * log(2 * r.n) - 1):
                yield _mistakes(r, least, most, number(0))


def _mistakes(r: Round, least: int, most: int, bound: Number, allowance: float = 0.0) -> Relation:
    """The training error is at most a bound."""
    error = number(most) / r.n
    if not error <= bound and least < most:  # so it depends on votes that may be zero
        error = between(number(least) / r.n, error)
    what = "P_{D_1}(sign(H(x)) ≠ y) ≤ bound"
    return at_most(error, bound, what, where=r.where, allowance=allowance)


#: Labels of the points 1, 2, 3 for a learner that always answers +1; and the same in a search.
LABELS = (1, 1, -1)
INPUTS = {"y": choices(1, -1, shape=("n",)), "gamma": rationals(Fraction(1, 10), Fraction(9, 10))}
always_one = lec.sharing(BOOSTING, Erratum("misprint", "lem7"), kind="stopping", inputs=INPUTS)


@always_one.direct("lem7.line4", "Lemma 7, with the condition that line 4 of Algorithm 3 prints")
def _no_training_error_line_4(c):
    r"""AdaBoost with ε_t ≤ 1 − γ has training error 0 after log(2n)/(2γ²) rounds.

    $\epsilon_t \leq 1 - \gamma, \quad T = \frac{1}{2\gamma^2} \log(2n) \implies
    \text{the training error is } 0$"""
    return _constant_learner(c, Fraction(2, 5), lambda gamma: 1 - gamma)


@always_one.direct("def5", "Definition 5, as Lemma 7 uses it")
def _no_training_error_definition_5(c):
    r"""AdaBoost with weak hypotheses of error at most γ has training error 0 after log(2n)/(2γ²)
    rounds.

    $\text{error}(h; c, D) \leq \gamma, \quad T = \frac{1}{2\gamma^2} \log(2n) \implies
    \text{the training error is } 0$"""
    return _constant_learner(c, Fraction(3, 5), lambda gamma: gamma)


def _constant_learner(case, gamma, worst):
    """Lemma 7 for a learner that always answers +1, if every ε_t ≤ `worst(γ)`."""
    [(y, gamma)] = case.instances([(LABELS, gamma)])
    n, gamma = len(y), number(gamma)
    T = 1 / (2 * gamma**2) * log(2 * n)
    if len(set(y)) == 1:
        raise Unclaimed("one label alone: the learner makes no mistake, or nothing but mistakes")
    problem = DenseProblem(np.arange(1, n + 1)[:, None], np.array(y))
    solver = steered(solver_of(case), learner=lambda X, y: lambda D: _plus)
    played = [*session(case, solver, problem, "h = +1", math.ceil(upper(T))).errors()]
    if above := [r.t for r, *_ in played if not r.epsilon <= worst(gamma)]:
        raise Unclaimed(f"ε_{above[0]} is above what the condition allows")
    return [_mistakes(*one, number(0)) for one in played if one[0].t > T - 1]


def _plus(X):
    return np.ones(X.shape[0], dtype=np.int8)


# The proof of Lemma 7


def _root(r: Round) -> Number:
    """√(1 − 4γ_t²) = 2√(ε_t(1 − ε_t))."""
    if r.perfect or r.epsilon >= 1:  # the latter if D_t is no distribution
        return number(0)
    return 2 * sqrt(r.epsilon * (1 - r.epsilon))


def _slack(r: Round) -> float:
    """Rounding of z_{t+1}, of which sums of D_t are the only inexact part."""
    return 0.0 if r.perfect else r.slip * upper(_root(r)) + TINY


@boosted.direct("alg3.z", "Proof of Lemma 7", kind="anytime")
def _error_is_below_the_product(c):
    r"""The training error of AdaBoost after T rounds is at most z_2 ⋯ z_{T+1}, and z_{t+1} is
    √(1 − 4γ_t²) with γ_t = ½ − ε_t.

    $\frac{1}{n} \sum_{i=1}^n \mathbb{1}(\text{sign}(H(x_i)) \neq y_i) \leq
    \prod_{t=2}^{T+1} z_t, \quad z_{t+1} = \sqrt{1 - 4\gamma_t^2}$

    Lines of the same proof that are misprinted stand in lec.alg3.z.sum and lec.alg3.z.exp;
    the product in its last line starts at t = 1, but there is no z_1."""
    for s in sessions(c):
        yield from s.faults
        product, off = number(1), 0.0
        for r, least, most in s.errors():
            z, what = number(r.after.extra["z"]), "z_{t+1} = √(1 − 4γ_t²)"
            yield equal(z, _root(r), what, where=r.where, allowance=_slack(r))
            product *= z
            off += r.slip
            yield _mistakes(r, least, most, product, 2 * off)


SMALL = rationals(Fraction(1, 1000), Fraction(499, 1000))
LINE = "Proof of Lemma 7, the third line on z_{t+1}"
BOUND = "Proof of Lemma 7, the bound on z_{t+1}"
GAMMA = {"gamma": SMALL}
sums = lec.sharing(kind="identity", inputs={"epsilon": SMALL})


@sums.direct("alg3.z.sum", LINE, BOOSTING, Erratum("transcription", ".fixed"))
@sums.direct(
    "alg3.z.sum.fixed",
    f"{LINE}, with = for −",
    ON_POINTS,
    problems=BOOSTED,
    instead={" − 2√": " = 2√", "- 2": "= 2"},
)
def _normaliser(c, printed):
    r"""z_{t+1} = (1 − ε)√(ε/(1 − ε)) + ε√((1 − ε)/ε) − 2√(ε(1 − ε)).

    $z_{t+1} = (1 - \epsilon_t) \sqrt{\frac{\epsilon_t}{1 - \epsilon_t}} + \epsilon_t
    \sqrt{\frac{1 - \epsilon_t}{\epsilon_t}} - 2\sqrt{\epsilon_t(1 - \epsilon_t)}$"""

    def sides(e, f):
        both, root = f * sqrt(e / f) + e * sqrt(f / e), 2 * sqrt(e * f)
        if printed:
            return {"z = … + … − 2√(ε(1 − ε))": both - root}
        return {"z = … + …": both, "z = 2√(ε(1 − ε))": root}

    if c.inputs is not None:
        # By its definition z = Σ D_i exp(−α y_i h(x_i)) = (1 − ε)e^{−α} + εe^α, e^{2α} = (1 − ε)/ε.
        e = number(c.inputs["epsilon"])
        grown = sqrt((1 - e) / e)
        for what, wanted in sides(e, 1 - e).items():
            yield same_digits((1 - e) / grown + e * grown, wanted, what)
        return
    for s in sessions(c):
        yield from s.faults
        for r in (r for r in s.rounds if not r.perfect and r.epsilon < 1):
            for what, wanted in sides(r.epsilon, 1 - r.epsilon).items():
                z, slack = r.after.extra["z"], _slack(r)
                yield equal(z, wanted, what, where=r.where, allowance=slack)


@lec.direct(
    "alg3.z.exp", BOUND, BOOSTING, Erratum("misprint", ".fixed"), kind="identity", inputs=GAMMA
)
@boosted.direct(
    "alg3.z.exp.fixed",
    f"{BOUND}, with its minus",
    kind="anytime",
    inputs=GAMMA,
    slower=SLOWER,
    words="√(1 − 4γ_t²) ≤ (e^{−4γ_t²})^{1/2} = e^{−2γ_t²} ≤ e^{−2γ²}, and so z_2 ⋯ z_{T+1} ≤"
    " e^{−2Tγ²}.",
    instead={
        "= e^{2": "= e^{-2",
        r"e^{-2\gamma^2}": r"e^{-2\gamma^2}, \quad \prod_{t=2}^{T+1} z_t \leq e^{-2T\gamma^2}",
    },
    note="γ is a lower bound on the γ_t of the run, where there is a positive one.",
)
def _normaliser_bound(c, printed):
    r"""√(1 − 4γ_t²) ≤ (e^{−4γ_t²})^{1/2} = e^{2γ_t²} ≤ e^{−2γ²}.

    $\sqrt{1 - 4\gamma_t^2} \leq (e^{-4\gamma_t^2})^{\frac{1}{2}} = e^{2\gamma_t^2}
    \leq e^{-2\gamma^2}$"""
    sign = 1 if printed else -1
    first, second = "√(1 − 4γ_t²) ≤ (e^{−4γ_t²})^{1/2}", "(e^{−4γ_t²})^{1/2} is the next power"
    if c.inputs is not None:
        g = number(c.inputs["gamma"])
        middle = sqrt(exp(-4 * g**2))
        yield at_most(sqrt(1 - 4 * g**2), middle, first)
        yield same_digits(middle, exp(sign * 2 * g**2), second)
        return
    for s in sessions(c):
        yield from s.faults
        product, gamma, off = number(1), _below(s), 0.0
        for r in s.rounds:
            g, power = r.gamma, exp(sign * 2 * r.gamma**2)
            yield at_most(_root(r), exp(-2 * g**2), first, where=r.where)
            yield same_digits(sqrt(exp(-4 * g**2)), power, second, where=r.where)
            if gamma > 0:
                yield at_most(power, exp(-2 * gamma**2), "… ≤ e^{−2γ²}", where=r.where)
            if gamma > 0 and not printed:
                product *= number(r.after.extra["z"])
                off += r.slip
                what, bound = "z_2 ⋯ z_{T+1} ≤ e^{−2Tγ²}", exp(-2 * r.t * gamma**2)
                yield at_most(product, bound, what, where=r.where, allowance=2 * off)


def _below(s: Session) -> Number:
    """A γ with γ_t ≥ γ for all t: a millionth below the smallest, so that ≥ can be proved."""
    least = min((float(r.gamma.lower()) for r in s.rounds), default=0.0)
    return number(least * (1 - 1e-6))


# AdaBoost minimises the exponential loss in a greedy manner. Σ_i exp(−y_i f_{t+1}(x_i)) with
# f_{t+1} = f_t + αh is Σ_i exp(−y_i f_t(x_i)) times E(α, h) = Σ_i D_{t+1}(i) e^{−α y_i h(x_i)}, for
# D_{t+1} ∝ exp(−y_i f_t(x_i)); so it is E that a round has to minimise. For a given h its minimum
# over α is √(M² − e²), where M is the sum of D and e = Σ_i D(i) y_i h(x_i) the edge of h.

#: By how much α is moved to see whether E gets smaller.
MOVES = (-2.0, -0.5, -0.01, 0.01, 0.5, 2.0)


@lec.direct(
    "sec4.greedy",
    "Section 4, AdaBoost as greedy minimisation, and the problem under Figure 1",
    ON_POINTS,
    kind="anytime",
    problems=("", "wine:0,1"),
    instances="all α of a grid; all stumps, where the weak learner looks for the best",
)
def _greedy(c):
    r"""Each round of AdaBoost adds the multiple of h_t that makes the exponential loss smallest;
    and of all stumps none makes it smaller, if the weak learner looks for the best.

    $f_{t+1} = f_t + \alpha_{t+1}h_{t+1} \text{ is a solution of } \min_{h_{t+1}(x)}
    \sum_{i=1}^n \exp(-y_i f_{t+1}(x_i))$

    The minimum is over h and α together: α_t minimises for the h_t at hand, and a weak
    learner of least error finds the h for which that is smallest. With any other learner only
    the former is so, and only that is checked."""
    for s in sessions(c):
        yield from s.faults
        for r in s.rounds:
            if r.perfect:
                continue  # α_t is infinite, and the loss zero
            alpha = number(float(np.asarray(r.after.w)[-1]))
            found = _loss(r, alpha)
            for move in MOVES:
                what = f"E(α_t, h_t) ≤ E(α_t + {move:g}, h_t)"
                yield at_most(found, _loss(r, alpha + number(move)), what, where=r.where)
            if s.best:
                yield _best(s, r, found)


def _loss(r: Round, alpha: Number) -> Number:
    """E(α, h_t)."""
    return r.right * exp(-alpha) + r.epsilon * exp(alpha)


def _best(s: Session, r: Round, found: Number) -> Relation:
    """No stump, with whatever α, has a smaller E. Equality is what is hoped for: rounding counts.

    Edges are sums of n products in doubles; so is D_t, of which `Round.slip` bounds what it does.
    """
    mass, off = r.right + r.epsilon, (r.n + 4) * ROUNDOFF
    least = smallest([number(s.edge(r)), mass])
    square = (mass - least) * (mass + least)
    best, above = sqrt(square), sqrt(square + 4 * number(off))
    slack = upper(above - best) + 4 * r.slip * upper(above) + 4 * off + TINY
    # Beside what the round gains over α = 0, and roundoffs of the sums.
    size = size_of(mass - best, 64 * (r.n + 16) * upper(mass))
    what = "E(α_t, h_t) ≤ √(M² − e²) for every stump"
    return nearly(found, best, what, rounding=slack, size=size, where=r.where)


# What the proof of Theorem 6 says about VC dimensions and sample sizes. The bounds on the number of
# examples have a constant c that is not named, for any class, learner and distribution: no run can
# refute them, and they are not registered.

#: The domain is {0, …, 5}.
POINTS = 6


def _vc_dimension(H, T):
    """That of the members of LC(H, T) with weights −2, …, 2: the largest number of points of the
    domain on which all signs occur. (sign(0) is +1.)"""
    weights = np.array(list(product(range(-2, 3), repeat=T)))
    every = [weights @ np.array(rows) >= 0 for rows in combinations(np.where(H, 1, -1), T)]
    patterns = set(map(tuple, np.concatenate(every).tolist()))
    for size in range(POINTS, 0, -1):
        for chosen in combinations(range(POINTS), size):
            if len({tuple(p[i] for i in chosen) for p in patterns}) == 2**size:
                return size
    return 0


domain, ends = np.arange(POINTS), range(POINTS + 1)
#: x ↦ sign(x ≥ θ) and x ↦ sign(a ≤ x < b), one row each, and their VC dimensions.
CLASSES = {
    "thresholds": (np.array([domain >= c for c in ends]), 1),
    "intervals": (np.array([(a <= domain) & (domain < b) for a, b in combinations(ends, 2)]), 2),
}
VC = lec.sharing(
    kind="existence", powerless="it is about classes of hypotheses, not about a solver"
)


IN_CLASSES = {"H": choices(*CLASSES), "T": wholes(1, 3)}


@VC.direct("sec4.vc", "Section 4, Exercise", Erratum("edge case", ".fixed"), inputs=IN_CLASSES)
@VC.direct(
    "sec4.vc.fixed",
    "Section 4, Exercise, for T ≥ 2, with a constant",
    inputs=IN_CLASSES | {"T": wholes(2, 3)},
    instances="thresholds and intervals on six points, T = 2 and 3, small weights",
    words="For T ≥ 2 the combinations of T hypotheses of a class of VC dimension d ≥ 1 have VC"
    " dimension at most 16 T d log T.",
    instead={r"for some constant } c": r"with } c = 16, \text{ for } T \geq 2"},
    note="The proof of c = 16 is in papers/gammabar/PROOFS.md; trying can only refute it.",
)
def _vc(c, printed):
    r"""The combinations of T hypotheses of a class of VC dimension d have VC dimension at most
    c T d log T.

    $\text{VC-dim}(LC(\mathcal{H}, T)) \leq c\,T\,d\log(T) \text{ for some constant } c$"""
    constant = 10**6 if printed else 16
    for name, T in c.instances(product(CLASSES, (1,) if printed else (2, 3))):
        H, d = CLASSES[name]
        bound = constant * T * d * log(T)
        what, where = "VC-dim(LC(H, T)) ≤ c T d log T", f"{name}, d = {d}, T = {T}"
        yield at_most(_vc_dimension(H, T), bound, what, where=where)


@VC.direct(
    "sec4.nlogn",
    "Section 4, the last line of the proof of Theorem 6",
    inputs={"a": rationals(0, 10**9, positive=True), "n": wholes(1, 10**12)},
    instances="a from 1/2 to 10⁹, and n = 2a log a, one more, and twice as much",
)
def _n_log_n(c):
    r"""n ≥ a log n for all n ≥ 2a log a.

    $n \geq a\log(n) \text{ is satisfied for } n \geq O(a\log(a))$

    With the constant 2 (Shalev-Shwartz and Ben-David 2014, Lemma A.1): at n = 2a log a it
    says a ≥ 2 log a, and n − a log n grows from n = a on; for a ≤ e it holds for every n."""
    own = []
    for a in (Fraction(1, 2), 1, 2, 3, 10, 1000, 10**9):
        first = max(1, math.ceil(upper(2 * number(a) * log(number(a)))))
        own += [(a, n) for n in (first, first + 1, 2 * first)]
    for a, n in c.instances(own):
        if c.inputs is not None and not n >= 2 * number(a) * log(number(a)):
            raise Unclaimed("n is below 2a log a")
        yield at_least(n, number(a) * log(n), "n ≥ a log n", where=f"a = {a}, n = {n}")
