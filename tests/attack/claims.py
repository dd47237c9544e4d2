"""What is asked about the run of a method, and how its truth is found."""

from __future__ import annotations

from . import jst, ramdas_pena, tyurin
from .facts import Judge, bound, equation, of_claims, stop

#: What is asked about the run of a method, and how its truth is found.
CLAIMS: dict[str, dict[str, Judge]] = {
    "dual_acceleration": {
        "jst.thm3.1.1": bound(jst.theorem_3_1_1, True),
        "jst.thm3.1.2": bound(jst.theorem_3_1_2),
        "jst.lem3.2": bound(jst.lemma_3_2),
        "jst.lem3.5": bound(jst.lemma_3_5),
        "jst.lem3.6.lower": bound(jst.lemma_3_6_lower),
        "jst.lem3.6.upper": equation(jst.lemma_3_6_upper),
        "jst.eq3.8": bound(jst.equation_3_8),
        "jst.eq3.10": bound(jst.equation_3_10, True),
        "jst.prop3.7.fixed": bound(jst.proposition_3_7, True),
        "jst.lem3.4.primal": equation(jst.primal_step),
        "jst.sec1.quarter.fixed": stop(jst.quarter),
        "gb.sharp": bound(jst.sharp, True),
        "gb.selfcert": bound(jst.selfcert, True),
        "gb.gap": bound(jst.gap),
    },
    "normalized_descent": {"gb.jst.ngd.step": equation(jst.descent_step)},
    "perceptron": {
        "tyurin.thm5.2": stop(tyurin.mistakes),
        "rp.perceptron": stop(tyurin.mistakes),
        "gb.tyurin.perceptron.step": equation(tyurin.row_step),
    },
    "batch_perceptron": {
        "tyurin.thm3.3": stop(tyurin.batch_bound),
        "gb.batch": stop(tyurin.our_batch_bound),
        "gb.tyurin.batch-perceptron.step": equation(tyurin.batch_step),
    },
    "normalized_batch_perceptron": {
        "tyurin.thm5.3": stop(tyurin.mistakes),
        "gb.tyurin.normalized-batch-perceptron.step": equation(tyurin.normalized_batch_step),
    },
    "logistic_descent": {"gb.tyurin.lr-gd.step": equation(tyurin.logistic_step)},
    "normalized_logistic_descent": {
        "tyurin.thm6.1": stop(tyurin.theorem_6_1),
        "gb.tyurin.normalized-lr-gd.step": equation(tyurin.normalized_logistic_step),
    },
    "gradient_descent": {"gb.jst.gd.step": equation(jst.risk_step)},
    "kernel_perceptron": {
        "rp.nkp": stop(tyurin.mistakes),
        "gb.rp.nkp.step": equation(ramdas_pena.perceptron_step),
    },
    "normalized_perceptron": {
        "rp.normalized": stop(tyurin.mistakes),
        "gb.rp.normalized-perceptron.step": equation(ramdas_pena.perceptron_step),
    },
    "von_neumann": {"gb.rp.nvn.step": equation(ramdas_pena.von_neumann_step)},
    "smoothed_von_neumann": {
        "rp.lem8": of_claims(ramdas_pena.lemma_8),
        "rp.lem8.separator": stop(ramdas_pena.separator),
    },
    "smoothed_perceptron": {
        "rp.lem4": bound(ramdas_pena.lemma_4),
        "rp.lem5": of_claims(ramdas_pena.lemma_5),
        "rp.thm1": stop(ramdas_pena.theorem_1),
        "gb.snkp.any": of_claims(ramdas_pena.any_data),
    },
}
#: Claims about one step. Where a score is 0 up to rounding, exactness would ask for another row.
STEPS = tuple(name for claims in CLAIMS.values() for name in claims if name.endswith(".step"))
#: Methods of papers that assume rows of norm at most one.
UNIT = ("dual_acceleration", "normalized_descent", "gradient_descent", "kernel_perceptron")
UNIT += ("normalized_perceptron", "smoothed_perceptron", "von_neumann", "smoothed_von_neumann")
#: The names of the methods in this project. What else it has of them is asked about right runs.
NAMES = {
    "dual_acceleration": "dual-acceleration",
    "normalized_descent": "normalized-gradient-descent",
    "gradient_descent": "gradient-descent",
    "perceptron": "perceptron",
    "batch_perceptron": "batch-perceptron",
    "normalized_batch_perceptron": "normalized-batch-perceptron",
    "logistic_descent": "lr-gd",
    "normalized_logistic_descent": "normalized-lr-gd",
    "kernel_perceptron": "nkp",
    "normalized_perceptron": "normalized-perceptron",
    "smoothed_perceptron": "snkp",
    "von_neumann": "nvn",
    "smoothed_von_neumann": "snkpvn",
}
#: Options that their papers give them; here `methods.EPSILON`.
OPTIONS = {"von_neumann": "epsilon", "smoothed_von_neumann": "delta"}
#: Methods that came later: they take the place of others in some trials, so that a number keeps
#: its problem and mostly its method.
LATER = ("gradient_descent", "normalized_perceptron", "von_neumann", "smoothed_von_neumann")
