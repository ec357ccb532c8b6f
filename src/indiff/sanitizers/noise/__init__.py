"""Noisy contingency tables and randomized response."""
