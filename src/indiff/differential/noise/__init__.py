"""Randomized sanitizers: the closed form, and runs with honest limits."""
