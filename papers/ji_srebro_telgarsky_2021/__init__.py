"""Ji, Srebro and Telgarsky (2021): momentum that maximises the margin at rate Õ(1/t²)."""

from gammabar.papers import Paper

paper = Paper(
    key="jst",
    title="Fast Margin Maximization via Dual Acceleration",
    authors="Ziwei Ji, Nathan Srebro and Matus Telgarsky",
    year=2021,
    venue="ICML 2021, PMLR 139",
    url="https://arxiv.org/abs/2107.00595",
    text="a transcription of the arXiv version, with displays in LaTeX; the text of the PDF,"
    " which lacks displays, is the second witness where they differ",
    random={
        "dual-acceleration": {"loss": ("exponential", "exponential", "logistic")},
        "dual-acceleration-dual": {
            "mixing": ("accelerated", "1"),
            "loss": ("exponential", "logistic"),
        },
        "adaptive-sampling": {"step": ("0.05", "0.3", "1"), "momentum": ("False", "True")},
        "gradient-descent": {"step": ("0.1", "0.5", "1"), "loss": ("exponential", "logistic")},
        "normalized-gradient-descent": {"decay": ("False", "True"), "step": ("0.5", "1")},
        "batch-perceptron-cotter": {"averaged": ("True", "False")},
    },
    often={"dual-acceleration": 5, "dual-acceleration-dual": 4},
    gated=("jst.thm3.1.1", "jst.thm3.1.2"),
)
