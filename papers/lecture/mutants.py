"""Mutants of the methods of the lecture: lines of their source, and wrong ones."""

from gammabar.harness.paper import Family

FAMILY = Family("lec", __name__)
FAMILY.patches("""
smooth-gradient-descent/lambda-forgotten: η = 2/β in place of 2/(β + λ): along the steepest
direction w_t jumps to and fro for ever.
    f.smoothness + f.strong_convexity → f.smoothness
smooth-gradient-descent/steps-shrink: η_t = η/(t + 1): what is left falls as a power of 1/T, not as
e^{−T/κ}.
    w - eta * gradient → w - eta / (t + 1) * gradient
smooth-gradient-descent/stale-gradient: The gradient is taken at w_{t−1}: on quadratics steps of
this length then diverge.
    gradient = f.gradient(w)
    → gradient = f.gradient(before if t else w)
    → before = w

accelerated-gradient-descent/root-forgotten: The momentum is (κ − 1)/(κ + 1), with κ in place of √κ:
with that much momentum it is no faster than plain descent.
    math.sqrt(f.smoothness / f.strong_convexity) → f.smoothness / f.strong_convexity
accelerated-gradient-descent/gradient-at-w: The gradient is taken at w_t in place of v_t: this is
the heavy ball, for which no such rate is proved.
    f.gradient(v) → f.gradient(w)

sgd/last-term-never-drawn: Indices are drawn from 0, …, n − 2: E v_t is not ∇f(w_t), so another
function is minimised.
    rng.integers(n) → rng.integers(max(1, n - 1))
sgd/one-term-too-often: Index 0 is drawn 10 % too often: E v_t is not ∇f(w_t).
    rng.integers(n) → rng.integers(n) if (n - 1) * rng.random() > 0.1 else 0
sgd/without-replacement: Each epoch goes through a random permutation: the draws are uniform, but
not independent.
    (int(rng.integers(n)) for _ in repeat(None))
    → (int(i) for _ in repeat(None) for i in rng.permutation(n))
sgd/step-forgets-the-horizon: η = B/ρ, without 1/√T: the noise of the steps does not fall with T.
    (rho * math.sqrt(self.horizon)) → rho
sgd/step-falls-too-fast: η = B/(ρT) in place of B/(ρ√T): T steps of B/(ρT) go no further than B, and
w̄ half as far.
    math.sqrt(self.horizon) → self.horizon
sgd/no-averaging: The output is the last iterate: the theorem is about the average; the last iterate
still jumps.
    total / (t + 1) → w
sgd/averages-without-the-start: The average leaves out w_1: w̄ has w_2, …, w_T, which are one fewer
than T.
    total + w → total + (w if t else 0)
    total / (t + 1) → total / max(t, 1)

adaboost/alpha-without-half: α_t = log((1 − ε_t)/ε_t): z_{t+1} is 1, so the bound on the error never
falls.
    0.5 * math.log → math.log
adaboost/never-renormalised: D_{t+1}(i) = D_t(i) exp(−α_t h_t(x_i) y_i), not divided by z_{t+1}: D_t
is no distribution, and ε_t no probability.
    D = unnormalised / z → D = unnormalised
adaboost/weights-ignored: The weak learner is always given D_1: every round finds the same h, and
ε_t is ½ from the second on.
    learn(D) → learn(np.full(D.size, 1 / D.size))
adaboost/votes-equal: H = Σ_t h_t, without the α_t: what is barely better than chance counts as much
as the best.
    np.append(vote.w, alpha) → np.append(vote.w, 1.0)
    vote.votes + alpha * agrees → vote.votes + agrees
adaboost/only-mistakes-reweighed: D_t(i) is multiplied by e^{2α_t} where h_t is wrong and left alone
where it is right: D_{t+1} is right, but z_{t+1} is too large.
    np.exp(-alpha * agrees) → np.where(agrees < 0, math.exp(2 * alpha), 1.0)

kernel-ridge/dual-forgets-lambda: α = K⁺ y in place of (K + λI)⁻¹ y: the dual does not predict what
the primal does.
    _solve(kernel.matrix(points, points), y, self.regularisation)
    → np.linalg.lstsq(kernel.matrix(points, points), y, rcond=None)[0]
kernel-ridge/lambda-times-n: λ is multiplied by n, as if the sum of squares were a mean: primal and
dual agree, but on the minimiser of another function.
    features.T @ y, self → features.T @ y, len(y) * self
    points), y, self → points), y, len(y) * self
kernel-ridge/objective-without-two: The linear term of the objective is −(Φᵀy)ᵀw, without its factor
2: gradient descent on it ends at w*/2.
    2 * features.T @ y → features.T @ y
""")
