"""Mutants of the solvers of Tyurin (2024): lines of their source, and wrong ones."""

from gammabar.harness.paper import Family

FAMILY = Family("tyurin", __name__)
FAMILY.patches("""
lr-gd/sum-for-mean: The gradient is that of the sum of the losses, without 1/n: w_t/γ tends to n
times the iterate of the Batch Perceptron.
    -math.exp(log_mean) → -problem.n * math.exp(log_mean)
lr-gd/last-row-dropped: The last row of two or more has no loss: the row may stay misclassified for
ever.
    q, log_mean = _logistic_weights(scores)
    → kept = max(1, problem.n - 1)
    → q, log_mean = _logistic_weights(scores[:kept])
    → q = np.append(q, np.zeros(problem.n - kept))
    → log_mean += math.log(kept / problem.n)

normalized-lr-gd/beta-frozen: β_t = β_0 = 2: the steps shrink with the loss, as those of LR+GD do.
    problem.combine(q), -log_mean → problem.combine(q), math.log(2)
normalized-lr-gd/sum-for-mean: The gradient is that of the sum of the losses, without 1/n: the steps
are n times as long as a mean of the rows.
    problem.combine(q) → problem.n * problem.combine(q)
normalized-lr-gd/softmax-for-logistic: σ_i = exp(−⟨a_i, w⟩), which is the slope of the exponential
loss: for γ → ∞ it takes the worst row, and not the mean of S_t.
    soften(-log_expit(-scores), 1.0) → soften(scores, 1.0)

batch-perceptron/full-first-step: w_1 = (1/n) Σ_i a_i, without ½: w_1 is not the limit of LR+GD,
whose first σ_i are ½.
    np.ones(n) → np.full(n, 2.0)
batch-perceptron/first-step-not-divided: w_1 = ½ Σ_i a_i, without 1/n: later steps need n² of them
to undo it, in place of n.
    np.ones(n) → np.full(n, float(n))
batch-perceptron/ties-are-right: S_t = {i : ⟨a_i, w_t⟩ < 0}: a row on the hyperplane is not
classified, and it says that the data are separated.
    _misclassified(scores) → np.flatnonzero(scores < 0)
batch-perceptron/one-mistake-is-fine: It halts as soon as at most one row is misclassified: it says
that the data are separated when they are not.
    wrong = _misclassified(scores)
    → wrong = _misclassified(scores)
    → wrong = wrong if wrong.size > 1 else wrong[:0]

normalized-batch-perceptron/ties-are-right: S_t = {i : ⟨a_i, w_t⟩ < 0}: w_0 = 0 has scores 0 only,
so it halts at once.
    _misclassified(scores) → np.flatnonzero(scores < 0)
normalized-batch-perceptron/divides-by-n: The sum over S_t is divided by n in place of |S_t|: a
single wrong row counts for 1/n only, and n enters the bound.
    / wrong.size → / problem.n
normalized-batch-perceptron/mistakes-one-behind: S_{t−1} takes the place of S_t: it adds rows that
are right by now, and halts too late.
    _misclassified(scores)
    → _misclassified(before if t else scores)
    → before = scores

perceptron/ties-are-right: It halts when A w_t ≥ 0: w_0 = 0 has scores 0 only, so it halts at once.
    now.separates() → (now.scores >= 0).all()
perceptron/starts-with-the-sum: The first step adds all rows: single rows need n steps to undo it:
the rate of a batch.
    single_row(problem, j)
    → single_row(problem, j) if t else renewed(problem, now._replace(weights=np.ones(problem.n)))
perceptron/best-row: j is the row with the largest score: a row that is right already is added, and
the bound counts mistakes.
    self._choose(now.scores, j, rng) → int(np.argmax(now.scores))
perceptron/half-the-data: It halts when the first half of the rows is classified: it says that the
data are separated when half of them are.
    now.separates() → (now.scores[: (problem.n + 1) // 2] > 0).all()
""")
