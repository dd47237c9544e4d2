"""The exact margin of every pair of classes: the work, its table and its picture."""
