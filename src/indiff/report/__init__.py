"""Findings in words: results as text for people."""
