"""An attack on the harness by programs that share nothing with it.

    python -m tests.attack                  two thousand trials, every scale, geometry and type
    python -m tests.attack --trials 100000 --seed 7
    python -m tests.attack --only 0.123     one trial again

A trial is a small problem (`data`), the run of a method on it, written from its paper in balls of
thousands of bits, what is done to that run (`changes`), and the truth of every claim about the
numbers that are delivered. Each paper has a module with its methods and a table statement → truth:
γ̄ by enumeration in rationals, both sides of every claim in Arb (`facts`). Nothing of gammabar is
used for any of these. The harness is then asked, by ``gb.verify`` (`driver`), and

1. a right run, however it is rounded, is never refuted;
2. what holds is not false of the delivered numbers, and what is refuted is not true of them;
3. what a paper proves of a method, or of any data, is not refuted of a right run of it.

Methods that report something beside w report what follows from the w that they deliver, or
something false. Claims with a probability are put to samplers that are right and to some that are
wrong for certain (`chance`). A step is false if it is off by 1/256 of itself or more: that w is
rounded does not excuse a step that is left out. AdaBoost, SGD and ridge regression, which
statements run by themselves, have trials of their own kind; statements that are false as printed
and need no problem have a counterexample each (`plain`).

At the end stands which statements were decided and which were not; what 200 problems never decide
is listed in undecided.txt, and that list may only shrink.
"""
