"""Mutants of the solvers of Ramdas and Peña (2015): lines of their source, and wrong ones."""

from gammabar.harness.paper import Family

FAMILY = Family("rp", __name__)
FAMILY.patches("""
normalized-perceptron/exits-at-zero: It halts when A w_k ≥ 0: w_0 = 0 has scores 0 only, so it halts
at once.
    scores > 0 → scores >= 0
normalized-perceptron/theta-constant: θ_k = ½ in place of 1/(k+1), after the first step: w_k forgets
all but the last rows, and need never separate.
    total = total + problem.row(j)
    → total = (k + 1) / 2 * (total / k + problem.row(j)) if k else problem.row(j)
normalized-perceptron/starts-with-the-sum: The first step adds all rows: single rows need n steps to
undo it, in place of 1/ρ².
    problem.row(j) → (problem.row(j) if k else problem.combine(np.ones(problem.n)))

winnow/wrong-sign: w_t ∝ exp(−η_t (g_1 + … + g_t)): weight goes to the coordinates that the worst
rows vote against.
    soften(-self._rate → soften(self._rate
winnow/scale-forgotten: g_{t+1} = a_i, not divided by ‖a_i‖_∞: the rate is meant for coordinates of
at most one.
    total + row / (np.abs(row).max() or 1.0) → total + row
winnow/additive: w_t is the positive part of 1/d + η_t (g_1 + … + g_t)/d, divided by its sum: weight
moves by η and not by a factor: d steps in place of log d.
    w = soften(-self._rate(t, total.size) * total, 1.0)[0]
    → w = np.maximum(1 + self._rate(t, total.size) * total, 0.0)
    → w = (w if w.any() else np.ones(w.size)) / (w.sum() or w.size)

nkp/exits-at-zero: It halts when G α_k ≥ 0: α_0 = 0 has G α_0 = 0, so it halts at once.
    total.separates() → (total.scores >= 0).all()
nkp/starts-with-the-sum: The first step adds all rows, which count as one: single rows need n steps
to undo it, in place of 1/ρ_K².
    total = renewed(problem, total) → pass
    max(k, 1) → max(float(total.weights.sum()), 1.0)
    single_row(problem, j)
    → single_row(problem, j) if k else combination(problem, np.ones(problem.n))
nkp/carried-scores-trusted: It halts by the scores that were carried along, without computing them
afresh: after many additions their errors may be larger than the smallest score.
    total = renewed(problem, total) → pass
    only: only by rounding errors, and never where the Gram matrix has small integers only
nkp/reports-counts: The dual that it reports is k α_k: w_k is right, but what it reports is no
distribution.
    dual=alpha → dual=k * alpha

snkp/temperature-one-behind: p_{k+1} = (1 − θ_k) p_k + θ_k p_{μ_k}(α_{k+1}), with μ_k in place of
μ_{k+1}: the excessive gap ½‖p_k‖² ≤ −L_μ(α_k) needs μ_{k+1} here.
    mu = (1 - theta) * mu
    → hot = mu
    → mu = (1 - theta) * mu
    * p + theta * p_mu → * p + theta * soften(soft.scores, hot)[0]
    * v + theta * soft.pull → * v + theta * problem.softmin(w, hot).pull
snkp/never-cools: μ_{k+1} = μ_k: the smoothed function stays 2 log n away from the true one.
    mu = (1 - theta) * mu → pass
snkp/cools-too-fast: μ_{k+1} = (1 − θ_k)² μ_k: L_μ(α_k) ≤ −½‖p_k‖² needs a μ_k that falls no faster
than θ_k².
    mu = (1 - theta) * mu → mu = (1 - theta) ** 2 * mu
snkp/momentum-dropped: α_{k+1} = (1 − θ_k) α_k + θ_k p_{μ_k}(α_k), with p_{μ_k}(α_k) in place of
p_k: α_k chases the newest answer, and L_μ(α_k) ≤ −½‖p_k‖² breaks.
    alpha + theta * p) → alpha + theta * p_mu)
    w + theta * v) → w + theta * soft.pull)
snkp/exits-at-zero: It halts when G α_k ≥ 0: a row on the hyperplane is not classified, and
inseparable data are called separated.
    soft.smallest > 0 → soft.smallest >= 0
    only: only where the smallest score of some α_k is exactly 0
snkp/perceptron-instead: p_k = α_k, which moves to the row of the smallest score by 1/(k+2): without
smoothing the rate is 1/ρ², not √(log n)/ρ.
    p, v = p_mu, soft.pull → p, v = alpha, w
    theta = 2 / (k + 3) → theta, rate = 2 / (k + 3), 1 / (k + 2)
    alpha = (1 - theta) * (alpha + theta * p) + theta**2 * p_mu
    → worst = single_row(problem, int(np.argmin(soft.scores)))
    → p = alpha = (1 - rate) * alpha + rate * worst.weights
    w = (1 - theta) * (w + theta * v) + theta**2 * soft.pull
    → v = w = (1 - rate) * w + rate * worst.w
    p = (1 - theta) * p + theta * p_mu → pass
    v = (1 - theta) * v + theta * soft.pull → pass
snkp/reports-next-mu: The μ_k that it reports is μ_{k+1}: every iterate is right, but L_μ is taken
at a wrong μ.
    "mu": mu} → "mu": (1 - 2 / (k + 3)) * mu}

nvn/square-tested: It halts when ‖w_k‖² ≤ ε: its ε-solution is a √ε-solution.
    p.norm() <= self → p.square() <= self
    if norm <= self → if p.square() <= self
nvn/steps-shrink: θ_k is what the line search finds, divided by k + 1: ‖w_k‖ falls as a power of
1/log k, not as 1/√k.
    float(row.scores[j])) → float(row.scores[j])) / (k + 1)
nvn/overshoots: θ_k is twice what the line search finds, cut to [0, 1]: unless it is cut, w_{k+1} is
as long as w_k.
    gain / length) → 2 * gain / length)

snkpvn/starts-cold: μ_0 = 2 in place of 2n: the smoothing is weaker than the norm of the space asks
for.
    2.0 * problem.n → 2.0
snkpvn/never-cools: μ_{k+1} = μ_k: p_μ stays near the centre, whatever the scores are.
    mu = (1 - theta) * mu → pass
snkpvn/perceptron-instead: p_k = α_k, which moves to the row of the smallest score by 1/(k+2):
without smoothing the rate is 1/ρ², not √n/ρ.
    p = p_mu → p = alpha
    alpha = mix((1 - theta, alpha), ((1 - theta) * theta, p), (theta**2, p_mu))
    → worst = single_row(problem, int(np.argmin(alpha.scores)))
    → alpha = mix((1 - 1 / (k + 2), alpha), (1 / (k + 2), worst))
    p = mix((1 - theta, p), (theta, p_mu)) → p = alpha
snkpvn/square-tested: It returns p_k when ‖p_k‖²_G < δ: what it certifies is ‖p_k‖_G < √δ.
    p.norm() < delta → p.square() < delta
snkpvn/centre-forgotten: p^q_μ(α) is the projection of −G α/μ onto the simplex, without q: the
lemmas are about a projection from q − G α/μ.
    _towards(q.weights, → _towards(0 * q.weights,
    only: only with a centre q of its own: the default 1/n does not move the projection

isnkpvn/restarts-from-the-start: q_{t+1} = q_0: δ_t never gets smaller, so inseparable data are
never certified.
    q = step.p → pass
isnkpvn/perceptron-instead: In every call p_k = α_k, which moves to the row of the smallest score by
1/(k+2): without smoothing a call needs 1/ρ² iterations, not √n/ρ.
    p = p_mu → p = alpha
    alpha = mix((1 - theta, alpha), ((1 - theta) * theta, p), (theta**2, p_mu))
    → worst = single_row(problem, int(np.argmin(alpha.scores)))
    → alpha = mix((1 - 1 / (k + 2), alpha), (1 / (k + 2), worst))
    p = mix((1 - theta, p), (theta, p_mu)) → p = alpha
isnkpvn/halts-at-first-return: It halts after the first call, whatever δ_0 is: its certificate is
any q_1, not an ε-solution.
    (step.outcome and delta < self.epsilon) → step.outcome
isnkpvn/centre-forgotten: p^q_μ(α) is the projection of −G α/μ onto the simplex, without q: later
calls start at q_t but are smoothed around 1/n.
    _towards(q.weights, → _towards(0 * q.weights,
""")
