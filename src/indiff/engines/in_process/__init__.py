"""Counting in this process, for columns with few values."""
