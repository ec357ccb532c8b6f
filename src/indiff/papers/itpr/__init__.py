"""Recomputes the ITPR paper."""
