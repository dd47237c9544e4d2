"""Processes: those of ours that judge, those with a user's solver, and what goes between."""
