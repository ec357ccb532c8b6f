"""DIT version 1."""
