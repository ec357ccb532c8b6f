"""Recomputes DIT version 2."""
