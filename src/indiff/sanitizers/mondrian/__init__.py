"""Mondrian: strict multidimensional partitioning."""
