"""Exact leave-one-out for full-domain recoding."""
