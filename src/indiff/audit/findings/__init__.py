"""Measures what an audit reports, as findings."""
