"""Regions and releases: what a sanitized table holds, written and read."""
