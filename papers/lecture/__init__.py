"""Sharan's lecture on stochastic gradient descent, boosting and kernels."""

from gammabar.papers import Paper

paper = Paper(
    key="lec",
    title="Lecture 9: SGD, Boosting, Kernels",
    authors="Vatsal Sharan",
    venue="lecture notes, based on scribe notes by D. Zhang, N. Hashemi and S. A. Kesanapalli",
    text="a transcription of the notes",
)
