"""Recomputes the draft that the papers grew from."""
