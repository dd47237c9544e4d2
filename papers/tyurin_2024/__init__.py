"""Tyurin (2024): logistic regression with large steps, and the perceptrons it tends to."""

from gammabar.papers import Paper

paper = Paper(
    key="tyurin",
    title="From Logistic Regression to the Perceptron Algorithm: Exploring Gradient Descent with"
    " Large Step Sizes",
    authors="Alexander Tyurin",
    year=2024,
    venue="arXiv",
    url="https://arxiv.org/abs/2412.08424",
    text="a transcription of the arXiv version",
    random={
        "lr-gd": {"step": ("0.1", "1", "30", "10000", "1000000")},
        "normalized-lr-gd": {"step": ("0.1", "1", "30", "10000", "1000000")},
        "batch-perceptron": {},
        "normalized-batch-perceptron": {},
        "perceptron": {"choice": ("first", "cyclic", "random", "worst")},
    },
)
