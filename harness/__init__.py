"""The court: statements, verdicts, runs, reports, and the command line."""
