"""Four conjectures, none of which is true: `gammabar falsify` says why."""

from gammabar.papers import Paper, at_most, log, option, per_iterate, separable, sqrt, stopping

paper = Paper(key="guess", title="Conjectures", authors="Nobody", year=2026, venue="a notebook")
exponential = option("loss", "exponential")


@stopping(
    "guess.novikoff",
    reference="Novikoff's bound minus one",
    claim=r"t \le (R/\bar\gamma)^2 - 1",
    solvers=("perceptron",),
    assumes=(separable,),
)
def novikoff(case):
    """The perceptron separates the data after at most (R/γ̄)² − 1 updates."""
    return case.mistake_bound - 1


@per_iterate(
    "guess.twentieth",
    reference="Theorem 3.1(1), its constant divided by 20",
    claim=r"\bar\gamma - \gamma(w_t) \le \frac{(1+\ln n)(1+2\ln(t+1))}{5\bar\gamma(t+1)^2}",
    solvers=("dual-acceleration",),
    assumes=(exponential, separable),
    since=1,
    unit=True,
)
def twentieth(it, case):
    """γ̄ − γ(w_t) is at most a twentieth of what Theorem 3.1(1) of [jst] allows."""
    bound = 4 * (1 + case.log_n) * (1 + 2 * log(it.t + 1)) / (case.gamma * (it.t + 1) ** 2)
    return at_most(case.gamma - it.margin, bound / 20)


@per_iterate(
    "guess.three",
    reference="gb.sharp with 3 for 4",
    claim=r"\bar\gamma - \gamma(w_t) \le \frac{3\ln n}{\bar\gamma\,t(t+3)}",
    solvers=("dual-acceleration",),
    assumes=(exponential, separable),
    since=1,
    unit=True,
)
def three(it, case):
    """γ̄ − γ(w_t) is at most 3 ln n/(γ̄ t(t+3))."""
    return at_most(case.gamma - it.margin, 3 * case.log_n / (case.gamma * it.t * (it.t + 3)))


@stopping(
    "guess.snkp",
    reference="Theorem 1 of [rp] without the logarithm",
    claim=r"k \le 2\sqrt2/\rho_K",
    solvers=("snkp",),
    assumes=(separable,),
    unit=True,
)
def snkp(case):
    """SNKP separates the data after at most 2√2/ρ_K steps."""
    return sqrt(8) / case.gamma
