"""Observes the ε of a randomized sanitizer from its runs, and tells who was in the data."""
