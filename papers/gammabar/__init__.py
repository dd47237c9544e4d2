"""The project's own results, and its checks that methods do what their papers print."""

from gammabar.papers import Paper

paper = Paper(
    key="gb",
    title="Own results, with proofs",
    authors="The gammabar developers",
    year=2026,
    venue="papers/gammabar/PROOFS.md",
    gated=("gb.sharp", "gb.selfcert"),
)
