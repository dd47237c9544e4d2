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

`doors` sends data and runs through every reader and compares the answers. At the end stands which
statements were decided and which were not.
"""
