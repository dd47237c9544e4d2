"""Iterations on subsamples of Fashion-MNIST, for Table 1: one row for each seed 0, 1, 2, …

Columns are the rows of the table, in its order. Computed with `table1.count`'s method, in doubles;
the second part takes most of an hour of computing, so that the plan does not repeat it.
`tests/papers/test_tyurin_statements.py` computes some of them again. Runs of thousands of steps
depend on the order of sums: seed 3 of Fashion-MNIST, with another one, came to 2448, 3518, 2830,
2978 and 2733. What is stable is how the counts lie, and that is all that is said of them.
"""

from __future__ import annotations

Counts = tuple[tuple[int, ...], ...]

#: fashion:0,4:keep=0.1,repeat=10,seed=…
IMBALANCED_COUNTS: Counts = (
    (328, 306, 300, 298, 765),
    (279, 267, 275, 280, 675),
    (348, 330, 334, 324, 471),
    (433, 366, 384, 455, 471),
    (328, 362, 288, 312, 575),
    (403, 327, 270, 312, 746),
    (331, 339, 277, 297, 636),
    (364, 345, 362, 386, 652),
    (247, 211, 205, 288, 299),
    (421, 477, 436, 466, 558),
    (254, 252, 256, 260, 481),
    (445, 532, 466, 587, 394),
    (470, 376, 345, 471, 1093),
    (176, 188, 180, 184, 607),
    (319, 383, 377, 384, 539),
    (396, 414, 412, 488, 622),
    (300, 296, 292, 300, 638),
    (488, 504, 548, 472, 462),
    (533, 587, 503, 616, 1133),
    (376, 424, 422, 470, 727),
)
#: fashion:0,4:n=5000,seed=…
FASHION_COUNTS: Counts = (
    (3765, 3738, 3249, 3417, 3324),
    (5304, 5436, 6332, 6377, 6009),
    (4862, 3513, 3827, 3643, 3593),
    (2448, 3184, 3042, 2690, 3274),
    (5581, 5818, 6496, 6803, 6675),
    (3695, 3521, 3324, 3484, 3255),
    (3573, 2649, 3280, 3297, 3279),
    (4681, 4648, 4955, 5061, 4818),
    (3288, 3429, 3635, 3740, 3764),
    (6416, 5812, 5245, 5738, 5608),
    (7538, 7331, 6179, 6575, 6690),
    (4287, 4272, 4558, 4225, 4272),
    (4320, 4171, 3430, 3348, 3350),
    (4759, 4248, 4555, 4528, 4350),
    (4752, 4706, 4758, 4994, 4794),
    (6062, 6202, 4694, 4676, 4657),
    (2752, 2631, 3178, 3234, 3126),
    (4861, 4578, 5103, 4968, 5014),
    (4980, 5024, 5156, 5121, 5029),
    (1690, 1701, 2108, 2106, 2172),
)
