"""indiff pen-tests anonymized data."""
