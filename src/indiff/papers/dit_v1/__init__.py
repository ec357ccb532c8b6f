"""Recomputes DIT version 1."""
