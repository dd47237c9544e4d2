"""Ramdas and Peña (2015): normalised and smoothed perceptrons in an RKHS."""

from gammabar.papers import Paper

paper = Paper(
    key="rp",
    title="Margins, Kernels and Non-linear Smoothed Perceptrons",
    authors="Aaditya Ramdas and Javier Peña",
    year=2015,
    venue="arXiv; first at ICML 2014, PMLR 32(1), pages 244–252",
    url="https://arxiv.org/abs/1505.04123",
    text="a transcription of the arXiv version, dated May 18, 2015",
    random={
        "normalized-perceptron": {},
        "winnow": {},
        "nkp": {},
        "snkp": {},
        "nvn": {},
        "snkpvn": {},
        "isnkpvn": {},
    },
    often={"snkp": 2, "snkpvn": 2},
)
