"""An attack on the court by programs that share nothing with it.

    python -m tests.attack                  two thousand trials, every scale, geometry and type
    python -m tests.attack --trials 100000 --seed 7
    python -m tests.attack --only 0.123     one trial again

A trial is a small problem (`data`), the run of a method on it, written from its paper in balls of
thousands of bits (`methods`), what is done to that run (`spoils`), and the exact truth of every
claim about the numbers that are delivered (`claims`, one module per paper): γ̄ by enumeration in
rationals, both sides of every claim in Arb. Nothing of gammabar is used for any of these. The court
is then asked, by ``gb.verify``, and

1. a right run, however it is rounded, is never refuted;
2. what holds is not false of the delivered numbers, and what is refuted is not true of them;
3. what a paper proves of a method, or of any data, is not refuted of a right run of it.

Methods that say something beside w say what follows from the w that they deliver, or lie about it
(`said`). What is claimed with a probability is put to samplers that are right and to some that are
wrong for certain (`chance`). A step is false if it is off by 1/256 of itself or more: what rounding
does to w is no excuse for a step that is left out.
Statements that run a solver by themselves (the lecture's, those with a probability), and what the
methods of Ramdas and Peña say beside w, have trials of their own kind (`further`): right runs, a
wrong line, and everything that is said spoilt in turn.

`doors` sends data and runs through every reader and compares the answers. At the end stands which
statements were decided and which were not; what 150 problems never decide is listed in
undecided.txt, and that list may only shrink (`ratchet`).
"""
