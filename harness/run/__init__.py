"""Runs: a plan of trajectories, carried out in parallel, stored, and reported."""
