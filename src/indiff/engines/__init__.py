"""Counts records in this process, in DuckDB, or on a Spark cluster."""
