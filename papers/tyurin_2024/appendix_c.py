"""Appendix C, Proof of Theorem 6.1: the choice of α."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from gammabar.papers import Case, Number, Relation, direct, equal, log, number, precision, upper
from gammabar.papers.tyurin_2024.conventions import SOURCE

PROOF = "a line of a proof, about numbers alone: no solver has a part in it"


def _choices(alpha: Callable[[Number, Number, Number, Number], Number]) -> Iterator[Relation]:
    """α/μ against the bound of the theorem, for some n, γ, R and μ."""
    for n, step, R, mu in product((1, 10), ("1/2", "2"), ("1", "3"), ("1", "1/4")):
        logs = 2 * log(2 * n - 1)
        gamma, radius, margin = (number(Fraction(v)) for v in (step, R, mu))
        left = alpha(logs, gamma, radius, margin) / margin
        right = radius**2 / margin**2 + logs / (gamma * margin**2)
        allowance = 2.0 ** -(precision() // 2) * (1 + upper(right))
        where = f"n = {n}, γ = {step}, R = {R}, μ = {mu}"
        yield equal(
            left, right, "α/μ = R²/μ² + 2 log(2n−1)/(γμ²)", allowance=allowance, where=where
        )


_CLAIM = r"; \quad \frac{\alpha}{\mu} = \frac{R^2}{\mu^2} + \frac{2\log(2n-1)}{\gamma\mu^2}"


@direct(
    "tyurin.appC.alpha",
    reference=f"{SOURCE}, Appendix C, the choice of α",
    kind="identity",
    claim=r"\alpha = \frac{2\log(2n-1) + R^2}{\gamma\mu}" + _CLAIM,
    problems=("",),
    status="refuted",
    fixed_by="tyurin.appC.alpha.fixed",
    severity="misprint",
    why="γ divides the logarithm alone, as the line before and the result have it.",
    charitable="tyurin.appC.alpha.fixed",
    note="n = 1, R = μ = 1, γ = 2: α/μ = 1/2, and the right side is 1.",
    powerless=PROOF,
)
def alpha_as_printed(case: Case) -> Iterator[Relation]:
    """With α = (2 log(2n−1) + R²)/(γμ), α/μ is the bound of Theorem 6.1."""
    yield from _choices(lambda logs, step, R, mu: (logs + R**2) / (step * mu))


@direct(
    "tyurin.appC.alpha.fixed",
    reference=f"{SOURCE}, Appendix C, the choice of α, with γ under the logarithm",
    kind="identity",
    claim=r"\alpha = \frac{2\log(2n-1)/\gamma + R^2}{\mu}" + _CLAIM,
    problems=("",),
    powerless=PROOF,
)
def alpha(case: Case) -> Iterator[Relation]:
    """With α = (2 log(2n−1)/γ + R²)/μ, α/μ is the bound of Theorem 6.1."""
    yield from _choices(lambda logs, step, R, mu: (logs / step + R**2) / mu)
