"""Figures and tables of the papers, made again: numbers, pictures, and what agrees."""
