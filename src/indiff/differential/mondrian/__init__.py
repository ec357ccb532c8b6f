"""Exact leave-one-out for Mondrian."""
