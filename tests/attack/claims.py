"""What is asked about the run of a method, and how its truth is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import jst, jst_claims, jst_mirror, jst_sampling, methods, ramdas_pena, tyurin
from .facts import Facts, Judge, bound, equation, of_claims, step, stop
from .jst_claims import APPENDIX_C, claiming, not_false

#: Where methods are written.
MODULES = (methods, jst_claims, jst_sampling)


def method(name: str) -> Callable[..., Any]:
    """The method of this name."""
    found: Callable[..., Any] = next(vars(m)[name] for m in MODULES if name in vars(m))
    return found


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
        "jst.lem3.4.primal": step(jst.primal_step),
        "jst.sec1.quarter.fixed": stop(jst.quarter),
        "gb.sharp": bound(jst.sharp, True),
        "gb.selfcert": bound(jst.selfcert, True),
        "gb.gap": bound(jst.gap),
    },
    "normalized_descent": {"gb.jst.ngd.step": step(jst.descent_step)},
    "perceptron": {
        "tyurin.thm5.2": stop(tyurin.mistakes),
        "rp.perceptron": stop(tyurin.mistakes),
        "gb.tyurin.perceptron.step": step(tyurin.row_step),
    },
    "batch_perceptron": {
        "tyurin.thm3.3": stop(tyurin.batch_bound),
        "gb.batch": stop(tyurin.our_batch_bound),
        "gb.tyurin.batch-perceptron.step": step(tyurin.batch_step),
    },
    "normalized_batch_perceptron": {
        "tyurin.thm5.3": stop(tyurin.mistakes),
        "gb.tyurin.normalized-batch-perceptron.step": step(tyurin.normalized_batch_step),
    },
    "logistic_descent": {"gb.tyurin.lr-gd.step": step(tyurin.logistic_step)},
    "normalized_logistic_descent": {
        "tyurin.thm6.1": stop(tyurin.theorem_6_1),
        "gb.tyurin.normalized-lr-gd.step": step(tyurin.normalized_logistic_step),
    },
    "gradient_descent": {"gb.jst.gd.step": step(jst.risk_step)},
    "kernel_perceptron": {
        "rp.nkp": stop(tyurin.mistakes),
        "gb.rp.nkp.step": step(ramdas_pena.perceptron_step),
    },
    "normalized_perceptron": {
        "rp.normalized": stop(tyurin.mistakes),
        "gb.rp.normalized-perceptron.step": step(ramdas_pena.perceptron_step),
    },
    "von_neumann": {"gb.rp.nvn.step": step(ramdas_pena.von_neumann_step)},
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

#: Algorithm 1 that says something beside w, and what is false as it is printed.
_SECTION_3: dict[str, Judge] = {
    "jst.thm3.1.2": claiming(bound(jst.theorem_3_1_2), momentum=1),
    "jst.lem3.2": claiming(bound(jst.lemma_3_2), jst_claims.in_simplex, mu=1),
    "jst.lem3.4.momentum": step(jst_claims.momentum_is_a_sum),
    "jst.lem3.4.mu.fixed": step(jst_claims.mu_is_momentum),
    "jst.lem3.4.mu": step(jst_claims.mu_is_weights),
    "jst.lem3.4.primal": step(jst.primal_step),
    "jst.lem3.5": bound(jst.lemma_3_5),
    "jst.eq3.9": bound(jst_claims.equation_3_9, True),
    "jst.prop3.7": bound(jst_claims.half_margin, True),
    "jst.prop3.7.charitable": bound(jst_claims.half_margin, True),
    "jst.sec1.quarter": stop(jst_claims.quarter_printed),
    "jst.sec1.quarter.charitable": stop(jst_claims.quarter_printed),
    "jst.thm5.1": not_false(jst_claims.multiclass_printed, True),
    "jst.appC.half": bound(jst_claims.half, True),
    **APPENDIX_C,
}
CLAIMS |= {
    "momentum_said": _SECTION_3,
    "dual_form": {**_SECTION_3, **jst_mirror.APPENDIX_B},
    "logistic_acceleration": {
        "jst.sec5.1.rate": bound(jst_claims.logistic_rate, True),
        **APPENDIX_C,
    },
    "adaptive_sampling": {
        "gb.jst.sampling.step": step(jst_sampling.sampling_step(jst_sampling.SMALL, False)),
        "gb.jst.sampling.draws": step(jst_sampling.draws(jst_sampling.SMALL)),
    },
    "momentum_sampling": {
        "gb.jst.sampling.step": step(jst_sampling.sampling_step(1.0, True)),
    },
    "giant_sampling": {
        "gb.jst.sampling.step": step(jst_sampling.sampling_step(jst_sampling.GIANT, False)),
        "gb.jst.sampling.draws": step(jst_sampling.draws(jst_sampling.GIANT)),
    },
    "cotter": {"gb.jst.cotter.step": step(jst_sampling.ascent_step(True))},
    "cotter_last": {"gb.jst.cotter.step": step(jst_sampling.ascent_step(False))},
}
#: What is false as it is printed: of all separable data, of all of several classes (for some U),
#: and of anything.
OF_DATA: dict[str, Judge] = {
    **dict.fromkeys(
        ("jst.sec2.argmax", "jst.sec3.1.align", "jst.lemA.1.vector"),
        lambda f: False if f.separable else None,
    ),
    "jst.sec5.2.risk": lambda f: False if f.data.kind == "multiclass" else None,
}
OF_NOTHING = ("jst.eqB.11", "jst.appE.rate")
#: Methods that are tried beside the one that is drawn, on the same problem.
BESIDE = ("momentum_said", "dual_form", "logistic_acceleration", "adaptive_sampling")
BESIDE += ("momentum_sampling", "giant_sampling", "cotter", "cotter_last")
#: What they say of themselves.
SETTINGS: dict[str, dict[str, Any]] = {
    "logistic_acceleration": {"loss": "logistic"},
    "adaptive_sampling": {"momentum": False, "step": jst_sampling.SMALL},
    "momentum_sampling": {"momentum": True},
    "giant_sampling": {"momentum": False, "step": jst_sampling.GIANT},
    "cotter_last": {"averaged": False},
}
#: What follows from the numbers that are delivered, where it is of another loss.
FACTS: dict[str, type[Facts]] = {"logistic_acceleration": jst_claims.LogisticFacts}
#: Claims about one step. Where a score is 0 up to rounding, exactness would ask for another row.
STEPS = tuple(name for claims in CLAIMS.values() for name in claims if name.endswith(".step"))
#: Equations that doubles meet up to rounding: their truth is for runs that are known to be wrong.
EQUATIONS = (*STEPS, "jst.lem3.4.primal", "jst.lemC.3")
#: Methods of papers that assume rows of norm at most one.
UNIT = ("dual_acceleration", "normalized_descent", "gradient_descent", "kernel_perceptron")
UNIT += ("normalized_perceptron", "smoothed_perceptron", "von_neumann", "smoothed_von_neumann")
UNIT += BESIDE
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
    "momentum_said": "dual-acceleration",
    "dual_form": "dual-acceleration-dual",
    "logistic_acceleration": "dual-acceleration",
    "adaptive_sampling": "adaptive-sampling",
    "momentum_sampling": "adaptive-sampling",
    "giant_sampling": "adaptive-sampling",
    "cotter": "batch-perceptron-cotter",
    "cotter_last": "batch-perceptron-cotter",
}
#: Options that their papers give them; here `methods.EPSILON`.
OPTIONS = {"von_neumann": "epsilon", "smoothed_von_neumann": "delta"}
#: Methods that came later: they take the place of others in some trials, so that a number keeps
#: its problem and mostly its method.
LATER = ("gradient_descent", "normalized_perceptron", "von_neumann", "smoothed_von_neumann")
