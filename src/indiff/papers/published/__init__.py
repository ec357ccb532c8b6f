"""The papers' published programs, rewritten to explain their numbers."""
