"""Fuzzing: whatever a file or a text holds, the answer is a value or one sentence.

    python -m tests.fuzz                        every target, a minute in all
    python -m tests.fuzz csv npz --seconds 3600 --seed 7
    python -m tests.fuzz csv --input FILE       one input again

A target (`target.Target`) is a reader or a parser with valid inputs to start from, made by the
project's own writers, and ways to spoil them. A module ``fuzz_*.py`` in this folder lists its own
in the table `TARGETS`, and is found by its name. An input that is neither read nor refused in the
way the target allows, or that takes more processor time than the target allows, is a fault: it is
saved, and the command to run it again is printed.
"""
