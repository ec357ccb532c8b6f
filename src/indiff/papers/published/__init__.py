"""Repeats what the papers' published programs do, to explain their numbers."""
