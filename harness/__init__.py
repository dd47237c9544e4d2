"""Verdicts about solvers: statements and their checks, runs, reports, and the command line."""
