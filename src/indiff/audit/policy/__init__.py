"""Judges an audit by a policy: its limits, its checklist, and where a report answers it."""
