"""Counting in DuckDB, for strings and millions of groups."""
